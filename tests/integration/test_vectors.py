"""Vectors are derived: a folder of Chroma that was deleted or damaged loses nothing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from chromadb.errors import InternalError

from adk_memorybank import MemoryBankService
from adk_memorybank.errors import Unavailable
from adk_memorybank.options import MemoryOptions
from adk_memorybank.storage import vectors
from adk_memorybank.storage.vectors import Vectors
from tests.integration.stores import (
    APP,
    USER,
    ended_well,
    named_vectors,
    numbered,
    opened,
    search,
    session,
    until,
    vector_ids,
)

SCOPE = {"app_name": APP, "user_id": USER}


async def _all_vectors_written(memory: MemoryBankService, folder: Path) -> bool:
    return await vector_ids(memory) == named_vectors(folder)


async def _written_again(memory: MemoryBankService) -> bool:
    return len(await vector_ids(memory)) == 12


async def fill(memory: MemoryBankService) -> list[Any]:
    bank = await memory.bank()
    said = [f"{animal} {verb}" for animal in ("cat", "dog", "cow", "hen") for verb in ("eats", "runs", "sleeps")]
    await memory.add_session_to_memory(session(said))
    await memory.flush()
    return await answers(bank)


async def answers(bank: Any) -> list[Any]:
    found = []
    for query in ("cat eats", "who sleeps", "dog"):
        for by in ("fused", "distance"):
            ranked = await bank.retrieve(scope=SCOPE, query=query, by=by)
            found.append([(one.memory.id, pytest.approx(one.distance, abs=1e-5)) for one in ranked])
    return found


class TestDeleted:
    async def test_while_closed(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder) as memory:
            before = await fill(memory)
        shutil.rmtree(folder / "chroma")
        async with opened(folder) as memory:
            assert await answers(await memory.bank()) == before
            await until(lambda: _all_vectors_written(memory, folder))

    @pytest.mark.parametrize("cached", [False, True])
    async def test_while_open(self, tmp_path: Path, cached: bool) -> None:
        folder = tmp_path / "m"
        async with opened(folder) as memory:
            before = await fill(memory)
            shutil.rmtree(folder / "chroma")
            if not cached:
                memory.banks.engine.reader.drop(bank_id="default")
            assert await answers(await memory.bank()) == before
            await memory.add_session_to_memory(session(["fox eats"], session_id="t"))
            assert ended_well(await memory.flush())
            assert "fox eats" in await search(memory, "fox eats")
        async with opened(folder) as memory:
            assert (await search(memory, "fox eats"))[0] == "fox eats"
            await until(lambda: _all_vectors_written(memory, folder))


class TestDamaged:
    @pytest.mark.parametrize("files", ["*", "*.pickle"])
    async def test_it_is_moved_aside_and_made_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, files: str
    ) -> None:
        folder = tmp_path / "m"
        monkeypatch.setattr(vectors, "WRITE_PAGE", 1_000)
        async with opened(folder) as memory:
            before = await fill(memory)
            if files == "*.pickle":  # Chroma writes it with the first thousand vectors
                many = [(text, MemoryOptions()) for text in numbered(1_100)]
                await (await memory.bank()).create_all(scope={"user_id": "many"}, memories=many)
            await until(lambda: _all_vectors_written(memory, folder))
        (folder / "chroma.broken-20000101T000000Z").mkdir()
        damaged = [file for file in (folder / "chroma").rglob(files) if file.is_file()]
        assert damaged
        for file in damaged:
            file.write_bytes(b"garbage " * 600)
        async with opened(folder) as memory:
            assert await answers(await memory.bank()) == before
            await until(lambda: _written_again(memory))
        (aside,) = folder.glob("chroma.broken-*")
        assert (aside / "chroma.sqlite3").is_file()
        assert f"{folder / 'chroma'} is damaged" in caplog.text
        assert f"was moved to {aside}" in caplog.text
        async with opened(folder) as memory:
            assert await answers(await memory.bank()) == before

    @pytest.mark.parametrize(
        "error",
        [
            PermissionError("denied"),
            MemoryError(),
            InternalError("error returned from database: (code: 13) database or disk is full"),
            InternalError("error returned from database: (code: 1032) attempt to write a readonly database"),
            InternalError("Error executing plan: Too many open files (os error 24)"),
        ],
    )
    async def test_a_fault_that_is_no_damage_moves_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
    ) -> None:
        first = PermissionError("the first")
        faults = [first, error]

        def fail(*_: Any) -> Any:
            raise faults.pop(0)

        async with opened(tmp_path / "m") as memory:
            before = await fill(memory)
            await until(lambda: _all_vectors_written(memory, tmp_path / "m"))
            memory.banks.engine.reader.drop(bank_id="default")
            with monkeypatch.context() as patched:
                patched.setattr(Vectors, "_collection", fail)
                with pytest.raises(Unavailable) as raised:
                    await search(memory, "cat")
            assert raised.value.__cause__ is first
            assert await answers(await memory.bank()) == before
        assert [path.name for path in (tmp_path / "m").glob("chroma*")] == ["chroma"]
