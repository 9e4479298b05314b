"""Reading a model's answer: JSON as it should be, and as models write it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from adk_memorybank.errors import ModelOutputError

_FENCE = re.compile(r"```[a-zA-Z]*\s*\n?(.*?)(?:```|\Z)", re.DOTALL)
MOST_ITEMS = 500
"""Items read from one answer: a model that runs away writes the same for ever."""

_ALIASES: dict[str, tuple[str, ...]] = {
    "facts": ("memories", "extracted_memories", "generated_memories", "items", "results"),
    "decisions": ("actions", "memories", "operations", "updates", "changes"),
    "fact": ("memory", "text", "content", "memory_text", "statement", "new_fact"),
    "topic": ("topics", "category", "label"),
    "event": ("events", "event_id", "source", "sources", "turn"),
    "action": ("operation", "event_type", "type"),
    "new": ("facts", "new_facts", "from", "fact_numbers"),
    "memory": ("memory_id", "id", "candidate", "memory_number", "target"),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What could be read.

    Attributes:
        items: the objects of the list that was asked for.
        cut: the answer broke off; what was complete is there.
    """

    items: list[Mapping[str, Any]]
    cut: bool = False


def read_answer(text: str, *, name: str, key: str) -> Answer:
    """Reads the list of objects under `name`.

    An empty list is a good answer and means "nothing". Whatever stands around the JSON is passed over, small faults in
    it are mended, and of an answer that breaks off the complete objects are kept.

    Args:
        text: the answer.
        name: of the list that was asked for.
        key: a field that every object of it must have.

    Raises:
        ModelOutputError: there is nothing that can be read; the message says why, without the answer's text.
    """
    stripped = _without_fence(text).strip()
    if not stripped:
        raise ModelOutputError("the answer is empty")
    value, whole = _parse(stripped)
    if whole:
        found = _list_in(value, name)
        if found is not None:
            items = [cast("Mapping[str, Any]", item) for item in found if isinstance(item, Mapping)]
            if found and not items:
                raise ModelOutputError(f"the list {name!r} holds no objects")
            return Answer(items[:MOST_ITEMS])
    objects = [one for one in _objects(stripped) if field(one, key) is not None]
    if objects:
        return Answer(objects[:MOST_ITEMS], cut=not whole)
    raise ModelOutputError(f"there is no list {name!r} in the answer" if whole else "the answer is not JSON")


def field(item: Mapping[str, Any], name: str) -> Any:
    """A field under its name, or under a name that models use instead."""
    for spelling in (name, *_ALIASES.get(name, ())):
        if item.get(spelling) is not None:
            return item[spelling]
    return None


def text_of(value: Any) -> str:
    """A text, without lone surrogates and control characters; empty for anything else."""
    if not isinstance(value, str):
        return ""
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]", "", value).strip()


def numbers_of(value: Any) -> list[int]:
    """The numbers of a list or a single value, also where they are written as text."""
    values = cast("list[Any]", value) if isinstance(value, list) else [value]
    numbers: list[int] = []
    for one in values:
        if isinstance(one, bool) or one is None:
            continue
        found = re.search(r"\d{1,9}", str(one))
        if found:
            numbers.append(int(found[0]))
    return numbers


def _without_fence(text: str) -> str:
    fenced = _FENCE.search(text)
    return fenced[1] if fenced and ("{" in fenced[1] or "[" in fenced[1]) else text


def _parse(text: str) -> tuple[Any, bool]:
    """The value of a text, and whether the text is whole: JSON, or JSON with faults, but not broken off."""
    for candidate in (text, _outermost(text)):
        if candidate is None:
            continue
        try:
            return json.loads(candidate, strict=False), True
        except (ValueError, RecursionError):
            continue
    outer = _outermost(text)
    if outer is not None:
        return _mended(outer), True
    return None, False


def _mended(text: str) -> Any:
    import json_repair  # a model that keeps to JSON never needs it

    return json_repair.loads(text)


def _outermost(text: str) -> str | None:
    """The first object or list that is closed again."""
    start = next((place for place, sign in enumerate(text) if sign in "{["), None)
    if start is None:
        return None
    end = _end_of(text, start)
    return None if end is None else text[start:end]


def _end_of(text: str, start: int) -> int | None:
    """Where what opens at `start` is closed; brackets in strings don't count."""
    depth, place, size = 0, start, len(text)
    while place < size:
        sign = text[place]
        if sign == '"':
            closing = re.compile(r'(?:[^"\\]|\\.)*"', re.DOTALL).match(text, place + 1)
            if closing is None:
                return None
            place = closing.end()
            continue
        if sign in "{[":
            depth += 1
        elif sign in "}]":
            depth -= 1
            if not depth:
                return place + 1
        place += 1
    return None


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """The innermost complete objects in a text, in order."""
    for found in re.finditer(r'\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\}', text):
        try:
            value = json.loads(found[0], strict=False)
        except ValueError:
            value = _mended(found[0])
        if isinstance(value, Mapping):
            yield cast("Mapping[str, Any]", value)


def _list_in(value: Any, name: str) -> list[Any] | None:
    """The list that was asked for: under its name or another, or the value itself."""
    if isinstance(value, list):
        return cast("list[Any]", value)
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, Any]", value)
        found = field(entries, name)
        if isinstance(found, list):
            return cast("list[Any]", found)
        lists = [cast("list[Any]", one) for one in entries.values() if isinstance(one, list)]
        if len(lists) == 1 and len(entries) == 1:
            return lists[0]
    return None
