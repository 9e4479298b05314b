"""Speed, side by side in one run: `make bench`, or `python -m tests.benchmarks.run --memories 100000`.

Prints medians and ratios. The budgets that they are held against stand in the README.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
from chromadb.config import Settings
from google.adk.events import Event
from google.adk.memory.in_memory_memory_service import InMemoryMemoryService
from google.adk.sessions import Session
from google.genai import types

from adk_memorybank import MemoryBankService
from adk_memorybank.options import MemoryOptions
from adk_memorybank.storage import vectors as vector_storage
from adk_memorybank.testing import HashEmbedder, ScriptedGenerator

DIMENSION = 512
SCOPE = 100
WARM_SCOPE = 1_000
WORDS = [f"word{number}" for number in range(2_000)]


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=10_000, help="in the whole bank, %(default)s by default")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    arguments = parser.parse_args()
    figures: dict[str, float] = {}
    figures |= imports()
    with tempfile.TemporaryDirectory() as folder:
        figures |= await ours(Path(folder) / "memory", arguments.memories, arguments.rounds)
        figures |= chroma_alone(Path(folder) / "chroma", arguments.memories, arguments.rounds)
    figures |= await adk_in_memory(arguments.rounds)
    figures["search, Chroma's filtered query / ours (warm, 1,000 in the scope)"] = (
        figures["search, one Chroma collection with `where`, 1,000 in the scope, ms"]
        / figures["search, warm view, 1,000 in the scope, ms"]
    )
    width = max(map(len, figures))
    for name, value in figures.items():
        print(f"{name:<{width}}  {value:10.3f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1))


def imports() -> dict[str, float]:
    """Import times in fresh processes, the fastest of five: the rest is the machine's noise."""

    def cost(module: str) -> float:
        code = f"import time; begin = time.perf_counter(); import {module}; print(time.perf_counter() - begin)"
        runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, check=True) for _ in range(5)]
        return min(float(run.stdout) for run in runs)

    adk, package, service = (cost(name) for name in ("google.adk.memory", "adk_memorybank", "adk_memorybank.service"))
    return {
        "import adk_memorybank / import google.adk.memory": package / adk,
        "import adk_memorybank.service / import google.adk.memory": service / adk,
    }


async def ours(folder: Path, memories: int, rounds: int) -> dict[str, float]:
    # Written in large pages here: what is measured is not the load, and eight at a time would take an hour.
    vector_storage.WRITE_PAGE = 5_000
    service = MemoryBankService(
        f"memorybank:///{folder}", model=ScriptedGenerator(), embedder=HashEmbedder(dimension=DIMENSION)
    )
    figures: dict[str, float] = {}
    async with service:
        bank = await service.bank()
        users = max(1, (memories - WARM_SCOPE) // SCOPE)
        begin = time.perf_counter()
        for user in range(users):
            await bank.create_all(scope=scope(f"u{user}"), memories=facts(SCOPE, seed=user))
        await bank.create_all(scope=scope("warm"), memories=facts(WARM_SCOPE, seed=-1 % 10_000))
        figures[f"memories in the bank, created at (per second, {users + 1} scopes)"] = memories / (
            time.perf_counter() - begin
        )
        queries = [" ".join(np.random.default_rng(seed).choice(WORDS, 6)) for seed in range(10)]

        async def search(user: str, number: int) -> None:
            await service.search_memory(app_name="app", user_id=user, query=queries[number % len(queries)])

        await search("warm", 0)
        figures["search, warm view, 1,000 in the scope, ms"] = await timed(lambda n: search("warm", n), rounds)
        # The views of these scopes were never read before: each is cold once.
        cold = min(rounds, users)
        figures["search, cold view, 100 in the scope, ms"] = await timed(lambda n: search(f"u{n}", n), cold)
        vector_storage.WRITE_PAGE = 8
        figures |= await intake(service)
        figures |= await stall(service)
    return figures


async def intake(service: MemoryBankService) -> dict[str, float]:
    first: list[float] = []
    again: list[float] = []
    more: list[float] = []
    for number in range(20):
        session = Session(
            id=f"s{number}", app_name="app", user_id=f"intake{number}", events=[event(n) for n in range(200)]
        )
        first.append(await once(lambda session=session: service.add_session_to_memory(session)))
        await service.flush()
        again.append(await once(lambda session=session: service.add_session_to_memory(session)))
        session.events += [event(200), event(201)]
        more.append(await once(lambda session=session: service.add_session_to_memory(session)))
        await service.flush()
    return {
        "add_session_to_memory, 200 events, ms": statistics.median(first),
        "add_session_to_memory, the same again, ms": statistics.median(again),
        "add_session_to_memory, 2 new events of 202, ms": statistics.median(more),
    }


async def stall(service: MemoryBankService) -> dict[str, float]:
    """How late a beat of 5 ms on the caller's loop comes while operations run in the background."""
    late: list[float] = []
    done = asyncio.Event()

    async def beat() -> None:
        while not done.is_set():
            begin = time.perf_counter()
            await asyncio.sleep(0.005)
            late.append((time.perf_counter() - begin - 0.005) * 1000)

    heart = asyncio.create_task(beat())
    for number in range(20):
        session = Session(
            id=f"b{number}",
            app_name="app",
            user_id=f"beat{number}",
            events=[event(n) for n in range(number, number + 4)],
        )
        await service.add_session_to_memory(session)
        await service.flush()
    done.set()
    await heart
    return {"stall of a 5 ms beat, p99, ms": float(np.percentile(late, 99)), "the longest, ms": max(late)}


def chroma_alone(folder: Path, memories: int, rounds: int) -> dict[str, float]:
    client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
    collection = client.create_collection("all", embedding_function=None, configuration={"hnsw": {"space": "cosine"}})
    random = np.random.default_rng(0)
    for start in range(0, memories, 5_000):
        count = min(5_000, memories - start)
        rows = random.normal(size=(count, DIMENSION)).astype(np.float32)
        # As in ours: the last thousand are one user's, the others have a hundred each.
        users = [
            "warm" if number >= memories - WARM_SCOPE else f"u{number // SCOPE}"
            for number in range(start, start + count)
        ]
        collection.add(
            ids=[str(number) for number in range(start, start + count)],
            embeddings=rows,
            metadatas=[{"user": user} for user in users],
        )
    query = random.normal(size=(1, DIMENSION)).astype(np.float32)
    times: list[float] = []
    for _ in range(max(5, rounds // 10)):
        begin = time.perf_counter()
        collection.query(query_embeddings=query, n_results=10, where={"user": "warm"})
        times.append((time.perf_counter() - begin) * 1000)
    return {"search, one Chroma collection with `where`, 1,000 in the scope, ms": statistics.median(times)}


async def adk_in_memory(rounds: int) -> dict[str, float]:
    service = InMemoryMemoryService()
    session = Session(
        id="s",
        app_name="app",
        user_id="warm",
        events=[event(n, text=facts(1, seed=n)[0][0]) for n in range(WARM_SCOPE)],
    )
    await service.add_session_to_memory(session)

    async def search(number: int) -> None:
        await service.search_memory(app_name="app", user_id="warm", query=f"{WORDS[number]} {WORDS[number + 9]}")

    return {"search, ADK's InMemoryMemoryService, 1,000 events, ms": await timed(search, rounds)}


def scope(user: str) -> dict[str, str]:
    return {"app_name": "app", "user_id": user}


def facts(count: int, *, seed: int) -> list[tuple[str, MemoryOptions]]:
    random = np.random.default_rng(seed)
    return [(" ".join(random.choice(WORDS, 12)), MemoryOptions()) for _ in range(count)]


def event(number: int, *, text: str = "") -> Event:
    role = "user" if number % 2 else "model"
    said = text or f"number {number} of what was said about {WORDS[number % len(WORDS)]}"
    return Event(
        id=f"e{number}",
        author="user" if number % 2 else "agent",
        timestamp=1_750_000_000.0 + number,
        content=types.Content(role=role, parts=[types.Part(text=said)]),
    )


async def once(call: Callable[[], Awaitable[Any]]) -> float:
    begin = time.perf_counter()
    await call()
    return (time.perf_counter() - begin) * 1000


async def timed(call: Callable[[int], Awaitable[Any]], rounds: int) -> float:
    times: list[float] = []
    for number in range(rounds):
        begin = time.perf_counter()
        await call(number)
        times.append((time.perf_counter() - begin) * 1000)
    return statistics.median(times)


if __name__ == "__main__":
    asyncio.run(main())
