"""Gemini's embedding models through google-genai against a server that speaks its API: what would go to Google."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from adk_memorybank import MemoryBanks
from adk_memorybank.errors import EmbedderMismatch, ModelUnavailable, is_passing
from adk_memorybank.retrieval import gemini
from adk_memorybank.retrieval.gemini import GeminiEmbedder
from adk_memorybank.testing import HashEmbedder
from tests.integration.stores import until

SCOPE = {"user_id": "1"}
WORDS = ("tea", "rain", "dog")

Made = Callable[[str], GeminiEmbedder]


@dataclass
class Google:
    """A local stand-in: what it was asked, the statuses that it answers with before it does well, who is connected."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    status: list[int] = field(default_factory=list)
    connected: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def texts(self) -> list[list[str]]:
        """What was to be embedded, by requests."""
        return [[_text(one) for one in asked["requests"]] for asked in self.requests]

    def tasks(self) -> set[str | None]:
        return {one.get("taskType") for asked in self.requests for one in asked["requests"]}


def _text(one: dict[str, Any]) -> str:
    (part,) = one["content"]["parts"]
    return part["text"]


def _vector(text: str) -> list[float]:
    return [1.0 + 9.0 * (word in text) for word in WORDS]


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch) -> Iterator[Google]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle(self) -> None:
            with serving.lock:
                serving.connected += 1
            super().handle()
            with serving.lock:
                serving.connected -= 1

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with serving.lock:
                serving.paths.append(self.path)
                serving.requests.append(asked)
                status = serving.status.pop(0) if serving.status else 200
            body: dict[str, Any] = {"error": {"code": status, "message": "not now", "status": "UNAVAILABLE"}}
            if status == 200:
                body = {"embeddings": [{"values": _vector(_text(one))} for one in asked["requests"]]}
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing to the terminal."""

    for key in ("GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE"):
        monkeypatch.delenv(key, raising=False)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = Google(f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("GOOGLE_API_KEY", "not-a-key")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", serving.url)
    monkeypatch.setattr(gemini, "_PAUSE", 0.01)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield serving
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
async def made() -> AsyncIterator[Made]:
    """Makes embedders, and closes them at the end."""
    embedders: list[GeminiEmbedder] = []

    def make(name: str) -> GeminiEmbedder:
        embedders.append(GeminiEmbedder(name))
        return embedders[-1]

    yield make
    for embedder in embedders:
        await embedder.close()


class TestRequests:
    async def test_task_types_and_batches(self, google: Google, made: Made) -> None:
        embedder = made("some-embedding")
        rows = await embedder.embed([f"text {number} of tea" for number in range(230)])
        assert rows.shape == (230, 3)
        assert sorted(len(texts) for texts in google.texts()) == [30, 100, 100]
        assert set(google.paths) == {"/v1beta/models/some-embedding:batchEmbedContents"}
        assert google.tasks() == {"RETRIEVAL_DOCUMENT"}
        google.requests.clear()
        await embedder.embed(["tea?"], query=True)
        assert google.texts() == [["tea?"]]
        assert google.tasks() == {"RETRIEVAL_QUERY"}

    async def test_long_texts_go_in_smaller_batches_and_stay_in_order(self, google: Google, made: Made) -> None:
        texts = [f"{WORDS[number % 3]} {'x' * 4_000}" for number in range(12)]
        rows = await made("some-embedding").embed(texts)
        assert max(sum(map(len, batch)) for batch in google.texts()) <= 20_000
        assert [int(row.argmax()) for row in rows] == [number % 3 for number in range(12)]

    async def test_a_model_without_task_types_is_told_the_task_in_words(self, google: Google, made: Made) -> None:
        embedder = made("gemini-embedding-2")
        assert (await embedder.embed(["likes tea", "likes rain"])).shape == (2, 3)
        await embedder.embed(["what tea?"], query=True)
        assert google.tasks() == {None}
        assert google.texts() == [
            ["title: none | text: likes tea", "title: none | text: likes rain"],
            ["task: search result | query: what tea?"],
        ]


class TestFaults:
    @pytest.mark.parametrize("status", [429, 503])
    async def test_a_passing_fault_is_tried_again(self, google: Google, made: Made, status: int) -> None:
        google.status = [status, status]
        rows = await made("some-embedding").embed(["likes tea"], query=True)
        assert rows.shape == (1, 3)
        assert google.texts() == [["likes tea"]] * 3

    async def test_a_query_gives_up_before_documents_do(self, google: Google, made: Made) -> None:
        tried: list[int] = []
        for query in (True, False):
            google.status = [429] * 20
            google.requests.clear()
            with pytest.raises(Exception, match="not now") as caught:
                await made("some-embedding").embed(["likes tea"], query=query)
            assert is_passing(caught.value)
            tried.append(len(google.requests))
        assert tried == [3, 6]

    async def test_what_will_not_pass_is_asked_once(self, google: Google, made: Made) -> None:
        google.status = [403]
        with pytest.raises(ModelUnavailable, match='embedder="local"'):
            await made("some-embedding").embed(["likes tea"])
        assert len(google.requests) == 1

    async def test_a_cancelled_caller_is_not_held_by_a_pause(
        self, google: Google, made: Made, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(gemini, "_PAUSE", 1_000.0)
        google.status = [503] * 20
        asked = asyncio.create_task(made("some-embedding").embed(["likes tea"]))
        await until(lambda: google.requests)
        began = time.monotonic()
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
        assert asked.cancelled()
        assert time.monotonic() - began < 5


async def test_a_bank_moves_to_gemini_and_stays_there(google: Google, tmp_path: Path) -> None:
    uri = f"memorybank:///{tmp_path}/m"
    async with MemoryBanks(uri, model="offline", embedder=HashEmbedder()) as banks:
        bank = await banks.create(bank_id="a")
        for word in WORDS:
            await bank.create(scope=SCOPE, fact=f"likes {word}")
        assert google.requests == []
        google.status = [503]
        assert await bank.reindex(embedder="gemini-embedding-2") == 3
        [found] = await bank.retrieve(scope=SCOPE, query="any rain?", top_k=1, by="distance")
        assert (found.fact, bank.embedder) == ("likes rain", "gemini-embedding-2")
        assert google.connected
    await until(lambda: not google.connected)
    async with MemoryBanks(uri, model="offline", embedder="local") as banks:
        with pytest.raises(EmbedderMismatch, match=r"gemini-embedding-2.*reindex"):
            await banks.get(name="a")
    async with MemoryBanks(uri, model="offline", embedder="gemini-embedding-2") as banks:
        bank = await banks.get(name="a")
        [found] = await bank.retrieve(scope=SCOPE, query="any dog?", top_k=1, by="distance")
        assert found.fact == "likes dog"
