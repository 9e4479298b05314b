"""A generator's decisions, checked against what it was offered. No generator is trusted."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from adk_memorybank.generation.generator import Candidate, ConsolidationRequest, Decision, ExtractedFact

logger = logging.getLogger("google_adk.adk_memorybank.generation.plan")

LONGEST_FACT = 2_000
"""Characters. What is longer has grown by merging, or was never one fact."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be done.

    Attributes:
        decisions: at most one for each candidate; every index is good.
        notes: what was decided but not followed, in words without any fact's text.
    """

    decisions: list[Decision]
    notes: list[str]


def check(decisions: Sequence[Decision], request: ConsolidationRequest, *, longest: int = LONGEST_FACT) -> Plan:
    """Checks decisions (DESIGN, decisions 8 and 9; an unknown update creates, an unknown deletion is ignored).

    An update or deletion by facts that are older than the memory's newest source is not followed: sessions may be
    added late, and what was true before must not take the place of what is true now.

    Args:
        longest: characters of a fact; more than the usual only where a caller handed it over as it is.
    """
    plan = Plan([], [])
    # Updates before deletions: where both name one memory, what is said of it stays.
    ordered = sorted(decisions, key=lambda decision: decision.action == "delete")
    taken: set[int] = set()
    for decision in ordered:
        facts = tuple(index for index in dict.fromkeys(decision.facts) if 0 <= index < len(request.facts))
        if not facts:
            plan.notes.append(f"a {decision.action} without a fact behind it was ignored")
            continue
        known = decision.candidate is not None and 0 <= decision.candidate < len(request.candidates)
        if decision.action == "delete":
            _check_delete(decision, facts, known=known, taken=taken, request=request, plan=plan)
            continue
        text = decision.fact.strip()
        if not text or len(text) > longest:
            plan.notes.append(f"a {decision.action} with a text of {len(text)} characters was ignored")
            continue
        action = decision.action
        candidate = decision.candidate if action == "update" else None
        if action == "update" and (not known or candidate in taken):
            plan.notes.append("an update of a memory that was not offered, or updated already, became a creation")
            action, candidate = "create", None
        if candidate is not None:
            target = request.candidates[candidate]
            # What says all that the memory says takes the place of nothing.
            if target.fact.casefold().strip(" .") not in text.casefold() and _older(facts, request.facts, target):
                plan.notes.append("an update by an older event was ignored")
                continue
            taken.add(candidate)
        plan.decisions.append(
            Decision(
                action=action,
                facts=facts,
                candidate=candidate,
                fact=text,
                topics=decision.topics,
                replaces=decision.replaces,
            )
        )
    for note in plan.notes:
        logger.warning("%s", note)
    return plan


def _check_delete(
    decision: Decision,
    facts: tuple[int, ...],
    *,
    known: bool,
    taken: set[int],
    request: ConsolidationRequest,
    plan: Plan,
) -> None:
    if not known or decision.candidate is None or decision.candidate in taken:
        plan.notes.append("a deletion of a memory that was not offered, or is updated, was ignored")
        return
    if _older(facts, request.facts, request.candidates[decision.candidate]):
        plan.notes.append("a deletion by an older event was ignored")
        return
    taken.add(decision.candidate)
    plan.decisions.append(Decision(action="delete", facts=facts, candidate=decision.candidate))


def _older(indices: tuple[int, ...], facts: Sequence[ExtractedFact], candidate: Candidate) -> bool:
    times: list[datetime] = [time for index in indices if (time := facts[index].time) is not None]
    return bool(times) and candidate.time is not None and max(times) < candidate.time


def creations(facts: Sequence[ExtractedFact]) -> list[Decision]:
    """Every fact becomes a memory of its own: what `disable_consolidation` asks for."""
    return [
        Decision(action="create", facts=(index,), fact=fact.fact, topics=fact.topics)
        for index, fact in enumerate(facts)
        if not fact.forget
    ]
