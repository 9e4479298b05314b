"""Broken answers of a model, end to end: what is stored after them, how the operation ends, and what is not lost."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from adk_memorybank.errors import ModelOutputError
from adk_memorybank.generation.answers import MOST_ITEMS
from adk_memorybank.testing import ScriptedLlm, temporary_banks
from tests.integration.answering import (
    NOTHING,
    PERSONAL,
    PREFERENCES,
    SCOPE,
    actions,
    current,
    decide,
    decisions,
    fact,
    facts,
    generate,
    instruction,
    numbered,
    question,
    said,
    spoken,
    updating,
)

SAID = "I like green tea. My sister Ines lives in Lyon."
TEA = "I like green tea."
SISTER = "My sister Ines lives in Lyon."
GOOD = json.dumps(facts(TEA, fact(SISTER, PERSONAL)))
BOTH = [TEA, SISTER]
PARIS = "I live in Paris."
LYON = "I live in Lyon."


@dataclass(frozen=True)
class Case:
    """What a model answers, one text after the other, and what must come of it."""

    name: str
    answers: list[Any]
    kept: list[str] = field(default_factory=list)
    note: str = ""
    error: str = ""


def beside(**broken: Any) -> dict[str, Any]:
    """A good fact after a broken one."""
    return facts({**fact("I like porridge."), **broken}, TEA)


EXTRACTION = [
    Case("good", [GOOD], BOTH),
    Case("prose around the JSON", [f"Sure! Here are the facts [1]:\n{GOOD}\nLet me know if {{you}} need more."], BOTH),
    Case("prose with braces before it", [f"The set {{a, b}} is empty. {GOOD}"], BOTH),
    Case("a fence", [f"```json\n{GOOD}\n```"], BOTH),
    Case("a fence without an end", [f"```\n{GOOD}"], BOTH),
    Case("two fences", [f"```text\nthinking\n```\n```json\n{GOOD}\n```"], BOTH),
    Case("thoughts before it", [f'<think>maybe {{"facts": [{{"fact": "I hate tea."}}]}}</think>{GOOD}'], BOTH),
    Case("single quotes", [str(facts(TEA, fact(SISTER, PERSONAL)))], BOTH),
    Case("trailing commas", [GOOD.replace("}]", "},]").replace('"create"}', '"create",}')], BOTH),
    Case("comments", [GOOD.replace("[{", "[ // the facts\n{")], BOTH),
    Case("keys without quotes", [GOOD.replace('"fact":', "fact:").replace('"topic":', "topic:")], BOTH),
    Case("line breaks in strings", [facts("I like\ngreen tea.").__repr__().replace("'", '"')], ["I like\ngreen tea."]),
    Case("a list alone", [json.dumps(facts(TEA)["facts"])], [TEA]),
    Case("one object alone", [json.dumps(fact(TEA))], [TEA]),
    Case("an object in place of the list", [json.dumps({"facts": fact(TEA)})], [TEA]),
    Case("cut in the second fact", [GOOD[: GOOD.index("Ines") + 2]], [TEA], note="broke off"),
    Case("cut in the first fact", [GOOD[:30], GOOD], BOTH),
    Case("an empty answer", ["", GOOD], BOTH),
    Case("only spaces", [" \n ", GOOD], BOTH),
    Case("empty twice", ["", ""], error="asked twice: the answer is empty"),
    Case("a refusal", ["I'm sorry, I can't help with that.", "No."], error="the answer is not JSON"),
    Case("a refusal, then an answer", ["I'm sorry, I can't help with that.", GOOD], BOTH),
    Case("nothing, in so many words", ["There is nothing worth keeping.", NOTHING], []),
    Case("nothing", [NOTHING], []),
    Case("nothing, as a list", ["[]"], []),
    Case("null", ["null", "null"], error="not JSON"),
    Case("a number", ["42", GOOD], BOTH),
    Case("another shape", ['{"status": "ok"}', '{"status": "ok"}'], error="no list 'facts'"),
    Case("wrong names", [{"memories": [{"memory": TEA, "topics": [PREFERENCES], "event_id": 1}]}], [TEA]),
    Case("texts in place of objects", [{"facts": [TEA]}, GOOD], BOTH),
    Case("objects without a fact", [{"facts": [{"a": 1}]}, {"facts": [{"a": 1}]}], error="holds no objects"),
    Case("a text among the objects", [{"facts": [TEA, None, 7, fact(TEA)]}], [TEA]),
    Case("a number as a fact", [beside(fact=7)], [TEA], note="0 characters"),
    Case("a list as a fact", [beside(fact=["I like porridge."])], [TEA], note="0 characters"),
    Case("an empty fact", [beside(fact="  ")], [TEA], note="0 characters"),
    Case("a number as a text", [facts(fact(TEA, event="1"))], [TEA]),
    Case("a number with words", [facts(fact(TEA, event="event 1"))], [TEA]),
    Case("a number as a float", [facts(fact(TEA, event=1.0))], [TEA]),
    Case("an event that was never offered", [facts(fact(TEA, event=99), fact(SISTER, PERSONAL, event=-1))], BOTH),
    Case("no event", [facts({"fact": TEA, "topic": PREFERENCES})], [TEA]),
    Case("an unknown action", [facts(fact(TEA, action="upsert"))], [TEA]),
    Case("a topic that does not exist", [beside(topic="HOBBIES")], [TEA], note="no configured topic"),
    Case("no topic", [beside(topic=None)], [TEA], note="no configured topic"),
    Case("a topic in another spelling", [facts(fact(TEA, "user preferences"))], [TEA]),
    Case("a topic in a list", [facts(fact(TEA, [PREFERENCES, "HOBBIES"]))], [TEA]),  # pyright: ignore[reportArgumentType]
    Case("lone surrogates", ['{"facts": [' + json.dumps(fact(TEA)).replace("tea.", "tea.\\ud83d") + "]}"], [TEA]),
    Case("control characters", [facts("I like\x00 green\x07 tea.")], [TEA]),
    Case("the same fact twice", [facts(TEA, "I like green tea", "i LIKE green tea.")], [TEA]),
    Case("a fact of 50 kB", [facts("I like green tea " * 3000, TEA)], [TEA], note="50999 characters"),
    Case("an example's fact", [facts("I can't bear air conditioning.", TEA)], [TEA], note="without support"),
    Case("the perspective's example", [facts(fact("I work at Google.", PERSONAL), TEA)], [TEA], note="without support"),
    Case("a configured example's fact", [facts("The drip coffee was lukewarm.", TEA)], [TEA], note="without support"),
    Case(
        "a fact from nowhere",
        [facts(fact("I own a red Porsche and a yacht.", PERSONAL), TEA)],
        [TEA],
        note="1 facts without support",
    ),
    Case("a secret", [facts("My password is hunter2.", TEA)], [TEA], note="a secret in them"),
    Case("deep nesting", ["[" * 50_000 + "]" * 50_000, GOOD], BOTH),
    Case("deep nesting twice", ['{"a":' * 50_000, "{" * 50_000], error="asked twice"),
    Case(
        "a schema given back", [json.dumps({"type": "OBJECT", "properties": {"facts": {"type": "ARRAY"}}}), GOOD], BOTH
    ),
]
LUKEWARM = {
    "unstructured_memory_configs": [
        {
            "generate_memories_examples": [
                {
                    "conversation_source": {"events": [said("The drip coffee was a bit lukewarm today.")]},
                    "generated_memories": [{"fact": "The drip coffee was lukewarm."}],
                }
            ]
        }
    ]
}


@pytest.mark.parametrize("case", EXTRACTION, ids=lambda case: case.name)
async def test_extraction(case: Case) -> None:
    model = ScriptedLlm(case.answers)
    async with temporary_banks(model=model) as banks:
        bank = await banks.create(managed_semantic_memory_config=LUKEWARM)
        if case.error:
            with pytest.raises(ModelOutputError, match=case.error):
                await generate(bank, SAID)
            (operation,) = await bank.operations.list()
            assert operation.error is not None
            assert (operation.error.code, operation.error.status) == (13, "INTERNAL")
            assert "sorry" not in operation.error.message, "what a model says is no part of an error"
            assert operation.generated_memories == []
        else:
            operation = await generate(bank, SAID)
            assert operation.done
            assert operation.error is None
            assert actions(operation) == ["CREATED"] * len(case.kept)
            assert case.note in " | ".join(operation.notes)
            assert bool(case.note) == bool(operation.notes)
        assert await current(bank) == sorted(case.kept)
        assert len(model.requests) == len(case.answers)


def test_there_are_enough_of_them() -> None:
    assert len(EXTRACTION) >= 30
    assert len(CONSOLIDATION) >= 15


HOME = "I live in Paris."
CAT = "I have a cat named Tom."
NEW = "I live in Lyon."
DOG = "I have a dog named Rex."
TOLD = "We have moved: I live in Lyon. I have a dog named Rex."


@dataclass(frozen=True)
class Decided(Case):
    """A consolidation of NEW (1) and DOG (2) with HOME and CAT, which `{home}` and `{cat}` in the answer number."""


def _answer(*items: str) -> str:
    return f'{{"decisions": [{", ".join(items)}]}}'


UPDATE = '{"action": "update", "new": [1], "memory": {home}, "fact": "I live in Lyon."}'
CREATE = '{"action": "create", "new": [2]}'
CREATE_NEW = '{"action": "create", "new": [1]}'
DELETE = '{"action": "delete", "new": [1], "memory": {home}}'
DOG_HOME = '{"action": "update", "new": [2], "memory": {home}, "fact": "I have a dog named Rex."}'
DOG_CAT = '{"action": "create", "new": [2], "memory": {cat}}'
ALIASES = '[{"operation": "UPDATE", "facts": 1, "id": "{home}", "text": "I live in Lyon."}]'
DELETE_ALL = ['{"action": "delete", "new": [], "memory": {home}}', '{"action": "delete", "new": [], "memory": {cat}}']
AFTER = [CAT, DOG, NEW]
ALL = [CAT, DOG, HOME, NEW]


def changed(old: str, new: str) -> list[str]:
    """The good update with something in it that is not."""
    assert old in UPDATE
    return [_answer(UPDATE.replace(old, new))]


CONSOLIDATION = [
    Decided("good", [_answer(UPDATE, CREATE)], AFTER),
    Decided("in a fence, after prose", [f"I moved them:\n```json\n{_answer(UPDATE, CREATE)}\n```"], AFTER),
    Decided("a decision left out", [_answer(UPDATE)], AFTER),
    Decided("no decision at all", [_answer()], ALL),
    Decided("cut after the first", [_answer(UPDATE, CREATE)[:-22]], AFTER),
    Decided("unreadable, then good", ["Paris, then Lyon.", _answer(UPDATE, CREATE)], AFTER),
    Decided("unreadable twice", ["Paris, then Lyon.", ""], [CAT, HOME], error="asked twice: the answer is empty"),
    Decided("other names", [ALIASES], AFTER),
    Decided("numbers as texts", [_answer(UPDATE.replace("[1]", '"1"').replace("{home}", '"memory {home}"'))], AFTER),
    Decided("a memory that was never offered", changed("{home}", "77"), ALL, note="not offered"),
    Decided("a memory named by its text", changed("{home}", '"I live in Paris."'), ALL),
    Decided("a negative number", changed("{home}", "-1"), ALL, note="not offered"),
    Decided("no number", changed('"memory": {home}, ', ""), ALL),
    Decided("a fact that was never offered", changed("[1]", "[9]"), ALL),
    Decided("an unknown action", changed("update", "transmogrify"), ALL),
    Decided("no text", changed(', "fact": "I live in Lyon."', ""), AFTER),
    Decided("a text of 50 kB", changed("I live in Lyon.", "I live in Lyon. " * 3200), AFTER),
    Decided("a text from nowhere", changed("I live in Lyon.", "I own a yacht in Monaco."), AFTER),
    Decided("a text with a lone surrogate", changed("Lyon.", "Lyon.\\ud83d"), AFTER),
    Decided("the same memory twice", [_answer(UPDATE, DOG_HOME)], AFTER, note="became a creation"),
    Decided("the same decision twice", [_answer(UPDATE, UPDATE, CREATE, CREATE)], AFTER),
    Decided("update and delete of one memory", [_answer(UPDATE, DELETE)], AFTER, note="was ignored"),
    Decided("delete and update of one memory", [_answer(DELETE, UPDATE)], AFTER, note="was ignored"),
    Decided("deleted without a word of what is true", [_answer(DELETE)], AFTER),
    Decided("deleted and created", [_answer(DELETE, CREATE_NEW)], AFTER),
    Decided("created and deleted", [_answer(CREATE_NEW, DELETE)], AFTER),
    Decided("a deletion of what was never offered", [_answer(DELETE.replace("{home}", "77"))], ALL, note="not offered"),
    Decided("all deleted for nothing", [_answer(*DELETE_ALL)], ALL),
    Decided("facts thrown together", changed("[1]", "[1, 2]"), AFTER),
    Decided("created together", [_answer('{"action": "create", "new": [1, 2]}')], ALL),
    Decided("a creation that names a memory", [_answer(UPDATE, DOG_CAT)], AFTER),
    Decided("no change, said of something new", [_answer(DOG_CAT.replace("create", "none"), UPDATE)], AFTER),
]


@pytest.mark.parametrize("case", CONSOLIDATION, ids=lambda case: case.name)
async def test_consolidation(case: Decided) -> None:
    def answer(text: str) -> Any:
        def say(request: Any) -> str:
            memories = numbered(request, "Memories")
            assert numbered(request, "New facts") == {NEW: 1, DOG: 2}
            return text.replace("{home}", str(memories[HOME])).replace("{cat}", str(memories[CAT]))

        return say

    model = ScriptedLlm([facts(fact(NEW, PERSONAL), fact(DOG, PERSONAL)), *[answer(text) for text in case.answers]])
    async with temporary_banks(model=model) as banks:
        bank = await banks.create()
        before = {
            memory.fact: memory.id for memory in [await bank.create(scope=SCOPE, fact=one) for one in (HOME, CAT)]
        }
        if case.error:
            with pytest.raises(ModelOutputError, match=case.error):
                await generate(bank, TOLD)
        else:
            operation = await generate(bank, TOLD)
            assert case.note in " | ".join(operation.notes)
            after = {one.memory.fact: one.memory.id for one in operation.generated_memories}
            assert set(after) == {NEW, DOG}, "both facts are in the response"
            assert (after[NEW] == before[HOME]) == (HOME not in case.kept)
        assert await current(bank) == sorted(case.kept)
        assert len(model.requests) == 1 + len(case.answers)


class TestMany:
    async def test_ten_thousand_facts(self) -> None:
        many = [fact(f"I like green tea number {number}.") for number in range(10_000)]
        async with temporary_banks(model=ScriptedLlm([{"facts": many}])) as banks:
            bank = await banks.create()
            operation = await generate(bank, "I like green tea, all the numbers of it.")
            assert len(await current(bank)) == MOST_ITEMS
            assert any("9500 facts" in note for note in operation.notes)

    async def test_ten_thousand_times_the_same(self) -> None:
        async with temporary_banks(model=ScriptedLlm([facts(*[TEA] * 10_000)])) as banks:
            bank = await banks.create()
            await generate(bank, SAID)
            assert await current(bank) == [TEA]

    async def test_ten_thousand_decisions(self) -> None:
        def many(request: Any) -> dict[str, Any]:
            return decisions(*[decide("update", 1, memory=1, text=f"I like green tea {n}.") for n in range(10_000)])

        async with temporary_banks(model=ScriptedLlm([facts(TEA), many])) as banks:
            bank = await banks.create()
            await bank.create(scope=SCOPE, fact="I like tea.")
            await generate(bank, SAID)
            assert len(await current(bank)) <= MOST_ITEMS


class TestRepair:
    async def test_what_the_model_is_told(self) -> None:
        model = ScriptedLlm(["That is a nice talk!", GOOD])
        async with temporary_banks(model=model) as banks:
            await generate(await banks.create(), SAID)
        first, second = model.requests
        assert [content.role for content in second.contents] == ["user", "model", "user"]
        assert second.contents[0] == first.contents[0]
        assert spoken(second)[1] == "That is a nice talk!"
        assert "not JSON" in spoken(second)[2]
        assert second.config.response_schema == first.config.response_schema
        assert instruction(second) == instruction(first)

    async def test_a_long_answer_is_not_sent_back_whole(self) -> None:
        model = ScriptedLlm(["x" * 1_000_000 + "\ud83d", GOOD])
        async with temporary_banks(model=model) as banks:
            await generate(await banks.create(), SAID)
        assert len(spoken(model.requests[1])[1]) <= 20_000

    async def test_an_error_keeps_the_events_for_the_next_operation(self) -> None:
        model = ScriptedLlm(["?", "?", facts(TEA, fact(SISTER, PERSONAL, event=2))])
        async with temporary_banks(model=model) as banks:
            bank = await banks.create()
            first = await bank.ingest_events(scope=SCOPE, events=[said(TEA, id="a")], session_id="s", stream_id="s")
            assert first is not None
            (failed,) = await bank.operations.wait([first.name], timeout=20)
            assert failed.error is not None
            assert "asked twice" in failed.error.message
            assert isinstance(failed.error.as_exception(), ModelOutputError | Exception)
            assert await current(bank) == []
            second = await bank.ingest_events(scope=SCOPE, events=[said(SISTER, id="b")], session_id="s", stream_id="s")
            assert second is not None
            (ended,) = await bank.operations.wait([second.name], timeout=20)
            assert ended.error is None
            assert await current(bank) == BOTH
            assert (await bank.operations.get(failed.name)).error is not None, "it can be read later"
        assert question(model.requests[2]).count(" new ") == 2, "the kept event is a new one still"

    async def test_an_error_keeps_the_events_for_a_retry(self) -> None:
        model = ScriptedLlm(["?", "?", GOOD])
        async with temporary_banks(model=model) as banks:
            bank = await banks.create()
            first = await bank.ingest_events(scope=SCOPE, events=[said(SAID, id="a")], session_id="s", stream_id="s")
            assert first is not None
            await bank.operations.wait([first.name], timeout=20)
            await bank.operations.retry(first.name)
            (ended,) = await bank.operations.wait([first.name], timeout=20)
            assert ended.error is None
            assert await current(bank) == BOTH
            assert (
                await bank.ingest_events(scope=SCOPE, events=[said(SAID, id="a")], session_id="s", stream_id="s")
                is None
            ), "nothing of it is new any more"

    async def test_a_broken_consolidation_keeps_the_events(self) -> None:
        model = ScriptedLlm([facts(TEA), "?", "?", facts(TEA), updating("I like tea.", TEA)])
        async with temporary_banks(model=model) as banks:
            bank = await banks.create()
            await bank.create(scope=SCOPE, fact="I like tea.")
            operation = await bank.ingest_events(scope=SCOPE, events=[said(SAID, id="a")], stream_id="s")
            assert operation is not None
            await bank.operations.wait([operation.name], timeout=20)
            assert await current(bank) == ["I like tea."]
            await bank.operations.retry(operation.name)
            (ended,) = await bank.operations.wait([operation.name], timeout=20)
            assert ended.error is None
            assert await current(bank) == [TEA]


class TestCalls:
    async def test_one_where_there_is_nothing_to_compare_with(self) -> None:
        model = ScriptedLlm([GOOD])
        async with temporary_banks(model=model) as banks:
            await generate(await banks.create(), SAID)
        assert len(model.requests) == 1

    async def test_two_with_memories(self) -> None:
        model = ScriptedLlm([GOOD, decisions(decide("create", 1), decide("create", 2))])
        async with temporary_banks(model=model) as banks:
            bank = await banks.create()
            await bank.create(scope=SCOPE, fact=CAT)
            await generate(bank, SAID)
        assert len(model.requests) == 2

    async def test_one_where_nothing_was_found(self) -> None:
        model = ScriptedLlm([NOTHING])
        async with temporary_banks(model=model) as banks:
            bank = await banks.create()
            await bank.create(scope=SCOPE, fact=CAT)
            await generate(bank, "Thanks!")
        assert len(model.requests) == 1

    async def test_none_where_nothing_is_new(self) -> None:
        model = ScriptedLlm([GOOD])
        async with temporary_banks(model=model) as banks:
            bank = await banks.create()
            event = said(SAID, id="a")
            for _ in range(3):
                operation = await bank.ingest_events(scope=SCOPE, events=[event], session_id="s", stream_id="s")
                if operation is not None:
                    await bank.operations.wait([operation.name], timeout=20)
            nothing = await bank.generate(scope=SCOPE, events=[])
            assert nothing.generated_memories == []
            empty = await generate(bank, {"content": {"role": "user", "parts": [{"text": "  "}]}})
            assert empty.generated_memories == []
        assert len(model.requests) == 1

    async def test_only_a_consolidation_for_direct_memories(self) -> None:
        model = ScriptedLlm([decisions(decide("create", 1))])
        async with temporary_banks(model=model) as banks:
            bank = await banks.create()
            await bank.generate(scope=SCOPE, direct_memories=[CAT])
            assert len(model.requests) == 0
            await bank.generate(scope=SCOPE, direct_memories=[TEA])
        assert len(model.requests) == 1

    async def test_a_long_talk_meets_in_one_consolidation(self) -> None:
        filler = "We talked about the weather and about nothing else for quite a while. " * 500

        def extracted(request: Any) -> dict[str, Any]:
            new = [line for line in question(request).splitlines() if " new " in line]
            return facts(
                *[
                    fact(text, topic, event=line.split()[0])
                    for text, topic in ((TEA, PREFERENCES), (SISTER, PERSONAL))
                    for line in new
                    if text in line
                ]
            )

        def consolidated(request: Any) -> dict[str, Any]:
            assert set(numbered(request, "New facts")) == {TEA, SISTER}
            return decisions(decide("create", 1), decide("create", 2))

        def answer(request: Any) -> dict[str, Any]:
            return consolidated(request) if question(request).startswith("New facts") else extracted(request)

        model = ScriptedLlm([answer], repeat=True)
        async with temporary_banks(model=model) as banks:
            bank = await banks.create()
            await bank.create(scope=SCOPE, fact=CAT)
            await generate(bank, TEA, *[filler] * 4, SISTER, timeout=60)
            assert await current(bank) == sorted([CAT, TEA, SISTER])
        kinds = [question(request).startswith("New facts") for request in model.requests]
        assert kinds.count(True) == 1
        assert kinds.count(False) >= 2
        assert kinds[-1]
        assert " context " in question(model.requests[1]), "the end of the part before comes along"
