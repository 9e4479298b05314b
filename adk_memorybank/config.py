"""The configuration of a bank, in the managed service's vocabulary.

    ManagedSemanticMemoryConfig
    ├── generation_config             GenerationConfig: model, generation_trigger_config
    ├── similarity_search_config      SimilaritySearchConfig: embedding_model
    ├── ttl_config                    TtlConfig: default_ttl or granular_ttl_config, memory_revision_default_ttl
    ├── unstructured_memory_configs   list of CustomizationConfig: scope_keys, memory_topics, examples, …
    ├── structured_memory_configs     list of StructuredMemoryConfig: scope_keys, schema_configs
    └── disable_memory_revisions

What is not given shows its default; `model_fields_set`, and `set_fields` for all depths, tell what was given.
`load_config` and `parse` raise `InvalidArgument` with the place and the reason; pydantic's own ways in
(`model_validate`, the constructors) raise its `ValidationError` with the same texts.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, Field, field_validator, model_validator

from adk_memorybank.customization import (
    ConsolidationConfig,
    Content,
    ConversationSource,
    ConversationSourceEvent,
    CustomizationConfig,
    CustomMemoryTopic,
    ExampleGeneratedMemory,
    GenerateMemoriesExample,
    ManagedMemoryTopic,
    ManagedTopicEnum,
    MemoryTopic,
    MemoryTopicId,
    Part,
)
from adk_memorybank.durations import format_duration, parse_duration
from adk_memorybank.errors import InvalidArgument
from adk_memorybank.schemas import SchemaConfig, StructuredMemoryConfig
from adk_memorybank.validation import ConfigModel, Duration, Text, fault, first_repeat

__all__ = [
    "DEFAULT_EMBEDDING_MODEL",
    "DEFAULT_MODEL",
    "DEFAULT_REVISION_TTL",
    "ConsolidationConfig",
    "Content",
    "ConversationSource",
    "ConversationSourceEvent",
    "CustomMemoryTopic",
    "CustomizationConfig",
    "ExampleGeneratedMemory",
    "GenerateMemoriesExample",
    "GenerationConfig",
    "GenerationRule",
    "GenerationTriggerConfig",
    "GranularTtlConfig",
    "ManagedMemoryTopic",
    "ManagedSemanticMemoryConfig",
    "ManagedTopicEnum",
    "MemoryTopic",
    "MemoryTopicId",
    "Part",
    "SchemaConfig",
    "SimilaritySearchConfig",
    "StructuredMemoryConfig",
    "TtlConfig",
    "format_duration",
    "load_config",
    "parse_duration",
    "set_fields",
]

_MODELS = "projects/{PROJECT}/locations/{LOCATION}/publishers/google/models"
DEFAULT_MODEL = f"{_MODELS}/gemini-3.5-flash"
DEFAULT_EMBEDDING_MODEL = f"{_MODELS}/text-embedding-005"
DEFAULT_REVISION_TTL = timedelta(days=365)


class GenerationRule(ConfigModel):
    """When the buffered events of a stream are read: at a count, at a time, or at whichever comes first.

    Attributes:
        event_count: at so many events.
        idle_duration: so long after the last event; whole minutes.
        fixed_interval: every so often; whole minutes. Not together with `idle_duration`.
        overlap_event_count: how many events of the last time are read again, for their context.
    """

    event_count: Annotated[int, Field(ge=1)] | None = None
    fixed_interval: Duration | None = None
    idle_duration: Duration | None = None
    overlap_event_count: Annotated[int, Field(ge=1)] | None = None

    @property
    def interval(self) -> timedelta | None:
        return _timedelta(self.fixed_interval)

    @property
    def idle(self) -> timedelta | None:
        return _timedelta(self.idle_duration)

    @field_validator("fixed_interval", "idle_duration")
    @classmethod
    def _check_minutes(cls, value: str | None) -> str | None:
        if value and parse_duration(value) % timedelta(minutes=1):
            raise fault(f'should be whole minutes, such as "60s" or "300s", not "{value}"')
        return value

    @model_validator(mode="after")
    def _check_together(self) -> GenerationRule:
        if self.fixed_interval and self.idle_duration:
            raise fault("`fixed_interval` and `idle_duration` exclude each other")
        overlap = self.overlap_event_count
        if overlap is not None:
            if self.event_count is None and not self.fixed_interval and not self.idle_duration:
                raise fault(
                    "`overlap_event_count` needs `event_count`, `fixed_interval` or `idle_duration` beside it",
                    "overlap_event_count",
                )
            if self.event_count is not None and overlap >= self.event_count:
                raise fault(
                    f"`overlap_event_count`, {overlap}, should be less than `event_count`, {self.event_count}",
                    "overlap_event_count",
                )
        return self


class GenerationTriggerConfig(ConfigModel):
    """The trigger of a stream; requests carry it too. Without a rule events are read at once."""

    generation_rule: GenerationRule | None = None


class GenerationConfig(ConfigModel):
    """The model that draws facts and fits them in, and the trigger of streams that name none themselves."""

    model: Text = DEFAULT_MODEL
    generation_trigger_config: GenerationTriggerConfig | None = None

    @property
    def default_rule(self) -> GenerationRule | None:
        """The rule of streams that have none of their own."""
        return None if self.generation_trigger_config is None else self.generation_trigger_config.generation_rule


class SimilaritySearchConfig(ConfigModel):
    """The model that makes the vectors."""

    embedding_model: Text = DEFAULT_EMBEDDING_MODEL


class GranularTtlConfig(ConfigModel):
    """A time to live for each kind of operation. One that is not named leaves the expiry as it is."""

    create_ttl: Duration | None = None
    generate_created_ttl: Duration | None = None
    generate_updated_ttl: Duration | None = None


class TtlConfig(ConfigModel):
    """How long memories and their revisions live.

    Attributes:
        default_ttl: for every operation that makes or changes a memory. None, and no granular one: for ever.
        granular_ttl_config: in place of `default_ttl`, for each kind of operation.
        memory_revision_default_ttl: of revisions; 365 days by default.
    """

    other_names: ClassVar[Mapping[str, str]] = {
        "granular_ttl": "granular_ttl_config",
        "revision_ttl": "memory_revision_default_ttl",
    }

    default_ttl: Duration | None = None
    granular_ttl_config: GranularTtlConfig | None = None
    memory_revision_default_ttl: Duration = format_duration(DEFAULT_REVISION_TTL)

    @property
    def revision_ttl(self) -> timedelta:
        return parse_duration(self.memory_revision_default_ttl)

    def ttl_of(
        self, operation: Literal["create", "update", "generate_created", "generate_updated"]
    ) -> timedelta | None:
        """The time to live that an operation gives a memory; None if it leaves the expiry as it is."""
        granular = self.granular_ttl_config
        if granular is None:
            return _timedelta(self.default_ttl)
        ttls = {
            "create": granular.create_ttl,
            "generate_created": granular.generate_created_ttl,
            "generate_updated": granular.generate_updated_ttl,
        }
        return _timedelta(ttls.get(operation))

    @model_validator(mode="after")
    def _check_forms(self) -> TtlConfig:
        if self.default_ttl and self.granular_ttl_config:
            raise fault("`default_ttl` and `granular_ttl_config` exclude each other; give one of them")
        return self


class ManagedSemanticMemoryConfig(ConfigModel):
    """The configuration of a bank. Without arguments it is the managed service's default bank.

    Attributes:
        generation_config: the model that draws facts, and the default trigger.
        similarity_search_config: the model that makes the vectors.
        ttl_config: how long memories and revisions live.
        unstructured_memory_configs: what is kept, for which scopes; `customization_configs` on the wire.
        structured_memory_configs: the profiles, for which scopes.
        disable_memory_revisions: no revisions are kept.
    """

    other_names: ClassVar[Mapping[str, str]] = {"customization_configs": "unstructured_memory_configs"}

    generation_config: GenerationConfig = Field(default_factory=GenerationConfig)
    similarity_search_config: SimilaritySearchConfig = Field(default_factory=SimilaritySearchConfig)
    ttl_config: TtlConfig = Field(default_factory=TtlConfig)
    unstructured_memory_configs: list[CustomizationConfig] = Field(
        default_factory=lambda: [CustomizationConfig()], serialization_alias="customizationConfigs"
    )
    structured_memory_configs: list[StructuredMemoryConfig] = Field(default_factory=list[StructuredMemoryConfig])
    disable_memory_revisions: bool = False

    def customization_for(self, scope_keys: Collection[str]) -> CustomizationConfig:
        """The customization for a scope with these keys (a scope itself will do).

        The one with exactly these keys, else the one with the most of them and no other, else the default one, else
        the built-in default.
        """
        return _best_for(scope_keys, self.unstructured_memory_configs) or CustomizationConfig()

    def structured_for(self, scope_keys: Collection[str]) -> StructuredMemoryConfig:
        """The profiles for a scope with these keys, chosen in the same way; no profiles where none fits."""
        return _best_for(scope_keys, self.structured_memory_configs) or StructuredMemoryConfig()

    @field_validator("unstructured_memory_configs")
    @classmethod
    def _check_customizations(cls, configs: list[CustomizationConfig]) -> list[CustomizationConfig]:
        _check_scope_keys(configs)
        return configs or [CustomizationConfig()]

    @field_validator("structured_memory_configs")
    @classmethod
    def _check_structured(cls, configs: list[StructuredMemoryConfig]) -> list[StructuredMemoryConfig]:
        _check_scope_keys(configs)
        return configs


def load_config(
    source: ManagedSemanticMemoryConfig | BaseModel | Mapping[str, Any] | str | os.PathLike[str] | None,
) -> ManagedSemanticMemoryConfig:
    """Reads a bank's configuration.

    Args:
        source: the configuration, a mapping, an object of the official SDK's class, or the path of a YAML (or JSON)
            file; None for the defaults.

    Raises:
        InvalidArgument: saying where and what is wrong.
    """
    if not isinstance(source, str | os.PathLike):
        return ManagedSemanticMemoryConfig.parse(source)
    path = Path(source).expanduser().absolute()
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a path with NUL
        raise InvalidArgument(f"the configuration file {path} can't be read: {error}") from error
    import yaml  # loaded here because most configurations come without a file

    try:
        data = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date that is none
        raise InvalidArgument(f"the configuration file {path} is not YAML: {error}") from error
    try:
        return ManagedSemanticMemoryConfig.parse(data)
    except InvalidArgument as error:
        message = str(error).removeprefix(f"{error.field}: ") if error.field else str(error)
        raise InvalidArgument(f"{message} (in {path})", field=error.field) from None


def set_fields(config: ConfigModel) -> dict[str, Any]:
    """What was given in a configuration, at every depth, as plain JSON: without the defaults that were filled in.

    `type(config).parse(set_fields(config))` is the same configuration again and has the same fields set.
    """
    return config.model_dump(mode="json", exclude_unset=True)


def _timedelta(duration: str | None) -> timedelta | None:
    return None if duration is None else parse_duration(duration)


_Keyed = TypeVar("_Keyed", CustomizationConfig, StructuredMemoryConfig)


def _best_for(scope_keys: Collection[str], configs: Sequence[_Keyed]) -> _Keyed | None:
    # All keys of the scope are the largest subset there can be, and no keys the smallest: one rule serves for the
    # exact match, the nearest and the default.
    fitting = [config for config in configs if set(config.scope_keys) <= set(scope_keys)]
    return max(fitting, key=lambda config: len(config.scope_keys), default=None)


def _check_scope_keys(configs: Sequence[CustomizationConfig] | Sequence[StructuredMemoryConfig]) -> None:
    repeat = first_repeat([frozenset(config.scope_keys) for config in configs])
    if repeat is None:
        return
    first, second = repeat
    if not configs[first].scope_keys:
        raise fault(f"a second default configuration beside [{first}]; give one of them `scope_keys`", second)
    raise fault(f"the same scope keys as in [{first}]", second, "scope_keys")
