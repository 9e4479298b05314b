"""Gemini's embedding models, through google-genai."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from adk_memorybank.errors import ModelUnavailable, is_passing
from adk_memorybank.retrieval.embedders import MAX_CHARACTERS, Vectors, checked_rows, pieces
from adk_memorybank.threads import DaemonExecutor

if TYPE_CHECKING:
    from google.genai import Client

_RESOURCE = re.compile(r"(?:projects/(?P<project>[^/]+)/locations/(?P<location>[^/]+)/)?(?:.*/)?(?P<model>[^/]+)")
_DIMENSIONS = {
    "text-embedding-004": 768,
    "text-embedding-005": 768,
    "text-multilingual-embedding-002": 768,
    "gemini-embedding-001": 3072,
}
_WAY_OUT = (
    "Set GOOGLE_API_KEY, or GOOGLE_GENAI_USE_VERTEXAI=true with GOOGLE_CLOUD_PROJECT, GOOGLE_CLOUD_LOCATION and"
    ' application default credentials; or take embedder="local", which needs none.'
)
_PREFIXES = {True: "task: search result | query: ", False: "title: none | text: "}
"""For queries and for documents, of models that take no task type but read the task in the text itself."""
_VERTEX_FLAGS = ("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE")  # the second is its newer name
_AT_ONCE = 8
_TEXTS = 100
"""In one request: as many as the Gemini API takes; Vertex AI takes 250."""
_CHARACTERS = 20_000
"""In one request: Vertex AI takes 20,000 tokens, and in some scripts each character is one."""
_DEADLINE = 60.0
"""Seconds for one request."""
_TRIES = {True: 3, False: 6}
"""For queries, whose caller waits, and for documents."""
_PAUSE = 0.5
"""Seconds; the pauses before further tries are random up to this, twice this, four times …"""
_LONGEST_PAUSE = 15.0


class GeminiEmbedder:
    """An embedding model of the Gemini API or of Vertex AI.

    With an API key in the environment it asks the Gemini API, otherwise Vertex AI: in the project and location that a
    full resource name gives, or the environment. The client is made when first used, on the loop that uses it.

    Args:
        name: `gemini-embedding-001`, or `projects/…/locations/…/publishers/google/models/text-embedding-005`.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        match = _RESOURCE.fullmatch(name)
        self._project = match["project"] if match else None
        self._location = match["location"] if match else None
        self._model = match["model"] if match else name
        self._dimension = _DIMENSIONS.get(self._model, 0)
        self._client: Client | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimension(self) -> int:
        return self._dimension

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """See `Embedder.embed`.

        A passing fault (429, 503, no connection) is tried again a few times, after growing pauses.

        Raises:
            ModelUnavailable: there are no credentials, they are refused, or there is no such model.
            APIError, TimeoutError: it was still in the way at the last try.
        """
        if not any(text.strip() for text in texts):
            return np.zeros((len(texts), self._dimension), np.float32)
        client = await self._client_here()
        # On Vertex AI these take one text at a time.
        alone = client.vertexai and ("gemini" in self._model or "maas" in self._model)
        batches = list(pieces(texts, count=1 if alone else _TEXTS, characters=_CHARACTERS))
        turn = asyncio.Semaphore(_AT_ONCE)

        async def ask(places: list[int]) -> Vectors:
            async with turn:
                return await self._ask_again(client, [texts[place][:MAX_CHARACTERS] for place in places], query=query)

        answers = await asyncio.gather(*(ask(places) for places in batches))
        vectors = np.zeros((len(texts), self._dimension), np.float32)
        for places, rows in zip(batches, answers, strict=True):
            vectors[places] = rows
        return vectors

    async def close(self) -> None:
        """Closes its connections, where it was used on this loop. It can be used again."""
        client = self._client
        if client is not None and self._loop is asyncio.get_running_loop():
            self._client = None
            await client.aio.aclose()
            client.close()

    async def _ask_again(self, client: Client, texts: list[str], *, query: bool) -> Vectors:
        tries = AsyncRetrying(
            retry=retry_if_exception(is_passing),
            wait=wait_random_exponential(multiplier=_PAUSE, max=_LONGEST_PAUSE),
            stop=stop_after_attempt(_TRIES[query]),
            reraise=True,
        )
        return await tries(self._ask, client, texts, query=query)

    async def _ask(self, client: Client, texts: list[str], *, query: bool) -> Vectors:
        from google.auth.exceptions import DefaultCredentialsError
        from google.genai.errors import APIError
        from google.genai.types import Content, EmbedContentConfig, Part

        config = EmbedContentConfig(task_type="RETRIEVAL_QUERY" if query else "RETRIEVAL_DOCUMENT")
        if "gemini-embedding-2" in self._model:
            config = EmbedContentConfig()
            texts = [_PREFIXES[query] + text for text in texts]
        # Each a content of its own: of plain strings some models would make one text of many parts.
        contents = [Content(role="user", parts=[Part(text=text)]) for text in texts]
        try:
            async with asyncio.timeout(_DEADLINE):
                answer = await client.aio.models.embed_content(  # pyright: ignore[reportUnknownMemberType]
                    model=self._model, contents=[*contents], config=config
                )
        except DefaultCredentialsError as error:
            raise self._unavailable(error) from error
        except APIError as error:
            if error.code in (401, 403, 404) or "API key" in str(error):
                raise self._unavailable(error) from error
            raise
        rows = [embedding.values for embedding in answer.embeddings or []]
        checked = checked_rows(rows, count=len(texts), dimension=self._dimension, name=self._name)
        self._dimension = checked.shape[1]
        return checked

    async def _client_here(self) -> Client:
        loop = asyncio.get_running_loop()
        client = self._client
        if client is None or self._loop is not loop:
            # On a thread, since looking for credentials may ask the machine's metadata server.
            executor = DaemonExecutor("adk_memorybank-gemini")
            client = await loop.run_in_executor(executor, self._make_client)
            self._client, self._loop = client, loop
        return client

    def _make_client(self) -> Client:
        from google import genai
        from google.auth.exceptions import DefaultCredentialsError

        key = os.environ.get("GOOGLE_API_KEY") or os.environ.get("GEMINI_API_KEY")
        vertex = any(os.environ.get(name, "").lower() in ("1", "true") for name in _VERTEX_FLAGS)
        try:
            if vertex or (self._project and not key):
                project = self._project or os.environ.get("GOOGLE_CLOUD_PROJECT")
                location = self._location or os.environ.get("GOOGLE_CLOUD_LOCATION") or "us-central1"
                return genai.Client(vertexai=True, project=project, location=location)
            if key:
                return genai.Client(vertexai=False, api_key=key)
        except (ValueError, DefaultCredentialsError) as error:
            raise self._unavailable(error) from error
        raise self._unavailable(None)

    def _unavailable(self, error: Exception | None) -> ModelUnavailable:
        reason = f": {error}" if error else ", since there are no credentials"
        return ModelUnavailable(f"the embedding model {self._name!r} can't be used here{reason}. {_WAY_OUT}")
