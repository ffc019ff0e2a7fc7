"""Limits how much input is parsed in one turn of the event loop, however much has come: rules without IO.

A client may send tens of thousands of frames at once. If they were parsed in one go, all other clients would wait. So
the bytes of each client are parsed in small slices, and clients take turns. A turn of parsing is short, and the pause
after it is longer: the processor is then free for other work of this process and of others.
"""

import math
from collections import deque
from collections.abc import Callable
from typing import Protocol

SLICE_BYTES = 256
"""One slice of a client's input is at most this long. Most messages are shorter; the smallest frame has six bytes."""
TURN_S = 0.000_25
"""A turn ends after this time."""
REST_S = 0.001
"""The pause before the next turn. On a busy processor, a process that always has work waits longer for its share."""


class Source(Protocol):
    """A connection whose received bytes wait to be parsed."""

    def parse_slice(self) -> bool:
        """Parse one slice. Returns whether another one can be parsed now."""
        ...


class Turns:
    """Lets connections parse in turns."""

    def __init__(
        self,
        call_later: Callable[[float, Callable[[], None]], object],
        clock: Callable[[], float],
        turn_s: float = TURN_S,
    ) -> None:
        """`call_later` runs a function after a number of seconds. Each turn parses at least one slice.

        `clock` returns seconds. It is not the event loop's clock, which stands still during a turn.
        """
        self._call_later = call_later
        self._clock = clock
        self._turn_s = turn_s
        self._waiting: deque[Source] = deque()
        self._is_scheduled = False
        self._next_turn = -math.inf

    def add(self, source: Source) -> None:
        """Parse the waiting input of this connection. Add it again only after `parse_slice` has returned False."""
        self._waiting.append(source)
        self._schedule()

    def _schedule(self) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            self._call_later(max(0.0, self._next_turn - self._clock()), self._take_turn)

    def _take_turn(self) -> None:
        self._is_scheduled = False
        end = self._clock() + self._turn_s
        try:
            while self._waiting:
                source = self._waiting.popleft()
                if source.parse_slice():
                    self._waiting.append(source)
                if self._clock() >= end:
                    return
        finally:
            self._next_turn = self._clock() + REST_S
            if self._waiting:
                self._schedule()


class Received:
    """The bytes of one client that are not parsed yet."""

    def __init__(self) -> None:
        self._data = b""
        self._offset = 0

    def __len__(self) -> int:
        return len(self._data) - self._offset

    def add(self, data: bytes) -> None:
        """Append received bytes."""
        self._data = self._data[self._offset :] + data
        self._offset = 0

    def take(self) -> bytes:
        """The next slice."""
        begin, self._offset = self._offset, min(self._offset + SLICE_BYTES, len(self._data))
        taken = self._data[begin : self._offset]
        if self._offset == len(self._data):
            self.clear()
        return taken

    def clear(self) -> None:
        """Drop everything."""
        self._data = b""
        self._offset = 0
