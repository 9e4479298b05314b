"""What the tests of generation by a model share: conversations, answers, and what stood in a request."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from google.adk.models.llm_request import LlmRequest

from adk_memorybank import MemoryBank
from adk_memorybank.resources import Operation

SCOPE = {"user_id": "ada"}
PREFERENCES = "USER_PREFERENCES"
PERSONAL = "USER_PERSONAL_INFO"
DETAILS = "KEY_CONVERSATION_DETAILS"
EXPLICIT = "EXPLICIT_INSTRUCTIONS"
NOTHING: dict[str, Any] = {"facts": []}


def said(text: str, *, role: str = "user", time: datetime | str | None = None, id: str = "") -> dict[str, Any]:
    """An event as the REST face takes it."""
    given: dict[str, Any] = {"content": {"role": role, "parts": [{"text": text}]}}
    if time is not None:
        given["event_time"] = time if isinstance(time, str) else time.isoformat()
    if id:
        given["event_id"] = id
    return given


def day(number: int, month: int = 5) -> datetime:
    return datetime(2026, month, number, 10, tzinfo=UTC)


def fact(text: str, topic: str = PREFERENCES, *, event: Any = 1, action: str = "create") -> dict[str, Any]:
    """A fact as a model should answer it."""
    return {"fact": text, "topic": topic, "event": event, "action": action}


def facts(*items: dict[str, Any] | str) -> dict[str, Any]:
    """An extraction's answer; a text stands for a fact of the first event."""
    return {"facts": [fact(item) if isinstance(item, str) else item for item in items]}


def decide(action: str, *new: int, memory: Any = None, text: str | None = None) -> dict[str, Any]:
    """A decision as a model should answer it."""
    decision: dict[str, Any] = {"action": action, "new": list(new)}
    if memory is not None:
        decision["memory"] = memory
    if text is not None:
        decision["fact"] = text
    return decision


def decisions(*items: dict[str, Any]) -> dict[str, Any]:
    return {"decisions": list(items)}


def question(request: LlmRequest) -> str:
    """What the model was shown."""
    return "\n".join(part.text or "" for content in request.contents[:1] for part in content.parts or [])


def spoken(request: LlmRequest) -> list[str]:
    """The texts of the contents, one after the other."""
    return ["".join(part.text or "" for part in content.parts or []) for content in request.contents]


def instruction(request: LlmRequest) -> str:
    """What the model was told."""
    return str(request.config.system_instruction)


def is_consolidation(request: LlmRequest) -> bool:
    return question(request).startswith("New facts")


def numbered(request: LlmRequest, title: str) -> dict[str, int]:
    """The texts under `New facts` or `Memories` in a consolidation, with their ordinals."""
    part = question(request).split(f"{title}\n", 1)[1].split("\n\n", 1)[0]
    found: dict[str, int] = {}
    for line in part.splitlines():
        number, text = re.match(r'(\d+) [^"]*("(?:[^"\\]|\\.)*")', line).groups()  # pyright: ignore[reportOptionalMemberAccess]
        found[json.loads(text)] = int(number)
    return found


def updating(old: str, new: str, *, text: str | None = None) -> Any:
    """Answers a consolidation: the new fact takes the place of the old one, whatever their ordinals are."""

    def answer(request: LlmRequest) -> dict[str, Any]:
        memory, number = numbered(request, "Memories")[old], numbered(request, "New facts")[new]
        return decisions(decide("update", number, memory=memory, text=text or new))

    return answer


async def current(bank: MemoryBank, scope: dict[str, str] | None = None) -> list[str]:
    """All that is remembered, in order of the alphabet."""
    return sorted(memory.fact for memory in await bank.list(scope=scope or SCOPE))


async def generate(bank: MemoryBank, *texts: str | dict[str, Any], **more: Any) -> Operation:
    """Generates from what the user said."""
    events = [said(text) if isinstance(text, str) else text for text in texts]
    return await bank.generate(scope=SCOPE, events=events, **more)


def actions(operation: Operation) -> Sequence[str]:
    return [str(one.action.value) for one in operation.generated_memories]
