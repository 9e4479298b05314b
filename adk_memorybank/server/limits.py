"""What the body of a request may be: so long, and JSON, whatever it calls itself."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adk_memorybank.server.failures import failure

MAX_BODY_BYTES = 32 * 1024 * 1024
"""By default: room for a conversation with a few images of 8 MB."""


class BodyLimit:
    """The middleware that refuses a longer body, also one that doesn't say how long it is.

    Args:
        max_bytes: that are taken.
    """

    def __init__(self, app: ASGIApp, max_bytes: int = MAX_BODY_BYTES) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > self._max_bytes:
            await self._refuse(scope, receive, send)
            return
        # Taken in whole before anything begins: a request that is too long must not be half done.
        body = bytearray()
        more = True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return  # the client has gone
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self._max_bytes:
                await self._refuse(scope, receive, send)
                return
        # `curl -d` calls every body a form.
        headers = [(name, value) for name, value in scope["headers"] if name != b"content-type"]
        scope = {**scope, "headers": [*headers, (b"content-type", b"application/json")]}
        given = False

        async def replay() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": bytes(body), "more_body": False}

        await self._app(scope, replay, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = failure(HTTPException(413, f"the body has more than {self._max_bytes:,} bytes"))
        await answer(scope, receive, send)
