"""What a bank does: create, generate, ingest, retrieve, update, delete, forget."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adk_memorybank import MemoryBank, MemoryBanks
from adk_memorybank.errors import (
    AlreadyExists,
    InvalidArgument,
    MemoryBankError,
    NotFound,
)
from adk_memorybank.options import GenerationOptions, MemoryOptions, RevisionOptions
from adk_memorybank.resources import Action, Operation
from adk_memorybank.testing import ManualClock, ScriptedGenerator, temporary_banks
from tests.adk import event, session

SCOPE = {"user_id": "1"}
OTHER = {"user_id": "2"}
MINUTE = timedelta(minutes=1)
FACTS = ["I like green tea.", "My dog is called Rex.", "I live in Rome."]

SHORT_LIVED = {"ttl_config": {"default_ttl": "60s"}}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def generator() -> ScriptedGenerator:
    return ScriptedGenerator()


@pytest.fixture
async def banks(clock: ManualClock, generator: ScriptedGenerator) -> AsyncIterator[MemoryBanks]:
    async with temporary_banks(clock=clock, model=generator) as banks:
        yield banks


@pytest.fixture
async def bank(banks: MemoryBanks) -> MemoryBank:
    return await banks.create(display_name="Test")


def actions(operation: Operation) -> list[str]:
    return [change.action.value for change in operation.generated_memories]


class TestMemories:
    async def test_create_and_get(self, bank: MemoryBank, clock: ManualClock) -> None:
        options = MemoryOptions(
            memory_id="tea",
            display_name="Tea",
            description="What to serve",
            topics=("USER_PREFERENCES",),
            metadata={"cups": 2.0, "hot": True, "when": clock.now(), "kind": "green"},
            ttl=MINUTE,
            author="ann",
            event_time=datetime(2025, 1, 1, tzinfo=UTC),
        )
        created = await bank.create(scope=SCOPE, fact=" I like tea. ", options=options)
        assert created == await bank.get(name="tea") == await bank.get(name=created.name)
        assert created.name == f"{bank.name}/memories/tea"
        assert (created.fact, created.scope, created.author) == ("I like tea.", SCOPE, "ann")
        assert created.metadata == options.metadata
        assert (created.create_time, created.update_time) == (clock.now(), clock.now())
        assert created.expire_time == clock.now() + MINUTE
        assert created.event_time == options.event_time

    async def test_create_all_or_none(self, bank: MemoryBank) -> None:
        created = await bank.create_all(scope=SCOPE, memories=[(fact, MemoryOptions()) for fact in FACTS])
        assert [memory.fact for memory in created] == FACTS
        taken = MemoryOptions(memory_id=created[0].id)
        with pytest.raises(AlreadyExists):
            await bank.create_all(scope=SCOPE, memories=[("new", MemoryOptions()), ("taken", taken)])
        with pytest.raises(InvalidArgument) as raised:
            await bank.create_all(scope=SCOPE, memories=[("new", MemoryOptions()), (" ", MemoryOptions())])
        assert raised.value.field == "fact"
        assert len(await bank.list(scope=SCOPE)) == 3
        assert await bank.create_all(scope=SCOPE, memories=[]) == []

    async def test_list(self, bank: MemoryBank, clock: ManualClock) -> None:
        assert await bank.list() == await bank.list(scope=SCOPE) == []
        for fact in FACTS:
            await bank.create(scope=SCOPE, fact=fact)
            clock.advance(MINUTE)
        await bank.create(scope=OTHER, fact="x")
        assert [memory.fact for memory in await bank.list(scope=SCOPE)] == FACTS[::-1]
        assert [memory.fact for memory in await bank.list()] == ["x", *FACTS[::-1]]
        assert await bank.list(scope={**SCOPE, "more": "1"}) == []
        assert await bank.list_scopes() == [SCOPE, OTHER]

    async def test_update(self, bank: MemoryBank, clock: ManualClock) -> None:
        options = MemoryOptions(metadata={"a": 1.0}, display_name="Tea", topics=("USER_PREFERENCES",))
        created = await bank.create(scope=SCOPE, fact=FACTS[0], options=options)
        clock.advance(MINUTE)
        updated = await bank.update(name=created.name, fact="I like coffee.", metadata={"b": 2})
        assert (updated.fact, updated.metadata, updated.display_name) == ("I like coffee.", {"b": 2.0}, "Tea")
        assert (updated.create_time, updated.update_time) == (created.create_time, clock.now())
        assert (updated.topics, updated.expire_time) == (["USER_PREFERENCES"], None)
        (found,) = await bank.retrieve(scope=SCOPE, query="I like coffee.")
        assert found.distance is not None
        assert found.distance < 0.01, "it is found by its new text"
        revisions = await bank.list_revisions(name=created.name)
        assert [revision.fact for revision in revisions] == ["I like coffee.", "I like green tea."]
        updated = await bank.update(name=created.id, display_name="", topics=["tea"], ttl=MINUTE)
        assert (updated.fact, updated.display_name, updated.topics) == ("I like coffee.", "", ["tea"])
        assert updated.expire_time == clock.now() + MINUTE

    @pytest.mark.parametrize(
        ("given", "field"),
        [
            ({"fact": " "}, "fact"),
            ({"ttl": MINUTE, "expire_time": datetime(2030, 1, 1, tzinfo=UTC)}, "ttl"),
            ({"ttl": -MINUTE}, "ttl"),
            ({"metadata": {"a": float("nan")}}, "metadata"),
            ({"expire_time": datetime.fromisoformat("0001-01-01T00:00:00+14:00")}, "expire_time"),
        ],
    )
    async def test_a_wrong_update_changes_nothing(self, bank: MemoryBank, given: dict[str, Any], field: str) -> None:
        created = await bank.create(scope=SCOPE, fact="x")
        with pytest.raises(InvalidArgument) as raised:
            await bank.update(name=created.name, **given)
        assert raised.value.field == field
        assert await bank.get(name=created.name) == created

    async def test_delete(self, bank: MemoryBank, clock: ManualClock) -> None:
        created = await bank.create(scope=SCOPE, fact=FACTS[0])
        with pytest.raises(NotFound):
            await bank.delete(name=created.name, scope=OTHER)
        await bank.delete(name=created.name, scope=SCOPE)
        for call in (bank.get(name=created.name), bank.delete(name=created.name), bank.update(name=created.name)):
            with pytest.raises(NotFound):
                await call
        assert await bank.retrieve(scope=SCOPE, query="tea") == []
        assert [revision.fact for revision in await bank.list_revisions(name=created.name)] == ["", FACTS[0]]
        clock.advance(timedelta(hours=47))
        assert len(await bank.list_revisions(name=created.name)) == 2
        clock.advance(timedelta(hours=2))
        assert await bank.list_revisions(name=created.name) == []

    async def test_an_id_can_be_used_again(self, bank: MemoryBank) -> None:
        options = MemoryOptions(memory_id="tea")
        for fact in FACTS:
            await bank.create(scope=SCOPE, fact=fact, options=options)
            (found,) = await bank.retrieve(scope=SCOPE, query=fact)
            assert found.fact == fact
            assert found.distance is not None
            assert found.distance < 0.01
            await bank.delete(name="tea")

    async def test_what_has_expired_is_gone(self, bank: MemoryBank, clock: ManualClock) -> None:
        await bank.create(scope=SCOPE, fact=FACTS[0], options=MemoryOptions(memory_id="tea", ttl=MINUTE))
        await bank.create(scope=SCOPE, fact=FACTS[1])
        assert len(await bank.retrieve(scope=SCOPE, query="tea")) == 2
        clock.advance(MINUTE)
        for by in ("fused", "distance", "words"):
            assert [one.fact for one in await bank.retrieve(scope=SCOPE, query="tea or dog", by=by)] == [FACTS[1]]
        assert [one.fact for one in await bank.retrieve(scope=SCOPE)] == [FACTS[1]]
        assert len(await bank.list()) == 1
        for call in (bank.get(name="tea"), bank.update(name="tea", fact="x"), bank.delete(name="tea")):
            with pytest.raises(NotFound):
                await call

    @pytest.mark.parametrize(
        ("config", "created", "updated", "generated"),
        [
            ({}, None, None, None),
            (SHORT_LIVED, MINUTE, MINUTE, MINUTE),
            ({"ttl_config": {"granular_ttl_config": {"create_ttl": "60s"}}}, MINUTE, MINUTE, None),
            ({"ttl_config": {"granular_ttl_config": {"generate_created_ttl": "60s"}}}, None, None, MINUTE),
        ],
    )
    async def test_ttl_of_the_bank(
        self,
        banks: MemoryBanks,
        clock: ManualClock,
        config: dict[str, Any],
        created: timedelta | None,
        updated: timedelta | None,
        generated: timedelta | None,
    ) -> None:
        bank = await banks.create(managed_semantic_memory_config=config)
        memory = await bank.create(scope=SCOPE, fact=FACTS[0])
        assert memory.expire_time == (created and clock.now() + created)
        first = clock.now()
        clock.advance(timedelta(seconds=10))
        memory = await bank.update(name=memory.name, fact=FACTS[1])
        moved = config == SHORT_LIVED
        assert memory.expire_time == (updated and (clock.now() if moved else first) + updated)
        operation = await bank.generate(scope=SCOPE, events=[event(FACTS[2])])
        assert operation.generated_memories[0].memory.expire_time == (generated and clock.now() + generated)
        forever = datetime(2030, 1, 1, tzinfo=UTC)
        memory = await bank.create(scope=SCOPE, fact="x", options=MemoryOptions(expire_time=forever))
        assert memory.expire_time == forever


class TestRetrieve:
    async def test_orders(self, bank: MemoryBank) -> None:
        await bank.create_all(scope=SCOPE, memories=[(fact, MemoryOptions()) for fact in FACTS])
        for by in ("fused", "distance", "words"):
            found = await bank.retrieve(scope=SCOPE, query="Where is Rex, my dog?", by=by)
            assert found[0].fact == FACTS[1]
            assert len(found) == (1 if by == "words" else 3), "words find what has one of them, meaning ranks all"
            scores = [one.score for one in found if one.score is not None]
            assert scores == sorted(scores, reverse=True)
            assert len(scores) == len(found)
        distances = [one.distance or 0 for one in await bank.retrieve(scope=SCOPE, query="my dog", by="distance")]
        assert distances == sorted(distances)
        assert all(0 <= distance <= 2 for distance in distances)

    async def test_without_a_query_all_come(self, bank: MemoryBank, clock: ManualClock) -> None:
        for number in range(30):
            await bank.create(scope=SCOPE, fact=f"Fact {number}.")
            clock.advance(timedelta(seconds=1))
        found = await bank.retrieve(scope=SCOPE)
        assert [one.fact for one in found] == [f"Fact {number}." for number in reversed(range(30))]
        assert {(one.distance, one.score) for one in found} == {(None, None)}
        assert len(await bank.retrieve(scope=SCOPE, top_k=4)) == 4
        assert len(await bank.retrieve(scope=SCOPE, query="fact", top_k=4)) == 4

    async def test_an_empty_scope(self, bank: MemoryBank) -> None:
        assert await bank.retrieve(scope=SCOPE, query="x") == await bank.retrieve(scope=SCOPE) == []
        assert await bank.list_scopes() == []

    @pytest.mark.parametrize("query", [None, "x"])
    @pytest.mark.parametrize("wrong", [{"top_k": "3"}, {"top_k": True}, {"query": 3}, {"by": "foo"}, {"by": None}])
    async def test_wrong_arguments(self, bank: MemoryBank, wrong: dict[str, Any], query: str | None) -> None:
        arguments: dict[str, Any] = {"scope": SCOPE, "query": query, **wrong}
        with pytest.raises(InvalidArgument) as raised:
            await bank.retrieve(**arguments)
        assert raised.value.field == next(iter(wrong))

    @pytest.mark.parametrize("top_k", [0, -1])
    async def test_wrong_top_k(self, bank: MemoryBank, top_k: int) -> None:
        with pytest.raises(InvalidArgument) as raised:
            await bank.retrieve(scope=SCOPE, top_k=top_k)
        assert raised.value.field == "top_k"

    @pytest.mark.parametrize(
        "scope", [{}, {"user_id": "*"}, {"user_id": ""}, {str(n): "x" for n in range(6)}, "u", 7, [("user_id", "u")]]
    )
    async def test_wrong_scopes(self, bank: MemoryBank, scope: Any) -> None:
        for call in (
            lambda: bank.retrieve(scope=scope),
            lambda: bank.create(scope=scope, fact="x"),
            lambda: bank.generate(scope=scope, direct_memories=["x"]),
            lambda: bank.ingest_events(scope=scope, events=[event("x")]),
            lambda: bank.flush(scope=scope),
            lambda: bank.forget(scope=scope),
            lambda: bank.list(scope=scope),
        ):
            with pytest.raises(InvalidArgument, match="scope"):
                await call()
        assert await bank.list_scopes() == []

    @pytest.mark.parametrize("events", ["text", {"content": {}}, 7, iter([])])
    async def test_events_that_are_no_list(self, bank: MemoryBank, events: Any) -> None:
        for call in (bank.generate, bank.ingest_events):
            with pytest.raises(InvalidArgument, match="should be a list") as raised:
                await call(scope=SCOPE, events=events)
            assert raised.value.field == "events"
        assert await bank.list_scopes() == []


class TestGenerate:
    async def test_from_events(self, bank: MemoryBank, generator: ScriptedGenerator) -> None:
        events = [{"content": {"role": "user", "parts": [{"text": fact}]}} for fact in FACTS]
        operation = await bank.generate(scope=SCOPE, events=events)
        assert operation.done
        assert operation.name.startswith(f"{bank.name}/operations/")
        assert actions(operation) == ["CREATED"] * 3
        assert {change.previous_revision for change in operation.generated_memories} == {None}
        assert all(change.memory.sources[0].event_id for change in operation.generated_memories)
        again = await bank.generate(scope=SCOPE, events=events)
        assert actions(again) == ["UPDATED"] * 3, "read each time"
        assert len(await bank.list(scope=SCOPE)) == 3
        assert len(generator.extractions) == 2

    async def test_of_nothing(self, bank: MemoryBank, generator: ScriptedGenerator) -> None:
        operation = await bank.generate(scope=SCOPE, events=[])
        assert (operation.done, operation.error, operation.generated_memories) == (True, None, [])
        assert generator.extractions == []

    async def test_the_same_direct_memory_twice(self, bank: MemoryBank, generator: ScriptedGenerator) -> None:
        direct = [{"fact": FACTS[0], "topics": ["USER_PREFERENCES"]}, FACTS[1]]
        labels = GenerationOptions(revision=RevisionOptions(labels={"source": "321"}))
        first = await bank.generate(scope=SCOPE, direct_memories=direct, options=labels)
        second = await bank.generate(scope=SCOPE, direct_memories=direct[:1])
        assert (actions(first), actions(second)) == (["CREATED", "CREATED"], ["UPDATED"])
        assert generator.extractions == []
        memory = second.generated_memories[0].memory
        assert memory.id == first.generated_memories[0].memory.id
        assert memory.topics == ["USER_PREFERENCES"]
        newest, before = await bank.list_revisions(name=memory.name)
        assert second.generated_memories[0].previous_revision == before.name
        assert [one.fact for one in newest.extracted_memories] == [FACTS[0]]
        assert (before.labels, newest.labels) == ({"source": "321"}, {})

    async def test_without_revisions_there_is_no_previous_one(self, banks: MemoryBanks) -> None:
        bank = await banks.create(managed_semantic_memory_config={"disable_memory_revisions": True})
        await bank.generate(scope=SCOPE, direct_memories=[FACTS[0]])
        operation = await bank.generate(scope=SCOPE, direct_memories=[FACTS[0]])
        assert (actions(operation), operation.generated_memories[0].previous_revision) == (["UPDATED"], None)
        assert await bank.list_revisions(name=operation.generated_memories[0].memory.name) == []

    @pytest.mark.parametrize(
        ("given", "field"),
        [
            ([], "direct_memories"),
            ("text", "direct_memories"),
            ({"fact": "x"}, "direct_memories"),
            (["x"] * 6, "direct_memories"),
            (["x", " "], "direct_memories[1].fact"),
            (["x", 7], "direct_memories[1]"),
            ([{"text": "x"}], "direct_memories[0].fact"),
            ([{"fact": 7}], "direct_memories[0].fact"),
            ([{"fact": "x", "topics": [7]}], "direct_memories[0].topics"),
        ],
    )
    async def test_wrong_direct_memories(self, bank: MemoryBank, given: list[Any], field: str) -> None:
        with pytest.raises(InvalidArgument) as raised:
            await bank.generate(scope=SCOPE, direct_memories=given)
        assert raised.value.field == field
        assert await bank.operations.list() == []

    async def test_from_a_session(self, bank: MemoryBank, generator: ScriptedGenerator) -> None:
        said = session(*FACTS, id="s1")
        operation = await bank.generate(scope=SCOPE, session=said)
        assert actions(operation) == ["CREATED"] * 3
        assert {change.memory.sources[0].session_id for change in operation.generated_memories} == {"s1"}
        again = await bank.generate(scope=SCOPE, session=said)
        assert (again.done, again.generated_memories) == (True, [])
        assert len(generator.extractions) == 1

    @pytest.mark.parametrize(
        "sources",
        [{}, {"events": [], "direct_memories": ["x"]}, {"events": [], "session": session()}],
    )
    async def test_from_exactly_one_source(self, bank: MemoryBank, sources: dict[str, Any]) -> None:
        with pytest.raises(InvalidArgument, match="exactly one"):
            await bank.generate(scope=SCOPE, **sources)

    async def test_without_waiting(self, bank: MemoryBank) -> None:
        operation = await bank.generate(scope=SCOPE, events=[event("x")], wait=False)
        assert operation.state in ("pending", "running", "done")
        (ended,) = await bank.operations.wait([operation.name])
        assert actions(ended) == ["CREATED"]
        assert await bank.operations.get(operation.name) == ended

    async def test_a_failure_is_raised_to_who_waits(self) -> None:
        async with temporary_banks(model=ScriptedGenerator([ValueError("broken")])) as banks:
            bank = await banks.open()
            with pytest.raises(MemoryBankError, match="broken"):
                await bank.generate(scope=SCOPE, events=[event("x")])
            assert actions(await bank.generate(scope=SCOPE, events=[event("y")])) == ["CREATED"]

    async def test_a_change_is_kept_as_it_was_decided(self, bank: MemoryBank) -> None:
        operation = await bank.generate(scope=SCOPE, direct_memories=[FACTS[0]])
        (change,) = operation.generated_memories
        await bank.delete(name=change.memory.name)
        (later,) = (await bank.operations.get(operation.name)).generated_memories
        assert (later.memory.id, later.action, later.memory.fact) == (change.memory.id, Action.CREATED, "")


class TestIngest:
    async def test_once(self, bank: MemoryBank, generator: ScriptedGenerator) -> None:
        events = [event("One.", id="1"), event("Two.", id="2")]
        operation = await bank.ingest_events(scope=SCOPE, events=events, session_id="s", stream_id="s")
        assert operation is not None
        assert operation.kind == "ingest"
        await bank.operations.wait([operation.name])
        assert await bank.ingest_events(scope=SCOPE, events=events, stream_id="s") is None
        assert generator.extractions == [["One.", "Two."]]

    async def test_a_count(self, bank: MemoryBank, generator: ScriptedGenerator) -> None:
        rule = {"generation_rule": {"event_count": 2}}
        first = await bank.ingest_events(scope=SCOPE, events=[event("One.", id="1")], generation_trigger_config=rule)
        again = await bank.ingest_events(scope=SCOPE, events=[event("One.", id="1")])
        assert first is again is None
        second = await bank.ingest_events(scope=SCOPE, events=[event("Two.", id="2")])
        assert second is not None
        await bank.operations.wait([second.name])
        assert generator.extractions == [["One.", "Two."]]

    async def test_the_banks_rule_and_its_overlap(self, banks: MemoryBanks, generator: ScriptedGenerator) -> None:
        rule = {"event_count": 2, "overlap_event_count": 1}
        bank = await banks.create(
            managed_semantic_memory_config={
                "generation_config": {"generation_trigger_config": {"generation_rule": rule}}
            }
        )
        for number in range(4):
            await bank.ingest_events(scope=SCOPE, events=[event(f"Fact {number}.")])
            await bank.operations.wait([one.name for one in await bank.operations.list()])
        assert generator.extractions == [["Fact 0.", "Fact 1."], ["Fact 2.", "Fact 3."]]

    async def test_flush(self, bank: MemoryBank) -> None:
        rule = {"generation_rule": {"event_count": 9}}
        for stream in ("one", "two", ""):
            await bank.ingest_events(
                scope=SCOPE, events=[event(f"Of {stream}.")], stream_id=stream, generation_trigger_config=rule
            )
        assert await bank.flush(scope=OTHER) == []
        assert await bank.flush(scope=SCOPE, stream_id="three") == []
        assert len(await bank.flush(scope=SCOPE, stream_id="two")) == 1
        assert len(await bank.flush(scope=SCOPE, stream_id="")) == 1, "the stream `default`"
        operations = await bank.flush(scope=SCOPE)
        assert len(operations) == 1
        await bank.operations.wait([one.name for one in await bank.operations.list()])
        assert len(await bank.list(scope=SCOPE)) == 3
        assert await bank.flush(scope=SCOPE) == []

    async def test_nothing_is_forgotten_after_a_day(self, bank: MemoryBank, clock: ManualClock) -> None:
        rule = {"generation_rule": {"event_count": 9}}
        await bank.ingest_events(scope=SCOPE, events=[event("One.")], generation_trigger_config=rule)
        clock.advance(timedelta(hours=24, seconds=1))
        for _ in range(100):
            if await bank.list(scope=SCOPE):
                break
            await asyncio.sleep(0.05)
        assert [memory.fact for memory in await bank.list(scope=SCOPE)] == ["One."]

    @pytest.mark.parametrize(
        "rule",
        [
            {"generation_rule": {"idle_duration": "61s"}},
            {"generation_rule": {"idle_duration": "60s", "fixed_interval": "60s"}},
            {"generation_rule": {"event_count": 0}},
            {"generation_rule": {"overlap_event_count": 2, "event_count": 2}},
            {"rule": {}},
        ],
    )
    async def test_wrong_triggers(self, bank: MemoryBank, rule: dict[str, Any]) -> None:
        with pytest.raises(InvalidArgument) as raised:
            await bank.ingest_events(scope=SCOPE, events=[event("x")], generation_trigger_config=rule)
        assert raised.value.field.startswith("generation_trigger_config")
        assert await bank.list_scopes() == []


class TestForget:
    async def test_everything_of_a_scope(self, bank: MemoryBank) -> None:
        await bank.generate(scope=SCOPE, events=[event(fact) for fact in FACTS])
        await bank.create(scope=OTHER, fact="x")
        name = (await bank.list(scope=SCOPE))[0].name
        forgotten = await bank.forget(scope=SCOPE)
        assert (forgotten.memories, forgotten.revisions, forgotten.events, forgotten.operations) == (3, 3, 3, 1)
        assert (await bank.list(scope=SCOPE), await bank.list_revisions(name=name)) == ([], [])
        assert await bank.list_scopes() == [OTHER]
        assert await bank.operations.list() == []
        assert (await bank.forget(scope=SCOPE)).memories == 0
        await bank.create(scope=SCOPE, fact="new")
        assert [one.fact for one in await bank.retrieve(scope=SCOPE, query="tea")] == ["new"]
