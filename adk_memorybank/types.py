"""The configuration's classes under the names that they have in `agentplatform.types`.

Code written for the official SDK runs with one import line changed:

    from adk_memorybank.types import ManagedSemanticMemoryConfig
    from adk_memorybank.types import MemoryBankCustomizationConfig as CustomizationConfig

The `ReasoningEngineContextSpecMemoryBankConfig…` names are those of `agent_engines.create(config={"context_spec": …})`.
"""

from __future__ import annotations

from adk_memorybank import config
from adk_memorybank.config import (
    ManagedSemanticMemoryConfig,
    ManagedTopicEnum,
    MemoryTopicId,
    StructuredMemoryConfig,
)
from adk_memorybank.resources import MemoryType

__all__ = [
    "ManagedSemanticMemoryConfig",
    "ManagedSemanticMemoryConfigGenerationConfig",
    "ManagedSemanticMemoryConfigSimilaritySearchConfig",
    "ManagedSemanticMemoryConfigTtlConfig",
    "ManagedSemanticMemoryConfigTtlConfigGranularTtlConfig",
    "ManagedTopicEnum",
    "MemoryBankCustomizationConfig",
    "MemoryBankCustomizationConfigConsolidationConfig",
    "MemoryBankCustomizationConfigGenerateMemoriesExample",
    "MemoryBankCustomizationConfigGenerateMemoriesExampleConversationSource",
    "MemoryBankCustomizationConfigGenerateMemoriesExampleConversationSourceEvent",
    "MemoryBankCustomizationConfigGenerateMemoriesExampleGeneratedMemory",
    "MemoryBankCustomizationConfigMemoryTopic",
    "MemoryBankCustomizationConfigMemoryTopicCustomMemoryTopic",
    "MemoryBankCustomizationConfigMemoryTopicManagedMemoryTopic",
    "MemoryGenerationTriggerConfig",
    "MemoryGenerationTriggerConfigGenerationTriggerRule",
    "MemoryTopicId",
    "MemoryType",
    "ReasoningEngineContextSpecMemoryBankConfig",
    "ReasoningEngineContextSpecMemoryBankConfigGenerationConfig",
    "ReasoningEngineContextSpecMemoryBankConfigSimilaritySearchConfig",
    "ReasoningEngineContextSpecMemoryBankConfigTtlConfig",
    "ReasoningEngineContextSpecMemoryBankConfigTtlConfigGranularTtlConfig",
    "StructuredMemoryConfig",
    "StructuredMemorySchemaConfig",
]

ManagedSemanticMemoryConfigGenerationConfig = config.GenerationConfig
ManagedSemanticMemoryConfigSimilaritySearchConfig = config.SimilaritySearchConfig
ManagedSemanticMemoryConfigTtlConfig = config.TtlConfig
ManagedSemanticMemoryConfigTtlConfigGranularTtlConfig = config.GranularTtlConfig
MemoryBankCustomizationConfig = config.CustomizationConfig
MemoryBankCustomizationConfigConsolidationConfig = config.ConsolidationConfig
MemoryBankCustomizationConfigGenerateMemoriesExample = config.GenerateMemoriesExample
MemoryBankCustomizationConfigGenerateMemoriesExampleConversationSource = config.ConversationSource
MemoryBankCustomizationConfigGenerateMemoriesExampleConversationSourceEvent = config.ConversationSourceEvent
MemoryBankCustomizationConfigGenerateMemoriesExampleGeneratedMemory = config.ExampleGeneratedMemory
MemoryBankCustomizationConfigMemoryTopic = config.MemoryTopic
MemoryBankCustomizationConfigMemoryTopicCustomMemoryTopic = config.CustomMemoryTopic
MemoryBankCustomizationConfigMemoryTopicManagedMemoryTopic = config.ManagedMemoryTopic
MemoryGenerationTriggerConfig = config.GenerationTriggerConfig
MemoryGenerationTriggerConfigGenerationTriggerRule = config.GenerationRule
ReasoningEngineContextSpecMemoryBankConfig = config.ManagedSemanticMemoryConfig
ReasoningEngineContextSpecMemoryBankConfigGenerationConfig = config.GenerationConfig
ReasoningEngineContextSpecMemoryBankConfigSimilaritySearchConfig = config.SimilaritySearchConfig
ReasoningEngineContextSpecMemoryBankConfigTtlConfig = config.TtlConfig
ReasoningEngineContextSpecMemoryBankConfigTtlConfigGranularTtlConfig = config.GranularTtlConfig
StructuredMemorySchemaConfig = config.SchemaConfig
