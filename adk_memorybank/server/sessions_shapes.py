"""The bodies of requests about sessions, and of their answers."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from adk_memorybank.resources import MAX_DISPLAY_NAME
from adk_memorybank.server.prefixes import Prefix
from adk_memorybank.server.shapes import Duration, Shape, Timestamp, example
from adk_memorybank.sessions import Session, SessionEvent


class SessionBody(Shape):
    """A session, as it is created or changed."""

    model_config = example({"userId": "123", "displayName": "Breakfast", "sessionState": {"count": 1}})

    user_id: str | None = None
    display_name: str | None = Field(default=None, max_length=MAX_DISPLAY_NAME)
    session_state: dict[str, Any] | None = None
    labels: dict[str, str] | None = None
    ttl: Duration | None = None
    expire_time: Timestamp | None = None


class SessionAnswer(Shape):
    """A session."""

    name: str
    user_id: str
    display_name: str | None = None
    session_state: dict[str, Any] | None = None
    labels: dict[str, str] | None = None
    create_time: Timestamp
    update_time: Timestamp
    expire_time: Timestamp | None = None

    @classmethod
    def of(cls, session: Session, prefix: Prefix) -> SessionAnswer:
        return cls(
            name=prefix.apply(session.name),
            user_id=session.user_id,
            display_name=session.display_name or None,
            session_state=session.session_state or None,
            labels=session.labels or None,
            create_time=session.create_time,
            update_time=session.update_time,
            expire_time=session.expire_time,
        )


class SessionPage(Shape):
    sessions: list[SessionAnswer]
    next_page_token: str | None = None


class _Event(Shape):
    author: str | None = None
    invocation_id: str | None = None
    content: dict[str, Any] | None = None
    actions: dict[str, Any] | None = None
    error_code: str | None = None
    error_message: str | None = None
    event_metadata: dict[str, Any] | None = None
    raw_event: dict[str, Any] | None = None


class EventBody(_Event):
    """An event of a session. `rawEvent` is ADK's own form of it, which is kept as it is."""

    model_config = example(
        {
            "author": "user",
            "invocationId": "1",
            "timestamp": "2026-01-01T00:00:00Z",
            "content": {"role": "user", "parts": [{"text": "I like green tea."}]},
        }
    )

    timestamp: Timestamp | None = None

    def given(self) -> dict[str, Any]:
        """What came."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class EventAnswer(_Event):
    """An event of a session."""

    name: str
    timestamp: Timestamp

    @classmethod
    def of(cls, event: SessionEvent, prefix: Prefix) -> EventAnswer:
        return cls.model_validate({**event.body, "name": prefix.apply(event.name), "timestamp": event.timestamp})


class EventPage(Shape):
    session_events: list[EventAnswer]
    next_page_token: str | None = None


class AppendAnswer(Shape):
    """Nothing but that it was done."""
