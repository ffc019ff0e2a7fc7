"""A key-value bucket of the simulation: entries with revisions, which end after a time to live."""

from collections.abc import Callable
from typing import NamedTuple

from nats.js.errors import KeyNotFoundError, KeyWrongLastSequenceError

from tests.simulation.process import Place, Process


class Entry(NamedTuple):
    """A value, or the mark of a deleted one (None)."""

    value: bytes | None
    revision: int
    written: float


class Bucket:
    """The entries, shared by all processes."""

    def __init__(self, now: Callable[[], float], life_s: float | None) -> None:
        self._now = now
        self._life_s = life_s
        self._revision = 0
        self._entries: dict[str, Entry] = {}

    def reached_by(self, process: Process) -> "ReachedBucket":
        """The bucket as a process has it."""
        return ReachedBucket(self, process)

    def entry(self, key: str) -> Entry | None:
        """What stands under a key, if its life is not over."""
        entry = self._entries.get(key)
        if entry is None or (self._life_s is not None and self._now() - entry.written >= self._life_s):
            return None
        return entry

    def check(self, key: str, last: int) -> None:
        """Raise KeyWrongLastSequenceError if the key is not at revision `last`; 0 is that of no key."""
        entry = self.entry(key)
        if (0 if entry is None else entry.revision) != last:
            raise KeyWrongLastSequenceError

    def put(self, key: str, value: bytes | None) -> int:
        """Write; answers the revision."""
        self._revision += 1
        self._entries[key] = Entry(value, self._revision, self._now())
        return self._revision


class ReachedBucket:
    """What the router uses of nats.js.kv.KeyValue."""

    def __init__(self, bucket: Bucket, process: Process) -> None:
        self._bucket = bucket
        self._process = process

    async def get(self, key: str) -> Entry:
        """Raises KeyNotFoundError."""
        entry = await self._process.act(Place.KEY, lambda: self._bucket.entry(key))
        if entry is None or entry.value is None:
            raise KeyNotFoundError
        return entry

    async def create(self, key: str, value: bytes) -> int:
        """Raises KeyWrongLastSequenceError if there is one."""

        def create() -> int:
            entry = self._bucket.entry(key)
            if entry is not None and entry.value is not None:
                raise KeyWrongLastSequenceError
            return self._bucket.put(key, value)

        return await self._process.act(Place.KEY, create)

    async def update(self, key: str, value: bytes, last: int) -> int:
        """Raises KeyWrongLastSequenceError if the key is not at revision `last`."""
        return await self._process.act(Place.KEY, lambda: self._changed(key, value, last))

    async def delete(self, key: str, last: int) -> None:
        """Raises KeyWrongLastSequenceError if the key is not at revision `last`."""
        await self._process.act(Place.KEY, lambda: self._changed(key, None, last))

    def _changed(self, key: str, value: bytes | None, last: int) -> int:
        self._bucket.check(key, last)
        return self._bucket.put(key, value)
