"""A log and virtual time for all simulations of a test."""

from collections.abc import Iterator

import pytest

from tests.simulation.quiet import Log, quiet


@pytest.fixture
def log() -> Iterator[Log]:
    """The log of the platform's modules, which live in virtual time."""
    with quiet() as kept:
        yield kept
