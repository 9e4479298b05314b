"""From a model's answer to decisions: no fact is lost, none is stored twice, and none is taken from nowhere."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adk_memorybank.generation.answers import field, numbers_of, text_of
from adk_memorybank.generation.generator import ConsolidationRequest, Decision
from adk_memorybank.generation.plan import LONGEST_FACT
from adk_memorybank.generation.support import Words, same_text

_NEVER_OFFERED = -1
"""In place of a memory that was named but not shown: `plan.check` knows what to do, and notes it."""
_ACTIONS: dict[str, str] = {
    "create": "create",
    "created": "create",
    "add": "create",
    "added": "create",
    "insert": "create",
    "new": "create",
    "update": "update",
    "updated": "update",
    "merge": "update",
    "change": "update",
    "replace": "update",
    "delete": "delete",
    "deleted": "delete",
    "remove": "delete",
    "forget": "delete",
    "none": "keep",
    "noop": "keep",
    "no_op": "keep",
    "keep": "keep",
    "same": "keep",
    "unchanged": "keep",
    "no_change": "keep",
}


@dataclass(frozen=True, slots=True)
class _Said:
    """One item of the answer. `memories` are indices of candidates."""

    action: str
    facts: tuple[int, ...]
    memories: tuple[int, ...]
    text: str


def decisions_of(
    items: Sequence[Mapping[str, Any]], request: ConsolidationRequest, shown: Sequence[int]
) -> list[Decision]:
    """The decisions that an answer stands for.

    Args:
        items: the answer's objects, ordinals as they were shown.
        request: what was asked.
        shown: indices of the candidates that were shown, in the order of their ordinals.
    """
    said = [one for item in items if (one := _read(item, request, shown)) is not None]
    decisions: list[Decision] = []
    changes: list[_Said] = []
    outdated: list[_Said] = []
    for one in said:
        asks = tuple(fact for fact in one.facts if request.facts[fact].forget)
        tells = tuple(fact for fact in one.facts if not request.facts[fact].forget)
        if asks and one.action == "delete":
            decisions += [Decision("delete", asks, memory) for memory in one.memories]
        elif asks and not tells:
            decisions += _forgotten_in_part(one, request)
        if tells:
            (outdated if one.action == "delete" and not asks else changes).append(replace(one, facts=tells))
    deletions = _outdated(outdated, changes, request)
    made = _merged([_kept(one, request, shown) for one in _split(changes, request)])
    covered = {fact for decision in made for fact in decision.facts}
    left = [_Said("create", (index,), (), "") for index, fact in enumerate(request.facts) if not fact.forget]
    made += [_kept(one, request, shown) for one in left if one.facts[0] not in covered]
    return [*decisions, *_merged(made), *deletions]


def _read(item: Mapping[str, Any], request: ConsolidationRequest, shown: Sequence[int]) -> _Said | None:
    action = _ACTIONS.get(re.sub(r"[\s-]+", "_", str(field(item, "action") or "").strip()).casefold())
    if action is None:
        return None
    named = field(item, "new")
    facts = [number - 1 for number in numbers_of(named) if 1 <= number <= len(request.facts)]
    if not facts and named is None and len(request.facts) == 1:
        facts = [0]  # where there is one fact only, an answer need not say which
    if not facts:
        return None
    memories = [
        shown[number - 1] if 1 <= number <= len(shown) else _NEVER_OFFERED
        for number in numbers_of(field(item, "memory"))
    ]
    text = text_of(field(item, "whole"))
    return _Said(action, tuple(dict.fromkeys(facts)), tuple(dict.fromkeys(memories)), text)


def _forgotten_in_part(one: _Said, request: ConsolidationRequest) -> list[Decision]:
    """A wish to forget something that a memory says beside other things: what is left must stand in the memory."""
    if one.action != "update" or not one.memories or one.memories[0] == _NEVER_OFFERED or not one.text:
        return []
    memory = request.candidates[one.memories[0]]
    if len(one.text) >= len(memory.fact) or Words([memory.fact]).missing(one.text)[1]:
        return []
    return [Decision("update", one.facts, one.memories[0], one.text, memory.topics, replaces=True)]


def _outdated(outdated: Sequence[_Said], changes: list[_Said], request: ConsolidationRequest) -> list[Decision]:
    """Deletions by facts that say something themselves.

    Where the answer doesn't say how the fact is kept, or creates a memory of it, the fact takes the place of the
    memory: its history stays, and nothing is lost. Where the fact is kept in another memory, this one goes; but only
    if it was proposed for that fact.
    """
    deletions: list[Decision] = []
    for one in outdated:
        kept = next((at for at, other in enumerate(changes) if set(other.facts) & set(one.facts)), None)
        rest = list(one.memories)
        if kept is None:
            changes.append(_Said("update", one.facts, tuple(rest[:1]), ""))
            rest = rest[1:]
        elif changes[kept].action == "create" and rest and rest[0] != _NEVER_OFFERED:
            changes[kept] = replace(changes[kept], action="update", memories=(rest.pop(0),))
        near = {memory for fact in one.facts for memory in request.proposed[fact]}
        deletions += [Decision("delete", one.facts, memory if memory in near else _NEVER_OFFERED) for memory in rest]
    return deletions


def _split(changes: Sequence[_Said], request: ConsolidationRequest) -> list[_Said]:
    """Facts that were thrown together with others but don't stand in the text go on their own."""
    found: list[_Said] = []
    for one in changes:
        if len(one.facts) == 1:
            found.append(one)
            continue
        if not one.text and one.action == "create":
            found += [replace(one, facts=(fact,)) for fact in one.facts]
            continue
        text = one.text or request.facts[one.facts[-1]].fact
        said = Words([text])
        inside = tuple(fact for fact in one.facts if said.touch(request.facts[fact].fact))
        outside = [fact for fact in one.facts if fact not in inside]
        if inside:
            found.append(replace(one, facts=inside))
        found += [_Said("create", (fact,), (), "") for fact in outside]
    return found


def _kept(one: _Said, request: ConsolidationRequest, shown: Sequence[int]) -> Decision:
    """A creation or an update."""
    candidate = one.memories[0] if one.memories and one.action != "create" else None
    offered = None if candidate in (None, _NEVER_OFFERED) else request.candidates[candidate]
    facts = [request.facts[fact].fact for fact in one.facts]
    text = one.text
    if one.action == "keep":
        same = offered is not None and all(Words([offered.fact]).give(fact) for fact in facts)
        text = offered.fact if same and offered is not None else ""
        candidate = candidate if same else None
    sources = Words([*facts, *([offered.fact, *offered.earlier] if offered is not None else [])])
    if not text or len(text) > LONGEST_FACT or not sources.give(text):
        text = facts[-1]
    # The same text elsewhere is the same memory, whatever number was named.
    by_text = {same_text(request.candidates[index].fact): index for index in shown}
    candidate = by_text.get(same_text(text), candidate)
    topics = tuple(dict.fromkeys(topic for fact in one.facts for topic in request.facts[fact].topics))
    if candidate is None:
        return Decision("create", one.facts, None, text, topics)
    before = "" if candidate == _NEVER_OFFERED else same_text(request.candidates[candidate].fact)
    return Decision("update", one.facts, candidate, text, topics, replaces=before not in same_text(text))


def _merged(decisions: Sequence[Decision]) -> list[Decision]:
    """Decisions with the same text become one; of an update and a creation, the update."""
    by_text: dict[str, Decision] = {}
    for decision in decisions:
        key = same_text(decision.fact)
        known = by_text.get(key)
        if known is None:
            by_text[key] = decision
            continue
        first, second = (decision, known) if known.candidate is None else (known, decision)
        by_text[key] = replace(
            first,
            facts=tuple(dict.fromkeys((*first.facts, *second.facts))),
            topics=tuple(dict.fromkeys((*first.topics, *second.topics))),
        )
    return list(by_text.values())
