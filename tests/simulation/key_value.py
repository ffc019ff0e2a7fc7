"""A key-value bucket of the simulation: entries with revisions and a time to live."""

from collections.abc import Callable
from typing import Any, NamedTuple

from openspot.kit.bus import Entry, WrongRevisionError
from tests.simulation.process import Place, Process


class Written(NamedTuple):
    """A value, or the mark of a deleted one (None)."""

    value: Any
    revision: int
    at: float


class Bucket:
    """The entries, shared by all processes."""

    def __init__(self, now: Callable[[], float], life_s: float | None) -> None:
        self._now = now
        self._life_s = life_s
        self._revision = 0
        self._entries: dict[str, Written] = {}

    def reached_by(self, process: Process) -> "ReachedBucket":
        """The bucket as `process` reaches it."""
        return ReachedBucket(self, process)

    def entry(self, key: str) -> Written | None:
        """The entry of a key, or None if there is none or it has expired."""
        entry = self._entries.get(key)
        if entry is None or (self._life_s is not None and self._now() - entry.at >= self._life_s):
            return None
        return entry

    def check(self, key: str, revision: int) -> None:
        """Raise WrongRevisionError if the key is not at `revision`. A missing key has revision 0."""
        entry = self.entry(key)
        if (0 if entry is None else entry.revision) != revision:
            raise WrongRevisionError

    def write(self, key: str, value: Any) -> int:
        """Write, and return the revision."""
        self._revision += 1
        self._entries[key] = Written(value, self._revision, self._now())
        return self._revision


class ReachedBucket:
    """`KeyValueBucket` without a server."""

    def __init__(self, bucket: Bucket, process: Process) -> None:
        self._bucket = bucket
        self._process = process

    async def get(self, key: str) -> Entry[Any] | None:
        """The entry of a key."""
        entry = await self._process.act(Place.KEY, lambda: self._bucket.entry(key))
        return None if entry is None or entry.value is None else Entry(key, entry.value, entry.revision)

    async def create(self, key: str, value: Any) -> int:
        """Create an entry. Raises WrongRevisionError if the key has one."""

        def create() -> int:
            entry = self._bucket.entry(key)
            if entry is not None and entry.value is not None:
                raise WrongRevisionError
            return self._bucket.write(key, value)

        return await self._process.act(Place.KEY, create)

    async def put(self, key: str, value: Any, expected_revision: int) -> int:
        """Raises WrongRevisionError if the key is not at that revision."""
        return await self._process.act(Place.KEY, lambda: self._changed(key, value, expected_revision))

    async def delete(self, key: str, expected_revision: int) -> None:
        """Raises WrongRevisionError if the key is not at that revision."""
        await self._process.act(Place.KEY, lambda: self._changed(key, None, expected_revision))

    def _changed(self, key: str, value: Any, revision: int) -> int:
        self._bucket.check(key, revision)
        return self._bucket.write(key, value)
