"""From the first person to the third."""

from __future__ import annotations

import re

_PAST = frozenset(
    "was were had did went got made took came saw said told met left found gave bought brought thought felt kept "
    "knew grew ran began "
    "broke chose drank drove ate fell flew forgot held hurt led lost paid read rode sang sat slept spent spoke "
    "stood swam taught threw "
    "understood woke won wore wrote built caught cut dealt drew fought heard hit let put sent set sold shot shut "
    "stuck swore became "
    "could would should might must can will may shall cannot can't won't couldn't wouldn't didn't shouldn't "
    "used".split()
)
_ADVERB = frozenset(
    "also just really always never often usually mostly mainly still currently now recently already only finally "
    "actually sometimes rarely absolutely definitely".split()
)
_FIXED = {
    "am": "is", "have": "has", "don't": "doesn't", "don’t": "doesn't", "do": "does", "haven't": "hasn't", "go": "goes",
        "were":
        "was",
}  # fmt: skip
_SHORT = (
    (r"\bI['’]m\b", "I am"), (r"\bI['’]ve\b", "I have"), (r"\bI['’]ll\b", "I will"), (r"\bI['’]d\b", "I would"),
    (r"\bwe['’]re\b", "we are"), (r"\bwe['’]ve\b", "we have"), (r"\bwe['’]ll\b", "we will"), (r"\bI['’]?m not\b",
        "I am not"),
)  # fmt: skip
_QUOTE = re.compile(r"^The user said: «(?P<said>.*)»\.?$", re.DOTALL)
_FIRST = re.compile(r"\b(?:I|my|mine|myself|me|we|our|us)\b", re.IGNORECASE)


def third_person(fact: str, code: str) -> str:
    """English statements are rewritten about "the user"; what can't be rewritten is quoted, in its own words."""
    if code != "en":
        return f"The user said: «{fact}»"
    text = fact
    for short, full in _SHORT:
        text = re.sub(short, full, text, flags=re.IGNORECASE)
    text = re.sub(r"\b(?i:me and my)\b", "I and my", text)
    if not _FIRST.search(text):
        starts = text.split(" ", 1)[0].casefold()
        bare = (
            starts in _PAST
            or starts in ("gonna", "been", "just", "from", "always", "never", "please", "answer", "call")
            or starts.endswith("ing")
        )
        return f"The user said: «{fact}»" if bare else text
    return _rewritten(text)


def quoted(fact: str) -> str | None:
    """The inner words of a quoted statement, or None."""
    match = _QUOTE.match(fact.strip())
    return match["said"] if match else None


def _rewritten(text: str) -> str:
    words = text.split(" ")
    out: list[str] = []
    named = False
    conjugate = ""
    for word in words:
        core = word.strip(',.;:!?()"“”')
        low = core.casefold()
        if core not in ("I", "i") and low not in ("my", "mine", "me", "myself", "we", "our", "us", "ours"):
            if conjugate and low not in _ADVERB:
                word = word.replace(core, _conjugated(low, conjugate) or core, 1)
                conjugate = ""
            out.append(word)
            continue
        if low == "i":
            new, conjugate = ("they", "they") if named else ("the user", "he")
        elif low == "my":
            new = "their" if named else "the user's"
        elif low == "we":
            new, conjugate = ("they", "they") if named else ("the user and others", "they")
        elif low in ("our", "ours"):
            new = "their" if named else "the user's"
        else:
            new = {"me": "them" if named else "the user", "us": "them", "myself": "themselves", "mine": "theirs"}[low]
        named = True
        out.append(word.replace(core, new, 1))
    result = " ".join(out)
    return result[:1].upper() + result[1:]


def _conjugated(verb: str, person: str) -> str:
    if person == "they":
        return {"am": "are", "was": "were"}.get(verb, "")
    if verb in _FIXED:
        return _FIXED[verb]
    if verb in _PAST or verb.endswith("ed") or verb in ("and", "or") or not verb.isalpha():
        return ""
    if verb.endswith(("s", "sh", "ch", "x", "z")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"
