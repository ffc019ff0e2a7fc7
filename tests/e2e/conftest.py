"""A real `openspot up` as a child process, shared by the end-to-end tests that do not break it."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from openspot.up.child_platform import ChildPlatform
from tests.support.platforms import child_platform

QUICK_MONEY = {
    "OPENSPOT_WITHDRAWAL_ADDRESS_WAIT_S": "0",
    "OPENSPOT_CUSTODY_BLOCK_S": "0.05",
}
"""Saved addresses can be used at once, and blocks come quickly."""


@pytest.fixture(scope="session")
def platform() -> Iterator[ChildPlatform]:
    """A running platform without throttling or waiting times."""
    folder = Path(tempfile.mkdtemp(prefix="openspot-e2e-"))
    child = child_platform(folder, {"OPENSPOT_THROTTLE_ENABLED": "false"} | QUICK_MONEY)
    child.start()
    yield child
    child.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def own_folder() -> Iterator[Path]:
    """A data directory of this test alone."""
    folder = Path(tempfile.mkdtemp(prefix="openspot-e2e-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
