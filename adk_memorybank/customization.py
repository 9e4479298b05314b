"""What is worth keeping, in the configuration: topics, examples, and how facts are fitted in."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import ConfigDict, Field, field_validator, model_validator

from adk_memorybank.resources import clean_text
from adk_memorybank.validation import ConfigModel, ScopeKeys, Text, fault, first_repeat

if TYPE_CHECKING:
    from google.genai.types import Content as GenaiContent


class ManagedTopicEnum(StrEnum):
    """The topics that the bank knows by itself. Read in any case, and by their numbers."""

    USER_PERSONAL_INFO = "USER_PERSONAL_INFO"
    USER_PREFERENCES = "USER_PREFERENCES"
    KEY_CONVERSATION_DETAILS = "KEY_CONVERSATION_DETAILS"
    EXPLICIT_INSTRUCTIONS = "EXPLICIT_INSTRUCTIONS"

    @classmethod
    def _missing_(cls, value: object) -> ManagedTopicEnum | None:
        if isinstance(value, str):
            return cls.__members__.get(value.strip().upper())
        if type(value) is int and 1 <= value <= len(cls):  # some clients send enums as numbers; 0 is "unspecified"
            return list(cls)[value - 1]
        return None


class ManagedMemoryTopic(ConfigModel):
    """A topic that the bank knows by itself."""

    managed_topic_enum: ManagedTopicEnum


class CustomMemoryTopic(ConfigModel):
    """A topic of one's own: its label and, for the model, what belongs to it."""

    label: Text
    description: Text

    @field_validator("label")
    @classmethod
    def _check_label(cls, value: str) -> str:
        if value.strip().upper() in ManagedTopicEnum.__members__:
            raise fault(f"`{value}` is the name of a managed topic; choose another label")
        if clean_text(value) != value:
            raise fault("NUL and lone surrogates are not allowed")
        return value


class MemoryTopic(ConfigModel):
    """A topic that facts must fit to be kept: a managed one or a custom one."""

    managed_memory_topic: ManagedMemoryTopic | None = None
    custom_memory_topic: CustomMemoryTopic | None = None

    @classmethod
    def managed(cls, topic: ManagedTopicEnum) -> MemoryTopic:
        return cls(managed_memory_topic=ManagedMemoryTopic(managed_topic_enum=topic))

    @property
    def name(self) -> str:
        """The managed topic's enum name, or the custom topic's label."""
        if self.custom_memory_topic:
            return self.custom_memory_topic.label
        assert self.managed_memory_topic  # one of them is there: _check_kind
        return self.managed_memory_topic.managed_topic_enum.value

    @property
    def description(self) -> str | None:
        """What belongs to a custom topic; None for a managed one, whose description is the bank's."""
        return self.custom_memory_topic.description if self.custom_memory_topic else None

    @property
    def custom(self) -> bool:
        return self.custom_memory_topic is not None

    @model_validator(mode="after")
    def _check_kind(self) -> MemoryTopic:
        _exactly_one(managed_memory_topic=self.managed_memory_topic, custom_memory_topic=self.custom_memory_topic)
        return self


class MemoryTopicId(ConfigModel):
    """A topic named in a request or an example. A plain string is taken too: a managed topic's name or a label."""

    managed_memory_topic: ManagedTopicEnum | None = None
    custom_memory_topic_label: Text | None = None

    @property
    def name(self) -> str:
        """The managed topic's enum name, or the custom topic's label."""
        return self.managed_memory_topic.value if self.managed_memory_topic else self.custom_memory_topic_label or ""

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        managed = value.strip().upper() in ManagedTopicEnum.__members__
        return {"managed_memory_topic" if managed else "custom_memory_topic_label": value}

    @model_validator(mode="after")
    def _check_kind(self) -> MemoryTopicId:
        _exactly_one(
            managed_memory_topic=self.managed_memory_topic,
            custom_memory_topic_label=self.custom_memory_topic_label,
        )
        return self


class Part(ConfigModel):
    """A part of an example's content. Only text is read; other kinds of parts are kept as they were given."""

    model_config = ConfigDict(extra="allow")

    text: str = ""
    thought: bool = False


class Content(ConfigModel):
    """What was said in one event of an example, in the shape of `google.genai.types.Content`, which is taken too."""

    role: Literal["user", "model"] | None = None
    parts: list[Part] = Field(default_factory=list[Part])

    @property
    def text(self) -> str:
        """The texts of the parts, one a line."""
        return "\n".join(part.text for part in self.parts if part.text and not part.thought)


class ConversationSourceEvent(ConfigModel):
    """One event of an example's conversation."""

    content: Content

    if TYPE_CHECKING:  # google.genai's Content is read by the base's validator, which type checkers can't know

        def __init__(self, *, content: Content | GenaiContent) -> None: ...


class ConversationSource(ConfigModel):
    """An example's conversation."""

    events: Annotated[list[ConversationSourceEvent], Field(min_length=1)]


class ExampleGeneratedMemory(ConfigModel):
    """A fact that should be drawn from an example's conversation."""

    fact: Text
    topics: list[MemoryTopicId] = Field(default_factory=list[MemoryTopicId])


class GenerateMemoriesExample(ConfigModel):
    """A few-shot example.

    Attributes:
        conversation_source: the conversation.
        generated_memories: what should be drawn from it; empty where nothing should.
    """

    conversation_source: ConversationSource
    generated_memories: list[ExampleGeneratedMemory] = Field(default_factory=list[ExampleGeneratedMemory])

    @property
    def turns(self) -> list[tuple[str, str]]:
        """(role, text) of each event that has a text."""
        contents = [event.content for event in self.conversation_source.events]
        return [(content.role or "user", content.text) for content in contents if content.text]

    @property
    def facts(self) -> list[tuple[str, list[str]]]:
        """(fact, names of its topics)."""
        return [(memory.fact, [topic.name for topic in memory.topics]) for memory in self.generated_memories]


class ConsolidationConfig(ConfigModel):
    """How new facts are fitted into what is known.

    Attributes:
        revisions_per_candidate_count: how many revisions of a candidate are weighed; 1 is only the latest.
    """

    revisions_per_candidate_count: Annotated[int, Field(ge=1)] = 1


def _managed_topics() -> list[MemoryTopic]:
    return [MemoryTopic.managed(topic) for topic in ManagedTopicEnum]


class CustomizationConfig(ConfigModel):
    """What is kept as natural language memories, for the scopes with these keys.

    Attributes:
        scope_keys: the keys of the scopes that this is for; empty for the default.
        memory_topics: a fact must fit one of them; all four managed ones where none is given.
        generate_memories_examples: shown to the model beside its built-in ones.
        enable_third_person_memories: "The user likes tea." in place of "I like tea.".
        disable_natural_language_memories: profiles only.
    """

    scope_keys: ScopeKeys = Field(default_factory=list[str])
    memory_topics: list[MemoryTopic] = Field(default_factory=_managed_topics)
    generate_memories_examples: list[GenerateMemoriesExample] = Field(default_factory=list[GenerateMemoriesExample])
    enable_third_person_memories: bool = False
    consolidation_config: ConsolidationConfig = Field(default_factory=ConsolidationConfig)
    disable_natural_language_memories: bool = False

    @field_validator("memory_topics")
    @classmethod
    def _check_topics(cls, topics: list[MemoryTopic]) -> list[MemoryTopic]:
        repeat = first_repeat([topic.name for topic in topics])
        if repeat:
            raise fault(f"`{topics[repeat[1]].name}` is the topic of [{repeat[0]}] already", repeat[1])
        # On the wire an empty list can't be told from none.
        return topics or _managed_topics()


def _exactly_one(**choices: object) -> None:
    names = " or ".join(f"`{name}`" for name in choices)
    given = sum(value is not None for value in choices.values())
    if given == 0:
        raise fault(f"a topic needs {names}")
    if given > 1:
        raise fault(f"a topic has {names}, not both")
