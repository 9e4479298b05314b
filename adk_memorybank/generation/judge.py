"""What a sentence does and is about, as far as its vector tells: whether it is worth keeping, its topics and attribute.

Logistic regressions over the vectors of the local embedder, trained on the sentences in `training/` (`make train`):
its vectors tell a statement from a question, an order or a remark alike in all the languages that it knows.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal, get_args

import numpy as np
from numpy import float32, float64
from numpy.typing import NDArray

from adk_memorybank.generation.topics import MANAGED_TOPICS

WEIGHTS = "judge.npz"
"""For each question an array with a row per answer: a weight per dimension, and the bias."""

Act = Literal["play", "over", "forget", "hide", "correct", "quote"]
"""Opens make-believe, ends it; asks to forget, or not to keep, something; corrects what was said; announces a text of
somebody else's."""
Attribute = Literal[
    "home", "household", "work", "partner", "vehicle", "device", "diet", "name", "age", "contact", "taste", "schedule",
    "appointment", "manner", "pet", "health", "family", "language", "skill", "event", "other",
]  # fmt: skip

SINGLE = frozenset[Attribute](
    ("home", "household", "work", "partner", "vehicle", "device", "diet", "name", "age", "contact")
)
"""What a user has one of at a time, more or less: a new value takes the place of the one before."""

CHANGING = SINGLE | frozenset[Attribute](("taste", "schedule", "appointment", "manner"))
NEWS = 0.8
_ABOUT = 0.3
_LIKELY: dict[Act, float] = {"play": 0.55, "over": 0.5, "forget": 0.45, "hide": 0.8, "correct": 0.6, "quote": 0.6}

ANSWERS: dict[str, tuple[str, ...]] = {
    "worth": ("keep",),
    "topics": tuple(MANAGED_TOPICS),
    "acts": get_args(Act),
    "attributes": get_args(Attribute),
    "change": ("new",),
}


@dataclass(frozen=True, slots=True)
class Judgement:
    """Probabilities, one row per sentence.

    Attributes:
        worth: that it is worth keeping.
        topics: of those worth keeping, that it fits each managed topic, in their order.
        acts: that it does each of `Act`, in their order.
        attributes: that it is about each `Attribute`, in their order.
        change: that it says that something is no longer as it was.
    """

    worth: NDArray[float64]
    topics: NDArray[float64]
    acts: NDArray[float64]
    attributes: NDArray[float64]
    change: NDArray[float64]

    def act(self, row: int) -> Act | None:
        """What a sentence does; None where nothing is likely."""
        best = int(np.argmax(self.acts[row]))
        act: Act = get_args(Act)[best]
        return act if self.acts[row, best] >= _LIKELY[act] else None

    def is_news(self, row: int) -> bool:
        """Whether a sentence says that an attribute has another value now."""
        about = self.attributes[row, [get_args(Attribute).index(name) for name in CHANGING]].max()
        return bool(self.change[row] >= NEWS and about >= _ABOUT)


def judge(vectors: NDArray[float32]) -> Judgement:
    """Judges sentences by their vectors.

    Args:
        vectors: one row per sentence, unit vectors of the local embedder.
    """
    of = {name: 1 / (1 + np.exp(-(vectors @ rows[:, :-1].T + rows[:, -1]))) for name, rows in _weights().items()}
    return Judgement(of["worth"][:, 0], of["topics"], of["acts"], of["attributes"], of["change"][:, 0])


@functools.cache
def _weights() -> dict[str, NDArray[float64]]:
    path = files("adk_memorybank.generation").joinpath(WEIGHTS)
    with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        return {name: stored[name].astype(float64) for name in ANSWERS}
