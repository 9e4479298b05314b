"""What passes is tried again later, in sight; what can't be used says so at once; and who may be asked at all."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from google.adk.models.base_llm import BaseLlm
from google.adk.models.google_llm import Gemini
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.auth.exceptions import DefaultCredentialsError, RefreshError
from google.genai.errors import ClientError, ServerError

from adk_memorybank import MemoryBankService
from adk_memorybank.config import ManagedSemanticMemoryConfig
from adk_memorybank.errors import InvalidArgument, ModelOutputError, ModelUnavailable, Unavailable
from adk_memorybank.generation.generator import ExtractionRequest, Turn
from adk_memorybank.generation.llm import LlmGenerator
from adk_memorybank.generation.models import DEFAULT_GEMINI, model_factory
from adk_memorybank.generation.selection import select_generator
from adk_memorybank.generation.topics import DEFAULT_TOPICS
from adk_memorybank.resources import Operation
from adk_memorybank.retrieval.embedders import LocalEmbedder
from adk_memorybank.testing import HashEmbedder, ManualClock, ScriptedGenerator, ScriptedLlm, temporary_banks
from tests.integration.answering import (
    SCOPE,
    current,
    facts,
    generate,
    said,
    updating,
)

TEA = "I like green tea."
SOON = timedelta(seconds=2)


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing in the environment can authenticate, and nothing is asked."""
    for key in (
        "GOOGLE_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_GENAI_USE_VERTEXAI",
        "GOOGLE_GENAI_USE_ENTERPRISE",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "ADK_MEMORYBANK_MODEL",
    ):
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path / "gcloud"))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)


def _client_error(code: int) -> ClientError:
    return ClientError(code, {"error": {"code": code, "message": "slow down", "status": "RESOURCE_EXHAUSTED"}})


def _server_error(code: int) -> ServerError:
    return ServerError(code, {"error": {"code": code, "message": "busy", "status": "UNAVAILABLE"}})


class _RateLimitError(Exception):
    """As LiteLLM raises it: told by its status code."""

    status_code = 429


PASSING: dict[str, Any] = {
    "429": lambda: _client_error(429),
    "503": lambda: _server_error(503),
    "500": lambda: _server_error(500),
    "a rate limit by another client": _RateLimitError,
    "no connection": lambda: ConnectionError("refused"),
    "reset": lambda: ConnectionResetError("reset by peer"),
    "no credentials yet": lambda: DefaultCredentialsError("not found"),
    "an expired token": lambda: RefreshError("expired"),
    "no key": lambda: ValueError("No API key was provided. Please pass a valid API key."),
    "its own deadline": lambda: TimeoutError("read"),
}
PERMANENT: dict[str, Any] = {
    "a fault in the program": lambda: ZeroDivisionError("division by zero"),
    "400": lambda: _client_error(400),
    "404": lambda: _client_error(404),
    "a wrong value": lambda: ValueError("temperature"),
}


async def _seen(bank: Any, *, attempts: int, timeout: float = 20) -> Operation:
    """The only operation, when it has been tried so often."""
    async with asyncio.timeout(timeout):
        while True:
            (operation,) = await bank.operations.list()
            if operation.attempts >= attempts and operation.state != "running":
                return operation
            await asyncio.sleep(0.05)


class TestPassing:
    @pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING.keys())
    async def test_it_is_tried_again_later(self, fault: Any) -> None:
        clock = ManualClock()
        model = ScriptedLlm([fault(), fault(), facts(TEA)])
        async with temporary_banks(model=model, clock=clock) as banks:
            bank = await banks.create()
            await bank.ingest_events(scope=SCOPE, events=[said(TEA)])
            operation = await _seen(bank, attempts=1)
            assert operation.state == "pending"
            assert operation.error is None
            assert operation.last_error is not None
            assert operation.last_error.message
            assert operation.due_time is not None
            assert operation.due_time > clock.now()
            assert await current(bank) == []
            clock.advance(SOON)
            assert (await _seen(bank, attempts=2)).due_time > operation.due_time + SOON  # pyright: ignore[reportOptionalOperand]
            clock.advance(2 * SOON)
            (ended,) = await bank.operations.wait([operation.name], timeout=20)
            assert ended.done
            assert ended.error is None
            assert await current(bank) == [TEA]
        assert len(model.requests) == 3

    async def test_of_a_consolidation_too(self) -> None:
        clock = ManualClock()
        again = updating("I like tea.", TEA)
        model = ScriptedLlm([facts(TEA), _server_error(503), facts(TEA), again])
        async with temporary_banks(model=model, clock=clock) as banks:
            bank = await banks.create()
            await bank.create(scope=SCOPE, fact="I like tea.")
            await bank.ingest_events(scope=SCOPE, events=[said(TEA)])
            operation = await _seen(bank, attempts=1)
            assert await current(bank) == ["I like tea."]
            clock.advance(SOON)
            (ended,) = await bank.operations.wait([operation.name], timeout=20)
            assert ended.error is None
            assert await current(bank) == [TEA]

    async def test_on_the_repair_too(self) -> None:
        clock = ManualClock()
        model = ScriptedLlm(["?", _client_error(429), facts(TEA)])
        async with temporary_banks(model=model, clock=clock) as banks:
            bank = await banks.create()
            await bank.ingest_events(scope=SCOPE, events=[said(TEA)])
            operation = await _seen(bank, attempts=1)
            clock.advance(SOON)
            (ended,) = await bank.operations.wait([operation.name], timeout=20)
            assert ended.error is None

    @pytest.mark.parametrize("code", ["RESOURCE_EXHAUSTED", "UNAVAILABLE", "503"])
    async def test_told_by_the_response(self, code: str) -> None:
        class Refusing(BaseLlm):
            async def generate_content_async(
                self, llm_request: LlmRequest, stream: bool = False
            ) -> AsyncGenerator[LlmResponse, None]:
                yield LlmResponse(error_code=code, error_message="later")

        async with temporary_banks(model=Refusing(model="refusing"), clock=ManualClock()) as banks:
            bank = await banks.create()
            await bank.ingest_events(scope=SCOPE, events=[said(TEA)])
            operation = await _seen(bank, attempts=1)
            assert operation.last_error is not None
            assert operation.last_error.status == "UNAVAILABLE"
            assert "later" in operation.last_error.message

    async def test_it_is_borne_for_a_day(self) -> None:
        clock = ManualClock()
        model = ScriptedLlm([_server_error(503)], repeat=True)
        async with temporary_banks(model=model, clock=clock) as banks:
            bank = await banks.create()
            await bank.ingest_events(scope=SCOPE, events=[said(TEA)])
            operation = await _seen(bank, attempts=1)
            clock.advance(timedelta(hours=25))
            (ended,) = await bank.operations.wait([operation.name], timeout=20)
            assert ended.error is not None
            assert "busy" in ended.error.message

    async def test_a_call_that_hangs(self) -> None:
        held: list[float] = []

        async def hang(_: LlmRequest) -> str:
            held.append(0)
            await asyncio.sleep(3600)
            return "never"

        clock = ManualClock()
        model = ScriptedLlm([hang, facts(TEA)])
        generator = LlmGenerator(
            name="slow", make=lambda: model, embed=LocalEmbedder().embed, deadline=timedelta(seconds=0.2)
        )
        async with temporary_banks(model=generator, clock=clock) as banks:
            bank = await banks.create()
            await bank.ingest_events(scope=SCOPE, events=[said(TEA)])
            operation = await _seen(bank, attempts=1)
            assert operation.state == "pending"
            assert operation.last_error is not None
            assert "no answer within 0.2 seconds" in operation.last_error.message
            assert held
            clock.advance(SOON)
            (ended,) = await bank.operations.wait([operation.name], timeout=20)
            assert ended.error is None
            assert await current(bank) == [TEA]

    async def test_one_that_hangs_holds_up_only_its_own_scope(self) -> None:
        async def answer(request: LlmRequest) -> Any:
            if "oolong" in str(request.contents):
                await asyncio.sleep(3600)
            return facts(TEA)

        model = ScriptedLlm([answer], repeat=True)
        async with temporary_banks(model=model) as banks:
            bank = await banks.create()
            slow = await bank.ingest_events(scope={"user_id": "bob"}, events=[said("I like oolong.")])
            operation = await generate(bank, TEA, timeout=20)
            assert operation.done
            assert slow is not None
            assert not (await bank.operations.get(slow.name)).done
            await banks.close(timeout=0.1)


class TestPermanent:
    @pytest.mark.parametrize("fault", PERMANENT.values(), ids=PERMANENT.keys())
    async def test_it_ends_with_an_error_and_keeps_its_events(self, fault: Any) -> None:
        model = ScriptedLlm([fault(), facts(TEA)])
        async with temporary_banks(model=model) as banks:
            bank = await banks.create()
            operation = await bank.ingest_events(scope=SCOPE, events=[said(TEA, id="a")])
            assert operation is not None
            (ended,) = await bank.operations.wait([operation.name], timeout=20)
            assert ended.done
            assert ended.error is not None
            assert str(fault()) in ended.error.message
            await bank.operations.retry(operation.name)
            (again,) = await bank.operations.wait([operation.name], timeout=20)
            assert again.error is None
            assert await current(bank) == [TEA]

    async def test_a_model_that_refuses_by_its_finish_reason(self) -> None:
        class Refusing(BaseLlm):
            async def generate_content_async(
                self, llm_request: LlmRequest, stream: bool = False
            ) -> AsyncGenerator[LlmResponse, None]:
                yield LlmResponse(error_code="SAFETY", error_message="blocked")

        async with temporary_banks(model=Refusing(model="refusing")) as banks:
            bank = await banks.create()
            with pytest.raises(ModelOutputError, match="SAFETY: blocked"):
                await generate(bank, TEA)

    async def test_an_answer_cut_at_the_token_limit_is_used(self) -> None:
        class Cut(ScriptedLlm):
            async def generate_content_async(
                self, llm_request: LlmRequest, stream: bool = False
            ) -> AsyncGenerator[LlmResponse, None]:
                async for response in super().generate_content_async(llm_request, stream):
                    response.error_code = "MAX_TOKENS"
                    yield response

        whole = '{"facts": [{"fact": "I like green tea.", "topic": "USER_PREFERENCES", "event": 1}, {"fact": "I li'
        make: Any = Cut  # pydantic's signature hides the one of `ScriptedLlm`
        model = make([whole])
        async with temporary_banks(model=model) as banks:
            bank = await banks.create()
            operation = await generate(bank, TEA)
            assert await current(bank) == [TEA]
            assert any("broke off" in note for note in operation.notes)


class TestWhatMayBeAsked:
    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("gemini-3.5-flash", ["GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"]),
            (
                "projects/p/locations/l/publishers/google/models/gemini-3.5-flash",
                ["gcloud auth application-default login", "GOOGLE_APPLICATION_CREDENTIALS"],
            ),
            (ManagedSemanticMemoryConfig().generation_config.model, ["placeholders"]),
            ("no-such-model", ["not one that ADK can call"]),
            ("LLM_MODEL", ["not one that ADK can call"]),
        ],
    )
    async def test_a_named_model_that_can_not_be_used_says_the_way_out(self, name: str, words: list[str]) -> None:
        async with temporary_banks(model=None) as banks:
            with pytest.raises(ModelUnavailable) as raised:
                await banks.create(managed_semantic_memory_config={"generation_config": {"model": name}})
            for word in [*words, "model='offline'", "ADK_MEMORYBANK_MODEL=offline"]:
                assert word in str(raised.value)
            assert await banks.list() == [], "nothing is stored"

    async def test_of_a_service_too(self, tmp_path: Path) -> None:
        uri = f"memorybank:///{tmp_path}/m"
        async with MemoryBankService(uri, model="gemini-2.5-flash", embedder=HashEmbedder()) as service:
            with pytest.raises(ModelUnavailable, match="GOOGLE_API_KEY"):
                await service.bank()

    @pytest.mark.parametrize("model", ["openai/gpt-4o", "ollama_chat/llama3", "anthropic/claude-x"])
    async def test_litellm_that_is_not_installed(self, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "litellm", None)
        monkeypatch.setitem(sys.modules, "google.adk.models.lite_llm", None)
        async with temporary_banks(model=model) as banks:
            with pytest.raises(ModelUnavailable, match=r"adk-memorybank\[litellm\]"):
                await banks.create()

    async def test_a_thing_that_is_no_model(self) -> None:
        async with temporary_banks(model=42) as banks:
            with pytest.raises(InvalidArgument, match="a name, an ADK model or a factory"):
                await banks.create()

    async def test_a_factory_is_called_on_the_engines_loop(self) -> None:
        loops: list[asyncio.AbstractEventLoop] = []

        def tea_model() -> ScriptedLlm:
            loops.append(asyncio.get_running_loop())
            return ScriptedLlm([facts(TEA)])

        async with temporary_banks(model=tea_model) as banks:
            bank = await banks.create()
            assert bank.model == "tea_model"
            await generate(bank, TEA)
            assert await current(bank) == [TEA]
        assert len(loops) == 1
        assert loops[0] is not asyncio.get_running_loop()

    async def test_a_factory_of_something_else(self) -> None:
        async with temporary_banks(model=dict) as banks:
            bank = await banks.create()
            with pytest.raises(Exception, match="the factory of the model gave dict"):
                await generate(bank, TEA)

    async def test_a_generator_of_ones_own(self) -> None:
        generator = ScriptedGenerator()
        async with temporary_banks(model=generator) as banks:
            bank = await banks.create()
            await generate(bank, TEA)
            assert await current(bank) == [TEA]
        assert generator.extractions == [[TEA]]

    def test_the_default_without_credentials(self) -> None:
        generator, reason = select_generator(None, embed=LocalEmbedder().embed)
        assert generator.name == "offline"
        assert "without credentials" in reason

    @pytest.mark.parametrize("key", ["GOOGLE_API_KEY", "GEMINI_API_KEY"])
    def test_the_default_with_a_key(self, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(key, "not-a-key")
        generator, reason = select_generator(None, embed=LocalEmbedder().embed)
        assert generator.name == DEFAULT_GEMINI
        assert key in reason
        _, make = model_factory(DEFAULT_GEMINI)
        assert isinstance(make(), Gemini)

    def test_the_default_with_vertex(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
        monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p")
        assert select_generator(None, embed=LocalEmbedder().embed)[0].name == "offline"
        credentials = tmp_path / "gcloud" / "application_default_credentials.json"
        credentials.parent.mkdir()
        credentials.write_text("{}")
        assert select_generator(None, embed=LocalEmbedder().embed)[0].name == DEFAULT_GEMINI

    async def test_an_operator_can_go_without_the_model_of_the_configuration(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ADK_MEMORYBANK_MODEL", "offline")
        async with temporary_banks(model=None) as banks:
            bank = await banks.create(
                managed_semantic_memory_config={"generation_config": {"model": "gemini-3.5-flash"}}
            )
            assert bank.model == "offline"
            assert bank.managed_semantic_memory_config.generation_config.model == "gemini-3.5-flash"


async def test_an_extraction_alone() -> None:
    """The generator without a bank: what a passing fault looks like to whoever calls it."""
    generator = LlmGenerator(
        name="m", make=lambda: ScriptedLlm([ValueError("Missing key inputs argument!")]), embed=LocalEmbedder().embed
    )
    turns = [Turn("s", "e", "user", "user", TEA, None)]
    with pytest.raises(Unavailable, match="no credentials"):
        await generator.extract(ExtractionRequest(turns, DEFAULT_TOPICS))
