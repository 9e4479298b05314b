"""What is forgotten is gone from every file, and stays forgotten."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from adk_memorybank import MemoryBankService
from adk_memorybank.errors import MemoryBankError, NotFound
from adk_memorybank.storage import forgetting
from adk_memorybank.storage.database import Database
from adk_memorybank.testing import HashEmbedder, ScriptedGenerator
from tests.integration.processes import child_of
from tests.integration.stores import (
    APP,
    USER,
    HeldGenerator,
    ReplacingGenerator,
    ended_well,
    facts,
    files_with,
    named_vectors,
    opened,
    rows,
    search,
    session,
    settle,
    until,
    vector_ids,
    write,
)

SECRET = "xylophonist"
"""Stands in everything that one user says, and in her own name."""
EVE = f"eve-the-{SECRET}"


async def say(memory: MemoryBankService, texts: list[str], session_id: str = "s", user: str = EVE) -> None:
    await memory.add_session_to_memory(session(texts, session_id=session_id, user=user))


async def forget(memory: MemoryBankService, user: str = EVE) -> Any:
    return await memory.forget(app_name=APP, user_id=user)


class TestNoByteIsLeft:
    async def test_of_memories_events_metadata_and_names(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder) as memory:
            said = [f"the {SECRET} likes number {number}" for number in range(30)]
            await say(memory, said, f"session-{SECRET}")
            await say(memory, ["what others say"], user=USER)
            await memory.add_events_to_memory(
                app_name=APP,
                user_id=EVE,
                session_id="t",
                events=session([f"again the {SECRET}"], session_id="t").events,
                custom_metadata={"instrument": SECRET, "revision_labels": {"of": SECRET}},
            )
            await memory.flush()
            bank = await memory.bank()
            scope = memory.scope(app_name=APP, user_id=EVE)
            await bank.create(scope=scope, fact=f"made by hand for the {SECRET}")
            await bank.generate(scope=scope, direct_memories=[f"given to the {SECRET}"])
            await search(memory, f"the {SECRET}", user=EVE)
            assert files_with(folder, SECRET)
            forgotten = await forget(memory)
            assert files_with(folder, SECRET) == []
            assert (forgotten.memories, forgotten.events) == (33, 31)
            assert await facts(memory) == ["what others say"]
            await until(lambda: _only_named_vectors(memory, folder))
        assert files_with(folder, SECRET) == []

    async def test_of_memories_that_were_updated_and_deleted(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder, ReplacingGenerator()) as memory:
            for number in range(6):
                await say(memory, [f"the {SECRET} is {number} years old"], f"s{number}")
                await memory.flush()
            bank = await memory.bank()
            (one,) = await bank.list()
            assert len(await bank.list_revisions(name=one.name)) == 6
            await bank.update(name=one.name, fact=f"the {SECRET} is ageless")
            await bank.delete(name=one.name)
            assert files_with(folder, SECRET)
            await forget(memory)
            assert files_with(folder, SECRET) == []
            assert await bank.list_revisions(name=one.name) == []

    async def test_of_events_that_nothing_cites(self, tmp_path: Path) -> None:
        class Silent(ScriptedGenerator):
            async def extract(self, request: Any) -> Any:
                found = await super().extract(request)
                found.facts.clear()
                return found

        folder = tmp_path / "m"
        async with opened(folder, Silent()) as memory:
            await say(memory, [f"the {SECRET} says {number}" for number in range(20)])
            await memory.flush()
            kept = rows(folder, "SELECT count(*) FROM events WHERE content IS NOT NULL")
            assert kept[0][0] < 20  # only what is context for the next
            await forget(memory)
            assert files_with(folder, SECRET) == []

    async def test_of_operations_that_failed_or_wait(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        script = [ValueError(f"no model for the {SECRET}"), ConnectionError(f"no route to the {SECRET}")]
        async with opened(folder, ScriptedGenerator(script)) as memory:
            bank = await memory.bank()
            await say(memory, [f"the {SECRET} fails"])
            (failed,) = await memory.flush()
            assert failed.error is not None
            await say(memory, [f"the {SECRET} waits"], "t")
            await until(lambda: rows(folder, "SELECT 1 FROM operations WHERE attempts > 0 AND state = 'pending'"))
            scope = memory.scope(app_name=APP, user_id=EVE)
            await bank.generate(scope=scope, direct_memories=[f"the {SECRET} is given"], wait=False)
            assert files_with(folder, SECRET)
            await forget(memory)
            assert files_with(folder, SECRET) == []
            assert await bank.operations.list() == []
            with pytest.raises(NotFound):
                await bank.operations.retry(failed.name)
            assert await memory.flush(timeout=20) == []

    async def test_of_events_that_wait_for_their_trigger(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder) as memory:
            await memory.add_events_to_memory(
                app_name=APP,
                user_id=EVE,
                session_id=f"the-{SECRET}",
                events=session([f"the {SECRET} waits"]).events,
                custom_metadata={"generation_trigger_config": {"generation_rule": {"event_count": 9}}},
            )
            assert files_with(folder, SECRET)
            await forget(memory)
            assert files_with(folder, SECRET) == []

    async def test_of_many_rows_among_those_of_others(self, tmp_path: Path) -> None:
        """Rows of all lengths, added in turns, so that SQLite splits and merges pages with both on them."""
        folder = tmp_path / "m"
        chance = random.Random(5)
        async with opened(folder) as memory:
            bank = await memory.bank()
            eve = memory.scope(app_name=APP, user_id=EVE)
            ada = memory.scope(app_name=APP, user_id=USER)
            for _ in range(60):
                hers = [(f"{SECRET} " * chance.randint(1, 60), _options()) for _ in range(chance.randint(1, 6))]
                others = [("something else " * chance.randint(1, 40), _options()) for _ in range(chance.randint(1, 6))]
                await bank.create_all(scope=eve, memories=hers)
                await bank.create_all(scope=ada, memories=others)
                if chance.random() < 0.5:
                    one = chance.choice(await bank.list(scope=eve))
                    await bank.update(name=one.name, fact=f"{SECRET} " * chance.randint(1, 200))
                if chance.random() < 0.3:
                    await bank.delete(name=chance.choice(await bank.list(scope=ada)).name)
            before = await facts(memory)
            await forget(memory)
            assert files_with(folder, SECRET) == []
            assert await facts(memory) == before
            await until(lambda: _only_named_vectors(memory, folder))
        with closing(sqlite3.connect(folder / "memory.db")) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]

    async def test_by_a_process_that_does_not_own_the_folder(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder) as memory:
            await say(memory, [f"the {SECRET} likes tea", f"the {SECRET} likes rain"])
            await memory.flush()
            assert await search(memory, "tea", user=EVE)
            async with child_of(folder) as process:
                assert await process.do("forget", user=EVE) == 2
                assert files_with(folder, SECRET) == []
            assert await search(memory, "tea", user=EVE) == []
            await until(lambda: _no_vectors(memory))

    async def test_while_the_process_that_owns_the_folder_is_busy(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder) as memory:
            await say(memory, [f"the {SECRET} likes tea"])
            await memory.flush()
            stop = asyncio.Event()

            async def others() -> None:
                number = 0
                while not stop.is_set():
                    number += 1
                    await say(memory, [f"others say {number}"], f"o{number}", USER)
                    await search(memory, "others", user=USER)

            busy = asyncio.create_task(others())
            await asyncio.sleep(0.3)
            await forget(memory)
            left = files_with(folder, SECRET)
            stop.set()
            await busy
            assert left == []


class TestInterrupted:
    """The rows are gone and the process dies, or the disk is full, before their last bytes are."""

    async def _interrupted(self, memory: MemoryBankService, monkeypatch: pytest.MonkeyPatch) -> None:
        await say(memory, [f"the {SECRET} likes tea"])
        await memory.flush()

        async def full(_: Database) -> None:
            raise OSError("no space left on device")

        monkeypatch.setattr(Database, "_rewrite", full)
        with pytest.raises(OSError, match="no space left"):
            await forget(memory)
        monkeypatch.undo()

    async def test_the_next_call_ends_what_the_first_began(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with opened(tmp_path / "m", ScriptedGenerator()) as memory:
            await self._interrupted(memory, monkeypatch)
            assert files_with(tmp_path / "m", SECRET) != []
            await forget(memory)
            assert files_with(tmp_path / "m", SECRET) == []

    async def test_so_does_the_next_start(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        async with opened(tmp_path / "m", ScriptedGenerator()) as memory:
            await self._interrupted(memory, monkeypatch)
        async with opened(tmp_path / "m", ScriptedGenerator()) as memory:
            await memory.bank()
            await until(lambda: files_with(tmp_path / "m", SECRET) == [])


class TestTextThatNothingCites:
    """It goes with the last memory or revision that names it, not only with the scope."""

    @pytest.mark.parametrize("revisions", [False, True])
    async def test_of_a_deleted_memory(self, tmp_path: Path, revisions: bool) -> None:
        folder = tmp_path / "m"
        config = {"disable_memory_revisions": not revisions}
        async with opened(folder, config=config) as memory:
            await say(memory, ["likes tea", "likes rain", *(f"more {number}" for number in range(6))])
            await memory.flush()
            bank = await memory.bank()
            for fact in ("likes tea", "likes rain"):
                await bank.delete(name=next(one.name for one in await bank.list() if one.fact == fact))
            left = {text for (text,) in rows(folder, "SELECT content FROM events WHERE cited = 1")}
            assert ('["likes tea"]' in left, '["likes rain"]' in left) == (revisions, revisions)
            assert '["more 5"]' in left
            assert rows(folder, "SELECT count(*) FROM events WHERE content IS NULL") == [(0 if revisions else 2,)]

    async def test_of_an_event_that_another_memory_names(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder, config={"disable_memory_revisions": True}) as memory:
            await say(memory, ["likes tea"])
            await memory.flush()
            bank = await memory.bank()
            scope = memory.scope(app_name=APP, user_id=EVE)
            other = await bank.create(scope=scope, fact="likes it hot")
            write(folder, "UPDATE memories SET sources = (SELECT max(sources) FROM memories)")
            for name, left in ((other.name, '["likes tea"]'), ((await bank.list())[-1].name, None)):
                await bank.delete(name=name)
                assert rows(folder, "SELECT content FROM events") == [(left,)]

    async def test_of_a_fact_that_was_replaced_without_a_revision(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder, ReplacingGenerator(), config={"disable_memory_revisions": True}) as memory:
            for number in range(3):
                await say(memory, [f"is {number} years old"], f"s{number}")
                await memory.flush()
            assert rows(folder, "SELECT content FROM events ORDER BY id") == [
                (None,),
                (None,),
                ('["is 2 years old"]',),
            ]

    async def test_of_a_rollback_without_a_revision(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder, ReplacingGenerator()) as memory:
            await say(memory, ["likes tea"], "s")
            await memory.flush()
            bank = await memory.bank()
            await bank_without_revisions(memory)
            await say(memory, ["likes rain"], "t")
            await memory.flush()
            (one,) = await bank.list()
            (first,) = await bank.list_revisions(name=one.name)
            await bank.rollback(name=one.name, target_revision_id=first.name)
            assert rows(folder, "SELECT content FROM events ORDER BY id") == [('["likes tea"]',), (None,)]

    async def test_of_a_generation_that_failed_when_its_operation_is_swept(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder, ScriptedGenerator([ValueError("no")])) as memory:
            bank = await memory.bank()
            scope = memory.scope(app_name=APP, user_id=EVE)
            with pytest.raises(MemoryBankError):
                await bank.generate(scope=scope, events=session([f"the {SECRET} fails"]).events)
            assert rows(folder, "SELECT state FROM events") == [("claimed",)]
            engine = memory.banks.engine

            async def sweep() -> None:
                async with engine.database.write() as connection:
                    later = engine.clock.now() + timedelta(seconds=1)
                    await forgetting.sweep(connection, now=later, operations_before=later)

            await engine.call(sweep())
            assert rows(folder, "SELECT count(*) FROM events") == [(0,)]
            assert rows(folder, "SELECT count(*) FROM operations") == [(0,)]


async def bank_without_revisions(memory: MemoryBankService) -> None:
    bank = await memory.bank()
    await memory.banks.update(name=bank.name, managed_semantic_memory_config={"disable_memory_revisions": True})


def _options() -> Any:
    from adk_memorybank.options import MemoryOptions

    return MemoryOptions()


async def _only_named_vectors(memory: MemoryBankService, folder: Path) -> bool:
    return await vector_ids(memory) == named_vectors(folder)


async def _no_vectors(memory: MemoryBankService) -> bool:
    return not await vector_ids(memory)


class TestStaysForgotten:
    async def test_the_same_sessions_bring_nothing_back(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        generator = ScriptedGenerator()
        said = [f"the {SECRET} likes tea", f"the {SECRET} likes rain"]
        async with opened(folder, generator) as memory:
            await say(memory, said)
            await memory.flush()
            await forget(memory)
            await say(memory, said)
            assert await memory.flush() == []
            assert await facts(memory, user=EVE) == []
            assert files_with(folder, SECRET) == []
        async with opened(folder, generator) as memory:
            await say(memory, said)
            assert await memory.flush() == []
            await say(memory, [*said, f"the {SECRET} likes snow"])
            assert ended_well(await memory.flush())
            assert await facts(memory, user=EVE) == [f"the {SECRET} likes snow"]
            assert await search(memory, "tea rain snow", user=EVE) == [f"the {SECRET} likes snow"]
        assert generator.extractions == [said, [f"the {SECRET} likes snow"]]

    async def test_a_session_that_is_generated_from_again_brings_no_scope_back(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder) as memory:
            bank = await memory.bank()
            said = session(["likes tea"], user=EVE)
            scope = memory.scope(app_name=APP, user_id=EVE)
            await bank.generate(scope=scope, session=said)
            await forget(memory)
            rule = {"generation_rule": {"event_count": 3}}
            again = await bank.generate(scope=scope, session=said)
            assert (again.done, again.error, again.generated_memories) == (True, None, [])
            given: list[dict[str, Any]] = [{"force_flush": True}, {"generation_trigger_config": rule}]
            for more in given:
                assert await bank.ingest_events(scope=scope, events=said.events, stream_id="s", **more) is None
            assert await bank.list_scopes() == []
            assert files_with(folder, SECRET) == []
            nothing = await bank.generate(scope={"user_id": "new"}, events=[])
            assert (nothing.done, await bank.list_scopes()) == (True, [])

    async def test_a_generation_that_runs_brings_nothing_back(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        generator = HeldGenerator()
        async with opened(folder, generator) as memory:
            await say(memory, [f"the {SECRET} likes tea"])
            await generator.begun()
            await forget(memory)
            assert files_with(folder, SECRET) == []
            await say(memory, [f"the {SECRET} likes tea", "new words"])
            generator.let_go()
            await settle(memory)
            await until(lambda: len(generator.extractions) == 2)
            await settle(memory)
            assert await facts(memory, user=EVE) == ["new words"]
            assert files_with(folder, f"{SECRET} likes") == []
            await until(lambda: _only_named_vectors(memory, folder))

    async def test_a_generation_that_fails_afterwards_leaves_no_trace(self, tmp_path: Path) -> None:
        class Fails(HeldGenerator):
            def __init__(self, error: Exception) -> None:
                super().__init__()
                self.error = error

            async def extract(self, request: Any) -> Any:
                await super().extract(request)
                raise self.error

        for number, error in enumerate([ValueError(f"of the {SECRET}"), ConnectionError(f"of the {SECRET}")]):
            folder = tmp_path / str(number)
            generator = Fails(error)
            async with opened(folder, generator) as memory:
                await say(memory, [f"the {SECRET} likes tea"])
                await generator.begun()
                await forget(memory)
                generator.let_go()
                await memory.flush()
                assert rows(folder, "SELECT count(*) FROM operations") == [(0,)]
                assert rows(folder, "SELECT count(*) FROM events") == [(0,)]
            assert files_with(folder, SECRET) == []

    async def test_vectors_that_are_being_written_go_too(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder) as memory:
            for number in range(8):
                await say(memory, [f"the {SECRET} has {number} {place}" for place in range(30)], f"s{number}")
                # At all moments from the commit of the memories to the last of their vectors.
                await until(lambda: rows(folder, "SELECT 1 FROM memories LIMIT 1"))
                await asyncio.sleep(number * 0.03)
                await forget(memory)
                await settle(memory)
            await memory.flush()
            await until(lambda: _no_vectors(memory))

    async def test_at_random_moments(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        chance = random.Random(11)
        async with opened(folder, ScriptedGenerator([0.02] * 1000)) as memory:
            said: list[str] = []
            for turn in range(25):
                said.append(f"the {SECRET} counts {turn:02}")
                await say(memory, said)
                await asyncio.sleep(chance.random() * 0.08)
                await forget(memory)
                assert files_with(folder, SECRET) == [], turn
            await memory.flush(timeout=20)
            assert await facts(memory, user=EVE) == []
            said.append("the last word")
            await say(memory, said)
            assert ended_well(await memory.flush())
            assert await facts(memory, user=EVE) == ["the last word"]


class TestOneMemory:
    async def test_its_vector_goes_and_its_revisions_stay(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder) as memory:
            await say(memory, ["likes tea", "likes rain"], user=USER)
            await memory.flush()
            bank = await memory.bank()
            tea = next(one for one in await bank.list() if one.fact == "likes tea")
            assert len(await vector_ids(memory)) == 2
            await memory.delete_memory(app_name=APP, user_id=USER, memory_id=tea.id)
            assert await search(memory, "tea") == ["likes rain"]
            await until(lambda: _only_named_vectors(memory, folder))
            assert len(await vector_ids(memory)) == 1
            revisions = await bank.list_revisions(name=tea.name)
            assert [one.fact for one in revisions] == ["", "likes tea"]
            assert all(one.expire_time is not None for one in revisions)
            with pytest.raises(NotFound):
                await memory.delete_memory(app_name=APP, user_id=USER, memory_id=tea.id)

    async def test_an_update_leaves_one_vector(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder, embedder=HashEmbedder()) as memory:
            bank = await memory.bank()
            made = await bank.create(scope=memory.scope(app_name=APP, user_id=USER), fact="likes tea")
            for number in range(10):  # no waiting between: writes and removals overtake each other
                await bank.update(name=made.name, fact=f"likes tea number {number}")
            assert await search(memory, "tea") == ["likes tea number 9"]
            await until(lambda: _only_named_vectors(memory, folder))
            assert len(await vector_ids(memory)) == 1
