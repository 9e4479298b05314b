"""The configuration tree: its defaults, the ways in, and what it says when something is wrong."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from google.genai import types as genai_types
from pydantic import BaseModel, ValidationError

from adk_memorybank import types
from adk_memorybank.config import (
    DEFAULT_EMBEDDING_MODEL,
    DEFAULT_MODEL,
    ConsolidationConfig,
    CustomizationConfig,
    GenerateMemoriesExample,
    GenerationTriggerConfig,
    ManagedSemanticMemoryConfig,
    ManagedTopicEnum,
    MemoryTopic,
    MemoryTopicId,
    SchemaConfig,
    TtlConfig,
    load_config,
    set_fields,
)
from adk_memorybank.errors import InvalidArgument
from tests.requires import requires

MANAGED = ["USER_PERSONAL_INFO", "USER_PREFERENCES", "KEY_CONVERSATION_DETAILS", "EXPLICIT_INSTRUCTIONS"]

# The guide's default configuration, as it is printed there.
GUIDE_DEFAULT: dict[str, Any] = {
    "generation_config": {"model": "projects/{PROJECT}/locations/{LOCATION}/publishers/google/models/gemini-3.5-flash"},
    "similarity_search_config": {
        "embedding_model": "projects/{PROJECT}/locations/{LOCATION}/publishers/google/models/text-embedding-005"
    },
    "ttl_config": {"memory_revision_default_ttl": f"{365 * 24 * 60 * 60}s"},
    "unstructured_memory_configs": [
        {
            "memory_topics": [{"managed_memory_topic": {"managed_topic_enum": name}} for name in MANAGED],
            "consolidation_config": {"revisions_per_candidate_count": 1},
            "generate_memories_examples": [],
            "enable_third_person_memories": False,
        }
    ],
    "disable_memory_revisions": False,
}

FULL: dict[str, Any] = {
    "generation_config": {
        "model": "projects/p/locations/l/publishers/google/models/m",
        "generation_trigger_config": {
            "generation_rule": {"event_count": 10, "idle_duration": "120s", "overlap_event_count": 2}
        },
    },
    "similarity_search_config": {"embedding_model": "gemini-embedding-001"},
    "ttl_config": {
        "granular_ttl_config": {"create_ttl": "60s", "generate_updated_ttl": "3.5s"},
        "memory_revision_default_ttl": "86400s",
    },
    "unstructured_memory_configs": [
        {
            "scope_keys": ["user_id"],
            "memory_topics": [
                {"managed_memory_topic": {"managed_topic_enum": "USER_PREFERENCES"}},
                {"custom_memory_topic": {"label": "business_feedback", "description": "What they say of the shop."}},
            ],
            "generate_memories_examples": [
                {
                    "conversation_source": {
                        "events": [
                            {"content": {"role": "model", "parts": [{"text": "How was it?"}]}},
                            {"content": {"role": "user", "parts": [{"text": "Lukewarm."}, {"text": "And loud."}]}},
                        ]
                    },
                    "generated_memories": [
                        {
                            "fact": "The coffee was lukewarm.",
                            "topics": [
                                {"custom_memory_topic_label": "business_feedback"},
                                {"managed_memory_topic": "USER_PREFERENCES"},
                            ],
                        }
                    ],
                }
            ],
            "enable_third_person_memories": True,
            "consolidation_config": {"revisions_per_candidate_count": 10},
            "disable_natural_language_memories": False,
        },
        {"memory_topics": [{"managed_memory_topic": {"managed_topic_enum": "EXPLICIT_INSTRUCTIONS"}}]},
    ],
    "structured_memory_configs": [
        {
            "scope_keys": ["user_id"],
            "schema_configs": [
                {
                    "id": "user-profile",
                    "memory_schema": {
                        "type": "OBJECT",
                        "properties": {"first_name": {"type": "STRING"}, "lastName": {"type": "STRING"}},
                    },
                    "memory_type": "STRUCTURED_PROFILE",
                }
            ],
        }
    ],
    "disable_memory_revisions": True,
}


def camel(value: Any, *, key: str = "") -> Any:
    """All keys in camelCase, but those of a schema."""
    if isinstance(value, list):
        return [camel(item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict) or key == "memorySchema":
        return cast("Any", value)
    fields = cast("dict[str, Any]", value)
    return {to_camel(name): camel(item, key=to_camel(name)) for name, item in fields.items()}


def to_camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


class TestDefaults:
    @pytest.mark.parametrize(
        "config",
        [
            ManagedSemanticMemoryConfig(),
            ManagedSemanticMemoryConfig(unstructured_memory_configs=[CustomizationConfig()]),
            load_config(None),
            load_config({}),
            load_config({"ttl_config": None, "generation_config": {}, "unstructured_memory_configs": []}),
            load_config({"unstructured_memory_configs": [{"memory_topics": [], "scope_keys": []}]}),
            load_config(GUIDE_DEFAULT),
        ],
    )
    def test_are_the_guides(self, config: ManagedSemanticMemoryConfig) -> None:
        assert config == load_config(GUIDE_DEFAULT)
        assert config.generation_config.model == DEFAULT_MODEL
        assert config.generation_config.generation_trigger_config is None
        assert config.similarity_search_config.embedding_model == DEFAULT_EMBEDDING_MODEL
        assert config.ttl_config.revision_ttl == timedelta(days=365)
        assert config.ttl_config.ttl_of("create") is None
        assert config.disable_memory_revisions is False
        assert config.structured_memory_configs == []
        (only,) = config.unstructured_memory_configs
        assert [topic.name for topic in only.memory_topics] == MANAGED
        assert all(topic.description is None and not topic.custom for topic in only.memory_topics)
        assert only.consolidation_config.revisions_per_candidate_count == 1
        assert only.generate_memories_examples == []
        assert only.enable_third_person_memories is only.disable_natural_language_memories is False

    def test_show_what_was_not_named_in_an_explicit_configuration(self) -> None:
        config = load_config({"ttl_config": {"default_ttl": "60s"}, "generation_config": {"model": "m"}})
        assert config.ttl_config.memory_revision_default_ttl == "31536000s"
        assert config.unstructured_memory_configs == [CustomizationConfig()]

    def test_are_not_shared(self) -> None:
        ManagedSemanticMemoryConfig().unstructured_memory_configs.clear()
        assert len(ManagedSemanticMemoryConfig().unstructured_memory_configs) == 1


STORED: list[dict[str, Any]] = [
    {},
    {"generation_config": {}},
    {"disable_memory_revisions": False},
    {"generation_config": {"model": DEFAULT_MODEL}},
    {"unstructured_memory_configs": [{}]},
    {"unstructured_memory_configs": [{"scope_keys": ["a"], "consolidation_config": {}}]},
    GUIDE_DEFAULT,
    FULL,
]


class TestSetFields:
    @pytest.mark.parametrize("given", STORED)
    def test_survive_storage(self, given: dict[str, Any]) -> None:
        config = load_config(given)
        assert set_fields(config) == given
        stored = json.loads(json.dumps(set_fields(config)))
        again = load_config(stored)
        assert again == config
        assert set_fields(again) == given
        assert again.generation_config.model_fields_set == config.generation_config.model_fields_set

    def test_leave_out_none(self) -> None:
        config = load_config({"ttl_config": {"default_ttl": None}, "generation_config": None})
        assert set_fields(config) == {"ttl_config": {}}
        assert config.model_fields_set == {"ttl_config"}

    def test_keep_parts_that_are_not_text(self) -> None:
        parts = [{"inline_data": {"mime_type": "image/png", "data": b"\xff\x00"}}, {"text": "What is this?"}]
        example = GenerateMemoriesExample.parse({"conversation_source": {"events": [{"content": {"parts": parts}}]}})
        stored = json.loads(json.dumps(set_fields(example)))
        assert set_fields(GenerateMemoriesExample.parse(stored)) == stored
        assert example.turns == [("user", "What is this?")]


class TestInput:
    def test_camel_case_at_every_depth(self) -> None:
        assert load_config(camel(FULL)) == load_config(FULL)

    @pytest.mark.parametrize("name", ["unstructuredMemoryConfigs", "customization_configs", "customizationConfigs"])
    def test_names_of_the_customizations(self, name: str) -> None:
        config = load_config({name: [{"scopeKeys": ["user_id"]}]})
        assert set_fields(config) == {"unstructured_memory_configs": [{"scope_keys": ["user_id"]}]}

    def test_the_wires_own_names_come_out_and_go_in(self) -> None:
        config = load_config(FULL)
        wire = config.model_dump(mode="json", by_alias=True, exclude_unset=True)
        assert wire["customizationConfigs"][0]["memoryTopics"][0] == {
            "managedMemoryTopic": {"managedTopicEnum": "USER_PREFERENCES"}
        }
        assert wire["structuredMemoryConfigs"][0]["schemaConfigs"][0]["schema"]["type"] == "OBJECT"
        assert load_config(wire) == config
        assert set_fields(load_config(wire)) == set_fields(config)

    @pytest.mark.parametrize("name", ["schema", "memory_schema", "memorySchema"])
    def test_schema_keeps_the_users_names(self, name: str) -> None:
        given = {
            "type": "object",
            "properties": {
                "any_of": {"any_of": [{"type": "string", "max_length": 5}, {"type": "null"}]},
                "tags": {"type": "array", "min_items": 1, "items": {"$ref": "#/$defs/some_tag"}},
            },
            "$defs": {"some_tag": {"enum": ["max_items"], "default": {"any_of": 1}}},
        }
        config = SchemaConfig.parse({"id": "p", name: given})
        assert config.memory_schema == {
            "type": "object",
            "properties": {
                "any_of": {"anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}]},
                "tags": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/some_tag"}},
            },
            "$defs": {"some_tag": {"enum": ["max_items"], "default": {"any_of": 1}}},
        }
        assert list(config.properties) == ["any_of", "tags"]

    def test_schema_from_classes_and_objects(self) -> None:
        class Profile(BaseModel):
            first_name: str

        from_class = SchemaConfig.parse({"id": "p", "schema": Profile})
        assert from_class.memory_schema == Profile.model_json_schema()
        given = genai_types.Schema(
            type=genai_types.Type.OBJECT, properties={"first_name": genai_types.Schema(type=genai_types.Type.STRING)}
        )
        from_object = SchemaConfig.parse({"id": "p", "schema": given})
        assert from_object.memory_schema == {"type": "OBJECT", "properties": {"first_name": {"type": "STRING"}}}
        mixed = SchemaConfig.parse({"id": "p", "schema": {"properties": {"n": given}}})
        assert mixed.memory_schema == {"properties": {"n": from_object.memory_schema}}

    def test_contents_of_genai(self) -> None:
        content = genai_types.Content(role="user", parts=[genai_types.Part(text="Thanks!")])
        events = [types.MemoryBankCustomizationConfigGenerateMemoriesExampleConversationSourceEvent(content=content)]
        example = GenerateMemoriesExample.parse({"conversationSource": {"events": events}, "generatedMemories": []})
        assert example.turns == [("user", "Thanks!")]
        assert example.facts == []

    def test_example_in_plain_values(self) -> None:
        (example,) = load_config(FULL).unstructured_memory_configs[0].generate_memories_examples
        assert example.turns == [("model", "How was it?"), ("user", "Lukewarm.\nAnd loud.")]
        assert example.facts == [("The coffee was lukewarm.", ["business_feedback", "USER_PREFERENCES"])]

    @pytest.mark.parametrize("name", ["USER_PREFERENCES", "user_preferences", 2, ManagedTopicEnum.USER_PREFERENCES])
    def test_managed_topics_in_any_spelling(self, name: object) -> None:
        assert MemoryTopic.parse({"managed_memory_topic": {"managed_topic_enum": name}}).name == "USER_PREFERENCES"
        assert MemoryTopicId.parse({"managed_memory_topic": name}).name == "USER_PREFERENCES"

    @pytest.mark.parametrize(
        ("given", "fields"),
        [
            ("user_preferences", {"managed_memory_topic": "USER_PREFERENCES"}),
            ("feedback", {"custom_memory_topic_label": "feedback"}),
        ],
    )
    def test_topic_id_from_a_name(self, given: str, fields: dict[str, str]) -> None:
        assert set_fields(MemoryTopicId.parse(given)) == fields

    def test_yaml_file(self, tmp_path: Path) -> None:
        file = tmp_path / "bank.yaml"
        file.write_text(json.dumps(FULL), encoding="utf-8")
        assert load_config(file) == load_config(str(file)) == load_config(FULL)
        file.write_text("ttl_config:\n  default_ttl: 3600s  # an hour\ngeneration_config:\n")
        assert set_fields(load_config(file)) == {"ttl_config": {"default_ttl": "3600s"}}
        file.write_text("")
        assert load_config(file) == ManagedSemanticMemoryConfig()

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (None, r"can't be read: .*No such file"),
            ("a: [", "is not YAML"),
            ("- a", r"should be a mapping, not list \(in .*bank.yaml\)"),
            ("ttl_config: {default_ttl: 60}", r'ttl_config.default_ttl: .* write "60s" \(in .*bank.yaml\)'),
        ],
    )
    def test_wrong_file(self, tmp_path: Path, text: str | None, message: str) -> None:
        file = tmp_path / "bank.yaml"
        if text is not None:
            file.write_text(text)
        with pytest.raises(InvalidArgument, match=message):
            load_config(file)

    def test_instances_are_taken_as_they_are(self) -> None:
        config = ManagedSemanticMemoryConfig(ttl_config=TtlConfig(default_ttl="60s"))
        assert load_config(config) is config
        assert load_config({"ttl_config": config.ttl_config}).ttl_config is config.ttl_config


def test_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        ManagedSemanticMemoryConfig().disable_memory_revisions = True


class TestTrigger:
    @pytest.mark.parametrize(
        "rule",
        [
            {},
            {"event_count": 1},
            {"event_count": "10", "overlap_event_count": 9},
            {"idle_duration": "60s", "overlap_event_count": 500},
            {"fixedInterval": timedelta(minutes=2), "eventCount": 3},
        ],
    )
    def test_right(self, rule: dict[str, Any]) -> None:
        assert GenerationTriggerConfig.parse({"generationRule": rule}).generation_rule is not None

    def test_times(self) -> None:
        rule = GenerationTriggerConfig.parse({"generation_rule": {"idle_duration": "120s"}}).generation_rule
        assert rule is not None
        assert (rule.idle, rule.interval) == (timedelta(minutes=2), None)
        assert GenerationTriggerConfig.parse(None).generation_rule is None


class TestChoice:
    CONFIG = load_config(
        {
            "unstructured_memory_configs": [
                {"scope_keys": ["user_id"]},
                {},
                {"scope_keys": ["app_name", "user_id"], "enable_third_person_memories": True},
            ],
            "structured_memory_configs": [
                {"scope_keys": ["user_id"], "schema_configs": [{"id": "profile", "schema": {"type": "object"}}]}
            ],
        }
    )

    @pytest.mark.parametrize(
        ("keys", "index"),
        [
            (["user_id"], 0),
            (["user_id", "session"], 0),
            ({"user_id": "1", "app_name": "a"}, 2),
            (["session", "app_name", "user_id"], 2),
            (["app_name"], 1),
            ([], 1),
        ],
    )
    def test_customization(self, keys: Any, index: int) -> None:
        assert self.CONFIG.customization_for(keys) is self.CONFIG.unstructured_memory_configs[index]

    def test_built_in_default_where_none_fits(self) -> None:
        config = load_config({"customization_configs": [{"scope_keys": ["session"]}]})
        assert config.customization_for({"user_id"}) == CustomizationConfig()

    def test_structured(self) -> None:
        assert [schema.id for schema in self.CONFIG.structured_for({"user_id", "app_name"}).schema_configs] == [
            "profile"
        ]
        assert self.CONFIG.structured_for({"app_name"}).schema_configs == []


class TestTypes:
    def test_all_is_what_is_public(self) -> None:
        classes = {name for name, value in vars(types).items() if isinstance(value, type)}
        assert set(types.__all__) == classes
        assert types.ManagedSemanticMemoryConfig is ManagedSemanticMemoryConfig

    def test_guides_class_sample(self) -> None:
        config = types.ManagedSemanticMemoryConfig(
            generation_config=types.ManagedSemanticMemoryConfigGenerationConfig(model=DEFAULT_MODEL),
            similarity_search_config=types.ManagedSemanticMemoryConfigSimilaritySearchConfig(
                embedding_model=DEFAULT_EMBEDDING_MODEL
            ),
            ttl_config=types.ManagedSemanticMemoryConfigTtlConfig(memory_revision_default_ttl=f"{365 * 24 * 60 * 60}s"),
            unstructured_memory_configs=[
                types.MemoryBankCustomizationConfig(
                    memory_topics=[
                        types.MemoryBankCustomizationConfigMemoryTopic(
                            managed_memory_topic=types.MemoryBankCustomizationConfigMemoryTopicManagedMemoryTopic(
                                managed_topic_enum=topic
                            )
                        )
                        for topic in types.ManagedTopicEnum
                    ],
                    generate_memories_examples=[],
                    consolidation_config=types.MemoryBankCustomizationConfigConsolidationConfig(
                        revisions_per_candidate_count=1
                    ),
                    enable_third_person_memories=False,
                )
            ],
            disable_memory_revisions=False,
        )
        assert set_fields(config) == GUIDE_DEFAULT
        assert ConsolidationConfig is types.MemoryBankCustomizationConfigConsolidationConfig


def official_types() -> Any:
    """The official SDK's classes. The submodule exists only after it was touched as an attribute."""
    return importlib.import_module(importlib.import_module("agentplatform").types.__name__)


@requires("agentplatform")
class TestOfficialSdk:
    def test_every_name_is_there(self) -> None:
        official = official_types()
        assert [name for name in types.__all__ if not hasattr(official, name)] == []

    def test_objects_at_every_depth(self) -> None:
        official = official_types()
        given = official.ManagedSemanticMemoryConfig.model_validate(FULL)
        assert load_config(given) == ManagedSemanticMemoryConfig.model_validate(given) == load_config(FULL)
        assert set_fields(load_config(given)) == FULL
        inner = official.MemoryBankCustomizationConfig.model_validate(FULL["unstructured_memory_configs"][0])
        config = load_config({"customizationConfigs": [inner, {}]})
        assert config.unstructured_memory_configs[0] == load_config(FULL).unstructured_memory_configs[0]
        topic = {"managed_memory_topic": {"managed_topic_enum": official.ManagedTopicEnum.USER_PREFERENCES}}
        assert MemoryTopic.parse(topic).name == "USER_PREFERENCES"

    def test_older_context_spec(self) -> None:
        official = official_types()
        given = official.ReasoningEngineContextSpecMemoryBankConfig(
            customization_configs=[{"scope_keys": ["user_id"]}],
            ttl_config={"default_ttl": "60s"},
        )
        assert set_fields(load_config(given)) == {
            "unstructured_memory_configs": [{"scope_keys": ["user_id"]}],
            "ttl_config": {"default_ttl": "60s"},
        }

    @pytest.mark.parametrize("topic", [{}, {"custom_memory_topic": {"label": "l"}}])
    def test_wrong_objects(self, topic: dict[str, Any]) -> None:
        given = official_types().ManagedSemanticMemoryConfig.model_validate(
            {"unstructured_memory_configs": [{"memory_topics": [topic]}]}
        )
        with pytest.raises(InvalidArgument, match=r"^unstructured_memory_configs\[0\]\.memory_topics\[0\]"):
            load_config(given)


def test_import_is_cheap() -> None:
    code = "import sys, adk_memorybank.types; print({'google.genai', 'yaml'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
