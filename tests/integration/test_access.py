"""Keys, and the scopes that a key is tied to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from adk_memorybank.errors import InvalidArgument, PermissionDenied, Unauthenticated
from adk_memorybank.server.access import Access
from tests.integration.serving import Requests, a_store, requests_to

ADA, BOB = {"user_id": "ada"}, {"user_id": "bob"}
ALL, HERS, NOBODYS = ({"x-goog-api-key": key} for key in ("k-all", "k-ada", "k-none"))
SOURCE = {"directContentsSource": {"events": [{"content": {"parts": [{"text": "a"}]}}]}}


@pytest.fixture
async def send() -> AsyncIterator[Requests]:
    access = Access(["k-all", "k-ada"], ['k-ada:scope.user_id="ada"'])
    async with a_store() as banks, requests_to(banks, access=access) as requests:
        for scope in (ADA, BOB):
            path = f"memories?memoryId={scope['user_id']}"
            await requests.ok("POST", path, {"fact": "f", "scope": scope}, headers=ALL)
        yield requests


async def test_without_a_key(send: Requests) -> None:
    for headers in ({}, NOBODYS, {"authorization": "Bearer k-none"}, {"authorization": "k-ada"[:3]}):
        for method, path in (("GET", "memories/ada"), ("GET", ""), ("POST", "/memorybank/v1/banks/default/list")):
            assert (await send.error(method, path, headers=headers))[:2] == (401, "UNAUTHENTICATED")


async def test_without_a_key_nothing_is_read(send: Requests) -> None:
    headers = {"content-type": "application/json"}

    async def body() -> AsyncIterator[bytes]:
        yield b"{"
        raise AssertionError("more of it was read")

    for path in ("/v1beta1/reasoningEngines", "/nowhere"):
        response = await send.http.post(path, content=body(), headers=headers)
        assert response.status_code == 401
    assert (await send("GET", "/readyz")).status_code == 200
    assert (await send("GET", "/openapi.json")).status_code == 200


async def test_other_places_for_a_key(send: Requests) -> None:
    for headers in ({"authorization": "Bearer k-ada"}, {"authorization": "bearer k-ada"}):
        assert (await send.ok("GET", "memories/ada", headers=headers))["scope"] == ADA
    assert (await send.ok("GET", "memories/ada?key=k-ada"))["scope"] == ADA
    assert (await send.error("GET", "memories/bob?key=k-ada"))[0] == 403
    for headers in ({"authorization": "k-ada"}, {"authorization": "Basic k-ada"}):
        assert (await send.error("GET", "memories/ada", headers=headers))[0] == 401


@pytest.mark.parametrize(
    ("local", "host", "origin", "code"),
    [
        (True, "127.0.0.1:8085", None, 200),
        (True, "[::1]:8085", None, 200),
        (True, "localhost", "http://localhost", 200),
        (True, "evil.example", None, 403),
        (True, "evil.example:8085", "http://evil.example:8085", 403),
        (True, "127.0.0.1.evil.example", None, 403),
        (True, "127.0.0.1:8085", "http://evil.example", 403),
        (True, "127.0.0.1:8085", "http://127.0.0.1:3000", 403),
        (True, "127.0.0.1:8085", "null", 403),
        (False, "memory.internal", None, 200),
        (False, "memory.internal", "http://memory.internal", 200),
        (False, "memory.internal", "http://evil.example", 403),
    ],
)
async def test_a_page_in_a_browser_is_not_its_user(local: bool, host: str, origin: str | None, code: int) -> None:
    headers = {"host": host, "content-type": "text/plain"} | ({} if origin is None else {"origin": origin})
    body = {"fact": "f", "scope": ADA}
    async with a_store() as banks:
        async with requests_to(banks, local=local) as send:
            assert (await send("POST", "memories", body, headers=headers)).status_code == code
        async with requests_to(banks, local=local, access=Access(["k"])) as send:  # a page has no key
            assert (await send("POST", "memories", body, headers=headers | {"x-goog-api-key": "k"})).status_code == 200


def requests_of(scope: dict[str, str]) -> list[tuple[str, str, Any]]:
    """A request of each kind that concerns one scope."""
    name = scope["user_id"]
    return [
        ("GET", f"memories/{name}", None),
        ("PATCH", f"memories/{name}", {"fact": "g"}),
        ("GET", f"memories/{name}/revisions", None),
        ("POST", "memories", {"fact": "f", "scope": scope}),
        ("POST", "memories:retrieve", {"scope": scope}),
        ("POST", "memories:retrieveProfiles", {"scope": scope}),
        ("POST", "memories:generate", SOURCE | {"scope": scope}),
        ("POST", "memories:ingestEvents", SOURCE | {"scope": scope}),
        ("POST", "/memorybank/v1/banks/default/list", {"scope": scope}),
        ("POST", "/memorybank/v1/banks/default/get", {"name": name}),
        ("POST", "/memorybank/v1/banks/default/retrieve", {"scope": scope, "query": "f"}),
        ("DELETE", f"memories/{name}", None),
        ("POST", "/memorybank/v1/banks/default/forget", {"scope": scope}),
    ]


async def test_a_key_for_a_scope(send: Requests) -> None:
    for method, path, body in requests_of(BOB):
        assert (await send.error(method, path, body, headers=HERS))[:2] == (403, "PERMISSION_DENIED"), path
    assert (await send.ok("GET", "memories/bob", headers=ALL))["fact"] == "f"
    for method, path, body in requests_of(ADA):
        assert (await send(method, path, body, headers=HERS)).status_code == 200, path


async def test_what_spans_scopes_needs_a_key_for_all(send: Requests) -> None:
    for method, path, body in [
        ("GET", "memories", None),
        ("POST", "memories:purge", {"filter": "scope.user_id=ada"}),
        ("GET", "operations", None),
        ("GET", "", None),
        ("PATCH", "", {"displayName": "x"}),
        ("DELETE", "", None),
        ("POST", "/v1beta1/reasoningEngines", {}),
        ("GET", "/v1beta1/reasoningEngines", None),
        ("POST", "/memorybank/v1/banks/default/list", {}),
        ("POST", "/memorybank/v1/banks/default/purge", {"filter": "fact=f"}),
        ("POST", "/memorybank/v1/banks/default/list_scopes", {}),
        ("POST", "/memorybank/v1/banks/default/operations.list", {}),
        ("POST", "/memorybank/v1/banks/fresh:open", {}),
    ]:
        assert (await send.error(method, path, body, headers=HERS))[:2] == (403, "PERMISSION_DENIED"), path


async def test_operations_belong_to_their_scope(send: Requests) -> None:
    generation = await send.ok("POST", "memories:generate", SOURCE | {"scope": BOB}, headers=ALL)
    ingestion = await send.ok("POST", "memories:ingestEvents", SOURCE | {"scope": BOB}, headers=ALL)
    update = await send.ok("PATCH", "memories/bob", {"fact": "g"}, headers=ALL)
    for operation in (generation, ingestion, update):
        path = f"/v1beta1/{operation['name']}"
        for method, verb in (("GET", ""), ("DELETE", ""), ("POST", ":cancel"), ("POST", ":wait")):
            assert (await send.error(method, path + verb, headers=HERS))[0] == 403
    name = generation["name"].rpartition("/")[2]
    for method, body in (("get", {"name": name}), ("wait", {"names": [name]}), ("cancel", {"name": name})):
        path = f"/memorybank/v1/banks/default/operations.{method}"
        assert (await send.error("POST", path, body, headers=HERS))[0] == 403
    own = await send.ok("PATCH", "memories/ada", {"fact": "g"}, headers=HERS)
    assert (await send.ok("GET", f"/v1beta1/{own['name']}", headers=HERS))["done"]


async def test_a_name_that_looks_like_that_of_ones_own_memory(send: Requests) -> None:
    for name in ("ada/revisions/bob", "ada/bob", "memories/ada/revisions/../bob"):
        for method, more in (
            ("get", {}),
            ("update", {"fact": "g"}),
            ("delete", {}),
            ("list_revisions", {}),
            ("list_revisions_page", {}),
            ("rollback", {"target_revision_id": "1"}),
            ("scope_of", {}),
        ):
            path = f"/memorybank/v1/banks/default/{method}"
            assert (await send.error("POST", path, {"name": name} | more, headers=HERS))[0] == 403, (name, method)
    assert (await send.ok("GET", "memories/bob", headers=ALL))["fact"] == "f"
    listed: Any = await send.ok("POST", "/memorybank/v1/banks/default/list_revisions", {"name": "ada"}, headers=HERS)
    body = {"name": listed[0]["name"]}
    assert await send.ok("POST", "/memorybank/v1/banks/default/get_revision", body, headers=HERS) == listed[0]


async def test_native_requests_that_name_no_scope(send: Requests) -> None:
    path = "/memorybank/v1/banks/default"
    assert await send.ok("POST", f"{path}/operations.wait", {"names": []}, headers=HERS) == []
    assert await send.ok("POST", f"{path}/operations.wait", {"names": ["forgotten"]}, headers=HERS) == []
    assert (await send.error("POST", f"{path}/operations.get", {"name": "forgotten"}, headers=HERS))[0] == 404
    for user in ("ada", "bob"):
        await send.ok("POST", f"sessions?sessionId={user}", {"userId": user}, headers=ALL)
    own = await send.ok("POST", f"{path}/generate", {"session": "ada", "wait": False}, headers=HERS)
    assert own["scope"] == ADA
    assert (await send.error("POST", f"{path}/generate", {"session": "bob", "wait": False}, headers=HERS))[0] == 403
    body = {"session": "ada", "scope": BOB, "wait": False}
    assert (await send.error("POST", f"{path}/generate", body, headers=HERS))[0] == 403


async def test_no_file_of_the_servers_is_read(send: Requests, tmp_path: Path) -> None:
    file = tmp_path / "bank.yaml"
    file.write_text("disable_memory_revisions: true")
    refused = await send.error("POST", "/memorybank/v1/banks/default:open", {"config": str(file)}, headers=ALL)
    assert (refused[1], refused[3]) == ("INVALID_ARGUMENT", "config")
    assert (await send.ok("POST", "/memorybank/v1/banks/default:open", {}, headers=ALL))["config"] == {}


async def test_a_deleted_memory_stays_its_scopes(send: Requests) -> None:
    await send.ok("DELETE", "memories/bob", headers=ALL)
    assert (await send.error("GET", "memories/bob/revisions", headers=HERS))[0] == 403
    body = {"targetRevisionId": "1"}
    assert (await send.error("POST", "memories/bob:rollback", body, headers=HERS))[0] == 403


class TestKeys:
    def test_any_of_several_rules(self) -> None:
        caller = Access(["k"], ["k:scope.user_id=a", 'k:scope.team=~"eu-.*"']).identify({"x-goog-api-key": "k"})
        caller.check({"user_id": "a"})
        caller.check({"team": "eu-1", "user_id": "b"})
        for scope in ({"user_id": "b"}, {"team": "us"}, {"user_id": "A"}):
            with pytest.raises(PermissionDenied):
                caller.check(scope)
        with pytest.raises(PermissionDenied):
            caller.check_all()

    def test_without_keys_everybody(self) -> None:
        Access().identify({}).check_all()

    def test_no_error_tells_a_key(self) -> None:
        access = Access(["geheim"])
        with pytest.raises(Unauthenticated) as raised:
            access.identify({"x-goog-api-key": "falsch"})
        assert "geheim" not in str(raised.value)
        assert "geheim" not in repr(access)

    @pytest.mark.parametrize(
        ("keys", "rules", "said"),
        [
            (["a b"], [], r"api_key\[0\]"),
            (["ok", ""], [], r"api_key\[1\]"),
            (["a:b"], [], "colon"),
            (["k"], ["k"], "KEY:FILTER"),
            (["k"], ["k:"], "KEY:FILTER"),
            (["k"], ["other:scope.a=b"], "none of the --api-key"),
            (["k"], ["k:fact=x"], "no field `fact`"),
            (["k"], ["k:scope.a="], "ends too early"),
        ],
    )
    def test_wrong(self, keys: list[str], rules: list[str], said: str) -> None:
        with pytest.raises(InvalidArgument, match=said):
            Access(keys, rules)
