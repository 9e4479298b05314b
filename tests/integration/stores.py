"""Stores, sessions and generators that the tests of durability share."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from google.adk.events.event import Event
from google.adk.sessions.session import Session
from google.genai import types

from adk_memorybank import MemoryBankService
from adk_memorybank.generation.generator import ConsolidationRequest, Decision, Extraction, ExtractionRequest
from adk_memorybank.storage import collections
from adk_memorybank.testing import HashEmbedder, ScriptedGenerator

APP = "shop"
USER = "ada"
NOON = 1_767_268_800.0


def uri(folder: Path, **options: str) -> str:
    query = "&".join(f"{key}={value}" for key, value in options.items())
    return f"memorybank:///{folder}?{query}"


def service(folder: Path, generator: Any = None, *, bank: str = "default", **options: Any) -> MemoryBankService:
    chosen: dict[str, Any] = {"embedder": HashEmbedder(), **options}
    return MemoryBankService(uri(folder, bank=bank), model=generator or ScriptedGenerator(), **chosen)


def session(texts: Iterable[str], *, session_id: str = "s", user: str = USER, app: str = APP) -> Session:
    """A session in which the user says these things, with event ids that come of their places."""
    events = [
        Event(
            id=f"{session_id}-{place}",
            author="user",
            timestamp=NOON + place,
            content=types.Content(role="user", parts=[types.Part(text=text)]),
        )
        for place, text in enumerate(texts)
    ]
    return Session(id=session_id, app_name=app, user_id=user, events=events)


async def facts(memory: MemoryBankService, *, user: str = USER, app: str = APP) -> list[str]:
    """All that is remembered of a user, in order of the alphabet."""
    bank = await memory.bank()
    return sorted(one.fact for one in await bank.list(scope=memory.scope(app_name=app, user_id=user)))


async def search(memory: MemoryBankService, query: str, *, user: str = USER) -> list[str]:
    found = await memory.search_memory(app_name=APP, user_id=user, query=query)
    return [(entry.content.parts or [])[0].text or "" for entry in found.memories]


async def settle(memory: MemoryBankService, *, timeout: float = 60) -> None:
    """Waits until every operation of the bank has ended, whoever had accepted it."""
    bank = await memory.bank()
    names = [operation.name for operation in await bank.operations.list(unfinished=True)]
    ended = await bank.operations.wait(names, timeout=timeout)
    assert all(operation.done for operation in ended), ended


async def until(condition: Callable[[], Any], *, timeout: float = 20) -> None:
    """Waits until something holds; the condition may be a coroutine function."""
    deadline = time.monotonic() + timeout
    while True:
        held = condition()
        if asyncio.iscoroutine(held):
            held = await held
        if held:
            return
        assert time.monotonic() < deadline, "waited too long"
        await asyncio.sleep(0.02)


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    """Reads the records past the package."""
    with closing(sqlite3.connect(folder / "memory.db", timeout=20)) as connection:
        return connection.execute(query).fetchall()


def write(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "memory.db", timeout=20)) as connection, connection:
        connection.execute(statement)


def files_with(folder: Path, text: str) -> list[str]:
    """The files of a store in which a text stands."""
    needle = text.encode()
    return [str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file() and needle in _read(file)]


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:  # a journal that was removed meanwhile
        return b""


async def vector_ids(memory: MemoryBankService) -> set[str]:
    """The ids of all vectors in the service's bank, as Chroma has them."""
    engine = memory.banks.engine
    bank_id = memory.banks.settings.bank_id

    async def read() -> set[str]:
        vectors = await engine.need_vectors()
        async with engine.database.read() as connection:
            name = await collections.serving(connection, bank_id=bank_id)
        assert name is not None
        return set(await vectors._call(name, lambda collection: collection.get(include=[])["ids"]) or ())

    return await engine.call(read())


def named_vectors(folder: Path) -> set[str]:
    """The ids of the vectors that the records name."""
    return {f"{memory}.{version}" for memory, version in rows(folder, "SELECT id, fact_version FROM memories")}


class HeldGenerator(ScriptedGenerator):
    """Stands still in each extraction until it is let go."""

    def __init__(self, script: Iterable[BaseException | float | None] = ()) -> None:
        super().__init__(script)
        self._gate = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._let_go = False

    async def extract(self, request: ExtractionRequest) -> Extraction:
        self._loop = asyncio.get_running_loop()
        if self._let_go:
            self._gate.set()
        extraction = await super().extract(request)
        await self._gate.wait()
        return extraction

    def let_go(self) -> None:
        self._let_go = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._gate.set)

    async def begun(self, times: int = 1) -> None:
        """Waits until so many extractions have begun."""
        await until(lambda: len(self.extractions) >= times)


class ReplacingGenerator(ScriptedGenerator):
    """The newest fact takes the place of whatever memory was there."""

    async def consolidate(self, request: ConsolidationRequest) -> list[Decision]:
        self.consolidations += 1
        last = len(request.facts) - 1
        return [
            Decision(
                action="update" if request.candidates else "create",
                facts=tuple(range(len(request.facts))),
                candidate=0 if request.candidates else None,
                fact=request.facts[last].fact,
                topics=request.facts[last].topics,
                replaces=True,
            )
        ]


@asynccontextmanager
async def opened(folder: Path, generator: Any = None, **options: Any) -> AsyncGenerator[MemoryBankService]:
    memory = service(folder, generator, **options)
    try:
        await memory.bank()
        yield memory
    finally:
        await memory.close()


def numbered(count: int, *, what: str = "fact") -> list[str]:
    return [f"{what} number {place:03}" for place in range(count)]


def ended_well(operations: Sequence[Any]) -> bool:
    return all(operation.done and operation.error is None for operation in operations)
