"""The sessions of a bank: kept, changed, listed, and expired."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from adk_memorybank import MemoryBank, MemoryBanks
from adk_memorybank.errors import AlreadyExists, InvalidArgument, NotFound
from adk_memorybank.sessions import Session
from adk_memorybank.storage import forgetting
from adk_memorybank.testing import HashEmbedder, ManualClock, ScriptedGenerator, temporary_banks
from tests.integration.stores import files_with, rows
from tests.integration.talks import NOON, said, talk

ADA = {"user_id": "ada"}
SECRET = "xylophonist"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def generator() -> ScriptedGenerator:
    return ScriptedGenerator()


@pytest.fixture
async def banks(clock: ManualClock, generator: ScriptedGenerator) -> AsyncIterator[MemoryBanks]:
    async with temporary_banks(clock=clock, model=generator) as banks:
        yield banks


@pytest.fixture
async def bank(banks: MemoryBanks) -> MemoryBank:
    return await banks.create(display_name="Test")


class TestKept:
    async def test_as_it_was_given(self, bank: MemoryBank) -> None:
        given = {"count": 1, "user:name": "Ada", "snake_case": {"in_side": [1, None]}, "temp:now": "gone"}
        made = await bank.sessions.create(
            user_id="ada", session_id="My_session-1", session_state=given, display_name="Mine", labels={"a_b": "c"}
        )
        assert made.name == f"{bank.name}/sessions/My_session-1"
        assert made.session_state == {"count": 1, "user:name": "Ada", "snake_case": {"in_side": [1, None]}}
        assert (made.display_name, made.labels, made.expire_time) == ("Mine", {"a_b": "c"}, None)
        assert (made.create_time, made.update_time) == (NOON, NOON)
        assert await bank.sessions.get(name=made.name) == await bank.sessions.get(name="My_session-1") == made

    async def test_under_a_number_of_its_own(self, bank: MemoryBank) -> None:
        made = [await bank.sessions.create(user_id="ada") for _ in range(2)]
        assert all(one.id.isdecimal() for one in made)
        assert made[0].id != made[1].id

    async def test_an_id_once(self, bank: MemoryBank, banks: MemoryBanks) -> None:
        await bank.sessions.create(user_id="ada", session_id="s")
        with pytest.raises(AlreadyExists):
            await bank.sessions.create(user_id="bob", session_id="s")
        elsewhere = await banks.create()
        assert (await elsewhere.sessions.create(user_id="bob", session_id="s")).user_id == "bob"
        assert (await bank.sessions.get(name="s")).user_id == "ada"

    async def test_in_one_bank_only(self, bank: MemoryBank, banks: MemoryBanks) -> None:
        made = await bank.sessions.create(user_id="ada")
        elsewhere = await banks.create()
        for name in (made.name, made.id):
            with pytest.raises(NotFound):
                await elsewhere.sessions.get(name=name)
            with pytest.raises(NotFound):
                await elsewhere.sessions.append_event(name=name, event=said("hello"))
            with pytest.raises(NotFound):
                await elsewhere.sessions.delete(name=name)

    @pytest.mark.parametrize(
        ("given", "field"),
        [
            ({"user_id": ""}, "user_id"),
            ({"user_id": 7}, "user_id"),
            ({"user_id": "a\x00"}, "user_id"),
            ({"user_id": "a" * 4097}, "user_id"),
            ({"session_id": "a" * 64}, "session_id"),
            ({"session_id": "a/b"}, "session_id"),
            ({"session_id": ""}, "session_id"),
            ({"session_state": ["a"]}, "session_state"),
            ({"session_state": {"a": float("nan")}}, "session_state"),
            ({"session_state": {"a": object()}}, "session_state"),
            ({"labels": {"a": 1}}, "labels.a"),
            ({"display_name": "a" * 129}, "display_name"),
            ({"ttl": "60s", "expire_time": NOON + timedelta(days=1)}, "ttl"),
            ({"ttl": "soon"}, "ttl"),
            ({"ttl": timedelta(0)}, "ttl"),
            ({"expire_time": NOON}, "expire_time"),
        ],
    )
    async def test_not_when_something_is_wrong(self, bank: MemoryBank, given: dict[str, Any], field: str) -> None:
        chosen: dict[str, Any] = {"user_id": "ada", **given}
        with pytest.raises(InvalidArgument) as caught:
            await bank.sessions.create(**chosen)
        assert caught.value.field == field
        assert (await bank.sessions.list_page()).items == []

    async def test_not_when_it_is_nested_without_end(self, bank: MemoryBank) -> None:
        deep: dict[str, Any] = {}
        for _ in range(900):
            deep = {"in": deep}
        with pytest.raises(InvalidArgument, match="nested"):
            await bank.sessions.create(user_id="ada", session_state=deep)

    async def test_what_no_database_stores_is_replaced(self, bank: MemoryBank) -> None:
        made = await bank.sessions.create(user_id="ada", session_state={"a\x00": "b\ud800"})
        assert made.session_state == {"a\ufffd": "b\ufffd"}

    async def test_through_a_restart(self, tmp_path: Path) -> None:
        uri = f"memorybank:///{tmp_path}/m"
        async with MemoryBanks(uri, model=ScriptedGenerator(), embedder=HashEmbedder()) as banks:
            bank = await banks.create(bank_id="b")
            made = await talk(bank, "I like tea", session_id="s", session_state={"a": 1})
            before = await bank.sessions.get(name="s"), await bank.sessions.read_events(name="s")
        async with MemoryBanks(uri, model=ScriptedGenerator(), embedder=HashEmbedder()) as banks:
            bank = await banks.get(name="b")
            assert (await bank.sessions.get(name="s"), await bank.sessions.read_events(name="s")) == before
            await bank.generate(session=made.name)
            assert [memory.fact for memory in await bank.list(scope=ADA)] == ["I like tea"]


class TestChanged:
    async def test_what_is_given(self, bank: MemoryBank, clock: ManualClock) -> None:
        made = await bank.sessions.create(user_id="ada", session_state={"a": 1}, labels={"l": "1"}, display_name="D")
        clock.advance(timedelta(minutes=1))
        changed = await bank.sessions.update(name=made.name, session_state={"b": 2, "temp:c": 3})
        assert changed.session_state == {"b": 2}
        assert (changed.labels, changed.display_name) == ({"l": "1"}, "D")
        assert changed.update_time == made.update_time + timedelta(minutes=1)
        changed = await bank.sessions.update(name=made.name, user_id="ada", labels={}, display_name="")
        assert (changed.session_state, changed.labels, changed.display_name) == ({"b": 2}, {}, "")

    async def test_its_expiry(self, bank: MemoryBank) -> None:
        made = await bank.sessions.create(user_id="ada", ttl="60s")
        assert made.expire_time == NOON + timedelta(seconds=60)
        later = await bank.sessions.update(name=made.name, expire_time=NOON + timedelta(days=2))
        assert later.expire_time == NOON + timedelta(days=2)
        assert (await bank.sessions.update(name=made.name, keep_forever=True)).expire_time is None

    async def test_but_not_whose_it_is(self, bank: MemoryBank) -> None:
        made = await bank.sessions.create(user_id="ada", display_name="D")
        with pytest.raises(InvalidArgument, match="user_id"):
            await bank.sessions.update(name=made.name, user_id="bob", display_name="E")
        assert await bank.sessions.get(name=made.name) == made
        with pytest.raises(NotFound):
            await bank.sessions.update(name="unknown", display_name="E")


class TestEvents:
    async def test_come_back_in_one_spelling(self, bank: MemoryBank) -> None:
        made = await bank.sessions.create(user_id="ada")
        given = {
            "author": "agent",
            "invocation_id": "i-1",
            "timestamp": "2026-01-01T13:00:00.5+01:00",
            "content": {
                "role": "model",
                "parts": [
                    {"function_call": {"id": "f", "name": "look_up", "args": {"a_key": {"b_key": None}}}},
                    {"functionResponse": {"name": "look_up", "response": {"a_key": 1}}},
                    {"inline_data": {"mime_type": "image/png", "data": "_-8="}, "video_metadata": None},
                ],
            },
            "actions": {
                "state_delta": {"a_key": {"b_key": 1}},
                "artifact_delta": {"my_file.txt": 2},
                "requested_auth_configs": {"f_1": {"auth_scheme": "x"}},
                "transfer_agent": "other_agent",
            },
            "event_metadata": {"custom_metadata": {"my_key": [1]}, "turn_complete": True, "branch": None},
            "error_code": "E",
            "rawEvent": {"id": "adk-id-1", "invocation_id": "raw", "content": {"parts": []}, "x_y": None},
            "what_is_this": 1,
            "name": "ignored",
        }
        added = await bank.sessions.append_event(name=made.name, event=given)
        assert added.name == f"{made.name}/events/adk-id-1"
        assert added.timestamp == NOON + timedelta(milliseconds=500)
        assert added.body == {
            "author": "agent",
            "invocationId": "i-1",
            "content": {
                "role": "model",
                "parts": [
                    {"functionCall": {"id": "f", "name": "look_up", "args": {"a_key": {"b_key": None}}}},
                    {"functionResponse": {"name": "look_up", "response": {"a_key": 1}}},
                    {"inlineData": {"mimeType": "image/png", "data": "_-8="}},
                ],
            },
            "actions": {
                "stateDelta": {"a_key": {"b_key": 1}},
                "artifactDelta": {"my_file.txt": 2},
                "requestedAuthConfigs": {"f_1": {"auth_scheme": "x"}},
                "transferAgent": "other_agent",
            },
            "eventMetadata": {"customMetadata": {"my_key": [1]}, "turnComplete": True},
            "errorCode": "E",
            "rawEvent": {"id": "adk-id-1", "invocation_id": "raw", "content": {"parts": []}, "x_y": None},
        }

    async def test_change_the_state(self, bank: MemoryBank, clock: ManualClock) -> None:
        made = await bank.sessions.create(user_id="ada", session_state={"a": 1, "b": {"c": 1}})
        clock.advance(timedelta(minutes=1))
        delta = {"b": {"d": 2}, "a": None, "app:x": 1, "user:y": 2, "temp:z": SECRET}
        raw = {"actions": {"stateDelta": {**delta}}}
        added = await bank.sessions.append_event(
            name=made.name, event=said("hello", actions={"state_delta": delta}, raw_event=raw)
        )
        kept = {"b": {"d": 2}, "a": None, "app:x": 1, "user:y": 2}
        assert added.body["actions"]["stateDelta"] == added.body["rawEvent"]["actions"]["stateDelta"] == kept
        after = await bank.sessions.get(name=made.name)
        assert after.session_state == kept
        assert after.update_time == made.update_time + timedelta(minutes=1)

    async def test_of_a_chunk_do_not_change_it(self, bank: MemoryBank) -> None:
        made = await bank.sessions.create(user_id="ada")
        chunk = said("hel", author="agent", actions={"stateDelta": {"a": 1}}, eventMetadata={"partial": True})
        await bank.sessions.append_event(name=made.name, event=chunk)
        assert (await bank.sessions.get(name=made.name)).session_state == {}

    async def test_all_count_when_many_come_at_once(self, bank: MemoryBank) -> None:
        made = await bank.sessions.create(user_id="ada")
        events = [said(f"number {place}", actions={"stateDelta": {f"k{place}": place}}) for place in range(40)]
        await asyncio.gather(*(bank.sessions.append_event(name=made.name, event=one) for one in events))
        assert (await bank.sessions.get(name=made.name)).session_state == {f"k{place}": place for place in range(40)}
        assert len((await bank.sessions.list_events_page(name=made.name)).items) == 40

    async def test_with_an_id_that_is_taken_get_another(self, bank: MemoryBank) -> None:
        made = await bank.sessions.create(user_id="ada")
        event = said("hello", rawEvent={"id": "e"})
        ids = [(await bank.sessions.append_event(name=made.name, event=event)).id for _ in range(2)]
        assert ids[0] == "e"
        assert ids[1].isdecimal()
        odd = await bank.sessions.append_event(name=made.name, event=said("hello", rawEvent={"id": "a/b"}))
        assert odd.id.isdecimal()

    @pytest.mark.parametrize(
        ("wrong", "field"),
        [
            ({"author": None}, "author"),
            ({"author": 7}, "author"),
            ({"invocationId": ""}, "invocationId"),
            ({"timestamp": None}, "timestamp"),
            ({"timestamp": "yesterday"}, "timestamp"),
            ({"timestamp": 1767268800}, "timestamp"),
            ({"content": "text"}, "content"),
            ({"content": {"parts": "text"}}, "event.content.parts"),
            ({"content": {"parts": [{"text": 7}]}}, "event.content.parts[0].text"),
            ({"content": {"parts": [{"inlineData": {"data": "?"}}]}}, "event.content.parts[0].inline_data.data"),
            ({"actions": {"stateDelta": 1}}, "actions.stateDelta"),
            ({"rawEvent": {"a": float("inf")}}, "rawEvent"),
            ({"eventMetadata": {"partial": "yes"}}, "eventMetadata.partial"),
        ],
    )
    async def test_that_are_wrong_are_not_taken(self, bank: MemoryBank, wrong: dict[str, Any], field: str) -> None:
        made = await bank.sessions.create(user_id="ada")
        with pytest.raises(InvalidArgument) as caught:
            await bank.sessions.append_event(name=made.name, event={**said("hello"), **wrong})
        assert caught.value.field == field
        assert await bank.sessions.get(name=made.name) == made
        assert (await bank.sessions.list_events_page(name=made.name)).items == []


class TestListed:
    async def test_page_by_page(self, bank: MemoryBank, clock: ManualClock) -> None:
        made: list[Session] = []
        for number in range(5):
            made.append(await bank.sessions.create(user_id="ada", display_name=str(number)))
            clock.advance(timedelta(seconds=number % 2))  # some at one moment
        listed = await bank.sessions.list_page()
        assert (listed.items, listed.next_page_token) == (made[::-1], "")
        first = await bank.sessions.list_page(page_size=2)
        assert first.items == [made[4], made[3]]
        await bank.sessions.create(user_id="ada")
        second = await bank.sessions.list_page(page_size=2, page_token=first.next_page_token)
        assert second.items == [made[2], made[1]]
        third = await bank.sessions.list_page(page_size=2, page_token=second.next_page_token)
        assert (third.items, third.next_page_token) == ([made[0]], "")
        assert (await bank.sessions.list_page(order_by="createTime", page_size=1)).items == [made[0]]
        clock.advance(timedelta(seconds=1))
        await bank.sessions.append_event(name=made[0].name, event=said("hello"))
        by_change = await bank.sessions.list_page(order_by="update_time desc", page_size=1)
        assert by_change.items[0].id == made[0].id

    async def test_by_whose_they_are(self, bank: MemoryBank) -> None:
        users = ["ada", "bob", 'o"\\n', "123"]
        for user in users:
            await bank.sessions.create(user_id=user, display_name=f"of {user}", labels={"of": user})
        for user in users:
            quoted = user.replace("\\", "\\\\").replace('"', '\\"')
            for filter in (f'user_id="{quoted}"', f'userId = "{quoted}"', f'display_name="of {quoted}"'):
                found = await bank.sessions.list_page(filter=filter)
                assert [one.user_id for one in found.items] == [user], filter
        assert [one.user_id for one in (await bank.sessions.list_page(filter="user_id=123")).items] == ["123"]
        assert [one.user_id for one in (await bank.sessions.list_page(filter='labels.of="bob"')).items] == ["bob"]

    async def test_few_among_many(self, bank: MemoryBank) -> None:
        for number in range(250):
            await bank.sessions.create(user_id="bob" if number % 100 == 7 else "ada", session_id=f"s{number}")
        first = await bank.sessions.list_page(filter='user_id="bob"', order_by="create_time", page_size=2)
        assert [one.id for one in first.items] == ["s7", "s107"]
        second = await bank.sessions.list_page(
            filter='user_id="bob"', order_by="create_time", page_size=2, page_token=first.next_page_token
        )
        assert ([one.id for one in second.items], second.next_page_token) == (["s207"], "")
        with pytest.raises(InvalidArgument, match="page_token"):
            await bank.sessions.list_page(page_token=first.next_page_token)
        assert len((await bank.sessions.list_page(page_size=1000)).items) == 100

    async def test_their_events_in_the_order_of_time(self, bank: MemoryBank) -> None:
        made = await bank.sessions.create(user_id="ada")
        for second in (3, 1, 2, 2):
            await bank.sessions.append_event(name=made.name, event=said(f"at {second}", second=second))
        page = await bank.sessions.list_events_page(name=made.name)
        texts = [one.body["content"]["parts"][0]["text"] for one in page.items]
        assert texts == ["at 1", "at 2", "at 2", "at 3"]
        turned = await bank.sessions.list_events_page(name=made.name, order_by="timestamp desc")
        assert turned.items == page.items[::-1]
        after = (NOON + timedelta(seconds=2)).isoformat()
        late = await bank.sessions.list_events_page(name=made.name, filter=f'timestamp>="{after}"')
        assert late.items == page.items[1:]
        between = await bank.sessions.list_events_page(
            name=made.name, filter=f'timestamp>="{NOON.isoformat()}" AND timestamp<"{after}"'
        )
        assert between.items == page.items[:1]

    async def test_their_events_page_by_page(self, bank: MemoryBank) -> None:
        made = await talk(bank, *(f"number {place}" for place in range(7)))
        token, found = "", []
        for _ in range(4):
            page = await bank.sessions.list_events_page(name=made.name, page_size=2, page_token=token)
            found += page.items
            token = page.next_page_token
        assert token == ""
        assert [one.body["content"]["parts"][0]["text"] for one in found] == [f"number {place}" for place in range(7)]

    @pytest.mark.parametrize(
        "wrong",
        [{"order_by": "author"}, {"filter": "author=1"}, {"page_token": "?"}, {"page_size": -1}, {"filter": "("}],
    )
    async def test_events_not_when_something_is_wrong(self, bank: MemoryBank, wrong: dict[str, Any]) -> None:
        made = await bank.sessions.create(user_id="ada")
        with pytest.raises(InvalidArgument) as caught:
            await bank.sessions.list_events_page(name=made.name, **wrong)
        assert caught.value.field == next(iter(wrong))


class TestExpired:
    async def test_is_not_there(self, bank: MemoryBank, banks: MemoryBanks, clock: ManualClock) -> None:
        made = await talk(bank, "I like tea", session_id="s", ttl="60s")
        clock.advance(timedelta(seconds=59))
        await bank.sessions.get(name="s")
        clock.advance(timedelta(seconds=1))
        for gone in (
            bank.sessions.get(name="s"),
            bank.sessions.append_event(name="s", event=said("hello")),
            bank.sessions.update(name="s", ttl="60s"),
            bank.generate(session=made.name),
        ):
            with pytest.raises(NotFound):
                await gone
        again = await bank.sessions.create(user_id="bob", session_id="s")
        assert (await bank.sessions.read_events(name="s")) == ("bob", [])
        assert again.create_time == clock.now()
        await bank.sessions.delete(name="s")
        await banks.delete(name=bank.name)

    async def test_is_swept(self, tmp_path: Path, clock: ManualClock) -> None:
        uri = f"memorybank:///{tmp_path}/m"
        async with MemoryBanks(uri, model=ScriptedGenerator(), embedder=HashEmbedder(), clock=clock) as banks:
            bank = await banks.create()
            await talk(bank, f"the {SECRET}", ttl="60s")
            await talk(bank, "what stays")
            clock.advance(timedelta(minutes=2))
            engine = banks.engine

            async def sweep() -> int:
                now = clock.now()
                async with engine.database.write() as connection:
                    gone = await forgetting.sweep(connection, now=now, operations_before=now - timedelta(days=30))
                await engine.database.truncate_log()
                return gone

            assert await engine.call(sweep()) == 1
            assert await engine.call(sweep()) == 0
            assert rows(tmp_path / "m", "SELECT COUNT(*) FROM sessions") == [(1,)]
            assert rows(tmp_path / "m", "SELECT COUNT(*) FROM session_events") == [(1,)]
            assert files_with(tmp_path / "m", SECRET) == []
