"""The calls of the managed service's setup guide, through Google's own client, against a bank of one's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from adk_memorybank import ManagedSemanticMemoryConfig, MemoryBanks
from adk_memorybank.server.sdk import client
from adk_memorybank.testing import temporary_banks
from tests.acceptance.guide import GRANULAR_TTL, OFFICIAL, SAMPLES, THE_DEFAULT, Sample
from tests.requires import requires

pytestmark = requires("agentplatform")


@pytest.fixture
async def banks() -> AsyncIterator[MemoryBanks]:
    # The samples name Google's models: the operator's choice goes before, so that nothing is called.
    async with temporary_banks(model="offline") as banks:
        yield banks


@pytest.fixture
def google(banks: MemoryBanks) -> Any:
    return client(banks)


@pytest.mark.parametrize("form", ["dictionary", OFFICIAL])
@pytest.mark.parametrize("sample", SAMPLES, ids=str)
async def test_a_bank_is_created_and_updated_with_it(
    sample: Sample, form: str, banks: MemoryBanks, google: Any
) -> None:
    if form == "dictionary" and sample is GRANULAR_TTL and "granular_ttl" in sample.given:
        pytest.skip("the client itself refuses this key of the guide's dictionary")
    config = sample.placed(sample.given if form == "dictionary" else sample.run(OFFICIAL))
    expected = ManagedSemanticMemoryConfig.parse(sample.placed(sample.given))

    def created_and_updated() -> tuple[str, str]:
        made = google.memory_banks.create(managed_semantic_memory_config=config)
        plain = google.memory_banks.create()
        google.memory_banks.update(name=plain.name, managed_semantic_memory_config=config)
        return made.name, plain.name

    for name in await asyncio.to_thread(created_and_updated):
        assert (await banks.read(name=name)).config == expected
        assert (await google.aio.memory_banks.get(name=name)).name == name


async def test_the_first_steps(google: Any) -> None:
    def steps() -> list[str]:
        bank = google.memory_banks.create(config={"display_name": "My Memory Bank"})
        google.memory_banks.update(name=bank.name, managed_semantic_memory_config=THE_DEFAULT.given)
        content = {"role": "user", "parts": [{"text": "I live in Lyon and I love green tea."}]}
        google.memory_banks.memories.generate(
            name=bank.name, direct_contents_source={"events": [{"content": content}]}, scope={"user_id": "1"}
        )
        found = google.memory_banks.memories.retrieve(name=bank.name, scope={"user_id": "1"})
        return [one.memory.fact for one in found]

    facts = await asyncio.to_thread(steps)
    assert any("Lyon" in fact for fact in facts)
    assert any("green tea" in fact for fact in facts)
