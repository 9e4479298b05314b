"""From the events of one operation to what a generator reads."""

from __future__ import annotations

import re
from collections.abc import Iterable

from adk_memorybank.errors import InvalidArgument
from adk_memorybank.events import Event
from adk_memorybank.generation.generator import Turn

_RECALLED = re.compile(r"<\s*PAST_CONVERSATIONS\s*>.*?(?:<\s*/\s*PAST_CONVERSATIONS\s*>|\Z)", re.DOTALL | re.IGNORECASE)
"""What recall put into the conversation. Extracted again, it would multiply with every session."""


def read_turns(events: Iterable[tuple[Event, bool]]) -> list[Turn]:
    """Turns of the events, (event, new), in their order. Events with nothing left to read give none.

    Raises:
        InvalidArgument: an event has another role than `user` or `model` (reference 5.2).
    """
    turns: list[Turn] = []
    for event, new in events:
        if event.role not in ("user", "model"):
            raise InvalidArgument("please use a valid role: user, model", field="content.role")
        text = _RECALLED.sub(" ", "\n".join(event.texts)).strip()
        if text or event.media:
            turns.append(
                Turn(
                    session_id=event.session_id,
                    event_id=event.event_id,
                    role="user" if event.role == "user" else "model",
                    author=event.author,
                    text=text,
                    time=event.time,
                    new=new,
                    media=event.media,
                )
            )
    return turns
