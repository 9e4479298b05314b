"""Sessions that come in another order than they were held in end in the same current facts."""

from __future__ import annotations

import itertools
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from adk_memorybank import MemoryBank, MemoryBanks
from adk_memorybank.storage import wishes
from adk_memorybank.testing import HashEmbedder, ManualClock, ScriptedLlm, temporary_banks
from tests.integration.answering import (
    EXPLICIT,
    PERSONAL,
    SCOPE,
    current,
    day,
    fact,
    facts,
    generate,
    is_consolidation,
    said,
)
from tests.integration.stores import files_with, rows

NOTE = "1 facts older than a wish to forget them were dropped"


async def say(bank: MemoryBank, spoken: list[tuple[int, str]]) -> list[str]:
    for when, text in spoken:
        await generate(bank, said(text, time=day(when)))
    return await current(bank)


@pytest.mark.parametrize(
    ("spoken", "left"),
    [
        (["I live in Rome.", "Forget where I live."], []),
        (["I live in Rome.", "Forget that I live in Rome.", "I like green tea."], ["I like green tea."]),
        (["I live in Rome.", "Forget where I live.", "I live in Milan."], ["I live in Milan."]),
        (["I like sushi.", "My trip to Japan was long.", "Forget my trip to Japan."], ["I like sushi."]),
        (["Abito a Roma.", "Dimentica dove abito."], []),
        (["I live in Rome.", "I like sushi.", "Forget everything about me."], []),
        (["I live in Rome.", "My sister lives in Paris.", "Forget where I live."], ["My sister lives in Paris."]),
        (["I live in Rome.", "Forget my diet."], ["I live in Rome."]),
    ],
)
async def test_in_every_order_without_a_model(spoken: list[str], left: list[str]) -> None:
    for order in itertools.permutations(enumerate(spoken, start=1)):
        async with temporary_banks(model="offline") as banks:
            assert await say(await banks.create(), list(order)) == left, order


async def test_with_a_model() -> None:
    llm = ScriptedLlm(
        [
            facts(fact("where the user lives", EXPLICIT, action="delete")),
            facts(fact("The user lives in Rome.", PERSONAL), fact("The user has a cat.", PERSONAL)),
        ]
    )
    async with temporary_banks(model=lambda: llm, embedder=HashEmbedder()) as banks:
        bank = await banks.create()
        await generate(bank, said("Forget where I live.", time=day(2)))
        operation = await generate(bank, said("I live in Rome and have a cat.", time=day(1)))
        assert await current(bank) == ["The user has a cat."]
        assert operation.notes == [NOTE]
        assert not any(is_consolidation(request) for request in llm.requests)


async def test_what_has_no_time_of_its_own_counts_as_said_when_it_came() -> None:
    async with temporary_banks(model="offline") as banks:
        bank = await banks.create()
        await generate(bank, "Forget where I live.")
        await say(bank, [(1, "I live in Rome.")])
        assert await current(bank) == []
        await generate(bank, "I live in Rome.")
        assert await current(bank) == ["I live in Rome."]


async def test_of_the_wish_no_word_is_kept_and_it_goes_with_the_scope(tmp_path: Path) -> None:
    async with MemoryBanks(f"memorybank:///{tmp_path}", model="offline", embedder=HashEmbedder()) as banks:
        bank = await banks.create()
        await generate(bank, said("Forget that I live in Zanzibar.", time=day(2)))
        assert rows(tmp_path, "SELECT count(*) FROM forget_requests") == [(1,)]
        assert "anzibar" not in str(rows(tmp_path, "SELECT * FROM forget_requests"))
        await bank.forget(scope=SCOPE)
        assert rows(tmp_path, "SELECT count(*) FROM forget_requests") == [(0,)]
        assert files_with(tmp_path, "anzibar") == []
        await say(bank, [(2, "Forget that I live in Zanzibar.")])
        await banks.delete(name=bank.name, force=True)
        assert rows(tmp_path, "SELECT count(*) FROM forget_requests") == [(0,)]


async def test_a_wish_is_kept_for_a_year(tmp_path: Path) -> None:
    clock = ManualClock()
    async with MemoryBanks(f"memorybank:///{tmp_path}", model="offline", embedder=HashEmbedder(), clock=clock) as banks:
        bank = await banks.create()
        await say(bank, [(2, "Forget my trip to Japan.")])
        clock.advance(wishes.KEEP)
        await banks.engine.call(banks.engine._sweep())
        assert rows(tmp_path, "SELECT count(*) FROM forget_requests") == [(1,)]
        clock.advance(timedelta(seconds=1))
        await banks.engine.call(banks.engine._sweep())
        assert rows(tmp_path, "SELECT count(*) FROM forget_requests") == [(0,)]


async def test_what_a_wrong_clock_dates_in_the_future_is_replaced_and_forgotten_like_the_rest() -> None:
    clock = ManualClock()
    schema = {"type": "object", "properties": {"age": {"type": "integer"}}}
    config = {"structured_memory_configs": [{"schema_configs": [{"id": "person", "memory_schema": schema}]}]}
    async with temporary_banks(model="offline", clock=clock) as banks:
        bank = await banks.create(managed_semantic_memory_config=config)

        async def say_now(text: str, *, ahead: timedelta = timedelta()) -> list[str]:
            await generate(bank, said(text, time=clock.now() + ahead))
            clock.advance(timedelta(minutes=1))
            return await current(bank)

        async def ages() -> list[Any]:
            return [one.profile for one in (await bank.retrieve_profiles(scope=SCOPE)).values()]

        wrong = timedelta(days=9_000)
        assert "I live in Rome." in await say_now("I live in Rome.", ahead=wrong)
        await say_now("I'm 42 years old.", ahead=wrong)
        assert await ages() == [{"age": 42}]
        moved = await say_now("I live in Milan now.")
        assert "I live in Rome." not in moved
        assert any("Milan" in one for one in moved)
        await say_now("I'm 43 years old.")
        assert await ages() == [{"age": 43}]
        await generate(bank, said("I live in Oslo.", time=clock.now() - timedelta(days=30)))
        assert not any("Oslo" in one for one in await current(bank)), "what was said before stays older"
        assert not any("live in" in one for one in await say_now("Forget where I live.", ahead=wrong))
        assert "I live in Turin." in await say_now("I live in Turin.")


async def test_a_field_of_a_profile() -> None:
    schema = {"type": "object", "properties": {"age": {"type": "integer"}, "city": {"type": "string"}}}
    config = {
        "structured_memory_configs": [{"schema_configs": [{"id": "person", "memory_schema": schema}]}],
    }
    async with temporary_banks(model="offline") as banks:
        bank = await banks.create(managed_semantic_memory_config=config)
        await say(bank, [(2, "Forget my age."), (1, "I'm 42 years old."), (1, "I live in Rome.")])
        profiles = await bank.retrieve_profiles(scope=SCOPE)
        assert [one.profile for one in profiles.values()] == [{"city": "Rome"}]
