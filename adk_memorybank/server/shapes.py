"""What requests and answers are made of: either casing in, camelCase out, unknown fields passed over (section 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Self, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel

from adk_memorybank.clock import to_utc
from adk_memorybank.config import ManagedTopicEnum
from adk_memorybank.durations import parse_duration
from adk_memorybank.resources import MetadataValue, clean_text


class Shape(BaseModel):
    """A JSON object of the API. `null` stands for "not given"."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        extra="ignore",
        protected_namespaces=(),
    )

    @model_validator(mode="before")
    @classmethod
    def _given(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        fields = cast("Mapping[str, Any]", value)
        return {key: entry for key, entry in fields.items() if entry is not None}


def _timestamp(value: Any) -> datetime:
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str):
        raise ValueError('should be a time such as "2026-01-01T00:00:00Z"')
    try:
        return to_utc(datetime.fromisoformat(value.strip().upper()))  # RFC 3339 has `t` and `z`, too
    except ValueError:
        raise ValueError(f'should be a time such as "2026-01-01T00:00:00Z", not {value[:60]!r}') from None


def format_time(moment: datetime) -> str:
    """`…Z`, with as many digits of the second as it needs: none, three or six."""
    moment = moment.astimezone(UTC)
    unit = "microseconds" if moment.microsecond % 1000 else "milliseconds"
    return moment.isoformat(timespec=unit if moment.microsecond else "seconds").replace("+00:00", "Z")


Timestamp = Annotated[
    datetime,
    BeforeValidator(_timestamp),
    PlainSerializer(format_time, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
Duration = Annotated[
    timedelta, BeforeValidator(parse_duration), WithJsonSchema({"type": "string", "examples": ["3600s"]})
]


def _no_flag(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("should be a number, not true or false")
    return value


Flag = Annotated[bool, Field(strict=True)]
"""True or false, and nothing that looks like it: a purge hangs on it."""
Count = Annotated[int, BeforeValidator(_no_flag), Field(ge=0)]
"""A whole number; as text too, as JSON writes large ones."""


def by_name(names: Sequence[str]) -> BeforeValidator:
    """Reads an enum by its name in upper or lower case, or by its number; the first stands for "not given"."""

    def read(value: Any) -> Any:
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(names):
            value = names[value]
        if isinstance(value, str):
            value = value.upper()
        return None if value == names[0] else value

    return BeforeValidator(read)


def example(*bodies: Any) -> ConfigDict:
    """Examples of a body, for the OpenAPI document."""
    return ConfigDict(json_schema_extra={"examples": list(bodies)})


class TopicId(Shape):
    """A topic of a memory: a managed or a custom one."""

    managed_memory_topic: Annotated[
        ManagedTopicEnum | None, by_name(["MANAGED_TOPIC_ENUM_UNSPECIFIED", *ManagedTopicEnum])
    ] = None
    custom_memory_topic_label: str | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.managed_memory_topic is None) is (self.custom_memory_topic_label is None):
            raise ValueError("give either managedMemoryTopic or customMemoryTopicLabel")
        return self

    @property
    def name(self) -> str:
        return self.custom_memory_topic_label or self.managed_memory_topic or ""

    @classmethod
    def of(cls, name: str) -> TopicId:
        if name in list(ManagedTopicEnum):
            return cls(managed_memory_topic=ManagedTopicEnum(name))
        return cls(custom_memory_topic_label=name)


class TypedValue(Shape):
    """A value of metadata."""

    bool_value: Flag | None = None
    double_value: Annotated[float, BeforeValidator(_no_flag), Field(allow_inf_nan=False)] | None = None
    string_value: str | None = None
    timestamp_value: Timestamp | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError("give exactly one of boolValue, doubleValue, stringValue and timestampValue")
        return self

    @property
    def value(self) -> MetadataValue:
        [name] = self.model_fields_set
        return getattr(self, name)

    @classmethod
    def of(cls, value: MetadataValue) -> TypedValue:
        if isinstance(value, bool):
            return cls(bool_value=value)
        if isinstance(value, int | float):
            return cls(double_value=value)
        return cls(timestamp_value=value) if isinstance(value, datetime) else cls(string_value=value)


def plain_metadata(metadata: Mapping[str, TypedValue] | None) -> dict[str, MetadataValue]:
    """Metadata as the bank takes it."""
    return {clean_text(key): typed.value for key, typed in (metadata or {}).items()}
