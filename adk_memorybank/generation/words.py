"""Words of a text: its language, what carries content, its numbers."""

from __future__ import annotations

import re
from functools import cache

from adk_memorybank.generation.lexicon import CODES, Language, language

_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_CJK_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff々ー]+")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_LATIN = tuple(code for code in CODES if code not in ("ja", "zh", "ko", "ru"))
_MARKS = {"¿": "es", "¡": "es", "ñ": "es", "ß": "de", "ä": "de", "ã": "pt", "õ": "pt", "œ": "fr"}
_SAMPLE = 2000
_STEMMED = 3
_CLOSE = 1.0
_SHORT = 120


def tokens(text: str) -> list[str]:
    """Lower-case words, apostrophes made plain; texts without blanks stay in one piece per run."""
    return [word.replace("’", "'") for word in _WORD.findall(text.casefold())]


def detect(text: str, default: str = "en") -> str:
    """The language's code by its script and its function words; `default` where they do not tell."""
    sample = text[:_SAMPLE]
    if _KANA.search(sample):
        return "ja"
    if _HANGUL.search(sample):
        return "ko"
    if len(_HAN.findall(sample)) > 1:
        return "zh"
    if len(_CYRILLIC.findall(sample)) > 1:
        return "ru"
    found = tokens(sample)
    parts = (
        [part for word in found for part in (word, *word.split("'")[:-1])] if "'" in sample.replace("’", "'") else found
    )
    counts: dict[str, float] = {}
    for code in _LATIN:
        lexicon = language(code)
        counts[code] = sum(word in lexicon.function_words for word in parts)
        counts[code] += 0.5 * sum(word in lexicon.small_talk or word in lexicon.soft_words for word in parts)
        if lexicon.first_person.search(sample):
            counts[code] += 0.6
    for mark, code in _MARKS.items():
        if mark in sample.casefold():
            counts[code] += 1
    best = max(counts.values())
    close = [code for code in _LATIN if counts[code] >= best - _CLOSE]
    if len(close) > 1 and len(sample) < _SHORT:
        # Short statements have few function words, and some of them belong to several languages.
        for code in close:
            counts[code] += any(slot.said.search(sample) for slot in language(code).slots)
        best = max(counts.values())
    if best <= 0:
        return default
    if default in counts and counts[default] >= best - 0.5:
        return default
    return max(counts, key=lambda code: counts[code])


def stem(word: str, code: str) -> str:
    """Without the endings that do not change what an English word says; other languages keep theirs."""
    word = word.removesuffix("'s")
    if code != "en" or len(word) <= _STEMMED:
        return word
    for ending in ("ing", "ies", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= _STEMMED and not word.endswith("ss"):
            word = word[: -len(ending)]
            break
    if len(word) > _STEMMED and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word


def content(text: str, lexicon: Language) -> frozenset[str]:
    """The words that say something, stemmed and brought to one word where several say the same.

    Runs of Chinese and Japanese are taken by pairs of characters.
    """
    found: set[str] = set()
    for token in tokens(text):
        pieces = _CJK_RUN.findall(token)
        if pieces:
            for piece in pieces:
                kept = "".join(sign for sign in piece if sign not in lexicon.function_words)
                found.update(kept[at : at + 2] for at in range(max(1, len(kept) - 1)) if kept)
            rest = _CJK_RUN.sub(" ", token).split()
            found.update(rest)
            continue
        word = token if lexicon.code == "en" else token.rsplit("'", 1)[-1]
        if word in lexicon.function_words or word in lexicon.soft_words:
            continue
        found.add(_same(lexicon.code).get(stem(word, lexicon.code), stem(word, lexicon.code)))
    return frozenset(found)


@cache
def _same(code: str) -> dict[str, str]:
    """Stem to stem of the words that say the same."""
    return {stem(word, code): stem(other, code) for word, other in language(code).same_words.items()}


def verbs(code: str) -> frozenset[str]:
    """The stems that several verbs were brought to: they say how somebody stands to a thing, not to which."""
    return frozenset(_same(code).values())


@cache
def weekdays(code: str) -> frozenset[str]:
    """The stems of the days of the week: two statements that share no more are about different things."""
    return frozenset(stem(day, code) for day in language(code).dates.weekdays)


def numbers(text: str) -> frozenset[str]:
    """All numbers and dates in figures."""
    return frozenset(_NUMBER.findall(text))
