"""The engine's thread, and the executor whose threads are left behind at exit."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import textwrap
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError

import pytest

from adk_memorybank.errors import Cancelled, EngineClosed
from adk_memorybank.threads import DaemonExecutor, LoopThread


@pytest.fixture
def engine() -> Iterator[LoopThread]:
    thread = LoopThread("engine")
    yield thread
    assert thread.stop()


def wait_until(condition: Callable[[], bool], timeout: float = 5) -> None:
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.002)


async def where() -> str:
    await asyncio.sleep(0)
    return threading.current_thread().name


class TestLoopThread:
    def test_runs_on_its_own_thread_from_many_loops(self, engine: LoopThread) -> None:
        async def main() -> list[str]:
            return await asyncio.gather(*(engine.call(where()) for _ in range(20)))

        for _ in range(3):
            assert asyncio.run(main()) == ["engine"] * 20
        assert engine.call_sync(where(), 5) == "engine"
        assert engine.submit(where()).result(5) == "engine"

    def test_a_call_from_its_own_loop_is_just_awaited(self, engine: LoopThread) -> None:
        async def outer() -> str:
            return await engine.call(where())

        assert engine.call_sync(outer(), 5) == "engine"

    def test_exceptions_keep_their_type_and_traceback(self, engine: LoopThread) -> None:
        async def breaks() -> None:
            raise LookupError("gone")

        with pytest.raises(LookupError, match="gone") as caught:
            asyncio.run(engine.call(breaks()))
        assert "breaks" in [frame.name for frame in traceback.extract_tb(caught.tb)]

    def test_a_cancelled_caller_does_not_cancel_the_work(self, engine: LoopThread) -> None:
        begun, go, ended = threading.Event(), asyncio.Event(), threading.Event()

        async def work() -> None:
            begun.set()
            await go.wait()
            ended.set()

        async def main() -> None:
            waiting = asyncio.create_task(engine.call(work()))
            await asyncio.to_thread(begun.wait)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

        asyncio.run(main())
        engine.loop.call_soon_threadsafe(go.set)
        assert ended.wait(5)

    def test_a_callers_closed_loop_is_survived(
        self, engine: LoopThread, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
    ) -> None:
        go, ended = asyncio.Event(), threading.Event()

        async def work() -> str:
            await go.wait()
            ended.set()
            raise LookupError("nobody is left to hear of it")

        loop = asyncio.new_event_loop()
        waiting = loop.create_task(engine.call(work()))
        loop.run_until_complete(asyncio.sleep(0.01))
        waiting.cancel()  # only so that no task is destroyed pending; the loop closes before the work has ended
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
        engine.loop.call_soon_threadsafe(go.set)
        assert ended.wait(5)
        assert engine.call_sync(where(), 5) == "engine"
        assert capfd.readouterr().err == ""
        assert [record for record in caplog.records if record.levelname != "DEBUG"] == []

    def test_work_cancelled_in_the_engine_is_not_a_cancelled_caller(self, engine: LoopThread) -> None:
        async def cancels_itself() -> None:
            raise asyncio.CancelledError

        with pytest.raises(Cancelled):
            asyncio.run(engine.call(cancels_itself()))
        with pytest.raises(Cancelled):
            engine.call_sync(cancels_itself(), 5)

    def test_cancelling_a_submitted_future_cancels_its_work(self, engine: LoopThread) -> None:
        cancelled, begun = threading.Event(), threading.Event()

        async def work() -> None:
            begun.set()
            try:
                await asyncio.sleep(60)
            finally:
                cancelled.set()

        future = engine.submit(work())
        assert begun.wait(5)
        assert future.cancel()
        assert cancelled.wait(5)

    def test_call_sync_times_out_and_the_work_goes_on(self, engine: LoopThread) -> None:
        go, ended = asyncio.Event(), threading.Event()

        async def work() -> None:
            await go.wait()
            ended.set()

        with pytest.raises(TimeoutError):
            engine.call_sync(work(), 0.01)
        engine.loop.call_soon_threadsafe(go.set)
        assert ended.wait(5)

    def test_call_sync_on_its_own_thread_is_refused(self, engine: LoopThread) -> None:
        async def outer() -> None:
            engine.call_sync(where())

        with pytest.raises(RuntimeError, match="own thread"):
            engine.call_sync(outer(), 5)

    def test_a_task_that_exits_does_not_end_the_thread(self, engine: LoopThread) -> None:
        async def leaves() -> None:
            sys.exit(3)

        with pytest.raises(SystemExit):
            engine.submit(leaves()).result(5)
        assert engine.call_sync(where(), 5) == "engine"

    def test_stop_cancels_and_later_calls_are_refused(self) -> None:
        engine = LoopThread("engine")
        begun, cleaned = threading.Event(), threading.Event()

        async def work() -> None:
            begun.set()
            try:
                await asyncio.sleep(60)
            finally:
                await asyncio.sleep(0)
                cleaned.set()

        async def main() -> None:
            waiting = asyncio.create_task(engine.call(work()))
            await asyncio.to_thread(begun.wait)
            assert await asyncio.to_thread(engine.stop, 5)
            await waiting

        with pytest.raises(EngineClosed):
            asyncio.run(main())
        assert cleaned.is_set()
        assert engine.loop.is_closed()
        assert not engine.alive
        assert engine.stop()
        with pytest.raises(EngineClosed):
            engine.submit(where())
        with pytest.raises(EngineClosed):
            asyncio.run(engine.call(where()))

    @pytest.mark.filterwarnings("error")
    def test_what_was_handed_over_at_the_last_moment_ends_too(self) -> None:
        for _ in range(50):
            engine = LoopThread("engine")
            futures = [engine.submit(asyncio.sleep(60)) for _ in range(5)]
            assert engine.stop(5)
            for future in futures:
                with pytest.raises(CancelledError):
                    future.result(5)
        gc.collect()

    def test_stop_waits_no_longer_than_asked(self) -> None:
        engine = LoopThread("engine")
        begun = threading.Event()

        async def stubborn() -> None:
            begun.set()
            time.sleep(0.5)  # noqa: ASYNC251  it holds the loop, on purpose

        engine.submit(stubborn())
        assert begun.wait(5)
        start = time.monotonic()
        assert not engine.stop(0.05)
        assert time.monotonic() - start < 0.4
        assert engine.stop(5)

    def test_stop_from_its_own_thread_does_not_wait(self) -> None:
        engine = LoopThread("engine")

        async def stops() -> bool:
            return engine.stop(5)

        assert engine.call_sync(stops(), 5) is False
        assert engine.stop(5)

    def test_to_thread_runs_on_daemons(self, engine: LoopThread) -> None:
        async def main() -> bool:
            return await asyncio.to_thread(lambda: threading.current_thread().daemon)

        assert engine.call_sync(main(), 5)

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
    @pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Python 3.12 warns of a fork with threads
    def test_after_a_fork_the_child_is_told(self, engine: LoopThread) -> None:
        executor = DaemonExecutor("pool")
        assert executor.submit(int, "1").result(5) == 1
        child = os.fork()
        if not child:
            status = 1
            try:
                assert not engine.alive
                assert executor.submit(int, "2").result(5) == 2
                engine.submit(where())
            except EngineClosed:
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        assert engine.alive


class TestDaemonExecutor:
    def test_calls_run_in_order_on_a_daemon(self) -> None:
        executor = DaemonExecutor("pool")
        names = [executor.submit(lambda n: (n, threading.current_thread().daemon), n) for n in range(20)]
        assert [future.result(5) for future in names] == [(n, True) for n in range(20)]
        assert sum(thread.name == "pool" for thread in threading.enumerate()) == 1
        executor.shutdown()
        assert not any(thread.name == "pool" for thread in threading.enumerate())

    def test_runs_as_many_side_by_side_as_it_has_threads(self) -> None:
        barrier = threading.Barrier(3)
        executor = DaemonExecutor("pool", threads=3)
        for future in [executor.submit(barrier.wait, 5) for _ in range(3)]:
            future.result(5)
        executor.shutdown()

    def test_serves_run_in_executor(self) -> None:
        executor = DaemonExecutor("pool")

        async def main() -> int:
            return await asyncio.get_running_loop().run_in_executor(executor, int, "7")

        assert asyncio.run(main()) == 7

    def test_errors_reach_the_caller(self) -> None:
        executor = DaemonExecutor("pool")
        with pytest.raises(ValueError, match="invalid literal"):
            executor.submit(int, "x").result(5)
        assert executor.submit(int, "7").result(5) == 7

    def test_shutdown_drops_what_has_not_begun(self) -> None:
        executor = DaemonExecutor("pool")
        begun, go = threading.Event(), threading.Event()
        running = executor.submit(lambda: (begun.set(), go.wait(5)))
        queued = executor.submit(int, "7")
        assert begun.wait(5)
        executor.shutdown(wait=False, cancel_futures=True)
        assert queued.cancelled()
        assert not running.done()
        assert not executor.idle(0.01)
        go.set()
        assert executor.idle(5)
        assert running.result(5) == (None, True)
        with pytest.raises(RuntimeError, match="shut down"):
            executor.submit(int, "7")

    def test_shutdown_lets_accepted_work_end(self) -> None:
        executor = DaemonExecutor("pool", threads=2)
        futures = [executor.submit(time.sleep, 0.01) for _ in range(6)]
        executor.shutdown(wait=True)
        assert all(future.done() for future in futures)

    def test_a_cancelled_call_never_runs(self) -> None:
        executor = DaemonExecutor("pool")
        go = threading.Event()
        executor.submit(go.wait, 5)
        ran: list[int] = []
        future = executor.submit(ran.append, 1)
        assert future.cancel()
        go.set()
        assert executor.idle(5)
        assert ran == []

    def test_is_idle_at_once_when_new(self) -> None:
        assert DaemonExecutor("pool").idle(0)

    def test_a_collected_executor_ends_its_threads(self) -> None:
        executor = DaemonExecutor("collected")
        executor.submit(int, "7").result(5)
        del executor
        gc.collect()
        wait_until(lambda: not any(thread.name == "collected" for thread in threading.enumerate()))


SCRIPT = """
import asyncio, atexit, threading, time
from adk_memorybank.threads import DaemonExecutor, LoopThread

engine, executor = LoopThread(), DaemonExecutor("pool")
begun = [threading.Event() for _ in range(3)]

async def long():
    begun[0].set()
    try:
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(1)

async def elsewhere():
    await asyncio.to_thread(lambda: (begun[1].set(), time.sleep(60)))

futures = [engine.submit(long()), engine.submit(elsewhere())]
futures.append(executor.submit(lambda: (begun[2].set(), time.sleep(60))))
futures.append(executor.submit(time.sleep, 60))
assert all(event.wait(10) for event in begun)
{ending}
"""


@pytest.mark.parametrize(
    "ending",
    [
        "",
        "atexit.register(lambda: engine.submit(asyncio.sleep(60)))",
        "atexit.register(lambda: (engine.stop(0.2), executor.shutdown(wait=False, cancel_futures=True)))",
        "second = DaemonExecutor('late'); second.submit(int)\natexit.register(lambda: second.submit(int).result(5))",
    ],
)
def test_a_script_that_ends_while_work_runs_exits_at_once_and_silently(ending: str) -> None:
    start = time.monotonic()
    script = textwrap.dedent(SCRIPT).replace("{ending}", ending)
    ended = subprocess.run(
        [sys.executable, "-W", "default", "-c", script], capture_output=True, text=True, timeout=30, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert time.monotonic() - start < 10
