"""Secrets: kept only where a custom topic, or a field of a profile, asks for them; in both generators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adk_memorybank.generation.secrets import kinds_asked
from adk_memorybank.testing import HashEmbedder, ScriptedLlm, temporary_banks
from tests.integration.answering import (
    EXPLICIT,
    PERSONAL,
    PREFERENCES,
    SCOPE,
    current,
    fact,
    facts,
    generate,
    instruction,
)
from tests.integration.stores import ended_well, opened, rows, session

CODE = "My door code is 4711."
CARD = "My card number is 4111 1111 1111 1111."
PASSWORD = "My password is hunter2-XyZ99."
TEA = "I like green tea."
SAID = (CODE, CARD, PASSWORD, TEA)
LABEL = "home_access"


def topics(description: str) -> dict[str, Any]:
    custom = {"custom_memory_topic": {"label": LABEL, "description": description}}
    managed = [{"managed_memory_topic": {"managed_topic_enum": name}} for name in (PERSONAL, PREFERENCES, EXPLICIT)]
    return {"customization_configs": [{"memory_topics": [custom, *managed]}]}


ASKING = topics("Codes of the doors and gates of the user's home: door codes, alarm codes.")
NOT_ASKING = topics("The doors and gates of the user's home. Never keep door codes or passwords.")


async def test_without_a_model_what_a_topic_asks_for_is_kept() -> None:
    async with temporary_banks(model="offline", embedder="local") as banks:
        bank = await banks.create(managed_semantic_memory_config=ASKING)
        await generate(bank, CODE, CARD, TEA)
        assert await current(bank) == [TEA, CODE]
        assert LABEL in next(one.topics for one in await bank.list(scope=SCOPE) if one.fact == CODE)
        await generate(bank, "Forget that my door code is 4711.")
        assert await current(bank) == [TEA]


@pytest.mark.parametrize("config", [NOT_ASKING, {}])
async def test_without_a_model_nothing_secret_is_kept_otherwise(config: Any) -> None:
    async with temporary_banks(model="offline", embedder="local") as banks:
        bank = await banks.create(managed_semantic_memory_config=config)
        await generate(bank, *SAID)
        assert await current(bank) == [TEA]


async def test_with_a_model_only_under_the_topic_that_asks_for_it() -> None:
    llm = ScriptedLlm(
        [facts(fact(CODE, LABEL, event=1), fact(CARD, LABEL, event=2), fact(TEA, event=3)), facts(fact(CODE, PERSONAL))]
    )
    async with temporary_banks(model=lambda: llm, embedder=HashEmbedder()) as banks:
        bank = await banks.create(managed_semantic_memory_config=ASKING)
        operation = await generate(bank, CODE, CARD, TEA)
        assert await current(bank) == [TEA, CODE]
        assert operation.notes == ["1 facts with a secret in them were dropped"]
        assert f"card numbers, except for what the topic {LABEL} asks for.\n" in instruction(llm.requests[0])
        other = await banks.create(managed_semantic_memory_config=ASKING)
        await generate(other, CODE)
        assert await current(other) == [], "under a managed topic it is not"


async def test_with_a_model_nothing_secret_is_kept_otherwise() -> None:
    llm = ScriptedLlm([facts(*(fact(text, LABEL, event=at) for at, text in enumerate(SAID, start=1)))])
    async with temporary_banks(model=lambda: llm, embedder=HashEmbedder()) as banks:
        bank = await banks.create(managed_semantic_memory_config=NOT_ASKING)
        await generate(bank, *SAID)
        assert await current(bank) == [TEA]
        assert "keys, tokens or card numbers.\n" in instruction(llm.requests[0])


async def test_a_field_that_asks_for_it() -> None:
    fields = {"doorCode": {"type": "string"}, "note": {"type": "string"}, "card": {"type": "string"}}
    fields["card"]["description"] = "The user's card number."
    schema = {"id": "home", "schema": {"type": "object", "properties": fields}}
    given = {"doorCode": "door code: 4711", "note": "door code: 4711", "card": "4111 1111 1111 1111"}
    drawn = [{"profile": "home", "field": name, "value": value, "event": 1} for name, value in given.items()]
    llm = ScriptedLlm([{"facts": [], "profiles": drawn}])
    async with temporary_banks(model=lambda: llm, embedder=HashEmbedder()) as banks:
        config = {"structured_memory_configs": [{"schema_configs": [schema]}]}
        bank = await banks.create(managed_semantic_memory_config=config)
        await generate(bank, "The door code: 4711, the card 4111 1111 1111 1111")
        found = await bank.retrieve_profiles(scope=SCOPE)
        assert found["home"].profile == {"doorCode": "door code: 4711", "card": "4111 1111 1111 1111"}
        assert "except for what the field doorCode and the field card ask for." in instruction(llm.requests[0])


@pytest.mark.parametrize("config", [{}, ASKING])
async def test_no_secret_stays_as_what_was_read_before(tmp_path: Path, config: Any) -> None:
    told = ["My PIN is 4821.", CARD, PASSWORD, f"A long story. {'So it went on. ' * 2_000}{PASSWORD}"]
    answered = ["Here is my password:", "correct-horse-battery"]
    for number, text in enumerate([*told, "\n".join(answered)]):
        folder = tmp_path / str(number)
        async with opened(folder, "offline", config=config) as memory:
            await memory.add_session_to_memory(session([TEA, *text.split("\n")]))
            assert ended_well(await memory.flush())
            kept = str(rows(folder, "SELECT content FROM events"))  # the other columns hold figures, any of them
            assert not any(secret in kept for secret in ("4821", "4111", "hunter2", "correct-horse"))
            assert TEA in kept
            await memory.add_session_to_memory(session([TEA, *text.split("\n"), "I like rice."]))
            assert ended_well(await memory.flush())
            assert "I like rice." in str(rows(folder, "SELECT content FROM events"))
    async with opened(tmp_path / "asked", "offline", config=ASKING) as memory:
        await memory.add_session_to_memory(session([CODE]))
        assert ended_well(await memory.flush())
        assert CODE in str(rows(tmp_path / "asked", "SELECT content FROM events")), "a memory cites it"


@pytest.mark.parametrize(
    ("name", "description", "kinds"),
    [
        ("door_codes", "", {"word"}),
        ("x", "PINs, Wi-Fi passwords and API keys", {"word", "key"}),
        ("x", "Codici di accesso e numeri di carta", {"word", "number"}),
        ("x", "Contraseñas", {"word"}),
        ("x", "Mots de passe", {"word"}),
        ("x", "Türcodes und Kartennummern", {"word", "number"}),
        ("x", "用户的密码和银行卡号", {"word", "number"}),
        ("x", "ユーザーのパスワード", {"word"}),
        ("x", "Пароли пользователя", {"word"}),
        ("pins", "Enamel pins that the user collects", set[str]()),
        ("tools", "Which password manager the user likes", set[str]()),
        ("cards", "Which credit cards the user prefers", set[str]()),
        ("x", "Support requests. Never keep passwords.", set[str]()),
        ("x", "Support requests without passwords or PINs", set[str]()),
        ("x", "サポート。パスワードは含めない", set[str]()),
    ],
)
def test_what_a_configuration_asks_for(name: str, description: str, kinds: set[str]) -> None:
    assert kinds_asked(name, description) == kinds
