"""The stored number of partitions: it decides how many partitions every router works with.

`engine_cursors` has a current row for each partition. A change replaces the current rows in one transaction. After it,
a router with the old number can move none of its cursors, so two numbers are never at work together.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from openspot.domain.partition import Partition, partitions
from openspot.engine_client.position import StreamPosition
from openspot.kit.database import Connection, Pool

CONSUMER = "router"

_BEGIN_CURSOR = """
    INSERT INTO engine_cursors (consumer, partition, partitions, epoch, sequence, is_current)
    VALUES ($1, $2, $3, $4, $5, true)
    ON CONFLICT (consumer) DO UPDATE
    SET epoch = EXCLUDED.epoch, sequence = EXCLUDED.sequence, is_current = true, updated_at = now()
"""


class PartitionsRefusedError(Exception):
    """This router must not work with its number of partitions. The message says why, and what to do."""


class Division:
    """The stored division of the events."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def begin(self, count: int) -> int:
        """The stored number of partitions. Stores `count`, and begins its cursors, if there is none yet."""
        async with self._pool.acquire() as connection:
            stored = await _stored(connection)
        if stored:
            return stored
        async with self._alone() as connection:
            stored = await _stored(connection)
            if not stored:
                await _begin_cursors(connection, count, StreamPosition("", 0))
            return stored or count

    async def change(self, old: int, new: int) -> None:
        """Replace a division into `old` partitions by one into `new`, which begins at the least of its positions.

        Does nothing if the stored number is no longer `old`. Raises PartitionsRefusedError if the partitions are in
        different journals of the engine.
        """
        async with self._alone() as connection:
            if await _stored(connection) != old:
                return
            rows = await connection.fetch("SELECT epoch, sequence FROM engine_cursors WHERE is_current")
            epochs = {row["epoch"] for row in rows if row["epoch"]}
            if len(epochs) > 1:
                raise PartitionsRefusedError(
                    f"the {old} partitions are in different journals of the engine: start with {old} partitions, "
                    "and change their number when all of them have reached the new journal"
                )
            least = StreamPosition(epochs.pop() if epochs else "", min(row["sequence"] for row in rows))
            await connection.execute("UPDATE engine_cursors SET is_current = false WHERE is_current")
            await _begin_cursors(connection, new, least)

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[Connection]:
        """A transaction during which no cursor moves."""
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.execute("LOCK TABLE engine_cursors IN SHARE ROW EXCLUSIVE MODE")
            yield connection


async def _stored(connection: Connection) -> int:
    return await connection.fetchval("SELECT count(*) FROM engine_cursors WHERE is_current") or 0


async def _begin_cursors(connection: Connection, count: int, position: StreamPosition) -> None:
    for partition in partitions(count):
        name = cursor_name(partition)
        await connection.execute(_BEGIN_CURSOR, name, *partition, position.epoch, position.sequence)


def cursor_name(partition: Partition) -> str:
    """The name of a partition's cursor."""
    return partition.named(CONSUMER)
