"""Google's own client bound to a folder in process: no port, several loops and threads, and an end."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from adk_memorybank import MemoryBanks
from adk_memorybank.errors import FailedPrecondition, InvalidArgument
from adk_memorybank.server.access import Access
from adk_memorybank.server.app import create_app
from adk_memorybank.server.sdk import client, vertex_memory_bank_service
from adk_memorybank.storage.folder import Folder
from adk_memorybank.testing import HashEmbedder, ScriptedGenerator
from tests.adk import WHO, session, texts
from tests.integration.serving import a_store, on_a_port
from tests.integration.stores import uri
from tests.requires import requires

SCOPE = {"user_id": "u"}
BANK = "reasoningEngines/default"

with_sdk = requires("agentplatform")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "m"
    gc.collect()  # closes what the test has left open


def made(folder: Path, **query: str) -> Any:
    return client(uri(folder, **query), model=ScriptedGenerator(), embedder=HashEmbedder())


def wait_until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_free(folder: Path) -> bool:
    other = Folder(folder)
    free = other.try_own()
    other.release()
    return free


def said(text: str) -> dict[str, Any]:
    return {"events": [{"content": {"role": "user", "parts": [{"text": text}]}}]}


@with_sdk
class TestClient:
    def test_sync(self, store: Path) -> None:
        banks = made(store).memory_banks
        assert banks.get(name=BANK).name.endswith(BANK), "the bank of the URI is there at once"
        bank = banks.create(config={"display_name": "My bank"}).name
        assert [one.name.rpartition("/")[2] for one in banks.list()] == ["default", bank.rpartition("/")[2]]
        created = banks.memories.create(name=bank, fact="I like tea", scope=SCOPE)
        assert created.response.fact == "I like tea"
        generated = banks.memories.generate(name=bank, direct_contents_source=said("My dog is Rex"), scope=SCOPE)
        assert [one.action.name for one in generated.response.generated_memories] == ["CREATED"]
        found = banks.memories.retrieve(
            name=bank, scope=SCOPE, similarity_search_params={"search_query": "tea", "top_k": 1}
        )
        assert [one.memory.fact for one in found] == ["I like tea"]

    async def test_async(self, store: Path) -> None:
        whole = made(store)
        banks = whole.aio.memory_banks
        bank = (await banks.create()).name
        assert (await banks.get(name=bank)).name == bank
        assert len([one async for one in await banks.list()]) == 2
        await banks.memories.create(name=bank, fact="I like tea", scope=SCOPE)
        await banks.memories.generate(name=bank, direct_contents_source=said("My dog is Rex"), scope=SCOPE)
        found = [one.memory.fact async for one in await banks.memories.retrieve(name=bank, scope=SCOPE)]
        assert sorted(found) == ["I like tea", "My dog is Rex"]

    def test_from_threads_and_from_loops_that_end(self, store: Path) -> None:
        whole = made(store)

        def add(number: int) -> None:
            whole.memory_banks.memories.create(name=BANK, fact=f"sync {number}", scope=SCOPE)

            async def more() -> None:
                await whole.aio.memory_banks.memories.create(name=BANK, fact=f"async {number}", scope=SCOPE)

            asyncio.run(more())

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(add, range(8)))
        facts = {memory.fact for memory in whole.memory_banks.memories.list(name=BANK)}
        assert facts == {f"{kind} {number}" for kind in ("sync", "async") for number in range(8)}

    def test_an_error_is_the_services_own(self, store: Path) -> None:
        from google.genai.errors import ClientError

        with pytest.raises(ClientError) as raised:
            made(store).memory_banks.memories.get(name=f"{BANK}/memories/none")
        assert (raised.value.code, raised.value.status) == (404, "NOT_FOUND")

    def test_the_bank_of_the_uri(self, store: Path) -> None:
        whole = made(store, bank="coffee")
        assert whole.memory_banks.get(name="reasoningEngines/coffee").name.endswith("coffee")

    def test_the_store_is_closed_with_the_client(self, store: Path) -> None:
        before = threading.active_count()
        whole = made(store)
        whole.memory_banks.memories.create(name=BANK, fact="f", scope=SCOPE)
        assert not is_free(store)
        del whole
        gc.collect()
        wait_until(lambda: is_free(store))
        wait_until(lambda: threading.active_count() <= before)
        [memory] = made(store).memory_banks.memories.list(name=BANK)
        assert memory.fact == "f"

    async def test_banks_that_were_given_stay_open(self) -> None:
        async with a_store() as banks:
            whole = await asyncio.to_thread(client, banks)
            await whole.aio.memory_banks.memories.create(name=BANK, fact="f", scope=SCOPE)
            del whole
            gc.collect()
            bank = await banks.open()
            assert [memory.fact for memory in await bank.list()] == ["f"]

    def test_a_store_that_does_not_open_is_left_as_it_was(self, store: Path) -> None:
        before = threading.active_count()
        with pytest.raises(InvalidArgument, match=r"nowhere\.yaml"):
            made(store, config="nowhere.yaml")
        wait_until(lambda: threading.active_count() <= before and (not store.exists() or is_free(store)))

    async def test_a_server_with_a_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from google.genai.errors import ClientError

        async with a_store() as banks:
            with on_a_port(create_app(banks, access=Access(["k"]))) as url:

                def asked(store: str, **options: Any) -> str:
                    return client(store, **options).memory_banks.get(name=BANK).name.rpartition("/")[2]

                for store in (url, f"memorybank+{url}"):
                    with pytest.raises(ClientError, match="UNAUTHENTICATED"):
                        await asyncio.to_thread(asked, store)
                    assert await asyncio.to_thread(asked, store, api_key="k") == "default"
                assert await asyncio.to_thread(asked, f"memorybank+{url}?api_key=k") == "default"
                monkeypatch.setenv("ADK_MEMORYBANK_API_KEY", "k")
                assert await asyncio.to_thread(asked, url) == "default"

    @pytest.mark.parametrize(
        ("store", "options", "field"),
        [
            ("http://127.0.0.1:1", {"model": "offline"}, "model"),
            ("memorybank+http://127.0.0.1:1", {"embedder": "local"}, "embedder"),
            ("memorybank://m", {}, "uri"),
        ],
    )
    def test_wrong(self, store: str, options: dict[str, Any], field: str) -> None:
        with pytest.raises(InvalidArgument) as raised:
            client(store, **options)
        assert raised.value.field == field

    def test_banks_have_their_model(self, store: Path) -> None:
        with pytest.raises(InvalidArgument, match="model"):
            client(MemoryBanks(uri(store)), model="offline")


@requires("official_client")
class TestService:
    def test_on_several_loops(self, store: Path) -> None:
        service = vertex_memory_bank_service(
            uri(store), bank="coffee", model=ScriptedGenerator(), embedder=HashEmbedder()
        )

        async def add(number: int) -> None:
            await service.add_session_to_memory(session(f"I like tea {number}", id=f"s{number}"))
            gc.collect()  # what it does behind the caller must not lose its client
            found: list[str] = []
            while f"I like tea {number}" not in found:
                await asyncio.sleep(0.02)
                found = texts(await service.search_memory(**WHO, query=f"tea {number}"))

        for number in range(3):
            asyncio.run(asyncio.wait_for(add(number), 30))

    async def test_a_client_for_each_loop_not_for_each_call(self, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        service: Any = vertex_memory_bank_service(uri(store), model=ScriptedGenerator(), embedder=HashEmbedder())
        made: list[Any] = []
        build = service._build_api_client
        monkeypatch.setattr(service, "_build_api_client", lambda: made.append(1) or build())
        for _ in range(5):
            assert texts(await service.search_memory(**WHO, query="tea")) == []
        assert len(made) == 1


def test_without_the_official_client(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "agentplatform", None)
    with pytest.raises(FailedPrecondition, match=r"adk-memorybank\[sdk\]"):
        client(uri(store))
    assert not store.exists()
