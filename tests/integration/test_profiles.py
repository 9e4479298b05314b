"""Structured profiles in real banks: drawn by a model, one memory for each field, read by scope and by ADK's tool."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents.llm_agent import LlmAgent
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.genai import types

from adk_memorybank import MemoryBank, MemoryBanks, MemoryBankService
from adk_memorybank.errors import InvalidArgument, NotFound
from adk_memorybank.options import GenerationOptions, MetadataMergeStrategy, RevisionOptions
from adk_memorybank.resources import MemoryType, Operation
from adk_memorybank.testing import HashEmbedder, ManualClock, ScriptedLlm, temporary_banks
from tests.integration.answering import SCOPE, actions, day, fact, generate, said
from tests.integration.stores import APP, NOON, files_with, rows, session, uri

PERSON = {
    "id": "person",
    "schema": {
        "type": "OBJECT",
        "properties": {
            "name": {"type": "STRING"},
            "age": {"type": "INTEGER"},
            "diet": {"type": "STRING", "enum": ["vegan", "vegetarian", "omnivore"]},
            "hobbies": {"type": "ARRAY", "items": {"type": "STRING"}},
        },
    },
}
HOUSE = {
    "id": "house",
    "schema": {
        "type": "object",
        "properties": {
            "address": {"type": "object", "properties": {"city": {"type": "string"}, "floors": {"type": "integer"}}},
            "pets": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "toys": {"type": "array", "items": {"type": "string"}}},
                    "required": ["name"],
                },
            },
        },
    },
}
CONFIG: dict[str, Any] = {"structured_memory_configs": [{"schema_configs": [PERSON, HOUSE]}]}
ALONE = {**CONFIG, "customization_configs": [{"disable_natural_language_memories": True}]}


def entry(field: str, value: Any, *, event: int = 1, profile: str = "person", action: str = "set") -> dict[str, Any]:
    return {"profile": profile, "field": field, "value": value, "event": event, "action": action}


def answer(*entries: dict[str, Any], facts: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {"facts": list(facts), "profiles": list(entries)}


@asynccontextmanager
async def scripted(
    *answers: Any, config: Any = CONFIG, **options: Any
) -> AsyncGenerator[tuple[MemoryBank, ScriptedLlm, MemoryBanks]]:
    llm = ScriptedLlm(answers)
    async with temporary_banks(model=lambda: llm, **options) as banks:
        yield await banks.create(managed_semantic_memory_config=config), llm, banks


async def known(bank: MemoryBank) -> dict[str, dict[str, Any]]:
    found = await bank.retrieve_profiles(scope=SCOPE)
    assert all(key == profile.schema_id for key, profile in found.items())
    return {key: profile.profile for key, profile in found.items()}


async def field_of(bank: MemoryBank, name: str) -> Any:
    """The one memory of a field."""
    [memory] = [one for one in await bank.list(scope=SCOPE) if name in (one.structured_content or {}).get("data", {})]
    return memory


async def test_facts_and_two_profiles_are_drawn_and_committed_together() -> None:
    drawn = answer(
        entry("name", "Kim"),
        entry("age", "42"),
        entry("diet", "Vegan"),
        entry("pets", [{"name": "Rex", "toys": ["ball"]}, {"toys": ["rope"]}], profile="house"),
        facts=(fact("I'm vegan."),),
    )
    async with scripted(drawn) as (bank, llm, _):
        operation = await generate(bank, said("I'm Kim, 42 and vegan. My dog Rex has a ball.", time=day(1), id="e1"))
        assert len(llm.requests) == 1
        assert sorted(actions(operation)) == ["CREATED"] * 5
        assert await known(bank) == {
            "person": {"name": "Kim", "age": 42, "diet": "vegan"},
            "house": {"pets": [{"name": "Rex", "toys": ["ball"]}]},
        }
        [note] = operation.notes
        assert "pets" in note
        generated = [one.memory for one in operation.generated_memories]
        assert sum(one.memory_type is MemoryType.STRUCTURED_PROFILE for one in generated) == 4
        memory = await field_of(bank, "age")
        assert memory.fact == ""
        assert memory.structured_content == {"schema_id": "person", "data": {"age": 42}}
        assert memory.event_time == day(1)
        assert [source.event_id for source in memory.sources] == ["e1"]
        [revision] = await bank.list_revisions(name=memory.name)
        assert revision.structured_data == {"age": 42}
        assert [one.structured_data for one in revision.extracted_memories] == [{"age": 42}]


async def test_only_facts_are_found_and_retrieved() -> None:
    async with scripted(answer(entry("name", "Kim"), facts=(fact("I'm vegan."),))) as (bank, _, _):
        await generate(bank, "I'm Kim and vegan.")
        assert [one.fact for one in await bank.retrieve(scope=SCOPE)] == ["I'm vegan."]
        assert [one.fact for one in await bank.retrieve(scope=SCOPE, query="Kim vegan")] == ["I'm vegan."]
        assert [one.fact for one in await bank.retrieve(scope=SCOPE, query="Kim", by="words", top_k=5)] != [""]
        assert len(await bank.list(scope=SCOPE)) == 2
        assert len(await bank.list()) == 2
        assert await bank.retrieve_profiles(scope={"user_id": "nobody"}) == {}
        with pytest.raises(InvalidArgument):
            await bank.retrieve_profiles(scope={})


async def test_what_does_not_fit_is_left_out_and_said() -> None:
    drawn = answer(
        entry("age", "forty-two"),
        entry("diet", "carnivore"),
        entry("height", 180),
        entry("name", "Kim", profile="house"),
        entry("name", {"first": "Kim"}),
        entry("hobbies", ["golf", 7, {"x": 1}]),
        entry("address", {"city": "Rome", "floors": "many", "colour": "red"}, profile="house"),
    )
    async with scripted(drawn) as (bank, _, _):
        operation = await generate(bank, "I'm forty-two, 180 tall, play golf 7 times a week and live in Rome.")
        assert await known(bank) == {"person": {"hobbies": ["golf", "7"]}, "house": {"address": {"city": "Rome"}}}
        assert len(operation.notes) == 7
        assert not any(
            word in note for note in operation.notes for word in ("forty", "carnivore", "Kim", "many", "red")
        )


async def test_a_newer_value_replaces_and_an_older_event_does_not() -> None:
    async with scripted(
        answer(entry("age", 42), entry("name", "Kim")), answer(entry("age", 43)), answer(entry("age", 41))
    ) as (bank, _, _):
        await generate(bank, said("I'm Kim, 42.", time=day(2), id="a"))
        before = await field_of(bank, "age")
        second = await generate(bank, said("I'm 43.", time=day(9), id="b"))
        assert actions(second) == ["UPDATED"]
        revisions = await bank.list_revisions(name=before.name)
        assert second.generated_memories[0].previous_revision == revisions[1].name
        assert [one.structured_data for one in revisions] == [{"age": 43}, {"age": 42}]
        third = await generate(bank, said("I'm 41.", time=day(1), id="c"))
        assert actions(third) == []
        assert any("older" in note for note in third.notes)
        memory = await field_of(bank, "age")
        assert memory.name == before.name
        assert [source.event_id for source in memory.sources] == ["b"]
        assert await known(bank) == {"person": {"age": 43, "name": "Kim"}}


async def test_sessions_in_either_order_end_in_the_same_profile() -> None:
    ends: list[Any] = []
    for order in ([1, 2], [2, 1]):
        answers = [answer(entry("age", 40 + number), entry("hobbies", [f"sport {number}"])) for number in order]
        async with scripted(*answers) as (bank, _, _):
            for number in order:
                await generate(bank, said(f"I'm {40 + number} and do sport {number}.", time=day(number)))
            ends.append(await known(bank))
    assert ends[0] == ends[1] == {"person": {"age": 42, "hobbies": ["sport 1", "sport 2"]}}


async def test_the_same_value_again_adds_its_source() -> None:
    async with scripted(answer(entry("name", "Kim")), answer(entry("name", "KIM"))) as (bank, _, _):
        await generate(bank, said("I'm Kim.", time=day(1), id="a"))
        again = await generate(bank, said("It's KIM here.", time=day(2), id="b"))
        assert actions(again) == ["UPDATED"]
        memory = await field_of(bank, "name")
        assert memory.structured_content["data"] == {"name": "Kim"}
        assert [source.event_id for source in memory.sources] == ["a", "b"]
        assert memory.event_time == day(2)


async def test_items_join_and_a_field_can_be_taken_back() -> None:
    async with scripted(
        answer(entry("hobbies", ["golf"]), entry("age", 42)),
        answer(entry("hobbies", ["Golf", "chess"])),
        answer(entry("hobbies", ["golf"], action="delete"), entry("age", 0, action="delete")),
    ) as (bank, _, _):
        await generate(bank, said("I'm 42 and play golf.", time=day(1)))
        await generate(bank, said("I play golf and chess.", time=day(2)))
        assert (await known(bank))["person"]["hobbies"] == ["golf", "chess"]
        age = await field_of(bank, "age")
        gone = await generate(bank, said("I gave up golf. Forget my age.", time=day(3)))
        assert sorted(actions(gone)) == ["DELETED", "UPDATED"]
        assert await known(bank) == {"person": {"hobbies": ["chess"]}}
        with pytest.raises(NotFound):
            await bank.get(name=age.name)
        first, second = await bank.list_revisions(name=age.name)
        assert (first.fact, first.structured_data, first.extracted_memories) == ("", None, [])
        restored = await bank.rollback(name=age.name, target_revision_id=second.name)
        assert restored.structured_content == age.structured_content
        assert restored.memory_type is MemoryType.STRUCTURED_PROFILE
        assert await known(bank) == {"person": {"hobbies": ["chess"], "age": 42}}


async def test_a_field_is_rolled_back_and_deleted_as_a_fact_is() -> None:
    async with scripted(answer(entry("age", 42)), answer(entry("age", 43))) as (bank, _, _):
        await generate(bank, said("I'm 42.", time=day(1)))
        await generate(bank, said("I'm 43.", time=day(2)))
        memory = await field_of(bank, "age")
        oldest = (await bank.list_revisions(name=memory.name))[-1]
        await bank.rollback(name=memory.name, target_revision_id=oldest.id)
        assert await known(bank) == {"person": {"age": 42}}
        assert [one.structured_data for one in await bank.list_revisions(name=memory.name)] == [
            {"age": 42},
            {"age": 43},
            {"age": 42},
        ]
        with pytest.raises(InvalidArgument, match="fact"):
            await bank.update(name=memory.name, fact="I'm 50.")
        named = await bank.update(name=memory.name, display_name="Age")
        assert named.structured_content == {"schema_id": "person", "data": {"age": 42}}
        await bank.delete(name=memory.name)
        assert await known(bank) == {}


async def test_only_profiles_are_made_where_facts_are_disabled() -> None:
    given = {"profiles": [entry("name", "Kim")], "facts": [fact("I'm Kim.")]}
    async with scripted(given, config=ALONE) as (bank, llm, _):
        operation = await generate(bank, "I'm Kim.")
        assert actions(operation) == ["CREATED"]
        assert await known(bank) == {"person": {"name": "Kim"}}
        assert await bank.retrieve(scope=SCOPE) == []
        shape: Any = llm.requests[0].config.response_schema
        assert list(shape.properties) == ["profiles"]


async def test_allowed_topics_narrow_the_facts_alone() -> None:
    async with scripted(answer(entry("name", "Kim")), answer(entry("age", 42))) as (bank, _, _):
        await generate(bank, "I'm Kim.", options=GenerationOptions(allowed_topics=("USER_PREFERENCES",)))
        await generate(bank, "I'm 42.", options=GenerationOptions(disable_consolidation=True))
        assert await known(bank) == {"person": {"name": "Kim", "age": 42}}


async def test_direct_memories_fill_in_nothing() -> None:
    async with scripted() as (bank, llm, _):
        await bank.generate(scope=SCOPE, direct_memories=["I'm Kim."])
        assert await known(bank) == {}
        assert llm.requests == []


async def test_a_schema_holds_for_the_scopes_with_its_keys() -> None:
    config = {"structured_memory_configs": [{"scope_keys": ["user_id"], "schema_configs": [PERSON]}]}
    async with scripted(answer(entry("name", "Kim")), {"facts": []}, config=config) as (bank, llm, _):
        await generate(bank, "I'm Kim.")
        await bank.generate(scope={"team": "x"}, events=[said("I'm Kim.")])
        assert await known(bank) == {"person": {"name": "Kim"}}
        assert await bank.retrieve_profiles(scope={"team": "x"}) == {}
        shape: Any = llm.requests[1].config.response_schema
        assert list(shape.properties) == ["facts"]


async def test_what_the_configuration_names_no_more_is_not_shown() -> None:
    async with scripted(answer(entry("name", "Kim"), entry("age", 42))) as (bank, _, banks):
        await generate(bank, "I'm Kim, 42.")
        lesser = {"id": "person", "schema": {"properties": {"age": {"type": "integer"}}}}
        less = {"structured_memory_configs": [{"schema_configs": [lesser]}]}
        bank = await banks.update(name=bank.name, managed_semantic_memory_config=less)
        assert await known(bank) == {"person": {"age": 42}}
        bank = await banks.update(name=bank.name, managed_semantic_memory_config={})
        assert await known(bank) == {}
        assert len(await bank.list(scope=SCOPE)) == 2


async def test_a_field_lives_as_long_as_its_time_to_live() -> None:
    clock = ManualClock()
    config = {**CONFIG, "ttl_config": {"granular_ttl_config": {"generate_created_ttl": "60s"}}}
    async with scripted(answer(entry("name", "Kim")), answer(entry("name", "Kim")), config=config, clock=clock) as (
        bank,
        _,
        _,
    ):
        await generate(bank, "I'm Kim.")
        memory = await field_of(bank, "name")
        assert memory.expire_time == clock.now() + timedelta(seconds=60)
        clock.advance(timedelta(seconds=61))
        assert await known(bank) == {}
        assert actions(await generate(bank, "I'm Kim.")) == ["CREATED"]
        assert await known(bank) == {"person": {"name": "Kim"}}


async def test_metadata_and_revisions_follow_the_request() -> None:
    async with scripted(*[answer(entry("age", age)) for age in (42, 43, 44)]) as (bank, _, _):
        labelled = GenerationOptions(metadata={"a": "1"}, revision=RevisionOptions(labels={"from": "test"}))
        await generate(bank, said("I'm 42.", time=day(1)), options=labelled)
        strict = MetadataMergeStrategy.REQUIRE_EXACT_MATCH
        other = GenerationOptions(metadata={"b": "2"}, metadata_merge_strategy=strict)
        await generate(bank, said("I'm 43.", time=day(2)), options=other)
        memory = await field_of(bank, "age")
        assert memory.metadata == {"a": "1", "b": "2"}
        assert (await bank.list_revisions(name=memory.name))[-1].labels == {"from": "test"}
        silent = GenerationOptions(revision=RevisionOptions(disabled=True))
        await generate(bank, said("I'm 44.", time=day(3)), options=silent)
        assert len(await bank.list_revisions(name=memory.name)) == 2
        assert await known(bank) == {"person": {"age": 44}}


async def test_a_secret_is_no_value() -> None:
    async with scripted(answer(entry("name", "4111 1111 1111 1111"), entry("age", 42))) as (bank, _, _):
        operation = await generate(bank, "I'm 42, my name is 4111 1111 1111 1111.")
        assert await known(bank) == {"person": {"age": 42}}
        assert operation.notes == ["a value for 'name' with a secret in it was dropped"]


def service(folder: Path, *answers: Any, config: Any = CONFIG, **options: Any) -> MemoryBankService:
    llm = ScriptedLlm(answers)
    chosen: dict[str, Any] = {"model": lambda: llm, "embedder": HashEmbedder(), "config": config, **options}
    return MemoryBankService(uri(folder), **chosen)


async def ended(memory: MemoryBankService) -> list[Operation]:
    operations = await memory.flush()
    assert [operation.error for operation in operations] == [None] * len(operations)
    return operations


async def test_forgetting_leaves_no_byte(tmp_path: Path) -> None:
    word = "xylophonist"
    drawn = answer(
        entry("name", word), entry("hobbies", [word]), entry("pets", [{"name": word, word: word}], profile="house")
    )
    changed = answer(entry("name", f"{word} II"), entry("hobbies", [], action="delete"))
    async with service(tmp_path, drawn, changed) as memory:
        await memory.add_session_to_memory(session([f"I'm a {word}"], session_id="a"))
        await ended(memory)
        await memory.add_session_to_memory(session([f"I'm {word} II now, forget my hobbies"], session_id="b"))
        await ended(memory)
        assert files_with(tmp_path, word)
        gone = await memory.forget(app_name=APP, user_id="ada")
        assert gone.memories == 2
        assert gone.revisions == 5
        assert files_with(tmp_path, word) == []
        await memory.add_session_to_memory(session([f"I'm a {word}"], session_id="a"))
        await ended(memory)
        assert await memory.retrieve_profiles(app_name=APP, user_id="ada") == []
        assert rows(tmp_path, "SELECT count(*) FROM memories") == [(0,)]


async def test_a_profile_has_no_vector(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    async with service(tmp_path, answer(entry("name", "Kim")), config=ALONE, embedder=embedder) as memory:
        await memory.add_session_to_memory(session(["I'm Kim."]))
        await ended(memory)
        assert embedder.texts == []
        found = await memory.search_memory(app_name=APP, user_id="ada", query="Kim")
        assert found.memories == []


async def test_adks_tool_reads_them_in_a_runner(tmp_path: Path) -> None:
    tools = pytest.importorskip("google.adk.tools.vertex_ai_load_profiles_tool")
    drawn = answer(entry("name", "Kim"), entry("pets", [{"name": "Rex"}], profile="house"))
    async with service(tmp_path, drawn) as memory:
        await memory.add_session_to_memory(session(["I'm Kim and my dog is Rex."]))
        await ended(memory)
        profiles = await memory.retrieve_profiles(app_name=APP, user_id="ada")
        assert [(one.schema_id, one.profile) for one in profiles] == [
            ("person", {"name": "Kim"}),
            ("house", {"pets": [{"name": "Rex"}]}),
        ]
        call = types.Part.from_function_call(name="load_profiles", args={})
        chat = ScriptedLlm([lambda _: call, "Hello Kim."])
        agent = LlmAgent(name="agent", model=chat, tools=[tools.VertexAiLoadProfilesTool(memory_service=memory)])
        sessions = InMemorySessionService()
        runner = Runner(app_name=APP, agent=agent, session_service=sessions, memory_service=memory)
        begun = await sessions.create_session(app_name=APP, user_id="ada")
        message = types.Content(role="user", parts=[types.Part(text="Who am I?")])
        said = [e async for e in runner.run_async(user_id="ada", session_id=begun.id, new_message=message)]
        responses = [one.response for event in said for one in event.get_function_responses()]
        assert responses == [{"profiles": [{"name": "Kim"}, {"pets": [{"name": "Rex"}]}]}]


async def test_rules_fill_in_a_profile_without_a_model(tmp_path: Path) -> None:
    async with service(tmp_path, model="offline") as memory:
        await memory.add_session_to_memory(session(["My name is Kim.", "I'm 42 years old."]))
        [operation] = await ended(memory)
        [profile] = await memory.retrieve_profiles(app_name=APP, user_id="ada")
        assert profile.profile == {"name": "Kim", "age": 42}
        assert operation.notes == [
            "without a model these fields of profiles are not filled in: person.hobbies, house.address, house.pets"
        ]
        await memory.add_session_to_memory(
            session(["Hi!", "Hm.", "I'm 43 years old.", "Forget my name."], session_id="t")
        )
        await ended(memory)
        [profile] = await memory.retrieve_profiles(app_name=APP, user_id="ada")
        assert profile.profile == {"age": 43}


async def test_an_event_keeps_its_place_in_time(tmp_path: Path) -> None:
    async with service(tmp_path, answer(entry("age", 43, event=2), entry("age", 42, event=1))) as memory:
        await memory.add_session_to_memory(session(["I'm 42.", "I'm 43 today!"], session_id="a"))
        await ended(memory)
        [profile] = await memory.retrieve_profiles(app_name=APP, user_id="ada")
        assert profile.profile == {"age": 43}
        bank = await memory.bank()
        [memory_of_age] = [one for one in await bank.list() if one.structured_content]
        assert memory_of_age.event_time is not None
        assert memory_of_age.event_time.timestamp() == NOON + 1
        assert [source.event_id for source in memory_of_age.sources] == ["a-1"]
