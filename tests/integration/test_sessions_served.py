"""Sessions over REST: with ADK's own session service, the official client, and plain requests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.sessions.vertex_ai_session_service import VertexAiSessionService
from google.genai import types

from adk_memorybank import MemoryBanks
from adk_memorybank.server.access import Access
from adk_memorybank.server.app import create_app
from adk_memorybank.server.sdk import client
from adk_memorybank.testing import ScriptedGenerator, temporary_banks
from tests.integration.talks import said
from tests.requires import requires

BANK = "7"
NAME = f"reasoningEngines/{BANK}"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
PATH = "/v1beta1/projects/p/locations/l/reasoningEngines/7/sessions"


@pytest.fixture
async def banks() -> AsyncIterator[MemoryBanks]:
    async with temporary_banks(model=ScriptedGenerator()) as banks:
        await banks.create(bank_id=BANK)
        yield banks


async def facts(banks: MemoryBanks, **scope: str) -> list[str]:
    bank = await banks.get(name=BANK)
    return sorted(memory.fact for memory in await bank.list(scope=scope))


@requires("agentplatform")
class TestAdk:
    @pytest.fixture
    async def service(self, banks: MemoryBanks) -> VertexAiSessionService:
        official = client(banks)

        class Local(VertexAiSessionService):
            def _build_api_client(self) -> Any:
                return official.aio

        return Local(project="local", location="local", agent_engine_id=BANK)

    async def test_a_session_from_its_begin_to_its_end(self, service: VertexAiSessionService) -> None:
        made = await service.create_session(
            app_name="shop", user_id="ada", state={"a_b": {"c_d": 1}, "gone": None}, session_id="s-1"
        )
        assert (made.id, made.user_id, made.state) == ("s-1", "ada", {"a_b": {"c_d": 1}, "gone": None})
        event = Event(
            author="user",
            invocation_id="i",
            timestamp=NOON.timestamp(),  # the official client sends whole microseconds
            content=types.Content(role="user", parts=[types.Part(text="I like tea")]),
            actions=EventActions(state_delta={"a_b": 2, "temp:x": 3, "user:y": 4}, artifact_delta={"my_file": 1}),
            custom_metadata={"my_key": {"in_side": None}},
        )
        call = types.FunctionCall(id="f", name="look_up", args={"a_key": 1})
        answer = Event(
            author="waiter",
            invocation_id="i",
            timestamp=NOON.timestamp() + 0.25,
            content=types.Content(role="model", parts=[types.Part(function_call=call)]),
            long_running_tool_ids={"f"},
            branch="a.b",
            error_code="E",
            error_message="what happened",
            usage_metadata=types.GenerateContentResponseUsageMetadata(total_token_count=7),
        )
        for one in (event, answer):
            await service.append_event(made, one)
        read = await service.get_session(app_name="shop", user_id="ada", session_id="s-1")
        assert read is not None
        assert read.events == made.events
        assert [one.id for one in read.events] == [event.id, answer.id]
        assert read.state == {"a_b": 2, "gone": None, "user:y": 4}
        await service.delete_session(app_name="shop", user_id="ada", session_id="s-1")
        assert await service.get_session(app_name="shop", user_id="ada", session_id="s-1") is None
        await service.delete_session(app_name="shop", user_id="ada", session_id="s-1")

    async def test_of_another_user_it_is_not_given_out(self, service: VertexAiSessionService) -> None:
        made = await service.create_session(app_name="shop", user_id="ada")
        with pytest.raises(ValueError, match="does not belong"):
            await service.get_session(app_name="shop", user_id="bob", session_id=made.id)
        with pytest.raises(ValueError, match="does not belong"):
            await service.delete_session(app_name="shop", user_id="bob", session_id=made.id)

    async def test_the_sessions_of_a_user(self, service: VertexAiSessionService) -> None:
        odd = 'o"\\ b'
        made: dict[str, list[str]] = {}
        for user in ("ada", "bob", odd, *["ada"] * 120):
            session = await service.create_session(app_name="shop", user_id=user, state={"of": user})
            made.setdefault(user, []).append(session.id)
        for user, ids in made.items():
            listed = await service.list_sessions(app_name="shop", user_id=user)
            assert sorted(one.id for one in listed.sessions) == sorted(ids)
            assert listed.sessions[0].state == {"of": user}
        assert len((await service.list_sessions(app_name="shop")).sessions) == 123

    async def test_some_of_its_events(self, service: VertexAiSessionService) -> None:
        made = await service.create_session(app_name="shop", user_id="ada")
        for second in range(130):
            content = types.Content(role="user", parts=[types.Part(text=str(second))])
            event = Event(author="user", invocation_id="i", timestamp=NOON.timestamp() + second, content=content)
            await service.append_event(made, event)

        async def read(**config: Any) -> list[str]:
            found = await service.get_session(
                app_name="shop", user_id="ada", session_id=made.id, config=GetSessionConfig(**config)
            )
            assert found is not None
            return [((one.content and one.content.parts) or [types.Part()])[0].text or "" for one in found.events]

        assert await read() == [str(second) for second in range(130)]
        assert await read(num_recent_events=2) == ["128", "129"]
        assert await read(num_recent_events=0) == []
        assert await read(after_timestamp=NOON.timestamp() + 127) == ["127", "128", "129"]


@requires("agentplatform")
class TestOfficialClient:
    async def test_its_sessions_and_what_is_generated_from_them(self, banks: MemoryBanks) -> None:
        official = client(banks)
        sessions = official.aio.sessions
        made = (await sessions.create(name=NAME, user_id="ada", config={"display_name": "D", "ttl": "90000s"})).response
        assert made.name.endswith(f"/{NAME}/sessions/{made.name.rpartition('/')[2]}")
        assert (made.display_name, made.user_id) == ("D", "ada")
        assert (made.expire_time - made.create_time).total_seconds() == pytest.approx(90000)
        for second, text in enumerate(("I like tea", "I live in Rome", "I have a dog")):
            await sessions.events.append(
                name=made.name,
                author="user",
                invocation_id="i",
                timestamp=datetime(2026, 1, 1, 12, 0, second, tzinfo=UTC),
                config={"content": {"role": "user", "parts": [{"text": text}]}},
            )
        found = [one async for one in await sessions.events.list(name=made.name, config={"page_size": 2})]
        assert [one.content.parts[0].text for one in found] == ["I like tea", "I live in Rome", "I have a dog"]
        changed = await sessions.update(name=made.name, config={"display_name": "E", "session_state": {"a_b": 1}})
        assert (changed.display_name, changed.session_state, changed.user_id) == ("E", {"a_b": 1}, "ada")
        masked = await sessions.update(
            name=made.name, config={"labels": {"x": "y"}, "update_mask": "labels,sessionState,displayName"}
        )
        assert (masked.labels, masked.session_state, masked.display_name) == ({"x": "y"}, None, None)
        source = {"session": made.name, "start_time": datetime(2026, 1, 1, 12, 0, 1, tzinfo=UTC)}
        operation = await official.aio.memory_banks.memories.generate(name=NAME, vertex_session_source=source)
        assert [change.action.value for change in operation.response.generated_memories] == ["CREATED"] * 2
        assert operation.response.generated_memories[0].memory.scope == {"user_id": "ada"}
        assert await facts(banks, user_id="ada") == ["I have a dog", "I live in Rome"]
        await sessions.delete(name=made.name)
        assert [one async for one in await sessions.list(name=NAME)] == []
        assert await facts(banks, user_id="ada") == ["I have a dog", "I live in Rome"]

    def test_without_a_loop(self, tmp_path: Any) -> None:
        uri = f"memorybank:///{tmp_path}/m?bank={BANK}"
        official = client(uri, model=ScriptedGenerator(), embedder="local")
        made = official.sessions.create(name=NAME, user_id="ada", config={"session_id": "s"}).response
        official.sessions.events.append(name=made.name, author="user", invocation_id="i", timestamp=NOON)
        assert [one.timestamp for one in official.sessions.events.list(name=made.name)] == [NOON]
        assert [one.name for one in official.sessions.list(name=NAME, config={"filter": 'user_id="ada"'})] == [
            made.name
        ]
        scope = {"user_id": "ada", "app_name": "shop"}
        operation = official.memory_banks.memories.generate(
            name=NAME, vertex_session_source={"session": made.name}, scope=scope
        )
        assert operation.done
        official.sessions.delete(name=made.name)


class TestRest:
    @pytest.fixture
    async def http(self, banks: MemoryBanks) -> AsyncIterator[httpx.AsyncClient]:
        access = Access(["all", "ada"], ['ada:scope.user_id="ada"'])
        transport = httpx.ASGITransport(create_app(banks, access=access), raise_app_exceptions=False)
        headers = {"x-goog-api-key": "all"}
        async with httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers) as http:
            yield http

    async def test_names_are_those_of_the_request(self, http: httpx.AsyncClient) -> None:
        answer = (
            await http.post(f"{PATH}?sessionId=s", json={"user_id": "ada", "session_state": {"a_b": None}})
        ).json()
        name = "projects/p/locations/l/reasoningEngines/7/sessions/s"
        assert answer["name"].rpartition("/")[0] == f"{name}/operations"
        assert answer["done"] is True
        assert answer["response"]["name"] == name
        assert answer["response"]["sessionState"] == {"a_b": None}
        assert answer["metadata"]["genericMetadata"].keys() == {"createTime", "updateTime"}
        short = await http.get("/v1/reasoningEngines/7/sessions/s")
        assert short.json()["name"] == "projects/local/locations/local/reasoningEngines/7/sessions/s"
        assert (await http.post(f"{PATH}/s:appendEvent", json=said("hello"))).json() == {}
        [event] = (await http.get(f"{PATH}/s/events")).json()["sessionEvents"]
        assert event["name"].rpartition("/")[0] == f"{name}/events"
        assert event["timestamp"] == "2026-01-01T12:00:00Z"
        assert event["content"] == {"role": "user", "parts": [{"text": "hello"}]}
        assert (await http.get(f"{PATH}?pageSize=1")).json() == {"sessions": [(await http.get(f"{PATH}/s")).json()]}
        gone = (await http.delete(f"{PATH}/s")).json()
        assert gone["response"] == {"@type": "type.googleapis.com/google.protobuf.Empty"}

    async def test_a_change_that_a_mask_names(self, http: httpx.AsyncClient) -> None:
        body = {"userId": "ada", "displayName": "D", "labels": {"a": "b"}, "ttl": "60s", "sessionState": {"a": 1}}
        await http.post(f"{PATH}?sessionId=s", json=body)
        changed = await http.patch(f"{PATH}/s?updateMask=display_name,ttl", json={"labels": {}})
        assert changed.json()["labels"] == {"a": "b"}
        assert changed.json()["sessionState"] == {"a": 1}
        assert changed.json().keys().isdisjoint({"displayName", "expireTime", "ttl"})
        unmasked = await http.patch(
            f"{PATH}/s", json={"displayName": "E", "unknown": 1, "expireTime": "2100-01-01T00:00:00Z"}
        )
        assert (unmasked.json()["displayName"], unmasked.json()["expireTime"]) == ("E", "2100-01-01T00:00:00Z")
        for wrong in (
            http.patch(f"{PATH}/s?updateMask=what", json={}),
            http.patch(f"{PATH}/s", json={"userId": "bob"}),
            http.patch(f"{PATH}/s", json={"ttl": "1"}),
        ):
            assert (await wrong).json()["error"]["status"] == "INVALID_ARGUMENT"
        assert (await http.get(f"{PATH}/s")).json() == unmasked.json()

    @pytest.mark.parametrize(
        ("method", "path", "body", "code", "field"),
        [
            ("POST", "", {}, 400, "userId"),
            ("POST", "", {"userId": 7}, 400, "userId"),
            ("POST", "", {"userId": ""}, 400, "user_id"),
            ("POST", "", {"userId": "a", "sessionState": []}, 400, "sessionState"),
            ("POST", "", {"userId": "a", "ttl": "60s", "expireTime": "2100-01-01T00:00:00Z"}, 400, "ttl"),
            ("POST", f"?sessionId={'a' * 64}", {"userId": "a"}, 400, "session_id"),
            ("POST", "?sessionId=there", {"userId": "a"}, 409, ""),
            ("POST", "/there:appendEvent", {"author": "user"}, 400, "invocationId"),
            ("POST", "/there:appendEvent", {**said("x"), "timestamp": 1}, 400, "timestamp"),
            ("POST", "/there:appendEvent", {**said("x"), "content": {"parts": 1}}, 400, "event.content.parts"),
            ("POST", "/gone:appendEvent", said("x"), 404, ""),
            ("GET", "/gone", None, 404, ""),
            ("GET", "/gone/events", None, 404, ""),
            ("DELETE", "/gone", None, 404, ""),
            ("PATCH", "/gone", {}, 404, ""),
            ("GET", "?filter=what=1", None, 400, "filter"),
            ("GET", "?orderBy=name", None, 400, "order_by"),
            ("GET", "?pageToken=x", None, 400, "page_token"),
            ("GET", "/there/events?filter=author=1", None, 400, "filter"),
            ("GET", "/there/events?orderBy=create_time", None, 400, "order_by"),
        ],
    )
    async def test_what_is_wrong_is_refused(
        self, http: httpx.AsyncClient, method: str, path: str, body: Any, code: int, field: str
    ) -> None:
        await http.post(f"{PATH}?sessionId=there", json={"userId": "ada"})
        before = (await http.get(PATH)).json()
        answer = await http.request(method, f"{PATH}{path}", json=body)
        assert answer.status_code == code, answer.text
        assert field in answer.json()["error"]["message"]
        assert (await http.get(PATH)).json() == before

    async def test_a_bank_that_is_not_there(self, http: httpx.AsyncClient) -> None:
        path = PATH.replace("/7/", "/8/")
        for answer in (await http.get(path), await http.post(path, json={"userId": "a"}), await http.get(f"{path}/s")):
            assert answer.status_code == 404

    async def test_a_key_is_good_for_the_sessions_of_its_user(self, http: httpx.AsyncClient) -> None:
        for user in ("ada", "bob"):
            await http.post(f"{PATH}?sessionId={user}", json={"userId": user})
            await http.post(f"{PATH}/{user}:appendEvent", json=said(f"I am {user}"))
        http.headers["x-goog-api-key"] = "ada"
        assert (await http.get(f"{PATH}/ada")).status_code == 200
        assert (await http.get(f"{PATH}/ada/events")).status_code == 200
        assert (await http.post(f"{PATH}/ada:appendEvent", json=said("hello"))).status_code == 200
        refused = [
            await http.get(PATH),
            await http.post(PATH, json={"userId": "bob"}),
            await http.get(f"{PATH}/bob"),
            await http.patch(f"{PATH}/bob", json={"displayName": "x"}),
            await http.delete(f"{PATH}/bob"),
            await http.get(f"{PATH}/bob/events"),
            await http.post(f"{PATH}/bob:appendEvent", json=said("hello")),
        ]
        assert [answer.status_code for answer in refused] == [403] * 7
        http.headers["x-goog-api-key"] = "none"
        assert (await http.get(f"{PATH}/ada")).status_code == 401

    async def test_nothing_is_generated_from_the_session_of_another(
        self, http: httpx.AsyncClient, banks: MemoryBanks
    ) -> None:
        made = (await http.post(PATH, json={"userId": "bob"})).json()["response"]["name"]
        await http.post(f"/v1beta1/{made}:appendEvent", json=said("I am bob"))
        http.headers["x-goog-api-key"] = "ada"
        generate = PATH.replace("/sessions", "/memories:generate")
        for scope in ({"user_id": "ada"}, None):
            body = {"vertexSessionSource": {"session": made}, "scope": scope}
            assert (await http.post(generate, json=body)).status_code == 403
        assert await facts(banks, user_id="ada") == []

    async def test_nor_by_the_bank_that_is_a_client(self, http: httpx.AsyncClient, banks: MemoryBanks) -> None:
        made = (await http.post(PATH, json={"userId": "bob"})).json()["response"]["name"]
        await http.post(f"/v1beta1/{made}:appendEvent", json=said("I am bob"))
        generate = "/memorybank/v1/banks/7/generate"
        http.headers["x-goog-api-key"] = "ada"
        for scope in ({"user_id": "ada"}, None):
            assert (await http.post(generate, json={"session": made, "scope": scope})).status_code == 403
        assert (await http.post(generate, json={"session": {"id": "s"}})).status_code == 400
        http.headers["x-goog-api-key"] = "all"
        assert (await http.post(generate, json={"session": made})).json()["generated_memories"]
        assert await facts(banks, user_id="ada") == []
        assert await facts(banks, user_id="bob") == ["I am bob"]

    async def test_a_session_that_is_not_there_is_no_source(self, http: httpx.AsyncClient) -> None:
        generate = PATH.replace("/sessions", "/memories:generate")
        for name in ("projects/p/locations/l/reasoningEngines/7/sessions/1", "1"):
            answer = await http.post(generate, json={"vertexSessionSource": {"session": name}})
            assert answer.status_code == 404

    async def test_a_bank_with_sessions_is_deleted_by_force_only(self, http: httpx.AsyncClient) -> None:
        await http.post(PATH, json={"userId": "ada"})
        bank = PATH.removesuffix("/sessions")
        refused = await http.delete(bank)
        assert refused.json()["error"]["status"] == "FAILED_PRECONDITION"
        assert (await http.delete(f"{bank}?force=true")).status_code == 200
        assert (await http.get(PATH)).status_code == 404
