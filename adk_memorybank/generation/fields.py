"""The fields of profiles: what a value must be like, how one comes near it, and how a model is asked for it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from adk_memorybank.generation.secrets import Kind, kinds_asked
from adk_memorybank.generation.values import DEEPEST_VALUE, Misfit, as_list, as_mapping, cleaned, member, scalar
from adk_memorybank.schemas import SchemaConfig

if TYPE_CHECKING:
    from google.genai import types

LONGEST_VALUE = 4_000
"""Characters of a value as JSON."""
_DEEPEST = 6
"""Levels of a schema that a model is shown; what lies deeper it writes as JSON in a string."""
_UNUSABLE = (ValueError, TypeError, AttributeError, RecursionError, re.error)
"""What a schema that is none makes a validator raise."""
_MAPS = ("properties", "$defs", "definitions", "patternProperties")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_NODES = ("items", "additionalProperties")
_NO_TEXT_OF_THE_USERS = ("date", "date-time", "time", "duration")
_SHOWN = ("type", "description", "enum", "const", "format", "pattern", "minimum", "maximum", "maxItems", "required")

Node = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of one profile.

    Attributes:
        node: its schema, as JSON Schema has it.
        definitions: what the schema's references lead to.
    """

    schema_id: str
    name: str
    node: Node
    definitions: Node

    @property
    def is_union(self) -> bool:
        """Whether new items of its array join the old ones: not where `x-merge` is `replace`, nor in tuples."""
        node = self.resolved(self.node)
        return "array" in kinds(node) and node.get("x-merge") != "replace" and "prefixItems" not in node

    @property
    def secrets_asked(self) -> frozenset[Kind]:
        """The kinds of secrets that its values may hold: those that its name or description asks for."""
        said = self.resolved(self.node).get("description")
        return kinds_asked(self.name, said if isinstance(said, str) else "")

    @property
    def most_items(self) -> int | None:
        most = self.resolved(self.node).get("maxItems")
        return most if isinstance(most, int) else None

    def resolved(self, node: Node) -> Node:
        """A node with what it refers to; of the alternatives of `Optional[…]` the one that is not null."""
        for _ in range(_DEEPEST):
            merged = dict(node)
            reference = merged.pop("$ref", None)
            if isinstance(reference, str):
                kind, _, name = reference.removeprefix("#/").partition("/")
                target = self.definitions.get(kind, {}).get(name)
                node = {**(target if isinstance(target, dict) else {}), **merged}
                continue
            for key in ("allOf", "anyOf", "oneOf"):
                given = cast("list[Any]", merged.get(key) or [])
                branches = [one for value in given if (one := _node(value)) and one.get("type") != "null"]
                if len(branches) == 1:
                    nullable = key != "allOf" and len(given) > 1
                    merged.pop(key)
                    node = {**branches[0], **merged}
                    if nullable and isinstance(node.get("type"), str):
                        node["type"] = [node["type"], "null"]
                    break
            else:
                return node
        return node

    def fit(self, value: Any) -> tuple[Any, int]:
        """The value as the field holds it, and how many of its items and properties were left out.

        Raises:
            Misfit: it can't be read as what the schema asks for.
        """
        left_out: list[str] = []
        fitted = self._fit(value, self.node, left_out)
        try:
            size = len(json.dumps(fitted, ensure_ascii=False, allow_nan=False))
        except (ValueError, TypeError, RecursionError):
            raise Misfit("it is no JSON") from None
        if size > LONGEST_VALUE:
            raise Misfit(f"it has {size} characters")
        if not self._is_valid(fitted, self.node):
            raise Misfit("the schema does not allow it")
        return fitted, len(left_out)

    def texts(self, value: Any, node: Node | None = None) -> Iterator[str]:
        """The free texts in a value: not the members of enums, nor dates."""
        node = self.resolved(self.node if node is None else node)
        if isinstance(value, str):
            if "enum" not in node and "const" not in node and node.get("format") not in _NO_TEXT_OF_THE_USERS:
                yield value
        elif isinstance(value, list):
            for one in cast("list[Any]", value):
                yield from self.texts(one, _node(node.get("items")))
        elif isinstance(value, dict):
            for name, one in cast("dict[str, Any]", value).items():
                yield from self.texts(one, _node(node.get("properties", {}).get(name)))

    def asked(self) -> types.Schema:
        """The schema of a value, as a model's answer has it."""
        return self._asked(self.node, 0)

    def described(self) -> str:
        """The schema in short, as a model reads it."""
        return json.dumps(self._shown(self.node, 0), ensure_ascii=False)

    def _fit(self, value: Any, node: Node, left_out: list[str], depth: int = 0) -> Any:
        if depth > DEEPEST_VALUE:
            raise Misfit("it is nested too deeply")
        node = self.resolved(node)
        branches = [
            cast("Node", one) for key in ("anyOf", "oneOf") for one in node.get(key, ()) if isinstance(one, dict)
        ]
        if branches:
            return self._fit_one_of(value, node, branches, left_out, depth)
        wanted = kinds(node)
        if value is None and (not wanted or "null" in wanted):
            return None
        members = [node["const"]] if "const" in node else node.get("enum")
        if isinstance(members, list):
            return member(value, cast("list[Any]", members))
        if not wanted:
            return cleaned(value)
        for kind in wanted:
            if kind == "array" and (items := as_list(value)) is not None:
                return self._fit_items(items, node, left_out, depth)
            if kind == "object" and (entries := as_mapping(value)) is not None:
                return self._fit_properties(entries, node, left_out, depth)
            fitted = scalar(value, kind)
            if fitted is not None:
                return fitted
        raise Misfit(f"it is no {' or '.join(wanted)}")

    def _fit_one_of(self, value: Any, node: Node, branches: Sequence[Node], left_out: list[str], depth: int) -> Any:
        rest = {key: one for key, one in node.items() if key not in ("anyOf", "oneOf")}
        as_it_is = [branch for branch in branches if self._is_valid(value, branch)]
        for branch in [*as_it_is, *branches]:
            gone: list[str] = []
            try:
                fitted = self._fit(value, {**rest, **branch}, gone, depth + 1)
            except Misfit:
                continue
            if self._is_valid(fitted, branch):
                left_out += gone
                return fitted
        raise Misfit("it fits none of the alternatives")

    def _fit_items(self, items: list[Any], node: Node, left_out: list[str], depth: int) -> list[Any]:
        """The items that fit. A bad one among them goes alone."""
        of_item = _node(node.get("items"))
        if not items or of_item is None:
            return [cleaned(item) for item in items]
        fitted: list[Any] = []
        for item in items:
            try:
                one = self._fit(item, of_item, left_out, depth + 1)
                if not self._is_valid(one, of_item):
                    raise Misfit("the schema does not allow it")
                fitted.append(one)
            except Misfit as error:
                left_out.append(str(error))
        if not fitted:
            raise Misfit("none of its items fits")
        return fitted

    def _fit_properties(self, entries: Mapping[str, Any], node: Node, left_out: list[str], depth: int) -> Node:
        """The known properties that fit; unknown ones only where the schema speaks of additional ones."""
        properties: Node = node.get("properties") or {}
        extra = node.get("additionalProperties", not properties)
        fitted: Node = {}
        for name, value in entries.items():
            of_property = _node(properties.get(name)) if name in properties else _node(extra)
            if value is None:
                continue
            try:
                if name not in properties and not extra:
                    raise Misfit("it is unknown")
                one = cleaned(value) if of_property is None else self._fit(value, of_property, left_out, depth + 1)
                if of_property is not None and not self._is_valid(one, of_property):
                    raise Misfit("the schema does not allow it")
                fitted[name] = one
            except Misfit as error:
                left_out.append(str(error))
        if entries and not fitted:
            raise Misfit("none of its properties fits")
        return fitted

    def _is_valid(self, value: Any, node: Node) -> bool:
        import jsonschema.exceptions  # loaded with the first profile
        import referencing.exceptions

        # A registry of its own: references to elsewhere are never fetched.
        registry = cast("Any", referencing.Registry())
        validator: Any = jsonschema.Draft202012Validator({**node, **self.definitions}, registry=registry)
        try:
            return bool(validator.is_valid(value))
        except _UNUSABLE as error:
            raise Misfit(f"its schema can't be followed: {type(error).__name__}") from None
        except (jsonschema.exceptions.UnknownType, referencing.exceptions.Unresolvable):
            raise Misfit("its schema can't be followed") from None

    def _asked(self, node: Node, depth: int) -> types.Schema:
        from google.genai import types

        node = self.resolved(node)
        wanted = [kind for kind in kinds(node) if kind != "null"]
        members = [one for one in cast("list[Any]", node.get("enum") or []) if isinstance(one, str)]
        if members and wanted in ([], ["string"]):
            return types.Schema(type=types.Type.STRING, enum=members)
        kind = wanted[0] if len(wanted) == 1 else ""
        if kind in ("string", "integer", "number", "boolean"):
            return types.Schema(type=types.Type(kind.upper()))
        items = _node(node.get("items"))
        if kind == "array" and items is not None and depth < _DEEPEST:
            return types.Schema(type=types.Type.ARRAY, items=self._asked(items, depth + 1))
        properties = _properties(node)
        if kind == "object" and properties and depth < _DEEPEST:
            known = {name: self._asked(one, depth + 1) for name, one in properties.items()}
            required = [name for name in node.get("required") or () if name in known]
            return types.Schema(type=types.Type.OBJECT, properties=known, required=required or None)
        return types.Schema(type=types.Type.STRING, description="as JSON")

    def _shown(self, node: Node, depth: int) -> Node:
        node = self.resolved(node)
        shown = {key: node[key] for key in _SHOWN if key in node}
        if depth >= _DEEPEST:
            return shown
        if (items := _node(node.get("items"))) is not None:
            shown["items"] = self._shown(items, depth + 1)
        properties = _properties(node)
        if properties:
            shown["properties"] = {name: self._shown(one, depth + 1) for name, one in properties.items()}
        for key in ("anyOf", "oneOf"):
            if isinstance(node.get(key), list):
                shown[key] = [self._shown(one, depth + 1) for one in node[key] if isinstance(one, dict)]
        return shown


def fields_of(schemas: Sequence[SchemaConfig]) -> dict[tuple[str, str], Field]:
    """The fields of some schemas, by the schema's id and the field's name."""
    fields: dict[tuple[str, str], Field] = {}
    for schema in schemas:
        root = _plain(schema.memory_schema)
        definitions = {key: root[key] for key in ("$defs", "definitions") if isinstance(root.get(key), dict)}
        for name in cast("Node", root.get("properties") or {}):
            fields[schema.id, name] = Field(schema.id, name, _properties(root).get(name, {}), definitions)
    return fields


def kinds(node: Node) -> list[str]:
    """The types that a node allows; empty for any."""
    given = node.get("type")
    if isinstance(given, str):
        return [given]
    return [kind for kind in cast("list[Any]", given) if isinstance(kind, str)] if isinstance(given, list) else []


def _plain(node: Node) -> Node:
    """A schema as JSON Schema spells it: types in small letters, OpenAPI's `nullable` as a type."""
    plain: Node = {}
    for key, value in node.items():
        if key in _MAPS and isinstance(value, dict):
            entries = cast("Node", value)
            plain[key] = {name: _plain(one) if isinstance(one, dict) else one for name, one in entries.items()}
        elif key in _LISTS and isinstance(value, list):
            plain[key] = [_plain(one) if isinstance(one, dict) else one for one in cast("list[Any]", value)]
        elif key in _NODES and isinstance(value, dict):
            plain[key] = _plain(cast("Node", value))
        elif key == "type":
            plain[key] = (
                [str(one).lower() for one in cast("list[Any]", value)]
                if isinstance(value, list)
                else str(value).lower()
            )
        else:
            plain[key] = value
    if plain.pop("nullable", False):
        if "type" in plain:
            plain["type"] = [*kinds(plain), "null"]
        if isinstance(plain.get("enum"), list):
            plain["enum"] = [*plain["enum"], None]
    return plain


def _properties(node: Node) -> dict[str, Node]:
    given = cast("Node", node.get("properties") or {})
    return {name: one for name, value in given.items() if (one := _node(value)) is not None}


def _node(value: Any) -> Node | None:
    return cast("Node", value) if isinstance(value, dict) else None
