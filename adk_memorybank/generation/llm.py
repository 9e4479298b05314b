"""Extraction and consolidation by any model that ADK can call."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from google.genai import types

from adk_memorybank.errors import ModelOutputError, Unavailable
from adk_memorybank.generation import profiles, prompts
from adk_memorybank.generation.answers import (
    Answer,
    clean,
    field,
    numbers_of,
    read_answer,
    read_profiles,
    text_of,
)
from adk_memorybank.generation.deciding import decisions_of
from adk_memorybank.generation.fields import fields_of
from adk_memorybank.generation.generator import (
    ConsolidationRequest,
    Decision,
    ExtractedFact,
    Extraction,
    ExtractionRequest,
    FieldValue,
)
from adk_memorybank.generation.models import shape_for
from adk_memorybank.generation.plan import LONGEST_FACT, creations
from adk_memorybank.generation.splitting import Piece, split
from adk_memorybank.generation.support import Embed, Support, same_text

if TYPE_CHECKING:
    from google.adk.models.base_llm import BaseLlm

logger = logging.getLogger("google_adk.adk_memorybank.generation.llm")

T = TypeVar("T")

MOST_CANDIDATES = 40
"""Memories shown in one consolidation, the nearest of every fact first."""
DEADLINE = timedelta(seconds=60)
"""Of one call of a model. One that hangs is given up, and its operation tried again later."""
_SHORT = 20_000
"""Characters of an answer that is read in no time."""
_FORGETTING = "EXPLICIT_INSTRUCTIONS"
_ABOUT_USER = ("USER_PERSONAL_INFO", "USER_PREFERENCES", _FORGETTING)
_PASSING_CODES = ("RESOURCE_EXHAUSTED", "UNAVAILABLE", "DEADLINE_EXCEEDED", "429", "500", "502", "503", "504")
_NO_KEY = re.compile(r"no api[ _]?key|missing key inputs|api_key.*must be set", re.IGNORECASE)
"""What Google's client says where it has no credentials: no error class of its own tells it."""


class LlmGenerator:
    """A generator that asks a model: at most once for the facts of a part, and once for all decisions.

    Args:
        name: of the model.
        make: makes it, on the loop that calls it.
        embed: unit vectors, to tell a paraphrase from an invention.
        reads_media: whether the model takes images, sounds and files.
        deadline: of one call of the model.
    """

    def __init__(
        self,
        *,
        name: str,
        make: Callable[[], BaseLlm],
        embed: Embed,
        reads_media: bool = False,
        deadline: timedelta = DEADLINE,
    ) -> None:
        self.name = name
        self.reads_media = reads_media
        self._make = make
        self._embed = embed
        self._deadline = deadline.total_seconds()
        self._model: BaseLlm | None = None

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Asks for the facts of the new turns, and in the same call for the values of profiles.

        Raises:
            ModelOutputError: an answer could not be read, nor its repair.
            Unavailable, TimeoutError: a passing fault, as what the model's own client raises for one.
        """
        notes: list[str] = []
        facts: dict[tuple[str, bool], ExtractedFact] = {}
        values: list[FieldValue] = []
        fields = fields_of(request.schemas)
        instruction = prompts.extraction_instruction(request)
        schema = prompts.extraction_schema(request.topics, request.schemas)
        for pieces in split(request.turns):
            parts = prompts.extraction_parts([piece.turn for piece in pieces])
            answer, entries = await self._ask(instruction, parts, schema, read=partial(_read_extraction, request))
            if answer.cut:
                notes.append("an answer of the model broke off: its complete facts were kept")
            if answer.left_out:
                notes.append(f"{answer.left_out} facts beyond the first {len(answer.items)} of an answer were dropped")
            for fact in self._facts(answer, pieces, request, notes):
                key = (same_text(fact.fact), fact.forget)
                known = facts.get(key)
                facts[key] = fact if known is None else _joined(known, fact)
            drawn = profiles.values_of(entries, fields, request.turns, partial(_place, pieces), notes)
            values += profiles.check(drawn, fields, request.turns, notes)
        found = list(facts.values())
        texts = [*(fact.fact for fact in found), *profiles.texts_of(values, fields)]
        supported = dict(zip(texts, await Support(request, self._embed).of(texts) if texts else [], strict=True))
        # What was read off a picture has no words to be held against.
        shown = {index for index, turn in enumerate(request.turns) if turn.media}
        kept = [fact for fact in found if supported[fact.fact] or shown.intersection(fact.turns)]
        said = same_text("\n".join(turn.text for turn in request.turns))
        values = profiles.keep_supported(values, fields, lambda text: same_text(text) in said or supported[text], notes)
        if len(kept) < len(found):
            notes.append(f"{len(found) - len(kept)} facts without support in the events were dropped")
        for note in notes:
            logger.warning("%s: %s", self.name, note)
        return Extraction(kept, notes, values)

    async def consolidate(self, request: ConsolidationRequest) -> list[Decision]:
        """Asks what the facts change. Not asked where there is nothing to compare them with.

        Raises:
            ModelOutputError: the answer could not be read, nor its repair.
        """
        shown = _shown(request)
        if not shown:
            return creations(request.facts)
        answer = await self._ask(
            prompts.consolidation_instruction(),
            [types.Part(text=prompts.consolidation_contents(request, shown))],
            prompts.consolidation_schema(),
            read=lambda said, _: read_answer(said, name="decisions", key="action"),
        )
        return decisions_of(answer.items, request, shown)

    async def _ask(
        self, instruction: str, parts: list[types.Part], schema: types.Schema, *, read: Callable[[str, bool], T]
    ) -> T:
        """One question, and where its answer can't be read one attempt to repair it.

        Args:
            read: the answer, and whether it is the last attempt.
        """
        question = types.Content(role="user", parts=parts)
        said = await self._call(instruction, [question], schema)
        try:
            return await _off_the_loop(read, said, False)
        except ModelOutputError as problem:
            logger.warning("%s gave an answer that can't be read (%s), it is asked once more", self.name, problem)
            history = [
                question,
                types.Content(role="model", parts=[types.Part(text=said[:20_000] or "(nothing)")]),
                types.Content(role="user", parts=[types.Part(text=prompts.repair_contents(str(problem)))]),
            ]
        try:
            said = await self._call(instruction, history, schema)
            return await _off_the_loop(read, said, True)
        except ModelOutputError as problem:
            raise ModelOutputError(f"{self.name}, asked twice: {problem}") from None

    async def _call(self, instruction: str, contents: list[types.Content], schema: types.Schema) -> str:
        from google.adk.models.llm_request import LlmRequest

        if self._model is None:
            self._model = self._make()
        model = self._model
        config = types.GenerateContentConfig(
            system_instruction=instruction,
            response_schema=shape_for(model, schema),
            response_mime_type="application/json",
            temperature=0.0,
        )
        request = LlmRequest(model=model.model, contents=contents, config=config)
        try:
            async with asyncio.timeout(self._deadline):
                responses = [response async for response in model.generate_content_async(request, stream=False)]
        except TimeoutError as error:
            raise Unavailable(f"{self.name} gave no answer within {self._deadline:g} seconds") from error
        except ValueError as error:
            if not _NO_KEY.search(str(error)):
                raise
            raise Unavailable(f"{self.name} has no credentials: {error}") from error
        texts: list[str] = []
        for response in responses:
            parts = (response.content.parts or []) if response.content else []
            if response.error_code:
                code = str(getattr(response.error_code, "value", response.error_code))
                message = f"{self.name}: {code}: {response.error_message or ''}"
                if code in _PASSING_CODES:
                    raise Unavailable(message)
                if not parts:
                    raise ModelOutputError(message)
            texts += [part.text for part in parts if part.text and not part.thought]
        return clean("".join(texts))

    def _facts(
        self, answer: Answer, pieces: Sequence[Piece], request: ExtractionRequest, notes: list[str]
    ) -> list[ExtractedFact]:
        """The good facts of an answer, checked against what was asked."""
        topics = {_spelling(topic.name): topic.name for topic in request.topics}
        user_spoke = any(turn.new and turn.role == "user" for turn in request.turns)
        facts: list[ExtractedFact] = []
        for item in answer.items:
            text = text_of(field(item, "fact"))
            forget = str(field(item, "action") or "").casefold() in ("delete", "forget")
            named = _named_topics(item, topics)
            piece = _piece(item, pieces, text)
            if not text or len(text) > LONGEST_FACT:
                notes.append(f"a fact of {len(text)} characters was dropped")
            elif not (named or forget) or (forget and _FORGETTING not in topics.values()):
                notes.append("a fact that fits no configured topic was dropped")
            elif piece is None:
                notes.append("a fact that names no new event was dropped")
            elif piece.turn.role == "model" and (
                forget or (user_spoke and all(topic in _ABOUT_USER for topic in named))
            ):
                notes.append("what the assistant said was not taken for the user's word")
            else:
                facts.append(
                    ExtractedFact(
                        fact=text,
                        topics=(_FORGETTING,) if forget else named,
                        turns=(piece.index,),
                        time=piece.turn.time,
                        forget=forget,
                        explicit=_FORGETTING in named,
                    )
                )
        return facts


async def _off_the_loop(read: Callable[[str, bool], T], said: str, last: bool) -> T:
    """Reads an answer; a long one may take its time."""
    return read(said, last) if len(said) <= _SHORT else await asyncio.to_thread(read, said, last)


def _read_extraction(request: ExtractionRequest, said: str, last: bool) -> tuple[Answer, list[Mapping[str, Any]]]:
    """The facts of an answer and the entries of profiles, as far as each was asked for.

    Without readable facts the answer is good only where it says nothing else than profiles, or in the last attempt.
    """
    if not request.schemas:
        return read_answer(said, name="facts", key="fact"), []
    given, alone = read_profiles(said)
    entries = profiles.entries_of(given)
    if not request.topics:
        if given is None:
            raise ModelOutputError("there is no list 'profiles' in the answer")
        return Answer([]), entries
    if given is not None and alone:
        return Answer([]), entries
    try:
        answer = read_answer(said, name="facts", key="fact")
    except ModelOutputError:
        if given is None or not last:
            raise
        return Answer([]), entries
    # Where the lists could not be told apart, an entry of a profile is no fact.
    return replace(answer, items=[one for one in answer.items if not ("field" in one and "value" in one)]), entries


def _place(pieces: Sequence[Piece], item: Mapping[str, Any], text: str) -> int | None:
    """The turn that a value names, as an index into the request's."""
    piece = _piece(item, pieces, text)
    return None if piece is None else piece.index


def _named_topics(item: Mapping[str, Any], topics: Mapping[str, str]) -> tuple[str, ...]:
    given = field(item, "topic")
    values: list[Any] = list(given) if isinstance(given, list) else [given]
    known = [topics[spelling] for value in values if (spelling := _spelling(text_of(value))) in topics]
    return tuple(dict.fromkeys(known))


def _spelling(topic: str) -> str:
    """As a topic's name is compared: models change its case, and its underscores to spaces."""
    return re.sub(r"[\s_-]+", "_", topic.strip()).casefold()


def _piece(item: Mapping[str, Any], pieces: Sequence[Piece], text: str) -> Piece | None:
    """The new event that a fact names; where it names none, the only one, or the one that says it."""
    for number in numbers_of(field(item, "event")):
        if 1 <= number <= len(pieces) and pieces[number - 1].turn.new:
            return pieces[number - 1]
    new = [piece for piece in pieces if piece.turn.new]
    if len(new) == 1:
        return new[0]
    said = [piece for piece in new if same_text(text) in same_text(piece.turn.text)]
    return said[0] if text and said else None


def _joined(first: ExtractedFact, second: ExtractedFact) -> ExtractedFact:
    """One fact that two parts of a conversation gave."""
    times = [time for time in (first.time, second.time) if time is not None]
    return replace(
        first,
        turns=tuple(dict.fromkeys((*first.turns, *second.turns))),
        topics=tuple(dict.fromkeys((*first.topics, *second.topics))),
        time=max(times, default=None),
    )


def _shown(request: ConsolidationRequest) -> list[int]:
    """Indices of the candidates that are shown: by turns the next nearest of each fact."""
    rounds = max((len(proposed) for proposed in request.proposed), default=0)
    in_turn = [proposed[place] for place in range(rounds) for proposed in request.proposed if place < len(proposed)]
    return list(dict.fromkeys(in_turn))[:MOST_CANDIDATES]
