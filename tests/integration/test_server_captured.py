"""Requests of the official clients, byte for byte as they were captured, one after the other against one bank.

Of google-cloud-agentplatform 2.6.0, ADK 2.13.0's `VertexAiMemoryBankService`, the legacy `vertexai` client, and of the
shape that ADK 1.5 to 1.14 send. Each is answered as its client needs it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.integration.serving import Requests, a_store, requests_to

PARENT = "/v1beta1/projects/p/locations/us-central1/reasoningEngines"
BANK = f"{PARENT}/123"
NAME = BANK.removeprefix("/v1beta1/")
JSON = {
    "Content-Type": "application/json",  # also on GET and DELETE
    "user-agent": "google-genai-sdk/2.34.0+vertex-genai-modules/2.6.0 gl-python/3.11.7",
    "x-goog-api-client": "google-genai-sdk/2.34.0+vertex-genai-modules/2.6.0 gl-python/3.11.7",
    "Authorization": "Bearer fake-token",
}

CREATE_BANK = (
    '{"context_spec": {"memory_bank_config": {"customizationConfigs": [{"enable_third_person_memories": true, '
    '"generate_memories_examples": [{"conversation_source": {"events": [{"content": {"parts": [{"text": "hi"}], '
    '"role": "user"}}]}, "generated_memories": [{"fact": "f", "topics": [{"managed_memory_topic": '
    '"USER_PREFERENCES"}]}]}], "memory_topics": [{"managed_memory_topic": {"managed_topic_enum": '
    '"USER_PREFERENCES"}}, {"custom_memory_topic": {"label": "l", "description": "d"}}], "scope_keys": ["user_id"], '
    '"consolidation_config": {"revisions_per_candidate_count": 3}}], "generationConfig": {"model": '
    '"projects/p/locations/us-central1/publishers/google/models/x"}, "ttlConfig": {%s}, "structuredMemoryConfigs": '
    '[{"schemaConfigs": [{"schema": {"properties": {"name": {"description": "n", "type": "STRING"}}, "type": '
    '"OBJECT"}, "id": "user-profile"}], "scopeKeys": ["user_id"]}]}}, "displayName": "bank", "description": "desc"}'
)
BOTH_TTLS = '"default_ttl": "3600s", "granular_ttl_config": {"create_ttl": "60s"}'
CONTENTS = (
    '{"directContentsSource": {"events": [{"content": {"parts": [{"text": "hi"}, {"inline_data": {"data": "iVBORw==", '
    '"mime_type": "image/png"}}, {"file_data": {"file_uri": "gs://b/x.png", "mime_type": "image/png"}}, '
    '{"function_call": {"args": {"a": 1}, "name": "f"}}, {"function_response": {"name": "f", "response": {"r": 1}}}], '
    '"role": "user"}}]}, "scope": {"user_id": "u"}, "disableConsolidation": true, "revisionLabels": {"k": "v"}, '
    '"revisionExpireTime": "2027-01-01T00:00:00+00:00", "disableMemoryRevisions": true, "metadata": {"n": '
    '{"double_value": 1.5}}, "metadataMergeStrategy": "REQUIRE_EXACT_MATCH", "allowedTopics": '
    '[{"managed_memory_topic": "USER_PREFERENCES"}, {"custom_memory_topic_label": "l"}]}'
)
SESSION = (
    '{"streamId": "", "directContentsSource": {"events": [{"content": {"parts": [{"text": "I love tea"}], "role": '
    '"user"}, "event_id": "e1", "event_time": "2026-01-01T00:00:00.500000+00:00"}, {"content": {"parts": [{"text": '
    '"ok"}], "role": "model"}, "event_id": "e2", "event_time": "2026-01-01T00:00:01+00:00"}, {"content": {"parts": '
    '[{"function_call": {"args": {"x": 1}, "name": "t"}}], "role": "model"}, "event_id": "e3", "event_time": '
    '"2026-01-01T00:00:02+00:00"}, {"content": {"parts": [{"function_response": {"name": "t", "response": {"y": 2}}}], '
    '"role": "user"}, "event_id": "e4", "event_time": "2026-01-01T00:00:03+00:00"}, {"content": {"parts": '
    '[{"inline_data": {"data": "iVBOR__-_Q==", "mime_type": "image/png"}}], "role": "user"}, "event_id": "e6", '
    '"event_time": "2026-01-01T00:00:05+00:00"}, {"content": {"parts": [{"text": "thinking", "thought": true}], "role"'
    ': "model"}, "event_id": "e7", "event_time": "2026-01-01T00:00:06+00:00"}]}, "scope": {"app_name": "app", '
    '"user_id": "u1"}}'
)
APP = '"scope": {"app_name": "app", "user_id": "u1"}'


class Client:
    """Sends what was captured."""

    def __init__(self, requests: Requests) -> None:
        self.requests = requests

    async def __call__(self, method: str, target: str, body: str | None = None) -> dict[str, Any]:
        """Below the bank, save for a target that begins with a slash."""
        url = target if target.startswith("/") else BANK + ("" if target[:1] in ("", "?") else "/") + target
        content = None if body is None else body.encode("ascii")
        response = await self.requests.http.request(method, url, content=content, headers=JSON)
        assert response.status_code == 200, response.text
        return response.json()

    async def polled(self, operation: dict[str, Any]) -> dict[str, Any]:
        """What an operation ends with."""
        ended = await self.requests.ended(operation)
        assert "error" not in ended, ended
        return ended["response"]


@pytest.fixture
async def send() -> AsyncIterator[Client]:
    async with a_store() as banks, requests_to(banks) as requests:
        config = {"customization_configs": [{"memory_topics": _TOPICS}], "structured_memory_configs": _PROFILES}
        await banks.create(bank_id="123", managed_semantic_memory_config=config)
        yield Client(requests)


_TOPICS = [
    {"managed_memory_topic": {"managed_topic_enum": "USER_PREFERENCES"}},
    {"custom_memory_topic": {"label": "l", "description": "d"}},
]
_PROFILES = [{"schema_configs": [{"id": "user-profile", "schema": {"type": "OBJECT", "properties": {"name": {}}}}]}]


async def test_the_sdk_keeps_banks(send: Client) -> None:
    refused = await send.requests.http.post(PARENT, content=CREATE_BANK % BOTH_TTLS, headers=JSON)
    assert refused.status_code == 400, "a oneof: only one of the two can be meant"
    assert "contextSpec.memoryBankConfig.ttl_config" in refused.json()["error"]["message"]
    default, granular = BOTH_TTLS.split(", ")
    await send("POST", PARENT, CREATE_BANK % default)
    operation = await send("POST", PARENT, CREATE_BANK % granular)
    made = await send.polled(await send("GET", f"/v1beta1/{operation['name']}"))
    assert made["name"].startswith(f"{PARENT.removeprefix('/v1beta1/')}/")
    assert made["contextSpec"]["memoryBankConfig"]["ttlConfig"] == {"granularTtlConfig": {"createTtl": "60s"}}
    bare = await send("POST", PARENT, '{"context_spec": {"memory_bank_config": {}}}')
    assert (await send("GET", f"/v1beta1/{bare['response']['name']}"))["contextSpec"] == {"memoryBankConfig": {}}
    listed = await send("GET", f"{PARENT}?pageSize=2")
    assert [one["name"] for one in listed["reasoningEngines"]][1] == NAME
    assert listed["nextPageToken"]
    body = '{"context_spec": {"memory_bank_config": {"disableMemoryRevisions": true}}, "displayName": "new"}'
    assert (await send.polled(await send("PATCH", "", body)))["displayName"] == "new"
    assert (await send("GET", ""))["contextSpec"]["memoryBankConfig"] == {"disableMemoryRevisions": True}
    await send("DELETE", f"/v1beta1/{made['name']}")
    await send("DELETE", "", '{"force": true}')


async def test_the_sdk_writes_and_reads_memories(send: Client) -> None:
    body = (
        '{"fact": "I like tea", "scope": {"user_id": "u"}, "displayName": "d", "description": "x", "ttl": "60s", '
        '"revisionTtl": "30s", "disableMemoryRevisions": false, "topics": [{"managed_memory_topic": '
        '"USER_PREFERENCES"}, {"custom_memory_topic_label": "l"}], "metadata": {"k": {"bool_value": true}}}'
    )
    created = await send("POST", "memories?memoryId=my-id", body)
    assert created["name"].startswith(f"{NAME}/memories/my-id/operations/")
    assert (await send.polled(await send("GET", f"/v1beta1/{created['name']}")))["name"] == f"{NAME}/memories/my-id"
    assert (await send("GET", "memories/my-id"))["metadata"] == {"k": {"boolValue": True}}
    await send(
        "POST", "memories", '{"fact": "f", "scope": {"user_id": "u"}, "expireTime": "2027-01-01T00:00:00+00:00"}'
    )
    query = (
        "filter=fact%3D~%22.%2Atea.%2A%22+AND+update_time%3E%3D%222026-01-01T00%3A00%3A00Z%22&orderBy=create_time+asc"
    )
    listed = await send("GET", f"memories?pageSize=1&{query}")
    assert [one["fact"] for one in listed["memories"]] == ["I like tea"]
    similar = (
        '{"scope": {"user_id": "u"}, "similaritySearchParams": {"search_query": "tea", "top_k": 5}, "filter": '
        '"fact=\\"x\\"", "filterGroups": [{"filters": [{"key": "k", "negate": true, "op": "GREATER_THAN", "value": '
        '{"string_value": "v"}}]}], "memoryTypes": ["STRUCTURED_PROFILE", "NATURAL_LANGUAGE_COLLECTION"]}'
    )
    assert await send("POST", "memories:retrieve", similar) == {"retrievedMemories": []}
    everything = await send("POST", "memories:retrieve", '{"scope": {"user_id": "u"}}')
    assert (len(everything["retrievedMemories"]), "nextPageToken" in everything) == (2, False)
    simple = '{"scope": {"user_id": "u"}, "simpleRetrievalParams": {"page_size": 1}}'
    page = await send("POST", "memories:retrieve", simple)
    paged = '{"scope": {"user_id": "u"}, "simpleRetrievalParams": {"page_size": 1, "page_token": "%s"}}'
    rest = await send("POST", "memories:retrieve", paged % page["nextPageToken"])
    assert [one["memory"]["fact"] for one in rest["retrievedMemories"]] == ["I like tea"]
    filtered = '{"scope": {"user_id": "u"}, "simpleRetrievalParams": {"page_size": 1}, "filter": "fact=\\"x\\""}'
    assert (await send("POST", "memories:retrieve", filtered))["retrievedMemories"] == []
    assert await send("POST", "memories:retrieveProfiles", '{"scope": {"user_id": "u"}}') == {}


async def test_the_sdk_corrects_and_takes_back(send: Client) -> None:
    await send("POST", "memories?memoryId=m1", '{"fact": "old", "scope": {"user_id": "u"}}')
    body = '{"fact": "new", "scope": {"user_id": "u"}, "ttl": "5s", "metadata": {"k": {"string_value": "v"}}}'
    updated = await send("PATCH", "memories/m1?memoryId=zz&updateMask=fact%2Cmetadata", body)
    assert (updated["response"]["fact"], "expireTime" in updated["response"]) == ("new", False)
    await send("PATCH", "memories/m1", '{"fact": "new"}')
    listed = await send("GET", "memories/m1/revisions?pageSize=3")
    assert [one["fact"] for one in listed["memoryRevisions"]] == ["new", "new", "old"]
    labelled = await send("GET", "memories/m1/revisions?pageSize=3&filter=labels.data_source%3D%22321%22")
    assert labelled["memoryRevisions"] == []
    oldest = listed["memoryRevisions"][-1]["name"]
    assert (await send("GET", f"/v1beta1/{oldest}"))["fact"] == "old"
    back = await send("POST", "memories/m1:rollback", f'{{"targetRevisionId": "{oldest.rpartition("/")[2]}"}}')
    assert (await send.polled(await send("GET", f"/v1beta1/{back['name']}")))["fact"] == "old"
    dry = await send("POST", "memories:purge", '{"filter": "scope.user_id=u", "force": false}')
    assert (dry["done"], dry["response"]["purgeCount"]) == (True, 1)
    body = '{"filterGroups": [{"filters": [{"key": "k", "value": {"string_value": "w"}}]}], "force": true}'
    assert (await send("POST", "memories:purge", body))["response"]["purgeCount"] == 0
    deleted = await send("DELETE", "memories/m1")
    assert deleted["name"].startswith(f"{NAME}/memories/m1/operations/")


async def test_the_sdk_generates(send: Client) -> None:
    response = await send.polled(await send("POST", "memories:generate", CONTENTS))
    [one] = response["generatedMemories"]
    assert (one["action"], one["memory"]["fact"], "previousRevision" in one) == ("CREATED", "hi", False)
    direct = (
        '{"directMemoriesSource": {"direct_memories": [{"fact": "a", "topics": [{"custom_memory_topic_label": "l"}]}, '
        '{"fact": "b"}]}, "scope": {"user_id": "u"}}'
    )
    twice = [await send.polled(await send("POST", "memories:generate", direct)) for _ in range(2)]
    assert [[one["action"] for one in response["generatedMemories"]] for response in twice] == [
        ["CREATED", "CREATED"],
        ["UPDATED", "UPDATED"],
    ]
    assert all("/revisions/" in one["previousRevision"] for one in twice[1]["generatedMemories"])
    session = (
        '{"vertexSessionSource": {"end_time": "2026-01-02T00:00:00+00:00", "session": '
        '"projects/p/locations/us-central1/reasoningEngines/123/sessions/9", "start_time": '
        '"2026-01-01T00:00:00+00:00"}}'
    )
    missing = await send.requests.http.post(f"{BANK}/memories:generate", content=session, headers=JSON)
    assert missing.status_code == 404
    await send("POST", "sessions?sessionId=9", '{"userId": "u"}')
    event = (
        '{"author": "user", "invocationId": "1", "timestamp": "2026-01-01T00:00:00Z", "content": {"parts": [{"text": '
        '"I ski"}]}}'
    )
    await send("POST", "sessions/9:appendEvent", event)
    [one] = (await send.polled(await send("POST", "memories:generate", session)))["generatedMemories"]
    assert (one["memory"]["fact"], one["memory"]["scope"]) == ("I ski", {"user_id": "u"})


async def test_the_sdk_ingests(send: Client) -> None:
    body = (
        '{"streamId": "s1", "directContentsSource": {"events": [{"content": {"parts": [{"text": "hello"}], "role": '
        '"user"}, "event_id": "e1", "event_time": "2026-01-01T00:00:00+00:00"}]}, "scope": {"user_id": "u"}, '
        '"generationTriggerConfig": {"generation_rule": {"event_count": 10, "idle_duration": "300s", '
        '"overlap_event_count": 2}}, "forceFlush": true, "revisionLabels": {"a": "b"}, "revisionTtl": "60s", "metadata"'
        ': {"k": {"string_value": "v"}, "t": {"timestamp_value": "2027-01-01T00:00:00+00:00"}}, '
        '"metadataMergeStrategy": "MERGE"}'
    )
    response = await send.polled(await send("POST", "memories:ingestEvents", body))
    generation = await send("GET", f"/v1beta1/{response['generateMemoriesOperation']}")
    [one] = generation["response"]["generatedMemories"]
    assert one["memory"]["metadata"] == {
        "k": {"stringValue": "v"},
        "t": {"timestampValue": "2027-01-01T00:00:00Z"},
    }
    assert (await send("POST", "memories:ingestEvents", '{"streamId": "", "scope": {"user_id": "u"}}'))["done"]


async def test_adk_adds_sessions_events_and_memories(send: Client) -> None:
    await send.polled(await send("POST", "memories:ingestEvents", SESSION))
    await send.polled(await send("POST", "memories:ingestEvents", SESSION))
    assert (await send("POST", "memories:ingestEvents", f'{{"streamId": "", {APP}}}'))["done"]
    event = (
        '{"content": {"parts": [{"text": "I love tea"}], "role": "user"}, "event_id": "e1", "event_time": '
        '"2026-01-01T00:00:00.500000+00:00"}'
    )
    options = '"generationTriggerConfig": {"generation_rule": {"idle_duration": "60s"}}, "forceFlush": true'
    for begins, ends in (('"streamId": ""', ""), ('"streamId": "st"', f", {options}")):
        body = f'{{{begins}, "directContentsSource": {{"events": [{event}]}}, {APP}{ends}}}'
        await send.polled(await send("POST", "memories:ingestEvents", body))
    [memory] = (await send("GET", "memories"))["memories"]
    assert (memory["fact"], memory["scope"]) == ("I love tea", {"app_name": "app", "user_id": "u1"})
    assert len((await send("GET", f"/v1beta1/{memory['name']}/revisions"))["memoryRevisions"]) == 2, "once a stream"

    generate = (
        '{"directContentsSource": {"events": [{"content": {"parts": [{"text": "I love cake"}], "role": "user"}}, '
        '{"content": {"parts": [{"text": "ok"}], "role": "model"}}, {"content": {"parts": [{"function_call": {"args": '
        '{"x": 1}, "name": "t"}}], "role": "model"}}, {"content": {"parts": [{"function_response": {"name": "t", '
        '"response": {"y": 2}}}], "role": "user"}}]}, "scope": {"app_name": "app", "user_id": "u1"}, "revisionTtl": '
        '"60s", "metadata": {"a": {"double_value": 1.0}, "b": {"bool_value": true}, "c": {"string_value": "x"}, "d": '
        '{"timestamp_value": "2027-01-01T00:00:00+00:00"}, "source": {"string_value": "agent"}}}'
    )
    [one] = (await send.polled(await send("POST", "memories:generate", generate)))["generatedMemories"]
    assert one["memory"]["metadata"].keys() == {"a", "b", "c", "d", "source"}
    allowed = (
        '{"directContentsSource": {"events": [{"content": {"parts": [{"text": "I love tea"}], "role": "user"}}]}, '
        '"scope": {"app_name": "app", "user_id": "u1"}, "allowedTopics": [{"managed_memory_topic": '
        '"USER_PREFERENCES"}]}'
    )
    [one] = (await send.polled(await send("POST", "memories:generate", allowed)))["generatedMemories"]
    assert one["action"] == "UPDATED"

    create = (
        '{"fact": "fact one", "scope": {"app_name": "app", "user_id": "u1"}, "ttl": "60s", "topics": '
        '[{"managed_memory_topic": "USER_PREFERENCES"}], "metadata": {"source": {"string_value": "entry"}}}'
    )
    await send("POST", "memories?memoryId=mem-1", create)
    for facts in (range(5), range(5, 6)):
        listed = ", ".join(f'{{"fact": "fact {number}"}}' for number in facts)
        body = (
            f'{{"directMemoriesSource": {{"direct_memories": [{listed}]}}, {APP}, "metadata": {{"source": '
            '{"string_value": "x"}}}'
        )
        generated = (await send.polled(await send("POST", "memories:generate", body)))["generatedMemories"]
        assert {one["action"] for one in generated} == {"CREATED"}
    found = await send("POST", "memories:retrieve", f'{{{APP}, "similaritySearchParams": {{"search_query": "tea"}}}}')
    assert len(found["retrievedMemories"]) == 3
    assert found["retrievedMemories"][0]["memory"]["fact"] == "I love tea"
    assert await send("POST", "memories:retrieveProfiles", f"{{{APP}}}") == {}


async def test_the_legacy_client(send: Client) -> None:
    body = (
        '{"displayName": "x", "contextSpec": {"memoryBankConfig": {"customizationConfigs": [{"scope_keys": '
        '["user_id"]}], "ttlConfig": {"default_ttl": "60s"}}}}'
    )
    operation = await send("POST", PARENT, body)
    assert (await send.polled(await send("GET", f"/v1beta1/{operation['name']}")))["displayName"] == "x"
    assert (await send("POST", PARENT))["response"]["name"]
    assert (await send("GET", ""))["name"] == NAME
    body = '{"displayName": "y", "contextSpec": {"memoryBankConfig": {"disableMemoryRevisions": true}}}'
    await send("PATCH", "?updateMask=display_name%2Ccontext_spec", body)
    assert (await send("GET", ""))["displayName"] == "y"
    listed = await send("GET", f"{PARENT}?pageSize=2&filter=display_name%3D%22x%22")
    assert [one["displayName"] for one in listed["reasoningEngines"]] == ["x"]
    await send("POST", "memories:ingestEvents", '{"streamId": "", "scope": {"user_id": "u"}, "forceFlush": true}')
    body = '{"directMemoriesSource": {"direct_memories": [{"fact": "a"}]}, "scope": {"user_id": "u"}}'
    await send.polled(await send("POST", "memories:generate", body))
    body = '{"scope": {"user_id": "u"}, "simpleRetrievalParams": {"page_size": 1}}'
    assert len((await send("POST", "memories:retrieve", body))["retrievedMemories"]) == 1
    await send("DELETE", "", '{"force": true}')


async def test_adk_1(send: Client) -> None:
    body = (
        '{"direct_contents_source": {"events": [{"content": {"role": "user", "parts": [{"text": "I love tea"}]}}]}, '
        '"scope": {"app_name": "app", "user_id": "u1"}}'
    )
    await send.polled(await send("POST", "memories:generate", body))
    body = f'{{{APP}, "similarity_search_params": {{"search_query": "tea"}}}}'
    [found] = (await send("POST", "memories:retrieve", body))["retrievedMemories"]
    assert found["memory"]["fact"] == "I love tea"
