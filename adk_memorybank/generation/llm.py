"""Extraction and consolidation by any model that ADK can call."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from google.genai import types

from adk_memorybank.errors import ModelOutputError, Unavailable
from adk_memorybank.generation import prompts
from adk_memorybank.generation.answers import Answer, field, numbers_of, read_answer, text_of
from adk_memorybank.generation.generator import (
    ConsolidationRequest,
    Decision,
    ExtractedFact,
    Extraction,
    ExtractionRequest,
)
from adk_memorybank.generation.plan import LONGEST_FACT, creations
from adk_memorybank.generation.splitting import Piece, split
from adk_memorybank.generation.support import Embed, Support, same_text

if TYPE_CHECKING:
    from google.adk.models.base_llm import BaseLlm

logger = logging.getLogger("google_adk.adk_memorybank.generation.llm")

MOST_CANDIDATES = 40
"""Memories shown in one consolidation, the nearest of every fact first."""
_FORGETTING = "EXPLICIT_INSTRUCTIONS"
_ABOUT_USER = ("USER_PERSONAL_INFO", "USER_PREFERENCES")
_PASSING_CODES = ("RESOURCE_EXHAUSTED", "UNAVAILABLE", "DEADLINE_EXCEEDED", "429", "500", "503", "504")


class LlmGenerator:
    """A generator that asks a model: at most once for the facts of a part, and once for all decisions.

    Args:
        name: of the model.
        make: makes it, on the loop that calls it.
        embed: unit vectors, to tell a paraphrase from an invention.
    """

    def __init__(self, *, name: str, make: Callable[[], BaseLlm], embed: Embed) -> None:
        self.name = name
        self._make = make
        self._embed = embed
        self._model: BaseLlm | None = None

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Asks for the facts of the new turns.

        Raises:
            ModelOutputError: an answer could not be read, nor its repair.
        """
        notes: list[str] = []
        facts: dict[tuple[str, bool], ExtractedFact] = {}
        instruction = prompts.extraction_instruction(request)
        schema = prompts.extraction_schema(request.topics)
        for pieces in split(request.turns):
            contents = prompts.extraction_contents([piece.turn for piece in pieces])
            answer = await self._ask(instruction, contents, schema, name="facts", key="fact")
            if answer.cut:
                notes.append("an answer of the model broke off: its complete facts were kept")
            for fact in self._facts(answer, pieces, request, notes):
                key = (same_text(fact.fact), fact.forget)
                known = facts.get(key)
                facts[key] = fact if known is None else _joined(known, fact)
        found = list(facts.values())
        supported = await Support(request, self._embed).of([fact.fact for fact in found]) if found else []
        kept = [fact for fact, good in zip(found, supported, strict=True) if good]
        if len(kept) < len(found):
            notes.append(f"{len(found) - len(kept)} facts without support in the events were dropped")
        for note in notes:
            logger.warning("%s: %s", self.name, note)
        return Extraction(kept, notes)

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
            prompts.consolidation_contents(request, shown),
            prompts.consolidation_schema(),
            name="decisions",
            key="action",
        )
        return _decisions(answer, request, shown)

    async def _ask(self, instruction: str, contents: str, schema: types.Schema, *, name: str, key: str) -> Answer:
        """One question, and where its answer can't be read one attempt to repair it."""
        question = types.Content(role="user", parts=[types.Part(text=contents)])
        said = await self._call(instruction, [question], schema)
        try:
            return read_answer(said, name=name, key=key)
        except ModelOutputError as problem:
            logger.warning("%s gave an answer that can't be read (%s), it is asked once more", self.name, problem)
            history = [
                question,
                types.Content(role="model", parts=[types.Part(text=said[:20_000] or "(nothing)")]),
                types.Content(role="user", parts=[types.Part(text=prompts.repair_contents(str(problem)))]),
            ]
        try:
            return read_answer(await self._call(instruction, history, schema), name=name, key=key)
        except ModelOutputError as problem:
            raise ModelOutputError(f"{self.name}, asked twice: {problem}") from None

    async def _call(self, instruction: str, contents: list[types.Content], schema: types.Schema) -> str:
        from google.adk.models.llm_request import LlmRequest

        if self._model is None:
            self._model = self._make()
        config = types.GenerateContentConfig(
            system_instruction=instruction,
            response_schema=schema,
            response_mime_type="application/json",
            temperature=0.0,
        )
        request = LlmRequest(model=self._model.model, contents=contents, config=config)
        texts: list[str] = []
        async for response in self._model.generate_content_async(request, stream=False):
            if response.error_code:
                message = f"{self.name}: {response.error_code}: {response.error_message or ''}"
                if any(code in str(response.error_code) for code in _PASSING_CODES):
                    raise Unavailable(message)
                if not (response.content and response.content.parts):
                    raise ModelOutputError(message)
            parts = (response.content.parts or []) if response.content else []
            texts += [part.text for part in parts if part.text and not part.thought]
        return "".join(texts)

    def _facts(
        self, answer: Answer, pieces: Sequence[Piece], request: ExtractionRequest, notes: list[str]
    ) -> list[ExtractedFact]:
        """The good facts of an answer, checked against what was asked."""
        topics = {topic.name.casefold(): topic.name for topic in request.topics}
        user_spoke = any(turn.new and turn.role == "user" for turn in request.turns)
        facts: list[ExtractedFact] = []
        for item in answer.items:
            text = text_of(field(item, "fact"))
            forget = str(field(item, "action") or "").casefold() in ("delete", "forget")
            named = _named_topics(item, topics)
            piece = _piece(item, pieces, text)
            if not text or len(text) > LONGEST_FACT:
                notes.append(f"a fact of {len(text)} characters was dropped")
            elif not named or (forget and _FORGETTING not in topics.values()):
                notes.append("a fact that fits no configured topic was dropped")
            elif piece is None:
                notes.append("a fact that names no new event was dropped")
            elif piece.turn.role == "model" and user_spoke and all(topic in _ABOUT_USER for topic in named):
                notes.append("what the assistant said was not kept as a fact about the user")
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


def _named_topics(item: Mapping[str, Any], topics: Mapping[str, str]) -> tuple[str, ...]:
    given = field(item, "topic")
    values: list[Any] = list(given) if isinstance(given, list) else [given]
    known = [topics[text.casefold()] for value in values if (text := text_of(value)).casefold() in topics]
    return tuple(dict.fromkeys(known))


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


def _decisions(answer: Answer, request: ConsolidationRequest, shown: Sequence[int]) -> list[Decision]:
    """An answer's decisions, in such a way that no fact is lost and none is stored twice."""
    by_text = {same_text(request.candidates[index].fact): index for index in shown}
    decisions: list[Decision] = []
    covered: set[int] = set()
    for item in answer.items:
        action = str(field(item, "action") or "").casefold()
        facts = tuple(number - 1 for number in numbers_of(field(item, "new")) if 1 <= number <= len(request.facts))
        numbers = [number for number in numbers_of(field(item, "memory")) if 1 <= number <= len(shown)]
        if not facts or action not in ("create", "add", "update", "delete"):
            continue
        candidate = shown[numbers[0] - 1] if numbers else None
        if action == "delete" and all(request.facts[fact].forget for fact in facts):
            named = [shown[number - 1] for number in numbers]
            decisions += [Decision(action="delete", facts=facts, candidate=memory) for memory in named]
            covered.update(facts)
            continue
        decisions.append(_kept(item, facts, candidate, request, by_text, deletes=action == "delete"))
        covered.update(facts)
    for index, fact in enumerate(request.facts):
        if index not in covered and not fact.forget:
            decisions.append(_kept({}, (index,), None, request, by_text, deletes=False))
    return decisions


def _kept(
    item: Mapping[str, Any],
    facts: tuple[int, ...],
    candidate: int | None,
    request: ConsolidationRequest,
    by_text: Mapping[str, int],
    *,
    deletes: bool,
) -> Decision:
    """A creation or an update. A deletion by a fact that says something becomes an update: the fact must stay."""
    kept = tuple(fact for fact in facts if not request.facts[fact].forget) or facts
    newest = request.facts[kept[-1]]
    text = "" if deletes else text_of(item.get("fact"))
    if not text or len(text) > LONGEST_FACT:
        text = newest.fact
    # The same text elsewhere is the same memory, whatever number was named.
    candidate = by_text.get(same_text(text), candidate)
    topics = tuple(dict.fromkeys(topic for fact in kept for topic in request.facts[fact].topics))
    if candidate is None:
        return Decision(action="create", facts=kept, fact=text, topics=topics)
    before = same_text(request.candidates[candidate].fact)
    return Decision(
        action="update",
        facts=kept,
        candidate=candidate,
        fact=text,
        topics=topics,
        replaces=before not in same_text(text),
    )
