"""The worker: takes operations from the queue, and sees each to an end that can be read."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection

from adk_memorybank.errors import Cancelled, is_passing
from adk_memorybank.operations.queue import MOST_STARTS, Queue, Work
from adk_memorybank.operations.streams import Streams
from adk_memorybank.resources import OperationError
from adk_memorybank.storage.database import Database

logger = logging.getLogger("google_adk.adk_memorybank.operations.worker")

WIDTH = 8
"""Scopes that are worked on at once. A model that hangs holds one place until its deadline."""
POLL = 0.5
"""Seconds between looks at the queue: other processes add to it, and time rules fire."""
MOST_DELAY = 60.0
"""Seconds between tries to put an operation back, at most."""


class Worker:
    """Runs the operations of one store, one at a time in each scope.

    Args:
        banks: ids of the banks whose operations are taken: those that are open.
        handle: does one operation, its end in the records included. What it raises decides what happens next: a
            passing fault puts the operation back, any other ends it with that error.
    """

    def __init__(
        self,
        *,
        database: Database,
        queue: Queue,
        streams: Streams,
        banks: Collection[str],
        handle: Callable[[Work], Awaitable[None]],
    ) -> None:
        self._database = database
        self._queue = queue
        self._streams = streams
        self._banks = banks
        self._handle = handle
        self._running: dict[int, tuple[Work, asyncio.Task[None]]] = {}
        self._wake = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        self.progress = asyncio.Event()
        """Set whenever an operation has ended; whoever waits for one clears it first."""

    async def start(self) -> None:
        """Takes over what the last owner left, and begins."""
        for work in await self._queue.recover():
            message = f"the process died {MOST_STARTS} times while this operation ran"
            await self._fail(work, OperationError(code=13, status="INTERNAL", message=message))
        self._loop = asyncio.create_task(self._run())

    def wake(self) -> None:
        """Looks at the queue now rather than at the next turn."""
        self._wake.set()

    def runs(self, operation_ids: set[str]) -> bool:
        """Whether one of these operations is in hand, its vectors not yet written perhaps."""
        return any(work.id in operation_ids for work, _ in self._running.values())

    async def stop(self, *, patience: float) -> None:
        """Takes no more work, waits `patience` seconds for what runs, and puts back what has not ended by then."""
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
        tasks = [task for _, task in self._running.values()]
        if tasks and patience > 0:
            await asyncio.wait(tasks, timeout=patience)
        for _, task in list(self._running.values()):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # Not only what is in hand: the loop may have been cancelled between a claim's commit and its first step.
        await self._queue.release_all()

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            try:
                await self._streams.fire_due()
                await self._start_some()
            except Exception:  # the loop outlives a full disk or a locked database; nothing claimed is lost
                logger.exception("the queue could not be read, it is tried again")
            try:
                # Not `wait_for`: before Python 3.12 it loses a cancellation that comes together with the wake-up.
                async with asyncio.timeout(POLL):
                    await self._wake.wait()
            except TimeoutError:
                continue

    async def _start_some(self) -> None:
        free = WIDTH - len(self._running)
        if free <= 0 or any(work.alone for work, _ in self._running.values()):
            return
        for work in await self._queue.claim(banks=list(self._banks), busy=list(self._running), most=free):
            self._running[work.scope_id] = (work, asyncio.create_task(self._see_to(work)))

    async def _see_to(self, work: Work) -> None:
        try:
            await self._attempt(work)
        except Exception:
            # Its end could not be written (a full disk, say): it is put back, and its start doesn't count.
            logger.exception("the end of operation %s could not be written, it runs again", work.id)
            await self._put_back_in_the_end(work)
        finally:
            self._running.pop(work.scope_id, None)
            self.progress.set()
            self._wake.set()

    async def _put_back_in_the_end(self, work: Work) -> None:
        delay = POLL
        while True:
            await asyncio.sleep(delay)
            try:
                await self._queue.release(work=[work])
            except Exception as error:  # noqa: BLE001  what keeps the end from being written keeps this too
                logger.warning("operation %s could not be put back, it is tried again: %s", work.id, error)
                delay = min(2 * delay, MOST_DELAY)
            else:
                return

    async def _attempt(self, work: Work) -> None:
        try:
            await self._handle(work)
        except Cancelled as error:
            logger.info("operation %s was not applied: %s", work.id, error)
        except Exception as error:  # noqa: BLE001  it ends in the operation, where it is read
            said = OperationError.of(error)
            if is_passing(error) and await self._queue.put_back(work=work, error=said):
                logger.warning("operation %s is tried again later: %s", work.id, said.message)
                return
            await self._fail(work, said)

    async def _fail(self, work: Work, error: OperationError) -> None:
        async with self._database.write() as connection:
            # Not where it was cancelled, or its scope forgotten, meanwhile: that end stands.
            if not await self._queue.is_current(connection, work=work):
                return
            await self._queue.fail(connection, work=work, error=error)
            await self._streams.give_back(connection, work=work)
        logger.warning("operation %s failed, its events are kept: %s", work.id, error.message)
