"""Everything that README.md shows is run, in the order in which it is read."""

from __future__ import annotations

import ast
import asyncio
import inspect
import os
import re
import shlex
import shutil
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from google.genai.types import Content, Part

from adk_memorybank import MemoryBankService, settings
from adk_memorybank.server.app import create_app
from adk_memorybank.testing import temporary_banks
from samples.coffee_shop.quoting_llm import QuotingLlm
from tests.integration.serving import on_a_port
from tests.requires import need, requires

ROOT = Path(__file__).resolve().parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
MILK = "I take my flat white with oat milk."


def blocks(language: str) -> list[str]:
    """The code blocks in one language, each behind as many lines as there are above it, for tracebacks."""
    found = re.finditer(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return ["\n" * README.count("\n", 0, block.start(1)) + block.group(1) for block in found]


def block(words: str) -> str:
    """The one Python block that contains these words."""
    (found,) = (text for text in blocks("python") if words in text)
    return found


async def run(source: str, names: dict[str, Any]) -> None:
    """Runs a block, which may await, with the names of those before."""
    code = compile(source, "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = eval(code, names)
    if inspect.isawaitable(result):
        await result


async def say(names: dict[str, Any], user: str, text: str) -> None:
    runner = names["runner"]
    session = await runner.session_service.create_session(app_name="coffee_shop", user_id=user)
    message = Content(role="user", parts=[Part(text=text)])
    async for event in runner.run_async(user_id=user, session_id=session.id, new_message=message):
        assert not event.error_code, event.error_message


async def texts(names: dict[str, Any], user: str) -> list[str]:
    found = await names["service"].search_memory(app_name="coffee_shop", user_id=user, query="milk and tables")
    return [entry.content.parts[0].text for entry in found.memories]


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The namespace of the blocks, with a folder of their own and nothing configured."""
    monkeypatch.chdir(tmp_path)
    with mock.patch.dict(os.environ):  # AdkApp writes into it
        for key in list(os.environ):
            if key.startswith(("ADK_", "GEMINI", "GOOGLE")):
                del os.environ[key]
        monkeypatch.setitem(sys.modules, "readme", types.ModuleType("readme"))
        yield {"__name__": "readme"}


@pytest.fixture
async def runner(names: dict[str, Any]) -> Any:
    """The first block, with a model that needs no key in place of the one that is named."""
    await run(block("Runner("), names)
    names["agent"].model = QuotingLlm()
    yield names
    await names["service"].close()


async def test_the_blocks_about_a_runner(
    runner: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await say(runner, "ada", MILK)
    await say(runner, "ada", "I prefer the table by the window.")
    await say(runner, "ben", MILK)
    await run(block("service.flush()"), runner)
    assert MILK in capsys.readouterr().out.splitlines()[0]
    assert (tmp_path / "memory" / "memory.db").is_file()

    delete, forget = block("delete_memory").splitlines()[-2:]
    await run(delete, runner)
    assert await texts(runner, "ada") == ["I prefer the table by the window."]
    await run(forget, runner)
    assert await texts(runner, "ada") == []
    assert await texts(runner, "ben") == [MILK]

    await run(block("operations.retry"), runner)
    assert capsys.readouterr().out == "", "nothing failed"


async def test_the_block_about_failures_shows_one_and_tries_it_again(
    runner: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    class Failing:
        name = "failing"
        broken = True

        async def extract(self, request: Any) -> Any:
            from adk_memorybank.errors import ModelOutputError
            from adk_memorybank.generation.generator import Extraction

            if self.broken:
                raise ModelOutputError("the answer is no JSON")
            return Extraction()

        async def consolidate(self, request: Any) -> Any:
            return []

    failing = Failing()
    await runner["service"].close()
    runner["service"] = service = MemoryBankService("memorybank:///./failing", model=failing)
    runner["runner"].memory_service = service
    await say(runner, "ada", MILK)
    assert [operation.error is None for operation in await service.flush()] == [False]
    failing.broken = False
    await run(block("operations.retry"), runner)
    assert "the answer is no JSON" in capsys.readouterr().out
    (operation,) = await runner["bank"].operations.list()
    (ended,) = await runner["bank"].operations.wait([operation.name], timeout=30)
    assert ended.done
    assert ended.error is None


async def test_the_block_about_profiles(runner: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    await runner["service"].close()
    *configuring, _, _ = block("retrieve_profiles").splitlines(keepends=True)
    await run("".join(configuring), runner)
    runner["runner"].memory_service = runner["service"]
    await say(runner, "ada", "I live in Rome.")
    await runner["service"].flush()
    await runner["service"].close()
    await run(block("retrieve_profiles"), runner)
    assert capsys.readouterr().out == "person {'city': 'Rome'}\n"


async def test_the_block_without_adk(names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    await run(block("MemoryBanks("), names)
    assert capsys.readouterr().out.startswith("I'm allergic to peanuts.")


@requires("agentplatform")
async def test_the_block_about_adk_app(runner: dict[str, Any]) -> None:
    await run(block("AdkApp("), runner)
    app = runner["app"]
    async for _ in app.async_stream_query(user_id="ada", message=MILK):
        pass
    for _ in range(300):  # memories are made behind the scenes
        if (await app.async_search_memory(user_id="ada", query="Which milk?")).memories:
            break
        await asyncio.sleep(0.1)
    assert await texts(runner, "ada") == [MILK], "both share the folder and the app's name"


@requires("agentplatform")
async def test_the_block_about_a_served_bank(names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    async with temporary_banks() as banks:
        with on_a_port(create_app(banks)) as url:
            served = block("agentplatform.Client(")
            assert "http://127.0.0.1:8085" in served
            await asyncio.to_thread(exec, served.replace("http://127.0.0.1:8085", url), names)
    assert capsys.readouterr().out == "I take oat milk.\n"


def test_every_python_block_is_run_by_one_of_these_tests() -> None:
    run_above = ["Runner(", "service.flush()", "delete_memory", "operations.retry", "MemoryBanks(", "AdkApp("]
    run_above += ["retrieve_profiles", "agentplatform.Client("]
    assert sorted(map(block, run_above)) == sorted(blocks("python"))


@pytest.mark.parametrize("line", [line for text in blocks("bash") for line in text.split("\n") if line.strip()])
def test_every_command_exists(line: str) -> None:
    command, *arguments = shlex.split(line, comments=True)
    if command == "make":
        need(shutil.which("make") is not None, "make")
        for target in arguments:
            ended = subprocess.run(
                ["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
            )
            assert ended.returncode == 0, ended.stderr
    elif command == "adk":
        subcommand, folder, option, uri = arguments
        adk = Path(sys.executable).parent / "adk"
        ended = subprocess.run([adk, subcommand, "--help"], capture_output=True, text=True, timeout=100, check=True)
        assert option in ended.stdout
        assert (ROOT / folder / "services.yaml").is_file()
        assert settings.read_settings(uri, agents_dir=ROOT / folder).folder == ROOT / "samples" / "memory"
    elif command == "adk-memorybank":
        ended = subprocess.run(
            [sys.executable, "-m", "adk_memorybank", arguments[0], "--help"],
            capture_output=True,
            text=True,
            timeout=100,
            check=True,
            env=os.environ | {"COLUMNS": "200", "NO_COLOR": "1"},
        )
        assert all(option in ended.stdout for option in arguments if option.startswith("--"))
    else:
        assert (command, arguments[:2]) == ("pip", ["install", "-e"])
        assert arguments[2] in (".", ".[server]")
        assert (ROOT / "pyproject.toml").is_file()


def test_the_table_of_options_names_them_all() -> None:
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in README.splitlines() if row.startswith("| ")]
    rows = rows[next(index for index, row in enumerate(rows) if row[0] == "keyword") + 2 :]
    rows = [row for row in rows if len(row) == 4]
    keywords = {row[0].strip("`") for row in rows} - {""}
    others = {"agents_dir", "clock", "options", "self"}
    assert keywords == set(inspect.signature(MemoryBankService.__init__).parameters) - others
    in_uri = [re.fullmatch(r"`\?(\w+)=.+`", row[1]) for row in rows if row[1]]
    assert sorted(match.group(1) for match in in_uri if match) == sorted(settings._KEYS)
    for row in rows:
        if row[1]:
            settings.read_settings(f"memorybank:///./memory{row[1].strip('`')}")
    variables = {row[2].strip("`") for row in rows} - {""}
    assert variables == {f"ADK_MEMORYBANK_{name.upper()}" for name in settings.Environment.model_fields}


def test_links_lead_somewhere() -> None:
    titles = re.findall(r"^#+ (.+)$", README, re.MULTILINE)
    anchors = {"#" + re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
    targets = re.findall(r"\]\(([^)]+)\)", README)
    assert targets
    for target in targets:
        assert target.startswith("https://") or target in anchors or (ROOT / target).exists(), target


def test_the_runner_takes_about_ten_lines() -> None:
    assert len([line for line in block("Runner(").splitlines() if line.strip()]) <= 12
