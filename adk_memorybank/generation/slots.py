"""The fields of profiles that can be filled without a model: those whose names say what the rules find."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from adk_memorybank.generation.attributes import profile
from adk_memorybank.generation.fields import Field, fields_of, kinds
from adk_memorybank.generation.generator import ExtractionRequest, FieldValue
from adk_memorybank.generation.lexicon import group, language
from adk_memorybank.generation.words import content, tokens

_FIELDS: dict[str, tuple[str, ...]] = {
    "name": ("name", "fullname", "username", "preferredname"),
    "age": ("age",),
    "home": ("home", "city", "homecity", "location", "residence", "placeofresidence"),
    "origin": ("origin", "hometown", "birthplace"),
    "job": ("job", "jobtitle", "occupation", "profession"),
    "employer": ("employer", "company", "workplace"),
    "diet": ("diet", "dietarypreference"),
    "allergy": ("allergy", "allergies"),
    "birthday": ("birthday",),
    "marital": ("maritalstatus",),
    "phone": ("phone", "phonenumber"),
    "email": ("email", "emailaddress"),
    "car": ("car",),
    "speaks": ("languages", "spokenlanguages"),
}
_ATTRIBUTES = {name: attribute for attribute, names in _FIELDS.items() for name in names}
_SUBJECT = ("user", "")
_JOINT = r"\s*(?:[,;、，]|\b(?:and|or|e|ed|o|y|et|ou|und|oder|и)\b)\s*"
_BETWEEN = re.compile(_JOINT, re.IGNORECASE)
_MORE = re.compile(rf"(?:{_JOINT}[\w-]+)+", re.IGNORECASE)
_PLACE = re.compile(r"\s+(?:at|for|in|bei|für|presso|per|en|chez)\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Said:
    """A statement of the user's: its text, or what is to be forgotten, the index of its turn, its language's code."""

    text: str
    turn: int
    code: str
    forget: bool = False


def fill(request: ExtractionRequest, statements: Sequence[Said]) -> tuple[list[FieldValue], list[str]]:
    """Values for the fields of a request, and a note that names those for which there is no rule."""
    fields = list(fields_of(request.schemas).values())
    ruled = [(one, attribute) for one in fields if (attribute := _attribute(one)) is not None]
    values = [
        FieldValue(one.schema_id, one.name, value, (said.turn,), request.turns[said.turn].time)
        for said in statements
        for one, attribute in ruled
        if not said.forget and (value := _value(said, one, attribute)) is not None
    ]
    values += [
        FieldValue(one.schema_id, one.name, None, (said.turn,), request.turns[said.turn].time, forget=True)
        for said in statements
        for one in fields
        if said.forget and _names(said, one)
    ]
    known = {(one.schema_id, one.name) for one, _ in ruled}
    rest = [f"{one.schema_id}.{one.name}" for one in fields if (one.schema_id, one.name) not in known]
    notes = [f"without a model these fields of profiles are not filled in: {', '.join(rest)}"] if rest else []
    return values, notes


def _names(said: Said, of: Field) -> bool:
    """Whether what is to be forgotten is a field and no more: by its name's words, or one for its attribute.

    "My sister's name" is not the name of the user.
    """
    lexicon = language(said.code)
    words = content(said.text, lexicon)
    name = re.sub(r"[_-]|(?<=[a-z])(?=[A-Z])", " ", of.name)
    if not words or words == content(name, lexicon):
        return bool(words)
    attribute = _attribute(of)
    own = {noun for noun, meant in lexicon.nouns.items() if meant == attribute}
    return attribute is not None and all(word in own for word in tokens(said.text) if content(word, lexicon))


def _attribute(of: Field) -> str | None:
    """The attribute that a field's name stands for; None where its type or form asks for more than words."""
    node = of.resolved(of.node)
    simple = {"string", "integer", "number", "array", "null"}
    if "format" in node or not kinds(node) or not set(kinds(node)) <= simple:
        return None
    return _ATTRIBUTES.get(re.sub(r"[^a-z]", "", of.name.casefold()))


def _value(said: Said, of: Field, attribute: str) -> str | list[str] | None:
    """What a statement says of an attribute, in its own words."""
    taken_apart = profile(said.text)
    claim = taken_apart.claim(attribute)
    if taken_apart.subject != _SUBJECT or claim is None or claim.ended:
        return None
    for slot in language(said.code).slots:
        match = slot.said.search(said.text) if slot.attribute == attribute and not slot.ended else None
        value = group(match, "value").strip(" .,;:!?。") if match else ""
        if not match or not value:
            continue
        if "array" in kinds(of.resolved(of.node)):
            # The patterns end at an "and": in a list, single words go on behind it.
            rest = said.text[said.text.index(value, match.start()) + len(value) :].rstrip(" .!。")
            return [part for part in _BETWEEN.split(value + rest if _MORE.fullmatch(rest) else value) if part]
        return _PLACE.split(value)[0] if attribute == "job" else value
    return None
