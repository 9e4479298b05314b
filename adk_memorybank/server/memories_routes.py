"""Memories over REST: written, read, corrected, deleted, and their revisions (reference 4.2)."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from adk_memorybank.bank import MemoryBank
from adk_memorybank.errors import InvalidArgument
from adk_memorybank.resources import CallKind, Memory, MemoryType, bank_name, validate_scope
from adk_memorybank.server.access import caller_of
from adk_memorybank.server.answers import (
    MemoryAnswer,
    MemoryPage,
    OperationAnswer,
    RevisionAnswer,
    RevisionPage,
    call_answer,
)
from adk_memorybank.server.banks_routes import banks_of
from adk_memorybank.server.bodies import JsonRoute
from adk_memorybank.server.masks import PageSize, PageToken, UpdateMask, read_mask
from adk_memorybank.server.prefixes import CANONICAL, prefix_of
from adk_memorybank.server.requests import MemoryBody, RollbackMemory
from adk_memorybank.server.shapes import plain_metadata

router = APIRouter(prefix=f"{CANONICAL}/{{bank_id}}/memories", tags=["memories"], route_class=JsonRoute)

_MEMORY_ID = re.compile(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?")
_UPDATABLE = ("fact", "display_name", "description", "topics", "metadata", "ttl", "expire_time")
_OF_REVISION = ("revision_labels", "revision_ttl", "revision_expire_time", "disable_memory_revisions")
_FIXED = ("scope", "memory_type", "name")
_GIVEN_OUT = ("create_time", "update_time", "structured_content", "context")


async def bank_of(request: Request, bank_id: str) -> MemoryBank:
    """The bank that a request is about."""
    caller_of(request)
    return await banks_of(request).get(name=bank_name(bank_id))


@router.post("", operation_id="createMemory", response_model_exclude_none=True)
async def create_memory(
    request: Request,
    bank_id: str,
    body: MemoryBody,
    memory_id: Annotated[str | None, Query(alias="memoryId", description="1 to 63 of a-z, 0-9 and `-`.")] = None,
) -> OperationAnswer:
    """Store a memory as it stands: nothing is extracted, nothing merged."""
    bank = await bank_of(request, bank_id)
    if body.fact is None:
        raise InvalidArgument("is required", field="fact")
    scope = wanted_scope(request, body.scope)
    if body.memory_type is MemoryType.STRUCTURED_PROFILE:
        raise InvalidArgument("a profile's field is generated: a memory is created with a fact", field="memoryType")
    if memory_id and not _MEMORY_ID.fullmatch(memory_id):
        raise InvalidArgument(
            "has 1 to 63 lower case letters, digits and `-`, begins with a letter and ends with a letter or a digit",
            field="memoryId",
        )
    memory = await bank.create(scope=scope, fact=body.fact, options=body.created(memory_id or None))
    return await _answered(request, bank, "create", memory)


@router.get("", operation_id="listMemories", response_model_exclude_none=True)
async def list_memories(
    request: Request,
    bank_id: str,
    page_size: PageSize = None,
    page_token: PageToken = None,
    filter: Annotated[str | None, Query(description='Such as `scope.user_id="123" AND fact=~".*tea.*"`.')] = None,
    order_by: Annotated[
        str | None, Query(alias="orderBy", description="`create_time` or `update_time`, and `desc`.")
    ] = None,
) -> MemoryPage:
    """List the memories of all scopes, the newest first."""
    bank = await bank_of(request, bank_id)
    caller_of(request).check_all()
    page = await bank.list_page(filter=filter, order_by=order_by, page_size=page_size, page_token=page_token)
    prefix = prefix_of(request)
    memories = [MemoryAnswer.of(memory, prefix) for memory in page.items]
    return MemoryPage(memories=memories, next_page_token=page.next_page_token or None)


@router.get("/{memory_id}", operation_id="getMemory", response_model_exclude_none=True)
async def get_memory(request: Request, bank_id: str, memory_id: str) -> MemoryAnswer:
    """Get a memory."""
    memory = await (await bank_of(request, bank_id)).get(name=memory_id)
    caller_of(request).check(memory.scope)
    return MemoryAnswer.of(memory, prefix_of(request))


@router.patch("/{memory_id}", operation_id="updateMemory", response_model_exclude_none=True)
async def update_memory(
    request: Request, bank_id: str, memory_id: str, body: MemoryBody, update_mask: UpdateMask = None
) -> OperationAnswer:
    """Correct a memory: what the mask names, or without one what the body has. Its scope and type can't be changed."""
    bank = await bank_of(request, bank_id)
    before = await bank.get(name=memory_id)
    caller_of(request).check(before.scope)
    if body.memory_type is not None and body.memory_type is not before.memory_type:
        raise InvalidArgument("the type of a memory can't be changed", field="memoryType")
    if body.scope is not None and validate_scope(body.scope) != before.scope:
        raise InvalidArgument("the scope of a memory can't be changed", field="scope")
    changes = _changes(body, update_mask)
    memory = await bank.update(name=memory_id, revision=body.revision, **changes)
    return await _answered(request, bank, "update", memory)


@router.delete("/{memory_id}", operation_id="deleteMemory", response_model_exclude_none=True)
async def delete_memory(request: Request, bank_id: str, memory_id: str) -> OperationAnswer:
    """Delete a memory. Its revisions can be listed, and rolled back to, for 48 hours."""
    bank = await bank_of(request, bank_id)
    memory = await bank.get(name=memory_id)
    caller_of(request).check(memory.scope)
    await bank.delete(name=memory_id, scope=memory.scope)
    return await _answered(request, bank, "delete", memory)


@router.post("/{memory_id}:rollback", operation_id="rollbackMemory", response_model_exclude_none=True)
async def roll_back_memory(request: Request, bank_id: str, memory_id: str, body: RollbackMemory) -> OperationAnswer:
    """Take a memory back to one of its revisions; a deleted one, too, for 48 hours."""
    bank = await bank_of(request, bank_id)
    caller_of(request).check(await bank.scope_of(name=memory_id))
    memory = await bank.rollback(name=memory_id, target_revision_id=body.target_revision_id)
    return await _answered(request, bank, "rollback", memory)


@router.get("/{memory_id}/revisions", operation_id="listMemoryRevisions", response_model_exclude_none=True)
async def list_revisions(
    request: Request,
    bank_id: str,
    memory_id: str,
    page_size: PageSize = None,
    page_token: PageToken = None,
    filter: Annotated[str | None, Query(description='Such as `labels.data_source="321"`.')] = None,
) -> RevisionPage:
    """List the revisions of a memory, the newest first."""
    bank = await bank_of(request, bank_id)
    caller_of(request).check(await bank.scope_of(name=memory_id))
    page = await bank.list_revisions_page(name=memory_id, filter=filter, page_size=page_size, page_token=page_token)
    prefix = prefix_of(request)
    revisions = [RevisionAnswer.of(revision, prefix) for revision in page.items]
    return RevisionPage(memory_revisions=revisions, next_page_token=page.next_page_token or None)


@router.get("/{memory_id}/revisions/{revision_id}", operation_id="getMemoryRevision", response_model_exclude_none=True)
async def get_revision(request: Request, bank_id: str, memory_id: str, revision_id: str) -> RevisionAnswer:
    """Get a revision of a memory."""
    bank = await bank_of(request, bank_id)
    caller_of(request).check(await bank.scope_of(name=memory_id))
    revision = await bank.get_revision(name=f"{bank.name}/memories/{memory_id}/revisions/{revision_id}")
    return RevisionAnswer.of(revision, prefix_of(request))


def wanted_scope(request: Request, scope: dict[str, str] | None) -> dict[str, str]:
    """The scope of a request, which its caller may read and change.

    Raises:
        InvalidArgument: it is missing, or wrong.
        PermissionDenied: the caller's key is not for it.
    """
    if scope is None:
        raise InvalidArgument("is required", field="scope")
    valid = validate_scope(scope)
    caller_of(request).check(valid)
    return valid


async def _answered(request: Request, bank: MemoryBank, kind: CallKind, memory: Memory) -> OperationAnswer:
    bank_id, prefix = bank.name.rpartition("/")[2], prefix_of(request)
    call = await banks_of(request).calls.record(bank_id=bank_id, kind=kind, memory_id=memory.id, scope=memory.scope)
    return call_answer(call, prefix, subject=None if kind == "delete" else MemoryAnswer.of(memory, prefix))


def _changes(body: MemoryBody, update_mask: list[str] | None) -> dict[str, Any]:
    """The keywords of `bank.update` that a request stands for."""
    mask = read_mask(update_mask)
    if mask is None:
        named = {name for name in _UPDATABLE if name in body.model_fields_set}
    else:
        for name in mask:
            if name not in (*_UPDATABLE, *_OF_REVISION, *_FIXED, *_GIVEN_OUT):
                raise InvalidArgument(f"a memory has no field `{name}`", field="updateMask")
        named = {name for name in _UPDATABLE if name in (mask or _UPDATABLE)}
        if not mask and body.ttl is not None:
            named.discard("expire_time")  # of `*`, the two forms of one thing
    if "ttl" in named and "expire_time" in named and body.ttl is not None and body.expire_time is not None:
        raise InvalidArgument("give either ttl or expireTime", field="ttl")
    if "fact" in named and body.fact is None:
        raise InvalidArgument("is required where the mask names it", field="fact")
    changes: dict[str, Any] = {}
    for name in named & {"fact", "display_name", "description"}:
        changes[name] = getattr(body, name) or ""
    if "topics" in named:
        changes["topics"] = [topic.name for topic in body.topics or ()]
    if "metadata" in named:
        changes["metadata"] = plain_metadata(body.metadata)
    if named & {"ttl", "expire_time"}:
        changes["ttl"] = body.ttl if "ttl" in named else None
        changes["expire_time"] = body.expire_time if "expire_time" in named else None
        changes["keep_forever"] = changes["ttl"] is None and changes["expire_time"] is None
    return changes
