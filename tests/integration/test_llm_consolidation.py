"""How a model's decisions change what is remembered: the faults of other memory systems, each provoked."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from google.adk.models.llm_request import LlmRequest

from adk_memorybank import MemoryBank
from adk_memorybank.generation.generator import Candidate, ConsolidationRequest, Decision, ExtractedFact
from adk_memorybank.generation.plan import check
from adk_memorybank.testing import ScriptedLlm, temporary_banks
from tests.integration.answering import (
    PERSONAL,
    SCOPE,
    actions,
    current,
    day,
    decide,
    decisions,
    fact,
    facts,
    generate,
    is_consolidation,
    numbered,
    question,
    said,
)

TEA = "I like green tea."


def customized(**settings: Any) -> dict[str, Any]:
    return {"unstructured_memory_configs": [settings]}


class TestEarlierRevisions:
    @pytest.mark.parametrize("count", [1, 10])
    async def test_as_many_as_configured(self, count: int) -> None:
        towns = ["I live in Paris.", "I live in Lyon.", "I live in Nice."]

        def answer(request: LlmRequest) -> Any:
            if not is_consolidation(request):
                return facts(*[fact(town, PERSONAL) for town in towns if town in question(request)])
            ((new, number),) = numbered(request, "New facts").items()
            return decisions(decide("update", number, memory=1, text=new))

        model = ScriptedLlm([answer], repeat=True)
        async with temporary_banks(model=model) as banks:
            bank = await banks.create(
                managed_semantic_memory_config=customized(consolidation_config={"revisions_per_candidate_count": count})
            )
            for number, town in enumerate(towns):
                await generate(bank, said(town, time=day(1 + number)))
            assert await current(bank) == ["I live in Nice."]
        shown = question(model.requests[-1])
        assert '"I live in Lyon."' in shown
        assert ('before: "I live in Paris."' in shown) == (count > 1)


def _request(*texts: str, memories: tuple[str, ...] = (), time: datetime | None = None) -> ConsolidationRequest:
    return ConsolidationRequest(
        facts=[ExtractedFact(text, (PERSONAL,), (0,), time=time) for text in texts],
        candidates=[Candidate(text, (PERSONAL,), day(10)) for text in memories],
        proposed=[list(range(len(memories))) for _ in texts],
    )


class TestFieldNotes:
    """The faults 13 to 20 that users of other memory systems reported, each with a model that provokes it."""

    @staticmethod
    async def _after(bank: MemoryBank, memories: tuple[str, ...]) -> None:
        for one in memories:
            await bank.create(scope=SCOPE, fact=one)

    async def _run(self, memories: tuple[str, ...], text: str, *answers: Any) -> tuple[list[str], list[str]]:
        """What is remembered afterwards, and the notes."""
        async with temporary_banks(model=ScriptedLlm(answers)) as banks:
            bank = await banks.create()
            await self._after(bank, memories)
            operation = await generate(bank, text)
            return await current(bank), operation.notes

    async def test_13_a_contradiction_keeps_the_new_fact(self) -> None:
        new = "I no longer eat meat."
        found, _ = await self._run(
            ("I love steak.",), new, facts(new), decisions(decide("delete", 1, memory=1, text=""))
        )
        assert found == [new]

    async def test_14_the_same_fact_twice_stays_once(self) -> None:
        for answer in (decide("delete", 1, memory=1), decide("create", 1), decide("update", 1, memory=1, text=TEA)):
            found, _ = await self._run((TEA,), TEA, facts(TEA), decisions(answer))
            assert found == [TEA]

    async def test_14_added_again_and_again(self) -> None:
        def answer(request: LlmRequest) -> Any:
            return decisions(decide("create", 1)) if is_consolidation(request) else facts(TEA)

        async with temporary_banks(model=ScriptedLlm([answer], repeat=True)) as banks:
            bank = await banks.create()
            taken = [actions(await generate(bank, TEA)) for _ in range(4)]
            assert await current(bank) == [TEA]
        assert taken == [["CREATED"], ["UPDATED"], ["UPDATED"], ["UPDATED"]]

    async def test_15_no_memory_grows_without_end(self) -> None:
        mega = " ".join(f"I like tea number {n}." for n in range(200))
        found, _ = await self._run(
            ("I like tea number 1.",), TEA, facts(TEA), decisions(decide("update", 1, memory=1, text=mega))
        )
        assert found == [TEA]
        plan = check([Decision("create", (0,), None, "x" * 2001, (PERSONAL,))], _request(TEA))
        assert plan.decisions == []
        assert plan.notes

    async def test_15_facts_that_differ_are_not_thrown_together(self) -> None:
        dog = "I have a dog named Rex."
        found, _ = await self._run(
            ("I drink coffee.",),
            f"{TEA} {dog}",
            facts(TEA, fact(dog, PERSONAL)),
            decisions(decide("update", 1, 2, memory=1, text="I drink green tea.")),
        )
        assert dog in found

    async def test_16_only_what_was_proposed_can_be_deleted(self) -> None:
        request = _request(TEA, memories=("I like tea.", "My bike is red."))
        plan = check([Decision("delete", (0,), 7), Decision("delete", (), 0), Decision("delete", (9,), 0)], request)
        assert plan.decisions == []
        assert len(plan.notes) == 3

    async def test_16_a_deletion_beside_an_update_is_followed_where_the_fact_is_kept(self) -> None:
        def answer(request: LlmRequest) -> Any:
            memories = numbered(request, "Memories")
            return decisions(
                decide("update", 1, memory=memories["I live in Paris."], text="I live in Lyon."),
                decide("delete", 1, memory=memories["My home is in Paris."]),
            )

        found, _ = await self._run(
            ("I live in Paris.", "My home is in Paris."),
            "I live in Lyon.",
            facts(fact("I live in Lyon.", PERSONAL)),
            answer,
        )
        assert found == ["I live in Lyon."]

    async def test_17_an_unknown_update_creates_and_an_unknown_deletion_does_nothing(self) -> None:
        for action in ("update", "delete"):
            found, notes = await self._run(
                ("My bike is red.",), TEA, facts(TEA), decisions(decide(action, 1, memory=55, text=TEA))
            )
            assert found == [TEA, "My bike is red."]
            assert any("not offered" in note for note in notes)

    async def test_17_no_real_id_is_shown(self) -> None:
        model = ScriptedLlm([facts(TEA), decisions()])
        async with temporary_banks(model=model) as banks:
            bank = await banks.create()
            memory = await bank.create(scope=SCOPE, fact="My bike is red.")
            await generate(bank, said(TEA, id="event-77"))
            for request in model.requests:
                assert memory.id not in str(request.contents)
                assert "event-77" not in str(request.contents)

    async def test_18_two_at_once_store_no_duplicate(self) -> None:
        def answer(request: LlmRequest) -> Any:
            return decisions(decide("create", 1)) if is_consolidation(request) else facts(TEA)

        async with temporary_banks(model=ScriptedLlm([answer], repeat=True)) as banks:
            bank = await banks.create()
            operations = [await generate(bank, TEA, wait=False) for _ in range(6)]
            await bank.operations.wait([one.name for one in operations], timeout=30)
            assert await current(bank) == [TEA]

    async def test_19_nearness_alone_deletes_nothing(self) -> None:
        old, new = "My thermostat is set to 21 degrees.", "My bedroom is set to 18 degrees."
        found, _ = await self._run((old,), new, facts(new), decisions(decide("create", 1)))
        assert found == [new, old]

    async def test_20_an_update_that_ends_in_another_memorys_words(self) -> None:
        def answer(request: LlmRequest) -> Any:
            return decisions(decide("update", 1, memory=numbered(request, "Memories")["I drink tea."], text=TEA))

        found, _ = await self._run(("I drink tea.", TEA), "Green tea is what I like.", facts(TEA), answer)
        assert found.count(TEA) == 1

    async def test_20_two_facts_with_the_same_end(self) -> None:
        found, _ = await self._run(
            ("My bike is red.",),
            "I like green tea. Green tea is what I like.",
            facts(TEA, "Green tea is what I like."),
            decisions(decide("create", 1, text=TEA), decide("create", 2, text=TEA)),
        )
        assert found == [TEA, "My bike is red."]
