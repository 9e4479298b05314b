"""Banks: the rows, and what goes with a bank when it is deleted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, delete, select, update

from adk_memorybank.clock import from_micros, to_micros
from adk_memorybank.errors import AlreadyExists, NotFound
from adk_memorybank.storage import collections
from adk_memorybank.storage.database import AsyncConnection, insert_new
from adk_memorybank.storage.schema import (
    banks,
    calls,
    events,
    forget_requests,
    memories,
    operations,
    revisions,
    scopes,
    seen_events,
    streams,
)
from adk_memorybank.storage.sessions import delete_sessions


@dataclass(frozen=True, slots=True)
class BankRow:
    """A bank.

    Attributes:
        config: what was set, and nothing that was filled in.
        extra: what clients of the managed service send for a deployment (`spec`, `encryptionSpec` …), as it came.
        collection: of Chroma, that holds its vectors.
    """

    id: str
    display_name: str
    description: str
    labels: dict[str, str]
    extra: dict[str, Any]
    config: dict[str, Any]
    embedder: str | None
    dimension: int | None
    collection: str
    model: str | None
    create_time: datetime
    update_time: datetime


async def add_bank(connection: AsyncConnection, *, bank_id: str, now: datetime) -> BankRow:
    """Creates a bank in which nothing is set yet.

    Raises:
        AlreadyExists: there is one with this id.
    """
    moment = to_micros(now)
    added = await connection.execute(
        insert_new(banks).values(
            id=bank_id,
            display_name="",
            config={},
            collection=collections.new_name(bank_id),
            create_time=moment,
            update_time=moment,
        )
    )
    if not added.rowcount:
        raise AlreadyExists(f"there is a bank {bank_id!r} already")
    return await get_bank(connection, bank_id=bank_id)


async def find_bank(connection: AsyncConnection, *, bank_id: str) -> BankRow | None:
    """Reads one bank; None where there is none with this id."""
    row = (await connection.execute(select(banks).where(banks.c.id == bank_id))).one_or_none()
    return None if row is None else _bank(row)


async def get_bank(connection: AsyncConnection, *, bank_id: str) -> BankRow:
    """Reads one bank.

    Raises:
        NotFound: there is none with this id.
    """
    found = await find_bank(connection, bank_id=bank_id)
    if found is None:
        raise NotFound(f"there is no bank {bank_id!r}")
    return found


async def list_banks(connection: AsyncConnection) -> list[BankRow]:
    """All banks, in the order of their creation."""
    return [_bank(row) for row in await connection.execute(select(banks).order_by(banks.c.create_time, banks.c.id))]


async def update_bank(connection: AsyncConnection, *, bank_id: str, now: datetime, **values: Any) -> None:
    """Writes some columns of a bank."""
    await connection.execute(update(banks).where(banks.c.id == bank_id).values(update_time=to_micros(now), **values))


async def delete_bank(connection: AsyncConnection, *, bank_id: str) -> None:
    """Deletes a bank and everything in it. Its vectors go with its collection.

    Calls that have ended can still be read, as those of no scope; one that waited for events would never end.
    """
    of_bank = select(scopes.c.id).where(scopes.c.bank_id == bank_id)
    await connection.execute(delete(calls).where(calls.c.bank_id == bank_id, calls.c.done == 0))
    await connection.execute(update(calls).where(calls.c.bank_id == bank_id).values(scope_id=None, stream_id=None))
    for table in (operations, revisions, memories):
        await connection.execute(delete(table).where(table.c.bank_id == bank_id))
    for table in (events, seen_events, forget_requests, streams):
        await connection.execute(delete(table).where(table.c.scope_id.in_(of_bank)))
    await delete_sessions(connection, bank_id=bank_id)
    await connection.execute(delete(scopes).where(scopes.c.bank_id == bank_id))
    await connection.execute(delete(banks).where(banks.c.id == bank_id))


def _bank(row: Row[Any]) -> BankRow:
    return BankRow(
        id=row.id,
        display_name=row.display_name,
        description=row.description,
        labels=row.labels or {},
        extra=row.extra or {},
        config=row.config,
        embedder=row.embedder,
        dimension=row.dimension,
        collection=row.collection,
        model=row.model,
        create_time=from_micros(row.create_time),
        update_time=from_micros(row.update_time),
    )
