"""The configurations of the managed service's setup guide: as dictionaries, from this package's classes, and from the
official SDK's. Each is given to real banks and read back from them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adk_memorybank import ManagedSemanticMemoryConfig, MemoryBanks
from adk_memorybank.config import set_fields
from adk_memorybank.errors import ModelUnavailable
from adk_memorybank.testing import HashEmbedder, ScriptedLlm, temporary_banks
from tests.acceptance.guide import (
    CONSOLIDATION,
    EXAMPLE,
    FEEDBACK,
    GENERATION,
    GRANULAR_TTL,
    LEVELS,
    MIXED_TOPICS,
    OFFICIAL,
    OURS,
    PERSPECTIVE,
    SAMPLES,
    SILENT_EXAMPLE,
    SIMILARITY,
    THE_DEFAULT,
    Sample,
)
from tests.integration.answering import facts, generate, instruction, said
from tests.requires import requires

FORMS = ["dictionary", pytest.param(OURS), pytest.param(OFFICIAL, marks=requires("agentplatform"))]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sample", SAMPLES, ids=str)
async def test_a_bank_keeps_it(sample: Sample, form: str, tmp_path: Path) -> None:
    """Over get, list, update and a new start."""
    uri = f"memorybank:///{tmp_path}/m"
    value = sample.given if form == "dictionary" else sample.run(form)
    given = sample.placed(value)
    expected = ManagedSemanticMemoryConfig.parse(sample.placed(sample.given))

    # The samples name Google's models. What is given by keyword wins, so that nothing is called.
    async with MemoryBanks(uri, model="offline", embedder=HashEmbedder()) as banks:
        bank = await banks.create(display_name="My Memory Bank", managed_semantic_memory_config=given)
        assert bank.name.startswith("projects/")
        assert bank.model == "offline"
        assert bank.managed_semantic_memory_config == expected
        assert (await banks.get(name=bank.name)).managed_semantic_memory_config == expected
        (listed,) = await banks.list()
        assert listed.managed_semantic_memory_config == expected
        assert listed.display_name == "My Memory Bank"

        plain = await banks.create()
        assert plain.managed_semantic_memory_config == ManagedSemanticMemoryConfig()
        updated = await banks.update(name=plain.name, managed_semantic_memory_config=given)
        assert updated.managed_semantic_memory_config == expected
        names = [bank.name, plain.name]

    async with MemoryBanks(uri, model="offline", embedder=HashEmbedder()) as banks:
        for name in names:
            again = await banks.get(name=name)
            assert again.managed_semantic_memory_config == expected
            assert set_fields(again.managed_semantic_memory_config) == set_fields(expected)


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_both_forms_say_the_same(sample: Sample) -> None:
    from_classes = ManagedSemanticMemoryConfig.parse(sample.placed(sample.run(OURS)))
    assert from_classes == ManagedSemanticMemoryConfig.parse(sample.placed(sample.given))


def test_without_a_configuration_a_bank_is_the_default_one() -> None:
    assert ManagedSemanticMemoryConfig() == ManagedSemanticMemoryConfig.parse(THE_DEFAULT.given)


class TestBanks:
    """`client.memory_banks.create`, `update` and what is done with the name."""

    async def test_the_first_steps(self, capsys: pytest.CaptureFixture[str]) -> None:
        async with temporary_banks() as banks:
            memory_bank = await banks.create(display_name="My Memory Bank")
            print(memory_bank.name)
            assert capsys.readouterr().out.startswith("projects/local/locations/local/reasoningEngines/")
            again = await banks.get(name=memory_bank.name)
            operation = await generate(again, "I live in Lyon and I love green tea.")
            assert operation.done
            assert operation.generated_memories

    async def test_every_part_at_once(self) -> None:
        structured = {
            "schema_configs": [
                {
                    "id": "user-profile",
                    "memory_schema": {"type": "OBJECT", "properties": {"first_name": {"type": "STRING"}}},
                }
            ]
        }
        config = {
            "generation_config": GENERATION.given,
            "unstructured_memory_configs": [MIXED_TOPICS.given],
            "structured_memory_configs": [structured],
            "similarity_search_config": SIMILARITY.given,
            "ttl_config": GRANULAR_TTL.given,
            "disable_memory_revisions": False,
        }
        expected = ManagedSemanticMemoryConfig.parse(config)
        async with temporary_banks() as banks:
            memory_bank = await banks.create(managed_semantic_memory_config=config)
            assert memory_bank.managed_semantic_memory_config == expected
            other = await banks.update(name=memory_bank.name, managed_semantic_memory_config=THE_DEFAULT.given)
            assert other.managed_semantic_memory_config == ManagedSemanticMemoryConfig()
            same = await banks.update(name=memory_bank.name, managed_semantic_memory_config=config)
            assert same.managed_semantic_memory_config == expected

    async def test_the_placeholders_of_the_default_are_no_model(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("ADK_MEMORYBANK_MODEL", raising=False)
        async with temporary_banks(model=None) as banks:
            with pytest.raises(ModelUnavailable, match=r"placeholders.*model='offline'"):
                await banks.create(managed_semantic_memory_config=THE_DEFAULT.given)
            assert await banks.list() == []


class TestWhatTheyDo:
    """That the samples' settings reach the model, and what is kept."""

    @staticmethod
    async def _told(*customizations: Any, scope: dict[str, str] | None = None) -> str:
        model = ScriptedLlm([facts()])
        async with temporary_banks(model=model) as banks:
            bank = await banks.create(
                managed_semantic_memory_config={"unstructured_memory_configs": list(customizations)}
            )
            await bank.generate(scope=scope or {"user_id": "1"}, events=[said("Hello!")])
        return instruction(model.requests[0])

    async def test_topics(self) -> None:
        told = await self._told(MIXED_TOPICS.given)
        assert "USER_PERSONAL_INFO" in told
        assert "business_feedback: Specific user feedback about their experience at the coffee shop." in told
        assert "USER_PREFERENCES" not in told

    async def test_examples(self) -> None:
        told = await self._told(
            {"memory_topics": [FEEDBACK], "generate_memories_examples": [EXAMPLE.given, SILENT_EXAMPLE.given]}
        )
        assert '[{"fact": "The user reported that the drip coffee was lukewarm."}' in told
        assert 'user: "Thanks for the coffee!" => []' in told

    async def test_perspective(self) -> None:
        assert "in the third person" in await self._told(PERSPECTIVE.given)
        assert "in the first person" in await self._told(CONSOLIDATION.given)

    async def test_which_level_applies(self) -> None:
        levels = LEVELS.given["unstructured_memory_configs"]
        user = await self._told(*levels, scope={"user_id": "123"})
        assert "USER_PERSONAL_INFO" in user
        assert "USER_PREFERENCES" not in user
        other = await self._told(*levels, scope={"session_id": "s"})
        assert "USER_PREFERENCES" in other
        assert "USER_PERSONAL_INFO" not in other

    async def test_ttl(self) -> None:
        text = "I like green tea."
        async with temporary_banks(model=ScriptedLlm([facts(text)])) as banks:
            bank = await banks.create(managed_semantic_memory_config={"ttl_config": GRANULAR_TTL.given})
            created = await bank.create(scope={"user_id": "1"}, fact="My bike is red.")
            made = (await generate(bank, text)).generated_memories[0].memory
        for memory, seconds in ((created, 3600), (made, 7200)):
            assert memory.expire_time is not None
            assert abs((memory.expire_time - memory.create_time).total_seconds() - seconds) <= 0.5
