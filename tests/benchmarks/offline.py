"""What is kept with `model=offline`, and what should be: `make bench-offline`, or `python -m tests.benchmarks.offline`.

Each conversation of `statements/` goes through the engine with default settings, a scope to itself, its sessions one
after the other.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from adk_memorybank import MemoryBanks
from adk_memorybank.bank import MemoryBank
from tests.adk import session
from tests.benchmarks.gold import FOLDER, HALVES, LANGUAGES, Conversation, read_half
from tests.benchmarks.scores import MEASURES, Kept, Score, Share, score, total


@dataclass(frozen=True)
class Outcome:
    """A conversation and what came of it.

    Attributes:
        took: the milliseconds that a turn of each session took.
        lengths: of its memories at the end, in characters.
    """

    talk: Conversation
    score: Score
    took: Sequence[float]
    lengths: Sequence[int]


async def run(bank: MemoryBank, talk: Conversation) -> Outcome:
    """Puts a conversation in and reads what was kept of it."""
    scope = {"user_id": talk.id}
    kept: list[list[Kept]] = []
    took: list[float] = []
    for one in talk.as_adk():
        began = time.perf_counter()
        operation = await bank.generate(session=one, scope=scope)
        took.append(1_000 * (time.perf_counter() - began) / len(one.events))
        assert operation.done, operation
        kept.append([Kept(memory.fact, tuple(memory.topics)) for memory in await bank.list(scope=scope)])
    return Outcome(talk, score(talk, kept[-1], earlier=kept[:-1]), took, [len(one.fact) for one in kept[-1]])


async def run_all(talks: Sequence[Conversation]) -> list[Outcome]:
    with tempfile.TemporaryDirectory() as folder:
        banks = MemoryBanks(f"memorybank:///{folder}/memory", model="offline")
        try:
            bank = await banks.create(display_name="Statements")
            # The first generation loads the models, which is no turn's time.
            await bank.generate(session=session("I live in Leeds.", id="warm"), scope={"user_id": "warm"})
            return [await run(bank, talk) for talk in talks]
        finally:
            await banks.close()


def figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The figures of some conversations, as plain JSON."""
    shares = total(outcome.score.shares for outcome in outcomes)
    return {
        "conversations": len(outcomes),
        "median ms a turn": statistics.median(one for outcome in outcomes for one in outcome.took),
        "median characters a memory": statistics.median(
            [one for outcome in outcomes for one in outcome.lengths] or [0]
        ),
        **{name: _plain(shares[name]) for name in MEASURES},
    }


def _plain(share: Share) -> dict[str, float | int | None]:
    low, high = share.interval()
    counts: dict[str, float | int | None] = {"right": share.right, "of": share.of}
    bounds = (
        {"share": share.value, "low": low, "high": high} if share.of else {"share": None, "low": None, "high": None}
    )
    return counts | bounds


def by_language(outcomes: Sequence[Outcome]) -> dict[str, dict[str, Any]]:
    told = {
        language: figures(chosen)
        for language in LANGUAGES
        if (chosen := [outcome for outcome in outcomes if outcome.talk.language == language])
    }
    return told | {"all": figures(outcomes)}


def show(console: Console, title: str, told: dict[str, dict[str, Any]]) -> None:
    table = Table(title=title, caption="right of all, per cent, and Wilson's interval of 95 %")
    table.add_column("", no_wrap=True)
    for language in told:
        table.add_column(language, justify="right")
    for name in MEASURES:
        table.add_row(name, *(_cell(one[name]) for one in told.values()))
    table.add_row("conversations", *(str(one["conversations"]) for one in told.values()))
    table.add_row("median ms a turn", *(f"{one['median ms a turn']:.1f}" for one in told.values()))
    table.add_row("median characters", *(f"{one['median characters a memory']:.0f}" for one in told.values()))
    console.print(table)


def _cell(share: dict[str, Any]) -> str:
    if not share["of"]:
        return "–\n"
    bounds = f"{100 * share['low']:.0f}–{100 * share['high']:.0f}"
    return f"{share['right']}/{share['of']}\n{100 * share['share']:.1f} ({bounds})"


def show_details(console: Console, outcomes: Sequence[Outcome]) -> None:
    """What was missed, kept wrongly, or not mended, by conversation."""
    for outcome in outcomes:
        named = {"missed": outcome.score.missed, "wrong": outcome.score.wrong, "failed": outcome.score.failed}
        for name, texts in named.items():
            for text in texts:
                console.print(f"{outcome.talk.id:<20} {name:<7} {escape(text)}", highlight=False, soft_wrap=True)


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=[*HALVES, "both"], default="both")
    parser.add_argument("--details", action="store_true", help="what was missed and kept wrongly, by conversation")
    parser.add_argument("--reveal", action="store_true", help="the details of what is held back, too: it's spent then")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    chosen = parser.parse_args(given)
    if chosen.details and chosen.half != "developed" and not chosen.reveal:
        parser.error("--details would show what is held back: choose --half developed, or say --reveal")
    return chosen


async def main() -> None:
    chosen = arguments()
    logging.disable(logging.WARNING)
    console = Console(width=180)
    halves = {
        half: talks
        for half in HALVES
        if chosen.half in (half, "both") and (talks := read_half(half))  # either may be missing
    }
    if not halves:
        raise SystemExit(f"there are no conversations in {FOLDER}/{chosen.half}")
    outcomes = {half: await run_all(talks) for half, talks in halves.items()}
    told = {half: by_language(parts) for half, parts in outcomes.items()}
    if len(told) > 1:
        told["both"] = by_language([outcome for parts in outcomes.values() for outcome in parts])
    if chosen.details:
        for parts in outcomes.values():
            show_details(console, parts)
    for half, one in told.items():
        show(console, f"{half.replace('_', ' ')}: what is kept with model=offline", one)
    if chosen.json:
        chosen.json.write_text(json.dumps(told, indent=2), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
