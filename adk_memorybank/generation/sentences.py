"""From a turn's text to the sentences and clauses that can be facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from adk_memorybank.generation.lexicon import Language

_BLOCKS = (
    # What recall put in front of the model, what was pasted, and keys: none of it is said by the user.
    ("<PAST_CONVERSATIONS>", "</PAST_CONVERSATIONS>"),
    ("```", "```"),
    ("-----BEGIN ", "-----END "),
)
_END = re.compile(
    r"[。！？｡]+[」』”’)）]*"
    r"|[.!?…]+(?:[\"'”’»)\]]|:\))*(?=\s|$|[\U0001F300-\U0001FAFF])"
    r"|[\n\r]+|;\s|(?<=[\w.!?] )[\U0001F300-\U0001FAFF\u2600-\u27bf\ufe0f]+"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:mr|mrs|ms|dr|prof|st|jr|sr|vs|etc|e\.g|i\.e|approx|no|dott|sig|sig\.ra|avv|ing|srta|sra|ud|z\.b"
    r"|d\.h|ca|bzw|nr"
    r"|p\.s|[^\W\d_])\.$",
    re.IGNORECASE,
)
_ORDINAL = re.compile(
    r"\s(?:[a-zß-ÿ]|(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b)"
)
_BULLET = re.compile(r"^(?:[-*•·–—]|\d{1,3}[.)])\s+|^#+\s*")
_EMOJI = re.compile(r"[\U0001F000-\U0001FAFF\u2600-\u27bf\ufe0f\u200d]+")
_LONGEST_COMPOUND = 400
_LONGEST_SENTENCE = 1000
_CLAUSE = re.compile(
    r",\s+|\s+[-–—]+\s+|[，、]|\.\.\.\s*|…\s*|\s+(?=(?:and|but|so|e|ma|y|pero|et|mais|und|aber|mas)\s)"
)


def unquoted(text: str) -> str:
    """Without blocks that are no words of the user: recalled memories, code, keys, quoted lines. Linear time."""
    for opening, closing in _BLOCKS:
        if opening.casefold() not in text.casefold():
            continue
        text = "\n".join(_outside(text, opening, closing))
    if ">" in text:
        text = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith(">"))
    return text


def _outside(text: str, opening: str, closing: str) -> Iterator[str]:
    """The parts outside the blocks, whatever the case of their marks; an unclosed block reaches to the end."""
    opens, closes = (re.compile(re.escape(mark), re.IGNORECASE) for mark in (opening, closing))
    at = 0
    while start := opens.search(text, at):
        yield text[at : start.start()]
        end = closes.search(text, start.end())
        if not end:
            return
        at = end.end()
    yield text[at:]


def sentences(text: str) -> Iterator[str]:
    """The sentences, each with its closing mark, in order. Linear time."""
    start = 0
    for mark in _END.finditer(text):
        if mark[0].startswith(".") and _inside(text, start, mark):
            continue
        piece = _trim(text[start : mark.end()])
        start = mark.end()
        yield from _bounded(piece)
    yield from _bounded(_trim(text[start:]))


def _bounded(piece: str) -> Iterator[str]:
    """A text without full stops is cut between words, so that no rule meets one of any length."""
    while len(piece) > _LONGEST_SENTENCE:
        cut = piece.rfind(" ", _LONGEST_SENTENCE // 2, _LONGEST_SENTENCE)
        cut = cut if cut > 0 else _LONGEST_SENTENCE
        yield piece[:cut]
        piece = piece[cut:].strip()
    if piece:
        yield piece


def _inside(text: str, start: int, mark: re.Match[str]) -> bool:
    """Whether a full stop belongs to an abbreviation, an initial or a German ordinal."""
    if len(mark[0]) > 1:
        return mark[0].startswith("..") and text[mark.end() : mark.end() + 2].strip()[:1].islower()
    before = text[max(start, mark.start() - 8) : mark.end()]
    if _ABBREVIATION.search(before) and not before.endswith(" I."):
        return True
    return bool(re.search(r"(?:^|\s)\d{1,2}\.$", before)) and bool(_ORDINAL.match(text, mark.end()))


def _trim(piece: str) -> str:
    piece = _EMOJI.sub(" ", piece).strip()
    piece = _BULLET.sub("", piece)
    piece = re.sub(r"\s+", " ", piece).strip(" *_~|;-–—")
    return piece if any(sign.isalnum() for sign in piece) else ""


def stripped(sentence: str, lexicon: Language) -> str:
    """Without the greeting or filler in front ("Hey Ann, I …" is about what follows)."""
    for _ in range(3):
        match = lexicon.openers.match(sentence)
        if not match or match.end() >= len(sentence) or match.end() == 0:
            break
        sentence = sentence[match.end() :]
    return sentence[:1].upper() + sentence[1:] if lexicon.spaced else sentence


def before_question(sentence: str, lexicon: Language) -> str:
    """The part of a question that states something before it asks; empty where there is none."""
    body = sentence.rstrip("?？ ")
    parts = _CLAUSE.split(body)
    cut = len(parts)
    for index in range(len(parts) - 1, 0, -1):
        if lexicon.question.search(_conjunction(parts[index])) or lexicon.request.search(_conjunction(parts[index])):
            cut = index
            break
    if cut == len(parts) or lexicon.question.search(parts[0]):
        return ""
    offset = body.find(parts[cut], sum(len(part) for part in parts[:cut]))
    return body[:offset].rstrip(" ,-–—，、") if offset > 0 else ""


def _conjunction(clause: str) -> str:
    return re.sub(
        r"^(?:and|but|so|or|e|ma|y|pero|et|mais|und|aber|mas|also|then)\s+", "", clause.strip(), flags=re.IGNORECASE
    )


_AND = re.compile(r"(?:,\s*|\s+)(?:and|but|e|ma|y|pero|et|mais|und|aber|mas)\s+|,\s+|[，、]")
_STARTS = re.compile(
    r"(?:i|i['’]m|i['’]ve|my|we|our|io|mi|il mio|la mia|ho|sono|vivo|abito|lavoro|yo|me|tengo|soy|trabajo|je|mon|ma"
    r"|ich|mein|meine|eu|meu|minha|moro|tenho|sou|trabalho)(?![\w-])|j['’]|我|私|僕",
    re.IGNORECASE,
)


def compound(sentence: str, lexicon: Language, alone: Callable[[str], bool]) -> list[str]:
    """A sentence cut where two statements about the user are joined ("I live in Oslo and my cat is called Tom").

    It stays whole where one part would say nothing by itself.

    Args:
        alone: whether a part says something by itself.
    """
    if len(sentence) > _LONGEST_COMPOUND or re.search(r"\b(?:used to|no longer|not .* but)\b", sentence):
        return [sentence]
    cuts = [cut for cut in _AND.finditer(sentence) if _STARTS.match(sentence, cut.end())]
    parts: list[str] = []
    start = 0
    for cut in cuts:
        left, right = sentence[start : cut.start()], sentence[cut.end() :]
        if alone(_sentence(left, lexicon)) and alone(_sentence(right, lexicon)):
            parts.append(_closed(_sentence(left, lexicon), lexicon))
            start = cut.end()
    if not parts:
        return [sentence]
    return [*parts, _sentence(sentence[start:], lexicon)]


def parted(what: str, lexicon: Language) -> tuple[str, str]:
    """What is to be forgotten, and the statement that follows it ("that I smoke, I have given up")."""
    for cut in re.finditer(r",\s+(?:and\s+|but\s+)?|[，、]", what):
        if _STARTS.match(what, cut.end()):
            return what[: cut.start()], _sentence(what[cut.end() :], lexicon)
    return what, ""


def _sentence(part: str, lexicon: Language) -> str:
    part = part.strip(" ,")
    return part[:1].upper() + part[1:] if lexicon.spaced else part


def _closed(part: str, lexicon: Language) -> str:
    return part if part.endswith((".", "!", "。", "…")) else part + ("." if lexicon.spaced else "。")
