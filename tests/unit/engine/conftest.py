"""Runs every core test on both cores: the reference, and the Rust core if its wheel is installed."""

from collections.abc import Callable

import pytest

from openspot.engine.core.protocol import MatchingCore
from openspot.engine.core.selection import CoreUnavailableError, make_core

CoreFactory = Callable[[], MatchingCore]


@pytest.fixture(params=["reference", "rust"])
def core_factory(request: pytest.FixtureRequest) -> CoreFactory:
    """Makes new, empty cores of one implementation."""
    try:
        make_core(request.param)
    except CoreUnavailableError:
        pytest.skip("the fast core is not installed: `make core` builds it")
    return lambda: make_core(request.param)
