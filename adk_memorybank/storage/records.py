"""Scopes, memories and revisions: the rows, and the resources made of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Row, Table, func, or_, select, update

from adk_memorybank.clock import from_micros, to_micros
from adk_memorybank.errors import AlreadyExists, NotFound
from adk_memorybank.resources import (
    ExtractedMemory,
    Memory,
    MemoryRevision,
    MemoryType,
    Scope,
    Source,
    bank_name,
    canonical_scope,
    metadata_from_json,
    scope_key,
)
from adk_memorybank.storage.database import AsyncConnection, insert_new
from adk_memorybank.storage.schema import (
    banks,
    dropped_vectors,
    memories,
    revisions,
    scopes,
)
from adk_memorybank.storage.vectors import vector_id

T = TypeVar("T")

PAGE = 500
"""Ids in one `IN (…)`: SQLite takes 32,766 values, but plans a short list faster."""


def pages(ids: Collection[T]) -> Iterator[list[T]]:
    """Ids, as many at a time as go into one `IN (…)`."""
    listed = list(ids)
    for start in range(0, len(listed), PAGE):
        yield listed[start : start + PAGE]


def alive(table: Table, now: datetime) -> ColumnElement[bool]:
    """The condition that a memory or a revision has not expired."""
    return or_(table.c.expire_time.is_(None), table.c.expire_time > to_micros(now))


_SCOPES = select(scopes, banks.c.collection).join(banks, banks.c.id == scopes.c.bank_id)


@dataclass(frozen=True, slots=True)
class ScopeRow:
    """A scope. Its `version` rises with each change of its memories, its `epoch` when it is forgotten.

    `collection` is the one of Chroma that holds the vectors of its bank.
    """

    id: int
    bank_id: str
    pairs: Scope
    version: int
    epoch: int
    collection: str


@dataclass(frozen=True, slots=True)
class FactRow:
    """What a scope view is made of."""

    id: str
    fact_version: int
    fact: str
    create_time: int
    event_time: int | None
    expire_time: int | None
    context: bytes | None


async def count_memories(connection: AsyncConnection, *, bank_id: str, now: datetime) -> int:
    """Without the expired."""
    counted = select(func.count()).where(memories.c.bank_id == bank_id, alive(memories, now))
    return (await connection.execute(counted)).scalar_one()


async def find_scope(
    connection: AsyncConnection, *, bank_id: str, scope: Scope, forgotten: bool = False
) -> ScopeRow | None:
    """The row of a scope, or None where nothing was ever put into it, or all of it was forgotten.

    Args:
        forgotten: find it also when it was forgotten and nothing new has come since.
    """
    canonical = canonical_scope(scope)
    row = (
        await connection.execute(_SCOPES.where(scopes.c.bank_id == bank_id, scopes.c.key == scope_key(canonical)))
    ).one_or_none()
    if row is None:
        return None
    # Compared in full: a hash only finds the row.
    return _scope(row) if row.pairs == canonical or (forgotten and row.pairs is None) else None


async def ensure_scope(connection: AsyncConnection, *, bank_id: str, scope: Scope, forgotten: bool = False) -> ScopeRow:
    """The row of a scope, made if it is missing. A forgotten one comes back with the epoch that it had.

    Args:
        forgotten: leave one that is forgotten as it is, and make a missing one like it: nothing is put into it.
    """
    found = await find_scope(connection, bank_id=bank_id, scope=scope, forgotten=forgotten)
    if found is not None:
        return found
    canonical = canonical_scope(scope)
    key = scope_key(canonical)
    pairs = None if forgotten else canonical
    await connection.execute(insert_new(scopes).values(bank_id=bank_id, key=key, pairs=pairs, version=0, epoch=0))
    await connection.execute(
        update(scopes)
        .where(scopes.c.bank_id == bank_id, scopes.c.key == key, scopes.c.pairs.is_(None))
        .values(pairs=pairs)
    )
    found = await find_scope(connection, bank_id=bank_id, scope=scope, forgotten=forgotten)
    if found is None:
        raise AlreadyExists("two scopes have the same SHA-256")
    return found


async def get_scope(connection: AsyncConnection, *, scope_id: int) -> ScopeRow:
    """The row of a scope by its number, also of one that is forgotten (its pairs are empty then)."""
    return _scope((await connection.execute(_SCOPES.where(scopes.c.id == scope_id))).one())


async def list_scopes(connection: AsyncConnection, *, bank_id: str) -> list[ScopeRow]:
    """All scopes of a bank that are not forgotten, in the order in which they appeared."""
    rows = await connection.execute(
        _SCOPES.where(scopes.c.bank_id == bank_id, scopes.c.pairs.is_not(None)).order_by(scopes.c.id)
    )
    return [_scope(row) for row in rows]


def _scope(row: Row[Any]) -> ScopeRow:
    return ScopeRow(
        id=row.id,
        bank_id=row.bank_id,
        pairs=json.loads(row.pairs) if row.pairs else {},
        version=row.version,
        epoch=row.epoch,
        collection=row.collection,
    )


async def list_fact_versions(connection: AsyncConnection, *, scope_id: int) -> list[tuple[str, int, int | None]]:
    """(id, fact_version, expire_time in microseconds) of every memory of a scope that has a fact."""
    rows = await connection.execute(
        select(memories.c.id, memories.c.fact_version, memories.c.expire_time)
        .where(memories.c.scope_id == scope_id, memories.c.memory_type == MemoryType.NATURAL_LANGUAGE_COLLECTION.value)
        .order_by(memories.c.create_time, memories.c.id)
    )
    return [(row.id, row.fact_version, row.expire_time) for row in rows]


_FACT_COLUMNS = (
    memories.c.id,
    memories.c.fact_version,
    memories.c.fact,
    memories.c.create_time,
    memories.c.event_time,
    memories.c.expire_time,
    memories.c.context,
)


async def read_facts(connection: AsyncConnection, *, bank_id: str, ids: Sequence[str]) -> list[FactRow]:
    """The facts of some memories, in no order."""
    found: list[FactRow] = []
    for start in range(0, len(ids), PAGE):
        page = ids[start : start + PAGE]
        query = select(*_FACT_COLUMNS).where(memories.c.bank_id == bank_id, memories.c.id.in_(page))
        found += [FactRow(*row) for row in (await connection.execute(query)).all()]
    return found


async def page_facts(connection: AsyncConnection, *, bank_id: str, after: str, most: int) -> list[FactRow]:
    """The facts of a whole bank, page by page: the next ones by id after `after`."""
    query = select(*_FACT_COLUMNS).where(
        memories.c.bank_id == bank_id,
        memories.c.id > after,
        memories.c.memory_type == MemoryType.NATURAL_LANGUAGE_COLLECTION.value,
    )
    rows = await connection.execute(query.order_by(memories.c.id).limit(most))
    return [FactRow(*row) for row in rows.all()]


async def count_facts(connection: AsyncConnection, *, bank_id: str) -> int:
    """As many as `page_facts` pages through."""
    counted = select(func.count()).where(
        memories.c.bank_id == bank_id, memories.c.memory_type == MemoryType.NATURAL_LANGUAGE_COLLECTION.value
    )
    return (await connection.execute(counted)).scalar_one()


async def read_memories(
    connection: AsyncConnection, *, bank_id: str, scope_id: int, scope: Scope, ids: Sequence[str]
) -> dict[str, tuple[Memory, int]]:
    """Some memories of one scope with their fact versions, by id. Ids that are gone are left out."""
    found: dict[str, tuple[Memory, int]] = {}
    of_scope = select(memories).where(memories.c.bank_id == bank_id, memories.c.scope_id == scope_id)
    for page in pages(ids):
        for row in await connection.execute(of_scope.where(memories.c.id.in_(page))):
            found[row.id] = (memory_of(row, scope=scope), row.fact_version)
    return found


async def get_memory(
    connection: AsyncConnection, *, bank_id: str, memory_id: str, now: datetime
) -> tuple[Memory, ScopeRow, int]:
    """One memory with its scope and its fact version.

    Raises:
        NotFound: there is none with this id, or it has expired.
    """
    of_memory = (memories.c.bank_id == bank_id) & (memories.c.id == memory_id)
    query = select(memories).where(of_memory, alive(memories, now))
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        raise NotFound(f"there is no memory {memory_id!r} in the bank {bank_id!r}")
    scope = await get_scope(connection, scope_id=row.scope_id)
    return memory_of(row, scope=scope.pairs), scope, row.fact_version


def memory_of(row: Row[Any], *, scope: Scope) -> Memory:
    return Memory(
        name=f"{bank_name(row.bank_id)}/memories/{row.id}",
        fact=row.fact,
        scope=scope,
        topics=row.topics,
        metadata=metadata_from_json(row.metadata),
        display_name=row.display_name,
        description=row.description,
        memory_type=MemoryType(row.memory_type),
        structured_content=row.structured_content,
        sources=[Source(**source) for source in row.sources],
        author=row.author,
        create_time=from_micros(row.create_time),
        update_time=from_micros(row.update_time),
        expire_time=_moment(row.expire_time),
        event_time=_moment(row.event_time),
    )


async def owner_of(connection: AsyncConnection, *, bank_id: str, memory_id: str) -> int | None:
    """The number of the scope of a memory; None where there is no such memory now."""
    query = select(memories.c.scope_id).where(memories.c.bank_id == bank_id, memories.c.id == memory_id)
    return (await connection.execute(query)).scalar_one_or_none()


async def owners_of(connection: AsyncConnection, *, bank_id: str, ids: Sequence[str]) -> list[tuple[str, int]]:
    """(id, number of its scope) of some memories."""
    found: list[tuple[str, int]] = []
    for page in pages(ids):
        query = select(memories.c.id, memories.c.scope_id).where(memories.c.bank_id == bank_id, memories.c.id.in_(page))
        found += [(row.id, row.scope_id) for row in await connection.execute(query)]
    return found


async def last_owner_of(connection: AsyncConnection, *, bank_id: str, memory_id: str) -> int | None:
    """As `owner_of`, also of a memory that was deleted, as long as there are revisions of it."""
    owner = await owner_of(connection, bank_id=bank_id, memory_id=memory_id)
    if owner is not None:
        return owner
    query = (
        select(revisions.c.scope_id)
        .where(revisions.c.bank_id == bank_id, revisions.c.memory_id == memory_id)
        .order_by(revisions.c.seq.desc())
        .limit(1)
    )
    return (await connection.execute(query)).scalar_one_or_none()


async def list_earlier_facts(
    connection: AsyncConnection, *, scope_id: int, ids: Sequence[str], most: int
) -> dict[str, tuple[str, ...]]:
    """The facts of the revisions before the newest, by memory, the newest first, at most `most` of each."""
    facts: dict[str, list[str]] = {}
    for start in range(0, len(ids), PAGE):
        query = (
            select(revisions.c.memory_id, revisions.c.fact)
            .where(revisions.c.scope_id == scope_id, revisions.c.memory_id.in_(ids[start : start + PAGE]))
            .order_by(revisions.c.seq.desc())
        )
        for memory_id, fact in await connection.execute(query):
            facts.setdefault(memory_id, []).append(fact)
    return {memory_id: tuple(found[1 : most + 1]) for memory_id, found in facts.items()}


def revision_of(row: Row[Any]) -> MemoryRevision:
    return MemoryRevision(
        name=revision_name(row.bank_id, row.memory_id, row.id),
        fact=row.fact,
        topics=row.topics,
        labels=row.labels,
        extracted_memories=[ExtractedMemory(**extracted) for extracted in row.extracted_memories],
        sources=[Source(**source) for source in row.sources],
        structured_data=None if row.structured_data is None else row.structured_data["data"],
        event_time=_moment(row.event_time),
        create_time=from_micros(row.create_time),
        expire_time=_moment(row.expire_time),
    )


def revision_name(bank_id: str, memory_id: str, revision_id: str) -> str:
    return f"{bank_name(bank_id)}/memories/{memory_id}/revisions/{revision_id}"


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)


async def unnamed_vectors(connection: AsyncConnection, *, bank_id: str, ids: Sequence[str]) -> list[str]:
    """Those of some vectors' ids that no memory has any more: its fact was changed, or it is gone."""
    memory_ids = list(dict.fromkeys(identified.rpartition(".")[0] for identified in ids))
    named: set[str] = set()
    for start in range(0, len(memory_ids), PAGE):
        page = memory_ids[start : start + PAGE]
        query = select(memories.c.id, memories.c.fact_version).where(
            memories.c.bank_id == bank_id, memories.c.id.in_(page)
        )
        named.update(vector_id(row.id, row.fact_version) for row in await connection.execute(query))
    return [identified for identified in ids if identified not in named]


async def drop_vectors(connection: AsyncConnection, *, bank_id: str, facts: Sequence[tuple[str, int]]) -> None:
    """Notes vectors, by (memory id, fact version), that Chroma is to remove once this transaction has committed."""
    if facts:
        rows = [{"bank_id": bank_id, "vector_id": vector_id(*fact)} for fact in facts]
        await connection.execute(dropped_vectors.insert(), rows)
