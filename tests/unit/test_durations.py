"""Durations: how they are read, written and refused."""

from __future__ import annotations

from datetime import timedelta

import pytest

from adk_memorybank.config import TtlConfig
from adk_memorybank.durations import format_duration, parse_duration
from adk_memorybank.errors import InvalidArgument


class TestDurations:
    @pytest.mark.parametrize(
        ("given", "seconds", "kept"),
        [
            ("3600s", 3600, "3600s"),
            ("0.5s", 0.5, "0.5s"),
            ("1.500000s", 1.5, "1.5s"),
            ("1.000001999s", 1.000001, "1.000001s"),
            ("+60s", 60, "60s"),
            (timedelta(hours=1), 3600, "3600s"),
            (timedelta(milliseconds=1500), 1.5, "1.5s"),
        ],
    )
    def test_spellings(self, given: str | timedelta, seconds: float, kept: str) -> None:
        duration = parse_duration(given, "ttl")
        assert duration == timedelta(seconds=seconds)
        assert format_duration(duration) == kept
        assert TtlConfig.parse({"default_ttl": given}).default_ttl == kept

    @pytest.mark.parametrize(
        "given",
        [
            *["", "3600", "1h", "s", "1.s", "١s", "0s", "-5s", "0.0000001s", "9" * 12 + "s", "9" * 99],
            *[3600, 1.5, True, None, timedelta(0), timedelta(seconds=-1), timedelta.max],
        ],
    )
    def test_wrong(self, given: object) -> None:
        with pytest.raises(InvalidArgument, match=r"^ttl: a duration is "):
            parse_duration(given, "ttl")

    def test_format_of_negative(self) -> None:
        assert format_duration(timedelta(seconds=-1.5)) == "-1.5s"

    def test_ttl_of_each_operation(self) -> None:
        one = TtlConfig(default_ttl="60s")
        minute = timedelta(minutes=1)
        assert one.ttl_of("create") == one.ttl_of("update") == one.ttl_of("generate_updated") == minute
        granular = TtlConfig.parse({"granular_ttl": {"createTtl": "60s", "generate_created_ttl": timedelta(hours=1)}})
        assert granular.ttl_of("create") == minute
        assert granular.ttl_of("generate_created") == timedelta(hours=1)
        assert granular.ttl_of("generate_updated") is None
        assert granular.ttl_of("update") is None
