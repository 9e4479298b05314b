"""How a service is made, opened and closed: its URI and its keywords."""

from __future__ import annotations

import asyncio
import pickle
from pathlib import Path
from typing import Any

import pytest

from adk_memorybank import MemoryBankService, memory_bank_service_builder
from adk_memorybank.errors import EngineClosed, InvalidArgument, ModelUnavailable
from adk_memorybank.testing import ScriptedGenerator
from tests.adk import APP, WHO, entry, event, flushed, kept, service_in, session, texts


class TestOpening:
    async def test_closed(self, tmp_path: Path) -> None:
        service = service_in(tmp_path)
        await service.add_memory(**WHO, memories=[entry("One.")])
        await service.close()
        await service.close()
        for call in (
            service.add_session_to_memory(session("Two.")),
            service.add_events_to_memory(**WHO, events=[event("Two.")]),
            service.add_memory(**WHO, memories=[entry("Two.")]),
            service.search_memory(**WHO, query="one"),
            service.delete_memory(**WHO, memory_id="1"),
            service.forget(**WHO),
            service.flush(),
        ):
            with pytest.raises(EngineClosed):
                await call
        async with service_in(tmp_path) as again:
            assert await kept(again) == ["One."]

    async def test_never_used(self, tmp_path: Path) -> None:
        async with service_in(tmp_path):
            pass
        assert not (tmp_path / "memory").exists()

    async def test_accepted_before_it_was_closed(self, tmp_path: Path) -> None:
        async with service_in(tmp_path, model=ScriptedGenerator([0.2])) as service:
            await service.add_session_to_memory(session("One."))
        async with service_in(tmp_path) as again:
            operations = (await again.bank()).operations
            await operations.wait([one.name for one in await operations.list()])
            assert await kept(again) == ["One."]

    async def test_as_services_yaml_makes_it(self, tmp_path: Path) -> None:
        service = MemoryBankService(
            uri="memorybank:///./memory?model=offline", agents_dir=str(tmp_path / "agents"), something_new=True
        )
        async with service:
            await service.add_memory(**WHO, memories=[entry("One.")])
        assert (tmp_path / "agents" / "memory" / "memory.db").is_file()

    def test_keywords_that_are_not_known_are_told(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        uri = f"memorybank:///{tmp_path}/memory"
        MemoryBankService(uri=uri, agents_dir=str(tmp_path), top_k=3)
        assert caplog.text == ""
        MemoryBankService(uri, tpo_k=3, bnak="x")
        (record,) = caplog.records
        assert record.levelname == "WARNING"
        assert record.getMessage().endswith("passed over: bnak, tpo_k")

    @pytest.mark.parametrize(
        ("given", "field"),
        [({"uri": 5}, "uri"), ({"scope_builder": 5}, "scope_builder"), ({"top_k": "3"}, "top_k")],
    )
    def test_wrong_keywords(self, given: dict[str, Any], field: str) -> None:
        with pytest.raises(InvalidArgument) as raised:
            MemoryBankService(**given)
        assert raised.value.field == field

    async def test_wrong_arguments_change_nothing(self, tmp_path: Path) -> None:
        wrong: Any
        async with service_in(tmp_path) as service:
            for wrong in (None, "text", 7):
                with pytest.raises(InvalidArgument, match=r"^events: "):
                    await service.add_events_to_memory(**WHO, events=wrong)
            for wrong in ([1], "text", 7):
                with pytest.raises(InvalidArgument, match=r"^custom_metadata: "):
                    await service.add_events_to_memory(**WHO, events=[event("One.")], custom_metadata=wrong)
                with pytest.raises(InvalidArgument, match=r"^custom_metadata: "):
                    await service.add_memory(**WHO, memories=[entry("One.")], custom_metadata=wrong)
            wrong = 3
            with pytest.raises(InvalidArgument, match=r"^query: "):
                await service.search_memory(**WHO, query=wrong)
            assert await (await service.bank()).list_scopes() == []

    def test_a_wrong_uri_is_told_at_once(self) -> None:
        for make in (MemoryBankService, memory_bank_service_builder):
            with pytest.raises(InvalidArgument) as raised:
                make("memorybank:///./memory?modle=offline")
            assert raised.value.field == "uri"

    async def test_a_builder_can_be_pickled_and_opens_nothing(self, tmp_path: Path) -> None:
        builder = memory_bank_service_builder(f"memorybank:///{tmp_path}/memory?model=offline", top_k=1)
        again = pickle.loads(pickle.dumps(builder))
        assert not (tmp_path / "memory").exists()
        async with again() as service:
            await service.add_memory(**WHO, memories=[entry("One."), entry("Two.")])
            assert texts(await service.search_memory(**WHO, query="two")) == ["Two."]

    async def test_a_pinned_app(self, tmp_path: Path) -> None:
        async with service_in(tmp_path, "?app_name=coffee") as service:
            await service.add_memory(app_name="folder", user_id="ann", memories=[entry("One.")])
            assert texts(await service.search_memory(app_name="engine-7", user_id="ann", query="one")) == ["One."]
            assert texts(await service.search_memory(app_name="folder", user_id="bob", query="one")) == []
            assert service.scope(app_name="x", user_id="ann") == {"app_name": "coffee", "user_id": "ann"}

    async def test_keys_of_the_scope(self, tmp_path: Path) -> None:
        async with service_in(tmp_path, "?scope=user_id") as service:
            await service.add_memory(app_name="one", user_id="ann", memories=[entry("One.")])
            assert texts(await service.search_memory(app_name="two", user_id="ann", query="one")) == ["One."]
            assert await (await service.bank()).list_scopes() == [{"user_id": "ann"}]

    async def test_a_scope_builder(self, tmp_path: Path) -> None:
        def by_team(*, app_name: str, user_id: str) -> dict[str, str]:
            return {"team": user_id.partition(".")[0], "app": app_name}

        async with service_in(tmp_path, scope_builder=by_team) as service:
            await service.add_session_to_memory(session("One.", user_id="red.ann"))
            await flushed(service)
            for user, found in (("red.bob", ["One."]), ("blue.ann", [])):
                assert texts(await service.search_memory(app_name=APP, user_id=user, query="one")) == found

    @pytest.mark.parametrize("scope", [{}, {"user_id": ""}, {str(n): "x" for n in range(6)}, {"user_id": "*"}])
    async def test_a_scope_builder_that_gives_no_scope(self, tmp_path: Path, scope: dict[str, str]) -> None:
        async with service_in(tmp_path, scope_builder=lambda **_: scope) as service:
            with pytest.raises(InvalidArgument, match="scope"):
                await service.add_session_to_memory(session("One."))

    async def test_a_model_that_cannot_be_used_is_told(self, tmp_path: Path) -> None:
        async with service_in(tmp_path, model="no-such-model") as service:
            with pytest.raises(ModelUnavailable, match="offline"):
                await service.add_session_to_memory(session("One."))

    async def test_a_configuration_that_is_wrong_or_missing(self, tmp_path: Path) -> None:
        for config, said in (({"generation_confg": {}}, "generation_config"), (str(tmp_path / "no.yaml"), "no.yaml")):
            async with service_in(tmp_path, config=config) as service:
                with pytest.raises(InvalidArgument, match=said):
                    await service.search_memory(**WHO, query="x")

    async def test_from_several_loops(self, tmp_path: Path) -> None:
        service = service_in(tmp_path)

        def one_loop(number: int) -> list[str]:
            async def run() -> list[str]:
                await service.add_session_to_memory(session(f"Fact {number}.", id=f"s{number}"))
                await service.flush()
                return texts(await service.search_memory(**WHO, query=f"fact {number}"))

            return asyncio.run(run())

        async with service:
            found = await asyncio.gather(*(asyncio.to_thread(one_loop, number) for number in range(4)))
            assert [one[0] for one in found] == [f"Fact {number}." for number in range(4)]
