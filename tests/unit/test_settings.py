"""Where the store is, and which of several values wins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adk_memorybank.errors import InvalidArgument
from adk_memorybank.settings import DEFAULT_TOP_K, Settings, read_settings

NAMES = ("URI", "MODEL", "EMBEDDING_MODEL", "CONFIG", "TOP_K", "BANK", "BANK_ID")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder of its own, and an environment that says nothing."""
    for name in NAMES:
        monkeypatch.delenv(f"ADK_MEMORYBANK_{name}", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path.resolve()


class TestFolder:
    def test_the_default(self, elsewhere: Path) -> None:
        assert read_settings() == Settings(folder=elsewhere / "memory")

    @pytest.mark.parametrize(
        ("uri", "folder"),
        [
            ("memorybank:///./memory", "memory"),
            ("memorybank:///memory", "memory"),
            ("memorybank:///./a/../b//c/", "b/c"),
            ("memorybank:///./with%20space%23%3F%25", "with space#?%"),
            ("memorybank:///./caffè/日本", "caffè/日本"),
            ("memorybank:///./caff%C3%A8", "caffè"),
            ("MEMORYBANK:///./memory", "memory"),
            ("memorybank:///./a;b=c&d", "a;b=c&d"),
        ],
    )
    def test_relative(self, elsewhere: Path, uri: str, folder: str) -> None:
        assert read_settings(uri).folder == elsewhere / folder

    def test_relative_to_the_agents(self, elsewhere: Path) -> None:
        settings = read_settings("memorybank:///./memory", agents_dir="agents")
        assert settings.folder == elsewhere / "agents" / "memory"
        assert settings.folder.is_absolute()

    def test_absolute(self, tmp_path: Path) -> None:
        assert read_settings(f"memorybank:///{tmp_path}/store", agents_dir="/agents").folder == tmp_path / "store"

    def test_at_home(self, elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(elsewhere / "home"))
        assert read_settings("memorybank:///~/memory").folder == elsewhere / "home" / "memory"
        assert read_settings("memorybank:///~nobody-of-this-name/memory").folder.name == "memory"

    def test_two_ways_to_one_folder_are_one(self, elsewhere: Path) -> None:
        (elsewhere / "real").mkdir()
        (elsewhere / "link").symlink_to(elsewhere / "real")
        assert read_settings("memorybank:///./link/m").folder == read_settings("memorybank:///./real/m").folder

    @pytest.mark.parametrize(
        ("uri", "said"),
        [
            ("sqlite:///./memory", "does not begin with `memorybank:///`"),
            ("./memory", "does not begin with"),
            ("memorybank://memory/sub", "write `memorybank:///./memory/sub`"),
            ("memorybank://", "a folder is missing"),
            ("memorybank:///", "a folder is missing"),
            ("memorybank:", "a folder is missing"),
            ("memorybank:///./a#b", "`%23`"),
            ("memorybank:///./a%00b", "NUL"),
        ],
    )
    def test_wrong(self, uri: str, said: str) -> None:
        with pytest.raises(InvalidArgument, match=said) as raised:
            read_settings(uri)
        assert raised.value.field == "uri"

    @pytest.mark.parametrize("uri", [5, Path("memory"), b"memorybank:///./memory"])
    def test_no_string(self, uri: Any) -> None:
        with pytest.raises(InvalidArgument, match="should be a string") as raised:
            read_settings(uri)
        assert raised.value.field == "uri"


class TestQuery:
    def test_every_key(self, elsewhere: Path) -> None:
        settings = read_settings(
            "memorybank:///./m?bank=coffee&model=offline&embedding_model=local&config=bank.yaml"
            "&app_name=my%20app&scope=user_id&top_k=3"
        )
        assert settings == Settings(
            folder=elsewhere / "m",
            bank_id="coffee",
            model="offline",
            embedder="local",
            config="bank.yaml",
            app_name="my app",
            scope_keys=("user_id",),
            top_k=3,
        )

    @pytest.mark.parametrize(
        ("scope", "keys"),
        [("user_id", ("user_id",)), ("app_name,user_id", ("app_name", "user_id")), (" user_id ,", ("user_id",))],
    )
    def test_scope(self, scope: str, keys: tuple[str, ...]) -> None:
        assert read_settings(f"memorybank:///./m?scope={scope}").scope_keys == keys

    @pytest.mark.parametrize(
        ("query", "field", "said"),
        [
            ("modle=offline", "uri", "did you mean 'model'"),
            ("top-k=3", "uri", "did you mean 'top_k'"),
            ("zzz=1", "uri", "known are app_name, bank"),
            ("model=", "uri.model", "a value is missing"),
            ("model", "uri.model", "a value is missing"),
            ("scope=session_id", "uri.scope", "none of app_name, user_id"),
            ("top_k=0", "top_k", "positive"),
            ("top_k=-1", "top_k", "positive"),
            ("top_k=many", "top_k", "positive"),
            ("top_k=1.5", "top_k", "positive"),
            ("top_k=3&top_k=4", "uri.top_k", "given twice"),
            ("bank=a/b", "bank", "letters, digits"),
            ("bank=" + "x" * 64, "bank", "63"),
        ],
    )
    def test_wrong(self, query: str, field: str, said: str) -> None:
        with pytest.raises(InvalidArgument, match=said) as raised:
            read_settings(f"memorybank:///./m?{query}")
        assert raised.value.field == field


class TestPrecedence:
    @pytest.mark.parametrize(
        ("keyword", "key", "variable", "field"),
        [
            ("model", "model", "MODEL", "model"),
            ("embedder", "embedding_model", "EMBEDDING_MODEL", "embedder"),
            ("config", "config", "CONFIG", "config"),
        ],
    )
    def test_keyword_then_uri_then_environment(
        self, monkeypatch: pytest.MonkeyPatch, keyword: str, key: str, variable: str, field: str
    ) -> None:
        uri = f"memorybank:///./m?{key}=of-the-uri"
        monkeypatch.setenv(f"ADK_MEMORYBANK_{variable}", "of-the-environment")
        given: dict[str, Any] = {keyword: "of-the-keyword"}
        assert getattr(read_settings(uri, **given), field) == "of-the-keyword"
        assert getattr(read_settings(uri), field) == "of-the-uri"
        assert getattr(read_settings("memorybank:///./m"), field) == "of-the-environment"
        monkeypatch.delenv(f"ADK_MEMORYBANK_{variable}")
        assert getattr(read_settings("memorybank:///./m"), field) is None

    def test_keyword_before_uri(self) -> None:
        settings = read_settings("memorybank:///./m?app_name=uri&top_k=3", app_name="keyword", top_k=7)
        assert (settings.app_name, settings.top_k) == ("keyword", 7)
        assert read_settings("memorybank:///./m").top_k == DEFAULT_TOP_K

    def test_the_uri_of_the_environment(self, elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ADK_MEMORYBANK_URI", "memorybank:///./of-environment?bank=coffee")
        assert read_settings().folder == elsewhere / "of-environment"
        assert read_settings().bank_id == "coffee"
        assert read_settings("memorybank:///./given").bank_id == "default"

    def test_an_empty_variable_says_nothing(self, elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in NAMES:
            monkeypatch.setenv(f"ADK_MEMORYBANK_{name}", "")
        assert read_settings() == Settings(folder=elsewhere / "memory")

    def test_a_keyword_may_be_an_object(self) -> None:
        model, embedder = object(), object()
        settings = read_settings("memorybank:///./m?model=offline", model=model, embedder=embedder, config={})
        assert (settings.model, settings.embedder, settings.config) == (model, embedder, {})

    @pytest.mark.parametrize("top_k", [0, -3, "3", 3.5, True, [1]])
    def test_wrong_top_k(self, top_k: Any) -> None:
        with pytest.raises(InvalidArgument) as raised:
            read_settings(top_k=top_k)
        assert raised.value.field == "top_k"
