"""JSON as the server reads and writes it: casings, times, durations, enums, names, masks and errors."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope, Send

from adk_memorybank.errors import (
    AlreadyExists,
    EmbedderMismatch,
    FailedPrecondition,
    InvalidArgument,
    MemoryBankError,
    ModelOutputError,
    ModelUnavailable,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
    StoreInUse,
    Unauthenticated,
    Unavailable,
)
from adk_memorybank.resources import Memory, MemoryType
from adk_memorybank.server.answers import MemoryAnswer, plain
from adk_memorybank.server.bodies import MAX_DEPTH, refuse_oddities
from adk_memorybank.server.failures import RETRY_AFTER, failure
from adk_memorybank.server.masks import read_mask
from adk_memorybank.server.prefixes import Prefix, Prefixes
from adk_memorybank.server.requests import GenerateMemories, IngestEvents, MemoryBody, PurgeMemories, RetrieveMemories
from adk_memorybank.server.shapes import TopicId, TypedValue, format_time

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
OURS = "projects/local/locations/local/reasoningEngines/default"


class TestReading:
    @pytest.mark.parametrize(
        "body",
        [
            {"direct_memories_source": {"direct_memories": [{"fact": "a", "topics": [{"managed_memory_topic": 2}]}]}},
            {"directMemoriesSource": {"directMemories": [{"fact": "a", "topics": [{"managedMemoryTopic": 2}]}]}},
            {"directMemoriesSource": {"direct_memories": [{"fact": "a", "topics": [{"managed_memory_topic": 2}]}]}},
            {"direct_memories_source": {"directMemories": [{"fact": "a", "topics": [{"managedMemoryTopic": 2}]}]}},
        ],
    )
    def test_either_casing_at_every_depth(self, body: dict[str, Any]) -> None:
        read = GenerateMemories.model_validate(body)
        assert read.direct_memories_source
        [one] = read.direct_memories_source.direct_memories
        assert (one.fact, [topic.name for topic in one.topics or ()]) == ("a", ["USER_PREFERENCES"])

    def test_what_is_not_known_or_null_is_passed_over(self) -> None:
        body = {"fact": "f", "ttl": None, "ofTomorrow": {"a": 1}, "topics": [{"customMemoryTopicLabel": "l", "x": 1}]}
        read = MemoryBody.model_validate(body)
        assert read.model_fields_set == {"fact", "topics"}

    def test_maps_of_the_user_are_left_as_they_are(self) -> None:
        body = {"scope": {"some_key": "a_b", "someKey": "c"}, "revisionLabels": {"a_b": "c", "aB": "d"}}
        read = IngestEvents.model_validate(body | {"metadata": {"k_k": {"string_value": "v_v"}}})
        assert read.scope == body["scope"]
        assert read.revision.labels == body["revisionLabels"]
        assert read.options.metadata == {"k_k": "v_v"}

    @pytest.mark.parametrize(
        "text",
        [
            "2026-01-01T12:00:00Z",
            "2026-01-01t12:00:00z",
            "2026-01-01T12:00:00+00:00",
            "2026-01-01T13:30:00.000000+01:30",
            "2026-01-01T12:00:00.000000000Z",
        ],
    )
    def test_times(self, text: str) -> None:
        assert MemoryBody.model_validate({"expireTime": text}).expire_time == NOON

    @pytest.mark.parametrize(
        "value", ["", "tomorrow", 0, True, "0001-01-01T00:00:00+10:00", "2026-13-01T00:00:00Z", []]
    )
    def test_what_is_no_time(self, value: Any) -> None:
        with pytest.raises(ValidationError):
            MemoryBody.model_validate({"expireTime": value})

    def test_durations(self) -> None:
        assert MemoryBody.model_validate({"ttl": "3600s"}).ttl == timedelta(hours=1)
        assert MemoryBody.model_validate({"ttl": "0.5s"}).ttl == timedelta(milliseconds=500)

    @pytest.mark.parametrize("value", ["STRUCTURED_PROFILE", "structured_profile", "Structured_Profile", 2])
    def test_enums_by_name_and_number(self, value: Any) -> None:
        assert RetrieveMemories.model_validate({"memoryTypes": [value]}).memory_types == [MemoryType.STRUCTURED_PROFILE]

    @pytest.mark.parametrize("value", ["MEMORY_TYPE_UNSPECIFIED", 0])
    def test_an_enum_that_is_not_specified(self, value: Any) -> None:
        assert MemoryBody.model_validate({"memoryType": value}).memory_type is None

    @pytest.mark.parametrize("value", [3, -1, True, "PROFILE", "", {}])
    def test_what_is_no_such_enum(self, value: Any) -> None:
        with pytest.raises(ValidationError):
            MemoryBody.model_validate({"memoryType": value})

    @pytest.mark.parametrize("value", [1, 0, "true", "yes", "on", [], {}])
    def test_a_flag_is_true_or_false(self, value: Any) -> None:
        with pytest.raises(ValidationError):
            PurgeMemories.model_validate({"force": value})

    @pytest.mark.parametrize("value", [5, 5.0, "5"])
    def test_counts(self, value: Any) -> None:
        body = {"similaritySearchParams": {"searchQuery": "q", "topK": value}}
        read = RetrieveMemories.model_validate(body).similarity_search_params
        assert read
        assert read.top_k == 5

    @pytest.mark.parametrize("value", [True, -1, 1.5, "five", []])
    def test_what_is_no_count(self, value: Any) -> None:
        with pytest.raises(ValidationError):
            RetrieveMemories.model_validate({"simpleRetrievalParams": {"pageSize": value}})

    @pytest.mark.parametrize(
        ("typed", "value"),
        [
            ({"boolValue": False}, False),
            ({"double_value": 1}, 1.0),
            ({"doubleValue": "1.5"}, 1.5),
            ({"stringValue": ""}, ""),
            ({"timestamp_value": "2026-01-01T12:00:00Z"}, NOON),
        ],
    )
    def test_metadata(self, typed: dict[str, Any], value: Any) -> None:
        read = TypedValue.model_validate(typed).value
        assert (read, type(read)) == (value, type(value))

    @pytest.mark.parametrize(
        "typed",
        [
            {},
            {"boolValue": 1},
            {"boolValue": "true"},
            {"doubleValue": True},
            {"doubleValue": "NaN"},
            {"doubleValue": "Infinity"},
            {"stringValue": 1},
            {"timestampValue": 1},
            {"boolValue": True, "stringValue": "x"},
        ],
    )
    def test_metadata_of_a_wrong_type(self, typed: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            TypedValue.model_validate(typed)

    @pytest.mark.parametrize(
        "topic", [{}, {"managedMemoryTopic": "X"}, {"managedMemoryTopic": 1} | {"customMemoryTopicLabel": "l"}]
    )
    def test_a_topic_is_of_one_kind(self, topic: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            TopicId.model_validate(topic)

    @pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e400", '{"a": [1, {"b": NaN}]}'])
    def test_numbers_that_json_has_not(self, text: str) -> None:
        with pytest.raises(HTTPException, match="finite"):
            refuse_oddities(json.loads(text))

    def test_a_depth_without_end(self) -> None:
        refuse_oddities(json.loads("[" * MAX_DEPTH + "1" + "]" * MAX_DEPTH))
        for text in ("[" * (MAX_DEPTH + 1) + "1" + "]" * (MAX_DEPTH + 1), '{"a":' * 300 + "1" + "}" * 300):
            with pytest.raises(HTTPException, match="nested"):
                refuse_oddities(json.loads(text))

    @pytest.mark.parametrize(
        ("given", "mask"),
        [
            (None, None),
            ([], None),
            ([" "], None),
            (["fact"], {"fact"}),
            (["displayName,context_spec.memoryBankConfig"], {"display_name", "context_spec.memory_bank_config"}),
            ([" ttl , expireTime,"], {"ttl", "expire_time"}),
            (["ttl", "fact,metadata"], {"ttl", "fact", "metadata"}),
            (["*"], set[str]()),
            (["fact,*"], set[str]()),
        ],
    )
    def test_masks(self, given: list[str] | None, mask: set[str] | None) -> None:
        assert read_mask(given) == mask

    def test_a_mask_that_names_nothing_is_not_everything(self) -> None:
        with pytest.raises(InvalidArgument) as raised:
            read_mask([" , "])
        assert raised.value.field == "updateMask"


class TestWriting:
    @pytest.mark.parametrize(
        ("moment", "text"),
        [
            (NOON, "2026-01-01T12:00:00Z"),
            (NOON.replace(microsecond=500_000), "2026-01-01T12:00:00.500Z"),
            (NOON.replace(microsecond=1), "2026-01-01T12:00:00.000001Z"),
            (NOON.astimezone(timezone(timedelta(hours=9))), "2026-01-01T12:00:00Z"),
        ],
    )
    def test_times(self, moment: datetime, text: str) -> None:
        assert format_time(moment) == text

    def test_a_memory(self) -> None:
        memory = Memory(
            name=f"{OURS}/memories/m",
            fact="f",
            scope={"user_id": "u"},
            topics=["USER_PREFERENCES", "l"],
            metadata={"b": True, "d": 2.0, "s": "x", "t": NOON},
            create_time=NOON,
            update_time=NOON,
        )
        assert plain(MemoryAnswer.of(memory, Prefix("projects/p/locations/l/reasoningEngines/"))) == {
            "name": "projects/p/locations/l/reasoningEngines/default/memories/m",
            "createTime": "2026-01-01T12:00:00Z",
            "updateTime": "2026-01-01T12:00:00Z",
            "fact": "f",
            "scope": {"user_id": "u"},
            "topics": [{"managedMemoryTopic": "USER_PREFERENCES"}, {"customMemoryTopicLabel": "l"}],
            "metadata": {
                "b": {"boolValue": True},
                "d": {"doubleValue": 2.0},
                "s": {"stringValue": "x"},
                "t": {"timestampValue": "2026-01-01T12:00:00Z"},
            },
            "memoryType": "NATURAL_LANGUAGE_COLLECTION",
        }

    def test_only_our_own_names_change_their_head(self) -> None:
        prefix = Prefix("projects/p/locations/l/memoryBanks/")
        assert prefix.apply(f"{OURS}/operations/1") == "projects/p/locations/l/memoryBanks/default/operations/1"
        assert prefix.apply("projects/x/locations/y/reasoningEngines/1") == "projects/x/locations/y/reasoningEngines/1"
        assert Prefix().apply(OURS) == OURS


class TestErrors:
    @pytest.mark.parametrize(
        ("error", "code", "status"),
        [
            (InvalidArgument("x"), 400, "INVALID_ARGUMENT"),
            (FailedPrecondition("x"), 400, "FAILED_PRECONDITION"),
            (StoreInUse("x"), 400, "FAILED_PRECONDITION"),
            (EmbedderMismatch("x"), 400, "FAILED_PRECONDITION"),
            (ModelUnavailable("x"), 400, "FAILED_PRECONDITION"),
            (Unauthenticated("x"), 401, "UNAUTHENTICATED"),
            (PermissionDenied("x"), 403, "PERMISSION_DENIED"),
            (NotFound("x"), 404, "NOT_FOUND"),
            (AlreadyExists("x"), 409, "ALREADY_EXISTS"),
            (ResourceExhausted("x"), 429, "RESOURCE_EXHAUSTED"),
            (ModelOutputError("x"), 500, "INTERNAL"),
            (MemoryBankError("x"), 500, "INTERNAL"),
            (Unavailable("x"), 503, "UNAVAILABLE"),
            (TimeoutError("secret"), 503, "UNAVAILABLE"),
            (KeyError("secret"), 500, "INTERNAL"),
            (HTTPException(404), 404, "NOT_FOUND"),
            (HTTPException(405), 405, "UNIMPLEMENTED"),
            (HTTPException(413), 413, "INVALID_ARGUMENT"),
        ],
    )
    def test_every_error_has_one_shape(self, error: Exception, code: int, status: str) -> None:
        answer = failure(error)
        body = json.loads(bytes(answer.body))
        assert list(body) == ["error"]
        assert (answer.status_code, body["error"]["code"], body["error"]["status"]) == (code, code, status)
        assert body["error"]["message"]
        assert "secret" not in str(body)
        assert answer.headers.get("retry-after") == (str(RETRY_AFTER) if code == 429 else None)

    def test_the_field_is_named(self) -> None:
        body = json.loads(bytes(failure(InvalidArgument("is too long", field="a.b[0]")).body))
        assert body["error"]["message"] == "a.b[0]: is too long"
        [violations] = [one["fieldViolations"] for one in body["error"]["details"] if "fieldViolations" in one]
        assert violations == [{"field": "a.b[0]", "description": "is too long"}]

    def test_text_that_has_no_utf_8_can_be_quoted(self) -> None:
        body = json.loads(bytes(failure(InvalidArgument("no \ud800", field="scope.\ud800")).body))
        assert body["error"]["message"] == "scope.\ufffd: no \ufffd"

    def test_what_fastapi_finds(self) -> None:
        faults = [
            {"type": "missing", "loc": ("body", "a", 0, "b"), "msg": "Field required", "input": {}},
            {"type": "value_error", "loc": ("body", "c"), "msg": "Value error, is odd", "input": 1},
        ]
        message = json.loads(bytes(failure(RequestValidationError(faults)).body))["error"]["message"]
        assert message == "a[0].b: is required; c: is odd"
        nothing = [{"type": "missing", "loc": ("body",), "msg": "Field required", "input": None}]
        message = json.loads(bytes(failure(RequestValidationError(nothing)).body))["error"]["message"]
        assert message == "a body is required"


class TestPaths:
    @pytest.mark.parametrize(
        ("raw", "path", "name"),
        [
            ("/v1/reasoningEngines/b/memories", "/v1beta1/reasoningEngines/b/memories", OURS),
            (
                "/v1beta1/projects/p/locations/l/reasoningEngines",
                "/v1beta1/reasoningEngines",
                "projects/p/locations/l/reasoningEngines/default",
            ),
            (
                "/v1/projects/p/locations/l/memoryBanks/b:ingestEvents",
                "/v1beta1/reasoningEngines/b/memories:ingestEvents",
                "projects/p/locations/l/memoryBanks/default",
            ),
            ("/v1/reasoningEngines/b%2Fmemories", "/v1beta1/reasoningEngines/b\N{FRACTION SLASH}memories", OURS),
            ("/v1/reasoningEngines/%C3%A9", "/v1beta1/reasoningEngines/é", OURS),
            ("/v1/reasoningEnginesX/b", "/v1/reasoningEnginesX/b", OURS),
            ("/v2/reasoningEngines/b", "/v2/reasoningEngines/b", OURS),
        ],
    )
    async def test_every_spelling_to_one(self, raw: str, path: str, name: str) -> None:
        scope = await passed_on(raw, b"")
        assert scope["path"] == path
        assert scope["state"].get("prefix", Prefix()).apply(OURS) == name

    @pytest.mark.parametrize(
        ("query", "read"),
        [
            (
                b"page_size=1&pageToken=a_b&order_by=create_time+asc",
                b"pageSize=1&pageToken=a_b&orderBy=create_time+asc",
            ),
            (b"update_mask=display_name,fact", b"updateMask=display_name,fact"),
            (b"filter=a_b%3D1&x_y", b"filter=a_b%3D1&x_y"),
            (b"", b""),
        ],
    )
    async def test_the_query_in_either_casing(self, query: bytes, read: bytes) -> None:
        assert (await passed_on("/v1/reasoningEngines", query))["query_string"] == read
        assert (await passed_on("/elsewhere", query))["query_string"] == query


async def passed_on(raw: str, query: bytes) -> Scope:
    """What the application sees of a request."""
    seen: list[Scope] = []

    async def application(scope: Scope, _receive: Receive, _send: Send) -> None:
        seen.append(scope)

    async def receive() -> Message:
        raise AssertionError("nothing is read")

    async def send(_message: Message) -> None:
        raise AssertionError("nothing is sent")

    scope = {"type": "http", "path": raw, "raw_path": raw.encode(), "query_string": query}
    await Prefixes(application)(scope, receive, send)
    return seen[0]
