"""Fixtures of the venue adapter's tests."""

from tests.support.venue import ticks, venue_settings  # noqa: F401  (fixtures are found by name)
