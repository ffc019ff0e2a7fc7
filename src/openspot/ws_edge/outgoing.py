"""The frames that wait for one client, and what a client that reads slowly does not get: rules without IO.

There are three ways to wait. Messages that must not be left out stand in a queue, in their order. If a message replaces
the previous one (a ticker, a candle), only the latest is kept. If updates of a channel were left out, the channel is
owed a snapshot, which is made when it can be written.
"""

from collections.abc import Hashable


class QueueFullError(Exception):
    """More messages or bytes are waiting than the bounds of one client allow."""


class OutgoingFrames:
    """The waiting frames of one client: at most `frames_max`, and at most `bytes_max` (one frame may exceed it)."""

    __slots__ = ("_bytes_max", "_frames_max", "_latest", "_queue", "bytes", "owed")

    def __init__(self, frames_max: int, bytes_max: int) -> None:
        self._frames_max = frames_max
        self._bytes_max = bytes_max
        self._queue: list[bytes] = []
        self._latest: dict[tuple[str, Hashable], bytes] = {}
        self.bytes = 0
        """The number of waiting bytes."""
        self.owed: dict[str, None] = {}
        """The channels that are owed a snapshot, in their order."""

    def __len__(self) -> int:
        return len(self._queue) + len(self._latest)

    def add(self, frame: bytes) -> int:
        """Queue a frame, and return the number of waiting bytes."""
        self._queue.append(frame)
        waiting = self.bytes = self.bytes + len(frame)
        return waiting

    def replace(self, channel: str, part: Hashable, frame: bytes) -> bool:
        """Keep `frame` as the latest of a part of a channel. Returns whether another frame is left out for it."""
        key = (channel, part)
        before = self._latest.get(key)
        self.bytes += len(frame) - (len(before) if before is not None else 0)
        self._latest[key] = frame
        return before is not None

    def check(self) -> None:
        """Raise QueueFullError if more messages or bytes wait than the bounds allow."""
        if len(self) > self._frames_max or (self.bytes > self._bytes_max and len(self) > 1):
            raise QueueFullError

    def take(self, bytes_max: int) -> list[bytes]:
        """Remove and return frames until they have `bytes_max` bytes: first the queue, then the latest ones."""
        if self.bytes <= bytes_max:
            frames = self._queue
            if self._latest:
                frames.extend(self._latest.values())
                self._latest.clear()
            self._queue = []
            self.bytes = 0
            return frames
        taken, count = 0, 0
        waiting = [*self._queue, *self._latest.values()]
        while taken < bytes_max:
            taken += len(waiting[count])
            count += 1
        from_queue = min(count, len(self._queue))
        del self._queue[:from_queue]
        for key in list(self._latest)[: count - from_queue]:
            del self._latest[key]
        self.bytes -= taken
        return waiting[:count]

    def clear(self) -> None:
        """Drop all frames. Owed snapshots stay owed."""
        self._queue.clear()
        self._latest.clear()
        self.bytes = 0

    def forget(self, channel: str) -> None:
        """Drop the latest frames of the channel, and the snapshot that it is owed."""
        self.owed.pop(channel, None)
        for key in [key for key in self._latest if key[0] == channel]:
            self.bytes -= len(self._latest.pop(key))
