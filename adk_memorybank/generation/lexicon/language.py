"""What the rules need to know of a language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Unit = Literal["day", "week", "weekend", "month", "year"]
Direction = Literal["last", "this", "next"]

NEVER = re.compile(r"(?!)")
"""Matches nothing: the pattern of what a language module does not cover."""


def words(text: str) -> frozenset[str]:
    """A set out of a blank-separated list."""
    return frozenset(text.split())


def pattern(*alternatives: str) -> re.Pattern[str]:
    """One case-insensitive pattern out of alternatives.

    A group's name may come back in another alternative, which `re` does not allow: the later ones get a number, and
    `group` reads whichever took part.
    """
    numbered = [
        alternative.replace("(?P<value>", f"(?P<value{n}>")
        .replace("(?P<what>", f"(?P<what{n}>")
        .replace("(?P<key>", f"(?P<key{n}>")
        for n, alternative in enumerate(alternatives)
    ]
    return re.compile("|".join(f"(?:{alternative})" for alternative in numbered), re.IGNORECASE)


def group(match: re.Match[str], name: str) -> str:
    """The text of a group in a match of `pattern`; empty where it took no part."""
    for key, value in match.groupdict().items():
        if value and key.rstrip("0123456789") == name:
            return value.strip()
    return ""


@dataclass(frozen=True)
class Slot:
    """An attribute of a subject and how it is said.

    Attributes:
        attribute: such as `home`; `key` in the pattern is appended to it (`favourite:colour`).
        said: searched in the statement; the group `value` holds the value, where there is one.
        single: whether a subject has one value at a time, so that a new one takes the old one's place.
        ended: whether the pattern says that it holds no longer.
        firm: whether what it finds is surely such a value; only then it takes another's place.
    """

    attribute: str
    said: re.Pattern[str]
    single: bool = True
    ended: bool = False
    firm: bool = True


@dataclass(frozen=True)
class DateWords:
    """How relative dates are said.

    Attributes:
        days: phrase to offset in days.
        spans: phrase to unit and offset, for what is longer than a day.
        numbers: number words; digits are known without.
        units: word to unit, all numbers and cases of it.
        ago: pattern of a past distance with `{n}` and `{unit}`.
        ahead: the same for the future.
        weekdays: word to day, Monday is 0.
        named: patterns with `{weekday}` and the direction they give.
        months: names, January first; empty where a month is written in figures.
    """

    days: Mapping[str, int]
    spans: Mapping[str, tuple[Unit, int]]
    numbers: Mapping[str, int]
    units: Mapping[str, Unit]
    ago: str
    ahead: str
    weekdays: Mapping[str, int]
    named: tuple[tuple[str, Direction], ...]
    months: tuple[str, ...] = ()


@dataclass(frozen=True)
class Language:
    """The words and patterns of one language. Patterns ignore case.

    Attributes:
        spaced: whether blanks separate the words.
        function_words: carry no content; they tell the language and are left out when statements are compared.
        soft_words: adverbs and particles that do not change what a statement says.
        same_words: verbs that say the same for the comparison, such as love for like.
        openers: greeting or filler before the statement proper, matched at its start.
        small_talk: words of politeness and of applause; a sentence of nothing else is dropped.
        first_person: speaks of the speaker.
        question: opens a question, also without its mark.
        request: opens an order to the agent.
        unreal: hypotheses and make-believe in one sentence.
        material: opens make-believe or text to work on that goes on to the end of the turn.
        hearsay: opens what others say.
        applause: opens a comment on what the other one said.
        remember: `what` is to be remembered.
        standing: opens a standing instruction, which is remembered whole.
        forget: `what` is to be forgotten.
        forget_all: of such a `what`: everything.
        ignore: asks not to remember; `what` where it is named.
        likes: says a like or dislike, a habit or a preference.
        negation: turns a statement into its contrary.
        change: words that only say that something is new or over.
        additive: says that the new value stands beside the old one.
        nouns: word to attribute, to understand what "my diet" asks to forget.
    """

    code: str
    dates: DateWords
    spaced: bool = True
    function_words: frozenset[str] = frozenset()
    soft_words: frozenset[str] = frozenset()
    same_words: Mapping[str, str] = field(default_factory=dict[str, str])
    openers: re.Pattern[str] = NEVER
    small_talk: frozenset[str] = frozenset()
    first_person: re.Pattern[str] = NEVER
    question: re.Pattern[str] = NEVER
    request: re.Pattern[str] = NEVER
    unreal: re.Pattern[str] = NEVER
    material: re.Pattern[str] = NEVER
    hearsay: re.Pattern[str] = NEVER
    applause: re.Pattern[str] = NEVER
    remember: re.Pattern[str] = NEVER
    standing: re.Pattern[str] = NEVER
    forget: re.Pattern[str] = NEVER
    forget_all: re.Pattern[str] = NEVER
    ignore: re.Pattern[str] = NEVER
    likes: re.Pattern[str] = NEVER
    negation: re.Pattern[str] = NEVER
    change: re.Pattern[str] = NEVER
    additive: re.Pattern[str] = NEVER
    slots: tuple[Slot, ...] = ()
    nouns: Mapping[str, str] = field(default_factory=dict[str, str])
