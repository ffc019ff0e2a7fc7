"""Fixtures of the WebSocket edge's tests."""

from tests.support.book_provider import provider  # noqa: F401  (fixtures are found by name)
from tests.support.websocket_edge import edge, publish, raw_bus  # noqa: F401  (fixtures are found by name)
