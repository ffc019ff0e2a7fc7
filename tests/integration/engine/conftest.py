"""A running engine for every test of this folder."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from openspot.kit.settings import Settings
from tests.support.engine_client import EngineClient, engine_settings, running_engine
from tests.support.engine_nursery import Nursery, engine_nursery


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of this test's engine, which needs no bus and no database."""
    return engine_settings(tmp_path)


@pytest.fixture
async def engine(settings: Settings) -> AsyncIterator[EngineClient]:
    """A new engine in this process, and a client."""
    async with running_engine(settings) as client:
        yield client


@pytest.fixture(scope="package")
def nursery() -> Iterator[Nursery]:
    """A process that forks engines, for tests that kill them or read their logs."""
    with engine_nursery() as running:
        yield running
