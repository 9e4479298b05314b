"""Reading a model's answer: JSON as it should be, and as models write it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from adk_memorybank.errors import ModelOutputError

MOST_ITEMS = 500
"""Items read from one answer: a model that runs away writes the same for ever."""
_LONGEST = 2_000_000
"""Characters read of one answer. No model's output is as long."""
_MOST_STARTS = 50
"""Places in one answer where JSON may begin that are tried."""

_THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_OPENING = re.compile(r"[{\[]")
_STRING = re.compile(r'(?:[^"\\]|\\.)*"', re.DOTALL)
_OBJECT = re.compile(r'\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\}')
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
_NUMBERS = re.compile(
    r"\W*(?:(?:new|memor(?:y|ies)|facts?|events?|number|no|nr|id|turn|[mfe])\W*)*"
    r"(?P<numbers>-?\d{1,9}(?:\W+(?:(?:and|memory|fact)\W+)?\d{1,9})*)\W*",
    re.IGNORECASE,
)

_ALIASES: dict[str, tuple[str, ...]] = {
    "facts": ("memories", "extracted_memories", "generated_memories", "items", "results"),
    "decisions": ("actions", "memories", "operations", "updates", "changes"),
    "fact": ("memory", "text", "content", "memory_text", "statement", "new_fact"),
    "topic": ("topics", "category", "label"),
    "event": ("events", "event_id", "source", "sources", "turn"),
    "action": ("operation", "event_type", "type"),
    "new": ("facts", "new_facts", "from", "fact_numbers"),
    "memory": ("memory_id", "id", "candidate", "memory_number", "target"),
    # Of a decision, where `memory` is a number.
    "whole": ("fact", "text", "content", "memory_text", "statement", "new_fact"),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What could be read.

    Attributes:
        items: the objects of the list that was asked for.
        cut: the answer broke off; what was complete is there.
        left_out: how many items were not read, because there were too many.
    """

    items: list[Mapping[str, Any]]
    cut: bool = False
    left_out: int = 0


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
    said = _THOUGHT.sub("", text[:_LONGEST]).strip()
    if not said:
        raise ModelOutputError("the answer is empty")
    empty = found_json = unsuitable = False
    for value in _values(said):
        found_json = True
        items = _list_in(value, name)
        if items is None:
            continue
        objects = [cast("Mapping[str, Any]", item) for item in items if isinstance(item, Mapping)]
        if any(field(one, key) is not None for one in objects):
            return Answer(objects[:MOST_ITEMS], left_out=max(0, len(objects) - MOST_ITEMS))
        empty |= not items
        unsuitable |= bool(items)
    objects = [one for one in _objects(said) if field(one, key) is not None]
    if objects:
        return Answer(objects[:MOST_ITEMS], cut=not found_json, left_out=max(0, len(objects) - MOST_ITEMS))
    if empty:
        return Answer([])
    if unsuitable:
        raise ModelOutputError(f"the list {name!r} holds no objects with {key!r}")
    raise ModelOutputError(f"there is no list {name!r} in the answer" if found_json else "the answer is not JSON")


def field(item: Mapping[str, Any], name: str) -> Any:
    """A field under its name, or under a name that models use instead."""
    for spelling in (name, *_ALIASES.get(name, ())):
        if item.get(spelling) is not None:
            return item[spelling]
    return None


def text_of(value: Any) -> str:
    """A text, without lone surrogates and control characters; empty for anything else."""
    return clean(value).strip() if isinstance(value, str) else ""


def clean(text: str) -> str:
    """Without what can't be stored or sent."""
    return _UNWRITABLE.sub("", text)


def numbers_of(value: Any) -> list[int]:
    """The numbers of a list or a single value, also where they are written as text; of other texts none."""
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, int):
        return [value]
    if isinstance(value, float):
        return [int(value)] if value.is_integer() else []
    if isinstance(value, list):
        return [number for one in cast("list[Any]", value) if not isinstance(one, list) for number in numbers_of(one)]
    written = _NUMBERS.fullmatch(value) if isinstance(value, str) and len(value) <= 200 else None
    return [] if written is None else [int(number) for number in re.findall(r"-?\d+", written["numbers"])]


def _values(text: str) -> Iterator[Any]:
    """What can be read as JSON in a text: the whole of it, or else each object or list that is closed again."""
    whole = _load(text)
    if whole is not None:
        yield whole
        return
    place = 0
    for _ in range(_MOST_STARTS):
        opening = _OPENING.search(text, place)
        if opening is None:
            return
        end = _end_of(text, opening.start())
        if end is None:
            place = opening.end()
            continue
        span = text[opening.start() : end]
        value = _load(span)
        yield _mended(span) if value is None else value
        place = end


def _load(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _mended(text: str) -> Any:
    import json_repair  # a model that keeps to JSON never needs it

    try:
        return json_repair.loads(text)
    except (ValueError, RecursionError):
        return None


def _end_of(text: str, start: int) -> int | None:
    """Where what opens at `start` is closed; brackets in strings don't count."""
    depth, place = 0, start
    for found in iter(lambda: _NEXT.search(text, place), None):
        place = found.end()
        if found[0] == '"':
            closing = _STRING.match(text, place)
            if closing is None:
                return None
            place = closing.end()
        elif found[0] in "{[":
            depth += 1
        else:
            depth -= 1
            if not depth:
                return place
    return None


_NEXT = re.compile(r'["{}\[\]]')


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """The innermost complete objects in a text, in order."""
    for found in _OBJECT.finditer(text):
        value = _load(found[0])
        if value is None:
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
