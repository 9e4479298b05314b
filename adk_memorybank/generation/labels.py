"""Which of the configured topics a statement fits."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from adk_memorybank.generation.attributes import profile
from adk_memorybank.generation.lexicon import Language, language
from adk_memorybank.generation.statements import Kind
from adk_memorybank.generation.topics import Example, Topic
from adk_memorybank.generation.words import content, detect

EXPLICIT = "EXPLICIT_INSTRUCTIONS"
# Cut-offs of the local embedder: paraphrases lie at .6 and above, unrelated sentences below .2; a
# sentence and the part of a description that it is an instance of, at .22 to .4.
_NEAR_TOPIC = 0.24
_NEAR_WITH_WORD = 0.12
_NEAR_EXAMPLE = 0.42
_LIKE_REFUSED = 0.62
_PREFERENCE_CLAIMS = ("diet", "favourite", "avoids", "allergy", "replies")
_PART = re.compile(r"[.,;:()\n]|\band\b|\bor\b|\bsuch as\b|\bthis includes\b|\bincluding\b|[、，。；]", re.IGNORECASE)
_TURN = re.compile(r"(?<=[.!?。！？])\s*|,\s+")
_COMMON = frozenset("user customer person people about specific information detail include".split())


def managed(fact: str, kind: Kind, lexicon: Language, names: frozenset[str], *, dated: bool) -> set[str]:
    """The managed topics among `names` that the statement fits, by rules.

    A mere preference is no personal information, and the other way round; what is neither a preference nor an event
    counts as personal.
    """
    claims = [claim.attribute.split(":")[0] for claim in profile(fact).claims]
    fits: set[str] = set()
    if lexicon.likes.search(fact) or any(claim in _PREFERENCE_CLAIMS for claim in claims):
        fits.add("USER_PREFERENCES")
    happened = dated or bool(lexicon.event.search(fact))
    if happened:
        fits.add("KEY_CONVERSATION_DETAILS")
    personal = [claim for claim in claims if claim not in ("favourite", "avoids", "replies")]
    if personal or (kind == "personal" and not fits):
        fits.add("USER_PERSONAL_INFO")
    if kind == "personal" and happened and "KEY_CONVERSATION_DETAILS" not in names and "USER_PREFERENCES" not in fits:
        fits.add("USER_PERSONAL_INFO")  # with no topic for events, what happened to the user is about them
    if kind == "personal" and "USER_PREFERENCES" not in fits:
        fits.add("USER_PERSONAL_INFO")
    if not fits:
        fits.add("KEY_CONVERSATION_DETAILS")
    return fits & names


class Measure:
    """Nearness of statements to custom topics and to the examples, in the vectors of one embed call.

    Attributes:
        texts: what has to be embedded besides the statements: parts of the topics' descriptions, and the examples.
    """

    def __init__(self, topics: Sequence[Topic], examples: Sequence[Example]) -> None:
        self.custom = [topic for topic in topics if topic.custom]
        self.texts: list[str] = []
        self._topic_rows: dict[str, list[int]] = {topic.name: [] for topic in self.custom}
        self._example_rows: dict[str, list[int]] = {topic.name: [] for topic in self.custom}
        self._refused: list[int] = []
        self._accepted: list[int] = []
        self._words: dict[str, frozenset[str]] = {}
        for topic in self.custom:
            label = topic.name.replace("_", " ").replace("-", " ")
            text = f"{label}. {topic.description}"
            self._words[topic.name] = content(text, language(detect(topic.description))) - _COMMON
            for part in (topic.description, *_PART.split(text)):
                self._add(part, self._topic_rows[topic.name])
        for example in examples:
            self._learn(example)

    def _add(self, text: str, rows: list[int]) -> None:
        text = " ".join(text.split())
        if any(sign.isalnum() for sign in text):
            rows.append(len(self.texts))
            self.texts.append(text[:500])

    def _learn(self, example: Example) -> None:
        said = [part for role, text in example.turns if role == "user" for part in (text, *_telling(text))]
        if not example.facts:
            for text in said:
                self._add(text, self._refused)
            return
        labels = {label for _, topics in example.facts for label in topics if label in self._example_rows}
        everywhere = labels or set(self._example_rows)
        for fact, topics in example.facts:
            for name in [label for label in topics if label in self._example_rows] or everywhere:
                self._add(fact, self._example_rows[name])
            self._add(fact, self._accepted)
        for text in said:
            self._add(text, self._accepted)
            for name in everywhere:
                self._add(text, self._example_rows[name])

    def fits(self, statement: str, vector: NDArray[float32], rows: NDArray[float32], lexicon: Language) -> set[str]:
        """The custom topics that the statement fits.

        Args:
            statement: its text.
            vector: its unit vector.
            rows: the unit vectors of `texts`.
        """
        near = rows @ vector
        words = content(statement, lexicon)
        found: set[str] = set()
        for topic in self.custom:
            nearest = _highest(near, self._topic_rows[topic.name])
            shown = _highest(near, self._example_rows[topic.name])
            shares = bool(words & self._words[topic.name])
            if nearest >= _NEAR_TOPIC or (shares and nearest >= _NEAR_WITH_WORD) or shown >= _NEAR_EXAMPLE:
                found.add(topic.name)
        return found

    def is_refused(self, vector: NDArray[float32], rows: NDArray[float32]) -> bool:
        """Whether the statement is like what the examples show as not worth keeping, and not like what they keep."""
        near = rows @ vector
        refused = _highest(near, self._refused)
        return refused >= _LIKE_REFUSED and refused > _highest(near, self._accepted)


def _telling(text: str) -> list[str]:
    """The sentences of a turn that show something: a "Hey." is near to every short sentence."""
    lexicon = language(detect(text))
    return [part for part in _TURN.split(text) if len(content(part, lexicon)) > 1]


def _highest(near: NDArray[float32], rows: list[int]) -> float:
    return float(np.max(near[rows])) if rows else -1.0
