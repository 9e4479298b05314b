"""ADK sessions and their events: the rows, and the resources made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Column, ColumnElement, Row, Select, and_, delete, func, insert, select, tuple_, update

from adk_memorybank.clock import from_micros, to_micros
from adk_memorybank.errors import AlreadyExists, NotFound
from adk_memorybank.resources import Scope, bank_name, new_id
from adk_memorybank.sessions import Session, SessionEvent
from adk_memorybank.storage.database import AsyncConnection, insert_new
from adk_memorybank.storage.records import ScopeRow, alive, pages
from adk_memorybank.storage.schema import events, session_events, sessions

TimeField = Literal["create_time", "update_time"]
Place = Sequence[int]
"""Where something stands in an order by time: the time in microseconds, and its number."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session and its number in the store."""

    seq: int
    session: Session


async def add_session(
    connection: AsyncConnection, *, bank_id: str, session_id: str | None, now: datetime, **values: Any
) -> SessionRow:
    """Creates a session.

    Args:
        session_id: a fresh one where it is None.
        values: columns.

    Raises:
        AlreadyExists: there is one with this id.
    """
    chosen = session_id or new_id()
    moment = to_micros(now)
    of_id = (sessions.c.bank_id == bank_id) & (sessions.c.id == chosen)
    await _delete(connection, of_id & ~alive(sessions, now))
    added = await connection.execute(
        insert_new(sessions).values(bank_id=bank_id, id=chosen, create_time=moment, update_time=moment, **values)
    )
    if not added.rowcount:
        raise AlreadyExists(f"there is a session {chosen!r} already")
    return await get_session(connection, bank_id=bank_id, session_id=chosen, now=now)


async def get_session(connection: AsyncConnection, *, bank_id: str, session_id: str, now: datetime) -> SessionRow:
    """Reads one session.

    Raises:
        NotFound: there is none with this id, or it has expired.
    """
    of_id = (sessions.c.bank_id == bank_id) & (sessions.c.id == session_id)
    row = (await connection.execute(select(sessions).where(of_id, alive(sessions, now)))).one_or_none()
    if row is None:
        raise NotFound(f"there is no session {session_id!r} in the bank {bank_id!r}")
    return _session(row)


async def page_sessions(
    connection: AsyncConnection,
    *,
    bank_id: str,
    now: datetime,
    most: int,
    by: TimeField,
    descending: bool,
    after: Place | None,
    user_id: str | None = None,
) -> list[tuple[Place, Session]]:
    """The next sessions of a bank that have not expired, each with its place in the order by a time.

    Args:
        user_id: only of this user.
        after: the place of the one before; None for the first.
    """
    alive_ones = select(sessions).where(sessions.c.bank_id == bank_id, alive(sessions, now)).limit(most)
    if user_id is not None:
        alive_ones = alive_ones.where(sessions.c.user_id == user_id)
    query = _in_order(alive_ones, sessions.c[by], sessions.c.seq, descending=descending, after=after)
    return [((getattr(row, by), row.seq), _session(row).session) for row in await connection.execute(query)]


async def update_session(connection: AsyncConnection, *, seq: int, now: datetime, **values: Any) -> None:
    """Writes some columns of a session."""
    await connection.execute(update(sessions).where(sessions.c.seq == seq).values(update_time=to_micros(now), **values))


async def add_event(
    connection: AsyncConnection, *, row: SessionRow, event_id: str | None, timestamp: datetime, body: dict[str, Any]
) -> SessionEvent:
    """Appends an event to a session.

    Args:
        event_id: a fresh one where it is None, or taken in this session.
    """
    of_id = (session_events.c.session_seq == row.seq) & (session_events.c.id == event_id)
    taken = (await connection.execute(select(session_events.c.seq).where(of_id))).first() is not None
    chosen = new_id() if event_id is None or taken else event_id
    await connection.execute(
        insert(session_events).values(session_seq=row.seq, id=chosen, timestamp=to_micros(timestamp), body=body)
    )
    return SessionEvent(name=f"{row.session.name}/events/{chosen}", timestamp=timestamp, body=body)


async def page_events(
    connection: AsyncConnection,
    *,
    row: SessionRow,
    most: int | None = None,
    descending: bool = False,
    after: Place | None = None,
    start_time: datetime | None = None,
    end_time: datetime | None = None,
) -> list[tuple[Place, SessionEvent]]:
    """The next events of a session in the order of time, each with its place in it.

    Args:
        after: the place of the one before; None for the first.
        start_time: only from then on.
        end_time: only before then.
    """
    time = session_events.c.timestamp
    of_session = select(session_events).where(session_events.c.session_seq == row.seq).limit(most)
    if start_time is not None:
        of_session = of_session.where(time >= to_micros(start_time))
    if end_time is not None:
        of_session = of_session.where(time < to_micros(end_time))
    query = _in_order(of_session, time, session_events.c.seq, descending=descending, after=after)
    return [
        (
            (found.timestamp, found.seq),
            SessionEvent(
                name=f"{row.session.name}/events/{found.id}",
                timestamp=from_micros(found.timestamp),
                body=found.body,
            ),
        )
        for found in await connection.execute(query)
    ]


async def count_sessions(connection: AsyncConnection, *, bank_id: str, now: datetime) -> int:
    """How many sessions a bank has that have not expired."""
    of_bank = select(func.count()).select_from(sessions).where(sessions.c.bank_id == bank_id, alive(sessions, now))
    return (await connection.execute(of_bank)).scalar_one()


async def delete_session(connection: AsyncConnection, *, seq: int) -> None:
    """Deletes a session and its events. What was generated from it stays."""
    await _delete(connection, sessions.c.seq == seq)


async def delete_sessions(connection: AsyncConnection, *, bank_id: str) -> None:
    """Deletes all sessions of a bank."""
    await _delete(connection, sessions.c.bank_id == bank_id)


async def delete_sessions_of(connection: AsyncConnection, *, bank_id: str, scope: Scope) -> int:
    """Deletes the sessions whose memories belong to a scope unless another is named: those of its one user."""
    if scope.keys() != {"user_id"}:
        return 0
    return await _delete(connection, and_(sessions.c.bank_id == bank_id, sessions.c.user_id == scope["user_id"]))


async def delete_sessions_read(connection: AsyncConnection, *, scope: ScopeRow) -> int:
    """Deletes the sessions of a scope's bank out of which its operations have read.

    An event counts as read where both its id and its session's are the same: a session's id alone may have been
    chosen twice, for another user of another face.
    """
    read = (
        select(session_events.c.seq)
        .where(
            session_events.c.session_seq == sessions.c.seq,
            events.c.scope_id == scope.id,
            events.c.session_id == sessions.c.id,
            events.c.event_id == session_events.c.id,
        )
        .correlate(sessions)
        .exists()
    )
    named = select(events.c.session_id).where(events.c.scope_id == scope.id)
    return await _delete(connection, and_(sessions.c.bank_id == scope.bank_id, sessions.c.id.in_(named), read))


async def drop_expired_sessions(connection: AsyncConnection, *, now: datetime, most: int) -> int:
    """Deletes sessions that have expired, and says how many."""
    due = select(sessions.c.seq).where(sessions.c.expire_time <= to_micros(now)).limit(most)
    return await _delete(connection, sessions.c.seq.in_(due))


def _in_order(
    query: Select[Any], time: Column[Any], seq: Column[Any], *, descending: bool, after: Place | None
) -> Select[Any]:
    place = (time, seq)
    if after is not None:
        query = query.where(tuple_(*place) < tuple_(*after) if descending else tuple_(*place) > tuple_(*after))
    return query.order_by(*[column.desc() if descending else column.asc() for column in place])


async def _delete(connection: AsyncConnection, condition: ColumnElement[bool]) -> int:
    found = (await connection.execute(select(sessions.c.seq).where(condition))).scalars().all()
    for page in pages(found):
        await connection.execute(delete(session_events).where(session_events.c.session_seq.in_(page)))
        await connection.execute(delete(sessions).where(sessions.c.seq.in_(page)))
    return len(found)


def _session(row: Row[Any]) -> SessionRow:
    session = Session(
        name=f"{bank_name(row.bank_id)}/sessions/{row.id}",
        user_id=row.user_id,
        display_name=row.display_name,
        labels=row.labels,
        session_state=row.session_state,
        create_time=from_micros(row.create_time),
        update_time=from_micros(row.update_time),
        expire_time=None if row.expire_time is None else from_micros(row.expire_time),
    )
    return SessionRow(row.seq, session)
