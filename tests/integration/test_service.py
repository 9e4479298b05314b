"""The face that ADK sees: sessions in, memories out, deleting and waiting."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from google.adk.memory.base_memory_service import BaseMemoryService
from google.genai import types

from adk_memorybank import MemoryBankService
from adk_memorybank.errors import InvalidArgument, NotFound
from adk_memorybank.testing import ScriptedGenerator
from tests.adk import APP, WHO, entry, event, flushed, kept, only, service_in, session, texts

OTHER: dict[str, Any] = {"app_name": APP, "user_id": "other"}


@pytest.fixture
def generator() -> ScriptedGenerator:
    return ScriptedGenerator()


@pytest.fixture
async def service(tmp_path: Path, generator: ScriptedGenerator) -> AsyncIterator[MemoryBankService]:
    async with service_in(tmp_path, model=generator) as service:
        yield service


class TestSessions:
    async def test_a_session_is_remembered(self, service: MemoryBankService) -> None:
        assert isinstance(service, BaseMemoryService)
        await service.add_session_to_memory(session("I like green tea.", event("Noted.", author="waiter")))
        await flushed(service)
        response = await service.search_memory(**WHO, query="tea")
        assert texts(response) == ["I like green tea."]

    async def test_added_after_every_turn_only_what_is_new_is_read(
        self, service: MemoryBankService, generator: ScriptedGenerator
    ) -> None:
        events = [event(f"Fact number {number}.") for number in range(6)]
        for count in range(1, 7):
            await service.add_session_to_memory(session(*events[:count]))
            await flushed(service)
        assert generator.extractions == [[f"Fact number {number}."] for number in range(6)]
        await service.add_session_to_memory(session(*events))
        assert await service.flush() == []

    async def test_another_session_with_the_same_event_ids(self, service: MemoryBankService) -> None:
        await service.add_session_to_memory(session(event("One.", id="e"), id="s1"))
        await service.add_session_to_memory(session(event("Two.", id="e"), id="s2"))
        assert len(await service.flush()) == 2
        assert await kept(service) == ["One.", "Two."]

    async def test_the_text_is_that_of_the_moment_it_was_added(self, service: MemoryBankService) -> None:
        said = event("I like green tea.")
        await service.add_session_to_memory(session(said))
        assert said.content is not None
        assert said.content.parts is not None
        said.content.parts[0].text = "I like nothing."
        await flushed(service)
        assert await kept(service) == ["I like green tea."]

    async def test_what_a_search_gave_is_the_callers_own(self, service: MemoryBankService) -> None:
        await service.add_memory(**WHO, memories=[entry("I like tea.", custom_metadata={"colour": "green"})])
        (first,) = (await service.search_memory(**WHO, query="tea")).memories
        assert first.content.parts
        first.content.parts[0].text = "nothing"
        first.custom_metadata["colour"] = "red"
        first.custom_metadata["memory_bank"]["topics"].append("SPOILED")
        (again,) = (await service.search_memory(**WHO, query="tea")).memories
        assert again.content.parts
        assert again.content.parts[0].text == "I like tea."
        assert again.custom_metadata["colour"] == "green"
        assert again.custom_metadata["memory_bank"]["topics"] == []

    async def test_an_entry_is_kept_as_it_was_when_it_was_added(self, service: MemoryBankService) -> None:
        mine = entry("I like tea.", custom_metadata={"colour": "green"})
        await service.add_memory(**WHO, memories=[mine])
        mine.custom_metadata["colour"] = "red"
        memory = await only(service)
        assert (memory.fact, memory.metadata) == ("I like tea.", {"colour": "green"})


class TestDeleting:
    async def test_one_memory(self, service: MemoryBankService) -> None:
        await service.add_memory(**WHO, memories=[entry("One.", id="1"), entry("Two.", id="2")])
        await service.delete_memory(**WHO, memory_id="1")
        assert await kept(service) == ["Two."]
        assert texts(await service.search_memory(**WHO, query="one")) == ["Two."]
        with pytest.raises(NotFound):
            await service.delete_memory(**WHO, memory_id="1")

    async def test_by_its_full_name(self, service: MemoryBankService) -> None:
        await service.add_memory(**WHO, memories=[entry("One.")])
        await service.delete_memory(**WHO, memory_id=(await only(service)).name)
        assert await kept(service) == []

    @pytest.mark.parametrize("memory_id", [None, ""])
    async def test_without_an_id(self, service: MemoryBankService, memory_id: str | None) -> None:
        with pytest.raises(InvalidArgument) as raised:
            await service.delete_memory(**WHO, memory_id=memory_id)
        assert raised.value.field == "memory_id"
        assert "forget" in str(raised.value)

    async def test_forget(self, service: MemoryBankService) -> None:
        said = session("I like tea.")
        await service.add_session_to_memory(said)
        await service.add_memory(**OTHER, memories=[entry("I like tea.")])
        await flushed(service)
        forgotten = await service.forget(**WHO)
        assert (forgotten.memories, forgotten.revisions, forgotten.events) == (1, 1, 1)
        assert (await kept(service), await kept(service, OTHER)) == ([], ["I like tea."])
        await service.add_session_to_memory(said)
        assert await service.flush() == []
        await service.add_session_to_memory(session(*said.events, event("I like coffee.")))
        await flushed(service)
        assert await kept(service) == ["I like coffee."]
        assert (await service.forget(app_name="no", user_id="one")).memories == 0


class TestFlush:
    async def test_nothing_to_wait_for(self, service: MemoryBankService) -> None:
        assert await service.flush() == []
        assert await service.flush(force=True) == []

    async def test_what_has_not_ended_is_waited_for_again(self, tmp_path: Path) -> None:
        async with service_in(tmp_path, model=ScriptedGenerator([0.5])) as service:
            await service.add_session_to_memory(session("One."))
            (pending,) = await service.flush(timeout=0.01)
            assert not pending.done
            (done,) = await service.flush()
            assert (done.name, done.done) == (pending.name, True)
            assert await service.flush() == []

    async def test_a_failure_is_told_and_can_be_read(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        async with service_in(tmp_path, model=ScriptedGenerator([ValueError("no such thing")])) as service:
            await service.add_session_to_memory(session("One."))
            (failed,) = await service.flush()
            assert failed.error is not None
            assert "no such thing" in failed.error.message
            assert [record.levelname for record in caplog.records if failed.name.rpartition("/")[2] in record.message]
            bank = await service.bank()
            assert [one.name for one in await bank.operations.list(failed=True)] == [failed.name]
            await service.add_session_to_memory(session(event("Two.", id="2")))
            await flushed(service)
            assert await kept(service) == ["One.", "Two."], "its events went with the next operation"

    async def test_what_each_operation_did_is_told(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.INFO, logger="google_adk.adk_memorybank")
        async with service_in(tmp_path, model="offline") as service:
            said: list[tuple[str, str]] = []
            for text in ("I like green tea.", "I like green tea.", "Forget that I like green tea."):
                await service.add_session_to_memory(session(text, id=f"s{len(said)}"))
                (operation,) = await service.flush()
                (told,) = [
                    message for message in caplog.messages if f"{operation.name.rpartition('/')[2]}: " in message
                ]
                said.append((text, told.partition(": ")[2]))
            assert [counts for _, counts in said] == [
                "1 created, 0 updated, 0 deleted",
                "0 created, 1 updated, 0 deleted",
                "0 created, 0 updated, 1 deleted",
            ]
            assert "green tea" not in caplog.text

    async def test_a_forgotten_operation_is_left_out(self, tmp_path: Path) -> None:
        async with service_in(tmp_path, model=ScriptedGenerator([0.3])) as service:
            await service.add_session_to_memory(session("One."))
            await service.forget(**WHO)
            assert await service.flush() == []
            assert await kept(service) == []


async def test_a_part_of_text_after_an_image_is_read(service: MemoryBankService) -> None:
    image = types.Part.from_bytes(data=b"\x89PNG", mime_type="image/png")
    await service.add_session_to_memory(session(event(parts=[image, types.Part(text="My cat.")])))
    await flushed(service)
    assert await kept(service) == ["My cat."]
