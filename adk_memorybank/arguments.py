"""What the callers of a bank give, checked: each fault names its field, and nothing was changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

from adk_memorybank.config import MemoryTopicId
from adk_memorybank.errors import InvalidArgument
from adk_memorybank.events import MAX_ID_BYTES
from adk_memorybank.operations.streams import DEFAULT_STREAM
from adk_memorybank.resources import MAX_DIRECT_MEMORIES, Memory, MemoryType, clean_text
from adk_memorybank.retrieval.ranking import Order


def check_search(*, query: object, top_k: object, by: object) -> None:
    """Checks what a search was asked for."""
    if query is not None and not isinstance(query, str):
        raise InvalidArgument(f"should be a string, not {query!r}", field="query")
    if top_k is not None and (isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1):
        raise InvalidArgument(f"should be a positive number, not {top_k!r}", field="top_k")
    if by not in get_args(Order):
        raise InvalidArgument(f"should be one of {', '.join(get_args(Order))}, not {by!r}", field="by")


def valid_fact(fact: str) -> str:
    """A fact without blanks around it."""
    text = clean_text(fact).strip()
    if not text:
        raise InvalidArgument("is empty", field="fact")
    return text


def valid_stream(stream_id: str) -> str:
    """The name of a stream; the empty one stands for `default`."""
    if len(stream_id.encode(errors="surrogatepass")) > MAX_ID_BYTES:
        raise InvalidArgument(f"an id has at most {MAX_ID_BYTES} bytes", field="stream_id")
    return clean_text(stream_id) or DEFAULT_STREAM


def direct_facts(given: Sequence[str | Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Direct memories, each with `fact` and the names of its `topics`."""
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):  # pyright: ignore[reportUnnecessaryIsInstance]: callers may not check types
        raise InvalidArgument(f"should be a list, not {type(given).__name__}", field="direct_memories")
    if len(given) > MAX_DIRECT_MEMORIES:
        raise InvalidArgument(f"at most {MAX_DIRECT_MEMORIES} at a time, not {len(given)}", field="direct_memories")
    if not given:
        raise InvalidArgument("is empty", field="direct_memories")
    entries: list[dict[str, Any]] = []
    for index, one in enumerate(given):
        if not isinstance(one, str | Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]: callers may not check types
            raise InvalidArgument("a text, or a mapping with `fact`", field=f"direct_memories[{index}]")
        fact = one if isinstance(one, str) else one.get("fact")
        if not isinstance(fact, str) or not fact.strip():
            raise InvalidArgument("is empty", field=f"direct_memories[{index}].fact")
        topics = () if isinstance(one, str) else one.get("topics") or ()
        path = f"direct_memories[{index}].topics"
        names = [clean_text(MemoryTopicId.parse(topic, field=path).name) for topic in topics]
        entries.append({"fact": clean_text(fact).strip(), "topics": names})
    return entries


def valid_types(memory_types: Sequence[MemoryType | str] | None) -> list[MemoryType]:
    """The types of memories that are wanted: facts by default (reference 5.8)."""
    types: list[MemoryType] = []
    for index, one in enumerate(memory_types or ()):
        if one not in list(MemoryType):
            known = ", ".join(MemoryType)
            raise InvalidArgument(f"should be one of {known}, not {one!r}", field=f"memory_types[{index}]")
        types.append(MemoryType(one))
    return types or [MemoryType.NATURAL_LANGUAGE_COLLECTION]


def matching(
    filter: str | None, filter_groups: Sequence[Any] | None, *, over: Literal["memories", "retrieved"]
) -> Callable[[Memory], bool] | None:
    """What a filter and filter groups let through together; None where neither restricts anything."""
    filter = (filter or "").strip()
    if not filter and not filter_groups:
        return None
    from adk_memorybank.retrieval.filter_groups import read_filter_groups
    from adk_memorybank.retrieval.filters import parse_filter

    by_filter = parse_filter(filter, over=over)
    by_groups = read_filter_groups(filter_groups or [])
    return lambda memory: by_filter(memory) and by_groups(memory)
