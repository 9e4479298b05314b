"""The tables. Times are whole microseconds since the epoch, in UTC."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

VERSION = 3
"""Raised with every change of the tables; `migrations` brings an older store up to it."""
VERSION_KEY = "schema_version"

metadata = MetaData()

_Json = JSON(none_as_null=True)
"""None is NULL, not the JSON text `null`, so that conditions on it hold."""

_Serial = BigInteger().with_variant(Integer, "sqlite")
"""SQLite counts up by itself only in a column that is called INTEGER."""
_ONCE: Any = {"sqlite_autoincrement": True}
"""Else SQLite gives the number of a row that was the last, and is gone, to the next one."""

meta = Table(
    "meta",
    metadata,
    Column("key", String, primary_key=True),
    Column("value", Text, nullable=False),
)

banks = Table(
    "banks",
    metadata,
    Column("id", String, primary_key=True),
    Column("display_name", Text, nullable=False),
    Column("description", Text, nullable=False, default="", server_default=""),
    Column("labels", _Json),
    Column("extra", _Json),  # what the managed service's clients send for a deployment: kept as it came
    Column("config", _Json, nullable=False),  # only what was set: defaults are filled in when it is read
    Column("embedder", Text),  # set with the first vector, together with the dimension
    Column("dimension", Integer),
    Column("collection", Text, nullable=False, default="", server_default=""),  # of Chroma, that serves
    Column("spare_collection", Text),  # being made, or to be removed
    Column("model", Text),  # what generated last: nothing else takes up its waiting work unasked
    Column("create_time", BigInteger, nullable=False),
    Column("update_time", BigInteger, nullable=False),
)

scopes = Table(
    "scopes",
    metadata,
    Column("id", _Serial, primary_key=True),
    Column("bank_id", ForeignKey("banks.id"), nullable=False),
    Column("key", String, nullable=False),
    Column("pairs", Text),  # canonical JSON; empty once the scope was forgotten and nothing new has come
    Column("version", BigInteger, nullable=False, default=0),  # raised by each change of its memories
    Column("epoch", BigInteger, nullable=False, default=0),  # raised by `forget`: older plans are refused
    UniqueConstraint("bank_id", "key"),
    **_ONCE,
)

memories = Table(
    "memories",
    metadata,
    Column("bank_id", ForeignKey("banks.id"), primary_key=True),
    Column("id", String, primary_key=True),
    Column("scope_id", ForeignKey("scopes.id"), nullable=False),
    Column("fact", Text, nullable=False),
    Column("fact_version", BigInteger, nullable=False),  # new with each change of the fact: names its vector
    Column("topics", _Json, nullable=False),
    Column("metadata", _Json, nullable=False),
    Column("display_name", Text, nullable=False, default=""),
    Column("description", Text, nullable=False, default=""),
    Column("memory_type", String, nullable=False),
    Column("structured_content", _Json),
    Column("sources", _Json, nullable=False),
    Column("context", LargeBinary),  # the words, as numbers, of the turns that the fact was drawn from
    Column("author", Text, nullable=False, default="user"),
    Column("event_time", BigInteger),
    Column("create_time", BigInteger, nullable=False),
    Column("update_time", BigInteger, nullable=False),
    Column("expire_time", BigInteger),
    Index("memories_by_scope", "scope_id", "create_time"),
    Index("memories_by_expiry", "expire_time"),
)

revisions = Table(
    "revisions",
    metadata,
    Column("seq", _Serial, primary_key=True),
    Column("bank_id", ForeignKey("banks.id"), nullable=False),
    Column("id", String, nullable=False),
    Column("memory_id", String, nullable=False),
    Column("scope_id", ForeignKey("scopes.id"), nullable=False),
    Column("fact", Text, nullable=False),
    Column("topics", _Json, nullable=False),
    Column("labels", _Json, nullable=False),
    Column("extracted_memories", _Json, nullable=False),
    Column("sources", _Json, nullable=False),
    Column("structured_data", _Json),
    Column("remains", _Json),  # of a deleted memory, what a rollback needs and no other revision says
    Column("event_time", BigInteger),
    Column("create_time", BigInteger, nullable=False),
    Column("expire_time", BigInteger),
    UniqueConstraint("bank_id", "id"),
    Index("revisions_by_memory", "bank_id", "memory_id", "seq"),
    Index("revisions_by_scope", "scope_id"),
    Index("revisions_by_expiry", "expire_time"),
)

streams = Table(
    "streams",
    metadata,
    Column("id", _Serial, primary_key=True),
    Column("scope_id", ForeignKey("scopes.id"), nullable=False),
    Column("name", String, nullable=False),
    Column("rule", _Json),  # the trigger that the latest request set; empty: the bank's default
    Column("options", _Json),  # what the latest request wants of the memories: the last writer wins
    Column("first_arrival", BigInteger),  # of the events that wait
    Column("last_arrival", BigInteger),
    Column("due_time", BigInteger),  # when a time rule fires
    UniqueConstraint("scope_id", "name"),
    Index("streams_by_due_time", "due_time"),
    **_ONCE,
)

events = Table(
    "events",
    metadata,
    Column("id", _Serial, primary_key=True),  # the order of arrival
    Column("scope_id", ForeignKey("scopes.id"), nullable=False),
    Column("stream_id", ForeignKey("streams.id"), nullable=False),
    Column("session_id", String, nullable=False),
    Column("event_id", String, nullable=False),
    Column("role", String, nullable=False),
    Column("author", Text, nullable=False),
    Column("content", _Json),  # the parts; empty once nothing needs them any more
    Column("event_time", BigInteger),
    Column("arrive_time", BigInteger, nullable=False),
    Column("state", String, nullable=False),  # waiting, claimed, read
    Column("operation_id", String),
    Column("cited", Integer, nullable=False, default=0),  # 1 while a memory or live revision names it as a source
    Index("events_by_stream", "stream_id", "state", "id"),
    Index("events_by_operation", "operation_id"),
    Index("events_by_source", "scope_id", "session_id", "event_id"),
)

seen_events = Table(
    "seen_events",
    metadata,
    Column("scope_id", ForeignKey("scopes.id"), primary_key=True),
    Column("key", String, primary_key=True),  # keyed hash of stream and event id: outlives the event, tells nothing
    sqlite_with_rowid=False,
)

forget_requests = Table(
    "forget_requests",
    metadata,
    Column("id", _Serial, primary_key=True),
    Column("scope_id", ForeignKey("scopes.id"), nullable=False),
    Column("hashes", _Json, nullable=False),  # keyed ones: none of what was to be forgotten stands here
    Column("event_time", BigInteger, nullable=False),
    Column("create_time", BigInteger, nullable=False),
    Index("forget_requests_by_scope", "scope_id"),
)

operations = Table(
    "operations",
    metadata,
    Column("seq", _Serial, primary_key=True),  # the order in a scope
    Column("bank_id", ForeignKey("banks.id"), nullable=False),
    Column("id", String, nullable=False),
    Column("scope_id", ForeignKey("scopes.id"), nullable=False),
    Column("stream_id", BigInteger),
    Column("kind", String, nullable=False),
    Column("state", String, nullable=False),  # pending, running, done
    Column("epoch", BigInteger, nullable=False),
    Column("options", _Json, nullable=False),
    Column("direct_memories", _Json),  # dropped when it has ended well
    Column("passed_over", _Json, nullable=False),
    Column("result", _Json),
    Column("error", _Json),
    Column("last_error", _Json),
    Column("attempts", Integer, nullable=False, default=0),  # ended by a passing fault
    Column("starts", Integer, nullable=False, default=0),  # since the last attempt that ended
    Column("first_fault_time", BigInteger),
    Column("due_time", BigInteger, nullable=False),
    Column("create_time", BigInteger, nullable=False),
    Column("update_time", BigInteger, nullable=False),
    UniqueConstraint("bank_id", "id"),
    Index("operations_by_scope", "scope_id", "state", "seq"),
    Index("operations_by_state", "state", "due_time"),
    **_ONCE,
)

calls = Table(
    "calls",
    metadata,
    Column("seq", _Serial, primary_key=True),
    Column("bank_id", String, nullable=False),  # no foreign keys: that a bank was deleted can be read afterwards
    Column("id", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("memory_id", String),
    Column("scope_id", BigInteger),
    Column("stream_id", BigInteger),
    Column("operation_id", String),  # that reads the events of the stream
    Column("after", BigInteger),  # while there is none: it will be the first of the stream after this one
    Column("counted", Integer),  # by a purge
    Column("done", Integer, nullable=False),
    Column("create_time", BigInteger, nullable=False),
    UniqueConstraint("bank_id", "id"),
    Index("calls_by_stream", "stream_id", "seq"),
    Index("calls_by_scope", "scope_id"),
    Index("calls_by_time", "create_time"),
)

sessions = Table(
    "sessions",
    metadata,
    Column("seq", _Serial, primary_key=True),
    Column("bank_id", ForeignKey("banks.id"), nullable=False),
    Column("id", String, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("display_name", Text, nullable=False),
    Column("labels", _Json, nullable=False),
    Column("session_state", _Json, nullable=False),
    Column("create_time", BigInteger, nullable=False),
    Column("update_time", BigInteger, nullable=False),
    Column("expire_time", BigInteger),
    UniqueConstraint("bank_id", "id"),
    Index("sessions_by_user", "bank_id", "user_id"),
    Index("sessions_by_time", "bank_id", "create_time"),
    Index("sessions_by_expiry", "expire_time"),
)

session_events = Table(
    "session_events",
    metadata,
    Column("seq", _Serial, primary_key=True),  # the order of arrival
    Column("session_seq", ForeignKey("sessions.seq"), nullable=False),
    Column("id", String, nullable=False),
    Column("timestamp", BigInteger, nullable=False),
    Column("body", _Json, nullable=False),
    UniqueConstraint("session_seq", "id"),
    Index("session_events_by_time", "session_seq", "timestamp", "seq"),
)

dropped_vectors = Table(
    "dropped_vectors",
    metadata,
    Column("seq", _Serial, primary_key=True),
    Column("bank_id", String, nullable=False),  # no foreign key: outlives its bank until Chroma was told
    Column("vector_id", String, nullable=False),
)
