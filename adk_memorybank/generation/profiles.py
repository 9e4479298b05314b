"""Structured profiles: from values that were drawn from events to what becomes of a profile's fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, cast

from adk_memorybank.generation.fields import Field
from adk_memorybank.generation.generator import FieldValue, Turn
from adk_memorybank.generation.secrets import kinds_in
from adk_memorybank.generation.values import Misfit, same_value

MOST_VALUES = 500
"""Read from one answer."""

_NOTHING: tuple[Any, ...] = ("", [], {})
"""What a model writes that has to give a value and has none."""

Fields = Mapping[tuple[str, str], Field]


@dataclass(frozen=True, slots=True)
class Settled:
    """What becomes of one field.

    Attributes:
        value: afterwards; None of a deletion.
        behind: the values that it comes of.
        replaces: True where their sources take the place of those that were there.
    """

    action: Literal["create", "update", "delete"]
    value: Any
    behind: Sequence[FieldValue]
    replaces: bool


@dataclass(slots=True)
class _State:
    """A field while values are laid upon it, the oldest first."""

    present: bool
    value: Any
    time: datetime | None
    behind: list[FieldValue] = field(default_factory=list[FieldValue])
    replaces: bool = False

    def is_older(self, value: FieldValue) -> bool:
        return self.present and value.time is not None and self.time is not None and value.time < self.time


def find_field(fields: Fields, schema_id: Any, name: Any) -> Field | None:
    """The field that was named, whatever the case; where the schema is not named, the only one of this name."""
    if not isinstance(name, str):
        return None
    wanted = name.strip().casefold()
    found = [one for one in fields.values() if one.name.casefold() == wanted]
    if isinstance(schema_id, str) and schema_id.strip():
        found = [one for one in found if one.schema_id == schema_id.strip().casefold()]
    exact = [one for one in found if one.name == name.strip()]
    chosen = exact or found
    return chosen[0] if len(chosen) == 1 else None


def entries_of(given: Any) -> list[Mapping[str, Any]]:
    """The entries of an answer, {profile, field, value, event}, also where whole profiles were written instead."""
    entries: list[Mapping[str, Any]] = []
    if isinstance(given, Mapping):
        for schema_id, data in cast("Mapping[str, Any]", given).items():
            entries += _whole(schema_id, data)
    for one in cast("list[Any]", given) if isinstance(given, list) else ():
        if not isinstance(one, Mapping):
            continue
        entry = cast("Mapping[str, Any]", one)
        named = next((entry[key] for key in _NAMES_OF_PROFILE if isinstance(entry.get(key), str)), "")
        data = next((entry[key] for key in ("data", "profile", "fields") if isinstance(entry.get(key), Mapping)), None)
        entries += [entry] if data is None else _whole(named, data)
    return entries


_NAMES_OF_PROFILE = ("profile", "schema", "schema_id", "schemaId")


def _whole(schema_id: str, data: Any) -> Iterable[Mapping[str, Any]]:
    if not isinstance(data, Mapping):
        return
    for name, value in cast("Mapping[str, Any]", data).items():
        if isinstance(value, Mapping) and "value" in value:
            yield {**cast("Mapping[str, Any]", value), "profile": schema_id, "field": name}
        else:
            yield {"profile": schema_id, "field": name, "value": value}


def values_of(
    entries: Sequence[Mapping[str, Any]],
    fields: Fields,
    turns: Sequence[Turn],
    place: Callable[[Mapping[str, Any], str], int | None],
    notes: list[str],
) -> list[FieldValue]:
    """The values that a model's entries give, not checked by their schemas yet.

    Args:
        place: the index of the turn that an entry was drawn from, by the number that it names or by its text.
        notes: gets what was left out and why.
    """
    user_spoke = any(turn.new and turn.role == "user" for turn in turns)
    values: list[FieldValue] = []
    for entry in entries[:MOST_VALUES]:
        schema_id = next((entry[key] for key in _NAMES_OF_PROFILE if entry.get(key) is not None), None)
        known = find_field(fields, schema_id, entry.get("field"))
        given = entry.get("value")
        forget = str(entry.get("action") or "").casefold() in ("delete", "forget", "remove")
        if known is None:
            notes.append("a value for an unknown field was dropped")
            continue
        if given is None and not forget:
            continue
        index = place(entry, next(iter(_texts(given)), ""))
        if index is None:
            notes.append(f"a value for {known.name!r} that names no new event was dropped")
        elif turns[index].role == "model" and user_spoke:
            notes.append(f"what the assistant said was not kept as a value for {known.name!r}")
        else:
            values.append(FieldValue(known.schema_id, known.name, given, (index,), turns[index].time, forget))
    if len(entries) > MOST_VALUES:
        notes.append(f"{len(entries) - MOST_VALUES} values beyond the first {MOST_VALUES} of an answer were dropped")
    return values


def check(values: Sequence[FieldValue], fields: Fields, turns: Sequence[Turn], notes: list[str]) -> list[FieldValue]:
    """The values that their schemas allow, each in the type that its field has. No generator is trusted.

    Args:
        notes: gets what was left out and why.
    """
    good: list[FieldValue] = []
    for value in values:
        known = fields.get((value.schema_id, value.field))
        if known is None:
            notes.append("a value for an unknown field was dropped")
            continue
        behind = tuple(index for index in value.turns if 0 <= index < len(turns) and turns[index].new)
        if not behind:
            notes.append(f"a value for {known.name!r} that names no new event was dropped")
            continue
        if value.value is None or value.value in _NOTHING:
            if value.forget:
                good.append(replace(value, value=None, turns=behind))
            continue
        try:
            fitted, left_out = known.fit(value.value)
        except Misfit as misfit:
            # What is to be forgotten may be said otherwise than the field holds it.
            if value.forget and not known.is_union:
                good.append(replace(value, value=None, turns=behind))
            else:
                notes.append(f"a value for {known.name!r} was dropped: {misfit}")
            continue
        if left_out:
            notes.append(f"{left_out} parts of a value for {known.name!r} were dropped: the schema does not allow them")
        if not value.forget and any(kinds_in(text) - known.secrets_asked for text in _texts(fitted)):
            notes.append(f"a value for {known.name!r} with a secret in it was dropped")
            continue
        if fitted is not None and fitted not in _NOTHING:
            good.append(replace(value, value=fitted, turns=behind))
    return good


def keep_supported(
    values: Sequence[FieldValue], fields: Fields, supported: Callable[[str], bool], notes: list[str]
) -> list[FieldValue]:
    """The values whose free texts were drawn from the events; of arrays the items whose are.

    Args:
        supported: tells of a text of `texts_of`.
    """
    good: list[FieldValue] = []
    for value in values:
        known = fields[value.schema_id, value.field]
        kept = value.value
        if isinstance(kept, list):
            items = cast("list[Any]", kept)
            kept = [item for item in items if _all(supported, known.texts([item]))]
            gone = len(items) - len(kept)
            kept = kept if kept or not items else None
        else:
            gone = 0 if _all(supported, known.texts(kept)) else 1
            kept = None if gone else kept
        if gone and not value.forget:
            notes.append(f"{gone} values for {known.name!r} without support in the events were dropped")
        if kept is not None or value.forget:
            good.append(value if value.forget else replace(value, value=kept))
    return good


def texts_of(values: Sequence[FieldValue], fields: Fields) -> list[str]:
    """The free texts in some values, each once."""
    found = [text for value in values for text in fields[value.schema_id, value.field].texts(value.value)]
    return list(dict.fromkeys(found))


def settle(
    values: Sequence[FieldValue], of: Field, *, present: bool, current: Any, time: datetime | None, notes: list[str]
) -> Settled | None:
    """What becomes of a field by all new values for it; None where it stays as it is.

    A newer value takes the place of the old one, an older event never that of a newer one, and the items of arrays
    join. The same value again only adds its sources.

    Args:
        present: whether the field has a value now: `current`, from an event of `time`.
    """
    state = _State(present, current, time)
    # By time; what has none is taken as it comes, after what has.
    for value in sorted(values, key=lambda one: (one.time is None, one.time.timestamp() if one.time else 0.0)):
        older = state.is_older(value)
        if value.forget:
            _take_back(state, value, of, older=older, notes=notes)
        elif not state.present:
            state.present, state.value, state.replaces = True, value.value, True
            state.behind = [value]
        elif isinstance(state.value, list) and isinstance(value.value, list) and of.is_union:
            state.value = _union(cast("list[Any]", state.value), cast("list[Any]", value.value), of, older=older)
            state.behind.append(value)
        elif same_value(state.value, value.value):
            state.behind.append(value)
        elif older:
            notes.append(f"a value for {of.name!r} by an older event was ignored")
            continue
        else:
            state.value, state.behind, state.replaces = value.value, [value], True
        times = [moment for moment in (state.time, value.time) if moment is not None]
        state.time = max(times, default=None)
    if not state.behind or not (present or state.present):
        return None
    if not state.present:
        return Settled("delete", None, state.behind, True)
    return Settled("update" if present else "create", state.value, state.behind, state.replaces)


def _take_back(state: _State, value: FieldValue, of: Field, *, older: bool, notes: list[str]) -> None:
    if not state.present:
        return
    if older:
        notes.append(f"a request of an older event to forget {of.name!r} was ignored")
        return
    if isinstance(state.value, list) and isinstance(value.value, list):
        gone = cast("list[Any]", value.value)
        kept = [one for one in cast("list[Any]", state.value) if not any(same_value(one, other) for other in gone)]
        if kept:
            if len(kept) < len(cast("list[Any]", state.value)):
                state.value = kept
                state.behind.append(value)
            return
    state.present, state.value, state.behind = False, None, [value]


def _union(old: list[Any], new: list[Any], of: Field, *, older: bool) -> list[Any]:
    """The items of both, each once, the newest last; where the schema allows only so many, the newest of them."""
    first, second = (new, old) if older else (old, new)
    joined: list[Any] = []
    for item in [*first, *second]:
        if not any(same_value(item, known) for known in joined):
            joined.append(item)
    most = of.most_items
    return joined if most is None or len(joined) <= most else joined[len(joined) - most :]


def _all(supported: Callable[[str], bool], texts: Iterable[str]) -> bool:
    return all(supported(text) for text in texts)


def _texts(value: Any) -> Iterable[str]:
    """Everything in a value that could be a secret, as text."""
    if isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from _texts(one)
    elif isinstance(value, Mapping):
        for name, one in cast("Mapping[str, Any]", value).items():
            yield name
            yield from _texts(one)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)
