"""The log of calls that the faces over the network show as operations beside the generations.

All but those of streams had ended when they were answered; they are kept so that a client can ask for them again. The
calls that take events into one stream share one entry until what they set off has ended (reference 5.10).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, delete, func, insert, select, update

from adk_memorybank.clock import Clock, from_micros, to_micros
from adk_memorybank.errors import NotFound
from adk_memorybank.operations.queue import Queue
from adk_memorybank.resources import Call, CallKind, Scope, new_id
from adk_memorybank.storage import records
from adk_memorybank.storage.database import AsyncConnection, Database
from adk_memorybank.storage.records import ScopeRow
from adk_memorybank.storage.schema import calls, operations, scopes


class CallLog:
    """The calls of all banks of one store. No text stands in it."""

    def __init__(self, database: Database, queue: Queue, clock: Clock) -> None:
        self._database = database
        self._queue = queue
        self._clock = clock

    async def record(
        self,
        *,
        bank_id: str,
        kind: CallKind,
        memory_id: str | None = None,
        scope: Scope | None = None,
        count: int | None = None,
    ) -> Call:
        """Notes a call that has ended.

        Args:
            scope: of the memory that it was about.
        """
        async with self._database.write() as connection:
            row = None if scope is None else await records.find_scope(connection, bank_id=bank_id, scope=scope)
            scope_id = None if row is None else row.id
            call_id = await self._add(
                connection, bank_id=bank_id, kind=kind, memory_id=memory_id, scope_id=scope_id, counted=count, done=1
            )
            return await self._read(connection, bank_id, call_id)

    async def of_stream(
        self, connection: AsyncConnection, *, scope: ScopeRow, stream_id: int, operation_id: str | None, idle: bool
    ) -> Call:
        """The entry of a stream: the one that stands, or a new one where what it set off has ended.

        Args:
            operation_id: of the generation that reads the stream's events now, where there is one.
            idle: nothing waits in the stream and nothing will be set off: the call has ended.
        """
        query = select(calls).where(calls.c.stream_id == stream_id).order_by(calls.c.seq.desc()).limit(1)
        standing = (await connection.execute(query)).one_or_none()
        if standing is not None and not standing.done:
            earlier = standing.operation_id or await _first_after(connection, standing)
            ended = earlier is not None and await self._has_ended(connection, earlier)
            # The one of this call before that of an earlier one that runs: who waits for the entry waits for both.
            latest = earlier if ended else operation_id or earlier
            await connection.execute(
                update(calls)
                .where(calls.c.seq == standing.seq)
                .values(operation_id=latest, done=int(ended or (latest is None and idle)))
            )
            if not ended:
                return await self._read(connection, scope.bank_id, standing.id)
        newest = select(func.max(operations.c.seq)).where(operations.c.stream_id == stream_id)
        call_id = await self._add(
            connection,
            bank_id=scope.bank_id,
            kind="ingest",
            scope_id=scope.id,
            stream_id=stream_id,
            operation_id=operation_id,
            after=(await connection.execute(newest)).scalar_one() or 0,
            done=int(idle),
        )
        return await self._read(connection, scope.bank_id, call_id)

    async def get(self, *, bank_id: str, call_id: str) -> Call:
        """One call.

        Raises:
            NotFound: there is none with this id.
        """
        async with self._database.read() as connection:
            return await self._read(connection, bank_id, call_id)

    async def list(self, *, bank_id: str) -> list[Call]:
        """The calls of a bank, the newest first."""
        async with self._database.read() as connection:
            return [*await self._calls(connection, calls.c.bank_id == bank_id)]

    async def delete(self, *, bank_id: str, call_id: str) -> None:
        """Takes a call out of the log. What it did stays.

        Raises:
            NotFound: there is none with this id.
        """
        async with self._database.write() as connection:
            gone = await connection.execute(delete(calls).where(calls.c.bank_id == bank_id, calls.c.id == call_id))
            if not gone.rowcount:
                raise _none(bank_id, call_id)

    async def _add(self, connection: AsyncConnection, **values: Any) -> str:
        call_id = new_id()
        moment = to_micros(self._clock.now())
        await connection.execute(insert(calls).values(id=call_id, create_time=moment, **values))
        return call_id

    async def _read(self, connection: AsyncConnection, bank_id: str, call_id: str) -> Call:
        found = await self._calls(connection, (calls.c.bank_id == bank_id) & (calls.c.id == call_id))
        if not found:
            raise _none(bank_id, call_id)
        return found[0]

    async def _calls(self, connection: AsyncConnection, condition: Any) -> Sequence[Call]:
        query = (
            select(calls, scopes.c.pairs)
            .outerjoin(scopes, scopes.c.id == calls.c.scope_id)
            .where(condition)
            .order_by(calls.c.seq.desc())
        )
        return [await self._call(connection, row) for row in (await connection.execute(query)).all()]

    async def _call(self, connection: AsyncConnection, row: Row[Any]) -> Call:
        operation_id = row.operation_id
        if row.stream_id is not None and operation_id is None and not row.done:
            operation_id = await _first_after(connection, row)
        ids = [] if operation_id is None else [operation_id]
        operation = next(iter(await self._queue.read(connection, bank_id=row.bank_id, ids=ids)), None)
        # One that is gone was kept as long as ended operations are.
        ended = operation_id is not None and (operation is None or operation.done)
        return Call(
            id=row.id,
            bank_id=row.bank_id,
            kind=row.kind,
            memory_id=row.memory_id,
            count=row.counted,
            scope=None if row.scope_id is None else json.loads(row.pairs or "{}"),
            create_time=from_micros(row.create_time),
            done=bool(row.done) or ended,
            operation=operation,
        )

    async def _has_ended(self, connection: AsyncConnection, operation_id: str) -> bool:
        query = select(operations.c.id).where(operations.c.id == operation_id, operations.c.state != "done")
        return (await connection.execute(query)).first() is None


def _none(bank_id: str, call_id: str) -> NotFound:
    return NotFound(f"there is no operation {call_id!r} in the bank {bank_id!r}")


async def _first_after(connection: AsyncConnection, row: Row[Any]) -> str | None:
    """The first operation of a stream since the call was noted."""
    query = (
        select(operations.c.id)
        .where(operations.c.stream_id == row.stream_id, operations.c.seq > row.after)
        .order_by(operations.c.seq)
        .limit(1)
    )
    return (await connection.execute(query)).scalar_one_or_none()
