"""The seam between the engine and whatever decides what to remember: a model, or the rules of `offline`.

A generator is asked twice per operation at most: once to extract facts from the new events, once to consolidate all
of them with the memories that are there. It never sees names or ids of memories, only short ordinals, and the engine
checks every answer against what was offered (`adk_memorybank.generation.plan`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from adk_memorybank.events import Media
from adk_memorybank.generation.topics import Example, Topic
from adk_memorybank.schemas import SchemaConfig


@dataclass(frozen=True, slots=True)
class Turn:
    """One event as a generator reads it.

    Attributes:
        role: who speaks; only what is said by `user`, or confirmed by them, can become the user's fact.
        author: the agent's name, or `user`.
        time: when it was said, in UTC; relative dates are resolved against it.
        new: False for the events before the new ones, which are context and no source of facts.
        media: what was shown with it, for a generator that can look at it.
    """

    session_id: str
    event_id: str
    role: Literal["user", "model"]
    author: str
    text: str
    time: datetime | None
    new: bool = True
    media: tuple[Media, ...] = ()


@dataclass(frozen=True, slots=True)
class ExtractionRequest:
    """What to read and what to look for.

    Attributes:
        topics: of facts; empty where no facts are wanted.
        schemas: of the profiles whose fields are to be filled in.
    """

    turns: Sequence[Turn]
    topics: Sequence[Topic]
    examples: Sequence[Example] = ()
    third_person: bool = False
    schemas: Sequence[SchemaConfig] = ()


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    """One fact, or one request to forget.

    Attributes:
        fact: the text as it will be stored; of a request to forget, what is to be forgotten.
        topics: names of topics out of the request's; never empty for a fact.
        turns: indices into the request's turns, the new ones that the fact was drawn from.
        time: when the newest of these turns was said.
        forget: True where the user asked to forget what `fact` says.
        explicit: True where the user asked to remember it, in so many words.
        alone: True where it is about one attribute, and is merged and kept by itself.
        corrects: the text of what the user said before, where this puts it right and takes its place.
    """

    fact: str
    topics: tuple[str, ...]
    turns: tuple[int, ...]
    time: datetime | None = None
    forget: bool = False
    explicit: bool = False
    alone: bool = False
    corrects: str = ""


@dataclass(frozen=True, slots=True)
class FieldValue:
    """A value for one field of a profile, or a request to forget it.

    Attributes:
        value: JSON. Of a request to forget, the items that are to go; None for the whole field.
        turns: indices into the request's turns, the new ones that the value was drawn from.
        time: when the newest of these turns was said.
        forget: True where the user asked to forget it, or took it back without a new value.
    """

    schema_id: str
    field: str
    value: Any
    turns: tuple[int, ...]
    time: datetime | None = None
    forget: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that may be about the same thing as a fact.

    Attributes:
        fact: its present text.
        time: when its newest source was said.
        earlier: its earlier revisions' facts, newest first, where the configuration asks for them.
    """

    fact: str
    topics: tuple[str, ...]
    time: datetime | None
    earlier: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConsolidationRequest:
    """All facts of one operation and all candidates for them.

    Attributes:
        candidates: what may be updated or deleted; a decision names one by its index.
        proposed: for each fact, the indices of its candidates, the nearest first. Nearness only proposes.
    """

    facts: Sequence[ExtractedFact]
    candidates: Sequence[Candidate]
    proposed: Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class Decision:
    """One change.

    Attributes:
        action: what to do; an update may leave the text as it is (the same fact was said again).
        facts: indices of the extracted facts behind it; their sources become the memory's.
        candidate: index of the memory to update or delete; None for a creation.
        fact: the text afterwards; empty for a deletion.
        replaces: of an update: True where the new text takes the place of what was true before, False where it
            says the same or adds to it.
    """

    action: Literal["create", "update", "delete"]
    facts: tuple[int, ...]
    candidate: int | None = None
    fact: str = ""
    topics: tuple[str, ...] = ()
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was drawn from the events. Empty facts mean that nothing was worth keeping.

    Attributes:
        notes: what was left out and why, in words without any fact's text.
        values: for the fields of the request's schemas.
    """

    facts: list[ExtractedFact] = field(default_factory=list[ExtractedFact])
    notes: list[str] = field(default_factory=list[str])
    values: list[FieldValue] = field(default_factory=list[FieldValue])


class Generator(Protocol):
    """Decides what to remember and how to merge it.

    Both methods run on the engine's loop and must not block it for more than a few milliseconds. A passing fault is
    raised as it comes (`errors.is_passing` tells) and the operation is tried again; any other error ends it.

    Attributes:
        name: shown to people.
        reads_media: whether it looks at images, sounds and files; else they are passed over before they are stored.
    """

    @property
    def name(self) -> str: ...

    @property
    def reads_media(self) -> bool: ...

    async def extract(self, request: ExtractionRequest) -> Extraction: ...

    async def consolidate(self, request: ConsolidationRequest) -> list[Decision]: ...
