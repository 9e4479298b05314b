"""Several banks and handles on one store: each keeps its own model, embedder and configuration."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from adk_memorybank.banks import MemoryBanks
from adk_memorybank.errors import AlreadyExists, EmbedderMismatch, NotFound
from adk_memorybank.options import MemoryOptions
from adk_memorybank.service import MemoryBankService
from adk_memorybank.testing import HashEmbedder, ScriptedGenerator
from tests.adk import session

SCOPE = {"user_id": "1"}


class Failing(HashEmbedder):
    """An embedder whose network goes down and comes back."""

    def __init__(self) -> None:
        super().__init__()
        self.down = False

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        if self.down:
            raise ConnectionError("the network is down")
        return await super().embed(texts, query=query)


class Turned(HashEmbedder):
    """The same name and dimension, other vectors."""

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        return -(await super().embed(texts, query=query))


async def test_work_waits_for_the_bank_that_brings_its_model(tmp_path: Path) -> None:
    uri = f"memorybank:///{tmp_path}/memory"
    slow = ScriptedGenerator([30.0])
    async with MemoryBankService(f"{uri}?bank=a", model=slow, embedder=HashEmbedder()) as service:
        await service.add_session_to_memory(session("I like tea.", app_name="app", user_id="u"))
        await service.close(timeout=0)
    own = ScriptedGenerator()
    async with MemoryBankService(f"{uri}?bank=b", model="offline", embedder=HashEmbedder()) as other:
        await other.add_session_to_memory(session("I like coffee.", app_name="app", user_id="u"))
        await other.flush()
        async with MemoryBankService(f"{uri}?bank=a", model=own, embedder=HashEmbedder()) as service:
            bank = await service.bank()
            [operation] = await bank.operations.list()
            [ended] = await bank.operations.wait([operation.name], timeout=30)
            assert ended.done
            assert ended.error is None
            assert own.extractions == [["I like tea."]]


async def test_work_of_a_bank_that_needs_nothing_special_is_taken_up(tmp_path: Path) -> None:
    uri = f"memorybank:///{tmp_path}/memory"
    banks = MemoryBanks(uri, model="offline")
    bank = await banks.create(bank_id="a")
    operation = await bank.generate(scope=SCOPE, events=[{"content": {"parts": [{"text": "I like tea."}]}}], wait=False)
    await banks.close(timeout=0)
    async with MemoryBanks(uri, model="offline") as banks:
        await banks.create(bank_id="b")  # nobody opens `a`

        engine = banks.engine
        assert await engine.call(engine.wait([operation.name.rpartition("/")[2]], timeout=30))


async def test_two_at_once_create_one_bank(tmp_path: Path) -> None:
    async with MemoryBanks(f"memorybank:///{tmp_path}/memory", model="offline", embedder=HashEmbedder()) as banks:
        made = await asyncio.gather(
            *(banks.create(bank_id="x", display_name=name) for name in "ABC"), return_exceptions=True
        )
        good = [one for one in made if not isinstance(one, BaseException)]
        assert len(good) == 1
        assert all(isinstance(one, AlreadyExists) for one in made if isinstance(one, BaseException))
        assert (await banks.get(name="x")).display_name == good[0].display_name


async def test_an_open_handle_sees_an_update_and_keeps_its_model(tmp_path: Path) -> None:
    generator = ScriptedGenerator()
    service = MemoryBankService(f"memorybank:///{tmp_path}/memory", model=generator, embedder=HashEmbedder())
    async with service:
        bank = await service.bank()
        config = {"disable_memory_revisions": True}
        await service.banks.update(name=bank.name, display_name="Coffee", managed_semantic_memory_config=config)
        assert bank.display_name == "Coffee"
        assert bank.managed_semantic_memory_config.disable_memory_revisions
        await service.add_session_to_memory(session("I like tea.", app_name="app", user_id="u"))
        await service.flush()
        assert generator.extractions == [["I like tea."]]
        with pytest.raises(NotFound):
            await service.banks.update(name="missing", display_name="x")


async def test_reindex_with_another_embedder_reaches_open_handles(tmp_path: Path) -> None:
    async with MemoryBanks(f"memorybank:///{tmp_path}/memory", model="offline", embedder=HashEmbedder()) as banks:
        bank = await banks.create(bank_id="x")
        await bank.create(scope=SCOPE, fact="I like tea.")
        assert (await bank.retrieve(scope=SCOPE, query="I like tea."))[0].distance == pytest.approx(0, abs=1e-3)
        assert await banks.reindex(name="x", embedder=HashEmbedder(dimension=32)) == 1
        assert (await bank.retrieve(scope=SCOPE, query="I like tea."))[0].distance == pytest.approx(0, abs=1e-3)
        assert bank.embedder == "hash-32"


async def test_queries_of_two_banks_are_embedded_apart(tmp_path: Path) -> None:
    uri = f"memorybank:///{tmp_path}/memory"
    async with (
        MemoryBankService(f"{uri}?bank=a", model="offline", embedder=HashEmbedder()) as one,
        MemoryBankService(f"{uri}?bank=b", model="offline", embedder=Turned()) as two,
    ):
        for service in (one, two):
            bank = await service.bank()
            await bank.create(scope=SCOPE, fact="I like tea.")
            [found] = await bank.retrieve(scope=SCOPE, query="I like tea.")
            assert found.distance == pytest.approx(0, abs=1e-3)


async def test_the_same_name_with_another_dimension_is_refused(tmp_path: Path) -> None:
    uri = f"memorybank:///{tmp_path}/memory"

    def embedder(dimension: int) -> HashEmbedder:
        made = HashEmbedder(dimension=dimension)
        return type("Named", (HashEmbedder,), {"name": "mine"})(dimension=made.dimension)

    async with MemoryBankService(uri, model="offline", embedder=embedder(8)) as service:
        await service.bank()
    async with MemoryBankService(uri, model="offline", embedder=embedder(4)) as service:
        with pytest.raises(EmbedderMismatch, match="8 dimensions"):
            await service.bank()


async def test_what_is_stored_is_stored_while_the_embedder_is_down(tmp_path: Path) -> None:
    embedder = Failing()
    async with MemoryBanks(f"memorybank:///{tmp_path}/memory", model="offline", embedder=embedder) as banks:
        bank = await banks.create()
        embedder.down = True
        memory = await bank.create(scope=SCOPE, fact="I like tea.")
        assert await bank.list() == [memory]
        assert [found.fact for found in await bank.retrieve(scope=SCOPE, query="tea", by="words")] == ["I like tea."]
        embedder.down = False
        [found] = await bank.retrieve(scope=SCOPE, query="I like tea.")
        assert found.distance == pytest.approx(0, abs=1e-3)


async def test_a_name_in_another_bank_is_not_taken_for_one_in_this(tmp_path: Path) -> None:
    async with MemoryBanks(f"memorybank:///{tmp_path}/memory", model="offline", embedder=HashEmbedder()) as banks:
        one, two = await banks.create(bank_id="one"), await banks.create(bank_id="two")
        memory = await one.create(scope=SCOPE, fact="I like tea.", options=MemoryOptions(memory_id="m"))
        await two.create(scope=SCOPE, fact="I like coffee.", options=MemoryOptions(memory_id="m"))
        for call in (two.get, two.delete, two.list_revisions):
            with pytest.raises(NotFound):
                await call(name=memory.name)
        assert (await two.get(name="m")).fact == "I like coffee."
