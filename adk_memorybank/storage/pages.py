"""Memories and revisions page by page: from a place in their order on, however many there are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from sqlalchemy import select, tuple_

from adk_memorybank.clock import to_micros
from adk_memorybank.resources import Memory, MemoryRevision, MemoryType
from adk_memorybank.storage import records
from adk_memorybank.storage.database import AsyncConnection
from adk_memorybank.storage.schema import memories, revisions, scopes

TimeField = Literal["create_time", "update_time"]


async def page_memories(
    connection: AsyncConnection,
    *,
    bank_id: str,
    now: datetime,
    most: int | None = None,
    scope_id: int | None = None,
    memory_types: Sequence[MemoryType] = (),
    by: TimeField = "create_time",
    descending: bool = True,
    after: Sequence[int | str] | None = None,
) -> list[Memory]:
    """The next memories of a bank, or of one scope of it, that have not expired.

    Args:
        memory_types: only these; all where empty.
        most: None for all.
        after: the (time in microseconds, id) of the memory before; None for the first.
    """
    place = (memories.c[by], memories.c.id)
    query = (
        select(memories, scopes.c.pairs)
        .join(scopes, scopes.c.id == memories.c.scope_id)
        .where(memories.c.bank_id == bank_id, records.alive(memories, now))
        .order_by(*[column.desc() if descending else column.asc() for column in place])
        .limit(most)
    )
    if scope_id is not None:
        query = query.where(memories.c.scope_id == scope_id)
    if memory_types:
        query = query.where(memories.c.memory_type.in_([one.value for one in memory_types]))
    if after is not None:
        query = query.where(tuple_(*place) < tuple_(*after) if descending else tuple_(*place) > tuple_(*after))
    return [records.memory_of(row, scope=json.loads(row.pairs)) for row in await connection.execute(query)]


def place_of(memory: Memory, by: TimeField) -> tuple[int, str]:
    """Where a memory stands in the order by a time."""
    return (to_micros(getattr(memory, by)), memory.id)


async def page_revisions(
    connection: AsyncConnection,
    *,
    bank_id: str,
    memory_id: str,
    now: datetime,
    most: int | None = None,
    after: int | None = None,
) -> list[tuple[int, MemoryRevision]]:
    """The next revisions of a memory, also of a deleted one, each with its number, the newest first.

    Without the expired. Where the id was used again in another scope, those of the memory before are not listed.
    """
    query = (
        select(revisions)
        .where(
            revisions.c.bank_id == bank_id,
            revisions.c.memory_id == memory_id,
            revisions.c.scope_id == await records.last_owner_of(connection, bank_id=bank_id, memory_id=memory_id),
            records.alive(revisions, now),
        )
        .order_by(revisions.c.seq.desc())
        .limit(most)
    )
    if after is not None:
        query = query.where(revisions.c.seq < after)
    return [(row.seq, records.revision_of(row)) for row in await connection.execute(query)]
