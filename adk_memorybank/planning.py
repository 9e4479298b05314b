"""From what a request or a generator wants to the changes of the records, by the bank's configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from adk_memorybank.config import CustomizationConfig, ManagedSemanticMemoryConfig
from adk_memorybank.generation.generator import Decision, ExtractedFact, Turn
from adk_memorybank.generation.topics import Example, Topic
from adk_memorybank.options import GenerationOptions, MemoryOptions, MetadataMergeStrategy, RevisionOptions
from adk_memorybank.parts import BankParts
from adk_memorybank.resources import ExtractedMemory, Memory, Source
from adk_memorybank.storage.changes import Change, NewRevision


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
    heard = dict.fromkeys(turns[index] for fact in behind for index in fact.turns)
    sources = [Source(session_id=turn.session_id, event_id=turn.event_id) for turn in heard]
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
        event_time=max(times, default=None),
        metadata=options.metadata or None,
        add_metadata=options.metadata_merge_strategy is not MetadataMergeStrategy.OVERWRITE,
        revision=revision,
    )
    ttl = bank.config.ttl_config.ttl_of("generate_created" if target is None else "generate_updated")
    return change if ttl is None else replace(change, expire_time=now + ttl, set_expiry=True)


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
