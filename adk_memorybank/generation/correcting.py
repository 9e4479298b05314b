"""A statement put right by the fragment that corrects it: "at nine on Tuesday" and "I meant Thursday"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from adk_memorybank.generation.lexicon import Language

_TIME = (
    r"\d{1,2}(?:[:.h]\d{2})? ?(?:[ap]\.?m\b\.?|o['’]clock|uhr\b|h\b)|\d{1,2}[:.]\d{2}|\d{1,2}[時点點](?:半|\d{1,2}分)?"
)
_DAY = r"\d{4}-\d{2}-\d{2}|\d{1,2}(?:st|nd|rd|th|º)\b|\d{1,2}[日号號]"
_NUMBER = r"\d+(?:[.,:/-]\d+)*"
_NAME = r"(?<![.!?:] )(?<!^)[A-ZÀ-Þ][\w'’-]+"
_NOT = re.compile(
    r"(?:,? (?:and |but )?not|,? non|,? no|,? sino|,? pas|,? nicht|,? statt|,? instead of|,? rather than|,? em vez de"
    r"|，?不是|じゃなくて|ではなく)\s*(?P<old>[^,.!?;，。]{1,40})",
    re.IGNORECASE,
)
_NOT_FIRST = re.compile(r"^(?:[^,]{0,12}, ?)?(?P<old>\S{1,20}?)(?:じゃなくて|ではなく(?:て)?)", re.IGNORECASE)


def corrected(statement: str, fragment: str, lexicon: Language) -> str | None:
    """The statement with what the fragment gives anew; None where it gives nothing that the statement has one of."""
    denied = _NOT_FIRST.search(fragment) or _NOT.search(fragment)
    old = denied["old"].strip(" \"'“”«»") if denied else ""
    given = f"{fragment[: denied.start()]} {fragment[denied.end() :]}" if denied else fragment
    text = statement
    for pattern in _sorts(lexicon):
        said = [match[0] for match in re.finditer(pattern, given, re.IGNORECASE if pattern is not _NAME else 0)]
        if not said:
            continue
        places = list(re.finditer(pattern, text, re.IGNORECASE if pattern is not _NAME else 0))
        meant = [place for place in places if old and place[0].casefold() in old.casefold()] or places[:1]
        if meant:
            text = text[: meant[0].start()] + said[0] + text[meant[0].end() :]
            return text if text != statement else None
    if old and old.casefold() in text.casefold():
        new = re.split(r"[,.!?;，。]", given.strip(" ,.!?，。"))[-1].strip()
        at = text.casefold().index(old.casefold())
        return f"{text[:at]}{new}{text[at + len(old) :]}" if new else None
    return None


def _sorts(lexicon: Language) -> Iterator[str]:
    """What can take each other's place, the more telling first."""
    days = "|".join(re.escape(day) for day in sorted(lexicon.dates.weekdays, key=len, reverse=True))
    if days:
        yield rf"\b(?:{days})\b" if lexicon.spaced else rf"(?:{days})"
    yield _TIME
    yield _DAY
    yield _NUMBER
    if lexicon.spaced and lexicon.code != "de":
        yield _NAME
