"""Where the store is and how it is used: from keywords, the URI and the environment, in this order."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from pydantic_settings import BaseSettings, SettingsConfigDict

from adk_memorybank.errors import InvalidArgument
from adk_memorybank.resources import validate_bank_id

SCHEME = "memorybank"
DEFAULT_URI = "memorybank:///./memory"
DEFAULT_TOP_K = 10
REMOTE_SCHEMES = ("memorybank+http", "memorybank+https")
"""Of a bank that another process serves: `memorybank+http://host:port`."""


class Environment(BaseSettings):
    """`ADK_MEMORYBANK_URI`, `_MODEL`, `_EMBEDDING_MODEL`, `_CONFIG` (the path of a YAML file) and `_API_KEY`."""

    model_config = SettingsConfigDict(env_prefix="ADK_MEMORYBANK_", env_ignore_empty=True, extra="ignore")

    uri: str | None = None
    model: str | None = None
    embedding_model: str | None = None
    config: str | None = None
    api_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What is set, and None or empty where the bank's own configuration or the default decides.

    Attributes:
        folder: of the store, absolute.
        url: of the server in place of a folder.
        api_key: for that server.
        bank_id: of the bank in it.
        model: a name, an ADK `BaseLlm`, a factory of one, or a `Generator`.
        embedder: a name or an object.
        config: of the bank, as `config.load_config` takes it.
        app_name: stands for every app's name in the scope.
        scope_keys: those of `app_name` and `user_id` that make the scope; empty for both.
        top_k: memories per search.
    """

    folder: Path
    bank_id: str = "default"
    model: Any = None
    embedder: Any = None
    config: Any = None
    app_name: str | None = None
    scope_keys: tuple[str, ...] = ()
    top_k: int = DEFAULT_TOP_K
    url: str | None = None
    api_key: str | None = field(default=None, repr=False)


_KEYS = ("app_name", "bank", "config", "embedding_model", "model", "scope", "top_k")
_REMOTE_KEYS = ("api_key", "app_name", "bank", "config", "scope", "top_k")
_SCOPE_KEYS = ("app_name", "user_id")


def read_settings(
    uri: str | None = None,
    *,
    agents_dir: str | os.PathLike[str] | None = None,
    model: Any = None,
    embedder: Any = None,
    config: Any = None,
    app_name: str | None = None,
    top_k: int | None = None,
) -> Settings:
    """Settings from keywords, the URI and the environment; an earlier one wins.

    Args:
        uri: `memorybank:///./folder` (relative), `memorybank:////folder` (absolute), with
            `?bank=&model=&embedding_model=&config=&app_name=&scope=&top_k=`; or `memorybank+http://host:port` (also
            `+https`) with `?bank=&config=&app_name=&scope=&top_k=&api_key=`, where the server has chosen the model.
        agents_dir: what a relative folder is taken against; the working folder by default.

    Raises:
        InvalidArgument: the URI is none of these, or a value in it is wrong.
    """
    if uri is not None and not isinstance(uri, str):  # pyright: ignore[reportUnnecessaryIsInstance]: callers may not check types
        raise InvalidArgument(f"should be a string such as `{DEFAULT_URI}`, not {uri!r}", field="uri")
    if top_k is not None and (isinstance(top_k, bool) or not isinstance(top_k, int)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidArgument(f"should be a positive number, not {top_k!r}", field="top_k")
    environment = Environment()
    chosen = uri or environment.uri or DEFAULT_URI
    remote = urlsplit(chosen).scheme in REMOTE_SCHEMES
    url, folder, query = _split_remote(chosen) if remote else (None, *_split(chosen))
    if remote and (model is not None or embedder is not None):
        raise InvalidArgument(
            "the server has chosen it: give it to `adk-memorybank serve`",
            field="embedder" if model is None else "model",
        )
    base = Path(agents_dir) if agents_dir is not None else Path.cwd()
    chosen_top_k = query.get("top_k") if top_k is None else top_k
    keys = tuple(key.strip() for key in query.get("scope", "").split(",") if key.strip())
    for key in keys:
        if key not in _SCOPE_KEYS:
            raise InvalidArgument(f"{key!r} is none of {', '.join(_SCOPE_KEYS)}", field="uri.scope")
    return Settings(
        folder=Path(os.path.realpath(base / os.path.expanduser(folder))),
        bank_id=validate_bank_id(query.get("bank", "default")),
        model=_first(model, query.get("model"), environment.model),
        embedder=_first(embedder, query.get("embedding_model"), environment.embedding_model),
        config=_first(config, query.get("config"), environment.config),
        app_name=_first(app_name, query.get("app_name")),
        scope_keys=keys,
        top_k=DEFAULT_TOP_K if chosen_top_k is None else _positive(chosen_top_k, field="top_k"),
        url=url,
        api_key=_first(query.get("api_key"), environment.api_key) if remote else None,
    )


def _split(uri: str) -> tuple[Path, Mapping[str, str]]:
    parts = urlsplit(uri)
    if parts.scheme != SCHEME:
        raise InvalidArgument(
            f"{uri!r} does not begin with `{SCHEME}:///`, nor with `{REMOTE_SCHEMES[0]}://`", field="uri"
        )
    if parts.netloc:
        raise InvalidArgument(
            f"write `{SCHEME}:///./{parts.netloc}{parts.path}` for a folder beside the agents, or "
            f"`{SCHEME}:////{parts.netloc}{parts.path}` for an absolute one",
            field="uri",
        )
    path = unquote(parts.path).removeprefix("/")
    if "\0" in path:
        raise InvalidArgument("a folder's name has no NUL", field="uri")
    if not path:
        raise InvalidArgument(f"a folder is missing: `{DEFAULT_URI}`", field="uri")
    return Path(path), _query(parts, _KEYS)


def _split_remote(uri: str) -> tuple[str, Path, Mapping[str, str]]:
    parts = urlsplit(uri)
    try:
        known = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        known = False
    if not known or "@" in parts.netloc:
        raise InvalidArgument(f"a host and a port are missing: `{REMOTE_SCHEMES[0]}://127.0.0.1:8085`", field="uri")
    url = f"{parts.scheme.removeprefix(f'{SCHEME}+')}://{parts.netloc}{parts.path.rstrip('/')}"
    return url, Path("."), _query(parts, _REMOTE_KEYS)


def _query(parts: SplitResult, keys: Sequence[str]) -> Mapping[str, str]:
    if parts.fragment:
        raise InvalidArgument("a `#` in it is written `%23`", field="uri")
    query: dict[str, str] = {}
    for key, value in parse_qsl(parts.query, keep_blank_values=True):
        if key not in keys:
            near = difflib.get_close_matches(key, keys, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(keys)}"
            raise InvalidArgument(f"{key!r} is not known; {hint}", field="uri")
        if not value:
            raise InvalidArgument("a value is missing", field=f"uri.{key}")
        if key in query:
            raise InvalidArgument("is given twice", field=f"uri.{key}")
        query[key] = value
    return query


def _positive(value: int | str, *, field: str) -> int:
    try:
        number = int(value)
    except ValueError:
        number = 0
    if number < 1:
        raise InvalidArgument(f"should be a positive number, not {value!r}", field=field)
    return number


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)
