"""No filter is read differently from its meaning: meanings drawn at random, spelled in every way, read, compared."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from adk_memorybank.clock import to_micros
from adk_memorybank.resources import Memory
from adk_memorybank.retrieval.filters import parse_filter

MAY = datetime(2026, 5, 1, tzinfo=UTC)
MOMENTS = [MAY, MAY + timedelta(microseconds=1), MAY + timedelta(days=1)]
# Words that look like something else, and any text but what no store keeps and a backspace, which is `\b` to JSON.
WORDS = [
    "a",
    "b",
    "A",
    "",
    "AND",
    "or",
    "-1",
    "1.5",
    "half-caf",
    "*",
    "a*",
    "it's",
    'say "a"',
    "\\",
    "\\n",
    "a\nb",
    "f(x)",
]
texts = st.one_of(st.sampled_from(WORDS), st.text(st.characters(codec="utf-8", exclude_characters="\0\b"), max_size=6))
KEYS = ["user_id", "userId", "user id", "a.b", "NOT", "it's", "ключ"]

memories = st.builds(
    Memory,
    name=st.just("projects/p/locations/l/reasoningEngines/b/memories/1"),
    fact=texts,
    display_name=texts,
    scope=st.dictionaries(st.sampled_from(KEYS), texts, max_size=3),
    metadata=st.dictionaries(st.sampled_from(KEYS), st.one_of(texts, st.sampled_from([-1.0, 1.5])), max_size=3),
    topics=st.lists(st.sampled_from(["USER_PREFERENCES", "EXPLICIT_INSTRUCTIONS", "a", "half-caf"]), max_size=3),
    create_time=st.sampled_from(MOMENTS),
    update_time=st.just(MAY),
    expire_time=st.one_of(st.none(), st.sampled_from(MOMENTS)),
)
ORDERS = {
    "=": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


class Speech:
    """Picks among the spellings of the same thing."""

    def __init__(self, data: st.DataObject) -> None:
        self._data = data

    def one_of(self, *spellings: str) -> str:
        return self._data.draw(st.sampled_from(spellings))

    def space(self) -> str:
        return self.one_of("", " ", "\n\t")

    def text(self, text: str, *, key: bool = False) -> str:
        """A value, or a key of a map."""
        single = "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
        spellings = [json.dumps(text), json.dumps(text, ensure_ascii=False), single]
        if re.fullmatch(r"[A-Za-z0-9_*][\w*-]*", text) and (key or text not in ("AND", "OR", "NOT")):
            spellings.append(text)
        if not key and re.fullmatch(r"-?\d+(\.\d+)?", text):
            spellings.append(text)
        return self.one_of(*spellings)

    def compared(self, field: str, comparator: str, value: str) -> str:
        return f"{field}{self.space()}{comparator}{self.space()}{value}"


@dataclass(frozen=True)
class Text:
    """A field with a text compared with a text."""

    field: str
    comparator: str
    value: str

    def meant(self, memory: Memory) -> bool:
        found = getattr(memory, self.field)
        if self.comparator == ":":
            return self.value.casefold() in found.casefold()
        return ORDERS[self.comparator](found, self.value)

    def said(self, speech: Speech) -> str:
        name = speech.one_of("fact", "Fact") if self.field == "fact" else speech.one_of("display_name", "displayName")
        value = speech.text(self.value)
        if value == "*" and self.comparator == ":":  # in no quotes this asks whether there is anything
            value = '"*"'
        return speech.compared(name, self.comparator, value)


@dataclass(frozen=True)
class Word:
    """A text alone."""

    value: str

    def meant(self, memory: Memory) -> bool:
        return self.value.casefold() in memory.fact.casefold()

    def said(self, speech: Speech) -> str:
        said = speech.text(self.value)
        return json.dumps(self.value) if said == "or" or said.startswith("-") else said


@dataclass(frozen=True)
class Entry:
    """A value under a key of the scope or of the metadata."""

    map: str
    key: str
    comparator: str
    value: str

    def meant(self, memory: Memory) -> bool:
        found = getattr(memory, self.map).get(self.key)
        comparator = "=" if self.comparator == ":" else self.comparator
        if found is None:
            return comparator == "!="
        if isinstance(found, float):
            if not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", self.value):
                return comparator == "!="
            return ORDERS[comparator](found, float(self.value))
        return ORDERS[comparator](found, self.value)

    def said(self, speech: Speech) -> str:
        value = speech.text(self.value)
        if value == "*" and self.comparator == ":":
            value = "'*'"
        key = speech.one_of("a.b", '"a.b"') if self.key == "a.b" else speech.text(self.key, key=True)
        return speech.compared(f"{self.map}.{key}", self.comparator, value)


@dataclass(frozen=True)
class Time:
    field: str
    comparator: str
    moment: datetime

    def meant(self, memory: Memory) -> bool:
        found = getattr(memory, self.field)
        if found is None:
            return self.comparator == "!="
        return ORDERS[self.comparator](found, self.moment)

    def said(self, speech: Speech) -> str:
        first, _, second = self.field.partition("_")
        name = speech.one_of(self.field, first + second.title())
        elsewhere = self.moment.astimezone(timezone(timedelta(hours=5, minutes=30)))
        moment = speech.one_of(
            self.moment.isoformat(), self.moment.isoformat().replace("+00:00", "Z"), elsewhere.isoformat()
        )
        quoted = speech.one_of("", '"', "'")
        return speech.compared(
            name, self.comparator, speech.one_of(f"{quoted}{moment}{quoted}", str(to_micros(self.moment)))
        )


@dataclass(frozen=True)
class Topic:
    managed: bool
    comparator: str
    value: str

    def meant(self, memory: Memory) -> bool:
        return (self.value in memory.topics) is (self.comparator != "!=")

    def said(self, speech: Speech) -> str:
        if self.managed:
            name = speech.one_of("managed_memory_topic", "managedMemoryTopic")
            value = speech.text(speech.one_of(self.value, self.value.lower()))
        else:
            name = speech.one_of("custom_memory_topic_label", "customMemoryTopicLabel")
            value = speech.text(self.value)
        return speech.compared(f"topics.{name}", self.comparator, value)


@dataclass(frozen=True)
class Present:
    def meant(self, memory: Memory) -> bool:
        return memory.expire_time is not None

    def said(self, speech: Speech) -> str:
        return speech.compared(speech.one_of("expire_time", "expireTime"), ":", "*")


@dataclass(frozen=True)
class Choice:
    """A field that is one of several values."""

    values: tuple[str, ...]

    def meant(self, memory: Memory) -> bool:
        return memory.fact in self.values

    def said(self, speech: Speech) -> str:
        # In a choice, too, what stands in no quotes after a `-` might be a negation.
        values = [json.dumps(value) if value.startswith("-") else speech.text(value) for value in self.values]
        return speech.compared("fact", "=", f"({speech.space()}{' OR '.join(values)}{speech.space()})")


@dataclass(frozen=True)
class Not:
    inner: Any

    def meant(self, memory: Memory) -> bool:
        return not self.inner.meant(memory)

    def said(self, speech: Speech) -> str:
        return speech.one_of("NOT ", "-", "NOT\n") + in_brackets(
            self.inner, speech, always=isinstance(self.inner, Not | Either | Both)
        )


@dataclass(frozen=True)
class Either:
    parts: tuple[Any, ...]

    def meant(self, memory: Memory) -> bool:
        return any(part.meant(memory) for part in self.parts)

    def said(self, speech: Speech) -> str:
        return " OR ".join(in_brackets(part, speech, always=isinstance(part, Either | Both)) for part in self.parts)


@dataclass(frozen=True)
class Both:
    parts: tuple[Any, ...]

    def meant(self, memory: Memory) -> bool:
        return all(part.meant(memory) for part in self.parts)

    def said(self, speech: Speech) -> str:
        # `OR` binds tighter: it needs no brackets inside.
        texts = [in_brackets(part, speech, always=isinstance(part, Both)) for part in self.parts]
        joined = texts[0]
        for text in texts[1:]:
            joined += speech.one_of(" AND ", " ", "\n", " \tAND\n") + text
        return joined


def in_brackets(node: Any, speech: Speech, *, always: bool) -> str:
    text = node.said(speech)
    return speech.one_of(f"({text})", f"( {text} )") if always or speech.one_of("", "(") else text


comparators = st.sampled_from([*ORDERS, ":"])
leaves = st.one_of(
    st.builds(Text, st.sampled_from(["fact", "display_name"]), comparators, texts),
    st.builds(Word, texts),
    st.builds(Entry, st.sampled_from(["scope", "metadata"]), st.sampled_from(KEYS), comparators, texts),
    st.builds(
        Time, st.sampled_from(["create_time", "expire_time"]), st.sampled_from([*ORDERS]), st.sampled_from(MOMENTS)
    ),
    st.builds(
        Topic,
        st.just(True),
        st.sampled_from([":", "=", "!="]),
        st.sampled_from(["USER_PREFERENCES", "EXPLICIT_INSTRUCTIONS"]),
    ),
    st.builds(Topic, st.just(False), st.sampled_from([":", "=", "!="]), st.sampled_from(["a", "half-caf"])),
    st.just(Present()),
    st.builds(Choice, st.lists(texts, min_size=1, max_size=3).map(tuple)),
)
meanings = st.recursive(
    leaves,
    lambda inner: st.one_of(
        inner.map(Not),
        st.lists(inner, min_size=2, max_size=3).map(tuple).map(Either),
        st.lists(inner, min_size=2, max_size=3).map(tuple).map(Both),
    ),
    max_leaves=8,
)


@given(meanings, st.lists(memories, min_size=1, max_size=4), st.data())
def test_no_filter_is_read_differently_from_its_meaning(
    meaning: Any, stored: list[Memory], data: st.DataObject
) -> None:
    text = meaning.said(Speech(data))
    read = parse_filter(text, over="memories")
    assert [read(memory) for memory in stored] == [meaning.meant(memory) for memory in stored], text


@settings(max_examples=300)
@given(texts, st.sampled_from(KEYS), st.data())
def test_every_text_can_be_said(text: str, key: str, data: st.DataObject) -> None:
    speech = Speech(data)
    one = Memory(name="m", fact=text, scope={key: text}, create_time=MAY, update_time=MAY)
    said = f"fact={speech.text(text)} AND scope.{speech.text(key, key=True)}={speech.text(text)}"
    assert parse_filter(said, over="memories")(one), said
    assert not parse_filter(f"fact!={speech.text(text)}", over="memories")(one)
