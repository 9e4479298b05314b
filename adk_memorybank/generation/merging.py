"""How facts are merged with the memories that are there, and among each other.

Subject and attribute decide; a memory gives way only where that is unmistakable (`replacing`). Nearness of vectors
only proposes: two facts that must stay apart are often nearer than an old value and its successor. Facts are taken in
the order of their time, so that of two values the later one stays, and a statement older than the memory that it
contradicts changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Literal

from adk_memorybank.generation.attributes import Claim, Profile, profile, same_subject, same_value, stands_alone
from adk_memorybank.generation.breathing import in_breaths
from adk_memorybank.generation.forgetting import Request
from adk_memorybank.generation.generator import Candidate, ConsolidationRequest, Decision, ExtractedFact
from adk_memorybank.generation.lexicon import language
from adk_memorybank.generation.lexicon.replacing import VERBS
from adk_memorybank.generation.meaning import Meanings
from adk_memorybank.generation.replacing import denies, moved_on, switches, takes_place
from adk_memorybank.generation.sentences import compound, sentences

Relation = Literal["same", "more", "replaces"]

_LONGEST = 500


@dataclass(slots=True)
class _Entry:
    """A memory or a fact of this batch that is to become one, as it stands so far."""

    text: str
    topics: tuple[str, ...]
    time: datetime | None
    order: int
    candidate: int | None = None
    earlier: tuple[str, ...] = ()
    facts: list[int] = field(default_factory=list[int])
    replaces: bool = False
    deleted: bool = False

    def is_newer(self, time: datetime | None) -> bool:
        return self.time is not None and time is not None and self.time > time


def texts_of(request: ConsolidationRequest) -> list[str]:
    """What `consolidate` wants the meanings of: all facts, and the statements in them and in the memories."""
    said = [one.fact for one in (*request.facts, *request.candidates)]
    return list(dict.fromkeys([*said, *(part for text in said for part in sentences(text))]))


async def consolidate(request: ConsolidationRequest, meanings: Meanings) -> list[Decision]:
    """Decides what becomes of each fact. Every decision lists all the facts behind it.

    Args:
        meanings: of `texts_of` the request.
    """
    batch = _Batch(request, meanings)
    async for index, candidate in in_breaths(enumerate(request.candidates)):
        batch.offer(index, candidate)
    async for index in in_breaths(_in_time(request.facts)):
        if request.facts[index].forget:
            await batch.forget(index)
        else:
            batch.add(index)
    return batch.decisions()


def _in_time(facts: Sequence[ExtractedFact]) -> list[int]:
    """Indices in the order of time; a fact without one stays behind the one before it."""
    keys: list[tuple[float, int]] = []
    last = float("-inf")
    for index, fact in enumerate(facts):
        last = fact.time.timestamp() if fact.time else last
        keys.append((last, index))
    return [index for _, index in sorted(keys)]


class _Batch:
    """The memories on offer and what the facts make of them."""

    def __init__(self, request: ConsolidationRequest, meanings: Meanings) -> None:
        self._request = request
        self._meanings = meanings
        self._entries: list[_Entry] = []
        self._plain: dict[str, list[int]] = {}
        self._cores: dict[frozenset[str], list[int]] = {}
        self._attributes: dict[str, list[int]] = {}

    def offer(self, index: int, candidate: Candidate) -> None:
        """Takes up one memory, in their order and before any fact."""
        self._enter(_Entry(candidate.fact, candidate.topics, candidate.time, index, index, candidate.earlier))

    def add(self, index: int) -> None:
        """Merges one fact."""
        fact = self._request.facts[index]
        if fact.corrects and self._correct(index):
            return
        said = profile(fact.fact)
        same: list[tuple[_Entry, Relation]] = []
        replaced: list[tuple[_Entry, str]] = []
        for entry in self._related(index, said):
            relation, part = _relation(fact.fact, entry.text), ""
            if relation == "open":
                relation, part = self._by_meaning(fact.fact, entry.text)
            if relation == "replaces":
                replaced.append((entry, part))
            elif relation:
                same.append((entry, relation))
            elif entry.is_newer(fact.time) and any(profile(old).plain == said.plain for old in entry.earlier):
                return  # it was true once; the memory has moved on since
        if any(entry.is_newer(fact.time) for entry, _ in replaced):
            return
        if same:
            entry, relation = same[0]
            newer = relation == "more" and not entry.is_newer(fact.time)
            self._update(entry, index, fact.fact if newer else entry.text, replaces=False)
        elif replaced:
            entry, part = replaced.pop(0)
            text = _without(entry.text, part, fact.fact) if part else _with_rest(fact.fact, entry.text)
            self._update(entry, index, text, replaces=text == fact.fact)
        else:
            self._enter(_Entry(fact.fact, fact.topics, fact.time, len(self._entries), facts=[index]))
        for entry, part in replaced:
            # Several memories held the old value; one carries the new one, the others are outdated.
            # What such a memory says besides must not go with it.
            rest = _without(entry.text, part) if part else ""
            if rest:
                self._update(entry, index, rest, replaces=False)
            elif part or len(_parts(entry.text)) == 1:
                entry.deleted = True
                entry.facts.append(index)

    def _correct(self, index: int) -> bool:
        """Puts the statement right that the user corrected, where a memory holds it."""
        fact = self._request.facts[index]
        for entry in self._entries:
            if not entry.deleted and fact.corrects in entry.text:
                self._update(entry, index, entry.text.replace(fact.corrects, fact.fact, 1), replaces=True)
                return True
        return False

    async def forget(self, index: int) -> None:
        """Carries out one request to forget."""
        fact = self._request.facts[index]
        wanted = Request.read(fact.fact)
        older = [entry for entry in self._entries if not (entry.deleted or entry.is_newer(fact.time))]
        named = False
        async for entry in in_breaths(older):
            if wanted.means(profile(entry.text), _claims(entry.text)):
                named = entry.deleted = True
                entry.facts.append(index)
        if named or wanted.is_understood:
            return
        async for entry in in_breaths(older):
            self._forget_parts(entry, index)

    def _forget_parts(self, entry: _Entry, index: int) -> None:
        """Takes out of a memory what a request to forget means by its meaning."""
        wish = self._request.facts[index].fact
        parts = list(sentences(entry.text))
        kept = [part for part in parts if not self._meanings.is_meant(wish, part)]
        if len(kept) == len(parts):
            return
        if kept:
            self._update(entry, index, " ".join(kept), replaces=False)
        else:
            entry.deleted = True
            entry.facts.append(index)

    def decisions(self) -> list[Decision]:
        """One decision per memory that changes."""
        made: list[Decision] = []
        for entry in self._entries:
            if not entry.facts:
                continue
            facts = tuple(dict.fromkeys(entry.facts))
            if entry.deleted:
                if entry.candidate is not None:
                    made.append(Decision("delete", facts, entry.candidate))
            elif entry.candidate is None:
                made.append(Decision("create", facts, None, entry.text, entry.topics))
            else:
                made.append(Decision("update", facts, entry.candidate, entry.text, entry.topics, entry.replaces))
        return made

    def _enter(self, entry: _Entry) -> None:
        self._entries.append(entry)
        self._index(len(self._entries) - 1)

    def _index(self, at: int) -> None:
        said = profile(self._entries[at].text)
        self._plain.setdefault(said.plain, []).append(at)
        self._cores.setdefault(said.core, []).append(at)
        for claim in _claims(self._entries[at].text):
            self._attributes.setdefault(claim.attribute, []).append(at)

    def _related(self, index: int, said: Profile) -> Iterable[_Entry]:
        """What may be about the same: the proposed memories, and all with the same words or attributes."""
        numbers = dict.fromkeys(self._plain.get(said.plain, ()))
        if index < len(self._request.proposed):
            numbers.update(
                dict.fromkeys(at for at in self._request.proposed[index] if 0 <= at < len(self._request.candidates))
            )
        numbers.update(dict.fromkeys(self._cores.get(said.core, ())))
        for claim in _claims(said.text):
            numbers.update(dict.fromkeys(self._attributes.get(claim.attribute, ())))
        return [self._entries[at] for at in numbers if not self._entries[at].deleted]

    def _update(self, entry: _Entry, index: int, text: str, *, replaces: bool) -> None:
        fact = self._request.facts[index]
        topics = fact.topics if replaces and fact.topics else tuple(dict.fromkeys((*entry.topics, *fact.topics)))
        entry.facts.append(index)
        entry.topics = topics
        entry.replaces = (entry.replaces or replaces) and entry.candidate is not None
        if fact.time is not None and (entry.time is None or fact.time > entry.time):
            entry.time = fact.time
        if replaces and entry.candidate is None:
            # Within one batch the earlier value never becomes a memory, and neither do its sources.
            entry.facts = [index]
        if text != entry.text:
            entry.text = text
            self._index(entry.order if entry.candidate is None else entry.candidate)

    def _by_meaning(self, fact: str, memory: str) -> tuple[Relation | None, str]:
        """The relation to one of a memory's statements of which rules know nothing, and that statement."""
        parts = list(sentences(memory))
        found = {relation: part for part in reversed(parts) if (relation := self._meanings.relation(fact, part))}
        relation = "same" if "same" in found else "replaces" if found else None
        return relation, found.get(relation, "") if relation else ""


def _without(text: str, part: str, new: str = "") -> str:
    """A memory's text without one of its statements, or with another in its place; empty where nothing is left."""
    return " ".join(said for one in sentences(text) if (said := new if one == part else one))


def _parts(text: str) -> list[str]:
    """The statements in a memory; most hold one."""
    found: list[str] = []
    for sentence in sentences(text):
        lexicon = language(profile(sentence).code)
        found += compound(sentence, lexicon, partial(stands_alone, lexicon=lexicon))
    return found or [text]


def _claims(text: str) -> tuple[Claim, ...]:
    """All claims of all statements in a text."""
    whole = profile(text).claims
    if len(text) > _LONGEST:
        return whole
    found = {claim.attribute: claim for claim in whole}
    for part in _parts(text):
        for claim in profile(part).claims:
            found.setdefault(claim.attribute, claim)
    return tuple(found.values())


def _with_rest(new: str, old: str) -> str:
    """The new statement with what the old text says besides what it replaces."""
    parts = _parts(old)
    if len(parts) < 2:
        return new
    kept = [part for part in parts if _relation(new, part) in (None, "open")]
    if len(kept) == len(parts):
        return new
    joined = " ".join([new if new.endswith((".", "!", "。")) else f"{new}.", *kept])
    return joined if kept and len(joined) <= _LONGEST else new


def _relation(new: str, old: str) -> Relation | Literal["open"] | None:
    """How a fact stands to what is there: the same, the same and more, in its place, or None for beside it.

    `open` where rules tell nothing.
    """
    fact, memory = profile(new), profile(old)
    if fact.plain == memory.plain:
        return "same"
    if not same_subject(fact, memory):
        return "open"
    by_claims = _by_claims(fact, memory, new, old)
    if by_claims != "open":
        return by_claims
    figures = fact.numbers == memory.numbers
    if fact.words == memory.words and fact.words and figures and fact.negated == memory.negated:
        return "same"
    if denies(fact, memory) or switches(fact, memory) or moved_on(fact, memory):
        return "replaces"
    return None if fact.claims and memory.claims else "open"


def _by_claims(fact: Profile, memory: Profile, new: str, old: str) -> Relation | Literal["open"] | None:
    """The relation as the attributes tell it; `open` where they tell nothing."""
    theirs = {claim.attribute: (claim, part) for part in _held(old) for claim in reversed(part.claims)}
    for mine in _claims(new):
        other, part = theirs.get(mine.attribute, (None, memory))
        if other is None:
            opposite, part = theirs.get({"avoids": "diet", "diet": "avoids"}.get(mine.attribute, ""), (None, memory))
            if opposite and mine.value and mine.value == opposite.value and not opposite.ended and not mine.ended:
                return "replaces" if not opposite.rest and len(part.claims) == 1 else None
            continue
        if not mine.single:
            continue
        if mine.ended == other.ended and same_value(mine, other):
            return _fuller(fact, memory, mine, other) if fact.negated == memory.negated else None
        return "replaces" if takes_place(fact, part, mine, other) else None
    return "open"


def _held(text: str) -> list[Profile]:
    """The statements of a text, the first of an attribute last, and the whole where it is one."""
    if len(text) > _LONGEST:
        return [profile(text)]
    return [profile(part) for part in reversed(_parts(text))]


def _fuller(fact: Profile, memory: Profile, mine: Claim, other: Claim) -> Relation | None:
    """Of two statements with the same value, whether one says all that the other does."""
    if fact.words <= memory.words:
        return "same"
    # A verb besides the value says no more: live, moved, work.
    if memory.words <= fact.words or (other.value <= mine.value and memory.words - other.value - fact.words <= VERBS):
        return "more"
    if mine.value <= other.value and fact.words - mine.value - memory.words <= VERBS:
        return "same"
    return None
