"""A Memory Bank for ADK agents that runs where the agent runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adk_memorybank.bank import MemoryBank
    from adk_memorybank.banks import MemoryBanks
    from adk_memorybank.config import ManagedSemanticMemoryConfig
    from adk_memorybank.errors import MemoryBankError
    from adk_memorybank.service import MemoryBankService, memory_bank_service_builder

__all__ = [
    "ManagedSemanticMemoryConfig",
    "MemoryBank",
    "MemoryBankError",
    "MemoryBankService",
    "MemoryBanks",
    "memory_bank_service_builder",
]

_HOMES = {
    "ManagedSemanticMemoryConfig": "config",
    "MemoryBank": "bank",
    "MemoryBankError": "errors",
    "MemoryBankService": "service",
    "MemoryBanks": "banks",
    "memory_bank_service_builder": "service",
}


def __getattr__(name: str) -> object:
    """Imports a public name when it is first used, so that importing the package costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
