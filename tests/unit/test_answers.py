"""Reading what models write where JSON was asked for."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_memorybank.errors import ModelOutputError
from adk_memorybank.generation.answers import MOST_ITEMS, Answer, clean, field, numbers_of, read_answer, text_of

TEA = {"fact": "I like tea.", "topic": "T", "event": 1}
CAKE = {"fact": "I like cake.", "topic": "T", "event": 2}
GOOD = json.dumps({"facts": [TEA, CAKE]})


def read(text: str) -> Answer:
    return read_answer(text, name="facts", key="fact")


def said(text: str) -> list[Any]:
    return [one["fact"] for one in read(text).items]


BOTH = ["I like tea.", "I like cake."]


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"  \n{GOOD}\n ",
        f"\ufeff{GOOD}".lstrip("\ufeff"),
        f"Here you are:\n{GOOD}",
        f"{GOOD}\nAnything else?",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```",
        f"```JSON\n{GOOD}",
        f"```text\nno\n```\n{GOOD}",
        f"[1] [2] {GOOD} [3]",
        f"{{}} {GOOD}",
        f"An example would be {{fact}}. {GOOD}",
        f'<think>{{"facts": []}}</think>{GOOD}',
        f"<thinking>hm</thinking>\n{GOOD}",
        f"{GOOD}{GOOD}",
        json.dumps([TEA, CAKE]),
        json.dumps({"memories": [TEA, CAKE]}),
        json.dumps({"result": [TEA, CAKE]}),
        json.dumps([{"memory": "I like tea."}, {"text": "I like cake."}])
        .replace('"memory"', '"fact"')
        .replace('"text"', '"fact"'),
        str({"facts": [TEA, CAKE]}),
        GOOD.replace("}]", "},]"),
        GOOD.replace("}", ",}"),
        GOOD.replace('"fact"', "fact"),
        GOOD.replace("[{", "[ // first\n{"),
        GOOD.replace("true", "True"),
        GOOD.replace(", {", "\n{"),
        f"{json.dumps(TEA)}\n{json.dumps(CAKE)}",
        f"- {json.dumps(TEA)}\n- {json.dumps(CAKE)}",
    ],
)
def test_readable(text: str) -> None:
    assert said(text) == BOTH
    assert not read(text).cut


@pytest.mark.parametrize("text", ['{"facts": []}', "[]", "```json\n[]\n```", 'None: {"facts": []}', '{"memories": []}'])
def test_nothing_is_an_answer(text: str) -> None:
    assert read(text) == Answer([])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("<think>hm</think>", "empty"),
        ("I can't do that.", "not JSON"),
        ("null", "not JSON"),
        ("{}", "no list 'facts'"),
        ('{"facts": null}', "no list 'facts'"),
        ('{"facts": "none"}', "no list 'facts'"),
        ("42", "no list 'facts'"),
        ('"facts"', "no list 'facts'"),
        ('["I like tea."]', "holds no objects"),
        ('{"facts": [1, 2]}', "holds no objects"),
        ('{"facts": [{"a": 1}]}', "holds no objects"),
        ('{"facts": [', "not JSON"),
        ('{"facts": [{"fact": "I li', "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("{" * 100_000, "not JSON"),
        ('{"a":' * 100_000, "not JSON"),
        ("[" * 100_000 + "]" * 100_000, "not JSON|no list|no objects"),
        ('{"a":' * 20_000 + "1" + "}" * 20_000, "not JSON|no list|no objects"),
    ],
)
def test_unreadable(text: str, why: str) -> None:
    with pytest.raises(ModelOutputError, match=why) as raised:
        read(text)
    assert "I can't" not in str(raised.value)
    assert "I like" not in str(raised.value)


@pytest.mark.parametrize("end", range(GOOD.index("cake"), len(GOOD) - 3))
def test_cut_keeps_what_is_complete(end: int) -> None:
    answer = read(GOOD[:end])
    assert [one["fact"] for one in answer.items] == BOTH[:1]
    assert answer.cut


def test_cut_after_the_last() -> None:
    assert read(GOOD[:-2]).cut
    assert said(GOOD[:-2]) == BOTH
    assert said(GOOD[:-1]) == BOTH


def test_fences_and_brackets_within_a_fact() -> None:
    facts = ["I write ```python {x: [1]}``` blocks.", 'I say "{" and "]".', "C:\\temp\\", "} ] , {"]
    text = json.dumps({"facts": [{"fact": one} for one in facts]})
    assert said(text) == facts
    assert said(f"```json\n{text}\n```") == facts
    assert said(f"Well: {text}") == facts


def test_too_many_are_counted() -> None:
    answer = read(json.dumps({"facts": [TEA] * (MOST_ITEMS + 7)}))
    assert len(answer.items) == MOST_ITEMS
    assert answer.left_out == 7


def test_a_runaway_takes_no_time() -> None:
    started = time.monotonic()
    read(json.dumps({"facts": [TEA] * 20_000})[:-40])
    for text in ('{"a": "' * 50_000, "{'a': [" * 50_000, '"' * 300_000, "{" + '"a' * 100_000):
        with pytest.raises(ModelOutputError):
            read(text)
    assert time.monotonic() - started < 10


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        answer = read(text)
    except ModelOutputError:
        return
    assert all(isinstance(item, dict) for item in answer.items)


@given(st.integers(0, len(GOOD)), st.text(alphabet='{}[]",:\\ \n`a', max_size=8))
def test_a_good_answer_with_something_in_it(place: int, text: str) -> None:
    try:
        read(GOOD[:place] + text + GOOD[place:])
    except ModelOutputError:
        return


class TestFields:
    def test_under_other_names(self) -> None:
        assert field({"memory_text": "x"}, "fact") == "x"
        assert field({"fact": None, "text": "y"}, "fact") == "y"
        assert field({}, "fact") is None
        assert field({"memory_id": 3}, "memory") == 3
        assert field({"fact": "x", "memory": 2}, "whole") == "x"

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (" I like tea. ", "I like tea."),
            ("a\ud83db\x00c\x1fd", "abcd"),
            ("a\nb\tc", "a\nb\tc"),
            ("\U0001f375", "\U0001f375"),
            (None, ""),
            (3, ""),
            (["a"], ""),
            ({"a": 1}, ""),
            (True, ""),
        ],
    )
    def test_text(self, value: Any, text: str) -> None:
        assert text_of(value) == text
        text_of(value).encode()

    def test_clean_keeps_spaces(self) -> None:
        assert clean(" a\ud800 ") == " a "

    @pytest.mark.parametrize(
        ("value", "numbers"),
        [
            (1, [1]),
            (2.0, [2]),
            (2.5, []),
            ("3", [3]),
            (" #4. ", [4]),
            ("memory 5", [5]),
            ("[1, 2]", [1, 2]),
            ("1 and 2", [1, 2]),
            ("fact 1, fact 2", [1, 2]),
            ([1, "2", None, 3.0, True, [4]], [1, 2, 3]),
            (-1, [-1]),
            ("-1", [-1]),
            (10**12, [10**12]),
            ("I have 2 dogs", []),
            ("2 dogs", []),
            ("", []),
            ("x" * 1000, []),
            (None, []),
            (True, []),
            (float("nan"), []),
            (float("inf"), []),
            ({"number": 1}, []),
        ],
    )
    def test_numbers(self, value: Any, numbers: list[int]) -> None:
        assert numbers_of(value) == numbers
