"""Nobody's memories are seen, changed or deleted through anybody else, whatever the names are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import count, permutations
from pathlib import Path
from typing import Any

import pytest

from adk_memorybank import MemoryBankService
from adk_memorybank.errors import InvalidArgument, NotFound
from adk_memorybank.testing import HashEmbedder, ScriptedGenerator
from tests.adk import entry, event, session, texts

FACT = "I drink green tea."
SECOND = "I own a grey cat."

# Pairs that a careless key would take for one another.
EVERYBODY = [
    ("app", "ann"),
    ("app", "bob"),
    ("other", "ann"),
    ("ann", "app"),
    ("app", "Ann"),
    ("app", "ann "),
    ("app/ann", "x"),
    ("app", "ann/x"),
    ('app","user_id":"ann', "x"),
    ("app", 'x","app_name":"other'),
    ("app", "caf\u00e9"),
    ("app", "cafe\u0301"),
    ("app", "%"),
    ("app", "_nn"),
]

STRANGE = {
    "slash": "a/b",
    "dots": "../../etc",
    "star": "*",
    "star inside": "a*b",
    "quotes": "'\"`",
    "sql": "'; DROP TABLE memories; --",
    "like": "%_\\",
    "json": '{"$ne": null}',
    "emoji": "👩🏽‍🚀🍵",
    "nul": "a\0b",
    "surrogate": "\ud800x",
    "control": "\x1b[31m\r\n\t",
    "turned": "\u202etxet\u202c",
    "invisible": "\u200b",
    "blank": " ",
    "long": "x" * 10_240,
    "long and wide": "字" * 3_500,
    "format": "{0}%s%(x)s$HOME",
    "path": "memories/7/revisions/8",
    "empty": "",
}
strange = pytest.mark.parametrize("name", STRANGE.values(), ids=STRANGE.keys())


def who(app: str, user: str) -> dict[str, Any]:
    return {"app_name": app, "user_id": user}


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[MemoryBankService]:
    uri = f"memorybank:///{tmp_path}/memory"
    async with MemoryBankService(uri, model=ScriptedGenerator(), embedder=HashEmbedder()) as service:
        yield service


async def ids_of(service: MemoryBankService, app: str, user: str) -> set[str]:
    found = (await service.search_memory(**who(app, user), query=FACT)).memories
    return {memory.id or "" for memory in found}


async def all_know_the_same(service: MemoryBankService) -> dict[tuple[str, str], set[str]]:
    """Everybody says the same words in an event and a session of the same name, and adds the same memory."""
    for app, user in EVERYBODY:
        said = event(FACT, id="e1")
        await service.add_session_to_memory(session(said, id="s1", app_name=app, user_id=user))
        await service.add_memory(**who(app, user), memories=[entry(SECOND)])
    operations = await service.flush()
    assert [operation.error for operation in operations] == [None] * len(EVERYBODY)
    return {pair: await ids_of(service, *pair) for pair in EVERYBODY}


async def test_everybody_finds_their_own(service: MemoryBankService) -> None:
    known = await all_know_the_same(service)
    assert all(len(ids) == 2 for ids in known.values()), "the same event id counts once for each of them"
    assert len(set().union(*known.values())) == 2 * len(EVERYBODY)
    bank = await service.bank()
    for (app, user), ids in known.items():
        assert {memory.id for memory in await bank.list(scope=who(app, user))} == ids
        for by in ("fused", "distance", "words"):
            found = await bank.retrieve(scope=who(app, user), query=FACT, top_k=100, by=by)
            assert {memory.id for memory in found} == ids
            assert all(one.memory.scope == who(app, user) for one in found)
        assert {memory.id for memory in await bank.retrieve(scope=who(app, user))} == ids


async def test_the_same_words_of_one_touch_nothing_of_another(service: MemoryBankService) -> None:
    known = await all_know_the_same(service)
    bank = await service.bank()
    before = {memory.id: memory for memory in await bank.list()}
    app, user = EVERYBODY[0]
    await service.add_session_to_memory(session(FACT, id="s2", app_name=app, user_id=user))
    await service.add_memory(
        **who(app, user), memories=[entry(FACT)], custom_metadata={"enable_consolidation": True, "colour": "red"}
    )
    assert len(await service.flush()) == 2
    after = {memory.id: memory for memory in await bank.list()}
    changed = {memory_id for memory_id in after if after[memory_id] != before.get(memory_id)}
    assert changed
    assert changed <= known[EVERYBODY[0]]


async def test_nobody_deletes_what_is_anothers(service: MemoryBankService) -> None:
    known = await all_know_the_same(service)
    for one, other in permutations(EVERYBODY, 2):
        for memory_id in known[other]:
            with pytest.raises(NotFound):
                await service.delete_memory(**who(*one), memory_id=memory_id)
    bank = await service.bank()
    assert len(await bank.list()) == 2 * len(EVERYBODY)
    mine = known[EVERYBODY[0]].pop()
    with pytest.raises(NotFound):
        await bank.delete(name=mine, scope=who(*EVERYBODY[1]))
    await service.delete_memory(**who(*EVERYBODY[0]), memory_id=mine)
    assert {pair: await ids_of(service, *pair) for pair in EVERYBODY} == known


async def test_forgetting_one_leaves_the_others(service: MemoryBankService) -> None:
    known = await all_know_the_same(service)
    for pair in EVERYBODY[::2]:
        assert (await service.forget(**who(*pair))).memories == 2
        known[pair] = set()
        assert {one: await ids_of(service, *one) for one in EVERYBODY} == known
    bank = await service.bank()
    assert len(await bank.list_scopes()) == len(EVERYBODY[1::2])


async def test_a_request_to_forget_reaches_nobody_else(tmp_path: Path) -> None:
    async with MemoryBankService(f"memorybank:///{tmp_path}/memory?model=offline") as service:
        for user in ("ann", "bob"):
            await service.add_session_to_memory(session("I follow a vegan diet.", app_name="app", user_id=user))
        await service.flush()
        await service.add_session_to_memory(
            session("Forget what I said about my diet.", id="s2", app_name="app", user_id="ann")
        )
        await service.flush()
        found = {user: texts(await service.search_memory(**who("app", user), query="diet")) for user in ("ann", "bob")}
        assert found == {"ann": [], "bob": ["I follow a vegan diet."]}


async def test_streams_of_one_name_are_not_one(service: MemoryBankService) -> None:
    rule = {"generation_rule": {"event_count": 2}}
    for user in ("ann", "bob"):
        await service.add_events_to_memory(
            **who("app", user),
            events=[event(FACT)],
            session_id="same",
            custom_metadata={"generation_trigger_config": rule},
        )
    assert await service.flush() == []
    bank = await service.bank()
    (operation,) = await bank.flush(scope=who("app", "ann"), stream_id="same")
    await bank.operations.wait([operation.name])
    assert [await ids_of(service, "app", user) != set() for user in ("ann", "bob")] == [True, False]


async def test_two_banks_in_one_folder(tmp_path: Path) -> None:
    uri = f"memorybank:///{tmp_path}/memory?bank="
    async with (
        MemoryBankService(uri + "one", model="offline", embedder=HashEmbedder()) as one,
        MemoryBankService(uri + "two", model="offline", embedder=HashEmbedder()) as two,
    ):
        for service in (one, two):
            await service.add_memory(**who("app", "ann"), memories=[entry(FACT, id="same-id")])
        await one.delete_memory(**who("app", "ann"), memory_id="same-id")
        assert (await ids_of(one, "app", "ann"), await ids_of(two, "app", "ann")) == (set(), {"same-id"})
        await one.forget(**who("app", "ann"))
        assert await ids_of(two, "app", "ann") == {"same-id"}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryBankService]:
    """One service for many names: nobody disturbs anybody else in it either."""
    uri = f"memorybank:///{tmp_path_factory.mktemp('shared')}/memory"
    service = MemoryBankService(uri, model=ScriptedGenerator(), embedder=HashEmbedder())
    yield service
    asyncio.run(service.close())


_numbers = count()


@pytest.fixture
def app() -> str:
    """An app that nobody else uses."""
    return f"app-{next(_numbers)}"


async def behaves(call: Callable[[], Awaitable[object]], *also: type[Exception]) -> bool:
    """Whether a call was taken. It may be refused, but by nothing else than `InvalidArgument`, or one of these."""
    try:
        await call()
    except (InvalidArgument, *also) as error:
        str(error).encode()
        return False
    return True


class TestStrangeNames:
    @strange
    @pytest.mark.parametrize("key", ["app_name", "user_id"])
    async def test_of_apps_and_users(self, shared: MemoryBankService, app: str, name: str, key: str) -> None:
        plain = who(app, app)
        odd: dict[str, Any] = {**plain, key: name}
        mine, theirs = f"{app}-mine", f"{app}-theirs"
        await shared.add_memory(**plain, memories=[entry(FACT, id=mine)])
        taken = {
            await behaves(lambda: shared.add_memory(**odd, memories=[entry(FACT, id=theirs)])),
            await behaves(lambda: shared.add_session_to_memory(session(SECOND, **odd))),
            await behaves(lambda: shared.add_events_to_memory(**odd, events=[event("I have a bike.")])),
            await behaves(lambda: shared.search_memory(**odd, query=FACT)),
        }
        assert len(taken) == 1, "all of them or none"
        await shared.flush()
        if taken == {True}:
            assert sorted(texts(await shared.search_memory(**odd, query=FACT))) == [FACT, "I have a bike.", SECOND]
            with pytest.raises(NotFound):
                await shared.delete_memory(**odd, memory_id=mine)
            await shared.delete_memory(**odd, memory_id=theirs)
            assert (await shared.forget(**odd)).memories == 2
        else:
            assert not await behaves(lambda: shared.delete_memory(**odd, memory_id=mine))
            assert not await behaves(lambda: shared.forget(**odd))
        assert await ids_of(shared, app, app) == {mine}

    @strange
    async def test_of_sessions_and_streams(self, shared: MemoryBankService, app: str, name: str) -> None:
        said, again = event(FACT, id="e1"), event(SECOND, id="e2")
        scope = who(app, "ann")
        given: dict[str, object] = {"stream_id": name}
        taken = {
            await behaves(lambda: shared.add_session_to_memory(session(said, id=name, **scope))),
            await behaves(lambda: shared.add_events_to_memory(**scope, events=[said, again], session_id=name)),
            await behaves(lambda: shared.add_events_to_memory(**scope, events=[event(FACT)], custom_metadata=given)),
        }
        assert len(taken) == 1
        assert all(operation.error is None for operation in await shared.flush())
        bank = await shared.bank()
        memories = await bank.list(scope=scope)
        if taken == {True}:
            assert await bank.flush(scope=scope, stream_id=name) == []
            assert {memory.fact for memory in memories} == {FACT, SECOND}
            for memory in memories:
                memory.model_dump_json().encode()
        else:
            assert memories == []

    @strange
    async def test_of_events(self, shared: MemoryBankService, app: str, name: str) -> None:
        scope = who(app, "ann")
        said = event(FACT)
        said.id = name
        taken = await behaves(lambda: shared.add_session_to_memory(session(said, **scope)))
        assert taken == await behaves(lambda: shared.add_events_to_memory(**scope, events=[said], session_id="s2"))
        await shared.flush()
        assert len(await ids_of(shared, app, "ann")) == taken
        await behaves(lambda: shared.add_session_to_memory(session(said, **scope)))
        assert await shared.flush() == [], "seen before"

    @strange
    async def test_of_memories(self, shared: MemoryBankService, app: str, name: str) -> None:
        scope = who(app, "ann")
        await shared.add_memory(**scope, memories=[entry(FACT, id=name)])
        given: dict[str, object] = {"memory_id": name}
        await behaves(lambda: shared.add_memory(**scope, memories=[entry(FACT)], custom_metadata=given))
        before = await ids_of(shared, app, "ann")
        assert not await behaves(lambda: shared.delete_memory(**scope, memory_id=name), NotFound)
        bank = await shared.bank()
        for call in (
            lambda: bank.get(name=name),
            lambda: bank.update(name=name, fact="x"),
            lambda: bank.delete(name=name),
            lambda: bank.operations.get(name),
            lambda: bank.operations.retry(name),
            lambda: bank.operations.cancel(name),
        ):
            assert not await behaves(call, NotFound)
        assert await bank.list_revisions(name=name) == []
        assert await ids_of(shared, app, "ann") == before

    @strange
    async def test_of_authors_and_metadata(self, shared: MemoryBankService, app: str, name: str) -> None:
        scope = who(app, "ann")
        given: dict[str, object] = {"revision_labels": {name: name}, "metadata": {name: name}, "description": name}
        said = entry(FACT, author=name, timestamp=name)
        await shared.add_memory(**scope, memories=[said], custom_metadata=given)
        await shared.add_events_to_memory(**scope, events=[event(FACT, author=name)], custom_metadata={"x": name})
        assert all(operation.error is None for operation in await shared.flush())
        (found,) = (await shared.search_memory(**scope, query=FACT)).memories
        found.model_dump_json().encode()
        for revision in await (await shared.bank()).list_revisions(name=found.id or ""):
            revision.model_dump_json().encode()

    @strange
    async def test_of_facts_and_queries(self, shared: MemoryBankService, app: str, name: str) -> None:
        scope = who(app, "ann")
        await shared.add_memory(**scope, memories=[entry(f"Tea {name}")])
        await shared.add_session_to_memory(session(f"Said {name}", **scope))
        assert all(operation.error is None for operation in await shared.flush())
        kept = 2 if len(name) < 2_000 else 1  # what was generated has a longest length, what is added has none
        assert len(texts(await shared.search_memory(**scope, query="tea"))) == kept
        await shared.search_memory(**scope, query=name)
        assert (await shared.forget(**scope)).memories == kept
