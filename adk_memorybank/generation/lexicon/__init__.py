"""Words of the languages that the offline rules know: one module per language, loaded when first met."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import cast

from adk_memorybank.generation.lexicon.language import DateWords, Language, Slot, group

__all__ = ["CODES", "DateWords", "Language", "Slot", "group", "language"]

CODES = ("en", "it", "es", "fr", "de", "pt", "ja", "zh", "ko", "ru")


@cache
def language(code: str) -> Language:
    """The words of one of `CODES`; English for any other code."""
    name = code if code in CODES else "en"
    return cast(Language, import_module(f"{__name__}.{name}").LANGUAGE)
