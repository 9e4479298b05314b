"""One long real conversation, from both sides: what is remembered of it answers the questions about it.

Found evidence is counted as the data's authors do: of each question the share of its evidence turns that the ten best
memories of the two scopes name as their sources, averaged over the questions. `.62` was measured with the generator
that needs no model. The floor below tells a broken path from a working one; it is no figure to tune by.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from adk_memorybank import MemoryBankService
from tests.adk import event, session
from tests.requires import data, requires

pytestmark = requires("locomo")

FLOOR = 0.5
_EVIDENCE = re.compile(r"D:?\s*(\d+):0*(\d+)")


def sessions_of(conversation: Mapping[str, Any]) -> dict[str, tuple[datetime, list[dict[str, Any]]]]:
    """Session id → when it began and its turns, in order."""
    found: dict[str, tuple[datetime, list[dict[str, Any]]]] = {}
    number = 1
    while turns := conversation.get(f"session_{number}"):
        said = conversation[f"session_{number}_date_time"]
        began = datetime.strptime(said, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        found[f"session_{number}"] = (began, turns)
        number += 1
    return found


def evidence_of(question: Mapping[str, Any]) -> set[str]:
    return {f"D{int(part)}:{int(turn)}" for given in question["evidence"] for part, turn in _EVIDENCE.findall(given)}


async def test_a_conversation_answers_its_questions(tmp_path: Path) -> None:
    talk = json.loads(data("locomo", "conv-26.json").read_text(encoding="utf-8"))
    conversation = talk["conversation"]
    sessions = sessions_of(conversation)
    scopes: list[dict[str, Any]] = [
        {"app_name": "as-it-was", "user_id": conversation["speaker_a"]},
        {"app_name": "roles-turned", "user_id": conversation["speaker_b"]},
    ]
    said = {(name, turn["dia_id"]): turn for name, (_, turns) in sessions.items() for turn in turns}

    async with MemoryBankService(f"memorybank:///{tmp_path}/memory?model=offline") as service:
        for name, (began, turns) in sessions.items():
            for who in scopes:
                events = [
                    event(
                        turn["text"],
                        author="user" if turn["speaker"] == who["user_id"] else "agent",
                        id=turn["dia_id"],
                        time=(began + timedelta(seconds=second)).timestamp(),
                    )
                    for second, turn in enumerate(turns)
                ]
                await service.add_session_to_memory(session(*events, id=name, **who))
        operations = await service.flush(timeout=90)
        assert len(operations) == 2 * len(sessions)
        assert all(operation.done and operation.error is None for operation in operations)

        bank = await service.bank()
        for who in scopes:
            memories = await bank.list(scope=who)
            assert len(memories) > len(sessions)
            assert len({memory.fact for memory in memories}) == len(memories), "nothing is kept twice"
            for memory in memories:
                assert memory.topics
                assert memory.sources
                speakers = {said[source.session_id, source.event_id]["speaker"] for source in memory.sources}
                assert speakers == {who["user_id"]}, "what the agent said is not the user's"

        found: list[float] = []
        for question in talk["qa"]:
            wanted = evidence_of(question)
            if not wanted:
                continue
            named: set[str] = set()
            for who in scopes:
                memories = (await service.search_memory(**who, query=question["question"])).memories
                assert len(memories) == 10
                for memory in memories:
                    sources = memory.custom_metadata["memory_bank"]["sources"]
                    assert all((source["session_id"], source["event_id"]) in said for source in sources)
                    assert memory.timestamp
                    assert datetime.fromisoformat(memory.timestamp).year in {
                        began.year for began, _ in sessions.values()
                    }
                    named.update(source["event_id"] for source in sources)
            found.append(len(wanted & named) / len(wanted))
        assert len(found) > 100
        assert sum(found) / len(found) > FLOOR
