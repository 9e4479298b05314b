"""ADK's events, sessions and memory entries in few words, and what a service made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from google.adk.events.event import Event
from google.adk.memory.base_memory_service import SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai import types

from adk_memorybank import MemoryBankService
from adk_memorybank.resources import Memory
from adk_memorybank.testing import HashEmbedder, ScriptedGenerator

APP = "app"
USER = "user"
WHO: dict[str, Any] = {"app_name": APP, "user_id": USER}


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


def service_in(folder: Path, query: str = "", **options: Any) -> MemoryBankService:
    """A service on a store in this folder, with doubles for the model and the embedder where none is given."""
    chosen: dict[str, Any] = {"model": ScriptedGenerator(), "embedder": HashEmbedder(), **options}
    return MemoryBankService(f"memorybank:///{folder}/memory{query}", **chosen)


def offline_in(folder: Path) -> MemoryBankService:
    """A service with the generator that needs no model, and the real local embedder."""
    return MemoryBankService(f"memorybank:///{folder}/memory", model="offline")


async def kept(service: MemoryBankService, who: Mapping[str, str] = WHO) -> list[str]:
    """All that is remembered of somebody."""
    bank = await service.bank()
    return sorted(memory.fact for memory in await bank.list(scope=dict(who)))


async def only(service: MemoryBankService, who: Mapping[str, str] = WHO) -> Memory:
    """The one memory that there is of somebody."""
    (memory,) = await (await service.bank()).list(scope=dict(who))
    return memory


async def flushed(service: MemoryBankService) -> None:
    """Waits for one operation, which ends well."""
    assert [operation.error for operation in await service.flush()] == [None]
