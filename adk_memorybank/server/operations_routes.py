"""Operations over REST: polled, listed, waited for, cancelled and deleted (reference, section 3)."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated

from fastapi import APIRouter, Query, Request

from adk_memorybank.banks import MemoryBanks
from adk_memorybank.errors import FailedPrecondition, MemoryBankError, NotFound
from adk_memorybank.paging import decode_token, encode_token, page_limit
from adk_memorybank.resources import Call, Operation, bank_name
from adk_memorybank.retrieval.filters import parse_filter
from adk_memorybank.server.access import caller_of
from adk_memorybank.server.answers import (
    BankAnswer,
    MemoryAnswer,
    OperationAnswer,
    OperationPage,
    Shape,
    call_answer,
    operation_answer,
)
from adk_memorybank.server.banks_routes import banks_of
from adk_memorybank.server.bodies import JsonRoute
from adk_memorybank.server.masks import PageSize, PageToken
from adk_memorybank.server.prefixes import CANONICAL, Prefix, prefix_of
from adk_memorybank.server.requests import WaitOperation

router = APIRouter(prefix=f"{CANONICAL}/{{bank_id}}", tags=["operations"], route_class=JsonRoute)

LONGEST_WAIT = 60.0
"""Seconds that one request waits; what has not ended by then is answered as it is."""
_POLL = 0.2


class Empty(Shape):
    """Nothing but that it was done."""


@router.get("/operations", operation_id="listOperations", response_model_exclude_none=True)
async def list_operations(
    request: Request,
    bank_id: str,
    page_size: PageSize = None,
    page_token: PageToken = None,
    filter: Annotated[str | None, Query(description="Such as `done=true`.")] = None,
) -> OperationPage:
    """List the operations of a bank, the newest first."""
    caller_of(request).check_all()
    banks, prefix = banks_of(request), prefix_of(request)
    matches = parse_filter(filter or "", over="operations")
    most, of = page_limit(page_size), repr(("operations", bank_id, filter or ""))
    after = decode_token(page_token, of=of, like=(str, str))
    bank = await banks.get(name=bank_name(bank_id))
    listed = [*await bank.operations.list(), *await banks.calls.list(bank_id=bank_id)]
    found = sorted((one for one in listed if matches(one)), key=_place, reverse=True)
    if after is not None:
        found = [one for one in found if _place(one) < after]
    page = found[:most]
    token = encode_token(_place(page[-1]), of=of) if len(page) < len(found) else None
    answers = [await _answer(banks, one, prefix) for one in page]
    return OperationPage(operations=answers, next_page_token=token)


async def _get(request: Request, bank_id: str, operation_id: str) -> OperationAnswer:
    found = await _find(request, bank_id, operation_id)
    return await _answer(banks_of(request), found, prefix_of(request))


async def _delete(request: Request, bank_id: str, operation_id: str) -> Empty:
    found = await _find(request, bank_id, operation_id)
    if not found.done:
        raise FailedPrecondition(f"the operation {operation_id} has not ended: cancel it first")
    if isinstance(found, Call):
        await banks_of(request).calls.delete(bank_id=bank_id, call_id=operation_id)
    else:
        bank = await banks_of(request).get(name=bank_name(bank_id))
        await bank.operations.delete(operation_id)
    return Empty()


async def _cancel(request: Request, bank_id: str, operation_id: str) -> Empty:
    """What has ended stays as it is, as in AIP-151: a cancellation is a wish."""
    found = await _find(request, bank_id, operation_id)
    name = found.operation.name if isinstance(found, Call) and found.operation else operation_id
    if not found.done and not (isinstance(found, Call) and found.operation is None):
        bank = await banks_of(request).get(name=bank_name(bank_id))
        await bank.operations.cancel(name)
    return Empty()


async def _wait(
    request: Request, bank_id: str, operation_id: str, body: WaitOperation | None = None
) -> OperationAnswer:
    asked = None if body is None or body.timeout is None else body.timeout.total_seconds()
    deadline = time.monotonic() + min(LONGEST_WAIT, LONGEST_WAIT if asked is None else asked)
    while True:
        found = await _find(request, bank_id, operation_id)
        stopping = not request.app.state.ready
        if found.done or stopping or time.monotonic() >= deadline:
            return await _answer(banks_of(request), found, prefix_of(request))
        await asyncio.sleep(_POLL)


def _add(parent: str, of: str) -> None:
    """The same operations are there under a bank and under a memory (reference, section 1)."""
    path = f"{parent}/operations/{{operation_id}}"
    for methods, end, verb, text, answer in (
        (["GET"], "", "get", "Get an operation", _get),
        (["DELETE"], "", "delete", "Delete an ended operation", _delete),
        (["POST"], ":cancel", "cancel", "Cancel an operation", _cancel),
        (["POST"], ":wait", "wait", "Wait for an operation", _wait),
    ):
        router.add_api_route(
            path + end,
            answer,
            methods=methods,
            operation_id=f"{verb}{of}Operation",
            summary=text,
            response_model_exclude_none=True,
        )


_add("", "")
_add("/memories/{memory_id}", "Memory")


async def _find(request: Request, bank_id: str, operation_id: str) -> Operation | Call:
    """A generation, or else a call."""
    caller, banks = caller_of(request), banks_of(request)
    found: Operation | Call | None = None
    try:
        bank = await banks.get(name=bank_name(bank_id))
        found = await bank.operations.get(operation_id)
    except MemoryBankError as error:
        if not _tells_nothing(error):
            raise
        found = await banks.calls.get(bank_id=bank_id, call_id=operation_id)
    if found.scope is None:
        caller.check_all()
    else:
        caller.check(found.scope)
    return found


async def _answer(banks: MemoryBanks, found: Operation | Call, prefix: Prefix) -> OperationAnswer:
    """With what it is about as that is now."""
    if isinstance(found, Operation):
        return operation_answer(found, prefix)
    subject: Shape | None = None
    try:
        if found.kind in ("create_bank", "update_bank"):
            subject = BankAnswer.of(await banks.read(name=bank_name(found.bank_id)), prefix)
        elif found.kind in ("create", "update", "rollback"):
            bank = await banks.get(name=bank_name(found.bank_id))
            memory = await bank.get(name=found.memory_id or "")
            # Its id may have been used again in another scope since.
            subject = MemoryAnswer.of(memory, prefix) if memory.scope == found.scope else None
    except MemoryBankError as error:
        if not _tells_nothing(error):
            raise
        subject = None
    return call_answer(found, prefix, subject=subject)


def _tells_nothing(error: MemoryBankError) -> bool:
    """Of calls something is known also where the bank or the memory is gone, and where its model can't be used."""
    return error.status in (NotFound.status, FailedPrecondition.status)


def _place(one: Operation | Call) -> list[str]:
    identified = one.id if isinstance(one, Call) else one.name.rpartition("/")[2]
    return [one.create_time.isoformat(), identified]
