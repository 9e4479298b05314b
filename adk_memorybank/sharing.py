"""One engine for each folder in this process: shared by all who open it, ended with the process, left at a fork."""

from __future__ import annotations

import atexit
import os
import threading
from pathlib import Path

from adk_memorybank.clock import Clock, SystemClock
from adk_memorybank.engine import Engine
from adk_memorybank.errors import FailedPrecondition

_engines: dict[Path, Engine] = {}
_lock = threading.Lock()
_leaving: list[Engine] = []
"""Engines that are being closed."""
_open_at_fork: set[Path] = set()
"""Folders whose database a parent process had open when it was forked."""
_left_behind: list[Engine] = []
"""Engines of a parent process. Kept from the garbage collector: its database connections are not ours to close."""


def share(path: Path, *, clock: Clock | None = None) -> Engine:
    """The engine of a folder in this process; every call of this is to be met by one of `leave`.

    Raises:
        FailedPrecondition: the folder was open when this process was forked.
    """
    if path in _open_at_fork:
        # SQLite would take its locks, that only the parent holds, for held here too: what is written could be lost.
        raise FailedPrecondition(
            f"{path} was open when this process was forked, and SQLite can't be used across a fork: open it after "
            "the fork only, or start processes by `spawn`"
        )
    with _lock:
        engine = _engines.get(path)
        if engine is None or not engine.alive:
            if engine is not None:
                engine.abandon()
            before = next((one for one in _leaving if one.folder.path == path and one.alive), None)
            engine = _engines[path] = Engine(path, clock or SystemClock(), before=before)
        engine.users += 1
        return engine


async def leave(engine: Engine, *, patience: float) -> None:
    """Gives an engine back; the last one to do so closes it."""
    with _lock:
        engine.users -= 1
        if engine.users > 0:
            return
        if _engines.get(engine.folder.path) is engine:
            del _engines[engine.folder.path]
        _leaving[:] = [*(one for one in _leaving if one.alive), engine]
    await engine.close(patience=patience)


def _end_all() -> None:
    for engine in [*_engines.values(), *_leaving]:
        engine.end()


def _after_fork() -> None:
    global _lock  # noqa: PLW0603  the parent may have held it at the fork
    _lock = threading.Lock()
    for engine in [*_engines.values(), *_leaving]:
        engine.folder.release()
        _open_at_fork.add(engine.folder.path)
        _left_behind.append(engine)
    _engines.clear()
    _leaving.clear()


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
