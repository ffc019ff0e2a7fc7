"""Fixtures of the client's tests."""

from tests.support.websocket_edge import edge, publish, raw_bus  # noqa: F401  (fixtures are found by name)
