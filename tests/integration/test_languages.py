"""Memories in many languages are found by their own words, and by meaning where the embedder knows the language."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest

from adk_memorybank import MemoryBankService
from tests.adk import entry, event, session, texts

FACTS = {
    "en": ["I am allergic to peanuts.", "I live in Boston.", "My dog is called Rex.", "I play the violin."],
    "it": ["Sono allergico alle arachidi.", "Abito a Perugia.", "Il mio cane si chiama Argo.", "Suono il violino."],
    "zh": ["我对花生过敏。", "我住在上海。", "我的狗叫小黑。", "我喜欢拉小提琴。"],
    "ja": [
        "私はピーナッツアレルギーです。",
        "私は京都に住んでいます。",
        "私の犬の名前はポチです。",
        "私はバイオリンを弾きます。",
    ],
    "ko": [
        "저는 땅콩 알레르기가 있어요.",
        "저는 부산에 살아요.",
        "제 강아지 이름은 초코예요.",
        "저는 바이올린을 연주해요.",
    ],
    "ru": ["У меня аллергия на арахис.", "Я живу в Казани.", "Мою собаку зовут Шарик.", "Я играю на скрипке."],
    "nfd": [
        unicodedata.normalize("NFD", fact)
        for fact in ("Mi piace il caffè nero.", "Il mio amico è René.", "Abito a Forlì.", "Habe einen Führerschein.")
    ],
    "mixed": [
        "I order 抹茶 lattes at Café Müller.",
        "Мой любимый editor — Emacs.",
        "我在 Zürich 工作。",
        "Mi encanta el 김치.",
    ],
}

# language, query, the number of the fact that must come first
WORDS = [
    ("en", "peanuts", 0),
    ("en", "BOSTON", 1),
    ("en", "rex", 2),
    ("it", "arachidi", 0),
    ("it", "Perugia", 1),
    ("it", "violino", 3),
    ("zh", "花生", 0),
    ("zh", "上海", 1),
    ("zh", "狗", 2),
    ("zh", "小提琴", 3),
    ("ja", "ピーナッツ", 0),
    ("ja", "ﾋﾟｰﾅｯﾂ", 0),
    ("ja", "京都", 1),
    ("ja", "犬", 2),
    ("ja", "バイオリン", 3),
    ("ko", "땅콩", 0),
    ("ko", "부산", 1),
    ("ko", "초코", 2),
    ("ko", unicodedata.normalize("NFD", "바이올린"), 3),
    ("ru", "арахис", 0),
    ("ru", "КАЗАНИ", 1),
    ("ru", "Шарик", 2),
    ("nfd", "caffè", 0),
    ("nfd", "caffe", 0),
    ("nfd", "René", 1),
    ("nfd", "forlì", 2),
    ("nfd", "Führerschein", 3),
    ("mixed", "抹茶", 0),
    ("mixed", "müller", 0),
    ("mixed", "любимый", 1),
    ("mixed", "emacs", 1),
    ("mixed", "Zürich", 2),
    ("mixed", "工作", 2),
    ("mixed", "김치", 3),
]

MEANINGS = [
    ("en", "Which foods could make this person ill?", 0),
    ("en", "What city is their home in?", 1),
    ("en", "What pet do they have?", 2),
    ("en", "Which musical instrument do they know?", 3),
    ("it", "What food allergy do they have?", 0),
    ("it", "What is the name of the pet?", 2),
    ("it", "Which musical instrument do they play?", 3),
    ("it", "Che strumento musicale suona?", 3),
    ("zh", "Where does the user live?", 1),
    ("zh", "What food allergy do they have?", 0),
    ("zh", "What is the name of the pet?", 2),
    ("zh", "他会什么乐器？", 3),
    ("ja", "What food allergy do they have?", 0),
    ("ja", "In which city do they live?", 1),
    ("ja", "What is the name of the pet?", 2),
    ("ja", "Which musical instrument do they play?", 3),
    ("ko", "In which city do they live?", 1),
    ("ko", "What food allergy do they have?", 0),
    ("ko", "Which musical instrument do they play?", 3),
    ("ko", "What is the name of the pet?", 2),
    ("ru", "What food allergy do they have?", 0),
    ("ru", "In which city do they live?", 1),
    ("ru", "What is the name of the pet?", 2),
    ("ru", "Which musical instrument do they play?", 3),
]


def who(language: str) -> dict[str, Any]:
    return {"app_name": "languages", "user_id": language}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryBankService]:
    service = MemoryBankService(f"memorybank:///{tmp_path_factory.mktemp('languages')}/memory?model=offline")

    async def fill() -> None:
        for language, facts in FACTS.items():
            await service.add_memory(**who(language), memories=[entry(fact) for fact in facts])

    asyncio.run(fill())
    yield service
    asyncio.run(service.close())


@pytest.mark.parametrize(("language", "query", "number"), WORDS)
async def test_by_their_own_words(service: MemoryBankService, language: str, query: str, number: int) -> None:
    found = texts(await service.search_memory(**who(language), query=query))
    assert found[0] == FACTS[language][number]
    bank = await service.bank()
    by_words = await bank.retrieve(scope=who(language), query=query, by="words")
    assert by_words[0].fact == FACTS[language][number]


@pytest.mark.parametrize(("language", "query", "number"), MEANINGS)
async def test_by_meaning(service: MemoryBankService, language: str, query: str, number: int) -> None:
    bank = await service.bank()
    found = await bank.retrieve(scope=who(language), query=query, by="distance")
    assert found[0].fact == FACTS[language][number]
    distances = [one.distance for one in found if one.distance is not None]
    assert len(distances) == 4
    assert distances == sorted(distances)
    assert texts(await service.search_memory(**who(language), query=query))[0] == FACTS[language][number]


@pytest.mark.parametrize("language", ["en", "it", "zh", "ja", "ko", "ru"])
async def test_what_is_said_in_a_language_is_kept_in_it(service: MemoryBankService, language: str) -> None:
    said = FACTS[language][1]
    speaker: dict[str, Any] = {"app_name": "said", "user_id": language}
    await service.add_session_to_memory(session(event(said), **speaker))
    (operation,) = await service.flush()
    assert operation.error is None
    assert [one.memory.fact for one in operation.generated_memories] == [said]


async def test_a_fact_is_stored_in_the_spelling_it_came_in(service: MemoryBankService) -> None:
    bank = await service.bank()
    assert {memory.fact for memory in await bank.list(scope=who("nfd"))} == set(FACTS["nfd"])
