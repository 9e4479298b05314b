"""Chroma: vector id to vector, and nothing else. No text goes there, so that forgetting is complete.

A vector's id is `{memory_id}.{fact_version}`, so a stale vector can't be read, and a write is always an add. Which
collection holds the vectors of a bank the records say (see `collections`); names of collections are never used again.

Vectors are derived. A folder that Chroma can't read is moved aside to `chroma.broken-<time>`, the newest one stays
there, and the vectors are made again as they are read. Such a folder holds vectors and ids, no text; but those of what
is forgotten later stay in it until it is deleted by hand or the next one takes its place.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import re
import shutil
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from adk_memorybank.errors import Unavailable
from adk_memorybank.threads import DaemonExecutor

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

logger = logging.getLogger("google_adk.adk_memorybank.storage.vectors")

T = TypeVar("T")

READ_PAGE = 5_000
WRITE_PAGE = 8
"""Chroma holds the interpreter's lock while it writes: eight rows at a time let the caller's loop breathe."""


def vector_id(memory_id: str, fact_version: int) -> str:
    """The id under which the vector of one version of a fact is kept."""
    return f"{memory_id}.{fact_version}"


class Vectors:
    """The vectors of one store, in collections by their names. One that is missing is made, save where it was dropped.

    Every call runs on one thread of its own, so the loop is never blocked and the client is never used twice at once.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._executor = DaemonExecutor("adk-memorybank-chroma")
        self._client: ClientAPI | None = None
        self._collections: dict[str, Any] = {}
        self._dropped: set[str] = set()
        self._cleaned: dict[Path, int] = {}
        self._inode = 0

    async def get(self, collection: str, ids: Sequence[str]) -> dict[str, NDArray[float32]]:
        """The vectors that are there, by id. Missing ones are left out.

        Raises:
            Unavailable: Chroma can't be read, even after it was opened anew.
        """
        found: dict[str, NDArray[float32]] = {}
        for start in range(0, len(ids), READ_PAGE):
            page = list(ids[start : start + READ_PAGE])
            answer = await self._call(collection, lambda c, page=page: c.get(ids=page, include=["embeddings"]))
            if answer is None:
                return {}
            for key, vector in zip(answer["ids"], answer["embeddings"], strict=True):
                found[key] = np.asarray(vector, dtype=np.float32)
        return found

    async def present(self, collection: str, ids: Sequence[str]) -> set[str]:
        """Those of some ids whose vectors are there."""
        found: set[str] = set()
        for start in range(0, len(ids), READ_PAGE):
            page = list(ids[start : start + READ_PAGE])
            answer = await self._call(collection, lambda c, page=page: c.get(ids=page, include=[]))
            found.update(() if answer is None else answer["ids"])
        return found

    async def add(self, collection: str, vectors: Mapping[str, NDArray[float32]]) -> None:
        """Writes vectors under ids that are new; an id that is there already is left as it is."""
        ids = list(vectors)
        for start in range(0, len(ids), WRITE_PAGE):
            page = ids[start : start + WRITE_PAGE]
            rows = [vectors[key] for key in page]
            await self._call(collection, lambda c, page=page, rows=rows: c.add(ids=page, embeddings=rows))

    async def remove(self, collection: str, ids: Sequence[str]) -> None:
        """Removes vectors; ids that are not there are passed over."""
        for start in range(0, len(ids), READ_PAGE):
            page = list(ids[start : start + READ_PAGE])
            await self._call(collection, lambda c, page=page: c.delete(ids=page))

    async def names(self) -> set[str]:
        """The names of all collections that are there."""
        return await self._run(lambda: _names(self._open()))

    async def drop(self, collection: str) -> None:
        """Removes a collection for good: what is still written to it from here goes nowhere."""

        def drop() -> None:
            client = self._open()
            self._dropped.add(collection)
            self._collections.pop(collection, None)
            if collection in _names(client):
                client.delete_collection(collection)
            self._remove_files()

        await self._run(drop)

    async def close(self) -> None:
        """Closes Chroma once the call in flight has ended."""
        if self._client is not None:
            await asyncio.get_running_loop().run_in_executor(self._executor, self._forget_client)
        self._executor.shutdown(wait=False)

    def idle(self, timeout: float) -> bool:
        """Waits until no call is inside Chroma: a thread in native code must not be there when Python ends."""
        return self._executor.idle(timeout)

    async def _call(self, collection: str, use: Callable[[Any], T]) -> T | None:
        """What a use of a collection gives; None where the collection was dropped."""

        def call() -> T | None:
            if collection in self._dropped:
                return None
            try:
                return use(self._collection(collection))
            finally:  # also what a call wrote that failed
                self._clean_files()

        return await self._run(call)

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._twice, work)

    def _twice(self, work: Callable[[], T]) -> T:
        """Runs the work, and once more on a fresh client where Chroma failed: its folder may have been deleted.

        Where that fails too, since the files are damaged, it is run on a new folder.
        """
        try:
            return work()
        except Exception as error:  # noqa: BLE001  Chroma raises many kinds, some from its native part
            logger.warning("Chroma failed (%s: %s); it is opened anew", type(error).__name__, error)
            first = error
        try:
            self._forget_client()
            try:
                return work()
            except Exception as error:
                if not _is_damage(error):
                    raise
                self._set_aside(error)
            return work()
        except Exception as error:  # noqa: BLE001  it is raised again
            raise Unavailable(f"Chroma in {self._path} can't be used: {type(error).__name__}: {error}") from first

    def _set_aside(self, error: Exception) -> None:
        """Moves a damaged folder out of the way, and deletes the one before it."""
        self._forget_client()
        broken = f"{self._path.name}.broken-"
        for older in self._path.parent.glob(f"{broken}*"):
            shutil.rmtree(older)
        aside = self._path.with_name(f"{broken}{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
        self._path.rename(aside)
        logger.warning(
            "%s is damaged (%s); it was moved to %s, and the vectors are made again as they are read",
            self._path,
            error,
            aside,
        )

    def _clean_files(self) -> None:
        """Overwrites what Chroma has made of memory that it never filled.

        A new index writes room for a hundred rows, and for their lengths, as `malloc` gave it: with whatever the
        process had there before, such as facts, names, keys. Any call may make an index anew. No row is in the files
        before the index is saved for the first time, with its metadata; from then on they have no room to spare.
        """
        for name in ("data_level0.bin", "length.bin"):
            for path in self._path.glob(f"*/{name}"):
                written = path.stat()
                if written.st_mtime_ns == self._cleaned.get(path) or path.with_name("index_metadata.pickle").exists():
                    continue
                with path.open("r+b") as file:
                    file.write(bytes(written.st_size))
                self._cleaned[path] = path.stat().st_mtime_ns

    def _remove_files(self) -> None:
        """Removes the folders of collections that are gone: Chroma itself leaves them where they are."""
        records = f"file:{quote(os.path.realpath(self._path / 'chroma.sqlite3'))}?mode=ro"
        with closing(sqlite3.connect(records, uri=True, timeout=5)) as connection:
            kept = {identified for (identified,) in connection.execute("SELECT id FROM segments")}
        for folder in self._path.iterdir():
            if _SEGMENT.fullmatch(folder.name) and folder.name not in kept:
                shutil.rmtree(folder)

    def _collection(self, name: str) -> Any:
        client = self._open()
        if name not in self._collections:
            self._collections[name] = client.get_or_create_collection(
                name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
            )
        return self._collections[name]

    def _open(self) -> ClientAPI:
        if self._client is not None and self._inode == self._inode_now():
            return self._client
        import chromadb
        from chromadb.config import Settings

        self._forget_client()
        self._path.mkdir(parents=True, exist_ok=True)
        settings = Settings(anonymized_telemetry=False)
        global _used  # noqa: PLW0603
        _used = True
        path = os.path.realpath(self._path)
        try:
            self._client = chromadb.PersistentClient(path=path, settings=settings)
        except Exception:
            _forget_unstarted(path)
            raise
        self._inode = self._inode_now()
        self._clean_files()  # a process may have died before it did
        return self._client

    def _inode_now(self) -> int:
        """Tells Chroma's file from another of the same name: a deleted one could still be written to, unseen."""
        try:
            return (self._path / "chroma.sqlite3").stat().st_ino
        except FileNotFoundError:
            return 0

    def _forget_client(self) -> None:
        client, self._client, self._collections = self._client, None, {}
        self._cleaned.clear()
        if client is not None:
            client.close()  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue]: not in ClientAPI


_PASSING_SQLITE = {3, 5, 6, 7, 8, 9, 10, 13, 14, 15}
"""Primary codes: permission, busy, locked, memory, read-only, interrupted, input or output, full, opening, protocol."""
_SQLITE_CODE = re.compile(r"\(code: (\d+)\)")
_SEGMENT = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SYSTEM_CODE = re.compile(r"\(os error (\d+)\)")


def _is_damage(error: Exception) -> bool:
    """Whether Chroma failed for what is in its files, rather than for a full disk, a permission, memory or a caller."""
    from chromadb.errors import InternalError

    if not isinstance(error, InternalError):
        return False
    said = str(error)
    if code := _SQLITE_CODE.search(said):
        return int(code[1]) & 0xFF not in _PASSING_SQLITE
    code = _SYSTEM_CODE.search(said)
    return code is None or int(code[1]) == errno.ENOENT


def _forget_unstarted(path: str) -> None:
    """Chroma keeps a system that failed to start, and would hand it to the next client of this path."""
    shared = sys.modules["chromadb.api.shared_system_client"].SharedSystemClient
    if path not in shared._identifier_to_refcount:
        shared._identifier_to_system.pop(path, None)


_used = False
_lost_at_fork = False


def lost_at_fork() -> bool:
    """Whether Chroma was in use when this process was forked: its threads stayed behind, and every call would hang."""
    return _lost_at_fork


def _after_fork() -> None:
    global _lost_at_fork  # noqa: PLW0603
    shared = sys.modules.get("chromadb.api.shared_system_client")
    if _used or (shared is not None and shared.SharedSystemClient._identifier_to_system):
        _lost_at_fork = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


_NAMES_PAGE = 1_000


def _names(client: ClientAPI) -> set[str]:
    names: set[str] = set()
    while True:
        page = client.list_collections(limit=_NAMES_PAGE, offset=len(names))
        names.update(one.name for one in page)
        if len(page) < _NAMES_PAGE:
            return names
