"""Which events are sources of memories and revisions: their text is kept as long as one of these names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import case, null, select, update

from adk_memorybank.resources import Source
from adk_memorybank.storage import records
from adk_memorybank.storage.database import AsyncConnection
from adk_memorybank.storage.schema import events, memories, revisions

Pair = tuple[str, str]
"""A source: session and event id."""


def pairs_of(sources: Sequence[Mapping[str, str]]) -> set[Pair]:
    """Sources as a column holds them, as pairs."""
    return {(source["session_id"], source["event_id"]) for source in sources}


async def cite(connection: AsyncConnection, *, scope_id: int, sources: Sequence[Source]) -> None:
    """Marks events as sources."""
    for source in sources:
        await connection.execute(
            update(events)
            .where(
                events.c.scope_id == scope_id,
                events.c.session_id == source.session_id,
                events.c.event_id == source.event_id,
            )
            .values(cited=1)
        )


async def drop_text_of(
    connection: AsyncConnection, *, scope_id: int, sources: Mapping[str, Sequence[Mapping[str, str]]]
) -> None:
    """Drops the text of events that memories had as sources, by memory, where nothing names them any more.

    What a memory's own revisions name is found by its id. The scope is looked through only for the rest: where there
    are no revisions.
    """
    lost: set[Pair] = set()
    for memory_id, had in sources.items():
        named: set[Pair] = set()
        for table, column in ((memories, memories.c.id), (revisions, revisions.c.memory_id)):
            if pairs_of(had) <= named:
                break
            query = select(table.c.sources).where(table.c.scope_id == scope_id, column == memory_id)
            for kept in (await connection.execute(query)).scalars():
                named |= pairs_of(kept)
        lost |= pairs_of(had) - named
    if not lost:
        return
    lost -= await _named(connection, scope_id)
    stale: list[int] = []
    for session_id, event_id in lost:
        query = select(events.c.id).where(
            events.c.scope_id == scope_id, events.c.session_id == session_id, events.c.event_id == event_id
        )
        stale += (await connection.execute(query)).scalars()
    await _drop(connection, stale)


async def drop_uncited_text(connection: AsyncConnection, *, scope_id: int) -> None:
    """Drops the text of all events of a scope that were sources of what is gone now."""
    live = await _named(connection, scope_id)
    cited = await connection.execute(
        select(events.c.id, events.c.session_id, events.c.event_id).where(
            events.c.scope_id == scope_id, events.c.cited == 1
        )
    )
    await _drop(connection, [row.id for row in cited if (row.session_id, row.event_id) not in live])


async def _named(connection: AsyncConnection, scope_id: int) -> set[Pair]:
    """All that the memories and revisions of a scope name."""
    named: set[Pair] = set()
    for table in (memories, revisions):
        query = select(table.c.sources).where(table.c.scope_id == scope_id)
        for sources in (await connection.execute(query)).scalars():
            named |= pairs_of(sources)
    return named


async def _drop(connection: AsyncConnection, ids: Sequence[int]) -> None:
    # An event that is still to be read keeps its text until then: it came again, or its operation ends just now.
    content = case((events.c.state == "read", null()), else_=events.c.content)
    for page in records.pages(ids):
        await connection.execute(update(events).where(events.c.id.in_(page)).values(cited=0, content=content))
