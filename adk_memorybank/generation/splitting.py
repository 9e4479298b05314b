"""Long input in parts that a model takes at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from adk_memorybank.generation.generator import Turn

PART_TOKENS = 16_000
"""Of events in one call. Models take more, but find less in it."""
OVERLAP = 8
"""The end of the part before that comes along as context: one part in so many of the budget."""

MEDIA_TOKENS = 260
"""Of one picture, about: Gemini counts 258 for a tile."""

_WIDE = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]")
_BREAK = re.compile(r"(?<=[.!?。！？\n])\s*")


@dataclass(frozen=True, slots=True)
class Piece:
    """A turn, or a part of a long one. `index` is the turn's place in the request."""

    index: int
    turn: Turn


def tokens_of(text: str) -> int:
    """About how many tokens a text has: four letters each, or one sign of a script without spaces."""
    wide = len(_WIDE.findall(text))
    return wide + (len(text) - wide) // 4 + 1


def split(turns: Sequence[Turn], *, budget: int = PART_TOKENS) -> list[list[Piece]]:
    """The turns in parts of about `budget` tokens, each with the end of the part before as context.

    Parts without anything new are left out.
    """
    parts: list[list[Piece]] = []
    part: list[Piece] = []
    size = 0
    for piece in _pieces(turns, budget):
        tokens = tokens_of(piece.turn.text) + MEDIA_TOKENS * len(piece.turn.media)
        if part and size + tokens > budget:
            parts.append(part)
            part = _end(part, budget // OVERLAP)
            size = sum(tokens_of(old.turn.text) for old in part)
        part.append(piece)
        size += tokens
    parts.append(part)
    return [part for part in parts if any(piece.turn.new for piece in part)]


def _end(part: Sequence[Piece], budget: int) -> list[Piece]:
    """The last pieces of a part as context, the first of them shortened to what fits."""
    found: list[Piece] = []
    for piece in reversed(part):
        text = piece.turn.text
        tokens = tokens_of(text)
        if tokens > budget:
            text = text[-budget:] if _WIDE.search(text[-budget:]) else text[-4 * budget :]
        if budget > 0 and text:
            found.append(Piece(piece.index, replace(piece.turn, text=text, new=False)))
        budget -= tokens
        if budget <= 0:
            break
    return found[::-1]


def _pieces(turns: Sequence[Turn], budget: int) -> list[Piece]:
    pieces: list[Piece] = []
    for index, turn in enumerate(turns):
        if tokens_of(turn.text) <= budget // 2:
            pieces.append(Piece(index, turn))
            continue
        first, *others = _chunks(turn.text, budget // 2)
        pieces.append(Piece(index, replace(turn, text=first)))
        pieces += [Piece(index, replace(turn, text=text, media=())) for text in others]
    return pieces


def _chunks(text: str, budget: int) -> list[str]:
    """A long text in pieces that end with a sentence where one ends."""
    chunks: list[str] = []
    chunk, size = "", 0
    for sentence in _BREAK.split(text):
        for start in range(0, len(sentence), budget):  # at most one sign a token: a sentence without end is cut
            bit = sentence[start : start + budget]
            tokens = tokens_of(bit)
            if chunk and size + tokens > budget:
                chunks.append(chunk)
                chunk, size = "", 0
            chunk = f"{chunk} {bit}" if chunk else bit
            size += tokens
    return [*chunks, chunk] if chunk else chunks
