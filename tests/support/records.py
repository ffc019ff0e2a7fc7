"""Replies as the records that document them."""

from typing import Any, TypeVar

import msgspec

Shape = TypeVar("Shape")


def read_exactly(reply: Any, shape: type[Shape]) -> Shape:
    """The record that a reply holds. Fails if the reply lacks one of its fields, or has others."""
    record = msgspec.convert(reply, shape)
    assert msgspec.json.decode(msgspec.json.encode(record)) == reply
    return record
