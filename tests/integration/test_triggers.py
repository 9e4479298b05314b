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

    async def test_the_safety_net_reads_what_no_rule_fires_for(self, tmp_path: Path, clock: ManualClock) -> None:
        generator = ScriptedGenerator()
        async with opened(tmp_path / "m", generator, clock=clock) as memory:
            await self._add(memory, ["a one"], generation_trigger_config=self._rule(event_count=10))
            clock.advance(timedelta(hours=25))
            await until(lambda: generator.extractions)
            await settle(memory)
            assert await facts(memory) == ["a one"]
