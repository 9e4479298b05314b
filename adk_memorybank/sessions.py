"""ADK sessions as a store keeps them: the resources, and the JSON of their events in one spelling.

The shapes are those of the managed service's Sessions API, so that its clients read back what they have sent.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from pydantic import Field

from adk_memorybank.clock import to_utc
from adk_memorybank.errors import InvalidArgument
from adk_memorybank.events import Event, read_event
from adk_memorybank.resources import MAX_SCOPE_BYTES, Resource, clean_text

MAX_DEPTH = 100
"""How deep JSON may be nested, as in protocol buffers."""
_TEMPORARY = "temp:"
"""State under such a key lives for one invocation: ADK stores it nowhere."""
_FIELDS = ("author", "invocationId", "content", "actions", "errorCode", "errorMessage", "eventMetadata", "rawEvent")
_OBJECTS = {"content", "actions", "eventMetadata", "rawEvent"}
_VERBATIM = {
    "args",
    "artifactDelta",
    "customMetadata",
    "partMetadata",
    "rawEvent",
    "requestedAuthConfigs",
    "response",
    "stateDelta",
}
"""Maps of the caller's own: their keys are no names of fields."""
_EVENT_ID = re.compile(r"[A-Za-z0-9_-]{1,63}")


class Session(Resource):
    """An ADK session.

    Attributes:
        name: `{bank}/sessions/{id}`.
        session_state: as the events appended so far have left it.
    """

    name: str
    user_id: str
    display_name: str = ""
    labels: dict[str, str] = Field(default_factory=dict)
    session_state: dict[str, Any] = Field(default_factory=dict)
    create_time: datetime
    update_time: datetime
    expire_time: datetime | None = None

    @property
    def id(self) -> str:
        return self.name.rpartition("/")[2]


class SessionEvent(Resource):
    """An event of a session.

    Attributes:
        name: `{session}/events/{id}`.
        timestamp: when it happened, as the client told.
        body: the rest of it in camelCase, maps of the caller's own as they came.
    """

    name: str
    timestamp: datetime
    body: dict[str, Any]

    @property
    def id(self) -> str:
        return self.name.rpartition("/")[2]

    @property
    def state_delta(self) -> dict[str, Any]:
        """What it changes in its session's state; nothing where it is a chunk of an event that is to come whole."""
        if self.body.get("eventMetadata", {}).get("partial"):
            return {}
        return self.body.get("actions", {}).get("stateDelta", {})

    def read(self, *, session_id: str) -> Event:
        """What a generation reads of it.

        Raises:
            InvalidArgument: its content has no shape that can be read.
        """
        content = self.body.get("content")
        if content is None:
            content = self.body.get("rawEvent", {}).get("content")
        return read_event(
            {
                "content": content,
                "author": self.body["author"],
                "event_id": self.id,
                "timestamp": self.timestamp,
                "partial": self.body.get("eventMetadata", {}).get("partial"),
            },
            session_id=session_id,
        )


def read_body(event: Mapping[str, Any]) -> tuple[datetime, dict[str, Any]]:
    """The timestamp and the body of an event that comes as JSON in either casing. Unknown fields are ignored.

    Raises:
        InvalidArgument: naming the field.
    """
    if not isinstance(event, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]: callers may not check types
        raise InvalidArgument(f"should be an object, not {type(event).__name__}", field="event")
    given = {_camel(str(key)): value for key, value in event.items() if value is not None}
    for required in ("author", "invocationId", "timestamp"):
        if not given.get(required):
            raise InvalidArgument("is required", field=required)
    body: dict[str, Any] = {}
    for field in _FIELDS:
        if field not in given:
            continue
        wanted = Mapping if field in _OBJECTS else str
        if not isinstance(given[field], wanted):
            kind = "an object" if field in _OBJECTS else "a string"
            raise InvalidArgument(f"should be {kind}, not {type(given[field]).__name__}", field=field)
        value = plain_json(given[field], field=field)
        body[field] = value if field in _VERBATIM else _in_camel_case(value)
    for path, place in (("actions", body), ("rawEvent.actions", body.get("rawEvent", {}))):
        _drop_temporary(place.get("actions", {}), path)
    if not isinstance(body.get("eventMetadata", {}).get("partial", False), bool):
        raise InvalidArgument("should be true or false", field="eventMetadata.partial")
    return _time(given["timestamp"]), body


def own_id(body: Mapping[str, Any]) -> str | None:
    """The id that ADK gave an event; None where there is none, or none that a resource's name can end with."""
    given = body.get("rawEvent", {}).get("id")
    return given if isinstance(given, str) and _EVENT_ID.fullmatch(given) else None


def read_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """A session's state as it is stored.

    Raises:
        InvalidArgument: it is no object of plain JSON.
    """
    if not isinstance(state, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]: callers may not check types
        raise InvalidArgument(f"should be an object, not {type(state).__name__}", field="session_state")
    return without_temporary(plain_json(state, field="session_state"))


def read_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """A session's labels.

    Raises:
        InvalidArgument: one is no string.
    """
    if not isinstance(labels, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]: callers may not check types
        raise InvalidArgument(f"should be an object, not {type(labels).__name__}", field="labels")
    for key, value in labels.items():
        if not isinstance(key, str) or not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidArgument("keys and values are strings", field=f"labels.{str(key)[:60]}")
    return {clean_text(key): clean_text(value) for key, value in labels.items()}


def validate_user_id(user_id: str) -> str:
    """Checks whose a session is.

    Raises:
        InvalidArgument: it is no string, empty, too long, or can't be stored.
    """
    if not isinstance(user_id, str) or not user_id:  # pyright: ignore[reportUnnecessaryIsInstance]: callers may not check types
        raise InvalidArgument("should be a string that is not empty", field="user_id")
    if clean_text(user_id) != user_id:
        raise InvalidArgument("NUL and lone surrogates are not allowed", field="user_id")
    if len(user_id.encode()) > MAX_SCOPE_BYTES:
        raise InvalidArgument(f"has at most {MAX_SCOPE_BYTES} bytes", field="user_id")
    return user_id


def without_temporary(state: Mapping[str, Any]) -> dict[str, Any]:
    """State without what lives for one invocation only."""
    return {key: value for key, value in state.items() if not key.startswith(_TEMPORARY)}


def plain_json(value: Any, *, field: str, depth: int = 0) -> Any:
    """The same JSON with texts that can be stored.

    Raises:
        InvalidArgument: it holds what is no JSON, such as NaN, or is nested too deeply.
    """
    if depth > MAX_DEPTH:
        raise InvalidArgument(f"is nested more than {MAX_DEPTH} deep", field=field)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, Mapping):
        entries = cast("Mapping[Any, Any]", value)
        return {clean_text(str(key)): plain_json(entry, field=field, depth=depth + 1) for key, entry in entries.items()}
    if isinstance(value, list | tuple):
        return [plain_json(entry, field=field, depth=depth + 1) for entry in cast("Sequence[Any]", value)]
    raise InvalidArgument(f"is no JSON: {str(value)[:60]} ({type(value).__name__})", field=field)


def _in_camel_case(value: Any) -> Any:
    """Fields in camelCase at every depth; an empty one counts as absent, as in the JSON of protocol buffers."""
    if isinstance(value, dict):
        named = {_camel(key): entry for key, entry in cast("dict[str, Any]", value).items() if entry is not None}
        return {key: entry if key in _VERBATIM else _in_camel_case(entry) for key, entry in named.items()}
    if isinstance(value, list):
        return [_in_camel_case(entry) for entry in cast("list[Any]", value)]
    return value


def _camel(name: str) -> str:
    return re.sub("_([a-z0-9])", lambda match: match[1].upper(), name)


def _drop_temporary(actions: Any, path: str) -> None:
    for key in ("stateDelta", "state_delta"):
        delta = cast("dict[str, Any]", actions).get(key) if isinstance(actions, dict) else None
        if delta is None:
            continue
        if not isinstance(delta, dict):
            raise InvalidArgument("should be an object", field=f"{path}.{key}")
        actions[key] = without_temporary(cast("dict[str, Any]", delta))


def _time(value: Any) -> datetime:
    try:
        return to_utc(value if isinstance(value, datetime) else datetime.fromisoformat(value))
    except (TypeError, ValueError) as error:
        raise InvalidArgument("not a time as RFC 3339 has it", field="timestamp") from error
