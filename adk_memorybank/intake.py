"""What a bank takes in: events and facts, committed as work before anybody is told that they are accepted."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from adk_memorybank.config import GenerationRule
from adk_memorybank.engine import Engine
from adk_memorybank.events import Event
from adk_memorybank.operations.streams import GENERATE_STREAM, Ingested
from adk_memorybank.options import GenerationOptions
from adk_memorybank.parts import BankParts
from adk_memorybank.resources import Call, Operation, Scope
from adk_memorybank.storage import records
from adk_memorybank.storage.database import AsyncConnection
from adk_memorybank.storage.records import ScopeRow

logger = logging.getLogger("google_adk.adk_memorybank.intake")


class Intake:
    """The intake of one bank. Its coroutines run on the engine's loop; their arguments are valid."""

    def __init__(self, engine: Engine, bank_id: str) -> None:
        self._engine = engine
        self._bank_id = bank_id

    async def ingest(
        self,
        scope: Scope,
        events: Sequence[Event],
        *,
        stream: str,
        rule: GenerationRule | None,
        force: bool,
        options: GenerationOptions,
    ) -> Operation | None:
        """Takes events into a stream. Returns the operation that reads them, if one does."""
        came = bool(events)
        # Looked at without a transaction that writes: ADK apps add the whole session after every turn.
        events = await self._unseen(scope, stream, events)
        if not events and rule is None and not force:
            return None
        if not events and (rule is None or came):
            standing = await self._engine.streams.standing(bank_id=self._bank_id, scope=scope, stream=stream)
            if standing is None:
                return None  # what was only seen doesn't bring a forgotten scope back
            if rule is None and not standing.waits:
                async with self._engine.database.read() as connection:
                    return await self._read(connection, standing.operation_id)
        parts = await self._engine.parts(self._bank_id)
        async with self._engine.database.write() as connection:
            row = await records.ensure_scope(connection, bank_id=self._bank_id, scope=scope)
            ingested = await self._take(
                connection, row, events, parts, stream=stream, rule=rule, force=force, options=options
            )
            operation = await self._read(connection, ingested.operation_id)
        self._engine.wake()
        _tell_passed_over(ingested)
        return operation

    async def call(
        self,
        scope: Scope,
        events: Sequence[Event],
        *,
        stream: str,
        rule: GenerationRule | None,
        force: bool,
        options: GenerationOptions,
    ) -> Call:
        """Takes events into a stream, as `ingest`. Returns the entry that the stream's calls share."""
        came = bool(events)
        events = await self._unseen(scope, stream, events)
        forgotten = came and not events  # what was only seen doesn't bring a forgotten scope back
        parts = await self._engine.parts(self._bank_id)
        async with self._engine.database.write() as connection:
            row = await records.ensure_scope(connection, bank_id=self._bank_id, scope=scope, forgotten=forgotten)
            ingested = await self._take(
                connection, row, events, parts, stream=stream, rule=rule, force=force, options=options
            )
            call = await self._engine.calls.of_stream(
                connection,
                scope=row,
                stream_id=ingested.stream_id,
                operation_id=ingested.operation_id,
                idle=ingested.idle,
            )
        self._engine.wake()
        _tell_passed_over(ingested)
        return call

    async def _unseen(self, scope: Scope, stream: str, events: Sequence[Event]) -> list[Event]:
        return await self._engine.streams.unseen(
            bank_id=self._bank_id,
            scope=scope,
            stream=stream,
            incoming=[_of_the_conversation(event) for event in events],
        )

    async def _take(
        self,
        connection: AsyncConnection,
        row: ScopeRow,
        events: Sequence[Event],
        parts: BankParts,
        *,
        stream: str,
        rule: GenerationRule | None,
        force: bool,
        options: GenerationOptions,
    ) -> Ingested:
        return await self._engine.streams.ingest(
            connection,
            scope=row,
            stream=stream,
            incoming=_readable(events, parts),
            rule=rule,
            default_rule=parts.config.generation_config.default_rule,
            options=options,
            force=force,
        )

    async def flush(self, scope: Scope, *, stream: str | None) -> list[Operation]:
        """Fires the triggers of a scope's streams, or of one of them."""
        async with self._engine.database.write() as connection:
            row = await records.find_scope(connection, bank_id=self._bank_id, scope=scope)
            ids = [] if row is None else await self._engine.streams.flush(connection, scope=row, stream=stream)
            flushed = await self._engine.queue.read(connection, bank_id=self._bank_id, ids=ids)
        self._engine.wake()
        return [*flushed]

    async def generate(
        self,
        scope: Scope,
        events: Sequence[Event],
        direct_memories: Sequence[dict[str, Any]] | None,
        *,
        options: GenerationOptions,
        source: Callable[[AsyncConnection], Awaitable[object]] | None = None,
    ) -> Operation:
        """Accepts one generation from events, or from facts. Of nothing it has ended already.

        Args:
            source: raises where that has gone from which the events were read: what was forgotten meanwhile stays so.
        """
        parts = await self._engine.parts(self._bank_id)
        nothing = not events and direct_memories is None
        async with self._engine.database.write() as connection:
            if source is not None:
                await source(connection)
            row = await records.ensure_scope(connection, bank_id=self._bank_id, scope=scope, forgotten=nothing)
            if nothing:  # without its options, in which text of a scope that is forgotten may stand
                operation_id = await self._engine.queue.accept(
                    connection, scope=row, kind="generate", options=GenerationOptions(), nothing=True
                )
            elif direct_memories is not None:
                operation_id = await self._engine.queue.accept(
                    connection, scope=row, kind="generate", options=options, direct_memories=direct_memories
                )
            else:
                ingested = await self._engine.streams.ingest(
                    connection,
                    scope=row,
                    stream=GENERATE_STREAM,
                    incoming=_readable(events, parts),
                    rule=None,
                    default_rule=None,
                    options=options,
                    kind="generate",
                )
                operation_id = ingested.operation_id or ""
                _tell_passed_over(ingested)
            [operation] = await self._engine.queue.read(connection, bank_id=self._bank_id, ids=[operation_id])
        self._engine.wake()
        return operation

    async def _read(self, connection: AsyncConnection, operation_id: str | None) -> Operation | None:
        if operation_id is None:
            return None
        return (await self._engine.queue.read(connection, bank_id=self._bank_id, ids=[operation_id]))[0]


def _readable(events: Sequence[Event], parts: BankParts) -> Sequence[Event]:
    """The events as the bank's generator can read them: what it can't look at is not even stored."""
    return events if parts.reads_media else [event.without_media() for event in events]


def _of_the_conversation(event: Event) -> Event:
    """An event of a stream; of one whose role has no part in a conversation nothing is read.

    An operation that read it would fail, and so would every later one of the stream, since its events stay in it.
    """
    if event.role in ("user", "model"):
        return event
    return replace(event, texts=(), passed_over=(f"role {event.role[:40]}", *event.passed_over))


def _tell_passed_over(ingested: Ingested) -> None:
    """Says once per operation which parts of its events are not read."""
    if ingested.passed_over:
        said = ", ".join(f"{count} of {kind}" for kind, count in sorted(ingested.passed_over.items()))
        of = f"operation {ingested.operation_id}" if ingested.operation_id else "the stream of these events"
        logger.info("%s passes over parts that can't be read: %s", of, said)
