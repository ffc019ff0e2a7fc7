"""The venue adapter republishes an external venue's best prices and trades as references (facts A6.1-21 to A6.1-28).

A tick passes through these files in this order:

- `feed.py` keeps a session with the venue, and starts a new one when it breaks or falls silent.
- `ccxt_venue.py` makes the library ccxt hand on every tick, with every digit.
- `intake.py` turns the library's ticks into messages of the platform, and counts what it drops. Its rules are in
  `symbols.py` (names), `ticks.py` (payloads), `novelty.py` (what is new), `sources.py` (where quotes come from).
- `outbox.py` holds the messages that wait for the bus. `publisher.py` sends them.

The adapter only publishes. It subscribes to no subject of the platform and stores nothing.
"""
