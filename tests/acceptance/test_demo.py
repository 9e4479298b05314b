"""What `make demo` shows, as a newcomer runs it: in a process of its own, without a key."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from adk_memorybank import MemoryBankService

REPOSITORY = Path(__file__).resolve().parent.parent.parent
FEEDBACK = "The music was way too loud today"
MILK = "I'm lactose intolerant, so I take my flat white with oat milk."


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("ADK_", "COFFEE_SHOP", "GEMINI", "GOOGLE", "PYTHONWARNINGS"))
    }
    return subprocess.run(
        [sys.executable, "-m", "samples.coffee_shop.demo", *arguments],
        cwd=REPOSITORY,
        env={**kept, "COLUMNS": "200", **environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.fixture(scope="module")
def shown() -> str:
    """What the demo prints."""
    ended = run()
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == "", "a newcomer sees no warning"
    return ended.stdout


def part(shown: str, title: str) -> str:
    """What stands below a title, up to the next empty line."""
    after = shown.split(title, 1)
    assert len(after) == 2, f"{title!r} is missing in:\n{shown}"
    return after[1].split("\n\n", 1)[0]


def test_what_is_remembered_and_from_which_message(shown: str) -> None:
    remembered = part(shown, "What is remembered of Ada")
    assert f"memory    {MILK}" in remembered
    assert f"from      “Hi, I'm Ada. {MILK}”" in remembered
    assert "USER_PERSONAL_INFO" in remembered
    assert f"memory    {FEEDBACK}" in remembered
    assert "business_feedback" in remembered
    assert "Thanks for the coffee" not in remembered, "the bank's second example says so"


def test_the_second_session_is_answered_from_memory(shown: str) -> None:
    answers = [line for line in part(shown, "Ada's second visit").splitlines() if line.startswith("barista")]
    assert f"“{MILK}”" in answers[0]
    assert FEEDBACK in answers[1]


def test_what_was_found_and_its_distance(shown: str) -> None:
    lines = part(shown, "Ada's second visit").splitlines()
    found = [line.split(maxsplit=2) for line in lines if line.startswith("found")]
    assert next(text.rstrip() for _, _, text in found) == MILK
    assert all(0 <= float(distance) <= 2 for _, distance, _ in found)


def test_the_other_customer_is_never_answered_from_it(shown: str) -> None:
    visit = part(shown, "Ben's first visit")
    assert "I find nothing" in visit
    assert "nothing" in next(line for line in visit.splitlines() if line.startswith("found"))
    assert "oat" not in visit
    assert "music" not in visit


def test_it_names_its_folder_and_leaves_none(shown: str) -> None:
    folder = Path(shown.partition("store: ")[2].split()[0])
    assert folder.is_absolute()
    assert not folder.exists()


async def test_a_folder_that_was_asked_for_stays_and_is_added_to(tmp_path: Path) -> None:
    for _ in range(2):
        ended = run("--folder", str(tmp_path / "memory"))
        assert (ended.returncode, ended.stderr) == (0, "")
        assert f"store: {tmp_path / 'memory'}" in ended.stdout
    async with MemoryBankService(f"memorybank:///{tmp_path / 'memory'}", model="offline") as service:
        bank = await service.bank()
        facts = [memory.fact for memory in await bank.list(scope=service.scope(app_name="coffee_shop", user_id="Ada"))]
        assert facts.count(MILK) == 1, "the second run said the same again"
        assert await bank.list(scope=service.scope(app_name="coffee_shop", user_id="Ben")) == []
