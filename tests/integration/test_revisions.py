"""A memory's life: its revisions, and taking it back to one of them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import timedelta

import pytest

from adk_memorybank.bank import MemoryBank
from adk_memorybank.errors import FailedPrecondition, NotFound
from adk_memorybank.options import GenerationOptions, MemoryOptions, RevisionOptions
from adk_memorybank.testing import ManualClock, ScriptedGenerator, temporary_banks

SCOPE = {"user_id": "1"}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def bank(clock: ManualClock) -> AsyncGenerator[MemoryBank]:
    async with temporary_banks(model=ScriptedGenerator(), clock=clock) as banks:
        yield await banks.create()


async def facts(bank: MemoryBank, name: str) -> list[str]:
    return [revision.fact for revision in await bank.list_revisions(name=name)]


async def test_a_rollback_restores_the_text_and_keeps_the_history(bank: MemoryBank) -> None:
    memory = await bank.create(scope=SCOPE, fact="I like tea.")
    await bank.update(name=memory.name, fact="I like coffee.")
    oldest = (await bank.list_revisions(name=memory.name))[-1]
    assert (await bank.get_revision(name=oldest.name)) == oldest
    restored = await bank.rollback(name=memory.id, target_revision_id=oldest.id)
    assert (restored.name, restored.fact) == (memory.name, "I like tea.")
    with pytest.raises(NotFound):
        await bank.rollback(name=memory.id, target_revision_id=f"{bank.name}/memories/other/revisions/{oldest.id}")
    assert await facts(bank, memory.name) == ["I like tea.", "I like coffee.", "I like tea."]
    [found] = await bank.retrieve(scope=SCOPE, query="I like tea.")
    assert found.distance == pytest.approx(0, abs=1e-3)


async def test_a_deleted_memory_comes_back_for_48_hours(bank: MemoryBank, clock: ManualClock) -> None:
    options = MemoryOptions(metadata={"k": 1.0}, display_name="Drink")
    memory = await bank.create(scope=SCOPE, fact="I like tea.", options=options)
    await bank.delete(name=memory.name)
    deletion, first = await bank.list_revisions(name=memory.name)
    assert (deletion.fact, first.fact) == ("", "I like tea.")
    with pytest.raises(FailedPrecondition):
        await bank.rollback(name=memory.name, target_revision_id=deletion.name)
    clock.advance(timedelta(hours=47))
    restored = await bank.rollback(name=memory.name, target_revision_id=first.name)
    assert (restored.fact, restored.metadata, restored.display_name) == ("I like tea.", {"k": 1.0}, "Drink")
    assert restored.create_time == memory.create_time
    await bank.delete(name=memory.name)
    clock.advance(timedelta(hours=49))
    assert await facts(bank, memory.name) == []
    with pytest.raises(NotFound):
        await bank.rollback(name=memory.name, target_revision_id=first.name)


async def test_the_history_of_a_memory_that_came_back_lives_on(bank: MemoryBank, clock: ManualClock) -> None:
    short = MemoryOptions(revision=RevisionOptions(ttl=timedelta(hours=50)))
    memory = await bank.create(scope=SCOPE, fact="I like tea.", options=short)
    await bank.update(name=memory.name, fact="I like coffee.")
    await bank.delete(name=memory.name)
    newest = (await bank.list_revisions(name=memory.name))[1]
    await bank.rollback(name=memory.name, target_revision_id=newest.name)
    clock.advance(timedelta(days=300))
    assert await facts(bank, memory.name) == ["I like coffee.", "", "I like coffee.", "I like tea."]
    clock.advance(timedelta(days=66))
    assert await facts(bank, memory.name) == []


@pytest.mark.parametrize("deleted", [True, False])
async def test_a_memory_that_would_have_expired_comes_back(bank: MemoryBank, clock: ManualClock, deleted: bool) -> None:
    minute = MemoryOptions(ttl=timedelta(minutes=1), display_name="Drink")
    memory = await bank.create(scope=SCOPE, fact="I like tea.", options=minute)
    [first] = await bank.list_revisions(name=memory.name)
    if deleted:
        await bank.delete(name=memory.name)
    clock.advance(timedelta(minutes=2))
    restored = await bank.rollback(name=memory.name, target_revision_id=first.name)
    assert (restored.fact, restored.display_name, restored.expire_time) == ("I like tea.", "Drink", None)
    assert await bank.get(name=memory.name) == restored
    [found] = await bank.retrieve(scope=SCOPE, query="I like tea.")
    assert found.memory == restored


async def test_a_memory_that_comes_back_lives_as_long_as_the_bank_says(clock: ManualClock) -> None:
    async with temporary_banks(model=ScriptedGenerator(), clock=clock) as banks:
        hour = timedelta(hours=1)
        bank = await banks.create(managed_semantic_memory_config={"ttl_config": {"default_ttl": "3600s"}})
        memory = await bank.create(scope=SCOPE, fact="I like tea.")
        [first] = await bank.list_revisions(name=memory.name)
        clock.advance(hour / 2)
        restored = await bank.rollback(name=memory.name, target_revision_id=first.name)
        assert restored.expire_time == memory.expire_time, "it has not expired"
        clock.advance(hour)
        restored = await bank.rollback(name=memory.name, target_revision_id=first.name)
        assert restored.expire_time == clock.now() + hour


async def test_an_id_that_another_scope_uses_again_shows_nothing_of_the_one_before(bank: MemoryBank) -> None:
    memory = await bank.create(scope=SCOPE, fact="I like tea.", options=MemoryOptions(memory_id="m"))
    [first] = await bank.list_revisions(name=memory.name)
    await bank.delete(name="m")
    await bank.create(scope={"user_id": "2"}, fact="I like coffee.", options=MemoryOptions(memory_id="m"))
    assert await facts(bank, "m") == ["I like coffee."]
    with pytest.raises(NotFound):
        await bank.rollback(name="m", target_revision_id=first.id)


async def test_labels_ttl_and_none_at_all_by_request(bank: MemoryBank, clock: ManualClock) -> None:
    labelled = GenerationOptions(revision=RevisionOptions(labels={"source": "chat"}, ttl=timedelta(days=1)))
    operation = await bank.generate(scope=SCOPE, direct_memories=["I like tea."], options=labelled)
    name = operation.generated_memories[0].memory.name
    [revision] = await bank.list_revisions(name=name)
    assert revision.labels == {"source": "chat"}
    assert revision.expire_time == clock.now() + timedelta(days=1)
    assert [one.fact for one in revision.extracted_memories] == ["I like tea."]
    silent = GenerationOptions(revision=RevisionOptions(disabled=True))
    again = await bank.generate(scope=SCOPE, direct_memories=["I like tea."], options=silent)
    assert again.generated_memories[0].previous_revision == revision.name
    assert len(await bank.list_revisions(name=name)) == 1
    await bank.create(scope=SCOPE, fact="I like rain.", options=MemoryOptions(memory_id="rain"))
    [default] = await bank.list_revisions(name="rain")
    assert default.expire_time == clock.now() + timedelta(days=365)
