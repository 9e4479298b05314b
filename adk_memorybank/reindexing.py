"""All vectors of a bank made anew, in a new collection beside the one that serves, which it takes the place of."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from adk_memorybank.clock import Clock
from adk_memorybank.errors import Cancelled, FailedPrecondition, MemoryBankError
from adk_memorybank.retrieval.embedders import Embedder
from adk_memorybank.retrieval.reader import ViewReader, write_named
from adk_memorybank.storage import bank_rows, collections, forgetting, records
from adk_memorybank.storage.database import Database
from adk_memorybank.storage.records import FactRow
from adk_memorybank.storage.vectors import Vectors, vector_id

logger = logging.getLogger("google_adk.adk_memorybank.reindexing")

Progress = Callable[[int, int], object]
"""Called with how many vectors were made, and how many there are to make in all."""

PAGE = 256
"""Facts that are read at once."""
AT_ONCE = 32
"""Facts that are embedded at once: a query that comes in between waits for so many at most."""
ROUNDS = 50
"""How often what was written meanwhile is caught up with before the new collection serves all the same."""


class Reindexing:
    """Makes the vectors of banks anew, and removes the collections that are left over.

    For who owns the vectors alone: a spare collection that it does not know itself is one that was left behind.

    Attributes:
        made: by collections, the embedders of those that were made here and serve, or may in a moment.
    """

    def __init__(self, database: Database, reader: ViewReader, clock: Clock) -> None:
        self._database = database
        self._reader = reader
        self._clock = clock
        self._running: dict[str, asyncio.Task[int]] = {}
        self._own: set[str] = set()
        self.made: dict[str, Embedder] = {}

    async def run(self, bank_id: str, embedder: Embedder, vectors: Vectors, *, progress: Progress | None = None) -> int:
        """Makes all vectors of a bank anew.

        Until the end the old collection serves, whatever happens; what was made by a process that died is dropped.

        Returns:
            How many were made.

        Raises:
            NotFound: there is no such bank.
            FailedPrecondition: they are being made anew already.
            Cancelled: the bank was deleted meanwhile, or the store closed.
            MemoryBankError: the embedder can't be used.
        """
        if bank_id in self._running:
            raise FailedPrecondition(f"the vectors of the bank {bank_id!r} are being made anew already")
        task = self._running[bank_id] = asyncio.create_task(self._run(bank_id, embedder, vectors, progress))
        try:
            return await task
        except asyncio.CancelledError:
            raise Cancelled(f"the store was closed before the vectors of the bank {bank_id!r} were made") from None
        finally:
            del self._running[bank_id]

    async def _run(self, bank_id: str, embedder: Embedder, vectors: Vectors, progress: Progress | None) -> int:
        name = collections.new_name(bank_id)
        self._own.add(name)
        await self._drop_spare(vectors, bank_id)
        async with self._database.write() as connection:
            await bank_rows.get_bank(connection, bank_id=bank_id)
            await collections.set_spare(connection, bank_id=bank_id, name=name)
        logger.info("the vectors of the bank %s are made anew by %s", bank_id, embedder.name)
        build = _Build(self._database, vectors, bank_id, name, embedder, progress)
        try:
            await build.everything()
            await self._swap(build, embedder)
        except BaseException:
            await self._tidy(self._clear(vectors, bank_id, name))
            raise
        self._reader.drop(bank_id=bank_id)
        await self._tidy(self._drop_spare(vectors, bank_id))
        await self._tidy(self.drop_unnamed(vectors))
        logger.info("%d vectors of the bank %s were made anew", build.made, bank_id)
        return build.made

    async def _swap(self, build: _Build, embedder: Embedder) -> None:
        """Lets the new collection serve, in a transaction before which nothing has changed that it does not have."""
        for left in range(ROUNDS, -1, -1):
            await build.changes()
            async with self._database.write() as connection:
                state = await collections.state_of_scopes(connection, bank_id=build.bank_id)
                if state != build.state and left:
                    continue
                self.made[build.name] = embedder
                await collections.swap(
                    connection,
                    bank_id=build.bank_id,
                    name=build.name,
                    embedder=embedder.name,
                    dimension=embedder.dimension or None,
                    now=self._clock.now(),
                )
            if state != build.state:
                await build.changes()
            return

    async def drop_spares(self, vectors: Vectors) -> None:
        """Removes the spare collections that were not made here: a process that died has left them.

        One that was made here may serve by the time that this comes to it.
        """
        async with self._database.read() as connection:
            left = await collections.spares(connection)
        for bank_id, name in left.items():
            if name not in self._own:
                await self._drop(vectors, bank_id, name)

    async def _clear(self, vectors: Vectors, bank_id: str, name: str) -> None:
        """Removes what is not used of a collection that could not be made, or of the one before it."""
        async with self._database.read() as connection:
            present = await collections.of_bank(connection, bank_id=bank_id)
        if name in present:
            await self._drop_spare(vectors, bank_id)
        else:
            await vectors.drop(name)

    async def _drop_spare(self, vectors: Vectors, bank_id: str) -> None:
        async with self._database.read() as connection:
            name = (await collections.spares(connection)).get(bank_id)
        if name is not None:
            await self._drop(vectors, bank_id, name)

    async def _drop(self, vectors: Vectors, bank_id: str, name: str) -> None:
        await vectors.drop(name)
        self.made.pop(name, None)
        async with self._database.write() as connection:
            await collections.spare_is_gone(connection, bank_id=bank_id, name=name)

    async def drop_unnamed(self, vectors: Vectors) -> None:
        """Removes the collections that no bank names: those of banks that are gone."""
        there = await vectors.names()
        async with self._database.read() as connection:  # afterwards: one that was made meanwhile is named by now
            named = await collections.named(connection)
        for name in sorted(there - named):
            if name.startswith(collections.PREFIX):
                await vectors.drop(name)

    async def _tidy(self, work: Coroutine[Any, Any, None]) -> None:
        """Removes what is left over; where that fails it is left for the next start."""
        try:
            await work
        except MemoryBankError as error:
            logger.warning("vectors that are not used any more are removed later: %s", error)

    async def stop(self) -> None:
        """Ends what runs: what served goes on to serve."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def remove_noted(database: Database, vectors: Vectors) -> None:
    """Removes the vectors that the records have noted, from all collections of their banks."""
    while True:
        async with database.read() as connection:
            notes = await forgetting.take_dropped_vectors(connection)
        if not notes:
            return
        for bank_id, dropped in notes.items():
            async with database.read() as connection:
                holding = await collections.of_bank(connection, bank_id=bank_id)
            for collection in holding:
                await vectors.remove(collection, list(dropped))
            async with database.write() as connection:
                await forgetting.vectors_were_dropped(connection, notes=list(dropped.values()))


class _Build:
    """The new collection of one bank.

    Attributes:
        made: how many vectors were made.
        state: of the scopes when the latest round began: all that had changed until then is in the collection.
    """

    def __init__(
        self,
        database: Database,
        vectors: Vectors,
        bank_id: str,
        name: str,
        embedder: Embedder,
        progress: Progress | None,
    ) -> None:
        self.bank_id = bank_id
        self.name = name
        self.made = 0
        self.state = (0, 0)
        self._database = database
        self._vectors = vectors
        self._embedder = embedder
        self._progress = progress
        self._versions: dict[int, int] = {}
        self._total = 0

    async def everything(self) -> None:
        """Makes the vectors of all facts, page by page."""
        await self._look()
        async with self._database.read() as connection:
            self._total = await records.count_facts(connection, bank_id=self.bank_id)
        last = ""
        while True:
            async with self._database.read() as connection:
                facts = await records.page_facts(connection, bank_id=self.bank_id, after=last, most=PAGE)
            if not facts:
                return
            await self._make(facts)
            last = facts[-1].id

    async def changes(self) -> None:
        """Makes the vectors that are missing of scopes that have changed since the last look."""
        before = self._versions
        await self._look()
        for scope_id, version in self._versions.items():
            if before.get(scope_id) == version:
                continue
            async with self._database.read() as connection:
                listed = await records.list_fact_versions(connection, scope_id=scope_id)
            names = {vector_id(memory_id, fact_version): memory_id for memory_id, fact_version, _ in listed}
            there = await self._vectors.present(self.name, list(names))
            missing = [memory_id for name, memory_id in names.items() if name not in there]
            for start in range(0, len(missing), PAGE):
                async with self._database.read() as connection:
                    page = missing[start : start + PAGE]
                    facts = await records.read_facts(connection, bank_id=self.bank_id, ids=page)
                await self._make(facts)

    async def _look(self) -> None:
        async with self._database.read() as connection:
            self.state = await collections.state_of_scopes(connection, bank_id=self.bank_id)
            self._versions = await collections.versions_of_scopes(connection, bank_id=self.bank_id)

    async def _make(self, facts: Sequence[FactRow]) -> None:
        for start in range(0, len(facts), AT_ONCE):
            some = facts[start : start + AT_ONCE]
            async with self._database.read() as connection:
                await collections.check(connection, bank_id=self.bank_id, name=self.name)
            rows = await self._embedder.embed([fact.fact for fact in some])
            await write_named(
                self._database,
                self._vectors,
                bank_id=self.bank_id,
                collection=self.name,
                vectors={vector_id(fact.id, fact.fact_version): rows[row] for row, fact in enumerate(some)},
            )
            self.made += len(some)
            if self._progress is not None:
                self._progress(self.made, max(self.made, self._total))
