"""The worker by itself, on a real store."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from adk_memorybank.clock import SystemClock
from adk_memorybank.operations.queue import Queue, Work
from adk_memorybank.operations.streams import Streams
from adk_memorybank.operations.worker import Worker
from adk_memorybank.storage.database import Database


async def nothing(_: Work) -> None:
    """There is no work in these tests."""


@pytest.mark.parametrize("steps", range(8))
async def test_it_stops_in_whatever_step_of_waking_up_it_is(tmp_path: Path, steps: int) -> None:
    database = Database(tmp_path / "memory.db")
    await database.open()
    queue = Queue(database, SystemClock())
    streams = Streams(database, queue, SystemClock())
    worker = Worker(database=database, queue=queue, streams=streams, banks=["default"], handle=nothing)
    await worker.start()
    await asyncio.sleep(0.2)  # it has looked at the queue, and waits
    worker.wake()
    for _ in range(steps):
        await asyncio.sleep(0)
    async with asyncio.timeout(10):
        await worker.stop(patience=0)
    await database.close()
