"""What a frame of the edge says."""

from typing import Any

import msgspec


def content_of(frame: bytes) -> dict[str, Any]:
    """The JSON of an unmasked text frame."""
    content: dict[str, Any] = msgspec.json.decode(frame[frame.index(b"{") :])
    return content
