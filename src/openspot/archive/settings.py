"""Settings of the archive."""

from pathlib import Path

from pydantic import Field, field_validator

from openspot.kit.settings import Settings

AGE_DAYS_MIN = 31
"""Nothing younger leaves: the streams of the bus deliver a trade again for up to thirty days."""
_DAYS = ("archive_orders_days", "archive_trades_days", "archive_entries_days", "archive_audit_days")


class ArchiveSettings(Settings):
    """Where the archive is, and what `openspot archive` moves there."""

    archive_dir: str = Field(
        default="",
        description="Folder of the files that `openspot archive` writes; empty: `archive` in the data directory",
    )
    archive_orders_days: int = Field(
        default=0,
        ge=0,
        le=36_500,
        description="`openspot archive` moves orders that ended this many days ago out of the database; 0: none. The "
        "least of these numbers is 31",
    )
    archive_trades_days: int = Field(default=0, ge=0, le=36_500, description="… trades of this age; 0: none")
    archive_entries_days: int = Field(
        default=0, ge=0, le=36_500, description="… ledger entries of trades, of this age; 0: none"
    )
    archive_audit_days: int = Field(default=0, ge=0, le=36_500, description="… audit records of this age; 0: none")

    @field_validator(*_DAYS)
    @classmethod
    def _is_old_enough(cls, days: int) -> int:
        if 0 < days < AGE_DAYS_MIN:
            raise ValueError(f"must be 0 or at least {AGE_DAYS_MIN}: the bus may deliver younger trades again")
        return days

    @property
    def archive_folder(self) -> Path:
        """The folder of the archive."""
        return Path(self.archive_dir) if self.archive_dir else self.data_dir / "archive"

    @property
    def archive_days(self) -> dict[str, int]:
        """By kind of row, the age in days from which on it leaves; 0: never."""
        return {
            "orders": self.archive_orders_days,
            "trades": self.archive_trades_days,
            "entries": self.archive_entries_days,
            "audit": self.archive_audit_days,
        }
