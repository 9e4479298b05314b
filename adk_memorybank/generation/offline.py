"""A generator that needs no model and no network: a trained judge tells what is worth keeping, rules do the rest."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from numpy import float32
from numpy.typing import NDArray

from adk_memorybank.generation import dates, merging
from adk_memorybank.generation.attributes import profile, undated
from adk_memorybank.generation.breathing import in_breaths
from adk_memorybank.generation.correcting import corrected
from adk_memorybank.generation.fields import fields_of
from adk_memorybank.generation.generator import (
    ConsolidationRequest,
    Decision,
    ExtractedFact,
    Extraction,
    ExtractionRequest,
)
from adk_memorybank.generation.judge import Judgement, judge
from adk_memorybank.generation.labels import EXPLICIT, Measure, managed
from adk_memorybank.generation.lexicon import language
from adk_memorybank.generation.meaning import Meanings
from adk_memorybank.generation.perspective import third_person
from adk_memorybank.generation.secrets import Kind as Secret
from adk_memorybank.generation.slots import Said, fill
from adk_memorybank.generation.topics import may_be_kept
from adk_memorybank.generation.utterances import LONGEST_FACT, Utterance, capped, utterances

_logger = logging.getLogger("google_adk.adk_memorybank.generation.offline")

Embed = Callable[[Sequence[str]], Awaitable[NDArray[float32]]]

_WORTH = 0.2
_WORTH_AT_LEAST = 0.15
"""Where a custom topic fits, which may ask for what is worth nothing otherwise, or a rule finds an attribute."""


@dataclass(frozen=True, slots=True)
class _Heard:
    """An utterance that may become a fact.

    Attributes:
        row: its row in the judgement.
        text: what it says after corrections.
        turns: its own, and those that corrected it.
    """

    utterance: Utterance
    row: int
    text: str
    turns: tuple[int, ...]
    forget: bool = False

    @property
    def corrected(self) -> bool:
        return len(self.turns) > 1


class OfflineGenerator:
    """Keeps what the user states, in the user's words, and merges it by subject and attribute.

    Args:
        embed: gives one unit vector per text; that of the local embedder, which `judge` was trained on. It is called
            at most once per extraction, and once per consolidation.
    """

    name = "offline"
    reads_media = False

    def __init__(self, embed: Embed) -> None:
        self._embed = embed

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """The statements of the user's new turns that fit a topic, and the fields of profiles that rules can fill."""
        asking = [*request.topics, *fields_of(request.schemas).values()]
        welcome = frozenset[Secret]().union(*(one.secrets_asked for one in asking))
        said: list[Utterance] = []
        for index, turn in enumerate(request.turns):
            if turn.role == "user":
                said += await utterances(index, turn, welcome)
        if not any(request.turns[one.turn].new for one in said):
            return Extraction()
        measure = Measure(request.topics, request.examples)
        vectors = await self._embed([*(one.text for one in said), *measure.texts])
        judgement = judge(vectors[: len(said)])
        heard = _heard(said, judgement, request)
        values, notes = fill(request, [_for_fields(one) for one in heard]) if request.schemas else ([], [])
        facts: list[ExtractedFact] = []
        async for one in in_breaths(heard):
            fact = _fact(one, request, judgement, measure, vectors[one.row], vectors[len(said) :])
            if fact:
                facts.append(fact)
        _logger.debug("%d utterances, %d facts", len(said), len(facts))
        return Extraction(_together(facts), notes, values)

    async def consolidate(self, request: ConsolidationRequest) -> list[Decision]:
        """What becomes of the memories; see `adk_memorybank.generation.merging`."""
        texts = merging.texts_of(request)
        return await merging.consolidate(request, Meanings(texts, await self._embed([undated(text) for text in texts])))


def _heard(said: Sequence[Utterance], judgement: Judgement, request: ExtractionRequest) -> list[_Heard]:
    """What of the new turns may become facts: what is meant, and as it was meant in the end."""
    heard: list[_Heard] = []
    session, playing, quoting = "", False, -1
    for row, one in enumerate(said):
        turn = request.turns[one.turn]
        if turn.session_id != session:
            session, playing = turn.session_id, False
        asked = one.explicit or one.forget
        act = None if asked else judgement.act(row)
        if act == "play":
            playing = True
        elif act == "over":
            playing = False
        elif act == "quote":
            quoting = one.turn
        elif act == "hide":
            _take_back(heard, one)
        elif act == "correct" and heard:
            _put_right(heard, one, row)
        elif not (asked or one.states or act == "forget") or (playing and not asked) or quoting == one.turn:
            continue
        else:
            heard.append(_Heard(one, row, one.text, (one.turn,), one.forget or act == "forget"))
    return [one for one in heard if request.turns[one.turns[-1]].new]


def _take_back(heard: list[_Heard], hiding: Utterance) -> None:
    """What is said with the wish that it be not kept: in the same turn, or else just before."""
    last = heard[-1].utterance.turn if heard else -1
    if hiding.turn - last <= _BEFORE:
        while heard and heard[-1].utterance.turn == last and not heard[-1].forget:
            heard.pop()


def _put_right(heard: list[_Heard], fragment: Utterance, row: int) -> None:
    """The latest statement that has what the fragment gives anew."""
    for place in range(len(heard) - 1, -1, -1):
        one = heard[place]
        text = None if one.forget else corrected(one.text, fragment.text, language(one.utterance.code))
        if text is not None:
            heard[place] = replace(one, text=text, turns=(*one.turns, fragment.turn))
            return
    if fragment.states:
        heard.append(_Heard(fragment, row, fragment.text, (fragment.turn,)))


_BEFORE = 2
"""Turns, the agent's with them, that a wish not to keep something reaches back."""


def _for_fields(one: _Heard) -> Said:
    return Said(one.text, one.turns[-1], one.utterance.code, forget=one.forget)


def _fact(
    one: _Heard,
    request: ExtractionRequest,
    judgement: Judgement,
    measure: Measure,
    vector: NDArray[float32],
    shown: NDArray[float32],
) -> ExtractedFact | None:
    """The fact that an utterance becomes; None where it fits no topic."""
    code = one.utterance.code
    turns = tuple(dict.fromkeys(turn for turn in one.turns if request.turns[turn].new))
    first, time = (request.turns[turn].time for turn in (one.turns[0], one.turns[-1]))
    names = frozenset(topic.name for topic in request.topics)
    if one.forget:
        return ExtractedFact(one.text, (EXPLICIT,), turns, time, forget=True) if EXPLICIT in names else None
    explicit, worth = one.utterance.explicit, judgement.worth[one.row]
    fits: set[str] = set()
    if measure.texts:
        if not explicit and measure.is_refused(vector, shown):
            return None
        fits |= measure.shown(vector, shown)
        if explicit or worth >= _WORTH_AT_LEAST:
            fits |= measure.fits(one.text, vector, shown, language(code))
    if explicit and EXPLICIT in names:
        fits.add(EXPLICIT)
    claims = profile(one.text).claims
    if explicit or one.corrected or worth >= (_WORTH_AT_LEAST if claims else _WORTH):
        fits |= managed(claims, judgement.topics[one.row], names)
    text, was = (dates.resolve(said, first, code) for said in (one.text, one.utterance.text))
    if not fits or not may_be_kept(text, fits, request.topics):
        return None
    if request.third_person:
        text, was = (third_person(said, code) for said in (text, was))
    ordered = tuple(topic.name for topic in request.topics if topic.name in fits)
    alone = bool(claims) or judgement.is_news(one.row)
    return ExtractedFact(
        capped(text), ordered, turns, time, explicit=explicit, alone=alone, corrects=was if one.corrected else ""
    )


def _together(facts: Sequence[ExtractedFact]) -> list[ExtractedFact]:
    """What was told in one turn becomes one fact: its sentences lean on each other.

    What has an attribute of its own, or was asked to be remembered or forgotten, stays by itself, for it is to be
    found, changed and forgotten by itself.
    """
    found: list[ExtractedFact] = []
    telling = -1
    for fact in facts:
        last = found[telling] if telling >= 0 else None
        text = f"{last.fact} {fact.fact}" if last and last.turns == fact.turns else ""
        if fact.explicit or fact.forget or fact.alone or fact.corrects:
            found.append(fact)
        elif last and text and len(text) <= LONGEST_FACT:
            topics = tuple(dict.fromkeys((*last.topics, *fact.topics)))
            found[telling] = replace(last, fact=text, topics=topics)
        else:
            found.append(fact)
            telling = len(found) - 1
    return found
