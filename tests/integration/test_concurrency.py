"""Many at once: tasks, threads, loops, services and banks on one store."""

from __future__ import annotations

import asyncio
import logging
import threading
from pathlib import Path

import pytest

from adk_memorybank.errors import EngineClosed
from adk_memorybank.storage import collections
from adk_memorybank.testing import ScriptedGenerator
from tests.integration.processes import child_of
from tests.integration.scripts.nursery import count
from tests.integration.stores import (
    APP,
    USER,
    HeldGenerator,
    ended_well,
    facts,
    numbered,
    opened,
    rows,
    search,
    service,
    session,
    settle,
    until,
)

SCOPE = {"app_name": APP, "user_id": USER}


class TestReadModifyWrite:
    async def test_five_hundred_count_to_five_hundred(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder) as memory:
            made = await (await memory.bank()).create(scope=SCOPE, fact="a counter")
            await asyncio.gather(*(count(memory, made.id) for _ in range(500)))
        assert rows(folder, "SELECT json_extract(metadata, '$.count') FROM memories") == [(500,)]

    async def test_two_processes_and_this_one(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder) as memory:
            made = await (await memory.bank()).create(scope=SCOPE, fact="a counter")
            async with child_of(folder) as one, child_of(folder) as two:
                await one.tell("count", memory_id=made.id, times=100)
                await two.tell("count", memory_id=made.id, times=100)
                await asyncio.gather(one.answer(), two.answer(), *(count(memory, made.id) for _ in range(100)))
        assert rows(folder, "SELECT json_extract(metadata, '$.count') FROM memories") == [(300,)]


class TestManyAdds:
    async def test_to_one_scope(self, tmp_path: Path) -> None:
        said = numbered(64)
        async with opened(tmp_path / "m") as memory:
            await asyncio.gather(
                *(
                    memory.add_session_to_memory(session([text, "said by all"], session_id=f"s{number}"))
                    for number, text in enumerate(said)
                )
            )
            assert ended_well(await memory.flush())
            assert await facts(memory) == [*said, "said by all"]

    async def test_of_one_session_to_one_scope(self, tmp_path: Path) -> None:
        generator = ScriptedGenerator()
        said = numbered(16)
        async with opened(tmp_path / "m", generator) as memory:
            await asyncio.gather(*(memory.add_session_to_memory(session(said)) for _ in range(64)))
            assert ended_well(await memory.flush())
            assert await facts(memory) == said
        assert sum(len(texts) for texts in generator.extractions) == 16

    async def test_to_many_scopes(self, tmp_path: Path) -> None:
        async with opened(tmp_path / "m", ScriptedGenerator([0.01] * 64)) as memory:
            await asyncio.gather(
                *(memory.add_session_to_memory(session([f"words of {user}"], user=f"u{user}")) for user in range(64))
            )
            ended = await memory.flush()
            assert len(ended) == 64
            assert ended_well(ended)
            for user in range(64):
                assert await facts(memory, user=f"u{user}") == [f"words of {user}"]

    async def test_a_flush_returns_when_the_vectors_are_there(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder) as memory:
            for number in range(5):
                await memory.add_session_to_memory(session(numbered(20), session_id=f"s{number}", user=f"u{number}"))
                await memory.flush()
                engine = memory.banks.engine
                written = await engine.call(_all_written(engine, folder))
                assert written

    async def test_a_scope_whose_model_hangs_holds_up_no_other(self, tmp_path: Path) -> None:
        class Hangs(HeldGenerator):
            async def extract(self, request):
                if "hang" in request.turns[-1].text:
                    return await super().extract(request)
                return await ScriptedGenerator.extract(self, request)

        generator = Hangs()
        async with opened(tmp_path / "m", generator) as memory:
            await memory.add_session_to_memory(session(["hang"], user="slow"))
            await memory.flush(timeout=0)
            await generator.begun()
            for user in range(10):
                await memory.add_session_to_memory(session(["words"], user=f"u{user}"))
            for user in range(10):
                await until(lambda user=user: _has(memory, f"u{user}"))
            (open_one,) = [operation for operation in await memory.flush(timeout=0.1) if not operation.done]
            assert open_one.scope["user_id"] == "slow"
            generator.let_go()
            assert ended_well(await memory.flush())

    async def test_searches_among_writes_see_whole_states(self, tmp_path: Path) -> None:
        async with opened(tmp_path / "m") as memory:
            bank = await memory.bank()
            made = await bank.create(scope=SCOPE, fact="version 000")
            stop = asyncio.Event()
            seen: list[str] = []

            async def read() -> None:
                while not stop.is_set():
                    found = await search(memory, "version")
                    assert len(found) == 1
                    seen.append(found[0])

            readers = [asyncio.create_task(read()) for _ in range(3)]
            for number in range(1, 60):
                await bank.update(name=made.name, fact=f"version {number:03}")
                assert await search(memory, "version") == [f"version {number:03}"]
            stop.set()
            await asyncio.gather(*readers)
            assert len(seen) > 3


async def _has(memory, user: str) -> bool:
    return await facts(memory, user=user) == ["words"]


async def _all_written(engine, folder: Path) -> bool:
    from tests.integration.stores import named_vectors

    ids = named_vectors(folder)
    async with engine.database.read() as connection:
        (name,) = await collections.of_bank(connection, bank_id="default")
    return await engine._vectors.present(name, sorted(ids)) == ids


class TestServices:
    async def test_two_on_one_folder_share_an_engine(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        generator = ScriptedGenerator()
        one, two = service(folder, generator), service(folder, generator)
        await one.add_session_to_memory(session(["said to one"]))
        await two.add_session_to_memory(session(["said to two"], session_id="t"))
        assert one.banks.engine is two.banks.engine
        await one.flush()
        await one.close()
        with pytest.raises(EngineClosed):
            await one.add_session_to_memory(session(["too late"]))
        assert ended_well(await two.flush())
        assert await facts(two) == ["said to one", "said to two"]
        assert (await search(two, "said to one"))[0] == "said to one"
        await two.close()
        assert rows(folder, "SELECT count(*) FROM memories") == [(2,)]

    async def test_a_link_to_the_folder_is_the_folder(self, tmp_path: Path) -> None:
        (tmp_path / "m").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "m")
        async with opened(tmp_path / "m") as one, opened(tmp_path / "link") as two:
            await one.bank()
            await two.bank()
            assert one.banks.engine is two.banks.engine

    async def test_banks_in_one_folder_are_apart(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder, bank="tea") as tea, opened(folder, bank="coffee") as coffee:
            await tea.add_session_to_memory(session(["likes green tea"]))
            await coffee.add_session_to_memory(session(["likes black coffee"]))
            await asyncio.gather(tea.flush(), coffee.flush())
            assert await facts(tea) == ["likes green tea"]
            assert await search(coffee, "likes tea") == ["likes black coffee"]
            await tea.forget(app_name=APP, user_id=USER)
            assert await facts(tea) == []
            assert await facts(coffee) == ["likes black coffee"]
            await coffee.add_session_to_memory(session(["likes green tea"], session_id="t"))
            await coffee.flush()
            assert len(await facts(coffee)) == 2

    async def test_from_many_threads_each_with_a_loop_of_its_own(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        memory = service(folder)
        start = threading.Barrier(8)
        faults: list[BaseException] = []

        def work(number: int) -> None:
            try:
                start.wait()
                for turn in range(3):
                    said = [f"thread {number} says {turn}"]
                    asyncio.run(memory.add_session_to_memory(session(said, session_id=f"s{number}-{turn}")))
                    asyncio.run(memory.search_memory(app_name=APP, user_id=USER, query="says"))
            except BaseException as error:  # noqa: BLE001
                faults.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        await asyncio.to_thread(lambda: [thread.join(60) for thread in threads])
        assert faults == []
        assert ended_well(await memory.flush())
        assert len(await facts(memory)) == 24
        engine = memory.banks.engine
        assert engine.users == 1  # opened once, though eight threads asked at once
        await memory.close()
        assert not engine.alive

    async def test_opened_and_closed_over_and_over(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        for number in range(10):
            memory = service(folder)
            await memory.add_session_to_memory(session([f"words {number}"], session_id=f"s{number}"))
            await memory.close()
        async with opened(folder) as memory:
            await settle(memory)
            assert await facts(memory) == [f"words {number}" for number in range(10)]

    async def test_closed_right_after_it_was_opened(self, tmp_path: Path) -> None:
        for number in range(5):
            memory = service(tmp_path / str(number))
            _ = memory.banks.engine  # opens behind the scenes
            await memory.close()
            await memory.close()

    async def test_closed_while_many_add(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        memory = service(folder)
        await memory.bank()
        accepted: list[str] = []

        async def add(number: int) -> None:
            await memory.add_session_to_memory(session([f"words {number:03}"], session_id=f"s{number}"))
            accepted.append(f"words {number:03}")

        adds = [asyncio.create_task(add(number)) for number in range(60)]
        await until(lambda: accepted)
        await memory.close(timeout=0)
        ends = await asyncio.gather(*adds, return_exceptions=True)
        assert {type(end) for end in ends} <= {type(None), EngineClosed}
        async with opened(folder) as memory:
            await settle(memory)
            assert set(accepted) <= set(await facts(memory))

    async def test_opened_anew_while_another_is_still_closing(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        folder = tmp_path / "m"
        generator = HeldGenerator()
        first = service(folder, generator)
        await first.add_session_to_memory(session(["a one"]))
        await generator.begun()
        closing = asyncio.create_task(first.close(timeout=4))
        await until(lambda: first._closed)
        await asyncio.sleep(0.05)
        with caplog.at_level(logging.WARNING, "google_adk.adk_memorybank"):
            async with opened(folder) as second:
                assert await search(second, "one") == []  # waits for the first, who takes four seconds
                await closing
                await settle(second)
                assert await facts(second) == ["a one"]
        assert "in use" not in caplog.text

    async def test_a_close_that_is_cancelled_still_closes(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        generator = HeldGenerator()
        first = service(folder, generator)

        async def main() -> None:
            await first.add_session_to_memory(session(["a one"]))
            await generator.begun()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(first.close(timeout=2), 0.1)

        await asyncio.to_thread(asyncio.run, main())  # whose end cancels what it left behind
        async with opened(folder) as second:
            await search(second, "one")
            await settle(second)
            assert await facts(second) == ["a one"]
        assert rows(folder, "SELECT starts, state FROM operations") == [(0, "done")]

    async def test_a_caller_who_was_cancelled_can_still_flush(self, tmp_path: Path) -> None:
        generator = HeldGenerator()
        async with opened(tmp_path / "m", generator) as memory:
            await memory.bank()
            adding = asyncio.create_task(memory.add_session_to_memory(session(["a one"])))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            adding.cancel()
            await asyncio.gather(adding, return_exceptions=True)
            generator.let_go()
            await until(lambda: rows(tmp_path / "m", "SELECT 1 FROM operations"))
            await memory.flush()
            assert await facts(memory) == ["a one"]

    async def test_use_after_close_says_so(self, tmp_path: Path) -> None:
        memory = service(tmp_path / "m")
        bank = await memory.bank()
        await memory.close()
        for call in (
            bank.list(),
            bank.retrieve(scope=SCOPE, query="x"),
            bank.operations.list(),
            memory.flush(),
            search(memory, "x"),
        ):
            with pytest.raises(EngineClosed):
                await call
