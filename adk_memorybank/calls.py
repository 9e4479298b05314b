"""The calls of a store's banks that the faces over the network show as operations, from any loop and thread."""

from __future__ import annotations

from collections.abc import Sequence

from adk_memorybank.engine import Engine
from adk_memorybank.resources import Call, CallKind, Scope


class Calls:
    """Notes and reads them. They can be read after their bank was deleted."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

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

        async def record() -> Call:
            return await self._engine.calls.record(
                bank_id=bank_id, kind=kind, memory_id=memory_id, scope=scope, count=count
            )

        return await self._engine.call(record())

    async def get(self, *, bank_id: str, call_id: str) -> Call:
        """One call.

        Raises:
            NotFound: there is none with this id.
        """

        async def get() -> Call:
            return await self._engine.calls.get(bank_id=bank_id, call_id=call_id)

        return await self._engine.call(get())

    async def list(self, *, bank_id: str) -> Sequence[Call]:
        """The calls of a bank, the newest first."""

        async def listed() -> list[Call]:
            return await self._engine.calls.list(bank_id=bank_id)

        return await self._engine.call(listed())

    async def delete(self, *, bank_id: str, call_id: str) -> None:
        """Takes a call out of the log. What it did stays.

        Raises:
            NotFound: there is none with this id.
        """

        async def delete() -> None:
            await self._engine.calls.delete(bank_id=bank_id, call_id=call_id)

        await self._engine.call(delete())
