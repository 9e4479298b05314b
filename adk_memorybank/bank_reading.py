"""What a bank tells: its memories, found, listed and looked up, their revisions, profiles and scopes."""

from __future__ import annotations

import logging
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from adk_memorybank.arguments import check_search, matching, valid_types
from adk_memorybank.engine import Engine
from adk_memorybank.errors import NotFound, Unavailable
from adk_memorybank.generation import dates
from adk_memorybank.generation.words import detect
from adk_memorybank.memories import Matches, Memories
from adk_memorybank.paging import Page, decode_token, encode_token, page_limit, parse_order
from adk_memorybank.parts import BankParts
from adk_memorybank.resources import (
    Memory,
    MemoryProfile,
    MemoryRevision,
    MemoryType,
    RetrievedMemory,
    Scope,
    canonical_scope,
    clean_text,
    id_in,
    validate_scope,
)
from adk_memorybank.retrieval.ranking import Order
from adk_memorybank.retrieval.search import Search
from adk_memorybank.storage import records
from adk_memorybank.storage.collections import CollectionChanged

logger = logging.getLogger("google_adk.adk_memorybank.bank")

T = TypeVar("T")

_SEARCHES = 5
"""How often a search begins again because the vectors were made anew meanwhile."""
_RETRIEVED = 3
"""Memories on a page that is retrieved without a query, by default (reference 5.8)."""


class BankReading:
    """The reading half of `MemoryBank`."""

    def __init__(self, engine: Engine, bank_id: str, parts: BankParts) -> None:
        self._engine = engine
        self._id = bank_id
        self._opened = parts
        self._memories = Memories(engine, bank_id)
        self._told_empty: set[str] = set()

    @property
    def _parts(self) -> BankParts:
        """As they are now: another handle may have changed the bank since."""
        return self._engine.parts_now(self._id) or self._opened

    async def get(self, *, name: str) -> Memory:
        """One memory, by its name or id.

        Raises:
            NotFound: there is none, or it has expired.
        """
        return await self._call(self._memories.get(id_in(self._id, name)))

    async def list(self, *, scope: Mapping[str, str] | None = None) -> list[Memory]:
        """All memories of the bank, or of one scope, the newest first."""
        valid = None if scope is None else validate_scope(scope)
        return [*await self._call(self._memories.list(valid))]

    async def list_page(
        self,
        *,
        filter: str | None = None,
        order_by: str | None = None,
        page_size: int | None = None,
        page_token: str | None = None,
    ) -> Page[Memory]:
        """A page of all memories of the bank, of every scope and type; the newest first.

        Args:
            filter: as `filters.parse_filter` reads it.
            order_by: `create_time` or `update_time`, with `desc` for the newest first.
            page_size: a hundred by default, and at most.

        Raises:
            InvalidArgument: naming the field.
        """
        from adk_memorybank.retrieval.filters import parse_filter

        matches = parse_filter(filter or "", over="memories")
        order = parse_order(order_by)
        most = page_limit(page_size)
        of = repr(("memories", self._id, order.field, order.descending, filter or ""))
        after = decode_token(page_token, of=of, like=(int, str))
        memories, place = await self._call(
            self._memories.page(matches, by=order.field, descending=order.descending, after=after, most=most)
        )
        return Page([*memories], "" if place is None else encode_token(place, of=of))

    async def list_revisions(self, *, name: str) -> list[MemoryRevision]:
        """The revisions of a memory, the newest first."""
        found = await self._call(
            self._memories.page_revisions(id_in(self._id, name), lambda _: True, after=None, most=None)
        )
        return [*found[0]]

    async def list_revisions_page(
        self, *, name: str, filter: str | None = None, page_size: int | None = None, page_token: str | None = None
    ) -> Page[MemoryRevision]:
        """A page of the revisions of a memory, the newest first.

        Raises:
            NotFound: there is no such memory, and no revision of one that was deleted.
            InvalidArgument: naming the field.
        """
        from adk_memorybank.retrieval.filters import parse_filter

        memory_id = id_in(self._id, name)
        matches = parse_filter(filter or "", over="revisions")
        most = page_limit(page_size)
        of = repr(("revisions", self._id, memory_id, filter or ""))
        after = decode_token(page_token, of=of, like=(int,))
        await self.scope_of(name=memory_id)
        found, place = await self._call(
            self._memories.page_revisions(memory_id, matches, after=None if after is None else after[0], most=most)
        )
        return Page([*found], "" if place is None else encode_token([place], of=of))

    async def scope_of(self, *, name: str) -> Scope:
        """The scope of a memory, also of a deleted one as long as there are revisions of it.

        Raises:
            NotFound: there is no such memory.
        """
        return await self._call(self._memories.scope_of(id_in(self._id, name)))

    async def get_revision(self, *, name: str) -> MemoryRevision:
        """One revision, by its full name.

        Raises:
            NotFound: there is none, or it has expired.
        """
        memory, _, revision_id = name.partition("/revisions/")
        for revision in await self.list_revisions(name=memory):
            if revision.id == revision_id:
                return revision
        raise NotFound(f"the memory {id_in(self._id, memory)!r} has no revision {revision_id!r}")

    async def retrieve(
        self,
        *,
        scope: Mapping[str, str],
        query: str | None = None,
        top_k: int | None = None,
        by: Order = "fused",
        filter: str | None = None,
        filter_groups: Sequence[Any] | None = None,
        memory_types: Sequence[MemoryType | str] | None = None,
    ) -> list[RetrievedMemory]:
        """Memories of exactly this scope.

        Args:
            query: what they are ranked by; without it all come, the newest first.
            top_k: at most so many.
            by: `fused` by meaning and words together, `distance` by meaning alone, `words` by words alone: the only
                way that works while another process owns the store.
            filter, filter_groups: which of them may be found at all.
            memory_types: facts by default. The fields of profiles, which a query can't rank, come after the facts.

        Raises:
            InvalidArgument: naming the field.
            StoreInUse: the vectors are needed, and another process owns them.
        """
        valid = validate_scope(scope)
        check_search(query=query, top_k=top_k, by=by)
        types = valid_types(memory_types)
        matches = matching(filter, filter_groups, over="retrieved")

        async def retrieve() -> list[RetrievedMemory]:
            if query is None:
                listed = await self._memories.list(valid, memory_types=types)
                return _unranked(listed, matches)[:top_k]
            found: list[RetrievedMemory] | None = []
            if MemoryType.NATURAL_LANGUAGE_COLLECTION in types:
                if by != "words":
                    await self._engine.need_vectors()
                said, now = clean_text(query), self._engine.clock.now()
                dated = dates.resolve(said, now, detect(said))
                search = Search(query=said, words=dated, top_k=top_k, by=by, now=now, matches=matches)
                found = await self._search(search, valid)
                if found is None:
                    await self._tell_empty(valid)
                    return []
            if MemoryType.STRUCTURED_PROFILE in types:
                fields = await self._memories.list(valid, memory_types=[MemoryType.STRUCTURED_PROFILE])
                found = [*found, *_unranked(fields, matches)]
            return found[:top_k]

        return await self._call(retrieve())

    async def retrieve_page(
        self,
        *,
        scope: Mapping[str, str],
        page_size: int | None = None,
        page_token: str | None = None,
        filter: str | None = None,
        filter_groups: Sequence[Any] | None = None,
        memory_types: Sequence[MemoryType | str] | None = None,
    ) -> Page[RetrievedMemory]:
        """A page of the memories of exactly this scope, the newest first; three by default, as the managed service.

        Raises:
            InvalidArgument: naming the field.
        """
        valid = validate_scope(scope)
        types = valid_types(memory_types)
        matches = matching(filter, filter_groups, over="retrieved")
        most = page_limit(page_size, default=_RETRIEVED)
        of = repr(("retrieved", self._id, canonical_scope(valid), filter or "", filter_groups or [], sorted(types)))
        after = decode_token(page_token, of=of, like=(int, str))
        memories, place = await self._call(
            self._memories.page(matches or _any, scope=valid, memory_types=types, after=after, most=most)
        )
        return Page(_unranked(memories, None), "" if place is None else encode_token(place, of=of))

    async def retrieve_profiles(self, *, scope: Mapping[str, str]) -> dict[str, MemoryProfile]:
        """The profiles of exactly this scope, by the ids of their schemas.

        Only schemas that the configuration has for this scope, and only those of which anything is known.
        """
        return await self._call(self._memories.profiles(validate_scope(scope)))

    async def list_scopes(self) -> list[Scope]:
        """The scopes that this bank holds anything of."""

        async def listed() -> list[Scope]:
            async with self._engine.database.read() as connection:
                return [row.pairs for row in await records.list_scopes(connection, bank_id=self._id)]

        return await self._call(listed())

    async def waiting_scopes(self) -> list[Scope]:
        """The scopes in whose streams events wait for their trigger."""
        return await self._call(self._engine.streams.waiting_scopes(bank_id=self._id))

    async def _search(self, search: Search, scope: Scope) -> list[RetrievedMemory] | None:
        """What `Searcher.search` finds by the bank's embedder, also where its vectors are made anew meanwhile."""
        parts = self._parts
        for _ in range(_SEARCHES):
            try:
                return await self._engine.searcher.search(
                    search, bank_id=self._id, scope=scope, embedder=parts.embedder, collection=parts.collection
                )
            except CollectionChanged:
                if search.by != "words":
                    parts = await self._engine.newest_parts(self._id)
        raise Unavailable("the vectors of the bank were made anew each time while it was searched")

    async def _tell_empty(self, scope: Scope) -> None:
        """Says once which scopes share a value with an empty one: app names differ between `adk web` and AdkApp."""
        canonical = canonical_scope(scope)
        if canonical in self._told_empty:
            return
        self._told_empty.add(canonical)
        async with self._engine.database.read() as connection:
            rows = await records.list_scopes(connection, bank_id=self._id)
        # Of another user of the same app nothing is said: the user is what tells scopes apart.
        wanted = {"user_id": scope["user_id"]} if "user_id" in scope else scope
        near = [row.pairs for row in rows if set(row.pairs.items()) & set(wanted.items())]
        if near:
            logger.info("nothing is remembered for %s; near it there are %s", scope, near[:10])

    def _call(self, coroutine: Coroutine[Any, Any, T]) -> Coroutine[Any, Any, T]:
        return self._engine.call(coroutine)


def _unranked(memories: Sequence[Memory], matches: Matches | None) -> list[RetrievedMemory]:
    return [RetrievedMemory(memory=memory) for memory in memories if matches is None or matches(memory)]


def _any(_memory: Memory) -> bool:
    return True
