"""Temporary files of the tests on a disk in memory, where the machine has one: a slow disk is no part of any test."""

import os
import shutil
import tempfile
from pathlib import Path

MEMORY_DISK = Path("/dev/shm")
FREE_BYTES_MIN = 8 * 1024**3
"""With less, temporary files stay where they are: some tests fill a gigabyte, and containers often have 64 MiB."""


DISK_FOLDER = os.environ.setdefault("OPENSPOT_TESTS_DISK", tempfile.gettempdir())
"""Where temporary files of a test are whose subject is what the disk holds. Processes of `pytest -n` inherit it."""


def set_temporary_folder() -> None:
    """Make new temporary folders of this process and of its children there."""
    if os.environ.get("TMPDIR") or not os.access(MEMORY_DISK, os.W_OK):
        return
    if shutil.disk_usage(MEMORY_DISK).free >= FREE_BYTES_MIN:
        os.environ["TMPDIR"] = str(MEMORY_DISK)
        tempfile.tempdir = None
