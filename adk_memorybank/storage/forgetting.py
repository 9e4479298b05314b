"""What leaves the store for good: forgotten scopes, expired memories and revisions, text that nothing cites."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, select, update

from adk_memorybank.clock import to_micros
from adk_memorybank.resources import Forgotten
from adk_memorybank.storage import records, wishes
from adk_memorybank.storage.changes import delete_memories
from adk_memorybank.storage.citations import drop_uncited_text
from adk_memorybank.storage.database import AsyncConnection
from adk_memorybank.storage.records import ScopeRow
from adk_memorybank.storage.schema import (
    calls,
    dropped_vectors,
    events,
    forget_requests,
    memories,
    operations,
    revisions,
    scopes,
    streams,
)
from adk_memorybank.storage.sessions import delete_sessions_read, drop_expired_sessions

_SWEEP = 1_000


async def forget_scope(connection: AsyncConnection, *, scope: ScopeRow) -> Forgotten:
    """Removes memories, revisions, events and operations of a scope, its own pairs, and the sessions it was read from.

    What stays is its number, the hash of its pairs, the raised epoch (a plan made before is refused) and the keyed
    hashes of the events it has seen (adding the same sessions again brings nothing back).
    """
    facts = await connection.execute(
        select(memories.c.id, memories.c.fact_version).where(memories.c.scope_id == scope.id)
    )
    await records.drop_vectors(connection, bank_id=scope.bank_id, facts=[(row.id, row.fact_version) for row in facts])
    await delete_sessions_read(connection, scope=scope)  # told by the events, which go next
    counts: dict[str, int] = {}
    for table in (revisions, memories, events, streams, operations, forget_requests):
        counted = await connection.execute(select(func.count()).select_from(table).where(table.c.scope_id == scope.id))
        counts[table.name] = counted.scalar_one()
        await connection.execute(delete(table).where(table.c.scope_id == scope.id))
    await connection.execute(delete(calls).where(calls.c.scope_id == scope.id))
    await connection.execute(
        update(scopes)
        .where(scopes.c.id == scope.id)
        .values(pairs=None, epoch=scopes.c.epoch + 1, version=scopes.c.version + 1)
    )
    return Forgotten(
        memories=counts["memories"],
        revisions=counts["revisions"],
        events=counts["events"],
        operations=counts["operations"],
    )


async def sweep(connection: AsyncConnection, *, now: datetime, operations_before: datetime) -> int:
    """Removes what has expired: memories, revisions, sessions, and operations that ended before `operations_before`.

    At most a thousand of each kind; returns how many rows went, so that a caller goes on until none do.
    """
    moment = to_micros(now)
    await wishes.drop_old(connection, now=now)
    due = (
        select(memories.c.bank_id, memories.c.id, memories.c.fact_version, memories.c.scope_id)
        .where(memories.c.expire_time <= moment)
        .limit(_SWEEP)
    )
    expired = (await connection.execute(due)).all()
    touched: set[int] = set()
    for row in expired:
        await delete_memories(connection, bank_id=row.bank_id, facts=[(row.id, row.fact_version)], moment=moment)
        touched.add(row.scope_id)
    if touched:
        await connection.execute(update(scopes).where(scopes.c.id.in_(touched)).values(version=scopes.c.version + 1))
    old = (
        await connection.execute(
            select(revisions.c.seq, revisions.c.scope_id).where(revisions.c.expire_time <= moment).limit(_SWEEP)
        )
    ).all()
    if old:
        await connection.execute(delete(revisions).where(revisions.c.seq.in_([row.seq for row in old])))
        touched.update(row.scope_id for row in old)
    for scope_id in touched:
        await drop_uncited_text(connection, scope_id=scope_id)
    ended_sessions = await drop_expired_sessions(connection, now=now, most=_SWEEP)
    ended = (
        await connection.execute(
            select(operations.c.seq, operations.c.id)
            .where(operations.c.state == "done", operations.c.update_time < to_micros(operations_before))
            .limit(_SWEEP)
        )
    ).all()
    await drop_operations(connection, ended)
    await connection.execute(delete(calls).where(calls.c.create_time < to_micros(operations_before)))
    return len(expired) + len(old) + len(ended) + ended_sessions


async def drop_operations(connection: AsyncConnection, ended: Sequence[Any]) -> None:
    """Removes operations that have ended, given as rows with `seq` and `id`."""
    if not ended:
        return
    await connection.execute(delete(operations).where(operations.c.seq.in_([row.seq for row in ended])))
    # Those of a generation that failed: kept to be retried, and nothing else will ever read them.
    left = events.c.operation_id.in_([row.id for row in ended]) & (events.c.state == "claimed")
    await connection.execute(delete(events).where(left))


async def take_dropped_vectors(connection: AsyncConnection) -> dict[str, dict[str, int]]:
    """Vectors that Chroma is still to remove: by bank, vector id to the number of the note."""
    notes: dict[str, dict[str, int]] = {}
    rows = await connection.execute(select(dropped_vectors).order_by(dropped_vectors.c.seq).limit(5_000))
    for row in rows:
        notes.setdefault(row.bank_id, {})[row.vector_id] = row.seq
    return notes


async def vectors_were_dropped(connection: AsyncConnection, *, notes: list[int]) -> None:
    """Chroma has removed them: the notes can go."""
    condition: Any = dropped_vectors.c.seq.in_(notes)
    await connection.execute(delete(dropped_vectors).where(condition))
