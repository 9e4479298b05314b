"""Pictures and files: shown to a model that looks at them, else passed over and named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from google.genai import types

from adk_memorybank.testing import ScriptedLlm, temporary_banks

SCOPE = {"user_id": "1"}
PICTURE = b"\x89PNG not really, and long enough to be found in a file"


def shown(*parts: types.Part, event_id: str = "e1") -> dict[str, Any]:
    return {"event_id": event_id, "content": types.Content(role="user", parts=list(parts))}


def picture() -> types.Part:
    return types.Part(inline_data=types.Blob(data=PICTURE, mime_type="image/png"))


def answer(fact: str) -> dict[str, Any]:
    return {"facts": [{"fact": fact, "topic": "USER_PERSONAL_INFO", "event": 1, "action": "create"}]}


async def test_a_model_gets_text_picture_and_file_in_one_request() -> None:
    llm = ScriptedLlm([answer("I have a grey cat.")])
    file = types.Part(file_data=types.FileData(file_uri="gs://bucket/cat.pdf", mime_type="application/pdf"))
    async with temporary_banks(model=llm) as banks:
        bank = await banks.create()
        operation = await bank.generate(scope=SCOPE, events=[shown(types.Part(text="This is Tom."), picture(), file)])
    [request] = llm.requests
    parts = request.contents[0].parts or []
    assert "This is Tom." in (parts[0].text or "")
    assert [part.text for part in parts[1:] if part.text] == ["Shown with event 1:"] * 2
    assert parts[2].inline_data == types.Blob(data=PICTURE, mime_type="image/png")
    assert parts[4].file_data == file.file_data
    # What was read off the picture has no word in common with the text, and is kept all the same.
    assert [change.memory.fact for change in operation.generated_memories] == ["I have a grey cat."]
    assert operation.passed_over == []


async def test_an_event_that_only_shows_something_is_read() -> None:
    llm = ScriptedLlm([answer("I own a red bicycle.")])
    async with temporary_banks(model=llm) as banks:
        bank = await banks.create()
        await bank.generate(scope=SCOPE, events=[shown(picture())])
        assert [memory.fact for memory in await bank.list()] == ["I own a red bicycle."]


async def test_a_picture_is_not_kept_once_it_was_read(tmp_path: Path) -> None:
    llm = ScriptedLlm([answer("I have a grey cat.")])
    async with temporary_banks(model=llm) as banks:
        bank = await banks.create()
        await bank.ingest_events(scope=SCOPE, events=[shown(types.Part(text="My cat."), picture())])
        for operation in await bank.operations.list():
            await bank.operations.wait([operation.name])
        engine = banks.engine

        async def contents() -> list[Any]:
            async with engine.database.read() as connection:
                return [row[0] for row in await connection.exec_driver_sql("SELECT content FROM events")]

        assert await engine.call(contents()) == ['["My cat."]']


async def test_offline_passes_it_over_and_says_so() -> None:
    async with temporary_banks(model="offline") as banks:
        bank = await banks.create()
        operation = await bank.generate(scope=SCOPE, events=[shown(types.Part(text="I have a cat."), picture())])
    assert [(entry.kind, entry.count) for entry in operation.passed_over] == [("inline_data image/png", 1)]
    assert [change.memory.fact for change in operation.generated_memories] == ["I have a cat."]


async def test_a_huge_picture_is_passed_over_by_name() -> None:
    huge = types.Part(inline_data=types.Blob(data=b"x" * 8_000_001, mime_type="image/png"))
    async with temporary_banks(model=ScriptedLlm([{"facts": []}])) as banks:
        bank = await banks.create()
        operation = await bank.generate(scope=SCOPE, events=[shown(types.Part(text="Look."), huge)])
    assert [entry.kind for entry in operation.passed_over] == ["inline_data image/png over 8 MB"]
