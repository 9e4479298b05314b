"""How two statements stand to each other as far as their vectors tell: the same, one in the other's place, or neither.

Nearness alone can't tell a new value from the old one: it asks what both are about, and whether one speaks of a change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from adk_memorybank.generation.attributes import profile, same_subject
from adk_memorybank.generation.judge import ANSWERS, NEWS, SINGLE, judge
from adk_memorybank.generation.lexicon.replacing import NOT_YET
from adk_memorybank.generation.lexicon.requests import REQUESTING
from adk_memorybank.generation.replacing import passing
from adk_memorybank.generation.words import verbs, weekdays

# Of the local embedder: what says the same lies at .68 to .96, what must stay apart often at .57 to .68, and an old
# value and its successor at .26 to .5.
_SAME = 0.85
_SAME_ATTRIBUTE = 0.75
_AKIN = 0.7
_STATED = 0.6
_BOTH_ABOUT = 0.2
_OF_ONE_THING = 0.2
_MEANT = 0.55
_MEANT_BY_NAME = 0.25

# Of work and of others people tell in many ways that change nothing.
_SURE = np.array(
    [{"work": 0.6, "partner": 0.4}.get(name, 0.25) if name in SINGLE else 2 for name in ANSWERS["attributes"]]
)
_SURER = np.where(_SURE < 1, np.maximum(_SURE, 0.6), _SURE)
_SURER[ANSWERS["attributes"].index("work")] = 2
_OF_A_THING = np.array(
    [name in ("taste", "diet", "schedule", "appointment", "manner") for name in ANSWERS["attributes"]]
)


class Meanings:
    """The vectors of some statements, and what they are judged to be.

    Args:
        texts: the statements.
        vectors: a row for each, unit vectors of the local embedder.
    """

    def __init__(self, texts: Sequence[str], vectors: NDArray[float32]) -> None:
        self._rows = {text: row for row, text in enumerate(texts)}
        self._vectors = vectors
        self._judgement = judge(vectors)

    def relation(self, new: str, old: str) -> Literal["same", "replaces"] | None:
        """How a new statement stands to one that is there; None for beside it, and where a text is not known."""
        mine, theirs = self._rows.get(new), self._rows.get(old)
        fact, memory = profile(new), profile(old)
        if mine is None or theirs is None or not same_subject(fact, memory):
            return None
        near = float(np.dot(self._vectors[mine], self._vectors[theirs]))
        both = np.minimum(self._judgement.attributes[mine], self._judgement.attributes[theirs])
        if self._judgement.change[mine] >= NEWS and not passing(fact):
            stated = self._judgement.change[theirs] < _STATED
            if (both >= (_SURE if stated else _SURER)).any() and not NOT_YET.search(fact.text):
                return "replaces"
            shared = (fact.words & memory.words) - verbs(fact.code) - weekdays(fact.code)
            if both[_OF_A_THING].max() >= _OF_ONE_THING and (shared or near >= _AKIN):
                return "replaces"
        alike = fact.numbers == memory.numbers and fact.negated == memory.negated
        enough = _SAME_ATTRIBUTE if both.max() >= _BOTH_ABOUT else _SAME
        return "same" if alike and near >= enough else None

    def is_meant(self, request: str, statement: str) -> bool:
        """Whether a request to forget means a statement: it names it, or what it says is near."""
        mine, theirs = self._rows.get(request), self._rows.get(statement)
        if mine is None or theirs is None:
            return False
        near = float(np.dot(self._vectors[mine], self._vectors[theirs]))
        wanted = profile(request)
        named = (wanted.words & profile(statement).words) - REQUESTING - verbs(wanted.code)
        return near >= (_MEANT_BY_NAME if named else _MEANT)
