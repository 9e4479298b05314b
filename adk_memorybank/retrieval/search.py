"""One search: the view of a scope, ranked, and the text of the winners."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from adk_memorybank.clock import to_micros
from adk_memorybank.errors import Unavailable
from adk_memorybank.resources import Memory, RetrievedMemory, Scope
from adk_memorybank.retrieval import ranking, words
from adk_memorybank.retrieval.embedders import Embedder, QueryCache
from adk_memorybank.retrieval.ranking import Order, Ranking
from adk_memorybank.retrieval.reader import ViewReader
from adk_memorybank.retrieval.scope_view import ScopeView
from adk_memorybank.storage import pages, records
from adk_memorybank.storage.collections import CollectionChanged
from adk_memorybank.storage.database import AsyncConnection, Database
from adk_memorybank.storage.records import ScopeRow

_READS = 5
"""How often a search begins again because the memories that it found were changed before they were read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is searched for. `top_k` None finds all, `matches` None everything.

    Attributes:
        words: the query as it is searched by its words, with its relative dates made absolute.
    """

    query: str
    words: str
    top_k: int | None
    by: Order
    now: datetime
    matches: Callable[[Memory], bool] | None = None


class Searcher:
    """Searches the scopes of one store."""

    def __init__(self, database: Database, reader: ViewReader) -> None:
        self._database = database
        self._reader = reader
        self._queries = QueryCache()

    async def search(
        self, search: Search, *, bank_id: str, scope: Scope, embedder: Embedder, collection: str
    ) -> list[RetrievedMemory] | None:
        """The memories of a scope that answer best, the best first. A blank query finds nothing.

        Args:
            embedder: makes the vectors of the collection.
            collection: that serves the bank, as far as the caller knows.

        Returns:
            None where the bank has no such scope.

        Raises:
            CollectionChanged: another one serves by now.
            Unavailable: the scope changed each time while it was read.
        """
        blank = not search.query.strip()
        vector = (
            None
            if search.by == "words" or blank
            else await self._queries.embed(embedder, search.query, collection=collection)
        )
        terms = words.query_terms(search.words)
        for _ in range(_READS):
            # One snapshot for the scope's version and the winners' text: a view of that version ranks what is there.
            async with self._database.read() as connection:
                row = await records.find_scope(connection, bank_id=bank_id, scope=scope)
                if row is None:
                    return None
                if blank:
                    return []
                if vector is not None and row.collection != collection:
                    raise CollectionChanged("the vectors of the bank were made anew while it was searched")
                view = self._reader.current(scope=row)
                if view is not None:
                    allowed = await _allowed(connection, view, search, row)
                    return await _read(connection, view, _rank(view, search, vector, terms, allowed), row)
            if vector is None:
                view = await self._reader.view(scope=row, embedder=None)
            else:
                view = await self._reader.view(scope=row, embedder=embedder, collection=collection)
            if view.version == row.version:
                # Not kept where it is larger than the cache: then it is read beside the snapshot, and checked.
                async with self._database.read() as connection:
                    now = await records.find_scope(connection, bank_id=bank_id, scope=scope)
                    if now is not None and (now.version, now.collection) == (view.version, row.collection):
                        allowed = await _allowed(connection, view, search, now)
                        return await _read(connection, view, _rank(view, search, vector, terms, allowed), now)
        raise Unavailable("the memories of this scope changed each time while they were searched")


async def _read(
    connection: AsyncConnection, view: ScopeView, ranked: Ranking, scope: ScopeRow
) -> list[RetrievedMemory]:
    """The winners with their text."""
    places: list[int] = ranked.indices.tolist()
    ids = [view.ids[place] for place in places]
    present = await records.read_memories(
        connection, bank_id=scope.bank_id, scope_id=scope.id, scope=scope.pairs, ids=ids
    )
    return [
        RetrievedMemory(memory=present[memory_id][0], distance=None if math.isnan(distance) else distance, score=score)
        for memory_id, distance, score in zip(ids, ranked.distances.tolist(), ranked.scores.tolist(), strict=True)
    ]


async def _allowed(
    connection: AsyncConnection, view: ScopeView, search: Search, scope: ScopeRow
) -> NDArray[np.bool_] | None:
    """(n,) which memories of the view match; None where all may be found."""
    if search.matches is None:
        return None
    listed = await pages.page_memories(connection, bank_id=scope.bank_id, scope_id=scope.id, now=search.now)
    allowed = np.zeros(len(view), np.bool_)
    allowed[[view.index[one.id] for one in listed if one.id in view.index and search.matches(one)]] = True
    return allowed


def _rank(
    view: ScopeView,
    search: Search,
    vector: NDArray[float32] | None,
    terms: NDArray[np.uint32],
    allowed: NDArray[np.bool_] | None,
) -> Ranking:
    return ranking.rank(
        view,
        query_vector=vector,
        query_terms=terms,
        top_k=search.top_k,
        now=to_micros(search.now),
        allowed=allowed,
        by=search.by,
    )
