"""Filters in the language of AIP-160: what they say, and what that means for a memory, a revision or a scope.

As there, `OR` binds tighter than `AND`, and what stands side by side is joined by `AND`. Decided here, where the
language or the managed service leaves it open:

- `=~` is a regular expression (RE2, so that none takes long) that the whole text has to match.
- `:` on a text asks whether it contains the words as they stand, in upper or lower case; `field:*` whether it is set.
- `*` is a letter like any other elsewhere: a filter by which memories are deleted must not match more than it says.
- A value alone is looked for in the fact.
- What is not there equals nothing, and differs from everything. In the rule of a key (`over="scopes"`) what is not
  there decides nothing at all, under `NOT` either, and what is undecided is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import lark

from adk_memorybank.errors import InvalidArgument
from adk_memorybank.retrieval.filter_fields import Test, test_of

MAX_LENGTH = 8_192
MAX_DEPTH = 64

Over = Literal["memories", "retrieved", "revisions", "operations", "banks", "sessions", "session_events", "scopes"]
Predicate = Callable[[Any], bool]

_GRAMMAR = r"""
?start: expression?
expression: sequence (_AND sequence)*
sequence: factor+
factor: term (_OR term)*
term: simple | (NOT | MINUS) simple -> negated
?simple: restriction | "(" expression ")" | FUNCTION -> function
restriction: member [COMPARATOR argument]
member: _value ("." _value)*
argument: member | NEGATIVE | TIMESTAMP
_value: TEXT | STRING

_AND.3: /AND(?![^\s.,:()"'<>=!~])/
_OR.3: /OR(?![^\s.,:()"'<>=!~])/
NOT.3: /NOT(?![^\s.,:()"'<>=!~])/
MINUS.1: "-"
FUNCTION.2: /(?!(AND|OR|NOT)\()[^\s.,:()"'<>=!~-][^\s.,:()"'<>=!~]*\(/
COMPARATOR.2: /<=|>=|!=|=~|<|>|=|:/
TIMESTAMP.3: /\d{4}-\d\d-\d\d[Tt]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)?/
NEGATIVE.2: /-\d+(\.\d+)?/
TEXT.1: /(?!(AND|OR|NOT)(?![^\s.,:()"'<>=!~]))[^\s.,:()"'<>=!~-][^\s.,:()"'<>=!~]*/
STRING: /"(\\.|[^"\\])*"|'(\\.|[^'\\])*'/s
%ignore /\s+/
"""


@dataclass(frozen=True, slots=True)
class _Node:
    """A part of a filter: its meaning, and how deep it is."""

    test: Test
    depth: int = 1


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    quoted: bool


class _Reader(lark.Transformer[Any, _Node]):
    """Makes the meaning while the text is parsed: nothing here calls itself, however deep a filter is."""

    def __init__(self, over: Over) -> None:
        super().__init__()
        self._over: Over = over

    def TEXT(self, token: lark.Token) -> _Word:
        return _Word(str(token), quoted=False)

    def NEGATIVE(self, token: lark.Token) -> _Word:
        return _Word(str(token), quoted=False)

    def TIMESTAMP(self, token: lark.Token) -> _Word:
        return _Word(str(token), quoted=False)

    def STRING(self, token: lark.Token) -> _Word:
        return _Word(re.sub(r"\\(.)", r"\1", str(token)[1:-1], flags=re.DOTALL), quoted=True)

    def function(self, children: Sequence[lark.Token]) -> _Node:
        raise _wrong(f"there is no function `{str(children[0])[:-1][:60]}`")

    def member(self, words: Sequence[_Word]) -> list[_Word]:
        return list(words)

    def argument(self, children: Sequence[Any]) -> _Word:
        [given] = children
        if isinstance(given, _Word):
            return given
        return given[0] if len(given) == 1 else _Word(".".join(word.text for word in given), quoted=False)

    def restriction(self, children: Sequence[Any]) -> _Node:
        words, comparator, argument = children
        if comparator is None:
            value = ".".join(word.text for word in words)
            return _Node(test_of(self._over, [], ":", value, quoted=True))
        path = [word.text for word in words]
        return _Node(test_of(self._over, path, str(comparator), argument.text, quoted=argument.quoted))

    def negated(self, children: Sequence[Any]) -> _Node:
        inner: _Node = children[1]

        def test(value: Any) -> bool | None:
            found = inner.test(value)
            return None if found is None else not found

        return _deeper(test, [inner])

    def term(self, children: Sequence[_Node]) -> _Node:
        return children[0]

    def factor(self, children: Sequence[_Node]) -> _Node:
        return _joined(children, decisive=True)

    def sequence(self, children: Sequence[_Node]) -> _Node:
        return _joined(children, decisive=False)

    def expression(self, children: Sequence[_Node]) -> _Node:
        return _joined(children, decisive=False)


def parse_filter(text: str, *, over: Over) -> Predicate:
    """Reads a filter; an empty one lets everything through.

    Args:
        over: what it is about, which decides on the fields that there are. The predicate takes such a resource; of
            `scopes` a mapping.

    Raises:
        InvalidArgument: saying what is wrong, and where.
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]: callers may not check types
        raise _wrong(f"should be a string, not {type(text).__name__}")
    if len(text) > MAX_LENGTH:
        raise _wrong(f"has at most {MAX_LENGTH:,} characters")
    if not text.strip():
        return lambda _: True
    try:
        node: Any = _parser(over).parse(text)
    except lark.exceptions.VisitError as error:
        raise error.orig_exc from None
    except lark.exceptions.UnexpectedInput as error:
        if isinstance(error, lark.exceptions.UnexpectedToken) and error.token.type == "$END":
            raise _wrong("ends too early") from None
        place = max(0, getattr(error, "column", 1) - 1)
        raise _wrong(f"can't be read from {text[place : place + 40]!r} on, character {place + 1}") from None
    test: Test = node.test
    return lambda value: test(value) is True


@cache
def _parser(over: Over) -> lark.Lark:
    return lark.Lark(_GRAMMAR, parser="lalr", transformer=_Reader(over), maybe_placeholders=True)


def _wrong(message: str) -> InvalidArgument:
    return InvalidArgument(message, field="filter")


def _joined(nodes: Sequence[_Node], *, decisive: bool) -> _Node:
    """`OR` (where true decides) or `AND` (where false does); undecided where nothing decides and a part is."""
    if len(nodes) == 1:
        return nodes[0]
    tests = [node.test for node in nodes]

    def test(value: Any) -> bool | None:
        undecided = False
        for one in tests:
            found = one(value)
            if found is decisive:
                return decisive
            undecided = undecided or found is None
        return None if undecided else not decisive

    return _deeper(test, nodes)


def _deeper(test: Test, nodes: Sequence[_Node]) -> _Node:
    depth = 1 + max(node.depth for node in nodes)
    if depth > MAX_DEPTH:
        raise _wrong(f"is nested more than {MAX_DEPTH} deep")
    return _Node(test, depth)
