"""How the offline generator merges facts with memories: by subject and attribute."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from adk_memorybank.generation.generator import Candidate, ConsolidationRequest, Decision, ExtractedFact
from adk_memorybank.generation.offline import OfflineGenerator
from adk_memorybank.retrieval.embedders import LocalEmbedder

NOW = datetime(2023, 5, 8, tzinfo=UTC)
TOPIC = ("USER_PERSONAL_INFO",)


def said(text: str, days: int = 1, *, forget: bool = False) -> ExtractedFact:
    return ExtractedFact(text, TOPIC, (0,), NOW + timedelta(days=days), forget=forget)


def forget(text: str, days: int = 1) -> ExtractedFact:
    return said(text, days, forget=True)


def consolidate(facts: Sequence[str | ExtractedFact], memories: Sequence[str | Candidate]) -> list[Decision]:
    """All memories are proposed for all facts."""
    request = ConsolidationRequest(
        [said(fact) if isinstance(fact, str) else fact for fact in facts],
        [Candidate(memory, TOPIC, NOW) if isinstance(memory, str) else memory for memory in memories],
        [list(range(len(memories)))] * len(facts),
    )
    return asyncio.run(OfflineGenerator(LocalEmbedder().embed).consolidate(request))


def short(decisions: Sequence[Decision]) -> list[tuple[str, int | None, bool]]:
    return [(decision.action, decision.candidate, decision.replaces) for decision in decisions]


CREATED = [("create", None, False)]
UPDATED = [("update", 0, False)]
REPLACED = [("update", 0, True)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Rome", "I live in Rome."),
        ("I love tea", "I really like tea"),
        ("I live in Rome", "I live in Rome with my dog"),
        ("I live in Rome with my dog", "I live in Rome"),
        ("The user lives in Rome.", "I live in Rome"),
        ("我住在北京", "我住在北京。"),
    ],
)
def test_the_same_again_updates(old: str, new: str) -> None:
    assert short(consolidate([new], [old])) == UPDATED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Rome", "I have moved to Milan"),
        ("I live in Rome", "I live in Milan"),
        ("The user lives in Rome.", "The user lives in Milan now."),
        ("I work at Initech", "I've just started at Globex"),
        ("I work at Initech", "I quit my job"),
        ("I work as a waiter", "I'm a chef now"),
        ("I'm vegetarian", "I eat meat again"),
        ("I'm vegetarian", "I'm no longer vegetarian"),
        ("My favourite colour is blue", "My favourite colour is green now"),
        ("My favorite color is blue", "My favourite colour is green"),
        ("My name is Ann", "My name is Anna"),
        ("I'm 30 years old", "I just turned 31"),
        ("I like coffee", "I don't like coffee anymore"),
        ("I love coffee", "I hate coffee"),
        ("My locker number is 42", "My locker number is 57"),
        ("My office is on floor 3", "My office is now on floor 5"),
        ("I mainly use Python", "I switched from Python to Rust"),
        ("My sister lives in Rome", "My sister moved to Turin"),
        ("Vivo a Roma", "Mi sono trasferita a Milano"),
        ("Il mio colore preferito è il blu", "Il mio colore preferito ora è il verde"),
        ("Lavoro come cuoco", "Lavoro come barista"),
        ("Sono vegetariana", "Non sono più vegetariana"),
        ("Vivo en Madrid", "Me he mudado a Sevilla"),
        ("Me llamo Ana", "Me llamo Eva"),
        ("J'habite à Paris", "J'ai déménagé à Lyon"),
        ("J'ai 30 ans", "J'ai 31 ans"),
        ("Je suis végétarien", "Je ne suis plus végétarien"),
        ("Ich wohne in Berlin", "Ich bin nach Köln gezogen"),
        ("Ich bin Vegetarier", "Ich bin kein Vegetarier mehr"),
        ("Moro no Porto", "Agora moro em Lisboa"),
        ("私は東京に住んでいます", "私は大阪に引っ越しました"),
        ("我住在北京", "我搬到上海了"),
        ("我是素食者", "我现在吃肉了"),
        ("我最喜欢的颜色是蓝色", "我最喜欢的颜色是绿色"),
        ("Vivo a Roma", "I have moved to Milan"),
    ],
)
def test_a_changed_value_replaces(old: str, new: str) -> None:
    (decision,) = consolidate([new], [old])
    assert short([decision]) == REPLACED
    assert decision.fact == new
    # What was said before it must not come back, nor stand beside it.
    assert consolidate([said(new, -1)], [old]) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I like tea", "I like coffee"),
        ("I have a dog", "I have a cat"),
        ("My dog is called Rex", "My dog is called Fido"),
        ("The oven runs at 21 degrees", "The oven runs at 18 degrees"),
        ("I live in Rome", "My friend Marco lives in Turin"),
        ("My friend Luca lives in Rome", "My friend Marco lives in Turin"),
        ("I live in Rome", "I like Rome"),
        ("I live in Rome", "I'm going to move to Milan next month (June 2023)"),
        ("I work at Initech", "I also work at Globex on weekends"),
        ("I went to the dentist yesterday (2023-05-01).", "I went to the dentist yesterday (2023-05-07)."),
        ("I prefer window seats", "I prefer short answers"),
        ("My favourite colour is blue", "My favourite food is pizza"),
        ("Mi piace il tè", "Mi piace il caffè"),
    ],
)
def test_what_is_about_something_else_stays_beside(old: str, new: str) -> None:
    assert short(consolidate([new], [old])) == CREATED


def test_the_rest_of_a_memory_outlives_the_change() -> None:
    (decision,) = consolidate(["I live in Milan"], ["I live in Rome and I work at Initech"])
    assert decision.fact == "I live in Milan. I work at Initech"


def test_of_several_old_values_none_is_left() -> None:
    decisions = consolidate(["I moved to Milan"], ["I live in Rome", "I live in Pisa", "I like Rome"])
    assert short(decisions) == [("update", 0, True), ("delete", 1, False)]


def test_the_same_fact_twice_in_one_batch_is_one_memory() -> None:
    (decision,) = consolidate(["I live in Rome", "I live in Rome."], [])
    assert (decision.action, decision.facts) == ("create", (0, 1))


def test_of_two_values_in_one_batch_the_later_stays() -> None:
    (decision,) = consolidate([said("I moved to Milan", 2), said("I live in Rome", 1)], [])
    assert (decision.action, decision.fact, decision.facts) == ("create", "I moved to Milan", (0,))


def test_all_facts_behind_an_update_are_named() -> None:
    (decision,) = consolidate([said("I live in Pisa", 1), said("I live in Milan", 2)], ["I live in Rome"])
    assert (decision.candidate, decision.facts, decision.fact) == (0, (0, 1), "I live in Milan")


def test_again_changes_nothing() -> None:
    facts = ["I live in Milan", "I like tea", "I'm vegetarian", "My dog is called Rex"]
    decisions = consolidate(facts, facts)
    assert [decision.action for decision in decisions] == ["update"] * 4
    assert [decision.fact for decision in decisions] == facts


def test_a_revision_of_long_ago_does_not_come_back() -> None:
    memory = Candidate("The meeting room has been painted green", TOPIC, NOW, ("The meeting room is white",))
    assert consolidate([said("The meeting room is white", -3)], [memory]) == []
    assert consolidate([said("The meeting room is white", 3)], [memory]) != []


@pytest.mark.parametrize(
    ("what", "gone"),
    [
        ("my diet", [0, 1]),
        ("where I live", [2]),
        ("I live in Rome", [2]),
        ("I like tea", [3]),
        ("coffee", [4]),
        ("my friend Marco", [5]),
        ("my job", [6]),
        ("everything you know about me", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("la mia dieta", [0, 1]),
        ("my holidays", []),
    ],
)
def test_forgetting_takes_what_is_named(what: str, gone: list[int]) -> None:
    memories = [
        "I'm vegetarian",
        "I don't eat gluten",
        "I live in Rome",
        "I love tea",
        "I like coffee",
        "My friend Marco hates olives",
        "I work at Initech",
        "My sister is vegan",
    ]
    decisions = consolidate([forget(what)], memories)
    assert [decision.candidate for decision in decisions] == gone
    assert all(decision.action == "delete" and decision.facts == (0,) for decision in decisions)


def test_forgetting_takes_what_was_said_before_it_in_the_batch() -> None:
    assert consolidate([said("I'm vegetarian", 1), forget("my diet", 2)], []) == []
    (decision,) = consolidate([forget("my diet", 1), said("I'm vegetarian", 2)], [])
    assert decision.action == "create"


def test_what_was_said_after_the_request_stays() -> None:
    assert consolidate([forget("my diet", -1)], ["I'm vegetarian"]) == []


def test_indices_out_of_range_are_passed_over() -> None:
    request = ConsolidationRequest([said("I like tea")], [], [[5]])
    (decision,) = asyncio.run(OfflineGenerator(LocalEmbedder().embed).consolidate(request))
    assert decision.action == "create"
