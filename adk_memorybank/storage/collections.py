"""Which of Chroma's collections holds the vectors of a bank: a fact of the records, changed in one transaction.

A bank has one collection that serves, and beside it a spare one perhaps: the next one while it is being made, and the
one before until Chroma has removed it. So whatever a process that died has left behind is known by its name.
"""

from __future__ import annotations

import secrets
from datetime import datetime

from sqlalchemy import func, select, update

from adk_memorybank.clock import to_micros
from adk_memorybank.errors import Cancelled, Unavailable
from adk_memorybank.storage.database import AsyncConnection
from adk_memorybank.storage.schema import banks, scopes

PREFIX = "bank-"


class CollectionChanged(Unavailable):
    """The vectors of the bank were made anew meanwhile, perhaps by another embedder: it is to be done again."""


def new_name(bank_id: str) -> str:
    """A name that no collection ever had.

    Chroma wants 3 to 512 characters, the last a letter or a digit; a bank's id may be shorter or end in `_`.
    """
    return f"{PREFIX}{bank_id}-{secrets.token_hex(8)}"


async def serving(connection: AsyncConnection, *, bank_id: str) -> str | None:
    """The collection that serves a bank; None where the bank is gone."""
    return (await connection.execute(select(banks.c.collection).where(banks.c.id == bank_id))).scalar_one_or_none()


async def of_bank(connection: AsyncConnection, *, bank_id: str) -> list[str]:
    """The collections of a bank: the one that serves, and its spare one."""
    found = await connection.execute(select(banks.c.collection, banks.c.spare_collection).where(banks.c.id == bank_id))
    return [name for row in found for name in row if name is not None]


async def named(connection: AsyncConnection) -> set[str]:
    """All collections that the records name."""
    found = await connection.execute(select(banks.c.collection, banks.c.spare_collection))
    return {name for row in found for name in row if name is not None}


async def spares(connection: AsyncConnection) -> dict[str, str]:
    """The spare collections, by their banks."""
    query = select(banks.c.id, banks.c.spare_collection).where(banks.c.spare_collection.is_not(None))
    return {row.id: row.spare_collection for row in await connection.execute(query)}


async def set_spare(connection: AsyncConnection, *, bank_id: str, name: str) -> None:
    """Notes the collection that is to be made, before anything is written to it."""
    await connection.execute(update(banks).where(banks.c.id == bank_id).values(spare_collection=name))


async def spare_is_gone(connection: AsyncConnection, *, bank_id: str, name: str) -> None:
    """Chroma has removed a spare collection: its note can go."""
    mine = (banks.c.id == bank_id) & (banks.c.spare_collection == name)
    await connection.execute(update(banks).where(mine).values(spare_collection=None))


async def check(connection: AsyncConnection, *, bank_id: str, name: str) -> None:
    """Makes sure that a collection still belongs to a bank.

    Raises:
        Cancelled: the bank was deleted, or its vectors are being made anew by another process.
    """
    if name not in await of_bank(connection, bank_id=bank_id):
        raise Cancelled(f"the bank {bank_id!r} was deleted, or another process makes its vectors anew")


async def swap(
    connection: AsyncConnection, *, bank_id: str, name: str, embedder: str, dimension: int | None, now: datetime
) -> None:
    """Lets the spare collection serve, with the embedder that made it; the one before becomes the spare one.

    Raises:
        Cancelled: as `check`.
    """
    await check(connection, bank_id=bank_id, name=name)
    before = await serving(connection, bank_id=bank_id)
    values = {"collection": name, "spare_collection": before, "embedder": embedder, "dimension": dimension}
    await connection.execute(update(banks).where(banks.c.id == bank_id).values(update_time=to_micros(now), **values))


async def state_of_scopes(connection: AsyncConnection, *, bank_id: str) -> tuple[int, int]:
    """Another pair of numbers after each change of a memory of the bank: versions only rise, scopes only come."""
    query = select(func.count(), func.coalesce(func.sum(scopes.c.version), 0)).where(scopes.c.bank_id == bank_id)
    count, total = (await connection.execute(query)).one()
    return int(count), int(total)


async def versions_of_scopes(connection: AsyncConnection, *, bank_id: str) -> dict[int, int]:
    """The version of each scope of a bank, by the scope's number."""
    query = select(scopes.c.id, scopes.c.version).where(scopes.c.bank_id == bank_id)
    return {row.id: row.version for row in await connection.execute(query)}
