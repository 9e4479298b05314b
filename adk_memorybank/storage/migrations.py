"""How a store of an older version is brought up to the present tables, in the transaction that opens it."""

from __future__ import annotations

from sqlalchemy import text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from adk_memorybank.storage import schema

STEPS: dict[int, tuple[str, ...]] = {
    1: (
        "ALTER TABLE banks ADD COLUMN description TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE banks ADD COLUMN labels JSON",
        "ALTER TABLE banks ADD COLUMN extra JSON",
        "ALTER TABLE memories ADD COLUMN context BLOB",
    ),
    2: (
        "ALTER TABLE banks ADD COLUMN collection TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE banks ADD COLUMN spare_collection TEXT",
        "UPDATE banks SET collection = 'bank-' || id || '-vectors'",
    ),
}
"""From a version to the next. Tables that are new are made beforehand, and need no step."""


def can_upgrade(version: str) -> bool:
    """Whether there is a way from a version to the present one."""
    return version.isdecimal() and int(version) < schema.VERSION and int(version) in STEPS


async def upgrade(connection: AsyncConnection, *, version: str) -> None:
    """Takes the tables from `version` to the present one."""
    for step in range(int(version), schema.VERSION):
        for statement in STEPS[step]:
            await connection.execute(text(statement))
    await connection.execute(
        update(schema.meta).where(schema.meta.c.key == schema.VERSION_KEY).values(value=str(schema.VERSION))
    )
