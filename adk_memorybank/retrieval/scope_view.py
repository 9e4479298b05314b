"""One scope's memories as arrays: all that a search compares, and no text.

A view stands for one version of the scope in the records. It never changes: a newer version gives a new view, which
takes over the arrays of the old one where nothing in them changed.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

NEVER = np.iinfo(np.int64).max
"""The expire time of a memory that doesn't expire."""
NO_TIME = np.iinfo(np.int64).min
"""The event time of a memory that has none."""

ViewKey = tuple[str, object]
"""The bank's id, and whatever names the scope in it (hashable)."""

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float32]
_POINTER = 8
_INT_OBJECT = 32
_ARRAY_OBJECT = 128
_OBJECT_ALIGNMENT = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewRow:
    """One memory, as a view takes it in.

    Attributes:
        id: of the memory.
        fact_version: of its fact; with the id, the name of its vector.
        terms: the fact's words (`words.terms`).
        context: the words of the turns that it was drawn from; its own where there are none.
        create_time, event_time, expire_time: microseconds since the epoch.
        vector: (d,) unit length; None while it is still to be made.
    """

    id: str
    fact_version: int
    terms: NDArray[np.uint32]
    create_time: int
    event_time: int | None = None
    expire_time: int | None = None
    vector: _Floats | None = None
    context: NDArray[np.uint32] | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScopeView:
    """A scope of n memories. The arrays are read-only.

    Attributes:
        version: of the scope in the records.
        ids: n ids.
        index: the place of each id.
        fact_versions: (n,).
        vectors: (n, d) unit rows, zero where there is none; (n, 0) where no memory has a vector.
        has_vector: (n,).
        create_times, event_times, expire_times: (n,) microseconds since the epoch; `NO_TIME` where there is no event
            time, `NEVER` where there is no expire time.
        terms: the words of all memories, one memory after the other.
        offsets: (n + 1,) memory i has `terms[offsets[i]:offsets[i + 1]]`.
        owners: the place of the memory that each of the terms belongs to.
        context, context_offsets, context_owners: the same of the words of the turns behind the memories.
        nbytes: what the view holds in memory, its ids included.
    """

    version: int
    ids: tuple[str, ...]
    index: Mapping[str, int]
    fact_versions: _Ints
    vectors: _Floats
    has_vector: NDArray[np.bool_]
    create_times: _Ints
    event_times: _Ints
    expire_times: _Ints
    terms: NDArray[np.uint32]
    offsets: _Ints
    owners: NDArray[np.int32]
    context: NDArray[np.uint32]
    context_offsets: _Ints
    context_owners: NDArray[np.int32]
    nbytes: int

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def build(cls, version: int, rows: Sequence[ViewRow]) -> ScopeView:
        """A view of these memories, in this order.

        Raises:
            ValueError: two vectors differ in dimension, or an id comes twice.
        """
        vectors, has_vector = _stack(rows)
        terms, offsets = _bag([row.terms for row in rows])
        context, context_offsets = _bag([row.terms if row.context is None else row.context for row in rows])
        return cls._make(
            version,
            tuple(row.id for row in rows),
            fact_versions=_ints(row.fact_version for row in rows),
            vectors=vectors,
            has_vector=has_vector,
            create_times=_ints(row.create_time for row in rows),
            event_times=_ints(NO_TIME if row.event_time is None else row.event_time for row in rows),
            expire_times=_ints(NEVER if row.expire_time is None else row.expire_time for row in rows),
            terms=terms,
            offsets=offsets,
            context=context,
            context_offsets=context_offsets,
        )

    def updated(self, version: int, kept: _Ints, added: Sequence[ViewRow]) -> ScopeView:
        """The view of a newer version.

        Args:
            version: the newer one.
            kept: places in this view of the memories that stayed, in the order wanted. A memory whose fact changed
                is not kept but added.
            added: the others; they come after the kept ones.

        Raises:
            ValueError: as `build`.
        """
        if not added and len(kept) == len(self) and bool(np.all(kept == np.arange(len(self)))):
            return self._replaced(version=version)
        old, new = self, ScopeView.build(version, added)
        places_kept: list[int] = kept.tolist()
        terms, offsets = _joined_bags((old.terms, old.offsets), kept, (new.terms, new.offsets))
        context, context_offsets = _joined_bags(
            (old.context, old.context_offsets), kept, (new.context, new.context_offsets)
        )
        return self._make(
            version,
            tuple(old.ids[place] for place in places_kept) + new.ids,
            fact_versions=_joined(old.fact_versions, kept, new.fact_versions),
            vectors=_joined_vectors(old.vectors, kept, new.vectors),
            has_vector=_joined(old.has_vector, kept, new.has_vector),
            create_times=_joined(old.create_times, kept, new.create_times),
            event_times=_joined(old.event_times, kept, new.event_times),
            expire_times=_joined(old.expire_times, kept, new.expire_times),
            terms=terms,
            offsets=offsets,
            context=context,
            context_offsets=context_offsets,
        )

    def with_vectors(self, vectors: Mapping[int, _Floats]) -> ScopeView:
        """The same version with these vectors, by their place.

        Raises:
            ValueError: a vector's dimension differs from the others'.
        """
        if not vectors:
            return self
        places = np.fromiter(vectors, np.int64, len(vectors))
        rows = np.stack(list(vectors.values()))
        filled = self.vectors if self.vectors.shape[1] else np.zeros((len(self), rows.shape[1]), np.float32)
        if rows.shape[1] != filled.shape[1]:
            raise ValueError(f"vectors of {rows.shape[1]} dimensions in a view of {filled.shape[1]}")
        filled, has_vector = filled.copy(), self.has_vector.copy()
        filled[places] = rows
        has_vector[places] = True
        return self._replaced(vectors=filled, has_vector=has_vector)

    def _replaced(self, **changes: Any) -> ScopeView:
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        version = changes.pop("version", self.version)
        return self._make(version, self.ids, index=self.index, **{**arrays, **changes})

    @classmethod
    def _make(
        cls, version: int, ids: tuple[str, ...], *, index: Mapping[str, int] | None = None, **arrays: NDArray[Any]
    ) -> ScopeView:
        if index is None:
            index = {memory_id: place for place, memory_id in enumerate(ids)}
            if len(index) != len(ids):
                raise ValueError("an id comes twice in one view")
        for name, offsets in (("owners", "offsets"), ("context_owners", "context_offsets")):
            arrays.setdefault(name, np.repeat(np.arange(len(ids), dtype=np.int32), np.diff(arrays[offsets])))
        for array in arrays.values():
            array.flags.writeable = False
        held = sum(array.nbytes + _ARRAY_OBJECT for array in arrays.values())
        return cls(version=version, ids=ids, index=index, nbytes=held + _size_of_ids(ids, index), **arrays)


_ARRAYS = (
    "fact_versions",
    "vectors",
    "has_vector",
    "create_times",
    "event_times",
    "expire_times",
    "terms",
    "offsets",
    "owners",
    "context",
    "context_offsets",
    "context_owners",
)


class ViewCache:
    """The views used last, as many as fit.

    Safe across threads.

    Args:
        max_bytes: the bound. A view larger than that isn't kept at all.
    """

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._views: OrderedDict[ViewKey, ScopeView] = OrderedDict()
        self._nbytes = 0
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """What the views held now take in memory."""
        return self._nbytes

    def __len__(self) -> int:
        return len(self._views)

    def get(self, key: ViewKey) -> ScopeView | None:
        """The view under this key, of whichever version it is."""
        with self._lock:
            view = self._views.get(key)
            if view is not None:
                self._views.move_to_end(key)
            return view

    def put(self, key: ViewKey, view: ScopeView) -> None:
        """Keeps a view in place of an older one, and lets go of those unused longest."""
        with self._lock:
            self._remove(key)
            if view.nbytes > self._max_bytes:
                return
            self._views[key] = view
            self._nbytes += view.nbytes
            while self._nbytes > self._max_bytes:
                self._remove(next(iter(self._views)))

    def drop(self, key: ViewKey) -> None:
        """Lets go of one view, where it is held."""
        with self._lock:
            self._remove(key)

    def drop_bank(self, bank_id: str) -> None:
        """Lets go of all views of a bank."""
        with self._lock:
            for key in [key for key in self._views if key[0] == bank_id]:
                self._remove(key)

    def _remove(self, key: ViewKey) -> None:
        view = self._views.pop(key, None)
        if view is not None:
            self._nbytes -= view.nbytes


def _ints(values: Iterable[int]) -> _Ints:
    return np.array(list(values), dtype=np.int64)


def _stack(rows: Sequence[ViewRow]) -> tuple[_Floats, NDArray[np.bool_]]:
    has_vector = np.array([row.vector is not None for row in rows], dtype=np.bool_)
    dimensions = {len(row.vector) for row in rows if row.vector is not None}
    if len(dimensions) > 1:
        raise ValueError(f"vectors of different dimensions in one view: {sorted(dimensions)}")
    vectors = np.zeros((len(rows), dimensions.pop() if dimensions else 0), np.float32)
    for place, row in enumerate(rows):
        if row.vector is not None:
            vectors[place] = row.vector
    return vectors, has_vector


_Bag = tuple[NDArray[np.uint32], _Ints]
"""The words of all memories, one memory after the other, and where each begins."""


def _bag(words: Sequence[NDArray[np.uint32]]) -> _Bag:
    lengths = [0, *map(len, words)]
    return np.concatenate(words) if words else np.empty(0, np.uint32), np.cumsum(lengths, dtype=np.int64)


def _joined_bags(old: _Bag, kept: _Ints, new: _Bag) -> _Bag:
    """Of the kept memories of an old view, and then of a new one."""
    words, offsets = old
    lengths = np.diff(offsets)[kept]
    ends = np.cumsum(lengths, dtype=np.int64)
    places = np.arange(int(lengths.sum()), dtype=np.int64) + np.repeat(offsets[kept] - ends + lengths, lengths)
    ends = np.concatenate((np.zeros(1, np.int64), ends, new[1][1:] + int(lengths.sum())))
    return _joined(words, places, new[0]), ends


def _joined(old: NDArray[Any], kept: _Ints, new: NDArray[Any]) -> NDArray[Any]:
    joined = np.empty((len(kept) + len(new), *old.shape[1:]), old.dtype)
    np.take(old, kept, axis=0, out=joined[: len(kept)], mode="clip")  # straight into its place, no copy between
    joined[len(kept) :] = new
    return joined


def _joined_vectors(old: _Floats, kept: _Ints, new: _Floats) -> _Floats:
    dimension = old.shape[1] or new.shape[1]
    if len(new) and new.shape[1] not in (0, dimension):
        raise ValueError(f"vectors of {new.shape[1]} dimensions in a view of {dimension}")
    if not old.shape[1]:
        old = np.broadcast_to(np.zeros(dimension, np.float32), (len(old), dimension))
    if not new.shape[1]:
        new = np.broadcast_to(np.zeros(dimension, np.float32), (len(new), dimension))
    return _joined(old, kept, new)


def _size_of_ids(ids: tuple[str, ...], index: Mapping[str, int]) -> int:
    text = sum(-(-sys.getsizeof(memory_id) // _OBJECT_ALIGNMENT) * _OBJECT_ALIGNMENT for memory_id in ids)
    return text + len(ids) * (_POINTER + _INT_OBJECT) + sys.getsizeof(index)
