"""Filter groups over metadata: typed, joined by OR and AND, and refused by the place of what is wrong."""

from __future__ import annotations

import importlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_memorybank.errors import InvalidArgument
from adk_memorybank.resources import Memory, MetadataValue
from adk_memorybank.retrieval.filter_groups import read_filter_groups
from tests.requires import requires

MAY = datetime(2026, 5, 1, tzinfo=UTC)


def memory(**metadata: MetadataValue) -> Memory:
    return Memory(
        name="projects/p/locations/l/reasoningEngines/b/memories/1",
        fact="I like green tea",
        scope={"user_id": "123"},
        metadata=metadata,
        create_time=MAY,
        update_time=MAY,
    )


class TestGroups:
    ONE = memory(s="x", n=2.0, b=True, t=MAY + timedelta(milliseconds=400))

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
            ([{"filters": [{"key": "k", "value": "x", "op": 4}]}], "filter_groups[0].filters[0].op"),
            ([{"filters": [{"key": "k", "value": "x", "operator": 2}]}], "filter_groups[0].filters[0].operator"),
            ([{"filters": [{"key": "k", "value": "x"}], "negate": True}], "filter_groups[0].negate"),
            (
                [{"filters": [{"key": "k", "value": {"stringValue": "x", "boolValue": True}}]}],
                "filter_groups[0].filters[0].value",
            ),
            (
                [{"filters": [{"key": "k", "value": {"timestampValue": "soon"}}]}],
                "filter_groups[0].filters[0].value.timestamp_value",
            ),
            ({"filters": [{"key": "k", "value": "x"}]}, "filter_groups"),
            ([None], "filter_groups[0].filters"),
        ],
    )
    def test_wrong(self, groups: Any, field: str) -> None:
        with pytest.raises(InvalidArgument) as raised:
            read_filter_groups(groups)
        assert raised.value.field == field

    @requires("agentplatform")
    def test_objects_of_the_official_client(self) -> None:
        official: Any = importlib.import_module(importlib.import_module("agentplatform").types.__name__)
        for value, expected in [({"string_value": "x"}, True), ({"timestamp_value": MAY}, False)]:
            one = official.MemoryFilter(key="s", value=official.MemoryMetadataValue(**value))
            assert read_filter_groups([official.MemoryConjunctionFilter(filters=[one])])(self.ONE) is expected
        after = official.MemoryFilter(
            key="t",
            value=official.MemoryMetadataValue(timestamp_value=MAY - timedelta(seconds=1)),
            op=official.Operator.GREATER_THAN,
            negate=True,
        )
        assert not read_filter_groups([{"filters": [after]}])(self.ONE)


values: st.SearchStrategy[MetadataValue] = st.one_of(
    st.booleans(),
    st.sampled_from([-1.0, 0.0, 1.0, 1.5]),
    st.sampled_from(["", "a", "b", "1", "true"]),
    st.sampled_from([MAY, MAY + timedelta(milliseconds=900), MAY + timedelta(seconds=1)]),
)


def kind_of(value: object) -> str:
    return next(
        name
        for name, types in {"bool": bool, "double": float, "string": str, "timestamp": datetime}.items()
        if isinstance(value, types)
    )


def meant(condition: dict[str, Any], metadata: dict[str, MetadataValue]) -> bool:
    """A filter as the reference has it, in other words than the package's."""
    found, wanted = metadata.get(condition["key"]), condition["value"]
    matches = found is not None and kind_of(found) == kind_of(wanted)
    if matches:
        if isinstance(found, datetime) and isinstance(wanted, datetime):
            found, wanted = found.replace(microsecond=0), wanted.replace(microsecond=0)
        if isinstance(found, bool):
            matches = condition["op"] == "EQUAL" and found == wanted
        else:
            left: Any = found
            matches = {"EQUAL": left == wanted, "GREATER_THAN": left > wanted, "LESS_THAN": left < wanted}[
                condition["op"]
            ]
    return matches is not condition["negate"]


def spelled(condition: dict[str, Any], data: st.DataObject) -> dict[str, Any]:
    """The same condition in one of the spellings that clients use."""
    value = condition["value"]
    kind = kind_of(value)
    typed = value.isoformat() if isinstance(value, datetime) else value
    said: dict[str, Any] = {
        "key": condition["key"],
        "value": data.draw(st.sampled_from([value, {f"{kind}_value": typed}, {f"{kind}Value": typed}])),
    }
    names = ["OPERATOR_UNSPECIFIED", "EQUAL", "GREATER_THAN", "LESS_THAN"]
    op = condition["op"]
    if op != "EQUAL" or data.draw(st.booleans()):
        said["op"] = data.draw(st.sampled_from([op, op.lower(), names.index(op)]))
    if condition["negate"] or data.draw(st.booleans()):
        said["negate"] = condition["negate"]
    return said


conditions = st.fixed_dictionaries(
    {
        "key": st.sampled_from(["k", "user id"]),
        "value": values,
        "op": st.sampled_from(["EQUAL", "GREATER_THAN", "LESS_THAN"]),
        "negate": st.booleans(),
    }
)


@given(
    st.lists(st.lists(conditions, min_size=1, max_size=3), min_size=1, max_size=3),
    st.dictionaries(st.sampled_from(["k", "user id"]), values),
    st.data(),
)
def test_no_group_is_read_differently_from_its_meaning(
    groups: list[list[dict[str, Any]]], metadata: dict[str, MetadataValue], data: st.DataObject
) -> None:
    said = [{"filters": [spelled(condition, data) for condition in group]} for group in groups]
    expected = any(all(meant(condition, metadata) for condition in group) for group in groups)
    assert read_filter_groups(said)(memory(**metadata)) is expected, said
