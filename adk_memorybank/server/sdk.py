"""The official clients, pointed at a bank of one's own: in process, with no port, or at a server."""

from __future__ import annotations

import asyncio
import importlib
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import httpx

from adk_memorybank.banks import MemoryBanks
from adk_memorybank.errors import FailedPrecondition, InvalidArgument
from adk_memorybank.resources import validate_bank_id
from adk_memorybank.server.app import create_app
from adk_memorybank.settings import read_settings
from adk_memorybank.threads import LoopThread

if TYPE_CHECKING:
    from google.adk.memory.vertex_ai_memory_bank_service import VertexAiMemoryBankService

PROJECT = "local"
LOCATION = "local"
_IN_PROCESS = "http://memorybank.invalid"
_NO_KEY = "none"


def client(
    store: str | MemoryBanks | None = None,
    *,
    api_key: str | None = None,
    model: Any = None,
    embedder: Any = None,
) -> Any:
    """The official `agentplatform.Client`, sync and async (`.aio`), over a bank of one's own.

    The bank that the URI names is made where it is missing, so that `reasoningEngines/default` is there at once. Keep
    the client: its parts, such as `.aio.memory_banks`, stop working when it is collected. A store in process is closed
    then.

    Args:
        store: `memorybank:///./folder`, in process and with no port; `memorybank+http://host:port` or `http://…` of a
            server; or banks, which who made them closes. By default `ADK_MEMORYBANK_URI`, else `memorybank:///./memory`.
        api_key: for a server.
        model, embedder: as for `MemoryBanks`; a server has its own.

    Raises:
        FailedPrecondition: the official SDK is not installed.
        InvalidArgument: the URI or an option is wrong.
    """
    kind = _class_of("agentplatform")
    return _way_to(store, api_key=api_key, model=model, embedder=embedder).client(kind)


def vertex_memory_bank_service(
    store: str | MemoryBanks | None = None,
    *,
    bank: str | None = None,
    api_key: str | None = None,
    model: Any = None,
    embedder: Any = None,
) -> VertexAiMemoryBankService:
    """ADK's own `VertexAiMemoryBankService` over a bank of one's own, through the hook that ADK has for it.

    Args:
        store, api_key, model, embedder: as for `client`.
        bank: its id; the URI's, or `default`, where it is not given. In process it is made where it is missing.

    Raises:
        FailedPrecondition: the official SDK is not installed.
        InvalidArgument: the URI or an option is wrong.
    """
    from google.adk.memory import vertex_ai_memory_bank_service as official

    # ADK 1.x uses the client that came before, and makes one for each call, which may be collected while that runs.
    has_hook = hasattr(official.VertexAiMemoryBankService, "_build_api_client")
    kind = _class_of("agentplatform" if has_hook else "vertexai")
    way = _way_to(store, bank=bank, api_key=api_key, model=model, embedder=embedder)
    clients: dict[asyncio.AbstractEventLoop, Any] = {}

    class LocalMemoryBankService(official.VertexAiMemoryBankService):
        def _build_api_client(self) -> Any:
            return way.client(kind).aio

        def _get_api_client(self) -> Any:
            if has_hook:
                return cast("Any", super()._get_api_client())
            loop = asyncio.get_running_loop()
            for other in list(clients):
                if other.is_closed():
                    clients.pop(other, None)
            if loop not in clients:
                clients[loop] = self._build_api_client()
            return clients[loop]

    return LocalMemoryBankService(project=PROJECT, location=LOCATION, agent_engine_id=way.bank_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """How a client gets to a store."""

    http_options: dict[str, Any]
    bank_id: str
    key: str = field(default=_NO_KEY, repr=False)

    def client(self, kind: Any) -> Any:
        from google.oauth2.credentials import Credentials

        # Any token will do where no key is asked for; none is refreshed.
        credentials = Credentials(token=self.key)
        return kind(project=PROJECT, location=LOCATION, credentials=credentials, http_options={**self.http_options})


def _class_of(package: str) -> Any:
    try:
        made = importlib.import_module(package)
    except ImportError as error:
        raise FailedPrecondition(
            f"the official client ({package}) is not installed: pip install 'adk-memorybank[sdk]'"
        ) from error
    _ = made.types if package == "agentplatform" else None  # the submodule exists only once it was touched
    return made.Client


def _way_to(
    store: str | MemoryBanks | None, *, bank: str | None = None, api_key: str | None, model: Any, embedder: Any
) -> _Way:
    if bank is not None:
        validate_bank_id(bank)
    if isinstance(store, MemoryBanks):
        if model is not None or embedder is not None:
            raise InvalidArgument("the banks have it already", field="embedder" if model is None else "model")
        return _in_process(store, bank, owned=False)
    uri = f"memorybank+{store}" if store and store.startswith(("http://", "https://")) else store
    settings = read_settings(uri, model=model, embedder=embedder)
    if settings.url is None:
        return _in_process(MemoryBanks(settings=settings), bank, owned=True)
    key = api_key or settings.api_key or _NO_KEY
    return _Way(http_options={"base_url": settings.url}, bank_id=bank or settings.bank_id, key=key)


def _in_process(banks: MemoryBanks, bank: str | None, *, owned: bool) -> _Way:
    thread = LoopThread("adk_memorybank.sdk")
    closing = banks if owned else None
    bank_id = bank or banks.settings.bank_id
    try:
        opened = banks.open(bank_id=None if bank_id == banks.settings.bank_id else bank_id)
        thread.call_sync(opened, timeout=60.0)
    except BaseException:
        _end(thread, closing)
        raise
    asgi = httpx.ASGITransport(app=create_app(banks), raise_app_exceptions=False)
    transport = _SyncTransport(asgi, thread)
    weakref.finalize(transport, _end, thread, closing).atexit = False  # at exit a store ends by itself
    asgi_of_both = {"client_args": {"transport": transport}, "async_client_args": {"transport": asgi}}
    return _Way(http_options={"base_url": _IN_PROCESS, **asgi_of_both}, bank_id=bank_id)


def _end(thread: LoopThread, banks: MemoryBanks | None) -> None:
    """Closes the banks behind the caller, and then the thread."""
    if banks is None or not thread.alive:  # in a child process after a fork there is nothing to close
        thread.stop(timeout=0)
        return
    thread.submit(banks.close()).add_done_callback(lambda _: thread.stop(timeout=0))


class _SyncTransport(httpx.BaseTransport):
    """Requests of a synchronous client, answered by the application on a loop of its own."""

    def __init__(self, transport: httpx.ASGITransport, thread: LoopThread) -> None:
        self._transport = transport
        self._thread = thread

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        return self._thread.call_sync(self._answer(request))

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        sent = httpx.Request(request.method, request.url, headers=request.headers, content=request.content)
        response = await self._transport.handle_async_request(sent)
        return httpx.Response(response.status_code, headers=response.headers, content=await response.aread())
