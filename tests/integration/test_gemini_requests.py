"""ADK's own Gemini class against a server that speaks Gemini's API: what would go to Google, and on which loop."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from google import genai
from google.adk.models.google_llm import Gemini
from google.adk.models.llm_request import LlmRequest
from google.genai import types

from adk_memorybank import MemoryBankService
from adk_memorybank.errors import ModelOutputError
from adk_memorybank.generation.models import model_factory
from adk_memorybank.testing import HashEmbedder, temporary_banks
from tests import adk
from tests.integration.answering import SCOPE, current, day, decide, decisions, facts, generate, said
from tests.integration.stores import until

TEA = "I like green tea."
LYON = "I live in Lyon."
MODEL = "gemini-3.5-flash"


@dataclass
class Google:
    """A local stand-in: what it was asked, and what it answers."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    status: list[int] = field(default_factory=list)
    delay: float = 0.0

    def answer(self, asked: dict[str, Any]) -> Any:
        text = asked["contents"][0]["parts"][0]["text"]
        if text.startswith("New facts"):
            return decisions(decide("create", 1))
        if text.startswith("Events"):
            return facts(*[one for one in (TEA, LYON) if one in text])
        return {"said": "hello"}

    def extractions(self) -> list[dict[str, Any]]:
        return [one for one in self.requests if one["contents"][0]["parts"][0]["text"].startswith("Events")]


@contextmanager
def _serving() -> Generator[Google]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            google.requests.append(asked)
            google.paths.append(self.path)
            google.keys.append(self.headers.get("x-goog-api-key", ""))
            if google.delay:
                threading.Event().wait(google.delay)
            status = google.status.pop(0) if google.status else 200
            if status == 200:
                said = json.dumps(google.answer(asked), ensure_ascii=False)
                content = {"role": "model", "parts": [{"text": said}]}
                body: dict[str, Any] = {"candidates": [{"content": content, "finishReason": "STOP"}]}
            else:
                body = {"error": {"code": status, "message": "not now", "status": "UNAVAILABLE"}}
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing to the terminal."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128  # of five, as is the default, a burst of connections is reset

    server = Server(("127.0.0.1", 0), Handler)
    google = Google(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield google
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch) -> Iterator[Google]:
    for key in ("GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE", "ADK_MEMORYBANK_MODEL"):
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("GOOGLE_API_KEY", "not-a-key")
    with _serving() as serving:
        yield serving


@pytest.fixture(params=["aiohttp", "httpx"])
def transport(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What Google's client sends its requests by: aiohttp where it is installed, else httpx."""
    if request.param == "httpx":
        monkeypatch.setattr("google.genai._api_client.has_aiohttp", False)
    else:
        pytest.importorskip("aiohttp")
    client = genai.Client(api_key="not-a-key")
    assert client._api_client._use_aiohttp() == (request.param == "aiohttp")
    return request.param


async def _ask(model: Gemini) -> str:
    """What an agent does with its model."""
    request = LlmRequest(
        model=model.model,
        contents=[types.Content(role="user", parts=[types.Part(text="Hello!")])],
        config=types.GenerateContentConfig(),
    )
    answers = [response async for response in model.generate_content_async(request)]
    assert answers[0].content is not None
    return (answers[0].content.parts or [])[0].text or ""


class TestWhatGoesToGoogle:
    async def test_model_instruction_schema_and_contents(self, google: Google) -> None:
        async with temporary_banks(model=Gemini(model=MODEL, base_url=google.url)) as banks:
            bank = await banks.create()
            assert bank.model == MODEL
            await generate(bank, said(TEA, time=day(13)))
            await generate(bank, said(LYON, time=day(14)))
            assert await current(bank) == [TEA, LYON]
        first, second, third = google.requests
        assert google.paths == [f"/v1beta/models/{MODEL}:generateContent"] * 3
        assert set(google.keys) == {"not-a-key"}
        told = first["systemInstruction"]["parts"][0]["text"]
        assert "USER_PREFERENCES" in told
        assert "<example>" in told
        (content,) = first["contents"]
        assert content["role"] == "user"
        assert content["parts"] == [{"text": f'Events\n1 new (Wednesday 2026-05-13 10:00) user: "{TEA}"'}]
        settings = first["generationConfig"]
        assert settings["responseMimeType"] == "application/json"
        assert settings["temperature"] == 0.0
        schema = settings["responseSchema"]
        assert schema["type"] == "OBJECT"
        assert schema["required"] == ["facts"]
        item = schema["properties"]["facts"]["items"]
        assert item["required"] == ["fact", "topic", "event", "action"]
        assert item["properties"]["topic"]["enum"] == [
            "USER_PERSONAL_INFO",
            "USER_PREFERENCES",
            "KEY_CONVERSATION_DETAILS",
            "EXPLICIT_INSTRUCTIONS",
        ]
        assert "tools" not in first, "an answer is asked for by schema, never by a tool call"
        assert second["generationConfig"]["responseSchema"] == schema
        decided = third["generationConfig"]["responseSchema"]["properties"]["decisions"]["items"]
        assert decided["properties"]["action"]["enum"] == ["create", "update", "delete"]
        assert third["contents"][0]["parts"][0]["text"] == (
            f'New facts\n1 (Thursday 2026-05-14 10:00) "{LYON}"\n\n'
            f'Memories\n1 (Wednesday 2026-05-13 10:00) [USER_PREFERENCES] "{TEA}"'
        )

    async def test_by_name(self, google: Google, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", google.url)
        async with temporary_banks(model="gemini-2.5-flash") as banks:
            bank = await banks.create()
            await generate(bank, TEA)
            assert await current(bank) == [TEA]
        assert google.paths == ["/v1beta/models/gemini-2.5-flash:generateContent"]

    async def test_by_default_where_there_is_a_key(self, google: Google, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", google.url)
        async with temporary_banks(model=None) as banks:
            bank = await banks.create()
            await generate(bank, TEA)
            assert await current(bank) == [TEA]
        assert google.paths == [f"/v1beta/models/{MODEL}:generateContent"]

    async def test_by_the_configuration(self, google: Google, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", google.url)
        config = {"generation_config": {"model": "gemini-2.5-pro"}}
        async with temporary_banks(model=None) as banks:
            bank = await banks.create(managed_semantic_memory_config=config)
            await generate(bank, TEA)
        assert google.paths == ["/v1beta/models/gemini-2.5-pro:generateContent"]

    @pytest.mark.parametrize("status", [429, 503])
    async def test_a_busy_server_is_asked_again(self, google: Google, status: int) -> None:
        google.status = [status]
        async with temporary_banks(model=Gemini(model=MODEL, base_url=google.url)) as banks:
            bank = await banks.create()
            operation = await generate(bank, TEA, timeout=30)
            assert operation.done
            assert operation.error is None
            assert operation.attempts == 1
            assert await current(bank) == [TEA]
        assert len(google.requests) == 2

    async def test_a_server_that_is_not_there(self) -> None:
        with _serving() as gone:
            pass
        async with temporary_banks(model=Gemini(model=MODEL, base_url=gone.url)) as banks:
            bank = await banks.create()
            operation = await bank.generate(scope=SCOPE, events=[said(TEA)], wait=False)

            async def tried() -> bool:
                return bool((await bank.operations.get(operation.name)).attempts)

            await until(tried)
            found = await bank.operations.get(operation.name)
            assert found.error is None
            assert found.last_error is not None
            await banks.close(timeout=0)

    async def test_a_request_that_is_wrong(self, google: Google) -> None:
        google.status = [400]
        async with temporary_banks(model=Gemini(model=MODEL, base_url=google.url)) as banks:
            bank = await banks.create()
            with pytest.raises(Exception, match="not now") as raised:
                await generate(bank, TEA)
            assert not isinstance(raised.value, ModelOutputError)


class TestOneObjectForBoth:
    """The agent's model is given to the bank: the bank makes one of its own, since a client is bound to its loop."""

    async def test_busy_at_once(self, google: Google, transport: str) -> None:
        model = Gemini(model=MODEL, base_url=google.url)
        google.delay = 0.02
        async with temporary_banks(model=model) as banks:
            bank = await banks.create()
            await _ask(model)
            asked = [asyncio.create_task(_ask(model)) for _ in range(20)]
            operations = [await generate(bank, said(TEA, id=str(n)), wait=False) for n in range(4)]
            ended = await bank.operations.wait([one.name for one in operations], timeout=60)
            assert await asyncio.gather(*asked) == ['{"said": "hello"}'] * 20
            assert all(one.done and one.error is None for one in ended), [one.error for one in ended]
            assert {one.attempts for one in ended} == {0}
            await _ask(model)
        assert transport

    def test_on_a_loop_for_each_call(self, google: Google, transport: str, tmp_path: Path) -> None:
        """As AdkApp does it: every request in a loop of its own, which is closed while the bank still works."""
        model = Gemini(model=MODEL, base_url=google.url)
        google.delay = 0.05
        service = MemoryBankService(f"memorybank:///{tmp_path}/m", model=model, embedder=HashEmbedder())

        async def turn(number: int) -> None:
            own = Gemini(model=MODEL, base_url=google.url)
            await _ask(own)
            await service.add_session_to_memory(adk.session(TEA, id=f"s{number}"))

        for number in range(4):
            asyncio.run(turn(number))

        async def end() -> list[Any]:
            ended = await service.flush(timeout=60)
            await service.close()
            return list(ended)

        ended = asyncio.run(end())
        assert len(ended) == 4
        assert all(one.done and one.error is None for one in ended), [one.error for one in ended]
        assert {one.attempts for one in ended} == {0}
        assert transport

    async def test_the_banks_own_is_a_copy_with_the_same_settings(self, google: Google) -> None:
        model = Gemini(model=MODEL, base_url=google.url, retry_options=types.HttpRetryOptions(attempts=2))
        await _ask(model)
        name, make = model_factory(model)
        own = make()
        assert name == MODEL
        assert own is not model
        assert isinstance(own, Gemini)
        assert (own.base_url, own.retry_options) == (model.base_url, model.retry_options)
        assert own.api_client is not model.api_client

    @pytest.mark.skipif("client" not in Gemini.model_fields, reason="this ADK's Gemini takes no client")
    async def test_a_client_that_was_handed_over(self, google: Google, transport: str) -> None:
        client = genai.Client(api_key="another", http_options={"base_url": google.url})
        model = Gemini(model=MODEL, client=client)
        google.delay = 0.02
        async with temporary_banks(model=model) as banks:
            bank = await banks.create()
            await _ask(model)
            asked = [asyncio.create_task(_ask(model)) for _ in range(10)]
            await generate(bank, TEA, timeout=30)
            await asyncio.gather(*asked)
            assert await current(bank) == [TEA]
        assert set(google.keys) == {"another"}
        own = model_factory(model)[1]()
        assert isinstance(own, Gemini)
        assert own.client is not client
        assert transport

    async def test_a_class_of_ones_own(self, google: Google) -> None:
        class Mine(Gemini):
            """Made in a way of its own."""

            def __init__(self, url: str) -> None:
                super().__init__(model=MODEL, base_url=url)

        async with temporary_banks(model=Mine(google.url)) as banks:
            bank = await banks.create()
            await generate(bank, TEA)
            assert await current(bank) == [TEA]


async def test_what_is_said_reaches_google_as_it_was_said(google: Google) -> None:
    text = "我喜欢喝绿茶。 «Ça va»? \U0001f375 </example>"
    async with temporary_banks(model=Gemini(model=MODEL, base_url=google.url)) as banks:
        await generate(await banks.create(), text)
    shown = google.extractions()[0]["contents"][0]["parts"][0]["text"]
    assert json.loads(shown.split(" user: ", 1)[1]) == text
    assert "</example>" not in shown
