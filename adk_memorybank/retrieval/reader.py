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
from adk_memorybank.retrieval.scope_view import NEVER, ScopeView, ViewCache, ViewKey, ViewRow
from adk_memorybank.storage import collections, records
from adk_memorybank.storage.collections import CollectionChanged
from adk_memorybank.storage.database import Database
from adk_memorybank.storage.records import FactRow, ScopeRow
from adk_memorybank.storage.vectors import Vectors, vector_id

logger = logging.getLogger("google_adk.adk_memorybank.retrieval.reader")

MADE_AT_ONCE = 256
"""Missing vectors that a read waits for. The rest are made behind it, and ranked by their words until then."""

_CHANGED = "the vectors of the bank were made anew while it was read"


class ViewReader:
    """Reads the views of all scopes of one store.

    Attributes:
        vectors: None while another process owns them: views have words only then.
    """

    def __init__(self, database: Database, *, max_bytes: int) -> None:
        self._database = database
        self._cache = ViewCache(max_bytes=max_bytes)
        self._locks: weakref.WeakValueDictionary[int, asyncio.Lock] = weakref.WeakValueDictionary()
        self._unwritten: dict[tuple[str, str], NDArray[float32]] = {}
        self._background = Background(logger, "vectors could not be made, they are when they are next read")
        self.vectors: Vectors | None = None

    def current(self, *, scope: ScopeRow) -> ScopeView | None:
        """The view of exactly this version of a scope, where it is at hand."""
        view = self._cache.get(_key(scope))
        return view if view is not None and view.version == scope.version else None

    async def view(self, *, scope: ScopeRow, embedder: Embedder | None, collection: str | None = None) -> ScopeView:
        """The view of a scope's newest version. Only what changed since the last one is read.

        Args:
            embedder: makes the vectors that are missing; where it fails, or is None, these memories have words only,
                and the view is not kept.
            collection: that the embedder makes vectors for; None for whichever serves.

        Raises:
            CollectionChanged: another one serves by now.
            EmbedderMismatch: the vectors that are there have another dimension.
        """
        lock = self._locks.setdefault(scope.id, asyncio.Lock())
        async with lock:
            if collection not in (None, scope.collection):
                raise CollectionChanged(_CHANGED)
            key = _key(scope)
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

    async def keep(self, *, bank_id: str, collection: str, vectors: Mapping[str, NDArray[float32]]) -> None:
        """Writes new vectors to Chroma. Reads see them from this moment on, also while Chroma is at it.

        Not where another collection serves the bank by now: they may have been made by another embedder. A vector
        that can't be written is made again when it is next read; the fault is logged.
        """
        if self.vectors is None or not vectors:
            return
        self._unwritten.update({(collection, key): vector for key, vector in vectors.items()})
        try:
            async with self._database.read() as connection:
                if await collections.serving(connection, bank_id=bank_id) != collection:
                    return
            await write_named(self._database, self.vectors, bank_id=bank_id, collection=collection, vectors=vectors)
        except MemoryBankError as error:
            logger.warning("%d vectors were not written, they are made again when needed: %s", len(vectors), error)
        finally:
            for key in vectors:
                self._unwritten.pop((collection, key), None)

    def drop(self, *, bank_id: str) -> None:
        """Lets go of the views of a bank."""
        self._cache.drop_bank(bank_id)

    def drop_scope(self, scope: ScopeRow) -> None:
        """Lets go of the view of one scope."""
        self._cache.drop(_key(scope))

    async def close(self) -> None:
        """Ends what is made behind."""
        await self._background.stop()

    async def _read(self, scope: ScopeRow, old: ScopeView | None) -> tuple[ScopeView, list[int]]:
        """A view of what the records say now, and the places whose vector is missing."""
        kept: list[int] = []
        wanted: list[str] = []
        async with self._database.read() as connection:
            now = await records.get_scope(connection, scope_id=scope.id)
            if now.collection != scope.collection:
                raise CollectionChanged(_CHANGED)
            for memory_id, fact_version, expire_time in await records.list_fact_versions(connection, scope_id=scope.id):
                place = None if old is None else old.index.get(memory_id)
                if place is not None and old is not None and _same(old, place, fact_version, expire_time):
                    kept.append(place)
                else:
                    wanted.append(memory_id)
            facts = await records.read_facts(connection, bank_id=scope.bank_id, ids=wanted)
        ids = [vector_id(fact.id, fact.fact_version) for fact in facts]
        found = await self._find(ids, collection=scope.collection)
        rows = [_row(fact, found.get(vector_id(fact.id, fact.fact_version))) for fact in facts]
        if old is None:
            view = ScopeView.build(now.version, rows)
        else:
            view = old.updated(now.version, np.array(kept, dtype=np.int64), rows)
        missing: list[int] = np.flatnonzero(~view.has_vector).tolist()
        return view, missing

    async def _find(self, ids: Sequence[str], *, collection: str) -> dict[str, NDArray[float32]]:
        unwritten = ((key, self._unwritten.get((collection, key))) for key in ids)
        found = {key: vector for key, vector in unwritten if vector is not None}
        rest = [key for key in ids if key not in found]
        if rest and self.vectors is not None:
            found |= await self.vectors.get(collection, rest)
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
        self._background.start(self.keep(bank_id=scope.bank_id, collection=scope.collection, vectors=named))
        return view.with_vectors({view.index[fact.id]: made[row] for row, fact in enumerate(current)})

    async def _make_behind(self, scope: ScopeRow, view: ScopeView, places: Sequence[int], embedder: Embedder) -> None:
        for start in range(0, len(places), MADE_AT_ONCE):
            made = await self._make(scope, view, places[start : start + MADE_AT_ONCE], embedder)
            if self._cache.get(_key(scope)) is view:
                self._cache.put(_key(scope), made)
            view = made


async def write_named(
    database: Database,
    store: Vectors,
    *,
    bank_id: str,
    collection: str,
    vectors: Mapping[str, NDArray[float32]],
) -> None:
    """Writes vectors to a collection, and takes out again what is not named any more by then."""
    await store.add(collection, vectors)
    async with database.read() as connection:
        unnamed = await records.unnamed_vectors(connection, bank_id=bank_id, ids=list(vectors))
    if unnamed:  # forgotten or changed while they were written, and perhaps removed before they were there
        await store.remove(collection, unnamed)


def _key(scope: ScopeRow) -> ViewKey:
    """A view belongs to the collection that its vectors are from."""
    return (scope.bank_id, (scope.id, scope.collection))


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
