"""Which of a scope's memories answer a query: by meaning, by words, or by both.

Every allowed memory is compared, exactly; there is no index that could miss one and no floor that could hide one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from adk_memorybank.errors import EmbedderMismatch
from adk_memorybank.retrieval.scope_view import NO_TIME, ScopeView

Order = Literal["fused", "distance", "words"]

K1 = 1.2
"""BM25: how soon repeats of a word stop counting."""
B = 0.75
"""BM25: how much a long text is discounted."""

MEANING, WORDS, CONTEXT = 1.2, 0.5, 2.0
"""Weights of the three z-scores. Measured on conversations (`tests/benchmarks/locomo.py`, the half that is developed
on), where they lie on a plateau: evidence recall stays within .01 for a meaning of .6 to 1.8, and words of 0 to .7."""

_Floats = NDArray[np.float64]
_Bag = tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int32]]
"""Words of all memories, where those of each begin, and whose each is."""
_Places = NDArray[np.int64]
_BLOCK = 4096  # rows copied at once: 8 MB of 512 dimensions, however large the scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The memories found, best first. All arrays are (k,).

    Attributes:
        indices: places in the view.
        distances: Euclidean, between unit vectors (0 the same, 2 opposite); NaN where the memory or the query has no
            vector.
        scores: what they are ordered by, larger is better: the sum of the z-scores, the cosine, or BM25.
        word_scores: BM25; 0 where no word is in common.
    """

    indices: _Places
    distances: _Floats
    scores: _Floats
    word_scores: _Floats

    def __len__(self) -> int:
        return len(self.indices)


def rank(
    view: ScopeView,
    *,
    query_vector: NDArray[np.float32] | None,
    query_terms: NDArray[np.uint32] | None,
    top_k: int | None,
    now: int,
    allowed: NDArray[np.bool_] | None = None,
    by: Order = "fused",
) -> Ranking:
    """Ranks the memories of a scope.

    - `fused`: the weighted sum of the z-scores of the cosine, of BM25 over the fact, and of BM25 over the turns that it
      was drawn from, all over the memories that may be found. A memory without a vector, and a query without one, is
      ranked by its words alone; a query without words by meaning alone.
    - `distance`: by the vectors alone. Memories without one come last, by their words.
    - `words`: by BM25 alone, and only memories that share a word with the query.

    Equals are ordered by their event time (where there is none, by their create time), the newer first.

    Args:
        view: the scope.
        query_vector: (d,) unit length; None or zero where there is none.
        query_terms: `words.terms` of the query; None where words don't count.
        top_k: how many at most; None for all.
        now: microseconds since the epoch. What expired by then is not found.
        allowed: (n,) which memories may be found; None for all.
        by: what to order by.

    Raises:
        EmbedderMismatch: the query's vector has another dimension than the memories'.
    """
    found = view.expire_times > now
    if allowed is not None:
        found &= allowed
    places = np.flatnonzero(found).astype(np.int64, copy=False)
    words = _bm25((view.terms, view.offsets, view.owners), query_terms, found, places)
    if query_vector is not None and not query_vector.any():
        query_vector = None
    if by == "words":
        matching = words > 0
        places, words = places[matching], words[matching]
        scores, keys = words, (words,)
    elif by == "distance":
        cosines = _cosines(view, query_vector, places)
        scores = np.where(np.isnan(cosines), -1.0, cosines)
        keys = (np.where(np.isnan(cosines), -2.0, cosines), words)
    else:
        around = _bm25((view.context, view.context_offsets, view.context_owners), query_terms, found, places)
        scores = (
            MEANING * _z_scores(_cosines(view, query_vector, places), noise=1e-6)
            + WORDS * _z_scores(words, noise=1e-9)
            + CONTEXT * _z_scores(around, noise=1e-9)
        )
        keys = (scores,)
    best = _best(view, places, keys, top_k)
    places = places[best]
    distances = _distances(view, query_vector, places)
    scores = scores[best]
    if by == "distance":
        # The cosines are of float32, too coarse for near duplicates: what is returned is ordered as it reads.
        order = np.argsort(distances, kind="stable")  # NaN comes last
        places, distances, best = places[order], distances[order], best[order]
        scores = np.where(np.isnan(distances), -1.0, 1 - distances**2 / 2)
    return Ranking(indices=places, distances=distances, scores=scores, word_scores=words[best])


def _bm25(bag: _Bag, query_terms: NDArray[np.uint32] | None, found: NDArray[np.bool_], places: _Places) -> _Floats:
    """(len(places),) by the document frequencies and lengths of the memories found."""
    terms, offsets, owners = bag
    query = np.unique(query_terms) if query_terms is not None else np.empty(0, np.uint32)
    if not len(query) or not len(places):
        return np.zeros(len(places))
    # One scan of the scope's words per word of the query costs less than an index that each write would renew.
    hits = [np.flatnonzero(terms == term) for term in query]
    word = np.repeat(np.arange(len(query), dtype=np.int32), [len(hit) for hit in hits])
    memory = owners[np.concatenate(hits)]
    if len(places) < len(found):
        inside = found[memory]
        word, memory = word[inside], memory[inside]
    if not len(memory):
        return np.zeros(len(places))
    # Both are in ascending order, so that the repeats of a word in a memory stand side by side.
    starts = np.empty(len(memory), np.bool_)
    starts[0] = True
    np.not_equal(memory[1:], memory[:-1], out=starts[1:])
    starts[1:] |= word[1:] != word[:-1]
    first = np.flatnonzero(starts)
    repeats = np.diff(first, append=len(memory))
    word, memory = word[first], memory[first]
    lengths = np.diff(offsets)
    discount = K1 * (1 - B) + lengths * (K1 * B / float(lengths[places].mean()))
    in_memories = np.bincount(word, minlength=len(query))
    rarity = np.log1p((len(places) - in_memories + 0.5) / (in_memories + 0.5)) * (K1 + 1)
    weights = rarity[word] * repeats / (repeats + discount[memory])
    scores: _Floats = np.bincount(memory, weights=weights, minlength=len(found)).astype(np.float64, copy=False)
    return scores[places]


def _cosines(view: ScopeView, query: NDArray[np.float32] | None, places: _Places) -> _Floats:
    """(len(places),) NaN where there is no vector."""
    dimension = view.vectors.shape[1]
    if query is None or not dimension:
        return np.full(len(places), np.nan)
    if len(query) != dimension:
        raise EmbedderMismatch(
            f"the query has a vector of {len(query)} dimensions, the memories have {dimension}; reindex the bank"
        )
    query = np.ascontiguousarray(query, np.float32)
    # Row by row (vecdot), not as one product: that one BLAS spreads over threads, which wait for each other by whole
    # time slices when another process is busy (8 ms at the 90th percentile for 1,000 rows, against 0.04 ms). And a
    # row's cosine doesn't depend on its neighbours, so that equals stay equal.
    if len(places) * 4 > len(view):  # most of them: copying the rows would cost more than comparing them all
        cosines = np.vecdot(view.vectors, query)[places].astype(np.float64)
    else:
        cosines = np.empty(len(places))
        for start in range(0, len(places), _BLOCK):
            block = slice(start, start + _BLOCK)
            cosines[block] = np.vecdot(view.vectors[places[block]], query)
    cosines[~view.has_vector[places]] = np.nan
    return cosines


def _distances(view: ScopeView, query: NDArray[np.float32] | None, places: _Places) -> _Floats:
    """(len(places),) from the differences themselves: from a cosine of float32, equals would be 0.0005 apart."""
    distances = np.full(len(places), np.nan)
    if query is None or not view.vectors.shape[1]:
        return distances
    for start in range(0, len(places), _BLOCK):
        block = slice(start, start + _BLOCK)
        difference = view.vectors[places[block]] - query
        distances[block] = np.sqrt(np.einsum("ij,ij->i", difference, difference, dtype=np.float64))
    distances[~view.has_vector[places]] = np.nan
    return distances


def _z_scores(values: _Floats, *, noise: float) -> _Floats:
    """Zero for NaN, which counts neither for nor against, and for all where they differ by no more than noise."""
    known = ~np.isnan(values)
    sample = values if known.all() else values[known]
    if not len(sample):
        return np.zeros(len(values))
    mean = float(sample.sum()) / len(sample)
    centred = values - mean
    spread = centred if sample is values else sample - mean
    deviation = math.sqrt(float(spread @ spread) / len(sample))
    if deviation <= noise:
        return np.zeros(len(values))
    return np.where(known, centred / deviation, 0.0)


def _best(view: ScopeView, places: _Places, keys: tuple[_Floats, ...], top_k: int | None) -> _Places:
    """Which of `places` come first, by the keys one after the other, then by time, then as they stand."""
    candidates = np.arange(len(places))
    if top_k is not None and top_k < len(places):
        if top_k <= 0:
            return candidates[:0]
        first = keys[0]
        threshold = np.partition(first, len(first) - top_k)[len(first) - top_k]
        candidates = np.flatnonzero(first >= threshold)  # with all that are equal to the last one
    at = places[candidates]
    times = np.where(view.event_times[at] == NO_TIME, view.create_times[at], view.event_times[at])
    descending = [-key[candidates] for key in reversed(keys)]
    order = np.lexsort((-times, *descending))
    return candidates[order][:top_k]
