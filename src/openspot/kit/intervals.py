"""How often backups and comparisons of the books are due, and when they are late.

The timetable makes them; health page, metrics and alerts say with the same rules what is due and what is late.
"""

from typing import NamedTuple, Protocol

from pydantic import Field

from openspot.kit.settings import Settings

RETRY_S = 600
"""After a failure the next attempt comes so many seconds later, or after the interval if that is shorter."""
LATE_S_MIN = 3600
"""Nothing is late before this: a run takes its time, also where the interval is short."""


class IntervalSettings(Settings):
    """How often the timetable backs up and compares, and from when on a success is missing."""

    backup_every_s: int = Field(
        default=0,
        ge=0,
        le=31_536_000,
        description="`openspot up` makes a backup every so many seconds; 0: it makes none",
    )
    reconcile_every_s: int = Field(
        default=86_400,
        ge=0,
        le=31_536_000,
        description="`openspot up` compares engine, ledger and rows every so many seconds; 0: it does not",
    )
    alert_backup_intervals: int = Field(
        default=2,
        ge=2,
        le=100,
        description="Operators are told when no backup has succeeded for so many of its intervals, one hour at least",
    )
    alert_reconcile_intervals: int = Field(
        default=2,
        ge=2,
        le=100,
        description="Operators are told when no comparison has succeeded for so many of its intervals, one hour at "
        "least",
    )

    @property
    def backup_plan(self) -> "Plan":
        """When backups are due."""
        return Plan(self.backup_every_s, self.alert_backup_intervals)

    @property
    def reconcile_plan(self) -> "Plan":
        """When comparisons are due."""
        return Plan(self.reconcile_every_s, self.alert_reconcile_intervals)


class Outcome(Protocol):
    """What became of the newest runs. Times are in seconds since 1970."""

    @property
    def made_at(self) -> float | None:
        """When the last good run ended; None if there was none."""

    @property
    def failed_at(self) -> float | None:
        """When an attempt after it failed; None if none did."""

    @property
    def reason(self) -> str:
        """Why that attempt failed; empty if none did."""


class Plan(NamedTuple):
    """A run is due `every_s` seconds after the one before it; none ever if that is 0. Times are seconds since 1970."""

    every_s: float
    late_intervals: int

    def due_at(self, outcome: Outcome, now: float) -> float:
        """When the next run is due. It is never further away than the interval."""
        due = now if outcome.made_at is None else outcome.made_at + self.every_s
        if outcome.failed_at is not None:
            due = outcome.failed_at + min(RETRY_S, self.every_s)
        return min(due, now + self.every_s)

    def is_late(self, outcome: Outcome, watched_since: float, now: float) -> bool:
        """Whether no run has succeeded for too long. Where none ever has, the time counts from `watched_since` on."""
        since = watched_since if outcome.made_at is None else outcome.made_at
        return self.every_s > 0 and now - since > max(LATE_S_MIN, self.late_intervals * self.every_s)
