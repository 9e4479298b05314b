"""Banks that another process serves: the same methods as `MemoryBanks` and `MemoryBank`, over HTTP.

Several ADK processes share one store in this way: one of them, or none, runs `adk-memorybank serve`.
"""

from __future__ import annotations

import asyncio
import functools
import json
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar, cast

import httpx

from adk_memorybank import errors
from adk_memorybank.bank import WAIT, MemoryBank
from adk_memorybank.bank_operations import BankOperations
from adk_memorybank.config import GenerationTriggerConfig, ManagedSemanticMemoryConfig, load_config, set_fields
from adk_memorybank.errors import EngineClosed, InvalidArgument, MemoryBankError, Unavailable
from adk_memorybank.events import read_events, read_session
from adk_memorybank.options import GenerationOptions, MemoryOptions
from adk_memorybank.protocol import MEMORIES, OPERATIONS, PATH, methods
from adk_memorybank.reindexing import Progress
from adk_memorybank.resources import Call, Memory, Operation, bank_name, clean_json, clean_text, validate_scope
from adk_memorybank.settings import Settings
from adk_memorybank.threads import LoopThread

T = TypeVar("T")

_TIMEOUT = httpx.Timeout(60.0, connect=10.0)
_UNHURRIED = httpx.Timeout(None, connect=10.0)
_POLL = 20.0
"""Seconds that the server is asked to wait at a time: less than proxies commonly allow."""


class Connection:
    """HTTP to one server, on a thread and event loop of its own: callers come from several and may close theirs.

    Args:
        settings: its `url` and `api_key` are used.
        transport: in place of the network, for tests.
    """

    def __init__(self, settings: Settings, *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        headers = {} if settings.api_key is None else {"x-goog-api-key": settings.api_key}
        self.url = settings.url or ""
        self._thread = LoopThread("adk_memorybank.remote")
        self._http = httpx.AsyncClient(
            base_url=self.url,
            headers={**headers, "content-type": "application/json"},
            transport=transport or httpx.AsyncHTTPTransport(retries=2),
        )

    @property
    def alive(self) -> bool:
        """False once closed, and in a child process after a fork."""
        return self._thread.alive

    async def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine on the connection's loop. A cancelled caller doesn't cancel it."""
        return await self._thread.call(coroutine)

    async def post(self, path: str, body: bytes, *, timeout: httpx.Timeout = _TIMEOUT) -> bytes:
        """One request. On the connection's loop only.

        Raises:
            Unavailable: the server can't be reached, or did not answer in time.
            MemoryBankError: what the server answered.
        """
        try:
            response = await self._http.post(PATH + path, content=body, timeout=timeout)
        except httpx.HTTPError as error:
            raise Unavailable(
                f"the memory bank at {self.url} can't be reached ({type(error).__name__}: {error}): is "
                "`adk-memorybank serve` running there?"
            ) from error
        if response.is_success:
            return response.content
        raise _error_of(response)

    async def close(self) -> None:
        if self.alive:
            await self._thread.call(self._http.aclose())
        await asyncio.to_thread(self._thread.stop)


class RemoteBanks:
    """As far as `MemoryBankService` needs it, `MemoryBanks` of another process."""

    def __init__(self, settings: Settings, *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.settings = settings
        self._transport = transport
        self._connection: Connection | None = None
        self._closed = False
        self._lock = threading.Lock()

    @property
    def connection(self) -> Connection:
        """Made when it is first used, and anew in a child process.

        Raises:
            EngineClosed: this was closed.
        """
        with self._lock:
            if self._closed:
                raise EngineClosed("it was closed; make a new one to go on")
            if self._connection is None or not self._connection.alive:
                self._connection = Connection(self.settings, transport=self._transport)
            return self._connection

    async def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """As `MemoryBanks.call`."""
        return await self.connection.call(coroutine)

    async def open(self) -> MemoryBank:
        """The bank that the settings name, made where it is missing, with the configuration that they give."""
        connection = self.connection
        wanted: dict[str, Any] = {}
        if self.settings.config is not None:
            wanted["config"] = set_fields(load_config(self.settings.config))
        path = f"/{self.settings.bank_id}:open"
        told = json.loads(await connection.call(connection.post(path, json.dumps(wanted).encode())))
        return cast("MemoryBank", RemoteBank(connection, self.settings.bank_id, told))  # it has the same methods

    async def close(self, *, timeout: float = 10.0) -> None:
        """Closes the connection. What was accepted goes on at the server, whatever `timeout` is."""
        with self._lock:
            self._closed = True
            connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class _Methods:
    """Methods by name, each of them one request."""

    def __init__(self, connection: Connection, bank_id: str, names: Sequence[str], prefix: str = "") -> None:
        self._connection = connection
        self._id = bank_id
        self._names = frozenset(names)
        self._prefix = prefix

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        if name.startswith("_") or name not in self._names:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return functools.partial(self._invoke, name)

    async def _invoke(self, name: str, /, *positional: Any, **given: Any) -> Any:
        return await self._ask(name, positional, given)

    async def _ask(
        self, name: str, positional: Sequence[Any], given: dict[str, Any], *, timeout: httpx.Timeout = _TIMEOUT
    ) -> Any:
        method = methods()[self._prefix + name]
        if len(positional) > len(method.parameters):
            raise TypeError(f"{name}() takes {len(method.parameters)} arguments but {len(positional)} were given")
        given |= dict(zip(method.parameters, positional, strict=False))
        if given.get("scope") is not None:
            given["scope"] = validate_scope(given["scope"])
        body = method.encode({key: _plain(value) for key, value in given.items()})
        answer = await self._connection.call(self._connection.post(f"/{self._id}/{method.name}", body, timeout=timeout))
        return method.result.validate_json(answer)


class RemoteOperations(_Methods):
    """`bank.operations` of another process."""

    def __init__(self, connection: Connection, bank_id: str) -> None:
        super().__init__(connection, bank_id, OPERATIONS, "operations.")

    async def wait(self, names: Sequence[str], *, timeout: float | None = None) -> list[Operation]:
        """As `BankOperations.wait`, in requests that each wait a while."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _POLL if deadline is None else max(0.0, min(_POLL, deadline - time.monotonic()))
            found: list[Operation] = await self._invoke("wait", names=list(names), timeout=left)
            if all(operation.done for operation in found):
                return found
            if deadline is not None and time.monotonic() >= deadline:
                return found


class RemoteBank(_Methods):
    """A `MemoryBank` of another process: the same methods, arguments, results and errors."""

    def __init__(self, connection: Connection, bank_id: str, told: Mapping[str, Any]) -> None:
        super().__init__(connection, bank_id, MEMORIES)
        self._told = told
        self.operations = cast("BankOperations", RemoteOperations(connection, bank_id))  # the same methods

    @property
    def name(self) -> str:
        return bank_name(self._id)

    @property
    def display_name(self) -> str:
        return self._told["display_name"]

    @property
    def managed_semantic_memory_config(self) -> ManagedSemanticMemoryConfig:
        """As it was when the bank was opened."""
        return ManagedSemanticMemoryConfig.parse(self._told["config"])

    @property
    def model(self) -> str:
        return self._told["model"]

    @property
    def embedder(self) -> str:
        return self._told["embedder"]

    @property
    def alive(self) -> bool:
        return self._connection.alive

    async def ingest_events(
        self, *, events: Sequence[Any] = (), session_id: str = "", **given: Any
    ) -> Operation | None:
        """As `MemoryBank.ingest_events`."""
        read = read_events(events, session_id=session_id)
        return await self._invoke("ingest_events", events=read, **_with_rule(given))

    async def ingest(self, *, events: Sequence[Any] = (), session_id: str = "", **given: Any) -> Call:
        """As `MemoryBank.ingest`."""
        read = read_events(events, session_id=session_id)
        return await self._invoke("ingest", events=read, **_with_rule(given))

    async def generate(
        self,
        *,
        scope: Mapping[str, str] | None = None,
        events: Sequence[Any] | None = None,
        session: Any = None,
        options: GenerationOptions | None = None,
        wait: bool = True,
        timeout: float | None = WAIT,
        **given: Any,
    ) -> Operation:
        """As `MemoryBank.generate`."""
        chosen = (options or GenerationOptions()).of_kind("generate")
        if events is not None:
            given["events"] = read_events(events)
        if session is None or isinstance(session, str):
            if session is not None:
                given["session"] = session
            operation: Operation = await self._invoke("generate", scope=scope, options=chosen, wait=False, **given)
        elif given:
            raise InvalidArgument("give exactly one of events, direct_memories and session", field="events")
        else:
            scope = {"user_id": str(session.user_id)} if scope is None else scope
            accepted = await self.ingest_events(
                scope=scope,
                events=read_session(session),
                stream_id=clean_text(str(session.id)),
                force_flush=True,
                options=chosen,
            )
            # Where nothing of it was new, a generation from nothing stands for it.
            operation = accepted or await self._invoke("generate", scope=scope, events=[], options=chosen, wait=False)
        if not wait:
            return operation
        ended = (await self.operations.wait([operation.name], timeout=timeout))[0]
        if ended.error is not None:
            raise ended.error.as_exception()
        return ended

    async def reindex(self, *, embedder: str | None = None, progress: Progress | None = None) -> int:
        """As `MemoryBank.reindex`, however long it takes; should the connection break, the server still goes on.

        Args:
            embedder: by its name, as the server can use it.
            progress: told at the end only.

        Raises:
            InvalidArgument: the embedder is an object.
        """
        if embedder is not None and not isinstance(embedder, str):  # pyright: ignore[reportUnnecessaryIsInstance]: callers may not check types
            raise InvalidArgument("a bank that is served takes the name of one", field="embedder")
        made: int = await self._ask("reindex", (), {"embedder": embedder}, timeout=_UNHURRIED)
        if progress is not None:
            progress(made, made)
        return made

    async def create(self, *, scope: Mapping[str, str], fact: str, options: MemoryOptions | None = None) -> Memory:
        """As `MemoryBank.create`."""
        created = await self._invoke("create_all", scope=scope, memories=[(fact, options or MemoryOptions())])
        return created[0]


def _with_rule(given: dict[str, Any]) -> dict[str, Any]:
    trigger = given.get("generation_trigger_config")
    if trigger is not None:
        given["generation_trigger_config"] = GenerationTriggerConfig.parse(trigger, field="generation_trigger_config")
    return given


def _plain(value: Any) -> Any:
    """What JSON can't hold, as the bank itself would replace it."""
    return clean_json(value) if isinstance(value, str | Mapping) else value


def _error_of(response: httpx.Response) -> MemoryBankError:
    """The error that the server answered with, as the bank there raised it."""
    try:
        told = response.json()["error"]
        message, status = str(told["message"]), str(told["status"])
        details = {detail.get("@type", "").rpartition(".")[2]: detail for detail in told.get("details", [])}
    except (ValueError, KeyError, TypeError, AttributeError):
        return Unavailable(f"{response.url} answered {response.status_code}: is it a memory bank that is served there?")
    kind = getattr(errors, details.get("ErrorInfo", {}).get("reason", ""), None) or _OF_STATUS.get(status)
    made = kind if isinstance(kind, type) and issubclass(kind, MemoryBankError) else MemoryBankError
    if not issubclass(made, InvalidArgument):
        return made(message)
    violations: list[dict[str, str]] = details.get("BadRequest", {}).get("fieldViolations") or [{}]
    field = violations[0].get("field", "")
    return made(message.removeprefix(f"{field}: "), field=field)


_OF_STATUS: Mapping[str, type[MemoryBankError]] = {
    kind.status: kind
    for kind in (
        errors.InvalidArgument,
        errors.NotFound,
        errors.AlreadyExists,
        errors.FailedPrecondition,
        errors.Unauthenticated,
        errors.PermissionDenied,
        errors.ResourceExhausted,
        errors.Cancelled,
        errors.Unavailable,
    )
}
