"""What belongs to one open bank: its configuration, its generator and its embedder."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from adk_memorybank.config import ManagedSemanticMemoryConfig, load_config, set_fields
from adk_memorybank.errors import AlreadyExists, EmbedderMismatch, FailedPrecondition, NotFound
from adk_memorybank.generation.generator import Generator
from adk_memorybank.generation.selection import select_generator
from adk_memorybank.resources import bank_name
from adk_memorybank.retrieval.embedders import Embedder, LocalEmbedder, make_embedder
from adk_memorybank.settings import Settings
from adk_memorybank.storage import bank_rows
from adk_memorybank.storage.bank_rows import BankRow
from adk_memorybank.storage.database import Database

logger = logging.getLogger("google_adk.adk_memorybank.parts")


@dataclass(frozen=True, slots=True)
class BankParts:
    """One open bank."""

    id: str
    config: ManagedSemanticMemoryConfig
    generator: Generator
    embedder: Embedder
    row: BankRow | None = None
    """As it is stored; None only until it is."""

    @property
    def collection(self) -> str:
        """Of Chroma, that the embedder makes vectors for."""
        return "" if self.row is None else self.row.collection

    @property
    def reads_media(self) -> bool:
        """Whether the generator looks at images, sounds and files; one that doesn't say so does not."""
        return bool(getattr(self.generator, "reads_media", False))


async def open_bank(
    database: Database,
    settings: Settings,
    *,
    now: datetime,
    bank: Literal["any", "new", "present"] = "any",
    details: Mapping[str, Any] | None = None,
) -> BankParts:
    """Reads a bank's configuration and makes its parts. What the settings give takes the place of what is stored.

    All that is written is written in one transaction, and only once the parts could be made.

    Args:
        bank: `any` makes a missing bank, `new` refuses one that is there, `present` one that is missing.
        details: columns of the bank that are to be written besides its configuration, such as `display_name`.

    Raises:
        EmbedderMismatch: the bank's vectors were made by another embedder.
        ModelUnavailable: the model can't be used here.
        InvalidArgument: the configuration is wrong.
        AlreadyExists, NotFound: as `bank` has it.
    """
    given = None if settings.config is None else load_config(settings.config)
    async with database.read() as connection:
        row = await bank_rows.find_bank(connection, bank_id=settings.bank_id)
    if row is None and bank == "present":
        raise NotFound(f"there is no bank {settings.bank_id!r}")
    if row is not None and bank == "new":
        raise AlreadyExists(f"there is a bank {settings.bank_id!r} already")
    parts = _make(settings, given, row)
    if row is None or bank == "new" or _news(row, parts, given, details):
        async with database.write() as connection:
            row = await bank_rows.find_bank(connection, bank_id=settings.bank_id)
            if row is None or bank == "new":
                if bank == "present":
                    raise NotFound(f"there is no bank {settings.bank_id!r}")
                row = await bank_rows.add_bank(connection, bank_id=settings.bank_id, now=now)
            if parts.row is not None and parts.collection != row.collection:  # made anew meanwhile
                parts = _make(settings, given, row)
            news = _news(row, parts, given, details)
            differs = bool(row.config) and "config" in news
            if news:
                await bank_rows.update_bank(connection, bank_id=row.id, now=now, **news)
                row = await bank_rows.get_bank(connection, bank_id=row.id)
        if differs:
            logger.info("the configuration of the bank %s was updated", row.id)
    return replace(parts, row=row)


async def adopt_bank(database: Database, settings: Settings) -> BankParts:
    """The parts of a bank that nobody opened in this process, for the work that waits in it.

    Raises:
        FailedPrecondition: it was last used with a model that its caller brought, and that is not at hand here.
        MemoryBankError: as `open_bank`.
    """
    async with database.read() as connection:
        row = await bank_rows.get_bank(connection, bank_id=settings.bank_id)
    parts = _make(settings, None, row)
    if row.model not in (None, parts.generator.name):
        raise FailedPrecondition(f"it was last used with the model {row.model!r}, here it is {parts.generator.name!r}")
    return parts


def _make(settings: Settings, given: ManagedSemanticMemoryConfig | None, row: BankRow | None) -> BankParts:
    config = given or ManagedSemanticMemoryConfig.parse({} if row is None else row.config)
    generator, reason = choose_generator(settings, config)
    embedder = choose_embedder(settings, config)
    if row is not None and row.embedder is not None:
        known = bool(row.dimension and embedder.dimension)
        if row.embedder != embedder.name or (known and row.dimension != embedder.dimension):
            raise EmbedderMismatch(
                f"the vectors of {bank_name(row.id)} were made by {row.embedder!r} ({row.dimension} dimensions), and "
                f"{embedder.name!r} ({embedder.dimension} dimensions) is asked for now: open it with "
                f"embedder={row.embedder!r}, or make its vectors anew with `await banks.reindex(name=…, embedder=…)`"
            )
    logger.info("bank %s: model %s (%s), embedder %s", settings.bank_id, generator.name, reason, embedder.name)
    return BankParts(settings.bank_id, config, generator, embedder, row)


def _news(
    row: BankRow,
    parts: BankParts,
    given: ManagedSemanticMemoryConfig | None,
    details: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """The columns of a bank that are not what they should be."""
    wanted: dict[str, Any] = {**(details or {}), "embedder": parts.embedder.name, "model": parts.generator.name}
    if parts.embedder.dimension:  # a user's object may not know it before its first vector
        wanted["dimension"] = parts.embedder.dimension
    if given is not None:
        wanted["config"] = set_fields(given)
    return {column: value for column, value in wanted.items() if getattr(row, column) != value}


def choose_generator(settings: Settings, config: ManagedSemanticMemoryConfig) -> tuple[Generator, str]:
    """The generator that settings and configuration ask for, and the reason in words.

    Raises:
        ModelUnavailable: a model was named that can't be used here.
    """
    model = _chosen(settings.model, config, "generation_config", "model")
    return select_generator(model, embed=LocalEmbedder().embed)


def choose_embedder(settings: Settings, config: ManagedSemanticMemoryConfig) -> Embedder:
    """The embedder that settings and configuration ask for.

    Raises:
        InvalidArgument, ModelUnavailable: one was named that can't be used here.
    """
    return make_embedder(_chosen(settings.embedder, config, "similarity_search_config", "embedding_model"))


def _chosen(setting: Any, config: ManagedSemanticMemoryConfig, part: str, field: str) -> Any:
    """The setting, or what the configuration sets; None where its value was only filled in."""
    if setting is not None:
        return setting
    node = getattr(config, part)
    given = part in config.model_fields_set and field in node.model_fields_set
    return getattr(node, field) if given else None
