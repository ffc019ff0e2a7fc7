"""What is new: a quote that differs from the last one, and a trade that is neither known nor older than the session."""

from collections import deque

from openspot.venue.ticks import VenueQuote

TRADE_IDS_MAX = 2000
"""The number of trade ids to remember for each market. A venue repeats fewer after a reconnect."""
SNAPSHOT_MS = 10_000
"""Some venues start a subscription with their last trades. They send those within this time."""
CLOCK_DIFFERENCE_MS = 1000
"""If the venue's clock is behind ours by no more than this, its new trades do not look old."""


def is_past(trade_ms: int, received_ms: int, session_began_ms: int) -> bool:
    """Whether a trade predates the session and is one of those that the venue sends at the session's start.

    Such a trade is not published: ticks missed during a reconnect are lost (fact A6.1-28). The rule applies only
    shortly after the start, so a venue with a wrong clock loses a few trades at each reconnect and no others.
    """
    return received_ms - session_began_ms <= SNAPSHOT_MS and trade_ms < session_began_ms - CLOCK_DIFFERENCE_MS


class Novelty:
    """Remembers the last quote and the last trade ids of each market. Markets are few, and the ids are bounded."""

    def __init__(self, trade_ids_max: int = TRADE_IDS_MAX) -> None:
        self._trade_ids_max = trade_ids_max
        self._quotes: dict[str, tuple[str, ...]] = {}
        self._trade_ids: dict[str, tuple[set[str], deque[str]]] = {}

    def forget_quotes(self) -> None:
        """Treat the next quote of each market as new, because some were missed before it."""
        self._quotes.clear()

    def is_new_quote(self, market: str, quote: VenueQuote) -> bool:
        """Whether a price or quantity differs from the market's last quote. If so, remember this one instead."""
        fields = quote[:4]
        if self._quotes.get(market) == fields:
            return False
        self._quotes[market] = fields
        return True

    def is_new_trade(self, market: str, trade_id: str) -> bool:
        """Whether this trade of the market is new. Remembers it."""
        known, order = self._trade_ids.setdefault(market, (set(), deque()))
        if trade_id in known:
            return False
        if len(order) >= self._trade_ids_max:
            known.discard(order.popleft())
        known.add(trade_id)
        order.append(trade_id)
        return True
