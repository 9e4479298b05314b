"""Streams: where events wait until a trigger turns them into an operation, each read once (reference 5.10)."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import Row, func, insert, select, update

from adk_memorybank.clock import Clock, from_micros, to_micros
from adk_memorybank.config import GenerationRule
from adk_memorybank.events import Event, Media
from adk_memorybank.operations.queue import Queue, Work
from adk_memorybank.options import GenerationOptions
from adk_memorybank.resources import Scope, new_id
from adk_memorybank.storage import records
from adk_memorybank.storage.database import AsyncConnection, Database, insert_new
from adk_memorybank.storage.records import ScopeRow
from adk_memorybank.storage.schema import events, operations, scopes, seen_events, streams

SAFETY_NET = timedelta(hours=24)
"""Events that no rule has fired for are read this long after the last of them came."""
CONTEXT = 4
"""How many events before the new ones come along as context, where the rule doesn't say."""
DEFAULT_STREAM = "default"
GENERATE_STREAM = ""
"""Holds the events that `generate` was called with. They are no conversation: none is context for another.

No caller's stream has this name: the empty one stands for `default`.
"""


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of events.

    Attributes:
        operation_id: the operation that reads them, or None while they wait for their trigger.
        new: how many of them had not been seen before.
        passed_over: kinds of parts among the new ones that can't be read, counted.
        stream_id: of the stream that took them.
        idle: nothing waits in it, nothing reads from it, and no rule is there that later events would meet.
    """

    operation_id: str | None
    new: int
    passed_over: dict[str, int]
    stream_id: int
    idle: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """How a stream stands: whether events wait in it, and the operation of it that has not ended, if there is one."""

    waits: bool
    operation_id: str | None


@dataclass(frozen=True, slots=True)
class Window:
    """The events of one operation in order of time: (event, new). Those that are not new are context."""

    events: list[tuple[Event, bool]]


class Streams:
    """All streams of one store."""

    def __init__(self, database: Database, queue: Queue, clock: Clock) -> None:
        self._database = database
        self._queue = queue
        self._clock = clock

    async def unseen(
        self, *, bank_id: str, scope: dict[str, str], stream: str, incoming: Sequence[Event]
    ) -> list[Event]:
        """What is new among events. Only reads: adding a session again must cost nothing."""
        async with self._database.read() as connection:
            # A forgotten scope has still seen its events: what is only seen must not bring the scope itself back.
            row = await records.find_scope(connection, bank_id=bank_id, scope=scope, forgotten=True)
            if row is None:
                return list(incoming)
            return [event for event, _ in await self._only_new(connection, row.id, stream, incoming)]

    async def standing(self, *, bank_id: str, scope: dict[str, str], stream: str) -> Standing | None:
        """How a stream stands. Only reads. None where its scope was forgotten, or nothing was ever put into it."""
        async with self._database.read() as connection:
            scope_row = await records.find_scope(connection, bank_id=bank_id, scope=scope)
            if scope_row is None:
                return None
            query = select(streams.c.id).where(streams.c.scope_id == scope_row.id, streams.c.name == stream)
            stream_id = (await connection.execute(query)).scalar_one_or_none()
            if stream_id is None:
                return Standing(waits=False, operation_id=None)
            waiting = select(events.c.id).where(events.c.stream_id == stream_id, events.c.state == "waiting")
            waits = (await connection.execute(waiting.limit(1))).first() is not None
            return Standing(waits=waits, operation_id=await self._unfinished(connection, stream_id))

    async def waiting_scopes(self, *, bank_id: str) -> list[Scope]:
        """The scopes of a bank in whose streams events wait."""
        waits = select(events.c.id).where(events.c.stream_id == streams.c.id, events.c.state == "waiting").exists()
        query = (
            select(scopes.c.pairs)
            .where(scopes.c.bank_id == bank_id, scopes.c.pairs.is_not(None))
            .where(select(streams.c.id).where(streams.c.scope_id == scopes.c.id, waits).exists())
            .order_by(scopes.c.id)
        )
        async with self._database.read() as connection:
            return [json.loads(pairs) for pairs in (await connection.execute(query)).scalars()]

    async def ingest(
        self,
        connection: AsyncConnection,
        *,
        scope: ScopeRow,
        stream: str,
        incoming: Sequence[Event],
        rule: GenerationRule | None,
        default_rule: GenerationRule | None,
        options: GenerationOptions,
        force: bool = False,
        kind: str = "ingest",
    ) -> Ingested:
        """Takes events into a stream and fires its trigger where it is due.

        Args:
            rule: the request's; it stays with the stream.
            default_rule: the bank's. With no rule at all, events are read at once.
            force: read everything that waits now, whatever the rule says.
        """
        now = to_micros(self._clock.now())
        row = await self._stream(connection, scope, stream)
        fresh = list(incoming)
        if kind == "ingest":
            fresh = await self._take_new(connection, scope.id, stream, incoming)
        passed_over = Counter(kind for event in fresh for kind in event.passed_over)
        readable = [event for event in fresh if event.texts or event.media]
        if readable:
            await connection.execute(
                insert(events), [_event_row(event, scope, row.id, arrive_time=now) for event in readable]
            )
        own = row.rule if rule is None else rule.model_dump(mode="json", exclude_unset=True)
        effective = _effective(own, default_rule)
        waiting = len(readable)
        if effective is not None or not readable:
            counted = select(func.count()).where(events.c.stream_id == row.id, events.c.state == "waiting")
            waiting = (await connection.execute(counted)).scalar_one()
        first = row.first_arrival or now
        if not fresh and row.options and options == GenerationOptions():
            options = GenerationOptions.from_json(row.options)  # it only sets a trigger, or fires it
        values: dict[str, Any] = {
            "rule": own,
            "options": options.to_json(),
            "first_arrival": first if waiting else None,
            "last_arrival": now if readable else row.last_arrival,
        }
        values["due_time"] = _due_time(effective, first, values["last_arrival"]) if waiting else None
        await connection.execute(update(streams).where(streams.c.id == row.id).values(**values))
        at_once = bool(readable) and effective is None
        full = effective is not None and effective.event_count is not None and waiting >= effective.event_count
        if waiting and (force or at_once or full or kind == "generate"):
            operation_id = await self._fire(connection, scope, row.id, options, kind=kind)
        elif kind == "generate":
            operation_id = await self._queue.accept(
                connection, scope=scope, kind=kind, options=options, stream_id=row.id
            )
        else:
            operation_id = await self._unfinished(connection, row.id)
        if operation_id is not None and fresh:
            await self._queue.pass_over(connection, operation_id=operation_id, kinds=dict(passed_over))
        idle = operation_id is None and not waiting and (force or effective is None)
        return Ingested(operation_id, len(fresh), dict(passed_over), row.id, idle)

    async def fire_due(self) -> int:
        """Fires the streams whose time rule, or whose safety net, is due. Returns how many."""
        now = to_micros(self._clock.now())
        due = select(streams).where(streams.c.due_time <= now)
        async with self._database.read() as connection:
            if (await connection.execute(due.limit(1))).first() is None:
                return 0
        async with self._database.write() as connection:
            rows = (await connection.execute(due)).all()
            for row in rows:
                scope = await records.get_scope(connection, scope_id=row.scope_id)
                options = GenerationOptions.from_json(row.options)
                await self._fire(connection, scope, row.id, options, kind="ingest")
        return len(rows)

    async def flush(self, connection: AsyncConnection, *, scope: ScopeRow, stream: str | None = None) -> list[str]:
        """Fires every stream of a scope, or one of them, in which events wait. Returns the operations' ids."""
        waiting = (
            select(streams)
            .where(streams.c.scope_id == scope.id)
            .where(select(events.c.id).where(events.c.stream_id == streams.c.id, events.c.state == "waiting").exists())
        )
        if stream is not None:
            waiting = waiting.where(streams.c.name == stream)
        return [
            await self._fire(connection, scope, row.id, GenerationOptions.from_json(row.options), kind="ingest")
            for row in (await connection.execute(waiting)).all()
        ]

    async def window(
        self, connection: AsyncConnection, *, work: Work, default_rule: GenerationRule | None = None
    ) -> Window:
        """The events of an operation, and the last few before them as context.

        Args:
            default_rule: the bank's, for streams without one.
        """
        rows = (await connection.execute(select(events).where(events.c.operation_id == work.id))).all()
        before: Sequence[Row[Any]] = ()
        if rows and work.kind == "ingest":
            query = (
                select(events)
                .where(
                    events.c.stream_id == work.stream_id,
                    events.c.state == "read",
                    events.c.operation_id != work.id,
                    events.c.content.is_not(None),
                    events.c.id < min(row.id for row in rows),
                )
                .order_by(events.c.id.desc())
                .limit(await self._overlap(connection, work.stream_id, default_rule))
            )
            before = (await connection.execute(query)).all()

        def in_time(row: Row[Any]) -> tuple[int, int]:
            return (row.event_time if row.event_time is not None else row.arrive_time, row.id)

        return Window(
            [(_event(row), False) for row in sorted(before, key=in_time)]
            + [(_event(row), True) for row in sorted(rows, key=in_time)]
        )

    async def finish(
        self,
        connection: AsyncConnection,
        *,
        work: Work,
        default_rule: GenerationRule | None = None,
        secret: Collection[tuple[str, str]] = (),
    ) -> None:
        """Marks an operation's events as read, and drops the text that is neither cited nor context for the next.

        Args:
            secret: events whose text is no context either, by session and event id.
        """
        of_operation = events.c.operation_id == work.id
        await connection.execute(update(events).where(of_operation).values(state="read"))
        # What was shown is not kept as a source's text is: nothing reads it again.
        for row in (await connection.execute(select(events.c.id, events.c.content).where(of_operation))).all():
            texts = [part for part in row.content or () if isinstance(part, str)]
            if row.content is not None and len(texts) < len(row.content):
                await connection.execute(update(events).where(events.c.id == row.id).values(content=texts))
        for session_id, event_id in secret:
            named = (events.c.session_id == session_id) & (events.c.event_id == event_id)
            await connection.execute(
                update(events).where(of_operation, named, events.c.cited == 0).values(content=None)
            )
        if work.stream_id is None:
            return
        kept = 0 if work.kind == "generate" else await self._overlap(connection, work.stream_id, default_rule)
        of_stream = (events.c.stream_id == work.stream_id) & (events.c.state == "read")
        latest = select(events.c.id).where(of_stream).order_by(events.c.id.desc()).limit(kept)
        await connection.execute(
            update(events)
            .where(of_stream, events.c.cited == 0, events.c.content.is_not(None), events.c.id.not_in(latest))
            .values(content=None)
        )

    async def give_back(self, connection: AsyncConnection, *, work: Work) -> None:
        """Leaves the events of a failed operation in their stream: they go with the next operation, or a retry."""
        if work.kind == "ingest":
            await connection.execute(
                update(events)
                .where(events.c.operation_id == work.id, events.c.state == "claimed")
                .values(state="waiting", operation_id=None)
            )

    async def take_again(self, connection: AsyncConnection, *, work: Row[Any]) -> None:
        """Claims what waits in a stream for an operation that is retried."""
        if work.kind == "ingest":
            await self._claim(connection, work.stream_id, work.id)

    async def _stream(self, connection: AsyncConnection, scope: ScopeRow, name: str) -> Row[Any]:
        query = select(streams).where(streams.c.scope_id == scope.id, streams.c.name == name)
        found = (await connection.execute(query)).one_or_none()
        if found is not None:
            return found
        await connection.execute(insert_new(streams).values(scope_id=scope.id, name=name))
        return (await connection.execute(query)).one()

    async def _only_new(
        self, connection: AsyncConnection, scope_id: int, stream: str, incoming: Sequence[Event]
    ) -> list[tuple[Event, str | None]]:
        """The events that the stream has not seen, each once, with their keys; without an id they always count."""
        keys = [self._key(stream, event) if event.event_id else None for event in incoming]
        seen = await _seen(connection, scope_id, [key for key in keys if key is not None])
        fresh: list[tuple[Event, str | None]] = []
        for event, key in zip(incoming, keys, strict=True):
            if key is None or key not in seen:
                fresh.append((event, key))
            if key is not None:
                seen.add(key)
        return fresh

    async def _take_new(
        self, connection: AsyncConnection, scope_id: int, stream: str, incoming: Sequence[Event]
    ) -> list[Event]:
        fresh = await self._only_new(connection, scope_id, stream, incoming)
        added = [{"scope_id": scope_id, "key": key} for _, key in fresh if key is not None]
        if added:
            await connection.execute(insert_new(seen_events), added)
        return [event for event, _ in fresh]

    def _key(self, stream: str, event: Event) -> str:
        said = f"{len(stream)}:{stream}{event.event_id}".encode()
        return hmac.digest(self._database.secret, said, hashlib.sha256)[:16].hex()

    async def _unfinished(self, connection: AsyncConnection, stream_id: int) -> str | None:
        query = (
            select(operations.c.id)
            .where(operations.c.stream_id == stream_id, operations.c.state != "done")
            .order_by(operations.c.seq.desc())
            .limit(1)
        )
        return (await connection.execute(query)).scalar_one_or_none()

    async def _fire(
        self, connection: AsyncConnection, scope: ScopeRow, stream_id: int, options: GenerationOptions, *, kind: str
    ) -> str:
        """Hands what waits to an operation: to one of the stream that has not begun, or to a new one."""
        joined: str | None = None
        if kind == "ingest":
            query = select(operations.c.id, operations.c.options).where(
                operations.c.stream_id == stream_id, operations.c.state == "pending", operations.c.kind == kind
            )
            wanted = options.to_json()
            joined = next((row.id for row in await connection.execute(query) if row.options == wanted), None)
        operation_id = joined or await self._queue.accept(
            connection, scope=scope, kind=kind, options=options, stream_id=stream_id
        )
        await self._claim(connection, stream_id, operation_id)
        return operation_id

    async def _claim(self, connection: AsyncConnection, stream_id: int, operation_id: str) -> None:
        await connection.execute(
            update(events)
            .where(events.c.stream_id == stream_id, events.c.state == "waiting")
            .values(state="claimed", operation_id=operation_id)
        )
        await connection.execute(
            update(streams).where(streams.c.id == stream_id).values(first_arrival=None, due_time=None)
        )

    async def _overlap(
        self, connection: AsyncConnection, stream_id: int | None, default_rule: GenerationRule | None
    ) -> int:
        query = select(streams.c.rule).where(streams.c.id == stream_id)
        rule = _effective((await connection.execute(query)).scalar_one_or_none(), default_rule)
        return (rule and rule.overlap_event_count) or CONTEXT


def _effective(own: dict[str, Any] | None, default_rule: GenerationRule | None) -> GenerationRule | None:
    """The rule that a stream goes by: its own, as stored, else the bank's. One that waits for nothing is none."""
    rule = default_rule if own is None else GenerationRule.model_validate(own)
    return None if rule is None or rule == GenerationRule() else rule


async def _seen(connection: AsyncConnection, scope_id: int, keys: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for start in range(0, len(keys), records.PAGE):
        page = keys[start : start + records.PAGE]
        query = select(seen_events.c.key).where(seen_events.c.scope_id == scope_id, seen_events.c.key.in_(page))
        found.update((await connection.execute(query)).scalars())
    return found


def _due_time(rule: GenerationRule | None, first: int, last: int | None) -> int | None:
    """When a stream fires by time: the rule's moment, at the latest the safety net's."""
    latest = last if last is not None else first
    moments = [latest + _micros(SAFETY_NET)]
    if rule is not None and rule.idle is not None:
        moments.append(latest + _micros(rule.idle))
    if rule is not None and rule.interval is not None:
        moments.append(first + _micros(rule.interval))
    return min(moments)


def _micros(span: timedelta) -> int:
    return span // timedelta(microseconds=1)


def _event_row(event: Event, scope: ScopeRow, stream_id: int, *, arrive_time: int) -> dict[str, Any]:
    return {
        "scope_id": scope.id,
        "stream_id": stream_id,
        "session_id": event.session_id,
        "event_id": event.event_id or new_id(),  # a source needs a name
        "role": event.role,
        "author": event.author,
        "content": [*event.texts, *(media.to_json() for media in event.media)],
        "event_time": None if event.time is None else to_micros(event.time),
        "arrive_time": arrive_time,
        "state": "waiting",
        "cited": 0,
    }


def _event(row: Row[Any]) -> Event:
    return Event(
        event_id=row.event_id,
        role=row.role,
        author=row.author,
        texts=tuple(part for part in row.content or () if isinstance(part, str)),
        media=tuple(Media.from_json(part) for part in row.content or () if not isinstance(part, str)),
        time=None if row.event_time is None else from_micros(row.event_time),
        session_id=row.session_id,
    )
