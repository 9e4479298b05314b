"""Exact ranking, held against a slow and naive one."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from adk_memorybank.errors import EmbedderMismatch
from adk_memorybank.retrieval import ranking
from adk_memorybank.retrieval.ranking import CONTEXT, MEANING, WORDS, Order, rank
from adk_memorybank.retrieval.scope_view import ScopeView, ViewRow
from adk_memorybank.retrieval.words import terms

NOW = 1000


def unit(*numbers: float) -> NDArray[np.float32]:
    vector = np.array(numbers, np.float32)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def memory(
    name: str,
    text: str = "",
    vector: NDArray[np.float32] | None = None,
    *,
    create_time: int = 0,
    event_time: int | None = None,
    expire_time: int | None = None,
    context: str | None = None,
) -> ViewRow:
    return ViewRow(
        id=name,
        fact_version=1,
        terms=terms(text),
        create_time=create_time,
        event_time=event_time,
        expire_time=expire_time,
        vector=vector,
        context=None if context is None else terms(context),
    )


def names(
    rows: list[ViewRow],
    *,
    query: str = "",
    vector: NDArray[np.float32] | None = None,
    top_k: int | None = None,
    allowed: list[bool] | None = None,
    by: Order = "fused",
) -> str:
    found = rank(
        ScopeView.build(1, rows),
        query_vector=vector,
        query_terms=terms(query) if query else None,
        top_k=top_k,
        now=NOW,
        allowed=None if allowed is None else np.array(allowed),
        by=by,
    )
    assert len(found.indices) == len(found.scores) == len(found.distances) == len(found.word_scores) == len(found)
    assert np.isfinite(found.scores).all()
    assert (np.diff(found.scores) <= 0).all()
    return " ".join(rows[place].id for place in found.indices)


EAST, NORTH_EAST, NORTH, WEST = unit(1, 0), unit(1, 1), unit(0, 1), unit(-1, 0)


def test_by_distance() -> None:
    rows = [memory("west", "x", WEST), memory("east", "", EAST), memory("north", "x", NORTH), memory("none", "x")]
    assert names(rows, vector=EAST, by="distance") == "east north west none"
    found = rank(ScopeView.build(1, rows), query_vector=EAST, query_terms=None, top_k=None, now=NOW, by="distance")
    np.testing.assert_allclose(found.distances, [0, math.sqrt(2), 2, np.nan], atol=1e-6)
    np.testing.assert_allclose(found.scores, [1, 0, -1, -1], atol=1e-6)


def test_by_distance_those_without_a_vector_come_last_by_their_words() -> None:
    rows = [memory("a", "milk"), memory("b", "green tea"), memory("west", "", WEST)]
    assert names(rows, query="tea", vector=EAST, by="distance") == "west b a"
    assert names(rows, query="tea", by="distance") == "b a west"


def test_by_words_only_what_shares_a_word() -> None:
    rows = [memory("milk", "likes milk", EAST), memory("tea", "likes green tea"), memory("other", "nothing", EAST)]
    assert names(rows, query="green tea", vector=EAST, by="words") == "tea"
    assert names(rows, query="likes tea", vector=EAST, by="words") == "tea milk"
    assert names(rows, query="coffee", vector=EAST, by="words") == ""
    assert names(rows, vector=EAST, by="words") == ""
    found = rank(ScopeView.build(1, rows), query_vector=EAST, query_terms=terms("milk"), top_k=1, now=NOW, by="words")
    assert found.distances.tolist() == [0]
    assert found.scores.tolist() == found.word_scores.tolist()


def test_fused_takes_both() -> None:
    rows = [
        memory("meaning", "prefers oolong", NORTH_EAST),
        memory("both", "likes tea", NORTH_EAST),
        memory("words", "tea tea", WEST),
        memory("neither", "has a dog", WEST),
    ]
    assert names(rows, query="tea", vector=EAST).split()[0] == "both"
    assert names(rows, query="tea", vector=EAST).split()[-1] == "neither"


def test_fused_takes_what_was_said_around_a_fact() -> None:
    rows = [
        memory("answer", "Rex, a terrier", context="What is the name of your dog? Rex, a terrier"),
        memory("other", "Anna, a doctor", context="And your sister? Anna, a doctor"),
    ]
    assert names(rows, query="dog") == "answer other"
    assert names(rows, query="dog", by="words") == "", "those have to be in the fact"


def test_a_memory_without_a_vector_is_ranked_by_its_words() -> None:
    rows = [memory("far", "dog", WEST), memory("near", "dog", NORTH_EAST), memory("new", "green tea")]
    assert names(rows, query="green tea", vector=EAST) == "new near far"


def test_without_words_by_meaning_and_without_a_vector_by_words() -> None:
    rows = [memory("far", "tea", WEST), memory("near", "dog", EAST)]
    assert names(rows, vector=EAST) == "near far"
    assert names(rows, query="tea") == "far near"
    assert names(rows, query="tea", vector=np.zeros(2, np.float32)) == "far near"


def test_without_any_query_the_newest_first() -> None:
    rows = [
        memory("a", create_time=5),
        memory("b", create_time=9, event_time=1),
        memory("c", create_time=1, event_time=7),
        memory("d", create_time=5),
    ]
    assert names(rows) == "c a d b"
    assert names(rows, top_k=2) == "c a"


def test_equals_by_time_also_at_the_edge_of_top_k() -> None:
    rows = [memory(str(place), "tea", EAST, create_time=place) for place in range(20)]
    assert names(rows, query="tea", vector=EAST, top_k=3) == "19 18 17"
    assert names(rows, query="tea", vector=EAST, top_k=3, by="distance") == "19 18 17"
    assert names(rows, query="tea", vector=EAST, top_k=3, by="words") == "19 18 17"


def test_one_memory_is_found_however_little_it_fits() -> None:
    assert names([memory("only", "dog", WEST)], query="tea", vector=EAST) == "only"
    assert names([], query="tea", vector=EAST) == ""
    assert names([memory("only")], query="tea", vector=EAST, top_k=0) == ""


@pytest.mark.parametrize("by", ["fused", "distance", "words"])
def test_what_expired_or_is_not_allowed_is_neither_found_nor_counted(by: Order) -> None:
    rows = [
        memory("expired", "tea", EAST, expire_time=NOW),
        memory("lives", "tea", EAST, expire_time=NOW + 1),
        memory("refused", "tea", EAST),
        memory("far", "green tea", WEST),
    ]
    allowed = [True, True, False, True]
    assert names(rows, query="tea", vector=EAST, allowed=allowed, by=by) == "lives far"
    view = ScopeView.build(1, rows)
    alone = ScopeView.build(1, [rows[1], rows[3]])
    with_others = rank(
        view, query_vector=EAST, query_terms=terms("tea"), top_k=None, now=NOW, allowed=np.array(allowed), by=by
    )
    by_themselves = rank(alone, query_vector=EAST, query_terms=terms("tea"), top_k=None, now=NOW, by=by)
    np.testing.assert_allclose(with_others.scores, by_themselves.scores)
    np.testing.assert_allclose(with_others.word_scores, by_themselves.word_scores)
    assert names(rows, query="tea", vector=EAST, allowed=[False] * 4, by=by) == ""


def test_a_vector_of_another_embedder_is_refused() -> None:
    view = ScopeView.build(1, [memory("a", "tea", EAST)])
    with pytest.raises(EmbedderMismatch, match="3 dimensions, the memories have 2"):
        rank(view, query_vector=unit(1, 1, 1), query_terms=None, top_k=None, now=NOW)


def test_near_duplicates_are_told_apart() -> None:
    rows = [memory(str(place), "", unit(1, place * 1e-5)) for place in (3, 1, 2, 0)]
    assert names(rows, vector=EAST, by="distance") == "0 1 2 3"


def naive_bm25(bags: list[NDArray[np.uint32]], query: list[int]) -> list[float]:
    average = sum(map(len, bags)) / len(bags) if bags else 0
    scores: list[float] = []
    for bag in bags:
        counts, score = Counter(bag.tolist()), 0.0
        for term in set(query):
            having = sum(term in other for other in bags)
            if counts[term]:
                rarity = math.log(1 + (len(bags) - having + 0.5) / (having + 0.5))
                discount = 1.2 * (1 - 0.75 + 0.75 * len(bag) / average)
                score += rarity * counts[term] * 2.2 / (counts[term] + discount)
        scores.append(score)
    return scores


def naive(
    rows: list[ViewRow], query_vector: NDArray[np.float32] | None, query: list[int], by: Order
) -> list[tuple[str, float]]:
    rows = [row for row in rows if row.expire_time is None or row.expire_time > NOW]
    words = naive_bm25([row.terms for row in rows], query)
    around = naive_bm25([row.terms if row.context is None else row.context for row in rows], query)
    cosines: list[float | None] = []
    for row in rows:
        if row.vector is None or query_vector is None:
            cosines.append(None)
        else:
            cosines.append(float(np.dot(row.vector, query_vector)))

    def z(values: list[float | None]) -> list[float]:
        known = [value for value in values if value is not None]
        deviation = float(np.std(known)) if known else 0
        if deviation < 1e-6:
            return [0.0] * len(values)
        return [0.0 if value is None else (value - float(np.mean(known))) / deviation for value in values]

    if by == "fused":
        scores = zip(z(cosines), z(list(words)), z(list(around)), strict=True)
        keys = [(MEANING * a + WORDS * b + CONTEXT * c,) for a, b, c in scores]
    elif by == "words":
        keys = [(score,) for score in words]
    else:
        keys = [(-2.0 if cosine is None else cosine, score) for cosine, score in zip(cosines, words, strict=True)]
    order = sorted(range(len(rows)), key=lambda place: tuple(-round(key, 4) for key in keys[place]))
    shown = [max(keys[place][0], -1.0) if by == "distance" else keys[place][0] for place in order]
    return [
        (rows[place].id, score) for place, score in zip(order, shown, strict=True) if by != "words" or words[place] > 0
    ]


@settings(max_examples=300, deadline=None)
@given(st.data(), st.sampled_from(["fused", "distance", "words"]), st.sampled_from([2, 4096]))
def test_agrees_with_the_naive_ranking(data: st.DataObject, by: Order, block: int) -> None:
    seed = data.draw(st.integers(0, 10_000))
    count = data.draw(st.integers(0, 25))
    rng = np.random.default_rng(seed)
    rows = [
        ViewRow(
            id=str(place),
            fact_version=1,
            terms=rng.integers(0, 12, rng.integers(0, 8)).astype(np.uint32),
            create_time=0,
            expire_time=int(rng.integers(0, 2 * NOW)) if rng.random() < 0.5 else None,
            vector=unit(*rng.standard_normal(6)) if rng.random() < 0.8 else None,
            context=rng.integers(0, 12, rng.integers(0, 9)).astype(np.uint32) if rng.random() < 0.6 else None,
        )
        for place in range(count)
    ]
    query_vector = unit(*rng.standard_normal(6)) if rng.random() < 0.8 else None
    query = rng.integers(0, 14, rng.integers(0, 6)).astype(np.uint32)
    top_k = data.draw(st.none() | st.integers(0, 30))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "_BLOCK", block)
        found = rank(
            ScopeView.build(1, rows), query_vector=query_vector, query_terms=query, top_k=top_k, now=NOW, by=by
        )
    expected = naive(rows, query_vector, query.tolist(), by)
    assert len(found) == (len(expected) if top_k is None else min(top_k, len(expected)))
    by_id = dict(expected)
    np.testing.assert_allclose(found.scores, [score for _, score in expected[: len(found)]], atol=1e-3)
    np.testing.assert_allclose(found.scores, [by_id[rows[place].id] for place in found.indices], atol=1e-3)
