"""What a wrong configuration is answered with: where, and what."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from adk_memorybank.config import (
    CustomizationConfig,
    GenerationTriggerConfig,
    ManagedSemanticMemoryConfig,
    SchemaConfig,
    load_config,
)
from adk_memorybank.errors import InvalidArgument


def customization(**fields: Any) -> dict[str, Any]:
    return {"unstructured_memory_configs": [{}, {"scope_keys": ["user_id"], **fields}]}


def custom(label: str = "feedback", description: str = "d") -> dict[str, Any]:
    return {"custom_memory_topic": {"label": label, "description": description}}


def managed(name: Any) -> dict[str, Any]:
    return {"managed_memory_topic": {"managed_topic_enum": name}}


def schema(**fields: Any) -> dict[str, Any]:
    config: dict[str, Any] = {"id": "profile", "schema": {"type": "object", "properties": {}}, **fields}
    return {"structured_memory_configs": [{"schema_configs": [config]}]}


TOPIC = "unstructured_memory_configs[1].memory_topics[0]"
EXAMPLE = "unstructured_memory_configs[1].generate_memories_examples[0]"
SCHEMA = "structured_memory_configs[0].schema_configs[0]"
TALK = {"events": [{"content": {"parts": [{"text": "hi"}]}}]}

WRONG: list[tuple[Any, str, str]] = [
    ([], "", "should be a mapping, not list"),
    ({"ttl": {}}, "ttl", "unknown key `ttl`; did you mean `ttl_config`"),
    ({"customizationConfig": []}, "customizationConfig", "did you mean `unstructured_memory_configs`"),
    ({"xyz": 1}, "xyz", "known keys are `generation_config`, .* and `disable_memory_revisions`"),
    ({1: 1}, "1", "unknown key"),
    ({"generation_config": {"Model": "m"}}, "generation_config.Model", "did you mean `model`"),
    ({"generation_config": {"model": ""}}, "generation_config.model", "must not be empty"),
    ({"generation_config": "gemini"}, "generation_config", "should be a mapping, not str"),
    ({"ttl_config": {"default_ttl": "1s", "defaultTtl": "2s"}}, "ttl_config.default_ttl", "given twice"),
    ({"ttl_config": {"default_ttl": "1s", "granular_ttl": {}}}, "ttl_config", "exclude each other"),
    ({"ttl_config": {"granular_ttl": {"create_ttl": "1h"}}}, "ttl_config.granular_ttl_config.create_ttl", "'1h'"),
    ({"ttl_config": {"default_ttl": "-1s"}}, "ttl_config.default_ttl", "longer than zero"),
    ({"disable_memory_revisions": "maybe"}, "disable_memory_revisions", "valid boolean.*not 'maybe'"),
    ({"customization_configs": [{}, {}]}, "unstructured_memory_configs[1]", r"second default .* beside \[0\]"),
    (
        {"customization_configs": [{"scope_keys": ["a", "b"]}, {}, {"scope_keys": ["b", "a"]}]},
        "unstructured_memory_configs[2].scope_keys",
        r"same scope keys as in \[0\]",
    ),
    ({"structured_memory_configs": [{}, {}]}, "structured_memory_configs[1]", "second default"),
    (customization(scope_keys="user_id"), "unstructured_memory_configs[1].scope_keys", "valid list, not 'user_id'"),
    (customization(scope_keys=["a", ""]), "unstructured_memory_configs[1].scope_keys[1]", "empty"),
    (customization(scope_keys=["a", "a"]), "unstructured_memory_configs[1].scope_keys[1]", "twice"),
    (customization(scope_keys=["a*"]), "unstructured_memory_configs[1].scope_keys[0]", "not allowed"),
    (customization(scope_keys=list("abcdef")), "unstructured_memory_configs[1].scope_keys", "at most 5"),
    (customization(memory_topics=[{}]), TOPIC, "needs `managed_memory_topic` or `custom_memory_topic`"),
    (customization(memory_topics=[{**custom(), **managed("USER_PREFERENCES")}]), TOPIC, "not both"),
    (
        customization(memory_topics=[managed("COLOURS")]),
        f"{TOPIC}.managed_memory_topic.managed_topic_enum",
        "or 'EXPLICIT_INSTRUCTIONS', not 'COLOURS'",
    ),
    (customization(memory_topics=[managed(0)]), f"{TOPIC}.managed_memory_topic.managed_topic_enum", "not 0"),
    (customization(memory_topics=[managed(None)]), f"{TOPIC}.managed_memory_topic.managed_topic_enum", "required"),
    (
        customization(memory_topics=[{"custom_memory_topic": {"description": "d"}}]),
        f"{TOPIC}.custom_memory_topic.label",
        "is required",
    ),
    (
        customization(memory_topics=[{"custom_memory_topic": {"label": "l"}}]),
        f"{TOPIC}.custom_memory_topic.description",
        "is required",
    ),
    (customization(memory_topics=[custom(label=" ")]), f"{TOPIC}.custom_memory_topic.label", "must not be empty"),
    (customization(memory_topics=[custom(label="a\0")]), f"{TOPIC}.custom_memory_topic.label", "NUL"),
    (
        customization(memory_topics=[custom(label="user_preferences")]),
        f"{TOPIC}.custom_memory_topic.label",
        "name of a managed topic",
    ),
    (
        customization(memory_topics=[custom(), custom()]),
        "unstructured_memory_configs[1].memory_topics[1]",
        r"`feedback` is the topic of \[0\] already",
    ),
    (customization(generate_memories_examples=[{}]), f"{EXAMPLE}.conversation_source", "is required"),
    (
        customization(generate_memories_examples=[{"conversation_source": {"events": []}}]),
        f"{EXAMPLE}.conversation_source.events",
        "at least 1 item",
    ),
    (
        customization(generate_memories_examples=[{"conversation_source": {"events": [{}]}}]),
        f"{EXAMPLE}.conversation_source.events[0].content",
        "is required",
    ),
    (
        customization(generate_memories_examples=[{"conversation_source": {"events": [{"content": {"role": "bot"}}]}}]),
        f"{EXAMPLE}.conversation_source.events[0].content.role",
        "'user' or 'model', not 'bot'",
    ),
    (
        customization(
            generate_memories_examples=[
                {"conversation_source": TALK, "generated_memories": [{"fact": "f", "topics": [{}]}]}
            ]
        ),
        f"{EXAMPLE}.generated_memories[0].topics[0]",
        "needs `managed_memory_topic` or `custom_memory_topic_label`",
    ),
    (
        customization(consolidation_config={"revisions_per_candidate_count": 0}),
        "unstructured_memory_configs[1].consolidation_config.revisions_per_candidate_count",
        "greater than or equal to 1",
    ),
    *(
        (schema(id=name), f"{SCHEMA}.id", "1 to 63 characters")
        for name in ["", "User", "1a", "a_b", "-a", "a" * 64, "a\n", "é"]
    ),
    (schema(schema=None), f"{SCHEMA}.memory_schema", "is required"),
    (schema(schema="{}"), f"{SCHEMA}.memory_schema", "not str"),
    (schema(schema={"type": "ARRAY"}), f"{SCHEMA}.memory_schema.type", "should be \"object\", not 'ARRAY'"),
    (schema(schema={"properties": []}), f"{SCHEMA}.memory_schema.properties", "mapping"),
    (schema(schema={"properties": {"a": {"default": object()}}}), f"{SCHEMA}.memory_schema", "as JSON"),
    (schema(memory_type="NATURAL_LANGUAGE_COLLECTION"), f"{SCHEMA}.memory_type", "STRUCTURED_PROFILE"),
    (
        {"structured_memory_configs": [{"schema_configs": [{"id": "a", "schema": {}}, {"id": "a", "schema": {}}]}]},
        "structured_memory_configs[0].schema_configs[1].id",
        r"`a` is the id of \[0\] already",
    ),
]


class TestWrong:
    @pytest.mark.parametrize(("given", "field", "message"), WRONG)
    def test_says_where_and_what(self, given: Any, field: str, message: str) -> None:
        with pytest.raises(InvalidArgument, match=message) as caught:
            load_config(given)
        assert caught.value.field == field
        assert str(caught.value).startswith(field)
        with pytest.raises(ValidationError):
            ManagedSemanticMemoryConfig.model_validate(given)

    def test_pydantics_own_error_is_clear_too(self) -> None:
        with pytest.raises(ValidationError, match=r"unknown key `scope_key`; did you mean `scope_keys`\?"):
            CustomizationConfig.model_validate({"scope_key": ["user_id"]})

    def test_all_faults_at_once(self) -> None:
        with pytest.raises(InvalidArgument) as caught:
            load_config({"ttl_config": {"default_ttl": "1h"}, "generation_config": {"model": " "}})
        assert caught.value.field == "generation_config.model"
        assert "; ttl_config.default_ttl: a duration is" in str(caught.value)

    def test_deep_schema(self) -> None:
        deep: dict[str, Any] = {}
        for _ in range(5000):
            deep = {"items": deep}
        with pytest.raises(InvalidArgument, match="nested too deeply"):
            SchemaConfig.parse({"id": "a", "schema": deep})


class TestTrigger:
    @pytest.mark.parametrize(
        ("rule", "field", "message"),
        [
            ({"idle_duration": "60s", "fixed_interval": "60s"}, "", "exclude each other"),
            ({"idle_duration": "90s"}, ".idle_duration", "whole minutes"),
            ({"fixed_interval": "60.5s"}, ".fixed_interval", "whole minutes"),
            ({"fixed_interval": "0s"}, ".fixed_interval", "longer than zero"),
            ({"event_count": 0}, ".event_count", "greater than or equal to 1"),
            ({"event_count": 2, "overlap_event_count": 0}, ".overlap_event_count", "greater than or equal to 1"),
            ({"event_count": 2, "overlap_event_count": 2}, ".overlap_event_count", "less than `event_count`, 2"),
            ({"overlap_event_count": 2}, ".overlap_event_count", "needs `event_count`"),
        ],
    )
    def test_wrong(self, rule: dict[str, Any], field: str, message: str) -> None:
        with pytest.raises(InvalidArgument, match=message) as caught:
            GenerationTriggerConfig.parse({"generation_rule": rule}, field="generation_trigger_config")
        assert caught.value.field == f"generation_trigger_config.generation_rule{field}"
