"""What a statement says of whom: its subject, its attributes with their values, and its words.

Two statements are about the same thing when subject and attribute are the same; that, and not how near their vectors
are, decides what replaces what.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from adk_memorybank.generation.lexicon import Language, group, language
from adk_memorybank.generation.lexicon.people import HEADS, OWN_TOPIC, RELATIONS, TOPICS
from adk_memorybank.generation.perspective import quoted
from adk_memorybank.generation.words import content, detect, numbers, tokens

_USER = "user"
_RELATION = (
    r"friend|best friend|brother|sister|mother|mom|mum|father|dad|wife|husband|partner|girlfriend|boyfriend"
    r"|fiancée?|son|daughter|cousin|uncle"
    r"|aunt|nephew|niece|grandmother|grandma|grandfather|grandpa|boss|manager|colleague|coworker|co-worker"
    r"|neighbou?r|roommate|flatmate|teacher|doctor"
)
# More than one of them is usual: without the same name they are not the same person.
_MANY = frozenset(
    (
        "friend",
        "cousin",
        "uncle",
        "aunt",
        "nephew",
        "niece",
        "colleague",
        "coworker",
        "co-worker",
        "neighbor",
        "neighbour",
        "teacher",
    )
)
_SEVERAL = frozenset(("brother", "sister", "son", "daughter"))
_HEAD = re.compile(
    rf"^(?:my|our) (?:(?:older|younger|little|big|elder|twin) )?(?P<relation>{_RELATION})(?:,? "
    rf"(?P<name>(?-i:[A-Z])[\w'’-]*\w))?,? (?=\w)",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"^(?!I\b|The\b|This\b|That\b|It\b|My\b|We\b|He\b|She\b|They\b|You\b|Actually\b|Yes\b"
    r"|There\b)(?P<name>[A-Z][\w'’-]*\w(?: [A-Z][\w'’-]*\w)?) (?=(?:\w+s|is|has|was|moved|now|just|no|can't|cannot"
    r"|don't|doesn't)\b)"
)
_OF_OTHERS = frozenset(
    ("home", "employer", "job", "diet", "age", "marital", "origin", "birthday", "allergy", "avoids", "car")
)
_OF_PERSONS = _OF_OTHERS - {"diet", "allergy", "avoids"} | {"name"}
_KANA_ONLY = re.compile(r"[\u3040-\u309f]+|了|吧|啦")
_RENAMING = frozenset("new old north south east west upper lower saint san santa".split())
_NOTE = re.compile(
    r"\s*[(（](?:in the week of )?(?:\d{4}-\d{2}-\d{2}(?:/\d{4}-\d{2}-\d{2})?|[^\W\d]+ \d{4}|\d{4}(?:-\d{2})?"
    r"|\d{4}年(?:\d{1,2}月)?)[)）]"
)
_LEAD = re.compile(r"^(?:actually|well|yes|no|so|by the way|in fact|correction|anyway|look),?\s+", re.IGNORECASE)
_SOFT = re.compile(
    r"\b(?:now|currently|still|just|already|actually|recently|nowadays|presently|lately|really|finally)\b,? ?",
    re.IGNORECASE,
)
_FUTURE = re.compile(
    r"^i(?:'m|’m| am)? ?(?:going to|gonna|will|'ll|might|may|want to|would|plan|hope)\b", re.IGNORECASE
)
_SWITCH = re.compile(
    r"\b(?:switched|changed|moved|migrated|went|converted)(?: over)? from (?P<old>.{1,40}?) to "
    r"(?P<new>.{1,40}?)(?=[,.;!?(]|\s+(?:and|because|for)\b|\s*$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """One attribute with its value, as one statement says it.

    Attributes:
        attribute: such as `home` or `favourite:colour`.
        value: its content words; empty where the statement only ends it.
        single: whether there is one value at a time.
        ended: whether it holds no longer.
        firm: whether it is surely said, and not only by a phrase that may say something else.
        said: the value in the statement's own words.
        rest: the content words of the statement besides the attribute and its value.
    """

    attribute: str
    value: frozenset[str]
    single: bool
    ended: bool
    firm: bool = True
    said: str = ""
    rest: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Profile:
    """A statement taken apart.

    Attributes:
        plain: lower-case words without signs, the test for the same statement.
        subject: `user`, or relation and name of somebody else.
        words: its content words.
        core: the same without words of change and negation.
        left: of a switch from one thing to another, the content words of the old one.
        switched: whether the statement says no more than that switch.
    """

    text: str
    code: str
    plain: str
    subject: tuple[str, str]
    words: frozenset[str]
    core: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    negated: bool
    changed: bool
    additive: bool
    claims: tuple[Claim, ...]
    left: frozenset[str]
    switched: bool = False

    def claim(self, attribute: str) -> Claim | None:
        """The claim of an attribute; also of one kind of it (`phone:work`), where that is all there is."""
        several = (f"{attribute}:",) if attribute in ("phone", "email") else ()
        kinds = [claim for claim in self.claims if claim.attribute == attribute or claim.attribute.startswith(several)]
        return min(kinds, key=lambda claim: len(claim.attribute), default=None)


def undated(fact: str) -> str:
    """A fact in the words of who said it: without the dates that were put beside them."""
    return _NOTE.sub("", fact)


@lru_cache(maxsize=4096)
def profile(fact: str) -> Profile:
    """Takes a statement apart."""
    said = quoted(fact)
    text = fact if said is None else said
    code = detect(text)
    lexicon = language(code)
    if code == "en":
        text = _first_person(text)
    bare = undated(text)
    subject, spoken = _subject(bare, code)
    core_text = lexicon.change.sub(" ", lexicon.negation.sub(" ", bare)) if lexicon.spaced else bare
    switch = _SWITCH.search(bare)
    return Profile(
        text=fact,
        code=code,
        plain=" ".join(tokens(text)),
        subject=subject,
        words=content(bare, lexicon),
        core=_core(bare, core_text, lexicon),
        numbers=numbers(text),
        names=frozenset(re.findall(r"(?<=[\w,'’] )(?!I\b)[A-Z][\w'’-]+", bare))
        if lexicon.spaced and code != "de"
        else frozenset(),
        negated=bool(lexicon.negation.search(bare)),
        changed=bool(lexicon.change.search(bare)),
        additive=bool(lexicon.additive.search(bare)),
        claims=_claims(bare, spoken, subject, lexicon),
        left=content(switch["old"], lexicon) if switch else frozenset(),
        switched=bool(switch) and not bare[switch.end() :].strip(" .!") if switch else False,
    )


def clear_cache() -> None:
    """Lets go of the statements that were taken apart: what was forgotten stays in no memory of the process."""
    profile.cache_clear()


def _core(bare: str, rest: str, lexicon: Language) -> frozenset[str]:
    # "I hate tea" and "I like tea" share their core: the verb says how, the rest says what.
    words = set(content(rest, lexicon))
    for word in tokens(bare):
        if word in lexicon.same_words and lexicon.negation.search(word):
            words |= content(lexicon.same_words[word], lexicon)
    return frozenset(words)


def stands_alone(part: str, lexicon: Language) -> bool:
    """Whether a clause says something by itself: an attribute with its value, or a preference with its object."""
    said = profile(part)
    return bool(said.claims) or (len(said.words) > 1 and bool(lexicon.likes.search(part)))


def same_subject(one: Profile, other: Profile) -> bool:
    """Whether both speak of the same person, as far as the words tell."""
    (kind, name), (other_kind, other_name) = one.subject, other.subject
    if kind != other_kind:
        return False
    if (name and other_name) or kind in _SEVERAL:
        return name == other_name
    return kind not in _MANY


def same_value(one: Claim, other: Claim) -> bool:
    """Whether two values are the same or one says more of the same."""
    if not one.value or not other.value:
        return one.value == other.value
    figures = {word for word in one.value if word[0].isdigit()}, {word for word in other.value if word[0].isdigit()}
    apart = {word.casefold() for word in one.said.split()} ^ {word.casefold() for word in other.said.split()}
    if apart & _RENAMING:  # York and New York
        return False
    return figures[0] == figures[1] and (one.value <= other.value or other.value <= one.value)


def _first_person(text: str) -> str:
    """Statements about "the user" in the first person, so that one set of patterns reads both."""
    if not re.search(r"\bthe user\b", text, re.IGNORECASE):
        return _LEAD.sub("", text)
    text = re.sub(r"\bthe user and others\b", "we", text, flags=re.IGNORECASE)
    text = re.sub(r"\bthe user['’]s\b", "my", text, flags=re.IGNORECASE)
    text = re.sub(r"\bthe user\b", "I", text, flags=re.IGNORECASE)
    text = re.sub(r"\btheir\b", "my", text, flags=re.IGNORECASE)
    text = re.sub(r"\bthey\b", "I", text, flags=re.IGNORECASE)
    return _LEAD.sub("", text)


def _subject(text: str, code: str) -> tuple[tuple[str, str], str]:
    """Who is spoken of, and the statement with the subject put to "i"."""
    if code != "en":
        return _other_subject(text, code)
    match = _HEAD.match(text)
    if match:
        relation = match["relation"].casefold()
        return (relation, (match["name"] or "").casefold()), f"i {text[match.end() :]}"
    match = _NAMED.match(text)
    if match:
        return ("", match["name"].casefold()), f"i {text[match.end() :]}"
    return (_USER, ""), text


def _other_subject(text: str, code: str) -> tuple[tuple[str, str], str]:
    """The same for the other languages, where the verb tells the user from others, or nothing does."""
    match = HEADS[code].match(text) if code in HEADS else None
    if match:
        relation = RELATIONS[code][match["relation"].casefold()]
        rest = text[match.end() :]
        return (relation, (match["name"] or "").casefold()), f"我{rest}" if code == "zh" else rest
    return (_USER, ""), text


def _claims(text: str, spoken: str, subject: tuple[str, str], lexicon: Language) -> tuple[Claim, ...]:
    found: dict[str, Claim] = {}
    if lexicon.code == "en" and _FUTURE.match(spoken):
        return ()
    mine = subject[0] == _USER
    readings = [text.strip()]
    if not mine and lexicon.code == "en":
        readings = [spoken.strip(), text.strip()]
    elif not mine:
        # Where the verb has a person, what a statement about somebody else says in the first is not said of them.
        readings = [spoken.strip()] if lexicon.code in ("ja", "zh", "ko") else []
    topic = TOPICS[lexicon.code].match(text) if mine and lexicon.code in TOPICS else None
    foreign = bool(topic) and not OWN_TOPIC.search(topic["topic"]) if topic else False
    for at, reading in enumerate(readings):
        plain = re.sub(r"\s+", " ", _SOFT.sub("", reading)).strip() if lexicon.code == "en" else reading
        for slot in lexicon.slots:
            if not mine and at == 0 and slot.attribute not in _OF_OTHERS:
                continue
            if foreign and slot.attribute in _OF_PERSONS:
                continue
            match = slot.said.search(plain)
            if not match:
                continue
            key = group(match, "key").casefold().strip()
            attribute = f"{slot.attribute}:{_keyed(key, lexicon)}" if key else slot.attribute
            value = group(match, "value")
            words = content(value, lexicon) or frozenset(tokens(value))
            rest = _outside(plain, match, lexicon)
            claim = Claim(attribute, words, slot.single, slot.ended, slot.firm, value, rest)
            known = found.get(attribute)
            # An ending is the more telling reading; of two values the first pattern's stands.
            if known is None or (claim.ended and not known.ended):
                found[attribute] = claim
    return tuple(found.values())


def _outside(text: str, match: re.Match[str], lexicon: Language) -> frozenset[str]:
    """The content words before and after a match, without words of change; of a word cut in two, neither part."""
    end = match.end()
    while lexicon.spaced and end < len(text) and text[end].isalpha():
        end += 1
    rest = f"{text[: match.start()]} {text[end:]}"
    rest = lexicon.change.sub(" ", rest) if lexicon.spaced else rest
    return frozenset(word for word in content(rest, lexicon) if not _KANA_ONLY.fullmatch(word))


def _keyed(key: str, lexicon: Language) -> str:
    return " ".join(sorted(content(key, lexicon))) or key
