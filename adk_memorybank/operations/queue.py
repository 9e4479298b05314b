"""The durable queue of operations: in order and one at a time within a scope, side by side across scopes."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, func, insert, or_, select, update

from adk_memorybank.clock import Clock, from_micros, to_micros
from adk_memorybank.errors import Cancelled, FailedPrecondition, NotFound
from adk_memorybank.options import GenerationOptions
from adk_memorybank.resources import (
    Action,
    GeneratedMemory,
    Memory,
    Operation,
    OperationError,
    PassedOver,
    bank_name,
    new_id,
)
from adk_memorybank.storage import forgetting, records
from adk_memorybank.storage.changes import Applied
from adk_memorybank.storage.database import AsyncConnection, Database
from adk_memorybank.storage.records import ScopeRow
from adk_memorybank.storage.schema import memories, operations, scopes

FIRST_DELAY = timedelta(seconds=1)
LONGEST_DELAY = timedelta(minutes=15)
PATIENCE = timedelta(hours=24)
"""How long passing faults are borne before they count as permanent."""
MOST_STARTS = 3
"""Starts without an end (the process died each time) after which an operation is not started again."""
_RUNS_ALONE = operations.c.starts >= MOST_STARTS - 1


@dataclass(frozen=True, slots=True)
class Work:
    """A claimed operation, as the worker gets it."""

    id: str
    kind: str
    bank_id: str
    scope_id: int
    stream_id: int | None
    epoch: int
    options: GenerationOptions
    direct_memories: list[dict[str, Any]] | None
    attempts: int
    first_fault_time: datetime | None
    alone: bool = False
    """Whether nothing may run beside it: the process died each time it was started, and its next start is the last."""


class Queue:
    """All operations of one store."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def accept(
        self,
        connection: AsyncConnection,
        *,
        scope: ScopeRow,
        kind: str,
        options: GenerationOptions,
        stream_id: int | None = None,
        direct_memories: Sequence[dict[str, Any]] | None = None,
        nothing: bool = False,
    ) -> str:
        """Adds an operation inside the caller's transaction and returns its id.

        Args:
            nothing: there is nothing to do: it has ended well already.
        """
        operation_id = new_id()
        now = to_micros(self._clock.now())
        await connection.execute(
            insert(operations).values(
                bank_id=scope.bank_id,
                id=operation_id,
                scope_id=scope.id,
                stream_id=stream_id,
                kind=kind,
                state="done" if nothing else "pending",
                result={"changes": [], "notes": []} if nothing else None,
                epoch=scope.epoch,
                options=options.to_json(),
                direct_memories=None if direct_memories is None else list(direct_memories),
                passed_over=[],
                due_time=now,
                create_time=now,
                update_time=now,
            )
        )
        return operation_id

    async def waiting_banks(self) -> list[str]:
        """The banks in which operations wait."""
        query = select(operations.c.bank_id).where(operations.c.state == "pending").distinct()
        async with self._database.read() as connection:
            return [row.bank_id for row in await connection.execute(query)]

    async def claim(self, *, banks: Collection[str], busy: Collection[int], most: int) -> list[Work]:
        """Takes the next operations of these banks, at most one of a scope that is not busy, and counts their start.

        One that is to run alone is taken before others where no scope is busy, and else left: so that the one for
        which the process dies takes no other with it at its last start.
        """
        now = to_micros(self._clock.now())
        waiting = (
            select(func.min(operations.c.seq))
            .where(operations.c.state == "pending", operations.c.bank_id.in_(banks), operations.c.scope_id.not_in(busy))
            .group_by(operations.c.scope_id)
        )
        query = (
            select(operations)
            .where(operations.c.seq.in_(waiting), operations.c.due_time <= now)
            .order_by(_RUNS_ALONE.desc(), operations.c.seq)
            .limit(most)
        )
        if busy:
            query = query.where(~_RUNS_ALONE)
        async with self._database.read() as connection:
            if (await connection.execute(query.limit(1))).first() is None:
                return []
        async with self._database.write() as connection:
            rows = (await connection.execute(query)).all()
            if rows and _work(rows[0]).alone:
                rows = rows[:1]
            for row in rows:
                await connection.execute(
                    update(operations)
                    .where(operations.c.seq == row.seq)
                    .values(state="running", starts=operations.c.starts + 1, update_time=now)
                )
        return [_work(row) for row in rows]

    async def finish(
        self, connection: AsyncConnection, *, work: Work, applied: Sequence[Applied], notes: Sequence[str] = ()
    ) -> None:
        """Ends an operation well, inside the transaction that applies what it decided."""
        result = {
            "changes": [
                {"memory": change.memory_id, "action": change.action.value, "previous": change.previous_revision}
                for change in applied
            ],
            "notes": list(notes),
        }
        # Not before: one that failed or was cancelled may be retried.
        await self._end(connection, work, result=result, direct_memories=None)

    async def fail(self, connection: AsyncConnection, *, work: Work, error: OperationError) -> None:
        """Ends an operation with an error that can be read later."""
        await self._end(connection, work, error=error.model_dump())

    async def _end(self, connection: AsyncConnection, work: Work, **values: Any) -> None:
        await connection.execute(
            update(operations)
            .where(operations.c.bank_id == work.bank_id, operations.c.id == work.id)
            .values(
                state="done",
                starts=0,
                update_time=to_micros(self._clock.now()),
                **values,
            )
        )

    async def put_back(self, *, work: Work, error: OperationError) -> bool:
        """Puts an operation back after a passing fault, due later each time.

        Returns:
            False where nothing was written: it was borne for 24 hours already and is permanent now, or the operation
            was cancelled, or its scope forgotten, meanwhile.
        """
        now = self._clock.now()
        first = work.first_fault_time or now
        if now - first >= PATIENCE:
            return False
        delay = min(FIRST_DELAY * 2 ** min(work.attempts, 20), LONGEST_DELAY)
        async with self._database.write() as connection:
            written = await connection.execute(
                update(operations)
                .where(
                    operations.c.bank_id == work.bank_id, operations.c.id == work.id, operations.c.state == "running"
                )
                .values(
                    state="pending",
                    starts=0,
                    attempts=work.attempts + 1,
                    first_fault_time=to_micros(first),
                    last_error=error.model_dump(),
                    due_time=to_micros(now + delay),
                    update_time=to_micros(now),
                )
            )
        return bool(written.rowcount)

    async def release(self, *, work: Sequence[Work]) -> None:
        """Puts operations back that were interrupted on purpose: their start doesn't count."""
        if not work:
            return
        async with self._database.write() as connection:
            for one in work:
                await connection.execute(
                    update(operations)
                    .where(
                        operations.c.bank_id == one.bank_id, operations.c.id == one.id, operations.c.state == "running"
                    )
                    .values(state="pending", starts=operations.c.starts - 1)
                )

    async def release_all(self) -> None:
        """Puts back everything that runs: the folder's only worker has stopped."""
        async with self._database.write() as connection:
            await connection.execute(
                update(operations)
                .where(operations.c.state == "running")
                .values(state="pending", starts=operations.c.starts - 1)
            )

    async def recover(self) -> list[Work]:
        """Puts back what was running when the last owner of the folder died.

        Returns:
            The operations that were started too often without an end. They still count as running: the caller fails
            them.
        """
        worn_out = operations.c.starts >= MOST_STARTS
        async with self._database.write() as connection:
            await connection.execute(
                update(operations).where(operations.c.state == "running", ~worn_out).values(state="pending")
            )
            rows = (await connection.execute(select(operations).where(operations.c.state == "running"))).all()
        return [_work(row) for row in rows]

    async def is_current(self, connection: AsyncConnection, *, work: Work) -> bool:
        """Whether the operation still runs and its scope was not forgotten since it was accepted."""
        found = await connection.execute(
            select(operations.c.state)
            .join(scopes, scopes.c.id == operations.c.scope_id)
            .where(
                operations.c.bank_id == work.bank_id,
                operations.c.id == work.id,
                operations.c.state == "running",
                scopes.c.epoch == operations.c.epoch,
            )
        )
        return found.first() is not None

    async def pass_over(self, connection: AsyncConnection, *, operation_id: str, kinds: dict[str, int]) -> None:
        """Adds to the count of parts that were not read."""
        if not kinds:
            return
        query = select(operations.c.passed_over).where(operations.c.id == operation_id)
        counts = {entry["kind"]: entry["count"] for entry in (await connection.execute(query)).scalar_one()}
        for kind, count in kinds.items():
            counts[kind] = counts.get(kind, 0) + count
        entries = [{"kind": kind, "count": count} for kind, count in sorted(counts.items())]
        await connection.execute(update(operations).where(operations.c.id == operation_id).values(passed_over=entries))

    async def retry(self, connection: AsyncConnection, *, bank_id: str, operation_id: str) -> Row[Any]:
        """Makes a failed or waiting operation due now. Returns its row as it was.

        Raises:
            NotFound: there is no such operation.
            FailedPrecondition: it is running, or it ended well.
        """
        row = await self._row(connection, bank_id, operation_id)
        if row.state == "running" or (row.state == "done" and row.error is None):
            raise FailedPrecondition(f"the operation {operation_id} is {row.state}: there is nothing to retry")
        now = to_micros(self._clock.now())
        await connection.execute(
            update(operations)
            .where(operations.c.seq == row.seq)
            .values(
                state="pending", error=None, starts=0, attempts=0, first_fault_time=None, due_time=now, update_time=now
            )
        )
        return row

    async def cancel(self, connection: AsyncConnection, *, bank_id: str, operation_id: str) -> Work:
        """Ends an operation with the error CANCELLED. One that runs is refused at its commit.

        Raises:
            NotFound: there is no such operation.
            FailedPrecondition: it has ended.
        """
        row = await self._row(connection, bank_id, operation_id)
        if row.state == "done":
            raise FailedPrecondition(f"the operation {operation_id} has ended")
        work = _work(row)
        await self.fail(connection, work=work, error=OperationError.of(Cancelled("cancelled on request")))
        return work

    async def delete(self, connection: AsyncConnection, *, bank_id: str, operation_id: str) -> None:
        """Takes an ended operation out of the records.

        Raises:
            NotFound: there is no such operation.
            FailedPrecondition: it has not ended.
        """
        row = await self._row(connection, bank_id, operation_id)
        if row.state != "done":
            raise FailedPrecondition(f"the operation {operation_id} has not ended: cancel it first")
        await forgetting.drop_operations(connection, [row])

    async def get(self, *, bank_id: str, operation_id: str) -> Operation:
        """One operation.

        Raises:
            NotFound: there is none with this id, or its scope was forgotten.
        """
        found = await self.list(bank_id=bank_id, ids=[operation_id])
        if not found:
            raise NotFound(f"there is no operation {operation_id!r} in the bank {bank_id!r}")
        return found[0]

    async def list(
        self, *, bank_id: str, ids: Collection[str] | None = None, unfinished: bool = False, failed: bool = False
    ) -> list[Operation]:
        """Operations of a bank, the newest first; with both flags those that have not ended well."""
        async with self._database.read() as connection:
            return [*await self.read(connection, bank_id=bank_id, ids=ids, unfinished=unfinished, failed=failed)]

    async def read(
        self,
        connection: AsyncConnection,
        *,
        bank_id: str,
        ids: Collection[str] | None = None,
        unfinished: bool = False,
        failed: bool = False,
    ) -> Sequence[Operation]:
        """As `list`, on the caller's connection."""
        query = (
            select(operations, scopes.c.pairs)
            .join(scopes, scopes.c.id == operations.c.scope_id)
            .where(operations.c.bank_id == bank_id)
            .order_by(operations.c.seq.desc())
        )
        states: list[ColumnElement[bool]] = []
        if unfinished:
            states.append(operations.c.state != "done")
        if failed:
            states.append(operations.c.error.is_not(None))
        if states:
            query = query.where(or_(*states))
        rows: list[Row[Any]] = []
        for one in [query] if ids is None else [query.where(operations.c.id.in_(page)) for page in records.pages(ids)]:
            rows += (await connection.execute(one)).all()
        rows.sort(key=lambda row: row.seq, reverse=True)
        wanted = {change["memory"] for row in rows for change in _changes(row)}
        present: dict[tuple[int, str], Memory] = {}  # an id may have been used again in another scope since
        of_result = select(memories, scopes.c.pairs).join(scopes, scopes.c.id == memories.c.scope_id)
        for page in records.pages(wanted):
            of_page = of_result.where(memories.c.bank_id == bank_id, memories.c.id.in_(page))
            for row in await connection.execute(of_page):
                present[row.scope_id, row.id] = records.memory_of(row, scope=json.loads(row.pairs))
        return [_operation(row, present) for row in rows]

    async def unfinished(self, *, ids: Collection[str]) -> set[str]:
        """Which of these operations have not ended. One that is gone, since its scope was forgotten, has."""
        found: set[str] = set()
        async with self._database.read() as connection:
            for page in records.pages(ids):
                query = select(operations.c.id).where(operations.c.id.in_(page), operations.c.state != "done")
                found.update((await connection.execute(query)).scalars())
        return found

    async def _row(self, connection: AsyncConnection, bank_id: str, operation_id: str) -> Row[Any]:
        query = select(operations).where(operations.c.bank_id == bank_id, operations.c.id == operation_id)
        row = (await connection.execute(query)).one_or_none()
        if row is None:
            raise NotFound(f"there is no operation {operation_id!r} in the bank {bank_id!r}")
        return row


def _work(row: Row[Any]) -> Work:
    return Work(
        id=row.id,
        kind=row.kind,
        bank_id=row.bank_id,
        scope_id=row.scope_id,
        stream_id=row.stream_id,
        epoch=row.epoch,
        options=GenerationOptions.from_json(row.options).of_kind(row.kind),
        direct_memories=row.direct_memories,
        attempts=row.attempts,
        first_fault_time=None if row.first_fault_time is None else from_micros(row.first_fault_time),
        alone=row.starts >= MOST_STARTS - 1,
    )


def _changes(row: Row[Any]) -> list[dict[str, Any]]:
    return [] if row.result is None else row.result["changes"]


def _operation(row: Row[Any], present: dict[tuple[int, str], Memory]) -> Operation:
    scope: dict[str, str] = json.loads(row.pairs) if row.pairs else {}
    ended = from_micros(row.update_time)
    generated: list[GeneratedMemory] = []
    for change in _changes(row):
        memory_id = change["memory"]
        gone = Memory(
            name=f"{bank_name(row.bank_id)}/memories/{memory_id}",
            fact="",
            scope=scope,
            create_time=ended,
            update_time=ended,
        )
        previous = change["previous"]
        generated.append(
            GeneratedMemory(
                memory=present.get((row.scope_id, memory_id), gone),
                action=Action(change["action"]),
                previous_revision=previous and records.revision_name(row.bank_id, memory_id, previous),
            )
        )
    return Operation(
        name=f"{bank_name(row.bank_id)}/operations/{row.id}",
        kind=row.kind,
        scope=scope,
        state=row.state,
        create_time=from_micros(row.create_time),
        update_time=ended,
        due_time=from_micros(row.due_time) if row.state == "pending" else None,
        attempts=row.attempts,
        error=row.error and OperationError(**row.error),
        last_error=row.last_error and OperationError(**row.last_error) if row.state != "done" else None,
        generated_memories=generated,
        passed_over=[PassedOver(**entry) for entry in row.passed_over],
        notes=[] if row.result is None else row.result["notes"],
    )
