"""Processes that end without a word, share a folder, or fork."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta
from multiprocessing import get_context
from pathlib import Path

import pytest

from adk_memorybank import MemoryBanks
from adk_memorybank.errors import NotFound, StoreInUse
from adk_memorybank.testing import HashEmbedder
from tests.integration.processes import Failed, child, child_of, run_script, script
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
    write,
)

SCOPE = {"app_name": APP, "user_id": USER}
AT_ONCE = 6.0
"""Seconds that an exit may take: one for what runs, and what a busy machine needs to take Python down."""


def change_default_bank(folder: Path, change: str) -> None:
    """In a process of its own."""

    async def changed() -> None:
        async with MemoryBanks(f"memorybank:///{folder}", model="offline", embedder=HashEmbedder()) as banks:
            if change == "delete":
                await banks.delete(name="default", force=True)
            else:
                config = {"ttl_config": {"default_ttl": "60s"}}
                await banks.update(name="default", managed_semantic_memory_config=config)

    asyncio.run(changed())


class TestEndsWithoutClose:
    @pytest.mark.parametrize(
        ("way", "expected"),
        [
            ("unused", []),
            ("plain", ["words 0"]),
            ("flushed", ["words 0"]),
            ("loops", ["words 0", "words 1"]),
            ("threads", [f"words {number}" for number in range(4)]),
            ("closing", ["words 0"]),
        ],
    )
    async def test_at_once_in_silence_and_with_nothing_lost(
        self, tmp_path: Path, way: str, expected: list[str]
    ) -> None:
        folder = tmp_path / "m"
        ended = await run_script("ends.py", way, folder=folder)
        assert (ended.code, ended.out, ended.err) == (0, "", "")
        assert ended.seconds < AT_ONCE
        async with opened(folder) as memory:
            await memory.bank()
            await settle(memory)
            assert await facts(memory) == expected
            assert sorted(await search(memory, "words")) == expected

    async def test_an_end_in_the_middle_of_an_operation_is_no_start(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        for _ in range(4):
            ended = await run_script("ends.py", "running", folder=folder)
            assert (ended.code, ended.out, ended.err) == (0, "", "")
            assert ended.seconds < AT_ONCE
            assert rows(folder, "SELECT state, starts FROM operations") == [("pending", 0)]
        async with opened(folder) as memory:
            await memory.bank()
            await settle(memory)
            assert await facts(memory) == ["words 0"]
            assert await (await memory.bank()).operations.list(failed=True) == []

    @pytest.mark.parametrize("fault", ["version", "no database", "file"])
    async def test_a_store_that_can_not_be_opened_holds_up_no_exit(self, tmp_path: Path, fault: str) -> None:
        folder = tmp_path / "m"
        if fault == "file":
            folder.write_text("a file stands here")
        elif fault == "no database":
            folder.mkdir()
            (folder / "memory.db").write_text("no database " * 1000)
        else:
            async with opened(folder) as memory:
                await memory.bank()
            write(folder, "UPDATE meta SET value = '99' WHERE key = 'schema_version'")
        ended = await run_script("ends.py", "refused", folder=folder)
        assert (ended.code, ended.out, ended.err) == (0, "", "")
        assert ended.seconds < AT_ONCE


class TestSecondProcess:
    async def test_its_work_is_done_by_the_owner(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder) as owner:
            await owner.bank()
            async with child_of(folder) as second:
                await second.do("add", texts=numbered(3))
                assert await second.do("flush") == [True]
                assert await second.do("facts") == numbered(3)
                (first,) = [one for one in await (await owner.bank()).list() if one.fact == numbered(3)[0]]
                assert await second.do("get", name=first.name) == first.fact
                assert (await second.do("words", query="number 001"))[0] == "fact number 001"
            assert (await search(owner, "number 002"))[0] == "fact number 002"

    async def test_its_words_find_what_was_changed_meanwhile(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder) as owner, child_of(folder) as second:
            bank = await owner.bank()
            made = await bank.create(scope=SCOPE, fact="likes tea")
            assert await second.do("words", query="tea") == ["likes tea"]
            await bank.update(name=made.name, fact="likes milk")
            assert await second.do("words", query="likes") == ["likes milk"]
            assert await search(owner, "likes") == ["likes milk"]
            await second.do("update", name=made.name, fact="likes rain")
            assert await search(owner, "likes") == ["likes rain"]
            found = await bank.retrieve(scope=SCOPE, query="rain", by="distance")
            assert found[0].distance is not None

    async def test_what_needs_vectors_names_the_owner(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with child_of(folder) as owner:
            await owner.do("add", texts=numbered(3))
            async with opened(folder) as memory:
                began = time.monotonic()
                with pytest.raises(Exception, match=str(owner.pid)) as caught:
                    await search(memory, "number")
                assert type(caught.value).__name__ == "StoreInUse"
                assert "serve" in str(caught.value)
                assert time.monotonic() - began < 10
                bank = await memory.bank()
                with pytest.raises(Exception, match=str(owner.pid)):
                    await bank.retrieve(scope=SCOPE, query="number", by="distance")
                with pytest.raises(Exception, match=str(owner.pid)):
                    await memory.banks.reindex(name="default")
                assert len(await bank.retrieve(scope=SCOPE)) == 3

    async def test_it_is_told_in_one_line_and_at_length_when_it_is_in_the_way(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        folder = tmp_path / "m"
        async with child_of(folder) as owner, opened(folder) as memory:
            assert [record.levelname for record in caplog.records] == ["WARNING"]
            (brief,) = caplog.messages
            assert brief.startswith(f"{folder} is owned by process {owner.pid}: adding, listing and forgetting work")
            with pytest.raises(StoreInUse) as caught:
                await search(memory, "number")
            with pytest.raises(StoreInUse):
                await search(memory, "number")
            assert caplog.messages == [brief, str(caught.value)]

    async def test_both_search_the_right_way_round(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with child_of(folder) as owner, child_of(folder) as second:
            with pytest.raises(Failed) as caught:
                await second.do("search", query="number")
            assert caught.value.kind == "StoreInUse"
            assert await owner.do("search", query="number") == []

    async def test_a_bank_that_it_changes_and_deletes(self, tmp_path: Path) -> None:
        """What the owner is asked for next is done with the bank as it is, and not at all where there is none."""
        folder, minute = tmp_path / "m", timedelta(minutes=1)
        async with MemoryBanks(f"memorybank:///{folder}", model="offline", embedder=HashEmbedder()) as banks:
            await banks.open()
            for change in ("update", "delete"):
                with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                    await asyncio.get_running_loop().run_in_executor(pool, change_default_bank, folder, change)
                if change == "update":
                    bank = await banks.get(name="default")
                    memory = await bank.create(scope=SCOPE, fact="I like tea.")
                    assert memory.expire_time == memory.create_time + minute
            for _ in range(2):
                with pytest.raises(NotFound):
                    await banks.get(name="default")
            await banks.open()
            fresh = await banks.get(name="default")
            await fresh.create(scope=SCOPE, fact="I like coffee.")
            found = await fresh.retrieve(scope=SCOPE, query="I like coffee.")
            assert [one.memory.fact for one in found] == ["I like coffee."]

    @pytest.mark.parametrize("end", ["kill", "leave", "close"])
    async def test_it_takes_over_when_the_owner_ends(self, tmp_path: Path, end: str) -> None:
        folder = tmp_path / "m"
        async with child_of(folder, wait=30) as owner:
            await owner.do("add", texts=["begun by the owner"], session_id="a")
            await until(lambda: rows(folder, "SELECT 1 FROM operations WHERE state = 'running'"))
            async with opened(folder) as second:
                await second.add_session_to_memory(session(["added by the second"], session_id="b"))
                assert [operation.done for operation in await second.flush(timeout=0.2)] == [False]
                if end == "close":
                    await owner.tell("close")
                else:
                    await getattr(owner, end)()
                assert ended_well(await second.flush(timeout=30))
                await settle(second)
                assert await facts(second) == ["added by the second", "begun by the owner"]
                assert (await search(second, "begun owner"))[0] == "begun by the owner"
                if end != "close":
                    await owner.gone()
        assert rows(folder, "SELECT count(*) FROM revisions") == [(2,)]

    async def test_a_search_waits_for_an_owner_that_is_about_to_end(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder) as memory:
            await memory.add_session_to_memory(session(["likes tea"]))
            await memory.flush()
        async with child_of(folder) as owner, opened(folder) as second:
            await second.bank()
            searching = asyncio.create_task(search(second, "tea"))
            await asyncio.sleep(0.5)
            await owner.kill()
            assert await searching == ["likes tea"]

    async def test_many_open_a_new_folder_at_once(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with child() as one, child() as two, child() as three, child() as four:
            everyone = [one, two, three, four]
            for process in everyone:
                await process.tell("open", folder=str(folder))
            for process in everyone:
                await process.answer()
            for number, process in enumerate(everyone):
                await process.tell("add", texts=[f"words {number}"], session_id=f"s{number}")
            for process in everyone:
                await process.answer()
            for process in everyone:
                assert await process.do("flush") == [True]
            assert await one.do("facts") == [f"words {number}" for number in range(4)]

    async def test_one_session_added_by_many_is_read_once(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder) as owner, child_of(folder) as one, child_of(folder) as two:
            for process in (one, two):
                await process.tell("add", texts=numbered(9))
            await owner.add_session_to_memory(session(numbered(9)))
            for process in (one, two):
                await process.answer()
            await owner.flush()
            await settle(owner)
            assert await facts(owner) == numbered(9)
            assert rows(folder, "SELECT count(*) FROM events") == [(9,)]

    async def test_a_killed_owner_leaves_no_lock(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with child_of(folder) as owner:
            await owner.do("add", texts=["likes tea"])
            await owner.do("flush")
            await owner.kill()
        async with opened(folder) as memory:
            assert await search(memory, "tea") == ["likes tea"]


class TestFork:
    async def test_the_child_works_or_says_why_not_and_the_parent_goes_on(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        process = await script("forks.py", folder=folder)
        assert process.stdout is not None
        assert process.stdin is not None
        line = await asyncio.wait_for(process.stdout.readline(), 60)
        told = json.loads(line or b"{}")
        assert told["child ended"] == 0
        assert told["child searches"].startswith("FailedPrecondition")
        assert "fork" in told["child searches"]
        assert told["child waited"] < 10
        assert told["child adds"].startswith("FailedPrecondition")
        assert told["parent searches"] == ["before", "parent"]
        async with child_of(folder) as other:  # the parent's lock still holds
            with pytest.raises(Failed, match=str(process.pid)):
                await other.do("search", query="before")
        _, err = await asyncio.wait_for(process.communicate(b"\n"), 30)
        assert process.returncode == 0
        assert "Error" not in err.decode()

    async def test_a_child_that_outlives_its_parent(self, tmp_path: Path) -> None:
        folder, answer = tmp_path / "m", tmp_path / "answer"
        process = await script("forks.py", str(answer), folder=folder)
        await asyncio.wait_for(process.communicate(), 60)
        await until(answer.exists, timeout=60)
        await until(answer.read_text)
        told = json.loads(answer.read_text())
        # SQLite forgets its locks at a fork: what a child writes after the parent's last close would be lost.
        for what in ("orphan adds", "orphan searches", "elsewhere searches"):
            assert told[what].startswith("FailedPrecondition")
            assert "fork" in told[what]
        async with opened(folder) as memory:
            assert await facts(memory) == ["before", "parent"]
        assert told["elsewhere adds"] is None
        async with opened(folder.with_name("elsewhere")) as memory:
            await settle(memory)
            assert await facts(memory) == ["elsewhere"]


class TestOneProcess:
    async def test_the_lock_is_free_after_the_close(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        generator = HeldGenerator()
        memory = service(folder, generator)
        await memory.add_session_to_memory(session(["likes tea"]))
        await generator.begun()
        await memory.close(timeout=0)
        async with child_of(folder) as other:
            await until(lambda: rows(folder, "SELECT 1 FROM operations WHERE state = 'done'"))
            assert await other.do("search", query="tea") == ["likes tea"]

    def test_its_import_is_silent(self) -> None:
        ended = subprocess.run(
            [sys.executable, "-W", "error", "-c", "import adk_memorybank"], capture_output=True, check=False
        )
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
