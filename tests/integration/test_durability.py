"""Accepted work is done once, whatever happens to the process, the generator or the vectors."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from adk_memorybank import MemoryBankService
from adk_memorybank.errors import EmbedderMismatch, FailedPrecondition
from adk_memorybank.resources import Operation
from adk_memorybank.testing import HashEmbedder, ManualClock, ScriptedGenerator
from tests.integration.processes import child_of
from tests.integration.stores import (
    APP,
    USER,
    HeldGenerator,
    ReplacingGenerator,
    ended_well,
    facts,
    named_vectors,
    numbered,
    opened,
    rows,
    search,
    service,
    session,
    settle,
    until,
    vector_ids,
    write,
)

SCOPE = {"app_name": APP, "user_id": USER}


class TestEachEventOnce:
    async def test_a_session_that_grows_is_read_once(self, tmp_path: Path) -> None:
        generator = ScriptedGenerator()
        said = numbered(40)
        async with opened(tmp_path / "m", generator) as memory:
            for turns in range(1, 41):
                await memory.add_session_to_memory(session(said[:turns]))
            assert ended_well(await memory.flush())
            assert await facts(memory) == said
        read = [text for texts in generator.extractions for text in texts]
        assert sorted(read) == said
        by_event = rows(
            tmp_path / "m", "SELECT event_id, count(*), count(operation_id), min(state) FROM events GROUP BY 1"
        )
        assert len(by_event) == 40
        assert all(row[1:] == (1, 1, "read") for row in by_event)
        done = rows(
            tmp_path / "m", "SELECT count(DISTINCT o.id) FROM operations o JOIN events e ON e.operation_id = o.id"
        )
        assert done == [(len(generator.extractions),)]

    async def test_a_growing_session_of_which_each_turn_is_waited_for(self, tmp_path: Path) -> None:
        generator = ScriptedGenerator()
        said = numbered(10)
        async with opened(tmp_path / "m", generator) as memory:
            for turns in range(1, 11):
                await memory.add_session_to_memory(session(said[:turns]))
                assert len(await memory.flush()) == 1
            assert await facts(memory) == said
        assert generator.extractions == [[text] for text in said]

    async def test_an_unchanged_session_costs_nothing(self, tmp_path: Path) -> None:
        generator, embedder = ScriptedGenerator(), HashEmbedder()
        async with opened(tmp_path / "m", generator, embedder=embedder) as memory:
            await memory.add_session_to_memory(session(numbered(5)))
            await memory.flush()
            calls = len(generator.extractions), generator.consolidations, len(embedder.texts)
            changes = rows(tmp_path / "m", "SELECT count(*) FROM operations")
            for _ in range(3):
                await memory.add_session_to_memory(session(numbered(5)))
                assert await memory.flush() == []
            assert (len(generator.extractions), generator.consolidations, len(embedder.texts)) == calls
            assert rows(tmp_path / "m", "SELECT count(*) FROM operations") == changes

    async def test_events_that_come_while_their_session_is_read_go_with_the_next_operation(
        self, tmp_path: Path
    ) -> None:
        generator = HeldGenerator()
        async with opened(tmp_path / "m", generator) as memory:
            await memory.add_session_to_memory(session(["a one"]))
            await generator.begun()
            await memory.add_session_to_memory(session(["a one", "b two"]))
            await memory.add_session_to_memory(session(["a one", "b two", "c three"]))
            generator.let_go()
            assert ended_well(await memory.flush())
            assert await facts(memory) == ["a one", "b two", "c three"]
        assert generator.extractions == [["a one"], ["b two", "c three"]]


class TestKilled:
    async def test_twenty_kills_lose_nothing_and_double_nothing(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        expected: list[str] = []
        for number in range(20):
            said = numbered(3, what=f"round {number:02}")
            async with child_of(folder, wait=0.05) as process:
                await process.do("add", texts=said, session_id=f"s{number}")
                await asyncio.sleep(number * 0.01)
                await process.kill()
            expected += said
            async with opened(folder) as memory:
                await settle(memory)
                assert await facts(memory) == sorted(expected)
                assert (await search(memory, said[1]))[0] == said[1]
                await until(lambda: _all_vectors_written(memory, folder))
        assert rows(folder, "SELECT count(*) FROM operations WHERE error IS NOT NULL") == [(0,)]
        per_event = rows(folder, "SELECT count(*) FROM events WHERE state = 'read' GROUP BY session_id, event_id")
        assert per_event == [(1,)] * 60
        assert rows(folder, "SELECT count(*) FROM revisions") == [(60,)]

    @pytest.mark.parametrize("by_hand", [False, True])
    async def test_killed_between_the_commit_and_the_vector_of_an_update(self, tmp_path: Path, by_hand: bool) -> None:
        folder = tmp_path / "m"
        async with opened(folder, ReplacingGenerator()) as memory:
            bank = await memory.bank()
            await bank.create(scope=SCOPE, fact="drinks green tea")
            await until(lambda: _all_vectors_written(memory, folder))
            name = (await bank.list())[0].name
        async with child_of(folder, generator="replacing") as process:
            await process.do("die_before_vectors")
            if by_hand:
                await process.tell("update", name=name, fact="eats black bread")
            else:
                await process.do("add", texts=["eats black bread"])
            await process.gone()
        async with opened(folder) as memory:
            found = await (await memory.bank()).retrieve(scope=SCOPE, query="black bread", by="distance")
            assert [one.memory.fact for one in found] == ["eats black bread"]
            assert found[0].distance is not None
            assert found[0].distance < 1
            old = await (await memory.bank()).retrieve(scope=SCOPE, query="green tea", by="distance")
            assert old[0].distance is not None
            assert old[0].distance > 1.2
            await until(lambda: _all_vectors_written(memory, folder))

    async def test_a_third_start_without_an_end_is_an_error_that_can_be_retried(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with child_of(folder, generator="suicidal") as process:
            await process.tell("add", texts=numbered(2))
            await process.gone()
        for _ in range(2):
            async with child_of(folder, generator="suicidal") as process:
                await process.gone()
        generator = ScriptedGenerator()
        async with opened(folder, generator) as memory:
            bank = await memory.bank()
            (failed,) = await bank.operations.list(failed=True)
            assert failed.error is not None
            assert "3 times" in failed.error.message
            assert generator.extractions == []
            assert rows(folder, "SELECT state, content IS NULL FROM events") == [("waiting", 0)] * 2
            await bank.operations.retry(failed.name)
            assert ended_well(await bank.operations.wait([failed.name], timeout=30))
            assert await facts(memory) == numbered(2)
            assert await bank.operations.list(failed=True) == []

    async def test_only_the_operation_for_which_the_process_dies_fails(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        generator = HeldGenerator()
        memory = service(folder, generator)
        users = ["ada", "bob", "poisoned", "cid", "dan"]
        for user in users:
            await memory.add_session_to_memory(session([f"{user} likes tea"], user=user))
        await generator.begun(len(users))
        await memory.close(timeout=0)
        assert rows(folder, "SELECT DISTINCT state, starts FROM operations") == [("pending", 0)]
        for left in (5, 5, 3):  # the third time they run one by one, and those before it end well
            async with child_of(folder, generator="poisoned") as process:
                await process.gone()
            assert rows(folder, "SELECT count(*) FROM operations WHERE state != 'done'") == [(left,)]
        async with opened(folder) as memory:
            bank = await memory.bank()
            await settle(memory)
            (failed,) = await bank.operations.list(failed=True)
            assert failed.scope["user_id"] == "poisoned"
            for user in users:
                assert await facts(memory, user=user) == ([] if user == "poisoned" else [f"{user} likes tea"])

    async def test_beside_one_that_is_to_run_alone_nothing_runs(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        generator = HeldGenerator()
        memory = service(folder, generator)
        for user in ("ada", "bob", "cid"):
            await memory.add_session_to_memory(session([user], user=user))
        await generator.begun(3)
        await memory.close(timeout=0)
        write(folder, "UPDATE operations SET starts = 2 WHERE seq = 3")
        generator = HeldGenerator()
        async with opened(folder, generator) as memory:
            await generator.begun()
            await memory.add_session_to_memory(session(["dan"], user="dan"))
            await asyncio.sleep(1)
            assert generator.extractions == [["cid"]]
            generator.let_go()
            await settle(memory)
            assert len(generator.extractions) == 4

    async def test_a_close_in_the_middle_is_no_start(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        for _ in range(5):
            generator = HeldGenerator()
            memory = service(folder, generator)
            await memory.add_session_to_memory(session(numbered(2)))
            await generator.begun()
            await memory.close(timeout=0.05)
            assert rows(folder, "SELECT state, starts FROM operations") == [("pending", 0)]
        async with opened(folder) as memory:
            await settle(memory)
            assert await facts(memory) == numbered(2)


async def _all_vectors_written(memory: MemoryBankService, folder: Path) -> bool:
    return await vector_ids(memory) == named_vectors(folder)


class TestFaults:
    async def test_a_generator_that_fails_for_three_turns(self, tmp_path: Path) -> None:
        generator = ScriptedGenerator([ConnectionError("no route")] * 3)
        clock = ManualClock()
        said = numbered(4)
        async with opened(tmp_path / "m", generator, clock=clock) as memory:
            bank = await memory.bank()
            for turns in range(1, 4):
                await memory.add_session_to_memory(session(said[:turns]))
                clock.advance(timedelta(seconds=5))
                waiting = await self._put_back(bank, turns)
                assert waiting.last_error is not None
                assert "no route" in waiting.last_error.message
                assert waiting.due_time is not None
                assert waiting.due_time > clock.now()
                assert rows(tmp_path / "m", "SELECT DISTINCT state FROM events") == [("claimed",)]
            await memory.add_session_to_memory(session(said))
            clock.advance(timedelta(seconds=5))
            assert ended_well(await memory.flush())
            assert await facts(memory) == said
        assert [len(texts) for texts in generator.extractions] == [1, 2, 3, 4]

    async def _put_back(self, bank: Any, times: int) -> Operation:
        found: list[Operation] = []

        async def put_back() -> bool:
            found[:] = await bank.operations.list(unfinished=True)
            return [(one.state, one.attempts) for one in found] == [("pending", times)]

        await until(put_back)
        return found[0]

    async def test_one_that_fails_for_good_loses_no_event(self, tmp_path: Path) -> None:
        generator = ScriptedGenerator([ValueError("no such model"), ValueError("no such model")])
        async with opened(tmp_path / "m", generator) as memory:
            bank = await memory.bank()
            await memory.add_session_to_memory(session(["a one"]))
            (first,) = await memory.flush()
            assert first.error is not None
            assert "no such model" in first.error.message
            assert [one.name for one in await bank.operations.list(failed=True)] == [first.name]
            await memory.add_session_to_memory(session(["a one", "b two"]))
            (second,) = await memory.flush()
            assert second.error is not None
            await memory.add_session_to_memory(session(["a one", "b two", "c three"]))
            assert ended_well(await memory.flush())
            assert await facts(memory) == ["a one", "b two", "c three"]
            assert generator.extractions[-1] == ["a one", "b two", "c three"]

    async def test_one_that_failed_for_good_is_retried(self, tmp_path: Path) -> None:
        generator = ScriptedGenerator([ValueError("no such model")])
        async with opened(tmp_path / "m", generator) as memory:
            bank = await memory.bank()
            await memory.add_session_to_memory(session(["a one", "b two"]))
            (failed,) = await memory.flush()
            await bank.operations.retry(failed.name)
            (again,) = await bank.operations.wait([failed.name], timeout=30)
            assert again.done
            assert again.error is None
            assert await facts(memory) == ["a one", "b two"]
            with pytest.raises(FailedPrecondition):
                await bank.operations.retry(failed.name)

    async def test_a_generation_that_failed_is_retried_with_its_own_events(self, tmp_path: Path) -> None:
        generator = ScriptedGenerator([ValueError("no such model"), None])
        async with opened(tmp_path / "m", generator) as memory:
            bank = await memory.bank()
            event = {"content": {"role": "user", "parts": [{"text": "a one"}]}}
            failed = await bank.generate(scope=SCOPE, events=[event], wait=False)
            await bank.operations.wait([failed.name])
            other = {"content": {"role": "user", "parts": [{"text": "b two"}]}}
            await bank.generate(scope=SCOPE, events=[other])
            await bank.operations.retry(failed.name)
            assert ended_well(await bank.operations.wait([failed.name], timeout=30))
            assert await facts(memory) == ["a one", "b two"]
        assert generator.extractions == [["a one"], ["b two"], ["a one"]]

    async def test_a_fault_after_the_commit_undoes_nothing(self, tmp_path: Path) -> None:
        class Rewriting(ScriptedGenerator):
            """Writes a text that is not embedded yet."""

            async def consolidate(self, request: Any) -> Any:
                decisions = await super().consolidate(request)
                return [replace(decision, fact=f"{decision.fact}, rewritten") for decision in decisions]

        class Fails(HashEmbedder):
            failing = True

            async def embed(self, texts: Any, *, query: bool = False) -> Any:
                if self.failing and any("rewritten" in text for text in texts):
                    raise ConnectionError("no route")
                return await super().embed(texts, query=query)

        generator, embedder = Rewriting(), Fails()
        async with opened(tmp_path / "m", generator, embedder=embedder) as memory:
            await memory.add_session_to_memory(session(["likes tea"]))
            assert ended_well(await memory.flush())
            embedder.failing = False
            found = await (await memory.bank()).retrieve(scope=SCOPE, query="tea", by="distance")
            assert [one.memory.fact for one in found] == ["likes tea, rewritten"]
            assert found[0].distance is not None
        assert generator.extractions == [["likes tea"]]

    async def test_a_fault_of_a_cancelled_operation_does_not_bring_it_back(self, tmp_path: Path) -> None:
        class Fails(HeldGenerator):
            async def extract(self, request: Any) -> Any:
                await super().extract(request)
                raise ConnectionError("no route")

        generator = Fails()
        async with opened(tmp_path / "m", generator) as memory:
            bank = await memory.bank()
            await memory.add_session_to_memory(session(["a one"]))
            await generator.begun()
            (running,) = await bank.operations.list()
            cancelled = await bank.operations.cancel(running.name)
            assert cancelled.error is not None
            generator.let_go()
            await bank.operations.wait([running.name], timeout=30)
            after = await bank.operations.get(running.name)
            assert after.done
            assert after.error is not None
            assert after.error.status == "CANCELLED"
            assert rows(tmp_path / "m", "SELECT state, operation_id FROM events") == [("waiting", None)]

    async def test_what_is_cancelled_and_retried_while_it_runs_is_done_once(self, tmp_path: Path) -> None:
        generator = HeldGenerator()
        async with opened(tmp_path / "m", generator) as memory:
            bank = await memory.bank()
            await memory.add_session_to_memory(session(["a one"]))
            await generator.begun()
            (running,) = await bank.operations.list()
            await bank.operations.cancel(running.name)
            await bank.operations.retry(running.name)
            generator.let_go()
            assert ended_well(await bank.operations.wait([running.name], timeout=30))
            assert await facts(memory) == ["a one"]
            assert rows(tmp_path / "m", "SELECT count(*) FROM revisions") == [(1,)]

    async def test_an_operation_whose_end_can_not_be_written_runs_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        generator = ScriptedGenerator([ValueError("no such model")])
        folder = tmp_path / "m"
        async with opened(folder, generator) as memory:
            queue = memory.banks.engine
            await memory.bank()
            faults = [OSError("disk full")] * 3

            def failing(name: str) -> None:
                real = getattr(queue.queue, name)

                async def act(*args: Any, **options: Any) -> Any:
                    if faults:
                        raise faults.pop()
                    return await real(*args, **options)

                monkeypatch.setattr(queue.queue, name, act)

            failing("fail")
            failing("release")
            await memory.add_session_to_memory(session(["a one"]))
            assert ended_well(await memory.flush(timeout=30))
            assert await facts(memory) == ["a one"]


class TestRefused:
    async def test_a_folder_that_can_not_be_made(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        memory = service(tmp_path / "file" / "m")
        for _ in range(2):
            with pytest.raises(FailedPrecondition, match="can't be written"):
                await memory.add_session_to_memory(session(["a one"]))
        await memory.close()

    async def test_a_folder_whose_database_is_none(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        folder.mkdir()
        (folder / "memory.db").write_bytes(b"this is not a database, but it is long enough to be taken for one" * 99)
        memory = service(folder)
        with pytest.raises(FailedPrecondition, match=r"memory\.db"):
            await memory.bank()
        await memory.close()

    async def test_another_embedder_until_it_is_reindexed(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        said = ["cat eats", "dog runs"]
        async with opened(folder) as memory:
            await memory.add_session_to_memory(session(said))
            await memory.flush()
        wide = service(folder, embedder=HashEmbedder(dimension=96))
        with pytest.raises(EmbedderMismatch, match=r"hash-64.*hash-96.*reindex"):
            await search(wide, "cat")
        assert await wide.banks.reindex(name="default", embedder=HashEmbedder(dimension=96)) == 2
        assert (await search(wide, "cat eats"))[0] == "cat eats"
        await wide.close()
        with pytest.raises(EmbedderMismatch):
            await service(folder).bank()
        async with opened(folder, embedder=HashEmbedder(dimension=96)) as memory:
            assert (await search(memory, "dog runs"))[0] == "dog runs"


class TestCancelledCallers:
    async def test_an_add_is_accepted_whole_or_not_at_all(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        chance = random.Random(7)
        async with opened(folder) as memory:
            await memory.bank()
            cancelled = 0
            for number in range(60):
                said = numbered(4, what=f"round {number:02}")
                try:
                    async with asyncio.timeout(chance.random() * 0.012):
                        await memory.add_session_to_memory(session(said, session_id=f"s{number}"))
                except TimeoutError:
                    cancelled += 1
            assert cancelled
            await settle(memory)
            per_session: dict[str, int] = {}
            for fact in await facts(memory):
                key = fact.split(" number")[0]
                per_session[key] = per_session.get(key, 0) + 1
            assert set(per_session.values()) == {4}
            assert len(per_session) >= 60 - cancelled
            for number in range(60):
                await memory.add_session_to_memory(
                    session(numbered(4, what=f"round {number:02}"), session_id=f"s{number}")
                )
            await settle(memory)
            assert len(await facts(memory)) == 240

    async def test_a_generation_goes_on_when_nobody_waits_for_it(self, tmp_path: Path) -> None:
        generator = HeldGenerator()
        async with opened(tmp_path / "m", generator) as memory:
            bank = await memory.bank()
            waiting = asyncio.create_task(bank.generate(scope=SCOPE, session=session(["a one"])))
            await generator.begun()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            generator.let_go()
            await settle(memory)
            assert await facts(memory) == ["a one"]
