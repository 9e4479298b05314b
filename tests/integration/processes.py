"""Other processes: children that do what a test tells them, and scripts that run to their end."""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SCRIPTS = Path(__file__).parent / "scripts"
_ROOT = Path(__file__).resolve().parents[2]


class Failed(Exception):
    """What a child was told ended in an error.

    Attributes:
        kind: the name of its class.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind


class Child:
    """A process with a service of its own."""

    def __init__(self, pid: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.pid = pid
        self._reader = reader
        self._writer = writer

    async def tell(self, action: str, **arguments: Any) -> None:
        """Gives a command and doesn't wait for its answer."""
        self._writer.write(json.dumps({"do": action, **arguments}).encode() + b"\n")
        await self._writer.drain()

    async def answer(self) -> Any:
        """The answer to the oldest command.

        Raises:
            Failed: it ended in an error.
            EOFError: the process is gone.
        """
        line = await asyncio.wait_for(self._reader.readline(), 60)
        if not line:
            raise EOFError("the process is gone")
        answer = json.loads(line)
        if "error" in answer:
            raise Failed(answer["error"], answer["message"])
        return answer["result"]

    async def do(self, action: str, **arguments: Any) -> Any:
        await self.tell(action, **arguments)
        return await self.answer()

    async def kill(self) -> None:
        """`kill -9`, and waits until it is gone."""
        if not self._reader.at_eof():
            os.kill(self.pid, signal.SIGKILL)
        await self.gone()

    async def leave(self) -> None:
        """Lets it end by itself, without closing its service."""
        self._writer.close()
        await self.gone()

    async def gone(self) -> None:
        while await asyncio.wait_for(self._reader.read(1 << 16), 30):
            pass
        deadline = time.monotonic() + 30
        while _exists(self.pid):
            assert time.monotonic() < deadline, f"process {self.pid} does not end"
            await asyncio.sleep(0.005)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


class _Nursery:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(_SCRIPTS / "nursery.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
            cwd=tempfile.gettempdir(),
        )
        atexit.register(self._process.kill)
        assert self._read() == "ready"

    def fork(self, address: str) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{address}\n")
        self._process.stdin.flush()
        return int(self._read())

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


_nursery: _Nursery | None = None


@asynccontextmanager
async def child() -> AsyncGenerator[Child]:
    """A fresh process; it is killed at the end if it is still there."""
    global _nursery  # noqa: PLW0603
    if _nursery is None:
        _nursery = await asyncio.to_thread(_Nursery)
    with tempfile.TemporaryDirectory() as folder:
        address = f"{folder}/socket"
        connected: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
        connected = asyncio.get_running_loop().create_future()
        server = await asyncio.start_unix_server(
            lambda reader, writer: connected.set_result((reader, writer)), address, limit=1 << 24
        )
        pid = await asyncio.to_thread(_nursery.fork, address)
        made = Child(pid, *await asyncio.wait_for(connected, 30))
        try:
            yield made
        finally:
            await made.kill()
            made._writer.close()
            server.close()


@asynccontextmanager
async def child_of(folder: Path, **options: Any) -> AsyncGenerator[Child]:
    """A fresh process that has opened a store."""
    async with child() as made:
        await made.do("open", folder=str(folder), **options)
        yield made


@dataclass(frozen=True)
class Ended:
    """A script that has ended.

    Attributes:
        seconds: from what the script said were its last words (`stamp`) to its end.
    """

    code: int
    out: str
    err: str
    seconds: float


async def script(name: str, *arguments: str, folder: Path) -> asyncio.subprocess.Process:
    """Starts a script in `scripts/`."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        str(_SCRIPTS / name),
        str(folder),
        *arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
    )


async def run_script(name: str, *arguments: str, folder: Path, timeout: float = 60) -> Ended:
    """Runs a script to its end; it writes the moment of its last statement to the file `FOLDER.stamp`."""
    process = await script(name, *arguments, folder=folder)
    try:
        out, err = await asyncio.wait_for(process.communicate(), timeout)
    except TimeoutError:
        process.kill()
        raise
    ended = time.time()
    said = float(folder.with_suffix(".stamp").read_text()) if process.returncode == 0 else ended
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode(), ended - said)
