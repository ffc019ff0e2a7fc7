"""Metrics of the WebSocket edge."""

import functools

from prometheus_client import Counter, Gauge

CONNECTIONS = Gauge("openspot_ws_connections", "Open WebSocket connections")
SUBSCRIPTIONS = Gauge("openspot_ws_subscriptions", "Channel subscriptions of open connections")
PUSHES = Counter("openspot_ws_pushes_total", "Messages pushed to clients", ["channel"])
CLOSED_BY_EDGE = Counter("openspot_ws_closed_total", "Connections that the edge closed", ["code"])
REFUSED = Counter("openspot_ws_refused_total", "Connections refused before the upgrade", ["status"])
BUS_GAPS = Counter("openspot_ws_bus_gaps_total", "Times the edge lost its place on the bus")
BOOK_RESYNCS = Counter("openspot_ws_book_resyncs_total", "Times an order book asked for a new snapshot")
CONFLATED = Counter("openspot_ws_conflated_total", "Messages left out for clients that read slowly", ["channel"])


@functools.cache
def pushes_of(kind: str) -> Counter:
    """The counter of one kind of channel. It is kept: Prometheus takes longer to find a counter than to count."""
    return PUSHES.labels(kind)
