"""Metrics of the position service."""

from prometheus_client import Counter, Gauge

MARKINGS = Counter("openspot_positions_markings_total", "Runs of the mark-to-market timer", ["outcome"])
SNAPSHOTS = Counter("openspot_positions_snapshots_total", "Positions that the snapshot timer has kept")
FOLLOWED = Counter("openspot_positions_followed_trades_total", "Trades of the exchange", ["outcome"])
FOLLOWED_SEQUENCE = Gauge(
    "openspot_positions_followed_sequence", "Engine sequence of the newest trade that was followed"
)
PENDING_FILLS = Gauge("openspot_positions_pending_fills", "Fills that are not FIFO transactions yet")
FOLLOWED_MOVEMENTS = Counter(
    "openspot_positions_followed_movements_total", "Entries of the ledger that became FIFO transactions"
)
