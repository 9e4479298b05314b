"""The accepted work of one bank, as its users see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adk_memorybank.engine import Engine
from adk_memorybank.resources import Operation, id_in
from adk_memorybank.storage.database import AsyncConnection


class BankOperations:
    """Lists, waits for, retries and cancels the operations of one bank."""

    def __init__(self, engine: Engine, bank_id: str) -> None:
        self._engine = engine
        self._bank_id = bank_id

    async def get(self, name: str) -> Operation:
        """One operation, by its name or id.

        Raises:
            NotFound: there is none, or its scope was forgotten.
        """

        async def get() -> Operation:
            return await self._engine.queue.get(bank_id=self._bank_id, operation_id=id_in(self._bank_id, name))

        return await self._engine.call(get())

    async def list(self, *, unfinished: bool = False, failed: bool = False) -> list[Operation]:
        """The operations of the bank, the newest first; by default all of them."""

        async def listed() -> list[Operation]:
            return await self._engine.queue.list(bank_id=self._bank_id, unfinished=unfinished, failed=failed)

        return await self._engine.call(listed())

    async def wait(self, names: Sequence[str], *, timeout: float | None = None) -> list[Operation]:
        """Waits until operations have ended, `timeout` seconds at most, and returns them as they are then.

        One whose scope was forgotten meanwhile is left out.
        """
        ids = [id_in(self._bank_id, name) for name in names]

        async def wait() -> list[Operation]:
            await self._engine.wait(ids, timeout=timeout)
            found = await self._engine.queue.list(bank_id=self._bank_id, ids=ids)
            places = {operation_id: place for place, operation_id in enumerate(ids)}
            return sorted(found, key=lambda operation: places[id_in(self._bank_id, operation.name)])

        return await self._engine.call(wait())

    async def retry(self, name: str) -> Operation:
        """Runs a failed or waiting operation again, now, with the events that wait in its stream.

        Raises:
            NotFound: there is no such operation.
            FailedPrecondition: it runs, or it ended well.
        """

        async def retry(connection: AsyncConnection, operation_id: str) -> None:
            row = await self._engine.queue.retry(connection, bank_id=self._bank_id, operation_id=operation_id)
            await self._engine.streams.take_again(connection, work=row)

        return await self._change(name, retry)

    async def cancel(self, name: str) -> Operation:
        """Ends an operation before its time. Its events stay in their stream and go with the next one.

        Raises:
            NotFound: there is no such operation.
            FailedPrecondition: it has ended.
        """

        async def cancel(connection: AsyncConnection, operation_id: str) -> None:
            work = await self._engine.queue.cancel(connection, bank_id=self._bank_id, operation_id=operation_id)
            await self._engine.streams.give_back(connection, work=work)

        return await self._change(name, cancel)

    async def delete(self, name: str) -> None:
        """Takes an ended operation out of the list. What it did stays.

        Raises:
            NotFound: there is no such operation.
            FailedPrecondition: it has not ended.
        """
        operation_id = id_in(self._bank_id, name)

        async def delete() -> None:
            async with self._engine.database.write() as connection:
                await self._engine.queue.delete(connection, bank_id=self._bank_id, operation_id=operation_id)

        await self._engine.call(delete())

    async def _change(self, name: str, change: Any) -> Operation:
        operation_id = id_in(self._bank_id, name)

        async def changed() -> Operation:
            async with self._engine.database.write() as connection:
                await change(connection, operation_id)
            self._engine.wake()
            return await self._engine.queue.get(bank_id=self._bank_id, operation_id=operation_id)

        return await self._engine.call(changed())
