"""What the bank holds and hands out: memories, revisions, operations, scopes and sources.

The names follow the managed service's resources (reference: Memory, MemoryRevision, GeneratedMemory, Operation).
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from adk_memorybank import errors
from adk_memorybank.errors import InvalidArgument, MemoryBankError, NotFound

Scope = dict[str, str]
MetadataValue = bool | float | str | datetime

MAX_SCOPE_PAIRS = 5
MAX_SCOPE_BYTES = 4096
MAX_DIRECT_MEMORIES = 5
MAX_DISPLAY_NAME = 128
_BANK_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
_MEMORY_ID = re.compile(r"[A-Za-z0-9_-]{1,63}")


class Resource(BaseModel):
    """Base of all resources: immutable, and closed to unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class MemoryType(StrEnum):
    NATURAL_LANGUAGE_COLLECTION = "NATURAL_LANGUAGE_COLLECTION"
    STRUCTURED_PROFILE = "STRUCTURED_PROFILE"


class Action(StrEnum):
    """What a generation did to a memory."""

    CREATED = "CREATED"
    UPDATED = "UPDATED"
    DELETED = "DELETED"


CallKind = Literal[
    "create_bank", "update_bank", "delete_bank", "create", "update", "delete", "rollback", "purge", "ingest"
]


def metadata_to_json(metadata: Mapping[str, MetadataValue]) -> dict[str, dict[str, Any]]:
    """Typed metadata in the managed service's shape: each value under the name of its type."""
    encoded: dict[str, dict[str, Any]] = {}
    for key, value in metadata.items():
        if isinstance(value, bool):
            encoded[key] = {"boolValue": value}
        elif isinstance(value, int | float):
            encoded[key] = {"doubleValue": float(value)}
        elif isinstance(value, datetime):
            encoded[key] = {"timestampValue": value.isoformat()}
        else:
            encoded[key] = {"stringValue": value}
    return encoded


def metadata_from_json(encoded: Mapping[str, Mapping[str, Any]]) -> dict[str, MetadataValue]:
    """The inverse of `metadata_to_json`."""
    decoded: dict[str, MetadataValue] = {}
    for key, typed in encoded.items():
        if len(typed) != 1:
            raise ValueError(f"one typed value is expected for {key!r}")
        [(kind, value)] = typed.items()
        decoded[key] = datetime.fromisoformat(value) if kind == "timestampValue" else value
    return decoded


def _decoded(metadata: Any) -> Any:
    """Metadata in either shape, as plain values."""
    if not isinstance(metadata, Mapping):
        return metadata
    entries = cast("Mapping[str, Any]", metadata)
    return {
        key: metadata_from_json({key: value})[key] if isinstance(value, Mapping) else value
        for key, value in entries.items()
    }


Metadata = Annotated[
    dict[str, MetadataValue],
    BeforeValidator(_decoded),
    PlainSerializer(metadata_to_json, return_type=dict[str, dict[str, Any]], when_used="json"),
]
"""Metadata of a memory: plain values in Python, typed ones in JSON, where a time would be a text like any other."""


class Source(Resource):
    """One event that a memory was drawn from."""

    session_id: str
    event_id: str


class Memory(Resource):
    """One memory.

    Attributes:
        name: `{bank}/memories/{id}`.
        fact: the text; empty for a structured profile's field.
        topics: managed topics by their enum name, custom ones by their label.
        metadata: the user's own, typed.
        sources: the events behind the present fact.
        event_time: when the newest of those events happened; None for direct memories without a time.
        author: who said it, where the caller told; generated memories are the user's.
    """

    name: str
    fact: str
    scope: Scope
    topics: list[str] = Field(default_factory=list)
    metadata: Metadata = Field(default_factory=dict[str, MetadataValue])
    display_name: str = ""
    description: str = ""
    memory_type: MemoryType = MemoryType.NATURAL_LANGUAGE_COLLECTION
    structured_content: dict[str, Any] | None = None
    sources: list[Source] = Field(default_factory=list)
    author: str = "user"
    create_time: datetime
    update_time: datetime
    expire_time: datetime | None = None
    event_time: datetime | None = None

    @property
    def id(self) -> str:
        return self.name.rpartition("/")[2]


class RetrievedMemory(Resource):
    """A memory that a search found.

    Attributes:
        distance: Euclidean, between unit vectors (0 the same, 2 opposite); smaller is closer. None where the
            search had no query, or the memory's vector is still being made.
        score: what the ranking ordered by, larger is better; None where the search had no query.
    """

    memory: Memory
    distance: float | None = None
    score: float | None = None

    @property
    def id(self) -> str:
        return self.memory.id

    @property
    def fact(self) -> str:
        return self.memory.fact

    @property
    def topics(self) -> list[str]:
        return self.memory.topics


class ExtractedMemory(Resource):
    """A fact, or the value of a profile's field, as it was drawn from the events, before consolidation.

    Attributes:
        fact: empty for a profile's field.
        structured_data: `{field: value}` of a profile's field.
    """

    fact: str
    context: str = ""
    structured_data: dict[str, Any] | None = None


class MemoryProfile(Resource):
    """What is known of one scope by one schema.

    Attributes:
        profile: the fields that have a value.
    """

    schema_id: str
    profile: dict[str, Any]


class MemoryRevision(Resource):
    """An immutable snapshot of a memory after one change. An empty fact means that it was deleted.

    Attributes:
        structured_data: of a profile's field, which has no fact, `{field: value}`; None when it was deleted.
    """

    name: str
    fact: str
    topics: list[str] = Field(default_factory=list)
    labels: dict[str, str] = Field(default_factory=dict)
    extracted_memories: list[ExtractedMemory] = Field(default_factory=list)
    sources: list[Source] = Field(default_factory=list)
    structured_data: dict[str, Any] | None = None
    event_time: datetime | None = None
    create_time: datetime
    expire_time: datetime | None = None

    @property
    def id(self) -> str:
        return self.name.rpartition("/")[2]


class GeneratedMemory(Resource):
    """One change that a generation made.

    Attributes:
        previous_revision: the full name of the revision before the change; None for a created memory, or
            where revisions are off.
    """

    memory: Memory
    action: Action
    previous_revision: str | None = None


class OperationError(Resource):
    """Why an operation failed.

    Attributes:
        code, status: a google.rpc.Code, as a number and by its name.
        kind: the class of the error.
    """

    code: int
    status: str
    message: str
    kind: str = "MemoryBankError"

    @classmethod
    def of(cls, error: BaseException) -> OperationError:
        kind = type(error).__name__
        if isinstance(error, MemoryBankError):
            return cls(code=error.code, status=error.status, message=str(error), kind=kind)
        return cls(code=13, status="INTERNAL", message=f"{kind}: {error}", kind=kind)

    def as_exception(self) -> MemoryBankError:
        """The error again, as one of `errors`; what came from elsewhere is a plain `MemoryBankError`."""
        made = getattr(errors, self.kind, MemoryBankError)
        known = isinstance(made, type) and issubclass(made, MemoryBankError)
        return made(self.message) if known else MemoryBankError(self.message)


class PassedOver(Resource):
    """Parts of events that were not read, counted by their kind (`function_call`, `inline_data image/png` …)."""

    kind: str
    count: int


class Operation(Resource):
    """Accepted work.

    Attributes:
        state: `pending` (waiting, or to be tried again at `due_time`), `running` or `done`.
        error: set on a finished operation that failed.
        last_error: the fault of the latest attempt while the operation is still pending.
        generated_memories: what it did; an empty list on success means that nothing was worth keeping.
        passed_over: the parts of its events that were not read.
        notes: what else was left out and why.
    """

    name: str
    kind: Literal["generate", "ingest"]
    scope: Scope
    state: Literal["pending", "running", "done"]
    create_time: datetime
    update_time: datetime
    due_time: datetime | None = None
    attempts: int = 0
    error: OperationError | None = None
    last_error: OperationError | None = None
    generated_memories: list[GeneratedMemory] = Field(default_factory=list)
    passed_over: list[PassedOver] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)

    @property
    def done(self) -> bool:
        return self.state == "done"


class Call(Resource):
    """What the faces over the network show as an operation beside the generations.

    Attributes:
        kind: what was called. All but `ingest` had ended when they were answered.
        memory_id: of the memory that it is about, where it is about one.
        count: what a purge counted.
        scope: where it is about one scope; empty once that was forgotten.
        operation: of `ingest`, the generation that reads the events, once there is one; its error is the call's.
    """

    id: str
    bank_id: str
    kind: CallKind
    memory_id: str | None = None
    count: int | None = None
    scope: Scope | None = None
    create_time: datetime
    done: bool
    operation: Operation | None = None


class Forgotten(Resource):
    """What `forget` removed, counted."""

    memories: int
    revisions: int
    events: int
    operations: int


def validate_scope(scope: Mapping[str, str]) -> Scope:
    """Checks a scope (reference 5.1): one to five pairs of strings, not empty, without `*`.

    Raises:
        InvalidArgument: naming the pair that is wrong.
    """
    if not isinstance(scope, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]: callers may not check types
        raise InvalidArgument(f"should be a mapping of strings, not {type(scope).__name__}", field="scope")
    if not scope:
        raise InvalidArgument("a scope needs at least one pair", field="scope")
    if len(scope) > MAX_SCOPE_PAIRS:
        raise InvalidArgument(f"a scope has at most {MAX_SCOPE_PAIRS} pairs, not {len(scope)}", field="scope")
    for key, value in scope.items():
        field = f"scope.{str(key)[:60]}"
        if not isinstance(key, str) or not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidArgument("keys and values are strings", field=field)
        if not key or not value:
            raise InvalidArgument("keys and values are not empty", field=field)
        if "*" in key or "*" in value:
            raise InvalidArgument("`*` is not allowed", field=field)
        if clean_text(key) != key or clean_text(value) != value:
            raise InvalidArgument("NUL and lone surrogates are not allowed", field=field)
        if len(key.encode()) > MAX_SCOPE_BYTES or len(value.encode()) > MAX_SCOPE_BYTES:
            raise InvalidArgument(f"keys and values have at most {MAX_SCOPE_BYTES} bytes each", field=field)
    return dict(scope)


def canonical_scope(scope: Mapping[str, str]) -> str:
    """The scope as JSON in one spelling: sorted keys, no spaces."""
    return json.dumps(dict(scope), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def scope_key(canonical: str) -> str:
    """The SHA-256 of a canonical scope, in hex."""
    return hashlib.sha256(canonical.encode()).hexdigest()


def validate_memory_id(memory_id: str, *, field: str = "memory_id") -> str:
    """Checks an id that the caller chose: 1 to 63 letters, digits, `-` and `_`."""
    if not _MEMORY_ID.fullmatch(memory_id):
        raise InvalidArgument("an id has 1 to 63 letters, digits, `-` or `_`", field=field)
    return memory_id


def validate_bank_id(bank_id: str) -> str:
    """Checks a bank's id: 1 to 63 letters, digits, `-` and `_`, the first a letter or a digit."""
    if not _BANK_ID.fullmatch(bank_id):
        raise InvalidArgument(
            "an id has 1 to 63 letters, digits, `-` or `_`, the first a letter or digit", field="bank"
        )
    return bank_id


def new_id() -> str:
    """A fresh id as the managed service makes them: a decimal int64 of 19 digits."""
    return str(10**18 + secrets.randbelow(2**63 - 10**18))


def bank_name(bank_id: str) -> str:
    """A bank's resource name."""
    return f"projects/local/locations/local/reasoningEngines/{bank_id}"


def last_segment(name: str) -> str:
    """The id at the end of a resource name; an id alone is returned as it is."""
    return clean_text(name.rpartition("/")[2])


def id_in(bank_id: str, name: str) -> str:
    """The id at the end of the name of something in a bank; an id alone is returned as it is.

    Raises:
        NotFound: it is the name of something in another bank.
    """
    bank = re.search(r"(?:reasoningEngines|memoryBanks)/([^/]*)/", name)
    if bank is not None and bank[1] != bank_id:
        raise NotFound(f"{clean_text(name)!r} is not in the bank {bank_id!r}")
    return last_segment(name)


_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Replaces what no database stores (NUL, lone surrogates) by U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


def clean_json(value: Any) -> Any:
    """The same plain data, each text in it as `clean_text` has it."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, Any]", value)
        return {clean_text(key): clean_json(entry) for key, entry in entries.items()}
    if isinstance(value, list | tuple):
        return [clean_json(entry) for entry in cast("Sequence[Any]", value)]
    return value
