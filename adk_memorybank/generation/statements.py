"""What no statement is, whatever a sentence's words are near to: questions, quotations, make-believe, hearsay."""

from __future__ import annotations

import re

from adk_memorybank.generation.attributes import profile
from adk_memorybank.generation.lexicon import Language
from adk_memorybank.generation.words import tokens

_QUOTED = re.compile(r"^[\"“«„「『][^\"”»“」』]*[\"”»“」』][.!]?$")
_MINIMUM_SIGNS = 4


def is_question(sentence: str, lexicon: Language) -> bool:
    """By its mark or by how it opens."""
    return sentence.rstrip(" )\"”'").endswith(("?", "？")) or bool(lexicon.question.search(sentence.rstrip("。.！! ")))


def may_state(sentence: str, lexicon: Language) -> bool:
    """Whether a sentence can be a statement of the user's at all; `judge` tells what it is worth."""
    if _QUOTED.match(sentence) or is_question(sentence, lexicon):
        return False
    plain = sentence.rstrip("。.！! ")
    if _is_small_talk(plain, lexicon) and not profile(plain).claims:
        return False
    return not any(sort.search(plain) for sort in (lexicon.unreal, lexicon.hearsay, lexicon.applause))


def _is_small_talk(sentence: str, lexicon: Language) -> bool:
    if not lexicon.spaced:
        return len(sentence) < _MINIMUM_SIGNS or sentence in lexicon.small_talk
    found = tokens(sentence)
    return len(found) < 2 or all(word in lexicon.small_talk for word in found)
