"""Reading a model's answer: JSON as it should be, and as models write it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from adk_memorybank.errors import ModelOutputError
from adk_memorybank.generation import loose_json

MOST_ITEMS = 500
"""Items read from one answer: a model that runs away writes the same for ever."""

_THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
_NUMBERS = re.compile(
    r"(?:[^\w-]|(?:new|memor(?:y|ies)|facts?|events?|number|no|nr|id|turn|[mfe])\b)*"
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
    said = _THOUGHT.sub("", text).strip()
    if not said:
        raise ModelOutputError("the answer is empty")
    empty = found_json = unsuitable = False
    for value in loose_json.values(said):
        found_json = True
        items = _list_in(value, name)
        if items is None:
            continue
        objects = [cast("Mapping[str, Any]", item) for item in items if isinstance(item, Mapping)]
        if any(field(one, key) is not None for one in objects):
            return Answer(objects[:MOST_ITEMS], left_out=max(0, len(objects) - MOST_ITEMS))
        empty |= not items
        unsuitable |= bool(items)
    objects = [one for one in loose_json.objects(said) if field(one, key) is not None]
    if objects:
        return Answer(objects[:MOST_ITEMS], cut=loose_json.is_cut(said), left_out=max(0, len(objects) - MOST_ITEMS))
    if empty:
        return Answer([])
    if unsuitable:
        raise ModelOutputError(f"the list {name!r} holds no objects with {key!r}")
    raise ModelOutputError(f"there is no list {name!r} in the answer" if found_json else "the answer is not JSON")


def read_profiles(text: str) -> tuple[Any, bool]:
    """What stands under `profiles` in an answer, a list or an object, and whether nothing else does.

    Of an answer that breaks off it is the complete objects with a field and its value. None where there is nothing.
    """
    said = _THOUGHT.sub("", text).strip()
    for value in loose_json.values(said):
        if isinstance(value, Mapping):
            entries = cast("Mapping[str, Any]", value)
            if isinstance(entries.get("profiles"), list | Mapping):
                return entries["profiles"], len(entries) == 1
        elif isinstance(value, list):
            items = cast("list[Any]", value)
            listed: list[Any] = [one for one in items if isinstance(one, Mapping) and "field" in one]
            if listed:
                return listed, len(listed) == len(items)
    return [one for one in loose_json.objects(said) if "field" in one and "value" in one] or None, False


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
