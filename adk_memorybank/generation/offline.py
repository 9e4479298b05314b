"""A generator that needs no model and no network: rules per language, and the embedder for custom topics."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from numpy import float32
from numpy.typing import NDArray

from adk_memorybank.generation import dates, merging
from adk_memorybank.generation.attributes import stands_alone
from adk_memorybank.generation.fields import fields_of
from adk_memorybank.generation.generator import (
    ConsolidationRequest,
    Decision,
    ExtractedFact,
    Extraction,
    ExtractionRequest,
    Turn,
)
from adk_memorybank.generation.instructions import instruction, is_dismissal
from adk_memorybank.generation.labels import EXPLICIT, Measure, managed
from adk_memorybank.generation.lexicon import Language, language
from adk_memorybank.generation.perspective import third_person
from adk_memorybank.generation.secrets import Kind as Secret
from adk_memorybank.generation.secrets import announces_secret, kinds_in
from adk_memorybank.generation.sentences import before_question, compound, parted, sentences, stripped, unquoted
from adk_memorybank.generation.slots import Said, fill
from adk_memorybank.generation.statements import Kind, is_concrete, is_question, kind
from adk_memorybank.generation.topics import may_be_kept
from adk_memorybank.generation.words import detect

_logger = logging.getLogger("google_adk.adk_memorybank.generation.offline")

Embed = Callable[[Sequence[str]], Awaitable[NDArray[float32]]]

LONGEST_FACT = 500
_BREATH = 4


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence that passed the rules, before its topics are known."""

    text: str
    turn: int
    code: str
    kind: Kind
    concrete: bool
    explicit: bool = False
    forget: bool = False


class OfflineGenerator:
    """Keeps what the user states, in the user's words, and merges it by subject and attribute.

    Args:
        embed: gives one unit vector per text. It is called at most once per extraction, and only where custom topics
            or examples have to be compared with.
    """

    name = "offline"
    reads_media = False

    def __init__(self, embed: Embed) -> None:
        self._embed = embed

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """The statements of the user's new turns that fit a topic, and the fields of profiles that rules can fill."""
        found: list[_Statement] = []
        asking = [*request.topics, *fields_of(request.schemas).values()]
        welcome = frozenset[Secret]().union(*(one.secrets_asked for one in asking))
        for index, turn in enumerate(request.turns):
            if turn.new and turn.role == "user":
                found += await _statements(index, turn, welcome)
        said = [Said(one.text, one.turn, one.code, forget=one.forget) for one in found]
        values, notes = fill(request, said) if request.schemas else ([], [])
        names = frozenset(topic.name for topic in request.topics)
        if EXPLICIT not in names:
            found = [statement for statement in found if not statement.forget]
        if not found or not names:
            return Extraction([], notes, values)
        measure = Measure(request.topics, request.examples)
        vectors = None
        if measure.texts and any(not statement.forget for statement in found):
            vectors = await self._embed([*(statement.text for statement in found), *measure.texts])
        facts: list[ExtractedFact] = []
        for number, statement in enumerate(found):
            if number % _BREATH == _BREATH - 1:
                await asyncio.sleep(0)
            if statement.forget:
                time = request.turns[statement.turn].time
                facts.append(ExtractedFact(statement.text, (EXPLICIT,), (statement.turn,), time, forget=True))
                continue
            rows = (vectors[number], vectors[len(found) :]) if vectors is not None else None
            fact = _fact(statement, request, names, measure, rows)
            if fact:
                facts.append(fact)
        _logger.debug("%d statements, %d facts", len(found), len(facts))
        return Extraction(facts, notes, values)

    async def consolidate(self, request: ConsolidationRequest) -> list[Decision]:
        """What becomes of the memories; see `adk_memorybank.generation.merging`."""
        return await merging.consolidate(request)


def _fact(
    statement: _Statement,
    request: ExtractionRequest,
    names: frozenset[str],
    measure: Measure,
    rows: tuple[NDArray[float32], NDArray[float32]] | None,
) -> ExtractedFact | None:
    """The fact that a statement becomes; None where it fits no topic."""
    lexicon = language(statement.code)
    time = request.turns[statement.turn].time
    text = dates.resolve(statement.text, time, statement.code)
    fits: set[str] = set()
    if rows is not None:
        if not statement.explicit and measure.is_refused(*rows):
            return None
        fits |= measure.fits(statement.text, *rows, lexicon)
    if statement.explicit and EXPLICIT in names:
        fits.add(EXPLICIT)
    if statement.kind == "personal" or statement.concrete or fits:
        dated = text != statement.text
        if statement.kind == "personal" or statement.concrete:
            fits |= managed(statement.text, statement.kind, lexicon, names, dated=dated)
    if not fits or not may_be_kept(text, fits, request.topics):
        return None
    if request.third_person:
        text = third_person(text, statement.code)
    ordered = tuple(topic.name for topic in request.topics if topic.name in fits)
    return ExtractedFact(_capped(text), ordered, (statement.turn,), time, explicit=statement.explicit)


async def _statements(index: int, turn: Turn, welcome: frozenset[Secret]) -> list[_Statement]:
    """What one turn of the user states, in order.

    Args:
        welcome: the kinds of secrets that some topic or field asks for; a sentence with another is passed over.
    """
    text = unquoted(turn.text)
    turn_code = detect(text)
    found: list[_Statement] = []
    seen: set[str] = set()
    secret_follows = False
    for number, sentence in enumerate(sentences(text)):
        if number % _BREATH == _BREATH - 1:
            await asyncio.sleep(0)
        hidden, secret_follows = secret_follows, announces_secret(sentence)
        if hidden or secret_follows or kinds_in(sentence) - welcome:
            continue
        code = detect(sentence, turn_code)
        lexicon = language(code)
        asked = instruction(sentence, lexicon) or instruction(stripped(sentence, lexicon), lexicon)
        if asked and asked.kind == "ignore" and not asked.what:
            return [statement for statement in found if statement.forget]
        if asked and asked.kind != "remember":
            if asked.what:
                what, after = parted(asked.what, lexicon)
                if after and is_dismissal(what):
                    if kind(after, lexicon) == "personal":
                        found.append(_Statement(after, index, code, "personal", True))
                    continue
                found.append(_Statement(_capped(what), index, code, "personal", False, forget=True))
                if after and kind(after, lexicon) == "personal":
                    found.append(_Statement(after, index, code, "personal", True))
            elif found and not found[-1].forget:
                found.pop()
            continue
        if asked:
            found.append(_Statement(asked.what, index, code, "personal", True, explicit=True))
            continue
        if lexicon.material.search(sentence):
            break
        for statement in _stated(sentence, lexicon):
            of = kind(statement, lexicon)
            if of is None or statement in seen or kinds_in(statement) - welcome:
                continue
            seen.add(statement)
            concrete = of == "personal" or is_concrete(statement, lexicon)
            found.append(_Statement(statement, index, code, of, concrete))
    return found


def _stated(sentence: str, lexicon: Language) -> list[str]:
    """The parts of a sentence that can be facts of their own."""
    sentence = stripped(sentence.rstrip(" :："), lexicon)
    if is_question(sentence, lexicon):
        sentence = before_question(sentence, lexicon)
        if not sentence:
            return []
    return compound(sentence, lexicon, lambda part: stands_alone(part, lexicon))


def _capped(text: str) -> str:
    return text if len(text) <= LONGEST_FACT else f"{text[: LONGEST_FACT - 1].rstrip()}…"
