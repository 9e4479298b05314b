"""The conversations of LoCoMo as ADK sessions, their questions, and the share of evidence that an answer names.

Each conversation is put in twice: either speaker once the user and the other the agent, as two people would each have
an assistant. What is held back is measured with the same code, and was not used while the search was developed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from google.adk.sessions.session import Session

from tests.adk import event, session

HELD_BACK = ("conv-41", "conv-42")
"""Of the five; the others may be looked at."""
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
BEST, CHARACTERS = 5, 2_000
"""What a question is answered from: the five best of either scope, and so many characters in all."""

_EVIDENCE = re.compile(r"D:?\s*(\d+):0*(\d+)")


@dataclass(frozen=True)
class Turn:
    """One turn: its id, who spoke, what was said, and when."""

    id: str
    speaker: str
    text: str
    time: datetime


@dataclass(frozen=True)
class Question:
    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True)
class Found:
    """One thing that a way of remembering has found: its text, and the turns that it names."""

    text: str
    turns: frozenset[str]


class Conversation:
    """One conversation of the data."""

    def __init__(self, path: Path) -> None:
        self.name = path.stem
        self._data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))

    @cached_property
    def speakers(self) -> tuple[str, str]:
        talk = self._data["conversation"]
        return talk["speaker_a"], talk["speaker_b"]

    @cached_property
    def parts(self) -> dict[str, list[Turn]]:
        """The turns of each session, a second apart."""
        talk: Mapping[str, Any] = self._data["conversation"]
        found: dict[str, list[Turn]] = {}
        number = 1
        while turns := talk.get(f"session_{number}"):
            said = talk[f"session_{number}_date_time"]
            began = datetime.strptime(said, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            found[f"session_{number}"] = [
                Turn(turn["dia_id"], turn["speaker"], turn["text"], began + timedelta(seconds=second))
                for second, turn in enumerate(turns)
            ]
            number += 1
        return found

    @cached_property
    def turns(self) -> list[Turn]:
        return [turn for part in self.parts.values() for turn in part]

    @cached_property
    def questions(self) -> list[Question]:
        """Those whose evidence is among the turns."""
        known = {turn.id for turn in self.turns}
        found: list[Question] = []
        for question in self._data["qa"]:
            named = {f"D{int(a)}:{int(b)}" for given in question["evidence"] for a, b in _EVIDENCE.findall(given)}
            if named & known:
                found.append(Question(question["question"], question["category"], frozenset(named & known)))
        return found

    def sessions(self, user: str) -> list[Session]:
        """As ADK keeps them, with this speaker as the user."""
        return [
            session(
                *(
                    event(
                        turn.text,
                        author="user" if turn.speaker == user else "agent",
                        id=turn.id,
                        time=turn.time.timestamp(),
                    )
                    for turn in part
                ),
                id=name,
                app_name=self.name,
                user_id=user,
            )
            for name, part in self.parts.items()
        ]


def within_budget(lists: Sequence[Sequence[Found]]) -> list[Found]:
    """The best of each list in turn, as many as fit."""
    taken: list[Found] = []
    left = CHARACTERS
    for place in range(max(map(len, lists), default=0)):
        for ranked in lists:
            if place < min(len(ranked), BEST) and len(ranked[place].text) <= left:
                taken.append(ranked[place])
                left -= len(ranked[place].text)
    return taken


def recall(question: Question, found: Iterable[Found]) -> float:
    """The share of a question's evidence that is named."""
    named = {turn for one in found for turn in one.turns}
    return len(question.evidence & named) / len(question.evidence)


def reciprocal_rank(question: Question, lists: Sequence[Sequence[Found]]) -> float:
    """One over the best place, in any of the lists, of what names evidence; 0 where nothing does."""
    places = [place for ranked in lists for place, one in enumerate(ranked[:BEST], 1) if one.turns & question.evidence]
    return 1 / min(places) if places else 0.0
