"""The banks of one store: the engine without ADK."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeVar

from pydantic import BaseModel

from adk_memorybank.bank import MemoryBank
from adk_memorybank.calls import Calls
from adk_memorybank.clock import Clock
from adk_memorybank.config import ManagedSemanticMemoryConfig, load_config
from adk_memorybank.engine import Engine
from adk_memorybank.errors import EngineClosed, FailedPrecondition, InvalidArgument, NotFound
from adk_memorybank.reindexing import Progress
from adk_memorybank.resources import (
    MAX_DISPLAY_NAME,
    bank_name,
    clean_json,
    clean_text,
    last_segment,
    new_id,
    validate_bank_id,
)
from adk_memorybank.settings import Settings, read_settings
from adk_memorybank.sharing import leave, share
from adk_memorybank.storage import bank_rows, records, sessions
from adk_memorybank.storage.bank_rows import BankRow

T = TypeVar("T")
Config = ManagedSemanticMemoryConfig | BaseModel | Mapping[str, Any] | str | os.PathLike[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BankInfo:
    """What a bank is and how it is set.

    Attributes:
        extra: plain JSON that was given with it, and means nothing here.
        config: its `model_fields_set` are what was set.
    """

    name: str
    display_name: str
    description: str
    labels: dict[str, str]
    extra: dict[str, Any]
    config: ManagedSemanticMemoryConfig
    create_time: datetime
    update_time: datetime


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

    async def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine on the store's loop. A cancelled caller doesn't cancel it."""
        return await self.engine.call(coroutine)

    @property
    def calls(self) -> Calls:
        """What the faces over the network show as operations, save for generations: those are a bank's own."""
        return Calls(self.engine)

    async def create(
        self,
        *,
        display_name: str = "",
        description: str = "",
        labels: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
        managed_semantic_memory_config: Config = None,
        bank_id: str | None = None,
    ) -> MemoryBank:
        """Creates a bank.

        Args:
            display_name: for people; at most 128 characters.
            labels: strings by strings.
            extra: what else belongs to it, as plain JSON. It is kept as it is, and means nothing here.
            managed_semantic_memory_config: as `config.load_config` takes it.
            bank_id: a fresh number by default.

        Raises:
            InvalidArgument: naming the field.
            AlreadyExists: there is a bank with this id.
        """
        chosen = new_id() if bank_id is None else validate_bank_id(bank_id)
        details = _details(display_name=display_name, description=description, labels=labels, extra=extra)
        config = load_config(managed_semantic_memory_config)
        engine = self.engine

        settings = replace(self.settings, bank_id=chosen, config=config)
        parts = await engine.call(engine.open_bank(settings, bank="new", details=details))
        return MemoryBank(engine, chosen, parts)

    async def get(self, *, name: str) -> MemoryBank:
        """A bank, by its name or id, as it is now: another process may have changed or deleted it.

        Raises:
            NotFound: there is none.
        """
        bank_id = last_segment(name)
        engine = self.engine

        async def get() -> MemoryBank:
            async with engine.database.read() as connection:
                row = await bank_rows.find_bank(connection, bank_id=bank_id)
            held = engine.parts_now(bank_id)
            if row is None and held is not None:
                await engine.bank_was_deleted(bank_id)
            if row is None:
                raise NotFound(f"there is no bank {bank_id!r}")
            if held is not None and held.collection != row.collection:
                held = await engine.newest_parts(bank_id)
            if held is None or held.row is None or held.row.config != row.config:
                settings = engine.settings_of(bank_id) or replace(self.settings, bank_id=bank_id, config=None)
                held = await engine.open_bank(settings, bank="present")
            return MemoryBank(engine, bank_id, held)

        return await engine.call(get())

    async def read(self, *, name: str) -> BankInfo:
        """What a bank is and how it is set, without opening it: its model need not be at hand.

        Raises:
            NotFound: there is none.
        """
        bank_id = last_segment(name)
        engine = self.engine

        async def read() -> BankInfo:
            async with engine.database.read() as connection:
                return _info(await bank_rows.get_bank(connection, bank_id=bank_id))

        return await engine.call(read())

    async def read_all(self) -> Sequence[BankInfo]:
        """As `read`, of all banks of the store, in the order of their creation."""
        engine = self.engine

        async def read() -> list[BankInfo]:
            async with engine.database.read() as connection:
                return [_info(row) for row in await bank_rows.list_banks(connection)]

        return await engine.call(read())

    async def open(self, *, bank_id: str | None = None, config: Config = None) -> MemoryBank:
        """A bank, made where it is missing.

        Args:
            bank_id: the settings' own by default, with the configuration that they give.
            config: in place of the stored one, where it differs.
        """
        engine = self.engine
        settings = self.settings
        if bank_id is not None:
            settings = replace(settings, bank_id=validate_bank_id(bank_id), config=config)

        async def opened() -> MemoryBank:
            parts = await engine.open_bank(settings)
            return MemoryBank(engine, settings.bank_id, parts)

        return await engine.call(opened())

    async def list(self) -> list[MemoryBank]:
        """All banks of the store, in the order of their creation."""
        return [await self.get(name=info.name) for info in await self.read_all()]

    async def update(
        self,
        *,
        name: str,
        display_name: str | None = None,
        description: str | None = None,
        labels: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
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
        details = _details(display_name=display_name, description=description, labels=labels, extra=extra)
        config = None if managed_semantic_memory_config is None else load_config(managed_semantic_memory_config)

        async def update() -> MemoryBank:
            opened = engine.settings_of(bank_id) or replace(self.settings, bank_id=bank_id)
            parts = await engine.open_bank(replace(opened, config=config), bank="present", details=details)
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
                await bank_rows.get_bank(connection, bank_id=bank_id)
                now = engine.clock.now()
                count = await records.count_memories(connection, bank_id=bank_id, now=now)
                kept = await sessions.count_sessions(connection, bank_id=bank_id, now=now)
                if (count or kept) and not force:
                    raise FailedPrecondition(
                        f"the bank {bank_id!r} holds {count} memories and {kept} sessions: give force=True"
                    )
                await bank_rows.delete_bank(connection, bank_id=bank_id)
                await engine.database.note_erasure(connection)
            await engine.bank_was_deleted(bank_id)

        await engine.call(delete())

    async def reindex(self, *, name: str | None = None, embedder: Any = None, progress: Progress | None = None) -> int:
        """Makes all vectors of a bank anew, or of all banks, with another embedder perhaps, and drops those of nothing.

        Searches and writes go on meanwhile: what served before serves until the new vectors are all there.

        Args:
            name: None for all banks of the store, one after the other.
            embedder: a name or an object; None for the one that the bank is open with, or that it is opened with here.
            progress: called after each piece with how many vectors were made and how many there are to make, of the
                bank at hand; on the engine's thread, which it must not hold up.

        Returns:
            How many were made.

        Raises:
            NotFound: there is no such bank.
            StoreInUse: another process owns the vectors.
            FailedPrecondition: the vectors of the bank are being made anew already.
            Cancelled: the bank was deleted meanwhile.
        """
        engine = self.engine
        names = [info.name for info in await self.read_all()] if name is None else [name]
        made = 0
        for one in names:
            bank_id = last_segment(one)
            chosen = self.settings.embedder if embedder is None and engine.parts_now(bank_id) is None else embedder
            made += await engine.call(engine.reindex(bank_id, embedder=chosen, progress=progress))
        return made

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


def _info(row: BankRow) -> BankInfo:
    return BankInfo(
        name=bank_name(row.id),
        display_name=row.display_name,
        description=row.description,
        labels=row.labels,
        extra=row.extra,
        config=ManagedSemanticMemoryConfig.parse(row.config),
        create_time=row.create_time,
        update_time=row.update_time,
    )


def _details(
    *,
    display_name: str | None,
    description: str | None,
    labels: Mapping[str, str] | None,
    extra: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """The columns of a bank that were given."""
    if display_name is not None and len(display_name) > MAX_DISPLAY_NAME:
        raise InvalidArgument(f"has at most {MAX_DISPLAY_NAME} characters", field="display_name")
    details: dict[str, Any] = {
        "display_name": None if display_name is None else clean_text(display_name),
        "description": None if description is None else clean_text(description),
        "labels": None if labels is None else {clean_text(key): clean_text(value) for key, value in labels.items()},
        "extra": None if extra is None else clean_json(extra),
    }
    return {column: value for column, value in details.items() if value is not None}
