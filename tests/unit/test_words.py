"""Words and their numbers."""

from __future__ import annotations

import subprocess
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_memorybank.retrieval.languages import language_of
from adk_memorybank.retrieval.words import query_terms, terms, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The user drinks TEA, tea!", ["the", "user", "drinks", "drink", "tea", "tea"]),
        ("snake_case v2.13", ["snake", "case", "v2", "13"]),
        ("2026-05-08, v1-2026-05-08x", ["2026", "05", "08", "v1", "2026", "05", "08x", *["2026-05-08", "2026-05"] * 2]),
        ("５月（2026-05-08）", ["5", "月", "2026", "05", "08", "2026-05-08", "2026-05"]),
        ("12026-05-08", ["12026", "05", "08"]),
        ("Ｔｅａ Straße", ["tea", "strasse"]),
        ("perché", ["perché", "perche"]),
        ("Œuvre İstanbul", ["œuvre", "oeuvre", "i̇stanbul", "istanbul"]),
        ("Любит чай", ["любит", "чай", "чаи"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("喝茶", ["喝", "喝茶", "茶"]),
        ("茶", ["茶"]),
        ("タワー", ["タワ", "ワー"]),
        ("차를", ["차", "차를", "를"]),
        ("iPhone手机", ["iphone", "手", "手机", "机"]),
        ("สวัสดี", ["สว", "วั", "ัส", "สด", "ดี"]),
        ("", []),
        (" \n😀 👍️ … ___", []),
        ("\ud800 tea", ["tea"]),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected
    assert len(terms(text)) == len(expected)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("perche", "Perché le piace"),
        ("ёлка", "елка"),
        ("茶", "我喜欢喝绿茶"),
        ("绿茶", "我喜欢喝绿茶"),
        ("차", "차를 마신다"),
        ("ガイド", "ｶﾞｲﾄﾞをする"),
        ("чай", "Пользователь пьёт ЧАЙ"),
        ("שלום", "שָׁלוֹם"),
    ],
)
def test_a_word_is_found(query: str, text: str) -> None:
    assert set(terms(query).tolist()) & set(terms(text).tolist())


@given(st.text())
def test_spellings_of_one_text_are_one(text: str) -> None:
    expected = terms(text).tolist()
    assert terms(unicodedata.normalize("NFD", text)).tolist() == expected
    assert terms(unicodedata.normalize("NFC", text)).tolist() == expected


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=0x24F)))
def test_case_does_not_matter(text: str) -> None:
    assert tokens(text.casefold()) == tokens(text)


def test_numbers_are_the_same_in_every_process() -> None:
    assert terms("green tea").tolist() == [3499814433, 2391201714]
    assert terms("").dtype == np.uint32
    script = "from adk_memorybank.retrieval.words import terms; print(terms('green tea perché 喝茶').tolist())"
    seen = {
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert seen == {f"{terms('green tea perché 喝茶').tolist()}\n"}


def test_long_runs_are_read_to_the_end() -> None:
    assert len(tokens("x" * 100_000)) == 1
    assert len(tokens("茶" * 10_000)) == 19_999


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("What are her hobbies?", "The hobby of my sister is chess"),
        ("Dove abitano i miei amici?", "Il mio amico abita a Roma"),
        ("¿Qué idiomas hablas?", "Yo hablo el idioma de mi abuela"),
        ("Quels sont mes voyages ?", "Je suis en voyage à Lyon"),
        ("Welche Bücher habe ich?", "Ich habe das Buch nicht"),
        ("Quais são os meus gatos?", "Eu tenho um gato e não um cão"),
    ],
)
def test_a_word_is_found_in_another_form(query: str, text: str) -> None:
    assert set(query_terms(query).tolist()) & set(terms(text).tolist())


def test_function_words_decide_nothing() -> None:
    assert query_terms("What is my name?").tolist() == terms("name").tolist()
    assert query_terms("Wie ist das so?").tolist() == terms("Wie ist das so?").tolist(), "it has no others"
    assert len(query_terms("tea")) == 1
    assert language_of(["tea", "coffee"]) is None
    assert language_of("ich mag die berge".split()) == "german"
