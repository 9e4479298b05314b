"""ADK's own `VertexAiMemoryBankService` over a bank of one's own, through the hook that ADK has for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from importlib.metadata import version
from typing import Any

import pytest
from google.adk.memory.base_memory_service import BaseMemoryService

from adk_memorybank import MemoryBank, MemoryBanks
from adk_memorybank.server.app import create_app
from adk_memorybank.server.sdk import vertex_memory_bank_service
from adk_memorybank.testing import ScriptedGenerator, temporary_banks
from tests.adk import WHO, entry, event, session, texts
from tests.integration.serving import on_a_port
from tests.integration.stores import until
from tests.requires import requires

pytestmark = requires("official_client")

SCOPE = {"app_name": WHO["app_name"], "user_id": WHO["user_id"]}


def has(name: str) -> pytest.MarkDecorator:
    """ADK 1.x lacks some of the methods, or has them without an implementation."""
    return pytest.mark.skipif(
        getattr(vertex_class(), name, None) in (None, getattr(BaseMemoryService, name, None)),
        reason=f"this ADK has no {name}",
    )


def vertex_class() -> Any:
    from google.adk.memory.vertex_ai_memory_bank_service import VertexAiMemoryBankService

    return VertexAiMemoryBankService


@pytest.fixture
def generator() -> ScriptedGenerator:
    return ScriptedGenerator()


@pytest.fixture
async def banks(generator: ScriptedGenerator) -> AsyncIterator[MemoryBanks]:
    async with temporary_banks(model=generator) as banks:
        await banks.open()
        yield banks


@pytest.fixture(params=["in process", "on a port"])
async def service(banks: MemoryBanks, request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    if request.param == "in process":
        yield vertex_memory_bank_service(banks)
        return
    with on_a_port(create_app(banks)) as url:
        yield vertex_memory_bank_service(url)


@pytest.fixture
async def bank(banks: MemoryBanks) -> MemoryBank:
    return await banks.open()


async def facts(bank: MemoryBank) -> list[str]:
    return sorted(memory.fact for memory in await bank.list(scope=SCOPE))


async def settled(bank: MemoryBank, count: int) -> None:
    """ADK sends events behind the caller: waits until so many memories are there, and nothing is left to do."""

    async def done() -> bool:
        return len(await bank.list(scope=SCOPE)) >= count and not await bank.operations.list(unfinished=True)

    await until(done)


async def test_a_session(service: Any, bank: MemoryBank) -> None:
    await service.add_session_to_memory(session("I like tea", event("Fine", author="agent"), "My dog is Rex"))
    await settled(bank, 2)
    found = await service.search_memory(**WHO, query="tea")
    assert texts(found)[0] == "I like tea"
    assert found.memories[0].author == "user"
    assert found.memories[0].timestamp
    assert texts(await service.search_memory(app_name="other", user_id="user", query="tea")) == []


async def test_a_session_that_grows_is_read_once(service: Any, bank: MemoryBank, generator: ScriptedGenerator) -> None:
    said: list[Any] = []
    for number in range(100):
        said.append(event(f"fact {number}", id=f"e{number}"))
        await service.add_session_to_memory(session(*said))
    await settled(bank, 100)
    await asyncio.sleep(0.3)
    await settled(bank, 100)
    read = [text for texts_read in generator.extractions for text in texts_read]
    assert sorted(read) == sorted(f"fact {number}" for number in range(100))
    for memory in await bank.list(scope=SCOPE):
        assert len(await bank.list_revisions(name=memory.name)) == 1


@has("add_events_to_memory")
async def test_events(service: Any, bank: MemoryBank) -> None:
    await service.add_events_to_memory(**WHO, events=[event("I like tea", id="e1")])
    await settled(bank, 1)
    more = {"ttl": "60s", "wait_for_completion": True, "source": "agent", "weight": 1.5}
    await service.add_events_to_memory(**WHO, events=[event("My dog is Rex")], custom_metadata=more)
    [dog] = [memory for memory in await bank.list(scope=SCOPE) if "Rex" in memory.fact]
    assert dog.metadata == {"source": "agent", "weight": 1.5}
    [revision] = await bank.list_revisions(name=dog.name)
    assert revision.expire_time is not None
    assert (revision.expire_time - revision.create_time).total_seconds() == 60


@has("add_memory")
async def test_memories(service: Any, bank: MemoryBank) -> None:
    given = {"ttl": "60s", "source": "entry"}
    await service.add_memory(**WHO, memories=[entry("I like tea", id="tea")], custom_metadata=given)
    [memory] = await bank.list(scope=SCOPE)
    assert (memory.fact, memory.metadata) == ("I like tea", {"source": "entry"})
    assert memory.id == "tea" or version("google-adk").startswith("1."), "ADK 1.x leaves the id out"
    assert memory.expire_time is not None
    many = [entry(f"fact {number}") for number in range(6)]
    merged = {"enable_consolidation": True, "wait_for_completion": True}
    for _ in range(2):
        await service.add_memory(**WHO, memories=many, custom_metadata=merged)
    await settled(bank, 7)
    assert await facts(bank) == ["I like tea", *(f"fact {number}" for number in range(6))]


@has("retrieve_profiles")
async def test_profiles(service: Any) -> None:
    assert await service.retrieve_profiles(**WHO) == []
