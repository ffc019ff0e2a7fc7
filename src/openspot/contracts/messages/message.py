"""The base of all payloads, and the types of their fields."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

_INTEGER_MAX = 2**53 - 1
"""The largest integer that JavaScript holds exactly."""

Count = Annotated[int, msgspec.Meta(ge=0, le=_INTEGER_MAX)]
"""A sequence, a version, a count, or milliseconds since 1970."""


@dataclass(frozen=True, slots=True)
class _Format:
    """Names the format of a text in the schema of a Pydantic body, as the `Meta` beside it does in a message's."""

    name: str

    def __get_pydantic_json_schema__(self, core: Any, schema_of: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return {**schema_of(core), "format": self.name}


DecimalText = Annotated[str, msgspec.Meta(extra_json_schema={"format": "decimal"}), _Format("decimal")]
"""An exact decimal as plain text. The schema says so; decoding does not check it."""
TimeText = Annotated[str, msgspec.Meta(extra_json_schema={"format": "date-time"}), _Format("date-time")]
"""A time in ISO 8601, in UTC. The schema says so; decoding does not check it."""
DayText = Annotated[str, msgspec.Meta(extra_json_schema={"format": "date"}), _Format("date")]
"""A date in ISO 8601: year, month, day. The schema says so; decoding does not check it."""


class Message(msgspec.Struct, rename="camel", frozen=True, omit_defaults=False):
    """A payload: JSON in camelCase. The REST edge passes some payloads on to clients unchanged."""


def listed(*values: str) -> msgspec.Meta:
    """Lists the values of a text in the schema. A reader accepts others too, because a service may be newer."""
    return msgspec.Meta(extra_json_schema={"enum": list(values)})
