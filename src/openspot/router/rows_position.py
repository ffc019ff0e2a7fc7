"""How far the order and trade rows have come, for each partition of the events by symbol.

`engine_cursors` has a row for each partition of the present division, and keeps those of earlier divisions. They stay
true after a change of the number of partitions: the rows include the events of an earlier partition up to its last
position. A new division begins at the least position of the one before, so it meets events that the rows include
already.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import msgspec

from openspot.contracts.engine_events import EngineEvent, symbol_of
from openspot.domain.partition import WHOLE, Partition
from openspot.kit.database import Connection

CURSORS = "SELECT partition, partitions, epoch, sequence, is_current FROM engine_cursors ORDER BY consumer"


class PassedEvents(msgspec.Struct, frozen=True):
    """The rows include the events of `partition` up to `sequence`."""

    partition: Partition
    sequence: int


def passed(marks: Iterable[PassedEvents], symbol: str) -> int:
    """The newest event of `symbol` that one of `marks` includes; 0 if there is none."""
    return max((mark.sequence for mark in marks if mark.partition.has(symbol)), default=0)


class RowsPosition(msgspec.Struct, frozen=True, dict=True):
    """The position of the rows in the journal `epoch`. `current` has a mark for each partition.

    While some partitions are in another journal than others, `epoch` names both journals and so equals none.
    """

    epoch: str
    current: tuple[PassedEvents, ...]
    earlier: tuple[PassedEvents, ...] = ()

    @classmethod
    def at(cls, epoch: str, sequence: int) -> "RowsPosition":
        """The position of rows that include every event up to `sequence`."""
        return cls(epoch, (PassedEvents(WHOLE, sequence),))

    @cached_property
    def least(self) -> int:
        """The rows include every event up to this one."""
        return min(mark.sequence for mark in self.current)

    @cached_property
    def newest(self) -> int:
        """The rows include no event after this one."""
        return max(mark.sequence for mark in (*self.current, *self.earlier))

    def includes(self, event: EngineEvent) -> bool:
        """Whether the rows include this event."""
        return event.seq <= self.least or (
            event.seq <= self.newest and event.seq <= passed((*self.current, *self.earlier), symbol_of(event))
        )


def position_of_cursors(rows: Iterable[Any]) -> RowsPosition | None:
    """The position that the rows of `CURSORS` say; None before the first event."""
    rows = list(rows)
    current = [row for row in rows if row["is_current"]]
    epochs = sorted({row["epoch"] for row in current if row["epoch"]})
    if not epochs:
        return None
    return RowsPosition(
        " and ".join(epochs),
        tuple(_passed(row) for row in current),
        tuple(_passed(row) for row in rows if not row["is_current"] and [row["epoch"]] == epochs),
    )


async def rows_position(connection: Connection) -> RowsPosition | None:
    """The position of the rows; None before the first event."""
    return position_of_cursors(await connection.fetch(CURSORS))


def _passed(row: Any) -> PassedEvents:
    return PassedEvents(Partition(row["partition"], row["partitions"]), row["sequence"])
