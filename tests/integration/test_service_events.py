"""Adding events, and what `custom_metadata` does to what is made of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from google.adk.models.llm_request import LlmRequest

from adk_memorybank import MemoryBankService
from adk_memorybank.errors import InvalidArgument
from adk_memorybank.testing import ManualClock, ScriptedGenerator, ScriptedLlm
from tests.adk import WHO, event, flushed, kept, offline_in, only, service_in, session

MINUTE = timedelta(minutes=1)


@pytest.fixture
def generator() -> ScriptedGenerator:
    return ScriptedGenerator()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def service(tmp_path: Path, generator: ScriptedGenerator, clock: ManualClock) -> AsyncIterator[MemoryBankService]:
    async with service_in(tmp_path, model=generator, clock=clock) as service:
        yield service


class TestEvents:
    async def test_events_of_a_session(self, service: MemoryBankService) -> None:
        said = event("I like green tea.", id="e1")
        await service.add_events_to_memory(**WHO, events=[said], session_id="s1")
        await flushed(service)
        assert [(one.session_id, one.event_id) for one in (await only(service)).sources] == [("s1", "e1")]
        await service.add_session_to_memory(session(said, id="s1"))
        await service.add_events_to_memory(**WHO, events=[said], session_id="s1")
        assert await service.flush() == []

    async def test_events_without_a_session_share_a_stream(self, service: MemoryBankService) -> None:
        said = event("I like green tea.", id="e1")
        await service.add_events_to_memory(**WHO, events=[said])
        await service.add_events_to_memory(**WHO, events=[said])
        await flushed(service)
        assert [(one.session_id, one.event_id) for one in (await only(service)).sources] == [("", "e1")]

    async def test_a_session_may_have_any_name(self, service: MemoryBankService) -> None:
        rule = {"generation_rule": {"event_count": 9}}
        for name in ("generate", "default", "GENERATE"):
            await service.add_events_to_memory(
                **WHO,
                events=[event(f"Of {name}.")],
                session_id=name,
                custom_metadata={"generation_trigger_config": rule},
            )
        bank = await service.bank()
        await bank.generate(scope=WHO, events=[event("By itself.")])
        assert await kept(service) == ["By itself."], "what waits in a stream is nobody else's"
        await service.flush(force=True)
        assert len(await kept(service)) == 4

    async def test_stream_id(self, service: MemoryBankService, generator: ScriptedGenerator) -> None:
        said = event("I like green tea.", id="e1")
        for stream in ("one", "two", "one"):
            await service.add_events_to_memory(
                **WHO, events=[said], session_id="s", custom_metadata={"stream_id": stream}
            )
        assert len(await service.flush()) == 2
        assert len(generator.extractions) == 2

    async def test_a_trigger_holds_events_until_they_are_forced(self, service: MemoryBankService) -> None:
        rule = {"generation_rule": {"idle_duration": "60s"}}
        await service.add_events_to_memory(
            **WHO, events=[event("One.")], custom_metadata={"generation_trigger_config": rule}
        )
        assert await service.flush() == []
        assert await kept(service) == []
        await service.add_events_to_memory(**WHO, events=[event("Two.")], custom_metadata={"force_flush": True})
        await flushed(service)
        assert await kept(service) == ["One.", "Two."]

    async def test_a_trigger_stays_with_its_stream_and_flush_can_force_it(self, service: MemoryBankService) -> None:
        rule = {"generationRule": {"eventCount": 3}}
        await service.add_events_to_memory(**WHO, events=[], custom_metadata={"generation_trigger_config": rule})
        for text in ("One.", "Two."):
            await service.add_events_to_memory(**WHO, events=[event(text)])
        assert await service.flush() == []
        await service.add_events_to_memory(**WHO, events=[event("Three.")])
        await flushed(service)
        assert len(await kept(service)) == 3
        await service.add_events_to_memory(**WHO, events=[event("Four.")])
        assert await service.flush() == []
        assert [operation.done for operation in await service.flush(force=True)] == [True]
        assert len(await kept(service)) == 4

    async def test_a_time_rule_fires_by_the_clock(self, service: MemoryBankService, clock: ManualClock) -> None:
        rule = {"generation_rule": {"idle_duration": "60s"}}
        await service.add_events_to_memory(
            **WHO, events=[event("One.")], custom_metadata={"generation_trigger_config": rule}
        )
        clock.advance(timedelta(seconds=61))
        bank = await service.bank()
        for _ in range(100):
            if operations := await bank.operations.list():
                await bank.operations.wait([operations[0].name])
                break
            await asyncio.sleep(0.05)
        assert await kept(service) == ["One."]

    async def test_without_events_a_generation_is_not_asked_for(self, service: MemoryBankService) -> None:
        rule = {"generation_rule": {"event_count": 9}}
        await service.add_events_to_memory(
            **WHO, events=[event("One.")], custom_metadata={"generation_trigger_config": rule}
        )
        await service.add_events_to_memory(
            **WHO, events=[], custom_metadata={"wait_for_completion": True, "ttl": "60s"}
        )
        assert await service.flush() == []
        await service.add_events_to_memory(**WHO, events=[], custom_metadata={"force_flush": True})
        await flushed(service)
        assert await kept(service) == ["One."]

    async def test_wait_for_completion(self, service: MemoryBankService) -> None:
        await service.add_events_to_memory(**WHO, events=[event("One.")], custom_metadata={"wait_for_completion": True})
        assert await kept(service) == ["One."]

    async def test_a_wait_for_completion_ends_where_the_work_does_not(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def hang(_: LlmRequest) -> str:
            await asyncio.sleep(600)
            return "{}"

        monkeypatch.setattr("adk_memorybank.service._LONGEST_WAIT", 0.2)
        async with service_in(tmp_path, model=ScriptedLlm([hang])) as service:
            await service.add_events_to_memory(
                **WHO, events=[event("One.")], custom_metadata={"wait_for_completion": True}
            )
            (operation,) = await (await service.bank()).operations.list()
            assert not operation.done
            assert f"{operation.name} has not ended" in caplog.text
            await service.close(timeout=0)

    @pytest.mark.parametrize(
        ("given", "ttl"),
        [
            ({"ttl": "120s"}, timedelta(seconds=120)),
            ({"revision_ttl": "60s", "ttl": "120s"}, MINUTE),
            ({"revision_expire_time": "2026-01-01T12:01:00Z", "ttl": "120s"}, MINUTE),
            ({}, timedelta(days=365)),
        ],
    )
    async def test_ttl_is_that_of_the_revisions(
        self, service: MemoryBankService, clock: ManualClock, given: dict[str, object], ttl: timedelta
    ) -> None:
        await service.add_events_to_memory(**WHO, events=[event("One.")], custom_metadata=given)
        await flushed(service)
        memory = await only(service)
        assert memory.expire_time is None
        (revision,) = await (await service.bank()).list_revisions(name=memory.name)
        assert revision.expire_time == clock.now() + ttl

    async def test_revisions_are_labelled_or_left_out(self, service: MemoryBankService) -> None:
        bank = await service.bank()
        await service.add_events_to_memory(
            **WHO, events=[event("One.")], custom_metadata={"revision_labels": {"source": "321"}}
        )
        await flushed(service)
        memory = await only(service)
        (revision,) = await bank.list_revisions(name=memory.name)
        assert (revision.fact, revision.labels) == ("One.", {"source": "321"})
        assert [one.fact for one in revision.extracted_memories] == ["One."]
        await service.add_events_to_memory(
            **WHO, events=[event("One.")], custom_metadata={"disable_memory_revisions": True}
        )
        await flushed(service)
        assert len(await bank.list_revisions(name=memory.name)) == 1

    async def test_metadata_of_every_type(self, service: MemoryBankService) -> None:
        when = datetime(2026, 1, 1, tzinfo=UTC)
        given = {
            "yes": True,
            "number": 3,
            "text": "x",
            "when": when,
            "metadata": {"list": [1], "no": {"bool_value": False}},
        }
        await service.add_events_to_memory(**WHO, events=[event("One.")], custom_metadata=given)
        await flushed(service)
        wanted = {"yes": True, "number": 3.0, "text": "x", "when": when, "list": "[1]", "no": False}
        assert (await only(service)).metadata == wanted
        (found,) = (await service.search_memory(**WHO, query="one")).memories
        assert {key: value for key, value in found.custom_metadata.items() if key != "memory_bank"} == wanted

    @pytest.mark.parametrize(
        ("strategy", "metadata", "count"),
        [
            (None, [{"a": 1.0, "b": 2.0, "c": 2.0}], 1),
            ("MERGE", [{"a": 1.0, "b": 2.0, "c": 2.0}], 1),
            ("OVERWRITE", [{"b": 2.0, "c": 2.0}], 1),
            ("REQUIRE_EXACT_MATCH", [{"a": 1.0, "b": 1.0}, {"b": 2.0, "c": 2.0}], 2),
        ],
    )
    async def test_metadata_meets_that_of_a_memory(
        self, service: MemoryBankService, strategy: str | None, metadata: list[dict[str, float]], count: int
    ) -> None:
        await service.add_events_to_memory(
            **WHO, events=[event("One.")], custom_metadata={"metadata": {"a": 1, "b": 1}}
        )
        await flushed(service)
        second: dict[str, object] = {"metadata": {"b": 2, "c": 2}, "metadata_merge_strategy": strategy}
        await service.add_events_to_memory(**WHO, events=[event("One.")], custom_metadata=second)
        await flushed(service)
        memories = await (await service.bank()).list(scope=WHO)
        assert len(memories) == count
        assert sorted((one.metadata for one in memories), key=str) == sorted(metadata, key=str)

    async def test_metadata_that_comes_with_events_overwrites(self, service: MemoryBankService) -> None:
        for metadata in ({"a": 1, "b": 1}, {"b": 2, "c": 2}, {}):  # one that brings none wipes nothing
            await service.add_events_to_memory(**WHO, events=[event("One.")], custom_metadata=metadata)
            await flushed(service)
        assert (await only(service)).metadata == {"b": 2.0, "c": 2.0}

    async def test_an_exact_match_is_a_candidate(self, service: MemoryBankService) -> None:
        for _ in range(2):
            await service.add_events_to_memory(
                **WHO,
                events=[event("One.")],
                custom_metadata={"a": 1, "metadata_merge_strategy": "REQUIRE_EXACT_MATCH"},
            )
            await flushed(service)
        assert await kept(service) == ["One."]

    async def test_without_consolidation_even_duplicates_are_kept(
        self, service: MemoryBankService, generator: ScriptedGenerator
    ) -> None:
        for _ in range(2):
            await service.add_events_to_memory(
                **WHO, events=[event("One.")], custom_metadata={"disable_consolidation": True}
            )
            await flushed(service)
        assert await kept(service) == ["One.", "One."]
        assert generator.consolidations == 0

    @pytest.mark.parametrize(
        "topics",
        [["USER_PREFERENCES"], [{"managed_memory_topic": "USER_PREFERENCES"}], ["user_preferences", "no-such-topic"]],
    )
    async def test_allowed_topics(self, tmp_path: Path, topics: list[object]) -> None:
        async with offline_in(tmp_path) as service:
            await service.add_events_to_memory(
                **WHO,
                events=[event("I am a carpenter. I like green tea.")],
                custom_metadata={"allowed_topics": topics},
            )
            await flushed(service)
            memory = await only(service)
            assert (memory.fact, memory.topics) == ("I like green tea.", ["USER_PREFERENCES"])

    @pytest.mark.parametrize(
        ("given", "field"),
        [
            ({"ttl": "1h"}, "custom_metadata.ttl"),
            ({"generation_trigger_config": {"generation_rule": {"idle_duration": "61s"}}}, "generation_trigger_config"),
            ({"generation_trigger_config": "soon"}, "generation_trigger_config"),
            ({"stream_id": "x" * 5_000}, "stream_id"),
            ({"revision_ttl": "60s", "revision_expire_time": "2030-01-01T00:00:00Z"}, "revision_ttl"),
        ],
    )
    async def test_wrong_values_change_nothing(
        self, service: MemoryBankService, given: dict[str, object], field: str
    ) -> None:
        said = event("One.", id="e1")
        with pytest.raises(InvalidArgument) as raised:
            await service.add_events_to_memory(**WHO, events=[said], custom_metadata=given)
        assert raised.value.field.startswith(field)
        assert await service.flush(force=True) == []
        await service.add_events_to_memory(**WHO, events=[said])
        await flushed(service)
        assert await kept(service) == ["One."], "the event counts as new still"

    async def test_one_wrong_event_and_none_is_taken(self, service: MemoryBankService) -> None:
        wrong: Any = {"content": {"parts": [{"text": 7}]}}
        with pytest.raises(InvalidArgument) as raised:
            await service.add_events_to_memory(**WHO, events=[event("One."), wrong])
        assert raised.value.field == "events[1].content.parts[0].text"
        assert await service.flush() == []
