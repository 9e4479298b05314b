"""Events as they come in, in all their shapes."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from adk_memorybank.errors import InvalidArgument
from adk_memorybank.events import MAX_ID_BYTES, Event, read_event, read_session
from adk_memorybank.generation.transcript import read_turns
from tests.adk import event, session

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)

CALL = types.Part.from_function_call(name="lookup", args={"q": "tea"})
RESPONSE = types.Part.from_function_response(name="lookup", response={"tea": "green"})
AUTH = types.Part.from_function_call(name="adk_request_credential", args={})
IMAGE = types.Part.from_bytes(data=b"\x89PNG", mime_type="image/png")
FILE = types.Part.from_uri(file_uri="gs://bucket/a.pdf", mime_type="application/pdf")
THOUGHT = types.Part(text="They may like tea.", thought=True)
CODE = types.Part(executable_code=types.ExecutableCode(code="1+1", language=types.Language.PYTHON))
RESULT = types.Part(code_execution_result=types.CodeExecutionResult(outcome=types.Outcome.OUTCOME_OK, output="2"))


class TestShapes:
    def test_of_adk(self) -> None:
        read = read_event(event("I like tea.", id="e1", time=NOON.timestamp()), session_id="s1")
        assert read == Event("e1", "user", "user", ("I like tea.",), time=NOON, session_id="s1")

    @pytest.mark.parametrize(
        "given",
        [
            {"content": {"role": "user", "parts": [{"text": "x"}]}, "event_id": "e1", "event_time": NOON},
            {"content": {"role": "user", "parts": [{"text": "x"}]}, "eventId": "e1", "eventTime": "2026-01-01T12:00Z"},
            {"content": {"role": "user", "parts": [{"text": "x"}]}, "id": "e1", "timestamp": NOON.timestamp()},
            {"content": {"role": "user", "parts": ({"text": "x"},)}, "event_id": "e1", "timestamp": "2026-01-01T12:00"},
            {"content": types.Content(role="user", parts=[types.Part(text="x")]), "event_id": "e1", "event_time": NOON},
            {"content": "x", "event_id": "e1", "event_time": "2026-01-01T13:00:00+01:00"},
            SimpleNamespace(
                content=SimpleNamespace(role="user", parts=[{"text": "x"}]), event_id="e1", event_time=NOON
            ),
        ],
    )
    def test_of_the_sdk_and_dictionaries(self, given: Any) -> None:
        assert read_event(given) == Event("e1", "user", "user", ("x",), time=NOON)

    @pytest.mark.parametrize(
        "given",
        [
            types.Content(role="model", parts=[types.Part(text="x")]),
            {"role": "model", "parts": [{"text": "x"}]},
            {"content": {"role": "model", "parts": [{"text": "x"}]}},
        ],
    )
    def test_plain_contents(self, given: Any) -> None:
        assert read_event(given) == Event("", "model", "model", ("x",))

    @pytest.mark.parametrize(
        ("author", "role", "read"),
        [
            ("user", "user", "user"),
            ("user", "model", "user"),
            ("waiter", "model", "model"),
            ("waiter", "user", "model"),  # ADK's tool answers
            ("", "user", "user"),
            ("", "model", "model"),
            ("", None, "user"),
            ("", "system", "system"),
        ],
    )
    def test_who_speaks(self, author: str, role: str | None, read: str) -> None:
        given = {"author": author, "content": {"role": role, "parts": [{"text": "x"}]}}
        assert read_event(given).role == read

    @pytest.mark.parametrize("given", [{"content": None}, event(), event(parts=[]), {"content": {"role": "user"}}])
    def test_without_content(self, given: Any) -> None:
        read = read_event(given)
        assert (read.texts, read.passed_over) == ((), ())

    @pytest.mark.parametrize(
        ("given", "field"),
        [
            (7, "events[3]"),
            ("text", "events[3]"),
            (None, "events[3]"),
            ({"text": "x"}, "events[3]"),
            ({"content": {"parts": "x"}}, "events[3].content.parts"),
            ({"content": {"parts": {"text": "x"}}}, "events[3].content.parts"),
            ({"content": {"parts": [{"text": 7}]}}, "events[3].content.parts[0].text"),
            ({"content": {"parts": [{"inline_data": {"data": 7}}]}}, "events[3].content.parts[0].inline_data.data"),
            ({"content": {"parts": [{"inlineData": {"data": [7]}}]}}, "events[3].content.parts[0].inline_data.data"),
            ({"content": {"parts": []}, "event_id": "x" * (MAX_ID_BYTES + 1)}, "events[3].event_id"),
            ({"content": {"parts": []}, "id": "é" * MAX_ID_BYTES}, "events[3].event_id"),
            ({"content": {"parts": []}, "event_time": "soon"}, "events[3].event_time"),
            ({"content": {"parts": []}, "event_time": 1e30}, "events[3].event_time"),
            ({"content": {"parts": []}, "event_time": float("nan")}, "events[3].event_time"),
            ({"content": {"parts": []}, "event_time": float("-inf")}, "events[3].event_time"),
            ({"content": {"parts": []}, "event_time": "0001-01-01T00:00:00+14:00"}, "events[3].event_time"),
            ({"content": {"parts": []}, "event_time": "9999-12-31T23:59:59-01:00"}, "events[3].event_time"),
        ],
    )
    def test_wrong(self, given: Any, field: str) -> None:
        with pytest.raises(InvalidArgument) as raised:
            read_event(given, path="events[3]")
        assert raised.value.field == field

    def test_an_id_may_be_long_and_strange(self) -> None:
        assert read_event({"content": {}, "id": "x" * MAX_ID_BYTES}).event_id == "x" * MAX_ID_BYTES
        assert read_event({"content": {}, "id": "a/*'\"\0\ud800"}).event_id == "a/*'\"\ufffd\ufffd"
        assert read_event({"content": {}, "id": 12}).event_id == "12"

    def test_what_no_database_stores_is_replaced(self) -> None:
        read = read_event(event("a\0\ud800b", author="w\0\ud800", id="i"), session_id="s\0\ud800")
        assert (read.texts, read.author, read.session_id) == (("a\ufffd\ufffdb",), "w\ufffd\ufffd", "s\ufffd\ufffd")
        strange = {"content": {"role": "\ud800", "parts": [{"inline_data": {"mime_type": "\0"}}]}}
        assert (read_event(strange).role, read_event(strange).passed_over) == (
            "\ufffd",
            ("inline_data \ufffd without data",),
        )


class TestParts:
    @pytest.mark.parametrize(
        ("part", "kind"),
        [
            (CALL, "function_call"),
            (RESPONSE, "function_response"),
            (AUTH, "auth_request"),
            (IMAGE, "inline_data image/png"),
            (FILE, "file_data application/pdf"),
            (THOUGHT, "thought"),
            (CODE, "executable_code"),
            (RESULT, "code_execution_result"),
            ({"inlineData": {"mimeType": "image/png", "data": "iVBO"}}, "inline_data image/png"),
            ({"fileData": {"fileUri": "gs://b/a"}}, "file_data"),
            ({"functionCall": {"name": "adk_request_credential"}}, "auth_request"),
            ({"text": "hm", "thought": True}, "thought"),
        ],
    )
    def test_passed_over_by_kind(self, part: Any, kind: str) -> None:
        read = read_event({"content": {"role": "user", "parts": [{"text": "I like tea."}, part]}}).without_media()
        assert (read.texts, read.passed_over) == (("I like tea.",), (kind,))

    @pytest.mark.parametrize("text", ["", " ", "\n\t\u00a0\u3000"])
    def test_blank_text_is_nothing(self, text: str) -> None:
        read = read_event(event(text))
        assert (read.texts, read.passed_over) == ((), ())

    def test_several_texts_stay_in_order(self) -> None:
        read = read_event(event("One.", parts=[CALL, types.Part(text="Two."), types.Part(text=" three ")]))
        assert read.texts == ("One.", "Two.", " three ")

    def test_a_chunk_of_a_stream_is_passed_over_and_does_not_stand_for_the_whole(self) -> None:
        chunk = read_event(event("I like", partial=True, id="e1"))
        whole = read_event(event("I like tea.", partial=False, id="e1"))
        assert (chunk.texts, chunk.passed_over) == ((), ("partial",))
        assert whole.texts == ("I like tea.",)
        assert chunk.event_id != whole.event_id == "e1"


class TestSessions:
    def test_the_session_is_kept_with_each_event(self) -> None:
        read = read_session(session(event("One.", id="a"), event("Two.", id="b"), id="s\ud800"))
        assert [(one.session_id, one.event_id) for one in read] == [("s\ufffd", "a"), ("s\ufffd", "b")]

    def test_empty(self) -> None:
        assert read_session(session()) == []

    def test_events_without_an_id_get_the_same_one_each_time(self) -> None:
        def nameless(*texts: str) -> list[Event]:
            events = [event(text, time=1_767_268_800) for text in texts]
            for one in events:
                one.id = ""
            return read_session(session(*events))

        first, again = nameless("One.", "Two.", "One."), nameless("One.", "Two.", "One.", "Three.")
        assert [one.event_id for one in first] == [one.event_id for one in again[:3]]
        assert len({one.event_id for one in again}) == 4
        assert all(len(one.event_id) < 64 for one in again)

    def test_a_wrong_event_is_named(self) -> None:
        wrong = SimpleNamespace(id="s", events=[event("One."), 7])
        with pytest.raises(InvalidArgument, match=r"session\.events\[1\]"):
            read_session(wrong)


class TestTurns:
    @pytest.mark.parametrize(
        ("said", "read"),
        [
            ("<PAST_CONVERSATIONS>\nI hate tea.\n</PAST_CONVERSATIONS>\nI like coffee.", "I like coffee."),
            ("I like coffee. < past_conversations >I hate tea.", "I like coffee."),
            ("Hi <Past_Conversations>a</ PAST_CONVERSATIONS > you", "Hi   you"),
        ],
    )
    def test_what_recall_put_in_is_left_out(self, said: str, read: str) -> None:
        assert [turn.text for turn in read_turns([(read_event(event(said)), True)])] == [read]

    def test_nothing_left_is_no_turn(self) -> None:
        assert read_turns([(read_event(event("<PAST_CONVERSATIONS>x</PAST_CONVERSATIONS>")), True)]) == []

    @pytest.mark.parametrize("role", ["system", "tool", "USER", "assistant"])
    def test_other_roles(self, role: str) -> None:
        wrong = read_event({"content": {"role": role, "parts": [{"text": "x"}]}})
        with pytest.raises(InvalidArgument) as raised:
            read_turns([(wrong, True)])
        assert raised.value.field == "content.role"

    def test_context_is_told_from_what_is_new(self) -> None:
        old, new = read_event(event("Old.", id="a")), read_event(event("New.", author="waiter", id="b"))
        turns = read_turns([(old, False), (new, True)])
        assert [(turn.text, turn.role, turn.author, turn.new) for turn in turns] == [
            ("Old.", "user", "user", False),
            ("New.", "model", "waiter", True),
        ]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)) | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["content", "parts", "text", "role", "author", "id", "eventTime", "inlineData", "thought"])
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(anything)
def test_whatever_comes_is_read_or_refused(value: Any) -> None:
    try:
        read = read_event(value)
    except InvalidArgument:
        return
    assert all(isinstance(text, str) for text in read.texts)
    for text in (*read.texts, *read.passed_over, read.author, read.role, read.event_id):
        text.encode()
