"""Events that carry nothing, or something that can't be read, break nothing and are told."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from google.adk.events.event import Event
from google.genai import types

from adk_memorybank import MemoryBankService
from adk_memorybank.errors import InvalidArgument
from adk_memorybank.resources import Operation
from adk_memorybank.testing import HashEmbedder, ScriptedGenerator
from tests.adk import WHO, entry, event, session, texts

LOGGER = "google_adk.adk_memorybank"

CALL = types.Part.from_function_call(name="lookup", args={"q": "tea"})
RESPONSE = types.Part.from_function_response(name="lookup", response={"tea": "green"})
AUTH = types.Part.from_function_call(name="adk_request_credential", args={})
IMAGE = types.Part.from_bytes(data=b"\x89PNG" * 1_000, mime_type="image/png")
FILE = types.Part.from_uri(file_uri="gs://bucket/a.pdf", mime_type="application/pdf")
THOUGHT = types.Part(text="They may like tea.", thought=True)
CODE = types.Part(executable_code=types.ExecutableCode(code="1+1", language=types.Language.PYTHON))

UNREADABLE = {
    "function_call": CALL,
    "function_response": RESPONSE,
    "auth_request": AUTH,
    "inline_data image/png": IMAGE,
    "file_data application/pdf": FILE,
    "thought": THOUGHT,
    "executable_code": CODE,
}


@pytest.fixture
def generator() -> ScriptedGenerator:
    return ScriptedGenerator()


@pytest.fixture
async def service(tmp_path: Path, generator: ScriptedGenerator) -> AsyncIterator[MemoryBankService]:
    uri = f"memorybank:///{tmp_path}/memory"
    async with MemoryBankService(uri, model=generator, embedder=HashEmbedder()) as service:
        yield service


async def one_operation(service: MemoryBankService) -> Operation:
    (operation,) = await service.flush()
    assert operation.error is None
    return operation


def passed_over(operation: Operation) -> dict[str, int]:
    return {one.kind: one.count for one in operation.passed_over}


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if "passes over" in record.getMessage()]


@pytest.mark.parametrize(
    "nothing",
    [
        [],
        [event()],
        [event(""), event(" \n\t")],
        [event(parts=[types.Part()])],
        [Event(author="waiter", content=types.Content(role="model"))],
        [Event(author="waiter", error_code="SAFETY", error_message="no")],
    ],
)
async def test_nothing_to_read(
    service: MemoryBankService, generator: ScriptedGenerator, caplog: pytest.LogCaptureFixture, nothing: list[Event]
) -> None:
    with caplog.at_level(logging.INFO, logger=LOGGER):
        await service.add_session_to_memory(session(*nothing))
        await service.add_events_to_memory(**WHO, events=nothing)
        assert await service.flush() == []
        assert await service.flush(force=True) == []
    assert generator.extractions == []
    assert told(caplog) == []
    assert texts(await service.search_memory(**WHO, query="anything")) == []


async def test_only_unreadable_parts(
    service: MemoryBankService, generator: ScriptedGenerator, caplog: pytest.LogCaptureFixture
) -> None:
    only = session(*(event(parts=[part]) for part in UNREADABLE.values()))
    with caplog.at_level(logging.INFO, logger=LOGGER):
        for _ in range(2):
            await service.add_session_to_memory(only)
            assert await service.flush() == []
    assert generator.extractions == []
    (message,) = told(caplog)
    assert all(f"1 of {kind}" in message for kind in UNREADABLE)
    assert "None" not in message


async def test_what_is_passed_over_is_told_once_and_kept_with_the_operation(
    service: MemoryBankService, generator: ScriptedGenerator, caplog: pytest.LogCaptureFixture
) -> None:
    events = [
        event("I like tea.", parts=[IMAGE, FILE]),
        event(author="waiter", parts=[THOUGHT, CALL, CALL]),
        event(author="waiter", parts=[RESPONSE]),
        event(author="waiter", parts=[AUTH]),
        event(author="waiter", parts=[CODE, types.Part(text="Noted.")]),
    ]
    with caplog.at_level(logging.INFO, logger=LOGGER):
        await service.add_session_to_memory(session(*events))
        operation = await one_operation(service)
        await service.add_session_to_memory(session(*events))
    assert passed_over(operation) == {kind: 2 if kind == "function_call" else 1 for kind in UNREADABLE}
    (message,) = told(caplog)
    assert operation.name.rpartition("/")[2] in message
    assert "2 of function_call" in message
    assert "1 of inline_data image/png" in message
    assert generator.extractions == [["I like tea.", "Noted."]]


async def test_each_operation_tells_its_own(service: MemoryBankService) -> None:
    events = [event("One.", parts=[CALL])]
    await service.add_session_to_memory(session(*events))
    assert passed_over(await one_operation(service)) == {"function_call": 1}
    events.append(event("Two.", parts=[IMAGE]))
    await service.add_session_to_memory(session(*events))
    assert passed_over(await one_operation(service)) == {"inline_data image/png": 1}


async def test_of_a_generation_too(service: MemoryBankService) -> None:
    bank = await service.bank()
    operation = await bank.generate(scope=WHO, events=[event("One.", parts=[CALL]), event(parts=[THOUGHT])])
    assert passed_over(operation) == {"function_call": 1, "thought": 1}
    operation = await bank.generate(scope=WHO, events=[event(parts=[IMAGE])])
    assert (passed_over(operation), operation.generated_memories) == ({"inline_data image/png": 1}, [])


async def test_thoughts_are_no_memories(service: MemoryBankService) -> None:
    await service.add_session_to_memory(session(event("Yes.", parts=[types.Part(text="Hm.", thought=True)])))
    await one_operation(service)
    assert texts(await service.search_memory(**WHO, query="hm")) == ["Yes."]


async def test_chunks_of_a_stream_do_not_stand_for_the_whole(
    service: MemoryBankService, generator: ScriptedGenerator
) -> None:
    chunks = [event(text, partial=True, id="e1") for text in ("I like", " green", " tea.")]
    await service.add_events_to_memory(**WHO, events=chunks, session_id="s")
    await service.add_events_to_memory(
        **WHO, events=[*chunks, event("I like green tea.", partial=False, id="e1")], session_id="s"
    )
    await one_operation(service)
    assert generator.extractions == [["I like green tea."]]


class TestWithoutIds:
    @staticmethod
    def nameless(*said: str) -> list[Event]:
        events = [event(text, time=1_767_268_800) for text in said]
        for one in events:
            one.id = ""
        return events

    async def test_a_session_added_again_is_not_read_twice(
        self, service: MemoryBankService, generator: ScriptedGenerator
    ) -> None:
        await service.add_session_to_memory(session(*self.nameless("One.", "One.", "Two.")))
        await one_operation(service)
        await service.add_session_to_memory(session(*self.nameless("One.", "One.", "Two.")))
        assert await service.flush() == []
        await service.add_session_to_memory(session(*self.nameless("One.", "One.", "Two.", "Three.")))
        await one_operation(service)
        assert generator.extractions == [["One.", "One.", "Two."], ["Three."]]

    async def test_their_sources_have_names(self, service: MemoryBankService) -> None:
        await service.add_session_to_memory(session(*self.nameless("One.")))
        await service.add_events_to_memory(**WHO, events=self.nameless("Two."))
        await service.flush()
        for memory in await (await service.bank()).list(scope=WHO):
            assert all(source.event_id for source in memory.sources)


async def test_without_a_time(service: MemoryBankService) -> None:
    timeless: list[Any] = [{"content": {"role": "user", "parts": [{"text": text}]}} for text in ("One.", "Two.")]
    await service.add_events_to_memory(**WHO, events=timeless)
    await one_operation(service)
    found = (await service.search_memory(**WHO, query="one")).memories
    assert len(found) == 2
    assert all(one.timestamp for one in found)


async def test_in_order_of_their_times(service: MemoryBankService, generator: ScriptedGenerator) -> None:
    await service.add_session_to_memory(session(event("Late.", time=200), event("Early.", time=100)))
    await one_operation(service)
    assert generator.extractions == [["Early.", "Late."]]


class TestRoles:
    WRONG = ("system", "tool", "assistant")

    @staticmethod
    def said_by(role: str, text: str) -> dict[str, Any]:
        return {"content": {"role": role, "parts": [{"text": text}]}}

    @pytest.mark.parametrize("role", WRONG)
    async def test_another_role_fails_a_generation(self, service: MemoryBankService, role: str) -> None:
        bank = await service.bank()
        events = [self.said_by("user", "One."), self.said_by(role, "Two.")]
        with pytest.raises(InvalidArgument, match="valid role: user, model"):
            await bank.generate(scope=WHO, events=events)
        operation = await bank.generate(scope=WHO, events=events, wait=False)
        (failed,) = await bank.operations.wait([operation.name])
        assert failed.error is not None
        assert (failed.error.code, failed.error.status) == (3, "INVALID_ARGUMENT")
        assert await bank.list(scope=WHO) == []
        await bank.generate(scope=WHO, events=[self.said_by("user", "Three.")])
        assert [memory.fact for memory in await bank.list(scope=WHO)] == ["Three."], "the next one is free of it"

    @pytest.mark.parametrize("role", WRONG)
    async def test_another_role_does_not_block_a_stream(self, service: MemoryBankService, role: str) -> None:
        bank = await service.bank()
        for events in ([self.said_by(role, "One.")], [self.said_by("user", "Two."), self.said_by(role, "Three.")]):
            operation = await bank.ingest_events(scope=WHO, events=events)
            if operation is not None:
                (ended,) = await bank.operations.wait([operation.name])
                assert (ended.error, passed_over(ended)) == (None, {f"role {role}": 1})
        assert [memory.fact for memory in await bank.list(scope=WHO)] == ["Two."]

    async def test_no_role_is_the_users(self, service: MemoryBankService) -> None:
        bank = await service.bank()
        await bank.generate(scope=WHO, events=[{"parts": [{"text": "One."}]}])
        assert [memory.fact for memory in await bank.list(scope=WHO)] == ["One."]


LONG = {
    "sentences": "I like green tea and long walks in the park. " * 4_500,
    "one word": "a" * 200_000,
    "blanks": "I like " + " " * 200_000 + "tea",
    "lines": "\n" * 200_000 + "I like tea.",
    "dots": ". " * 100_000,
    "commas": "I like tea, " * 17_000,
    "brackets": "(" * 100_000 + ")" * 100_000,
    "tags": "<" * 200_000,
    "open blocks": "<PAST_CONVERSATIONS>" * 10_000,
    "quotes": '"' * 200_000,
    "digits": "4111 " * 40_000,
    "slashes": "://a:b" * 30_000,
    "chinese": "我喜欢喝绿茶" * 33_000,
    "emoji": "🍵" * 50_000,
    "accents": "e\u0301" * 100_000,
    "upper": "I LIKE TEA! " * 17_000,
}


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryBankService]:
    service = MemoryBankService(f"memorybank:///{tmp_path_factory.mktemp('offline')}/memory?model=offline")
    yield service
    asyncio.run(service.close())


@pytest.mark.parametrize("kind", LONG)
async def test_200_kilobytes_offline(offline: MemoryBankService, kind: str) -> None:
    who: dict[str, Any] = {"app_name": "long", "user_id": kind}
    began = time.monotonic()
    await offline.add_session_to_memory(session(LONG[kind], event("My cat is called Tom.", time=4_000_000_000), **who))
    await one_operation(offline)
    found = texts(await offline.search_memory(**who, query="What is the cat called?"))
    assert time.monotonic() - began < 30
    assert found[0] == "My cat is called Tom."
    assert all(len(fact) <= 2_000 for fact in found)


async def test_a_memory_of_200_kilobytes(service: MemoryBankService) -> None:
    text = ("I like green tea. " * 12_000).strip()
    await service.add_memory(**WHO, memories=[entry(text)])
    assert texts(await service.search_memory(**WHO, query="tea")) == [text]


async def test_a_thousand_events_at_once(service: MemoryBankService, generator: ScriptedGenerator) -> None:
    events = [event(f"Fact {number}.", time=number) for number in range(1_000)]
    await service.add_session_to_memory(session(*events))
    operation = await one_operation(service)
    assert len(operation.generated_memories) == 1_000
    assert len(generator.extractions) == 1
    await service.add_session_to_memory(session(*events))
    assert await service.flush() == []
