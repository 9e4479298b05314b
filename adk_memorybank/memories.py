"""The memories of one bank, one by one: written, read, corrected and deleted without a generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from adk_memorybank.engine import Engine
from adk_memorybank.errors import InvalidArgument, NotFound
from adk_memorybank.options import MemoryOptions, RevisionOptions
from adk_memorybank.parts import BankParts
from adk_memorybank.planning import creation_of, revision_of
from adk_memorybank.resources import Memory, MemoryProfile, MemoryRevision, MemoryType, Scope
from adk_memorybank.storage import changes, pages, records
from adk_memorybank.storage.changes import Change
from adk_memorybank.storage.database import AsyncConnection
from adk_memorybank.storage.pages import TimeField
from adk_memorybank.storage.profiles import profiles_of, read_fields
from adk_memorybank.storage.rollback import roll_back

Matches = Callable[[Memory], bool]

_SCANNED = 500
"""Memories that are read at once while those that match are looked for."""


class Memories:
    """The memories of one bank. The coroutines run on the engine's loop; their arguments are valid."""

    def __init__(self, engine: Engine, bank_id: str) -> None:
        self._engine = engine
        self._bank_id = bank_id

    async def create(self, scope: Scope, memories: Sequence[tuple[str, MemoryOptions]]) -> list[Memory]:
        """Stores (fact, options), all of them or none."""
        parts = await self._engine.parts(self._bank_id)
        now = self._engine.clock.now()
        planned = [creation_of(fact, options, parts.config, now=now) for fact, options in memories]
        async with self._engine.database.write() as connection:
            row = await records.ensure_scope(connection, bank_id=self._bank_id, scope=scope)
            applied = await changes.apply(connection, scope=row, changes=planned, now=now)
            ids = [one.memory_id for one in applied]
            present = await records.read_memories(
                connection, bank_id=self._bank_id, scope_id=row.id, scope=scope, ids=ids
            )
        created = [present[memory_id] for memory_id in ids]
        await self._engine.make_vectors(parts, created)
        return [memory for memory, _ in created]

    async def get(self, memory_id: str) -> Memory:
        async with self._engine.database.read() as connection:
            found = await records.get_memory(
                connection, bank_id=self._bank_id, memory_id=memory_id, now=self._engine.clock.now()
            )
        return found[0]

    async def list(self, scope: Scope | None, *, memory_types: Sequence[MemoryType] = ()) -> Sequence[Memory]:
        """Those of one scope, or all; of some types, or all; the newest first."""
        async with self._engine.database.read() as connection:
            scope_id = None
            if scope is not None:
                row = await records.find_scope(connection, bank_id=self._bank_id, scope=scope)
                if row is None:
                    return []
                scope_id = row.id
            return await pages.page_memories(
                connection,
                bank_id=self._bank_id,
                scope_id=scope_id,
                now=self._engine.clock.now(),
                memory_types=memory_types,
            )

    async def page(
        self,
        matches: Matches,
        *,
        scope: Scope | None = None,
        memory_types: Sequence[MemoryType] = (),
        by: TimeField = "create_time",
        descending: bool = True,
        after: Sequence[int | str] | None,
        most: int,
    ) -> tuple[Sequence[Memory], tuple[int, str] | None]:
        """The next memories that match, and where the page after them begins; None where there is none."""
        found: list[Memory] = []
        async with self._engine.database.read() as connection:
            row = None
            if scope is not None:
                row = await records.find_scope(connection, bank_id=self._bank_id, scope=scope)
                if row is None:
                    return [], None
            while True:
                batch = await pages.page_memories(
                    connection,
                    bank_id=self._bank_id,
                    scope_id=None if row is None else row.id,
                    now=self._engine.clock.now(),
                    memory_types=memory_types,
                    by=by,
                    descending=descending,
                    after=after,
                    most=_SCANNED,
                )
                for memory in batch:
                    if matches(memory):
                        if len(found) == most:
                            return found, pages.place_of(found[-1], by)
                        found.append(memory)
                if len(batch) < _SCANNED:
                    return found, None
                after = pages.place_of(batch[-1], by)

    async def profiles(self, scope: Scope) -> dict[str, MemoryProfile]:
        """The profiles of one scope that are configured for it and have anything in them, by their schemas' ids."""
        parts = await self._engine.parts(self._bank_id)
        async with self._engine.database.read() as connection:
            row = await records.find_scope(connection, bank_id=self._bank_id, scope=scope)
            if row is None:
                return {}
            fields = await read_fields(connection, scope=row, now=self._engine.clock.now())
        return profiles_of(fields, parts.config.structured_for(scope).schema_configs)

    async def update(
        self,
        memory_id: str,
        change: Change,
        *,
        ttl: timedelta | None,
        scope: Scope | None = None,
        revision: RevisionOptions | None = None,
    ) -> Memory:
        """Applies a change that a person wants; expiry and revision are added as the bank's configuration has it."""
        parts = await self._engine.parts(self._bank_id)
        now = self._engine.clock.now()
        lasting = ttl or (None if change.set_expiry else parts.config.ttl_config.ttl_of("update"))
        if lasting is not None:
            change = replace(change, expire_time=now + lasting, set_expiry=True)
        change = replace(change, revision=revision_of(revision or RevisionOptions(), parts.config, now=now))
        async with self._engine.database.write() as connection:
            old, row, before = await records.get_memory(connection, bank_id=self._bank_id, memory_id=memory_id, now=now)
            if scope is not None and row.pairs != scope:
                raise InvalidArgument("the scope of a memory can't be changed", field="scope")
            if change.fact is not None and old.memory_type is MemoryType.STRUCTURED_PROFILE:
                raise InvalidArgument("a profile's field has none; tell its new value in an event", field="fact")
            await changes.apply(connection, scope=row, changes=[change], now=now)
            memory, _, version = await records.get_memory(
                connection, bank_id=self._bank_id, memory_id=memory_id, now=now
            )
        if version != before:
            await self._engine.make_vectors(parts, [(memory, version)])
        return memory

    async def delete(self, memory_id: str, *, scope: Scope | None) -> None:
        """Deletes one memory; one of another scope than `scope` is not found."""
        parts = await self._engine.parts(self._bank_id)
        now = self._engine.clock.now()
        change = _deletion(memory_id, parts, now)
        async with self._engine.database.write() as connection:
            _, row, _ = await records.get_memory(connection, bank_id=self._bank_id, memory_id=memory_id, now=now)
            if scope is not None and row.pairs != scope:
                raise NotFound(f"there is no memory {memory_id!r} in this scope")
            await changes.apply(connection, scope=row, changes=[change], now=now)
        self._engine.tidy()

    async def purge(self, matches: Matches, *, force: bool) -> int:
        """Deletes the memories of all scopes that match, all of them or none, and returns how many match."""
        if not force:
            async with self._engine.database.read() as connection:
                return len(await self._matching(connection, matches))
        parts = await self._engine.parts(self._bank_id)
        now = self._engine.clock.now()
        async with self._engine.database.write() as connection:
            matching = await self._matching(connection, matches)
            of_scope: dict[int, list[Change]] = {}
            for memory_id, scope_id in matching:
                of_scope.setdefault(scope_id, []).append(_deletion(memory_id, parts, now))
            for scope_id, planned in of_scope.items():
                row = await records.get_scope(connection, scope_id=scope_id)
                await changes.apply(connection, scope=row, changes=planned, now=now)
        self._engine.tidy()
        return len(matching)

    async def _matching(self, connection: AsyncConnection, matches: Matches) -> Sequence[tuple[str, int]]:
        """(id, number of the scope) of the memories of all scopes that match."""
        found: dict[str, None] = {}
        after: tuple[int, str] | None = None
        now = self._engine.clock.now()
        while True:
            batch = await pages.page_memories(connection, bank_id=self._bank_id, now=now, after=after, most=_SCANNED)
            found |= {memory.id: None for memory in batch if matches(memory)}
            if len(batch) < _SCANNED:
                return await records.owners_of(connection, bank_id=self._bank_id, ids=list(found))
            after = pages.place_of(batch[-1], "create_time")

    async def scope_of(self, memory_id: str) -> Scope:
        """The scope of a memory, also of a deleted one whose revisions are there."""
        async with self._engine.database.read() as connection:
            scope_id = await records.last_owner_of(connection, bank_id=self._bank_id, memory_id=memory_id)
            if scope_id is None:
                raise NotFound(f"there is no memory {memory_id!r} in the bank {self._bank_id!r}")
            return (await records.get_scope(connection, scope_id=scope_id)).pairs

    async def page_revisions(
        self, memory_id: str, matches: Callable[[MemoryRevision], bool], *, after: int | None, most: int | None
    ) -> tuple[Sequence[MemoryRevision], int | None]:
        """The next revisions that match, and where the page after them begins; None where there is none."""
        async with self._engine.database.read() as connection:
            listed = await pages.page_revisions(
                connection, bank_id=self._bank_id, memory_id=memory_id, now=self._engine.clock.now(), after=after
            )
        found = [(seq, revision) for seq, revision in listed if matches(revision)]
        page = found[:most]
        return [revision for _, revision in page], page[-1][0] if len(page) < len(found) else None

    async def roll_back(self, memory_id: str, revision_id: str) -> Memory:
        parts = await self._engine.parts(self._bank_id)
        now = self._engine.clock.now()
        async with self._engine.database.write() as connection:
            await roll_back(
                connection,
                bank_id=self._bank_id,
                memory_id=memory_id,
                revision_id=revision_id,
                revision=revision_of(RevisionOptions(), parts.config, now=now),
                lasting=parts.config.ttl_config.ttl_of("update"),
                now=now,
            )
            memory, _, version = await records.get_memory(
                connection, bank_id=self._bank_id, memory_id=memory_id, now=now
            )
        if memory.fact:
            await self._engine.make_vectors(parts, [(memory, version)])
        return memory


def _deletion(memory_id: str, parts: BankParts, now: datetime) -> Change:
    revision = revision_of(RevisionOptions(), parts.config, now=now)
    return Change(action="delete", memory_id=memory_id, revision=revision)
