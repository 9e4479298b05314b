"""Long work on the loop of the engine, in breaths: what else runs there gets its turn in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

T = TypeVar("T")

_BREATH = 4


async def in_breaths(items: Iterable[T]) -> AsyncIterator[T]:
    """The items, a few at a time."""
    for number, item in enumerate(items):
        if number % _BREATH == _BREATH - 1:
            await asyncio.sleep(0)
        yield item
