"""The bytes of the official clients, as they were captured, and the answers that they need."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from adk_memorybank import MemoryBanks
from adk_memorybank.testing import HashEmbedder, ScriptedGenerator
from tests.integration.serving import NAME, Requests, a_store, requests_to

SCOPE = {"user_id": "u"}
TYPE = "@type"


def facts_of(page: dict[str, Any]) -> list[str]:
    return [one["memory"]["fact"] for one in page["retrievedMemories"]]


@pytest.fixture
async def send() -> AsyncIterator[Requests]:
    async with a_store() as banks, requests_to(banks) as requests:
        yield requests


async def test_a_bank_as_the_sdk_creates_it(send: Requests) -> None:
    config = {
        "customizationConfigs": [
            {
                "enable_third_person_memories": True,
                "generate_memories_examples": [
                    {
                        "conversation_source": {
                            "events": [{"content": {"parts": [{"text": "hi"}], "role": "user"}}],
                        },
                        "generated_memories": [
                            {"fact": "f", "topics": [{"managed_memory_topic": "USER_PREFERENCES"}]},
                        ],
                    }
                ],
                "memory_topics": [
                    {"managed_memory_topic": {"managed_topic_enum": "USER_PREFERENCES"}},
                    {"custom_memory_topic": {"label": "l", "description": "d"}},
                ],
                "scope_keys": ["user_id"],
                "consolidation_config": {"revisions_per_candidate_count": 3},
            }
        ],
        "ttlConfig": {"default_ttl": "3600s"},
        "structuredMemoryConfigs": [
            {
                "schemaConfigs": [
                    {
                        "schema": {
                            "properties": {"name": {"description": "n", "type": "STRING"}},
                            "type": "OBJECT",
                        },
                        "id": "user-profile",
                    }
                ],
                "scopeKeys": ["user_id"],
            }
        ],
    }
    body = {"context_spec": {"memory_bank_config": config}, "displayName": "bank", "description": "desc"}
    operation = await send.ok("POST", "/v1beta1/projects/p/locations/us-central1/reasoningEngines", body)
    name = operation["response"]["name"]
    assert operation["done"]
    assert name.startswith("projects/p/locations/us-central1/reasoningEngines/")
    assert (await send.ok("GET", f"/v1beta1/{operation['name']}"))["response"]["name"] == name
    got = await send.ok("GET", f"/v1beta1/{name}")
    assert (got["displayName"], got["description"]) == ("bank", "desc")
    told = got["contextSpec"]["memoryBankConfig"]
    [customization] = told["customizationConfigs"]
    assert customization["memoryTopics"][1] == {"customMemoryTopic": {"label": "l", "description": "d"}}
    assert customization["scopeKeys"] == ["user_id"]
    assert customization["consolidationConfig"] == {"revisionsPerCandidateCount": 3}
    assert told["ttlConfig"] == {"defaultTtl": "3600s"}
    [schema] = told["structuredMemoryConfigs"][0]["schemaConfigs"]
    assert (schema["id"], schema["schema"]["properties"]["name"]["description"]) == ("user-profile", "n")
    assert "similaritySearchConfig" not in told, "only what was set"


async def test_the_other_ways_to_create_one(send: Requests) -> None:
    path = "/v1beta1/projects/p/locations/us-central1/reasoningEngines"
    for body in (None, {"context_spec": {"memory_bank_config": {}}}, {"displayName": "x", "spec": {"a_b": [1]}}):
        operation = await send.ok("POST", path, body)
        got = await send.ok("GET", f"/v1beta1/{operation['response']['name']}")
        assert got["contextSpec"] == {"memoryBankConfig": {}}
    assert got["spec"] == {"a_b": [1]}, "kept as it came"
    banks = await send.ok("GET", f"{path}?pageSize=2")
    assert len(banks["reasoningEngines"]) == 2
    rest = await send.ok("GET", f"{path}?pageSize=2&pageToken={banks['nextPageToken']}")
    assert "nextPageToken" not in rest
    assert len(rest["reasoningEngines"]) == 2
    named = await send.ok("GET", f"{path}?filter=display_name%3D%22x%22")
    assert [bank["displayName"] for bank in named["reasoningEngines"]] == ["x"]


async def test_a_bank_as_the_clients_update_it(send: Requests) -> None:
    config = {"ttlConfig": {"default_ttl": "60s"}}
    await send.ok("PATCH", "", {"context_spec": {"memory_bank_config": config}, "displayName": "first"})
    # With a name alone the SDK sends an empty configuration, which changes nothing.
    await send.ok("PATCH", "", {"context_spec": {"memory_bank_config": {}}, "displayName": "new"})
    got = await send.ok("GET", "")
    assert (got["displayName"], got["contextSpec"]["memoryBankConfig"]) == ("new", {"ttlConfig": {"defaultTtl": "60s"}})
    # The legacy client names what it changes.
    body = {"displayName": "y", "contextSpec": {"memoryBankConfig": {"disableMemoryRevisions": True}}}
    await send.ok("PATCH", "?updateMask=display_name%2Ccontext_spec", body)
    got = await send.ok("GET", "")
    assert got["displayName"] == "y"
    assert got["contextSpec"]["memoryBankConfig"] == {"disableMemoryRevisions": True}
    await send.ok("PATCH", "?updateMask=displayName", {"description": "not named"})
    got = await send.ok("GET", "")
    assert "displayName" not in got
    assert "description" not in got


async def test_a_mask_that_names_a_part_of_the_configuration(send: Requests) -> None:
    async def patched(mask: str, config: dict[str, Any]) -> dict[str, Any]:
        await send.ok("PATCH", f"?updateMask={mask}", {"contextSpec": {"memoryBankConfig": config}})
        return (await send.ok("GET", ""))["contextSpec"]["memoryBankConfig"]

    minute, hour = {"defaultTtl": "60s"}, {"defaultTtl": "3600s"}
    kept = await patched("contextSpec.memoryBankConfig", {"ttlConfig": minute, "disableMemoryRevisions": True})
    part = "context_spec.memory_bank_config"
    assert await patched(f"{part}.ttl_config", {"ttlConfig": hour}) == kept | {"ttlConfig": hour}
    both = f"contextSpec.memoryBankConfig.ttlConfig,{part}.disable_memory_revisions"
    assert await patched(both, {"ttl_config": minute}) == {"ttlConfig": minute}
    scoped = [{"scopeKeys": ["user_id"]}]
    for spelling in ("customization_configs", "unstructured_memory_configs"):
        changed = await patched(f"{part}.{spelling}", {"customizationConfigs": scoped, "ttlConfig": hour})
        assert changed == {"ttlConfig": minute, "customizationConfigs": scoped}
    for wrong in (f"{part}.ttl", f"{part}.ttl_config.default_ttl", "context_spec.other"):
        refused = await send.error("PATCH", f"?updateMask={wrong}", {})
        assert (refused[1], refused[3]) == ("INVALID_ARGUMENT", "updateMask")


async def test_a_memory_as_the_sdk_creates_it(send: Requests) -> None:
    body = {
        "fact": "I like tea",
        "scope": SCOPE,
        "displayName": "d",
        "description": "x",
        "ttl": "60s",
        "revisionTtl": "30s",
        "disableMemoryRevisions": False,
        "topics": [{"managed_memory_topic": "USER_PREFERENCES"}, {"custom_memory_topic_label": "l"}],
        "metadata": {"k_k": {"bool_value": True}, "t": {"timestampValue": "2027-01-01T00:00:00.500000+00:00"}},
        "aFieldOfTomorrow": 1,
    }
    operation = await send.ok("POST", "memories?memoryId=my-id", body)
    assert operation["name"].startswith(f"{NAME}/memories/my-id/operations/")
    memory = await send.ok("GET", "memories/my-id")
    assert operation["done"]
    assert operation["response"] == memory | {TYPE: operation["response"][TYPE]}
    assert memory["name"] == f"{NAME}/memories/my-id"
    assert memory["topics"] == [{"managedMemoryTopic": "USER_PREFERENCES"}, {"customMemoryTopicLabel": "l"}]
    assert memory["metadata"] == {"k_k": {"boolValue": True}, "t": {"timestampValue": "2027-01-01T00:00:00.500Z"}}
    assert (memory["displayName"], memory["description"], memory["scope"]) == ("d", "x", SCOPE)
    assert memory["memoryType"] == "NATURAL_LANGUAGE_COLLECTION"
    assert not memory.keys() & {"ttl", "revisionTtl", "disableMemoryRevisions"}, "never echoed"
    assert memory["createTime"].endswith("Z")
    assert memory["expireTime"].endswith("Z")
    assert (await send.ok("GET", f"/v1/{operation['name']}"))["response"]["fact"] == "I like tea"
    exact = await send.ok("POST", "memories", {"fact": "f", "scope": SCOPE, "expireTime": "2027-01-01T00:00:00+00:00"})
    assert exact["response"]["expireTime"] == "2027-01-01T00:00:00Z"


async def test_contents_as_the_sdk_sends_them(send: Requests) -> None:
    parts = [
        {"text": "hi"},
        {"inline_data": {"data": "iVBORw==", "mime_type": "image/png"}},
        {"file_data": {"file_uri": "gs://b/x.png", "mime_type": "image/png"}},
        {"function_call": {"args": {"a": 1}, "name": "f"}},
        {"function_response": {"name": "f", "response": {"r": 1}}},
    ]
    body = {
        "directContentsSource": {"events": [{"content": {"parts": parts, "role": "user"}}]},
        "scope": SCOPE,
        "disableConsolidation": True,
        "revisionLabels": {"k": "v"},
        "revisionExpireTime": "2027-01-01T00:00:00+00:00",
        "metadata": {"n": {"double_value": 1.5}},
        "metadataMergeStrategy": "REQUIRE_EXACT_MATCH",
    }
    operation = await send.ended(await send.ok("POST", "memories:generate", body))
    [generated] = operation["response"]["generatedMemories"]
    assert (generated["action"], generated["memory"]["fact"]) == ("CREATED", "hi")
    assert generated["memory"]["metadata"] == {"n": {"doubleValue": 1.5}}
    identified = generated["memory"]["name"].rpartition("/")[2]
    [revision] = (await send.ok("GET", f"memories/{identified}/revisions?pageSize=3"))["memoryRevisions"]
    assert (revision["labels"], revision["extractedMemories"]) == ({"k": "v"}, [{"fact": "hi"}])
    assert revision["expireTime"] == "2027-01-01T00:00:00Z"
    one = await send.ok("GET", f"/v1beta1/{revision['name']}")
    assert one == revision
    filtered = await send.ok("GET", f"memories/{identified}/revisions?filter=labels.k%3D%22w%22")
    assert filtered["memoryRevisions"] == []


@pytest.mark.parametrize(
    "body",
    [
        {"direct_contents_source": {"events": [{"content": {"parts": [{"text": "a"}]}}]}, "scope": SCOPE},
        {"directMemoriesSource": {"direct_memories": [{"fact": "a", "topics": [{"custom_memory_topic_label": "l"}]}]}}
        | {"scope": SCOPE},
        {"directMemoriesSource": {"directMemories": [{"fact": "a"}]}, "scope": SCOPE, "metadataMergeStrategy": 1},
        {"directMemoriesSource": {"directMemories": [{"fact": "a"}]}, "scope": SCOPE, "metadataMergeStrategy": "merge"},
    ],
)
async def test_other_mixes_of_casing(send: Requests, body: dict[str, Any]) -> None:
    operation = await send.ended(await send.ok("POST", "memories:generate", body))
    assert [one["memory"]["fact"] for one in operation["response"]["generatedMemories"]] == ["a"]


async def test_maps_of_the_user_are_left_as_they_are(send: Requests) -> None:
    scope = {"camelCase": "1", "snake_case": "2"}
    body = {"fact": "f", "scope": scope, "metadata": {"someKey": {"stringValue": "x"}}, "revisionLabels": {"a_b": "c"}}
    memory = (await send.ok("POST", "memories", body))["response"]
    assert (memory["scope"], memory["metadata"]) == (scope, {"someKey": {"stringValue": "x"}})
    revisions = await send.ok("GET", f"memories/{memory['name'].rpartition('/')[2]}/revisions")
    assert revisions["memoryRevisions"][0]["labels"] == {"a_b": "c"}


async def test_retrieval(send: Requests) -> None:
    for fact in ("green tea", "black coffee", "rain", "snow"):
        await send.ok("POST", "memories", {"fact": fact, "scope": SCOPE})
    similar = {"scope": SCOPE, "similaritySearchParams": {"search_query": "tea"}}
    found = (await send.ok("POST", "memories:retrieve", similar))["retrievedMemories"]
    assert len(found) == 3
    assert found[0]["memory"]["fact"] == "green tea"
    assert [one["distance"] for one in found] == sorted(one["distance"] for one in found)
    everything = await send.ok("POST", "memories:retrieve", {"scope": SCOPE})
    assert [one["memory"]["fact"] for one in everything["retrievedMemories"]] == [
        "snow",
        "rain",
        "black coffee",
        "green tea",
    ]
    assert "nextPageToken" not in everything
    assert "distance" not in everything["retrievedMemories"][0]
    simple: dict[str, Any] = {"scope": SCOPE, "simpleRetrievalParams": {"page_size": 3}}
    page = await send.ok("POST", "memories:retrieve", simple)
    await send.ok("POST", "memories", {"fact": "meanwhile", "scope": SCOPE})
    simple["simpleRetrievalParams"]["pageToken"] = page["nextPageToken"]
    rest = await send.ok("POST", "memories:retrieve", simple)
    assert facts_of(rest) == ["green tea"]
    assert "nextPageToken" not in rest
    narrow = similar | {"filter": 'fact="rain"', "similaritySearchParams": {"searchQuery": "tea", "topK": 5}}
    assert [
        one["memory"]["fact"] for one in (await send.ok("POST", "memories:retrieve", narrow))["retrievedMemories"]
    ] == ["rain"]
    assert await send.ok("POST", "memories:retrieve", {"scope": {"user_id": "nobody"}}) == {"retrievedMemories": []}


async def test_a_list_pages_through_what_is_inserted_meanwhile(send: Requests) -> None:
    for fact in "abc":
        await send.ok("POST", "memories", {"fact": fact, "scope": SCOPE})
    page = await send.ok("GET", "memories?pageSize=2&orderBy=create_time+asc")
    assert [one["fact"] for one in page["memories"]] == ["a", "b"]
    newest = await send.ok("GET", "memories?pageSize=2")
    assert [one["fact"] for one in newest["memories"]] == ["c", "b"]
    await send.ok("POST", "memories", {"fact": "d", "scope": SCOPE})
    after = await send.ok("GET", f"memories?pageSize=2&pageToken={newest['nextPageToken']}")
    assert [one["fact"] for one in after["memories"]] == ["a"]
    matching = await send.ok("GET", "memories?filter=fact%3D~%22%5Bab%5D%22+AND+scope.user_id%3Du&orderBy=createTime")
    assert [one["fact"] for one in matching["memories"]] == ["a", "b"]


async def test_purge_is_done_at_once(send: Requests) -> None:
    for fact in "abc":
        await send.ok("POST", "memories", {"fact": fact, "scope": SCOPE, "metadata": {"k": {"string_value": fact}}})
    dry = await send.ok("POST", "memories:purge", {"filter": "scope.user_id=u", "force": False})
    assert (dry["done"], dry["response"]["purgeCount"]) == (True, 3)
    groups = [{"filters": [{"key": "k", "value": {"string_value": "b"}}]}]
    forced = await send.ok("POST", "memories:purge", {"filterGroups": groups, "force": True})
    assert forced["response"]["purgeCount"] == 1
    assert (await send.ok("GET", f"/v1beta1/{forced['name']}"))["response"]["purgeCount"] == 1
    assert [one["fact"] for one in (await send.ok("GET", "memories"))["memories"]] == ["c", "a"]


async def test_update_and_rollback(send: Requests) -> None:
    memory = (await send.ok("POST", "memories?memoryId=m1", {"fact": "old", "scope": SCOPE, "ttl": "90s"}))["response"]
    updated = await send.ok("PATCH", "memories/m1", {"fact": "new"})
    assert updated["response"]["fact"] == "new"
    assert updated["response"]["expireTime"] == memory["expireTime"]
    body = {"fact": "newer", "scope": SCOPE, "ttl": "5s", "metadata": {"k": {"string_value": "v"}}}
    masked = (await send.ok("PATCH", "memories/m1?memoryId=zz&updateMask=fact%2Cmetadata", body))["response"]
    assert (masked["fact"], masked["metadata"]) == ("newer", {"k": {"stringValue": "v"}})
    assert masked["expireTime"] == memory["expireTime"], "ttl is not in the mask"
    cleared = (await send.ok("PATCH", "memories/m1?updateMask=metadata,expireTime", {}))["response"]
    assert not cleared.keys() & {"metadata", "expireTime"}
    revisions = (await send.ok("GET", "memories/m1/revisions"))["memoryRevisions"]
    assert [revision["fact"] for revision in revisions] == ["newer", "newer", "new", "old"]
    target = revisions[-1]["name"]
    back = await send.ok("POST", "memories/m1:rollback", {"targetRevisionId": int(target.rpartition("/")[2])})
    assert back["response"]["fact"] == "old"
    deleted = await send.ok("DELETE", "memories/m1")
    assert deleted["name"].startswith(f"{NAME}/memories/m1/operations/")
    assert deleted["response"] == {TYPE: "type.googleapis.com/google.protobuf.Empty"}
    assert (await send.ok("GET", "memories/m1/revisions"))["memoryRevisions"][0].get("fact") is None
    again = await send.ok("POST", "memories/m1:rollback", {"target_revision_id": target})
    assert again["response"]["fact"] == "old"


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
@pytest.mark.parametrize("parent", ["", "projects/p/locations/l/", "projects/12/locations/us/"])
@pytest.mark.parametrize("collection", ["reasoningEngines", "memoryBanks"])
async def test_every_spelling_of_a_path(send: Requests, version: str, parent: str, collection: str) -> None:
    bank = f"{parent}{collection}/default"
    head = bank if parent else "projects/local/locations/local/reasoningEngines/default"
    operation = await send.ok("POST", f"/{version}/{bank}/memories", {"fact": "f", "scope": SCOPE})
    assert operation["name"].startswith(f"{head}/memories/")
    assert (await send.ok("GET", f"/{version}/{operation['response']['name']}"))["fact"] == "f"
    assert (await send.ok("GET", f"/{version}/{operation['name']}"))["done"]
    listed = await send.ok("GET", f"/{version}/{bank}/operations")
    assert operation["name"] in [one["name"] for one in listed["operations"]]
    source = {"events": [{"content": {"parts": [{"text": "a"}]}}]}
    generated = await send.ok(
        "POST", f"/{version}/{bank}/memories:generate", {"directContentsSource": source, "scope": SCOPE}
    )
    ended = await send.ended(generated)
    assert ended["response"]["generatedMemories"][0]["memory"]["name"].startswith(f"{head}/memories/")
    path = (
        f"/{version}/{bank}:ingestEvents" if collection == "memoryBanks" else f"/{version}/{bank}/memories:ingestEvents"
    )
    await send.ok("POST", path, {"scope": SCOPE})


async def test_operations(send: Requests) -> None:
    for fact in "ab":
        await send.ok("POST", "memories", {"fact": fact, "scope": SCOPE})
    source = {"events": [{"content": {"parts": [{"text": "c"}]}}]}
    generation = await send.ok("POST", "memories:generate", {"directContentsSource": source, "scope": SCOPE})
    waited = await send.ok("POST", f"/v1beta1/{generation['name']}:wait", {"timeout": "10s"})
    assert waited["done"]
    assert waited["metadata"]["genericMetadata"].keys() == {"createTime", "updateTime"}
    page = await send.ok("GET", "operations?pageSize=2")
    assert page["operations"][0] == waited
    rest = await send.ok("GET", f"operations?pageSize=2&pageToken={page['nextPageToken']}")
    assert len(rest["operations"]) == 1
    assert await send.ok("GET", "operations?filter=done%3Dfalse") == {"operations": []}
    assert await send.ok("POST", f"/v1beta1/{generation['name']}:cancel") == {}
    for operation in [*page["operations"], *rest["operations"]]:
        assert await send.ok("DELETE", f"/v1beta1/{operation['name']}") == {}
        assert (await send.error("GET", f"/v1beta1/{operation['name']}"))[:2] == (404, "NOT_FOUND")
    assert len((await send.ok("GET", "memories"))["memories"]) == 3, "what they did stays"


async def test_a_call_can_be_read_where_its_memory_can_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"):
        monkeypatch.delenv(name, raising=False)
    uri = f"memorybank:///{tmp_path}"
    async with MemoryBanks(uri, model=ScriptedGenerator(), embedder=HashEmbedder()) as banks:
        await banks.open(bank_id="default", config={"generation_config": {"model": "gemini-2.5-flash"}})
        async with requests_to(banks) as send:
            operation = await send.ok("POST", "memories", {"fact": "a", "scope": SCOPE})
    async with MemoryBanks(uri, embedder=HashEmbedder()) as banks, requests_to(banks) as send:
        memory = operation["response"]["name"]
        assert (await send.error("GET", f"/v1beta1/{memory}"))[:2] == (400, "FAILED_PRECONDITION")
        read = await send.ok("GET", f"/v1beta1/{operation['name']}")
        assert (read["done"], read["response"]["name"]) == (True, memory)


async def test_the_query_in_snake_case(send: Requests) -> None:
    await send.ok("POST", "memories?memory_id=m1", {"fact": "old", "scope": SCOPE})
    body = {"fact": "not named", "displayName": "new"}
    changed = (await send.ok("PATCH", "memories/m1?update_mask=display_name", body))["response"]
    assert (changed["fact"], changed["displayName"]) == ("old", "new")
    await send.ok("POST", "memories?memoryId=", {"fact": "newest", "scope": SCOPE})
    page = await send.ok("GET", "memories?page_size=1&order_by=create_time+desc")
    assert [one["fact"] for one in page["memories"]] == ["newest"]
    rest = await send.ok("GET", f"memories?page_size=1&order_by=create_time+desc&page_token={page['nextPageToken']}")
    assert [one["fact"] for one in rest["memories"]] == ["old"]


async def test_what_belongs_to_a_bank_beside_its_memories(send: Requests) -> None:
    path = "/v1beta1/projects/p/locations/l/reasoningEngines"
    body = {"spec": {"a_b": None}, "encryption_spec": {"kms_key_name": "k"}, "etag": "x", "create_time": "y"}
    name = (await send.ok("POST", path, body))["response"]["name"]
    bank = await send.ok("GET", f"/v1beta1/{name}")
    assert (bank["spec"], bank["encryptionSpec"]) == ({"a_b": None}, {"kms_key_name": "k"})
    assert not bank.keys() & {"encryption_spec", "create_time"}
    assert bank["etag"] != "x"
    await send.ok("PATCH", f"/v1beta1/{name}?updateMask=encryption_spec,spec", {"encryptionSpec": {"kmsKeyName": "l"}})
    changed = await send.ok("GET", f"/v1beta1/{name}")
    assert changed["encryptionSpec"] == {"kmsKeyName": "l"}
    assert "spec" not in changed
    assert changed["etag"] != bank["etag"]


async def test_a_deleted_bank_leaves_its_operation(send: Requests) -> None:
    await send.ok("POST", "memories", {"fact": "a", "scope": SCOPE})
    assert (await send.error("DELETE", ""))[:2] == (400, "FAILED_PRECONDITION")
    operation = await send.ok("DELETE", "", {"force": True})
    assert (await send.ok("GET", f"/v1beta1/{operation['name']}"))["done"]
    assert (await send.error("GET", ""))[:2] == (404, "NOT_FOUND")


async def test_an_openapi_document_of_what_is_served(send: Requests) -> None:
    document = await send.ok("GET", "/openapi.json")
    paths = document["paths"]
    assert "/v1beta1/reasoningEngines/{bank_id}/memories:generate" in paths
    operations = [one for path in paths.values() for one in path.values()]
    assert len({one["operationId"] for one in operations}) == len(operations)
    assert all(one["summary"] and one["responses"]["400"] for one in operations)
    assert not any("422" in one["responses"] for one in operations), "never answered"
    schemas = document["components"]["schemas"]
    assert "directContentsSource" in schemas["GenerateMemories"]["properties"]
    bodies = [one["requestBody"]["content"]["application/json"]["schema"] for one in operations if "requestBody" in one]
    named = {one["$ref"] for body in bodies for one in [body, *body.get("anyOf", [])] if "$ref" in one}
    assert len(named) > 10
    assert [name for name in named if not schemas[name.rpartition("/")[2]].get("examples")] == []
