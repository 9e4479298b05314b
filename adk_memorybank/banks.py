"""The banks of one store: the engine without ADK."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from pydantic import BaseModel

from adk_memorybank.bank import MemoryBank
from adk_memorybank.clock import Clock
from adk_memorybank.config import ManagedSemanticMemoryConfig, load_config
from adk_memorybank.engine import Engine
from adk_memorybank.errors import EngineClosed, FailedPrecondition, InvalidArgument
from adk_memorybank.resources import MAX_DISPLAY_NAME, clean_text, last_segment, new_id, validate_bank_id
from adk_memorybank.settings import Settings, read_settings
from adk_memorybank.sharing import leave, share
from adk_memorybank.storage import records

Config = ManagedSemanticMemoryConfig | BaseModel | Mapping[str, Any] | str | os.PathLike[str] | None


class MemoryBanks:
    """Creates, reads, updates and deletes the banks of a store.

    Safe to use from several event loops and threads. All of one folder in one process share an engine.

    Args:
        uri: `memorybank:///./folder`, or with four slashes an absolute folder; `settings.read_settings` tells the
            rest.
        model: of the banks that are opened here: a name, or a generator.
        embedder: of the banks that are opened here: a name or an object.
        clock: for tests.
    """

    def __init__(
        self,
        uri: str | None = None,
        *,
        model: Any = None,
        embedder: Any = None,
        clock: Clock | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.settings = settings or read_settings(uri, model=model, embedder=embedder)
        self._clock = clock
        self._engine: Engine | None = None
        self._closed = False
        self._lock = threading.Lock()

    @property
    def engine(self) -> Engine:
        """The shared engine, opened when it is first used, and anew in a child process.

        Raises:
            EngineClosed: this was closed.
        """
        with self._lock:  # two threads at once would share it twice, and give it back once
            if self._closed:
                raise EngineClosed("it was closed; make a new one to go on")
            if self._engine is None or not self._engine.alive:
                self._engine = share(self.settings.folder, clock=self._clock)
            return self._engine

    async def create(
        self,
        *,
        display_name: str = "",
        managed_semantic_memory_config: Config = None,
        bank_id: str | None = None,
    ) -> MemoryBank:
        """Creates a bank.

        Args:
            display_name: for people; at most 128 characters.
            managed_semantic_memory_config: as `config.load_config` takes it.
            bank_id: a fresh number by default.

        Raises:
            InvalidArgument: naming the field.
            AlreadyExists: there is a bank with this id.
        """
        chosen = new_id() if bank_id is None else validate_bank_id(bank_id)
        display_name = _valid_display_name(display_name)
        config = load_config(managed_semantic_memory_config)
        engine = self.engine

        settings = replace(self.settings, bank_id=chosen, config=config)
        parts = await engine.call(engine.open_bank(settings, bank="new", display_name=display_name))
        return MemoryBank(engine, chosen, parts)

    async def get(self, *, name: str) -> MemoryBank:
        """A bank, by its name or id.

        Raises:
            NotFound: there is none.
        """
        bank_id = last_segment(name)
        engine = self.engine

        async def get() -> MemoryBank:
            settings = engine.settings_of(bank_id)
            if settings is None:
                await engine.open_bank(replace(self.settings, bank_id=bank_id, config=None), bank="present")
            return MemoryBank(engine, bank_id, await engine.parts(bank_id))

        return await engine.call(get())

    async def open(self) -> MemoryBank:
        """The bank that the settings name, made where it is missing, with the configuration that they give."""
        engine = self.engine

        async def opened() -> MemoryBank:
            parts = await engine.open_bank(self.settings)
            return MemoryBank(engine, self.settings.bank_id, parts)

        return await engine.call(opened())

    async def list(self) -> list[MemoryBank]:
        """All banks of the store, in the order of their creation."""
        engine = self.engine

        async def ids() -> list[str]:
            async with engine.database.read() as connection:
                return [row.id for row in await records.list_banks(connection)]

        return [await self.get(name=bank_id) for bank_id in await engine.call(ids())]

    async def update(
        self,
        *,
        name: str,
        display_name: str | None = None,
        managed_semantic_memory_config: Config = None,
    ) -> MemoryBank:
        """Changes a bank; what is None stays as it is. A configuration takes the place of the whole one before.

        Raises:
            NotFound: there is no such bank.
            InvalidArgument: naming the field.
            EmbedderMismatch: the configuration names another embedder.
        """
        bank_id = last_segment(name)
        engine = self.engine
        if display_name is not None:
            display_name = _valid_display_name(display_name)
        config = None if managed_semantic_memory_config is None else load_config(managed_semantic_memory_config)

        async def update() -> MemoryBank:
            opened = engine.settings_of(bank_id) or replace(self.settings, bank_id=bank_id)
            parts = await engine.open_bank(replace(opened, config=config), bank="present", display_name=display_name)
            return MemoryBank(engine, bank_id, parts)

        return await engine.call(update())

    async def delete(self, *, name: str, force: bool = False) -> None:
        """Deletes a bank.

        Args:
            force: also where it holds memories, which go with it at once and for good.

        Raises:
            NotFound: there is no such bank.
            FailedPrecondition: it holds memories, and `force` was not given.
        """
        bank_id = last_segment(name)
        engine = self.engine

        async def delete() -> None:
            async with engine.database.write() as connection:
                await records.get_bank(connection, bank_id=bank_id)
                count = await records.count_memories(connection, bank_id=bank_id)
                if count and not force:
                    raise FailedPrecondition(f"the bank {bank_id!r} holds {count} memories: give force=True")
                await records.delete_bank(connection, bank_id=bank_id)
                await engine.database.note_erasure(connection)
            await engine.bank_was_deleted(bank_id)

        await engine.call(delete())

    async def reindex(self, *, name: str, embedder: Any = None) -> int:
        """Makes all vectors of a bank anew, with another embedder perhaps, and drops those of nothing.

        Returns:
            How many were made.

        Raises:
            NotFound: there is no such bank.
            StoreInUse: another process owns the vectors.
        """
        bank_id = last_segment(name)
        engine = self.engine
        return await engine.call(engine.reindex(replace(self.settings, bank_id=bank_id, embedder=embedder)))

    async def close(self, *, timeout: float = 10.0) -> None:
        """Stops taking work, waits `timeout` seconds for what runs, and leaves the rest durable."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            engine, self._engine = self._engine, None
        if engine is not None and engine.pid == os.getpid():  # a parent's is not ours to give back
            await asyncio.shield(leave(engine, patience=timeout))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _valid_display_name(display_name: str) -> str:
    if len(display_name) > MAX_DISPLAY_NAME:
        raise InvalidArgument(f"has at most {MAX_DISPLAY_NAME} characters", field="display_name")
    return clean_text(display_name)
