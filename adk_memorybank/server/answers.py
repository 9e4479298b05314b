"""The bodies of the answers (reference, section 4.3), made of the bank's resources."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic import ConfigDict, Field

from adk_memorybank.banks import BankInfo
from adk_memorybank.config import set_fields
from adk_memorybank.resources import (
    Action,
    Call,
    Memory,
    MemoryProfile,
    MemoryRevision,
    MemoryType,
    Operation,
    RetrievedMemory,
    bank_name,
)
from adk_memorybank.server.prefixes import Prefix
from adk_memorybank.server.shapes import Shape, Timestamp, TopicId, TypedValue

_EMPTY = "type.googleapis.com/google.protobuf.Empty"
_TYPES = "type.googleapis.com/google.cloud.aiplatform.v1beta1"


class BankAnswer(Shape):
    """A bank: a ReasoningEngine with `contextSpec.memoryBankConfig`."""

    model_config = ConfigDict(extra="allow")

    name: str
    display_name: str | None = None
    description: str | None = None
    labels: dict[str, str] | None = None
    create_time: Timestamp
    update_time: Timestamp
    etag: str
    context_spec: dict[str, Any]

    @classmethod
    def of(cls, bank: BankInfo, prefix: Prefix) -> BankAnswer:
        # What was set, under the wire's names: `set_fields` tells which.
        config = bank.config.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)
        told = json.dumps([set_fields(bank.config), bank.display_name, bank.update_time.isoformat()])
        return cls(
            name=prefix.apply(bank.name),
            display_name=bank.display_name or None,
            description=bank.description or None,
            labels=bank.labels or None,
            create_time=bank.create_time,
            update_time=bank.update_time,
            etag=hashlib.sha256(told.encode()).hexdigest()[:16],
            context_spec={"memoryBankConfig": config},
            **bank.extra,
        )


class BankPage(Shape):
    reasoning_engines: list[BankAnswer]
    next_page_token: str | None = None


class StructuredContent(Shape):
    schema_id: str
    data: dict[str, Any]


class MemoryAnswer(Shape):
    """A memory."""

    name: str
    display_name: str | None = None
    description: str | None = None
    create_time: Timestamp | None = None
    update_time: Timestamp | None = None
    expire_time: Timestamp | None = None
    fact: str | None = None
    scope: dict[str, str] | None = None
    topics: list[TopicId] | None = None
    metadata: dict[str, TypedValue] | None = None
    memory_type: MemoryType | None = None
    structured_content: StructuredContent | None = None

    @classmethod
    def of(cls, memory: Memory, prefix: Prefix) -> MemoryAnswer:
        content = memory.structured_content
        return cls(
            name=prefix.apply(memory.name),
            display_name=memory.display_name or None,
            description=memory.description or None,
            create_time=memory.create_time,
            update_time=memory.update_time,
            expire_time=memory.expire_time,
            fact=memory.fact or None,
            scope=memory.scope,
            topics=[TopicId.of(topic) for topic in memory.topics] or None,
            metadata={key: TypedValue.of(value) for key, value in memory.metadata.items()} or None,
            memory_type=memory.memory_type,
            structured_content=None if content is None else StructuredContent.model_validate(content),
        )


class MemoryPage(Shape):
    memories: list[MemoryAnswer]
    next_page_token: str | None = None


class RetrievedAnswer(Shape):
    memory: MemoryAnswer
    distance: float | None = None


class RetrievedPage(Shape):
    retrieved_memories: list[RetrievedAnswer]
    next_page_token: str | None = None

    @classmethod
    def of(cls, found: list[RetrievedMemory], prefix: Prefix, *, token: str = "") -> RetrievedPage:
        entries = [RetrievedAnswer(memory=MemoryAnswer.of(one.memory, prefix), distance=one.distance) for one in found]
        return cls(retrieved_memories=entries, next_page_token=token or None)


class ProfileAnswer(Shape):
    schema_id: str
    profile: dict[str, Any]


class ProfilesAnswer(Shape):
    profiles: dict[str, ProfileAnswer] | None = None

    @classmethod
    def of(cls, profiles: dict[str, MemoryProfile]) -> ProfilesAnswer:
        told = {
            schema_id: ProfileAnswer(schema_id=one.schema_id, profile=one.profile)
            for schema_id, one in profiles.items()
        }
        return cls(profiles=told or None)


class ExtractedAnswer(Shape):
    fact: str | None = None
    context: str | None = None
    structured_data: dict[str, Any] | None = None


class RevisionAnswer(Shape):
    """A revision of a memory; one without a fact says that it was deleted."""

    name: str
    create_time: Timestamp
    expire_time: Timestamp | None = None
    fact: str | None = None
    labels: dict[str, str] | None = None
    extracted_memories: list[ExtractedAnswer] | None = None
    structured_data: dict[str, Any] | None = None

    @classmethod
    def of(cls, revision: MemoryRevision, prefix: Prefix) -> RevisionAnswer:
        extracted = [
            ExtractedAnswer(fact=one.fact or None, context=one.context or None, structured_data=one.structured_data)
            for one in revision.extracted_memories
        ]
        return cls(
            name=prefix.apply(revision.name),
            create_time=revision.create_time,
            expire_time=revision.expire_time,
            fact=revision.fact or None,
            labels=revision.labels or None,
            extracted_memories=extracted or None,
            structured_data=revision.structured_data,
        )


class RevisionPage(Shape):
    memory_revisions: list[RevisionAnswer]
    next_page_token: str | None = None


class GeneratedAnswer(Shape):
    memory: MemoryAnswer
    action: Action
    previous_revision: str | None = None


class ErrorAnswer(Shape):
    """Why an operation failed: a google.rpc.Status."""

    code: int
    message: str


class GenericMetadata(Shape):
    create_time: Timestamp
    update_time: Timestamp


class OperationMetadata(Shape):
    model_config = ConfigDict(extra="allow")

    type: str = Field(alias="@type")
    generic_metadata: GenericMetadata


class OperationAnswer(Shape):
    """A long-running operation: with `done`, either its `response` or its `error`."""

    name: str
    metadata: OperationMetadata
    done: bool | None = None
    response: dict[str, Any] | None = None
    error: ErrorAnswer | None = None


class OperationPage(Shape):
    operations: list[OperationAnswer]
    next_page_token: str | None = None


class ErrorBody(Shape):
    """What every refused request is answered with."""

    code: int
    message: str
    status: str
    details: list[dict[str, Any]] | None = None


class Refusal(Shape):
    error: ErrorBody


def plain(answer: Shape) -> dict[str, Any]:
    """An answer as JSON."""
    return answer.model_dump(mode="json", by_alias=True, exclude_none=True)


def operation_answer(operation: Operation, prefix: Prefix) -> OperationAnswer:
    """A generation."""
    response: dict[str, Any] | None = None
    if operation.done and operation.error is None:
        response = {"@type": f"{_TYPES}.GenerateMemoriesResponse"}
        changes = [
            GeneratedAnswer(
                memory=MemoryAnswer.of(change.memory, prefix)
                if change.action is not Action.DELETED
                else MemoryAnswer(name=prefix.apply(change.memory.name)),
                action=change.action,
                previous_revision=change.previous_revision and prefix.apply(change.previous_revision),
            )
            for change in operation.generated_memories
        ]
        if changes:
            response["generatedMemories"] = [plain(change) for change in changes]
    return OperationAnswer(
        name=prefix.apply(operation.name),
        metadata=OperationMetadata.model_validate(
            {
                "@type": f"{_TYPES}.GenerateMemoriesOperationMetadata",
                "genericMetadata": {"createTime": operation.create_time, "updateTime": operation.update_time},
            }
        ),
        done=operation.done or None,
        response=response,
        error=_error(operation),
    )


_KINDS = {
    "create_bank": ("CreateReasoningEngine", "ReasoningEngine"),
    "update_bank": ("UpdateReasoningEngine", "ReasoningEngine"),
    "delete_bank": ("Delete", ""),
    "create": ("CreateMemory", "Memory"),
    "update": ("UpdateMemory", "Memory"),
    "delete": ("Delete", ""),
    "rollback": ("RollbackMemory", "Memory"),
    "purge": ("PurgeMemories", "PurgeMemoriesResponse"),
    "ingest": ("IngestEvents", "IngestEventsResponse"),
}


def call_answer(call: Call, prefix: Prefix, *, subject: Shape | None = None) -> OperationAnswer:
    """A call that was answered at once, or one that takes events in.

    Args:
        subject: the bank or the memory that it is about, as it is now.
    """
    verb, answered = _KINDS[call.kind]
    bank = bank_name(call.bank_id)
    parent = bank if call.memory_id is None else f"{bank}/memories/{call.memory_id}"
    metadata: dict[str, Any] = {
        "@type": f"{_TYPES}.{verb}OperationMetadata",
        "genericMetadata": {
            "createTime": call.create_time,
            "updateTime": call.operation.update_time if call.operation else call.create_time,
        },
    }
    response: dict[str, Any] = {
        "@type": f"{_TYPES}.{answered}" if answered else "type.googleapis.com/google.protobuf.Empty"
    }
    if subject is not None:
        response |= plain(subject)
    elif answered in ("Memory", "ReasoningEngine"):
        response["name"] = prefix.apply(parent)  # it is gone since
    if call.count is not None:
        response["purgeCount"] = call.count
    if call.operation is not None:
        response["generateMemoriesOperation"] = prefix.apply(call.operation.name)
        metadata["generateMemoriesOperation"] = response["generateMemoriesOperation"]
    error = None if call.operation is None else _error(call.operation)
    return OperationAnswer(
        name=prefix.apply(f"{parent}/operations/{call.id}"),
        metadata=OperationMetadata.model_validate(metadata),
        done=call.done or None,
        response=response if call.done and error is None else None,
        error=error,
    )


def _error(operation: Operation) -> ErrorAnswer | None:
    error = operation.error
    return None if error is None else ErrorAnswer(code=error.code, message=error.message)
