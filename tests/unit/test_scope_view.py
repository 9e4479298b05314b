"""One scope's memories as arrays, and the cache of them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_memorybank.retrieval.scope_view import NEVER, NO_TIME, ScopeView, ViewCache, ViewRow


def row(number: int, *, vector: bool = True, dimension: int = 4) -> ViewRow:
    return ViewRow(
        id=f"memory-{number}",
        fact_version=number % 7,
        terms=np.arange(number % 5, dtype=np.uint32) + number,
        create_time=number,
        event_time=number * 2 if number % 2 else None,
        expire_time=number * 3 if number % 3 else None,
        vector=np.eye(dimension, dtype=np.float32)[number % dimension] if vector else None,
    )


def assert_same(view: ScopeView, expected: ScopeView) -> None:
    assert (view.version, view.ids, dict(view.index)) == (expected.version, expected.ids, dict(expected.index))
    for name in (
        "fact_versions",
        "has_vector",
        "create_times",
        "event_times",
        "expire_times",
        "terms",
        "offsets",
        "owners",
    ):
        got, wanted = getattr(view, name), getattr(expected, name)
        assert got.dtype == wanted.dtype, name
        np.testing.assert_array_equal(got, wanted, err_msg=name)
    if view.has_vector.any():
        np.testing.assert_array_equal(view.vectors, expected.vectors)


def test_build() -> None:
    view = ScopeView.build(3, [row(1), row(4, vector=False), row(6)])
    assert len(view) == 3
    assert view.ids == ("memory-1", "memory-4", "memory-6")
    assert view.index["memory-6"] == 2
    assert view.has_vector.tolist() == [True, False, True]
    assert view.vectors.tolist() == [[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]]
    assert view.event_times.tolist() == [2, NO_TIME, NO_TIME]
    assert view.expire_times.tolist() == [3, 12, NEVER]
    assert [view.terms[a:b].tolist() for a, b in zip(view.offsets[:-1], view.offsets[1:], strict=True)] == [
        [1],
        [4, 5, 6, 7],
        [6],
    ]
    assert view.owners.tolist() == [0, 1, 1, 1, 1, 2]


def test_an_empty_view() -> None:
    view = ScopeView.build(0, [])
    assert (len(view), view.vectors.shape, view.offsets.tolist()) == (0, (0, 0), [0])
    assert_same(view.updated(1, np.array([], np.int64), [row(1)]), ScopeView.build(1, [row(1)]))


def test_arrays_are_read_only() -> None:
    view = ScopeView.build(0, [row(1)])
    with pytest.raises(ValueError, match="read-only"):
        view.vectors[0] = 0


def test_what_does_not_fit_is_refused() -> None:
    view = ScopeView.build(0, [row(1)])
    with pytest.raises(ValueError, match="dimensions"):
        ScopeView.build(0, [row(1), row(2, dimension=5)])
    with pytest.raises(ValueError, match="dimensions"):
        view.updated(1, np.array([0]), [row(2, dimension=5)])
    with pytest.raises(ValueError, match="dimensions"):
        view.with_vectors({0: np.ones(5, np.float32)})
    with pytest.raises(ValueError, match="twice"):
        ScopeView.build(0, [row(1), row(1)])


@settings(max_examples=200)
@given(st.data())
def test_updated_is_what_a_new_build_would_be(data: st.DataObject) -> None:
    some = st.lists(st.tuples(st.integers(0, 60), st.booleans()), unique_by=lambda pair: pair[0], max_size=12)
    before = [row(number, vector=vector) for number, vector in data.draw(some)]
    added = [row(number + 100, vector=vector) for number, vector in data.draw(some)]
    kept = data.draw(st.lists(st.sampled_from(range(len(before))), unique=True)) if before else []
    view = ScopeView.build(1, before).updated(2, np.array(kept, np.int64), added)
    assert_same(view, ScopeView.build(2, [*(before[place] for place in kept), *added]))


def test_an_update_without_changes_shares_the_arrays() -> None:
    view = ScopeView.build(1, [row(1), row(2)])
    newer = view.updated(2, np.arange(2), [])
    assert newer.version == 2
    assert newer.vectors is view.vectors
    assert newer.nbytes == view.nbytes


@pytest.mark.parametrize("vector", [True, False])
def test_with_vectors(vector: bool) -> None:
    view = ScopeView.build(1, [row(1, vector=vector), row(2, vector=False), row(3, vector=False)])
    filled = view.with_vectors({2: np.array([0, 0, 0, 1], np.float32)})
    assert filled.has_vector.tolist() == [vector, False, True]
    assert filled.vectors[2].tolist() == [0, 0, 0, 1]
    assert view.has_vector.tolist() == [vector, False, False]
    assert filled.version == 1
    assert view.with_vectors({}) is view


@pytest.mark.parametrize(("count", "dimension"), [(3, 512), (100, 512), (3000, 512), (3000, 8), (3000, 0)])
def test_nbytes_is_the_truth_within_a_fifth(count: int, dimension: int) -> None:
    rng = np.random.default_rng(0)
    rows = [
        ViewRow(
            id="x",
            fact_version=1,
            terms=rng.integers(0, 2**32, 15, dtype=np.uint32),
            create_time=10**15,
            vector=rng.random(dimension, np.float32) if dimension else None,
        )
        for _ in range(count)
    ]

    def build() -> ScopeView:  # the ids are made here, since the view is what keeps them
        return ScopeView.build(1, [replaced(row, str(10**18 + place)) for place, row in enumerate(rows)])

    def replaced(row: ViewRow, memory_id: str) -> ViewRow:
        return ViewRow(id=memory_id, fact_version=1, terms=row.terms, create_time=row.create_time, vector=row.vector)

    build()
    copies = 3000 // count  # what the interpreter keeps on the side would outweigh a single small view
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    views = [build() for _ in range(copies)]
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert views[0].nbytes == pytest.approx(held / copies, rel=0.2)


class TestViewCache:
    @staticmethod
    def views(numbers: Sequence[int]) -> list[ScopeView]:
        return [ScopeView.build(number, [row(7)]) for number in numbers]

    def test_lets_go_of_what_was_unused_longest(self) -> None:
        one, two, three = self.views([1, 2, 3])
        cache = ViewCache(max_bytes=2 * one.nbytes)
        cache.put(("bank", 1), one)
        cache.put(("bank", 2), two)
        assert cache.get(("bank", 1)) is one
        cache.put(("bank", 3), three)
        assert cache.get(("bank", 2)) is None
        assert cache.get(("bank", 1)) is one
        assert cache.get(("bank", 3)) is three
        assert cache.nbytes == 2 * one.nbytes
        assert len(cache) == 2

    def test_a_newer_view_takes_the_place_of_the_older(self) -> None:
        one, two = self.views([1, 2])
        cache = ViewCache(max_bytes=10 * one.nbytes)
        cache.put(("bank", 1), one)
        cache.put(("bank", 1), two)
        assert cache.get(("bank", 1)) is two
        assert cache.nbytes == two.nbytes

    def test_a_view_larger_than_the_bound_is_not_kept_nor_the_one_before(self) -> None:
        small, large = ScopeView.build(1, []), ScopeView.build(2, [row(number) for number in range(50)])
        cache = ViewCache(max_bytes=large.nbytes - 1)
        cache.put(("bank", 1), small)
        cache.put(("bank", 1), large)
        assert cache.get(("bank", 1)) is None
        assert (cache.nbytes, len(cache)) == (0, 0)

    def test_drop(self) -> None:
        cache = ViewCache(max_bytes=1 << 20)
        for key, view in zip([("a", 1), ("a", 2), ("b", 1)], self.views([1, 2, 3]), strict=True):
            cache.put(key, view)
        cache.drop(("a", 1))
        cache.drop(("a", 1))
        assert cache.get(("a", 1)) is None
        cache.drop_bank("a")
        assert cache.get(("a", 2)) is None
        last = cache.get(("b", 1))
        assert last is not None
        assert cache.nbytes == last.nbytes
