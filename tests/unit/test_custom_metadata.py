"""ADK's `custom_metadata`, key by key."""

from __future__ import annotations

import logging
from datetime import UTC, date, datetime, timedelta
from types import MappingProxyType
from typing import Any

import pytest
from google.genai import types

from adk_memorybank.custom_metadata import (
    OWN_KEY,
    entry_texts,
    events_request,
    is_consolidation_enabled,
    memory_options,
    tell_left_out,
)
from adk_memorybank.errors import InvalidArgument
from adk_memorybank.options import GenerationOptions, MemoryOptions, MetadataMergeStrategy, RevisionOptions
from tests.adk import entry

LOGGER = "google_adk.adk_memorybank.custom_metadata"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
RULE = {"generation_rule": {"idle_duration": "60s"}}


class Colour:
    def __str__(self) -> str:
        return "red\ud800"


METADATA: list[tuple[object, object]] = [
    (True, True),
    (False, False),
    (3, 3.0),
    (2.5, 2.5),
    ("", ""),
    ("text", "text"),
    ("a\0\ud800", "a\ufffd\ufffd"),
    (NOON, NOON),
    (NOON.replace(tzinfo=None), NOON),
    (datetime.fromisoformat("2026-01-01T13:00:00+01:00"), NOON),
    (date(2026, 1, 1), "2026-01-01"),
    ([1, "a"], "[1, 'a']"),
    (b"x", "b'x'"),
    (Colour(), "red\ufffd"),
    ({"bool_value": True}, True),
    ({"double_value": 3}, 3.0),
    ({"string_value": "x"}, "x"),
    ({"timestamp_value": "2026-01-01T12:00:00Z"}, NOON),
    ({"timestamp_value": NOON}, NOON),
    ({"string_value": "x", "more": 1}, "{'string_value': 'x', 'more': 1}"),
    ({"other": 1}, "{'other': 1}"),
    ({}, "{}"),
    (MappingProxyType({"bool_value": False}), False),
]

WRONG_EVERYWHERE: list[tuple[dict[str, Any], str]] = [
    ({"ttl": "1h"}, "custom_metadata.ttl"),
    ({"ttl": 60}, "custom_metadata.ttl"),
    ({"ttl": "-60s"}, "custom_metadata.ttl"),
    ({"ttl": timedelta(0)}, "custom_metadata.ttl"),
    ({"revision_ttl": "soon"}, "custom_metadata.revision_ttl"),
    ({"revision_expire_time": "soon"}, "custom_metadata.revision_expire_time"),
    ({"revision_expire_time": 7}, "custom_metadata.revision_expire_time"),
    ({"revision_expire_time": "0001-01-01T00:00:00+14:00"}, "custom_metadata.revision_expire_time"),
    ({"revision_ttl": "60s", "revision_expire_time": NOON}, "revision_ttl"),
    ({"revision_labels": "a"}, "custom_metadata.revision_labels"),
    ({"revision_labels": {"a": 1}}, "custom_metadata.revision_labels"),
    ({"revision_labels": {1: "a"}}, "custom_metadata.revision_labels"),
    ({"disable_memory_revisions": "true"}, "custom_metadata.disable_memory_revisions"),
    ({"disable_memory_revisions": 1}, "custom_metadata.disable_memory_revisions"),
    ({"metadata": "a"}, "custom_metadata.metadata"),
    ({"metadata": [("a", "b")]}, "custom_metadata.metadata"),
    ({"n": 10**400}, "custom_metadata.n"),
    ({"n": float("nan")}, "custom_metadata.n"),
    ({"metadata": {"n": float("-inf")}}, "custom_metadata.n"),
    ({"when": {"timestamp_value": "soon"}}, "custom_metadata.when"),
    ({"when": {"timestamp_value": 7}}, "custom_metadata.when"),
    ({"when": datetime.fromisoformat("9999-12-31T23:59:59-14:00")}, "custom_metadata.when"),
    ({"metadata": {OWN_KEY: "mine"}}, f"custom_metadata.{OWN_KEY}"),
    ({OWN_KEY: "mine"}, f"custom_metadata.{OWN_KEY}"),
]


class TestEvents:
    @pytest.mark.parametrize("given", [None, {}, {"ttl": None, "stream_id": None, "colour": None}])
    def test_nothing_given(self, given: dict[str, object] | None) -> None:
        request = events_request(given)
        assert request.options == GenerationOptions()
        assert (request.stream_id, request.force_flush, request.trigger, request.wait) == ("", False, None, False)

    def test_keys_of_a_stream(self) -> None:
        request = events_request({"stream_id": "s", "force_flush": True, "generation_trigger_config": RULE})
        assert (request.stream_id, request.force_flush, request.trigger) == ("s", True, RULE)
        assert request.options == GenerationOptions()

    @pytest.mark.parametrize(
        "given",
        [
            {"ttl": "60s"},
            {"revision_ttl": "60s"},
            {"revision_expire_time": NOON},
            {"revision_labels": {"a": "b"}},
            {"disable_memory_revisions": True},
            {"metadata": {"a": "b"}},
            {"metadata_merge_strategy": "OVERWRITE"},
            {"wait_for_completion": True},
            {"disable_consolidation": True},
            {"allowed_topics": ["USER_PREFERENCES"]},
            {"http_options": {}},
        ],
    )
    def test_what_only_a_generation_understands_asks_for_one_now(self, given: dict[str, object]) -> None:
        request = events_request(given)
        assert (request.at_once, request.force_flush) == (True, False)
        assert not events_request({**given, "generation_trigger_config": RULE}).at_once

    def test_a_key_of_ones_own_asks_for_nothing(self) -> None:
        request = events_request({"colour": "red"})
        assert (request.at_once, request.force_flush) == (False, False)
        assert request.options.metadata == {"colour": "red"}

    @pytest.mark.parametrize(
        ("given", "ttl", "expire_time"),
        [
            ({"ttl": "60s"}, MINUTE, None),
            ({"ttl": MINUTE}, MINUTE, None),
            ({"revision_ttl": "60s"}, MINUTE, None),
            ({"ttl": "7s", "revision_ttl": "60s"}, MINUTE, None),
            ({"ttl": "7s", "revision_expire_time": "2026-01-01T12:00:00Z"}, None, NOON),
            ({"revision_expire_time": NOON}, None, NOON),
            ({"revision_ttl": None, "ttl": "60s"}, MINUTE, None),
        ],
    )
    def test_ttl_is_that_of_the_revisions(
        self, given: dict[str, object], ttl: timedelta | None, expire_time: datetime | None
    ) -> None:
        assert events_request(given).options.revision == RevisionOptions(ttl=ttl, expire_time=expire_time)

    def test_revisions(self) -> None:
        given = {"revision_labels": {"source": "321", "a\0": "\ud800"}, "disable_memory_revisions": True}
        assert events_request(given).options.revision == RevisionOptions(
            labels={"source": "321", "a\ufffd": "\ufffd"}, disabled=True
        )
        assert events_request({"disable_memory_revisions": False}).options.revision.disabled is False
        assert events_request({}).options.revision.disabled is None

    @pytest.mark.parametrize("strategy", list(MetadataMergeStrategy))
    def test_merge_strategies(self, strategy: MetadataMergeStrategy) -> None:
        for spelling in (strategy, strategy.value, strategy.lower()):
            assert events_request({"metadata_merge_strategy": spelling}).options.metadata_merge_strategy is strategy

    @pytest.mark.parametrize(
        ("given", "names"),
        [
            (["USER_PREFERENCES", "coffee-likes"], ("USER_PREFERENCES", "coffee-likes")),
            (["user_preferences"], ("USER_PREFERENCES",)),
            (({"managed_memory_topic": "USER_PREFERENCES"},), ("USER_PREFERENCES",)),
            ([{"managedMemoryTopic": "USER_PREFERENCES"}], ("USER_PREFERENCES",)),
            ([{"custom_memory_topic_label": "coffee-likes"}], ("coffee-likes",)),
            ([], None),
        ],
    )
    def test_allowed_topics(self, given: object, names: tuple[str, ...] | None) -> None:
        assert events_request({"allowed_topics": given}).options.allowed_topics == names

    @pytest.mark.parametrize(("value", "kept"), METADATA)
    def test_typed_metadata(self, value: object, kept: object) -> None:
        for given in ({"key": value}, {"metadata": {"key": value}}):
            metadata = events_request(given).options.metadata
            assert metadata == {"key": kept}
            assert type(metadata["key"]) is type(kept)

    def test_a_key_of_its_own_goes_before_the_same_in_metadata(self) -> None:
        assert events_request({"a": 1, "metadata": {"a": 2, "b": 3}}).options.metadata == {"a": 1.0, "b": 3.0}

    @pytest.mark.parametrize(
        "given",
        [{"colour": None}, {"metadata": {"colour": None}}, {"colour": {"string_value": None}}, {"metadata": None}],
    )
    def test_none_is_passed_over_with_a_warning(
        self, given: dict[str, object], caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.WARNING, logger=LOGGER):
            assert events_request(given).options.metadata == {}
        (record,) = caplog.records
        assert next(iter(given)) in record.message or "colour" in record.message

    def test_http_options_have_no_meaning_and_are_told(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.INFO, logger=LOGGER):
            assert events_request({"http_options": {"timeout": 1}}).options == GenerationOptions()
        assert "http_options" in caplog.text

    @pytest.mark.parametrize("value", [{"topics": []}, {}])
    def test_what_a_result_carried_is_no_metadata(self, value: object) -> None:
        assert events_request({OWN_KEY: value}).options.metadata == {}

    @pytest.mark.parametrize(
        ("given", "field"),
        [
            *WRONG_EVERYWHERE,
            ({"stream_id": 7}, "custom_metadata.stream_id"),
            ({"force_flush": "yes"}, "custom_metadata.force_flush"),
            ({"wait_for_completion": 1}, "custom_metadata.wait_for_completion"),
            ({"disable_consolidation": "no"}, "custom_metadata.disable_consolidation"),
            ({"metadata_merge_strategy": "SOMEHOW"}, "custom_metadata.metadata_merge_strategy"),
            ({"metadata_merge_strategy": 7}, "custom_metadata.metadata_merge_strategy"),
            ({"allowed_topics": "USER_PREFERENCES"}, "custom_metadata.allowed_topics"),
            ({"allowed_topics": 7}, "custom_metadata.allowed_topics"),
            ({"allowed_topics": [7]}, "custom_metadata.allowed_topics[0]"),
            ({"allowed_topics": ["a", ""]}, "custom_metadata.allowed_topics[1].custom_memory_topic_label"),
            ({"allowed_topics": [{}]}, "custom_metadata.allowed_topics[0]"),
        ],
    )
    def test_wrong(self, given: dict[str, object], field: str) -> None:
        with pytest.raises(InvalidArgument) as raised:
            events_request(given)
        assert raised.value.field == field


class TestMemories:
    def test_nothing_given(self) -> None:
        assert memory_options(entry("x"), None, index=0) == MemoryOptions()

    def test_every_key(self) -> None:
        given = {
            "memory_id": "chosen",
            "display_name": "Name",
            "description": "Words",
            "topics": ["user_preferences", {"custom_memory_topic_label": "coffee"}],
            "ttl": "60s",
            "revision_ttl": "7s",
            "revision_labels": {"source": "321"},
            "disable_memory_revisions": True,
            "metadata": {"a": 1, "b": True},
            "colour": "red",
            "wait_for_completion": True,
            "enable_consolidation": False,
        }
        assert memory_options(entry("x"), given, index=0) == MemoryOptions(
            memory_id="chosen",
            display_name="Name",
            description="Words",
            topics=("USER_PREFERENCES", "coffee"),
            ttl=MINUTE,
            metadata={"a": 1.0, "b": True, "colour": "red"},
            revision=RevisionOptions(labels={"source": "321"}, ttl=timedelta(seconds=7), disabled=True),
        )

    def test_keys_that_only_events_have_are_metadata_here(self) -> None:
        given = {"stream_id": "s", "force_flush": True, "allowed_topics": ["a"]}
        assert memory_options(entry("x"), given, index=0).metadata == {
            "stream_id": "s",
            "force_flush": True,
            "allowed_topics": "['a']",
        }

    def test_expire_time(self) -> None:
        assert memory_options(entry("x"), {"expire_time": "2026-01-01T12:00:00"}, index=0).expire_time == NOON

    def test_the_entrys_own_goes_first(self) -> None:
        own = entry("x", custom_metadata={"colour": "red", "ttl": "60s", "metadata": {"a": 1}})
        options = memory_options(own, {"colour": "blue", "size": 3, "ttl": "7s", "metadata": {"b": 2}}, index=0)
        assert options.metadata == {"colour": "red", "size": 3.0, "a": 1.0}
        assert options.ttl == MINUTE

    @pytest.mark.parametrize(
        ("entry_id", "given", "kept"),
        [
            ("of-the-entry", {}, "of-the-entry"),
            ("of-the-entry", {"memory_id": "of-the-call"}, "of-the-call"),
            (None, {"memory_id": "of-the-call"}, "of-the-call"),
            ("x" * 63, {}, "x" * 63),
            ("x" * 64, {}, None),
            ("a/b", {}, None),
            ("", {}, None),
            ("\ud800", {}, None),
        ],
    )
    def test_id(self, entry_id: str | None, given: dict[str, object], kept: str | None) -> None:
        assert memory_options(entry("x", id=entry_id), given, index=0).memory_id == kept

    def test_an_id_that_cannot_be_kept_is_told(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.INFO, logger=LOGGER):
            memory_options(entry("x", id="a/b"), None, index=4)
        assert "memories[4].id" in caplog.text

    def test_author_and_timestamp_are_labels_of_the_revision(self) -> None:
        options = memory_options(
            entry("x", author="ann", timestamp="2026-01-01T13:00:00+01:00"),
            {"revision_labels": {"author": "other", "source": "321"}},
            index=0,
        )
        assert options.revision.labels == {
            "author": "ann",
            "source": "321",
            "timestamp": "2026-01-01T13:00:00+01:00",
        }
        assert (options.author, options.event_time) == ("ann", NOON)

    @pytest.mark.parametrize("timestamp", ["yesterday", "", "\ud800", "0001-01-01T00:00:00+14:00"])
    def test_a_timestamp_may_be_any_text(self, timestamp: str) -> None:
        options = memory_options(entry("x", timestamp=timestamp), None, index=0)
        assert options.event_time is None
        options.revision.labels["timestamp"].encode()

    @pytest.mark.parametrize(("value", "kept"), METADATA)
    def test_typed_metadata(self, value: object, kept: object) -> None:
        assert memory_options(entry("x", custom_metadata={"key": value}), None, index=0).metadata == {"key": kept}

    def test_what_a_result_carried_is_no_metadata(self) -> None:
        carried = entry("x", custom_metadata={"colour": "red", OWN_KEY: {"topics": ["USER_PREFERENCES"]}})
        assert memory_options(carried, None, index=0).metadata == {"colour": "red"}

    @pytest.mark.parametrize(
        ("given", "field"),
        [
            *WRONG_EVERYWHERE,
            ({"memory_id": 7}, "custom_metadata.memory_id"),
            ({"display_name": 7}, "custom_metadata.display_name"),
            ({"description": b"x"}, "custom_metadata.description"),
            ({"topics": "USER_PREFERENCES"}, "custom_metadata.topics"),
            ({"topics": [{"managed_memory_topic": "NO_SUCH"}]}, "custom_metadata.topics[0].managed_memory_topic"),
            ({"expire_time": "soon"}, "custom_metadata.expire_time"),
            ({"ttl": "60s", "expire_time": NOON}, "ttl"),
        ],
    )
    def test_wrong(self, given: dict[str, object], field: str) -> None:
        for call in (
            lambda: memory_options(entry("x"), given, index=0),
            lambda: memory_options(entry("x", custom_metadata=given), None, index=0),
        ):
            with pytest.raises(InvalidArgument) as raised:
                call()
            assert raised.value.field == field


class TestConsolidation:
    @pytest.mark.parametrize(
        ("given", "enabled"),
        [
            (None, False),
            ({}, False),
            ({"enable_consolidation": None}, False),
            ({"enable_consolidation": False}, False),
            ({"enable_consolidation": True}, True),
        ],
    )
    def test_flag(self, given: dict[str, object] | None, enabled: bool) -> None:
        assert is_consolidation_enabled(given) is enabled

    @pytest.mark.parametrize("value", [1, 0, "true", [], {}])
    def test_no_bool(self, value: object) -> None:
        with pytest.raises(TypeError, match="must be a bool"):
            is_consolidation_enabled({"enable_consolidation": value})

    def test_it_is_no_metadata(self) -> None:
        assert events_request({"enable_consolidation": True}).options.metadata == {}

    def test_what_has_no_place_is_told(self, caplog: pytest.LogCaptureFixture) -> None:
        tell_left_out([entry("x"), entry("y", custom_metadata={OWN_KEY: {}})])
        assert caplog.text == ""
        tell_left_out([entry("x", id="7"), entry("y", custom_metadata={"colour": "red"})])
        assert "custom_metadata, id of the entries are passed over" in caplog.text


class TestTexts:
    def test_parts_are_joined(self) -> None:
        one = entry(" One. ")
        one.content.parts = [types.Part(text=" One. "), types.Part(text="\n"), types.Part(text="Two.")]
        assert entry_texts([one, entry("Three.")]) == ["One.\nTwo.", "Three."]

    @pytest.mark.parametrize("wrong", ["text", 7, None, {"a": 1}, iter([])])
    def test_no_sequence(self, wrong: Any) -> None:
        with pytest.raises(TypeError, match="sequence of memory items"):
            entry_texts(wrong)

    @pytest.mark.parametrize("wrong", [[entry("x"), "text"], [entry("x"), None], [entry("x"), {"content": "x"}]])
    def test_no_entry(self, wrong: Any) -> None:
        with pytest.raises(TypeError, match=r"memories\[1\] must be a MemoryEntry"):
            entry_texts(wrong)

    @pytest.mark.parametrize(
        ("parts", "said"),
        [
            (None, "non-whitespace"),
            ([], "non-whitespace"),
            ([types.Part(text=" \n")], "non-whitespace"),
            ([types.Part.from_function_call(name="f", args={})], "non-whitespace"),
            ([types.Part(text="x"), types.Part.from_bytes(data=b"x", mime_type="image/png")], "text only"),
            ([types.Part(text="x"), types.Part.from_uri(file_uri="gs://a", mime_type="a/b")], "text only"),
        ],
    )
    def test_no_text(self, parts: list[types.Part] | None, said: str) -> None:
        wrong = entry("x")
        wrong.content.parts = parts
        with pytest.raises(ValueError, match=said) as raised:
            entry_texts([entry("x"), wrong])
        assert isinstance(raised.value, InvalidArgument)
        assert raised.value.field == "memories[1]"

    def test_none_at_all(self) -> None:
        with pytest.raises(InvalidArgument) as raised:
            entry_texts([])
        assert raised.value.field == "memories"
