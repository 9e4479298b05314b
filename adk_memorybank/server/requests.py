"""The bodies of the requests (reference, section 4)."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import ConfigDict, Field, field_validator

from adk_memorybank.errors import InvalidArgument
from adk_memorybank.options import GenerationOptions, MemoryOptions, MetadataMergeStrategy, RevisionOptions
from adk_memorybank.resources import MAX_DISPLAY_NAME, MemoryType
from adk_memorybank.server.shapes import (
    Count,
    Duration,
    Flag,
    Shape,
    Timestamp,
    TopicId,
    TypedValue,
    by_name,
    example,
    plain_metadata,
)

MemoryTypeField = Annotated[MemoryType | None, by_name(["MEMORY_TYPE_UNSPECIFIED", *MemoryType])]
MergeStrategy = Annotated[
    MetadataMergeStrategy | None,
    by_name(["METADATA_MERGE_STRATEGY_UNSPECIFIED", "OVERWRITE", "MERGE", "REQUIRE_EXACT_MATCH"]),
]

_HAS_SCOPE = {"user_id": "123"}


class _Revisions(Shape):
    revision_labels: dict[str, str] | None = None
    revision_ttl: Duration | None = None
    revision_expire_time: Timestamp | None = None
    disable_memory_revisions: Flag | None = None

    @property
    def revision(self) -> RevisionOptions:
        return RevisionOptions(
            labels=self.revision_labels or {},
            ttl=self.revision_ttl,
            expire_time=self.revision_expire_time,
            disabled=self.disable_memory_revisions,
        )


class _Generation(_Revisions):
    metadata: dict[str, TypedValue] | None = None
    metadata_merge_strategy: MergeStrategy = None
    disable_consolidation: Flag = False
    allowed_topics: list[TopicId] | None = None

    @property
    def options(self) -> GenerationOptions:
        topics = self.allowed_topics
        return GenerationOptions(
            metadata=plain_metadata(self.metadata),
            metadata_merge_strategy=self.metadata_merge_strategy,
            disable_consolidation=self.disable_consolidation,
            allowed_topics=tuple(topic.name for topic in topics) if topics else None,
            revision=self.revision,
        )


class BankBody(Shape):
    """A bank, as it is created or changed. Whatever else is in it is kept as it came."""

    model_config = example({"displayName": "coffee", "contextSpec": {}}) | ConfigDict(extra="allow")

    display_name: str | None = Field(default=None, max_length=MAX_DISPLAY_NAME)
    description: str | None = None
    labels: dict[str, str] | None = None
    context_spec: dict[str, Any] | None = None

    @property
    def config(self) -> dict[str, Any] | None:
        """The configuration that is given; None where none is, or an empty one."""
        spec = self.context_spec or {}
        config = spec.get("memoryBankConfig", spec.get("memory_bank_config"))
        if config is not None and not isinstance(config, dict):
            raise InvalidArgument("should be an object", field="contextSpec.memoryBankConfig")
        return cast("dict[str, Any] | None", config) or None


class DeleteBank(Shape):
    """How a bank is deleted."""

    model_config = example({"force": True})

    force: Flag = False


class MemoryBody(_Revisions):
    """A memory, as it is created or changed."""

    model_config = example({"fact": "I like green tea.", "scope": _HAS_SCOPE, "ttl": "86400s"})

    name: str | None = None
    fact: str | None = None
    scope: dict[str, str] | None = None
    display_name: str | None = Field(default=None, max_length=MAX_DISPLAY_NAME)
    description: str | None = None
    ttl: Duration | None = None
    expire_time: Timestamp | None = None
    topics: list[TopicId] | None = None
    metadata: dict[str, TypedValue] | None = None
    memory_type: MemoryTypeField = None

    def created(self, memory_id: str | None) -> MemoryOptions:
        """What is wanted of a new memory."""
        return MemoryOptions(
            memory_id=memory_id,
            display_name=self.display_name or "",
            description=self.description or "",
            topics=tuple(topic.name for topic in self.topics or ()),
            metadata=plain_metadata(self.metadata),
            ttl=self.ttl,
            expire_time=self.expire_time,
            revision=self.revision,
        )


class ContentEvent(Shape):
    """An event of a conversation: a genai `Content`, and when and under which id it happened."""

    content: dict[str, Any] | None = None
    event_id: str | None = None
    event_time: Timestamp | None = None


class DirectContents(Shape):
    events: list[ContentEvent] = Field(default_factory=list[ContentEvent])


class SessionSource(Shape):
    session: str
    start_time: Timestamp | None = None
    end_time: Timestamp | None = None


class DirectMemory(Shape):
    fact: str
    topics: list[TopicId] | None = None


class DirectMemories(Shape):
    direct_memories: list[DirectMemory]


_CONVERSATION = {"events": [{"content": {"role": "user", "parts": [{"text": "I like green tea."}]}}]}


class GenerateMemories(_Generation):
    """Memories are drawn from exactly one source."""

    model_config = example({"directContentsSource": _CONVERSATION, "scope": _HAS_SCOPE})

    scope: dict[str, str] | None = None
    direct_contents_source: DirectContents | None = None
    vertex_session_source: SessionSource | None = None
    direct_memories_source: DirectMemories | None = None


class IngestEvents(_Generation):
    """Events for a stream, and when it is read."""

    model_config = example({"directContentsSource": _CONVERSATION, "scope": _HAS_SCOPE, "streamId": "chat-1"})

    scope: dict[str, str] | None = None
    stream_id: str = ""
    direct_contents_source: DirectContents | None = None
    generation_trigger_config: dict[str, Any] | None = None
    force_flush: Flag = False


class SimilaritySearch(Shape):
    search_query: str
    top_k: Count | None = None


class SimpleRetrieval(Shape):
    page_size: Count | None = None
    page_token: str | None = None


class RetrieveMemories(Shape):
    """By similarity, page by page, or without either all at once."""

    model_config = example({"scope": _HAS_SCOPE, "similaritySearchParams": {"searchQuery": "tea", "topK": 3}})

    scope: dict[str, str] | None = None
    similarity_search_params: SimilaritySearch | None = None
    simple_retrieval_params: SimpleRetrieval | None = None
    filter: str | None = None
    filter_groups: list[dict[str, Any]] | None = None
    memory_types: list[MemoryTypeField] | None = None


class RetrieveProfiles(Shape):
    model_config = example({"scope": _HAS_SCOPE})

    scope: dict[str, str] | None = None


class PurgeMemories(Shape):
    """What is purged; without `force` it is only counted."""

    model_config = example({"filter": "scope.user_id=123", "force": False})

    filter: str | None = None
    filter_groups: list[dict[str, Any]] | None = None
    force: Flag = False


class RollbackMemory(Shape):
    """The revision to go back to: its id, as text or a number, or its full name."""

    model_config = example({"targetRevisionId": "1234567890123456789"})

    target_revision_id: str

    @field_validator("target_revision_id", mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class WaitOperation(Shape):
    """For how long to wait, at most a minute."""

    model_config = example({"timeout": "10s"})

    timeout: Duration | None = None
