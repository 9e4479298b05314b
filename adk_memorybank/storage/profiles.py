"""The fields of profiles: one memory each, without a fact, found by schema and name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import select

from adk_memorybank.resources import Memory, MemoryProfile, MemoryType
from adk_memorybank.schemas import SchemaConfig
from adk_memorybank.storage import records
from adk_memorybank.storage.database import AsyncConnection
from adk_memorybank.storage.records import ScopeRow
from adk_memorybank.storage.schema import memories

StoredFields = Mapping[tuple[str, str], Memory]


async def read_fields(connection: AsyncConnection, *, scope: ScopeRow, now: datetime) -> StoredFields:
    """The memories of a scope's profiles that have not expired, by schema id and field.

    Of two of one field, which only a rollback can make, the one that was changed last.
    """
    query = (
        select(memories)
        .where(
            memories.c.scope_id == scope.id,
            memories.c.memory_type == MemoryType.STRUCTURED_PROFILE.value,
            records.alive(memories, now),
        )
        .order_by(memories.c.update_time, memories.c.id)
    )
    found: dict[tuple[str, str], Memory] = {}
    for row in await connection.execute(query):
        memory = records.memory_of(row, scope=scope.pairs)
        content: dict[str, Any] = memory.structured_content or {}
        for name in content.get("data", {}):
            found[content["schema_id"], name] = memory
    return found


def value_of(memory: Memory, field: str) -> Any:
    """The value of a profile's field."""
    return (memory.structured_content or {})["data"][field]


def profiles_of(fields: StoredFields, schemas: Sequence[SchemaConfig]) -> dict[str, MemoryProfile]:
    """The profiles that have anything in them, by schema id. What the schemas don't name any more is left out."""
    profiles: dict[str, MemoryProfile] = {}
    for schema in schemas:
        data = {
            name: value_of(fields[schema.id, name], name) for name in schema.properties if (schema.id, name) in fields
        }
        if data:
            profiles[schema.id] = MemoryProfile(schema_id=schema.id, profile=data)
    return profiles
