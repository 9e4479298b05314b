"""ADK's events, sessions and memory entries, in few words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from google.adk.events.event import Event
from google.adk.memory.base_memory_service import SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai import types

APP = "app"
USER = "user"
WHO: dict[str, str] = {"app_name": APP, "user_id": USER}


def event(
    text: str | None = None,
    *,
    author: str = "user",
    parts: Iterable[types.Part] = (),
    time: float | None = None,
    **fields: Any,
) -> Event:
    """An event that says `text`, with further parts after it; one without both has no content."""
    said = [*([] if text is None else [types.Part(text=text)]), *parts]
    role = "user" if author == "user" else "model"
    if time is not None:
        fields["timestamp"] = time
    return Event(author=author, content=types.Content(role=role, parts=said) if said else None, **fields)


def session(*events: Event | str, id: str = "session", app_name: str = APP, user_id: str = USER) -> Session:
    """A session of events; a text stands for an event of the user's."""
    made = [event(one) if isinstance(one, str) else one for one in events]
    return Session(id=id, app_name=app_name, user_id=user_id, events=made)


def entry(text: str, **fields: Any) -> MemoryEntry:
    return MemoryEntry(content=types.Content(role="user", parts=[types.Part(text=text)]), **fields)


def texts(response: SearchMemoryResponse) -> list[str]:
    """What was found, the best first."""
    return [part.text or "" for memory in response.memories for part in memory.content.parts or []]
