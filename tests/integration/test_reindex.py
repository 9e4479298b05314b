"""All vectors made anew: searches and writes go on, a kill loses nothing, and nothing is left over."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from adk_memorybank import MemoryBanks, MemoryBankService
from adk_memorybank.errors import Cancelled, EmbedderMismatch, FailedPrecondition, NotFound
from adk_memorybank.options import MemoryOptions
from adk_memorybank.testing import HashEmbedder
from tests.integration.stores import (
    APP,
    USER,
    ended_well,
    named_vectors,
    numbered,
    opened,
    rows,
    search,
    service,
    session,
    until,
    vector_ids,
    write,
)

SCOPE = {"app_name": APP, "user_id": USER}
SEGMENT = re.compile(r"[0-9a-f-]{36}")


class Slow(HashEmbedder):
    """Another embedder, that does something before each batch of documents."""

    def __init__(self, before: Callable[[int], Any] | None = None, *, dimension: int = 96) -> None:
        super().__init__(dimension=dimension)
        self.batches: list[int] = []
        self._before = before

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        if not query:
            self.batches.append(len(texts))
            if self._before is not None and asyncio.iscoroutine(done := self._before(len(self.batches))):
                await done
        return await super().embed(texts, query=query)


async def fill(memory: MemoryBankService, count: int = 300) -> Any:
    bank = await memory.bank()
    await bank.create_all(scope=SCOPE, memories=[(text, MemoryOptions()) for text in numbered(count)])
    return bank


async def collection_names(memory: MemoryBankService) -> set[str]:
    engine = memory.banks.engine

    async def names() -> set[str]:
        return await (await engine.need_vectors()).names()

    return await engine.call(names())


def serving(folder: Path) -> tuple[Any, ...]:
    (row,) = rows(folder, "SELECT collection, spare_collection, embedder, dimension FROM banks")
    return row


async def is_whole(memory: MemoryBankService, folder: Path) -> None:
    """All that is named is there, in one collection, and nothing else is."""
    assert await vector_ids(memory) == named_vectors(folder)
    collection, spare, _, _ = serving(folder)
    assert spare is None
    assert await collection_names(memory) == {collection}
    assert len([path for path in (folder / "chroma").iterdir() if SEGMENT.fullmatch(path.name)]) <= 1


async def test_the_vectors_of_another_embedder_take_the_place_of_the_old_ones(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    told: list[tuple[int, int]] = []
    async with opened(folder) as memory:
        bank = await fill(memory)
        before = serving(folder)[0]
        other = Slow()
        assert await bank.reindex(embedder=other, progress=lambda *step: told.append(step)) == 300
        assert told[-1] == (300, 300)
        assert [made for made, _ in told] == sorted(made for made, _ in told)
        assert max(other.batches) <= 32
        assert serving(folder)[2:] == ("hash-96", 96)
        assert serving(folder)[0] != before
        await is_whole(memory, folder)
        assert bank.embedder == "hash-96"
        [found] = await bank.retrieve(scope=SCOPE, query=numbered(300)[7], top_k=1)
        assert found.fact == numbered(300)[7]
        assert found.distance == pytest.approx(0, abs=1e-3)
        assert max(other.batches) <= 32  # no vector was made again at a read
    async with opened(folder, embedder=HashEmbedder(dimension=96)) as memory:
        assert (await search(memory, numbered(300)[7]))[0] == numbered(300)[7]
    old = service(folder)
    with pytest.raises(EmbedderMismatch, match=r"hash-96.*hash-64.*reindex"):
        await old.bank()
    await old.close()


async def test_searches_and_writes_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    texts = numbered(300)
    answers: list[tuple[float, list[str], Any]] = []

    async def at(batch: int) -> None:
        await asyncio.sleep(0.05)
        if batch == 2:
            await bank.create(scope=SCOPE, fact="added in the midst of it")
            await bank.create(scope={"user_id": "new"}, fact="a new scope")
            first, second = await found(texts[0]), await found(texts[299])
            await bank.update(name=first, fact="changed in the midst of it")
            await bank.delete(name=second)
        if batch == 4:
            await bank.forget(scope={"user_id": "gone"})

    async def found(text: str) -> str:
        return next(one.name for one in await bank.list(scope=SCOPE) if one.fact == text)

    async with opened(folder) as memory:
        bank = await fill(memory)
        await bank.create(scope={"user_id": "gone"}, fact="to be forgotten")
        other = Slow(at)
        work = asyncio.create_task(bank.reindex(embedder=other))
        while not work.done():
            began = time.monotonic()
            [one] = await bank.retrieve(scope=SCOPE, query=texts[7], top_k=1)
            answers.append((time.monotonic() - began, [one.fact], one.distance))
            await asyncio.sleep(0.005)
        await work
        assert len(answers) > 20
        assert all(facts == [texts[7]] for _, facts, _ in answers)
        assert all(distance == pytest.approx(0, abs=1e-3) for _, _, distance in answers)
        await is_whole(memory, folder)
        batches = len(other.batches)
        for query in ("added in the midst of it", "changed in the midst of it"):
            [one] = await bank.retrieve(scope=SCOPE, query=query, top_k=1)
            assert (one.fact, one.distance) == (query, pytest.approx(0, abs=1e-3))
        [one] = await bank.retrieve(scope={"user_id": "new"}, query="a new scope")
        assert one.distance == pytest.approx(0, abs=1e-3)
        assert len(other.batches) == batches  # all of them were in the new collection at the swap


async def test_work_that_began_before_the_swap_leaves_no_vector_of_the_old_embedder(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    async with opened(folder) as memory:
        bank = await fill(memory, 3)
        await until(lambda: _written(memory, folder))
        engine = memory.banks.engine
        parts = await engine.call(engine.parts("default"))
        assert await bank.reindex(embedder=Slow()) == 3
        [identified] = list(named_vectors(folder))[:1]
        stray = {"stray.1": np.ones(64, np.float32), identified: np.ones(64, np.float32)}
        await engine.call(engine.reader.keep(bank_id="default", collection=parts.collection, vectors=stray))
        await is_whole(memory, folder)
        await memory.add_session_to_memory(session(["fox eats"], session_id="t"))
        assert ended_well(await memory.flush())
        assert (await search(memory, "fox eats"))[0] == "fox eats"
        await until(lambda: _written(memory, folder))


async def _written(memory: MemoryBankService, folder: Path) -> bool:
    return await vector_ids(memory) == named_vectors(folder)


class TestItFails:
    async def test_the_old_vectors_serve_when_the_embedder_does_not(self, tmp_path: Path) -> None:
        def fail(batch: int) -> None:
            if batch == 3:
                raise ConnectionError("the network is down")

        folder = tmp_path / "m"
        async with opened(folder) as memory:
            bank = await fill(memory)
            await until(lambda: _written(memory, folder))
            before = serving(folder)
            with pytest.raises(ConnectionError):
                await bank.reindex(embedder=Slow(fail))
            assert serving(folder) == before
            await is_whole(memory, folder)
            assert (await search(memory, numbered(300)[7]))[0] == numbered(300)[7]
            assert await bank.reindex(embedder=Slow()) == 300

    async def test_a_second_one_at_once_is_refused(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder) as memory:
            bank = await fill(memory)
            slow = Slow(lambda _: asyncio.sleep(0.02))
            work = asyncio.create_task(bank.reindex(embedder=slow))
            await until(lambda: slow.batches)
            with pytest.raises(FailedPrecondition, match="already"):
                await bank.reindex()
            assert await work == 300
            assert await bank.reindex() == 300
            await is_whole(memory, folder)

    async def test_a_bank_that_is_deleted_meanwhile(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        async with opened(folder) as memory:
            bank = await fill(memory)
            slow = Slow(lambda _: asyncio.sleep(0.02))
            work = asyncio.create_task(bank.reindex(embedder=slow))
            await until(lambda: slow.batches)
            await memory.banks.delete(name=bank.name, force=True)
            with pytest.raises(Cancelled):
                await work
            assert await collection_names(memory) == set()
            with pytest.raises(NotFound):
                await memory.banks.reindex(name=bank.name)

    async def test_a_store_that_is_closed_meanwhile(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        memory = service(folder)
        bank = await fill(memory)
        before = serving(folder)
        slow = Slow(lambda _: asyncio.sleep(0.05))
        work = asyncio.create_task(bank.reindex(embedder=slow))
        await until(lambda: len(slow.batches) > 2)
        await memory.close(timeout=1)
        with pytest.raises((Cancelled, FailedPrecondition)):
            await work
        async with opened(folder) as memory:
            assert (await search(memory, numbered(300)[7]))[0] == numbered(300)[7]
            await until(lambda: _written(memory, folder))
            await until(lambda: serving(folder) == before)
            await is_whole(memory, folder)


KILLED = """
import asyncio, os, signal, sys
import numpy as np
from tests.integration.stores import opened, numbered, until
from tests.integration.test_reindex import Slow, _written, fill
from pathlib import Path

async def main(folder, step):
    async with opened(folder) as memory:
        bank = await fill(memory)
        await until(lambda: _written(memory, folder))
        steps = iter(range(10_000))
        engine = memory.banks.engine
        vectors = await engine.call(engine.need_vectors())
        for name in ("add", "drop", "remove"):
            def stop(*given, of=getattr(vectors, name), **named):
                if next(steps) == step:
                    os.kill(os.getpid(), signal.SIGKILL)
                return of(*given, **named)
            setattr(vectors, name, stop)
        await bank.reindex(embedder=Slow())
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
"""


@pytest.mark.parametrize("step", [0, 1, 5, 10, 11, 99])
async def test_a_kill_leaves_what_served(tmp_path: Path, step: int) -> None:
    """Steps 0 to 9 are the batches, 10 is the removal of the old collection, and at 99 all is done."""
    folder = tmp_path / "m"
    ended = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, str(folder), str(step))
    assert await ended.wait() == -signal.SIGKILL
    swapped = step >= 10
    assert serving(folder)[2:] == (("hash-96", 96) if swapped else ("hash-64", 64))
    assert (serving(folder)[1] is None) == (step > 10)
    async with opened(folder, embedder=HashEmbedder(dimension=96 if swapped else 64)) as memory:
        bank = await memory.bank()
        [one] = await bank.retrieve(scope=SCOPE, query=numbered(300)[7], top_k=1)
        assert (one.fact, one.distance) == (numbered(300)[7], pytest.approx(0, abs=1e-3))
        await until(lambda: serving(folder)[1] is None)
        await until(lambda: _written(memory, folder))
        await is_whole(memory, folder)
        assert await bank.reindex(embedder=Slow(dimension=32)) == 300
        await is_whole(memory, folder)


async def test_another_handle_that_was_opened_before_sees_the_swap(tmp_path: Path) -> None:
    """As another process would: the records change under an engine that knows nothing of it."""
    folder = tmp_path / "m"
    async with opened(folder) as memory:
        bank = await fill(memory, 3)
        assert await search(memory, numbered(3)[0])
        write(folder, "UPDATE banks SET collection = 'bank-default-0123', embedder = 'hash-96', dimension = 96")
        with pytest.raises(EmbedderMismatch, match=r"hash-96.*hash-64"):
            await bank.retrieve(scope=SCOPE, query=numbered(3)[0])
        found = await bank.retrieve(scope=SCOPE, query=numbered(3)[0], by="words")
        assert found[0].fact == numbered(3)[0]
        write(folder, "UPDATE banks SET embedder = 'hash-64', dimension = 64")
        [one] = await bank.retrieve(scope=SCOPE, query=numbered(3)[0], top_k=1)
        assert one.distance == pytest.approx(0, abs=1e-3)
        await until(lambda: _written(memory, folder))


async def test_all_banks_of_a_store(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    async with MemoryBanks(f"memorybank:///{tmp_path}/m", model="offline", embedder=HashEmbedder()) as banks:
        for bank_id in ("one", "two"):
            bank = await banks.create(bank_id=bank_id)
            await bank.create(scope={"user_id": "1"}, fact=f"likes {bank_id}")
    async with MemoryBanks(f"memorybank:///{tmp_path}/m", model="offline", embedder=Slow()) as banks:
        assert await banks.reindex(progress=lambda *step: told.append(step)) == 2
        assert told == [(1, 1), (1, 1)]
        for bank_id in ("one", "two"):
            bank = await banks.get(name=bank_id)
            [found] = await bank.retrieve(scope={"user_id": "1"}, query=f"likes {bank_id}")
            assert (bank.embedder, found.distance) == ("hash-96", pytest.approx(0, abs=1e-3))
