"""What a test needs beyond Python packages that are always there.

A test that lacks such a part is skipped by the part's name, so that the suite runs anywhere. With `REQUIRE=1` in the
environment the same lack is a failure, so that a complete machine can't lose tests unseen.

    @requires("locomo")                  # on a test or a class; `pytestmark = requires("postgres")` for a module
    async def test_questions() -> None:
        conversation = data("locomo", "conv-26.json")

    need(shutil.which("fuser") is not None, "fuser")     # within a test or fixture
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import cast

import pytest

_REPOSITORY = Path(__file__).resolve().parent.parent


def data(*parts: str) -> Path:
    """A path in the folder of shared test data: `../shared/data`, or what `ADK_MEMORYBANK_TEST_DATA` names."""
    folder = os.environ.get("ADK_MEMORYBANK_TEST_DATA")
    return (Path(folder) if folder else _REPOSITORY.parent / "shared" / "data").joinpath(*parts)


def need(condition: bool, what: str) -> None:
    """Goes on where the condition holds; else skips the test by name, or fails it where `REQUIRE=1`."""
    if condition:
        return
    if os.environ.get("REQUIRE") == "1":
        pytest.fail(f"needs {what} (REQUIRE=1 allows no skip)", pytrace=False)
    pytest.skip(f"needs {what}")


def program(name: str) -> Path | None:
    """A program on the path, or among PostgreSQL's, which Debian keeps elsewhere."""
    if found := shutil.which(name):
        return Path(found)
    return max(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), default=None)


def installed(distribution: str) -> bool:
    """Whether a package is installed, by its name on the index: one module's name may belong to two packages."""
    try:
        return bool(version(distribution))
    except PackageNotFoundError:
        return False


_PARTS: dict[str, Callable[[], bool]] = {
    "agentplatform": lambda: installed("google-cloud-agentplatform"),
    "chromium": lambda: program("chromium") is not None,
    "extraction": lambda: data("extraction", "dataset.jsonl").is_file(),
    "locomo": lambda: data("locomo", "conv-26.json").is_file(),
    "official_client": lambda: installed("google-cloud-agentplatform") or installed("google-cloud-aiplatform"),
    "postgres": lambda: program("initdb") is not None and installed("asyncpg"),
}

# ADK 1.x brings along an older SDK whose files this one would overwrite: there it is skipped, REQUIRE=1 or not.
_NOT_WITH_ADK_1 = {"agentplatform"}


class _Lacking:
    """A condition for `skipif` that is looked at when the test is set up, not when its module is imported."""

    def __init__(self, part: str) -> None:
        self._part = part

    def __bool__(self) -> bool:
        there = _PARTS[self._part]()
        if not there and self._part in _NOT_WITH_ADK_1 and version("google-adk").startswith("1."):
            pytest.skip(f"{self._part} can't be installed beside ADK 1.x")
        need(there, self._part)
        return False


def requires(*parts: str) -> pytest.MarkDecorator:
    """A mark: the test needs these parts. Their names: see `_PARTS`."""
    if unknown := set(parts) - _PARTS.keys():
        raise ValueError(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(_PARTS)}")
    conditions = [cast("bool", _Lacking(part)) for part in parts]
    return pytest.mark.skipif(*conditions, reason=f"needs {', '.join(parts)}")
