"""Bad requests: the code, a message that names the field, and nothing changed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from adk_memorybank import MemoryBanks
from adk_memorybank.errors import Unavailable
from adk_memorybank.server.app import create_app
from adk_memorybank.testing import HashEmbedder, ScriptedGenerator
from tests.integration.serving import BANK, Requests, a_store, requests_to

SCOPE = {"user_id": "u"}
FACT = {"fact": "f", "scope": SCOPE}
CONTENT = {"content": {"parts": [{"text": "a"}]}}
EVENTS = {"directContentsSource": {"events": [CONTENT]}}
SIX = {str(number): "x" for number in range(6)}
BOTH = {"ttl": "60s", "expireTime": "2027-01-01T00:00:00Z"}


def direct(*facts: str) -> dict[str, Any]:
    return {"scope": SCOPE, "directMemoriesSource": {"directMemories": [{"fact": fact} for fact in facts]}}


@pytest.fixture
async def send() -> AsyncIterator[Requests]:
    async with a_store() as banks, requests_to(banks) as requests:
        await requests.ok("POST", "memories?memoryId=there", {"fact": "there", "scope": SCOPE})
        yield requests
        listed = await requests.ok("GET", "memories")
        assert [memory["fact"] for memory in listed["memories"]] == ["there"], "a refused request changed something"
        assert len((await requests.ok("GET", f"{BANK.rpartition('/')[0]}"))["reasoningEngines"]) == 1


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("POST", "memories", {"scope": SCOPE}, "fact"),
        ("POST", "memories", {"fact": " ", "scope": SCOPE}, "fact"),
        ("POST", "memories", {"fact": 1, "scope": SCOPE}, "fact"),
        ("POST", "memories", {"fact": "f"}, "scope"),
        ("POST", "memories", {"fact": "f", "scope": {}}, "scope"),
        ("POST", "memories", {"fact": "f", "scope": SIX}, "scope"),
        ("POST", "memories", {"fact": "f", "scope": {"user_id": "a*"}}, "scope.user_id"),
        ("POST", "memories", {"fact": "f", "scope": {"user_id": 1}}, "scope.user_id"),
        ("POST", "memories", {"fact": "f", "scope": "u"}, "scope"),
        ("POST", "memories", FACT | BOTH, "ttl"),
        (
            "POST",
            "memories",
            FACT | {"revisionTtl": "1s", "revisionExpireTime": "2027-01-01T00:00:00Z"},
            "revision_ttl",
        ),
        ("POST", "memories", FACT | {"ttl": "1m"}, "ttl"),
        ("POST", "memories", FACT | {"ttl": "-5s"}, "ttl"),
        ("POST", "memories", FACT | {"ttl": 5}, "ttl"),
        ("POST", "memories", FACT | {"expireTime": "tomorrow"}, "expireTime"),
        ("POST", "memories", FACT | {"expireTime": 5}, "expireTime"),
        ("POST", "memories", FACT | {"displayName": "x" * 129}, "displayName"),
        ("POST", "memories", FACT | {"topics": [{}]}, "topics[0]"),
        ("POST", "memories", FACT | {"topics": [{"managedMemoryTopic": "NOPE"}]}, "topics[0].managedMemoryTopic"),
        ("POST", "memories", FACT | {"metadata": {"k": {}}}, "metadata.k"),
        ("POST", "memories", FACT | {"metadata": {"k": {"doubleValue": "x"}}}, "metadata.k.doubleValue"),
        ("POST", "memories", FACT | {"metadata": {"k": "x"}}, "metadata.k"),
        ("POST", "memories", FACT | {"metadata": {"k": {"boolValue": "yes"}}}, "metadata.k.boolValue"),
        ("POST", "memories", FACT | {"metadata": {"k": {"doubleValue": True}}}, "metadata.k.doubleValue"),
        ("POST", "memories", FACT | {"memoryType": "STRUCTURED_PROFILE"}, "memoryType"),
        ("POST", "memories", FACT | {"disableMemoryRevisions": "no"}, "disableMemoryRevisions"),
        ("POST", f"memories?memoryId={'a' * 64}", FACT, "memoryId"),
        ("POST", "memories?memoryId=A", FACT, "memoryId"),
        ("POST", "memories?memoryId=1a", FACT, "memoryId"),
        ("POST", "memories?memoryId=a-", FACT, "memoryId"),
        ("PATCH", "memories/there", {"scope": {"user_id": "v"}}, "scope"),
        ("PATCH", "memories/there", {"memoryType": "STRUCTURED_PROFILE"}, "memoryType"),
        ("PATCH", "memories/there", {"fact": ""}, "fact"),
        ("PATCH", "memories/there", BOTH, "ttl"),
        ("PATCH", "memories/there?updateMask=colour", {"fact": "new"}, "updateMask"),
        ("PATCH", "memories/there?updateMask=%2C", {"fact": "new"}, "updateMask"),
        ("PATCH", "memories/there?updateMask=fact&updateMask=colour", {"fact": "new"}, "updateMask"),
        ("PATCH", "memories/there?updateMask=fact", {}, "fact"),
        ("GET", "memories?pageSize=-1", None, "page_size"),
        ("GET", "memories?pageSize=x", None, "pageSize"),
        ("GET", "memories?pageToken=x", None, "page_token"),
        ("GET", "memories?filter=nope%3D1", None, "filter"),
        ("GET", "memories?orderBy=fact", None, "order_by"),
        ("GET", "memories/there/revisions?filter=scope.a%3D1", None, "filter"),
        ("GET", "operations?pageToken=eyJ", None, "page_token"),
        ("POST", "memories:retrieve", {}, "scope"),
        ("POST", "memories:retrieve", {"scope": SIX}, "scope"),
        (
            "POST",
            "memories:retrieve",
            {"scope": SCOPE, "similaritySearchParams": {}},
            "similaritySearchParams.searchQuery",
        ),
        ("POST", "memories:retrieve", {"scope": SCOPE, "filter": "scope.user_id=u"}, "filter"),
        ("POST", "memories:retrieve", {"scope": SCOPE, "filterGroups": [{"filters": []}]}, "filter_groups[0].filters"),
        ("POST", "memories:retrieve", {"scope": SCOPE, "memoryTypes": ["X"]}, "memoryTypes[0]"),
        (
            "POST",
            "memories:retrieve",
            {"scope": SCOPE, "similaritySearchParams": {"searchQuery": "a"}, "simpleRetrievalParams": {}},
            "similaritySearchParams",
        ),
        ("POST", "memories:retrieveProfiles", {}, "scope"),
        ("POST", "memories:purge", {}, "filter"),
        ("POST", "memories:purge", {"filter": "fact=there", "force": "yes"}, "force"),
        ("POST", "memories:purge", {"filter": "fact=there", "force": 1}, "force"),
        ("POST", "memories:purge", {"force": True, "filter": " "}, "filter"),
        ("POST", "memories:purge", {"force": True, "filterGroups": []}, "filter"),
        ("POST", "memories:purge", {"force": True, "filter": "fact="}, "filter"),
        ("DELETE", "", {"force": 1}, "force"),
        ("POST", "memories:generate", {"scope": SCOPE}, "directContentsSource"),
        ("POST", "memories:generate", EVENTS, "scope"),
        (
            "POST",
            "memories:generate",
            EVENTS | {"scope": SCOPE, "directMemoriesSource": {"directMemories": []}},
            "directContentsSource",
        ),
        (
            "POST",
            "memories:generate",
            {"scope": SCOPE, "directMemoriesSource": {"directMemories": [{"fact": "f"}] * 6}},
            "direct_memories",
        ),
        (
            "POST",
            "memories:generate",
            {"scope": SCOPE, "directMemoriesSource": {"directMemories": [{"fact": ""}]}},
            "direct_memories[0].fact",
        ),
        (
            "POST",
            "memories:generate",
            {"scope": SCOPE, "directContentsSource": {"events": [CONTENT, {"content": {"parts": "x"}}]}},
            "directContentsSource.events[1].content.parts",
        ),
        ("POST", "memories:generate", EVENTS | {"scope": SCOPE, "metadataMergeStrategy": "X"}, "metadataMergeStrategy"),
        ("POST", "memories:ingestEvents", EVENTS, "scope"),
        (
            "POST",
            "memories:ingestEvents",
            EVENTS | {"scope": SCOPE, "generationTriggerConfig": {"generationRule": {"idleDuration": "61s"}}},
            "generationTriggerConfig.generation_rule.idle_duration",
        ),
        ("POST", "memories/there:rollback", {}, "targetRevisionId"),
        ("PATCH", "", {"displayName": "x" * 129}, "displayName"),
        (
            "PATCH",
            "",
            {"contextSpec": {"memoryBankConfig": {"ttlConfig": {"defaultTtl": "x"}}}},
            "contextSpec.memoryBankConfig.ttl_config.default_ttl",
        ),
    ],
)
async def test_what_is_wrong_is_named(send: Requests, method: str, path: str, body: Any, field: str) -> None:
    code, status, message, named = await send.error(method, path, body)
    assert (code, status, named) == (400, "INVALID_ARGUMENT", field), message
    assert field in message


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "memories/nope", None),
        ("PATCH", "memories/nope", {"fact": "f"}),
        ("DELETE", "memories/nope", None),
        ("GET", "memories/nope/revisions", None),
        ("GET", "memories/there/revisions/1", None),
        ("POST", "memories/there:rollback", {"targetRevisionId": "1"}),
        ("POST", "memories/nope:rollback", {"targetRevisionId": "1"}),
        ("GET", "operations/1", None),
        ("DELETE", "operations/1", None),
        ("POST", "operations/1:cancel", None),
        ("POST", "operations/1:wait", None),
        ("GET", "/v1beta1/reasoningEngines/nope", None),
        ("DELETE", "/v1beta1/reasoningEngines/nope", None),
        ("PATCH", "/v1beta1/reasoningEngines/nope", {}),
        ("POST", "/v1beta1/reasoningEngines/nope/memories", FACT),
        ("GET", "/v1beta1/reasoningEngines/nope/memories", None),
        ("POST", "/v1beta1/reasoningEngines/nope/memories:retrieve", {"scope": SCOPE}),
        ("POST", "/v1beta1/reasoningEngines/nope/memories:generate", EVENTS | {"scope": SCOPE}),
        ("POST", "/v1beta1/reasoningEngines/nope/memories:ingestEvents", {"scope": SCOPE}),
        ("GET", "/v1beta1/reasoningEngines/nope/operations", None),
        ("GET", "/v1beta1/bogus/z", None),
        ("GET", "/v2/reasoningEngines", None),
        ("GET", "memories%2Fthere", None),
        ("GET", "/v1beta1/reasoningEngines%2Fdefault", None),
        ("GET", "/v1beta1/projects/p/locations/l/reasoningEngines/", None),
        ("GET", "memories/", None),
    ],
)
async def test_what_is_not_there(send: Requests, method: str, path: str, body: Any) -> None:
    assert (await send.error(method, path, body))[:2] == (404, "NOT_FOUND")


async def test_an_id_that_is_taken(send: Requests) -> None:
    assert (await send.error("POST", "memories?memoryId=there", FACT))[:2] == (409, "ALREADY_EXISTS")


async def test_a_bank_that_holds_memories(send: Requests) -> None:
    assert (await send.error("DELETE", "", {"force": False}))[:2] == (400, "FAILED_PRECONDITION")


async def test_a_method_that_is_none(send: Requests) -> None:
    assert (await send.error("PUT", "memories/there"))[0] == 405


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b"1", b'"x"', b'{"fact": NaN}', b"\xff", b'{"fact": "\\ud800", "scope": 1}']
)
async def test_a_body_that_is_no_object(send: Requests, body: bytes) -> None:
    response = await send.http.post(f"{BANK}/memories", content=body, headers={"content-type": "application/json"})
    assert (response.status_code, response.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


async def test_what_json_has_not_and_no_text_can_hold() -> None:
    async with a_store() as banks, requests_to(banks) as send:
        for body, path in (
            (b'{"spec": {"a": [NaN]}}', "/v1beta1/reasoningEngines"),
            (b'{"spec": {"a": 1e999}}', "/v1beta1/reasoningEngines"),
            (b'{"spec": ' + b"[" * 500 + b"]" * 500 + b"}", "/v1beta1/reasoningEngines"),
            (b'{"spec": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "/v1beta1/reasoningEngines"),
            (b'{"fact": "f", "scope": {"\\ud800": "u"}}', f"{BANK}/memories"),
            (b'{"fact": "f", "scope": {"a": "\\u0000"}}', f"{BANK}/memories"),
        ):
            response = await send.http.post(path, content=body)
            assert (response.status_code, response.json()["error"]["status"]) == (400, "INVALID_ARGUMENT"), body[:60]
        assert len((await send.ok("GET", "/v1beta1/reasoningEngines"))["reasoningEngines"]) == 1
        assert (await send.ok("GET", "memories"))["memories"] == []


@pytest.mark.parametrize("kind", [None, "application/x-www-form-urlencoded", "text/plain"])
async def test_a_body_is_json_whatever_it_calls_itself(kind: str | None) -> None:
    async with a_store() as banks, requests_to(banks) as send:
        headers = {} if kind is None else {"content-type": kind}
        body = b'{"fact": "f", "scope": {"user_id": "u"}}'
        response = await send.http.post(f"{BANK}/memories", content=body, headers=headers)
        assert response.json()["response"]["fact"] == "f"


async def test_text_that_no_database_stores() -> None:
    async with a_store() as banks, requests_to(banks) as send:
        body = b'{"fact": "a\\ud800b\\u0000c", "scope": {"user_id": "u"}}'
        response = await send.http.post(f"{BANK}/memories", content=body, headers={"content-type": "application/json"})
        assert response.json()["response"]["fact"] == "a\ufffdb\ufffdc"


async def test_an_error_that_quotes_what_has_no_utf8() -> None:
    async with a_store() as banks, requests_to(banks) as send:
        body = b'{"fact": "f", "scope": {"user_id": "u"}, "metadata": {"\\ud800": {}}}'
        response = await send.http.post(f"{BANK}/memories", content=body)
        assert (response.status_code, response.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


async def test_a_body_that_is_too_long() -> None:
    async with a_store() as banks, requests_to(banks, max_body_bytes=1000) as send:
        long = {"fact": "x" * 1000, "scope": SCOPE}
        assert (await send.error("POST", "memories", long))[:2] == (413, "INVALID_ARGUMENT")

        async def chunks() -> AsyncIterator[bytes]:
            for _ in range(20):
                yield b" " * 100

        response = await send.http.post(f"{BANK}/memories", content=chunks())
        assert response.status_code == 413
        assert (await send.ok("POST", "memories", FACT))["done"]


async def test_a_wrong_role_fails_inside_the_operation() -> None:
    async with a_store() as banks, requests_to(banks) as send:
        event = {"content": {"role": "robot", "parts": [{"text": "a"}]}}
        body = {"directContentsSource": {"events": [event]}, "scope": SCOPE}
        ended = await send.ended(await send.ok("POST", "memories:generate", body))
        assert ended["error"]["code"] == 3
        assert "valid role" in ended["error"]["message"]
        assert "response" not in ended


async def test_a_fault_inside_tells_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with a_store() as banks, requests_to(banks) as send:
        for fault, expected in (
            (RuntimeError("secret"), (500, "INTERNAL")),
            (Unavailable("later"), (503, "UNAVAILABLE")),
        ):

            async def fail(*_: Any, fault: Exception = fault, **__: Any) -> None:
                raise fault

            monkeypatch.setattr(banks, "read_all", fail)
            code, status, message, _ = await send.error("GET", "/v1beta1/reasoningEngines")
            assert (code, status) == expected
            assert "secret" not in message


async def test_fifty_at_once_make_one_memory() -> None:
    async with a_store(model=ScriptedGenerator()) as banks, requests_to(banks) as send:
        body = {"directMemoriesSource": {"directMemories": [{"fact": "I like tea"}]}, "scope": SCOPE}
        started = await asyncio.gather(*(send.ok("POST", "memories:generate", body) for _ in range(50)))
        ended = await asyncio.gather(*(send.ended(operation) for operation in started))
        actions = sorted(one["response"]["generatedMemories"][0]["action"] for one in ended)
        assert actions == ["CREATED"] + ["UPDATED"] * 49
        assert len((await send.ok("GET", "memories"))["memories"]) == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
NAMES = (
    "fact scope ttl expireTime topics metadata filter filterGroups force memoryTypes similaritySearchParams streamId "
    "directContentsSource directMemoriesSource vertexSessionSource simpleRetrievalParams targetRevisionId displayName "
    "generationTriggerConfig forceFlush revisionLabels metadataMergeStrategy allowedTopics contextSpec labels"
).split()
VERBS = ("", ":generate", ":retrieve", ":retrieveProfiles", ":purge", ":ingestEvents")
bodies = st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, json_values))


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=bodies,
    route=st.sampled_from(
        [
            ("POST", f"memories{verb}")
            for verb in ("", ":generate", ":retrieve", ":retrieveProfiles", ":purge", ":ingestEvents")
        ]
        + [("PATCH", "memories/there"), ("POST", "memories/there:rollback"), ("PATCH", "")]
    ),
)
def test_no_body_breaks_the_server(
    body: dict[str, Any], route: tuple[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    answer = _served(tmp_path_factory).request(route[0], f"{BANK}/{route[1]}".rstrip("/"), json=body)
    assert answer.status_code < 500, answer.text
    if answer.status_code != 200:
        assert answer.json()["error"]["message"]


_clients: list[TestClient] = []


def _served(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """One client for all examples: opening a store for each would take most of the time."""
    if not _clients:
        uri = f"memorybank:///{tmp_path_factory.mktemp('fuzz')}"
        banks = MemoryBanks(uri, model=ScriptedGenerator(), embedder=HashEmbedder())
        asyncio.run(banks.open())
        _clients.append(TestClient(create_app(banks), raise_server_exceptions=False))
        _clients[0].post(f"{BANK}/memories?memoryId=there", json=FACT)
    return _clients[0]


async def test_a_store_that_was_closed() -> None:
    async with a_store() as banks, requests_to(banks) as send:
        await banks.close()
        assert (await send.error("GET", "memories"))[:2] == (503, "UNAVAILABLE")
        assert (await send("GET", "/readyz")).status_code == 503
