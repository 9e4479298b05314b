"""Text as words, and words as numbers: what a search by words compares.

Words are runs of letters, marks and digits after NFKC and case folding, so that `Ｔｅａ`, `TEA` and `tea` are one word,
and a decomposed text reads as the composed one does. Where a script puts no spaces between its words, pairs of
neighbouring characters stand for them.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from adk_memorybank.retrieval.languages import FUNCTION_WORDS, language_of, stem_of

_ASCII_WORD = re.compile("[a-z0-9]+")
_DAY = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")

# Han and Hangul syllables mean something alone (茶 and 차 are tea); a single kana, or a letter of Thai, doesn't.
_MEANINGFUL = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af"
_KANA = "\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_JAMO = "\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff"
_SOUTHEAST = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
_RUN = re.compile(f"([{_MEANINGFUL}{_KANA}{_JAMO}{_SOUTHEAST}]+)")
_ALONE = re.compile(f"[{_MEANINGFUL}]")

# Latin, Greek and Cyrillic accents; Hebrew points; Arabic vowels. Not the vowel signs of Indic scripts, which tell
# words apart.
_ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]+")
_LETTERS = str.maketrans({"ø": "o", "đ": "d", "ł": "l", "ı": "i", "æ": "ae", "œ": "oe"})

_LONGEST_CACHED = 40  # letters; longer ones are seldom words, and never come twice


def tokens(text: str) -> list[str]:
    """The words of a text, in order and with repeats.

    A word with accents is followed by its plain spelling, so that `perche` finds `perché`, and `perché` finds it
    first; and by its stem, where the text's language is told by its function words. A run of Chinese, Japanese, Korean
    or another script without spaces gives its pairs of characters, and those single characters that mean something
    alone.
    """
    words = _words(text)
    language = language_of(words)
    return [token for word in words for token in _variants(word, language)]


def terms(text: str) -> NDArray[np.uint32]:
    """The words of a text as numbers: `tokens`, each by its CRC-32.

    The numbers are the same in every process and on every machine. Two words may share one: among 10,000 different
    words, one vocabulary in ninety holds such a pair.

    Returns:
        (n,) in order and with repeats; empty where the text has no words.
    """
    words = _words(text)
    return _numbered(words, language_of(words))


def query_terms(text: str) -> NDArray[np.uint32]:
    """As `terms`, without the function words of the text's language, unless it has no others.

    In a small scope they are rare by chance, and would decide.
    """
    words = _words(text)
    language = language_of(words)
    if language is not None:
        words = [word for word in words if word not in FUNCTION_WORDS[language]] or words
    return _numbered(words, language)


def _numbered(words: Sequence[str], language: str | None) -> NDArray[np.uint32]:
    return np.array([number for word in words for number in _numbers(word, language)], dtype=np.uint32)


def _words(text: str) -> list[str]:
    if text.isascii():
        words = _ASCII_WORD.findall(text.lower())
    else:
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        words = _unicode_word().findall(folded)
    # Figures alone are in many dates: the whole tells the day, and its first half the month.
    return [*words, *(part for day in _DAY.findall(text) for part in (day, day[:7]))]


@cache
def _unicode_word() -> re.Pattern[str]:
    # `\w` leaves out the marks, and would cut नमस्ते into pieces. Built when first needed: it takes some 20 ms.
    spans: list[str] = []
    start = previous = -2
    for point in (*range(0x300, 0x1F000), sys.maxunicode + 1):
        if point <= sys.maxunicode and not unicodedata.category(chr(point)).startswith("M"):
            continue
        if point == previous + 1:
            previous = point
            continue
        if start >= 0:
            spans.append(f"{chr(start)}-{chr(previous)}")
        start = previous = point
    return re.compile(f"[^\\W_](?:[^\\W_]|[{''.join(spans)}])*")  # no mark at the front: those belong to emoji


def _numbers(word: str, language: str | None) -> tuple[int, ...]:
    return _cached_numbers(word, language) if len(word) <= _LONGEST_CACHED else _make_numbers(word, None)


def _make_numbers(word: str, language: str | None) -> tuple[int, ...]:
    return tuple(crc32(token.encode()) for token in _variants(word, language))


_cached_numbers = lru_cache(maxsize=1 << 14)(_make_numbers)


def _variants(word: str, language: str | None) -> Iterator[str]:
    yield from _spellings(word)
    if language is not None and word not in FUNCTION_WORDS[language] and not _RUN.search(word):
        stem = stem_of(word, language)
        if stem != word:
            yield stem


def _spellings(word: str) -> Iterator[str]:
    if word.isascii():
        yield word
        return
    for part in _RUN.split(word):
        if not part:
            continue
        if _RUN.fullmatch(part):
            yield from _pairs(part)
            continue
        yield part
        plain = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", part))).translate(_LETTERS)
        if plain and plain != part:
            yield plain


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
        return
    for place, character in enumerate(run):
        if _ALONE.match(character):
            yield character
        if place + 1 < len(run):
            yield run[place : place + 2]
