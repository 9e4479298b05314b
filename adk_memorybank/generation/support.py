"""Whether a model's fact has support in what it read, or comes from elsewhere."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Awaitable, Callable, Sequence

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from adk_memorybank.generation.generator import ExtractionRequest
from adk_memorybank.generation.lexicon import language
from adk_memorybank.generation.prompts import shown_texts
from adk_memorybank.generation.words import content, detect

Embed = Callable[[Sequence[str]], Awaitable[NDArray[float32]]]

NEAR = 0.35
"""Cosine of the local embedder from which a fact with few words in common counts as a paraphrase: paraphrases are
about .63, unrelated sentences .11."""
_MOST_SENTENCES = 400
"""Compared by meaning; a longer input is compared by its words and the sentences at its ends."""
_LONGEST_SENTENCE = 300
_BREAK = re.compile(r"(?<=[.!?。！？\n])\s*")
_WRITERS_OWN = frozenset(
    {"user", "assistant", "utente", "usuario", "utilisateur", "benutzer", "nutzer", "用户", "ユーザー"}
)


def same_text(text: str) -> str:
    """A spelling under which texts that differ in case, spaces and closing marks are equal."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).strip(" .!。！")


class Words:
    """Some texts, prepared to be compared with others by their words."""

    def __init__(self, texts: Sequence[str]) -> None:
        joined = "\n".join(texts)
        self._joined = joined.casefold()
        self.words = _content(joined)

    def missing(self, text: str) -> tuple[frozenset[str], frozenset[str]]:
        """The words of a text that say something, and those of them which are not here."""
        own = _content(text) - _WRITERS_OWN
        return own, frozenset(word for word in own if word not in self.words and word not in self._joined)

    def give(self, text: str) -> bool:
        """Whether at least half of what a text says is here."""
        own, missing = self.missing(text)
        return 2 * len(missing) <= len(own)

    def touch(self, text: str) -> bool:
        """Whether anything of what a text says is here."""
        own, missing = self.missing(text)
        return not own or len(missing) < len(own)


class Support:
    """What one extraction was given, prepared for comparison.

    Args:
        request: what the model read.
        embed: unit vectors for what shares few words with it.
    """

    def __init__(self, request: ExtractionRequest, embed: Embed) -> None:
        self._embed = embed
        self._texts = [turn.text for turn in request.turns]
        self._said = Words(self._texts)
        self._shown = Words(shown_texts(request)).words

    async def of(self, facts: Sequence[str]) -> list[bool]:
        """For each fact whether it is drawn from what was read, and not from the examples."""
        verdicts = [self._by_words(fact) for fact in facts]
        open_ones = [index for index, verdict in enumerate(verdicts) if verdict is None]
        sentences = _sentences(self._texts) if open_ones else []
        if sentences:
            vectors = await self._embed([facts[index] for index in open_ones] + sentences)
            nearest = np.max(vectors[: len(open_ones)] @ vectors[len(open_ones) :].T, axis=1)
            for index, near in zip(open_ones, nearest.tolist(), strict=True):
                verdicts[index] = near >= NEAR
        return [bool(verdict) for verdict in verdicts]

    def _by_words(self, fact: str) -> bool | None:
        """True or False where the words decide, None where meaning must."""
        own, missing = self._said.missing(fact)
        if not own:
            return None
        if missing and missing <= self._shown and 2 * len(missing) >= len(own):
            return False
        plain = {word for word in missing if not any(sign.isdigit() for sign in word)}  # dates are worked out
        return True if 2 * len(plain) <= len(own) else None


def _sentences(texts: Sequence[str]) -> list[str]:
    """What was said, in pieces that an embedder can compare with a fact."""
    found = [
        sentence[start : start + _LONGEST_SENTENCE]
        for text in texts
        for sentence in _BREAK.split(text)
        for start in range(0, len(sentence), _LONGEST_SENTENCE)
    ]
    found = [sentence for sentence in found if sentence.strip()]
    half = _MOST_SENTENCES // 2
    return found if len(found) <= _MOST_SENTENCES else [*found[:half], *found[-half:]]


def _content(text: str) -> frozenset[str]:
    return content(text, language(detect(text)))
