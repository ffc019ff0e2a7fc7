"""Makes one message about a transfer from the engine's events of its movements, which follow one another."""

from collections.abc import Sequence

from openspot.contracts.engine_events import EngineEvent, TransferEvent
from openspot.contracts.messages import ExecutedTransfer, TransferMovement


class TransferGathering:
    """The movements of the newest transfer, until it is complete."""

    def __init__(self) -> None:
        self._events: list[TransferEvent] = []

    def add(self, event: TransferEvent) -> ExecutedTransfer | None:
        """Add the next movement. Returns the transfer if it is complete now. Raises ValueError if it does not fit."""
        if event.index == 1:
            self._events = []
        expected = len(self._events) + 1
        first = self._events[0] if self._events else event
        if event.index != expected or (first.reference, first.count) != (event.reference, event.count):
            raise ValueError(
                f"movement {event.index} of {event.count} of transfer {event.reference} "
                f"came where movement {expected} of {first.count} of {first.reference} was due"
            )
        self._events.append(event)
        if event.index < event.count:
            return None
        movements = [
            TransferMovement(moved.source, moved.destination, moved.asset, moved.amount) for moved in self._events
        ]
        return ExecutedTransfer(event.reference, event.kind, movements, event.seq, event.timestamp)


def whole_transfers(events: Sequence[EngineEvent]) -> int:
    """How many of `events` come before an incomplete transfer at their end."""
    last = events[-1] if events else None
    if not isinstance(last, TransferEvent) or last.index == last.count:
        return len(events)
    return max(0, len(events) - last.index)
