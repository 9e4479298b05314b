"""The connection to the records by itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from adk_memorybank.errors import EngineClosed
from adk_memorybank.storage import schema
from adk_memorybank.storage.database import Database


async def test_closing_waits_for_the_transaction_in_flight_and_leaves_no_lock(tmp_path: Path) -> None:
    database = Database(tmp_path / "memory.db")
    await database.open()
    begun = asyncio.Event()

    async def write(key: str) -> None:
        async with database.write() as connection:
            await connection.execute(schema.meta.insert().values(key=key, value=""))
            begun.set()
            await asyncio.sleep(0.3)

    first = asyncio.create_task(write("first"))
    await begun.wait()
    second = asyncio.create_task(write("second"))
    await asyncio.sleep(0)
    await database.close()
    await first
    with pytest.raises(EngineClosed):
        await second
    other = Database(tmp_path / "memory.db")
    async with asyncio.timeout(5):
        await other.open()
        async with other.write() as connection:
            rows = await connection.execute(schema.meta.select())
            assert {row.key for row in rows} == {"schema_version", "secret", "first"}
    await other.close()
