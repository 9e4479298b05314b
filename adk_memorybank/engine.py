"""The engine: one store in this process, on a thread and event loop of its own, shared by all who open it."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, TypeVar

from adk_memorybank.background import Background
from adk_memorybank.clock import Clock
from adk_memorybank.config import ManagedSemanticMemoryConfig
from adk_memorybank.errors import EmbedderMismatch, FailedPrecondition, MemoryBankError, NotFound, Unavailable
from adk_memorybank.generation.attributes import clear_cache
from adk_memorybank.operations.calls import CallLog
from adk_memorybank.operations.queue import Queue, Work
from adk_memorybank.operations.streams import Streams
from adk_memorybank.operations.worker import Worker
from adk_memorybank.parts import BankParts, adopt_bank, choose_embedder, open_bank
from adk_memorybank.pipeline import Pipeline
from adk_memorybank.reindexing import Progress, Reindexing, remove_noted
from adk_memorybank.resources import Forgotten, Memory, Scope
from adk_memorybank.retrieval.embedders import close_embedder
from adk_memorybank.retrieval.reader import ViewReader
from adk_memorybank.retrieval.search import Searcher
from adk_memorybank.settings import Settings, read_settings
from adk_memorybank.storage import bank_rows, forgetting, records
from adk_memorybank.storage.database import Database
from adk_memorybank.storage.folder import Folder
from adk_memorybank.storage.sessions import delete_sessions_of
from adk_memorybank.storage.vectors import Vectors, lost_at_fork, vector_id
from adk_memorybank.threads import LoopThread

logger = logging.getLogger("google_adk.adk_memorybank.engine")

T = TypeVar("T")

VIEW_BYTES = 256 * 1024 * 1024
TAKEOVER_PATIENCE = 2.0
"""Seconds that a call which needs the vectors waits for the owner of the folder to go."""
STANDBY = 1.0
"""Seconds between tries to take over a folder that another process owns."""
SWEEP_INTERVAL = 600.0
ERASE_INTERVAL = 30.0
"""Seconds between tries to erase deleted text that a reader in another process holds on to."""
KEEP_OPERATIONS = timedelta(days=30)


class Engine:
    """One store: its records, vectors, queue, worker and views.

    Everything inside runs on the engine's loop. From outside, `call` takes a coroutine there and brings its result
    back, from any loop or thread.
    """

    def __init__(self, path: Path, clock: Clock, *, before: Engine | None = None) -> None:
        self.clock = clock
        self.folder = Folder(path)
        self.database: Database
        self.queue: Queue
        self.streams: Streams
        self.calls: CallLog
        self.reader: ViewReader
        self.searcher: Searcher
        self.users = 0
        self.pid = os.getpid()
        self._worker: Worker | None = None
        self._vectors: Vectors | None = None
        self._banks: dict[str, BankParts] = {}
        self._settings: dict[str, Settings] = {}
        self._left_alone: set[str] = set()
        self._working = False
        self._told_in_use = False
        self._dropping = asyncio.Lock()
        self.reindexing: Reindexing
        self._background = Background(logger, "work behind the scenes failed, it is done again later")
        self._before = before
        self._thread = LoopThread()
        self._opened = self._thread.submit(self._open())

    @property
    def alive(self) -> bool:
        """False once closed, after a failure to open, and in a child process after a fork."""
        failed = self._opened.done() and self._opened.exception() is not None
        return self._thread.alive and not failed

    async def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine on the engine's loop. A cancelled caller doesn't cancel it.

        Raises:
            EngineClosed: the engine was closed.
        """
        if not self._thread.alive:
            coroutine.close()  # the thread would close the wrapper only
        return await self._thread.call(self._when_open(coroutine))

    async def _when_open(self, coroutine: Coroutine[Any, Any, T]) -> T:
        try:
            await asyncio.wrap_future(self._opened)
        except BaseException:
            coroutine.close()
            raise
        return await coroutine

    async def _open(self) -> None:
        self.folder.make()
        self.database = Database(self.folder.database)
        try:
            await self.database.open()
        except BaseException:
            await self.database.close()
            raise
        self.queue = Queue(self.database, self.clock)
        self.streams = Streams(self.database, self.queue, self.clock)
        self.calls = CallLog(self.database, self.queue, self.clock)
        self.reader = ViewReader(self.database, max_bytes=VIEW_BYTES)
        self.searcher = Searcher(self.database, self.reader)
        self.reindexing = Reindexing(self.database, self.reader, self.clock)
        logger.info("the memory bank's store is %s", self.folder.path)
        if not await self._own() and not self._waits_for_another:
            logger.warning("%s", self._why_not() if lost_at_fork() else self.folder.in_use_briefly())
        self._background.start(self._keep_house())

    @property
    def _waits_for_another(self) -> bool:
        """Whether the folder is still held by an engine of this process that is about to end."""
        if self._before is not None and not self._before.alive:
            self._before = None
        return self._before is not None

    async def _own(self) -> bool:
        """Takes the folder's lock, and with it the vectors and the work, unless another process has it."""
        if self._worker is not None:
            return True
        if lost_at_fork() or not self.folder.try_own():
            return False
        self._vectors = Vectors(self.folder.chroma)
        self.reader.vectors = self._vectors
        pipeline = Pipeline(
            database=self.database, queue=self.queue, streams=self.streams, reader=self.reader, clock=self.clock
        )

        async def handle(work: Work) -> None:
            await pipeline.run(work, await self._parts_for_work(work.bank_id))
            self.tidy()

        self._worker = Worker(
            database=self.database, queue=self.queue, streams=self.streams, handle=handle, banks=self._banks.keys()
        )
        return True

    async def open_bank(
        self,
        settings: Settings,
        *,
        bank: Literal["any", "new", "present"] = "any",
        details: Mapping[str, Any] | None = None,
    ) -> BankParts:
        """Opens a bank as `parts.open_bank` does, and lets the worker begin.

        Raises:
            MemoryBankError: as there.
        """
        parts = await open_bank(self.database, settings, now=self.clock.now(), bank=bank, details=details)
        self._settings[settings.bank_id] = replace(settings, config=None)
        self._banks[settings.bank_id] = parts
        self._left_alone.discard(settings.bank_id)
        await self._start_work()
        return parts

    async def parts(self, bank_id: str) -> BankParts:
        """What belongs to a bank that was opened.

        Raises:
            NotFound: it was deleted, or never opened.
        """
        if bank_id not in self._banks:
            raise NotFound(f"there is no bank {bank_id!r}")
        return self._banks[bank_id]

    def parts_now(self, bank_id: str) -> BankParts | None:
        """As `parts`, from any thread; None where there are none."""
        return self._banks.get(bank_id)

    def settings_of(self, bank_id: str) -> Settings | None:
        """How a bank was opened here; None where it was not."""
        return self._settings.get(bank_id)

    async def newest_parts(self, bank_id: str) -> BankParts:
        """What belongs to a bank that was opened, for the collection that serves it by now.

        Raises:
            NotFound: it was deleted, or never opened.
            EmbedderMismatch: another process has made its vectors anew, by another embedder than it was opened with.
        """
        held = await self.parts(bank_id)
        async with self.database.read() as connection:
            row = await bank_rows.get_bank(connection, bank_id=bank_id)
        if held.collection == row.collection:
            return held
        embedder = self.reindexing.made.get(row.collection)
        if embedder is None:
            return await self.open_bank(self._settings[bank_id], bank="present")
        self.reader.drop(bank_id=bank_id)
        parts = self._banks[bank_id] = replace(held, embedder=embedder, row=row)
        return parts

    async def _parts_for_work(self, bank_id: str) -> BankParts:
        try:
            return await self.newest_parts(bank_id)
        except EmbedderMismatch as error:  # it waits for who brings the embedder
            raise Unavailable(str(error)) from error

    async def reindex(self, bank_id: str, *, embedder: Any = None, progress: Progress | None = None) -> int:
        """Makes all vectors of a bank anew, as `Reindexing.run` does, and returns how many.

        Args:
            embedder: None for the one that the bank was opened with, or that its configuration names.
        """
        async with self.database.read() as connection:
            row = await bank_rows.get_bank(connection, bank_id=bank_id)
        if embedder is None and bank_id in self._banks:
            made_by = (await self.newest_parts(bank_id)).embedder
        else:
            settings = read_settings()
            settings = settings if embedder is None else replace(settings, embedder=embedder)
            made_by = choose_embedder(settings, ManagedSemanticMemoryConfig.parse(row.config))
        count = await self.reindexing.run(bank_id, made_by, await self.need_vectors(), progress=progress)
        self._left_alone.discard(bank_id)
        if bank_id in self._banks:
            await self.newest_parts(bank_id)
            if embedder is not None:
                self._settings[bank_id] = replace(self._settings[bank_id], embedder=embedder)
        return count

    async def bank_was_deleted(self, bank_id: str) -> None:
        """Lets go of what belonged to a bank, and erases it."""
        self._banks.pop(bank_id, None)
        self._settings.pop(bank_id, None)
        self.reader.drop(bank_id=bank_id)
        await self.erase()
        if self._vectors is not None:
            await self.reindexing.drop_unnamed(self._vectors)

    async def _adopt(self) -> None:
        """Opens banks in which work waits that nobody opened here, by the environment and their configuration.

        Not where they were last used with another model than that gives: their work waits for who brings it.
        """
        for bank_id in await self.queue.waiting_banks():
            if bank_id in self._banks or bank_id in self._left_alone:
                continue
            settings = replace(read_settings(), folder=self.folder.path, bank_id=bank_id, config=None)
            try:
                self._banks[bank_id] = await adopt_bank(self.database, settings)
                self._settings[bank_id] = settings
                self.wake()
            except MemoryBankError as error:
                self._left_alone.add(bank_id)
                logger.warning("work waits in the bank %s until it is opened: %s", bank_id, error)

    async def _start_work(self) -> None:
        # Not before the first bank is open: what waits in the queue may need the model that its caller brought.
        if self._worker is not None and not self._working:
            self._working = True
            try:
                await self._worker.start()
            except BaseException:
                self._working = False
                raise

    async def need_vectors(self) -> Vectors:
        """The vectors, for what can't be done without them.

        Raises:
            StoreInUse: another process owns the folder, and did not let go of it within two seconds.
            FailedPrecondition: this process was forked from one that used vectors.
        """
        deadline = time.monotonic() + TAKEOVER_PATIENCE
        while not await self._take_over():
            if lost_at_fork() or (time.monotonic() > deadline and not self._waits_for_another):
                error = self._why_not()
                if not self._told_in_use:
                    self._told_in_use = True
                    logger.error("%s", error)
                raise error
            await asyncio.sleep(0.1)
        assert self._vectors is not None  # `_own` has set it
        return self._vectors

    def _why_not(self) -> FailedPrecondition:
        """The error that says why this process does not own the folder."""
        if not lost_at_fork():
            return self.folder.in_use()
        return FailedPrecondition(
            f"this process was forked from one that had opened Chroma, which can't be used after a fork: the vectors "
            f"of {self.folder.path} can't be read here. What is added here is accepted all the same, and done by the "
            "process that owns the folder. Fork before the first search, or start processes by `spawn`"
        )

    async def _take_over(self) -> bool:
        if self._worker is not None:
            return True
        if not await self._own():
            return False
        logger.info("%s is owned by this process now", self.folder.path)
        for bank_id in self._banks:
            self.reader.drop(bank_id=bank_id)  # they were read without vectors
        if self._banks:
            await self._start_work()
        return True

    def wake(self) -> None:
        """New work was committed."""
        if self._worker is not None:
            self._worker.wake()

    async def wait(self, operation_ids: Sequence[str], *, timeout: float | None) -> bool:
        """Waits until operations have ended and their vectors are written. False where the timeout came first."""
        deadline = None if timeout is None else time.monotonic() + timeout
        ids = set(operation_ids)
        while True:
            worker = self._worker
            if worker is not None:
                worker.progress.clear()
            if not await self.queue.unfinished(ids=ids) and not (worker is not None and worker.runs(ids)):
                return True
            left = 0.25 if deadline is None else min(0.25, deadline - time.monotonic())
            if left <= 0:
                return False
            if worker is None:
                await asyncio.sleep(left)
                continue
            try:
                async with asyncio.timeout(left):
                    await worker.progress.wait()
            except TimeoutError:
                continue

    async def forget(self, *, bank_id: str, scope: Scope) -> Forgotten:
        """Removes a scope: rows at once, then what the log of the database still holds, then the vectors.

        What an earlier call left behind, because it was interrupted, is erased even where there is no such scope.
        """
        forgotten = Forgotten(memories=0, revisions=0, events=0, operations=0)
        async with self.database.write() as connection:
            row = await records.find_scope(connection, bank_id=bank_id, scope=scope)
            if row is not None:
                forgotten = await forgetting.forget_scope(connection, scope=row)
            if await delete_sessions_of(connection, bank_id=bank_id, scope=scope) or row is not None:
                await self.database.note_erasure(connection)
        if row is not None:
            self.reader.drop_scope(row)
        clear_cache()  # statements that the rules have read lately
        await self.erase()
        return forgotten

    async def erase(self) -> None:
        """Erases what is left of deleted text, if anything is, and drops vectors that are not named any more.

        What a call before this one could not finish is finished here, also that of a process that died.
        """
        if await self.database.erasure_is_due() and not await self.database.erase():
            logger.warning(
                "another process reads an old state of %s: forgotten text stays in its log until that ends",
                self.folder.database,
            )
        try:
            await self.drop_vectors()
        except MemoryBankError as error:
            logger.warning("vectors of what was deleted are removed later: %s", error)

    async def make_vectors(self, parts: BankParts, memories: Sequence[tuple[Memory, int]]) -> None:
        """Makes the vectors of facts, given with their versions, and writes them behind the caller.

        Should this fail, they are made at the next read.
        """
        if self._vectors is not None:
            try:
                vectors = await parts.embedder.embed([memory.fact for memory, _ in memories])
            except Exception as error:  # noqa: BLE001  what is stored is stored: its caller must not take it for failed
                logger.warning(
                    "%d vectors could not be made, they are when they are next read: %s", len(memories), error
                )
                return
            named = {vector_id(memory.id, version): vectors[row] for row, (memory, version) in enumerate(memories)}
            self._background.start(self.reader.keep(bank_id=parts.id, collection=parts.collection, vectors=named))
        self.tidy()

    def tidy(self) -> None:
        """Drops the vectors that are not named any more, behind the caller."""
        self._background.start(self.drop_vectors())

    async def drop_vectors(self) -> None:
        """Lets Chroma remove what the records have noted. A fault is logged; the notes stay for the next time."""
        if self._vectors is not None:
            async with self._dropping:
                await remove_noted(self.database, self._vectors)

    async def _keep_house(self) -> None:
        """Takes over a folder whose owner has gone, and removes what has expired or was forgotten elsewhere."""
        swept = erased = -SWEEP_INTERVAL
        while True:
            await asyncio.sleep(STANDBY)
            try:
                if time.monotonic() - erased > ERASE_INTERVAL and await self.database.erasure_is_due():
                    erased = time.monotonic()
                    await self.erase()
                if self._worker is None:
                    await self._take_over()
                    continue
                if self._working:
                    await self._adopt()
                await self.drop_vectors()  # another process, or one that died, may have left notes
                if self._vectors is not None:
                    await self.reindexing.drop_spares(self._vectors)
                if time.monotonic() - swept > SWEEP_INTERVAL:
                    swept = time.monotonic()
                    await self._sweep()
            except Exception:  # it is tried again; a full disk must not end it
                logger.exception("the store could not be kept in order, it is tried again")

    async def _sweep(self) -> None:
        now = self.clock.now()
        removed = 0
        while True:
            async with self.database.write() as connection:
                gone = await forgetting.sweep(connection, now=now, operations_before=now - KEEP_OPERATIONS)
            removed += gone
            if not gone:
                break
        if removed:
            await self.database.truncate_log()
            await self.drop_vectors()

    async def stop(self, *, patience: float) -> None:
        """Waits `patience` seconds for what runs, and leaves the rest durable."""
        try:
            if self._worker is not None:
                await self._worker.stop(patience=patience)
        finally:
            await self._let_go()

    async def _let_go(self) -> None:
        await self.reindexing.stop()
        await self._background.stop()
        try:
            await self.reader.close()
            for parts in self._banks.values():
                await close_embedder(parts.embedder)
            if self._vectors is not None:
                await self._vectors.close()
        finally:
            await self.database.close()
            self.folder.release()

    async def _stop_and_end(self, patience: float) -> None:
        try:
            await self.stop(patience=patience)
        finally:
            self._thread.stop()

    async def close(self, *, patience: float) -> None:
        """Stops the engine, from outside of it."""
        if self.alive:
            # It ends by itself, so that a caller who is cancelled doesn't end it halfway.
            await self._thread.call(self._when_open(self._stop_and_end(patience)))
        await asyncio.to_thread(self._thread.stop)

    def abandon(self) -> None:
        """Ends the thread of an engine that could not be opened."""
        self._thread.stop(timeout=0)

    def end(self) -> None:
        """At the end of the process: puts back what runs, within a second, and says nothing."""
        if not self.alive or not self._opened.done():
            return
        try:
            self._thread.call_sync(self.stop(patience=0), timeout=1.0)
        except Exception:  # the process ends: what is durable stays, and there is nobody to tell
            logger.debug("the engine did not stop in time", exc_info=True)
        if self._vectors is not None:
            self._vectors.idle(1.0)
