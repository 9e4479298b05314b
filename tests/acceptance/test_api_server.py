"""ADK's own servers with `samples/`: what is said over HTTP in one session is found in the next."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

SAMPLES = Path(__file__).resolve().parent.parent.parent / "samples"
ADK = Path(sys.executable).parent / "adk"
MEMORY = "memorybank:///./memory"
APP = "coffee_shop"
MILK = "I take my flat white with oat milk."
QUESTION = "Which milk do I take in my flat white?"
NOTHING = "I find nothing"
START = 60.0
SOON = 30.0


class Server:
    """A running server, and how its sample is talked to."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client

    def new_session(self, user: str, **body: Any) -> str:
        response = self.client.post(f"/apps/{APP}/users/{user}/sessions", json=body)
        response.raise_for_status()
        return response.json()["id"]

    def say(self, user: str, session_id: str, text: str) -> list[dict[str, Any]]:
        """One turn; the events that it made."""
        message = {"role": "user", "parts": [{"text": text}]}
        body = {"appName": APP, "userId": user, "sessionId": session_id, "newMessage": message}
        response = self.client.post("/run", json=body)
        response.raise_for_status()
        return response.json()

    def ask_anew(self, user: str, question: str = QUESTION) -> str:
        """What a new session answers. It has to have looked it up with `load_memory`."""
        events = self.say(user, self.new_session(user), question)
        parts = [part for event in events for part in event["content"]["parts"]]
        assert [part["functionCall"]["name"] for part in parts if "functionCall" in part] == ["load_memory"]
        return parts[-1]["text"]

    def answer_with(self, text: str, user: str) -> str:
        """The first answer that contains a text: memories are made behind the scenes."""
        return until(lambda: self.ask_anew(user), lambda answer: text in answer, f"an answer with {text!r}")


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    """A copy of the samples, with nothing in it that an earlier run has left."""
    ignored = shutil.ignore_patterns("__pycache__", ".adk", "memory")
    return Path(shutil.copytree(SAMPLES, tmp_path / "samples", ignore=ignored))


def test_a_new_session_finds_what_was_said_in_the_first(samples: Path) -> None:
    with running("api_server", samples) as server:
        assert NOTHING in server.ask_anew("ada")
        server.say("ada", server.new_session("ada"), MILK)
        assert MILK in server.answer_with("oat milk", "ada")
        assert NOTHING in server.ask_anew("ben")
    assert (samples / "memory" / "memory.db").is_file(), "a relative folder lies beside the agents"


def test_what_was_accepted_is_remembered_after_a_restart(samples: Path) -> None:
    with running("api_server", samples) as server:
        server.say("ada", server.new_session("ada"), MILK)
    with running("api_server", samples) as server:
        assert MILK in server.answer_with("oat milk", "ada")
        assert NOTHING in server.ask_anew("ben")


def test_patch_memory_adds_a_session(samples: Path) -> None:
    with running("api_server", samples) as server:
        said = {"author": "user", "content": {"role": "user", "parts": [{"text": MILK}]}, "invocationId": "i-1"}
        session_id = server.new_session("ada", events=[said])  # not said to the agent, so its callback never saw it
        assert NOTHING in server.ask_anew("ada")
        for _ in range(2):
            response = server.client.patch(f"/apps/{APP}/users/ada/memory", json={"sessionId": session_id})
            assert response.status_code == 200, response.text
        assert MILK in server.answer_with("oat milk", "ada")
        assert NOTHING in server.ask_anew("ben")


def test_adk_web_answers(samples: Path) -> None:
    with running("web", samples) as server:
        page = server.client.get("/", follow_redirects=True)
        assert page.status_code == 200
        assert "<html" in page.text
        server.say("ada", server.new_session("ada"), MILK)
        assert MILK in server.answer_with("oat milk", "ada")


@contextmanager
def running(command: str, samples: Path) -> Generator[Server]:
    """`adk web` or `adk api_server`, from the moment that it answers. Ends it, and shows its output on a failure."""
    port = free_port()
    log = samples.parent / f"{command}-{port}.log"
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("ADK_", "COFFEE_SHOP", "GEMINI", "GOOGLE"))
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            [ADK, command, samples, "--port", str(port), "--memory_service_uri", MEMORY],
            cwd=samples.parent,
            env={**kept, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=SOON, trust_env=False) as client:
            apps = until(
                lambda: answer_of(client, process), lambda found: found is not None, "an answer", seconds=START
            )
            assert APP in apps
            yield Server(client)
        process.send_signal(signal.SIGTERM)
        assert process.wait(15) in (0, -signal.SIGTERM)
        assert "Traceback" not in log.read_text()
    except BaseException as error:
        error.add_note(f"{command} wrote:\n{log.read_text(errors='replace')[-8000:]}")
        raise
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def answer_of(client: httpx.Client, process: subprocess.Popen[bytes]) -> Any:
    """The apps that a server lists; None while it does not answer yet."""
    assert process.poll() is None, f"the server ended with {process.returncode}"
    try:
        response = client.get("/list-apps")
    except httpx.TransportError:
        return None
    return response.json() if response.status_code == 200 else None


def until(look: Callable[[], Any], enough: Callable[[Any], bool], what: str, *, seconds: float = SOON) -> Any:
    """Looks again and again, until it is enough or the time is over."""
    end = time.monotonic() + seconds
    while True:
        seen = look()
        if enough(seen):
            return seen
        assert time.monotonic() < end, f"no {what} within {seconds:.0f} s; the last one: {seen!r}"
        time.sleep(0.1)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
