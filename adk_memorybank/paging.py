"""Pages of a list, and the opaque tokens by which the next one is asked for.

A token names the place of the last item in the order of the list, not a count: what is inserted meanwhile neither
repeats an item nor hides one.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, cast

from adk_memorybank.errors import InvalidArgument

T = TypeVar("T")

_ORDER = re.compile(r"\s*(create_time|update_time|createTime|updateTime)(?:\s+(asc|desc))?\s*", re.IGNORECASE)

MAX_PAGE = 100
"""More are not given at once, whatever is asked for (reference 5.13)."""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items of a list. The token is empty on the last page."""

    items: list[T]
    next_page_token: str = ""


def page_limit(page_size: int | None, *, default: int = MAX_PAGE) -> int:
    """How many items a page has: none and 0 stand for the default, more than a hundred for a hundred.

    Raises:
        InvalidArgument: the size is negative or no whole number.
    """
    if page_size is None or page_size == 0:
        return default
    if isinstance(page_size, bool) or not isinstance(page_size, int) or page_size < 0:  # pyright: ignore[reportUnnecessaryIsInstance]: callers may not check types
        raise InvalidArgument(f"should be a positive number, not {page_size!r}", field="page_size")
    return min(page_size, MAX_PAGE)


@dataclass(frozen=True, slots=True)
class ByTime:
    """The order of a list."""

    field: Literal["create_time", "update_time"] = "create_time"
    descending: bool = True


def parse_order(text: str | None) -> ByTime:
    """Reads `create_time` or `update_time`, in either casing, with `asc` (the default there) or `desc`.

    Without a text the newest comes first.

    Raises:
        InvalidArgument: it is something else.
    """
    if not text or not text.strip():
        return ByTime()
    match = _ORDER.fullmatch(text)
    if match is None:
        raise InvalidArgument(
            f"should be `create_time` or `update_time`, with `asc` or `desc`, not {text[:60]!r}", field="order_by"
        )
    return ByTime(
        "update_time" if match[1].lower().startswith("update") else "create_time",
        descending=(match[2] or "").lower() == "desc",
    )


def encode_token(after: Sequence[Any], *, of: str) -> str:
    """The token for what comes after an item.

    Args:
        after: the item's place in the order: values that JSON can hold.
        of: all that makes the list what it is (its order, its filter …).
    """
    said = json.dumps([_fingerprint(of), *after], ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(said.encode()).decode().rstrip("=")


def decode_token(token: str | None, *, of: str, like: tuple[type, ...]) -> list[Any] | None:
    """The place that a token names; None for the first page.

    Args:
        token: as `encode_token` made it.
        of: the same as there.
        like: the types of the place's values.

    Raises:
        InvalidArgument: the token was not made here, or for another list.
    """
    if not token:
        return None
    try:
        said = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except (ValueError, TypeError, RecursionError):
        said = None
    entries = cast("list[Any]", said) if isinstance(said, list) else []
    if len(entries) != len(like) + 1 or not isinstance(entries[0], str):
        raise InvalidArgument("is none that a list has given out", field="page_token")
    if entries[0] != _fingerprint(of):
        raise InvalidArgument("belongs to a list with another filter or order", field="page_token")
    place = entries[1:]
    fits = all(type(value) is kind for value, kind in zip(place, like, strict=True))
    if not fits or any(isinstance(value, int) and abs(value) >= 2**63 for value in place):
        raise InvalidArgument("is none that a list has given out", field="page_token")
    return place


def _fingerprint(of: str) -> str:
    return hashlib.sha256(of.encode(errors="surrogatepass")).hexdigest()[:12]
