"""What the generator that needs no model makes of what is said, end to end."""

from __future__ import annotations

from pathlib import Path

from adk_memorybank import MemoryBankService
from tests.adk import event, flushed, kept, offline_in, only, session


class TestMeaning:
    """The generator that needs no model, end to end."""

    async def say(self, service: MemoryBankService, text: str, *, at: float | None = None) -> None:
        said = event(text, time=at)
        await service.add_session_to_memory(session(said, id=said.id))
        await flushed(service)

    async def test_the_same_again_is_no_duplicate(self, tmp_path: Path) -> None:
        async with offline_in(tmp_path) as service:
            for text in ("I am allergic to peanuts.", "I am allergic to peanuts.", "I'm allergic to peanuts!"):
                await self.say(service, text)
            memory = await only(service)
            assert "peanuts" in memory.fact
            assert len(memory.sources) == 3
            assert len(await (await service.bank()).list_revisions(name=memory.name)) == 3

    async def test_forget(self, tmp_path: Path) -> None:
        async with offline_in(tmp_path) as service:
            await self.say(service, "I follow a vegan diet. My dog is called Rex.")
            assert len(await kept(service)) == 2
            await self.say(service, "Please forget what I said about my diet.")
            assert await kept(service) == ["My dog is called Rex."]

    async def test_remember(self, tmp_path: Path) -> None:
        async with offline_in(tmp_path) as service:
            await self.say(service, "Remember that my locker is number 42.")
            memory = await only(service)
            assert "locker is number 42" in memory.fact
            assert "EXPLICIT_INSTRUCTIONS" in memory.topics

    async def test_a_changed_value_replaces_the_old_one(self, tmp_path: Path) -> None:
        async with offline_in(tmp_path) as service:
            await self.say(service, "I live in Rome.")
            await self.say(service, "I have moved to Milan.")
            memory = await only(service)
            assert "Milan" in memory.fact
            assert [one.fact for one in await (await service.bank()).list_revisions(name=memory.name)] == [
                memory.fact,
                "I live in Rome.",
            ]
            assert len(memory.sources) == 1, "what is true now was said once"

    async def test_an_old_session_that_is_added_late_replaces_nothing(self, tmp_path: Path) -> None:
        async with offline_in(tmp_path) as service:
            await self.say(service, "I live in Milan.", at=1_750_000_000)
            await self.say(service, "I live in Rome.", at=1_600_000_000)
            assert await kept(service) == ["I live in Milan."]
            await self.say(service, "Forget where I live.", at=1_600_000_100)
            assert await kept(service) == ["I live in Milan."]

    async def test_secrets_are_not_kept(self, tmp_path: Path) -> None:
        async with offline_in(tmp_path) as service:
            for text in (
                "My password is hunter2-XyZ99.",
                "Remember my card number: 4111 1111 1111 1111.",
                "My API key is sk-abcdEFGH1234567890abcdEFGH1234567890.",
                "La mia password è Segreta-2026.",
                "I like green tea.",
            ):
                await self.say(service, text)
            assert await kept(service) == ["I like green tea."]

    async def test_questions_and_the_agents_words_are_no_facts(self, tmp_path: Path) -> None:
        async with offline_in(tmp_path) as service:
            await service.add_session_to_memory(
                session("Do you have oat milk?", event("I like oat milk myself.", author="waiter"), "Thanks!")
            )
            await flushed(service)
            assert await kept(service) == []

    async def test_what_recall_showed_is_not_remembered_again(self, tmp_path: Path) -> None:
        async with offline_in(tmp_path) as service:
            await self.say(service, "<PAST_CONVERSATIONS>\nI live in Rome.\n</PAST_CONVERSATIONS> I like green tea.")
            assert await kept(service) == ["I like green tea."]
