"""The language of filters: what it says is what it means, and what can't be read says so."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_memorybank.clock import to_micros
from adk_memorybank.errors import InvalidArgument
from adk_memorybank.paging import ByTime, parse_order
from adk_memorybank.resources import Memory, MemoryRevision
from adk_memorybank.retrieval.filter_groups import read_filter_groups
from adk_memorybank.retrieval.filters import MAX_LENGTH, parse_filter

MAY = datetime(2026, 5, 1, tzinfo=UTC)


def memory(fact: str = "I like green tea", **fields: Any) -> Memory:
    given: dict[str, Any] = {"scope": {"user_id": "123"}, "create_time": MAY, "update_time": MAY, **fields}
    return Memory(name="projects/p/locations/l/reasoningEngines/b/memories/1", fact=fact, **given)


def holds(text: str, one: Any = None, *, over: Any = "memories") -> bool:
    return parse_filter(text, over=over)(memory() if one is None else one)


def assert_read_or_refused(text: str) -> None:
    with contextlib.suppress(InvalidArgument):
        assert isinstance(holds(text), bool)


class TestFormsOfTheReference:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ('fact="I like green tea"', True),
            ('fact="i like green tea"', False),
            ('fact=~".*green.*" AND update_time>="2026-01-01T00:00:00Z"', True),
            ('fact=~"green"', False),
            ("topics.managed_memory_topic: USER_PREFERENCES OR topics.custom_memory_topic_label: custom-label", True),
            ("topics.managedMemoryTopic = user_preferences", True),
            ("topics.managed_memory_topic: EXPLICIT_INSTRUCTIONS", False),
            ("topics.customMemoryTopicLabel: custom-label", True),
            ("topics.custom_memory_topic_label: USER_PREFERENCES", False),
            ("scope.user_id=123", True),
            ('scope.user_id="123"', True),
            ("scope.user_id=12", False),
            ("scope.other=123", False),
            ('scope="{\\"user_id\\": \\"123\\"}"', True),
            ('scope="{\\"user_id\\": \\"124\\"}"', False),
            (f"create_time={to_micros(MAY)}", True),
            (f"createTime>{to_micros(MAY)}", False),
            ("createTime<=2026-05-01T02:00:00+02:00", True),
            ("expire_time:*", False),
            ("NOT expire_time:*", True),
            ("-fact:TEA", False),
            ("fact:TEA", True),
            ("tea green", True),
            ("tea coffee", False),
            ("tea OR coffee", True),
            ("", True),
            ("  ", True),
        ],
    )
    def test_of_memories(self, text: str, expected: bool) -> None:
        assert holds(text, memory(topics=["USER_PREFERENCES", "custom-label"])) is expected

    def test_of_revisions(self) -> None:
        revision = MemoryRevision(name="r", fact="f", labels={"data_source": "321"}, create_time=MAY)
        assert holds('labels.data_source="321"', revision, over="revisions")
        assert holds("labels.data_source=321", revision, over="revisions")
        assert holds("labels:data_source", revision, over="revisions")
        assert not holds("labels.data_source=32", revision, over="revisions")
        assert not holds("labels.dataSource=321", revision, over="revisions"), "keys are the caller's own"

    def test_keys_of_any_letters(self) -> None:
        one = memory(scope={"user id": 'a "b" \\ c', "a.b": "x"})
        assert holds('scope."user id"="a \\"b\\" \\\\ c"', one)
        assert holds("scope.a.b=x", one)
        assert holds('scope."a.b"=x', one)

    def test_metadata_by_type(self) -> None:
        one = memory(metadata={"n": 2.0, "b": True, "t": MAY, "s": "x"})
        assert holds(
            'metadata.n>1.5 metadata.n>-3 metadata.b=true metadata.s=x metadata.t>="2026-05-01T00:00:00Z"', one
        )
        for text in ("metadata.n=x", "metadata.b=1", "metadata.s>y", "metadata.gone=1", "metadata.t=x"):
            assert not holds(text, one), text

    def test_of_what_is_not_there(self) -> None:
        assert holds("metadata.gone!=1")
        assert holds("NOT metadata.gone=1")
        assert not holds("expire_time<2030-01-01T00:00:00Z")

    def test_a_star_is_a_letter(self) -> None:
        assert not holds('fact="I like*"')
        assert holds('fact="I like*"', memory("I like*"))


class TestRulesOfKeys:
    @pytest.mark.parametrize(
        ("rule", "expected"),
        [
            ('scope.user_id="ada"', True),
            ('scope.user_id="bob"', False),
            ('scope.user_id=~"a.*"', True),
            ('scope.user_id="bob" OR scope.user_id="ada"', True),
            ('scope.team="red"', False),
            ('NOT scope.team="red"', False),
            ('scope.team!="red"', False),
            ('NOT (scope.team="red" AND scope.user_id="ada")', False),
            ('scope.user_id="ada" OR scope.team!="red"', True),
        ],
    )
    def test_what_is_not_there_is_refused(self, rule: str, expected: bool) -> None:
        assert holds(rule, {"user_id": "ada"}, over="scopes") is expected


class TestWrong:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("fact=", "ends too early"),
            ("(fact=a", "ends too early"),
            ("fact=a)", r"'\)'"),
            ('fact="a', "character 6"),
            ("fakt=a", "did you mean `fact`"),
            ("colour=a", "there are `fact`"),
            ("foo(1)", "no function `foo`"),
            ('fact=~"("', "regular expression"),
            ("create_time>yesterday", "is a time"),
            ("create_time:2026", "is a time"),
            ("topics.managed_memory_topic=NOPE", "USER_PREFERENCES"),
            ("NOT NOT fact=a", "NOT"),
            ("AND", "AND"),
            ("NOT (" * 100 + "x" + ")" * 100, "deep"),
            ("x" * (MAX_LENGTH + 1), "at most"),
        ],
    )
    def test_it_says_what_is_wrong(self, text: str, said: str) -> None:
        with pytest.raises(InvalidArgument, match=said) as raised:
            parse_filter(text, over="memories")
        assert raised.value.field == "filter"

    def test_a_search_has_its_scope(self) -> None:
        with pytest.raises(InvalidArgument, match="the request says which"):
            parse_filter("scope.user_id=1", over="retrieved")

    def test_an_expression_that_takes_python_for_ever(self) -> None:
        assert not holds('fact=~"(a+)+b"', memory("a" * 40))

    @given(st.text(st.characters(codec=None), max_size=40))
    def test_any_text_is_read_or_refused(self, text: str) -> None:
        assert_read_or_refused(text)

    @given(
        st.lists(st.sampled_from('( ) AND OR NOT - = : =~ < fact create_time scope . "a" x 1 \''.split()), max_size=12)
    )
    def test_any_row_of_words_is_read_or_refused(self, words: list[str]) -> None:
        assert_read_or_refused(" ".join(words))


@dataclass(frozen=True)
class Is:
    """`fact = value`, as the language is meant to have it."""

    value: str

    def meant(self, fact: str) -> bool:
        return fact == self.value

    def text(self, draw: Any) -> str:
        space = draw(st.sampled_from(["", " "]))
        quoted = draw(st.sampled_from([f'"{self.value}"', f"'{self.value}'", self.value]))
        return f"{draw(st.sampled_from(['fact', 'FACT', 'Fact']))}{space}={space}{quoted}"


@dataclass(frozen=True)
class Not:
    inner: Any

    def meant(self, fact: str) -> bool:
        return not self.inner.meant(fact)

    def text(self, draw: Any) -> str:
        return draw(st.sampled_from(["NOT ", "-"])) + _in_brackets(
            self.inner, draw, always=not isinstance(self.inner, Is)
        )


@dataclass(frozen=True)
class Any_:
    parts: tuple[Any, ...]

    def meant(self, fact: str) -> bool:
        return any(part.meant(fact) for part in self.parts)

    def text(self, draw: Any) -> str:
        return " OR ".join(_in_brackets(part, draw, always=isinstance(part, Any_ | All)) for part in self.parts)


@dataclass(frozen=True)
class All:
    parts: tuple[Any, ...]

    def meant(self, fact: str) -> bool:
        return all(part.meant(fact) for part in self.parts)

    def text(self, draw: Any) -> str:
        # `OR` binds tighter: it needs no brackets inside.
        texts = [_in_brackets(part, draw, always=isinstance(part, All)) for part in self.parts]
        joined = texts[0]
        for text in texts[1:]:
            joined += draw(st.sampled_from([" AND ", " "])) + text
        return joined


def _in_brackets(node: Any, draw: Any, *, always: bool) -> str:
    text = node.text(draw)
    return f"({text})" if always or draw(st.booleans()) else text


meanings = st.recursive(
    st.sampled_from("abc").map(Is),
    lambda inner: st.one_of(
        inner.map(Not),
        st.lists(inner, min_size=2, max_size=3).map(tuple).map(Any_),
        st.lists(inner, min_size=2, max_size=3).map(tuple).map(All),
    ),
    max_leaves=8,
)


@given(meanings, st.data())
def test_no_filter_is_read_differently_from_its_meaning(meaning: Any, data: st.DataObject) -> None:
    text = meaning.text(data.draw)
    read = parse_filter(text, over="memories")
    assert [read(memory(fact)) for fact in "abcd"] == [meaning.meant(fact) for fact in "abcd"], text


class TestGroups:
    ONE = memory(metadata={"s": "x", "n": 2.0, "b": True, "t": MAY + timedelta(milliseconds=400)})

    @pytest.mark.parametrize(
        ("condition", "expected"),
        [
            ({"key": "s", "value": {"string_value": "x"}}, True),
            ({"key": "s", "value": {"stringValue": "y"}}, False),
            ({"key": "s", "value": "x"}, True),
            ({"key": "s", "value": "y", "negate": True}, True),
            ({"key": "n", "value": 1, "op": "GREATER_THAN"}, True),
            ({"key": "n", "value": 1, "op": "less_than"}, False),
            ({"key": "n", "value": 1, "op": 2}, True),
            ({"key": "n", "value": {"doubleValue": 2}, "op": 0}, True),
            ({"key": "b", "value": True}, True),
            ({"key": "b", "value": 1.0}, False),
            ({"key": "n", "value": "2"}, False),
            ({"key": "n", "value": "2", "negate": True}, True),
            ({"key": "t", "value": {"timestamp_value": "2026-05-01T00:00:00Z"}}, True),
            ({"key": "t", "value": {"timestampValue": "2026-05-01T01:59:59+02:00"}, "op": "GREATER_THAN"}, True),
            ({"key": "gone", "value": "x"}, False),
            ({"key": "gone", "value": "x", "negate": True}, True),
        ],
    )
    def test_one_filter(self, condition: dict[str, Any], expected: bool) -> None:
        assert read_filter_groups([{"filters": [condition]}])(self.ONE) is expected

    def test_groups_are_joined_by_or_and_filters_by_and(self) -> None:
        right, wrong = {"key": "s", "value": "x"}, {"key": "s", "value": "y"}
        assert read_filter_groups([{"filters": [wrong]}, {"filters": [right]}])(self.ONE)
        assert not read_filter_groups([{"filters": [right, wrong]}])(self.ONE)
        assert read_filter_groups([])(self.ONE)

    @pytest.mark.parametrize(
        ("groups", "field"),
        [
            ("x", "filter_groups"),
            ([{}], "filter_groups[0].filters"),
            ([{"filters": []}], "filter_groups[0].filters"),
            ([{"filters": [{"value": "x"}]}], "filter_groups[0].filters[0].key"),
            ([{"filters": [{"key": "k"}]}], "filter_groups[0].filters[0].value"),
            ([{"filters": [{"key": "k", "value": {}}]}], "filter_groups[0].filters[0].value"),
            ([{"filters": [{"key": "k", "value": "x", "op": "LIKE"}]}], "filter_groups[0].filters[0].op"),
        ],
    )
    def test_wrong(self, groups: Any, field: str) -> None:
        with pytest.raises(InvalidArgument) as raised:
            read_filter_groups(groups)
        assert raised.value.field == field


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, ByTime()),
        ("", ByTime()),
        ("create_time", ByTime("create_time", descending=False)),
        ("createTime asc", ByTime("create_time", descending=False)),
        ("update_time DESC", ByTime("update_time", descending=True)),
        ("updateTime  desc ", ByTime("update_time", descending=True)),
    ],
)
def test_orders(text: str | None, expected: ByTime) -> None:
    assert parse_order(text) == expected


@pytest.mark.parametrize("text", ["fact", "create_time up", "create_time desc, update_time", "-create_time"])
def test_no_order(text: str) -> None:
    with pytest.raises(InvalidArgument, match="order_by"):
        parse_order(text)
