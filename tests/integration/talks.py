"""Sessions in a bank, and what is said in them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from adk_memorybank import MemoryBank
from adk_memorybank.sessions import Session

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def said(text: str, *, author: str = "user", second: int = 0, **fields: Any) -> dict[str, Any]:
    """An event as the official client sends it: the top level in camelCase, what is below in snake_case."""
    return {
        "author": author,
        "invocationId": "i",
        "timestamp": (NOON + timedelta(seconds=second)).isoformat(),
        "content": {"parts": [{"text": text}], "role": "user" if author == "user" else "model"},
        **fields,
    }


async def talk(bank: MemoryBank, *texts: str, user: str = "ada", **options: Any) -> Session:
    """A session in which a user says these things, second by second."""
    made = await bank.sessions.create(user_id=user, **options)
    for second, text in enumerate(texts):
        await bank.sessions.append_event(name=made.name, event=said(text, second=second))
    return made
