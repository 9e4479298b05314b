"""A walk through all that changes memories, beside a model of a few dictionaries: they agree after each step."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from adk_memorybank import MemoryBank, MemoryBanks
from adk_memorybank.errors import AlreadyExists, FailedPrecondition, NotFound
from adk_memorybank.options import MemoryOptions
from adk_memorybank.resources import Action
from adk_memorybank.testing import HashEmbedder, ManualClock, ScriptedGenerator

T = TypeVar("T")

SCOPES = [{"user_id": "ada"}, {"user_id": "bob"}, {"app_name": "shop", "user_id": "ada"}]
KEPT = timedelta(hours=48)
"""How long the revisions of a deleted memory stay (reference 5.7)."""
scopes = st.integers(0, len(SCOPES) - 1)
spans = st.sampled_from([timedelta(minutes=1), timedelta(hours=1), timedelta(hours=30), timedelta(hours=50)])


@dataclass
class Revision:
    fact: str
    until: datetime | None = None


@dataclass
class Remembered:
    """A memory of the model, alive or deleted, with its revisions, the oldest first."""

    scope: int
    fact: str
    until: datetime | None = None
    alive: bool = True
    cut: datetime | None = None
    revisions: list[Revision] = field(default_factory=list)

    def visible(self, now: datetime) -> list[str]:
        return [one.fact for one in self.revisions if one.until is None or one.until > now]


class Walk(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.clock = ManualClock()
        self.known: dict[str, Remembered] = {}
        self.count = 0
        self.run(self.open())

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(coroutine)

    async def open(self) -> None:
        self.banks = MemoryBanks(
            f"memorybank:///{self.folder.name}", model=ScriptedGenerator(), embedder=HashEmbedder(), clock=self.clock
        )
        self.bank: MemoryBank = await self.banks.open()

    def teardown(self) -> None:
        self.run(self.banks.close())
        self.runner.close()
        self.folder.cleanup()

    def fresh(self) -> str:
        self.count += 1
        return f"fact{self.count} word{self.count}"

    def living(self, scope: int | None = None) -> dict[str, Remembered]:
        now = self.clock.now()
        return {
            name: one
            for name, one in self.known.items()
            if one.alive and (one.until is None or one.until > now) and scope in (None, one.scope)
        }

    def change(self, one: Remembered, fact: str) -> None:
        one.fact = fact
        one.revisions.append(Revision(fact))

    def remove(self, one: Remembered) -> None:
        limit = self.clock.now() + KEPT
        one.alive = False
        one.cut = limit
        one.revisions.append(Revision(""))
        for revision in one.revisions:
            revision.until = limit if revision.until is None else min(limit, revision.until)

    @rule(scope=scopes, ttl=st.none() | spans)
    def create(self, scope: int, ttl: timedelta | None) -> None:
        fact = self.fresh()
        made = self.run(self.bank.create(scope=SCOPES[scope], fact=fact, options=MemoryOptions(ttl=ttl)))
        until = None if ttl is None else self.clock.now() + ttl
        self.known[made.name] = Remembered(scope, fact, until, revisions=[Revision(fact)])

    @precondition(lambda self: self.living())
    @rule(data=st.data(), never=st.booleans())
    def update(self, data: st.DataObject, never: bool) -> None:
        name = data.draw(st.sampled_from(list(self.living())))
        fact = self.fresh()
        self.run(self.bank.update(name=name, fact=fact, keep_forever=never))
        self.change(self.known[name], fact)
        if never:
            self.known[name].until = None

    @precondition(lambda self: self.living())
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(list(self.living())))
        self.run(self.bank.delete(name=name))
        self.remove(self.known[name])
        with pytest.raises(NotFound):
            self.run(self.bank.get(name=name))

    @rule(scope=scopes, data=st.data())
    def generate(self, scope: int, data: st.DataObject) -> None:
        there = {one.fact: name for name, one in self.living(scope).items()}
        fact = data.draw(st.sampled_from(list(there))) if there and data.draw(st.booleans()) else self.fresh()
        operation = self.run(self.bank.generate(scope=SCOPES[scope], direct_memories=[fact]))
        [change] = operation.generated_memories
        if fact in there:
            assert (change.action, change.memory.name) == (Action.UPDATED, there[fact])
            assert change.previous_revision is not None
            self.change(self.known[change.memory.name], fact)
        else:
            assert (change.action, change.previous_revision) == (Action.CREATED, None)
            self.known[change.memory.name] = Remembered(scope, fact, revisions=[Revision(fact)])

    @precondition(lambda self: any(one.visible(self.clock.now()) for one in self.known.values()))
    @rule(data=st.data())
    def roll_back(self, data: st.DataObject) -> None:
        now = self.clock.now()
        expired = [name for name, one in self.known.items() if one.alive and name not in self.living()]
        names = [name for name, one in self.known.items() if one.visible(now) and name not in expired]
        if not names:
            return
        name = data.draw(st.sampled_from(names))
        one = self.known[name]
        targets = self.run(self.bank.list_revisions(name=name))
        target = data.draw(st.sampled_from(targets))
        if not target.fact:
            with pytest.raises(FailedPrecondition):
                self.run(self.bank.rollback(name=name, target_revision_id=target.name))
            return
        back = self.run(self.bank.rollback(name=name, target_revision_id=target.id))
        assert (back.name, back.fact) == (name, target.fact)
        if not one.alive:
            one.alive = True
            for revision in one.revisions:  # the deletion has left them 48 hours
                if revision.until == one.cut:
                    revision.until = None
        self.change(one, target.fact)

    @precondition(lambda self: self.living())
    @rule(data=st.data(), scope=scopes, of_scope=st.booleans(), force=st.booleans())
    def purge(self, data: st.DataObject, scope: int, of_scope: bool, force: bool) -> None:
        living = self.living()
        if of_scope:
            wanted = {name: one for name, one in living.items() if SCOPES[scope].items() <= SCOPES[one.scope].items()}
            condition = " AND ".join(f'scope.{key}="{value}"' for key, value in SCOPES[scope].items())
        else:
            fact = data.draw(st.sampled_from([one.fact for one in living.values()]))
            wanted = {name: one for name, one in living.items() if one.fact == fact}
            condition = f'fact="{fact}"'
        assert self.run(self.bank.purge(filter=condition, force=force)) == len(wanted)
        if force:
            for one in wanted.values():
                self.remove(one)

    @precondition(lambda self: self.living())
    @rule(data=st.data())
    def take_an_id_again(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(list(self.living())))
        options = MemoryOptions(memory_id=name.rpartition("/")[2])
        with pytest.raises(AlreadyExists):
            self.run(self.bank.create(scope=SCOPES[0], fact="never stored", options=options))

    @rule(span=spans)
    def wait(self, span: timedelta) -> None:
        self.clock.advance(span)

    @rule()
    def restart(self) -> None:
        self.run(self.banks.close())
        self.run(self.open())

    @invariant()
    def they_agree(self) -> None:
        self.run(self.compare())

    async def compare(self) -> None:
        everything: dict[str, str] = {}
        for place, scope in enumerate(SCOPES):
            expected = {name: one.fact for name, one in self.living(place).items()}
            everything |= expected
            assert {one.name: one.fact for one in await self.bank.list(scope=scope)} == expected
            found = await self.bank.retrieve(scope=scope, query="word1", by="distance")
            assert {one.memory.name: one.fact for one in found} == expected
        page, listed = await self.bank.list_page(page_size=3), {}
        listed |= {one.name: one.fact for one in page.items}
        while page.next_page_token:
            page = await self.bank.list_page(page_size=3, page_token=page.next_page_token)
            listed |= {one.name: one.fact for one in page.items}
        assert listed == everything
        now = self.clock.now()
        for name, one in self.known.items():
            if one.alive and name not in everything:
                continue  # it has expired: whether its revisions are still there depends on when that was noticed
            assert [revision.fact for revision in await self.bank.list_revisions(name=name)] == one.visible(now)[::-1]


Walk.TestCase.settings = settings(
    max_examples=20, stateful_step_count=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


class TestWalk(Walk.TestCase):
    pass
