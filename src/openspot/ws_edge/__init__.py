"""The WebSocket edge: live events of the bus, fanned out to clients (Document A 6.3, Document B 4.2).

docs/protocol/websocket.md describes what clients send and receive, docs/guides/order-book.md how they keep a book.

While a connection is open, its client has missed nothing that something later does not stand for: of an order book it
gets a fresh snapshot, of a ticker or a candle the latest. If the edge cannot guarantee that, it closes the connection.
"""
