"""Wishes to forget: dated, and as keyed hashes, so that what is older than one is not stored when it comes late."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, insert, select

from adk_memorybank.clock import from_micros, to_micros
from adk_memorybank.storage.database import AsyncConnection
from adk_memorybank.storage.schema import forget_requests

KEEP = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class Wish:
    """One wish: what was said before `time` and has all these keys is meant."""

    keys: frozenset[str]
    time: datetime


def hashed(keys: Iterable[str], *, secret: bytes, scope_id: int) -> frozenset[str]:
    """The keys as the store holds them: equal ones stay equal within a scope, and tell nothing."""
    return frozenset(
        hmac.digest(secret, f"forget {scope_id}:{key}".encode(), hashlib.sha256)[:16].hex() for key in keys
    )


async def read_wishes(connection: AsyncConnection, *, scope_id: int) -> list[Wish]:
    """All wishes of a scope."""
    rows = await connection.execute(select(forget_requests).where(forget_requests.c.scope_id == scope_id))
    return [Wish(frozenset(row.hashes), from_micros(row.event_time)) for row in rows]


async def add_wishes(connection: AsyncConnection, *, scope_id: int, wishes: Sequence[Wish], now: datetime) -> None:
    """Keeps some wishes; what they ask for of the memories that are there is not done here."""
    rows = [
        {
            "scope_id": scope_id,
            "hashes": sorted(wish.keys),
            "event_time": to_micros(wish.time),
            "create_time": to_micros(now),
        }
        for wish in wishes
    ]
    if rows:
        await connection.execute(insert(forget_requests), rows)


async def drop_old(connection: AsyncConnection, *, now: datetime) -> None:
    """Removes the wishes that came too long ago."""
    await connection.execute(delete(forget_requests).where(forget_requests.c.create_time < to_micros(now - KEEP)))
