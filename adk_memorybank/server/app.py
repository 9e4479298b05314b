"""The application: the managed service's REST API, what clients of a served bank use, and nothing else."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from adk_memorybank.banks import MemoryBanks
from adk_memorybank.errors import EngineClosed
from adk_memorybank.server import (
    bank_routes,
    banks_routes,
    memories_routes,
    native,
    operations_routes,
    sessions_routes,
)
from adk_memorybank.server.access import Access, Door
from adk_memorybank.server.answers import Refusal
from adk_memorybank.server.failures import add_failures
from adk_memorybank.server.limits import MAX_BODY_BYTES, BodyLimit
from adk_memorybank.server.prefixes import Prefixes

_DESCRIPTION = """\
The managed Memory Bank's API, served from your own store.

Each path is also there under `/v1` and `/v1beta1`, with `/projects/{project}/locations/{location}` before it, and with
`memoryBanks` in place of `reasoningEngines`. Fields are read in camelCase and in snake_case, and answered in camelCase;
fields that are not known are passed over.
"""


def create_app(
    banks: MemoryBanks,
    *,
    access: Access | None = None,
    local: bool = False,
    max_body_bytes: int = MAX_BODY_BYTES,
) -> FastAPI:
    """The application over a store. Who made the banks closes them.

    Args:
        access: the keys; everybody may do everything by default.
        local: without keys, answers only who calls it by an address, or `localhost` (see `Door`).
        max_body_bytes: of a request.
    """
    refusals: dict[int | str, dict[str, Any]] = {
        code: {"model": Refusal, "description": text}
        for code, text in {
            400: "The request is wrong, or the state of the store does not allow it",
            401: "A key is missing or wrong",
            403: "The key is not for this scope",
            404: "There is no such thing",
            409: "The id is taken",
            "default": "Something else went wrong",  # it also keeps out FastAPI's 422, which is never answered
        }.items()
    }
    app = FastAPI(
        title="adk-memorybank",
        version=version("adk-memorybank"),
        description=_DESCRIPTION,
        docs_url=None,  # they would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,  # they would lead to another prefix than the client's
        responses=refusals,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # newer FastAPI's: queries would be told whole
    )
    app.state.banks = banks
    app.state.ready = True
    add_failures(app)
    for routes in (operations_routes, bank_routes, memories_routes, sessions_routes, banks_routes, native):
        app.include_router(routes.router)
    for path in ("/healthz", "/readyz"):  # plain routes: no key is asked for
        app.add_route(path, _ready, include_in_schema=False)
    app.add_middleware(Prefixes)
    app.add_middleware(BodyLimit, max_bytes=max_body_bytes)
    app.add_middleware(Door, access=access or Access(), local=local)
    return app


async def _ready(request: Request) -> JSONResponse:
    """Whether the store is open and new requests are taken."""
    state = request.app.state
    try:
        ready = state.ready and state.banks.engine.alive
    except EngineClosed:
        ready = False
    return JSONResponse({"status": "ok" if ready else "stopping"}, status_code=200 if ready else 503)
