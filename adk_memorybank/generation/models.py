"""From what a user names or hands over to an ADK model of the engine's own (DESIGN, decisions 13 and 14)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from adk_memorybank.errors import InvalidArgument, ModelUnavailable

if TYPE_CHECKING:
    from google.adk.models.base_llm import BaseLlm
    from google.genai import types

DEFAULT_GEMINI = "gemini-3.5-flash"
"""The guide's model since 29 June 2026."""

_WAY_OUT = "or generate without a model: model='offline' (`?model=offline` in the URI, ADK_MEMORYBANK_MODEL=offline)"
_ON_GOOGLE_CLOUD = ("K_SERVICE", "GAE_ENV", "GOOGLE_CLOUD_AGENT_ENGINE_ID", "KUBERNETES_SERVICE_HOST")


def gemini_credentials() -> str | None:
    """What would authenticate Gemini, in words; None if nothing is in sight. The metadata server is not asked."""
    for key in ("GOOGLE_API_KEY", "GEMINI_API_KEY"):
        if os.environ.get(key):
            return key
    vertex = any(
        os.environ.get(key, "").lower() in ("1", "true")
        for key in ("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE")
    )
    return _vertex_credentials() if vertex and os.environ.get("GOOGLE_CLOUD_PROJECT") else None


def _vertex_credentials() -> str | None:
    named = os.environ.get("GOOGLE_APPLICATION_CREDENTIALS")
    if named and Path(named).is_file():
        return "GOOGLE_APPLICATION_CREDENTIALS"
    home = os.environ.get("CLOUDSDK_CONFIG")
    folder = Path(home) if home else Path.home() / ".config" / "gcloud"
    if (folder / "application_default_credentials.json").is_file():
        return "application default credentials"
    return None


def model_factory(spec: Any) -> tuple[str, Callable[[], BaseLlm]]:
    """The name of a model, and what makes one for the loop that will call it.

    Args:
        spec: a name that ADK's `LLMRegistry` knows, a `BaseLlm`, or a factory of one.

    Raises:
        ModelUnavailable: a name that nothing here can serve; the message says what is missing.
        InvalidArgument: it is none of these.
    """
    from google.adk.models.base_llm import BaseLlm

    if isinstance(spec, str):
        return spec, _by_name(spec)
    if isinstance(spec, BaseLlm):
        return spec.model, lambda: _own(spec)
    if callable(spec):
        return getattr(spec, "__name__", "model"), lambda: _made(cast("Callable[[], object]", spec))
    raise InvalidArgument(
        f"a model is a name, an ADK model or a factory of one, not {type(spec).__name__}", field="model"
    )


def looks_at_media(spec: Any) -> bool:
    """Whether a model takes images, sounds and files.

    Gemini does. Of a model behind LiteLLM its own table is asked, and a model that it doesn't know takes none. A class
    of the user's own is asked by its attribute `reads_media`; one that doesn't say is given what its agent would be.
    """
    if isinstance(spec, str):
        return "gemini" in spec or _by_litellm(spec)
    if any(cls.__name__ == "LiteLlm" for cls in type(spec).__mro__):
        return _by_litellm(spec.model)
    return bool(getattr(spec, "reads_media", True))


def _by_litellm(name: str) -> bool:
    try:
        import litellm  # pyright: ignore[reportMissingImports]: an extra
    except ImportError:
        return False
    return bool(litellm.supports_vision(name))  # pyright: ignore[reportUnknownMemberType, reportPrivateImportUsage]: untyped


def _by_name(name: str) -> Callable[[], BaseLlm]:
    from google.adk.models.registry import LLMRegistry

    if "{" in name:
        raise ModelUnavailable(
            f"the model {name!r} still has placeholders in it: write the project and the location, {_WAY_OUT}"
        )
    short = name.rpartition("/")[2]
    if name.startswith("projects/"):
        if not (_vertex_credentials() or any(os.environ.get(key) for key in _ON_GOOGLE_CLOUD)):
            raise ModelUnavailable(
                f"the model {name!r} needs Google Cloud credentials and none are in sight: run `gcloud auth "
                f"application-default login` or set GOOGLE_APPLICATION_CREDENTIALS, {_WAY_OUT}"
            )
    elif short == name and name.startswith("gemini") and not gemini_credentials():
        raise ModelUnavailable(
            f"the model {name!r} needs credentials and none are in sight: set GOOGLE_API_KEY, or "
            f"GOOGLE_GENAI_USE_VERTEXAI=1 with GOOGLE_CLOUD_PROJECT and credentials, {_WAY_OUT}"
        )
    try:
        LLMRegistry.resolve(name)
    except (ValueError, ImportError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ModelUnavailable(
            f"the model {name!r} is not one that ADK can call here: {reason} For models of other makers install "
            f"`adk-memorybank[litellm]`, {_WAY_OUT}"
        ) from error
    return lambda: LLMRegistry.new_llm(name)


def _own(model: BaseLlm) -> BaseLlm:
    """A model with the same fields, where its client is bound to the loop that it was used on.

    ADK's own classes, and what derives from them, are; a class of the user's own may hold what a copy would lose, and
    is taken as it is.
    """
    bound = any(
        cls.__module__.startswith("google.adk.models.") and cls.__name__ != "BaseLlm" for cls in type(model).__mro__
    )
    if not bound:
        return model
    # Copied and not made anew: LiteLLM's settings are no fields, and a subclass may be made in a way of its own.
    own = model.model_copy()
    fields = type(model).model_fields
    for name in set(vars(own)) - set(fields):  # what was cached on the object: its clients
        del vars(own)[name]
    for name, private in type(model).__private_attributes__.items():
        if name in _CLIENTS:
            setattr(own, name, private.get_default())
    for name in fields:
        value: Any = vars(own).get(name)
        if isinstance(value, list):  # a model that falls back on others
            models = cast("list[Any]", value)
            vars(own)[name] = [_own(one) if _is_model(one) else one for one in models]
        elif name == "client" and type(value).__module__.startswith("google.genai"):
            vars(own)[name] = _own_client(value)
    return own


_CLIENTS = ("_client_init_task", "_resolved", "_live_owner")
"""What ADK's classes keep of one loop in private attributes."""


def _is_model(value: object) -> bool:
    from google.adk.models.base_llm import BaseLlm

    return isinstance(value, BaseLlm)


def _own_client(client: Any) -> Any:
    """A client of Google's with the same settings. Where they can't be read, the same one."""
    api: Any = getattr(client, "_api_client", None)
    try:
        settings: dict[str, Any] = {"http_options": api._http_options}
        if api.vertexai:
            settings |= {"vertexai": True, "credentials": api._credentials}
            settings |= {"project": api.project, "location": api.location} if api.project else {"api_key": api.api_key}
        else:
            settings["api_key"] = api.api_key
        return type(client)(**settings)
    except (AttributeError, TypeError, ValueError):
        return client


def shape_for(model: BaseLlm, schema: types.Schema) -> types.Schema | dict[str, Any]:
    """A schema as this model takes it: ADK hands it on to LiteLLM word for word, and there it must be JSON schema."""
    if any(cls.__module__ == "google.adk.models.lite_llm" for cls in type(model).__mro__):
        return schema.json_schema.model_dump(mode="json", by_alias=True, exclude_none=True)
    return schema


def _made(factory: Callable[[], object]) -> BaseLlm:
    from google.adk.models.base_llm import BaseLlm

    made = factory()
    if not isinstance(made, BaseLlm):
        raise ModelUnavailable(f"the factory of the model gave {type(made).__name__}, not an ADK model")
    return made
