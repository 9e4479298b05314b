"""Trains what `adk_memorybank.generation.judge` goes by: `python -m training.train`.

`README.md` says what stands in the folders beside. `--check` prints how well five trainings, each without a fifth of
the sentences, judge that fifth.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy import float32, float64
from numpy.typing import NDArray

from adk_memorybank.generation import judge
from adk_memorybank.retrieval.embedders import LocalEmbedder

FOLDER = Path(__file__).parent
TOPICS = "PRKE"
"""The letters of the managed topics, in their order."""
RIDGE = 0.1
"""Of the penalty on the weights; anything from .03 to .3 does as well."""
FOLDS = 5

Marks = dict[str, NDArray[float64]]
"""For a question a row of zeros and ones per sentence, a column per answer."""


def read(name: str, marks: Callable[[list[str]], dict[str, list[bool]]]) -> tuple[list[str], Marks]:
    """The sentences of a folder, and what stands before each, as `marks` reads it."""
    sentences: list[str] = []
    read: dict[str, list[list[bool]]] = {}
    for path in sorted((FOLDER / name).glob("*.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            *before, sentence = line.split("\t")
            try:
                found = marks(before)
            except ValueError as error:
                raise ValueError(f"{path.name}: {line!r}: {error}") from None
            sentences.append(sentence)
            for question, row in found.items():
                read.setdefault(question, []).append(row)
    return sentences, {question: np.array(rows, float64) for question, rows in read.items()}


def statement(before: list[str]) -> dict[str, list[bool]]:
    label, topics = before
    if label not in ("keep", "drop"):
        raise ValueError("neither keep nor drop")
    worth = {"worth": [label == "keep"], "topics": [label == "keep" and topic in topics for topic in TOPICS]}
    return {**worth, "acts": _one_of("play" if topics == "play" else "none", judge.ANSWERS["acts"], none="none")}


def act(before: list[str]) -> dict[str, list[bool]]:
    (said,) = before
    return {"acts": _one_of(said, judge.ANSWERS["acts"], none="none")}


def attribute(before: list[str]) -> dict[str, list[bool]]:
    said, change = before
    if change not in ("new", "-"):
        raise ValueError("neither new nor -")
    about = {"attributes": _one_of(said, judge.ANSWERS["attributes"]), "change": [change == "new"]}
    return {**about, "acts": _one_of("none", judge.ANSWERS["acts"], none="none")}


def _one_of(said: str, known: tuple[str, ...], none: str | None = None) -> list[bool]:
    if said not in known and said != none:
        raise ValueError(f"{said!r} is none of {', '.join(known)}")
    return [said == one for one in known]


def fit(vectors: NDArray[float32], marks: NDArray[float64]) -> NDArray[float64]:
    """Weights and bias of one logistic regression, by Newton's method."""
    inputs = np.column_stack([vectors.astype(float64), np.ones(len(vectors))])
    penalty = np.full(inputs.shape[1], RIDGE)
    penalty[-1] = 1e-3
    weights = np.zeros(inputs.shape[1])
    for _ in range(100):
        likely = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (likely - marks) + penalty * weights
        curvature = (inputs * (likely * (1 - likely))[:, None]).T @ inputs + np.diag(penalty)
        step = np.linalg.solve(curvature, slope)
        weights -= step
        if np.abs(step).max() < 1e-4:
            break
    return weights


def train(vectors: NDArray[float32], marks: Marks) -> dict[str, NDArray[float32]]:
    """The arrays of `judge.WEIGHTS` for some questions. Topics are learnt from what is worth keeping alone."""
    trained: dict[str, NDArray[float32]] = {}
    for question, rows in marks.items():
        used = _used(question, marks)
        trained[question] = np.stack([fit(vectors[used], column) for column in rows[used].T]).astype(float32)
    return trained


def check(vectors: NDArray[float32], marks: Marks) -> None:
    """Prints precision and recall on sentences that were not trained on."""
    fold = np.random.default_rng(0).permutation(len(vectors)) % FOLDS
    told = {question: np.zeros(rows.shape, bool) for question, rows in marks.items()}
    for at in range(FOLDS):
        trained = train(vectors[fold != at], {question: rows[fold != at] for question, rows in marks.items()})
        for question, weights in trained.items():
            told[question][fold == at] = vectors[fold == at] @ weights[:, :-1].T + weights[:, -1] > 0
    for question, rows in marks.items():
        used = _used(question, marks)
        for column, name in enumerate(judge.ANSWERS[question]):
            wanted, found = rows[used, column] == 1, told[question][used, column]
            both = (wanted & found).sum()
            print(
                f"{question:11} {name:25} {wanted.sum():5} of {used.sum():5}: "
                f"precision {both / max(1, found.sum()):.3f}, recall {both / max(1, wanted.sum()):.3f}, "
                f"right {(wanted == found).mean():.3f}"
            )


def _used(question: str, marks: Marks) -> NDArray[np.bool_]:
    return marks["worth"][:, 0] == 1 if question == "topics" else np.full(len(marks[question]), fill_value=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="print how well it judges what it was not trained on")
    given = parser.parse_args()
    statements, acts, attributes = read("statements", statement), read("acts", act), read("attributes", attribute)
    told = {"acts": np.vstack([acts[1]["acts"], statements[1].pop("acts"), attributes[1].pop("acts")])}
    trained: dict[str, NDArray[float32]] = {}
    for sentences, marks in (statements, ([*acts[0], *statements[0], *attributes[0]], told), attributes):
        vectors = asyncio.run(LocalEmbedder().embed(sentences))
        if given.check:
            check(vectors, marks)
        trained |= train(vectors, marks)
    np.savez(Path(judge.__file__).with_name(judge.WEIGHTS), **trained, allow_pickle=False)


if __name__ == "__main__":
    main()
