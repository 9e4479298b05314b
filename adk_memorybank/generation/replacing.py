"""Whether a statement takes the place of another: only where that is unmistakable.

A value that takes another's place is gone for good; one kept beside it can still be corrected. So both statements
must say little besides the attribute, both values must look like values of it, and neither may hold for a time only.
"""

from __future__ import annotations

import re

from adk_memorybank.generation.attributes import Claim, Profile
from adk_memorybank.generation.lexicon import replacing as words
from adk_memorybank.generation.words import tokens

_NAMED = frozenset(("home", "employer", "name", "name of"))
_LONGEST_NAME = 4
_EXCLUSIVE = re.compile(
    r"^(?:vegetari\w+|vegan\w*|végét\w+|végan\w+|pes[ck]\w+|pescét\w+|omn[ií]v\w+|onn?[ií]v\w+|allesesser\w*|flexitarian"
    r"|carnivore|plant[- ]based|meat|everything|carne|(?:di|de) tut?t?o|de todo|viande|fleisch|alles"
    r"|ベジタリアン|菜食主義者?|ヴィーガン|ビーガン|肉|素食.*|纯素.*|吃素)$",
    re.IGNORECASE,
)
_FIGURES = re.compile(r"\b(?:number|code|size|budget|weight|height|salary|target|title|schedule|team)$")
_SEVERAL = re.compile(r"\b(?:goal|schedule|team|title)s?$")
_COMPANY = re.compile(
    r"\b(?:University|College|School|Academy|Institute|Gym|Club|Church|Harvard|MIT|Università|Universidad|Universität)\b"
)
_TEMPORARY = re.compile(r"\bof (?:the )?(?:day|week|month|moment)\b")


def takes_place(fact: Profile, memory: Profile, mine: Claim, other: Claim) -> bool:
    """Whether a claim of a fact takes the place of the same attribute's claim in a memory."""
    if not (mine.firm and other.firm) or fact.additive or memory.additive or memory.negated != other.ended:
        return False
    if other.rest or not _alone(fact, memory, other) or passing(fact) or passing(memory):
        return False
    if mine.ended:
        return _ends(mine, other)
    if other.ended:
        return bool(mine.value) and mine.value == other.value
    if fact.negated:
        return False
    changed = bool(words.CHANGED.search(fact.text))
    return (
        _fits(fact, mine, changed=changed)
        and _fits(memory, other, changed=changed)
        and _excludes(fact, memory, mine, other, changed=changed)
    )


def denies(fact: Profile, memory: Profile) -> bool:
    """Whether one says the contrary of all that the other says, and of nothing narrower."""
    return (
        bool(fact.core)
        and fact.core == memory.core
        and fact.negated != memory.negated
        and fact.numbers == memory.numbers
        and not words.PARTLY.search(fact.text)
        and not words.PARTLY.search(memory.text)
        and not passing(fact)
        and not passing(memory)
    )


def switches(fact: Profile, memory: Profile) -> bool:
    """Whether a switch from one thing to another leaves what the memory says, and the memory says only that."""
    if not fact.left or memory.left or memory.negated or fact.negated or not fact.switched:
        return False
    return fact.left <= memory.words and memory.words - fact.left <= words.USES and not passing(memory)


def moved_on(fact: Profile, memory: Profile) -> bool:
    """The same words with one figure or name changed, and a word that says that this is so now."""
    if not words.NOW.search(fact.text) or fact.negated or memory.negated or fact.additive or memory.additive:
        return False
    one: list[str] = re.findall(r"[\w'’-]+", words.NOW.sub(" ", fact.text))
    two: list[str] = re.findall(r"[\w'’-]+", words.NOW.sub(" ", memory.text))
    if len(one) != len(two) or not re.match(r"(?:my|our|the)\b", fact.plain):
        return False
    apart = [at for at, (new, old) in enumerate(zip(one, two, strict=True)) if new.casefold() != old.casefold()]
    return len(apart) == 1 and apart[0] > 1 and all(_marked(word) for word in (one[apart[0]], two[apart[0]]))


def _marked(word: str) -> bool:
    return word[:1].isdigit() or word[:1].isupper()


def _alone(fact: Profile, memory: Profile, other: Claim) -> bool:
    """Whether the memory's other attributes, if it has some, are spoken of by the fact too."""
    spoken = {claim.attribute for claim in fact.claims}
    return all(claim.attribute == other.attribute or claim.attribute in spoken for claim in memory.claims)


def passing(said: Profile) -> bool:
    """Whether a statement holds for a time only, or not yet."""
    return bool(words.PASSING.search(said.plain if said.code == "en" else said.text.casefold()))


def _ends(mine: Claim, other: Claim) -> bool:
    if other.ended:
        return mine.value == other.value
    return not mine.value or (bool(other.value) and other.value <= mine.value)


def _fits(said: Profile, claim: Claim, *, changed: bool) -> bool:
    """Whether a value looks like one of its attribute."""
    attribute, _, key = claim.attribute.partition(":")
    value = claim.said
    if attribute in _NAMED:
        if attribute == "employer" and _COMPANY.search(value):
            return False
        return _is_name(said, value, changed=changed)
    if attribute == "diet":
        return bool(_EXCLUSIVE.match(value))
    if attribute in ("age", "phone", "address"):
        return any(sign.isdigit() for sign in value) or attribute == "age"
    if attribute == "birthday":
        return any(sign.isdigit() for sign in value) and not re.search(r"\b(?:next|on|in)\b", value)
    if attribute == "job":
        return len(value.split()) <= _LONGEST_NAME and not re.search(
            r"\b(?:at|for|in|with|on|per|da|in|a|en|para|chez|à|bei|für|em)\b", value, re.IGNORECASE
        )
    if attribute == "car":
        return changed and bool(re.search(r"[A-Z]", value))
    if attribute == "own":
        if any(sign.isdigit() for sign in value):
            return not _SEVERAL.search(key)
        return not _FIGURES.search(key) and not _SEVERAL.search(key) and _is_name(said, value, changed=changed)
    if attribute == "favourite":
        return len(value.split()) <= _LONGEST_NAME + 1 and not re.match(
            r"(?:not|when|that|to|what|where|how|if|still|non|no|quando|wenn|quand)\b", value, re.IGNORECASE
        )
    return True


def _excludes(fact: Profile, memory: Profile, mine: Claim, other: Claim, *, changed: bool) -> bool:
    """Whether the two values can't both be true."""
    if mine.attribute == "job":
        return changed or bool(words.WORK.search(fact.text) and words.WORK.search(memory.text))
    if mine.attribute == "home":
        return _is_country(mine.said) == _is_country(other.said)
    if mine.attribute in ("diet", "replies"):
        return not mine.rest
    if mine.attribute.startswith("favourite"):
        return not _TEMPORARY.search(memory.plain)
    return True


def _is_country(value: str) -> bool:
    return any(token in words.COUNTRIES for token in (*tokens(value), value.casefold()))


def _is_name(said: Profile, value: str, *, changed: bool) -> bool:
    if said.code in ("zh", "ja", "ko"):
        return not words.NO_NAMES_UNSPACED.search(value)
    parts = [part for part in re.split(r"[\s'’]+", value.strip(' ."')) if part]
    if not parts or len(parts) > _LONGEST_NAME or any(part.casefold() in words.NO_NAMES for part in parts):
        return False
    if said.text == said.text.casefold():
        # Who writes no capitals says by another word that it is a change.
        return changed and len(parts) <= 2 and parts[0] not in words.CONNECTORS | {"a", "an", "my", "our", "un", "una"}
    named = [part for part in parts if part.casefold() not in words.CONNECTORS]
    return bool(named) and all(_marked(part) for part in named)
