"""Threads that never hold up the end of the process: one with an event loop, and an executor.

Nobody in ADK closes a memory service, so a process commonly ends while work runs. The standard library's executors
are joined at that moment, for as long as their work takes; these threads are daemons, and are left behind.
"""

from __future__ import annotations

import asyncio
import logging
import os
import queue
import sys
import threading
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from adk_memorybank.errors import Cancelled, EngineClosed

logger = logging.getLogger("google_adk.adk_memorybank.threads")

_P = ParamSpec("_P")
_T = TypeVar("_T")

if TYPE_CHECKING:
    _BaseLoop = asyncio.BaseEventLoop
else:
    _BaseLoop = asyncio.ProactorEventLoop if sys.platform == "win32" else asyncio.SelectorEventLoop


@dataclass(eq=False)
class _Call:
    future: Future[Any]
    function: Callable[[], Any]

    def run(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self.function()
        except BaseException as error:  # noqa: BLE001  it belongs to whoever waits for the future
            self.future.set_exception(error)
        else:
            self.future.set_result(result)


@dataclass(eq=False)
class _Work:
    """What an executor shares with its threads. They don't hold the executor itself, so that it can be collected."""

    calls: queue.SimpleQueue[_Call | None] = field(default_factory=queue.SimpleQueue)
    changed: threading.Condition = field(default_factory=threading.Condition)
    unfinished: int = 0
    closed: bool = False

    def finished(self) -> None:
        with self.changed:
            self.unfinished -= 1
            if not self.unfinished:
                self.changed.notify_all()

    def serve(self) -> None:
        while True:
            call = self.calls.get()
            if call is None:
                self.calls.put(None)  # for the next thread
                return
            try:
                call.run()
            finally:
                del call  # a result must not live until the next call comes
                self.finished()


class DaemonExecutor(Executor):
    """An executor whose threads are not joined at exit, and which takes work until the very end.

    Threads start when they are first needed. The executor works on after a fork: what was queued stays with the
    parent.

    Args:
        name: of the threads.
        threads: how many calls run side by side.
    """

    def __init__(self, name: str, *, threads: int = 1) -> None:
        self._name = name
        self._size = threads
        self._reset()
        _executors.add(self)

    def _reset(self) -> None:
        self._threads: list[threading.Thread] = []
        self._work = _Work()
        self._end = weakref.finalize(self, self._work.calls.put, None)
        self._end.atexit = False

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Queues a call.

        Raises:
            RuntimeError: after `shutdown`, as the standard library's executors do.
        """
        future: Future[_T] = Future()
        work = self._work
        with work.changed:
            if work.closed:
                raise RuntimeError(f"the executor {self._name!r} was shut down")
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            busy = work.unfinished >= len(self._threads)
            if busy and len(self._threads) < self._size:
                thread = threading.Thread(target=work.serve, name=self._name, daemon=True)
                thread.start()
                self._threads.append(thread)
            work.unfinished += 1
            work.calls.put(_Call(future, lambda: fn(*args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more work.

        Args:
            wait: until all that was accepted has ended.
            cancel_futures: drop what has not begun.
        """
        work = self._work
        with work.changed:
            work.closed = True
        dropped: list[_Call] = []
        while cancel_futures:
            try:
                call = work.calls.get_nowait()
            except queue.Empty:
                break
            if call is not None:
                dropped.append(call)
        work.calls.put(None)
        for call in dropped:
            if call.future.cancel():
                call.future.set_running_or_notify_cancel()
            work.finished()
        if wait:
            for thread in self._threads:
                thread.join()

    def idle(self, timeout: float) -> bool:
        """Waits until no call is running or queued, at most `timeout` seconds; False where one still is.

        At exit, after `shutdown(wait=False, cancel_futures=True)`: a daemon thread that is inside native code while
        the interpreter is taken down can abort the process.
        """
        work = self._work
        with work.changed:
            return work.changed.wait_for(lambda: not work.unfinished, timeout)


_executors: weakref.WeakSet[DaemonExecutor] = weakref.WeakSet()


def _after_fork() -> None:
    for executor in list(_executors):
        executor._reset()  # pyright: ignore[reportPrivateUsage]  # no thread and maybe a locked lock came along


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class _Loop(_BaseLoop):
    """A loop whose default executor (`asyncio.to_thread`, name look-ups) is one of daemons too."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._daemons = DaemonExecutor(f"{name}-io", threads=8)

    def run_in_executor(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, executor: Executor | None, func: Callable[..., _T], *args: Any
    ) -> asyncio.Future[_T]:
        return super().run_in_executor(executor or self._daemons, func, *args)

    def close(self) -> None:
        self._daemons.shutdown(wait=False, cancel_futures=True)
        super().close()


class LoopThread:
    """A daemon thread that runs an event loop. It starts at once.

    Args:
        name: of the thread.
    """

    def __init__(self, name: str = "adk_memorybank") -> None:
        self._loop = _Loop(name)
        self._closing = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        return self._loop

    @property
    def alive(self) -> bool:
        """Whether it takes work: False once stopped, and in a child process after a fork."""
        return self._thread.is_alive() and not self._closing

    @property
    def current(self) -> bool:
        """Whether the caller is on this thread."""
        return threading.current_thread() is self._thread

    def submit(self, coroutine: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Hands a coroutine over. Cancelling the future cancels the coroutine.

        Raises:
            EngineClosed: the thread was stopped; the coroutine is closed.
        """
        if self.alive:  # asked before the lock: after a fork the lock may never be released
            with self._lock:
                if not self._closing:
                    return asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        coroutine.close()
        raise EngineClosed("the engine was closed")

    async def call(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """Runs a coroutine on this thread and awaits its result on the caller's loop.

        A cancelled caller, or one whose loop is closed meanwhile, only stops waiting: the work goes on.

        Raises:
            EngineClosed: the thread was stopped before the coroutine ended.
            Cancelled: the coroutine was cancelled, but not by this caller.
        """
        if self.current:
            return await coroutine
        caller = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = caller.create_future()
        future = self.submit(coroutine)

        def release() -> None:
            if not waiter.done():
                waiter.set_result(None)

        def ended(future: Future[_T]) -> None:
            try:
                caller.call_soon_threadsafe(release)
                abandoned = waiter.cancelled()
            except RuntimeError:
                if not caller.is_closed():
                    raise
                abandoned = True
            if abandoned and not future.cancelled() and (error := future.exception()):
                logger.debug("A call whose caller had gone failed", exc_info=error)

        future.add_done_callback(ended)
        await waiter
        return self._outcome(future)

    def call_sync(self, coroutine: Coroutine[Any, Any, _T], timeout: float | None = None) -> _T:
        """Runs a coroutine on this thread and blocks until it ended.

        Raises:
            TimeoutError: it did not end within `timeout` seconds; it goes on.
            RuntimeError: called on the thread itself, which would wait forever.
            EngineClosed: the thread was stopped before the coroutine ended.
            Cancelled: the coroutine was cancelled.
        """
        if self.current:
            coroutine.close()
            raise RuntimeError("call_sync on the engine's own thread would never end")
        future = self.submit(coroutine)
        waiting = threading.Event()
        future.add_done_callback(lambda _: waiting.set())
        if not waiting.wait(timeout):
            raise TimeoutError(f"no result within {timeout} s")
        return self._outcome(future)

    def stop(self, timeout: float = 5.0) -> bool:
        """Cancels what runs, closes the loop and waits at most `timeout` seconds; False where it had not ended.

        May be called again, and from the thread itself, where it doesn't wait.
        """
        if not self._thread.is_alive():
            self._closing = True
            return True
        with self._lock:
            if not self._closing:
                self._closing = True
                self._loop.call_soon_threadsafe(self._loop.stop)
        if self.current:
            return False
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _outcome(self, future: Future[_T]) -> _T:
        # Not as CancelledError: the caller's own task was not cancelled, and would seem so.
        if future.cancelled():
            raise EngineClosed("the engine was closed") if self._closing else Cancelled("the call was cancelled")
        return future.result()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        while not self._closing:
            try:
                self._loop.run_forever()
            except (SystemExit, KeyboardInterrupt):
                # A task raised it. asyncio gives it to whoever awaits the task, and to the loop, which must go on.
                continue
        try:
            self._cancel_tasks()
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            asyncio.set_event_loop(None)
            self._loop.close()

    def _cancel_tasks(self, *, rounds: int = 10) -> None:
        # In rounds, since a task may start others while it is cleaned up; the first turn starts what was just handed
        # over, so that its coroutine is cancelled in order and its future ends.
        for _ in range(rounds):
            self._loop.run_until_complete(asyncio.sleep(0))
            tasks = asyncio.all_tasks(self._loop)
            if not tasks:
                return
            for task in tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.wait(tasks))
