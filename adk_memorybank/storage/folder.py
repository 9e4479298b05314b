"""One folder of a store: its path, its lock, and who owns it."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from adk_memorybank.errors import FailedPrecondition, StoreInUse

_SECRET_OPTIONS = ("--api-key", "--scope-rule")
"""Of the command line: what follows them names a key, and is written nowhere."""

if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[str]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: IO[str]) -> None:
        # flock belongs to the open file: a forked child inherits it and must only close its copy, never unlock.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Folder:
    """The folder that holds `memory.db`, `chroma/`, `lock` and `owner.json`; after a damage also `chroma.broken-…`.

    The lock guards Chroma and the worker, not the records: those may be opened by any process.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = path / "memory.db"
        self.chroma = path / "chroma"
        self._owner = path / "owner.json"
        self._file: IO[str] | None = None

    def make(self) -> None:
        """Creates the folder.

        Raises:
            FailedPrecondition: it can't be made, or can't be written to.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            (self.path / "lock").touch()
        except OSError as error:
            raise FailedPrecondition(f"the folder {self.path} can't be written: {error.strerror}") from error

    @property
    def owned(self) -> bool:
        return self._file is not None

    def try_own(self) -> bool:
        """Takes the lock if no other process has it. Returns whether this process has it now."""
        if self._file is not None:
            return True
        file = (self.path / "lock").open("a")
        try:
            _lock(file)
        except OSError:
            file.close()
            return False
        self._file = file
        owner = {"pid": os.getpid(), "command": _command(sys.orig_argv)}
        temporary = self._owner.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps(owner))
        temporary.replace(self._owner)
        return True

    def release(self) -> None:
        """Gives the lock back. After a fork the child calls it too: closing its copy leaves the parent's lock."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def owner(self) -> str:
        """The process that owns the folder, or owned it last."""
        try:
            owner = json.loads(self._owner.read_text())
            return f"process {owner['pid']} ({owner['command']})"
        except (OSError, ValueError, KeyError):
            return "another process"

    def in_use_briefly(self) -> str:
        """Who owns the folder and what works beside them, for the log."""
        owner = self.owner().partition(" (")[0]
        return (
            f"{self.path} is owned by {owner}: adding, listing and forgetting work here, searching by meaning doesn't"
        )

    def in_use(self) -> StoreInUse:
        """The error that says who owns the folder and what to do about it."""
        return StoreInUse(
            f"{self.path} is in use by {self.owner()}, and its vectors can be opened by one process only. What is "
            "added here is accepted all the same, and done by that process. To search, end it, use another folder, or "
            f"let one process own it and serve the others: `adk-memorybank serve --data {self.path}`, and "
            "`memorybank+http://127.0.0.1:8085` as the URI everywhere else"
        )


def _command(arguments: Sequence[str]) -> str:
    """The command line of this process, without keys."""
    shown: list[str] = []
    for index, argument in enumerate(arguments):
        name = argument.partition("=")[0]
        if index and arguments[index - 1] in _SECRET_OPTIONS:
            shown.append("…")
        elif name in _SECRET_OPTIONS and name != argument:
            shown.append(f"{name}=…")
        else:
            shown.append(re.sub(r"(api_key=)[^&\s]+", r"\1…", argument))
    return " ".join(shown)
