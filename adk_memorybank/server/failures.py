"""Errors as the managed service writes them (reference 5.15): one function shapes all of them."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from adk_memorybank.errors import EngineClosed, InvalidArgument, MemoryBankError, ResourceExhausted, is_passing
from adk_memorybank.resources import clean_json
from adk_memorybank.validation import path_text

logger = logging.getLogger("google_adk.adk_memorybank.server")

_HTTP: Mapping[str, int] = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "RESOURCE_EXHAUSTED": 429,
    "CANCELLED": 499,
    "UNAVAILABLE": 503,
}
_STATUS: Mapping[int, str] = {405: "UNIMPLEMENTED", 413: "INVALID_ARGUMENT"} | {
    code: status for status, code in _HTTP.items() if status != "FAILED_PRECONDITION"
}
_TYPES = "type.googleapis.com/google.rpc"
RETRY_AFTER = 5
"""Seconds after which a client that was turned away may come again."""


def failure(error: Exception) -> JSONResponse:
    """Any error as an answer. What was not raised on purpose tells nothing of the inside; it is logged."""
    if isinstance(error, MemoryBankError):
        status = "UNAVAILABLE" if isinstance(error, EngineClosed) else error.status  # no fault of the request's
        code = _HTTP.get(status, 500)
        details: list[dict[str, Any]] = [
            {"@type": f"{_TYPES}.ErrorInfo", "reason": type(error).__name__, "domain": "adk-memorybank"}
        ]
        if isinstance(error, InvalidArgument) and error.field:
            violation = {"field": error.field, "description": str(error).removeprefix(f"{error.field}: ")}
            details.append({"@type": f"{_TYPES}.BadRequest", "fieldViolations": [violation]})
        answer = _answer(code, str(error), status, details)
        if isinstance(error, ResourceExhausted):
            answer.headers["retry-after"] = str(RETRY_AFTER)
        return answer
    if isinstance(error, RequestValidationError):
        return failure(_invalid(error.errors()))
    if isinstance(error, HTTPException):
        answer = _answer(error.status_code, str(error.detail), _STATUS.get(error.status_code, "UNKNOWN"))
        answer.headers.update(error.headers or {})
        return answer
    logger.error("a request failed", exc_info=error)
    if is_passing(error):
        return _answer(503, "the store can't be used for the moment, try again later", "UNAVAILABLE")
    return _answer(500, "an error inside the server; its log says more", "INTERNAL")


def add_failures(app: FastAPI) -> None:
    """Lets the app answer every error in this way."""

    async def handle(_request: Request, error: Exception) -> JSONResponse:
        return failure(error)

    for kind in (MemoryBankError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, handle)


def _invalid(faults: Sequence[Any]) -> InvalidArgument:
    """What FastAPI and pydantic found in a request, with the path as the request wrote it."""
    texts: list[tuple[str, str]] = []
    for fault in faults:
        where, *path = fault["loc"]
        if fault["type"] == "json_invalid":
            return InvalidArgument(f"the body is no JSON: {fault.get('ctx', {}).get('error', '')}")
        message = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "missing":
            message = "is required" if path else "a body is required"
        known = fault.get("ctx", {}).get("error")
        field = path_text(path) or (where if where != "body" else "")
        if isinstance(known, InvalidArgument):  # raised by one of our own classes, which names the inner field
            message = str(known).removeprefix(f"{known.field}: ") if known.field else str(known)
            inner = known.field.rpartition(".")[2]
            field = (
                f"{field}.{known.field}"
                if field and known.field and not field.endswith(inner)
                else field or known.field
            )
        texts.append((field, message))
    (first, message), *others = texts
    return InvalidArgument("; ".join([message, *(f"{field}: {text}" for field, text in others)]), field=first)


def _answer(code: int, message: str, status: str, details: Sequence[Mapping[str, Any]] = ()) -> JSONResponse:
    content: dict[str, Any] = {"error": {"code": code, "message": message, "status": status}}
    if details:
        content["error"]["details"] = list(details)
    return JSONResponse(clean_json(content), status_code=code)  # it may quote a key that has no UTF-8
