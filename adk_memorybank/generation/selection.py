"""Which generator a bank uses, and why."""

from __future__ import annotations

from typing import Any

from adk_memorybank.errors import InvalidArgument, ModelUnavailable
from adk_memorybank.generation.generator import Generator
from adk_memorybank.generation.offline import Embed, OfflineGenerator

OFFLINE = "offline"


def select_generator(spec: Any, *, embed: Embed) -> tuple[Generator, str]:
    """The generator that was asked for, and the reason in words.

    Args:
        spec: `offline`, or an object with the methods of `Generator`; None for the default, `offline`.
        embed: what `offline` compares sentences with topics by.

    Raises:
        ModelUnavailable: a model was named that can't be used here.
        InvalidArgument: it is none of these.
    """
    if spec is None:
        return OfflineGenerator(embed), "the default, no model was named"
    if isinstance(spec, str):
        if spec == OFFLINE:
            return OfflineGenerator(embed), "asked for"
        raise ModelUnavailable(
            f"the model {spec!r} can't be used: this version generates with model={OFFLINE!r} only. "
            f"Add `?model={OFFLINE}` to the URI, or set ADK_MEMORYBANK_MODEL={OFFLINE}"
        )
    if callable(getattr(spec, "extract", None)) and callable(getattr(spec, "consolidate", None)):
        return spec, "asked for"
    raise InvalidArgument(f"a model is a name or a generator, not {type(spec).__name__}", field="model")
