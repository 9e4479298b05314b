"""Durations as the managed service writes them: seconds with an `s`, such as `"3600s"` or `"0.5s"`."""

from __future__ import annotations

import re
from datetime import timedelta

from adk_memorybank.errors import InvalidArgument

# A far enough horizon. Beyond it, `now + duration` would leave the range of datetime (the year 9999) sooner or later.
MAX_DURATION = timedelta(days=365_250)

_DURATION = re.compile(r"([+-]?)([0-9]{1,12})(?:\.([0-9]{1,9}))?s")


def parse_duration(value: object, field: str = "") -> timedelta:
    """Reads a duration.

    Args:
        value: `"3600s"`, with decimals down to the microsecond if need be, or a timedelta.
        field: where it stands in the input, for the error.

    Returns:
        The duration, longer than zero.

    Raises:
        InvalidArgument: if it can't be read, is not positive, or is longer than 1,000 years.
    """
    if isinstance(value, timedelta):
        duration = value
    elif isinstance(value, str):
        match = _DURATION.fullmatch(value.strip())
        if match is None:
            raise InvalidArgument(
                f'a duration is written in seconds, such as "3600s", not {_short(value)}', field=field
            )
        sign, seconds, fraction = match.groups()
        microseconds = int((fraction or "").ljust(6, "0")[:6])
        # The pattern's twelve digits keep this within a timedelta's reach.
        duration = timedelta(seconds=int(seconds), microseconds=microseconds)
        duration = -duration if sign == "-" else duration
    elif isinstance(value, int | float) and not isinstance(value, bool):
        raise InvalidArgument(f'a duration is a string with its unit: write "{value}s"', field=field)
    else:
        kind = type(value).__name__
        raise InvalidArgument(f'a duration is a string such as "3600s" or a timedelta, not {kind}', field=field)
    if duration <= timedelta(0):
        raise InvalidArgument(f"a duration is longer than zero, not {_short(value)}", field=field)
    if duration > MAX_DURATION:
        raise InvalidArgument(f"a duration is at most 1,000 years, not {_short(value)}", field=field)
    return duration


def format_duration(duration: timedelta) -> str:
    """The one spelling in which durations are kept: `"3600s"`, with decimals only where there are any."""
    microseconds = duration // timedelta(microseconds=1)
    sign = "-" if microseconds < 0 else ""
    seconds, fraction = divmod(abs(microseconds), 1_000_000)
    decimals = f".{fraction:06d}".rstrip("0") if fraction else ""
    return f"{sign}{seconds}{decimals}s"


def _short(value: object) -> str:
    text = str(value) if isinstance(value, timedelta) else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
