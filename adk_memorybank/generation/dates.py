"""Relative dates made absolute against the time at which they were said.

A small table per language rather than a date parser: parsers find dates in "may", "so" and ages, swallow the words
around them, and take a week for a day. Weeks and weekends become ranges, months and years stay what they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from functools import cache

from adk_memorybank.generation.lexicon import DateWords, Language, language
from adk_memorybank.generation.lexicon.language import Direction, Unit

_MOST = 3
_GIVEN = re.compile(r"\s*[(（]\s*(?:\d{4}|week of|[^\W\d]+ \d{4})")
_PAST = re.compile(
    r"\b(?:was|were|had|went|did|got|met|saw|came|took|made|left|bought|visited|had|ate|won|lost|gave|read|wrote|built|ran|spent|sold|drove|found"
    r"|(?!excited\b|need\b|supposed\b|scared\b|worried\b)\w{2,}ed)\b",
    re.IGNORECASE,
)
_FUTURE = re.compile(
    r"\b(?:will|going to|gonna|appointment|interview|meeting|exam|flight|leaving|flying|have to|need to|must"
    r"|deadline|due|can['’]t wait|looking forward|excited|supposed"
    r"|starts|plan(?:ning)?|booked|scheduled|(?:i|we)['’]ll|(?:i['’]?m|we['’]?re) \w+ing)\b",
    re.IGNORECASE,
)
_LONGEST_DISTANCE = 1000
_HUNDREDS = frozenset(
    "hundred thousand forty fifty sixty seventy eighty ninety and двадцать тридцать сорок сто".split()
)


def resolve(text: str, time: datetime | None, code: str) -> str:
    """The text with the absolute date in parentheses behind each relative one.

    Args:
        text: one sentence.
        time: when it was said; None leaves the text as it is.
        code: its language.
    """
    if time is None:
        return text
    today = time.date()
    lexicon = language(code)
    pieces: list[str] = []
    at = 0
    for match in _pattern(code).finditer(text):
        if len(pieces) >= 2 * _MOST:
            break
        try:
            said = _said(match, text, today, lexicon)
        except (OverflowError, ValueError):  # the calendar ends
            continue
        if not said or _GIVEN.match(text, match.end()):
            continue
        note = f"（{said}）" if not lexicon.spaced else f" ({said})"
        pieces += [text[at : match.end()], note]
        at = match.end()
    return "".join(pieces) + text[at:]


def spelled(day: date, code: str) -> str:
    """A day in figures and as the language says it, so that a question finds it by either."""
    lexicon = language(code)
    if not lexicon.spaced:
        return f"{day.isoformat()} {day.year}年{day.month}月{day.day}日"
    months = lexicon.dates.months
    return f"{day.isoformat()} {day.day} {months[day.month - 1] if months else day.month} {day.year}"


@cache
def _pattern(code: str) -> re.Pattern[str]:
    lexicon = language(code)
    table = lexicon.dates
    edge = (r"(?<![\w'’-])", r"(?![\w-])") if lexicon.spaced and code not in ("ko", "ru") else ("", "")
    # Of a longer number the last part says something else.
    before = (
        ""
        if lexicon.spaced and code != "ko"
        else rf"(?<![{''.join(sorted(set(''.join(table.numbers))))}百千万億亿半数几零〇])"
    )
    number, unit = rf"(?<!\d)(?<!\d[.,]){before}(?:\d{{1,3}}|{_any(table.numbers)})(?!\d)", _any(table.units)
    weekday = _any(table.weekdays)
    named = "|".join(
        f"(?P<{direction}{n}>{form.replace('{weekday}', f'(?:{weekday})')})"
        for n, (form, direction) in enumerate(table.named)
    )
    parts = [
        f"(?P<ago>{table.ago.replace('{n}', number).replace('{unit}', f'(?:{unit})')})",
        f"(?P<ahead>{table.ahead.replace('{n}', number).replace('{unit}', f'(?:{unit})')})",
        named,
        f"(?P<span>{_any(table.spans)})",
        f"(?P<day>{_any(table.days)})",
    ]
    if code == "en":
        parts.append(f"(?P<bare>on (?:{weekday}))")
    return re.compile(f"{edge[0]}(?:{'|'.join(parts)}){edge[1]}", re.IGNORECASE)


def _any(words: Mapping[str, object]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def _said(match: re.Match[str], text: str, today: date, lexicon: Language) -> str:
    """The absolute date that a relative one means; empty where it can't be told."""
    table = lexicon.dates
    kind, phrase = next((name, value) for name, value in match.groupdict().items() if value)
    low = phrase.casefold()
    if kind == "day":
        if low == "morgen" and re.search(r"\b(?:guten|am|jeden)\s*$", text[: match.start()], re.IGNORECASE):
            return ""
        if low == "mañana" and re.search(r"\b(?:la|por la|de la|cada)\s*$", text[: match.start()], re.IGNORECASE):
            return ""
        return (today + timedelta(days=table.days[low])).isoformat()
    if kind == "span":
        unit, offset = table.spans[low]
        return _span(today, unit, offset, table, lexicon)
    if kind in ("ago", "ahead"):
        if _is_longer(text[: match.start()], table):
            return ""
        return _distance(low, -1 if kind == "ago" else 1, today, lexicon, text)
    weekday = next(day for name, day in sorted(table.weekdays.items(), key=lambda item: -len(item[0])) if name in low)
    if kind == "bare":
        direction: Direction | None = "last" if _PAST.search(text) else "next" if _FUTURE.search(text) else None
        return _weekday(today, weekday, direction, weekly=False).isoformat() if direction else ""
    named: Direction = "last" if kind.startswith("last") else "next" if kind.startswith("next") else "this"
    return _weekday(today, weekday, named, weekly=not lexicon.spaced).isoformat()


def _weekday(today: date, weekday: int, direction: Direction, *, weekly: bool) -> date:
    """`weekly`: the language counts by weeks (下周五 is the Friday of next week), else by nearness."""
    if weekly:
        monday = today - timedelta(days=today.weekday())
        return monday + timedelta(days=weekday + {"last": -7, "this": 0, "next": 7}[direction])
    ahead = (weekday - today.weekday()) % 7
    if direction == "last":
        return today - timedelta(days=(today.weekday() - weekday) % 7 or 7)
    return today + timedelta(days=ahead if direction == "this" else ahead or 7)


def _distance(phrase: str, sign: int, today: date, lexicon: Language, text: str) -> str:
    table = lexicon.dates
    digits = re.search(r"\d+", phrase)
    if digits:
        number = int(digits[0])
    else:
        names = [name for name in table.numbers if re.search(_bounded(name, lexicon), phrase)]
        if not names:
            return ""
        number = table.numbers[max(names, key=len)]
    units = [name for name in table.units if re.search(_bounded(name, lexicon), phrase)]
    if not units or number > _LONGEST_DISTANCE:
        return ""
    if (
        sign > 0
        and lexicon.code == "en"
        and phrase.startswith(("in ", "within "))
        and _PAST.search(text)
        and not _FUTURE.search(text)
    ):
        return ""  # "I read it in two days" is how long it took
    unit = table.units[max(units, key=len)]
    return _span(today, unit, sign * number, table, lexicon)


def _is_longer(before: str, table: DateWords) -> bool:
    """Whether the number in front is the end of a longer one ("twenty two years ago")."""
    last = re.search(r"([^\W_]+)\s+$", before)
    return (
        bool(last) and (last[1].isdigit() or table.numbers.get(last[1].casefold(), 0) > 9 or last[1] in _HUNDREDS)
        if last
        else False
    )


def _bounded(name: str, lexicon: Language) -> str:
    return rf"(?<!\w){re.escape(name)}(?!\w)" if lexicon.spaced and lexicon.code != "ko" else re.escape(name)


def _span(today: date, unit: Unit, offset: int, table: DateWords, lexicon: Language) -> str:
    monday = today - timedelta(days=today.weekday())
    if unit == "day":
        return (today + timedelta(days=offset)).isoformat()
    if unit == "week":
        start = monday + timedelta(weeks=offset)
        if lexicon.code == "en":
            return f"in the week of {start.isoformat()}"
        return f"{start.isoformat()}/{(start + timedelta(days=6)).isoformat()}"
    if unit == "weekend":
        start = monday + timedelta(weeks=offset, days=5)
        return f"{start.isoformat()}/{(start + timedelta(days=1)).isoformat()}"
    if unit == "year":
        date(today.year + offset, 1, 1)
        return f"{today.year + offset}年" if not lexicon.spaced else str(today.year + offset)
    months = today.year * 12 + today.month - 1 + offset
    year, month = divmod(months, 12)
    date(year, 1, 1)
    if lexicon.code in ("ja", "zh"):
        return f"{year}年{month + 1}月"
    return f"{table.months[month]} {year}" if table.months else f"{year}-{month + 1:02d}"
