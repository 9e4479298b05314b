"""Brings up processes that use a store, quickly: everything is imported once, and nothing is open when it forks.

Reads the address of a socket from each line of its input, forks a child that serves commands there, and answers with
the child's process id. A command is a line of JSON, `{"do": action, …}`; so is its answer.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import chromadb  # noqa: F401  # pyright: ignore[reportUnusedImport]  once for all children

from adk_memorybank import MemoryBankService
from adk_memorybank.generation.generator import Extraction, ExtractionRequest
from adk_memorybank.storage import vectors
from adk_memorybank.storage.schema import memories
from adk_memorybank.testing import ScriptedGenerator
from tests.integration.stores import APP, USER, ReplacingGenerator, facts, search, service, session, vector_ids


class _Suicidal(ScriptedGenerator):
    """Ends the process in the middle of an operation."""

    async def extract(self, request: ExtractionRequest) -> Extraction:
        os.kill(os.getpid(), signal.SIGKILL)
        return await super().extract(request)


class _Poisoned(ScriptedGenerator):
    """Ends the process in the middle of one operation, while others run."""

    async def extract(self, request: ExtractionRequest) -> Extraction:
        await asyncio.sleep(0.3)
        if any("poison" in turn.text for turn in request.turns):
            os.kill(os.getpid(), signal.SIGKILL)
        await asyncio.sleep(0.3)
        return await super().extract(request)


class Child:
    memory: MemoryBankService

    async def open(self, folder: str, *, generator: str = "plain", wait: float = 0, bank: str = "default") -> None:
        made = {
            "plain": lambda: ScriptedGenerator([wait] * 100 if wait else ()),
            "replacing": ReplacingGenerator,
            "suicidal": _Suicidal,
            "poisoned": _Poisoned,
        }[generator]()
        self.memory = service(Path(folder), made, bank=bank)
        await self.memory.bank()

    async def add(self, texts: list[str], session_id: str = "s", user: str = USER) -> None:
        await self.memory.add_session_to_memory(session(texts, session_id=session_id, user=user))

    async def die_before_vectors(self) -> None:
        """From now on, the process ends where it would write a vector."""

        async def add(*_: Any) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        setattr(vectors.Vectors, "add", add)  # noqa: B010

    async def flush(self, timeout: float = 60) -> list[bool]:
        return [operation.done and operation.error is None for operation in await self.memory.flush(timeout=timeout)]

    async def facts(self, user: str = USER) -> list[str]:
        return await facts(self.memory, user=user)

    async def get(self, name: str) -> str:
        return (await (await self.memory.bank()).get(name=name)).fact

    async def update(self, name: str, fact: str) -> None:
        await (await self.memory.bank()).update(name=name, fact=fact)

    async def search(self, query: str, user: str = USER) -> list[str]:
        return await search(self.memory, query, user=user)

    async def words(self, query: str, user: str = USER) -> list[str]:
        bank = await self.memory.bank()
        found = await bank.retrieve(scope=self.memory.scope(app_name=APP, user_id=user), query=query, by="words")
        return [one.memory.fact for one in found]

    async def forget(self, user: str = USER) -> int:
        return (await self.memory.forget(app_name=APP, user_id=user)).memories

    async def vectors(self) -> list[str]:
        return sorted(await vector_ids(self.memory))

    async def count(self, memory_id: str, times: int) -> None:
        await asyncio.gather(*(count(self.memory, memory_id) for _ in range(times)))

    async def close(self) -> None:
        await self.memory.close()


async def count(memory: MemoryBankService, memory_id: str) -> None:
    """Reads a number in the records and writes the next one, in one transaction."""
    from sqlalchemy import select, update

    async def step() -> None:
        async with memory.banks.engine.database.write() as connection:
            found = await connection.execute(select(memories.c.metadata).where(memories.c.id == memory_id))
            number = found.scalar_one().get("count", 0)
            await asyncio.sleep(0)
            await connection.execute(
                update(memories).where(memories.c.id == memory_id).values(metadata={"count": number + 1})
            )

    await memory.banks.engine.call(step())


async def _serve(address: str) -> None:
    reader, writer = await asyncio.open_unix_connection(address)
    child = Child()
    while line := await reader.readline():
        command: dict[str, Any] = json.loads(line)
        action = command.pop("do")
        try:
            answer: dict[str, Any] = {"result": await getattr(child, action)(**command)}
        except Exception as error:  # noqa: BLE001  the test that asked looks at it
            answer = {"error": type(error).__name__, "message": str(error)}
        writer.write(json.dumps(answer).encode() + b"\n")
        await writer.drain()


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("ready", flush=True)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            asyncio.run(_serve(line.strip()))
            return
        print(pid, flush=True)


if __name__ == "__main__":
    main()
