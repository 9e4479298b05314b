"""IngestEvents over the wire: one operation for a stream, until what its trigger has set off has ended."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from adk_memorybank import MemoryBanks
from adk_memorybank.errors import ModelOutputError
from adk_memorybank.testing import HashEmbedder, ManualClock, ScriptedGenerator
from tests.integration.serving import Requests, requests_to
from tests.integration.stores import until

SCOPE = {"user_id": "u"}
Rule = dict[str, Any]


@asynccontextmanager
async def opened(folder: Path, clock: ManualClock, generator: Any = None) -> AsyncGenerator[Requests]:
    banks = MemoryBanks(
        f"memorybank:///{folder}/m", model=generator or ScriptedGenerator(), embedder=HashEmbedder(), clock=clock
    )
    await banks.open()
    async with requests_to(banks) as send:
        yield send
    await banks.close()


async def ingest(
    send: Requests, *said: str, rule: Rule | None = None, stream: str = "s", scope: Any = None, **more: Any
) -> dict[str, Any]:
    """Each text under an event id of its own."""
    body: dict[str, Any] = {"scope": scope or SCOPE, "streamId": stream, **more}
    if said:
        events = [{"content": {"role": "user", "parts": [{"text": text}]}, "eventId": f"id {text}"} for text in said]
        body["directContentsSource"] = {"events": events}
    if rule is not None:
        body["generationTriggerConfig"] = {"generationRule": rule}
    return await send.ok("POST", "memories:ingestEvents", body)


async def facts(send: Requests) -> list[str]:
    return sorted(memory["fact"] for memory in (await send.ok("GET", "memories"))["memories"])


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


async def test_by_count_across_a_restart(tmp_path: Path, clock: ManualClock) -> None:
    rule = {"eventCount": 3}
    async with opened(tmp_path, clock) as send:
        first = await ingest(send, "a", rule=rule)
        assert "done" not in first
        assert (await ingest(send, "a"))["name"] == first["name"], "seen, and not counted again"
    async with opened(tmp_path, clock) as send:
        second = await ingest(send, "b")
        assert second["name"] == first["name"]
        assert await facts(send) == []
        third = await ingest(send, "c")
        assert third["name"] == first["name"]
        ended = await send.ended(third)
        generation = ended["response"]["generateMemoriesOperation"]
        assert ended["metadata"]["generateMemoriesOperation"] == generation
        assert len((await send.ok("GET", f"/v1beta1/{generation}"))["response"]["generatedMemories"]) == 3
        assert await facts(send) == ["a", "b", "c"]
        assert (await ingest(send, "d"))["name"] != first["name"], "the next window has an operation of its own"


@pytest.mark.parametrize(
    ("rule", "after"),
    [
        ({"idleDuration": "120s"}, timedelta(seconds=120)),
        ({"fixedInterval": "60s"}, timedelta(seconds=60)),
        ({"eventCount": 9, "idleDuration": "60s"}, timedelta(seconds=60)),
        ({"eventCount": 9}, timedelta(hours=24)),
    ],
)
async def test_by_time_across_a_restart(tmp_path: Path, clock: ManualClock, rule: Rule, after: timedelta) -> None:
    async with opened(tmp_path, clock) as send:
        call = await ingest(send, "a", rule=rule)
        clock.advance(after - timedelta(seconds=1))
        assert "done" not in await send.ok("POST", f"/v1beta1/{call['name']}:wait", {"timeout": "1.5s"})
    clock.advance(timedelta(seconds=1))
    async with opened(tmp_path, clock) as send:
        assert (await send.ended(call))["name"] == call["name"]
        assert await facts(send) == ["a"]


async def test_without_a_rule_at_once(tmp_path: Path, clock: ManualClock) -> None:
    async with opened(tmp_path, clock) as send:
        assert (await send.ended(await ingest(send, "a", stream="")))["done"]
        again = await ingest(send, "a", stream="default")
        assert again["done"], "nothing of it was new: there is nothing to wait for"
        assert "generateMemoriesOperation" not in again["response"]
        assert (await ingest(send, forceFlush=True))["done"]
        assert await facts(send) == ["a"]


async def test_a_rule_without_events_waits_for_them(tmp_path: Path, clock: ManualClock) -> None:
    async with opened(tmp_path, clock) as send:
        call = await ingest(send, rule={"eventCount": 2})
        assert "done" not in call
        await ingest(send, "a")
        assert (await ingest(send, "b"))["name"] == call["name"]
        assert (await send.ended(call))["done"]
        assert await facts(send) == ["a", "b"]
        waiting = await ingest(send, "c")
        flushed = await ingest(send, forceFlush=True)
        assert flushed["name"] == waiting["name"]
        await send.ended(flushed)
        assert await facts(send) == ["a", "b", "c"]


async def test_what_has_ended_is_not_begun_again(tmp_path: Path, clock: ManualClock) -> None:
    async with opened(tmp_path, clock) as send:
        for rule, said in ((None, ["a"]), ({"eventCount": 2}, ["b", "c"])):
            stream = str(rule)
            first = await send.ended(await ingest(send, *said, rule=rule, stream=stream))
            second = await ingest(send, *(f"{text} more" for text in said), stream=stream)  # fires at once
            assert second["name"] != first["name"]
            assert await send.ok("GET", f"/v1beta1/{first['name']}") == first
            await send.ended(second)
        assert len(await facts(send)) == 6


@pytest.mark.parametrize("trigger", [{}, {"generationRule": {}}])
async def test_a_trigger_that_waits_for_nothing_is_none(tmp_path: Path, clock: ManualClock, trigger: Rule) -> None:
    async with opened(tmp_path, clock) as send:
        assert (await send.ended(await ingest(send, "a", generationTriggerConfig=trigger)))["done"]
        assert await facts(send) == ["a"]


async def test_a_flush_leaves_what_the_events_came_with(tmp_path: Path, clock: ManualClock) -> None:
    wanted: dict[str, Any] = {"revisionLabels": {"source": "chat"}, "metadata": {"k": {"stringValue": "v"}}}
    async with opened(tmp_path, clock) as send:
        flushes: list[dict[str, Any]] = [{}, {"revisionLabels": {"source": "flush"}}]
        for more in flushes:
            text = f"said {more}"
            await ingest(send, text, rule={"idleDuration": "60s"}, **wanted)
            await send.ended(await ingest(send, forceFlush=True, **more))
            [memory] = [one for one in (await send.ok("GET", "memories"))["memories"] if one["fact"] == text]
            [revision] = (await send.ok("GET", f"/v1beta1/{memory['name']}/revisions"))["memoryRevisions"]
            assert revision["labels"] == (more or wanted)["revisionLabels"], "else the last writer wins"
            assert memory.get("metadata") == (None if more else wanted["metadata"])


async def test_streams_and_scopes_are_apart(tmp_path: Path, clock: ManualClock) -> None:
    async with opened(tmp_path, clock) as send:
        rule = {"eventCount": 2}
        names = {
            (await ingest(send, "a", rule=rule, stream=stream, scope=scope))["name"]
            for stream in ("s", "t")
            for scope in (SCOPE, {"user_id": "v"})
        }
        assert len(names) == 4
        assert await facts(send) == []


async def test_the_banks_own_rule(tmp_path: Path, clock: ManualClock) -> None:
    async with opened(tmp_path, clock) as send:
        config = {"generationConfig": {"generationTriggerConfig": {"generationRule": {"eventCount": 2}}}}
        await send.ok("PATCH", "", {"contextSpec": {"memoryBankConfig": config}})
        call = await ingest(send, "a")
        assert "done" not in call
        own = await ingest(send, "b", rule={"eventCount": 3})
        assert "done" not in own, "the request's own goes before"
        assert (await send.ended(await ingest(send, "c")))["name"] == call["name"]


async def test_who_waits_waits_for_all_that_came_meanwhile(tmp_path: Path, clock: ManualClock) -> None:
    async with opened(tmp_path, clock, ScriptedGenerator([0.6])) as send:
        first = await ingest(send, "a", forceFlush=True)

        async def runs() -> bool:
            return bool((await send.ok("GET", "operations?filter=done%3Dfalse")).get("operations"))

        await until(runs)
        second = await ingest(send, "b", forceFlush=True)
        assert second["name"] == first["name"]
        await send.ended(second)
        assert await facts(send) == ["a", "b"]


async def test_a_failure_is_the_calls(tmp_path: Path, clock: ManualClock) -> None:
    async with opened(tmp_path, clock, ScriptedGenerator([ModelOutputError("no JSON")])) as send:
        failed = await send.ended(await ingest(send, "a"))
        assert (failed["error"]["code"], failed["error"]["message"]) == (13, "no JSON")
        assert "response" not in failed
        await send.ended(await ingest(send, "b"))
        assert await facts(send) == ["a", "b"], "its events went with the next"


async def test_a_cancelled_one_gives_its_events_back(tmp_path: Path, clock: ManualClock) -> None:
    async with opened(tmp_path, clock, ScriptedGenerator([0.5])) as send:
        call = await ingest(send, "a")
        await send.ok("POST", f"/v1beta1/{call['name']}:cancel")
        ended = await send.ended(call)
        assert ended["error"]["code"] == 1
        await send.ended(await ingest(send, "b"))
        assert await facts(send) == ["a", "b"]
