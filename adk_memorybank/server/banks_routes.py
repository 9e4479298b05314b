"""Banks over REST: ReasoningEngines with a memory bank's configuration (reference 4.1)."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request

from adk_memorybank.banks import BankInfo, MemoryBanks
from adk_memorybank.config import ManagedSemanticMemoryConfig
from adk_memorybank.errors import InvalidArgument
from adk_memorybank.paging import decode_token, encode_token, page_limit
from adk_memorybank.resources import bank_name
from adk_memorybank.retrieval.filters import parse_filter
from adk_memorybank.server.access import caller_of
from adk_memorybank.server.answers import BankAnswer, BankPage, OperationAnswer, call_answer
from adk_memorybank.server.masks import Mask, PageSize, PageToken, UpdateMask, read_mask
from adk_memorybank.server.prefixes import CANONICAL, prefix_of
from adk_memorybank.server.requests import BankBody, DeleteBank


def unconditional(request: Request) -> None:
    """Banks are not part of any scope."""
    caller_of(request).check_all()


router = APIRouter(prefix=CANONICAL, tags=["banks"], dependencies=[Depends(unconditional)])

_GIVEN_OUT = {"name", "createTime", "create_time", "updateTime", "update_time", "etag"}
"""Fields of a bank that a client may send back, and that are not its to set."""


def banks_of(request: Request) -> MemoryBanks:
    return request.app.state.banks


@router.post("", operation_id="createReasoningEngine", response_model_exclude_none=True)
async def create_bank(request: Request, body: BankBody | None = None) -> OperationAnswer:
    """Create a bank, with or without a configuration."""
    body = body or BankBody()
    bank = await banks_of(request).create(
        display_name=body.display_name or "",
        description=body.description or "",
        labels=body.labels,
        extra=_extra(body),
        managed_semantic_memory_config=_config(body.config or {}),
    )
    return await _answered(request, bank.name.rpartition("/")[2], "create_bank")


@router.get("", operation_id="listReasoningEngines", response_model_exclude_none=True)
async def list_banks(
    request: Request,
    page_size: PageSize = None,
    page_token: PageToken = None,
    filter: Annotated[str | None, Query(description='Such as `display_name="coffee"`.')] = None,
) -> BankPage:
    """List the banks, in the order of their creation."""
    matches = parse_filter(filter or "", over="banks")
    most, of = page_limit(page_size), repr(("banks", filter or ""))
    after = decode_token(page_token, of=of, like=(str, str))
    found = [bank for bank in await banks_of(request).read_all() if matches(bank)]
    if after is not None:
        found = [bank for bank in found if [bank.create_time.isoformat(), bank.name] > after]
    page = found[:most]
    token = encode_token(_place(page[-1]), of=of) if len(page) < len(found) else None
    prefix = prefix_of(request)
    return BankPage(reasoning_engines=[BankAnswer.of(bank, prefix) for bank in page], next_page_token=token)


@router.get("/{bank_id}", operation_id="getReasoningEngine", response_model_exclude_none=True)
async def get_bank(request: Request, bank_id: str) -> BankAnswer:
    """Get a bank with what is set in its configuration."""
    return BankAnswer.of(await banks_of(request).read(name=bank_name(bank_id)), prefix_of(request))


@router.patch("/{bank_id}", operation_id="updateReasoningEngine", response_model_exclude_none=True)
async def update_bank(
    request: Request, bank_id: str, body: BankBody | None = None, update_mask: UpdateMask = None
) -> OperationAnswer:
    """Change a bank: what the mask names, or without one what the body has. An empty configuration changes nothing."""
    body = body or BankBody()
    banks = banks_of(request)
    before = await banks.read(name=bank_name(bank_id))
    mask = read_mask(update_mask)
    extra = _extra(body)
    changes: dict[str, Any] = {}
    if mask is None:
        changes = {"display_name": body.display_name, "description": body.description, "labels": body.labels}
        changes["extra"] = {**before.extra, **extra} if extra else None
        config = body.config
    else:
        config = _masked(mask, body, before, changes)
    await banks.update(
        name=before.name, managed_semantic_memory_config=None if config is None else _config(config), **changes
    )
    return await _answered(request, bank_id, "update_bank")


@router.delete("/{bank_id}", operation_id="deleteReasoningEngine", response_model_exclude_none=True)
async def delete_bank(
    request: Request, bank_id: str, body: DeleteBank | None = None, force: bool = False
) -> OperationAnswer:
    """Delete a bank; one that holds memories only with `force`."""
    await banks_of(request).delete(name=bank_name(bank_id), force=force or (body is not None and body.force))
    return await _answered(request, bank_id, "delete_bank")


async def _answered(request: Request, bank_id: str, kind: Any) -> OperationAnswer:
    banks, prefix = banks_of(request), prefix_of(request)
    call = await banks.calls.record(bank_id=bank_id, kind=kind)
    if kind == "delete_bank":
        return call_answer(call, prefix)
    return call_answer(call, prefix, subject=BankAnswer.of(await banks.read(name=bank_name(bank_id)), prefix))


def _config(config: dict[str, Any]) -> ManagedSemanticMemoryConfig:
    return ManagedSemanticMemoryConfig.parse(config, field="contextSpec.memoryBankConfig", ignore_unknown=True)


def _extra(body: BankBody) -> dict[str, Any]:
    return {key: value for key, value in (body.model_extra or {}).items() if key not in _GIVEN_OUT}


def _masked(mask: Mask, body: BankBody, before: BankInfo, changes: dict[str, Any]) -> dict[str, Any] | None:
    """Exactly what the mask names: what the body lacks is emptied. Returns the configuration, where it is named."""
    config: dict[str, Any] | None = None
    extra = dict(before.extra)
    given = _extra(body)
    names = mask or {"display_name", "description", "labels", "context_spec"}
    for name in names:
        head, _, rest = name.partition(".")
        if head in ("display_name", "description"):
            changes[head] = getattr(body, head) or ""
        elif head == "labels":
            changes[head] = body.labels or {}
        elif head == "context_spec":
            if rest not in ("", "memory_bank_config"):
                raise InvalidArgument("a configuration is changed as a whole: name `context_spec`", field="updateMask")
            config = body.config or {}
        elif head not in ("name", "etag", "create_time", "update_time"):
            camel = "".join([head.split("_")[0], *(word.capitalize() for word in head.split("_")[1:])])
            for spelling in (head, camel):
                extra.pop(spelling, None)
            extra |= {key: value for key, value in given.items() if key in (head, camel)}
    if not mask:
        extra = given
    changes["extra"] = extra
    return config


def _place(bank: BankInfo) -> list[str]:
    return [bank.create_time.isoformat(), bank.name]
