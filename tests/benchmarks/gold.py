"""Conversations with what should be remembered of them, as the files in `statements/` hold them.

The README beside those files tells the format; here it is read, and what is not in it is refused with its place.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from google.adk.sessions.session import Session

from tests.adk import event, session

FOLDER = Path(__file__).parent / "statements"
HALVES = ("developed", "held_back")
LANGUAGES = ("en", "it", "es", "fr", "de", "pt", "ja", "zh")
TOPICS = {
    "P": "USER_PERSONAL_INFO",
    "R": "USER_PREFERENCES",
    "K": "KEY_CONVERSATION_DETAILS",
    "E": "EXPLICIT_INSTRUCTIONS",
}
NOTHING = "none"
"""The kind of a conversation of which nothing is to be kept."""

_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


@dataclass(frozen=True)
class Terms:
    """Groups of terms: a text holds them if it has one term of each group, whatever the case.

    A term is found anywhere, also within a word, so that a stem stands for its inflections; a number only whole.
    """

    groups: tuple[tuple[str, ...], ...]

    @classmethod
    def read(cls, text: str) -> Terms:
        groups = tuple(tuple(folded(term) for term in group.split("/")) for group in text.split(";"))
        if not all(term for group in groups for term in group):
            raise ValueError(f"an empty term in {text!r}")
        return cls(groups)

    def held(self, text: str) -> int:
        """How many of the groups a text has a term of."""
        whole = folded(text)
        return sum(any(_occurs(term, whole) for term in group) for group in self.groups)

    def within(self, text: str) -> bool:
        return self.held(text) == len(self.groups)


@dataclass(frozen=True)
class Expected:
    """A fact that should be kept.

    Attributes:
        text: for people.
        topics: those that are right.
        terms: by which a memory of it is recognised.
        replaces: an older value, which may stand in no memory save together with the new one.
        once: said twice, and one memory all the same.
        date: the year, month or day that the memory must name.
    """

    text: str
    topics: tuple[str, ...]
    terms: Terms
    replaces: Terms | None = None
    once: bool = False
    date: str | None = None

    @classmethod
    def read(cls, line: str) -> Expected:
        head, *parts = (part.strip() for part in line.split("::"))
        letters, _, text = head.partition(" ")
        if not parts or not text or any(letter not in TOPICS for letter in letters.split("/")):
            raise ValueError("a fact has topics (P, R, K, E), a text, and terms after `::`")
        options = {name: value for name, _, value in (part.partition("=") for part in parts[1:])}
        replaces, date, once = options.pop("replaces", None), options.pop("date", None), options.pop("once", None)
        if options or (date and not _DATE.fullmatch(date)) or once:
            raise ValueError(f"unknown, or not a date: {parts[1:]}")
        return cls(
            text=text.strip(),
            topics=tuple(TOPICS[letter] for letter in letters.split("/")),
            terms=Terms.read(parts[0]),
            replaces=None if replaces is None else Terms.read(replaces),
            once=once is not None,
            date=date,
        )


@dataclass
class Conversation:
    """One conversation: its sessions, each with when it began and its turns (speaker `u` or `a`, and text)."""

    id: str
    kinds: tuple[str, ...]
    sessions: list[tuple[datetime, list[tuple[str, str]]]] = field(default_factory=list)
    facts: list[Expected] = field(default_factory=list)
    gone: list[Terms] = field(default_factory=list)

    @property
    def language(self) -> str:
        return self.id.partition("-")[0]

    @property
    def empty(self) -> bool:
        """Whether nothing of it is to be kept."""
        return NOTHING in self.kinds

    @property
    def said(self) -> str:
        """All that the user said."""
        return "\n".join(text for _, turns in self.sessions for speaker, text in turns if speaker == "u")

    def as_adk(self) -> list[Session]:
        """Its sessions as ADK keeps them, a turn every ten seconds."""
        return [
            session(
                *(
                    event(
                        text,
                        author="user" if speaker == "u" else "agent",
                        id=f"{self.id}-{number}-{place}",
                        time=(began + timedelta(seconds=10 * place)).timestamp(),
                    )
                    for place, (speaker, text) in enumerate(turns)
                ),
                id=f"{self.id}-{number}",
                app_name="statements",
                user_id=self.id,
            )
            for number, (began, turns) in enumerate(self.sessions)
        ]


def read(path: Path) -> list[Conversation]:
    """The conversations of one file.

    Raises:
        ValueError: naming the file and the line.
    """
    return parse(path.read_text(encoding="utf-8").splitlines(), name=f"{path.parent.name}/{path.name}")


def read_half(half: str) -> list[Conversation]:
    """All conversations of a half, language by language; none where its folder isn't there."""
    paths = (FOLDER / half / f"{language}.txt" for language in LANGUAGES)
    return [one for path in paths if path.exists() for one in read(path)]


def parse(lines: Iterable[str], *, name: str = "text") -> list[Conversation]:
    """Reads lines of the format.

    Raises:
        ValueError: naming the line.
    """
    found: list[Conversation] = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                _take(line.strip(), found)
            except (ValueError, IndexError) as error:
                raise ValueError(f"{name}:{number}: {error}: {line.strip()!r}") from error
    for one in found:
        if not one.sessions or not all(turns for _, turns in one.sessions):
            raise ValueError(f"{name}: {one.id} has a session without turns, or none")
        if one.empty == bool(one.facts or one.gone):
            raise ValueError(f"{name}: {one.id} is either of the kind {NOTHING!r} or has something to check")
    return found


def _take(line: str, found: list[Conversation]) -> None:
    mark, _, rest = line.partition(" ")
    rest = rest.strip()
    if not rest:
        raise ValueError("nothing after the mark")
    if mark == "##":
        id, _, kinds = rest.partition("|")
        found.append(Conversation(id.strip(), tuple(kind.strip() for kind in kinds.split(",") if kind.strip())))
        return
    if not found:
        raise ValueError("no conversation has begun")
    if mark == "@":
        found[-1].sessions.append((datetime.fromisoformat(rest).replace(tzinfo=UTC), []))
    elif mark in ("u:", "a:"):
        if not found[-1].sessions:
            raise ValueError("no session has begun")
        found[-1].sessions[-1][1].append((mark[0], rest))
    elif mark == "+":
        found[-1].facts.append(Expected.read(rest))
    elif mark == "!":
        found[-1].gone.append(Terms.read(rest))
    else:
        raise ValueError("an unknown mark")


def folded(text: str) -> str:
    """Without case, and with one form of each character."""
    return unicodedata.normalize("NFKC", text).casefold().strip()


def _occurs(term: str, text: str) -> bool:
    before = r"(?<!\d)" if term[0].isdigit() else ""
    after = r"(?!\d)" if term[-1].isdigit() else ""
    return re.search(before + re.escape(term) + after, text) is not None
