"""The client before the present one: `vertexai.Client`, whose `agent_engines` hold the memories."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator

import pytest

from adk_memorybank import MemoryBanks
from adk_memorybank.server.app import create_app
from adk_memorybank.testing import ScriptedGenerator, temporary_banks
from tests.integration.serving import on_a_port
from tests.requires import installed

pytestmark = pytest.mark.skipif(
    not installed("google-cloud-aiplatform"), reason="google-cloud-aiplatform comes with ADK 1.x"
)
SCOPE = {"user_id": "u"}


@pytest.fixture
async def banks() -> AsyncIterator[MemoryBanks]:
    async with temporary_banks(model=ScriptedGenerator()) as banks:
        yield banks


def test_agent_engines(banks: MemoryBanks) -> None:
    from google.oauth2.credentials import Credentials

    with on_a_port(create_app(banks)) as url:
        vertexai = importlib.import_module("vertexai")  # not there beside the newest SDK
        made = vertexai.Client(
            project="p",
            location="us-central1",
            credentials=Credentials(token="none"),
            http_options={"base_url": url},
        )
        engines = made.agent_engines
        config = {"context_spec": {"memory_bank_config": {"ttl_config": {"default_ttl": "60s"}}}, "display_name": "x"}
        name = engines.create(config=config).api_resource.name
        plain = engines.create().api_resource.name
        assert name.startswith("projects/p/locations/us-central1/reasoningEngines/")
        got = engines.get(name=name).api_resource
        assert (got.display_name, got.context_spec.memory_bank_config.ttl_config.default_ttl) == ("x", "60s")
        engines.update(name=name, config={"display_name": "y"})
        got = engines.get(name=name).api_resource
        assert (got.display_name, got.context_spec.memory_bank_config.ttl_config.default_ttl) == ("y", "60s")
        assert [one.api_resource.name for one in engines.list(config={"filter": 'display_name="y"'})] == [name]
        memories = engines.memories
        created = memories.create(name=name, fact="I like tea", scope=SCOPE).response
        assert memories.get(name=created.name).fact == "I like tea"
        source = {"direct_memories": [{"fact": "I like rain"}]}
        generated = memories.generate(name=name, scope=SCOPE, direct_memories_source=source).response
        assert generated.generated_memories[0].action.value == "CREATED"
        found = memories.retrieve(name=name, scope=SCOPE, similarity_search_params={"search_query": "tea"})
        assert [one.memory.fact for one in found] == ["I like tea", "I like rain"]
        assert len(list(memories.list(name=name))) == 2
        assert memories.purge(name=name, filter="fact:rain", force=True).response.purge_count == 1
        revisions = list(memories.revisions.list(name=created.name))
        memories.rollback(name=created.name, target_revision_id=revisions[0].name)
        memories.delete(name=created.name)
        engines.delete(name=name, force=True)
        assert [one.api_resource.name for one in engines.list()] == [plain]
