"""Stores of another version of this package."""

from __future__ import annotations

from pathlib import Path

import pytest

from adk_memorybank.errors import FailedPrecondition
from tests.integration.stores import (
    facts,
    named_vectors,
    opened,
    rows,
    search,
    service,
    session,
    until,
    vector_ids,
    write,
)


async def test_another_schema_version(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    async with opened(folder) as memory:
        await memory.bank()
    write(folder, "UPDATE meta SET value = '99' WHERE key = 'schema_version'")
    memory = service(folder)
    with pytest.raises(FailedPrecondition, match="99"):
        await memory.bank()
    await memory.close()
    write(folder, "UPDATE meta SET value = '3' WHERE key = 'schema_version'")
    async with opened(folder) as memory:
        assert await facts(memory) == []


async def test_a_store_of_the_first_version_is_brought_up(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    async with opened(folder) as memory:
        await memory.add_session_to_memory(session(["likes tea"]))
        await memory.flush()
    write(folder, "DROP TABLE calls")
    for column in ("description", "labels", "extra", "collection", "spare_collection"):
        write(folder, f"ALTER TABLE banks DROP COLUMN {column}")
    write(folder, "ALTER TABLE memories DROP COLUMN context")
    write(folder, "UPDATE meta SET value = '1' WHERE key = 'schema_version'")
    for _ in range(2):
        async with opened(folder) as memory:
            assert await facts(memory) == ["likes tea"]
            bank = await memory.banks.update(name="default", description="tea and more")
            assert (await memory.banks.read(name=bank.name)).description == "tea and more"


async def test_a_store_of_the_second_version_keeps_its_vectors(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    async with opened(folder) as memory:
        bank = await memory.bank()
        # The name that the second version gave to the collection of each bank.
        write(folder, "UPDATE banks SET collection = 'bank-default-vectors'")
        bank = await memory.banks.get(name=bank.name)
        await memory.add_session_to_memory(session(["likes tea", "likes rain"]))
        await memory.flush()

        async def written() -> bool:
            return await vector_ids(memory) == named_vectors(folder)

        await until(written)
    for column in ("collection", "spare_collection"):
        write(folder, f"ALTER TABLE banks DROP COLUMN {column}")
    write(folder, "UPDATE meta SET value = '2' WHERE key = 'schema_version'")
    async with opened(folder) as memory:
        await memory.bank()
        assert rows(folder, "SELECT value FROM meta WHERE key = 'schema_version'") == [("3",)]
        assert rows(folder, "SELECT collection, spare_collection FROM banks") == [("bank-default-vectors", None)]
        assert await vector_ids(memory) == named_vectors(folder)  # read from Chroma before anything was searched
        assert (await search(memory, "likes rain"))[0] == "likes rain"
        assert await memory.banks.reindex(name="default") == 2
        assert (await search(memory, "likes rain"))[0] == "likes rain"
        assert await vector_ids(memory) == named_vectors(folder)
        assert rows(folder, "SELECT collection FROM banks") != [("bank-default-vectors",)]
