"""A custody on a real database."""

import asyncpg
import pytest

from tests.support.custody import CustodyBench


@pytest.fixture
def custody(pool: asyncpg.Pool) -> CustodyBench:
    """A custody at which BTC is worth 10,000 USD."""
    return CustodyBench(pool)
