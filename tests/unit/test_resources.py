"""Names, ids, scopes and typed metadata."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from adk_memorybank.errors import InvalidArgument
from adk_memorybank.options import GenerationOptions, MemoryOptions, MetadataMergeStrategy, RevisionOptions
from adk_memorybank.resources import (
    Memory,
    MetadataValue,
    Operation,
    Scope,
    bank_name,
    canonical_scope,
    clean_text,
    last_segment,
    metadata_from_json,
    metadata_to_json,
    new_id,
    scope_key,
    validate_bank_id,
    validate_memory_id,
    validate_scope,
)

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


class TestScope:
    @pytest.mark.parametrize(
        "scope",
        [
            {"user_id": "1"},
            {"app_name": "a/b", "user_id": "' OR 1=1 --"},
            {"user_id": '{"user_id": "1"}'},
            {"user_id": "👩🏽‍🚀 \u202e \n\t"},
            {"user_id": "x" * 4096},
            {str(number): "x" for number in range(5)},
        ],
    )
    def test_right(self, scope: Scope) -> None:
        assert validate_scope(scope) == scope

    @pytest.mark.parametrize(
        ("scope", "field"),
        [
            ({}, "scope"),
            ({str(number): "x" for number in range(6)}, "scope"),
            ({"user_id": ""}, "scope.user_id"),
            ({"": "1"}, "scope."),
            ({"user_id": "*"}, "scope.user_id"),
            ({"user_id": "a*b"}, "scope.user_id"),
            ({"user*": "1"}, "scope.user*"),
            ({"user_id": "a\0b"}, "scope.user_id"),
            ({"user_id": "\ud800"}, "scope.user_id"),
            ({"user_id": "x" * 4097}, "scope.user_id"),
            ({"user_id": "é" * 2049}, "scope.user_id"),
            ({"k" * 5000: "1"}, "scope." + "k" * 60),
            ({"user_id": 1}, "scope.user_id"),
            ({"user_id": None}, "scope.user_id"),
            ({1: "x"}, "scope.1"),
        ],
    )
    def test_wrong(self, scope: Scope, field: str) -> None:
        with pytest.raises(InvalidArgument) as raised:
            validate_scope(scope)
        assert raised.value.field == field

    def test_the_order_of_keys_means_nothing(self) -> None:
        one, other = {"a": "1", "b": "2"}, {"b": "2", "a": "1"}
        assert canonical_scope(one) == canonical_scope(other) == '{"a":"1","b":"2"}'

    scopes = st.dictionaries(st.text(min_size=1, max_size=9), st.text(min_size=1, max_size=9), max_size=4)

    @given(scopes, scopes)
    def test_different_scopes_have_different_keys(self, one: Scope, other: Scope) -> None:
        assert (scope_key(canonical_scope(one)) == scope_key(canonical_scope(other))) is (one == other)


class TestIds:
    @pytest.mark.parametrize("memory_id", ["a", "-", "_", "0", "A-b_9", "x" * 63])
    def test_memory_id(self, memory_id: str) -> None:
        assert validate_memory_id(memory_id) == memory_id

    @pytest.mark.parametrize("memory_id", ["", "a b", "a/b", "x" * 64, "é", "a\n", "\n", "a\0", "٣", "*", "a.b"])
    def test_wrong_memory_id(self, memory_id: str) -> None:
        with pytest.raises(InvalidArgument) as raised:
            validate_memory_id(memory_id)
        assert raised.value.field == "memory_id"

    @pytest.mark.parametrize("bank_id", ["default", "0", "My_bank-2", "x" * 63])
    def test_bank_id(self, bank_id: str) -> None:
        assert validate_bank_id(bank_id) == bank_id

    @pytest.mark.parametrize("bank_id", ["", "-a", "_a", "a/b", "..", "x" * 64, "a\n", "ä"])
    def test_wrong_bank_id(self, bank_id: str) -> None:
        with pytest.raises(InvalidArgument) as raised:
            validate_bank_id(bank_id)
        assert raised.value.field == "bank"

    def test_fresh_ids_are_as_the_managed_services(self) -> None:
        ids = {new_id() for _ in range(1_000)}
        assert len(ids) == 1_000
        assert all(len(one) == 19 and 10**18 <= int(one) < 2**63 for one in ids)
        assert all(validate_memory_id(one) for one in ids)

    @pytest.mark.parametrize(
        ("name", "last"),
        [
            ("7", "7"),
            ("projects/p/locations/l/reasoningEngines/b/memories/7", "7"),
            ("a/", ""),
            ("", ""),
            ("\ud800", "\ufffd"),
        ],
    )
    def test_last_segment(self, name: str, last: str) -> None:
        assert last_segment(name) == last

    def test_names(self) -> None:
        name = f"{bank_name('b')}/memories/7"
        assert name == "projects/local/locations/local/reasoningEngines/b/memories/7"
        assert Memory(name=name, fact="x", scope={"a": "1"}, create_time=NOW, update_time=NOW).id == "7"


class TestTexts:
    @pytest.mark.parametrize(
        ("text", "clean"),
        [
            ("plain", "plain"),
            ("a\0b", "a\ufffdb"),
            ("\ud800", "\ufffd"),
            ("\udfff\ud83d", "\ufffd\ufffd"),
            ("👩🏽‍🚀\u202e\n\t\x1b", "👩🏽‍🚀\u202e\n\t\x1b"),
        ],
    )
    def test_clean(self, text: str, clean: str) -> None:
        assert clean_text(text) == clean

    @given(st.text(st.characters(codec=None)))
    def test_what_is_clean_can_be_stored(self, text: str) -> None:
        clean = clean_text(text)
        assert clean.encode().decode() == clean
        assert "\0" not in clean
        assert len(clean) == len(text)


class TestMetadata:
    def test_the_wires_shape(self) -> None:
        metadata: dict[str, MetadataValue] = {"yes": True, "number": 2.5, "text": "x", "when": NOW}
        encoded = metadata_to_json(metadata)
        assert encoded == {
            "yes": {"boolValue": True},
            "number": {"doubleValue": 2.5},
            "text": {"stringValue": "x"},
            "when": {"timestampValue": "2026-01-01T12:00:00+00:00"},
        }
        assert metadata_from_json(encoded) == metadata

    values = st.one_of(st.booleans(), st.floats(allow_nan=False), st.text(), st.datetimes(timezones=st.just(UTC)))

    @given(st.dictionaries(st.text(), values))
    def test_there_and_back(self, metadata: dict[str, MetadataValue]) -> None:
        again = metadata_from_json(metadata_to_json(metadata))
        assert again == metadata
        assert {key: type(value) for key, value in again.items()} == {k: type(v) for k, v in metadata.items()}


class TestOptions:
    @pytest.mark.parametrize(
        ("cls", "fields", "field"),
        [
            (MemoryOptions, {"ttl": MINUTE, "expire_time": NOW}, "ttl"),
            (MemoryOptions, {"ttl": -MINUTE}, "ttl"),
            (MemoryOptions, {"expire_time": datetime.fromisoformat("0001-01-01T00:00:00+14:00")}, "expire_time"),
            (MemoryOptions, {"event_time": datetime.fromisoformat("9999-12-31T23:59:59-14:00")}, "event_time"),
            (MemoryOptions, {"tll": MINUTE}, "tll"),
            (MemoryOptions, {"metadata": {"a": float("nan")}}, "metadata"),
            (RevisionOptions, {"ttl": MINUTE, "expire_time": NOW}, "revision_ttl"),
            (GenerationOptions, {"metadata": {"a": float("inf")}}, "metadata"),
            (GenerationOptions, {"metadata_merge_strategy": "SOMEHOW"}, "metadata_merge_strategy"),
            (GenerationOptions, {"disable_consolidation": "perhaps"}, "disable_consolidation"),
        ],
    )
    def test_wrong(self, cls: type[Any], fields: dict[str, Any], field: str) -> None:
        with pytest.raises(InvalidArgument) as raised:
            cls(**fields)
        assert raised.value.field == field

    def test_times_are_kept_in_utc(self) -> None:
        options = MemoryOptions(
            expire_time=datetime.fromisoformat("2030-01-01T01:00:00+01:00"), event_time=NOW.replace(tzinfo=None)
        )
        assert options.expire_time == datetime(2030, 1, 1, tzinfo=UTC)
        assert options.event_time == NOW
        assert options.event_time is not None
        assert options.event_time.tzinfo is UTC

    def test_what_no_database_stores_is_replaced(self) -> None:
        memory = MemoryOptions(display_name="a\0", description="\ud800", author="\0", metadata={"\0": "\ud800"})
        assert (memory.display_name, memory.description, memory.author) == ("a\ufffd", "\ufffd", "\ufffd")
        assert memory.metadata == {"\ufffd": "\ufffd"}
        assert MemoryOptions(topics=("\ud800",)).topics == ("\ufffd",)
        assert GenerationOptions(allowed_topics=("\0",)).allowed_topics == ("\ufffd",)
        assert GenerationOptions(metadata={"\0": "\ud800"}).metadata == {"\ufffd": "\ufffd"}
        assert RevisionOptions(labels={"\0": "\ud800"}).labels == {"\ufffd": "\ufffd"}

    def test_there_and_back(self) -> None:
        options = GenerationOptions(
            metadata={"yes": True, "when": NOW},
            metadata_merge_strategy=MetadataMergeStrategy.OVERWRITE,
            allowed_topics=("USER_PREFERENCES",),
            revision=RevisionOptions(labels={"a": "b"}, ttl=MINUTE, disabled=True),
        )
        assert GenerationOptions.from_json(options.to_json()) == options

    def test_the_merge_strategy_is_that_of_the_call_where_unset(self) -> None:
        unset, strict = GenerationOptions(), MetadataMergeStrategy.REQUIRE_EXACT_MATCH
        assert GenerationOptions.from_json(unset.to_json()).metadata_merge_strategy is None
        assert unset.of_kind("generate").metadata_merge_strategy is MetadataMergeStrategy.MERGE
        assert unset.of_kind("ingest").metadata_merge_strategy is MetadataMergeStrategy.OVERWRITE
        assert GenerationOptions(metadata_merge_strategy=strict).of_kind("ingest").metadata_merge_strategy is strict


def test_resources_are_immutable_and_closed() -> None:
    memory = Memory(name="m/7", fact="x", scope={"a": "1"}, create_time=NOW, update_time=NOW)
    with pytest.raises(ValidationError):
        memory.fact = "y"  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(ValidationError):
        Memory(name="m/7", fact="x", scope={}, create_time=NOW, update_time=NOW, colour="red")  # pyright: ignore[reportCallIssue]


def test_an_operation_is_done_by_its_state() -> None:
    operation = Operation(
        name="o/1", kind="ingest", scope={"a": "1"}, state="pending", create_time=NOW, update_time=NOW
    )
    assert not operation.done
    assert operation.model_copy(update={"state": "done"}).done
