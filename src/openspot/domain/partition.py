"""Partitions: a fixed division of the engine's events by symbol, so that several processes share the work.

The partition of a symbol follows from its name alone. It is the same in every process and every version, because
positions that are stored for each partition rely on it.
"""

from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

PARTITIONS_MAX = 16


@lru_cache(65_536)
def partition_of(symbol: str, count: int) -> int:
    """The number of the partition of `symbol` among `count`, from 0. Events of no symbol ("") are in partition 0."""
    return crc32(symbol.encode()) % count if symbol else 0


class Partition(NamedTuple):
    """Partition `number` of `total`."""

    number: int
    total: int

    def has(self, symbol: str) -> bool:
        """Whether the events of `symbol` belong to this partition; "" stands for events of no symbol."""
        return partition_of(symbol, self.total) == self.number

    def named(self, name: str) -> str:
        """`name` as the name of something that each partition has. A single partition adds nothing to it."""
        return name if self.total == 1 else f"{name}-{self.number}-of-{self.total}"


WHOLE = Partition(0, 1)
"""The only partition of one: everything."""


def partitions(count: int) -> list[Partition]:
    """All partitions of a division into `count`."""
    return [Partition(number, count) for number in range(count)]
