"""Changes of memories, each with its revision, applied inside the caller's transaction."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Row, delete, desc, insert, select, update

from adk_memorybank.clock import to_micros
from adk_memorybank.errors import AlreadyExists
from adk_memorybank.resources import (
    Action,
    ExtractedMemory,
    MemoryType,
    MetadataValue,
    Source,
    metadata_to_json,
    new_id,
)
from adk_memorybank.storage import records
from adk_memorybank.storage.citations import cite, drop_text_of
from adk_memorybank.storage.database import AsyncConnection
from adk_memorybank.storage.records import ScopeRow
from adk_memorybank.storage.schema import memories, revisions, scopes

DELETED_REVISION_TTL = timedelta(hours=48)
"""How long the revisions of a deleted memory can be listed and rolled back to (reference 5.7)."""


class Conflict(Exception):
    """A memory that a change is about was changed or deleted since the change was planned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRevision:
    """What the revision of a change carries besides the memory's own state; `expire_time` None keeps it for good."""

    expire_time: datetime | None = None
    labels: Mapping[str, str]
    extracted: Sequence[ExtractedMemory] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change. Of an update, None leaves a value as it is.

    Attributes:
        memory_id: the target; of a creation an id that the caller chose, or None.
        fact_version: of the target when the change was planned; None for any.
        add_sources: True to add `sources` to the target's, False where the new text has sources of its own.
        context: the words, as numbers, of the turns behind `sources`; goes where they go.
        add_metadata: True to merge `metadata` into the target's, False to put it in its place.
        set_expiry: whether `expire_time` is to be written.
        revision: None makes no revision.
        structured_content: of a profile's field, which has no fact: `{"schema_id": …, "data": {field: value}}`.
    """

    action: Literal["create", "update", "delete"]
    memory_id: str | None = None
    fact_version: int | None = None
    fact: str | None = None
    topics: Sequence[str] | None = None
    sources: Sequence[Source] = ()
    add_sources: bool = True
    context: bytes | None = None
    event_time: datetime | None = None
    author: str | None = None
    metadata: Mapping[str, MetadataValue] | None = None
    add_metadata: bool = True
    display_name: str | None = None
    description: str | None = None
    expire_time: datetime | None = None
    set_expiry: bool = False
    revision: NewRevision | None = None
    structured_content: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """What a change did.

    Attributes:
        fact_version: of the memory afterwards, where its fact is new: its vector is still to be made.
        previous_revision: id of the newest revision before the change.
    """

    action: Action
    memory_id: str
    fact: str
    fact_version: int | None = None
    previous_revision: str | None = None


async def apply(
    connection: AsyncConnection, *, scope: ScopeRow, changes: Sequence[Change], now: datetime
) -> list[Applied]:
    """Applies changes to memories of one scope and raises the scope's version.

    Raises:
        Conflict: a target is not what it was when the change was planned.
        AlreadyExists: an id that the caller chose is taken.
    """
    if not changes:
        return []
    moment = to_micros(now)
    applied: list[Applied] = []
    sources: dict[str, list[dict[str, str]]] = {}
    for change in changes:
        if change.action == "create":
            applied.append(await _create(connection, scope, change, moment))
        else:
            applied.append(await _alter(connection, scope, change, moment, sources))
    await drop_text_of(connection, scope_id=scope.id, sources=sources)
    await connection.execute(update(scopes).where(scopes.c.id == scope.id).values(version=scopes.c.version + 1))
    return applied


async def _create(connection: AsyncConnection, scope: ScopeRow, change: Change, moment: int) -> Applied:
    memory_id = change.memory_id or new_id()
    of_id = select(memories.c.scope_id, memories.c.fact_version, memories.c.expire_time).where(
        memories.c.bank_id == scope.bank_id, memories.c.id == memory_id
    )
    taken = (await connection.execute(of_id)).one_or_none()
    if taken is not None:
        if taken.expire_time is None or taken.expire_time > moment:
            raise AlreadyExists(f"there is a memory {memory_id!r} in the bank already")
        facts = [(memory_id, taken.fact_version)]
        await delete_memories(connection, bank_id=scope.bank_id, facts=facts, moment=moment)
        await connection.execute(
            update(scopes).where(scopes.c.id == taken.scope_id).values(version=scopes.c.version + 1)
        )
    fact = change.fact or ""
    # Begins at random: under an id that is used again, a vector of the memory before can't be taken for the new one.
    fact_version = secrets.randbelow(2**48)
    values: dict[str, Any] = {
        "fact": fact,
        "fact_version": fact_version,
        "topics": list(change.topics or ()),
        "metadata": metadata_to_json(change.metadata or {}),
        "display_name": change.display_name or "",
        "description": change.description or "",
        "memory_type": _type_of(change).value,
        "structured_content": None if change.structured_content is None else dict(change.structured_content),
        "sources": [source.model_dump() for source in change.sources],
        "context": change.context,
        "author": change.author or "user",
        "event_time": _micros(change.event_time),
        "create_time": moment,
        "update_time": moment,
        "expire_time": _micros(change.expire_time),
    }
    await connection.execute(insert(memories).values(bank_id=scope.bank_id, id=memory_id, scope_id=scope.id, **values))
    await cite(connection, scope_id=scope.id, sources=change.sources)
    await add_revision(connection, scope, memory_id, change.revision, values, moment)
    return Applied(Action.CREATED, memory_id, fact, None if change.structured_content is not None else fact_version)


def _type_of(change: Change) -> MemoryType:
    structured = change.structured_content is not None
    return MemoryType.STRUCTURED_PROFILE if structured else MemoryType.NATURAL_LANGUAGE_COLLECTION


async def _alter(
    connection: AsyncConnection, scope: ScopeRow, change: Change, moment: int, sources: dict[str, list[dict[str, str]]]
) -> Applied:
    """Updates or deletes a memory, and adds to `sources` those that it had before, where any may be lost."""
    row = (
        await connection.execute(
            select(memories).where(
                memories.c.bank_id == scope.bank_id, memories.c.id == change.memory_id, memories.c.scope_id == scope.id
            )
        )
    ).one_or_none()
    if row is None or change.fact_version not in (None, row.fact_version):
        raise Conflict(change.memory_id)
    memory_id: str = row.id
    if change.action == "delete" or not change.add_sources:
        sources[memory_id] = [*sources.get(memory_id, ()), *row.sources]
    newest = (
        await connection.execute(
            select(revisions.c.id)
            .where(
                revisions.c.bank_id == scope.bank_id,
                revisions.c.memory_id == memory_id,
                revisions.c.scope_id == scope.id,
            )
            .order_by(desc(revisions.c.seq))
            .limit(1)
        )
    ).scalar_one_or_none()
    if change.action == "delete":
        await delete_memories(connection, bank_id=scope.bank_id, facts=[(memory_id, row.fact_version)], moment=moment)
        emptied: dict[str, Any] = {"fact": "", "topics": [], "sources": [], "event_time": row.event_time}
        revision = change.revision
        if revision is not None:
            limit = to_micros_in(moment, DELETED_REVISION_TTL)
            await add_revision(
                connection, scope, memory_id, revision, emptied, moment, limit=limit, remains=_remains(row)
            )
        return Applied(Action.DELETED, memory_id, row.fact, previous_revision=newest)
    values = _updated(row, change, moment)
    await connection.execute(
        update(memories).where(memories.c.bank_id == scope.bank_id, memories.c.id == memory_id).values(**values)
    )
    if values["fact_version"] != row.fact_version:
        await records.drop_vectors(connection, bank_id=scope.bank_id, facts=[(memory_id, row.fact_version)])
    await cite(connection, scope_id=scope.id, sources=change.sources)
    await add_revision(connection, scope, memory_id, change.revision, values, moment)
    renewed = values["fact_version"] if values["fact_version"] != row.fact_version else None
    return Applied(Action.UPDATED, memory_id, values["fact"], renewed, newest)


def _updated(row: Any, change: Change, moment: int) -> dict[str, Any]:
    """The columns of a memory after an update."""
    fact = row.fact if change.fact is None else change.fact
    new_fact = fact != row.fact
    kept: list[dict[str, str]] = row.sources if change.add_sources else []
    known = {(source["session_id"], source["event_id"]) for source in kept}
    added = [source.model_dump() for source in change.sources if (source.session_id, source.event_id) not in known]
    metadata = row.metadata
    if change.metadata is not None:
        encoded = metadata_to_json(change.metadata)
        metadata = {**metadata, **encoded} if change.add_metadata else encoded
    times = [time for time in (row.event_time, _micros(change.event_time)) if time is not None]
    return {
        "fact": fact,
        "fact_version": row.fact_version + 1 if new_fact else row.fact_version,
        "topics": row.topics if change.topics is None else list(change.topics),
        "metadata": metadata,
        "display_name": row.display_name if change.display_name is None else change.display_name,
        "description": row.description if change.description is None else change.description,
        "sources": kept + added,
        "context": _context(row.context, change) if change.sources else row.context,
        "event_time": max(times, default=None),
        "update_time": moment,
        "expire_time": _micros(change.expire_time) if change.set_expiry else row.expire_time,
        "structured_content": row.structured_content
        if change.structured_content is None
        else dict(change.structured_content),
    }


MAX_CONTEXT = 2_048
"""Bytes of a memory's context: of one that is told again and again, the latest."""


def _context(before: bytes | None, change: Change) -> bytes | None:
    if not change.add_sources:
        return change.context
    return ((before or b"") + (change.context or b""))[-MAX_CONTEXT:] or None


_REMAINS = (
    "metadata",
    "display_name",
    "description",
    "memory_type",
    "structured_content",
    "author",
    "create_time",
    "expire_time",
)


def _remains(row: Row[Any]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in _REMAINS}


async def delete_memories(
    connection: AsyncConnection, *, bank_id: str, facts: Sequence[tuple[str, int]], moment: int
) -> None:
    """Deletes memories, given as (id, fact version). Their revisions stay for 48 hours."""
    limit = to_micros_in(moment, DELETED_REVISION_TTL)
    for memory_id, _ in facts:
        of_memory = (revisions.c.bank_id == bank_id) & (revisions.c.memory_id == memory_id)
        sooner = revisions.c.expire_time.is_(None) | (revisions.c.expire_time > limit)
        await connection.execute(update(revisions).where(of_memory, sooner).values(expire_time=limit))
        await connection.execute(delete(memories).where(memories.c.bank_id == bank_id, memories.c.id == memory_id))
    await records.drop_vectors(connection, bank_id=bank_id, facts=facts)


async def add_revision(
    connection: AsyncConnection,
    scope: ScopeRow,
    memory_id: str,
    revision: NewRevision | None,
    values: Mapping[str, Any],
    moment: int,
    *,
    limit: int | None = None,
    remains: Mapping[str, Any] | None = None,
) -> None:
    """Adds a revision with the state `values` of a memory.

    Args:
        limit: until when it is kept at most.
        remains: of a deleted memory what no revision says, should it be rolled back.
    """
    if revision is None:
        return
    expiries = [expiry for expiry in (_micros(revision.expire_time), limit) if expiry is not None]
    await connection.execute(
        insert(revisions).values(
            bank_id=scope.bank_id,
            id=new_id(),
            memory_id=memory_id,
            scope_id=scope.id,
            fact=values["fact"],
            topics=values["topics"],
            labels=dict(revision.labels),
            extracted_memories=[extracted.model_dump() for extracted in revision.extracted],
            sources=values["sources"],
            structured_data=values.get("structured_content"),  # with its schema's id, which a rollback needs
            event_time=values["event_time"],
            create_time=moment,
            expire_time=min(expiries, default=None),
            remains=None if remains is None else dict(remains),
        )
    )


def to_micros_in(moment: int, delay: timedelta) -> int:
    """A moment in microseconds, later by `delay`."""
    return moment + int(delay.total_seconds() * 1_000_000)


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)
