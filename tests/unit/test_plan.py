"""What a generator decides is checked against what it was offered."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_memorybank.generation.generator import Candidate, ConsolidationRequest, Decision, ExtractedFact
from adk_memorybank.generation.plan import LONGEST_FACT, check, creations

OLD, NEW = datetime(2025, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)


def request(
    *facts: str, candidates: tuple[str, ...] = (), said: datetime | None = None, known: datetime | None = None
) -> ConsolidationRequest:
    return ConsolidationRequest(
        facts=[ExtractedFact(fact, ("T",), (0,), time=said) for fact in facts],
        candidates=[Candidate(fact, ("T",), known) for fact in candidates],
        proposed=[list(range(len(candidates))) for _ in facts],
    )


def create(*facts: int, fact: str = "new", **fields: Any) -> Decision:
    return Decision(action="create", facts=facts, fact=fact, **fields)


def update(candidate: int | None, *facts: int, fact: str = "new", **fields: Any) -> Decision:
    return Decision(action="update", facts=facts, candidate=candidate, fact=fact, **fields)


def delete(candidate: int | None, *facts: int) -> Decision:
    return Decision(action="delete", facts=facts, candidate=candidate)


def test_good_decisions_are_followed() -> None:
    decisions = [create(0, topics=("T",)), update(0, 1, replaces=True), delete(1, 2)]
    checked = check(decisions, request("a", "b", "c", candidates=("x", "y")))
    assert checked.decisions == decisions
    assert checked.notes == []


@pytest.mark.parametrize("candidate", [None, -1, 2, 99])
def test_an_unknown_update_creates(candidate: int | None) -> None:
    checked = check([update(candidate, 0)], request("a", candidates=("x", "y")))
    assert checked.decisions == [create(0)]
    assert len(checked.notes) == 1


@pytest.mark.parametrize("candidate", [None, -1, 2, 99])
def test_an_unknown_deletion_is_ignored(candidate: int | None) -> None:
    checked = check([delete(candidate, 0)], request("a", candidates=("x", "y")))
    assert checked.decisions == []
    assert len(checked.notes) == 1


@pytest.mark.parametrize("decision", [create(), create(7), create(-1), update(0, 9), delete(0)])
def test_nothing_is_done_without_a_fact_behind_it(decision: Decision) -> None:
    checked = check([decision], request("a", candidates=("x",)))
    assert checked.decisions == []
    assert len(checked.notes) == 1


def test_bad_and_repeated_facts_are_left_out() -> None:
    assert check([create(1, 1, 9, 0, -1)], request("a", "b")).decisions == [create(1, 0)]


def test_one_candidate_is_changed_once() -> None:
    checked = check([update(0, 0, fact="one"), update(0, 1, fact="two")], request("a", "b", candidates=("x",)))
    assert checked.decisions == [update(0, 0, fact="one"), create(1, fact="two")]


@pytest.mark.parametrize("turned", [False, True])
def test_what_is_updated_is_not_deleted_as_well(turned: bool) -> None:
    decisions = [update(0, 0), delete(0, 1)]
    checked = check(decisions[::-1] if turned else decisions, request("a", "b", candidates=("x",)))
    assert checked.decisions == [update(0, 0)]


def test_a_second_deletion_is_ignored() -> None:
    assert check([delete(0, 0), delete(0, 0)], request("a", candidates=("x",))).decisions == [delete(0, 0)]


@pytest.mark.parametrize("text", ["", "  \n", "x" * (LONGEST_FACT + 1)])
def test_texts_that_are_no_fact(text: str) -> None:
    checked = check([create(0, fact=text), update(0, 0, fact=text)], request("a", candidates=("x",)))
    assert checked.decisions == []
    assert len(checked.notes) == 2


def test_a_longer_text_where_the_caller_gave_it() -> None:
    long = "x" * (LONGEST_FACT + 1)
    assert check([create(0, fact=long)], request(long), longest=len(long)).decisions == [create(0, fact=long)]


def test_texts_are_stripped() -> None:
    assert check([create(0, fact=" a\n")], request("a")).decisions == [create(0, fact="a")]


class TestTime:
    @pytest.mark.parametrize("decision", [update(0, 0), update(0, 0, replaces=True), delete(0, 0)])
    def test_what_is_older_replaces_nothing(self, decision: Decision) -> None:
        checked = check([decision], request("a", candidates=("x",), said=OLD, known=NEW))
        assert checked.decisions == []
        assert "older" in checked.notes[0]

    def test_the_same_text_may_be_said_earlier_too(self) -> None:
        decision = update(0, 0, fact="x")
        assert check([decision], request("x", candidates=("x",), said=OLD, known=NEW)).decisions == [decision]

    @pytest.mark.parametrize(("said", "known"), [(NEW, OLD), (NEW, NEW), (None, NEW), (OLD, None), (None, None)])
    def test_otherwise_it_does(self, said: datetime | None, known: datetime | None) -> None:
        for decision in (update(0, 0), delete(0, 0)):
            checked = check([decision], request("a", candidates=("x",), said=said, known=known))
            assert checked.decisions == [decision]

    def test_the_newest_of_several_facts_counts(self) -> None:
        asked = request("a", "b", candidates=("x",), said=OLD, known=NEW)
        asked = ConsolidationRequest(
            [asked.facts[0], ExtractedFact("b", ("T",), (0,), time=NEW)],
            asked.candidates,
            asked.proposed,
        )
        assert check([update(0, 0, 1)], asked).decisions == [update(0, 0, 1)]


def test_notes_are_logged_without_any_text(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        check([update(9, 0, fact="my secret"), delete(9, 0)], request("my secret", candidates=("my secret",)))
    assert len(caplog.records) == 2
    assert "secret" not in caplog.text


def test_every_fact_a_memory_of_its_own() -> None:
    facts = [
        ExtractedFact("a", ("T",), (0,)),
        ExtractedFact("a", ("T",), (0,)),
        ExtractedFact("b", (), (), forget=True),
    ]
    assert creations(facts) == [
        create(0, fact="a", topics=("T",)),
        create(1, fact="a", topics=("T",)),
    ]


decisions = st.lists(
    st.builds(
        Decision,
        action=st.sampled_from(["create", "update", "delete"]),
        facts=st.lists(st.integers(-2, 4), max_size=3).map(tuple),
        candidate=st.none() | st.integers(-2, 4),
        fact=st.sampled_from(["", " ", "a", "x", "y" * (LONGEST_FACT + 1)]),
    ),
    max_size=8,
)


@given(decisions)
def test_whatever_is_decided_the_plan_can_be_applied(decided: list[Decision]) -> None:
    asked = request("a", "b", candidates=("x", "y"), said=OLD)
    plan = check(decided, asked)
    named = [one.candidate for one in plan.decisions if one.candidate is not None]
    assert len(named) == len(set(named))
    assert len(plan.decisions) <= len(decided)
    for one in plan.decisions:
        assert one.facts
        assert all(0 <= index < len(asked.facts) for index in one.facts)
        assert (one.candidate is None) == (one.action == "create")
        assert one.candidate is None or 0 <= one.candidate < len(asked.candidates)
        assert bool(one.fact) == (one.action != "delete")
        assert len(one.fact) <= LONGEST_FACT
