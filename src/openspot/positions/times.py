"""Times as milliseconds since 1970, and as text for clients."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import PlainSerializer, WithJsonSchema

from openspot.kit.clock import iso_of

ShownTime = Annotated[
    datetime, PlainSerializer(iso_of, return_type=str), WithJsonSchema({"type": "string", "format": "date-time"})
]
"""A time in a response: ISO 8601 in UTC with milliseconds."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def milliseconds_of(time: datetime) -> int:
    """The milliseconds from 1970 to a time, rounded down."""
    return (time - _EPOCH) // _MILLISECOND
