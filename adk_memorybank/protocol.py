"""What a bank's methods look like between a served bank and its clients: their arguments and results as JSON.

Both sides read it off the methods of `MemoryBank` and `BankOperations` themselves, so that there is one place where a
method is described.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Optional, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model

from adk_memorybank.bank import MemoryBank
from adk_memorybank.bank_operations import BankOperations
from adk_memorybank.config import GenerationTriggerConfig
from adk_memorybank.events import Event
from adk_memorybank.resources import Metadata

PATH = "/memorybank/v1/banks"
"""Below it: `/{bank}:open`, and `/{bank}/{method}` for each of the methods."""

OPERATIONS = ("get", "list", "wait", "retry", "cancel", "delete")
"""Methods of `bank.operations`; their names begin with `operations.`."""
MEMORIES = (
    "ingest_events",
    "ingest",
    "flush",
    "generate",
    "create_all",
    "get",
    "list",
    "list_page",
    "update",
    "delete",
    "list_revisions",
    "list_revisions_page",
    "get_revision",
    "rollback",
    "retrieve",
    "retrieve_page",
    "retrieve_profiles",
    "purge",
    "reindex",
    "forget",
    "scope_of",
    "list_scopes",
    "waiting_scopes",
)

_TYPES: Mapping[str, Any] = {
    "embedder": str | None,
    "events": list[Event] | None,
    "generation_trigger_config": GenerationTriggerConfig | None,
    "progress": None,
    "metadata": Optional[Metadata],  # noqa: UP045  type checkers take `|` for no type here
    "session": str | None,
}
"""Arguments that are narrower between the two sides than what a caller may give."""
_CONFIG = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64", arbitrary_types_allowed=True, extra="forbid")


@dataclass(frozen=True, slots=True)
class Method:
    """One method.

    Attributes:
        arguments: a model of its keywords.
        result: of what it returns.
    """

    name: str
    arguments: type[BaseModel]
    result: TypeAdapter[Any]
    parameters: tuple[str, ...]

    def encode(self, given: Mapping[str, Any]) -> bytes:
        """Keywords as JSON; what was not given is left out."""
        return self.arguments(**given).model_dump_json(exclude_unset=True).encode()

    def decode(self, body: bytes) -> dict[str, Any]:
        """The keywords again.

        Raises:
            ValidationError: they are none of this method.
        """
        read = self.arguments.model_validate_json(body or b"{}")
        return {name: getattr(read, name) for name in read.model_fields_set}


@cache
def methods() -> Mapping[str, Method]:
    """All methods by their names."""
    of_bank = {name: getattr(MemoryBank, name) for name in MEMORIES}
    of_operations = {f"operations.{name}": getattr(BankOperations, name) for name in OPERATIONS}
    return {name: _method(name, function) for name, function in (of_bank | of_operations).items()}


def _method(name: str, function: Callable[..., Any]) -> Method:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        annotation = _TYPES.get(parameter.name, hints[parameter.name])
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[parameter.name] = (annotation, default)
    arguments = create_model(f"{name}Arguments", __config__=_CONFIG, **fields)
    return Method(name, arguments, TypeAdapter(hints["return"]), tuple(fields))


__all__ = ["MEMORIES", "OPERATIONS", "PATH", "Method", "methods"]
