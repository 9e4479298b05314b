"""One operation, from its events to its end: transcript, extraction, candidates, consolidation, plan, commit."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from adk_memorybank.clock import Clock, to_micros
from adk_memorybank.errors import Cancelled, Unavailable
from adk_memorybank.generation import plan, profiles
from adk_memorybank.generation.fields import fields_of
from adk_memorybank.generation.forgetting import keys_of_fact, keys_of_wish
from adk_memorybank.generation.generator import (
    Candidate,
    ConsolidationRequest,
    Decision,
    ExtractedFact,
    Extraction,
    ExtractionRequest,
    FieldValue,
    Turn,
)
from adk_memorybank.generation.secrets import announces_secret, contains_secret
from adk_memorybank.generation.topics import may_be_kept
from adk_memorybank.generation.transcript import read_turns
from adk_memorybank.operations.queue import Queue, Work
from adk_memorybank.operations.streams import Streams
from adk_memorybank.options import GenerationOptions, MetadataMergeStrategy
from adk_memorybank.parts import BankParts
from adk_memorybank.planning import change_of, examples_of, field_changes, said_at, topics_of
from adk_memorybank.resources import Action, Memory
from adk_memorybank.retrieval import ranking, words
from adk_memorybank.retrieval.reader import ViewReader
from adk_memorybank.storage import changes, records, wishes
from adk_memorybank.storage.changes import Applied
from adk_memorybank.storage.database import Database
from adk_memorybank.storage.profiles import read_fields
from adk_memorybank.storage.records import ScopeRow
from adk_memorybank.storage.vectors import vector_id
from adk_memorybank.storage.wishes import Wish

logger = logging.getLogger("google_adk.adk_memorybank.pipeline")

CANDIDATES = 10
"""Memories looked up for a fact."""
FORGET_CANDIDATES = 50
"""Memories looked up for a request to forget: it may be about many."""
DEADLINE = timedelta(minutes=10)
"""Of one extraction or consolidation, whatever the generator is. One that asks a model has a deadline of its own for
each call (`llm.DEADLINE`): a long input takes many of them."""
_REPLANS = 3


@dataclass(frozen=True, slots=True)
class _Candidates:
    memories: list[tuple[Memory, int]]
    request: ConsolidationRequest


class Pipeline:
    """Runs operations. One transaction reads the events, one applies all that was decided."""

    def __init__(
        self,
        *,
        database: Database,
        queue: Queue,
        streams: Streams,
        reader: ViewReader,
        clock: Clock,
        deadline: timedelta = DEADLINE,
    ) -> None:
        self._database = database
        self._queue = queue
        self._streams = streams
        self._reader = reader
        self._clock = clock
        self._deadline = deadline.total_seconds()

    async def run(self, work: Work, bank: BankParts) -> None:
        """Does one operation.

        Raises:
            Cancelled: it was cancelled, or its scope forgotten, before the commit; nothing was changed.
            Exception: what the generator, the embedder or the store raised; nothing was changed.
        """
        async with self._database.read() as connection:
            scope = await records.get_scope(connection, scope_id=work.scope_id)
            window = await self._streams.window(
                connection, work=work, default_rule=bank.config.generation_config.default_rule
            )
        notes: list[str] = []
        values: list[FieldValue] = []
        if work.direct_memories is not None:
            turns: list[Turn] = []
            facts = [ExtractedFact(entry["fact"], tuple(entry["topics"]), ()) for entry in work.direct_memories]
        else:
            turns = await asyncio.to_thread(read_turns, window.events)
            extraction = await self._extract(turns, bank, scope, work.options)
            extraction = await self._still_wanted(work, extraction)
            facts, values, notes = extraction.facts, extraction.values, extraction.notes
        vectors = await self._embed(facts, bank)
        for _ in range(_REPLANS):
            try:
                applied = await self._consolidate(work, bank, turns, facts, values, vectors, notes)
            except changes.Conflict:
                continue  # somebody corrected a memory meanwhile: decide again on what is there now
            done = Counter(change.action for change in applied)
            logger.info(
                "operation %s: %d created, %d updated, %d deleted",
                work.id,
                *(done[action] for action in (Action.CREATED, Action.UPDATED, Action.DELETED)),
            )
            try:
                await self._keep_vectors(applied, bank, facts, vectors)
            except Exception as error:  # noqa: BLE001  the operation has ended: no fault can undo that
                logger.warning("the vectors of operation %s are made at the next read: %s", work.id, error)
            return
        raise Unavailable("the memories of this scope changed each time while they were consolidated")

    async def _extract(
        self, turns: Sequence[Turn], bank: BankParts, scope: ScopeRow, options: GenerationOptions
    ) -> Extraction:
        if not any(turn.new for turn in turns):
            return Extraction()
        customization = bank.config.customization_for(scope.pairs)
        topics = [
            topic
            for topic in topics_of(customization)
            if options.allowed_topics is None or topic.name in options.allowed_topics
        ]
        if customization.disable_natural_language_memories:
            topics = []
        schemas = [one for one in bank.config.structured_for(scope.pairs).schema_configs if one.properties]
        if not topics and not schemas:
            return Extraction()
        request = ExtractionRequest(
            turns=turns,
            topics=topics,
            examples=examples_of(customization),
            third_person=customization.enable_third_person_memories,
            schemas=schemas,
        )
        async with asyncio.timeout(self._deadline):
            extraction = await bank.generator.extract(request)
        found = extraction.facts if topics else []
        everywhere = [topic.name for topic in topics]  # a wish to forget may be about any of them
        kept = [fact for fact in found if may_be_kept(fact.fact, everywhere if fact.forget else fact.topics, topics)]
        notes = [*extraction.notes]
        if len(kept) < len(found):
            notes.append(f"{len(found) - len(kept)} facts with a secret in them were dropped")
        return Extraction(kept, notes, profiles.check(extraction.values, fields_of(schemas), turns, notes))

    async def _still_wanted(self, work: Work, extraction: Extraction) -> Extraction:
        """What was extracted without what was said before a wish to forget it, and is read after it."""
        async with self._database.read() as connection:
            kept = await wishes.read_wishes(connection, scope_id=work.scope_id)
        if not kept:
            return extraction

        def is_wanted(said: ExtractedFact | FieldValue) -> bool:
            newer = [wish for wish in kept if said.time is not None and said.time < wish.time]
            if said.forget or not newer:
                return True
            is_fact = isinstance(said, ExtractedFact)
            keys = self._hashed(work, keys_of_fact(said.fact) if is_fact else [_field_key(said)])
            return not any(wish.keys <= keys for wish in newer if wish.keys or is_fact)

        facts = [fact for fact in extraction.facts if is_wanted(fact)]
        values = [value for value in extraction.values if is_wanted(value)]
        dropped = len(extraction.facts) - len(facts) + len(extraction.values) - len(values)
        notes = [f"{dropped} facts older than a wish to forget them were dropped"] if dropped else []
        return Extraction(facts, [*extraction.notes, *notes], values)

    def _wishes(
        self, work: Work, facts: Sequence[ExtractedFact], values: Sequence[FieldValue], now: datetime
    ) -> list[Wish]:
        """The wishes to forget among what was said."""
        found = [(fact.time, keys) for fact in facts if fact.forget for keys in keys_of_wish(fact.fact)]
        found += [(one.time, frozenset({_field_key(one)})) for one in values if one.forget and one.value is None]
        return [Wish(self._hashed(work, keys), min(time or now, now)) for time, keys in found]

    def _hashed(self, work: Work, keys: Iterable[str]) -> frozenset[str]:
        return wishes.hashed(keys, secret=self._database.secret, scope_id=work.scope_id)

    async def _embed(self, facts: Sequence[ExtractedFact], bank: BankParts) -> NDArray[float32]:
        if not facts:
            return np.zeros((0, bank.embedder.dimension), np.float32)
        return await bank.embedder.embed([fact.fact for fact in facts])

    async def _consolidate(
        self,
        work: Work,
        bank: BankParts,
        turns: Sequence[Turn],
        facts: Sequence[ExtractedFact],
        values: Sequence[FieldValue],
        vectors: NDArray[float32],
        notes: Sequence[str],
    ) -> list[Applied]:
        decided: list[tuple[Decision, tuple[Memory, int] | None]] = []
        if facts and work.options.disable_consolidation:
            decided = [(decision, None) for decision in plan.creations(facts)]
        elif facts:
            found = await self._candidates(work, bank, facts, vectors)
            async with asyncio.timeout(self._deadline):
                decisions = await bank.generator.consolidate(found.request)
            given = () if work.direct_memories is None else facts  # these are kept word for word, however long
            longest = max([plan.LONGEST_FACT, *(len(fact.fact) for fact in given)])
            checked = plan.check(decisions, found.request, longest=longest)
            notes = [*notes, *checked.notes]
            decided = [
                (decision, None if decision.candidate is None else found.memories[decision.candidate])
                for decision in checked.decisions
            ]
        return await self._commit(work, bank, turns, facts, values, decided, notes)

    async def _commit(
        self,
        work: Work,
        bank: BankParts,
        turns: Sequence[Turn],
        facts: Sequence[ExtractedFact],
        values: Sequence[FieldValue],
        decided: Sequence[tuple[Decision, tuple[Memory, int] | None]],
        notes: Sequence[str],
    ) -> list[Applied]:
        now = self._clock.now()
        planned = [
            change_of(decision, target, facts=facts, turns=turns, bank=bank, options=work.options, now=now)
            for decision, target in decided
        ]
        secret = await asyncio.to_thread(_with_secrets, turns)
        async with self._database.write() as connection:
            if not await self._queue.is_current(connection, work=work):
                raise Cancelled("it was cancelled, or its scope was forgotten, while it ran")
            scope = await records.get_scope(connection, scope_id=work.scope_id)
            if values:  # no model is asked for them: they are settled with what is there at this moment
                stored = await read_fields(connection, scope=scope, now=now)
                settled, left_out = field_changes(
                    values, stored, scope=scope.pairs, turns=turns, bank=bank, options=work.options, now=now
                )
                planned, notes = [*planned, *settled], [*notes, *left_out]
            applied = await changes.apply(connection, scope=scope, changes=planned, now=now)
            asked = self._wishes(work, facts, values, now)
            await wishes.add_wishes(connection, scope_id=scope.id, wishes=asked, now=now)
            await self._queue.finish(connection, work=work, applied=applied, notes=notes)
            await self._streams.finish(
                connection, work=work, default_rule=bank.config.generation_config.default_rule, secret=secret
            )
        return applied

    async def _candidates(
        self, work: Work, bank: BankParts, facts: Sequence[ExtractedFact], vectors: NDArray[float32]
    ) -> _Candidates:
        """For each fact the memories that are nearest to it, by meaning and by words."""
        async with self._database.read() as connection:
            scope = await records.get_scope(connection, scope_id=work.scope_id)
        view = await self._reader.view(scope=scope, embedder=bank.embedder, collection=bank.collection)
        now = to_micros(self._clock.now())
        ranked = [
            ranking.rank(
                view,
                query_vector=vectors[index],
                query_terms=words.terms(fact.fact),
                top_k=FORGET_CANDIDATES if fact.forget else CANDIDATES,
                now=now,
            )
            for index, fact in enumerate(facts)
        ]
        places = list(dict.fromkeys(int(place) for one in ranked for place in one.indices))
        async with self._database.read() as connection:
            ids = [view.ids[place] for place in places]
            present = await records.read_memories(
                connection, bank_id=bank.id, scope_id=scope.id, scope=scope.pairs, ids=ids
            )
            weighed = bank.config.customization_for(scope.pairs).consolidation_config.revisions_per_candidate_count
            earlier: dict[str, tuple[str, ...]] = {}
            if weighed > 1:
                earlier = await records.list_earlier_facts(connection, scope_id=scope.id, ids=ids, most=weighed - 1)
        exact = work.options.metadata_merge_strategy is MetadataMergeStrategy.REQUIRE_EXACT_MATCH
        places = [
            place
            for place in places
            if view.ids[place] in present
            and not (exact and present[view.ids[place]][0].metadata != work.options.metadata)
        ]
        ordinals = {place: ordinal for ordinal, place in enumerate(places)}
        offered = [present[view.ids[place]] for place in places]
        request = ConsolidationRequest(
            facts=facts,
            candidates=[
                Candidate(
                    fact=memory.fact,
                    topics=tuple(memory.topics),
                    time=said_at(memory),
                    earlier=earlier.get(memory.id, ()),
                )
                for memory, _ in offered
            ],
            proposed=[[ordinals[int(place)] for place in one.indices if int(place) in ordinals] for one in ranked],
        )
        return _Candidates(offered, request)

    async def _keep_vectors(
        self, applied: Sequence[Applied], bank: BankParts, facts: Sequence[ExtractedFact], vectors: NDArray[float32]
    ) -> None:
        """Writes the vectors of new facts. They were made already, save where consolidation wrote another text."""
        made = {fact.fact: vectors[index] for index, fact in enumerate(facts)}
        renewed = [change for change in applied if change.fact_version is not None]
        other = list(dict.fromkeys(change.fact for change in renewed if change.fact not in made))
        if other:
            made |= dict(zip(other, await bank.embedder.embed(other), strict=True))
        named = {
            vector_id(change.memory_id, change.fact_version): made[change.fact]
            for change in renewed
            if change.fact_version is not None
        }
        await self._reader.keep(bank_id=bank.id, collection=bank.collection, vectors=named)


def _with_secrets(turns: Sequence[Turn]) -> set[tuple[str, str]]:
    """The new turns that give a secret away, by session and event id; also the answer to one that ends by naming it."""
    before = ["", *(turn.text for turn in turns)]
    return {
        (turn.session_id, turn.event_id)
        for last, turn in zip(before, turns, strict=False)
        if turn.new and (contains_secret(turn.text) or announces_secret(last))
    }


def _field_key(value: FieldValue) -> str:
    return f"field {value.schema_id} {value.field}"
