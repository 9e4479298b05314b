"""Google's own client against a served bank, over a real port: every method, and the checks of its replay tests."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adk_memorybank import MemoryBanks
from adk_memorybank.server.app import create_app
from adk_memorybank.server.sdk import client
from adk_memorybank.testing import ScriptedGenerator, temporary_banks
from tests.integration.serving import on_a_port
from tests.requires import requires

pytestmark = requires("agentplatform")

SCOPE = {"user_id": "123"}


class Asked:
    """The client's methods, sync or async, each awaited; a pager as a list."""

    def __init__(self, made: Any, *, is_async: bool) -> None:
        self.made = made  # its async half doesn't keep it
        self.banks = made.aio.memory_banks if is_async else made.memory_banks

    async def __call__(self, path: str, **given: Any) -> Any:
        target: Any = self.banks
        for part in path.split("."):
            target = getattr(target, part)
        if inspect.iscoroutinefunction(target):
            return await _listed(await target(**given))
        return await asyncio.to_thread(lambda: _listed_now(target(**given)))


def _listed_now(result: Any) -> Any:
    return list(result) if hasattr(result, "__next__") or hasattr(result, "next_page") else result


async def _listed(result: Any) -> Any:
    return [one async for one in result] if hasattr(result, "__aiter__") else result


@pytest.fixture
async def banks() -> AsyncIterator[MemoryBanks]:
    async with temporary_banks(model=ScriptedGenerator()) as banks:
        yield banks


@pytest.fixture
def url(banks: MemoryBanks) -> Iterator[str]:
    with on_a_port(create_app(banks)) as url:
        yield url


@pytest.fixture(params=["sync", "async"])
def ask(url: str, request: pytest.FixtureRequest) -> Asked:
    return Asked(client(url), is_async=request.param == "async")


@pytest.fixture
async def bank(ask: Asked) -> str:
    made = await ask("create")
    return made.name


def content(text: str, **more: Any) -> dict[str, Any]:
    return {"content": {"role": "user", "parts": [{"text": text}]}, **more}


def said(*texts: str) -> dict[str, Any]:
    return {"events": [content(text) for text in texts]}


async def facts(ask: Asked, bank: str, **config: Any) -> list[str]:
    return [memory.fact for memory in await ask("memories.list", name=bank, **({"config": config} if config else {}))]


class TestBanks:
    async def test_life(self, ask: Asked) -> None:
        config = {"ttl_config": {"default_ttl": "3600s"}, "disable_memory_revisions": True}
        made = await ask(
            "create", managed_semantic_memory_config=config, config={"display_name": "My bank", "description": "d"}
        )
        got = await ask("get", name=made.name)
        assert (got.name, got.display_name, got.description) == (made.name, "My bank", "d")
        assert got.managed_semantic_memory_config.ttl_config.default_ttl == "3600s"
        assert got.managed_semantic_memory_config.disable_memory_revisions is True
        others = [(await ask("create")).name for _ in range(4)]
        assert [one.name for one in await ask("list", config={"page_size": 2})] == [made.name, *others]
        await ask("delete", name=others[0])
        await ask("memories.create", name=made.name, fact="f", scope=SCOPE)
        with pytest.raises(Exception, match="FAILED_PRECONDITION"):
            await ask("delete", name=made.name)
        operation = await ask("delete", name=made.name, force=True)
        assert operation.done
        assert [one.name for one in await ask("list")] == others[1:]

    async def test_updated(self, ask: Asked, bank: str) -> None:
        if not hasattr(ask.banks, "update"):
            pytest.skip("the client of version 2.0 has no update")
        await ask("update", name=bank, managed_semantic_memory_config={"ttl_config": {"default_ttl": "60s"}})
        await ask("update", name=bank, config={"display_name": "New"})
        got = await ask("get", name=bank)
        assert (got.display_name, got.managed_semantic_memory_config.ttl_config.default_ttl) == ("New", "60s")

    async def test_what_is_not_there(self, ask: Asked) -> None:
        from google.genai.errors import ClientError

        with pytest.raises(ClientError) as raised:
            await ask("get", name="reasoningEngines/1")
        assert (raised.value.code, raised.value.status) == (404, "NOT_FOUND")


class TestMemories:
    async def test_created_with_a_ttl(self, ask: Asked, bank: str) -> None:
        metadata = {
            "s": {"string_value": "x"},
            "b": {"bool_value": True},
            "d": {"double_value": 1.5},
            "t": {"timestamp_value": datetime(2027, 1, 1, tzinfo=UTC)},
        }
        config = {
            "ttl": "120s",
            "metadata": metadata,
            "display_name": "n",
            "description": "d",
            "topics": [{"managed_memory_topic": "USER_PREFERENCES"}, {"custom_memory_topic_label": "mine"}],
            "revision_ttl": "60s",
        }
        operation = await ask("memories.create", name=bank, fact="I like tea", scope=SCOPE, config=config)
        memory = operation.response
        assert operation.done
        assert memory.name.startswith(f"{bank}/memories/")
        assert (memory.fact, memory.scope, memory.display_name, memory.description) == ("I like tea", SCOPE, "n", "d")
        assert abs((memory.expire_time - memory.create_time) - timedelta(seconds=120)) < timedelta(seconds=0.5)
        assert memory.metadata["t"].timestamp_value == datetime(2027, 1, 1, tzinfo=UTC)
        assert (memory.metadata["s"].string_value, memory.metadata["d"].double_value) == ("x", 1.5)
        assert [topic.custom_memory_topic_label for topic in memory.topics] == [None, "mine"]
        assert (await ask("memories.get", name=memory.name)).name == memory.name
        [revision] = await ask("memories.revisions.list", name=memory.name)
        assert revision.expire_time - revision.create_time == timedelta(seconds=60)

    async def test_created_with_an_expiry_an_id_and_without_waiting(self, ask: Asked, bank: str) -> None:
        at = datetime.now(UTC) + timedelta(days=1)
        config = {"expire_time": at, "memory_id": "my-memory-id", "wait_for_completion": False}
        await ask("memories.create", name=bank, fact="f", scope=SCOPE, config=config)
        memory = await ask("memories.get", name=f"{bank}/memories/my-memory-id")
        assert memory.expire_time == at
        operation = await ask("memories.delete", name=memory.name)
        assert operation.name.startswith(f"{memory.name}/operations/")
        with pytest.raises(Exception, match="NOT_FOUND"):
            await ask("memories.get", name=memory.name)

    async def test_lists(self, ask: Asked, bank: str) -> None:
        assert await facts(ask, bank) == []
        for number, scope in enumerate((SCOPE, {"user_id": "456"}, SCOPE), 1):
            await ask("memories.create", name=bank, fact=f"memory_fact_{number}", scope=scope)
        assert await facts(ask, bank) == ["memory_fact_3", "memory_fact_2", "memory_fact_1"]
        ordered = await facts(ask, bank, page_size=1, order_by="create_time asc")
        assert ordered == ["memory_fact_1", "memory_fact_2", "memory_fact_3"], "the pager follows its tokens"
        assert await facts(ask, bank, filter='scope.user_id="456"') == ["memory_fact_2"]
        assert await facts(ask, bank, filter='fact=~".*_[13]"', order_by="update_time") == ordered[::2]

    async def test_retrieved(self, ask: Asked, bank: str) -> None:
        similar = {"search_query": "memory_fact_1", "top_k": 2}

        async def found(scope: dict[str, str] = SCOPE, **given: Any) -> list[str]:
            return [one.memory.fact for one in await ask("memories.retrieve", name=bank, scope=scope, **given)]

        assert await found(similarity_search_params=similar) == []
        tagged = {"metadata": {"k": {"string_value": "v"}}}
        await ask("memories.create", name=bank, fact="memory_fact_1", scope=SCOPE)
        await ask("memories.create", name=bank, fact="memory_fact_2", scope=SCOPE, config=tagged)
        assert await found(similarity_search_params=similar) == ["memory_fact_1", "memory_fact_2"]
        assert await found({"user_id": "456"}, similarity_search_params=similar) == []
        only = {"filter": 'fact="memory_fact_2"'}
        assert await found(similarity_search_params=similar, config=only) == ["memory_fact_2"]
        groups = {"filter_groups": [{"filters": [{"key": "k", "value": {"string_value": "v"}}]}]}
        assert await found(similarity_search_params=similar, config=groups) == ["memory_fact_2"]
        for number in range(3, 8):
            await ask("memories.create", name=bank, fact=f"memory_fact_{number}", scope=SCOPE)
        assert len(await found()) == 7, "without parameters all come on one page: the pager can't follow a token here"
        first = await ask("memories.retrieve", name=bank, scope=SCOPE, similarity_search_params={"search_query": "x"})
        assert len(first) == 3
        assert first[0].distance <= first[-1].distance

    async def test_generated_updated_and_rolled_back(self, ask: Asked, bank: str) -> None:
        config = {"revision_labels": {"key": "value"}}
        operation = await ask(
            "memories.generate", name=bank, scope=SCOPE, direct_contents_source=said("I like tea"), config=config
        )
        [generated] = operation.response.generated_memories
        assert (generated.action.value, generated.previous_revision) == ("CREATED", None)
        name = generated.memory.name
        newest = (await ask("memories.revisions.list", name=name))[0]
        assert newest.labels == {"key": "value"}
        assert newest.extracted_memories[0].fact == "I like tea"
        update = {"name": name, "fact": "I like coffee", "scope": SCOPE}
        await ask("memories._update", **update)
        assert (await ask("memories.get", name=name)).fact == "I like coffee"
        await ask("memories.rollback", name=name, target_revision_id=newest.name.rpartition("/")[2])
        assert (await ask("memories.get", name=name)).fact == "I like tea"
        await ask("memories.rollback", name=name, target_revision_id=newest.name)
        again = await ask(
            "memories.generate",
            name=bank,
            scope=SCOPE,
            direct_memories_source={"direct_memories": [{"fact": "I like tea"}]},
        )
        [updated] = again.response.generated_memories
        assert (updated.action.value, updated.memory.name) == ("UPDATED", name)
        assert updated.previous_revision.startswith(f"{name}/revisions/")
        revisions = await ask("memories.revisions.list", name=name, config={"page_size": 2})
        assert revisions[0].extracted_memories[0].fact == "I like tea"
        assert len(revisions) == 5
        assert (await ask("memories.revisions.get", name=revisions[-1].name)).fact == "I like tea"
        labelled = await ask("memories.revisions.list", name=name, config={"filter": 'labels.key="value"'})
        assert [one.name for one in labelled] == [newest.name]

    async def test_nothing_worth_keeping_is_a_success(self, ask: Asked, bank: str) -> None:
        model = {"events": [{"content": {"role": "model", "parts": [{"text": "hello"}]}}]}
        operation = await ask("memories.generate", name=bank, scope=SCOPE, direct_contents_source=model)
        assert (operation.done, operation.error) == (True, None)
        assert not operation.response.generated_memories

    async def test_direct_memories_without_waiting(self, ask: Asked, bank: str) -> None:
        source = {"direct_memories": [{"fact": "a"}, {"fact": "b", "topics": [{"custom_memory_topic_label": "l"}]}]}
        config = {"wait_for_completion": False, "disable_consolidation": True}
        for _ in range(2):
            operation = await ask(
                "memories.generate", name=bank, scope=SCOPE, direct_memories_source=source, config=config
            )
            assert operation.name.startswith(f"{bank}/operations/")
        kept: list[str] = []
        while len(kept) < 4:
            await asyncio.sleep(0.02)
            kept = await facts(ask, bank)
        assert sorted(kept) == ["a", "a", "b", "b"], "each stays beside the other"

    async def test_metadata_meets_metadata(self, ask: Asked, bank: str) -> None:
        async def generate(strategy: str, **metadata: str) -> Any:
            config = {
                "metadata": {key: {"string_value": value} for key, value in metadata.items()},
                "metadata_merge_strategy": strategy,
            }
            operation = await ask(
                "memories.generate",
                name=bank,
                scope=SCOPE,
                direct_memories_source={"direct_memories": [{"fact": "f"}]},
                config=config,
            )
            [generated] = operation.response.generated_memories
            memory = await ask("memories.get", name=generated.memory.name)
            return generated.action.value, {key: value.string_value for key, value in memory.metadata.items()}

        assert await generate("OVERWRITE", a="1") == ("CREATED", {"a": "1"})
        assert await generate("MERGE", b="2") == ("UPDATED", {"a": "1", "b": "2"})
        assert await generate("OVERWRITE", c="3") == ("UPDATED", {"c": "3"})
        assert await generate("REQUIRE_EXACT_MATCH", c="3") == ("UPDATED", {"c": "3"})
        assert await generate("REQUIRE_EXACT_MATCH", c="4") == ("CREATED", {"c": "4"})

    async def test_topics_that_are_allowed(self, ask: Asked, bank: str) -> None:
        config = {"allowed_topics": [{"managed_memory_topic": "USER_PREFERENCES"}]}
        operation = await ask(
            "memories.generate", name=bank, scope=SCOPE, direct_contents_source=said("I like tea"), config=config
        )
        [generated] = operation.response.generated_memories
        assert [topic.managed_memory_topic.value for topic in generated.memory.topics] == ["USER_PREFERENCES"]

    async def test_purged(self, ask: Asked, bank: str) -> None:
        for number, user in enumerate("1122"):
            config = {"metadata": {"k": {"string_value": user}}}
            await ask("memories.create", name=bank, fact=str(number), scope={"user_id": user}, config=config)
        dry = await ask("memories.purge", name=bank, filter="scope.user_id=1")
        assert (dry.done, dry.response.purge_count, len(await facts(ask, bank))) == (True, 2, 4)
        forced = await ask("memories.purge", name=bank, filter="scope.user_id=1", force=True)
        assert (forced.response.purge_count, await facts(ask, bank)) == (2, ["3", "2"])
        groups = [{"filters": [{"key": "k", "value": {"string_value": "2"}}]}]
        both = await ask("memories.purge", name=bank, filter='fact="2"', filter_groups=groups, force=True)
        assert (both.response.purge_count, await facts(ask, bank)) == (1, ["3"])


class TestIngestion:
    async def test_an_idle_rule_then_a_flush(self, ask: Asked, bank: str) -> None:
        config: dict[str, Any] = {
            "revision_labels": {"a": "b"},
            "metadata": {"k": {"string_value": "v"}},
            "metadata_merge_strategy": "MERGE",
        }
        trigger = {"generation_rule": {"idle_duration": "60s"}}
        one = await ask(
            "ingest_events",
            name=bank,
            scope=SCOPE,
            stream_id="s",
            direct_contents_source={
                "events": [content("I like tea", event_id="e1", event_time=datetime(2026, 1, 1, tzinfo=UTC))]
            },
            generation_trigger_config=trigger,
            config=config,
        )
        assert not one.done
        assert await facts(ask, bank) == []
        two = await ask("ingest_events", name=bank, scope=SCOPE, stream_id="s", config=config)
        assert two.name == one.name, "the calls on a stream share an operation"
        three = await ask(
            "ingest_events",
            name=bank,
            scope=SCOPE,
            stream_id="s",
            config=config | {"force_flush": True, "wait_for_completion": True},
        )
        assert (three.name, three.done) == (one.name, True)
        [memory] = await ask("memories.list", name=bank)
        assert memory.metadata["k"].string_value == "v"
        [revision] = await ask("memories.revisions.list", name=memory.name)
        assert revision.labels == {"a": "b"}
        four = await ask("ingest_events", name=bank, scope=SCOPE, stream_id="s")
        assert four.name != one.name

    async def test_an_event_is_read_once(self, ask: Asked, bank: str) -> None:
        for _ in range(3):
            await ask(
                "ingest_events",
                name=bank,
                scope=SCOPE,
                direct_contents_source={"events": [content("I like tea", event_id="e1")]},
                config={"force_flush": True, "wait_for_completion": True},
            )
        [memory] = await ask("memories.list", name=bank)
        assert len(await ask("memories.revisions.list", name=memory.name)) == 1


class TestProfiles:
    async def test_of_a_scope_that_has_none(self, ask: Asked) -> None:
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        config = {"structured_memory_configs": [{"schema_configs": [{"id": "user-profile", "memory_schema": schema}]}]}
        made = await ask("create", managed_semantic_memory_config=config)
        assert not (await ask("memories.retrieve_profiles", name=made.name, scope=SCOPE)).profiles
        got = await ask("get", name=made.name)
        [structured] = got.managed_semantic_memory_config.structured_memory_configs
        assert structured.schema_configs[0].id == "user-profile"

    async def test_what_a_conversation_tells(self) -> None:
        schema = {"type": "OBJECT", "properties": {"name": {"type": "STRING", "description": "The user's name."}}}
        config = {"structured_memory_configs": [{"schema_configs": [{"id": "user-profile", "memory_schema": schema}]}]}
        async with temporary_banks(model="offline") as banks:
            with on_a_port(create_app(banks)) as url:
                ask = Asked(client(url), is_async=True)
                made = await ask("create", managed_semantic_memory_config=config)
                source = said("My name is Kim.")
                await ask("memories.generate", name=made.name, scope=SCOPE, direct_contents_source=source)
                profiles = (await ask("memories.retrieve_profiles", name=made.name, scope=SCOPE)).profiles
                assert profiles["user-profile"].profile == {"name": "Kim"}
                kinds = {"memory_types": ["STRUCTURED_PROFILE"]}
                [field] = await ask("memories.retrieve", name=made.name, scope=SCOPE, config=kinds)
                assert field.memory.structured_content.data == {"name": "Kim"}
