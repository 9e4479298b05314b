"""The values of profiles: read as what was asked for, cleaned of what can't be stored, compared."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, cast

DEEPEST_VALUE = 20
"""Levels of a value."""


class Misfit(ValueError):
    """A value that its field can't hold; the message says why, without the value."""


def same_value(one: Any, other: Any) -> bool:
    """Whether two values say the same; the case and the spaces of texts don't count."""
    return _folded(one) == _folded(other)


def _folded(value: Any) -> Any:
    if isinstance(value, str):
        return " ".join(value.casefold().split())
    if isinstance(value, list):
        return [_folded(one) for one in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: _folded(one) for key, one in cast("dict[str, Any]", value).items()}
    # True == 1 in Python, and not in JSON.
    return ("boolean", value) if isinstance(value, bool) else value


def member(value: Any, members: list[Any]) -> Any:
    """The member of an enum that a value names, however it is spelled."""
    for member in members:
        if type(value) is type(member) and value == member:
            return member
    said = " ".join(str(value).casefold().split()) if isinstance(value, str | int | float) else None
    for member in members:
        if said is not None and not isinstance(value, bool) and str(member).casefold() == said:
            return member
    raise Misfit("it is no member of the enum")


def as_list(value: Any) -> list[Any] | None:
    """A list; a single value is a list of one."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = _read(value)
    if isinstance(value, list):
        return cast("list[Any]", value)
    return None if value is None else [value]


def as_mapping(value: Any) -> Mapping[str, Any] | None:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = _read(value)
    return (
        {str(cleaned(str(key))): one for key, one in cast("dict[str, Any]", value).items()}
        if isinstance(value, dict)
        else None
    )


def _read(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return text


def scalar(value: Any, kind: str) -> Any:
    """The value as a scalar of this type; None where it can't be read so."""
    if kind == "string":
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18:
            return str(value)
        return (cleaned(value) or None) if isinstance(value, str) else None
    if kind == "boolean":
        named = {"true": True, "false": False}
        return (
            value if isinstance(value, bool) else named.get(value.strip().lower()) if isinstance(value, str) else None
        )
    if kind not in ("integer", "number") or isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value) if not isinstance(value, str) or len(value) < 40 else math.nan
        if not math.isfinite(number):
            return None
        if number.is_integer() and abs(number) < 2**53:
            return int(number) if kind == "integer" or not isinstance(value, float) else number
    except (ValueError, OverflowError):
        return None
    return number if kind == "number" else None


def cleaned(value: Any, depth: int = 0) -> Any:
    """JSON without what no database stores."""
    if depth > DEEPEST_VALUE or (isinstance(value, float) and not math.isfinite(value)):
        raise Misfit("it is no JSON that can be stored")
    if isinstance(value, str):
        # As for facts: control characters and lone surrogates go.
        return "".join(
            sign for sign in value if sign in "\n\t" or (sign >= " " and not "\ud800" <= sign <= "\udfff")
        ).strip()
    if isinstance(value, list):
        return [cleaned(one, depth + 1) for one in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {cleaned(str(key)): cleaned(one, depth + 1) for key, one in cast("dict[str, Any]", value).items()}
    return value
