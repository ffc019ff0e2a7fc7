"""Times as the database and the clients of the edge have them."""

from datetime import UTC, datetime

from openspot.kit.clock import NANOSECONDS_PER_MS, Clock


def moment(clock: Clock) -> datetime:
    """The clock's time in UTC, to the millisecond: what a client reads is exactly what the database keeps."""
    return datetime.fromtimestamp(clock() // NANOSECONDS_PER_MS / 1000, UTC)


def iso(time: datetime) -> str:
    """ISO 8601 in UTC with milliseconds."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def iso_or_none(time: datetime | None) -> str | None:
    """The same for a time that may be missing."""
    return None if time is None else iso(time)
