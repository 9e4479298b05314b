"""What belongs to one open bank: its configuration, its generator and its embedder."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from adk_memorybank.config import ManagedSemanticMemoryConfig, load_config, set_fields
from adk_memorybank.errors import EmbedderMismatch, NotFound
from adk_memorybank.generation.generator import Generator
from adk_memorybank.generation.selection import select_generator
from adk_memorybank.resources import bank_name
from adk_memorybank.retrieval.embedders import Embedder, LocalEmbedder, make_embedder
from adk_memorybank.settings import Settings
from adk_memorybank.storage import records
from adk_memorybank.storage.database import Database
from adk_memorybank.storage.records import BankRow

logger = logging.getLogger("google_adk.adk_memorybank.parts")


@dataclass(frozen=True, slots=True)
class BankParts:
    """One open bank."""

    id: str
    display_name: str
    config: ManagedSemanticMemoryConfig
    generator: Generator
    embedder: Embedder

    @property
    def reads_media(self) -> bool:
        """Whether the generator looks at images, sounds and files; one that doesn't say so does not."""
        return bool(getattr(self.generator, "reads_media", False))


async def open_bank(database: Database, settings: Settings, *, now: datetime) -> BankParts:
    """Reads a bank's configuration and makes its parts; a bank that is missing is made.

    A configuration that differs from the stored one takes its place.

    Raises:
        EmbedderMismatch: the bank's vectors were made by another embedder.
        ModelUnavailable: the model can't be used here.
        InvalidArgument: the configuration is wrong.
    """
    given = None if settings.config is None else load_config(settings.config)
    async with database.read() as connection:
        try:
            row = await records.get_bank(connection, bank_id=settings.bank_id)
        except NotFound:
            row = None
    config = given or ManagedSemanticMemoryConfig.parse({} if row is None else row.config)
    # Made before anything is written, so that a wrong configuration changes nothing.
    generator, reason = choose_generator(settings, config)
    embedder = choose_embedder(settings, config)
    if row is not None and row.embedder not in (None, embedder.name):
        raise EmbedderMismatch(
            f"the vectors of {bank_name(row.id)} were made by {row.embedder!r} ({row.dimension} dimensions), and "
            f"{embedder.name!r} is asked for now: open it with embedder={row.embedder!r}, or make its vectors anew "
            "with `await banks.reindex(name=…, embedder=…)`"
        )
    row = await _store(database, settings, given, row, embedder, now)
    logger.info("bank %s: model %s (%s), embedder %s", row.id, generator.name, reason, embedder.name)
    return BankParts(row.id, row.display_name, config, generator, embedder)


def choose_generator(settings: Settings, config: ManagedSemanticMemoryConfig) -> tuple[Generator, str]:
    """The generator that settings and configuration ask for, and the reason in words.

    Raises:
        ModelUnavailable: a model was named that can't be used here.
    """
    model = _chosen(settings.model, config, "generation_config", "model")
    return select_generator(model, embed=LocalEmbedder().embed)


def choose_embedder(settings: Settings, config: ManagedSemanticMemoryConfig) -> Embedder:
    """The embedder that settings and configuration ask for.

    Raises:
        InvalidArgument, ModelUnavailable: one was named that can't be used here.
    """
    return make_embedder(_chosen(settings.embedder, config, "similarity_search_config", "embedding_model"))


async def _store(
    database: Database,
    settings: Settings,
    given: ManagedSemanticMemoryConfig | None,
    row: BankRow | None,
    embedder: Embedder,
    now: datetime,
) -> BankRow:
    """Makes a missing bank; writes a changed configuration and the embedder of a new one."""
    wanted = None if given is None else set_fields(given)
    if row is not None and row.embedder is not None and wanted in (None, row.config):
        return row
    async with database.write() as connection:
        try:
            found = await records.get_bank(connection, bank_id=settings.bank_id)
        except NotFound:
            found = await records.add_bank(
                connection, bank_id=settings.bank_id, display_name="", config=wanted or {}, now=now
            )
        values: dict[str, Any] = {}
        if wanted is not None and wanted != found.config:
            values["config"] = wanted
            logger.info("the configuration of the bank %s was updated", found.id)
        if found.embedder is None:
            values |= {"embedder": embedder.name, "dimension": embedder.dimension}
        if values:
            await records.update_bank(connection, bank_id=found.id, now=now, **values)
        return await records.get_bank(connection, bank_id=found.id)


def _chosen(setting: Any, config: ManagedSemanticMemoryConfig, part: str, field: str) -> Any:
    """The setting, or what the configuration sets; None where its value was only filled in."""
    if setting is not None:
        return setting
    node = getattr(config, part)
    given = part in config.model_fields_set and field in node.model_fields_set
    return getattr(node, field) if given else None
