"""Events as they come in: from ADK, the official SDK, a dictionary or a plain content, to one shape."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, cast

from pydantic.alias_generators import to_camel

from adk_memorybank.clock import to_utc
from adk_memorybank.errors import InvalidArgument
from adk_memorybank.resources import clean_text

_AUTH_REQUEST = "adk_request_credential"
_OTHER_PARTS = (
    "function_call",
    "function_response",
    "executable_code",
    "code_execution_result",
    "tool_call",
    "tool_response",
)
MAX_ID_BYTES = 4096


MAX_MEDIA_BYTES = 8_000_000
"""Of one part's data. What is larger belongs into a file that the event points to."""


@dataclass(frozen=True, slots=True)
class Media:
    """An image, a sound, a film or a document: its bytes, or where it lies."""

    mime_type: str
    data: bytes = b""
    uri: str = ""

    def to_json(self) -> dict[str, str]:
        return {"mime_type": self.mime_type, "data": base64.b64encode(self.data).decode(), "uri": self.uri}

    @classmethod
    def from_json(cls, stored: Mapping[str, str]) -> Media:
        """The inverse of `to_json`."""
        return cls(stored["mime_type"], base64.b64decode(stored["data"]), stored["uri"])


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a conversation.

    Attributes:
        event_id: unique in its stream; empty where the caller gave none, and then the event always counts as new.
        role: `user` or `model`; anything else is kept as it came and fails the generation that reads it.
        texts: what was said, part by part.
        media: what was shown. Kept only where the bank's model can look at it.
        passed_over: kinds of the parts that can't be read, such as `function_call` or `inline_data image/png`.
        time: when it happened, in UTC.
    """

    event_id: str
    role: str
    author: str
    texts: tuple[str, ...]
    passed_over: tuple[str, ...] = ()
    time: datetime | None = None
    session_id: str = ""
    media: tuple[Media, ...] = ()

    def without_media(self) -> Event:
        """The event for a reader of texts: what was shown is passed over, each by its kind."""
        if not self.media:
            return self
        kinds = [f"{'file_data' if media.uri else 'inline_data'} {media.mime_type}".strip() for media in self.media]
        return replace(self, media=(), passed_over=(*self.passed_over, *kinds))


@dataclass(frozen=True, slots=True)
class _Part:
    text: str = ""
    kind: str = ""
    media: Media | None = None


def read_event(event: Any, *, session_id: str = "", path: str = "event") -> Event:
    """Reads one event.

    Args:
        event: an ADK `Event`, an event of the official SDK, a genai `Content`, or any of these as a dictionary in
            either casing.
        session_id: of the session that it belongs to.
        path: where it stands in the caller's input, for errors.

    Raises:
        InvalidArgument: it has a shape that is none of these, or an id over 4,096 bytes.
    """
    content = _get(event, "content")
    if content is None and _get(event, "parts") is not None:
        event, content = {}, event  # a plain content
    if content is None and not _is_event(event):
        raise InvalidArgument("an event has `content`, a content has `parts`", field=path)
    author = str(_get(event, "author") or "")
    role = clean_text(str(_get(content, "role") or "")) if content is not None else ""
    if author:
        # ADK gives tool answers the role of the user; who is speaking is told by the author.
        role = "user" if author == "user" else "model"
    role = role or "user"
    texts: list[str] = []
    media: list[Media] = []
    passed_over: list[str] = []
    for part in _parts(content, path=path):
        if part.text:
            texts.append(part.text)
        elif part.media is not None:
            media.append(part.media)
        elif part.kind:
            passed_over.append(part.kind)
    if texts and _get(event, "partial"):
        texts, media, passed_over = (
            [],
            [],
            ["partial"],
        )  # a chunk of a stream: the whole text follows in an event of its own
    event_id = clean_text(str(_get(event, "event_id") or _get(event, "id") or ""))
    if len(event_id.encode()) > MAX_ID_BYTES:
        raise InvalidArgument(f"an id has at most {MAX_ID_BYTES} bytes", field=f"{path}.event_id")
    if passed_over == ["partial"] and event_id:
        event_id += ":partial"  # ADK gives chunks the id of the whole: it must not count as seen because of them
    return Event(
        event_id=event_id,
        role=role,
        author=clean_text(author or role),
        texts=tuple(texts),
        passed_over=tuple(passed_over),
        time=_time(_first(event, "event_time", "timestamp"), path=path),
        session_id=clean_text(session_id),
        media=tuple(media),
    )


def read_events(events: Sequence[Any], *, session_id: str = "", path: str = "events") -> list[Event]:
    """Reads events, each as `read_event` does; one that was read already is taken as it is.

    Raises:
        InvalidArgument: it is no list, or saying which event is wrong.
    """
    if not isinstance(events, Sequence) or isinstance(events, str | bytes):  # pyright: ignore[reportUnnecessaryIsInstance]: callers may not check types
        raise InvalidArgument(f"should be a list, not {type(events).__name__}", field=path)
    return [
        event if isinstance(event, Event) else read_event(event, session_id=session_id, path=f"{path}[{index}]")
        for index, event in enumerate(events)
    ]


def read_session(session: Any) -> list[Event]:
    """Reads the events of an ADK session. An event without an id gets one from what it says, when and where.

    ADK apps add a session again after every turn; without an id nothing else could tell that an event was seen.
    """
    session_id = clean_text(str(session.id))
    seen: dict[str, int] = {}
    events: list[Event] = []
    for index, raw in enumerate(session.events):
        event = read_event(raw, session_id=session_id, path=f"session.events[{index}]")
        if not event.event_id:
            shown = [media.mime_type for media in event.media]
            said = json.dumps([event.author, event.texts, shown, event.passed_over, str(event.time)])
            digest = hashlib.sha256(said.encode()).hexdigest()[:32]
            seen[digest] = seen.get(digest, 0) + 1
            event = replace(event, event_id=f"{digest}-{seen[digest]}")
        events.append(event)
    return events


def _is_event(event: Any) -> bool:
    """Whether it is an event that carries no content, such as a change of state."""
    if isinstance(event, Mapping):
        return "content" in event
    return hasattr(event, "content")


def _parts(content: Any, *, path: str) -> list[_Part]:
    raw_parts = _get(content, "parts") if content is not None else None
    if isinstance(content, str):
        raw_parts = [{"text": content}]
    if raw_parts is None:
        return []
    if not isinstance(raw_parts, Sequence) or isinstance(raw_parts, str):
        raise InvalidArgument("`parts` is a list", field=f"{path}.content.parts")
    return [_read_part(part, path=f"{path}.content.parts[{index}]") for index, part in enumerate(raw_parts)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]: any sequence will do


def _read_part(part: Any, *, path: str) -> _Part:
    text = _get(part, "text")
    if text is not None and not isinstance(text, str):
        raise InvalidArgument("text is a string", field=f"{path}.text")
    if _get(part, "thought"):
        return _Part(kind="thought")
    if text:
        return _Part(text=clean_text(text)) if text.strip() else _Part()
    for name in ("inline_data", "file_data"):
        data = _get(part, name)
        if data is not None:
            return _read_media(data, name, path=path)
    for name in _OTHER_PARTS:
        value = _get(part, name)
        if value is not None:
            return _Part(kind="auth_request" if _get(value, "name") == _AUTH_REQUEST else name)
    return _Part()


def _read_media(value: Any, name: str, *, path: str) -> _Part:
    mime_type = clean_text(str(_get(value, "mime_type") or ""))[:100]
    uri = clean_text(str(_get(value, "file_uri") or ""))
    if uri:
        return _Part(media=Media(mime_type, uri=uri))
    data = _get(value, "data") or b""
    if isinstance(data, str):  # on the wire: base64 of either alphabet
        try:
            data = base64.b64decode(data.replace("-", "+").replace("_", "/"), validate=True)
        except ValueError as error:
            raise InvalidArgument("not base64", field=f"{path}.{name}.data") from error
    if not isinstance(data, bytes | bytearray | memoryview):
        raise InvalidArgument("bytes, or base64 of them", field=f"{path}.{name}.data")
    data = bytes(data)
    if not data or len(data) > MAX_MEDIA_BYTES:
        why = "over 8 MB" if data else "without data"
        return _Part(kind=f"{name} {mime_type} {why}".replace("  ", " "))
    return _Part(media=Media(mime_type, data=data))


def _first(value: Any, *names: str) -> Any:
    for name in names:
        found = _get(value, name)
        if found is not None:
            return found
    return None


def _get(value: Any, name: str) -> Any:
    """A field of an object, or of a dictionary in snake_case or camelCase."""
    if not isinstance(value, Mapping):
        return getattr(value, name, None)
    entries = cast("Mapping[str, Any]", value)
    return entries.get(name, entries.get(to_camel(name)))


def _time(value: Any, *, path: str) -> datetime | None:
    if value is None:
        return None
    try:
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value, UTC)
        return to_utc(value if isinstance(value, datetime) else datetime.fromisoformat(str(value)))
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidArgument("not a time: RFC 3339, or seconds since the epoch", field=f"{path}.event_time") from error
