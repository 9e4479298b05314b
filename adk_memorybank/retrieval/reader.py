"""Scope views as the store has them now: from the cache, the records and Chroma."""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import Mapping, Sequence

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from adk_memorybank.background import Background
from adk_memorybank.errors import EmbedderMismatch, MemoryBankError
from adk_memorybank.retrieval import words
from adk_memorybank.retrieval.embedders import Embedder
from adk_memorybank.retrieval.scope_view import NEVER, ScopeView, ViewCache, ViewRow
from adk_memorybank.storage import records
from adk_memorybank.storage.database import Database
from adk_memorybank.storage.records import FactRow, ScopeRow
from adk_memorybank.storage.vectors import Vectors, vector_id

logger = logging.getLogger("google_adk.adk_memorybank.retrieval.reader")

MADE_AT_ONCE = 256
"""Missing vectors that a read waits for. The rest are made behind it, and ranked by their words until then."""


class ViewReader:
    """Reads the views of all scopes of one store.

    Attributes:
        vectors: None while another process owns them: views have words only then.
    """

    def __init__(self, database: Database, *, max_bytes: int) -> None:
        self._database = database
        self._cache = ViewCache(max_bytes=max_bytes)
        self._locks: weakref.WeakValueDictionary[int, asyncio.Lock] = weakref.WeakValueDictionary()
        self._unwritten: dict[str, NDArray[float32]] = {}
        self._background = Background(logger, "vectors could not be made, they are when they are next read")
        self.vectors: Vectors | None = None

    def current(self, *, scope: ScopeRow) -> ScopeView | None:
        """The view of exactly this version of a scope, where it is at hand."""
        view = self._cache.get((scope.bank_id, scope.id))
        return view if view is not None and view.version == scope.version else None

    async def view(self, *, scope: ScopeRow, embedder: Embedder | None) -> ScopeView:
        """The view of a scope's newest version. Only what changed since the last one is read.

        Args:
            embedder: makes the vectors that are missing; where it fails, or is None, these memories have words only,
                and the view is not kept.

        Raises:
            EmbedderMismatch: the vectors that are there have another dimension.
        """
        lock = self._locks.setdefault(scope.id, asyncio.Lock())
        async with lock:
            key = (scope.bank_id, scope.id)
            old = self._cache.get(key)
            if old is not None and old.version >= scope.version:
                return old
            try:
                view, missing = await self._read(scope, old)
                if missing and self.vectors is not None:
                    if embedder is None:
                        return view
                    made = await self._make_or_tell(scope, view, missing[:MADE_AT_ONCE], embedder)
                    if made is None:
                        return view
                    view = made
                    if len(missing) > MADE_AT_ONCE:
                        self._background.start(self._make_behind(scope, view, missing[MADE_AT_ONCE:], embedder))
            except ValueError as error:
                raise EmbedderMismatch(f"{error}: make the bank's vectors anew with `banks.reindex`") from error
            self._cache.put(key, view)
            return view

    async def _make_or_tell(
        self, scope: ScopeRow, view: ScopeView, places: Sequence[int], embedder: Embedder
    ) -> ScopeView | None:
        """The view with its missing vectors; None where they can't be made now, which is logged."""
        try:
            return await self._make(scope, view, places, embedder)
        except ValueError:
            raise
        except Exception as error:  # noqa: BLE001  an embedder may raise anything; what there is is ranked by words
            logger.warning("%d vectors could not be made, they are at the next read: %s", len(places), error)
            return None

    async def keep(self, *, bank_id: str, vectors: Mapping[str, NDArray[float32]]) -> None:
        """Writes new vectors to Chroma. Reads see them from this moment on, also while Chroma is at it.

        A vector that can't be written is made again when it is next read; the fault is logged.
        """
        if self.vectors is None or not vectors:
            return
        self._unwritten.update(vectors)
        try:
            await self.vectors.add(bank_id, vectors)
            async with self._database.read() as connection:
                unnamed = await records.unnamed_vectors(connection, bank_id=bank_id, ids=list(vectors))
            if unnamed:  # forgotten or changed while they were written, and perhaps removed before they were there
                await self.vectors.remove(bank_id, unnamed)
        except MemoryBankError as error:
            logger.warning("%d vectors were not written, they are made again when needed: %s", len(vectors), error)
        finally:
            for key in vectors:
                self._unwritten.pop(key, None)

    async def make_all(self, *, bank_id: str, embedder: Embedder) -> int:
        """Makes the vectors of a whole bank and returns how many."""
        made, last = 0, ""
        while True:
            async with self._database.read() as connection:
                facts = await records.page_facts(connection, bank_id=bank_id, after=last, most=MADE_AT_ONCE)
            if not facts:
                return made
            rows = await embedder.embed([fact.fact for fact in facts])
            named = {vector_id(fact.id, fact.fact_version): rows[row] for row, fact in enumerate(facts)}
            await self.keep(bank_id=bank_id, vectors=named)
            made, last = made + len(facts), facts[-1].id

    def drop(self, *, bank_id: str, scope_id: int | None = None) -> None:
        """Lets go of the views of a bank, or of one scope."""
        if scope_id is None:
            self._cache.drop_bank(bank_id)
        else:
            self._cache.drop((bank_id, scope_id))

    async def close(self) -> None:
        """Ends what is made behind."""
        await self._background.stop()

    async def _read(self, scope: ScopeRow, old: ScopeView | None) -> tuple[ScopeView, list[int]]:
        """A view of what the records say now, and the places whose vector is missing."""
        kept: list[int] = []
        wanted: list[str] = []
        async with self._database.read() as connection:
            now = await records.get_scope(connection, scope_id=scope.id)
            for memory_id, fact_version, expire_time in await records.list_fact_versions(connection, scope_id=scope.id):
                place = None if old is None else old.index.get(memory_id)
                if place is not None and old is not None and _same(old, place, fact_version, expire_time):
                    kept.append(place)
                else:
                    wanted.append(memory_id)
            facts = await records.read_facts(connection, bank_id=scope.bank_id, ids=wanted)
        found = await self._find([vector_id(fact.id, fact.fact_version) for fact in facts], bank_id=scope.bank_id)
        rows = [_row(fact, found.get(vector_id(fact.id, fact.fact_version))) for fact in facts]
        if old is None:
            view = ScopeView.build(now.version, rows)
        else:
            view = old.updated(now.version, np.array(kept, dtype=np.int64), rows)
        missing: list[int] = np.flatnonzero(~view.has_vector).tolist()
        return view, missing

    async def _find(self, ids: Sequence[str], *, bank_id: str) -> dict[str, NDArray[float32]]:
        found = {key: self._unwritten[key] for key in ids if key in self._unwritten}
        rest = [key for key in ids if key not in found]
        if rest and self.vectors is not None:
            found |= await self.vectors.get(bank_id, rest)
        return found

    async def _make(self, scope: ScopeRow, view: ScopeView, places: Sequence[int], embedder: Embedder) -> ScopeView:
        """Makes missing vectors, and writes them behind the read."""
        async with self._database.read() as connection:
            ids = [view.ids[place] for place in places]
            facts = await records.read_facts(connection, bank_id=scope.bank_id, ids=ids)
        current = [fact for fact in facts if view.fact_versions[view.index[fact.id]] == fact.fact_version]
        if not current:
            return view
        made = await embedder.embed([fact.fact for fact in current])
        named = {vector_id(fact.id, fact.fact_version): made[row] for row, fact in enumerate(current)}
        self._background.start(self.keep(bank_id=scope.bank_id, vectors=named))
        return view.with_vectors({view.index[fact.id]: made[row] for row, fact in enumerate(current)})

    async def _make_behind(self, scope: ScopeRow, view: ScopeView, places: Sequence[int], embedder: Embedder) -> None:
        for start in range(0, len(places), MADE_AT_ONCE):
            made = await self._make(scope, view, places[start : start + MADE_AT_ONCE], embedder)
            if self._cache.get((scope.bank_id, scope.id)) is view:
                self._cache.put((scope.bank_id, scope.id), made)
            view = made


def _same(view: ScopeView, place: int, fact_version: int, expire_time: int | None) -> bool:
    expires = NEVER if expire_time is None else expire_time
    return bool(view.fact_versions[place] == fact_version and view.expire_times[place] == expires)


def _row(fact: FactRow, vector: NDArray[float32] | None) -> ViewRow:
    return ViewRow(
        id=fact.id,
        fact_version=fact.fact_version,
        terms=words.terms(fact.fact),
        context=None if fact.context is None else np.frombuffer(fact.context, np.uint32),
        create_time=fact.create_time,
        event_time=fact.event_time,
        expire_time=fact.expire_time,
        vector=vector,
    )
