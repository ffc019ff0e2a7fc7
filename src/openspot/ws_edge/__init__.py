"""The WebSocket edge: live events of the bus, fanned out to clients (facts A6.3-04 to A6.3-17 and B4.2-01 to B4.2-09).

docs/protocol/websocket.md describes what clients send and receive, docs/guides/order-book.md how they keep a book.

While a connection is open, its client misses nothing for good. If updates of an order book are left out, a fresh
snapshot follows; if a ticker or a candle is left out, the latest one follows. If the edge cannot guarantee that, it
closes the connection.
"""
