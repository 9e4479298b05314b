"""What one request wants of the memories it makes (reference 5.3 to 5.7)."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError, field_validator, model_validator

from adk_memorybank.clock import to_utc
from adk_memorybank.errors import InvalidArgument
from adk_memorybank.resources import Metadata, MetadataValue, Resource, clean_text
from adk_memorybank.validation import invalid_argument


class Options(Resource):
    """Base of what a request wants. What is wrong in it is an `InvalidArgument`, as everywhere."""

    if not TYPE_CHECKING:  # type checkers go by the fields

        def __init__(self, **fields: Any) -> None:
            try:
                super().__init__(**fields)
            except ValidationError as error:
                first = error.errors()[0].get("ctx", {}).get("error")
                raise (first if isinstance(first, InvalidArgument) else invalid_argument(error)) from None


class MetadataMergeStrategy(StrEnum):
    """How a request's metadata meets that of a memory which it updates."""

    MERGE = "MERGE"
    OVERWRITE = "OVERWRITE"
    REQUIRE_EXACT_MATCH = "REQUIRE_EXACT_MATCH"


class RevisionOptions(Options):
    """Of the revisions that a request makes.

    Attributes:
        labels: kept with each of them.
        ttl, expire_time: until when; at most one of the two, else the bank's.
        disabled: whether to make any; None for the bank's own setting.
    """

    labels: dict[str, str] = {}
    ttl: timedelta | None = None
    expire_time: datetime | None = None
    disabled: bool | None = None

    @field_validator("labels")
    @classmethod
    def _clean(cls, labels: dict[str, str]) -> dict[str, str]:
        return {clean_text(key): clean_text(value) for key, value in labels.items()}

    @field_validator("expire_time")
    @classmethod
    def _in_utc(cls, moment: datetime | None) -> datetime | None:
        return moment and to_utc(moment)

    @model_validator(mode="after")
    def _one_expiry(self) -> RevisionOptions:
        if self.ttl is not None and self.expire_time is not None:
            raise InvalidArgument("give either revision_ttl or revision_expire_time", field="revision_ttl")
        return self


class GenerationOptions(Options):
    """Of one generation.

    Attributes:
        metadata: attached to every memory that is created or updated.
        metadata_merge_strategy: by default that of the call, as `of_kind` has it.
        disable_consolidation: every fact becomes a memory of its own, duplicates included.
        allowed_topics: names out of the configured topics; None allows all of them.
    """

    metadata: Metadata = {}
    metadata_merge_strategy: MetadataMergeStrategy | None = None
    disable_consolidation: bool = False
    allowed_topics: tuple[str, ...] | None = None
    revision: RevisionOptions = RevisionOptions()

    @field_validator("metadata")
    @classmethod
    def _clean(cls, metadata: dict[str, MetadataValue]) -> dict[str, MetadataValue]:
        return _clean_metadata(metadata)

    @field_validator("allowed_topics")
    @classmethod
    def _clean_topics(cls, topics: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if topics is None else tuple(clean_text(topic) for topic in topics)

    def of_kind(self, kind: str) -> GenerationOptions:
        """The same with the merge strategy filled in: unset, `generate` merges, and events that come in overwrite.

        A request without metadata leaves that of a memory as it is under either (reference 5.5).
        """
        if self.metadata_merge_strategy is not None:
            return self
        strategy = MetadataMergeStrategy.MERGE if kind == "generate" else MetadataMergeStrategy.OVERWRITE
        return self.model_copy(update={"metadata_merge_strategy": strategy})

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> GenerationOptions:
        """The inverse of `to_json`."""
        return cls.model_validate(stored)

    def to_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json")


class MemoryOptions(Options):
    """Of one memory that is written as it stands.

    Attributes:
        memory_id: chosen by the caller; a fresh one by default.
        ttl, expire_time: until when the memory is kept; at most one of the two, else the bank's.
    """

    memory_id: str | None = None
    display_name: str = ""
    description: str = ""
    topics: tuple[str, ...] = ()
    metadata: Metadata = {}
    ttl: timedelta | None = None
    expire_time: datetime | None = None
    author: str = "user"
    event_time: datetime | None = None
    revision: RevisionOptions = RevisionOptions()

    @field_validator("display_name", "description", "author")
    @classmethod
    def _clean(cls, text: str) -> str:
        return clean_text(text)

    @field_validator("topics")
    @classmethod
    def _clean_topics(cls, topics: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(clean_text(topic) for topic in topics)

    @field_validator("metadata")
    @classmethod
    def _clean_values(cls, metadata: dict[str, MetadataValue]) -> dict[str, MetadataValue]:
        return _clean_metadata(metadata)

    @field_validator("expire_time", "event_time")
    @classmethod
    def _in_utc(cls, moment: datetime | None) -> datetime | None:
        return moment and to_utc(moment)

    @model_validator(mode="after")
    def _one_expiry(self) -> MemoryOptions:
        if self.ttl is not None and self.expire_time is not None:
            raise InvalidArgument("give either ttl or expire_time", field="ttl")
        return self

    @field_validator("ttl")
    @classmethod
    def _positive(cls, ttl: timedelta | None) -> timedelta | None:
        if ttl is not None and ttl <= timedelta():
            raise InvalidArgument("a duration is positive", field="ttl")
        return ttl


def _clean_metadata(metadata: dict[str, MetadataValue]) -> dict[str, MetadataValue]:
    """Metadata that every database can store, its times in UTC."""
    clean: dict[str, MetadataValue] = {}
    for key, value in metadata.items():
        if isinstance(value, str):
            value = clean_text(value)
        elif isinstance(value, datetime):
            value = to_utc(value)
        elif not math.isfinite(value):
            raise ValueError(f"the number {key!r} is not finite")
        clean[clean_text(key)] = value
    return clean
