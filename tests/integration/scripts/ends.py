"""Uses a store and ends without closing it: `ends.py FOLDER WAY [NUMBER]`."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
import time
from pathlib import Path

from adk_memorybank.errors import FailedPrecondition
from adk_memorybank.testing import ScriptedGenerator
from tests.integration.stores import rows, search, service, session, until

folder, way = Path(sys.argv[1]), sys.argv[2]
slow = way in ("running", "closing")
memory = service(folder, ScriptedGenerator([600.0] * 9) if slow else ScriptedGenerator())


async def add(number: int = 0) -> None:
    await memory.add_session_to_memory(session([f"words {number}"], session_id=f"s{number}"))


async def wait_until_it_runs() -> None:
    await until(lambda: rows(folder, "SELECT 1 FROM operations WHERE state = 'running'"))


async def add_while_it_runs() -> None:
    await add()
    await wait_until_it_runs()


async def close_too_briefly() -> None:
    await add_while_it_runs()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(memory.close(timeout=60), 0.2)


async def add_flush_search() -> None:
    await add()
    await memory.flush()
    await search(memory, "words")


def in_threads() -> None:
    threads = [threading.Thread(target=lambda number=number: asyncio.run(add(number))) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if way == "plain":
    asyncio.run(add())
elif way == "unused":
    pass
elif way == "flushed":
    asyncio.run(add_flush_search())
elif way == "running":
    asyncio.run(add_while_it_runs())
elif way == "closing":
    asyncio.run(close_too_briefly())
elif way == "loops":
    asyncio.run(add(0))
    asyncio.run(add(1))
elif way == "threads":
    in_threads()
elif way == "refused":
    with contextlib.suppress(FailedPrecondition):
        asyncio.run(add())
else:
    raise SystemExit(f"no such way: {way}")
folder.with_suffix(".stamp").write_text(str(time.time()))
