"""From what a user names or hands over to a model of the engine's own."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from google.adk.models.base_llm import BaseLlm
from google.adk.models.google_llm import Gemini
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.models.registry import LLMRegistry
from google.genai import types
from pydantic import PrivateAttr

from adk_memorybank.errors import InvalidArgument, ModelUnavailable
from adk_memorybank.generation.models import DEFAULT_GEMINI, gemini_credentials, model_factory, shape_for
from adk_memorybank.testing import ScriptedLlm

FULL = "projects/p/locations/l/publishers/google/models/gemini-2.5-flash"
VARIABLES = (
    "CLOUDSDK_CONFIG",
    "GAE_ENV",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_AGENT_ENGINE_ID",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_GENAI_USE_ENTERPRISE",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "KUBERNETES_SERVICE_HOST",
    "K_SERVICE",
)


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for key in VARIABLES:
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)


class TestCredentials:
    def test_none(self) -> None:
        assert gemini_credentials() is None

    @pytest.mark.parametrize("key", ["GOOGLE_API_KEY", "GEMINI_API_KEY"])
    def test_a_key(self, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(key, "not-a-key")
        assert gemini_credentials() == key
        monkeypatch.setenv(key, "")
        assert gemini_credentials() is None

    @pytest.mark.parametrize("switch", ["GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE"])
    @pytest.mark.parametrize("value", ["1", "true", "TRUE"])
    def test_vertex(self, switch: str, value: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv(switch, value)
        assert gemini_credentials() is None
        monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p")
        assert gemini_credentials() is None, "the metadata server is not asked"
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "missing.json"))
        assert gemini_credentials() is None
        file = tmp_path / "key.json"
        file.write_text("{}")
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
        assert gemini_credentials() == "GOOGLE_APPLICATION_CREDENTIALS"

    def test_what_gcloud_left(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "1")
        monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p")
        file = tmp_path / ".config" / "gcloud" / "application_default_credentials.json"
        file.parent.mkdir(parents=True)
        file.write_text("{}")
        assert gemini_credentials() == "application default credentials"
        monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path / "elsewhere"))
        assert gemini_credentials() is None


class TestNames:
    def test_gemini_needs_credentials(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(ModelUnavailable, match=r"set GOOGLE_API_KEY.*model='offline'"):
            model_factory(DEFAULT_GEMINI)
        monkeypatch.setenv("GOOGLE_API_KEY", "not-a-key")
        name, make = model_factory(DEFAULT_GEMINI)
        assert name == DEFAULT_GEMINI
        assert isinstance(make(), Gemini)

    def test_a_full_name_needs_vertex(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GOOGLE_API_KEY", "not-a-key")
        with pytest.raises(ModelUnavailable, match="gcloud auth application-default login"):
            model_factory(FULL)
        monkeypatch.setenv("K_SERVICE", "on-cloud-run")
        name, make = model_factory(FULL)
        assert name == FULL
        assert make().model == FULL

    @pytest.mark.parametrize(
        "name", ["projects/{PROJECT}/locations/{LOCATION}/publishers/google/models/gemini-3.5-flash", "{model}"]
    )
    def test_placeholders(self, name: str) -> None:
        with pytest.raises(ModelUnavailable, match="still has placeholders in it"):
            model_factory(name)

    @pytest.mark.parametrize("name", ["LLM_MODEL", "", "nonsense", "nobody/nothing"])
    def test_unknown(self, name: str) -> None:
        with pytest.raises(ModelUnavailable, match=r"not one that ADK can call here.*offline"):
            model_factory(name)

    def test_one_that_was_registered(self) -> None:
        class Local(BaseLlm):
            @classmethod
            def supported_models(cls) -> list[str]:
                return ["local-for-this-test-.*"]

            async def generate_content_async(
                self, llm_request: LlmRequest, stream: bool = False
            ) -> AsyncGenerator[LlmResponse, None]:
                yield LlmResponse()

        LLMRegistry.register(Local)
        name, make = model_factory("local-for-this-test-1")
        assert name == "local-for-this-test-1"
        assert isinstance(make(), Local)


class TestObjects:
    def test_a_gemini_is_copied(self) -> None:
        options = types.HttpRetryOptions(attempts=3)
        model = Gemini(model="gemini-2.5-pro", base_url="http://localhost:1", retry_options=options)
        name, make = model_factory(model)
        own = make()
        assert isinstance(own, Gemini)
        assert name == "gemini-2.5-pro"
        assert own is not model
        assert (own.model, own.base_url, own.retry_options) == (model.model, model.base_url, options)
        assert own.model_fields_set == model.model_fields_set

    def test_what_was_cached_on_it_is_not(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GOOGLE_API_KEY", "not-a-key")
        model = Gemini(model="gemini-2.5-pro", base_url="http://localhost:1")
        client = model.api_client
        own: Any = model_factory(model)[1]()
        assert own.api_client is not client
        assert model.api_client is client, "the agent's keeps its own"

    def test_a_subclass_keeps_what_is_no_field(self) -> None:
        class Mine(Gemini):
            _tenant: str = PrivateAttr(default="")

            def __init__(self, tenant: str) -> None:
                super().__init__(model="gemini-2.5-pro")
                self._tenant = tenant

        own = model_factory(Mine("ada"))[1]()
        assert isinstance(own, Mine)
        assert own._tenant == "ada"

    def test_models_that_fall_back_on_others(self) -> None:
        fallback = pytest.importorskip("google.adk.models._fallback_model").FallbackModel
        inner = Gemini(model="gemini-2.5-pro")
        own: Any = model_factory(fallback(models=[inner, "gemini-2.5-flash"]))[1]()
        assert own.models[0] is not inner
        assert own.models[0].model == "gemini-2.5-pro"
        assert own.models[1] == "gemini-2.5-flash"

    def test_a_class_of_the_users_own_is_taken_as_it_is(self) -> None:
        model = ScriptedLlm(["{}"])
        name, make = model_factory(model)
        assert name == "scripted"
        assert make() is model


class TestShapes:
    SCHEMA = types.Schema(
        type=types.Type.OBJECT, properties={"n": types.Schema(type=types.Type.INTEGER)}, required=["n"]
    )

    def test_of_gemini_and_of_the_users_own(self) -> None:
        assert shape_for(Gemini(model="gemini-2.5-pro"), self.SCHEMA) is self.SCHEMA
        assert shape_for(ScriptedLlm(), self.SCHEMA) is self.SCHEMA

    def test_of_litellm(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class LiteLlm(ScriptedLlm):
            """Stands for ADK's class, which can't be imported without its package."""

        monkeypatch.setattr(LiteLlm, "__module__", "google.adk.models.lite_llm")
        assert shape_for(LiteLlm(), self.SCHEMA) == {
            "type": "object",
            "properties": {"n": {"type": "integer"}},
            "required": ["n"],
        }


class TestFactories:
    def test_called_only_when_it_is_needed(self) -> None:
        made: list[int] = []

        def local() -> BaseLlm:
            made.append(1)
            return ScriptedLlm()

        name, make = model_factory(local)
        assert name == "local"
        assert made == []
        assert isinstance(make(), ScriptedLlm)

    def test_a_class(self) -> None:
        name, make = model_factory(ScriptedLlm)
        assert name == "ScriptedLlm"
        assert isinstance(make(), ScriptedLlm)

    def test_of_something_else(self) -> None:
        with pytest.raises(ModelUnavailable, match="gave int, not an ADK model"):
            model_factory(int)[1]()


@pytest.mark.parametrize("thing", [42, None, [], {"model": "gemini"}])
def test_no_model_at_all(thing: Any) -> None:
    with pytest.raises(InvalidArgument, match="a name, an ADK model or a factory of one"):
        model_factory(thing)
