"""ADK sessions over REST: the part of the managed service's Sessions API that `vertexSessionSource` needs."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from adk_memorybank.bank_sessions import BankSessions
from adk_memorybank.errors import InvalidArgument
from adk_memorybank.resources import bank_name, new_id
from adk_memorybank.server.access import caller_of
from adk_memorybank.server.answers import OperationAnswer, OperationMetadata, plain
from adk_memorybank.server.banks_routes import banks_of
from adk_memorybank.server.bodies import JsonRoute
from adk_memorybank.server.masks import PageSize, PageToken, UpdateMask, read_mask
from adk_memorybank.server.prefixes import CANONICAL, prefix_of
from adk_memorybank.server.sessions_shapes import (
    AppendAnswer,
    EventAnswer,
    EventBody,
    EventPage,
    SessionAnswer,
    SessionBody,
    SessionPage,
)
from adk_memorybank.sessions import Session, validate_user_id

router = APIRouter(prefix=f"{CANONICAL}/{{bank_id}}/sessions", tags=["sessions"], route_class=JsonRoute)

_TYPES = "type.googleapis.com/google.cloud.aiplatform.v1beta1"
_EMPTY = "type.googleapis.com/google.protobuf.Empty"
_UPDATABLE = ("display_name", "session_state", "labels", "ttl", "expire_time")
_FIXED = ("name", "user_id", "create_time", "update_time")


@router.post("", operation_id="createSession", response_model_exclude_none=True)
async def create_session(
    request: Request,
    bank_id: str,
    body: SessionBody,
    session_id: Annotated[
        str | None, Query(alias="sessionId", description="1 to 63 letters, digits, `-` and `_`.")
    ] = None,
) -> OperationAnswer:
    """Create a session. The operation has ended when it is answered."""
    sessions = await _sessions_of(request, bank_id)
    if body.user_id is None:
        raise InvalidArgument("is required", field="userId")
    caller_of(request).check({"user_id": validate_user_id(body.user_id)})
    session = await sessions.create(
        user_id=body.user_id,
        session_id=session_id,
        session_state=body.session_state,
        display_name=body.display_name or "",
        labels=body.labels,
        ttl=body.ttl,
        expire_time=body.expire_time,
    )
    response = {"@type": f"{_TYPES}.Session", **plain(SessionAnswer.of(session, prefix_of(request)))}
    return _ended(request, session, "CreateSession", session.create_time, response)


@router.get("", operation_id="listSessions", response_model_exclude_none=True)
async def list_sessions(
    request: Request,
    bank_id: str,
    page_size: PageSize = None,
    page_token: PageToken = None,
    filter: Annotated[str | None, Query(description='Such as `user_id="123"`.')] = None,
    order_by: Annotated[
        str | None, Query(alias="orderBy", description="`create_time` or `update_time`, and `desc`.")
    ] = None,
) -> SessionPage:
    """List the sessions of all users, the newest first."""
    sessions = await _sessions_of(request, bank_id)
    caller_of(request).check_all()
    page = await sessions.list_page(filter=filter, order_by=order_by, page_size=page_size, page_token=page_token)
    prefix = prefix_of(request)
    found = [SessionAnswer.of(session, prefix) for session in page.items]
    return SessionPage(sessions=found, next_page_token=page.next_page_token or None)


@router.get("/{session_id}", operation_id="getSession", response_model_exclude_none=True)
async def get_session(request: Request, bank_id: str, session_id: str) -> SessionAnswer:
    """Get a session, without its events."""
    _, session = await _session_of(request, bank_id, session_id)
    return SessionAnswer.of(session, prefix_of(request))


@router.patch("/{session_id}", operation_id="updateSession", response_model_exclude_none=True)
async def update_session(
    request: Request, bank_id: str, session_id: str, body: SessionBody, update_mask: UpdateMask = None
) -> SessionAnswer:
    """Change a session: what the mask names, or without one what the body has. Its user can't be changed."""
    sessions, _ = await _session_of(request, bank_id, session_id)
    session = await sessions.update(name=session_id, user_id=body.user_id, **_changes(body, update_mask))
    return SessionAnswer.of(session, prefix_of(request))


@router.delete("/{session_id}", operation_id="deleteSession", response_model_exclude_none=True)
async def delete_session(request: Request, bank_id: str, session_id: str) -> OperationAnswer:
    """Delete a session and its events; memories that were generated from it stay."""
    sessions, session = await _session_of(request, bank_id, session_id)
    await sessions.delete(name=session_id)
    return _ended(request, session, "Delete", banks_of(request).engine.clock.now(), {"@type": _EMPTY})


@router.post("/{session_id}:appendEvent", operation_id="appendEvent", response_model_exclude_none=True)
async def append_event(request: Request, bank_id: str, session_id: str, body: EventBody) -> AppendAnswer:
    """Append an event to a session, and apply what it changes in the session's state."""
    sessions, _ = await _session_of(request, bank_id, session_id)
    await sessions.append_event(name=session_id, event=body.given())
    return AppendAnswer()


@router.get("/{session_id}/events", operation_id="listEvents", response_model_exclude_none=True)
async def list_events(
    request: Request,
    bank_id: str,
    session_id: str,
    page_size: PageSize = None,
    page_token: PageToken = None,
    filter: Annotated[str | None, Query(description='Such as `timestamp>="2026-01-01T00:00:00Z"`.')] = None,
    order_by: Annotated[str | None, Query(alias="orderBy", description="`timestamp`, and `desc`.")] = None,
) -> EventPage:
    """List the events of a session in the order of time."""
    sessions, _ = await _session_of(request, bank_id, session_id)
    page = await sessions.list_events_page(
        name=session_id, filter=filter, order_by=order_by, page_size=page_size, page_token=page_token
    )
    prefix = prefix_of(request)
    found = [EventAnswer.of(event, prefix) for event in page.items]
    return EventPage(session_events=found, next_page_token=page.next_page_token or None)


async def _sessions_of(request: Request, bank_id: str) -> BankSessions:
    """The sessions of a bank, which need not be opened for them: its model may not be at hand."""
    caller_of(request)
    banks = banks_of(request)
    await banks.read(name=bank_name(bank_id))
    return BankSessions(banks.engine, bank_id)


async def _session_of(request: Request, bank_id: str, session_id: str) -> tuple[BankSessions, Session]:
    """A session of somebody whose data the caller may read and change."""
    sessions = await _sessions_of(request, bank_id)
    session = await sessions.get(name=session_id)
    caller_of(request).check({"user_id": session.user_id})
    return sessions, session


def _ended(
    request: Request, session: Session, verb: str, moment: datetime, response: dict[str, Any]
) -> OperationAnswer:
    """An operation that has ended. It is not kept: clients that see it ended don't ask again."""
    return OperationAnswer(
        name=prefix_of(request).apply(f"{session.name}/operations/{new_id()}"),
        metadata=OperationMetadata.model_validate(
            {
                "@type": f"{_TYPES}.{verb}OperationMetadata",
                "genericMetadata": {"createTime": moment, "updateTime": moment},
            }
        ),
        done=True,
        response=response,
    )


def _changes(body: SessionBody, update_mask: list[str] | None) -> dict[str, Any]:
    """The keywords of `sessions.update` that a request stands for."""
    mask = read_mask(update_mask)
    if mask is None:
        named = {name for name in _UPDATABLE if name in body.model_fields_set}
    else:
        for name in mask:
            if name not in (*_UPDATABLE, *_FIXED):
                raise InvalidArgument(f"a session has no field `{name}` that could be changed", field="updateMask")
        named = {name for name in _UPDATABLE if name in (mask or _UPDATABLE)}
    emptied: dict[str, Any] = {"display_name": "", "session_state": {}, "labels": {}}
    changes = {name: getattr(body, name) or emptied[name] for name in named & emptied.keys()}
    if named & {"ttl", "expire_time"}:
        changes |= {name: getattr(body, name) if name in named else None for name in ("ttl", "expire_time")}
        changes["keep_forever"] = changes["ttl"] is None and changes["expire_time"] is None
    return changes
