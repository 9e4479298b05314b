"""Doubles for tests: of the model, of the embedder, of the clock, and a bank that leaves nothing behind."""

from __future__ import annotations

import asyncio
import hashlib
import json
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import numpy as np
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from numpy import float32
from numpy.typing import NDArray
from pydantic import PrivateAttr

from adk_memorybank.banks import MemoryBanks
from adk_memorybank.generation.generator import (
    ConsolidationRequest,
    Decision,
    ExtractedFact,
    Extraction,
    ExtractionRequest,
)
from adk_memorybank.retrieval.words import tokens

__all__ = ["HashEmbedder", "ManualClock", "ScriptedGenerator", "ScriptedLlm", "temporary_banks"]


class ManualClock:
    """A clock that stands still until it is moved.

    Args:
        now: where it begins; noon of 1 January 2026 by default.
    """

    def __init__(self, now: datetime | None = None) -> None:
        self._now = now or datetime(2026, 1, 1, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self._now

    def advance(self, span: timedelta) -> None:
        """Moves on, or back with a negative span."""
        self._now += span


class HashEmbedder:
    """An embedder without a model: texts with common words are near, and nothing else is.

    Args:
        dimension: of the vectors.

    Attributes:
        texts: all that were embedded, in order.
    """

    def __init__(self, *, dimension: int = 64) -> None:
        self._dimension = dimension
        self.texts: list[str] = []

    @property
    def name(self) -> str:
        return f"hash-{self._dimension}"

    @property
    def dimension(self) -> int:
        return self._dimension

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[float32]:
        """(n, dimension) unit rows; zero for a text without words."""
        if not query:
            self.texts.extend(texts)
        rows = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for token in tokens(text):
                digest = hashlib.blake2b(token.encode(), digest_size=8).digest()
                row[int.from_bytes(digest[:4]) % self._dimension] += 1 if digest[4] % 2 else -1
            length = float(np.linalg.norm(row))
            if length:
                row /= length
        return rows


Answer = (
    str
    | dict[str, Any]
    | list[Any]
    | types.Part
    | types.Content
    | LlmResponse
    | BaseException
    | Callable[[LlmRequest], Any]
)


class ScriptedLlm(BaseLlm):
    """An ADK model that answers by a script.

    Args:
        answers: one for each call, in order: a text, something to be written as JSON, a part, a content or a whole
            response, an error to be raised, or a function of the request that gives one of these (or awaits one).
            The last one is given again when the script has ended, if `repeat` is set; else a further call is an
            `AssertionError`.
        repeat: go on with the last answer.

    Attributes:
        requests: all that was asked, in order.
    """

    model: str = "scripted"
    repeat: bool = False
    _answers: list[Answer] = PrivateAttr(default_factory=list)
    _requests: list[LlmRequest] = PrivateAttr(default_factory=list)

    def __init__(self, answers: Iterable[Answer] = (), **fields: Any) -> None:
        super().__init__(**{"model": "scripted", **fields})
        self._answers = list(answers)

    @property
    def requests(self) -> list[LlmRequest]:
        return self._requests

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Gives the next answer as the whole response."""
        self._requests.append(llm_request)
        answer = self._next()
        if callable(answer) and not isinstance(answer, BaseException):
            answer = answer(llm_request)
            if asyncio.iscoroutine(answer):
                answer = await answer
        if isinstance(answer, BaseException):
            raise answer
        yield _response(answer)

    def _next(self) -> Any:
        if not self._answers:
            raise AssertionError("the script has no answer for a further call")
        last = self.repeat and len(self._answers) == 1
        return self._answers[0] if last else self._answers.pop(0)


def _response(answer: Any) -> LlmResponse:
    if isinstance(answer, LlmResponse):
        return answer
    if isinstance(answer, types.Content):
        return LlmResponse(content=answer)
    if isinstance(answer, types.Part):
        return LlmResponse(content=types.Content(role="model", parts=[answer]))
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]))


class ScriptedGenerator:
    """A generator that keeps every sentence of the user's as a fact, save where its script says otherwise.

    Args:
        script: for each extraction, in order, an error to raise, a number of seconds to wait before going on, or
            None. After the script has ended every extraction goes on.

    Attributes:
        extractions: the texts of the new turns of each extraction, in order.
        consolidations: how often it was asked to consolidate.
    """

    name = "scripted"
    reads_media = False

    def __init__(self, script: Iterable[BaseException | float | None] = ()) -> None:
        self._script = list(script)
        self.extractions: list[list[str]] = []
        self.consolidations = 0

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """One fact for each of the user's new turns."""
        self.extractions.append([turn.text for turn in request.turns if turn.new])
        step = self._script.pop(0) if self._script else None
        if isinstance(step, BaseException):
            raise step
        if step is not None:
            await asyncio.sleep(step)
        return Extraction(
            [
                ExtractedFact(turn.text, (request.topics[0].name,), (index,), time=turn.time)
                for index, turn in enumerate(request.turns)
                if turn.new and turn.role == "user" and request.topics
            ]
        )

    async def consolidate(self, request: ConsolidationRequest) -> list[Decision]:
        """The same text again updates, any other creates."""
        self.consolidations += 1
        known = {candidate.fact: place for place, candidate in enumerate(request.candidates)}
        decisions: dict[str, Decision] = {}
        for index, fact in enumerate(request.facts):
            earlier = decisions.get(fact.fact)
            place = known.get(fact.fact)
            decisions[fact.fact] = Decision(
                action="create" if place is None else "update",
                facts=(index,) if earlier is None else (*earlier.facts, index),
                candidate=place,
                fact=fact.fact,
                topics=fact.topics,
            )
        return list(decisions.values())


@asynccontextmanager
async def temporary_banks(**options: Any) -> AsyncGenerator[MemoryBanks]:
    """Banks in a folder that is removed afterwards: the real store, with nothing of it left behind.

    Args:
        options: keywords of `MemoryBanks`. `model="offline"` and a `HashEmbedder` by default.
    """
    chosen = {"model": "offline", "embedder": HashEmbedder(), **options}
    with tempfile.TemporaryDirectory(prefix="adk-memorybank-", ignore_cleanup_errors=True) as folder:
        banks = MemoryBanks(f"memorybank:///{folder}", **cast("dict[str, Any]", chosen))
        try:
            yield banks
        finally:
            await banks.close()
