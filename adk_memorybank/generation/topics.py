"""The topics that a fact must fit to be kept, and the examples that show what fits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from adk_memorybank.generation import secrets

MANAGED_TOPICS: dict[str, str] = {
    "USER_PERSONAL_INFO": (
        "Significant personal information about the user: names, relationships, home, work, family, pets, hobbies, "
        "health, skills, possessions and important dates."
    ),
    "USER_PREFERENCES": (
        "What the user likes and dislikes, prefers or avoids, stated or implied: styles, habits, food, tools, ways of "
        "working."
    ),
    "KEY_CONVERSATION_DETAILS": (
        "Milestones and conclusions of the conversation: decisions, plans, bookings, tasks done and their outcomes, "
        "with their dates."
    ),
    "EXPLICIT_INSTRUCTIONS": "What the user explicitly asks to be remembered or forgotten.",
}


@dataclass(frozen=True, slots=True)
class Topic:
    """One configured topic. `name` is the managed enum's name or the custom label."""

    name: str
    description: str
    custom: bool = False

    @classmethod
    def managed(cls, name: str) -> Topic:
        return cls(name=name, description=MANAGED_TOPICS[name])

    @property
    def secrets_asked(self) -> frozenset[secrets.Kind]:
        """The kinds of secrets that facts of this topic may hold: those that a custom topic asks for."""
        return secrets.kinds_asked(self.name, self.description) if self.custom else frozenset()


@dataclass(frozen=True, slots=True)
class Example:
    """A few-shot example.

    Attributes:
        turns: (role, text) of the conversation.
        facts: (fact, topics) that should be drawn from it; empty where nothing should.
    """

    turns: Sequence[tuple[str, str]]
    facts: Sequence[tuple[str, Sequence[str]]] = ()


DEFAULT_TOPICS: tuple[Topic, ...] = tuple(Topic.managed(name) for name in MANAGED_TOPICS)


def may_be_kept(text: str, names: Iterable[str], topics: Iterable[Topic]) -> bool:
    """Whether a fact of the topics with these names holds no secret but what they ask for."""
    found = secrets.kinds_in(text)
    if not found:
        return True
    named = frozenset(names)
    return found <= {kind for topic in topics if topic.name in named for kind in topic.secrets_asked}
