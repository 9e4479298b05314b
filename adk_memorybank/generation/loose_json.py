"""JSON in a text as models write it: with words around it, small faults in it, or broken off."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

_LONGEST = 400_000
"""Characters that are searched where the text as a whole is not JSON: more than a model writes at once."""
_LONGEST_MENDED = 50_000
"""Characters of one value that are worth the time to mend it."""
_MOST_STARTS = 8
"""Places at which a search begins: a quotation mark in the words before the JSON leads one astray."""
_MARK = re.compile(r'["{}\[\]]')
_OPENING = re.compile(r"[{\[]")
_STRING = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


@dataclass(slots=True)
class _Found:
    """What is closed again in a text, as (start, end).

    Attributes:
        outer: what lies in nothing else that is closed.
        inner: objects without an object in them.
    """

    outer: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    inner: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])


def values(text: str) -> Iterator[Any]:
    """What can be read: the whole text, or else each object or list in it that is closed again."""
    whole = _load(text)
    if whole is not None:
        yield whole
        return
    text = text[:_LONGEST]
    opening = _OPENING.search(text)
    for _ in range(_MOST_STARTS):
        if opening is None:
            return
        found = _search(text, opening.start())
        for start, end in found.outer:
            yield _read(text[start:end])
        after = found.outer[0][1] if found.outer and found.outer[0][0] == opening.start() else opening.end()
        opening = _OPENING.search(text, after)


def objects(text: str) -> list[Mapping[str, Any]]:
    """The innermost complete objects, in order."""
    text = text[:_LONGEST]
    opening = _OPENING.search(text)
    if opening is None:
        return []
    read = [_read(text[start:end]) for start, end in _search(text, opening.start()).inner]
    return [cast("Mapping[str, Any]", value) for value in read if isinstance(value, Mapping)]


def is_cut(text: str) -> bool:
    """Whether what opens first is never closed."""
    text = text[:_LONGEST]
    opening = _OPENING.search(text)
    if opening is None:
        return False
    outer = _search(text, opening.start()).outer
    return not outer or outer[0][0] != opening.start()


def _search(text: str, start: int) -> _Found:
    """One pass from an opening; brackets in strings don't count."""
    found = _Found()
    starts: list[int] = []
    place = start
    while (mark := _MARK.search(text, place)) is not None:
        place = mark.end()
        if mark[0] == '"':
            closing = _STRING.match(text, place)
            if closing is None:
                break
            place = closing.end()
        elif mark[0] in "{[":
            starts.append(mark.start())
        elif starts:
            opened = starts.pop()
            if text[opened] == "{" and (not found.inner or found.inner[-1][0] < opened):
                found.inner.append((opened, place))
            while found.outer and found.outer[-1][0] > opened:
                found.outer.pop()
            found.outer.append((opened, place))
    return found


def _read(text: str) -> Any:
    value = _load(text)
    if value is not None or len(text) > _LONGEST_MENDED:
        return value
    import json_repair  # a model that keeps to JSON never needs it

    try:
        return json_repair.loads(text)
    except (ValueError, RecursionError):
        return None


def _load(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
