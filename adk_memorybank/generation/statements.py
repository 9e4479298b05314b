"""Whether a sentence is a statement worth keeping: said of the user's world, and meant."""

from __future__ import annotations

import re
from typing import Literal

from adk_memorybank.generation.attributes import profile
from adk_memorybank.generation.lexicon import Language
from adk_memorybank.generation.words import content, tokens, verbs

Kind = Literal["personal", "impersonal"]

_NAME = re.compile(r"(?<=[\w,'’] )(?!I\b|I['’])[A-Z][\w'’]{2,}")
_HEAD_NAME = re.compile(
    r"^(?!The\b|This\b|That\b|It\b|These\b|Those\b|There\b|He\b|She\b|They\b)[A-Z][\w'’]+(?: [A-Z][\w'’]+)? \w+s\b"
)
_NUMBER = re.compile(r"\d")
_QUOTED = re.compile(r"^[\"“«„「『][^\"”»“」』]*[\"”»“」』][.!]?$")
_MOODS = frozenset(
    "excit sure agree ready glad happy sorry grateful thankful thrill curiou couldn more one try keep posted update "
    "let know".split()
)
_MINIMUM_SIGNS = 4
_AGREED = re.compile(
    r"^(?:(?:ok(?:ay)?|alright|all right|great|perfect|fine|va bene|vale|d['’]accord|gut|tá|bom)\b,? )+(?:then )?",
    re.IGNORECASE,
)


def is_question(sentence: str, lexicon: Language) -> bool:
    """By its mark or by how it opens."""
    return sentence.rstrip(" )\"”'").endswith(("?", "？")) or bool(lexicon.question.search(sentence.rstrip("。.！! ")))


def kind(sentence: str, lexicon: Language) -> Kind | None:
    """`personal` where it speaks of the user or theirs, `impersonal` for other statements, None for the rest.

    Whether an impersonal statement is kept depends on what is around it and on the topics.
    """
    if _QUOTED.match(sentence) or is_question(sentence, lexicon):
        return None
    plain = sentence.rstrip("。.！! ")
    if _is_small_talk(plain, lexicon) and not profile(plain).claims:
        return None
    for dropped in (lexicon.unreal, lexicon.hearsay, lexicon.applause):
        if dropped.search(plain):
            return None
    if lexicon.request.search(plain) or lexicon.request.search(_AGREED.sub("", plain)):
        return None
    if lexicon.first_person.search(plain):
        return "personal" if _says_something(plain, lexicon) else None
    return None if lexicon.second_person.search(plain) else "impersonal"


def _says_something(sentence: str, lexicon: Language) -> bool:
    """False for "I love it" and "I'm so excited": they speak of the user, but alone they say nothing."""
    if not lexicon.spaced:
        return True
    rest = content(sentence, lexicon) - verbs(lexicon.code)
    return bool(rest - _MOODS) or bool(profile(sentence).claims)


def is_concrete(sentence: str, lexicon: Language) -> bool:
    """Whether an impersonal statement names somebody, a number, a preference or an event."""
    if len(content(sentence, lexicon)) < 3:
        return False
    named = bool(_NAME.search(sentence) or _HEAD_NAME.search(sentence)) if lexicon.spaced else False
    head = bool(re.match(r"[A-Z][\w'’]+(?: [A-Z][\w'’]+)? [a-zà-ÿ]", sentence)) and bool(lexicon.likes.search(sentence))
    named = named or (lexicon.spaced and lexicon.code != "en" and head)
    told = bool(lexicon.event.search(sentence)) or bool(_NUMBER.search(sentence))
    return (named and (told or bool(lexicon.likes.search(sentence)))) or (told and bool(_NUMBER.search(sentence)))


def _is_small_talk(sentence: str, lexicon: Language) -> bool:
    if not lexicon.spaced:
        return len(sentence) < _MINIMUM_SIGNS or sentence in lexicon.small_talk
    found = tokens(sentence)
    if len(found) < 2:
        return True
    # A greeting names somebody; in German every noun looks like a name.
    greets = len(found) < 6 and lexicon.code != "de"
    names = {match.casefold() for match in _NAME.findall(sentence)} if greets else set[str]()
    rest = [word for word in found if word not in lexicon.small_talk and word not in names]
    return not any(word not in lexicon.function_words and word not in lexicon.soft_words for word in rest)
