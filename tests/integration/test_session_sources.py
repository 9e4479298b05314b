"""The sessions of a bank as sources: what generations read of them, and how they are forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from adk_memorybank import MemoryBank, MemoryBanks
from adk_memorybank.errors import FailedPrecondition, NotFound
from adk_memorybank.options import GenerationOptions
from adk_memorybank.resources import Source
from adk_memorybank.sessions import Session
from adk_memorybank.testing import HashEmbedder, ScriptedGenerator, temporary_banks
from tests.adk import event, session
from tests.integration.stores import HeldGenerator, files_with
from tests.integration.talks import NOON, said, talk

ADA = {"user_id": "ada"}
SECRET = "xylophonist"


@pytest.fixture
def generator() -> ScriptedGenerator:
    return ScriptedGenerator()


@pytest.fixture
async def banks(generator: ScriptedGenerator) -> AsyncIterator[MemoryBanks]:
    async with temporary_banks(model=generator) as banks:
        yield banks


@pytest.fixture
async def bank(banks: MemoryBanks) -> MemoryBank:
    return await banks.create(display_name="Test")


async def facts(bank: MemoryBank, scope: dict[str, str] = ADA) -> list[str]:
    return sorted(memory.fact for memory in await bank.list(scope=scope))


class TestGeneration:
    async def test_reads_a_session_for_its_user(self, bank: MemoryBank, generator: ScriptedGenerator) -> None:
        made = await talk(bank, "I like tea", "I live in Rome")
        await bank.sessions.append_event(name=made.name, event=said("noted", author="agent", second=9))
        call = {"function_call": {"name": "look_up", "args": {}}}
        event = {**said("", author="agent", second=10), "content": {"parts": [call]}}
        await bank.sessions.append_event(name=made.name, event=event)
        operation = await bank.generate(session=made.name)
        assert operation.scope == ADA
        assert await facts(bank) == ["I like tea", "I live in Rome"]
        assert generator.extractions == [["I like tea", "I live in Rome", "noted"]]
        assert [(one.kind, one.count) for one in operation.passed_over] == [("function_call", 1)]

    async def test_names_the_events_as_sources(self, bank: MemoryBank) -> None:
        made = await bank.sessions.create(user_id="ada", session_id="s")
        await bank.sessions.append_event(name=made.name, event=said("I like tea", rawEvent={"id": "e-1"}))
        plain = await bank.sessions.append_event(name=made.name, event=said("I live in Rome", second=5))
        await bank.generate(session="s")
        found = {memory.fact: memory for memory in await bank.list(scope=ADA)}
        assert found["I like tea"].sources == [Source(session_id="s", event_id="e-1")]
        assert found["I live in Rome"].sources == [Source(session_id="s", event_id=plain.id)]
        assert found["I live in Rome"].event_time == NOON + timedelta(seconds=5)

    async def test_into_the_scope_that_is_given(self, bank: MemoryBank) -> None:
        made = await talk(bank, "I like tea")
        scope = {"user_id": "ada", "app_name": "shop"}
        await bank.generate(session=made.name, scope=scope)
        assert (await facts(bank, scope), await facts(bank)) == (["I like tea"], [])

    async def test_of_a_span_of_time(self, bank: MemoryBank) -> None:
        made = await talk(bank, "one", "two", "three", "four")
        span: dict[str, Any] = {"start_time": NOON + timedelta(seconds=1), "end_time": NOON + timedelta(seconds=3)}
        await bank.generate(session=made.name, **span)
        assert await facts(bank) == ["three", "two"]

    async def test_reads_it_each_time(self, bank: MemoryBank, generator: ScriptedGenerator) -> None:
        made = await talk(bank, "I like tea")
        await bank.generate(session=made.name)
        again = await bank.generate(session=made.name)
        assert [change.action.value for change in again.generated_memories] == ["UPDATED"]
        assert await facts(bank) == ["I like tea"]
        for memory in await bank.list(scope=ADA):
            await bank.delete(name=memory.name)
        await bank.generate(session=made.name)
        assert await facts(bank) == ["I like tea"]
        assert generator.extractions == [["I like tea"]] * 3

    async def test_of_nothing_has_ended(self, bank: MemoryBank, generator: ScriptedGenerator) -> None:
        made = await bank.sessions.create(user_id="ada")
        operation = await bank.generate(session=made.name, wait=False)
        assert (operation.done, operation.generated_memories) == (True, [])
        assert generator.extractions == []

    async def test_of_a_session_of_another_bank(self, bank: MemoryBank, banks: MemoryBanks) -> None:
        elsewhere = await banks.create()
        made = await talk(elsewhere, "I like tea")
        await bank.generate(session=made.name)
        assert (await facts(bank), await facts(elsewhere)) == (["I like tea"], [])
        assert await bank.sessions.user_of(name=made.name) == "ada"

    @pytest.mark.parametrize("name", ["unknown", "projects/p/locations/l/reasoningEngines/77/sessions/1", ""])
    async def test_of_none(self, bank: MemoryBank, name: str) -> None:
        with pytest.raises(NotFound):
            await bank.generate(session=name)
        with pytest.raises(NotFound):
            await bank.generate(session=name, scope=ADA)
        assert await bank.operations.list() == []

    async def test_of_an_object_goes_to_its_user(self, bank: MemoryBank) -> None:
        await bank.generate(session=session(event("I like tea"), user_id="ada"))
        assert await facts(bank) == ["I like tea"]

    async def test_with_options(self, bank: MemoryBank) -> None:
        made = await talk(bank, "I like tea")
        await bank.generate(session=made.name, options=GenerationOptions(metadata={"of": "test"}))
        [memory] = await bank.list(scope=ADA)
        assert memory.metadata == {"of": "test"}


class TestGone:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        return tmp_path / "m"

    @pytest.fixture
    async def banks(self, folder: Path, generator: ScriptedGenerator) -> AsyncIterator[MemoryBanks]:
        async with MemoryBanks(f"memorybank:///{folder}", model=generator, embedder=HashEmbedder()) as banks:
            yield banks

    async def talk(self, bank: MemoryBank, user: str = "ada", **options: Any) -> Session:
        return await talk(bank, f"the {SECRET}", user=user, session_state={"a": SECRET}, **options)

    async def test_when_it_is_deleted(self, bank: MemoryBank, folder: Path) -> None:
        made = await self.talk(bank, display_name=SECRET)
        kept = await talk(bank, "what stays")
        assert files_with(folder, SECRET)
        await bank.sessions.delete(name=made.name)
        assert files_with(folder, SECRET) == []
        for name in (made.name, made.id):
            with pytest.raises(NotFound):
                await bank.sessions.get(name=name)
            with pytest.raises(NotFound):
                await bank.sessions.delete(name=name)
        assert len((await bank.sessions.read_events(name=kept.name))[1]) == 1

    async def test_but_its_memories_stay(self, bank: MemoryBank) -> None:
        made = await talk(bank, "I like tea")
        await bank.generate(session=made.name)
        await bank.sessions.delete(name=made.name)
        assert await facts(bank) == ["I like tea"]

    async def test_with_its_bank(self, bank: MemoryBank, banks: MemoryBanks, folder: Path) -> None:
        made = await self.talk(bank)
        with pytest.raises(FailedPrecondition):
            await banks.delete(name=bank.name)
        await bank.sessions.get(name=made.name)
        await banks.delete(name=bank.name, force=True)
        assert files_with(folder, SECRET) == []
        with pytest.raises(NotFound):
            await bank.sessions.create(user_id="ada")

    async def test_with_its_user(self, bank: MemoryBank, banks: MemoryBanks, folder: Path) -> None:
        await self.talk(bank)
        unread = await self.talk(bank)
        other = await talk(bank, "what others say", user="bob")
        elsewhere = await banks.create()
        there = await elsewhere.sessions.create(user_id="ada")
        await bank.generate(session=(await self.talk(bank)).name)
        await bank.forget(scope=ADA)
        assert files_with(folder, SECRET) == []
        with pytest.raises(NotFound):
            await bank.sessions.get(name=unread.name)
        await bank.sessions.get(name=other.name)
        await elsewhere.sessions.get(name=there.name)

    async def test_with_its_user_of_whom_nothing_else_is_known(self, bank: MemoryBank, folder: Path) -> None:
        await self.talk(bank)
        await bank.forget(scope=ADA)
        assert files_with(folder, SECRET) == []
        made = await self.talk(bank)
        await bank.generate(session=made.name)
        await bank.forget(scope=ADA)
        await self.talk(bank)
        await bank.forget(scope=ADA)
        assert files_with(folder, SECRET) == []

    async def test_with_the_scope_that_has_read_it(self, bank: MemoryBank, folder: Path) -> None:
        read, unread = await self.talk(bank), await talk(bank, "what stays")
        scope = {"app_name": "shop", "user_id": "ada"}
        await bank.generate(session=read.name, scope=scope)
        await bank.forget(scope=scope)
        assert files_with(folder, SECRET) == []
        with pytest.raises(NotFound):
            await bank.sessions.get(name=read.name)
        await bank.sessions.get(name=unread.name)

    async def test_with_the_scope_into_which_the_agent_has_put_it(self, bank: MemoryBank, folder: Path) -> None:
        made = await bank.sessions.create(user_id="ada")
        raw = {"id": "e-1"}
        await bank.sessions.append_event(name=made.name, event=said(f"the {SECRET}", rawEvent=raw))
        scope = {"app_name": "shop", "user_id": "ada"}
        await bank.ingest_events(scope=scope, events=[event(f"the {SECRET}", id="e-1")], session_id=made.id)
        await bank.forget(scope=scope)
        assert files_with(folder, SECRET) == []

    async def test_not_with_a_scope_that_has_read_another_of_its_name(self, bank: MemoryBank) -> None:
        made = await talk(bank, "I like tea", user="bob", session_id="s")
        scope = {"app_name": "shop", "user_id": "ada"}
        await bank.ingest_events(scope=scope, events=[event("hello", id="e-1")], session_id="s")
        await bank.forget(scope=scope)
        assert len((await bank.sessions.read_events(name=made.name))[1]) == 1

    async def test_while_it_is_read(self, bank: MemoryBank, folder: Path) -> None:
        for _ in range(10):
            made = await self.talk(bank)
            tries = [bank.generate(session=made.name, wait=False) for _ in range(3)]
            results = await asyncio.gather(tries[0], bank.forget(scope=ADA), *tries[1:], return_exceptions=True)
            assert all(not isinstance(one, Exception) or isinstance(one, NotFound) for one in results), results
            assert files_with(folder, SECRET) == []
        assert await facts(bank) == []


async def test_what_is_forgotten_while_it_is_generated_does_not_come_back(tmp_path: Path) -> None:
    held = HeldGenerator()
    uri = f"memorybank:///{tmp_path}/m"
    async with MemoryBanks(uri, model=held, embedder=HashEmbedder()) as banks:
        bank = await banks.create()
        made = await talk(bank, f"the {SECRET}")
        await bank.generate(session=made.name, wait=False)
        await held.begun()
        await bank.forget(scope=ADA)
        held.let_go()
        later = await talk(bank, "I like tea")
        await bank.generate(session=later.name)
        assert await facts(bank) == ["I like tea"]
        assert files_with(tmp_path / "m", SECRET) == []
