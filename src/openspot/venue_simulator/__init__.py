"""A simulated venue that speaks the spot protocol of Binance, for the demo market, for tests and for offline machines.

- `recording.py` plays messages recorded from the real venue. `generator.py` invents plausible ones for every market of
  the platform. Both yield the events of `events.py`, and neither reads a clock.
- `streams.py` is the protocol: stream names, requests and replies. `book.py` keeps the order book that REST returns.
- `faults.py` makes the venue misbehave on request. `connection.py` is one client, `server.py` the venue.

It uses no service of the platform. `openspot venue-simulator` runs it.
"""
