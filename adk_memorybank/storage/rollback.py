"""Taking a memory back to an earlier revision, also one that was deleted (reference 5.7)."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, func, insert, select, update

from adk_memorybank.clock import to_micros
from adk_memorybank.errors import FailedPrecondition, NotFound
from adk_memorybank.resources import MemoryType
from adk_memorybank.storage import records
from adk_memorybank.storage.changes import DELETED_REVISION_TTL, NewRevision, add_revision, to_micros_in
from adk_memorybank.storage.citations import drop_text_of
from adk_memorybank.storage.database import AsyncConnection
from adk_memorybank.storage.schema import memories, revisions, scopes


async def roll_back(
    connection: AsyncConnection,
    *,
    bank_id: str,
    memory_id: str,
    revision_id: str,
    revision: NewRevision | None,
    lasting: timedelta | None,
    now: datetime,
) -> None:
    """Gives a memory the fact, topics, data and sources of one of its revisions.

    Nothing of its history is dropped: a revision equal to the target is added. A deleted memory comes back under its
    id, with the metadata and names that it had.

    Args:
        lasting: how long it is kept where it has expired since; None for good.

    Raises:
        NotFound: there is no such revision, or it has expired.
        FailedPrecondition: the revision is that of the deletion.
    """
    target = await _target(connection, bank_id, memory_id, revision_id, now)
    if not target.fact and not target.structured_data:
        raise FailedPrecondition("this revision says that the memory was deleted; to delete it again, delete it")
    moment = to_micros(now)
    scope = await records.get_scope(connection, scope_id=target.scope_id)
    of_memory = (memories.c.bank_id == bank_id) & (memories.c.id == memory_id)
    present = (await connection.execute(select(memories).where(of_memory))).one_or_none()
    values: dict[str, Any] = {
        "fact": target.fact,
        "topics": target.topics,
        "sources": target.sources,
        "event_time": target.event_time,
        "update_time": moment,
    }
    if target.structured_data is not None:
        values["structured_content"] = target.structured_data
    if present is None:
        values |= await _remains(connection, bank_id, memory_id, target)
    expiry = values.get("expire_time") if present is None else present.expire_time
    if expiry is not None and expiry <= moment:
        values["expire_time"] = None if lasting is None else to_micros(now + lasting)
    if present is not None:
        changed = present.fact != target.fact
        values["fact_version"] = present.fact_version + 1 if changed else present.fact_version
        await connection.execute(update(memories).where(of_memory).values(**values))
        if changed:
            await records.drop_vectors(connection, bank_id=bank_id, facts=[(memory_id, present.fact_version)])
    else:
        values["fact_version"] = secrets.randbelow(2**48)  # never again under the name of a vector that is gone
        await connection.execute(
            insert(memories).values(bank_id=bank_id, id=memory_id, scope_id=target.scope_id, **values)
        )
        await _keep_history(connection, bank_id, memory_id, target.scope_id, revision, now=now)
    await add_revision(connection, scope, memory_id, revision, values, moment)
    if present is not None:
        await drop_text_of(connection, scope_id=target.scope_id, sources={memory_id: present.sources})
    await connection.execute(update(scopes).where(scopes.c.id == target.scope_id).values(version=scopes.c.version + 1))


async def _keep_history(
    connection: AsyncConnection,
    bank_id: str,
    memory_id: str,
    scope_id: int,
    revision: NewRevision | None,
    *,
    now: datetime,
) -> None:
    """Lets the revisions of a memory that is back live on: the deletion has left them 48 hours.

    Each as long as the one that is made now would, counted from its own time: how long they were to live at first is
    not known any more.
    """
    of_memory = (
        (revisions.c.bank_id == bank_id) & (revisions.c.memory_id == memory_id) & (revisions.c.scope_id == scope_id)
    )
    deleted = select(func.max(revisions.c.create_time)).where(of_memory, revisions.c.remains.is_not(None))
    moment = (await connection.execute(deleted)).scalar_one()
    if moment is None or revision is None:
        return
    lasting = None if revision.expire_time is None else to_micros(revision.expire_time) - to_micros(now)
    until = None if lasting is None else revisions.c.create_time + lasting
    cut = revisions.c.expire_time == to_micros_in(moment, DELETED_REVISION_TTL)
    await connection.execute(update(revisions).where(of_memory, cut).values(expire_time=until))


async def _target(
    connection: AsyncConnection, bank_id: str, memory_id: str, revision_id: str, now: datetime
) -> Row[Any]:
    query = select(revisions).where(
        revisions.c.bank_id == bank_id,
        revisions.c.memory_id == memory_id,
        revisions.c.id == revision_id,
        records.alive(revisions, now),
    )
    found = (await connection.execute(query)).one_or_none()
    scope_id = await records.last_owner_of(connection, bank_id=bank_id, memory_id=memory_id)
    # An id may have been used again in another scope since: what was deleted there is not this memory's.
    if found is None or scope_id != found.scope_id:
        raise NotFound(f"the memory {memory_id!r} has no revision {revision_id!r}")
    return found


async def _remains(connection: AsyncConnection, bank_id: str, memory_id: str, target: Row[Any]) -> dict[str, Any]:
    """What else the memory was when it was deleted; its first state where no deletion was noted."""
    query = (
        select(revisions.c.remains)
        .where(
            revisions.c.bank_id == bank_id,
            revisions.c.memory_id == memory_id,
            revisions.c.scope_id == target.scope_id,
            revisions.c.remains.is_not(None),
        )
        .order_by(revisions.c.seq.desc())
        .limit(1)
    )
    remains = (await connection.execute(query)).scalar_one_or_none()
    return remains or {
        "metadata": {},
        "memory_type": MemoryType.NATURAL_LANGUAGE_COLLECTION.value
        if target.structured_data is None
        else MemoryType.STRUCTURED_PROFILE.value,
        "create_time": target.create_time,
    }
