"""The tree of errors: its drawing, its codes, and which faults pass by themselves."""

from __future__ import annotations

import inspect
import re

import pytest

from adk_memorybank import errors
from adk_memorybank.errors import (
    AlreadyExists,
    Cancelled,
    EmbedderMismatch,
    EngineClosed,
    FailedPrecondition,
    InvalidArgument,
    MemoryBankError,
    ModelOutputError,
    ModelUnavailable,
    NotFound,
    StoreInUse,
    Unavailable,
    is_passing,
)
from adk_memorybank.resources import OperationError

CLASSES = [
    cls
    for _, cls in inspect.getmembers(errors, inspect.isclass)
    if issubclass(cls, MemoryBankError) and cls.__module__ == errors.__name__
]


def drawn_tree() -> dict[str, str | None]:
    """Name → name of the parent, as the module's docstring draws it."""
    parents: dict[str, str | None] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"    ([│├└─ ]*)([A-Z]\w+)", line)
        if not found:
            continue
        depth = len(found[1]) // 4
        path = [*path[:depth], found[2]]
        parents[found[2]] = path[-2] if depth else None
    return parents


def nearest_parent(cls: type[MemoryBankError]) -> str | None:
    above = [base for base in cls.__mro__[1:] if base in CLASSES]
    return above[0].__name__ if above else None


def test_the_drawing_shows_the_classes() -> None:
    drawn = drawn_tree()
    assert drawn["MemoryBankError"] is None
    assert drawn == {cls.__name__: nearest_parent(cls) for cls in CLASSES}


@pytest.mark.parametrize(
    ("cls", "status", "code"),
    [
        (MemoryBankError, "INTERNAL", 13),
        (InvalidArgument, "INVALID_ARGUMENT", 3),
        (NotFound, "NOT_FOUND", 5),
        (AlreadyExists, "ALREADY_EXISTS", 6),
        (FailedPrecondition, "FAILED_PRECONDITION", 9),
        (StoreInUse, "FAILED_PRECONDITION", 9),
        (EmbedderMismatch, "FAILED_PRECONDITION", 9),
        (EngineClosed, "FAILED_PRECONDITION", 9),
        (Cancelled, "CANCELLED", 1),
        (Unavailable, "UNAVAILABLE", 14),
        (ModelUnavailable, "FAILED_PRECONDITION", 9),
        (ModelOutputError, "INTERNAL", 13),
    ],
)
def test_codes(cls: type[MemoryBankError], status: str, code: int) -> None:
    assert (cls.status, cls.code) == (status, code)


def test_every_class_says_what_it_means() -> None:
    assert all(cls.__doc__ for cls in CLASSES)


@pytest.mark.parametrize(
    ("cls", "builtin"), [(InvalidArgument, ValueError), (NotFound, LookupError), (MemoryBankError, Exception)]
)
def test_callers_may_catch_pythons_own(cls: type[MemoryBankError], builtin: type[Exception]) -> None:
    with pytest.raises(builtin, match="wrong"):
        raise cls("wrong")


def test_an_invalid_argument_names_its_field() -> None:
    named = InvalidArgument("is empty", field="scope.user_id")
    assert (str(named), named.field) == ("scope.user_id: is empty", "scope.user_id")
    assert (str(InvalidArgument("is empty")), InvalidArgument("is empty").field) == ("is empty", "")


class TransportError(Exception):
    """As httpx and google.auth name it."""


class ConnectError(TransportError):
    """Told by a class that it comes from."""


class Answered(Exception):
    def __init__(self, *, code: object = None, status_code: object = None) -> None:
        super().__init__("answered")
        if code is not None:
            self.code = code
        if status_code is not None:
            self.status_code = status_code


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (Unavailable("try again"), True),
        (ConnectionResetError(), True),
        (TimeoutError(), True),
        (TransportError(), True),
        (ConnectError(), True),
        *((Answered(code=code), True) for code in (401, 403, 408, 429, 500, 502, 503, 504)),
        (Answered(status_code=429), True),
        *((Answered(code=code), False) for code in (400, 404, 413, 501)),
        (Answered(code="503"), False),
        (Answered(code=lambda: 503), False),
        (ModelOutputError("no JSON"), False),
        (ModelUnavailable("no key"), False),
        (InvalidArgument("wrong"), False),
        (Cancelled("cancelled"), False),
        (EngineClosed("closed"), False),
        (ValueError("503"), False),
        (KeyError("code"), False),
        (MemoryError(), False),
    ],
    ids=repr,
)
def test_what_passes_by_itself(error: BaseException, passes: bool) -> None:
    assert is_passing(error) is passes


def test_an_operation_carries_an_error_and_gives_it_back() -> None:
    kept = OperationError.of(InvalidArgument("a valid role", field="content.role"))
    assert (kept.code, kept.status, kept.message) == (3, "INVALID_ARGUMENT", "content.role: a valid role")
    again = kept.as_exception()
    assert isinstance(again, InvalidArgument)
    assert str(again) == "content.role: a valid role"


def test_a_foreign_error_is_internal() -> None:
    kept = OperationError.of(ZeroDivisionError("by zero"))
    assert (kept.code, kept.status, kept.kind) == (13, "INTERNAL", "ZeroDivisionError")
    assert kept.message == "ZeroDivisionError: by zero"
    assert type(kept.as_exception()) is MemoryBankError


@pytest.mark.parametrize("kind", ["annotations", "ClassVar", "is_passing", "_PASSING_CODES", "no such name"])
def test_an_errors_kind_is_no_way_to_other_names(kind: str) -> None:
    assert type(OperationError(code=13, status="INTERNAL", message="x", kind=kind).as_exception()) is MemoryBankError
