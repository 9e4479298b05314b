"""`adk-memorybank serve` as a process: started, asked, stopped and killed."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

BANK = "/v1beta1/reasoningEngines/default"
SCOPE = {"user_id": "u"}


@dataclass
class Served:
    process: subprocess.Popen[str]
    url: str
    said: str

    def post(self, path: str, body: Any, **options: Any) -> httpx.Response:
        return httpx.post(f"{self.url}{path}", json=body, timeout=30, **options)

    def get(self, path: str, **options: Any) -> httpx.Response:
        return httpx.get(f"{self.url}{path}", timeout=30, **options)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """(exit code, what it wrote to stderr)."""
        self.process.send_signal(number)
        _, told = self.process.communicate(timeout=40)
        return self.process.returncode, told


@contextmanager
def serve(folder: Path, *options: str, model: str = "offline", **environment: str) -> Generator[Served]:
    command = [sys.executable, "-m", "adk_memorybank", "serve", "--data", str(folder), "--port", "0", *options]
    process = subprocess.Popen(
        [*command, "--model", model],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        found = re.match(r"http://\S+", said)
        assert found, said + (process.stderr.read() if process.stderr else "")
        yield Served(process, found[0], said)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def fails(*options: str, **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "adk_memorybank", "serve", *options],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | environment,
    )
    return done.returncode, done.stderr


def facts(served: Served) -> list[str]:
    return [one["fact"] for one in served.get(f"{BANK}/memories").json().get("memories", [])]


def test_from_start_to_stop(tmp_path: Path) -> None:
    with serve(tmp_path / "m") as served:
        assert f"serves {tmp_path / 'm'} (model offline, asked for; embedder fast" in served.said
        assert served.get("/readyz").json() == {"status": "ok"}
        assert served.post(f"{BANK}/memories", {"fact": "I like tea.", "scope": SCOPE}).status_code == 200
        assert served.stop() == (0, "")
    with serve(tmp_path / "m") as served:
        assert facts(served) == ["I like tea."]
        assert served.stop(signal.SIGINT) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_what_was_accepted_is_done_after_a_stop(tmp_path: Path, number: signal.Signals) -> None:
    said = ["I like green tea.", "My dog is called Rex.", "I live in Rome."]
    with serve(tmp_path / "m") as served:
        for place, text in enumerate(said):
            source = {"events": [{"content": {"role": "user", "parts": [{"text": text}]}, "eventId": str(place)}]}
            body = {"directContentsSource": source, "scope": {"user_id": str(place)}}
            assert served.post(f"{BANK}/memories:ingestEvents", body).status_code == 200
        served.process.send_signal(number)
        served.process.wait(40)
    with serve(tmp_path / "m") as served:
        deadline = time.monotonic() + 40
        while len(facts(served)) < len(said):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert sorted(facts(served)) == sorted(said)
        assert all("error" not in one for one in served.get(f"{BANK}/operations").json()["operations"])


def test_keys(tmp_path: Path) -> None:
    key = "a-secret-key"
    with serve(tmp_path / "m", "--api-key", key, "--scope-rule", f"{key}:scope.user_id=u") as served:
        assert served.get(f"{BANK}/memories").status_code == 401
        assert served.get("/readyz").status_code == 200
        headers = {"x-goog-api-key": key}
        assert served.get(f"{BANK}/memories", headers=headers).status_code == 403
        assert served.post(f"{BANK}/memories:retrieve", {"scope": SCOPE}, headers=headers).status_code == 200
        assert key not in served.said
        code, told = served.stop()
        assert (code, key in told) == (0, False)
    stored = [path for path in (tmp_path / "m").rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
    assert stored == [], "a key is in the command line, and must not be kept with it"
    with serve(tmp_path / "m", ADK_MEMORYBANK_API_KEYS="one two,three") as served:
        for known in ("one", "two", "three"):
            assert served.get(BANK, headers={"authorization": f"Bearer {known}"}).status_code == 200
        assert served.get(BANK).status_code == 401


def test_a_page_in_a_browser_may_not_use_it(tmp_path: Path) -> None:
    with serve(tmp_path / "m") as served:
        assert served.get(BANK).status_code == 200
        assert served.get(BANK, headers={"host": "evil.example"}).status_code == 403
        assert served.post(BANK, {}, headers={"origin": "http://evil.example"}).status_code == 403


def test_a_request_in_flight_is_answered_before_the_end(tmp_path: Path) -> None:
    body = json.dumps({"fact": "I like tea.", "scope": SCOPE}).encode()
    head = f"POST {BANK}/memories HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with serve(tmp_path / "m") as served, socket.socket() as client:
        address = httpx.URL(served.url)
        client.connect((address.host, address.port))
        client.sendall(head + body[:10])
        time.sleep(0.3)
        served.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        with pytest.raises(httpx.ConnectError):
            served.get("/readyz")
        client.sendall(body[10:])
        assert client.recv(1000).startswith(b"HTTP/1.1 200")
        _, told = served.process.communicate(timeout=40)
        assert (served.process.returncode, told) == (0, "")
    with serve(tmp_path / "m") as served:
        assert facts(served) == ["I like tea."]


def test_who_waits_for_an_operation_is_answered_at_the_end(tmp_path: Path) -> None:
    event = {"content": {"role": "user", "parts": [{"text": "I like tea."}]}}
    body = {
        "scope": SCOPE,
        "directContentsSource": {"events": [event]},
        "generationTriggerConfig": {"generationRule": {"eventCount": 9}},
    }
    with serve(tmp_path / "m") as served, ThreadPoolExecutor() as pool:
        call = served.post(f"{BANK}/memories:ingestEvents", body).json()
        waiting = pool.submit(served.post, f"/v1beta1/{call['name']}:wait", {"timeout": "60s"})
        time.sleep(0.5)
        began = time.monotonic()
        assert served.stop() == (0, "")
        assert time.monotonic() - began < 5
        assert waiting.result().json() == call, "it has not ended"


def test_a_second_signal_waits_for_nobody(tmp_path: Path) -> None:
    with serve(tmp_path / "m") as served, socket.socket() as client:
        address = httpx.URL(served.url)
        client.connect((address.host, address.port))
        client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{")  # never sends the rest
        time.sleep(0.3)
        began = time.monotonic()
        served.process.send_signal(signal.SIGTERM)
        time.sleep(0.7)
        assert served.process.poll() is None, "it waits for the request"
        assert served.stop() == (0, "")
        assert time.monotonic() - began < 5


def test_one_server_for_a_folder(tmp_path: Path) -> None:
    with serve(tmp_path / "m") as served:
        code, told = fails("--data", str(tmp_path / "m"), "--port", "0", "--model", "offline")
        assert code == 2
        assert f"process {served.process.pid}" in told
        assert "adk-memorybank serve" in told
        assert "Traceback" not in told
        port = served.url.rpartition(":")[2]
        code, told = fails("--data", str(tmp_path / "other"), "--port", port, "--model", "offline")
        assert (code, "can't be listened on" in told) == (2, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--host", "0.0.0.0"), "--api-key"),
        (("memorybank://x",), "uri"),
        (("memorybank+http://127.0.0.1:1",), "serves it already"),
        (("memorybank:///./m", "--data", "m"), "either a URI or a folder"),
        (("--api-key", "k", "--scope-rule", "k:fact=x"), "scope_rule[0]"),
        (("--config", "nowhere.yaml"), "nowhere.yaml"),
    ],
)
def test_a_wrong_option_is_said_without_a_trace(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    code, told = fails(*options, ADK_MEMORYBANK_URI=f"memorybank:///{tmp_path / 'm'}")
    assert code == 2
    assert said in told
    assert "Traceback" not in told


def test_a_bank_whose_model_can_not_be_used_stops_nobody(tmp_path: Path) -> None:
    config = {"contextSpec": {"memoryBankConfig": {"generationConfig": {"model": "gemini-3.5-flash"}}}}
    without = {"GOOGLE_API_KEY": "", "GEMINI_API_KEY": "", "GOOGLE_APPLICATION_CREDENTIALS": "", "HOME": str(tmp_path)}
    with serve(tmp_path / "m") as served:
        made = served.post("/v1beta1/reasoningEngines", config).json()["response"]["name"]
        served.stop()
    command = [sys.executable, "-m", "adk_memorybank", "serve", "--data", str(tmp_path / "m"), "--port", "0"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GOOGLE")} | without
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
    try:
        assert process.stdout is not None
        served = Served(process, process.stdout.readline().split()[0], "")
        assert served.get(f"/v1beta1/{made}").status_code == 200, "it can be looked at"
        refused = served.post(f"/v1beta1/{made}/memories", {"fact": "f", "scope": SCOPE})
        assert refused.json()["error"]["status"] == "FAILED_PRECONDITION"
        assert "ADK_MEMORYBANK_MODEL" in refused.json()["error"]["message"]
        assert served.post(f"{BANK}/memories", {"fact": "f", "scope": SCOPE}).status_code == 200
    finally:
        process.kill()
        process.communicate()
