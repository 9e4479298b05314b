"""Two customers of The Daily Grind: what is remembered of one, from what, and that the other never sees it.

python -m samples.coffee_shop.demo
python -m samples.coffee_shop.demo --folder ./memory    # and the memories are kept there
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.genai import types
from rich.console import Console
from rich.table import Table

from adk_memorybank import MemoryBankService
from samples.coffee_shop.agent import root_agent

APP = "coffee_shop"
FIRST_VISIT = (
    "Hi, I'm Ada. I'm lactose intolerant, so I take my flat white with oat milk.",
    "The music was way too loud today, I could barely hear my friend.",
    "Thanks for the coffee.",
)
QUESTIONS = ("Which milk do I take in my flat white?", "What did I say about the music?")


class Demo:
    """The shop, with a memory in a folder, and a console to show it on."""

    def __init__(self, console: Console, service: MemoryBankService) -> None:
        self._console = console
        self._service = service
        self._sessions = InMemorySessionService()
        self._runner = Runner(app_name=APP, agent=root_agent, session_service=self._sessions, memory_service=service)

    async def visit(self, customer: str, messages: Sequence[str], *, show_found: bool = False) -> None:
        """One session: the messages, the barista's answers, and what memory finds for each message."""
        session = await self._sessions.create_session(app_name=APP, user_id=customer)
        table = _table()
        for message in messages:
            table.add_row(customer, message)
            table.add_row("barista", await self._answer(customer, session.id, message))
            if show_found:
                table.add_row("found*", await self._found(customer, message), style="dim")
        self._console.print(table)
        for operation in await self._service.flush():
            if operation.error:
                raise RuntimeError(f"{operation.name} failed: {operation.error.message}")

    async def _answer(self, customer: str, session_id: str, message: str) -> str:
        said = types.Content(role="user", parts=[types.Part(text=message)])
        texts: list[str] = []
        try:
            async for event in self._runner.run_async(user_id=customer, session_id=session_id, new_message=said):
                if event.is_final_response() and event.content:
                    texts += [part.text for part in event.content.parts or [] if part.text and not part.thought]
        except Exception as error:
            error.add_note("This came from the chat model; with COFFEE_SHOP_MODEL=quoting the demo needs none.")
            raise
        return " ".join(texts)

    async def _found(self, customer: str, query: str) -> str:
        response = await self._service.search_memory(app_name=APP, user_id=customer, query=query)
        lines = [
            f"{(entry.custom_metadata or {})['memory_bank']['distance']:.2f}  {_text(entry.content)}"
            for entry in response.memories
        ]
        return "\n".join(lines) or "nothing"

    async def remembered(self, customer: str) -> int:
        """Shows the memories of a customer, their topics, and the messages that they were drawn from."""
        bank = await self._service.bank()
        memories = await bank.retrieve(scope=self._service.scope(app_name=APP, user_id=customer))
        table = _table()
        for found in reversed(memories):
            table.add_row("memory", found.fact)
            table.add_row("topics", ", ".join(found.topics), style="dim")
            for source in found.memory.sources:
                table.add_row("from", await self._said(customer, source.session_id, source.event_id), style="dim")
        self._console.print(table)
        return len(memories)

    async def _said(self, customer: str, session_id: str, event_id: str) -> str:
        session = await self._sessions.get_session(app_name=APP, user_id=customer, session_id=session_id)
        for event in session.events if session else []:
            if event.id == event_id:
                return f"“{_text(event.content)}”"
        return f"event {event_id} of an earlier session"


async def main(folder: Path, console: Console) -> None:
    """Plays the three sessions.

    Args:
        folder: of the memory, absolute.
        console: to print on.
    """
    config = Path(__file__).with_name("bank.yaml")
    async with MemoryBankService(f"memorybank:///{folder}?model=offline", config=config) as service:
        demo = Demo(console, service)
        bank = await service.bank()
        model = root_agent.model if isinstance(root_agent.model, str) else root_agent.model.model
        console.print("The Daily Grind, a coffee shop that remembers", style="bold")
        facts = {"chat model": model, "memory model": bank.model, "embedder": bank.embedder, "store": str(folder)}
        console.print(", ".join(f"{name}: {value}" for name, value in facts.items()), style="dim")
        _title(console, "Ada's first visit")
        await demo.visit("Ada", FIRST_VISIT)
        _title(console, "What is remembered of Ada, and from what")
        await demo.remembered("Ada")
        _title(console, "Ada's second visit, a new session: answered from memory")
        await demo.visit("Ada", QUESTIONS, show_found=True)
        _title(console, "Ben's first visit: what Ada said is not for him")
        await demo.visit("Ben", QUESTIONS[:1], show_found=True)
    console.print("\n* each with its distance to the question: 0 is the same, 2 the opposite", style="dim")


def _title(console: Console, title: str) -> None:
    console.print(f"\n{title}", style="bold cyan")


def _table() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="green", no_wrap=True, width=8)
    table.add_column()
    return table


def _text(content: types.Content | None) -> str:
    return "".join(part.text or "" for part in (content.parts if content else None) or [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Two customers of a coffee shop, one memory each.")
    parser.add_argument("--folder", type=Path, help="where the memories stay; by default a folder that is removed")
    chosen = parser.parse_args().folder
    with nullcontext(chosen) if chosen else tempfile.TemporaryDirectory(prefix="coffee-shop-") as place:
        asyncio.run(main(Path(place).absolute(), Console(highlight=False, markup=False)))
