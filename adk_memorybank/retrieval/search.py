"""One search: the view of a scope, ranked, and the text of the winners."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from adk_memorybank.clock import to_micros
from adk_memorybank.errors import Unavailable
from adk_memorybank.resources import RetrievedMemory
from adk_memorybank.retrieval import ranking, words
from adk_memorybank.retrieval.embedders import Embedder, QueryCache
from adk_memorybank.retrieval.ranking import Order, Ranking
from adk_memorybank.retrieval.reader import ViewReader
from adk_memorybank.retrieval.scope_view import ScopeView
from adk_memorybank.storage import records
from adk_memorybank.storage.database import Database
from adk_memorybank.storage.records import ScopeRow

_READS = 5
"""How often a search begins again because the memories that it found were changed before they were read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is searched for. `top_k` None finds all."""

    query: str
    top_k: int | None
    by: Order
    now: datetime


class Searcher:
    """Searches the scopes of one store."""

    def __init__(self, database: Database, reader: ViewReader) -> None:
        self._database = database
        self._reader = reader
        self._queries = QueryCache()

    async def search(self, search: Search, *, scope: ScopeRow, embedder: Embedder) -> list[RetrievedMemory]:
        """The memories of a scope that answer best, the best first. A blank query finds nothing.

        Raises:
            Unavailable: the scope changed each time while it was read.
        """
        if not search.query.strip():
            return []
        vector = None if search.by == "words" else await self._queries.embed(embedder, search.query)
        terms = words.terms(search.query)
        for _ in range(_READS):
            view = await self._reader.view(scope=scope, embedder=embedder)
            ranked = _rank(view, search, vector, terms)
            found = await self._read(view, ranked, scope)
            if found is not None:
                return found
            async with self._database.read() as connection:
                scope = await records.get_scope(connection, scope_id=scope.id)
            self._reader.drop(bank_id=scope.bank_id, scope_id=scope.id)
        raise Unavailable("the memories of this scope changed each time while they were searched")

    async def _read(self, view: ScopeView, ranked: Ranking, scope: ScopeRow) -> list[RetrievedMemory] | None:
        """The winners with their text; None where one of them is not what the view ranked any more."""
        places: list[int] = ranked.indices.tolist()
        ids = [view.ids[place] for place in places]
        async with self._database.read() as connection:
            present = await records.read_memories(connection, bank_id=scope.bank_id, scope=scope.pairs, ids=ids)
        found: list[RetrievedMemory] = []
        for rank, (place, memory_id) in enumerate(zip(places, ids, strict=True)):
            memory, fact_version = present.get(memory_id, (None, None))
            if memory is None or fact_version != view.fact_versions[place]:
                return None
            distance = float(ranked.distances[rank])
            found.append(
                RetrievedMemory(
                    memory=memory,
                    distance=None if math.isnan(distance) else distance,
                    score=float(ranked.scores[rank]),
                )
            )
        return found


def _rank(view: ScopeView, search: Search, vector: NDArray[float32] | None, terms: NDArray[np.uint32]) -> Ranking:
    return ranking.rank(
        view,
        query_vector=vector,
        query_terms=terms,
        top_k=search.top_k,
        now=to_micros(search.now),
        by=search.by,
    )
