"""Who may do what: keys, and the scopes that a key is tied to (reference 5.12)."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from adk_memorybank.errors import InvalidArgument, MemoryBankError, PermissionDenied, Unauthenticated
from adk_memorybank.retrieval.filters import parse_filter
from adk_memorybank.server.failures import failure

Rule = Callable[[Mapping[str, str]], bool]
OPEN_TO_ALL = ("/healthz", "/readyz", "/openapi.json")
"""Paths for which no key is asked; they tell nothing of the store."""


class Caller:
    """Who sent a request.

    Args:
        rules: what lets a scope through, any of them; None where everything may be done.
    """

    def __init__(self, rules: Sequence[Rule] | None = None) -> None:
        self._rules = rules

    @property
    def unconditional(self) -> bool:
        """Whether everything may be done."""
        return self._rules is None

    def check(self, scope: Mapping[str, str]) -> None:
        """Whether something of this scope may be read or changed.

        Raises:
            PermissionDenied: it may not.
        """
        if self._rules is not None and not any(rule(scope) for rule in self._rules):
            raise PermissionDenied("this key is not for this scope")

    def check_all(self) -> None:
        """Whether what spans scopes may be read or changed: lists, purges, and the banks themselves.

        Raises:
            PermissionDenied: the key is tied to scopes.
        """
        if self._rules is not None:
            raise PermissionDenied("this spans scopes: it needs a key that is tied to none")


class Access:
    """The keys of a server. Without any, everybody may do everything.

    Args:
        keys: those that are let in.
        rules: `KEY:FILTER`, where the filter says for which scopes a key is, such as
            `k1:scope.user_id="ada"`. Of several for one key, any lets through.

    Raises:
        InvalidArgument: a key or a rule is wrong. No message tells a key.
    """

    def __init__(self, keys: Sequence[str] = (), rules: Sequence[str] = ()) -> None:
        self._keys = [_valid_key(key, index) for index, key in enumerate(keys)]
        self._rules: dict[str, list[Rule]] = {}
        for index, rule in enumerate(rules):
            key, colon, condition = rule.partition(":")
            field = f"scope_rule[{index}]"
            if not colon or not condition.strip():
                raise InvalidArgument('is written `KEY:FILTER`, such as `k1:scope.user_id="ada"`', field=field)
            if key not in self._keys:
                raise InvalidArgument("is for a key that is none of the --api-key", field=field)
            try:
                self._rules.setdefault(key, []).append(parse_filter(condition, over="scopes"))
            except InvalidArgument as error:
                raise InvalidArgument(str(error), field=field) from None

    @property
    def open(self) -> bool:
        """Whether no key is asked for."""
        return not self._keys

    def identify(self, headers: Mapping[str, str], *, key: str | None = None) -> Caller:
        """Who sent a request, by its `x-goog-api-key`, its bearer token, or the `key` of its query.

        Raises:
            Unauthenticated: the key is missing or none of ours.
        """
        if self.open:
            return Caller()
        scheme, _, token = headers.get("authorization", "").partition(" ")
        given = headers.get("x-goog-api-key") or (token if scheme.lower() == "bearer" else "") or key or ""
        # All of them are compared, so that the time tells nothing.
        found = [key for key in self._keys if hmac.compare_digest(key.encode(), given.encode(errors="replace"))]
        if not found:
            raise Unauthenticated("an API key is needed: `x-goog-api-key`, or `Authorization: Bearer`")
        return Caller(self._rules.get(found[0]))


class Door:
    """The middleware that finds out who sent a request, before any of it is read.

    A server without keys trusts whoever reaches it. A page in a browser reaches it too, whoever wrote the page: it is
    told by its `Origin`, or where its own name was made to lead here (DNS rebinding) by that name.

    Args:
        local: without keys, only those are let in who call the server by an address, or `localhost`.
    """

    def __init__(self, app: ASGIApp, access: Access, *, local: bool = False) -> None:
        self._app = app
        self._access = access
        self._local = local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in OPEN_TO_ALL:
            request = Request(scope)
            try:
                request.state.caller = self._access.identify(request.headers, key=request.query_params.get("key"))
                if self._access.open:
                    self._refuse_pages(request.headers)
            except MemoryBankError as error:
                await failure(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _refuse_pages(self, headers: Mapping[str, str]) -> None:
        host, origin = headers.get("host", ""), headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            raise PermissionDenied("a page of another site may use a server with keys only: give it --api-key")
        name = urlsplit(f"//{host}").hostname or ""
        if self._local and name != "localhost" and not _is_address(name):
            raise PermissionDenied(
                f"without keys this server is asked by its address or as localhost, not as {name!r}: a page in a "
                "browser could do so. Give it --api-key, or --allow-anyone"
            )


def caller_of(request: Request) -> Caller:
    """Who sent a request."""
    return request.state.caller


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _valid_key(key: str, index: int) -> str:
    if not key or not key.isascii() or any(letter.isspace() or letter in ":," for letter in key):
        raise InvalidArgument("has only ASCII letters and signs, no blank, comma or colon", field=f"api_key[{index}]")
    return key
