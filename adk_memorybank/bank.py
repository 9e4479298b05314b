"""One bank: what every face calls."""

from __future__ import annotations

import logging
from collections.abc import Coroutine, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar, get_args

from adk_memorybank.bank_operations import BankOperations
from adk_memorybank.config import GenerationTriggerConfig, ManagedSemanticMemoryConfig, MemoryTopicId
from adk_memorybank.engine import Engine
from adk_memorybank.errors import InvalidArgument, NotFound
from adk_memorybank.events import MAX_ID_BYTES, read_events, read_session
from adk_memorybank.intake import Intake
from adk_memorybank.memories import Memories
from adk_memorybank.operations.streams import DEFAULT_STREAM
from adk_memorybank.options import GenerationOptions, MemoryOptions
from adk_memorybank.parts import BankParts
from adk_memorybank.resources import (
    MAX_DIRECT_MEMORIES,
    Forgotten,
    Memory,
    MemoryProfile,
    MemoryRevision,
    MemoryType,
    MetadataValue,
    Operation,
    RetrievedMemory,
    Scope,
    bank_name,
    canonical_scope,
    clean_text,
    id_in,
    validate_memory_id,
    validate_scope,
)
from adk_memorybank.retrieval.ranking import Order
from adk_memorybank.retrieval.search import Search
from adk_memorybank.storage import records
from adk_memorybank.storage.changes import Change

logger = logging.getLogger("google_adk.adk_memorybank.bank")

T = TypeVar("T")

WAIT = 300.0
"""Seconds that `generate` waits for its end by default."""


class MemoryBank:
    """A bank of memories. Safe to use from several event loops and threads.

    Made by `MemoryBanks`; not meant to be made by hand.

    Attributes:
        operations: the accepted work of this bank.
    """

    def __init__(self, engine: Engine, bank_id: str, parts: BankParts) -> None:
        self._engine = engine
        self._id = bank_id
        self._opened = parts
        self._intake = Intake(engine, bank_id)
        self._memories = Memories(engine, bank_id)
        self._told_empty: set[str] = set()
        self.operations = BankOperations(engine, bank_id)

    @property
    def _parts(self) -> BankParts:
        """As they are now: another handle may have changed the bank since."""
        return self._engine.parts_now(self._id) or self._opened

    @property
    def name(self) -> str:
        return bank_name(self._id)

    @property
    def display_name(self) -> str:
        return self._parts.display_name

    @property
    def managed_semantic_memory_config(self) -> ManagedSemanticMemoryConfig:
        return self._parts.config

    @property
    def model(self) -> str:
        """The name of what generates its memories."""
        return self._parts.generator.name

    @property
    def embedder(self) -> str:
        """The name of what makes its vectors."""
        return self._parts.embedder.name

    @property
    def alive(self) -> bool:
        """False once its store was closed, and in a child process after a fork."""
        return self._engine.alive

    async def ingest_events(
        self,
        *,
        scope: Mapping[str, str],
        events: Sequence[Any] = (),
        session_id: str = "",
        stream_id: str = "",
        generation_trigger_config: GenerationTriggerConfig | Mapping[str, Any] | None = None,
        force_flush: bool = False,
        options: GenerationOptions | None = None,
    ) -> Operation | None:
        """Takes events into a stream. They are durable when this returns; a model reads them later.

        Args:
            scope: whose memories they make.
            events: as `events.read_event` takes them. An event id that the stream has seen is passed over.
            session_id: of the session that they belong to, where there is one.
            stream_id: `default` by default.
            generation_trigger_config: when to read the stream; stays with it. Without any rule, at once.
            force_flush: read all that waits in the stream now.

        Returns:
            The operation that reads them, or None while they wait for their trigger or where none was new.

        Raises:
            InvalidArgument: naming the field.
        """
        read = read_events(events, session_id=session_id)
        rule = None
        if generation_trigger_config is not None:
            trigger = GenerationTriggerConfig.parse(generation_trigger_config, field="generation_trigger_config")
            rule = trigger.generation_rule
        valid = validate_scope(scope)
        stream = _valid_stream(stream_id)
        return await self._call(
            self._intake.ingest(
                valid, read, stream=stream, rule=rule, force=force_flush, options=options or GenerationOptions()
            )
        )

    async def flush(self, *, scope: Mapping[str, str], stream_id: str | None = None) -> list[Operation]:
        """Reads everything that waits in a scope's streams, or in one of them, whatever their triggers say."""
        valid = validate_scope(scope)
        stream = None if stream_id is None else _valid_stream(stream_id)
        return await self._call(self._intake.flush(valid, stream=stream))

    async def generate(
        self,
        *,
        scope: Mapping[str, str],
        events: Sequence[Any] | None = None,
        direct_memories: Sequence[str | Mapping[str, Any]] | None = None,
        session: Any = None,
        options: GenerationOptions | None = None,
        wait: bool = True,
        timeout: float | None = WAIT,
    ) -> Operation:
        """Generates memories from exactly one source.

        Args:
            scope: whose memories they are.
            events: a conversation; read each time, whether it was seen or not.
            direct_memories: at most five facts, as text or `{"fact": …, "topics": […]}`; not extracted, but
                consolidated with what is there.
            session: an ADK session; its events are read once.
            wait: for the end. The operation is durable either way.
            timeout: seconds to wait at most; the operation is returned as it is then.

        Raises:
            InvalidArgument: naming the field.
            MemoryBankError: of the operation, where it failed while this waited.
        """
        valid = validate_scope(scope)
        chosen = (options or GenerationOptions()).of_kind("generate")
        if sum(source is not None for source in (events, direct_memories, session)) != 1:
            raise InvalidArgument("give exactly one of events, direct_memories and session", field="events")
        if session is not None:
            read = read_session(session)
            operation = await self.ingest_events(
                scope=valid, events=read, stream_id=clean_text(str(session.id)), force_flush=True, options=chosen
            )
            if operation is None:  # nothing of it was new
                operation = await self._call(self._intake.generate(valid, [], None, options=chosen))
            return await self._outcome(operation, wait=wait, timeout=timeout)
        read = [] if events is None else read_events(events)
        facts = None if direct_memories is None else _direct_memories(direct_memories)
        operation = await self._call(self._intake.generate(valid, read, facts, options=chosen))
        return await self._outcome(operation, wait=wait, timeout=timeout)

    async def _outcome(self, operation: Operation, *, wait: bool, timeout: float | None) -> Operation:
        if not wait:
            return operation
        ended = (await self.operations.wait([operation.name], timeout=timeout))[0]
        if ended.error is not None:
            raise ended.error.as_exception()
        return ended

    async def create(self, *, scope: Mapping[str, str], fact: str, options: MemoryOptions | None = None) -> Memory:
        """Stores one memory as it stands: no extraction, no consolidation, duplicates allowed.

        Raises:
            InvalidArgument: naming the field.
            AlreadyExists: the id that was chosen is taken.
        """
        return (await self.create_all(scope=scope, memories=[(fact, options or MemoryOptions())]))[0]

    async def create_all(
        self, *, scope: Mapping[str, str], memories: Sequence[tuple[str, MemoryOptions]]
    ) -> Sequence[Memory]:
        """Stores memories as they stand, (fact, options), all of them or none.

        Raises:
            InvalidArgument: naming the field.
            AlreadyExists: an id that was chosen is taken.
        """
        valid = validate_scope(scope)
        checked = [(_valid_fact(fact), options) for fact, options in memories]
        for _, options in checked:
            if options.memory_id is not None:
                validate_memory_id(options.memory_id)

        return await self._call(self._memories.create(valid, checked))

    async def get(self, *, name: str) -> Memory:
        """One memory, by its name or id.

        Raises:
            NotFound: there is none, or it has expired.
        """
        return await self._call(self._memories.get(id_in(self._id, name)))

    async def list(self, *, scope: Mapping[str, str] | None = None) -> list[Memory]:
        """All memories of the bank, or of one scope, the newest first."""
        valid = None if scope is None else validate_scope(scope)
        return [*await self._call(self._memories.list(valid))]

    async def update(
        self,
        *,
        name: str,
        fact: str | None = None,
        topics: Sequence[str] | None = None,
        metadata: Mapping[str, MetadataValue] | None = None,
        display_name: str | None = None,
        description: str | None = None,
        ttl: timedelta | None = None,
        expire_time: datetime | None = None,
    ) -> Memory:
        """Corrects one memory; what is None stays as it is. Metadata is replaced as a whole.

        Raises:
            NotFound: there is no such memory.
            InvalidArgument: naming the field.
        """
        text = None if fact is None else _valid_fact(fact)
        checked = MemoryOptions(
            topics=tuple(topics or ()),
            metadata=dict(metadata or {}),
            display_name=display_name or "",
            description=description or "",
            ttl=ttl,
            expire_time=expire_time,
        )
        change = Change(
            action="update",
            memory_id=id_in(self._id, name),
            fact=text,
            topics=None if topics is None else checked.topics,
            metadata=None if metadata is None else checked.metadata,
            add_metadata=False,
            display_name=None if display_name is None else checked.display_name,
            description=None if description is None else checked.description,
            expire_time=checked.expire_time,
            set_expiry=expire_time is not None,
        )
        return await self._call(self._memories.update(id_in(self._id, name), change, ttl=checked.ttl))

    async def delete(self, *, name: str, scope: Mapping[str, str] | None = None) -> None:
        """Deletes one memory. Its revisions can be listed for 48 hours more.

        Args:
            name: the memory's name or id.
            scope: where given, a memory of another scope is not found.

        Raises:
            NotFound: there is no such memory.
        """
        valid = None if scope is None else validate_scope(scope)

        await self._call(self._memories.delete(id_in(self._id, name), scope=valid))

    async def list_revisions(self, *, name: str) -> list[MemoryRevision]:
        """The revisions of a memory, the newest first."""
        return [*await self._call(self._memories.list_revisions(id_in(self._id, name)))]

    async def get_revision(self, *, name: str) -> MemoryRevision:
        """One revision, by its full name.

        Raises:
            NotFound: there is none, or it has expired.
        """
        memory, _, revision_id = name.partition("/revisions/")
        for revision in await self.list_revisions(name=memory):
            if revision.id == revision_id:
                return revision
        raise NotFound(f"the memory {id_in(self._id, memory)!r} has no revision {revision_id!r}")

    async def rollback(self, *, name: str, target_revision_id: str) -> Memory:
        """Takes a memory back to one of its revisions; a deleted one, too, for 48 hours. Its history stays.

        Args:
            name: the memory's name or id.
            target_revision_id: the revision's id or full name.

        Raises:
            NotFound: there is no such revision, or it has expired.
            FailedPrecondition: the revision is that of the deletion.
        """
        revision_id = id_in(self._id, target_revision_id)
        return await self._call(self._memories.roll_back(id_in(self._id, name), revision_id))

    async def retrieve(
        self,
        *,
        scope: Mapping[str, str],
        query: str | None = None,
        top_k: int | None = None,
        by: Order = "fused",
    ) -> list[RetrievedMemory]:
        """Memories of exactly this scope; the fields of its profiles come by `retrieve_profiles`.

        Args:
            query: what they are ranked by; without it all come, the newest first.
            top_k: at most so many.
            by: `fused` by meaning and words together, `distance` by meaning alone, `words` by words alone: the only
                way that works while another process owns the store.

        Raises:
            StoreInUse: the vectors are needed, and another process owns them.
        """
        valid = validate_scope(scope)
        _check_search(query=query, top_k=top_k, by=by)

        async def retrieve() -> list[RetrievedMemory]:
            if query is None:
                listed = await self._memories.list(valid, memory_types=[MemoryType.NATURAL_LANGUAGE_COLLECTION])
                return [RetrievedMemory(memory=memory) for memory in listed[:top_k]]
            if by != "words":
                await self._engine.need_vectors()
            search = Search(query=clean_text(query), top_k=top_k, by=by, now=self._engine.clock.now())
            found = await self._engine.searcher.search(
                search, bank_id=self._id, scope=valid, embedder=self._parts.embedder
            )
            if found is None:
                await self._tell_empty(valid)
            return found or []

        return await self._call(retrieve())

    async def retrieve_profiles(self, *, scope: Mapping[str, str]) -> dict[str, MemoryProfile]:
        """The profiles of exactly this scope, by the ids of their schemas.

        Only schemas that the configuration has for this scope, and only those of which anything is known.
        """
        return await self._call(self._memories.profiles(validate_scope(scope)))

    async def forget(self, *, scope: Mapping[str, str]) -> Forgotten:
        """Removes everything about a scope at once: memories, revisions, events, operations and vectors.

        When this returns, no byte of its text is left in the store. Adding the same sessions again brings nothing
        back, nor does a generation that was running; new events are remembered again.
        """
        valid = validate_scope(scope)

        async def forget() -> Forgotten:
            async with self._engine.database.read() as connection:
                row = await records.find_scope(connection, bank_id=self._id, scope=valid)
            if row is not None:
                return await self._engine.forget(row)
            await self._engine.erase()  # an earlier call may have been interrupted
            return Forgotten(memories=0, revisions=0, events=0, operations=0)

        return await self._call(forget())

    async def list_scopes(self) -> list[Scope]:
        """The scopes that this bank holds anything of."""

        async def listed() -> list[Scope]:
            async with self._engine.database.read() as connection:
                return [row.pairs for row in await records.list_scopes(connection, bank_id=self._id)]

        return await self._call(listed())

    async def _tell_empty(self, scope: Scope) -> None:
        """Says once which scopes share a value with an empty one: app names differ between `adk web` and AdkApp."""
        canonical = canonical_scope(scope)
        if canonical in self._told_empty:
            return
        self._told_empty.add(canonical)
        async with self._engine.database.read() as connection:
            rows = await records.list_scopes(connection, bank_id=self._id)
        # Of another user of the same app nothing is said: the user is what tells scopes apart.
        wanted = {"user_id": scope["user_id"]} if "user_id" in scope else scope
        near = [row.pairs for row in rows if set(row.pairs.items()) & set(wanted.items())]
        if near:
            logger.info("nothing is remembered for %s; near it there are %s", scope, near[:10])

    def _call(self, coroutine: Coroutine[Any, Any, T]) -> Coroutine[Any, Any, T]:
        return self._engine.call(coroutine)


def _check_search(*, query: object, top_k: object, by: object) -> None:
    if query is not None and not isinstance(query, str):
        raise InvalidArgument(f"should be a string, not {query!r}", field="query")
    if top_k is not None and (isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1):
        raise InvalidArgument(f"should be a positive number, not {top_k!r}", field="top_k")
    if by not in get_args(Order):
        raise InvalidArgument(f"should be one of {', '.join(get_args(Order))}, not {by!r}", field="by")


def _valid_fact(fact: str) -> str:
    text = clean_text(fact).strip()
    if not text:
        raise InvalidArgument("is empty", field="fact")
    return text


def _valid_stream(stream_id: str) -> str:
    if len(stream_id.encode(errors="surrogatepass")) > MAX_ID_BYTES:
        raise InvalidArgument(f"an id has at most {MAX_ID_BYTES} bytes", field="stream_id")
    return clean_text(stream_id) or DEFAULT_STREAM


def _direct_memories(given: Sequence[str | Mapping[str, Any]]) -> list[dict[str, Any]]:
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):  # pyright: ignore[reportUnnecessaryIsInstance]: callers may not check types
        raise InvalidArgument(f"should be a list, not {type(given).__name__}", field="direct_memories")
    if len(given) > MAX_DIRECT_MEMORIES:
        raise InvalidArgument(f"at most {MAX_DIRECT_MEMORIES} at a time, not {len(given)}", field="direct_memories")
    if not given:
        raise InvalidArgument("is empty", field="direct_memories")
    entries: list[dict[str, Any]] = []
    for index, one in enumerate(given):
        if not isinstance(one, str | Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]: callers may not check types
            raise InvalidArgument("a text, or a mapping with `fact`", field=f"direct_memories[{index}]")
        fact = one if isinstance(one, str) else one.get("fact")
        if not isinstance(fact, str) or not fact.strip():
            raise InvalidArgument("is empty", field=f"direct_memories[{index}].fact")
        topics = () if isinstance(one, str) else one.get("topics") or ()
        path = f"direct_memories[{index}].topics"
        names = [clean_text(MemoryTopicId.parse(topic, field=path).name) for topic in topics]
        entries.append({"fact": clean_text(fact).strip(), "topics": names})
    return entries
