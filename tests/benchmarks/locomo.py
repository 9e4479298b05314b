"""How much of what questions need comes back: `python -m tests.benchmarks.locomo DATA`.

Evidence recall by category, beside plain ways of finding turns, with the same budget: the service of this package with
`model=offline` and default settings, read through ADK's face alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from adk_memorybank import MemoryBankService
from adk_memorybank.retrieval import words
from adk_memorybank.retrieval.embedders import LocalEmbedder
from adk_memorybank.retrieval.ranking import K1, B
from tests.benchmarks.conversations import (
    BEST,
    CATEGORIES,
    HELD_BACK,
    Conversation,
    Found,
    recall,
    reciprocal_rank,
    within_budget,
)

Lists = list[list[Found]]
Way = Callable[[str], Awaitable[Lists]]


async def ours(talk: Conversation, folder: str) -> tuple[Way, dict[str, float]]:
    """This package, and what it made of the conversation."""
    service = MemoryBankService(f"memorybank:///{folder}?model=offline", top_k=BEST)
    began, events = time.perf_counter(), 0
    for user in talk.speakers:
        for one in talk.sessions(user):
            await service.add_session_to_memory(one)
            events += len(one.events)
    operations = await service.flush(timeout=600)
    assert all(operation.done and operation.error is None for operation in operations), operations
    made = {"ms per event": 1_000 * (time.perf_counter() - began) / events}
    bank = await service.bank()
    memories = [
        memory for user in talk.speakers for memory in await bank.list(scope={"app_name": talk.name, "user_id": user})
    ]
    cited = {source.event_id for memory in memories for source in memory.sources}
    evidence = {turn for question in talk.questions for turn in question.evidence}
    made |= {
        "evidence turns cited": len(cited & evidence) / len(evidence),
        "memories per turn": len(memories) / len(talk.turns),
        "sources per memory": statistics.mean(len(memory.sources) for memory in memories),
    }

    async def search(query: str) -> Lists:
        lists: Lists = []
        for user in talk.speakers:
            answer = await service.search_memory(app_name=talk.name, user_id=user, query=query)
            lists.append(
                [
                    Found(
                        "".join(part.text or "" for part in entry.content.parts or []),
                        frozenset(source["event_id"] for source in entry.custom_metadata["memory_bank"]["sources"]),
                    )
                    for entry in answer.memories
                ]
            )
        return lists

    return search, made


def over_turns(talk: Conversation, score: Callable[[str], Awaitable[np.ndarray]]) -> Way:
    """A way that ranks the turns themselves: the ten best of all, as two lists that share nothing."""

    async def search(query: str) -> Lists:
        best = np.argsort(-await score(query), kind="stable")[: 2 * BEST]
        found = [Found(talk.turns[place].text, frozenset([talk.turns[place].id])) for place in best]
        return [found[::2], found[1::2]]

    return search


def bm25(talk: Conversation) -> Way:
    """By stems, with the speaker's name before each turn, and without the function words of the question."""
    terms = [words.terms(f"{turn.speaker}: {turn.text}") for turn in talk.turns]
    lengths = np.array([len(one) for one in terms])
    discount = K1 * (1 - B + B * lengths / lengths.mean())

    async def score(query: str) -> np.ndarray:
        total = np.zeros(len(terms))
        for term in np.unique(words.query_terms(query)):
            counts = np.array([np.count_nonzero(one == term) for one in terms])
            rarity = np.log1p((len(terms) - np.count_nonzero(counts) + 0.5) / (np.count_nonzero(counts) + 0.5))
            total += rarity * counts * (K1 + 1) / (counts + discount)
        return total

    return over_turns(talk, score)


async def vectors(talk: Conversation) -> Way:
    embedder = LocalEmbedder()
    of_turns = await embedder.embed([turn.text for turn in talk.turns])

    async def score(query: str) -> np.ndarray:
        return of_turns @ (await embedder.embed([query], query=True))[0]

    return over_turns(talk, score)


async def of_adk(talk: Conversation, service: Any) -> Way:
    """A memory service of ADK's own: its two lists hold the turns of both speakers."""
    by_text = {turn.text: turn.id for turn in talk.turns}
    for user in talk.speakers:
        for one in talk.sessions(user):
            await service.add_session_to_memory(one)

    async def search(query: str) -> Lists:
        lists: Lists = []
        for user in talk.speakers:
            answer = await service.search_memory(app_name=talk.name, user_id=user, query=query)
            texts = ["".join(part.text or "" for part in entry.content.parts or []) for entry in answer.memories]
            lists.append([Found(text, frozenset([by_text[text]])) for text in texts[:BEST] if text in by_text])
        return lists

    return search


async def measure(talk: Conversation, folder: str, *, alone: bool) -> dict[str, dict[str, Any]]:
    """All ways on one conversation: the figures of each."""
    search, made = await ours(talk, f"{folder}/{talk.name}")
    ways: dict[str, Way] = {"adk-memorybank": search}
    if not alone:
        from google.adk.memory.in_memory_memory_service import InMemoryMemoryService

        ways |= {"BM25 over turns": bm25(talk), "vectors over turns": await vectors(talk)}
        ways["ADK InMemoryMemoryService"] = await of_adk(talk, InMemoryMemoryService())
        try:
            from google.adk.memory._sqlite_memory_service import SqliteMemoryService
        except ImportError:
            pass  # ADK 1.x has none
        else:
            ways["ADK SqliteMemoryService"] = await of_adk(talk, SqliteMemoryService(f"{folder}/{talk.name}.sqlite"))
    figures: dict[str, dict[str, Any]] = {}
    for name, way in ways.items():
        recalls: dict[int, list[float]] = defaultdict(list)
        ranks: list[float] = []
        took: list[float] = []
        for question in talk.questions:
            began = time.perf_counter()
            lists = await way(question.text)
            took.append(time.perf_counter() - began)
            recalls[question.category].append(recall(question, within_budget(lists)))
            ranks.append(reciprocal_rank(question, lists))
        figures[name] = {"recalls": recalls, "ranks": ranks, "took": took}
    figures["adk-memorybank"] |= made
    return figures


def summary(parts: Sequence[dict[str, Any]]) -> dict[str, float]:
    """The figures of one way over several conversations."""
    told: dict[str, float] = {}
    for category, name in CATEGORIES.items():
        told[name] = statistics.mean([one for part in parts for one in part["recalls"][category]])
    told["all"] = statistics.mean([one for part in parts for given in part["recalls"].values() for one in given])
    told["MRR"] = statistics.mean([rank for part in parts for rank in part["ranks"]])
    told["ms per question"] = 1_000 * statistics.median([one for part in parts for one in part["took"]])
    for name in ("evidence turns cited", "memories per turn", "sources per memory", "ms per event"):
        if name in parts[0]:
            told[name] = statistics.mean([part[name] for part in parts])
    return told


def show(title: str, told: dict[str, dict[str, float]]) -> None:
    table = Table(title=title)
    names = list(told["adk-memorybank"])
    table.add_column("")
    for way in told:
        table.add_column(way, justify="right")
    for name in names:
        cells = [f"{figures[name]:.3f}" if name in figures else "" for figures in told.values()]
        table.add_row(name, *cells)
    Console(width=140).print(table)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with conv-*.json")
    parser.add_argument("--half", choices=["development", "held_back", "all"], default="all")
    parser.add_argument("--alone", action="store_true", help="without the other ways")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    halves: dict[str, list[dict[str, dict[str, Any]]]] = {"development": [], "held back": []}
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(given.data.glob("conv-*.json")):
            half = "held back" if path.stem in HELD_BACK else "development"
            if given.half in ("all", half.replace(" ", "_")):
                halves[half].append(await measure(Conversation(path), folder, alone=given.alone))
    told: dict[str, dict[str, dict[str, float]]] = {}
    chosen = {half: parts for half, parts in halves.items() if parts}
    if len(chosen) > 1:
        chosen["all"] = [part for parts in halves.values() for part in parts]
    for half, parts in chosen.items():
        told[half] = {way: summary([part[way] for part in parts]) for way in parts[0]}
        show(f"{half}: {len(parts)} conversations, evidence recall", told[half])
    if given.json:
        given.json.write_text(json.dumps(told, indent=2))


if __name__ == "__main__":
    asyncio.run(main())
