"""Long input in parts that a model takes at once."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_memorybank.generation.generator import Turn
from adk_memorybank.generation.splitting import OVERLAP, PART_TOKENS, split, tokens_of

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def turn(text: str, *, new: bool = True, number: int = 0) -> Turn:
    return Turn("s", str(number), "user", "user", text, NOON, new)


def test_what_fits_stays_in_one_part() -> None:
    turns = [turn("I like tea."), turn("I like cake.")]
    (part,) = split(turns)
    assert [piece.turn for piece in part] == turns
    assert [piece.index for piece in part] == [0, 1]


def test_nothing_new_gives_no_part() -> None:
    assert split([]) == []
    assert split([turn("I like tea.", new=False)]) == []


def test_parts_keep_to_the_budget_and_lose_nothing() -> None:
    turns = [turn(f"This is the sentence number {n}.") for n in range(200)]
    parts = split(turns, budget=100)
    assert len(parts) > 10
    assert [piece.index for part in parts for piece in part if piece.turn.new] == list(range(200))
    for part in parts:
        assert sum(tokens_of(piece.turn.text) for piece in part) <= 100


def test_the_end_of_a_part_is_the_context_of_the_next() -> None:
    parts = split([turn(f"sentence {n} is here.") for n in range(100)], budget=100)
    for before, after in pairwise(parts):
        assert not after[0].turn.new
        assert after[0].turn.text == before[-len([p for p in after if not p.turn.new])].turn.text
        assert sum(tokens_of(piece.turn.text) for piece in after if not piece.turn.new) <= 100 // OVERLAP + 1


def test_a_long_turn_is_cut_after_sentences() -> None:
    text = " ".join(f"This is the sentence number {n}." for n in range(300))
    parts = split([turn(text)], budget=200)
    new = [piece for part in parts for piece in part if piece.turn.new]
    assert all(piece.index == 0 for piece in new)
    assert all(piece.turn.text.endswith(".") for piece in new)
    assert " ".join(piece.turn.text for piece in new) == text
    assert all(not part[0].turn.new for part in parts[1:]), "a long turn's end comes along, shortened"


def test_the_shortened_context_is_the_end_of_what_was_said() -> None:
    parts = split([turn("a " * 300), turn("b " * 300 + "and then I moved to Lyon."), turn("c " * 300)], budget=320)
    context = [piece for piece in parts[1] if not piece.turn.new]
    assert context
    assert context[-1].turn.text.endswith("and then I moved to Lyon.")


@pytest.mark.parametrize("text", ["x" * 5000, "我" * 5000, "\n" * 5000, "." * 5000, "я" * 5000])
def test_text_without_an_end(text: str) -> None:
    parts = split([turn(text)], budget=100)
    said = "".join(piece.turn.text for part in parts for piece in part if piece.turn.new)
    assert said.replace(" ", "").strip() == text.strip()
    assert all(sum(tokens_of(piece.turn.text) for piece in part) <= 100 for part in parts)


def test_signs_of_scripts_without_spaces_count_whole() -> None:
    assert tokens_of("我住在上海") >= 5
    assert tokens_of("I live in Shanghai") <= 6
    assert tokens_of("") == 1


def test_old_turns_alone_ask_nothing() -> None:
    old = [turn("context " * 30, new=False) for _ in range(20)]
    parts = split([*old, turn("I like tea.")], budget=100)
    assert len(parts) == 1
    assert parts[0][-1].turn.text == "I like tea."


@given(st.lists(st.tuples(st.text(max_size=400), st.booleans()), max_size=20), st.integers(20, 300))
def test_any_turns(texts: list[tuple[str, bool]], budget: int) -> None:
    turns = [turn(text, new=new) for text, new in texts]
    parts = split(turns, budget=budget)
    indices = [piece.index for part in parts for piece in part if piece.turn.new]
    assert indices == sorted(indices)
    said = {index for index, one in enumerate(turns) if one.new and one.text.strip()}
    assert said <= set(indices)
    for part in parts:
        assert any(piece.turn.new for piece in part)
        assert sum(tokens_of(piece.turn.text) for piece in part) <= budget + budget // OVERLAP + 2


def test_the_usual_budget() -> None:
    assert len(split([turn("word " * 4000)])) == 1
    assert len(split([turn("word " * 40_000)])) >= 40_000 * 5 / 4 / PART_TOKENS
