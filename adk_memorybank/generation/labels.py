"""Which of the configured topics a statement fits."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy import float32, float64
from numpy.typing import NDArray

from adk_memorybank.generation.attributes import Claim
from adk_memorybank.generation.lexicon import Language, language
from adk_memorybank.generation.topics import MANAGED_TOPICS, Example, Topic
from adk_memorybank.generation.words import content, detect

EXPLICIT = "EXPLICIT_INSTRUCTIONS"
# Cut-offs of the local embedder: paraphrases lie at .6 and above, unrelated sentences below .2; a
# sentence and the part of a description that it is an instance of, at .22 to .4.
_NEAR_TOPIC = 0.24
_NEAR_WITH_WORD = 0.12
_NEAR_EXAMPLE = 0.42
_LIKE_REFUSED = 0.62
_LIKELY = 0.5
_POSSIBLE = 0.2
_PREFERENCES = frozenset(("favourite", "avoids", "replies", "diet"))
_IS_PERSONAL, _IS_PREFERENCE = (
    np.array([name == one for name in MANAGED_TOPICS]) for one in ("USER_PERSONAL_INFO", "USER_PREFERENCES")
)
_PART = re.compile(r"[.,;:()\n]|\band\b|\bor\b|\bsuch as\b|\bthis includes\b|\bincluding\b|[、，。；]", re.IGNORECASE)
_TURN = re.compile(r"(?<=[.!?。！？])\s*|,\s+")
_COMMON = frozenset("user customer person people about specific information detail include".split())


def managed(claims: Sequence[Claim], fitting: NDArray[float64], names: frozenset[str]) -> set[str]:
    """The managed topics among `names` that a statement fits: the likeliest one, and whatever else is likely.

    Args:
        claims: the attributes that rules found in it; they are surer than what was trained.
        fitting: how likely each managed topic is, as `judge` says.
    """
    attributes = {claim.attribute.split(":")[0] for claim in claims}
    if attributes - _PREFERENCES:
        fitting = np.where(_IS_PERSONAL, 1.0, fitting)
    if attributes & _PREFERENCES:
        fitting = np.where(_IS_PREFERENCE, 1.0, fitting)
    likely = {name for name, chance in zip(MANAGED_TOPICS, fitting, strict=True) if chance >= _LIKELY}
    wanted = [(chance, name) for name, chance in zip(MANAGED_TOPICS, fitting, strict=True) if name in names]
    if wanted and max(wanted)[0] >= (_POSSIBLE if likely else 0):
        likely.add(max(wanted)[1])  # with no topic for events, what happened to the user is about them
    return likely & names


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
        """The custom topics whose name and description the statement fits.

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
            shares = bool(words & self._words[topic.name])
            if nearest >= _NEAR_TOPIC or (shares and nearest >= _NEAR_WITH_WORD):
                found.add(topic.name)
        return found

    def shown(self, vector: NDArray[float32], rows: NDArray[float32]) -> set[str]:
        """The custom topics of whose examples the statement is like one."""
        near = rows @ vector
        return {topic.name for topic in self.custom if _highest(near, self._example_rows[topic.name]) >= _NEAR_EXAMPLE}

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
