"""A real `openspot up` as a child process, shared by the end-to-end tests that do not break it."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from openspot.up.child_platform import ChildPlatform
from tests.support.platforms import child_platform


@pytest.fixture(scope="session")
def platform() -> Iterator[ChildPlatform]:
    """A running platform without throttling."""
    folder = Path(tempfile.mkdtemp(prefix="openspot-e2e-"))
    child = child_platform(folder, {"OPENSPOT_THROTTLE_ENABLED": "false"})
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
