"""The ADK sessions of one bank: what memories can be generated from by naming it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

from adk_memorybank.clock import to_micros, to_utc
from adk_memorybank.durations import parse_duration
from adk_memorybank.engine import Engine
from adk_memorybank.errors import InvalidArgument
from adk_memorybank.events import Event
from adk_memorybank.paging import MAX_PAGE, Page, decode_token, encode_token, page_limit, parse_order
from adk_memorybank.resources import (
    MAX_DISPLAY_NAME,
    clean_text,
    id_in,
    last_segment,
    validate_memory_id,
)
from adk_memorybank.sessions import (
    Session,
    SessionEvent,
    own_id,
    read_body,
    read_labels,
    read_state,
    validate_user_id,
)
from adk_memorybank.storage import bank_rows
from adk_memorybank.storage import sessions as rows
from adk_memorybank.storage.database import AsyncConnection
from adk_memorybank.storage.sessions import Place, SessionRow

T = TypeVar("T")

_BATCH = MAX_PAGE + 1
_BANK = re.compile(r"(?:reasoningEngines|memoryBanks)/([^/]*)/sessions/")
_OF_USER = re.compile(r'\s*user_id\s*=\s*"((?:[^"\\]|\\.)*)"\s*')
"""The filter that ADK lists sessions by: these are found by an index, among however many of other users."""
_TIME_ORDER = re.compile(r"\s*timestamp(?:\s+(asc|desc))?\s*", re.IGNORECASE)


class BankSessions:
    """Keeps the sessions of one bank. Its model is not needed for that, so the bank need not be open.

    Safe to use from several event loops and threads.
    """

    def __init__(self, engine: Engine, bank_id: str) -> None:
        self._engine = engine
        self._bank_id = bank_id

    async def create(
        self,
        *,
        user_id: str,
        session_id: str | None = None,
        session_state: Mapping[str, Any] | None = None,
        display_name: str = "",
        labels: Mapping[str, str] | None = None,
        ttl: timedelta | str | None = None,
        expire_time: datetime | None = None,
    ) -> Session:
        """Creates a session.

        Args:
            session_id: 1 to 63 letters, digits, `-` or `_`; a fresh number by default.
            session_state: plain JSON. What lives under `temp:` is not kept.
            ttl, expire_time: until when the session is kept, at most one of them; for good by default.

        Raises:
            InvalidArgument: naming the field.
            NotFound: the bank was deleted.
            AlreadyExists: there is a session with this id.
        """
        values = self._columns(
            session_state=session_state or {},
            display_name=display_name,
            labels=labels or {},
            ttl=ttl,
            expire_time=expire_time,
        )
        values["user_id"] = validate_user_id(user_id)
        if session_id is not None:
            validate_memory_id(session_id, field="session_id")

        async def create() -> Session:
            async with self._engine.database.write() as connection:
                await bank_rows.get_bank(connection, bank_id=self._bank_id)
                added = await rows.add_session(
                    connection, bank_id=self._bank_id, session_id=session_id, now=self._engine.clock.now(), **values
                )
            return added.session

        return await self._engine.call(create())

    async def get(self, *, name: str) -> Session:
        """One session, by its name or id.

        Raises:
            NotFound: there is none, or it has expired.
        """

        async def get() -> Session:
            async with self._engine.database.read() as connection:
                return (await self._row(connection, name)).session

        return await self._engine.call(get())

    async def list_page(
        self,
        *,
        filter: str | None = None,
        order_by: str | None = None,
        page_size: int | None = None,
        page_token: str | None = None,
    ) -> Page[Session]:
        """A page of the bank's sessions, the newest first.

        Args:
            filter: as `filters.parse_filter` reads it; by `user_id`, `display_name` or `labels`.
            order_by: `create_time` or `update_time`, with `desc` for the newest first.
            page_size: a hundred by default, and at most.

        Raises:
            InvalidArgument: naming the field.
        """
        from adk_memorybank.retrieval.filters import parse_filter

        matches = parse_filter(filter or "", over="sessions")
        of_user = _OF_USER.fullmatch(filter or "")
        user_id = None if of_user is None else clean_text(re.sub(r"\\(.)", r"\1", of_user[1]))
        order = parse_order(order_by)
        most = page_limit(page_size)
        of = repr(("sessions", self._bank_id, order.field, order.descending, filter or ""))
        after = decode_token(page_token, of=of, like=(int, int))

        async def page() -> tuple[list[Session], Place | None]:
            async with self._engine.database.read() as connection:

                async def read(after: Place | None) -> list[tuple[Place, Session]]:
                    return await rows.page_sessions(
                        connection,
                        bank_id=self._bank_id,
                        now=self._engine.clock.now(),
                        most=_BATCH,
                        by=order.field,
                        descending=order.descending,
                        after=after,
                        user_id=user_id,
                    )

                return await _gather(read, matches, most=most, after=after)

        found, place = await self._engine.call(page())
        return Page(found, "" if place is None else encode_token(place, of=of))

    async def update(
        self,
        *,
        name: str,
        user_id: str | None = None,
        session_state: Mapping[str, Any] | None = None,
        display_name: str | None = None,
        labels: Mapping[str, str] | None = None,
        ttl: timedelta | str | None = None,
        expire_time: datetime | None = None,
        keep_forever: bool = False,
    ) -> Session:
        """Changes a session; what is None stays as it is. State and labels are replaced as a whole.

        Args:
            user_id: whose the session is. It can't be changed.
            keep_forever: it expires no more.

        Raises:
            InvalidArgument: naming the field.
            NotFound: there is no such session.
        """
        values = self._columns(
            session_state=session_state, display_name=display_name, labels=labels, ttl=ttl, expire_time=expire_time
        )
        if keep_forever:
            values["expire_time"] = None

        async def update() -> Session:
            async with self._engine.database.write() as connection:
                row = await self._row(connection, name)
                if user_id is not None and user_id != row.session.user_id:
                    raise InvalidArgument("can't be changed", field="user_id")
                await rows.update_session(connection, seq=row.seq, now=self._engine.clock.now(), **values)
                return (await self._row(connection, name)).session

        return await self._engine.call(update())

    async def delete(self, *, name: str) -> None:
        """Deletes a session and its events: no byte of them stays. Memories that were generated from it stay.

        Raises:
            NotFound: there is no such session.
        """

        async def delete() -> None:
            async with self._engine.database.write() as connection:
                row = await self._row(connection, name)
                await rows.delete_session(connection, seq=row.seq)
                await self._engine.database.note_erasure(connection)
            await self._engine.erase()

        await self._engine.call(delete())

    async def append_event(self, *, name: str, event: Mapping[str, Any]) -> SessionEvent:
        """Appends an event, as the managed service's clients send it, and applies what it changes in the state.

        It keeps the id that ADK gave it, so that memories name it as the agent knows it.

        Args:
            event: JSON in either casing. State under `temp:` is not kept.

        Raises:
            InvalidArgument: naming the field.
            NotFound: there is no such session.
        """
        timestamp, body = read_body(event)

        async def append() -> SessionEvent:
            now = self._engine.clock.now()
            async with self._engine.database.write() as connection:
                row = await self._row(connection, name)
                added = await rows.add_event(connection, row=row, event_id=own_id(body), timestamp=timestamp, body=body)
                added.read(session_id=row.session.id)  # what can't be read is not taken in
                state = {**row.session.session_state, **added.state_delta}
                await rows.update_session(connection, seq=row.seq, now=now, session_state=state)
            return added

        return await self._engine.call(append())

    async def list_events_page(
        self,
        *,
        name: str,
        filter: str | None = None,
        order_by: str | None = None,
        page_size: int | None = None,
        page_token: str | None = None,
    ) -> Page[SessionEvent]:
        """A page of a session's events in the order of time.

        Args:
            filter: as `filters.parse_filter` reads it; by `timestamp`.
            order_by: `timestamp`, with `desc` for the newest first.
            page_size: a hundred by default, and at most.

        Raises:
            InvalidArgument: naming the field.
            NotFound: there is no such session.
        """
        from adk_memorybank.retrieval.filters import parse_filter

        matches = parse_filter(filter or "", over="session_events")
        order = _TIME_ORDER.fullmatch(order_by or "timestamp")
        if order is None:
            raise InvalidArgument("should be `timestamp`, with `desc` for the newest first", field="order_by")
        descending = (order[1] or "").lower() == "desc"
        most = page_limit(page_size)
        of = repr(("session_events", self._bank_id, last_segment(name), descending, filter or ""))
        after = decode_token(page_token, of=of, like=(int, int))

        async def page() -> tuple[list[SessionEvent], Place | None]:
            async with self._engine.database.read() as connection:
                row = await self._row(connection, name)

                async def read(after: Place | None) -> list[tuple[Place, SessionEvent]]:
                    return await rows.page_events(connection, row=row, most=_BATCH, descending=descending, after=after)

                return await _gather(read, matches, most=most, after=after)

        found, place = await self._engine.call(page())
        return Page(found, "" if place is None else encode_token(place, of=of))

    async def user_of(self, *, name: str) -> str:
        """Whose a session is; as `read_events` finds it.

        Raises:
            NotFound: there is no such session.
        """

        async def user_of() -> str:
            async with self._engine.database.read() as connection:
                return (await self._source(connection, name)).session.user_id

        return await self._engine.call(user_of())

    async def read_events(
        self, *, name: str, start_time: datetime | None = None, end_time: datetime | None = None
    ) -> tuple[str, list[Event]]:
        """Whose a session is, and what a generation reads of it, in the order of time.

        Args:
            name: also of a session of another bank of this store.
            start_time: only what happened from then on.
            end_time: only what happened before then.

        Raises:
            NotFound: there is no such session.
        """

        async def read() -> tuple[str, list[Event]]:
            async with self._engine.database.read() as connection:
                row = await self._source(connection, name)
                found = await rows.page_events(connection, row=row, start_time=start_time, end_time=end_time)
            session = row.session
            return session.user_id, [event.read(session_id=session.id) for _, event in found]

        return await self._engine.call(read())

    async def check(self, connection: AsyncConnection, *, name: str) -> None:
        """Raises where a session is not there any more. Runs on the engine's loop.

        Raises:
            NotFound: as `read_events`.
        """
        await self._source(connection, name)

    async def _row(self, connection: AsyncConnection, name: str) -> SessionRow:
        return await rows.get_session(
            connection, bank_id=self._bank_id, session_id=id_in(self._bank_id, name), now=self._engine.clock.now()
        )

    async def _source(self, connection: AsyncConnection, name: str) -> SessionRow:
        bank = _BANK.search(name)
        return await rows.get_session(
            connection,
            bank_id=self._bank_id if bank is None else bank[1],
            session_id=last_segment(name),
            now=self._engine.clock.now(),
        )

    def _columns(
        self,
        *,
        session_state: Mapping[str, Any] | None,
        display_name: str | None,
        labels: Mapping[str, str] | None,
        ttl: timedelta | str | None,
        expire_time: datetime | None,
    ) -> dict[str, Any]:
        """The columns of what was given, checked."""
        if ttl is not None and expire_time is not None:
            raise InvalidArgument("give either ttl or expire_time", field="ttl")
        if display_name is not None and len(display_name) > MAX_DISPLAY_NAME:
            raise InvalidArgument(f"has at most {MAX_DISPLAY_NAME} characters", field="display_name")
        now = self._engine.clock.now()
        until = None if expire_time is None else to_utc(expire_time)
        if ttl is not None:
            until = now + parse_duration(ttl, "ttl")
        if until is not None and until <= now:
            raise InvalidArgument("should lie ahead", field="expire_time")
        columns: dict[str, Any] = {
            "session_state": None if session_state is None else read_state(session_state),
            "display_name": None if display_name is None else clean_text(display_name),
            "labels": None if labels is None else read_labels(labels),
            "expire_time": None if until is None else to_micros(until),
        }
        return {column: value for column, value in columns.items() if value is not None}


async def _gather(
    read: Callable[[Place | None], Awaitable[list[tuple[Place, T]]]],
    matches: Callable[[T], bool],
    *,
    most: int,
    after: Place | None,
) -> tuple[list[T], Place | None]:
    """The next ones that match, and the place of the last of them where there are more."""
    found: list[tuple[Place, T]] = []
    while len(found) <= most:
        batch = await read(after)
        found += [(place, one) for place, one in batch if matches(one)]
        if len(batch) < _BATCH:
            break
        after = batch[-1][0]
    return [one for _, one in found[:most]], found[most - 1][0] if len(found) > most else None
