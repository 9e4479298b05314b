"""Filter groups over the metadata of memories (reference 5.9): groups joined by OR, the filters of one by AND."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic.alias_generators import to_camel

from adk_memorybank.clock import to_utc
from adk_memorybank.errors import InvalidArgument
from adk_memorybank.resources import Memory
from adk_memorybank.validation import fault, invalid_argument

_OPS = ("OPERATOR_UNSPECIFIED", "EQUAL", "GREATER_THAN", "LESS_THAN")


class _Model(BaseModel):
    # Closed: what is passed over here would let more through than was asked for, also into a purge.
    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        from_attributes=True,
        extra="forbid",
        loc_by_alias=False,
    )


class _Value(_Model):
    bool_value: bool | None = None
    double_value: float | None = None
    string_value: str | None = None
    timestamp_value: datetime | None = None

    @property
    def given(self) -> list[bool | float | str | datetime]:
        values = (self.bool_value, self.double_value, self.string_value, self.timestamp_value)
        return [value for value in values if value is not None]


class _Filter(_Model):
    key: str = Field(min_length=1)
    value: _Value
    op: Literal["EQUAL", "GREATER_THAN", "LESS_THAN"] = "EQUAL"
    negate: bool = False

    @field_validator("value", mode="before")
    @classmethod
    def _of_plain(cls, value: Any) -> Any:
        if isinstance(value, bool):
            return {"bool_value": value}
        if isinstance(value, int | float):
            return {"double_value": value}
        if isinstance(value, str):
            return {"string_value": value}
        return {"timestamp_value": value} if isinstance(value, datetime) else value

    @field_validator("value")
    @classmethod
    def _one_value(cls, value: _Value) -> _Value:
        if len(value.given) != 1:
            raise fault("give exactly one of bool_value, double_value, string_value and timestamp_value")
        return value

    @field_validator("op", mode="before")
    @classmethod
    def _by_name(cls, op: Any) -> Any:
        if op is None or op in (0, "OPERATOR_UNSPECIFIED"):
            return "EQUAL"
        if isinstance(op, int) and 0 < op < len(_OPS):
            return _OPS[op]
        return str(getattr(op, "value", op)).upper()

    @field_validator("negate", mode="before")
    @classmethod
    def _not_given(cls, negate: Any) -> Any:
        return False if negate is None else negate

    def matches(self, memory: Memory) -> bool:
        found = memory.metadata.get(self.key)
        return self._compares(found) is not self.negate

    def _compares(self, found: bool | float | str | datetime | None) -> bool:
        [wanted] = self.value.given
        if isinstance(found, datetime) and isinstance(wanted, datetime):  # to whole seconds (reference 5.9)
            found, wanted = int(found.timestamp()), int(to_utc(wanted).timestamp())
        elif isinstance(wanted, bool) or isinstance(found, bool):
            return self.op == "EQUAL" and found is wanted
        elif isinstance(wanted, float):
            if not isinstance(found, int | float):
                return False
        elif type(found) is not type(wanted):
            return False
        if self.op == "EQUAL":
            return found == wanted
        left: Any = found
        right: Any = wanted
        return left > right if self.op == "GREATER_THAN" else left < right


class _Group(_Model):
    filters: list[_Filter] = Field(min_length=1)  # none would let everything through, also into a purge


class _Groups(_Model):
    filter_groups: list[_Group]


def read_filter_groups(groups: Sequence[Any]) -> Callable[[Memory], bool]:
    """Reads filter groups; without any, everything is let through.

    Args:
        groups: mappings in either casing, or the official SDK's objects. A value may be written plainly, too.

    Raises:
        InvalidArgument: naming the field, such as `filter_groups[0].filters[1].op`.
    """
    if not isinstance(groups, Sequence) or isinstance(groups, str | bytes):  # pyright: ignore[reportUnnecessaryIsInstance]: callers may not check types
        raise InvalidArgument(f"should be a list, not {type(groups).__name__}", field="filter_groups")
    given: list[Any] = [group if isinstance(group, Mapping | BaseModel) else {"filters": group} for group in groups]
    try:
        read = _Groups.model_validate({"filter_groups": given}).filter_groups
    except ValidationError as error:
        raise invalid_argument(error) from None
    if not read:
        return lambda _: True
    return lambda memory: any(all(one.matches(memory) for one in group.filters) for group in read)
