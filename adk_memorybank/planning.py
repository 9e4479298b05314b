"""From what a request or a generator wants to the changes of the records, by the bank's configuration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from adk_memorybank.config import CustomizationConfig, ManagedSemanticMemoryConfig
from adk_memorybank.generation import dates, profiles
from adk_memorybank.generation.fields import fields_of
from adk_memorybank.generation.generator import Decision, ExtractedFact, FieldValue, Turn
from adk_memorybank.generation.secrets import announces_secret, contains_secret
from adk_memorybank.generation.topics import Example, Topic
from adk_memorybank.generation.words import detect
from adk_memorybank.options import GenerationOptions, MemoryOptions, MetadataMergeStrategy, RevisionOptions
from adk_memorybank.parts import BankParts
from adk_memorybank.resources import ExtractedMemory, Memory, Scope, Source
from adk_memorybank.retrieval import words
from adk_memorybank.storage.changes import Change, NewRevision
from adk_memorybank.storage.profiles import StoredFields, value_of

_BEFORE = 2
"""How many turns before a fact's own its context takes in: of 1, 2, 3 and 6 two found most."""


def change_of(
    decision: Decision,
    target: tuple[Memory, int] | None,
    *,
    facts: Sequence[ExtractedFact],
    turns: Sequence[Turn],
    bank: BankParts,
    options: GenerationOptions,
    now: datetime,
) -> Change:
    """The change of the records that a checked decision stands for."""
    behind = [facts[index] for index in decision.facts]
    sources = _sources(turns, behind)
    times = [fact.time for fact in behind if fact.time is not None]
    revision = revision_of(
        options.revision, bank.config, now=now, extracted=[ExtractedMemory(fact=fact.fact) for fact in behind]
    )
    if decision.action == "delete":
        # What was to be forgotten is not kept with the revision that says so.
        revision = None if revision is None else replace(revision, extracted=())
    change = Change(
        action=decision.action,
        memory_id=None if target is None else target[0].id,
        fact_version=None if target is None else target[1],
        fact=decision.fact,
        topics=_topics_after(decision, None if target is None else target[0]),
        sources=sources,
        add_sources=not decision.replaces,
        context=_context(turns, behind),
        event_time=max(times, default=None),
        metadata=options.metadata or None,
        add_metadata=options.metadata_merge_strategy is not MetadataMergeStrategy.OVERWRITE,
        revision=revision,
    )
    ttl = bank.config.ttl_config.ttl_of("generate_created" if target is None else "generate_updated")
    return change if ttl is None else replace(change, expire_time=now + ttl, set_expiry=True)


def field_changes(
    values: Sequence[FieldValue],
    stored: StoredFields,
    *,
    scope: Scope,
    turns: Sequence[Turn],
    bank: BankParts,
    options: GenerationOptions,
    now: datetime,
) -> tuple[list[Change], list[str]]:
    """The changes of the records that checked values of profiles stand for, and notes of what was left out.

    There is one memory for each field, whatever a request says of consolidation and of metadata that has to match.
    """
    notes: list[str] = []
    made: list[Change] = []
    fields = fields_of(bank.config.structured_for(scope).schema_configs)
    for key in dict.fromkeys((value.schema_id, value.field) for value in values):
        if key not in fields:
            continue
        of_field = [value for value in values if (value.schema_id, value.field) == key]
        memory = stored.get(key)
        settled = profiles.settle(
            of_field,
            fields[key],
            present=memory is not None,
            current=None if memory is None else value_of(memory, key[1]),
            time=None if memory is None else said_at(memory),
            notes=notes,
        )
        if settled is not None:
            made.append(_field_change(settled, key, memory, turns=turns, bank=bank, options=options, now=now))
    return made, notes


def said_at(memory: Memory) -> datetime | None:
    """When the newest source of a memory was said: at the latest when the memory was written.

    A wrong clock dates events in the future. What is said after them would never take their place.
    """
    return memory.event_time and min(memory.event_time, memory.update_time)


def _field_change(
    settled: profiles.Settled,
    key: tuple[str, str],
    memory: Memory | None,
    *,
    turns: Sequence[Turn],
    bank: BankParts,
    options: GenerationOptions,
    now: datetime,
) -> Change:
    schema_id, name = key
    memory_id = None if memory is None else memory.id
    said = [value for value in settled.behind if not value.forget]
    extracted = [ExtractedMemory(fact="", structured_data={name: value.value}) for value in said]
    if settled.action == "delete":
        return Change(
            action="delete", memory_id=memory_id, revision=revision_of(options.revision, bank.config, now=now)
        )
    change = Change(
        action=settled.action,
        memory_id=memory_id,
        structured_content={"schema_id": schema_id, "data": {name: settled.value}},
        sources=_sources(turns, settled.behind),
        add_sources=not settled.replaces,
        event_time=max((value.time for value in settled.behind if value.time is not None), default=None),
        metadata=options.metadata or None,
        add_metadata=options.metadata_merge_strategy is not MetadataMergeStrategy.OVERWRITE,
        revision=revision_of(options.revision, bank.config, now=now, extracted=extracted),
    )
    ttl = bank.config.ttl_config.ttl_of("generate_created" if memory is None else "generate_updated")
    return change if ttl is None else replace(change, expire_time=now + ttl, set_expiry=True)


def _sources(turns: Sequence[Turn], behind: Iterable[ExtractedFact | FieldValue]) -> list[Source]:
    """The events that facts or values were drawn from, each once."""
    heard = dict.fromkeys(turns[index] for one in behind for index in one.turns)
    return [Source(session_id=turn.session_id, event_id=turn.event_id) for turn in heard]


def _context(turns: Sequence[Turn], behind: Iterable[ExtractedFact]) -> bytes | None:
    """The words, as numbers, of the turns that facts were drawn from, of those just before them, and of their days.

    A fact is often the answer to what was asked before, and a question about it uses the words of either. Nothing of a
    turn that gives a secret away.
    """
    sources = sorted({index for fact in behind for index in fact.turns})
    places = sorted({place for index in sources for place in range(max(0, index - _BEFORE), index + 1)})
    texts = [turns[place].text for place in places if not _gives_a_secret(turns, place)]
    code = detect(" ".join(texts))
    days = dict.fromkeys(time.date() for index in sources if (time := turns[index].time) is not None)
    return words.terms(" ".join([*texts, *(dates.spelled(day, code) for day in days)])).tobytes() or None


def _gives_a_secret(turns: Sequence[Turn], place: int) -> bool:
    asked = place > 0 and announces_secret(turns[place - 1].text)
    return asked or contains_secret(turns[place].text)


def _topics_after(decision: Decision, target: Memory | None) -> list[str]:
    known = [] if target is None or decision.replaces else target.topics
    return list(dict.fromkeys([*known, *decision.topics])) or ([] if target is None else target.topics)


def creation_of(fact: str, options: MemoryOptions, config: ManagedSemanticMemoryConfig, *, now: datetime) -> Change:
    """The change that stores one memory as it stands."""
    ttl = options.ttl or (None if options.expire_time else config.ttl_config.ttl_of("create"))
    return Change(
        action="create",
        memory_id=options.memory_id,
        fact=fact,
        topics=options.topics,
        event_time=options.event_time,
        author=options.author,
        metadata=options.metadata,
        display_name=options.display_name,
        description=options.description,
        expire_time=now + ttl if ttl else options.expire_time,
        revision=revision_of(options.revision, config, now=now),
    )


def revision_of(
    options: RevisionOptions,
    config: ManagedSemanticMemoryConfig,
    *,
    now: datetime,
    extracted: Sequence[ExtractedMemory] = (),
) -> NewRevision | None:
    """The revision that a change makes; None where the request, or else the bank, wants none."""
    disabled = config.disable_memory_revisions if options.disabled is None else options.disabled
    if disabled:
        return None
    expire_time = options.expire_time or now + (options.ttl or config.ttl_config.revision_ttl)
    return NewRevision(labels=options.labels, expire_time=expire_time, extracted=extracted)


def topics_of(customization: CustomizationConfig) -> list[Topic]:
    """The configured topics, as a generator reads them."""
    return [
        Topic(name=topic.name, description=topic.description, custom=True)
        if topic.description is not None
        else Topic.managed(topic.name)
        for topic in customization.memory_topics
    ]


def examples_of(customization: CustomizationConfig) -> list[Example]:
    """The configured few-shot examples, as a generator reads them."""
    return [Example(turns=example.turns, facts=example.facts) for example in customization.generate_memories_examples]
