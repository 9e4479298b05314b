"""Events that wait in their stream until a rule fires: by count, by time, by force, also after a restart."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from adk_memorybank import MemoryBankService
from adk_memorybank.testing import ManualClock, ScriptedGenerator
from tests.integration.stores import (
    APP,
    USER,
    ended_well,
    facts,
    numbered,
    opened,
    rows,
    session,
    settle,
    until,
)


class TestTriggers:
    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    async def _add(self, memory: MemoryBankService, texts: list[str], **metadata: Any) -> None:
        await memory.add_events_to_memory(
            app_name=APP, user_id=USER, session_id="s", events=session(texts).events, custom_metadata=metadata
        )

    def _rule(self, **rule: Any) -> dict[str, Any]:
        return {"generation_rule": rule}

    async def test_by_count(self, tmp_path: Path, clock: ManualClock) -> None:
        generator = ScriptedGenerator()
        said = numbered(7)
        async with opened(tmp_path / "m", generator, clock=clock) as memory:
            for turns in range(1, 8):
                rule = {"generation_trigger_config": self._rule(event_count=3)} if turns == 1 else {}
                await self._add(memory, said[:turns], **rule)
                await memory.flush()
            assert generator.extractions == [said[:3], said[3:6]]
            assert ended_well(await memory.flush(force=True))
            assert await facts(memory) == said
        assert generator.extractions[2] == said[6:]

    async def test_by_idleness(self, tmp_path: Path, clock: ManualClock) -> None:
        generator = ScriptedGenerator()
        async with opened(tmp_path / "m", generator, clock=clock) as memory:
            await self._add(memory, ["a one"], generation_trigger_config=self._rule(idle_duration="60s"))
            clock.advance(timedelta(seconds=50))
            await self._add(memory, ["a one", "b two"])
            clock.advance(timedelta(seconds=50))
            assert rows(tmp_path / "m", "SELECT state FROM events") == [("waiting",)] * 2
            clock.advance(timedelta(seconds=11))
            await until(lambda: generator.extractions)
            await settle(memory)
            assert await facts(memory) == ["a one", "b two"]

    async def test_by_force(self, tmp_path: Path, clock: ManualClock) -> None:
        generator = ScriptedGenerator()
        async with opened(tmp_path / "m", generator, clock=clock) as memory:
            await self._add(memory, ["a one"], generation_trigger_config=self._rule(event_count=10))
            assert await memory.flush() == []
            await self._add(memory, ["a one"], force_flush=True)
            assert ended_well(await memory.flush())
            assert await facts(memory) == ["a one"]

    async def test_a_trigger_survives_a_restart(self, tmp_path: Path, clock: ManualClock) -> None:
        folder = tmp_path / "m"
        async with opened(folder, clock=clock) as memory:
            await self._add(
                memory, ["a one"], generation_trigger_config=self._rule(event_count=2, idle_duration="3600s")
            )
        generator = ScriptedGenerator()
        async with opened(folder, generator, clock=clock) as memory:
            await self._add(memory, ["a one", "b two"])
            assert ended_well(await memory.flush())
            await self._add(memory, ["a one", "b two", "c three"])
        clock.advance(timedelta(hours=2))
        async with opened(folder, generator, clock=clock) as memory:
            await memory.bank()
            await until(lambda: len(generator.extractions) == 2)
            await settle(memory)
            assert await facts(memory) == ["a one", "b two", "c three"]

    async def test_the_banks_rule_says_how_many_events_overlap(self, tmp_path: Path, clock: ManualClock) -> None:
        contexts: list[list[str]] = []

        class Watching(ScriptedGenerator):
            async def extract(self, request: Any) -> Any:
                contexts.append([turn.text for turn in request.turns if not turn.new])
                return await super().extract(request)

        rule = {"event_count": 8, "overlap_event_count": 6}
        config = {"generation_config": {"generation_trigger_config": self._rule(**rule)}}
        said = numbered(16)
        async with opened(tmp_path / "m", Watching(), clock=clock, config=config) as memory:
            for turns in (8, 16):
                await self._add(memory, said[:turns])
                assert ended_well(await memory.flush())
        assert contexts == [[], said[2:8]]

    async def test_forced_in_every_scope_in_which_events_wait(self, tmp_path: Path, clock: ManualClock) -> None:
        folder = tmp_path / "m"
        async with opened(folder, clock=clock) as memory:
            await self._add(memory, ["a one"], generation_trigger_config=self._rule(event_count=10))
        async with opened(folder, clock=clock) as memory:
            assert len(await memory.flush(force=True)) == 1
            assert await facts(memory) == ["a one"]
            assert await memory.flush(force=True) == []

    async def test_the_safety_net_reads_what_no_rule_fires_for(self, tmp_path: Path, clock: ManualClock) -> None:
        generator = ScriptedGenerator()
        async with opened(tmp_path / "m", generator, clock=clock) as memory:
            await self._add(memory, ["a one"], generation_trigger_config=self._rule(event_count=10))
            clock.advance(timedelta(hours=25))
            await until(lambda: generator.extractions)
            await settle(memory)
            assert await facts(memory) == ["a one"]


class TestOperations:
    async def test_facts_that_failed_or_were_cancelled_are_retried(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        faults = [ValueError("no"), ConnectionError("not now")]

        class Faulty(ScriptedGenerator):
            async def consolidate(self, request: Any) -> Any:
                if faults:
                    raise faults.pop(0)
                return await super().consolidate(request)

        async with opened(folder, Faulty()) as memory:
            bank = await memory.bank()
            scope = memory.scope(app_name=APP, user_id=USER)
            failed = await bank.generate(scope=scope, direct_memories=["a one"], wait=False)
            await bank.operations.wait([failed.name])
            waiting = await bank.generate(scope=scope, direct_memories=["b two"], wait=False)
            await until(lambda: not faults)
            await until(lambda: rows(folder, "SELECT 1 FROM operations WHERE attempts = 1 AND state = 'pending'"))
            await bank.operations.cancel(waiting.name)
            for operation in (failed, waiting):
                await bank.operations.retry(operation.name)
                (ended,) = await bank.operations.wait([operation.name])
                assert len(ended.generated_memories) == 1
            assert await facts(memory) == ["a one", "b two"]
            assert rows(folder, "SELECT count(*) FROM operations WHERE direct_memories IS NOT NULL") == [(0,)]

    async def test_more_than_one_statement_takes(self, tmp_path: Path) -> None:
        async with opened(tmp_path / "m") as memory:
            bank = await memory.bank()
            one = await bank.generate(scope={"user_id": "1"}, direct_memories=["a one"])
            two = await bank.generate(scope={"user_id": "1"}, direct_memories=["b two"])
            names = [one.name, *(f"missing-{number}" for number in range(40_000)), two.name]
            assert await bank.operations.wait(names) == [one, two]

    async def test_a_process_that_never_flushes_remembers_few(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("adk_memorybank.service._MOST_NAMES", 10)
        monkeypatch.setattr("adk_memorybank.service._MOST_FAILED", 1)
        script = [ValueError("no"), ValueError("no")]
        async with opened(tmp_path / "m", ScriptedGenerator(script)) as memory:
            for number in range(30):
                await memory.add_session_to_memory(session([f"fact {number}"], session_id=f"s{number}"))
                await settle(memory)
            left = await memory.flush()
            assert len(left) <= 12
            assert sum(operation.error is not None for operation in left) == 1
