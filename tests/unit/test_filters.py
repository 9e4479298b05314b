"""The language of filters: what it says is what it means, and what can't be read says so."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_memorybank.banks import BankInfo
from adk_memorybank.clock import to_micros
from adk_memorybank.config import ManagedSemanticMemoryConfig
from adk_memorybank.errors import InvalidArgument
from adk_memorybank.paging import ByTime, parse_order
from adk_memorybank.resources import Call, Memory, MemoryRevision, bank_name
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

    def test_names_are_told_by_their_ids(self) -> None:
        bank = BankInfo(
            name=bank_name("coffee"),
            display_name="Coffee",
            description="",
            labels={},
            extra={},
            config=ManagedSemanticMemoryConfig(),
            create_time=MAY,
            update_time=MAY,
        )
        for text in ("name=coffee", 'name="projects/p/locations/l/reasoningEngines/coffee"', "displayName:cof"):
            assert holds(text, bank, over="banks"), text
        assert not holds("name=coffe", bank, over="banks")
        assert not holds("labels.team=red", bank, over="banks")

    def test_an_operation(self) -> None:
        call = Call(id="1", bank_id="b", kind="purge", create_time=MAY, done=True)
        assert holds("done=true kind=purge", call, over="operations")
        assert not holds("done=false OR kind=create", call, over="operations")

    def test_a_star_is_a_letter(self) -> None:
        assert not holds('fact="I like*"')
        assert holds('fact="I like*"', memory("I like*"))


class TestValues:
    @pytest.mark.parametrize(
        ("text", "fact"),
        [
            (r'fact="a \"b\" \\ c"', r'a "b" \ c'),
            (r"fact='it\'s'", "it's"),
            (r'fact="caf\u00e9 \ud83d\ude00"', "café 😀"),
            (r'fact="a\nb\tc"', "a\nb\tc"),
            ('fact="a\nb"', "a\nb"),
            (r'fact="C:\docs \d"', r"C:\docs \d"),
            (r'fact=~"\d+ \bcups\b"', "3 cups"),
            (r'fact=~"\\d+"', "3"),
            (r'fact=~"a\*"', "a*"),
            ("fact=1.5", "1.5"),
            ("fact=-1.5e3", "-1.5e3"),
            ("fact=half-caf", "half-caf"),
            ("fact=2026-05-01T10:00:00Z", "2026-05-01T10:00:00Z"),
            (r'fact="\ud800"', "\ufffd"),
            ("fact=~'first.*last'", "first\nlast"),
        ],
    )
    def test_spelling(self, text: str, fact: str) -> None:
        assert holds(text, memory(fact))
        assert not holds(text, memory(fact + "!"))

    @pytest.mark.parametrize(
        "said",
        [
            "2026-05-01T00:00:00Z",
            "2026-05-01t00:00:00z",
            "2026-05-01T02:00:00.000000+02:00",
            "2026-05-01T00:00:00",
            "2026-05-01 00:00:00",
            "2026-05-01",
            "20260501",
            str(to_micros(MAY)),
        ],
    )
    def test_times(self, said: str) -> None:
        later = memory(create_time=MAY + timedelta(microseconds=1))
        assert holds(f'create_time="{said}"')
        assert holds(f'create_time>"{said}"', later)
        assert not holds(f'create_time<="{said}"', later)
        if " " not in said:
            assert holds(f"create_time={said}")

    def test_a_choice(self) -> None:
        assert holds("scope.user_id=(1 OR 123)")
        assert not holds("scope.user_id=(1 OR 2)")
        assert holds("NOT scope.user_id=(1 OR 2)")
        assert holds('fact:(green AND (milk OR "LIKE GREEN") NOT coffee)')
        assert holds("scope.user_id!=(12)")
        one = memory(topics=["USER_PREFERENCES", "drinks"])
        assert holds("topics.managed_memory_topic:(USER_PREFERENCES AND NOT EXPLICIT_INSTRUCTIONS)", one)
        assert holds("topics:drinks topics:USER_PREFERENCES", one)
        assert not holds("topics:food", one)

    def test_whether_a_key_is_there(self) -> None:
        one = memory(metadata={"empty": "", "no": False})
        assert holds("metadata.empty:* metadata.no:* metadata:empty scope:user_id", one)
        assert not holds("metadata.gone:* OR metadata:gone OR description:*", one)

    def test_operators_are_names_after_a_dot(self) -> None:
        assert holds("scope.AND=1 scope.NOT=2 scope.OR.x=3", memory(scope={"AND": "1", "NOT": "2", "OR.x": "3"}))


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
            ("a=lower(x)", "no function `lower`"),
            ("math.mem('30mb')", "no function `mem`"),
            ("fact=a and fact=b", "write AND"),
            ("fact=a || fact=b", "write AND"),
            ("fact=NOT a", "character 6"),
            ("fact='it''s'", "character 6"),
            ('fact="a"b', "character 6"),
            ("fact=don't", "character 6"),
            ("fact=Hello. World", "character 11"),
            ('fact="a"."b"', "put the whole value in quotes"),
            ("tea - coffee", "character 5"),
            ("\n\nfact==a", "character 8"),
            ("fact!~a", "character 5"),
            ("fact!=(a OR b)", "write NOT fact"),
            ("metadata.n=(-1 OR 2)", "negative number"),
            ("fact=(fact=a)", "values alone"),
            ("create_time=20269901", "is a time"),
            ("done=maybe", "there is no field"),
            ('scope="' + "[" * 5000 + '"', "JSON"),
            ("x " * 501, "too much at once"),
            ('fact=~"(?:a?){1000}b" ' * 10, "too much at once"),
            ('fact=~"' + "(?:a?){1000}" * 600 + '"', "too large"),
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

    def test_a_choice_may_be_deep_and_not_too_deep(self) -> None:
        assert holds("fact:" + "(" * 2000 + "tea" + ")" * 2000)
        with pytest.raises(InvalidArgument, match="deep"):
            holds("fact:" + "(NOT " * 100 + "tea" + ")" * 100)

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
