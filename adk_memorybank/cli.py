"""The command `adk-memorybank`, also `python -m adk_memorybank`."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from adk_memorybank.errors import InvalidArgument, MemoryBankError
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


@app.command()
def serve(
    uri: Uri = None,
    data: Annotated[Path | None, typer.Option(help="The store's folder, in place of a URI.")] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 for any that is free.")] = 8085,
    api_key: Annotated[
        list[str] | None,
        typer.Option(
            help="Lets in only who has one of these, separated by commas. Repeatable.",
            envvar="ADK_MEMORYBANK_API_KEYS",
        ),
    ] = None,
    scope_rule: Annotated[
        list[str] | None,
        typer.Option(help='KEY:FILTER, ties a key to scopes, as k1:scope.user_id="ada". Repeatable.'),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="For all banks, whatever they are set to; `offline` for none.")
    ] = None,
    embedding_model: Annotated[str | None, typer.Option(help="For all banks; `local` needs no network.")] = None,
    config: Annotated[Path | None, typer.Option(help="A YAML file: the configuration of the bank in the URI.")] = None,
    max_body_bytes: Annotated[int, typer.Option(help="Of one request.")] = 32 * 1024 * 1024,
    allow_anyone: Annotated[bool, typer.Option(help="Let other machines in without a key.")] = False,
) -> None:
    """Serve a store with the managed Memory Bank's REST API, and to other ADK processes."""
    try:
        from adk_memorybank.server.access import Access
        from adk_memorybank.server.serving import serve as run
    except ImportError as error:
        typer.echo(f"adk-memorybank: {error.name} is missing: pip install 'adk-memorybank[server]'", err=True)
        raise typer.Exit(2) from None
    try:
        if uri is not None and data is not None:
            raise InvalidArgument("give either a URI or a folder", field="data")
        chosen = uri if data is None else f"memorybank:///{quote(str(data.absolute()))}"
        settings = read_settings(
            chosen, model=model, embedder=embedding_model, config=None if config is None else str(config)
        )
        if settings.url is not None:
            raise InvalidArgument("another process serves it already", field="uri")
        keys = [key for given in api_key or () for key in given.strip(",").split(",")]
        access = Access(keys, scope_rule or ())
        run(
            settings,
            host=host,
            port=port,
            access=access,
            anyone=allow_anyone,
            max_body_bytes=max_body_bytes,
            told=typer.echo,
        )
    except MemoryBankError as error:
        typer.echo(f"adk-memorybank: {error}", err=True)
        raise typer.Exit(2) from None


def _readable(told: dict[str, Any]) -> str:
    import yaml

    return yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=110).rstrip()
