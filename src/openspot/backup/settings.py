"""Settings of the backup."""

from pathlib import Path

from pydantic import Field

from openspot.kit.settings import Settings


class BackupSettings(Settings):
    """Where backups are, how they are encrypted, and how many are kept."""

    backup_dir: str = Field(
        default="",
        description="Folder of the backups that `openspot backup` writes, best on another machine's disk; empty: "
        "`backups` beside the data directory",
    )
    backup_key_file: str = Field(
        default="",
        description="File with the key of the backups, as `openspot backup key` makes it; empty: not encrypted. Keep a "
        "copy elsewhere: without it no backup can be read",
    )
    backup_keep: int = Field(default=14, ge=1, le=10_000, description="`openspot backup` keeps this many backups")

    @property
    def backup_folder(self) -> Path:
        """The folder of the backups."""
        resolved = self.data_dir.resolve()
        return Path(self.backup_dir) if self.backup_dir else resolved.with_name(f"{resolved.name}-backups")
