"""Backups: whether there is one, how old it is, and whether a broken disk takes it along."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from openspot.backup.errors import BackupError
from openspot.backup.sealing import read_seal
from openspot.doctor.findings import Finding, fine, problem, warning
from openspot.kit.backup_outcome import backup_outcome
from openspot.up.exposure import is_loopback

AGE_S_MAX = 2 * 86_400


def backup_findings(settings: Any) -> Iterator[Finding]:
    """What is wrong with the backups of a data directory that is there."""
    yield from _newest(settings)
    yield from _place(settings)
    if not settings.backup_key_file:
        yield warning("backup-key", "backups hold the platform's secrets and are not encrypted", "make a key with "
                      "`openspot backup key`, and set OPENSPOT_BACKUP_KEY_FILE")  # fmt: skip
        return
    try:
        read_seal(settings.backup_key_file)
        yield fine("backup-key", "backups are encrypted")
    except BackupError as error:
        yield problem("backup-key", str(error), "without it no backup can be made or restored")


def _newest(settings: Any) -> Iterator[Finding]:
    outcome = backup_outcome(settings.data_dir)
    if outcome.failed_at is not None:
        yield problem("backup", f"the newest backup failed: {outcome.reason}", "run `openspot backup` when that is "
                      "mended")  # fmt: skip
    if outcome.made_at is None:
        yield warning("backup", "no backup was ever made", "run `openspot backup`, and set OPENSPOT_BACKUP_EVERY_S")
    elif (age_s := time.time() - outcome.made_at) > max(AGE_S_MAX, 2 * settings.backup_every_s):
        yield problem("backup", f"the last good backup is {age_s / 86_400:.1f} days old", "run `openspot backup`")
    elif outcome.failed_at is None:
        new = "" if outcome.new_bytes is None else f", and {outcome.new_bytes:,} bytes of it were new"
        yield fine("backup", f"the last good backup is {age_s / 3600:.1f} hours old{new}")


def _place(settings: Any) -> Iterator[Finding]:
    folder = settings.backup_folder
    if folder is None:
        host = urlsplit(settings.backup_s3_endpoint).hostname
        if settings.backup_s3_endpoint.startswith("http://") and not is_loopback(host or ""):
            yield problem("backup-place", "backups cross the network unencrypted", "write "
                          "OPENSPOT_BACKUP_S3_ENDPOINT with https://")  # fmt: skip
        try:
            settings.backup_storage()
        except BackupError as error:
            yield problem("backup-place", str(error), "no backup can be made")
        return
    try:
        is_same = _nearest(folder).stat().st_dev == _nearest(settings.data_dir).stat().st_dev
    except OSError as error:
        yield problem("backup-place", f"{folder} cannot be read: {error.strerror}", "set OPENSPOT_BACKUP_DIR")
        return
    if is_same:
        yield warning("backup-place", f"the backups in {folder} are on the disk of the data directory", "set "
                      "OPENSPOT_BACKUP_DIR to another machine's disk or to s3://bucket/prefix")  # fmt: skip


def _nearest(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    resolved = folder.resolve()
    return next(each for each in (resolved, *resolved.parents) if each.exists())
