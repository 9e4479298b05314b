"""What was said around a fact helps to find it: kept as numbers of words beside the memory, and gone with it."""

from __future__ import annotations

import zlib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adk_memorybank import MemoryBankService
from adk_memorybank.testing import ManualClock
from tests.adk import WHO, event, service_in, session, texts
from tests.integration.stores import rows


def contexts(folder: Path) -> dict[str, set[int]]:
    """The facts, with the words of their context as numbers."""
    found = rows(folder / "memory", "SELECT fact, context FROM memories")
    return {
        fact: set()
        if context is None
        else {int.from_bytes(context[at : at + 4], "little") for at in range(0, len(context), 4)}
        for fact, context in found
    }


def number(word: str) -> int:
    return zlib.crc32(word.encode())


async def remember(service: MemoryBankService, *said: tuple[str, str], id: str = "s") -> None:
    events = [event(text, author=author, id=f"{id}-{place}") for place, (author, text) in enumerate(said)]
    await service.add_session_to_memory(session(*events, id=id))
    await service.flush()


async def test_a_question_by_the_words_of_what_was_asked(tmp_path: Path) -> None:
    async with service_in(tmp_path) as service:
        await remember(
            service,
            ("agent", "And which instrument do you play?"),
            ("user", "Cello since childhood."),
            ("agent", "Where do you spend the summer?"),
            ("user", "Always by a lake."),
        )
        found = await service.search_memory(**WHO, query="Which instrument?")
        assert texts(found)[0] == "Cello since childhood."
        assert contexts(tmp_path)["Cello since childhood."] >= {number("instrument"), number("cello")}
        assert number("summer") not in contexts(tmp_path)["Cello since childhood."]


NOON = datetime(2026, 5, 6, 12, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("I went for a swim in the lake.", "Anything from 5 May 2026?"),
        ("I went for a swim in the lake.", "And on 2026-05-05?"),
        ("I went for a swim in the lake.", "What did I do yesterday?"),
        ("Ho fatto una nuotata nel lago.", "Che cosa ho fatto il 5 maggio?"),
        ("Ho fatto una nuotata nel lago.", "Che cosa ho fatto ieri?"),
        ("Ich bin im See geschwommen.", "Was habe ich gestern gemacht?"),
        ("湖で泳ぎました。", "昨日は何をしましたか"),
        ("湖で泳ぎました。", "5月5日は何をしましたか"),
    ],
)
async def test_a_question_by_the_day(tmp_path: Path, said: str, query: str) -> None:
    async with service_in(tmp_path, clock=ManualClock(NOON)) as service:
        others = [
            "I cleaned the old stove.",
            "I baked bread for Ana.",
            "I repaired the bicycle.",
            "I played some cards.",
        ]
        days = [(5, 5), (4, 5), (5, 4), (3, 6), (5, 3)]
        for (month, day), text in zip(days, [said, *others], strict=True):
            time = datetime(2026, month, day, 9, tzinfo=UTC).timestamp()
            await service.add_session_to_memory(session(event(text, time=time), id=text))
        await service.flush()
        assert texts(await service.search_memory(**WHO, query=query))[0] == said


async def test_it_stays_with_a_restart_a_correction_and_what_is_said_again(tmp_path: Path) -> None:
    async with service_in(tmp_path) as service:
        await remember(service, ("agent", "Which instrument do you play?"), ("user", "Cello since childhood."))
        bank = await service.bank()
        [memory] = await bank.list()
        await bank.update(name=memory.name, fact="Cello for thirty years.")
    async with service_in(tmp_path) as service:
        assert contexts(tmp_path)["Cello for thirty years."] >= {number("instrument")}
        await remember(service, ("agent", "What hobby?"), ("user", "Cello for thirty years."), id="t")
        [words] = contexts(tmp_path).values()
        assert words >= {number("instrument"), number("hobby")}


async def test_nothing_of_a_turn_with_a_secret(tmp_path: Path) -> None:
    async with service_in(tmp_path) as service:
        await remember(
            service, ("user", "My password is Hunter2Hunter2, mind."), ("user", "I play the cello every day.")
        )
        kept = contexts(tmp_path)["I play the cello every day."]
        assert number("cello") in kept
        assert not kept & {number("hunter2hunter2"), number("password")}


async def test_a_memory_that_was_given_has_none(tmp_path: Path) -> None:
    async with service_in(tmp_path) as service:
        bank = await service.bank()
        await bank.create(scope=WHO, fact="I play the cello.")
        assert contexts(tmp_path) == {"I play the cello.": set()}
        assert texts(await service.search_memory(**WHO, query="cello")) == ["I play the cello."]
