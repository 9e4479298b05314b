"""One bank: what every face calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from adk_memorybank.arguments import direct_facts, matching, valid_fact, valid_stream
from adk_memorybank.bank_operations import BankOperations
from adk_memorybank.bank_reading import BankReading
from adk_memorybank.bank_sessions import BankSessions
from adk_memorybank.config import GenerationRule, GenerationTriggerConfig, ManagedSemanticMemoryConfig
from adk_memorybank.engine import Engine
from adk_memorybank.errors import InvalidArgument, NotFound
from adk_memorybank.events import read_events, read_session
from adk_memorybank.intake import Intake
from adk_memorybank.options import GenerationOptions, MemoryOptions, RevisionOptions
from adk_memorybank.parts import BankParts
from adk_memorybank.reindexing import Progress
from adk_memorybank.resources import (
    Call,
    Forgotten,
    Memory,
    MetadataValue,
    Operation,
    bank_name,
    clean_text,
    id_in,
    last_segment,
    validate_memory_id,
    validate_scope,
)
from adk_memorybank.storage.changes import Change

WAIT = 300.0
"""Seconds that `generate` waits for its end by default."""


class MemoryBank(BankReading):
    """A bank of memories. Safe to use from several event loops and threads.

    Made by `MemoryBanks`; not meant to be made by hand.

    Attributes:
        operations: the accepted work of this bank.
        sessions: ADK sessions that it keeps, to generate memories from.
    """

    def __init__(self, engine: Engine, bank_id: str, parts: BankParts) -> None:
        super().__init__(engine, bank_id, parts)
        self._intake = Intake(engine, bank_id)
        self.operations = BankOperations(engine, bank_id)
        self.sessions = BankSessions(engine, bank_id)

    @property
    def name(self) -> str:
        return bank_name(self._id)

    @property
    def display_name(self) -> str:
        row = self._parts.row
        return "" if row is None else row.display_name

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
        return await self._call(
            self._intake.ingest(
                validate_scope(scope),
                read_events(events, session_id=session_id),
                stream=valid_stream(stream_id),
                rule=_rule(generation_trigger_config),
                force=force_flush,
                options=options or GenerationOptions(),
            )
        )

    async def ingest(
        self,
        *,
        scope: Mapping[str, str],
        events: Sequence[Any] = (),
        session_id: str = "",
        stream_id: str = "",
        generation_trigger_config: GenerationTriggerConfig | Mapping[str, Any] | None = None,
        force_flush: bool = False,
        options: GenerationOptions | None = None,
    ) -> Call:
        """As `ingest_events`, answered as the managed service does.

        Returns:
            What all calls on a stream share until the generation that reads their events has ended.
        """
        return await self._call(
            self._intake.call(
                validate_scope(scope),
                read_events(events, session_id=session_id),
                stream=valid_stream(stream_id),
                rule=_rule(generation_trigger_config),
                force=force_flush,
                options=options or GenerationOptions(),
            )
        )

    async def flush(self, *, scope: Mapping[str, str], stream_id: str | None = None) -> list[Operation]:
        """Reads everything that waits in a scope's streams, or in one of them, whatever their triggers say."""
        valid = validate_scope(scope)
        stream = None if stream_id is None else valid_stream(stream_id)
        return await self._call(self._intake.flush(valid, stream=stream))

    async def generate(
        self,
        *,
        scope: Mapping[str, str] | None = None,
        events: Sequence[Any] | None = None,
        direct_memories: Sequence[str | Mapping[str, Any]] | None = None,
        session: Any = None,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        options: GenerationOptions | None = None,
        wait: bool = True,
        timeout: float | None = WAIT,
    ) -> Operation:
        """Generates memories from exactly one source.

        Args:
            scope: whose memories they are; of a session, `{"user_id": …}` of its user by default.
            events: a conversation; read each time, whether it was seen or not.
            direct_memories: at most five facts, as text or `{"fact": …, "topics": […]}`; not extracted, but
                consolidated with what is there.
            session: an ADK session, whose events are read once; or the name of one in `sessions`, here or in another
                bank of the store, which is read each time.
            start_time: of a session that is named, only what happened from then on.
            end_time: of a session that is named, only what happened before then.
            wait: for the end. The operation is durable either way.
            timeout: seconds to wait at most; the operation is returned as it is then.

        Raises:
            InvalidArgument: naming the field.
            NotFound: there is no session of this name.
            MemoryBankError: of the operation, where it failed while this waited.
        """
        chosen = (options or GenerationOptions()).of_kind("generate")
        if sum(source is not None for source in (events, direct_memories, session)) != 1:
            raise InvalidArgument("give exactly one of events, direct_memories and session", field="events")
        if isinstance(session, str):
            user_id, read = await self.sessions.read_events(name=session, start_time=start_time, end_time=end_time)
            valid = validate_scope({"user_id": user_id} if scope is None else scope)
            source = partial(self.sessions.check, name=session)
            operation = await self._call(self._intake.generate(valid, read, None, options=chosen, source=source))
            return await self._outcome(operation, wait=wait, timeout=timeout)
        if session is not None and scope is None:
            scope = {"user_id": str(session.user_id)}
        valid = validate_scope(scope or {})
        if session is not None:
            read = read_session(session)
            operation = await self.ingest_events(
                scope=valid, events=read, stream_id=clean_text(str(session.id)), force_flush=True, options=chosen
            )
            if operation is None:  # nothing of it was new
                operation = await self._call(self._intake.generate(valid, [], None, options=chosen))
            return await self._outcome(operation, wait=wait, timeout=timeout)
        read = [] if events is None else read_events(events)
        facts = None if direct_memories is None else direct_facts(direct_memories)
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
        checked = [(valid_fact(fact), options) for fact, options in memories]
        for _, options in checked:
            if options.memory_id is not None:
                validate_memory_id(options.memory_id)

        return await self._call(self._memories.create(valid, checked))

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
        keep_forever: bool = False,
        scope: Mapping[str, str] | None = None,
        revision: RevisionOptions | None = None,
    ) -> Memory:
        """Corrects one memory; what is None stays as it is. Metadata is replaced as a whole.

        Args:
            keep_forever: it doesn't expire any more.
            scope: where given, the memory's own: it can't be changed.

        Raises:
            NotFound: there is no such memory.
            InvalidArgument: naming the field.
        """
        text = None if fact is None else valid_fact(fact)
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
            set_expiry=keep_forever or expire_time is not None,
        )
        if keep_forever and (ttl is not None or expire_time is not None):
            raise InvalidArgument("excludes ttl and expire_time", field="keep_forever")
        valid = None if scope is None else validate_scope(scope)
        return await self._call(
            self._memories.update(id_in(self._id, name), change, ttl=checked.ttl, scope=valid, revision=revision)
        )

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

    async def rollback(self, *, name: str, target_revision_id: str) -> Memory:
        """Takes a memory back to one of its revisions; a deleted one, too, for 48 hours. Its history stays.

        Args:
            name: the memory's name or id.
            target_revision_id: the revision's id or full name.

        Raises:
            NotFound: there is no such revision, or it has expired.
            FailedPrecondition: the revision is that of the deletion.
        """
        memory_id, revision_id = id_in(self._id, name), id_in(self._id, target_revision_id)
        of_memory = target_revision_id.rpartition("/revisions/")[0]
        if of_memory and last_segment(of_memory) != memory_id:
            raise NotFound(f"{clean_text(target_revision_id)!r} is no revision of the memory {memory_id!r}")
        return await self._call(self._memories.roll_back(memory_id, revision_id))

    async def purge(
        self, *, filter: str | None = None, filter_groups: Sequence[Any] | None = None, force: bool = False
    ) -> int:
        """Deletes the memories of all scopes that match, all or none. Their revisions stay for 48 hours.

        Args:
            filter, filter_groups: at least one of them, so that nobody deletes everything by leaving it out.
            force: without it they are only counted.

        Returns:
            How many match.

        Raises:
            InvalidArgument: naming the field.
        """
        matches = matching(filter, filter_groups, over="memories")
        if matches is None:
            raise InvalidArgument("give a filter, or filter groups", field="filter")
        return await self._call(self._memories.purge(matches, force=force))

    async def reindex(self, *, embedder: Any = None, progress: Progress | None = None) -> int:
        """Makes all vectors of the bank anew, as `MemoryBanks.reindex` does, and returns how many.

        Raises:
            StoreInUse: another process owns the vectors.
            FailedPrecondition: they are being made anew already.
            Cancelled: the bank was deleted meanwhile.
        """
        return await self._call(self._engine.reindex(self._id, embedder=embedder, progress=progress))

    async def forget(self, *, scope: Mapping[str, str]) -> Forgotten:
        """Removes everything about a scope at once: memories, revisions, events, operations and vectors.

        And the sessions in `sessions` from which it was read, and of `{"user_id": …}` all sessions of that user.

        When this returns, no byte of its text is left in the store. Adding the same sessions again brings nothing
        back, nor does a generation that was running; new events are remembered again.
        """
        return await self._call(self._engine.forget(bank_id=self._id, scope=validate_scope(scope)))


def _rule(given: GenerationTriggerConfig | Mapping[str, Any] | None) -> GenerationRule | None:
    if given is None:
        return None
    return GenerationTriggerConfig.parse(given, field="generation_trigger_config").generation_rule
