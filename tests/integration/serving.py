"""A served store for the tests: the application in process, or on a real port of the loopback interface."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

from adk_memorybank import MemoryBanks
from adk_memorybank.server.access import Access
from adk_memorybank.server.app import create_app
from adk_memorybank.testing import ScriptedGenerator, temporary_banks

BANK = "/v1beta1/projects/p/locations/us-central1/reasoningEngines/default"
NAME = "projects/p/locations/us-central1/reasoningEngines/default"


@contextmanager
def on_a_port(app: FastAPI) -> Generator[str]:
    """The address at which the application is served meanwhile."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        listening.close()


@asynccontextmanager
async def a_store(**options: Any) -> AsyncGenerator[MemoryBanks]:
    """Banks on a temporary folder, of which `default` is made."""
    async with temporary_banks(**{"model": ScriptedGenerator(), **options}) as banks:
        await banks.open()
        yield banks


@asynccontextmanager
async def requests_to(banks: MemoryBanks, *, access: Access | None = None, **options: Any) -> AsyncGenerator[Requests]:
    """Raw requests to the application, without a port."""
    app = create_app(banks, access=access, **options)
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
        yield Requests(http)


class Requests:
    """Requests as JSON; the path is taken below the bank `default` unless it begins with a slash."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def __call__(self, method: str, path: str, body: Any = None, **options: Any) -> httpx.Response:
        url = path if path.startswith("/") else f"{BANK}{'' if path[:1] in ('', ':', '?') else '/'}{path}"
        return await self.http.request(method, url, json=body, **options)

    async def ok(self, method: str, path: str, body: Any = None, **options: Any) -> dict[str, Any]:
        """What a request that succeeds is answered with."""
        response = await self(method, path, body, **options)
        assert response.status_code == 200, response.text
        return response.json()

    async def error(self, method: str, path: str, body: Any = None, **options: Any) -> tuple[int, str, str, str]:
        """(HTTP code, status, message, first field) of a request that is refused."""
        response = await self(method, path, body, **options)
        assert response.status_code >= 400, response.text
        error = response.json()["error"]
        assert error["code"] == response.status_code
        fields = [
            violation["field"] for detail in error.get("details", []) for violation in detail.get("fieldViolations", [])
        ]
        return response.status_code, error["status"], error["message"], fields[0] if fields else ""

    async def ended(self, operation: dict[str, Any]) -> dict[str, Any]:
        """An operation once it has ended."""
        for _ in range(500):
            if operation.get("done"):
                return operation
            await asyncio.sleep(0.02)
            operation = await self.ok("GET", f"/v1beta1/{operation['name']}")
        raise AssertionError(f"it does not end: {operation}")
