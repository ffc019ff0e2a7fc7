"""The two real platforms that the end-to-end tests share: one for users, one for faults.

A test starts a platform of its own only if its subject is the start, or what a start is given.
"""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from openspot.up.child_platform import ChildPlatform
from tests.support.fault_run import kept_after_failure
from tests.support.platforms import child_platform
from tests.support.waiting import START_S_MAX, stretched

ONE_PROCESS, APART = {"OPENSPOT_ONE_PROCESS": "true"}, {"OPENSPOT_ONE_PROCESS": "false"}
"""Whether REST edge and order router share a process. Each of the two platforms proves one mode on any machine; the
platforms that tests start themselves take what suits the machine."""
UNTHROTTLED = {"OPENSPOT_THROTTLE_ENABLED": "false", "OPENSPOT_POSITIONS_THROTTLE_ENABLED": "false"}
QUICK_MONEY = {
    "OPENSPOT_WITHDRAWAL_ADDRESS_WAIT_S": "0",
    "OPENSPOT_CUSTODY_BLOCK_S": "0.05",
    "OPENSPOT_CONVERSION_STANDING_S": "2",
}
"""Saved addresses can be used at once, blocks come quickly, and orders count soon."""


@pytest.fixture(scope="session")
def platform() -> Iterator[ChildPlatform]:
    """A platform without throttling or waiting times. Who kills a service of it waits until it is ready again."""
    folder = Path(tempfile.mkdtemp(prefix="openspot-e2e-"))
    child = child_platform(folder, UNTHROTTLED | QUICK_MONEY | ONE_PROCESS)
    child.start(stretched(START_S_MAX))
    yield child
    child.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def breakable(request: pytest.FixtureRequest) -> Iterator[ChildPlatform]:
    """A platform whose processes and servers the tests break as they like, and let heal.

    Its withdrawals take long enough to be struck, its books are published often, so that clients see many sequences,
    its database syncs, so that a slow disk slows it down, and its translation is in partitions.
    """
    environment = (
        UNTHROTTLED
        | APART
        | {
            "OPENSPOT_WITHDRAWAL_ADDRESS_WAIT_S": "0",
            "OPENSPOT_CUSTODY_BLOCK_S": "0.5",
            "OPENSPOT_CUSTODY_CONFIRMATIONS": "4",
            "OPENSPOT_CONVERSION_STANDING_S": "2",
            "OPENSPOT_MARKET_DATA_LEASE_S": "2",
            "OPENSPOT_MARKET_DATA_BOOK_MS": "5",
            "OPENSPOT_EMBEDDED_POSTGRES_SYNCED": "true",
            "OPENSPOT_TRANSLATOR_PARTITIONS": "3",
        }
    )
    with kept_after_failure(request) as folder:
        child = child_platform(folder, environment)
        child.start(stretched(START_S_MAX))
        yield child
        child.stop()


@pytest.fixture
def own_folder() -> Iterator[Path]:
    """A data directory of this test alone."""
    folder = Path(tempfile.mkdtemp(prefix="openspot-e2e-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
