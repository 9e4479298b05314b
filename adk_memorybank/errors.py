"""Every error that this package raises on purpose.

    MemoryBankError
    ├── InvalidArgument          the input is wrong; `field` names where
    ├── NotFound                 no such bank, memory, revision or operation
    ├── AlreadyExists            an id chosen by the caller is taken
    ├── FailedPrecondition       the state of the store does not allow it
    │   ├── StoreInUse           another process owns the folder
    │   ├── EmbedderMismatch     the bank was built with another embedder
    │   └── EngineClosed         the service or engine was closed already
    ├── Unauthenticated          a served bank wants a key, and this one is missing or wrong
    ├── PermissionDenied         the key is not for this scope
    ├── ResourceExhausted        too much at once: try again later
    ├── Cancelled                the operation was cancelled, or its scope forgotten
    ├── Unavailable              passing: the same work is tried again later
    ├── ModelUnavailable         a model was named but can't be used; the message says how to mend it
    └── ModelOutputError         a model answered, but not in a way that can be used

`status` is the canonical name of the code (google.rpc.Code) and `code` its number, as operations carry it.
"""

from __future__ import annotations

from typing import ClassVar


class MemoryBankError(Exception):
    """The root of the tree."""

    status: ClassVar[str] = "INTERNAL"
    code: ClassVar[int] = 13


class InvalidArgument(MemoryBankError, ValueError):
    """The input is wrong. Nothing was changed.

    Attributes:
        field: where in the input, as a path such as `scope.user_id`; empty where it concerns the whole.
    """

    status = "INVALID_ARGUMENT"
    code = 3

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field


class NotFound(MemoryBankError, LookupError):
    """No such resource in this bank."""

    status = "NOT_FOUND"
    code = 5


class AlreadyExists(MemoryBankError):
    """A resource with this id is there already."""

    status = "ALREADY_EXISTS"
    code = 6


class FailedPrecondition(MemoryBankError):
    """The request is well formed, but the state of the store does not allow it."""

    status = "FAILED_PRECONDITION"
    code = 9


class StoreInUse(FailedPrecondition):
    """Another process owns this folder and what was asked needs its vectors."""


class EmbedderMismatch(FailedPrecondition):
    """The bank's vectors were made by another embedder than the one now configured."""


class Unauthenticated(MemoryBankError):
    """A served bank wants a key, and the one given is missing or wrong."""

    status = "UNAUTHENTICATED"
    code = 16


class PermissionDenied(MemoryBankError):
    """The key that was given is not for this scope."""

    status = "PERMISSION_DENIED"
    code = 7


class ResourceExhausted(MemoryBankError):
    """Too much was asked for at once. Nothing was changed; the same may be asked for again later."""

    status = "RESOURCE_EXHAUSTED"
    code = 8


class Cancelled(MemoryBankError):
    """The operation was cancelled, or its scope was forgotten, before it ended."""

    status = "CANCELLED"
    code = 1


class Unavailable(MemoryBankError):
    """A passing fault. The same work is tried again later."""

    status = "UNAVAILABLE"
    code = 14


class ModelUnavailable(MemoryBankError):
    """A model was named but can't be used here. The message says what is missing and how to mend it."""

    status = "FAILED_PRECONDITION"
    code = 9


class ModelOutputError(MemoryBankError):
    """The model answered, but its answer can't be used even after one repair."""

    status = "INTERNAL"
    code = 13


class EngineClosed(FailedPrecondition):
    """The service was closed. Make a new one to go on."""


_PASSING_CODES = {401, 403, 408, 429, 500, 502, 503, 504}  # 401 and 403: credentials, which a person can mend
_PASSING_NAMES = {
    "TransportError",  # httpx and google.auth: the connection, or the credentials' refresh
    "GoogleAuthError",
    "OperationalError",  # SQLAlchemy: locked, disk full, server away
    "APIConnectionError",  # openai, litellm
    "ClientConnectionError",  # aiohttp
    "RateLimitError",
    "ServiceUnavailableError",
}


def is_passing(error: BaseException) -> bool:
    """Whether the fault may go away by itself (DESIGN, decision 6): 429, 5xx, connection, credentials, deadline.

    Foreign errors are told by their class names and codes, so that no optional package is imported to ask.
    """
    if isinstance(error, Unavailable | ConnectionError | TimeoutError):
        return True
    if isinstance(error, MemoryBankError):
        return False
    if any(cls.__name__ in _PASSING_NAMES for cls in type(error).__mro__):
        return True
    for attribute in ("code", "status_code"):
        if getattr(error, attribute, None) in _PASSING_CODES:
            return True
    return False
