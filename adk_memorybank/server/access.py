"""Who may do what: keys, and the scopes that a key is tied to (reference 5.12)."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping, Sequence

from fastapi import Request

from adk_memorybank.errors import InvalidArgument, PermissionDenied, Unauthenticated
from adk_memorybank.retrieval.filters import parse_filter

Rule = Callable[[Mapping[str, str]], bool]


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

    def identify(self, headers: Mapping[str, str]) -> Caller:
        """Who sent a request, by its `x-goog-api-key` or its bearer token.

        Raises:
            Unauthenticated: the key is missing or none of ours.
        """
        if self.open:
            return Caller()
        given = headers.get("x-goog-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        # All of them are compared, so that the time tells nothing.
        found = [key for key in self._keys if hmac.compare_digest(key.encode(), given.encode(errors="replace"))]
        if not found:
            raise Unauthenticated("an API key is needed: `x-goog-api-key`, or `Authorization: Bearer`")
        return Caller(self._rules.get(found[0]))


def caller_of(request: Request) -> Caller:
    """Who sent a request; found out once, before anything else is done with it."""
    known: Caller | None = getattr(request.state, "caller", None)
    if known is not None:
        return known
    access: Access = request.app.state.access
    found = request.state.caller = access.identify(request.headers)
    return found


def _valid_key(key: str, index: int) -> str:
    if not key or ":" in key or any(letter.isspace() for letter in key) or not key.isascii():
        raise InvalidArgument("has only ASCII letters and signs, no blanks and no colon", field=f"api_key[{index}]")
    return key
