"""The connection to the records: transactions that lose nothing, on SQLite."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Table, event, select
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.exc import DatabaseError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool

from adk_memorybank.errors import EngineClosed, FailedPrecondition
from adk_memorybank.storage import migrations, schema

logger = logging.getLogger("google_adk.adk_memorybank.storage.database")

_BUSY_TIMEOUT = 20.0
"""Seconds that a transaction waits for another process to finish its own."""

_READERS = 4
_ERASURE = "erasure_due"


class Database:
    """One SQLite file in WAL mode.

    Writers begin with BEGIN IMMEDIATE on a connection of their own, one after the other: SQLAlchemy with aiosqlite
    otherwise runs a SELECT before the transaction begins, and read-modify-writes get lost without an error. Readers
    have connections that can't write, each read a snapshot.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._write_lock = asyncio.Lock()
        self._erasing = asyncio.Lock()
        self._closing = False
        self._closed = False
        self._writer = self._make_engine(size=1, begin="BEGIN IMMEDIATE", query_only=False)
        self._reader = self._make_engine(size=_READERS, begin="BEGIN", query_only=True)
        self.secret = b""
        """Keys the hashes of event ids, so that they can't be guessed from outside the store."""

    def _make_engine(self, *, size: int, begin: str, query_only: bool) -> AsyncEngine:
        engine = create_async_engine(
            f"sqlite+aiosqlite:///{self._path}",
            poolclass=AsyncAdaptedQueuePool,
            pool_size=size,
            max_overflow=0,
            pool_timeout=60,
            connect_args={"isolation_level": None, "timeout": _BUSY_TIMEOUT},
            json_serializer=_to_json,
        )

        def set_up(connection: Any, _record: object) -> None:
            cursor = connection.cursor()
            for pragma in (
                "journal_mode=WAL",
                "synchronous=FULL",
                "secure_delete=ON",
                "temp_store=MEMORY",  # no text in temporary files
                "foreign_keys=ON",
                f"query_only={'ON' if query_only else 'OFF'}",
            ):
                cursor.execute(f"PRAGMA {pragma}")
            cursor.close()

        def begin_transaction(connection: Any) -> None:
            connection.exec_driver_sql(begin)

        event.listen(engine.sync_engine, "connect", set_up)
        event.listen(engine.sync_engine, "begin", begin_transaction)
        return engine

    async def open(self) -> None:
        """Makes the tables where they are missing, and brings those of an older version up to this one.

        Raises:
            FailedPrecondition: the file was written by a newer version of this package, or is no database.
        """
        try:
            found = await self._read_meta()
        except DatabaseError as error:
            if "locked" in str(error.orig):
                raise
            raise FailedPrecondition(f"{self._path} can't be used: {error.orig}") from error
        if found[schema.VERSION_KEY] != str(schema.VERSION):
            raise FailedPrecondition(
                f"{self._path} has the format {found[schema.VERSION_KEY]}, this version of adk-memorybank reads "
                f"{schema.VERSION}: install the version that wrote it, or start with another folder"
            )
        self.secret = bytes.fromhex(found["secret"])

    async def _read_meta(self) -> dict[str, str]:
        async with self.write() as connection:
            await connection.run_sync(schema.metadata.create_all)
            rows = await connection.execute(select(schema.meta.c.key, schema.meta.c.value))
            found = {row.key: row.value for row in rows}
            if not found:
                found = {schema.VERSION_KEY: str(schema.VERSION), "secret": secrets.token_hex(32)}
                await connection.execute(
                    schema.meta.insert(), [{"key": key, "value": value} for key, value in found.items()]
                )
            elif migrations.can_upgrade(found[schema.VERSION_KEY]):
                logger.info("%s is brought up from the format %s", self._path, found[schema.VERSION_KEY])
                await migrations.upgrade(connection, version=found[schema.VERSION_KEY])
                found[schema.VERSION_KEY] = str(schema.VERSION)
        return found

    @asynccontextmanager
    async def write(self) -> AsyncGenerator[AsyncConnection]:
        """One transaction that may write: all of it is committed at the end, or nothing.

        Raises:
            EngineClosed: the store was closed before the transaction began.
        """
        async with self._write_lock:
            if self._closing:
                raise EngineClosed("the store was closed")
            async with self._writer.begin() as connection:
                yield connection

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[AsyncConnection]:
        """One snapshot to read from."""
        async with self._reader.begin() as connection:
            yield connection

    async def note_erasure(self, connection: AsyncConnection) -> None:
        """Notes, in the transaction that deletes text, that its bytes are still to be erased: this process may die."""
        await connection.execute(sqlite_insert(schema.meta).values(key=_ERASURE, value="").prefix_with("OR REPLACE"))

    async def erasure_is_due(self) -> bool:
        """Whether deleted text may still stand in the file or its log."""
        async with self.read() as connection:
            found = await connection.execute(select(schema.meta.c.key).where(schema.meta.c.key == _ERASURE))
            return found.first() is not None

    async def erase(self, *, patience: float = 5.0) -> bool:
        """Takes the last bytes of what was deleted out of the file and its log.

        Returns:
            False where a reader in another process still holds an old state; it stays noted then.
        """
        async with self._erasing:
            await self._rewrite()
            if not await self.truncate_log(patience=patience):
                return False
            async with self.write() as connection:
                await connection.execute(schema.meta.delete().where(schema.meta.c.key == _ERASURE))
            return True

    async def _rewrite(self) -> None:
        """Writes the whole file anew. `secure_delete` overwrites what is deleted, but not all of its copies.

        Where SQLite splits or merges pages, it moves rows and leaves their bytes in what is free space then.
        """
        async with self._write_lock, self._writer.connect() as connection:
            raw = await connection.get_raw_connection()
            cursor = await raw.driver_connection.execute("VACUUM")  # pyright: ignore[reportOptionalMemberAccess]
            await cursor.close()

    async def truncate_log(self, *, patience: float = 5.0) -> bool:
        """Empties the write-ahead log, so that nothing forgotten stays in it.

        Returns:
            False where a reader in another process still held an old snapshot after `patience` seconds.
        """
        deadline = asyncio.get_running_loop().time() + patience
        while True:
            async with self._write_lock, self._writer.connect() as connection:
                raw = await connection.get_raw_connection()
                cursor = await raw.driver_connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # pyright: ignore[reportOptionalMemberAccess]
                row = await cursor.fetchone()
                await cursor.close()
            if row is not None and row[0] == 0:
                return True
            if asyncio.get_running_loop().time() > deadline:
                return False
            await asyncio.sleep(0.05)

    async def close(self) -> None:
        """Closes the connections once the transaction in flight has ended.

        A connection that is closed in the midst of one would keep the file locked for as long as its thread lives.
        """
        self._closing = True
        async with self._write_lock:
            if not self._closed:  # a second caller waits for the first, and is not cut off in the midst of it
                await self._writer.dispose()
                await self._reader.dispose()
                self._closed = True


def insert_new(table: Table) -> Any:
    """An INSERT that leaves rows alone whose key is there already."""
    return sqlite_insert(table).on_conflict_do_nothing()


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
