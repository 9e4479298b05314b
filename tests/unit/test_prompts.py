"""What a model is told and shown: its size, its structure, and that nothing said in it can break out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from adk_memorybank.generation import prompts
from adk_memorybank.generation.generator import Candidate, ConsolidationRequest, ExtractedFact, ExtractionRequest, Turn
from adk_memorybank.generation.splitting import tokens_of
from adk_memorybank.generation.topics import DEFAULT_TOPICS, MANAGED_TOPICS, Example, Topic

NOON = datetime(2026, 5, 13, 12, tzinfo=UTC)
CUSTOM = Topic("business_feedback", "Opinions on drinks.", custom=True)


def request(
    *texts: str,
    topics: Sequence[Topic] = DEFAULT_TOPICS,
    examples: Sequence[Example] = (),
    third_person: bool = False,
) -> ExtractionRequest:
    return ExtractionRequest([turn(text) for text in texts], topics, examples, third_person)


def turn(text: str, **fields: Any) -> Turn:
    return replace(Turn("s", "e", "user", "user", text, NOON), **fields)


def asking(facts: Sequence[ExtractedFact], candidates: Sequence[Candidate]) -> ConsolidationRequest:
    proposed = [list(range(len(candidates))) for _ in facts]
    return ConsolidationRequest(facts, candidates, proposed)


class TestSize:
    """Tokens by the estimate of four letters each. By a real tokenizer (cl100k) it is 676 and 310: the estimate errs
    on the safe side.
    """

    def test_the_fixed_part_of_an_extraction(self) -> None:
        assert tokens_of(prompts.extraction_instruction(request())) <= 900

    def test_in_the_third_person(self) -> None:
        assert tokens_of(prompts.extraction_instruction(request(third_person=True))) <= 900

    def test_the_fixed_part_of_a_consolidation(self) -> None:
        assert tokens_of(prompts.consolidation_instruction()) <= 500

    def test_with_one_topic_it_is_smaller(self) -> None:
        one = prompts.extraction_instruction(request(topics=DEFAULT_TOPICS[:1]))
        assert tokens_of(one) < tokens_of(prompts.extraction_instruction(request())) - 100

    def test_it_does_not_grow_with_what_is_said(self) -> None:
        assert prompts.extraction_instruction(request("tea " * 9999)) == prompts.extraction_instruction(request())


class TestInstruction:
    def test_the_rules(self) -> None:
        told = prompts.extraction_instruction(request())
        for words in (
            "in the language of its event",
            "counted from the time of the event",
            "what a friend likes stays what the friend likes",
            "Never write passwords",
            "Questions, requests, greetings, hypotheses",
            "The assistant's words are context",
            "the list is empty",
            "never take anything from them",
        ):
            assert words in told

    @pytest.mark.parametrize("name", MANAGED_TOPICS)
    def test_each_managed_topic_brings_its_own_description_and_example(self, name: str) -> None:
        told = prompts.extraction_instruction(request(topics=[Topic.managed(name)]))
        assert f"- {name}: {MANAGED_TOPICS[name]}" in told
        assert told.count("<example>") == 2, "its own and one that teaches silence"
        for other in set(MANAGED_TOPICS) - {name}:
            assert other not in told

    def test_custom_topics_and_examples(self) -> None:
        example = Example([("model", "How was it?"), ("user", "Too loud.")], [("It was too loud.", [CUSTOM.name])])
        silent = Example([("user", "Thanks.")])
        told = prompts.extraction_instruction(request(topics=[CUSTOM], examples=[example, silent]))
        assert "- business_feedback: Opinions on drinks." in told
        assert (
            '<example>model: "How was it?" / user: "Too loud." => '
            '[{"fact": "It was too loud.", "topic": "business_feedback"}]</example>'
        ) in told
        assert '<example>user: "Thanks." => []</example>' in told

    def test_an_answer_like_the_one_described_can_be_read(self) -> None:
        told = prompts.extraction_instruction(request())
        shape = told[told.rindex('{"facts"') : told.rindex("}") + 1]
        assert json.loads(shape) == {"facts": [{"fact": "…", "topic": "…", "event": 1, "action": "create"}]}
        told = prompts.consolidation_instruction()
        shape = told[told.rindex('{"decisions"') : told.rindex("}") + 1]
        assert json.loads(shape)["decisions"][0]["action"] == "update"

    def test_all_that_is_shown_by_way_of_example(self) -> None:
        example = Example([("user", "Too loud.")], [("It was too loud.", [])])
        for third_person in (False, True):
            asked = request(examples=[example], third_person=third_person)
            told = prompts.extraction_instruction(asked)
            shown = prompts.shown_texts(asked)
            assert {"Too loud.", "It was too loud."} <= set(shown)
            assert all(text in told for text in shown)


class TestContents:
    def test_events_are_numbered_and_dated(self) -> None:
        turns = [
            turn("Hi!", new=False),
            turn("Hello Ada.", role="model", new=False),
            turn("I like tea.", time=None),
        ]
        assert prompts.extraction_contents(turns) == (
            "Events\n"
            '1 context (Wednesday 2026-05-13 12:00) user: "Hi!"\n'
            '2 context (Wednesday 2026-05-13 12:00) model: "Hello Ada."\n'
            '3 new (no time) user: "I like tea."'
        )

    def test_facts_and_memories(self) -> None:
        facts = [
            ExtractedFact("I live in Lyon.", ("A",), (0,), NOON),
            ExtractedFact("my email", ("A",), (0,), None, forget=True),
        ]
        candidates = [
            Candidate("I live in Nice.", ("A", "B"), NOON, earlier=("I live in Paris.", "I live in Rome.")),
            Candidate("My bike is red.", (), None),
        ]
        assert prompts.consolidation_contents(asking(facts, candidates), [1, 0]) == (
            "New facts\n"
            '1 (Wednesday 2026-05-13 12:00) "I live in Lyon."\n'
            '2 (no time) asks to forget: "my email"\n'
            "\n"
            "Memories\n"
            '1 (no time) [] "My bike is red."\n'
            '2 (Wednesday 2026-05-13 12:00) [A, B] "I live in Nice."; before: "I live in Paris."; '
            'before: "I live in Rome."'
        )

    @given(st.text(max_size=200))
    def test_a_text_stays_one_line_and_comes_back(self, text: str) -> None:
        head, said = prompts.extraction_contents([turn(text)]).split("\n")
        assert head == "Events"
        assert json.loads(said.split("user: ", 1)[1]) == text
        assert len(said.splitlines()) == 1
        assert "<" not in said
        said.encode()

    @given(st.text(max_size=200), st.text(max_size=50))
    def test_of_examples_topics_and_memories_too(self, text: str, name: str) -> None:
        topic = Topic(f"label {name}", f"about {text}", custom=True)
        example = Example([("user", text)], [(text, [name])])
        plain = prompts.extraction_instruction(
            request(topics=[CUSTOM], examples=[Example([("user", "x")], [("x", ["y"])])])
        )
        told = prompts.extraction_instruction(request(topics=[topic], examples=[example]))
        assert len(told.splitlines()) == len(plain.splitlines())
        assert told.count("<") == plain.count("<")
        fact = ExtractedFact(text, (name,), (0,), NOON)
        candidate = Candidate(text, (name,), NOON, (text,))
        assert len(prompts.consolidation_contents(asking([fact], [candidate]), [0]).splitlines()) == 5


class TestSchemas:
    def test_an_extraction(self) -> None:
        schema = prompts.extraction_schema(DEFAULT_TOPICS)
        assert schema.type is types.Type.OBJECT
        assert schema.required == ["facts"]
        assert schema.properties is not None
        item = schema.properties["facts"].items
        assert item is not None
        assert item.properties is not None
        assert set(item.properties) == {"fact", "topic", "event", "action"}
        assert item.properties["topic"].enum == list(MANAGED_TOPICS)
        assert item.properties["action"].enum == ["create", "delete"]

    def test_a_consolidation(self) -> None:
        schema = prompts.consolidation_schema()
        assert schema.properties is not None
        item = schema.properties["decisions"].items
        assert item is not None
        assert item.properties is not None
        assert item.properties["action"].enum == ["create", "update", "delete"]
        assert item.required == ["action", "new"]

    def test_the_repair_names_what_was_wrong(self) -> None:
        assert "the answer is not JSON" in prompts.repair_contents("the answer is not JSON")
