"""JSON as it is read from a request's body: none of Python's additions to it, and not nested without end."""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine
from typing import Any, cast

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

MAX_DEPTH = 100
"""Of arrays and objects in each other; protocol buffers' JSON has the same bound."""


class JsonRoute(APIRoute):
    """A route whose body is JSON in the strict sense."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handle(_JsonRequest(request.scope, request.receive))

        return strict


class _JsonRequest(Request):
    async def json(self) -> Any:
        body = await super().json()
        refuse_oddities(body)
        return body


def refuse_oddities(body: Any) -> None:
    """Refuses what Python's reader takes and JSON has not, and what is nested so deeply that nothing could write it.

    Raises:
        HTTPException: 400.
    """
    level = [body]
    for _ in range(MAX_DEPTH + 1):
        inner: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                inner.extend(cast("dict[str, Any]", value).values())
            elif isinstance(value, list):
                inner.extend(cast("list[Any]", value))
            elif isinstance(value, float) and not math.isfinite(value):
                raise HTTPException(400, "the body is no JSON: a number is finite, and at most that of a double")
        if not inner:
            return
        level = inner
    raise HTTPException(400, f"the body is nested more than {MAX_DEPTH} deep")
