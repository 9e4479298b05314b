"""Samples of the managed service's setup guide, for the tests: a dictionary, and the code of its class-based form.

The code is kept as text, so that it runs as it would in a user's file: word for word with `agentplatform.types`, and
with that one name changed. Where the guide leaves something open (`[...]`, `LLM_MODEL`), there are values here.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

OFFICIAL = "agentplatform.types"
OURS = "adk_memorybank.types"
MODELS = "projects/{PROJECT}/locations/{LOCATION}/publishers/google/models"
LLM = "projects/p/locations/us-central1/publishers/google/models/gemini-3.5-flash"
EMBEDDING = "projects/p/locations/us-central1/publishers/google/models/gemini-embedding-001"


@dataclass(frozen=True)
class Sample:
    """One sample of the guide.

    Attributes:
        code: the class-based form; what it makes is called `result`.
        given: the dictionary form.
        place: where it belongs in a bank's configuration, with the dots of the fields' names; empty for the whole.
    """

    name: str
    given: Any
    code: str
    place: str = ""

    def __str__(self) -> str:
        return self.name

    def run(self, module: str) -> Any:
        """What the class-based form makes with the classes of a module."""
        names: dict[str, Any] = {}
        if module == OFFICIAL:
            # The submodule exists only after it was touched as an attribute.
            assert importlib.import_module("agentplatform").types
        exec(compile(dedent(self.code).replace(OFFICIAL, module), self.name, "exec"), names)
        return names["result"]

    def placed(self, value: Any) -> Any:
        """The configuration of a bank in which a value stands where it belongs."""
        for name in reversed(self.place.split(".") if self.place else []):
            value = {name.removesuffix("[]"): [value] if name.endswith("[]") else value}
        return value


TOPICS = """
    from agentplatform.types import ManagedTopicEnum
    from agentplatform.types import MemoryBankCustomizationConfigMemoryTopic as MemoryTopic
    from agentplatform.types import MemoryBankCustomizationConfigMemoryTopicCustomMemoryTopic as CustomMemoryTopic
    from agentplatform.types import MemoryBankCustomizationConfigMemoryTopicManagedMemoryTopic as ManagedMemoryTopic
"""
EXAMPLES = """
    from google.genai.types import Content, Part
    from agentplatform.types import MemoryBankCustomizationConfigGenerateMemoriesExample as GenerateMemoriesExample
    from agentplatform.types import MemoryBankCustomizationConfigGenerateMemoriesExampleConversationSource as ConversationSource
    from agentplatform.types import MemoryBankCustomizationConfigGenerateMemoriesExampleConversationSourceEvent as ConversationSourceEvent
    from agentplatform.types import MemoryBankCustomizationConfigGenerateMemoriesExampleGeneratedMemory as ExampleGeneratedMemory
"""  # noqa: E501
CUSTOMIZATION = """
    from agentplatform.types import MemoryBankCustomizationConfig as CustomizationConfig
"""
PERSONAL = {"managed_memory_topic": {"managed_topic_enum": "USER_PERSONAL_INFO"}}
PREFERENCES = {"managed_memory_topic": {"managed_topic_enum": "USER_PREFERENCES"}}
DETAILS = {"managed_memory_topic": {"managed_topic_enum": "KEY_CONVERSATION_DETAILS"}}
EXPLICIT = {"managed_memory_topic": {"managed_topic_enum": "EXPLICIT_INSTRUCTIONS"}}
DESCRIPTION = """Specific user feedback about their experience at
the coffee shop. This includes opinions on drinks, food, pastries, ambiance,
staff friendliness, service speed, cleanliness, and any suggestions for
improvement."""
FEEDBACK = {"custom_memory_topic": {"label": "business_feedback", "description": DESCRIPTION}}
WELCOME = "Welcome back to The Daily Grind! We'd love to hear your feedback on your visit."
LUKEWARM = (
    "Hey. The drip coffee was a bit lukewarm today, which was a bummer. Also, the music was way too loud, I could "
    "barely hear my friend."
)

THE_DEFAULT = Sample(
    "the default bank",
    {
        "generation_config": {"model": f"{MODELS}/gemini-3.5-flash"},
        "similarity_search_config": {"embedding_model": f"{MODELS}/text-embedding-005"},
        "ttl_config": {"memory_revision_default_ttl": f"{365 * 24 * 60 * 60}s"},
        "unstructured_memory_configs": [
            {
                "memory_topics": [PERSONAL, PREFERENCES, DETAILS, EXPLICIT],
                "consolidation_config": {"revisions_per_candidate_count": 1},
                "generate_memories_examples": [],
                "enable_third_person_memories": False,
            }
        ],
        "disable_memory_revisions": False,
    },
    """
    from agentplatform.types import ManagedSemanticMemoryConfig
    from agentplatform.types import ManagedSemanticMemoryConfigGenerationConfig as GenerationConfig
    from agentplatform.types import ManagedSemanticMemoryConfigSimilaritySearchConfig as SimilaritySearchConfig
    from agentplatform.types import ManagedSemanticMemoryConfigTtlConfig as TtlConfig
    from agentplatform.types import ManagedTopicEnum
    from agentplatform.types import MemoryBankCustomizationConfig as CustomizationConfig
    from agentplatform.types import MemoryBankCustomizationConfigConsolidationConfig as ConsolidationConfig
    from agentplatform.types import MemoryBankCustomizationConfigMemoryTopic as MemoryTopic
    from agentplatform.types import MemoryBankCustomizationConfigMemoryTopicManagedMemoryTopic as ManagedMemoryTopic

    result = ManagedSemanticMemoryConfig(
      generation_config=GenerationConfig(
        model="projects/{PROJECT}/locations/{LOCATION}/publishers/google/models/gemini-3.5-flash"
      ),
      similarity_search_config=SimilaritySearchConfig(
        embedding_model="projects/{PROJECT}/locations/{LOCATION}/publishers/google/models/text-embedding-005"
      ),
      ttl_config=TtlConfig(
        memory_revision_default_ttl=f"{365 * 24 * 60 * 60}s"
      ),
      unstructured_memory_configs=[
        CustomizationConfig(
          memory_topics=[
            MemoryTopic(
              managed_memory_topic=ManagedMemoryTopic(
                managed_topic_enum=ManagedTopicEnum.USER_PERSONAL_INFO)),
            MemoryTopic(
              managed_memory_topic=ManagedMemoryTopic(
                managed_topic_enum=ManagedTopicEnum.USER_PREFERENCES)),
            MemoryTopic(
              managed_memory_topic=ManagedMemoryTopic(
                managed_topic_enum=ManagedTopicEnum.KEY_CONVERSATION_DETAILS)),
            MemoryTopic(
              managed_memory_topic=ManagedMemoryTopic(
                managed_topic_enum=ManagedTopicEnum.EXPLICIT_INSTRUCTIONS))
          ],
          generate_memories_examples=[],
          consolidation_config=ConsolidationConfig(
            revisions_per_candidate_count=1
          ),
          enable_third_person_memories=False,
        )
      ],
      disable_memory_revisions=False
    )
    """,
)
LEVELS = Sample(
    "two levels of scope",
    {
        "unstructured_memory_configs": [
            {
                "scope_keys": ["user_id"],
                "memory_topics": [PERSONAL],
                "generate_memories_examples": [
                    {
                        "conversation_source": {"events": [{"content": {"parts": [{"text": "Hi, I'm Ada."}]}}]},
                        "generated_memories": [{"fact": "My name is Ada."}],
                    }
                ],
            },
            {"memory_topics": [PREFERENCES], "generate_memories_examples": []},
        ]
    },
    f"""
    from agentplatform.types import ManagedSemanticMemoryConfig
    {CUSTOMIZATION}
    {TOPICS}
    {EXAMPLES}

    user_level_config = CustomizationConfig(
      scope_keys=["user_id"],
      memory_topics=[MemoryTopic(managed_memory_topic=ManagedMemoryTopic(
        managed_topic_enum=ManagedTopicEnum.USER_PERSONAL_INFO))],
      generate_memories_examples=[GenerateMemoriesExample(
        conversation_source=ConversationSource(events=[
          ConversationSourceEvent(content=Content(parts=[Part(text="Hi, I'm Ada.")]))]),
        generated_memories=[ExampleGeneratedMemory(fact="My name is Ada.")])]
    )

    default_config = CustomizationConfig(
      memory_topics=[MemoryTopic(managed_memory_topic=ManagedMemoryTopic(
        managed_topic_enum=ManagedTopicEnum.USER_PREFERENCES))],
      generate_memories_examples=[]
    )

    result = ManagedSemanticMemoryConfig(
      unstructured_memory_configs=[
        user_level_config,
        default_config,
      ]
    )
    """,
)
MANAGED_TOPIC = Sample(
    "a managed topic",
    PERSONAL,
    f"""
    {TOPICS}

    result = MemoryTopic(
        managed_memory_topic=ManagedMemoryTopic(
            managed_topic_enum=ManagedTopicEnum.USER_PERSONAL_INFO
        )
    )
    """,
    "unstructured_memory_configs[].memory_topics[]",
)
CUSTOM_TOPIC = Sample(
    "a custom topic",
    FEEDBACK,
    f"""
    {TOPICS}

    result = MemoryTopic(
      custom_memory_topic=CustomMemoryTopic(
        label="business_feedback",
        description={DESCRIPTION!r}
      )
    )
    """,
    "unstructured_memory_configs[].memory_topics[]",
)
SOME_TOPICS = Sample(
    "some of the managed topics",
    {"memory_topics": [PERSONAL, PREFERENCES]},
    f"""
    {TOPICS}
    {CUSTOMIZATION}

    result = CustomizationConfig(
      memory_topics=[
          MemoryTopic(
              managed_memory_topic=ManagedMemoryTopic(
                  managed_topic_enum=ManagedTopicEnum.USER_PERSONAL_INFO)
          ),
          MemoryTopic(
              managed_memory_topic=ManagedMemoryTopic(
                  managed_topic_enum=ManagedTopicEnum.USER_PREFERENCES)
          ),
      ]
    )
    """,
    "unstructured_memory_configs[]",
)
MIXED_TOPICS = Sample(
    "managed and custom topics",
    {"memory_topics": [PERSONAL, FEEDBACK]},
    f"""
    {TOPICS}
    {CUSTOMIZATION}

    result = CustomizationConfig(
      memory_topics=[
          MemoryTopic(
              managed_memory_topic=ManagedMemoryTopic(
                  managed_topic_enum=ManagedTopicEnum.USER_PERSONAL_INFO)
          ),
          MemoryTopic(
              custom_memory_topic=CustomMemoryTopic(
                  label="business_feedback",
                  description={DESCRIPTION!r}
              )
        )
      ]
    )
    """,
    "unstructured_memory_configs[]",
)
EXAMPLE = Sample(
    "a few-shot example",
    {
        "conversationSource": {
            "events": [
                {"content": {"role": "model", "parts": [{"text": WELCOME}]}},
                {"content": {"role": "user", "parts": [{"text": LUKEWARM}]}},
            ]
        },
        "generatedMemories": [
            {"fact": "The user reported that the drip coffee was lukewarm."},
            {"fact": "The user felt the music in the shop was too loud."},
        ],
    },
    f'''
    {EXAMPLES}

    result = GenerateMemoriesExample(
        conversation_source=ConversationSource(
            events=[
                ConversationSourceEvent(
                    content=Content(
                        role="model",
                        parts=[Part(text="{WELCOME}")]
                    )
                ),
                ConversationSourceEvent(
                    content=Content(
                        role="user",
                        parts=[Part(text= "{LUKEWARM}")]
                    )
                )
            ]
        ),
        generated_memories=[
            ExampleGeneratedMemory(
                fact="The user reported that the drip coffee was lukewarm."
            ),
            ExampleGeneratedMemory(
                fact="The user felt the music in the shop was too loud."
            )
        ]
    )
    ''',
    "unstructured_memory_configs[].generate_memories_examples[]",
)
SILENT_EXAMPLE = Sample(
    "an example that teaches silence",
    {
        "conversationSource": {
            "events": [
                {"content": {"role": "model", "parts": [{"text": WELCOME}]}},
                {"content": {"role": "user", "parts": [{"text": "Thanks for the coffee!"}]}},
            ]
        },
        "generatedMemories": [],
    },
    f'''
    {EXAMPLES}

    result = GenerateMemoriesExample(
        conversation_source=ConversationSource(
            events=[
                ConversationSourceEvent(
                    content=Content(
                        role="model",
                        parts=[Part(text="{WELCOME}")]
                    )
                ),
                ConversationSourceEvent(
                    content=Content(
                        role="user",
                        parts=[Part(text= "Thanks for the coffee!")]
                    )
                )
            ]
        ),
        generated_memories=[]
    )
    ''',
    "unstructured_memory_configs[].generate_memories_examples[]",
)
PERSPECTIVE = Sample(
    "the third person",
    {"enable_third_person_memories": True},
    f"""
    {CUSTOMIZATION}

    result = CustomizationConfig(
        enable_third_person_memories=True
    )
    """,
    "unstructured_memory_configs[]",
)
CONSOLIDATION = Sample(
    "revisions in consolidation",
    {"consolidation_config": {"revisions_per_candidate_count": 10}},
    f"""
    {CUSTOMIZATION}
    from agentplatform.types import MemoryBankCustomizationConfigConsolidationConfig as ConsolidationConfig

    result = CustomizationConfig(
        consolidation_config=ConsolidationConfig(
          revisions_per_candidate_count=10
        )
    )
    """,
    "unstructured_memory_configs[]",
)
APPLIED = Sample(
    "a customization applied",
    {"unstructured_memory_configs": [{"enable_third_person_memories": True}]},
    f"""
    {CUSTOMIZATION}
    from agentplatform.types import ManagedSemanticMemoryConfig

    customization_config = CustomizationConfig(enable_third_person_memories=True)

    result = ManagedSemanticMemoryConfig(
      unstructured_memory_configs=[customization_config],
    )
    """,
)
SIMILARITY = Sample(
    "the embedding model",
    {"embedding_model": EMBEDDING},
    f"""
    from agentplatform.types import ManagedSemanticMemoryConfigSimilaritySearchConfig as SimilaritySearchConfig

    result = SimilaritySearchConfig(
        embedding_model="{EMBEDDING}"
    )
    """,
    "similarity_search_config",
)
GENERATION = Sample(
    "the generation model",
    {"model": LLM},
    f"""
    from agentplatform.types import ManagedSemanticMemoryConfigGenerationConfig as GenerationConfig

    result = GenerationConfig(
      model="{LLM}"
    )
    """,
    "generation_config",
)
DEFAULT_TTL = Sample(
    "one TTL",
    {"default_ttl": f"{30 * 24 * 60 * 60}s"},
    """
    from agentplatform.types import ManagedSemanticMemoryConfigTtlConfig as TtlConfig

    result = TtlConfig(
        default_ttl=f"{30 * 24 * 60 * 60}s"
    )
    """,
    "ttl_config",
)
GRANULAR_TTL = Sample(
    "a TTL for each operation",
    # The guide's dictionary says `granular_ttl`, its class `granular_ttl_config`.
    {"granular_ttl": {"create_ttl": "3600s", "generate_created_ttl": "7200s", "generate_updated_ttl": "10800s"}},
    """
    from agentplatform.types import ManagedSemanticMemoryConfigTtlConfig as TtlConfig
    from agentplatform.types import ManagedSemanticMemoryConfigTtlConfigGranularTtlConfig as GranularTtlConfig

    result = TtlConfig(
        granular_ttl_config=GranularTtlConfig(
            create_ttl=f"{3600}s",
            generate_created_ttl=f"{7200}s",
            generate_updated_ttl=f"{10800}s",
        )
    )
    """,
    "ttl_config",
)
SAMPLES = [
    THE_DEFAULT,
    LEVELS,
    MANAGED_TOPIC,
    CUSTOM_TOPIC,
    SOME_TOPICS,
    MIXED_TOPICS,
    EXAMPLE,
    SILENT_EXAMPLE,
    PERSPECTIVE,
    CONSOLIDATION,
    APPLIED,
    SIMILARITY,
    GENERATION,
    DEFAULT_TTL,
    GRANULAR_TTL,
]
