"""The command `adk-memorybank`, also `python -m adk_memorybank`."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

import typer

from adk_memorybank.errors import MemoryBankError
from adk_memorybank.overview import overview
from adk_memorybank.settings import read_settings

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

Uri = Annotated[
    str | None,
    typer.Argument(
        help="The store, such as memorybank:///./memory; by default ADK_MEMORYBANK_URI.", show_default=False
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]


@app.callback()
def _commands() -> None:
    """Memory for ADK agents that runs where the agent runs."""


@app.command()
def info(uri: Uri = None, as_json: Json = False) -> None:
    """Show a store: where it is, who owns it, and how its banks are set, defaults included."""
    try:
        told = asyncio.run(overview(read_settings(uri)))
    except MemoryBankError as error:
        typer.echo(f"adk-memorybank: {error}", err=True)
        raise typer.Exit(2) from None
    typer.echo(json.dumps(told, indent=2, ensure_ascii=False) if as_json else _readable(told))


def _readable(told: dict[str, Any]) -> str:
    import yaml

    return yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=110).rstrip()
