"""Every spelling of a path to one, so that each route is written once (reference, section 1).

`/v1` and `/v1beta1`, with and without `/projects/{p}/locations/{l}`, `reasoningEngines` and `memoryBanks`: all become
`/v1beta1/reasoningEngines/…`. Names in the answer begin as those in the request. In the query `page_size` becomes
`pageSize`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from fastapi import Request
from pydantic.alias_generators import to_camel
from starlette.types import ASGIApp, Receive, Scope, Send

from adk_memorybank.resources import bank_name

CANONICAL = "/v1beta1/reasoningEngines"
_PATH = re.compile(
    r"/(v1|v1beta1)(/projects/[^/]+/locations/[^/]+)?/(reasoningEngines|memoryBanks)(?=[/:]|$)(.*)", re.S
)
_SNAKE = re.compile(rb"(?:^|(?<=&))[a-z]+(?:_[a-z]+)+(?==)")
_OURS = bank_name("")


@dataclass(frozen=True, slots=True)
class Prefix:
    """How the names of one request begin, up to the bank's id."""

    head: str = _OURS

    def apply(self, name: str) -> str:
        """One of our own names as this client writes it."""
        return self.head + name.removeprefix(_OURS) if name.startswith(_OURS) else name


class Prefixes:
    """The middleware. It goes by the path as it came, so that a `%2F` in an id can't lead to another route."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            raw = (scope.get("raw_path") or scope["path"].encode()).partition(b"?")[0].decode("latin-1")
            match = _PATH.fullmatch(raw)
            state, query = {**scope.get("state", {})}, scope.get("query_string", b"")
            if match is not None:
                project, collection, raw = match[2], match[3], match[4]
                if collection == "memoryBanks":  # there the bank itself takes the events in
                    raw = re.sub(r"^(/[^/:]+):ingestEvents$", r"\1/memories:ingestEvents", raw)
                state["prefix"] = Prefix(f"{unquote(project[1:])}/{collection}/" if project else _OURS)
                raw = CANONICAL + raw
                query = _SNAKE.sub(lambda name: to_camel(name[0].decode()).encode(), query)
            # A slash that was written as %2F belongs to an id, and no id has one.
            path = "/".join(unquote(segment).replace("/", "\N{FRACTION SLASH}") for segment in raw.split("/"))
            scope = {**scope, "path": path, "raw_path": path.encode(), "query_string": query, "state": state}
        await self._app(scope, receive, send)


def prefix_of(request: Request) -> Prefix:
    """How names begin in the answer to a request."""
    return getattr(request.state, "prefix", Prefix())
