"""Settings of the backup."""

import re
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from openspot.backup.errors import BackupError
from openspot.backup.storage import FolderStorage, Storage
from openspot.kit.settings import Settings

S3 = "s3://"


class BackupSettings(Settings):
    """Where backups are, how they are encrypted, and how many are kept."""

    backup_dir: str = Field(
        default="",
        description="Folder of the backups that `openspot backup` writes, best on another machine's disk, or "
        "`s3://bucket/prefix` in storage that speaks S3; empty: `backups` beside the data directory",
    )
    backup_s3_endpoint: str = Field(
        default="", description="Address of the S3 storage, such as https://s3.example.com; empty: that of Amazon"
    )
    backup_s3_region: str = Field(default="us-east-1", min_length=1, description="… its region")
    backup_s3_access_key: str = Field(
        default="",
        description="… the id of its access key; empty: the credentials of the environment (`AWS_ACCESS_KEY_ID` or the "
        "role of the machine)",
    )
    backup_s3_secret_key: str = Field(default="", description="… the secret of that key")
    backup_s3_timeout_s: float = Field(
        default=60.0, gt=0, le=3600, description="… a request without answer after this time is sent again, four times"
    )
    backup_key_file: str = Field(
        default="",
        description="File with the key of the backups, as `openspot backup key` makes it; empty: not encrypted. Keep a "
        "copy elsewhere: without it no backup can be read",
    )
    backup_keep: int = Field(default=14, ge=1, le=10_000, description="`openspot backup` keeps this many backups")

    @field_validator("backup_dir")
    @classmethod
    def _is_a_place(cls, value: str) -> str:
        if value.startswith(S3):
            bucket = value.removeprefix(S3).partition("/")[0]
            if not re.fullmatch(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,62}", bucket):
                raise ValueError(f"{value} names no bucket: write {S3}bucket/prefix")
        elif "://" in value:
            raise ValueError(f"{value} is neither a folder nor {S3}bucket/prefix")
        return value

    @field_validator("backup_s3_endpoint")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        parts = urlsplit(value)
        if value and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError("write it like https://s3.example.com")
        if parts.username or parts.password:
            raise ValueError("credentials do not belong into the address: set OPENSPOT_BACKUP_S3_ACCESS_KEY")
        return value

    @property
    def backup_folder(self) -> Path | None:
        """The folder of the backups; None if they are in S3 storage."""
        if self.backup_dir.startswith(S3):
            return None
        resolved = self.data_dir.resolve()
        return Path(self.backup_dir) if self.backup_dir else resolved.with_name(f"{resolved.name}-backups")

    def backup_storage(self) -> Storage:
        """The storage of the backups. Raises BackupError if only one half of the credentials is set."""
        folder = self.backup_folder
        if folder is not None:
            return FolderStorage(folder)
        if bool(self.backup_s3_access_key) != bool(self.backup_s3_secret_key):
            raise BackupError("set both OPENSPOT_BACKUP_S3_ACCESS_KEY and OPENSPOT_BACKUP_S3_SECRET_KEY, or neither")
        # Only who uses it pays for its import.
        from openspot.backup.s3 import S3Storage

        bucket, _, prefix = self.backup_dir.removeprefix(S3).partition("/")
        return S3Storage(
            bucket,
            prefix.strip("/"),
            region=self.backup_s3_region,
            endpoint=self.backup_s3_endpoint,
            access_key=self.backup_s3_access_key,
            secret_key=self.backup_s3_secret_key,
            timeout_s=self.backup_s3_timeout_s,
        )
