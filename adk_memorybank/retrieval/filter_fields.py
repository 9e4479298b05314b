"""The fields that a filter can name, and what a comparison with each of them means."""

from __future__ import annotations

import difflib
import json
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, cast

import re2

from adk_memorybank.clock import from_micros, to_utc
from adk_memorybank.config import ManagedTopicEnum
from adk_memorybank.errors import InvalidArgument
from adk_memorybank.resources import MemoryType, last_segment

Test = Callable[[Any], bool | None]
"""True, False, or None where it is undecided."""

_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_MANAGED = {topic.value for topic in ManagedTopicEnum}


@dataclass(frozen=True, slots=True)
class _Field:
    """One field.

    Attributes:
        compare: makes the test of a value that is there, of a comparator and an operand.
        read: reads the value from a resource; None where it has none.
    """

    compare: Callable[[str, str, str], Callable[[Any], bool]]
    read: Callable[[Any], Any]


def test_of(over: str, path: Sequence[str], comparator: str, operand: str, *, quoted: bool) -> Test:
    """The test of one restriction; an empty path stands for the text that is searched by a value alone.

    Raises:
        InvalidArgument: there is no such field, or it can't be compared in this way.
    """
    fields = _FIELDS[over]
    if not path:
        if "fact" not in fields:
            raise _wrong(f"{operand[:60]!r} is compared with nothing: write a field, such as `{next(iter(fields))}`")
        path = ["fact"]
    name, key = _snake(path[0]), ".".join(path[1:])
    if name == "topics" and key:
        name, key = f"topics.{_snake(key)}", ""
    field = fields.get(f"{name}." if key else name)
    if field is None:
        raise _unknown(".".join(path), fields)
    missing = None if over == "scopes" else comparator == "!="
    read = field.read if not key else _entry_reader(field.read, key)
    if comparator == ":" and operand == "*" and not quoted:
        unset: tuple[Any, ...] = (None,) if key else (None, "", [], {})  # a key may be there with an empty value
        return lambda resource: read(resource) not in unset
    compared = field.compare(".".join(path), comparator, operand)

    def test(resource: Any) -> bool | None:
        value = read(resource)
        return missing if value is None else compared(value)

    return test


def _entry_reader(read: Callable[[Any], Any], key: str) -> Callable[[Any], Any]:
    return lambda resource: read(resource).get(key)


def _text(name: str, comparator: str, operand: str) -> Callable[[Any], bool]:
    if comparator == ":":
        words = operand.casefold()
        return lambda value: words in value.casefold()
    if comparator == "=~":
        return _matching(operand)
    order = _ORDERS[comparator]
    return lambda value: order(value, operand)


def _matching(pattern: str) -> Callable[[Any], bool]:
    compiled = _compiled(pattern)
    return lambda value: compiled.fullmatch(value) is not None


def weight_of(pattern: str) -> int:
    """How long a text is matched with a regular expression, per letter: the instructions that RE2 makes of it.

    RE2 takes linear time, but of 8,000 instructions each letter may take 50 µs; of 4,000, less than 1.

    Raises:
        InvalidArgument: it can't be read.
    """
    return _compiled(pattern).programsize


@lru_cache(maxsize=16)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.dot_nl = True
    options.never_capture = True
    try:
        compiled = re2.compile(pattern, options)
    except (re2.error, UnicodeError) as error:  # pyright: ignore[reportUnknownVariableType]: re2 has no types
        raise _wrong(f"the regular expression {pattern[:60]!r} can't be read: {_said(error)}") from None
    re2.purge()  # it would keep 128, each with up to 8 MB
    return compiled


def _said(error: Exception) -> str:
    """RE2 tells its faults in bytes."""
    said = error.args[0] if error.args else ""
    return said.decode(errors="replace") if isinstance(said, bytes) else str(said)


def _resource(name: str, comparator: str, operand: str) -> Callable[[Any], bool]:
    """Of a resource's name. The same one has other names for clients of other projects: its id is what tells."""
    if comparator not in ("=", "!=", ":"):
        return _text(name, comparator, operand)
    compared = _entry(name, comparator, last_segment(operand))
    return lambda value: compared(last_segment(value))


def _time(name: str, comparator: str, operand: str) -> Callable[[Any], bool]:
    if comparator not in _ORDERS:
        raise _wrong(f"`{name}` is a time: compare it with =, !=, <, <=, > or >=, not with `{comparator}`")
    moment, order = _moment(operand), _ORDERS[comparator]
    if moment is None:
        raise _wrong(f'`{name}` is a time such as "2026-01-01T00:00:00Z", or microseconds, not {operand[:60]!r}')
    return lambda value: order(value, moment)


def _moment(operand: str) -> datetime | None:
    try:
        if re.fullmatch(r"-?\d{1,19}", operand) and not re.fullmatch(r"[12]\d{7}", operand):  # 20260501 is a day
            return from_micros(int(operand))
        return to_utc(datetime.fromisoformat(operand.upper()))
    except (ValueError, OverflowError, OSError):
        return None


def _enum(known: Sequence[str]) -> Callable[[str, str, str], Callable[[Any], bool]]:
    """Of one value, or of the names in a list."""

    def compare(name: str, comparator: str, operand: str) -> Callable[[Any], bool]:
        wanted = operand.upper()
        if wanted not in known:
            raise _wrong(f"`{name}` is one of {', '.join(known)}, not {operand[:60]!r}")
        return _named(name, comparator, wanted)

    return compare


def _named(name: str, comparator: str, operand: str) -> Callable[[Any], bool]:
    if comparator not in ("=", ":", "!="):
        raise _wrong(f"`{name}` is a name: compare it with =, != or :, not with `{comparator}`")
    if comparator == "!=":
        return lambda value: operand not in ([value] if isinstance(value, str) else value)
    return lambda value: operand in ([value] if isinstance(value, str) else value)


def _entry(name: str, comparator: str, operand: str) -> Callable[[Any], bool]:
    """Of a value under a key of a map; `:` asks for equality there (AIP-160)."""
    return _text(name, "=" if comparator == ":" else comparator, operand)


def _typed(name: str, comparator: str, operand: str) -> Callable[[Any], bool]:
    """Of metadata, each value by its type; another type is another value."""
    comparator = "=" if comparator == ":" else comparator
    moment = _moment(operand)
    number = float(operand) if re.fullmatch(r"-?\d+(\.\d+)?([Ee][+-]?\d+)?", operand) else None
    truth = {"true": True, "false": False}.get(operand.lower())
    of_text = _entry(name, comparator, operand)

    def test(value: Any) -> bool:
        if isinstance(value, str):
            return of_text(value)
        if isinstance(value, bool):
            wanted: Any = truth
        else:
            wanted = moment if isinstance(value, datetime) else number
        if wanted is None or comparator not in _ORDERS:
            return comparator == "!="
        return _ORDERS[comparator](value, wanted)

    return test


def _whole(name: str, comparator: str, operand: str) -> Callable[[Any], bool]:
    """Of a map itself: whether it has a key, or is a given one."""
    if comparator == ":":
        return lambda value: operand in value
    if comparator not in ("=", "!="):
        raise _wrong(f"`{name}` is a map: compare it with = or !=, or one of its entries, such as `{name}.key`")
    try:
        wanted = json.loads(operand)
    except (ValueError, RecursionError):
        wanted = None
    if not isinstance(wanted, dict):
        raise _wrong(f'`{name}` is compared with JSON such as "{{\\"user_id\\": \\"1\\"}}", not with {operand[:60]!r}')
    if comparator == "!=":
        return lambda value: value != wanted
    return lambda value: value == wanted


def _truth(name: str, comparator: str, operand: str) -> Callable[[Any], bool]:
    wanted = {"true": True, "false": False}.get(operand.lower())
    if comparator not in ("=", "!=", ":") or wanted is None:
        raise _wrong(f"`{name}` is true or false")
    return lambda value: (value is wanted) is not (comparator == "!=")


def _attribute(name: str) -> Callable[[Any], Any]:
    return operator.attrgetter(name)


def _managed(memory: Any) -> list[str]:
    return [topic for topic in cast("list[str]", memory.topics) if topic in _MANAGED]


def _custom(memory: Any) -> list[str]:
    return [topic for topic in cast("list[str]", memory.topics) if topic not in _MANAGED]


def _of(compare: Callable[[str, str, str], Callable[[Any], bool]], *names: str) -> dict[str, _Field]:
    return {name: _Field(compare, _attribute(name)) for name in names}


def _map(name: str, compare: Callable[[str, str, str], Callable[[Any], bool]] = _entry) -> dict[str, _Field]:
    """A map, and its entries under the name with a dot."""
    return {name: _Field(_whole, _attribute(name)), f"{name}.": _Field(compare, _attribute(name))}


_RETRIEVED = {
    **_of(_text, "fact", "display_name", "description"),
    **_of(_time, "create_time", "update_time", "expire_time"),
    **_of(_enum([kind.value for kind in MemoryType]), "memory_type"),
    **_of(_named, "topics"),
    "topics.managed_memory_topic": _Field(_enum(sorted(_MANAGED)), _managed),
    "topics.custom_memory_topic_label": _Field(_named, _custom),
    **_map("metadata", _typed),
}
_FIELDS: Mapping[str, Mapping[str, _Field]] = {
    "retrieved": _RETRIEVED,
    "memories": _RETRIEVED | _map("scope"),
    "revisions": {**_map("labels"), **_of(_text, "fact"), **_of(_time, "create_time", "expire_time")},
    "operations": {**_of(_truth, "done"), **_of(_text, "kind"), **_of(_time, "create_time")},
    "banks": {
        **_of(_text, "display_name", "description"),
        **_of(_resource, "name"),
        **_of(_time, "create_time", "update_time"),
        **_map("labels"),
    },
    "sessions": {
        **_of(_text, "user_id", "display_name"),
        **_of(_resource, "name"),
        **_of(_time, "create_time", "update_time", "expire_time"),
        **_map("labels"),
    },
    "session_events": _of(_time, "timestamp"),
    "scopes": {"scope": _Field(_whole, lambda scope: scope), "scope.": _Field(_entry, lambda scope: scope)},
}


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def _unknown(name: str, fields: Mapping[str, _Field]) -> InvalidArgument:
    known = [field for field in fields if not field.endswith(".")]
    if "scope" not in fields and _snake(name).startswith("scope"):
        return _wrong("`scope` can't be filtered by here: the request says which one")
    near = difflib.get_close_matches(_snake(name), known, n=1)
    hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(f'`{field}`' for field in known)}"
    return _wrong(f"there is no field `{name[:60]}`; {hint}")


def _wrong(message: str) -> InvalidArgument:
    return InvalidArgument(message, field="filter")
