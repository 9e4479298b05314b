"""A chat model of three rules, so that the sample runs without any other. It knows nothing but what memory returns."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.tools.load_memory_tool import LoadMemoryResponse
from google.genai import types

NOTHING_FOUND = "I find nothing about that in my memory of you."
NOTED = "Noted, thank you."

_NO_TOKENS = types.GenerateContentResponseUsageMetadata(prompt_token_count=0, candidates_token_count=0)


class QuotingLlm(BaseLlm):
    """Three rules.

    1. A question, which is a message with a question mark, is looked up with the tool `load_memory`.
    2. What the tool returns is the answer: the first memory, word for word.
    3. Anything else is noted.
    """

    model: str = "quoting"

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Gives the whole response at once."""
        message, memories = _latest(llm_request.contents)
        if memories is not None:
            part = types.Part(text=f"You told me: “{memories[0]}”" if memories else NOTHING_FOUND)
        elif "?" in message and "load_memory" in llm_request.tools_dict:
            part = types.Part.from_function_call(name="load_memory", args={"query": message})
        else:
            part = types.Part(text=NOTED)
        yield LlmResponse(content=types.Content(role="model", parts=[part]), usage_metadata=_NO_TOKENS)


def _latest(contents: list[types.Content]) -> tuple[str, list[str] | None]:
    """What was said to the model since it spoke last: the message, and the memories where `load_memory` has returned.

    ADK puts the block of `preload_memory` before the message or after what a tool returned.
    """
    message, memories = "", None
    for content in reversed(contents):
        if content.role == "model":
            break
        for part in content.parts or []:
            returned = part.function_response
            if returned is not None and returned.name == "load_memory":
                memories = _texts(returned.response or {})
            message = message or part.text or ""
    return message, memories


def _texts(response: dict[str, Any]) -> list[str]:
    """The texts of the memories that `load_memory` returned, the best first."""
    found = LoadMemoryResponse.model_validate(response.get("result", response))
    return ["".join(part.text or "" for part in entry.content.parts or []) for entry in found.memories]
