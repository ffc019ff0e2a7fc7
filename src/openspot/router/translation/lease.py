"""The positions up to which the engine's events are published, and the names of the translators' leases.

One of several routers translates a partition: the one that holds its lease (kit/lease.py). A router that was paused may
still believe that it holds the lease. Three things prevent harm. It checks the lease before each batch. It saves the
published position by revision, and moves the cursor of the rows from its last value: both fail if another router has
taken over. And every router gives an event the same message ids.
"""

from openspot.domain.partition import Partition
from openspot.engine_client.position import StreamPosition
from openspot.kit.bus import KeyValueBucket, WrongRevisionError
from openspot.router.store import FencedError

LEASE_BUCKET = "router-lease"
POSITION_BUCKET = "router-position"


def key_of(partition: Partition) -> str:
    """The key of a partition, in both buckets."""
    return partition.named("translator")


class PublishedPosition:
    """The position up to which a partition is published. It is saved after the bus has acknowledged the events."""

    def __init__(self, bucket: KeyValueBucket[StreamPosition], partition: Partition) -> None:
        self._bucket = bucket
        self._key = key_of(partition)
        self._revision = 0

    async def load(self) -> StreamPosition | None:
        """The saved position; None before the first one. Raises KeyValueError if it cannot be read."""
        entry = await self._bucket.get(self._key)
        self._revision = 0 if entry is None else entry.revision
        return None if entry is None else entry.value

    async def save(self, position: StreamPosition) -> None:
        """Save `position`. Raises FencedError if another process has saved since, KeyValueError if the bus fails."""
        try:
            self._revision = await self._bucket.put(self._key, position, self._revision)
        except WrongRevisionError as error:
            raise FencedError("the published position is no longer ours") from error
