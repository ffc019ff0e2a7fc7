"""Selects the events of one partition, and says which events it leaves out.

Before an event, the consumer learns at once of the events that were left out. If no event of its partition follows, it
learns of them after SAY_S seconds at the latest, so that its position moves while its own symbols are quiet.
"""

from collections.abc import Callable, Sequence

import msgspec

from openspot.contracts.engine_events import SkippedEvents
from openspot.domain.partition import Partition

SAY_S = 0.25

_encode = msgspec.json.Encoder().encode


class PartitionFilter:
    """The filter of one consumer. `monotonic` returns the monotonic clock's seconds."""

    def __init__(self, partition: Partition, monotonic: Callable[[], float]) -> None:
        self._partition = partition
        self._monotonic = monotonic
        self._first_left_out = 0
        self._last_left_out = 0
        self._left_out_since = 0.0

    def select(self, first_sequence: int, symbols: Sequence[str], messages: Sequence[bytes]) -> list[bytes]:
        """What to send of the next events, which begin with `first_sequence`; "" is the symbol of an event of none."""
        has = self._partition.has
        selected: list[bytes] = []
        for sequence, (symbol, message) in enumerate(zip(symbols, messages, strict=True), first_sequence):
            if has(symbol):
                selected += self.rest()
                selected.append(message)
            else:
                self._leave_out(sequence)
        if self.pause_s == 0:
            selected += self.rest()
        return selected

    @property
    def pause_s(self) -> float | None:
        """Seconds until `rest` is due; None if the consumer knows of every event that was left out."""
        if not self._first_left_out:
            return None
        return max(0.0, self._left_out_since + SAY_S - self._monotonic())

    def rest(self) -> list[bytes]:
        """The message about the events that were left out since the last one; empty if there are none."""
        if not self._first_left_out:
            return []
        message = _encode(SkippedEvents(self._first_left_out, self._last_left_out))
        self._first_left_out = 0
        return [message]

    def _leave_out(self, sequence: int) -> None:
        if not self._first_left_out:
            self._first_left_out = sequence
            self._left_out_since = self._monotonic()
        self._last_left_out = sequence
