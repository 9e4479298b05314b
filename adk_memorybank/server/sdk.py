"""The official clients, pointed at a bank of one's own: in process, with no port, or at a server."""

from __future__ import annotations

import importlib
import weakref
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


def client(store: str | MemoryBanks = "memorybank:///./memory", *, api_key: str | None = None, **options: Any) -> Any:
    """The official `agentplatform.Client`, sync and async (`.aio`), over a bank of one's own.

    The bank that the URI names is made where it is missing, so that `reasoningEngines/default` is there at once. Keep
    the client: `.aio` stops working when it is collected.

    Args:
        store: `memorybank:///./folder`, in process and with no port; `memorybank+http://host:port` or `http://…` of a
            server; or banks, which who made them closes.
        api_key: for a server.
        options: keywords of `MemoryBanks`, such as `model` and `embedder`.

    Raises:
        FailedPrecondition: the official SDK is not installed.
        InvalidArgument: the URI or an option is wrong.
    """
    return _make(_class_of("agentplatform"), _http_options(store, options), _key_of(store, api_key))


def vertex_memory_bank_service(
    store: str | MemoryBanks = "memorybank:///./memory",
    *,
    bank: str = "default",
    api_key: str | None = None,
    **options: Any,
) -> VertexAiMemoryBankService:
    """ADK's own `VertexAiMemoryBankService` over a bank of one's own, through the hook that ADK has for it.

    Args:
        store, api_key, options: as for `client`.
        bank: its id.

    Raises:
        FailedPrecondition: the official SDK is not installed.
        InvalidArgument: the URI or an option is wrong.
    """
    from google.adk.memory import vertex_ai_memory_bank_service as official

    http_options, key = _http_options(store, options), _key_of(store, api_key)
    # ADK 1.x uses the client that came before.
    has_hook = hasattr(official.VertexAiMemoryBankService, "_build_api_client")
    kind = _class_of("agentplatform" if has_hook else "vertexai")
    kept: list[Any] = []

    class LocalMemoryBankService(official.VertexAiMemoryBankService):
        def _build_api_client(self) -> Any:
            made = _make(kind, http_options, key)
            kept.append(made)  # its async half doesn't keep it
            return made.aio

        def _get_api_client(self) -> Any:
            return cast("Any", super()._get_api_client()) if has_hook else self._build_api_client()

    return LocalMemoryBankService(project=PROJECT, location=LOCATION, agent_engine_id=validate_bank_id(bank))


def _class_of(package: str) -> Any:
    try:
        made = importlib.import_module(package)
    except ImportError as error:
        raise FailedPrecondition(
            f"the official client ({package}) is not installed: pip install 'adk-memorybank[sdk]'"
        ) from error
    _ = made.types if package == "agentplatform" else None  # the submodule exists only once it was touched
    return made.Client


def _make(kind: Any, http_options: dict[str, Any], key: str) -> Any:
    from google.oauth2.credentials import Credentials

    credentials = Credentials(token=key)  # any token will do where no key is asked for; none is refreshed
    return kind(project=PROJECT, location=LOCATION, credentials=credentials, http_options=http_options)


def _key_of(store: str | MemoryBanks, api_key: str | None) -> str:
    if isinstance(store, str) and store.startswith("memorybank+"):
        return api_key or read_settings(store).api_key or _NO_KEY
    return api_key or _NO_KEY


def _http_options(store: str | MemoryBanks, options: dict[str, Any]) -> dict[str, Any]:
    if isinstance(store, str) and store.startswith(("http://", "https://", "memorybank+")):
        if options:
            raise InvalidArgument(
                "the server has chosen it: give it to `adk-memorybank serve`", field=next(iter(options))
            )
        url = read_settings(store if store.startswith("memorybank+") else f"memorybank+{store}").url
        return {"base_url": url}
    thread = LoopThread("adk_memorybank.sdk")
    banks = store if isinstance(store, MemoryBanks) else MemoryBanks(store, **options)
    thread.call_sync(banks.open(), timeout=60.0)
    app = create_app(banks)
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    return {
        "base_url": _IN_PROCESS,
        "client_args": {"transport": _SyncTransport(transport, thread)},
        "async_client_args": {"transport": transport},
    }


class _SyncTransport(httpx.BaseTransport):
    """Requests of a synchronous client, answered by the application on a loop of its own."""

    def __init__(self, transport: httpx.ASGITransport, thread: LoopThread) -> None:
        self._transport = transport
        self._thread = thread
        weakref.finalize(self, thread.stop, timeout=0)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        return self._thread.call_sync(self._answer(request))

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        sent = httpx.Request(request.method, request.url, headers=request.headers, content=request.content)
        response = await self._transport.handle_async_request(sent)
        return httpx.Response(response.status_code, headers=response.headers, content=await response.aread())
