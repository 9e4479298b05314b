"""Banks: create, get, list, update, delete, and which configuration wins."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from adk_memorybank import ManagedSemanticMemoryConfig, MemoryBanks, MemoryBankService
from adk_memorybank.errors import (
    AlreadyExists,
    EmbedderMismatch,
    EngineClosed,
    FailedPrecondition,
    InvalidArgument,
    ModelUnavailable,
    NotFound,
)
from adk_memorybank.testing import HashEmbedder, ManualClock, ScriptedGenerator, temporary_banks

SCOPE = {"user_id": "1"}
MINUTE = timedelta(minutes=1)
FACTS = ["I like green tea.", "My dog is called Rex.", "I live in Rome."]

SHORT_LIVED = {"ttl_config": {"default_ttl": "60s"}}
CUSTOM = {
    "customization_configs": [
        {"memory_topics": [{"custom_memory_topic": {"label": "tea", "description": "Which teas they drink"}}]}
    ]
}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def generator() -> ScriptedGenerator:
    return ScriptedGenerator()


@pytest.fixture
async def banks(clock: ManualClock, generator: ScriptedGenerator) -> AsyncIterator[MemoryBanks]:
    async with temporary_banks(clock=clock, model=generator) as banks:
        yield banks


class TestBanks:
    async def test_create_get_list(self, banks: MemoryBanks) -> None:
        assert await banks.list() == []
        one = await banks.create(display_name="One", bank_id="one", managed_semantic_memory_config=SHORT_LIVED)
        two = await banks.create()
        assert one.name == "projects/local/locations/local/reasoningEngines/one"
        assert (one.display_name, two.display_name) == ("One", "")
        assert one.managed_semantic_memory_config.ttl_config.default_ttl == "60s"
        assert {bank.name for bank in await banks.list()} == {one.name, two.name}
        for name in ("one", one.name):
            found = await banks.get(name=name)
            assert (found.name, found.display_name) == (one.name, "One")
            assert found.managed_semantic_memory_config == one.managed_semantic_memory_config
        await two.create(scope=SCOPE, fact="x")
        assert await one.list() == []

    @pytest.mark.parametrize(
        ("given", "error", "said"),
        [
            ({"bank_id": "a/b"}, InvalidArgument, "bank"),
            ({"bank_id": ""}, InvalidArgument, "bank"),
            ({"display_name": "x" * 129}, InvalidArgument, "display_name"),
            ({"managed_semantic_memory_config": {"ttl_confg": {}}}, InvalidArgument, "ttl_config"),
            ({"bank_id": "taken"}, AlreadyExists, "taken"),
        ],
    )
    async def test_wrong_creations(
        self, banks: MemoryBanks, given: dict[str, Any], error: type[Exception], said: str
    ) -> None:
        await banks.create(bank_id="taken")
        with pytest.raises(error, match=said):
            await banks.create(**given)
        assert len(await banks.list()) == 1

    @pytest.mark.parametrize("name", ["no-such-bank", "", "a/b/c", "\ud800", "\0", "*"])
    async def test_no_such_bank(self, banks: MemoryBanks, name: str) -> None:
        for call in (banks.get(name=name), banks.update(name=name, display_name="x"), banks.delete(name=name)):
            with pytest.raises(NotFound):
                await call

    async def test_update(self, banks: MemoryBanks, clock: ManualClock) -> None:
        bank = await banks.create(display_name="One", managed_semantic_memory_config=CUSTOM)
        updated = await banks.update(name=bank.name, display_name="Two")
        assert updated.display_name == "Two"
        assert updated.managed_semantic_memory_config == bank.managed_semantic_memory_config
        updated = await banks.update(name=bank.name, managed_semantic_memory_config=SHORT_LIVED)
        assert updated.display_name == "Two"
        assert updated.managed_semantic_memory_config == ManagedSemanticMemoryConfig.parse(SHORT_LIVED)
        for handle in (bank, updated):
            memory = await handle.create(scope=SCOPE, fact="x")
            assert memory.expire_time == clock.now() + MINUTE, "old handles follow too"
        with pytest.raises(InvalidArgument):
            await banks.update(name=bank.name, managed_semantic_memory_config={"ttl_config": {"default_ttl": "1h"}})
        with pytest.raises(InvalidArgument):
            await banks.update(name=bank.name, display_name="x" * 129)
        assert (await banks.get(name=bank.name)).display_name == "Two"

    async def test_delete(self, banks: MemoryBanks) -> None:
        empty, full = await banks.create(), await banks.create(bank_id="full")
        memory = await full.create(scope=SCOPE, fact="x")
        await banks.delete(name=empty.name)
        with pytest.raises(FailedPrecondition, match="force"):
            await banks.delete(name=full.name)
        assert await full.get(name=memory.name) == memory
        await banks.delete(name=full.name, force=True)
        assert await banks.list() == []
        for call in (full.get(name=memory.name), full.create(scope=SCOPE, fact="x"), banks.get(name="full")):
            with pytest.raises(NotFound):
                await call
        again = await banks.create(bank_id="full")
        assert await again.retrieve(scope=SCOPE, query="x") == []

    async def test_closed(self, banks: MemoryBanks) -> None:
        bank = await banks.create()
        await banks.close()
        assert not bank.alive
        with pytest.raises(EngineClosed):
            await banks.list()
        with pytest.raises(EngineClosed):
            await bank.list()


class TestConfiguration:
    """Keyword, then URI, then environment, then what the bank's configuration sets, then the default."""

    OFFLINE = {"generation_config": {"model": "offline"}}
    UNKNOWN = {"generation_config": {"model": "no-such-model"}}

    @pytest.fixture(autouse=True)
    def no_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("URI", "MODEL", "EMBEDDING_MODEL", "CONFIG"):
            monkeypatch.delenv(f"ADK_MEMORYBANK_{name}", raising=False)

    async def model_of(self, folder: Path, query: str = "", **options: Any) -> str:
        chosen: dict[str, Any] = {"embedder": HashEmbedder(), **options}
        async with MemoryBankService(f"memorybank:///{folder}/memory{query}", **chosen) as service:
            return (await service.bank()).model

    async def test_which_model_wins(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert await self.model_of(tmp_path) == "offline"
        with pytest.raises(ModelUnavailable, match="no-such-model"):
            await self.model_of(tmp_path, config=self.UNKNOWN)
        monkeypatch.setenv("ADK_MEMORYBANK_MODEL", "offline")
        assert await self.model_of(tmp_path, config=self.UNKNOWN) == "offline"
        with pytest.raises(ModelUnavailable, match="of-the-uri"):
            await self.model_of(tmp_path, "?model=of-the-uri")
        assert await self.model_of(tmp_path, "?model=of-the-uri", model=ScriptedGenerator()) == "scripted"

    async def test_a_configuration_that_cannot_be_used_is_not_stored(self, tmp_path: Path) -> None:
        with pytest.raises(ModelUnavailable):
            await self.model_of(tmp_path, config=self.UNKNOWN)
        assert await self.model_of(tmp_path) == "offline"

    async def test_a_default_that_was_filled_in_names_no_model(self, tmp_path: Path) -> None:
        assert await self.model_of(tmp_path, config=ManagedSemanticMemoryConfig()) == "offline"
        assert await self.model_of(tmp_path, config=self.OFFLINE) == "offline"

    async def test_a_configuration_that_differs_is_an_update(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        path = tmp_path / "bank.yaml"
        path.write_text("ttl_config:\n  default_ttl: 60s\n", encoding="utf-8")
        uri = f"memorybank:///{tmp_path}/memory?model=offline"

        async def ttl(uri: str, **options: Any) -> tuple[str | None, int]:
            caplog.clear()
            with caplog.at_level(logging.INFO, logger="google_adk.adk_memorybank"):
                async with MemoryBankService(uri, embedder=HashEmbedder(), **options) as service:
                    config = (await service.bank()).managed_semantic_memory_config
            updates = [record for record in caplog.records if "was updated" in record.message]
            return config.ttl_config.default_ttl, len(updates)

        assert await ttl(f"{uri}&config={path}") == ("60s", 0)
        assert await ttl(uri) == ("60s", 0), "it was stored"
        assert await ttl(uri, config=SHORT_LIVED) == ("60s", 0), "the same"
        assert await ttl(uri, config={"ttlConfig": {"defaultTtl": "90s"}}) == ("90s", 1)
        assert await ttl(f"{uri}&config={path}", config={"ttl_config": {"default_ttl": "70s"}}) == ("70s", 1)
        assert await ttl(uri, config=ManagedSemanticMemoryConfig()) == (None, 1)

    async def test_the_embedder_stays(self, tmp_path: Path) -> None:
        uri = f"memorybank:///{tmp_path}/memory"
        async with MemoryBanks(uri, model="offline", embedder=HashEmbedder()) as banks:
            bank = await banks.open()
            await bank.create(scope=SCOPE, fact=FACTS[0])
            assert bank.embedder == "hash-64"
        async with MemoryBanks(uri, model="offline", embedder=HashEmbedder(dimension=32)) as banks:
            with pytest.raises(EmbedderMismatch, match="reindex"):
                await banks.open()
            assert await banks.reindex(name="default", embedder=HashEmbedder(dimension=32)) == 1
            bank = await banks.open()
            assert [one.fact for one in await bank.retrieve(scope=SCOPE, query="tea", by="distance")] == FACTS[:1]

    async def test_open(self, tmp_path: Path) -> None:
        path = tmp_path / "bank.yaml"
        path.write_text("ttl_config:\n  default_ttl: 60s\n", encoding="utf-8")
        uri = f"memorybank:///{tmp_path}/memory?bank=coffee&config={path}"
        async with MemoryBanks(uri, model="offline", embedder=HashEmbedder()) as banks:
            first, second = await banks.open(), await banks.open()
            assert first.name == second.name
            assert first.name.endswith("/coffee")
            assert first.managed_semantic_memory_config.ttl_config.default_ttl == "60s"
            assert len(await banks.list()) == 1
            other = await banks.create(bank_id="other")
            assert other.managed_semantic_memory_config.ttl_config.default_ttl is None
