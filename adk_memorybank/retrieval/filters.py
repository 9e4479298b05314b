r"""Filters in the language of AIP-160: what they say, and what that means for a memory, a revision or a scope.

As there, `OR` binds tighter than `AND`, what stands side by side is joined by `AND`, and a field may be compared with
a choice: `scope.user_id = (ada OR bob)`. Decided here, where the language or the managed service leaves it open:

- `=~` is a regular expression (RE2, so that none takes long) that the whole text has to match.
- `:` on a text asks whether it contains the words as they stand, in upper or lower case; `field:*` whether it is set.
- `*` is a letter like any other elsewhere: a filter by which memories are deleted must not match more than it says.
- A value alone is looked for in the fact.
- What is not there equals nothing, and differs from everything. In the rule of a key (`over="scopes"`) what is not
  there decides nothing at all, under `NOT` either, and what is undecided is refused.
- In quotes, a backslash takes the meaning from a quote and from a backslash; `\n`, `\r`, `\t`, `\f` and `\u00e9` are
  as in JSON, so that `json.dumps` quotes a value. Before other letters it stays, so that `fact=~"\d+"` means digits.
- Nothing is guessed: what is most likely meant otherwise (`and` in small letters, `'it''s'`, `a = f(x)`) is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import lark

from adk_memorybank.errors import InvalidArgument
from adk_memorybank.resources import clean_text
from adk_memorybank.retrieval.filter_fields import Test, test_of, weight_of

MAX_LENGTH = 8_192
MAX_DEPTH = 64
MAX_WEIGHT = 5_000
"""A comparison weighs 10, a regular expression besides what RE2 makes of it: a filter is tried on many memories."""

Over = Literal["memories", "retrieved", "revisions", "operations", "banks", "sessions", "session_events", "scopes"]
Predicate = Callable[[Any], bool]

_GRAMMAR = r"""
?start: expression?
expression: sequence (AND sequence)*
sequence: factor+
factor: term (OR term)*
?term: simple | (NOT | MINUS) simple -> negated
?simple: restriction | "(" expression ")"
restriction: member [COMPARATOR argument]
member: _value (_DOT (_value | AND | OR | NOT))*
?argument: member | NEGATIVE | "(" expression ")"
_value: TEXT | STRING | TIMESTAMP | FUNCTION

AND.3: /AND(?![^\s.,:()"'<>=!~])/
OR.3: /OR(?![^\s.,:()"'<>=!~])/
NOT.3: /NOT(?![^\s.,:()"'<>=!~])/
MINUS.1: /-(?=\S)/
_DOT: /(?<!\s)\.(?!\s)/
FUNCTION.2: /(?!(AND|OR|NOT)\()[^\s.,:()"'<>=!~-][^\s.,:()"'<>=!~]*\(/
COMPARATOR.2: /<=|>=|!=|=~|<|>|=|:/
TIMESTAMP.3: /\d{4}-\d\d-\d\d[Tt]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)?/
NEGATIVE.2: /-\d+(\.\d+)?([Ee][+-]?\d+)?/
TEXT.1: /(?!(AND|OR|NOT)(?![^\s.,:()"'<>=!~]))[^\s.,:()"'<>=!~-][^\s.,:()"'<>=!~]*+(?!["'])/
STRING: /("(\\.|[^"\\])*"|'(\\.|[^'\\])*')(?=[\s.,:)<>=!~]|\Z)/s
%ignore /\s+/
"""
_ESCAPE = re.compile(r"""\\(["'\\nrtf]|u[0-9a-fA-F]{4})""")
_PLAIN = {"n": "\n", "r": "\r", "t": "\t", "f": "\f"}
_LIKE_OPERATORS = {"and", "or", "not", "&", "&&", "|", "||"}


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class _Node:
    """A part of a filter: comparisons, joined or negated.

    Attributes:
        kind: a comparison is a `leaf`; `minus` is `not` in its other spelling.
        words: of a leaf, the path to its field, or the value where it stands alone.
        argument: of a leaf, the value or the choice of values; None of one that stands alone.
    """

    kind: Literal["leaf", "not", "minus", "or", "and"]
    parts: tuple[_Node, ...] = ()
    words: tuple[_Word, ...] = ()
    comparator: str = ""
    argument: _Word | _Node | None = None
    depth: int = 1


class _Reader(lark.Transformer[Any, Any]):
    """Makes the nodes while the text is parsed: nothing here calls itself, however deep a filter is."""

    def TEXT(self, token: lark.Token) -> _Word:
        return _Word(str(token))

    AND = OR = NOT = NEGATIVE = TIMESTAMP = TEXT

    def STRING(self, token: lark.Token) -> _Word:
        return _Word(_unescaped(token[1:-1]), quoted=True)

    def FUNCTION(self, token: lark.Token) -> _Word:
        raise _wrong(f"there is no function `{token[:-1][:60]}`")

    def member(self, words: Sequence[_Word]) -> tuple[_Word, ...]:
        return tuple(words)

    def restriction(self, children: Sequence[Any]) -> _Node:
        words, comparator, argument = children
        if comparator is None:
            return _Node("leaf", words=words)
        if isinstance(argument, _Node) and argument.kind == "leaf" and not argument.comparator:
            argument = argument.words  # brackets around one value
        if isinstance(argument, tuple):
            argument = _value(argument)
        depth = argument.depth + 1 if isinstance(argument, _Node) else 1
        return _Node("leaf", words=words, comparator=str(comparator), argument=argument, depth=_allowed(depth))

    def negated(self, children: Sequence[Any]) -> _Node:
        sign, inner = children
        kind = "not" if isinstance(sign, _Word) else "minus"
        return _Node(kind, (inner,), depth=_allowed(inner.depth + 1))

    def factor(self, children: Sequence[Any]) -> _Node:
        return _joined("or", children)

    def sequence(self, children: Sequence[Any]) -> _Node:
        return _joined("and", children)

    def expression(self, children: Sequence[Any]) -> _Node:
        return _joined("and", children)


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
        node: Any = _parser().parse(text)
    except lark.exceptions.UnexpectedInput as error:
        if isinstance(error, lark.exceptions.UnexpectedToken) and error.token.type == "$END":
            raise _wrong("ends too early") from None
        place = max(0, error.pos_in_stream or 0)
        raise _wrong(f"can't be read from {text[place : place + 40]!r} on, character {place + 1}") from None
    if sum(_weights(node)) > MAX_WEIGHT:
        raise _wrong("asks for too much at once: use fewer comparisons, or simpler regular expressions")
    test = _meaning(node, lambda leaf: _comparison(leaf, over))
    return lambda value: test(value) is True


@cache
def _parser() -> lark.Lark:
    return lark.Lark(_GRAMMAR, parser="lalr", transformer=_Reader(), maybe_placeholders=True)


def _wrong(message: str) -> InvalidArgument:
    return InvalidArgument(message, field="filter")


def _unescaped(text: str) -> str:
    """What stands in quotes, as it is meant. A character that JSON writes as two halves is put together."""

    def meant(escape: re.Match[str]) -> str:
        code = escape[1]
        return chr(int(code[1:], 16)) if len(code) > 1 else _PLAIN.get(code, code)

    read = _ESCAPE.sub(meant, text)
    return clean_text(read.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def _value(words: Sequence[_Word]) -> _Word:
    """`1.5` is parsed like a path."""
    if len(words) == 1:
        return words[0]
    text = ".".join(word.text for word in words)
    if any(word.quoted for word in words):
        raise _wrong(f"{text[:60]!r} is quoted in part: put the whole value in quotes")
    return _Word(text)


def _allowed(depth: int) -> int:
    if depth > MAX_DEPTH:
        raise _wrong(f"is nested more than {MAX_DEPTH} deep")
    return depth


def _joined(kind: Literal["or", "and"], children: Sequence[Any]) -> _Node:
    nodes = tuple(child for child in children if isinstance(child, _Node))
    if len(nodes) == 1:
        return nodes[0]
    return _Node(kind, nodes, depth=_allowed(1 + max(node.depth for node in nodes)))


def _weights(node: _Node, comparator: str = "") -> Iterator[int]:
    for part in node.parts:
        yield from _weights(part, comparator)
    if isinstance(node.argument, _Node):
        yield from _weights(node.argument, node.comparator)
    elif node.kind == "leaf":
        value = node.argument or _value(node.words)
        yield 10 + (weight_of(value.text) if "=~" in (comparator, node.comparator) else 0)


def _meaning(node: _Node, leaf: Callable[[_Node], Test]) -> Test:
    if node.kind == "leaf":
        return leaf(node)
    tests = [_meaning(part, leaf) for part in node.parts]
    if node.kind == "or":
        return _joint(tests, decisive=True)
    return _joint(tests, decisive=False) if node.kind == "and" else _opposite(tests[0])


def _comparison(leaf: _Node, over: Over) -> Test:
    if leaf.argument is None:
        value = _value(leaf.words)
        if not value.quoted and value.text.lower() in _LIKE_OPERATORS:
            raise _wrong(f"`{value.text}` is no operator: write AND, OR or NOT, or put the word in quotes")
        return test_of(over, [], ":", value.text, quoted=True)
    path = [word.text for word in leaf.words]
    if isinstance(leaf.argument, _Word):
        return test_of(over, path, leaf.comparator, leaf.argument.text, quoted=leaf.argument.quoted)
    if leaf.comparator == "!=":
        raise _wrong(f"`!=` is not compared with a choice: write NOT {'.'.join(path)[:60]} = (…)")
    _check_choice(leaf.argument)

    def of_value(one: _Node) -> Test:
        value = _value(one.words)
        return test_of(over, path, leaf.comparator, value.text, quoted=value.quoted)

    return _meaning(leaf.argument, of_value)


def _check_choice(node: _Node) -> None:
    """A choice has values alone. `-1` in it may be a number or `NOT 1`."""
    if node.comparator or node.kind == "minus":
        raise _wrong("a choice in brackets has values alone, joined by OR, AND or NOT; a negative number in quotes")
    for part in node.parts:
        _check_choice(part)


def _opposite(inner: Test) -> Test:
    def test(value: Any) -> bool | None:
        found = inner(value)
        return None if found is None else not found

    return test


def _joint(tests: Sequence[Test], *, decisive: bool) -> Test:
    """`OR` (where true decides) or `AND` (where false does); undecided where nothing decides and a part is."""

    def test(value: Any) -> bool | None:
        undecided = False
        for one in tests:
            found = one(value)
            if found is decisive:
                return decisive
            undecided = undecided or found is None
        return None if undecided else not decisive

    return test
