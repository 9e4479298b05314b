"""What a bank does with its memories over REST: generate, ingest, retrieve, purge (reference 4.2)."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from adk_memorybank.config import GenerationTriggerConfig
from adk_memorybank.errors import InvalidArgument
from adk_memorybank.events import Event, read_events
from adk_memorybank.paging import MAX_PAGE
from adk_memorybank.server.access import caller_of
from adk_memorybank.server.answers import (
    OperationAnswer,
    ProfilesAnswer,
    RetrievedPage,
    call_answer,
    operation_answer,
)
from adk_memorybank.server.banks_routes import banks_of
from adk_memorybank.server.bodies import JsonRoute
from adk_memorybank.server.memories_routes import bank_of, wanted_scope
from adk_memorybank.server.prefixes import CANONICAL, prefix_of
from adk_memorybank.server.requests import (
    DirectContents,
    GenerateMemories,
    IngestEvents,
    PurgeMemories,
    RetrieveMemories,
    RetrieveProfiles,
)

router = APIRouter(prefix=f"{CANONICAL}/{{bank_id}}/memories", tags=["memories"], route_class=JsonRoute)

_TOP_K = 3
"""Memories that a similarity search returns by default (reference 5.8)."""


@router.post(":generate", operation_id="generateMemories", response_model_exclude_none=True)
async def generate(request: Request, bank_id: str, body: GenerateMemories) -> OperationAnswer:
    """Generate memories from a conversation, a stored session or facts. Answers at once, with an operation to poll."""
    bank = await bank_of(request, bank_id)
    sources = (body.direct_contents_source, body.vertex_session_source, body.direct_memories_source)
    if sum(source is not None for source in sources) != 1:
        raise InvalidArgument(
            "give exactly one of directContentsSource, vertexSessionSource and directMemoriesSource",
            field="directContentsSource",
        )
    options: dict[str, Any] = {"options": body.options, "wait": False}
    if body.vertex_session_source is not None:
        source = body.vertex_session_source
        user_id = await bank.sessions.user_of(name=source.session)
        caller_of(request).check({"user_id": user_id})  # a scope of one's own is no right to another's session
        scope = wanted_scope(request, body.scope or {"user_id": user_id})
        operation = await bank.generate(
            scope=scope, session=source.session, start_time=source.start_time, end_time=source.end_time, **options
        )
    elif body.direct_memories_source is not None:
        scope = wanted_scope(request, body.scope)
        facts = [
            {"fact": one.fact, "topics": [{"custom_memory_topic_label": topic.name} for topic in one.topics or ()]}
            for one in body.direct_memories_source.direct_memories
        ]
        operation = await bank.generate(scope=scope, direct_memories=facts, **options)
    else:
        scope = wanted_scope(request, body.scope)
        events = _events(body.direct_contents_source)
        operation = await bank.generate(scope=scope, events=events, **options)
    return operation_answer(operation, prefix_of(request))


@router.post(":ingestEvents", operation_id="ingestEvents", response_model_exclude_none=True)
async def ingest_events(request: Request, bank_id: str, body: IngestEvents) -> OperationAnswer:
    """Take events into a stream, which is read when its trigger fires. Its calls share one operation until then."""
    bank = await bank_of(request, bank_id)
    trigger = None
    if body.generation_trigger_config is not None:
        trigger = GenerationTriggerConfig.parse(
            body.generation_trigger_config, field="generationTriggerConfig", ignore_unknown=True
        )
    call = await bank.ingest(
        scope=wanted_scope(request, body.scope),
        events=_events(body.direct_contents_source),
        stream_id=body.stream_id,
        generation_trigger_config=trigger,
        force_flush=body.force_flush,
        options=body.options,
    )
    return call_answer(call, prefix_of(request))


@router.post(":retrieve", operation_id="retrieveMemories", response_model_exclude_none=True)
async def retrieve(request: Request, bank_id: str, body: RetrieveMemories) -> RetrievedPage:
    """Retrieve memories of exactly one scope, by distance from a query or all of them."""
    bank = await bank_of(request, bank_id)
    scope, prefix = wanted_scope(request, body.scope), prefix_of(request)
    which: dict[str, Any] = {
        "filter": body.filter,
        "filter_groups": body.filter_groups,
        "memory_types": [kind for kind in body.memory_types or () if kind is not None],
    }
    similar, simple = body.similarity_search_params, body.simple_retrieval_params
    if similar is not None and simple is not None:
        raise InvalidArgument(
            "give either similaritySearchParams or simpleRetrievalParams", field="similaritySearchParams"
        )
    if similar is not None:
        top_k = min(similar.top_k or _TOP_K, MAX_PAGE)
        found = await bank.retrieve(scope=scope, query=similar.search_query, top_k=top_k, by="distance", **which)
        return RetrievedPage.of(found, prefix)
    if simple is not None:
        page = await bank.retrieve_page(scope=scope, page_size=simple.page_size, page_token=simple.page_token, **which)
        return RetrievedPage.of(page.items, prefix, token=page.next_page_token)
    # One page without a token: the official client can't follow one here.
    return RetrievedPage.of(await bank.retrieve(scope=scope, **which), prefix)


@router.post(":retrieveProfiles", operation_id="retrieveProfiles", response_model_exclude_none=True)
async def retrieve_profiles(request: Request, bank_id: str, body: RetrieveProfiles) -> ProfilesAnswer:
    """Retrieve the profiles of exactly one scope."""
    bank = await bank_of(request, bank_id)
    return ProfilesAnswer.of(await bank.retrieve_profiles(scope=wanted_scope(request, body.scope)))


@router.post(":purge", operation_id="purgeMemories", response_model_exclude_none=True)
async def purge(request: Request, bank_id: str, body: PurgeMemories) -> OperationAnswer:
    """Delete the memories that match, of all scopes; without `force` they are only counted."""
    bank = await bank_of(request, bank_id)
    caller_of(request).check_all()
    count = await bank.purge(filter=body.filter, filter_groups=body.filter_groups, force=body.force)
    call = await banks_of(request).calls.record(bank_id=bank_id, kind="purge", count=count)
    return call_answer(call, prefix_of(request))


def _events(source: DirectContents | None) -> list[Event]:
    given = [] if source is None else source.events
    return read_events([dict(event) for event in given], path="directContentsSource.events")
