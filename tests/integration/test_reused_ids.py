"""An id or a number that is used again shows and changes nothing of what it belonged to before."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any

import pytest

from adk_memorybank.server.access import Access
from adk_memorybank.testing import ManualClock
from tests.integration.serving import Requests, a_store, requests_to

ADA, BOB = {"user_id": "ada"}, {"user_id": "bob"}
ALL, HERS = ({"x-goog-api-key": key} for key in ("k-all", "k-ada"))
EVENT = {"content": {"role": "user", "parts": [{"text": "a"}]}}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def send(clock: ManualClock) -> AsyncGenerator[Requests]:
    access = Access(["k-all", "k-ada"], ['k-ada:scope.user_id="ada"'])
    async with a_store(clock=clock) as banks, requests_to(banks, access=access) as requests:
        yield requests


async def create(send: Requests, scope: dict[str, str], fact: str, **more: Any) -> dict[str, Any]:
    return await send.ok("POST", "memories?memoryId=m", {"fact": fact, "scope": scope, **more}, headers=ALL)


async def revisions(send: Requests) -> list[dict[str, Any]]:
    return (await send.ok("GET", "memories/m/revisions", headers=HERS))["memoryRevisions"]


async def test_revisions_of_a_memory_under_an_id_that_another_scope_had(send: Requests) -> None:
    await create(send, BOB, "Bob's")
    [his] = (await send.ok("GET", "memories/m/revisions", headers=ALL))["memoryRevisions"]
    await send.ok("DELETE", "memories/m", headers=ALL)
    await create(send, ADA, "Ada's")
    assert [one["fact"] for one in await revisions(send)] == ["Ada's"]
    await send.ok("DELETE", "memories/m", headers=HERS)
    assert [one.get("fact") for one in await revisions(send)] == [None, "Ada's"]
    for headers in (HERS, ALL):
        body = {"targetRevisionId": his["name"]}
        assert (await send.error("POST", "memories/m:rollback", body, headers=headers))[0] == 404
        assert (await send.error("GET", f"/v1beta1/{his['name']}", headers=headers))[0] == 404


async def test_the_revision_before_is_one_of_the_same_memory(send: Requests) -> None:
    await create(send, BOB, "Tea.")
    await send.ok("DELETE", "memories/m", headers=ALL)
    await create(send, ADA, "Tea.", disableMemoryRevisions=True)
    source = {"scope": ADA, "directMemoriesSource": {"directMemories": [{"fact": "Tea."}]}}
    operation = await send.ok("POST", "memories:generate", source, headers=ALL)
    operation = await send.ok("POST", f"/v1beta1/{operation['name']}:wait", headers=ALL)
    [changed] = operation["response"]["generatedMemories"]
    assert changed["action"] == "UPDATED"
    assert "previousRevision" not in changed


async def test_an_operation_tells_nothing_of_the_next_memory_under_its_id(send: Requests) -> None:
    created = await create(send, ADA, "Ada's")
    source = {"scope": ADA, "directMemoriesSource": {"directMemories": [{"fact": "Ada's"}]}}
    generated = await send.ok("POST", "memories:generate", source, headers=HERS)
    await send.ok("POST", f"/v1beta1/{generated['name']}:wait", headers=HERS)
    await send.ok("DELETE", "memories/m", headers=HERS)
    await create(send, BOB, "Bob's")
    told = await send.ok("GET", f"/v1beta1/{created['name']}", headers=HERS)
    assert told["response"].keys() == {"@type", "name"}
    told = await send.ok("GET", f"/v1beta1/{generated['name']}", headers=HERS)
    [change] = told["response"]["generatedMemories"]
    assert change["memory"]["scope"] == ADA
    assert "fact" not in change["memory"]


async def test_whose_deletion_left_no_revision_can_ask_for_it(send: Requests) -> None:
    await send.ok("PATCH", "", {"contextSpec": {"memoryBankConfig": {"disableMemoryRevisions": True}}}, headers=ALL)
    await create(send, ADA, "Ada's")
    operation = await send.ok("DELETE", "memories/m", headers=HERS)
    assert (await send.ok("GET", f"/v1beta1/{operation['name']}", headers=HERS))["done"]


async def test_an_expired_memory_leaves_its_id_free(send: Requests, clock: ManualClock) -> None:
    await create(send, BOB, "Bob's", ttl="60s")
    assert (await send.error("POST", "memories?memoryId=m", {"fact": "f", "scope": ADA}, headers=HERS))[0] == 409
    clock.advance(timedelta(seconds=60))
    await create(send, ADA, "green tea")
    assert [one["fact"] for one in await revisions(send)] == ["green tea"]
    search = {"scope": ADA, "similaritySearchParams": {"searchQuery": "green tea"}}
    [found] = (await send.ok("POST", "memories:retrieve", search, headers=HERS))["retrievedMemories"]
    assert (found["memory"]["fact"], found["distance"]) == ("green tea", pytest.approx(0, abs=1e-3))


async def test_expired_memories_do_not_keep_a_bank(send: Requests, clock: ManualClock) -> None:
    await create(send, ADA, "Ada's", ttl="60s")
    assert (await send.error("DELETE", "", headers=ALL))[:2] == (400, "FAILED_PRECONDITION")
    clock.advance(timedelta(seconds=60))
    await send.ok("DELETE", "", headers=ALL)


async def test_streams_of_a_deleted_bank(send: Requests) -> None:
    waits = {"generationTriggerConfig": {"generationRule": {"eventCount": 5}}}
    body = {"scope": ADA, "directContentsSource": {"events": [EVENT]}, **waits}
    names: list[str] = []
    for _ in range(2):
        bank = (await send.ok("POST", "/v1beta1/reasoningEngines", {}, headers=ALL))["response"]["name"]
        call = await send.ok("POST", f"/v1beta1/{bank}/memories:ingestEvents", body, headers=ALL)
        assert call["name"].startswith(bank)
        names.append(call["name"])
        await send.ok("DELETE", f"/v1beta1/{bank}?force=true", headers=ALL)
    for name in names:  # it would never end, and who polls would never know
        assert (await send.error("GET", f"/v1beta1/{name}", headers=ALL))[0] == 404


async def test_a_call_that_waits_finds_its_generation_where_the_one_before_was_deleted(
    send: Requests, clock: ManualClock
) -> None:
    body: dict[str, Any] = {"scope": ADA, "directContentsSource": {"events": [EVENT]}}
    first = await send.ok("POST", "memories:ingestEvents", body, headers=ALL)
    first = await send.ok("POST", f"/v1beta1/{first['name']}:wait", headers=ALL)
    waits = {"generationTriggerConfig": {"generationRule": {"idleDuration": "60s"}}}
    second = await send.ok("POST", "memories:ingestEvents", body | waits, headers=ALL)
    await send.ok("DELETE", f"/v1beta1/{first['response']['generateMemoriesOperation']}", headers=ALL)
    clock.advance(timedelta(seconds=60))
    second = await send.ok("POST", f"/v1beta1/{second['name']}:wait", {"timeout": "20s"}, headers=ALL)
    assert second["done"]
    assert second["response"]["generateMemoriesOperation"]
