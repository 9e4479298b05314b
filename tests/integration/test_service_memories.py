"""Adding memories as they stand, or consolidated, and what `custom_metadata` does to them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from adk_memorybank import MemoryBankService
from adk_memorybank.errors import AlreadyExists, InvalidArgument
from adk_memorybank.testing import ManualClock, ScriptedGenerator
from tests.adk import APP, WHO, entry, flushed, kept, only, service_in, texts

OTHER: dict[str, Any] = {"app_name": APP, "user_id": "other"}
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


class TestMemories:
    async def test_word_for_word(self, service: MemoryBankService, generator: ScriptedGenerator) -> None:
        odd = "  maybe?? i like\n\ttea 🍵 <b>\u202e  "
        await service.add_memory(**WHO, memories=[entry(odd), entry("I like tea."), entry("I like tea.")])
        assert await kept(service) == sorted([odd.strip(), "I like tea.", "I like tea."])
        assert (generator.extractions, generator.consolidations) == ([], 0)

    async def test_every_key(self, service: MemoryBankService, clock: ManualClock) -> None:
        await service.add_memory(
            **WHO,
            memories=[entry("I like tea.", author="ann", timestamp="2025-06-01T10:00:00+02:00")],
            custom_metadata={
                "memory_id": "tea-1",
                "display_name": "Tea",
                "description": "What to serve",
                "topics": ["USER_PREFERENCES", {"custom_memory_topic_label": "drinks"}],
                "ttl": "120s",
                "revision_ttl": "60s",
                "revision_labels": {"source": "321"},
                "metadata": {"cups": 2},
                "colour": "green",
            },
        )
        memory = await only(service)
        assert (memory.id, memory.display_name, memory.description) == ("tea-1", "Tea", "What to serve")
        assert memory.topics == ["USER_PREFERENCES", "drinks"]
        assert memory.metadata == {"cups": 2.0, "colour": "green"}
        assert memory.expire_time == clock.now() + timedelta(seconds=120)
        assert (memory.author, memory.event_time) == ("ann", datetime(2025, 6, 1, 8, tzinfo=UTC))
        (revision,) = await (await service.bank()).list_revisions(name="tea-1")
        assert revision.labels == {"author": "ann", "source": "321", "timestamp": "2025-06-01T10:00:00+02:00"}
        assert revision.expire_time == clock.now() + MINUTE
        assert revision.extracted_memories == []
        clock.advance(timedelta(seconds=121))
        assert await kept(service) == []
        assert texts(await service.search_memory(**WHO, query="tea")) == []

    async def test_expire_time(self, service: MemoryBankService) -> None:
        await service.add_memory(**WHO, memories=[entry("x")], custom_metadata={"expire_time": "2030-01-01T00:00:00Z"})
        assert (await only(service)).expire_time == datetime(2030, 1, 1, tzinfo=UTC)

    async def test_a_good_id_is_kept_and_a_bad_one_replaced(self, service: MemoryBankService) -> None:
        good, bad = "A-b_9" * 12, "x" * 64
        await service.add_memory(**WHO, memories=[entry("One.", id=good), entry("Two.", id=bad), entry("Three.")])
        ids = {memory.fact: memory.id for memory in await (await service.bank()).list(scope=WHO)}
        assert ids["One."] == good
        assert bad not in ids.values()
        assert len(set(ids.values())) == 3

    async def test_an_id_that_is_taken_stores_nothing(self, service: MemoryBankService) -> None:
        await service.add_memory(**WHO, memories=[entry("One.", id="taken")])
        for who in (WHO, OTHER):
            with pytest.raises(AlreadyExists):
                await service.add_memory(**who, memories=[entry("Two."), entry("Three.", id="taken")])
        assert (await kept(service), await kept(service, OTHER)) == (["One."], [])
        with pytest.raises(AlreadyExists):
            await service.add_memory(**OTHER, memories=[entry("a", id="same"), entry("b", id="same")])
        assert await kept(service, OTHER) == []

    @pytest.mark.parametrize(
        ("given", "field"),
        [
            ({"ttl": "60s", "expire_time": "2030-01-01T00:00:00Z"}, "ttl"),
            ({"ttl": 60}, "custom_metadata.ttl"),
            ({"memory_id": "a/b"}, "memory_id"),
            ({"topics": "USER_PREFERENCES"}, "custom_metadata.topics"),
            ({"expire_time": "0001-01-01T00:00:00+14:00"}, "custom_metadata.expire_time"),
            ({"n": 10**400}, "custom_metadata.n"),
        ],
    )
    async def test_wrong_values_change_nothing(
        self, service: MemoryBankService, given: dict[str, object], field: str
    ) -> None:
        with pytest.raises(InvalidArgument) as raised:
            await service.add_memory(**WHO, memories=[entry("One."), entry("Two.", custom_metadata=given)])
        assert raised.value.field == field
        assert await kept(service) == []

    @pytest.mark.parametrize(
        ("memories", "error", "said"),
        [
            ("text", TypeError, "sequence"),
            ([entry("x"), "text"], TypeError, r"memories\[1\]"),
            ([], ValueError, "at least one"),
            ([entry("x"), entry(" ")], ValueError, r"memories\[1\]"),
        ],
    )
    async def test_what_is_no_memory(
        self, service: MemoryBankService, memories: Any, error: type[Exception], said: str
    ) -> None:
        for given in (None, {"enable_consolidation": True}):
            with pytest.raises(error, match=said):
                await service.add_memory(**WHO, memories=memories, custom_metadata=given)
        assert await kept(service) == []

    async def test_consolidated_in_batches_of_five(self, service: MemoryBankService) -> None:
        facts = [f"Fact number {number}." for number in range(12)]
        given: dict[str, object] = {"enable_consolidation": True, "colour": "red", "ttl": "60s"}
        for count in (12, 6):
            await service.add_memory(**WHO, memories=[entry(fact) for fact in facts[:count]], custom_metadata=given)
            operations = await service.flush()
            assert len(operations) == -(-count // 5)
            changed = [change for operation in operations for change in operation.generated_memories]
            assert {change.action.value for change in changed} == {"CREATED" if count == 12 else "UPDATED"}
        assert await kept(service) == sorted(facts)
        assert (await service.search_memory(**WHO, query="number 3")).memories[0].custom_metadata["colour"] == "red"

    async def test_consolidated_word_for_word_however_long(self, service: MemoryBankService) -> None:
        long = "word " * 2_000
        await service.add_memory(**WHO, memories=[entry(long)], custom_metadata={"enable_consolidation": True})
        await flushed(service)
        assert await kept(service) == [long.strip()]

    async def test_consolidation_tells_what_it_leaves_out(
        self, service: MemoryBankService, caplog: pytest.LogCaptureFixture
    ) -> None:
        await service.add_memory(
            **WHO, memories=[entry("x", id="mine")], custom_metadata={"enable_consolidation": True}
        )
        assert "id of the entries are passed over" in caplog.text

    async def test_enable_consolidation_is_a_bool(self, service: MemoryBankService) -> None:
        with pytest.raises(TypeError, match="enable_consolidation"):
            await service.add_memory(**WHO, memories=[entry("x")], custom_metadata={"enable_consolidation": "yes"})
        assert await kept(service) == []
