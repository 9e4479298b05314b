"""Forks while a store is open, and tells what parent and child could do: `forks.py FOLDER`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from tests.integration.stores import facts, search, service, session

folder = Path(sys.argv[1])
memory = service(folder)


async def add(word: str) -> None:
    await memory.add_session_to_memory(session([word], session_id=word))


async def attempt(what: Any, timeout: float = 30) -> Any:
    try:
        return await asyncio.wait_for(what, timeout)
    except Exception as error:  # noqa: BLE001  what it is, is the answer
        return f"{type(error).__name__}: {error}"


async def before() -> None:
    await add("before")
    await memory.flush()
    await search(memory, "before")


async def child(told: dict[str, Any]) -> None:
    told["child adds"] = await attempt(add("child"))
    told["child lists"] = await attempt(facts(memory))
    began = time.monotonic()
    told["child searches"] = await attempt(search(memory, "before"))
    told["child waited"] = time.monotonic() - began


async def parent(told: dict[str, Any]) -> None:
    await add("parent")
    await memory.flush()
    told["parent searches"] = sorted(await search(memory, "parent before child"))


async def orphan(told: dict[str, Any]) -> None:
    told["orphan adds"] = await attempt(add("orphan"))
    told["orphan searches"] = await attempt(search(memory, "orphan before child parent"))
    elsewhere = service(folder.with_name("elsewhere"))
    told["elsewhere adds"] = await attempt(elsewhere.add_session_to_memory(session(["elsewhere"])))
    told["elsewhere searches"] = await attempt(search(elsewhere, "elsewhere"))


asyncio.run(before())
reader, writer = os.pipe()
pid = os.fork()
if pid == 0:
    told: dict[str, Any] = {}
    asyncio.run(child(told))
    os.write(writer, json.dumps(told).encode())
    sys.exit(0)
os.close(writer)
_, status = os.waitpid(pid, 0)
answer = json.loads(os.read(reader, 1 << 16))
answer["child ended"] = os.waitstatus_to_exitcode(status)
asyncio.run(parent(answer))

if len(sys.argv) > 2:  # a second child outlives its parent
    reader, writer = os.pipe()
    early_reader, early_writer = os.pipe()
    if os.fork() == 0:
        os.close(writer)
        asyncio.run(attempt(add("early")))
        os.write(early_writer, b"!")
        os.read(reader, 1)  # returns when the parent has gone
        told = {}
        asyncio.run(orphan(told))
        Path(sys.argv[2]).write_text(json.dumps(told))
        sys.exit(0)
    os.close(reader)
    os.read(early_reader, 1)
print(json.dumps(answer), flush=True)
if len(sys.argv) == 2:
    sys.stdin.readline()  # the test looks at the lock meanwhile
