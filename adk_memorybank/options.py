"""What one request wants of the memories it makes (reference 5.3 to 5.7)."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from pydantic import field_serializer, field_validator, model_validator

from adk_memorybank.errors import InvalidArgument
from adk_memorybank.resources import MetadataValue, Resource, metadata_from_json, metadata_to_json


class MetadataMergeStrategy(StrEnum):
    """How a request's metadata meets that of a memory which it updates."""

    MERGE = "MERGE"
    OVERWRITE = "OVERWRITE"
    REQUIRE_EXACT_MATCH = "REQUIRE_EXACT_MATCH"


class RevisionOptions(Resource):
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

    @model_validator(mode="after")
    def _one_expiry(self) -> RevisionOptions:
        if self.ttl is not None and self.expire_time is not None:
            raise InvalidArgument("give either revision_ttl or revision_expire_time", field="revision_ttl")
        return self


class GenerationOptions(Resource):
    """Of one generation.

    Attributes:
        metadata: attached to every memory that is created or updated.
        metadata_merge_strategy: MERGE by default.
        disable_consolidation: every fact becomes a memory of its own, duplicates included.
        allowed_topics: names out of the configured topics; None allows all of them.
    """

    metadata: dict[str, MetadataValue] = {}
    metadata_merge_strategy: MetadataMergeStrategy = MetadataMergeStrategy.MERGE
    disable_consolidation: bool = False
    allowed_topics: tuple[str, ...] | None = None
    revision: RevisionOptions = RevisionOptions()

    @field_serializer("metadata")
    def _encode_metadata(self, metadata: dict[str, MetadataValue]) -> dict[str, dict[str, Any]]:
        return metadata_to_json(metadata)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> GenerationOptions:
        """The inverse of `to_json`."""
        return cls.model_validate({**stored, "metadata": metadata_from_json(stored["metadata"])})

    def to_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json")


class MemoryOptions(Resource):
    """Of one memory that is written as it stands.

    Attributes:
        memory_id: chosen by the caller; a fresh one by default.
        ttl, expire_time: until when the memory is kept; at most one of the two, else the bank's.
    """

    memory_id: str | None = None
    display_name: str = ""
    description: str = ""
    topics: tuple[str, ...] = ()
    metadata: dict[str, MetadataValue] = {}
    ttl: timedelta | None = None
    expire_time: datetime | None = None
    author: str = "user"
    event_time: datetime | None = None
    revision: RevisionOptions = RevisionOptions()

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
