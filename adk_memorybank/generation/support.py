"""Whether a model's fact has support in what it read, or comes from elsewhere."""

from __future__ import annotations

import unicodedata
from collections.abc import Awaitable, Callable, Sequence

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from adk_memorybank.generation.generator import ExtractionRequest
from adk_memorybank.generation.lexicon import language
from adk_memorybank.generation.prompts import shown_examples
from adk_memorybank.generation.words import content, detect

Embed = Callable[[Sequence[str]], Awaitable[NDArray[float32]]]

NEAR = 0.35
"""Cosine of the local embedder from which a fact without a word in common counts as a paraphrase: paraphrases are
about .63, unrelated sentences .11."""
_WRITERS_OWN = frozenset(
    {"user", "assistant", "utente", "usuario", "utilisateur", "benutzer", "nutzer", "用户", "ユーザー"}
)


def same_text(text: str) -> str:
    """A spelling under which texts that differ in case, spaces and closing marks are equal."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).strip(" .!。！")


class Support:
    """What one extraction was given, prepared for comparison.

    Args:
        request: what the model read.
        embed: unit vectors for what shares no word with it.
    """

    def __init__(self, request: ExtractionRequest, embed: Embed) -> None:
        self._embed = embed
        self._sentences = [turn.text[:2000] for turn in request.turns]
        said = "\n".join(turn.text for turn in request.turns)
        self._said = said.casefold()
        self._words = _content(said)
        examples = shown_examples(request)
        shown = [text for example in examples for _, text in example.turns]
        shown += [fact for example in examples for fact, _ in example.facts]
        self._shown = _content("\n".join(shown))

    async def of(self, facts: Sequence[str]) -> list[bool]:
        """For each fact whether it is drawn from what was read, and not from the examples."""
        verdicts = [self._by_words(fact) for fact in facts]
        open_ones = [index for index, verdict in enumerate(verdicts) if verdict is None]
        if open_ones:
            vectors = await self._embed([facts[index] for index in open_ones] + self._sentences)
            nearest = np.max(vectors[: len(open_ones)] @ vectors[len(open_ones) :].T, axis=1)
            for index, near in zip(open_ones, nearest.tolist(), strict=True):
                verdicts[index] = near >= NEAR
        return [bool(verdict) for verdict in verdicts]

    def _by_words(self, fact: str) -> bool | None:
        """True or False where the words decide, None where meaning must."""
        own = _content(fact) - _WRITERS_OWN
        if not own:
            return None
        missing = {word for word in own if word not in self._words and word not in self._said}
        if missing and missing <= self._shown and 2 * len(missing) >= len(own):
            return False
        return None if len(missing) == len(own) else True


def _content(text: str) -> frozenset[str]:
    return content(text, language(detect(text)))
