"""The schemas of structured profiles, in the configuration."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any, ClassVar, cast

from pydantic import BaseModel, BeforeValidator, Field, field_validator
from pydantic.alias_generators import to_camel

from adk_memorybank.resources import MemoryType
from adk_memorybank.validation import ConfigModel, ScopeKeys, fault, first_repeat, plain

_SCHEMA_ID = re.compile(r"[a-z][a-z0-9-]{0,62}")

# The keywords of two words, which clients that write snake_case send as `any_of`. Anything else stays as it is.
_SNAKE_KEYWORDS = (
    "additional_properties",
    "all_of",
    "any_of",
    "max_items",
    "max_length",
    "max_properties",
    "min_items",
    "min_length",
    "min_properties",
    "one_of",
    "prefix_items",
    "property_ordering",
)
_KEYWORDS = {**{name: to_camel(name) for name in _SNAKE_KEYWORDS}, "defs": "$defs", "ref": "$ref"}
_MAPS_OF_SCHEMAS = ("properties", "$defs", "definitions")
_LISTS_OF_SCHEMAS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SCHEMAS = ("items", "additionalProperties")


def spell_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema with its keywords in JSON Schema's spelling. The names of properties are the user's and kept."""
    return dict(_spell_entry(_KEYWORDS.get(key, key), value) for key, value in schema.items())


def _spell_entry(key: str, value: Any) -> tuple[str, Any]:
    if key in _MAPS_OF_SCHEMAS and isinstance(value, Mapping):
        return key, {name: _spell_node(node) for name, node in cast("Mapping[str, Any]", value).items()}
    if key in _LISTS_OF_SCHEMAS and isinstance(value, list | tuple):
        return key, [_spell_node(node) for node in cast("list[Any]", value)]
    return key, _spell_node(value) if key in _SCHEMAS else value


def _spell_node(node: Any) -> Any:
    if isinstance(node, BaseModel):
        node = plain(node)
    return spell_schema(cast("Mapping[str, Any]", node)) if isinstance(node, Mapping) else node


def _schema(value: object) -> dict[str, Any]:
    if isinstance(value, type) and issubclass(value, BaseModel):
        value = value.model_json_schema()
    elif isinstance(value, BaseModel):
        value = plain(value)
    if not isinstance(value, Mapping):
        kind = type(cast("object", value)).__name__
        raise fault(f"a schema is a mapping or a pydantic class, not {kind}")
    try:
        schema = spell_schema(cast("Mapping[str, Any]", value))
        # What can't be written as JSON can't be stored or shown to a model: better said here than there. The copy also
        # keeps later changes of the caller's own dict out of the configuration.
        schema = cast("dict[str, Any]", json.loads(json.dumps(schema)))
    except RecursionError:
        raise fault("the schema is nested too deeply") from None
    except (TypeError, ValueError) as error:
        raise fault(f"the schema can't be written as JSON: {error}") from None
    if str(schema.get("type", "object")).lower() != "object":
        raise fault(f'a profile is an object: the type should be "object", not {str(schema["type"])[:60]!r}', "type")
    if not isinstance(schema.get("properties", {}), dict):
        raise fault("should be a mapping of names to schemas", "properties")
    return schema


class SchemaConfig(ConfigModel):
    """The schema of one kind of profile.

    Attributes:
        id: 1 to 63 characters: a lowercase letter, then lowercase letters, digits and hyphens.
        memory_schema: OpenAPI or JSON Schema of an object; `schema` in mappings and on the wire (`schema` is taken
            as an attribute by pydantic itself).
    """

    other_names: ClassVar[Mapping[str, str]] = {"schema": "memory_schema"}

    id: str
    memory_schema: Annotated[dict[str, Any], BeforeValidator(_schema)] = Field(serialization_alias="schema")
    memory_type: MemoryType = MemoryType.STRUCTURED_PROFILE

    @property
    def properties(self) -> dict[str, Any]:
        """The fields of the profile, by their names."""
        return self.memory_schema.get("properties", {})

    @field_validator("id")
    @classmethod
    def _check_id(cls, value: str) -> str:
        if not _SCHEMA_ID.fullmatch(value):
            raise fault(
                "an id has 1 to 63 characters, a lowercase letter first, then lowercase letters, digits and hyphens, "
                f"not {value[:80]!r}"
            )
        return value

    @field_validator("memory_type", mode="before")
    @classmethod
    def _check_type(cls, value: object) -> MemoryType:
        # Unspecified is what a client sends that leaves the choice open; some clients send enums as numbers.
        value = value.value if isinstance(value, Enum) else value
        if str(value).upper() not in ("STRUCTURED_PROFILE", "MEMORY_TYPE_UNSPECIFIED", "0", "2"):
            raise fault(f"the known type of structured memories is STRUCTURED_PROFILE, not {str(value)[:60]!r}")
        return MemoryType.STRUCTURED_PROFILE


class StructuredMemoryConfig(ConfigModel):
    """The profiles that are kept for the scopes with these keys.

    Attributes:
        scope_keys: the keys of the scopes that this is for; empty for the default.
        schema_configs: one per kind of profile.
    """

    scope_keys: ScopeKeys = Field(default_factory=list[str])
    schema_configs: list[SchemaConfig] = Field(default_factory=list[SchemaConfig])

    @field_validator("schema_configs")
    @classmethod
    def _check_ids(cls, schemas: list[SchemaConfig]) -> list[SchemaConfig]:
        repeat = first_repeat([schema.id for schema in schemas])
        if repeat:
            raise fault(f"`{schemas[repeat[1]].id}` is the id of [{repeat[0]}] already", repeat[1], "id")
        return schemas
