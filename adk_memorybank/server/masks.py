"""What requests say beside their body: pages, and the fields that an update is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from fastapi import Query

from adk_memorybank.errors import InvalidArgument

Mask = frozenset[str]
"""Paths in snake_case; empty for `*`, which stands for everything."""

PageSize = Annotated[int | None, Query(alias="pageSize", description="At most 100.")]
PageToken = Annotated[str | None, Query(alias="pageToken", description="As the page before has given it.")]
UpdateMask = Annotated[
    list[str] | None,
    Query(alias="updateMask", description="Fields, separated by commas or repeated; without it those in the body."),
]


def read_mask(given: Sequence[str] | None) -> Mask | None:
    """Reads a field mask in either casing; None where none is given.

    Raises:
        InvalidArgument: it is given, and names nothing.
    """
    text = ",".join(given or ())
    if not text.strip():
        return None
    names = [_snake(name.strip()) for name in text.split(",") if name.strip()]
    if not names:
        raise InvalidArgument("names no field", field="updateMask")
    return frozenset() if "*" in names else frozenset(names)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: f"_{match[1].lower()}", name)
