"""How well what was kept of a conversation is what should be kept of it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.benchmarks.gold import Conversation, Expected, Terms, folded

SUMMED: tuple[str, ...] = ("updates", "repeats", "deletions")
MEASURES: tuple[str, ...] = (
    "recall",
    "precision",
    "topics",
    "dates",
    "nothing to keep",
    *SUMMED,
    "all three",
    "deletions of what was kept",
    "parts",
)
"""In the order in which they are shown; the README of the statements says what each is."""

_MONTHS = (
    "january gennaio enero janvier januar janeiro",
    "february febbraio febrero février februar fevereiro",
    "march marzo mars märz março",
    "april aprile abril avril",
    "may maggio mayo mai maio",
    "june giugno junio juin juni junho",
    "july luglio julio juillet juli julho",
    "august agosto août",
    "september settembre septiembre septembre setembro",
    "october ottobre octubre octobre oktober outubro",
    "november novembre noviembre novembro",
    "december dicembre diciembre décembre dezember dezembro",
)


@dataclass(frozen=True)
class Kept:
    """A memory: its text, and its topics."""

    fact: str
    topics: Sequence[str] = ()


@dataclass(frozen=True)
class Share:
    """So many of so many."""

    right: int = 0
    of: int = 0

    def __add__(self, other: Share) -> Share:
        return Share(self.right + other.right, self.of + other.of)

    @property
    def value(self) -> float:
        """From 0 to 1; not a number where there is nothing to share."""
        return self.right / self.of if self.of else math.nan

    def interval(self) -> tuple[float, float]:
        """The bounds of Wilson's interval of 95 %."""
        if not self.of:
            return math.nan, math.nan
        z = 1.959964
        middle = self.value + z * z / (2 * self.of)
        width = z * math.sqrt(self.value * (1 - self.value) / self.of + z * z / (4 * self.of * self.of))
        scale = 1 + z * z / self.of
        return max(0.0, (middle - width) / scale), min(1.0, (middle + width) / scale)


@dataclass
class Score:
    """The figures of one conversation, and what is behind them."""

    shares: dict[str, Share]
    missed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


def total(shares: Iterable[Mapping[str, Share]]) -> dict[str, Share]:
    """The figures of several conversations together."""
    told = dict.fromkeys(MEASURES, Share())
    for one in shares:
        for name, share in one.items():
            told[name] += share
    return told


def score(talk: Conversation, kept: Sequence[Kept], *, earlier: Sequence[Sequence[Kept]] = ()) -> Score:
    """Holds what was kept against what was expected.

    Args:
        kept: all memories at the end.
        earlier: those after each session before the last.
    """
    found = [fact for fact in talk.facts if _memories(fact, kept)]
    dated = [fact for fact in talk.facts if fact.date and any(fact.terms.within(one.fact) for one in kept)]
    of_topic = [fact for fact in found if any(set(one.topics) & set(fact.topics) for one in _memories(fact, kept))]
    right, parts, wrong = _judged(talk.facts, kept)
    was_kept = [terms for terms in talk.gone if any(terms.within(one.fact) for memories in earlier for one in memories)]
    checks = {
        "updates": [(fact.text, _updated(fact, kept)) for fact in talk.facts if fact.replaces],
        "repeats": [
            (fact.text, sum(fact.terms.within(one.fact) for one in kept) == 1) for fact in talk.facts if fact.once
        ],
        "deletions": [(str(terms.groups), _gone(terms, kept)) for terms in talk.gone],
    }
    shares = {name: Share(sum(good for _, good in results), len(results)) for name, results in checks.items()}
    return Score(
        shares={
            "recall": Share(len(found), len(talk.facts)),
            "precision": Share(right, right + len(wrong)),
            "topics": Share(len(of_topic), len(found)),
            "dates": Share(sum(fact in found for fact in dated), len(dated)),
            "nothing to keep": Share(int(talk.empty and not kept), int(talk.empty)),
            **shares,
            "all three": sum(shares.values(), Share()),
            "deletions of what was kept": Share(sum(_gone(terms, kept) for terms in was_kept), len(was_kept)),
            "parts": Share(parts, len(kept)),
        },
        missed=[fact.text for fact in talk.facts if fact not in found],
        wrong=wrong,
        failed=[f"{name}: {text}" for name, results in checks.items() for text, good in results if not good],
    )


def _memories(fact: Expected, kept: Sequence[Kept]) -> list[Kept]:
    """Those that hold a fact, with its date."""
    return [one for one in kept if fact.terms.within(one.fact) and (not fact.date or names_date(one.fact, fact.date))]


def _judged(facts: Sequence[Expected], kept: Sequence[Kept]) -> tuple[int, int, list[str]]:
    """How many memories are right, how many hold but a part of a fact, and those that are wrong.

    A date doesn't matter here. Of several memories that hold nothing but one fact that was to be kept once, the
    first is right.
    """
    right, parts, wrong = 0, 0, []
    taken: set[int] = set()
    for one in kept:
        held = [place for place, fact in enumerate(facts) if fact.terms.within(one.fact)]
        fresh = [place for place in held if not facts[place].once or place not in taken]
        taken.update(held)
        if fresh:
            right += 1
        elif not held and any(fact.terms.held(one.fact) for fact in facts):
            parts += 1
        else:
            wrong.append(one.fact)
    return right, parts, wrong


def _gone(terms: Terms, kept: Sequence[Kept]) -> bool:
    return not any(terms.within(one.fact) for one in kept)


def _updated(fact: Expected, kept: Sequence[Kept]) -> bool:
    """Whether the new value is there, and the older one at most together with it, as in "moved from A to B"."""
    assert fact.replaces
    return bool(_memories(fact, kept)) and not any(
        fact.replaces.within(one.fact) and not fact.terms.within(one.fact) for one in kept
    )


def names_date(text: str, date: str) -> bool:
    """Whether a text names a year, month or day (`2026`, `2026-05`, `2026-05-15`): in ISO's way, or in words.

    A day within a month doesn't name the month: it says more than was known.
    """
    whole = folded(text)
    year, *rest = date.split("-")
    if not rest:
        return re.search(rf"(?<!\d){year}(?!\d)", whole) is not None
    month = int(rest[0])
    if len(rest) == 1:
        iso = rf"(?<!\d){date}(?!-?\d)|{year}年0?{month}月(?!\d+日)"
    else:
        iso = rf"(?<!\d){date}(?!\d)|{year}年0?{month}月0?{int(rest[1])}日"
    if re.search(iso, whole):
        return True
    names = "|".join(_MONTHS[month - 1].split())
    worded = re.search(rf"(?<!\w)(?:{names})(?!\w)", whole) and re.search(rf"(?<!\d){year}(?![\d-])", whole)
    if not worded:
        return False
    days = [int(one) for one in re.findall(r"(?<![\d:-])(\d{1,2})(?![\d:-])", whole)]
    return int(rest[1]) in days if len(rest) == 2 else not re.search(rf"\d{{1,2}}\.? (?:de )?(?:{names})", whole)
