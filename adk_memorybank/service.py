"""The face that ADK sees: a `BaseMemoryService` for Runner, `adk web` and AdkApp."""

from __future__ import annotations

import functools
import logging
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types

from adk_memorybank.custom_metadata import (
    OWN_KEY,
    EventsRequest,
    entry_texts,
    events_request,
    is_consolidation_enabled,
    memory_options,
    tell_left_out,
)
from adk_memorybank.errors import EngineClosed, InvalidArgument
from adk_memorybank.events import Event as ReadEvent
from adk_memorybank.events import read_events, read_session
from adk_memorybank.resources import MAX_DIRECT_MEMORIES
from adk_memorybank.settings import Settings, read_settings

if TYPE_CHECKING:
    from google.adk.events.event import Event
    from google.adk.sessions.session import Session

    from adk_memorybank.bank import MemoryBank
    from adk_memorybank.banks import MemoryBanks
    from adk_memorybank.clock import Clock
    from adk_memorybank.resources import Forgotten, MemoryProfile, Operation, RetrievedMemory

logger = logging.getLogger("google_adk.adk_memorybank.service")

ScopeBuilder = Callable[..., dict[str, str]]

_MOST_NAMES = 1_000
"""Operations that a service remembers for `flush`, save where so many are unfinished."""
_MOST_FAILED = 500
"""Of those that failed, how many it still remembers when there are too many."""
_LONGEST_WAIT = 300.0
"""Seconds that `wait_for_completion` waits: the worker may be down, or the model out of reach for hours."""
_BLOCK_TAG = re.compile(r"<(\s*(?:/\s*)?PAST_CONVERSATIONS\s*)(>?)", re.IGNORECASE)


class MemoryBankService(BaseMemoryService):
    """Memory for ADK agents, in a folder of your own.

    Safe to use from several event loops and threads, and after the loop that it was first used on has closed.

        service = MemoryBankService("memorybank:///./memory")

    Args:
        uri: `memorybank:///./folder`, or with four slashes an absolute folder. Options follow as a query: `bank`,
            `model`, `embedding_model`, `config`, `app_name`, `scope`, `top_k`. By default ADK_MEMORYBANK_URI, else
            `memorybank:///./memory`.
        config: of the bank: a mapping, a YAML file, or `ManagedSemanticMemoryConfig`. Where it differs from what is
            stored, it takes its place.
        model: a name such as `offline`, or a generator.
        embedder: a name such as `local`, or an object.
        app_name: stands for every app's name in the scope.
        scope_builder: `(*, app_name, user_id) -> dict[str, str]`, in place of the scope of both.
        top_k: memories that a search returns at most; 10 by default.
        agents_dir: what a relative folder is taken against. ADK's service registry hands it over.
        clock: for tests.
        options: further keywords of ADK's service registry, which are not needed here; their names are logged.

    Raises:
        InvalidArgument: the URI or an option is wrong. Nothing is opened before the first use.
    """

    def __init__(
        self,
        uri: str | None = None,
        *,
        config: Any = None,
        model: Any = None,
        embedder: Any = None,
        app_name: str | None = None,
        scope_builder: ScopeBuilder | None = None,
        top_k: int | None = None,
        agents_dir: str | os.PathLike[str] | None = None,
        clock: Clock | None = None,
        **options: Any,
    ) -> None:
        if scope_builder is not None and not callable(scope_builder):
            raise InvalidArgument("should be a function of `app_name` and `user_id`", field="scope_builder")
        if options:
            logger.warning("keywords that are not known are passed over: %s", ", ".join(sorted(options)))
        self._settings: Settings = read_settings(
            uri,
            agents_dir=agents_dir,
            model=model,
            embedder=embedder,
            config=config,
            app_name=app_name,
            top_k=top_k,
        )
        self._scope_builder = scope_builder
        self._clock = clock
        self._lock = threading.Lock()
        self._banks: MemoryBanks | None = None
        self._bank: MemoryBank | None = None
        self._accepted: dict[str, None] = {}
        self._prune_at = _MOST_NAMES
        self._closed = False

    async def add_session_to_memory(self, session: Session) -> None:
        """Remembers a session. It is durable when this returns; memories are made of it behind the scenes.

        Of a session that was added before, only the new events are read.
        """
        events = read_session(session)
        scope = self.scope(app_name=session.app_name, user_id=session.user_id)
        await self._ingest(scope, events, stream=session.id, request=events_request(None))

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remembers some events, such as the latest turn.

        Args:
            app_name: of the app.
            user_id: of the user.
            events: those that were added before with the same session are passed over.
            session_id: of their session; without one, the stream `default` takes them.
            custom_metadata: as for ADK's `VertexAiMemoryBankService`: `stream_id`, `force_flush` and
                `generation_trigger_config`; `ttl` (of the revisions, as there), `revision_ttl`,
                `revision_expire_time`, `revision_labels`, `disable_memory_revisions`, `metadata`,
                `metadata_merge_strategy`, `disable_consolidation`, `allowed_topics` and `wait_for_completion`.
                Whatever else is kept as metadata of the memories, each value with its type.
        """
        read = read_events(events, session_id=session_id or "")
        scope = self.scope(app_name=app_name, user_id=user_id)
        request = events_request(custom_metadata)
        await self._ingest(scope, read, stream=request.stream_id or session_id or "", request=request)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Stores memories as they stand, word for word.

        Args:
            app_name: of the app.
            user_id: of the user.
            memories: `id` is kept, `author` and `timestamp` too; an entry's own `custom_metadata` goes before the
                call's.
            custom_metadata: `ttl`, `expire_time`, `memory_id`, `display_name`, `description`, `topics`, `metadata`
                and those about revisions; whatever else is kept as metadata. With `enable_consolidation` True the
                memories are merged with what is there instead.

        Raises:
            TypeError, ValueError: an entry is not a text, by its index.
            AlreadyExists: an id is taken. Nothing was stored.
        """
        texts = entry_texts(memories)
        scope = self.scope(app_name=app_name, user_id=user_id)
        if is_consolidation_enabled(custom_metadata):
            request = events_request(custom_metadata)
            tell_left_out(memories)
            bank = await self._open()
            for start in range(0, len(texts), MAX_DIRECT_MEMORIES):
                batch = texts[start : start + MAX_DIRECT_MEMORIES]
                operation = await bank.generate(scope=scope, direct_memories=batch, options=request.options, wait=False)
                await self._accept(operation, wait=request.wait)
            return
        options = [memory_options(entry, custom_metadata, index=index) for index, entry in enumerate(memories)]
        bank = await self._open()
        await bank.create_all(scope=scope, memories=list(zip(texts, options, strict=True)))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """The memories of this user that answer a query best, by meaning and words, the best first.

        Each carries its `id`, `author`, `timestamp` and metadata, and in `custom_metadata["memory_bank"]` its topics,
        distance, score, sources and times.

        Raises:
            StoreInUse: another process owns the store's vectors.
        """
        bank = await self._open()
        scope = self.scope(app_name=app_name, user_id=user_id)
        found = await bank.retrieve(scope=scope, query=query, top_k=self._settings.top_k)
        return SearchMemoryResponse(memories=[_entry(one) for one in found])

    async def retrieve_profiles(self, *, app_name: str, user_id: str) -> list[MemoryProfile]:
        """The profiles of this user, one for each schema of which anything is known.

        This is what ADK's `VertexAiLoadProfilesTool(memory_service=…)` asks for.
        """
        bank = await self._open()
        profiles = await bank.retrieve_profiles(scope=self.scope(app_name=app_name, user_id=user_id))
        return [*profiles.values()]

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Deletes one memory of this user.

        Raises:
            InvalidArgument: the id is missing.
            NotFound: this user has no such memory.
        """
        if not memory_id:
            raise InvalidArgument("is missing; to remove all of a user's memories call `forget`", field="memory_id")
        bank = await self._open()
        await bank.delete(name=memory_id, scope=self.scope(app_name=app_name, user_id=user_id))

    async def forget(self, *, app_name: str, user_id: str) -> Forgotten:
        """Removes everything about a user of an app at once and for good: memories, revisions, events, vectors.

        Adding the same sessions again brings nothing back; what the user says from now on is remembered.
        """
        bank = await self._open()
        return await bank.forget(scope=self.scope(app_name=app_name, user_id=user_id))

    async def flush(self, *, timeout: float | None = 60.0, force: bool = False) -> list[Operation]:
        """Waits for everything that was accepted through this service since its last flush.

        Args:
            timeout: seconds; what has not ended by then is returned as it is and waited for again next time.
            force: fires the triggers of what still waits in the streams of the bank first.

        Returns:
            The operations, each with `done` and, where it failed, `error`. Of more than a thousand since the last
            flush those that ended well may be left out.
        """
        bank = await self._open()
        if force:
            for scope in await bank.waiting_scopes():
                for operation in await bank.flush(scope=scope):
                    await self._accept(operation, wait=False)
        with self._lock:
            names = list(self._accepted)
        if not names:
            return []
        ended = await bank.operations.wait(names, timeout=timeout)
        open_ones = {operation.name for operation in ended if not operation.done}
        with self._lock:
            for name in names:
                if name not in open_ones:
                    self._accepted.pop(name, None)
        return ended

    async def close(self, *, timeout: float = 10.0) -> None:
        """Stops taking work, waits `timeout` seconds for what runs, and leaves the rest durable."""
        with self._lock:
            self._closed = True
            banks, self._banks, self._bank = self._banks, None, None
        if banks is not None:
            await banks.close(timeout=timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def banks(self) -> MemoryBanks:
        """The store behind this service; of one that another process serves, a part of the methods.

        Raises:
            EngineClosed: the service was closed.
        """
        with self._lock:
            if self._closed:
                raise EngineClosed("the service was closed; make a new one to go on")
            if self._banks is None:
                self._banks = self._store()
            return self._banks

    def _store(self) -> MemoryBanks:
        if self._settings.url is not None:
            from adk_memorybank.remote import RemoteBanks

            return cast("MemoryBanks", RemoteBanks(self._settings))  # it has the methods that are used here
        from adk_memorybank.banks import MemoryBanks

        return MemoryBanks(settings=self._settings, clock=self._clock)

    async def bank(self) -> MemoryBank:
        """The bank behind this service: its operations, revisions and everything that ADK's methods don't offer."""
        return await self._open()

    def scope(self, *, app_name: str, user_id: str) -> dict[str, str]:
        """The scope of a user of an app, as this service builds it."""
        if self._scope_builder is not None:
            return self._scope_builder(app_name=app_name, user_id=user_id)
        pairs = {"app_name": self._settings.app_name or app_name, "user_id": user_id}
        keys = self._settings.scope_keys
        return {key: value for key, value in pairs.items() if not keys or key in keys}

    async def _open(self) -> MemoryBank:
        banks = self.banks
        bank = self._bank
        if bank is None or not bank.alive:
            bank = self._bank = await banks.open()
        return bank

    async def _ingest(
        self, scope: dict[str, str], events: Sequence[ReadEvent], *, stream: str, request: EventsRequest
    ) -> None:
        bank = await self._open()

        async def ingest() -> Operation | None:
            operation = await bank.ingest_events(
                scope=scope,
                events=events,
                stream_id=stream,
                generation_trigger_config=request.trigger,
                force_flush=request.force_flush or (request.at_once and bool(events)),
                # A key that only a generation understands makes it one, its defaults included.
                options=request.options.of_kind("generate" if request.at_once else "ingest"),
            )
            await self._accept(operation, wait=False)
            return operation

        # On the store's loop, so that `flush` knows what was accepted also where the caller is cancelled meanwhile.
        operation = await self.banks.call(ingest())
        await self._accept(operation, wait=request.wait)

    async def _accept(self, operation: Operation | None, *, wait: bool) -> None:
        if operation is None:
            return
        with self._lock:
            self._accepted[operation.name] = None
            full = len(self._accepted) > self._prune_at
            if full:
                self._prune_at *= 2  # nobody else prunes meanwhile
        if full:
            await self._prune()
        if wait:
            bank = await self._open()
            ended = await bank.operations.wait([operation.name], timeout=_LONGEST_WAIT)
            for one in (one for one in ended if not one.done):
                logger.warning("%s has not ended after %.0f s; it goes on in the background", one.name, _LONGEST_WAIT)

    async def _prune(self) -> None:
        """Lets go of operations that ended well, and of old failures: a process may never flush."""
        bank = await self._open()
        with self._lock:
            names = list(self._accepted)
        found = {operation.name: operation for operation in await bank.operations.wait(names, timeout=0)}
        failed = [name for name in names if name in found and found[name].error is not None]
        kept = {*failed[-_MOST_FAILED:], *(name for name, operation in found.items() if not operation.done)}
        with self._lock:
            for name in names:
                if name not in kept:
                    self._accepted.pop(name, None)
            self._prune_at = max(_MOST_NAMES, 2 * len(self._accepted))


def memory_bank_service_builder(uri: str | None = None, **options: Any) -> Callable[[], MemoryBankService]:
    """A builder for `AdkApp(memory_service_builder=…)`: picklable, and opening nothing until it is called.

    Args:
        uri: as for `MemoryBankService`.
        options: its other keywords.

    Raises:
        InvalidArgument: the URI or an option is wrong: said here, not after the deployment.
    """
    MemoryBankService(uri, **options)
    return functools.partial(MemoryBankService, uri, **options)


def _entry(found: RetrievedMemory) -> MemoryEntry:
    memory = found.memory
    said = memory.event_time or memory.update_time
    return MemoryEntry(
        id=memory.id,
        author=_harmless(memory.author),
        timestamp=said.isoformat(),
        content=types.Content(role="user", parts=[types.Part(text=_harmless(memory.fact))]),
        custom_metadata={
            **memory.metadata,
            OWN_KEY: {
                "topics": memory.topics,
                "distance": found.distance,
                "score": found.score,
                "sources": [source.model_dump() for source in memory.sources],
                "create_time": memory.create_time.isoformat(),
                "update_time": memory.update_time.isoformat(),
                "expire_time": memory.expire_time.isoformat() if memory.expire_time else None,
            },
        },
    )


def _harmless(text: str) -> str:
    """Text that can't open or close the block in which ADK's `preload_memory` shows it to the model."""
    return _BLOCK_TAG.sub(lambda tag: f"‹{tag[1]}{tag[2] and '›'}", text)
