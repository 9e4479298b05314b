"""A server in a process of its own: opened, told where it is, and stopped so that nothing is lost."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import signal
from collections.abc import Callable, Generator
from types import FrameType

import uvicorn
from fastapi import FastAPI

from adk_memorybank.banks import MemoryBanks
from adk_memorybank.errors import EmbedderMismatch, FailedPrecondition, InvalidArgument, ModelUnavailable
from adk_memorybank.parts import choose_generator
from adk_memorybank.server.access import Access
from adk_memorybank.server.app import create_app
from adk_memorybank.server.limits import MAX_BODY_BYTES
from adk_memorybank.settings import Settings

logger = logging.getLogger("google_adk.adk_memorybank.server")

PATIENCE = 10
"""Seconds that requests in flight, and then running generations, are given at the end."""


def _is_no_cut(record: logging.LogRecord) -> bool:
    """Whether a record of uvicorn's is none of a request that was cut off at the end: there is no fault in that."""
    return record.exc_info is None or not isinstance(record.exc_info[1], asyncio.CancelledError)


class _Server(uvicorn.Server):
    """Stops at the first signal when all is done, at the second at once, and ends well either way."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, told: Callable[[str], None]) -> None:
        super().__init__(config)
        self._app = app
        self._told = told

    async def startup(self, sockets: list[object] | None = None) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]: given on as it comes
        await super().startup(sockets)  # pyright: ignore[reportArgumentType]
        for server in self.servers:
            for listening in server.sockets:
                host, port = listening.getsockname()[:2]
                self._told(f"http://{f'[{host}]' if ':' in host else host}:{port}")

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        # uvicorn's own raises the signal again in the end, so that a stop on purpose would look like a crash.
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True
        self._app.state.ready = False


def serve(
    settings: Settings,
    *,
    host: str = "127.0.0.1",
    port: int = 8085,
    access: Access | None = None,
    anyone: bool = False,
    max_body_bytes: int = MAX_BODY_BYTES,
    told: Callable[[str], None] = print,
) -> None:
    """Serves a store until the process is told to stop.

    Args:
        settings: of the store; its bank is made where it is missing.
        port: 0 for any that is free.
        anyone: without keys, other machines are let in only with this, and who calls it by any name.
        told: is given the lines that say where it is served.

    Raises:
        InvalidArgument: without keys it would be open to other machines.
        StoreInUse: another process owns the store.
        FailedPrecondition: the store or the port can't be used.
    """
    access = access or Access()
    if access.open and not anyone and not _is_loopback(host):
        raise InvalidArgument(
            f"{host} can be reached from other machines: give keys with --api-key, or say --allow-anyone", field="host"
        )
    asyncio.run(_serve(settings, host, port, access, anyone, max_body_bytes, told))


async def _serve(
    settings: Settings,
    host: str,
    port: int,
    access: Access,
    anyone: bool,
    max_body_bytes: int,
    told: Callable[[str], None],
) -> None:
    banks = MemoryBanks(settings=settings)
    patience = PATIENCE
    try:
        app = create_app(banks, access=access, local=not anyone, max_body_bytes=max_body_bytes)
        await banks.call(banks.engine.need_vectors())
        try:
            bank = await banks.open()
            _, reason = choose_generator(settings, bank.managed_semantic_memory_config)
            uses = f"model {bank.model}, {reason}; embedder {bank.embedder}"
        except (EmbedderMismatch, ModelUnavailable) as error:
            if settings.model is not None or settings.embedder is not None:
                raise
            # It is this bank's own setting, and others may be fine: who uses it is told the same.
            uses = f"the bank {settings.bank_id!r} can't be used: {error}"
            logger.warning("%s", uses)
        lock = "everybody who reaches it may use it" if access.open else "a key is needed"
        config = uvicorn.Config(
            app,
            host=host,
            port=port,
            lifespan="off",
            log_config=None,
            access_log=False,  # a query may hold a key
            timeout_graceful_shutdown=PATIENCE,
        )
        server = _Server(config, app, lambda url: told(f"{url} serves {settings.folder} ({uses}; {lock})"))
        logging.getLogger("uvicorn.error").addFilter(_is_no_cut)
        try:
            await server.serve()
        except SystemExit as error:  # uvicorn's way to say that the port is taken, which it has logged
            raise FailedPrecondition(f"{host}:{port} can't be listened on: is another server running there?") from error
        patience = 0 if server.force_exit else PATIENCE
    finally:
        await banks.close(timeout=patience)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
