"""The OpenAPI document, tried out by schemathesis: nothing that it allows, or does not, breaks the server."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import Case
from schemathesis.generation import GenerationMode

from adk_memorybank import MemoryBanks
from adk_memorybank.options import MemoryOptions
from adk_memorybank.server.app import create_app
from adk_memorybank.testing import HashEmbedder, ScriptedGenerator


def test_nothing_that_it_allows_breaks_the_server(tmp_path: Path) -> None:
    banks = MemoryBanks(f"memorybank:///{tmp_path}", model=ScriptedGenerator(), embedder=HashEmbedder())

    async def fill() -> None:
        bank = await banks.open()
        await bank.create(scope={"user_id": "1"}, fact="I like tea", options=MemoryOptions(memory_id="m"))

    asyncio.run(fill())
    document = schemathesis.openapi.from_asgi("/openapi.json", create_app(banks))
    found: list[Any] = list(document.get_all_operations())
    operations = [one.ok() for one in found]
    assert len(operations) > 30
    for operation in operations:
        _try_out(operation)
    asyncio.run(banks.close())


def _try_out(operation: Any) -> None:
    """Requests that the document allows, and some that it does not."""

    @settings(
        max_examples=8,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
        database=None,
    )
    @given(
        case=st.one_of(
            operation.as_strategy(generation_mode=GenerationMode.POSITIVE),
            operation.as_strategy(generation_mode=GenerationMode.NEGATIVE),
        )
    )
    def tried(case: Case) -> None:
        # Most of what is made up names what is not there, which tells little.
        for name, there in (("bank_id", "default"), ("memory_id", "m")):
            if name in case.path_parameters:
                case.path_parameters[name] = there
        if (case.method, operation.path.rpartition("/")[2]) == ("DELETE", "{bank_id}"):
            return
        if operation.path.endswith(":wait"):
            case.body = {"timeout": "0.1s"}
        response = case.call()
        assert response.status_code < 500, f"{case.method} {operation.path}: {response.text}"

    tried()
