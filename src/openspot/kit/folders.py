"""Folders whose entries must outlive a power cut."""

import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Sync the entries of a folder to disk: what was made, renamed or removed in it. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
