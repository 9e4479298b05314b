"""Which generator a bank uses, and why."""

from __future__ import annotations

from typing import Any

from adk_memorybank.generation.generator import Generator
from adk_memorybank.generation.models import DEFAULT_GEMINI, gemini_credentials, looks_at_media, model_factory
from adk_memorybank.generation.offline import Embed, OfflineGenerator

OFFLINE = "offline"


def select_generator(spec: Any, *, embed: Embed) -> tuple[Generator, str]:
    """The generator that was asked for, and the reason in words.

    Args:
        spec: `offline`, the name of a model that ADK can call, an ADK model or a factory of one, or an object with the
            methods of `Generator`. None for the default: Gemini where credentials for it are in sight, else `offline`.
        embed: what `offline` compares sentences with topics by.

    Raises:
        ModelUnavailable: a model was named that can't be used here.
        InvalidArgument: it is none of these.
    """
    reason = "asked for"
    if spec is None:
        credentials = gemini_credentials()
        spec = DEFAULT_GEMINI if credentials else OFFLINE
        reason = f"the default with {credentials}" if credentials else "the default without credentials for Gemini"
    if spec == OFFLINE:
        return OfflineGenerator(embed), reason
    if callable(getattr(spec, "extract", None)) and callable(getattr(spec, "consolidate", None)):
        return spec, reason
    from adk_memorybank.generation.llm import LlmGenerator  # ADK's models load only where one is used

    name, make = model_factory(spec)
    return LlmGenerator(name=name, make=make, embed=embed, reads_media=looks_at_media(spec)), reason
