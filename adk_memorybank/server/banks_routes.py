"""Banks over REST: ReasoningEngines with a memory bank's configuration (reference 4.1)."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from pydantic.alias_generators import to_camel, to_snake

from adk_memorybank.banks import BankInfo, MemoryBanks
from adk_memorybank.config import ManagedSemanticMemoryConfig, set_fields
from adk_memorybank.errors import InvalidArgument
from adk_memorybank.paging import decode_token, encode_token, page_limit
from adk_memorybank.resources import bank_name
from adk_memorybank.retrieval.filters import parse_filter
from adk_memorybank.server.access import caller_of
from adk_memorybank.server.answers import BankAnswer, BankPage, OperationAnswer, call_answer
from adk_memorybank.server.bodies import JsonRoute
from adk_memorybank.server.masks import Mask, PageSize, PageToken, UpdateMask, read_mask
from adk_memorybank.server.prefixes import CANONICAL, prefix_of
from adk_memorybank.server.requests import BankBody, DeleteBank


def unconditional(request: Request) -> None:
    """Banks are not part of any scope."""
    caller_of(request).check_all()


router = APIRouter(prefix=CANONICAL, tags=["banks"], dependencies=[Depends(unconditional)], route_class=JsonRoute)

_OURS = {to_camel(name) for name in BankAnswer.model_fields}
"""Fields of a bank that this server reads or gives out; all others are kept as they came."""


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
    """The other fields, under the names by which they are answered."""
    named = {to_camel(key) if "_" in key else key: value for key, value in (body.model_extra or {}).items()}
    return {name: value for name, value in named.items() if name not in _OURS}


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
            config = _masked_config(rest, body, before, config)
        elif head not in ("name", "etag", "create_time", "update_time"):
            field = to_camel(head)
            extra.pop(field, None)
            extra |= {field: given[field]} if field in given else {}
    if not mask:
        extra = given
    changes["extra"] = extra
    return config


def _masked_config(path: str, body: BankBody, before: BankInfo, config: dict[str, Any] | None) -> dict[str, Any]:
    """The configuration with what a path below `context_spec` names; `config` is what other paths have made of it."""
    given = {_part(name): value for name, value in (body.config or {}).items()}
    if path in ("", "memory_bank_config"):
        return given
    parent, _, name = path.partition(".")
    if parent != "memory_bank_config" or _part(name) not in map(_part, ManagedSemanticMemoryConfig.model_fields):
        raise InvalidArgument(f"there is no `context_spec.{path}` that could be changed alone", field="updateMask")
    if config is None:
        config = {_part(name): value for name, value in set_fields(before.config).items()}
    config.pop(_part(name), None)
    return config | {part: value for part, value in given.items() if part == _part(name)}


def _part(name: str) -> str:
    """A field of the configuration in one spelling."""
    snake = to_snake(name)
    return "unstructured_memory_configs" if snake == "customization_configs" else snake


def _place(bank: BankInfo) -> list[str]:
    return [bank.create_time.isoformat(), bank.name]
