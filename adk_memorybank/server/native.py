"""What clients of a served bank use: the methods of `MemoryBank`, each of them one route (see `protocol`)."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import TypeAdapter, ValidationError

from adk_memorybank.bank import MemoryBank
from adk_memorybank.banks import MemoryBanks
from adk_memorybank.config import set_fields
from adk_memorybank.errors import InvalidArgument, NotFound
from adk_memorybank.protocol import PATH, methods
from adk_memorybank.resources import bank_name, validate_bank_id, validate_scope
from adk_memorybank.server.access import Caller, caller_of
from adk_memorybank.validation import invalid_argument

LONGEST_WAIT = 30.0
"""Seconds that one request waits for operations."""

router = APIRouter(prefix=PATH, include_in_schema=False)


@router.post("/{bank_id}:open")
async def open_bank(bank_id: str, request: Request) -> Response:
    """The bank, made where it is missing, with the configuration that is given."""
    banks: MemoryBanks = request.app.state.banks
    config = _read(await request.body()).get("config")
    if config is not None and not isinstance(config, dict):  # a text would be the name of a file, here at the server
        raise InvalidArgument("should be an object", field="config")
    try:
        info = await banks.read(name=bank_name(validate_bank_id(bank_id)))
        changes = config is not None and config != set_fields(info.config)
    except NotFound:
        changes = True
    if changes:
        caller_of(request).check_all()
    bank = await banks.open(bank_id=bank_id, config=config)
    told = {
        "display_name": bank.display_name,
        "config": set_fields(bank.managed_semantic_memory_config),
        "model": bank.model,
        "embedder": bank.embedder,
    }
    return JSONResponse(told)


@router.post("/{bank_id}/{name}")
async def invoke(bank_id: str, name: str, request: Request) -> Response:
    """One method of a bank, or of its operations."""
    banks: MemoryBanks = request.app.state.banks
    method = methods().get(name)
    if method is None:
        raise NotFound(f"a bank has no method {name!r}: is the client newer than the server?")
    try:
        given = method.decode(await request.body())
    except ValidationError as error:
        raise invalid_argument(error) from None
    bank = await banks.get(name=bank_name(validate_bank_id(bank_id)))
    await _check(caller_of(request), bank, name, given)
    of_operations = name.startswith("operations.")
    if name == "operations.wait":
        asked = given.get("timeout")
        given["timeout"] = LONGEST_WAIT if asked is None else min(asked, LONGEST_WAIT)
    target: Any = bank.operations if of_operations else bank
    result = await getattr(target, name.removeprefix("operations."))(**given)
    return Response(method.result.dump_json(result), media_type="application/json")


async def _check(caller: Caller, bank: MemoryBank, name: str, given: dict[str, Any]) -> None:
    """Whether the caller may do this: in one scope, or where none is named in all of them."""
    if caller.unconditional:
        return
    scope = given.get("scope")
    if given.get("session") is not None:  # a scope of one's own is no right to another's session
        owner = {"user_id": await bank.sessions.user_of(name=given["session"])}
        caller.check(owner)
        scope = owner if scope is None else scope
    if scope is not None:
        caller.check(validate_scope(scope))
    elif "name" not in given and "names" not in given:
        caller.check_all()
    if name == "operations.wait":  # what is gone is left out of its answer, too
        for operation in await bank.operations.wait(given["names"], timeout=0):
            caller.check(operation.scope)
    elif name.startswith("operations.") and "name" in given:
        caller.check((await bank.operations.get(given["name"])).scope)
    elif "name" in given:  # read as the method itself reads it, or another memory would be checked than is told
        memory = given["name"].partition("/revisions/")[0] if name == "get_revision" else given["name"]
        caller.check(await bank.scope_of(name=memory))


def _read(body: bytes) -> dict[str, Any]:
    try:
        return TypeAdapter(dict[str, Any]).validate_json(body or b"{}")
    except ValidationError as error:
        raise invalid_argument(error) from None
