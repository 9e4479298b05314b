"""What a store is and how its banks are set, told without opening its vectors or starting its work."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from adk_memorybank.clock import SystemClock
from adk_memorybank.config import ManagedSemanticMemoryConfig, load_config
from adk_memorybank.errors import MemoryBankError
from adk_memorybank.operations.queue import Queue
from adk_memorybank.parts import choose_embedder, choose_generator
from adk_memorybank.resources import bank_name
from adk_memorybank.settings import Settings
from adk_memorybank.storage import bank_rows, records
from adk_memorybank.storage.database import Database
from adk_memorybank.storage.folder import Folder


async def overview(settings: Settings) -> dict[str, Any]:
    """The store and its banks as plain data; a store that is not there yet shows the bank that would be made.

    Raises:
        InvalidArgument: the configuration in the settings is wrong.
        FailedPrecondition: the store was written by another version.
    """
    folder = Folder(settings.folder)
    told: dict[str, Any] = {
        "version": version("adk-memorybank"),
        "folder": str(settings.folder),
        "exists": folder.database.exists(),
        "last_owner": folder.owner() if folder.database.exists() else None,
    }
    if not told["exists"]:
        told["banks"] = [_bank(settings, settings.bank_id, load_config(settings.config))]
        return told
    database, clock = Database(folder.database), SystemClock()
    await database.open()
    try:
        async with database.read() as connection:
            rows = await bank_rows.list_banks(connection)
            now = clock.now()
            counts = {row.id: await records.count_memories(connection, bank_id=row.id, now=now) for row in rows}
        queue = Queue(database, clock)
        told["banks"] = []
        for row in rows:
            bank = _bank(settings, row.id, ManagedSemanticMemoryConfig.parse(row.config))
            waiting = await queue.list(bank_id=row.id, unfinished=True)
            failed = await queue.list(bank_id=row.id, failed=True)
            bank |= {"display_name": row.display_name, "memories": counts[row.id], "vectors": row.embedder}
            bank |= {"operations_waiting": len(waiting), "operations_failed": len(failed)}
            told["banks"].append(bank)
    finally:
        await database.close()
    return told


def _bank(settings: Settings, bank_id: str, config: ManagedSemanticMemoryConfig) -> dict[str, Any]:
    told: dict[str, Any] = {"name": bank_name(bank_id)}
    try:
        generator, reason = choose_generator(settings, config)
        told |= {"model": generator.name, "model_reason": reason}
    except MemoryBankError as error:
        told |= {"model": None, "model_reason": str(error)}
    try:
        told["embedder"] = choose_embedder(settings, config).name
    except MemoryBankError as error:
        told["embedder"] = str(error)
    told["managed_semantic_memory_config"] = config.model_dump(mode="json", exclude_none=True)
    return told
