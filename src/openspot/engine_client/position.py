"""A position in the engine's event stream."""

import msgspec


class StreamPosition(msgspec.Struct, frozen=True):
    """The last engine sequence that was processed, and the epoch of the journal that it belongs to."""

    epoch: str
    sequence: int
