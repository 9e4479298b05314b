"""ADK's `custom_metadata`, key by key as its `VertexAiMemoryBankService` reads it (reference 7.2)."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from google.adk.memory.memory_entry import MemoryEntry

from adk_memorybank.clock import to_utc
from adk_memorybank.config import MemoryTopicId
from adk_memorybank.durations import parse_duration
from adk_memorybank.errors import InvalidArgument
from adk_memorybank.options import GenerationOptions, MemoryOptions, MetadataMergeStrategy, RevisionOptions
from adk_memorybank.resources import MetadataValue, clean_text, validate_memory_id

logger = logging.getLogger("google_adk.adk_memorybank.custom_metadata")

OWN_KEY = "memory_bank"
"""Where results carry what the bank knows of a memory. An entry that comes back with it is not metadata."""

_CONSOLIDATION = "enable_consolidation"
_INGEST_KEYS = ("stream_id", "force_flush", "generation_trigger_config")
_REVISION_KEYS = ("revision_labels", "revision_ttl", "revision_expire_time", "disable_memory_revisions")
_GENERATE_KEYS = (
    *_REVISION_KEYS,
    "allowed_topics",
    "disable_consolidation",
    "http_options",
    "metadata",
    "metadata_merge_strategy",
    "ttl",
    "wait_for_completion",
)
_CREATE_KEYS = (
    *_REVISION_KEYS,
    "description",
    "display_name",
    "expire_time",
    "http_options",
    "memory_id",
    "metadata",
    "topics",
    "ttl",
    "wait_for_completion",
)
_TYPED = ("bool_value", "double_value", "string_value", "timestamp_value")


@dataclass(frozen=True, slots=True)
class EventsRequest:
    """What `custom_metadata` asks of events that are added.

    Attributes:
        force_flush: read all that waits now.
        at_once: read the events that come with it now, and what waits before them: asked for by every key that only a
            generation understands.
        trigger: as `GenerationTriggerConfig.parse` takes it.
        wait: for the end of the operation.
    """

    options: GenerationOptions
    stream_id: str = ""
    force_flush: bool = False
    at_once: bool = False
    trigger: Any = None
    wait: bool = False


def events_request(custom_metadata: Mapping[str, object] | None) -> EventsRequest:
    """Reads the `custom_metadata` of events, and of memories that are to be consolidated.

    Raises:
        InvalidArgument: naming the key whose value is wrong.
    """
    given = _given(custom_metadata)
    _tell_http_options(given)
    revision = _revision(given)
    if revision.ttl is None and revision.expire_time is None and "ttl" in given:
        # The only time to live that a generation takes is that of its revisions.
        revision = revision.model_copy(update={"ttl": _duration(given, "ttl")})
    options = GenerationOptions(
        metadata=_metadata(given, known=(*_INGEST_KEYS, *_GENERATE_KEYS)),
        metadata_merge_strategy=_merge_strategy(given),
        disable_consolidation=_flag(given, "disable_consolidation") or False,
        allowed_topics=_topics(given, "allowed_topics") or None,  # an empty list restricts nothing, as on the wire
        revision=revision,
    )
    generates = any(key in given for key in _GENERATE_KEYS) and "generation_trigger_config" not in given
    return EventsRequest(
        options=options,
        stream_id=_text(given, "stream_id"),
        force_flush=_flag(given, "force_flush") or False,
        at_once=generates,
        trigger=given.get("generation_trigger_config"),
        wait=_flag(given, "wait_for_completion") or False,
    )


def is_consolidation_enabled(custom_metadata: Mapping[str, object] | None) -> bool:
    """Whether memories are to be merged with what is there.

    Raises:
        TypeError: the value is no bool.
        InvalidArgument: it is no mapping.
    """
    value = _mapping(custom_metadata).get(_CONSOLIDATION)
    if value is not None and not isinstance(value, bool):
        raise TypeError(f'custom_metadata["{_CONSOLIDATION}"] must be a bool.')
    return bool(value)


def memory_options(entry: MemoryEntry, custom_metadata: Mapping[str, object] | None, *, index: int) -> MemoryOptions:
    """What is to be kept with one memory: the entry's own `custom_metadata` goes before the call's.

    Raises:
        InvalidArgument: naming the key whose value is wrong.
    """
    given = _given({**_mapping(custom_metadata), **entry.custom_metadata})
    _tell_http_options(given)
    memory_id = _text(given, "memory_id") or None
    if memory_id is None and entry.id:
        try:
            memory_id = validate_memory_id(entry.id, field=f"memories[{index}].id")
        except InvalidArgument as error:
            logger.info("the memory gets another id: %s", error)
    revision = _revision(given)
    labels = dict(revision.labels)
    if entry.author is not None:
        labels["author"] = clean_text(entry.author)
    if entry.timestamp is not None:
        labels["timestamp"] = clean_text(entry.timestamp)
    return MemoryOptions(
        memory_id=memory_id,
        display_name=_text(given, "display_name"),
        description=_text(given, "description"),
        topics=_topics(given, "topics"),
        metadata=_metadata(given, known=_CREATE_KEYS),
        ttl=_duration(given, "ttl"),
        expire_time=_moment(given, "expire_time"),
        author=clean_text(entry.author or "user"),
        event_time=_said_at(entry.timestamp),
        revision=revision.model_copy(update={"labels": labels}),
    )


def entry_texts(memories: Sequence[MemoryEntry]) -> list[str]:
    """The text of each entry, its parts joined by newlines.

    Raises:
        TypeError: it is no sequence of `MemoryEntry`.
        InvalidArgument: there is none, or one holds something else than text.
    """
    if isinstance(memories, str) or not isinstance(memories, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]: callers may not check types
        raise TypeError("memories must be a sequence of memory items.")
    if not memories:
        raise InvalidArgument("must contain at least one entry", field="memories")
    return [_entry_text(entry, index=index) for index, entry in enumerate(memories)]


def tell_left_out(memories: Sequence[MemoryEntry]) -> None:
    """Says what entries carry that consolidation has no place for: it goes by their texts, as ADK's own service does.

    What is to be kept with them stands in the call's `custom_metadata`.
    """
    left_out = {
        name
        for entry in memories
        for name, value in (
            ("id", entry.id),
            ("author", entry.author),
            ("timestamp", entry.timestamp),
            ("custom_metadata", {key: one for key, one in entry.custom_metadata.items() if key != OWN_KEY}),
        )
        if value
    }
    if left_out:
        logger.warning("enable_consolidation: %s of the entries are passed over", ", ".join(sorted(left_out)))


def _entry_text(entry: MemoryEntry, *, index: int) -> str:
    if not isinstance(entry, MemoryEntry):  # pyright: ignore[reportUnnecessaryIsInstance]: callers may not check types
        raise TypeError(f"memories[{index}] must be a MemoryEntry.")
    texts: list[str] = []
    for part in entry.content.parts or ():
        if part.inline_data or part.file_data:
            raise InvalidArgument(
                "must include text only; inline_data and file_data are not supported", field=f"memories[{index}]"
            )
        if part.text and part.text.strip():
            texts.append(part.text.strip())
    if not texts:
        raise InvalidArgument("must include non-whitespace text", field=f"memories[{index}]")
    return "\n".join(texts)


def _mapping(custom_metadata: Mapping[str, object] | None) -> Mapping[str, object]:
    if custom_metadata is None:
        return {}
    if not isinstance(custom_metadata, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]: callers may not check types
        raise InvalidArgument(f"should be a mapping, not {type(custom_metadata).__name__}", field="custom_metadata")
    return custom_metadata


def _given(custom_metadata: Mapping[str, object] | None) -> dict[str, Any]:
    """What was given: None stands for "not given"."""
    given: dict[str, Any] = {}
    for key, value in _mapping(custom_metadata).items():
        if key == _CONSOLIDATION or (key == OWN_KEY and isinstance(value, Mapping)):
            continue
        if value is None:
            _tell_none(key)
        else:
            given[key] = value
    return given


def _tell_none(key: object) -> None:
    logger.warning("custom_metadata: the value of %r is None and is passed over", key)


def _tell_http_options(given: Mapping[str, Any]) -> None:
    if "http_options" in given:
        logger.info("custom_metadata['http_options'] has no meaning here: there is no HTTP")


def _revision(given: Mapping[str, Any]) -> RevisionOptions:
    labels = given.get("revision_labels", {})
    if not isinstance(labels, Mapping) or not all(
        isinstance(part, str) for pair in cast("Mapping[Any, Any]", labels).items() for part in pair
    ):
        raise InvalidArgument("a mapping of strings to strings", field=_path("revision_labels"))
    return RevisionOptions(
        labels={clean_text(key): clean_text(value) for key, value in cast("Mapping[str, str]", labels).items()},
        ttl=_duration(given, "revision_ttl"),
        expire_time=_moment(given, "revision_expire_time"),
        disabled=_flag(given, "disable_memory_revisions"),
    )


def _metadata(given: Mapping[str, Any], *, known: Sequence[str]) -> dict[str, MetadataValue]:
    own = given.get("metadata", {})
    if not isinstance(own, Mapping):
        raise InvalidArgument("a mapping", field=_path("metadata"))
    merged = {**cast("Mapping[str, Any]", own), **{key: value for key, value in given.items() if key not in known}}
    if OWN_KEY in merged:
        raise InvalidArgument("this key is the bank's own in results: choose another", field=_path(OWN_KEY))
    metadata: dict[str, MetadataValue] = {}
    for key, value in merged.items():
        kind, inner = _kind(value)
        if inner is None:
            _tell_none(key)
        else:
            metadata[clean_text(str(key))] = _typed(str(key), kind, inner)
    return metadata


def _kind(value: Any) -> tuple[str, Any]:
    """The type that a value says it has, such as `double_value`, or none; and the value itself."""
    if isinstance(value, Mapping):
        entries = cast("Mapping[Any, Any]", value)
        if len(entries) == 1 and (kind := next(iter(entries))) in _TYPED:
            return kind, entries[kind]
    return "", cast("Any", value)


def _typed(key: str, kind: str, value: Any) -> MetadataValue:
    """One value with its type; what has none of the four is kept as its text, as ADK's own service does."""
    if kind == "timestamp_value" or isinstance(value, datetime):
        return _utc(value, key)
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise InvalidArgument("a number is finite, and at most that of a double", field=_path(key))
        return number
    if isinstance(value, Mapping):
        return clean_text(str(dict(cast("Mapping[Any, Any]", value))))
    return clean_text(value if isinstance(value, str) else str(value))


def _merge_strategy(given: Mapping[str, Any]) -> MetadataMergeStrategy | None:
    if "metadata_merge_strategy" not in given:
        return None
    value = given["metadata_merge_strategy"]
    try:
        return MetadataMergeStrategy(str(getattr(value, "value", value)).upper())
    except ValueError as error:
        known = ", ".join(MetadataMergeStrategy)
        raise InvalidArgument(f"one of {known}, not {value!r}", field=_path("metadata_merge_strategy")) from error


def _topics(given: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = given.get(key, ())
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidArgument("a list of topics", field=_path(key))
    topics = cast("Sequence[Any]", value)
    return tuple(MemoryTopicId.parse(topic, field=f"{_path(key)}[{index}]").name for index, topic in enumerate(topics))


def _flag(given: Mapping[str, Any], key: str) -> bool | None:
    value = given.get(key)
    if value is not None and not isinstance(value, bool):
        raise InvalidArgument(f"true or false, not {value!r}", field=_path(key))
    return value


def _text(given: Mapping[str, Any], key: str) -> str:
    value = given.get(key, "")
    if not isinstance(value, str):
        raise InvalidArgument("a string", field=_path(key))
    return clean_text(value)


def _duration(given: Mapping[str, Any], key: str) -> timedelta | None:
    return None if key not in given else parse_duration(given[key], _path(key))


def _moment(given: Mapping[str, Any], key: str) -> datetime | None:
    return None if key not in given else _utc(given[key], key)


def _utc(value: Any, key: str) -> datetime:
    try:
        return to_utc(value if isinstance(value, datetime) else datetime.fromisoformat(value))
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"a time in RFC 3339, not {str(value)[:60]!r}", field=_path(key)) from error


def _said_at(timestamp: str | None) -> datetime | None:
    """When an entry's content happened; free text, which ADK allows, stays in the revision's label only."""
    try:
        return _utc(timestamp, "timestamp") if timestamp else None
    except InvalidArgument:
        return None


def _path(key: str) -> str:
    return f"custom_metadata.{key}"
