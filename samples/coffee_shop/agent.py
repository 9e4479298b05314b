"""The barista: reads memory by two tools, and writes it after every turn."""

from __future__ import annotations

import os

from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.llm_agent import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.tools.load_memory_tool import load_memory_tool
from google.adk.tools.preload_memory_tool import preload_memory_tool

from .quoting_llm import QuotingLlm

_CREDENTIALS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
_VERTEX = ("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE")


def chat_model() -> str | BaseLlm:
    """The model that COFFEE_SHOP_MODEL names; with Google's credentials ADK's default; else the sample's own.

    COFFEE_SHOP_MODEL=quoting is the sample's own, credentials or not.
    """
    name = os.environ.get("COFFEE_SHOP_MODEL", "")
    if name and name != "quoting":
        return name
    configured = any(os.environ.get(key) for key in _CREDENTIALS) or any(
        os.environ.get(key, "").lower() in ("1", "true") for key in _VERTEX
    )
    return LlmAgent.DEFAULT_MODEL if configured and not name else QuotingLlm()


async def remember(callback_context: CallbackContext) -> None:
    """Adds the session to memory after every turn, for ADK never does; only what is new in it is read."""
    await callback_context.add_session_to_memory()


root_agent = LlmAgent(
    name="coffee_shop",
    description="The barista of The Daily Grind.",
    model=chat_model(),
    instruction=(
        "You are the barista of The Daily Grind, a coffee shop. Be warm and brief. Use what you remember of the "
        "customer; where you remember nothing, say so and ask."
    ),
    tools=[preload_memory_tool, load_memory_tool],
    after_agent_callback=remember,
)
