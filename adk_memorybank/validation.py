"""The base of the configuration models: both spellings of every key, foreign objects, and errors that say where.

pydantic validates; what it finds is handed on as one `InvalidArgument` with a path such as
`unstructured_memory_configs[1].memory_topics[0].custom_memory_topic.label`.
"""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Self, cast

from pydantic import (
    AfterValidator,
    AliasGenerator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from adk_memorybank.durations import format_duration, parse_duration
from adk_memorybank.errors import InvalidArgument
from adk_memorybank.resources import MAX_SCOPE_PAIRS

_FAULT = "memory_bank_config"
_IGNORE_UNKNOWN = "ignore_unknown"


def fault(message: str, *path: str | int) -> PydanticCustomError:
    """An error for a validator to raise.

    Args:
        message: what is wrong.
        path: where, counted from the value that the validator was given.
    """
    return PydanticCustomError(_FAULT, "{message}", {"message": message, "path": path})


def plain(value: BaseModel) -> dict[str, Any]:
    """A model of another package as plain data: what was set in it, and nothing that was only filled in."""
    return value.model_dump(mode="json", exclude_unset=True, exclude_none=True, warnings=False)


class ConfigModel(BaseModel):
    """A part of the configuration: immutable, and closed to unknown keys.

    Takes a mapping in snake_case or camelCase, an object of the official SDK's classes, or keywords. `None` stands for
    "not given", as `null` does in the managed service's JSON. `model_dump(by_alias=True)` gives the wire's names.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=AliasGenerator(serialization_alias=to_camel),
        validate_by_name=True,
        protected_namespaces=(),
        ser_json_bytes="base64",  # for the images of examples: bytes that are no text have no other way into JSON
    )

    other_names: ClassVar[Mapping[str, str]] = {}
    """Further spellings (snake_case) of a field in the input → the field's name."""

    @classmethod
    def parse(cls, source: object = None, *, field: str = "", ignore_unknown: bool = False) -> Self:
        """Reads a configuration.

        Args:
            source: a mapping, an object of this class or of the official SDK's; None for the defaults.
            field: where the source stands in a larger input, for the error.
            ignore_unknown: keys that are not known are passed over, as a server does for newer clients.

        Raises:
            InvalidArgument: saying where and what is wrong.
        """
        try:
            return cls.model_validate(
                {} if source is None else source, context={_IGNORE_UNKNOWN: True} if ignore_unknown else None
            )
        except ValidationError as error:
            raise invalid_argument(error, field=field) from None

    @model_validator(mode="before")
    @classmethod
    def _by_field_names(cls, value: object, info: ValidationInfo) -> object:
        if isinstance(value, cls):
            return value
        if isinstance(value, BaseModel):
            value = plain(value)
        if not isinstance(value, Mapping):
            raise fault(f"should be a mapping, not {type(value).__name__}")
        names = cls._known_names()
        open_to_more = cls.model_config.get("extra") == "allow"
        given: dict[str, str] = {}
        fields: dict[str, object] = {}
        for anything, item in cast("Mapping[object, object]", value).items():
            key = str(anything)
            name = names.get(key)
            if name is None:
                if not open_to_more:
                    if info.context and _IGNORE_UNKNOWN in info.context:
                        continue
                    raise cls._unknown_key(key)
                name = key
            if item is None:
                continue
            if name in given:
                raise fault(f"is given twice, as `{given[name]}` and as `{key}`", name)
            given[name] = key
            fields[name] = item
        return fields

    @classmethod
    def _known_names(cls) -> dict[str, str]:
        names: dict[str, str] = {}
        for spelling, name in [*((name, name) for name in cls.model_fields), *cls.other_names.items()]:
            names[spelling] = names[to_camel(spelling)] = name
        return names

    @classmethod
    def _unknown_key(cls, key: str) -> PydanticCustomError:
        key = key[:60]
        names = cls._known_names()
        near = difflib.get_close_matches(key, names, n=1, cutoff=0.45)
        if near:
            hint = f"did you mean `{names[near[0]]}`?"
        else:
            hint = f"the known keys are {enumeration(list(cls.model_fields))}"
        return fault(f"unknown key `{key}`; {hint}", key)


def enumeration(names: Sequence[str]) -> str:
    """Names for a sentence: `a`, `b` and `c`."""
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def first_repeat(keys: Sequence[Hashable]) -> tuple[int, int] | None:
    """The first key that was there before: the index where it stood and the index where it stands again."""
    seen: dict[Hashable, int] = {}
    for index, key in enumerate(keys):
        if key in seen:
            return seen[key], index
        seen[key] = index
    return None


def path_text(path: Sequence[str | int], *, prefix: str = "") -> str:
    """A path as it is written in Python: `memory_topics[0].custom_memory_topic`."""
    text = prefix
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def invalid_argument(error: ValidationError, *, field: str = "") -> InvalidArgument:
    """The error of pydantic as ours. `field` of the result names the first fault, the message has them all."""
    faults: list[tuple[str, str]] = []
    for item in error.errors(include_url=False):
        path = item["loc"]
        if item["type"] == _FAULT:
            context = item.get("ctx", {})
            path, message = (*path, *context["path"]), context["message"]
        elif item["type"] == "missing":
            message = "is required"
        else:
            message = item["msg"].removeprefix("Input ")
            given = repr(item["input"])
            message += f", not {given if len(given) <= 60 else given[:60] + '…'}"
        faults.append((path_text(path, prefix=field), message))
    (first, message), *others = faults
    for path, other in others:
        message += f"; {path}: {other}" if path else f"; {other}"
    return InvalidArgument(message, field=first)


def _canonical_duration(value: object) -> str:
    try:
        return format_duration(parse_duration(value))
    except InvalidArgument as error:
        raise fault(str(error)) from None


def _not_blank(value: str) -> str:
    if not value.strip():
        raise fault("must not be empty")
    return value


def _unique_keys(keys: list[str]) -> list[str]:
    for index, key in enumerate(keys):
        if key in keys[:index]:
            raise fault(f"`{key}` is named twice", index)
        if "*" in key:
            raise fault("`*` is not allowed", index)
    if len(keys) > MAX_SCOPE_PAIRS:
        raise fault(f"a scope has at most {MAX_SCOPE_PAIRS} keys, not {len(keys)}")
    return keys


Duration = Annotated[str, BeforeValidator(_canonical_duration)]
"""A duration, kept as `"3600s"`; a timedelta is taken too."""

Text = Annotated[str, AfterValidator(_not_blank)]
"""A text with something in it."""

ScopeKeys = Annotated[list[Text], AfterValidator(_unique_keys)]
"""The keys of the scopes that a configuration is for, in any order; none for the default configuration."""
