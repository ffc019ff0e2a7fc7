"""Turns the ticks that the library parsed into messages for the bus, and counts those that it drops."""

import time
from collections.abc import Callable

from openspot.contracts.messages import VenueBookTicker, VenueTrade
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock
from openspot.kit.log import get_logger
from openspot.venue.freshness import Freshness
from openspot.venue.metrics import DROPPED, UNREADABLE, DropReason, TickKind
from openspot.venue.novelty import Novelty, is_past
from openspot.venue.outbox import TickOutbox
from openspot.venue.symbols import SymbolMap
from openspot.venue.ticks import Tick, TickError, quote_of, trade_of

log = get_logger("venue")

LOG_INTERVAL_S = 60.0
"""Shortest time between two log lines about one kind of bad tick or frame; the metrics count all of them."""
_LOGGED_LENGTH_MAX = 200
_COUNTS = {(kind, reason): DROPPED.labels(kind, reason) for kind in TickKind for reason in DropReason}


def count_drop(kind: TickKind, reason: DropReason) -> None:
    """Count a tick that is not published."""
    _COUNTS[kind, reason].inc()


class Intake:
    """Takes every tick of one venue. It never waits: the outbox drops what does not fit."""

    def __init__(
        self,
        venue: str,
        symbols: SymbolMap,
        outbox: TickOutbox,
        freshness: Freshness,
        clock: Clock,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._venue = venue
        self._symbols = symbols
        self._outbox = outbox
        self._freshness = freshness
        self._clock = clock
        self._monotonic = monotonic
        self._novelty = Novelty()
        self._session_began_ms = 0
        self._logged: dict[str, float] = {}

    def begin_session(self) -> None:
        """Note that a new session begins. Ticks before it may have been missed."""
        self._session_began_ms = self._now_ms()
        self._novelty.forget_quotes()

    def take_quote(self, ticker: Tick) -> None:
        """Take a top-of-book update."""
        market = str(ticker.get("symbol"))
        symbols = self._symbols.platform_symbols(market)
        if not symbols:
            self._drop_unknown(TickKind.BOOK_TICKER, market)
            return
        try:
            quote = quote_of(ticker)
        except TickError as error:
            self._drop_unusable(TickKind.BOOK_TICKER, market, error)
            return
        self._freshness.note_tick(self._monotonic())
        if not self._novelty.is_new_quote(market, quote):
            count_drop(TickKind.BOOK_TICKER, DropReason.UNCHANGED)
            return
        bid_price, bid_quantity, ask_price, ask_quantity, venue_ms = quote
        timestamp = venue_ms if venue_ms is not None else self._now_ms()
        for symbol in symbols:
            message = VenueBookTicker(self._venue, symbol, bid_price, bid_quantity, ask_price, ask_quantity, timestamp)
            self._outbox.put_quote(message, venue_ms)

    def take_trade(self, tick: Tick) -> None:
        """Take a trade."""
        market = str(tick.get("symbol"))
        symbols = self._symbols.platform_symbols(market)
        if not symbols:
            self._drop_unknown(TickKind.TRADE, market)
            return
        try:
            trade = trade_of(tick)
        except TickError as error:
            self._drop_unusable(TickKind.TRADE, market, error)
            return
        self._freshness.note_tick(self._monotonic())
        if is_past(trade.timestamp, self._now_ms(), self._session_began_ms):
            count_drop(TickKind.TRADE, DropReason.PAST)
            return
        if not self._novelty.is_new_trade(market, trade.trade_id):
            count_drop(TickKind.TRADE, DropReason.REPEATED)
            return
        for symbol in symbols:
            self._outbox.put_trade(VenueTrade(self._venue, symbol, *trade))

    def note_unreadable(self, frame: str | bytes, error: Exception) -> None:
        """Count a frame that the library could not read."""
        UNREADABLE.inc()
        if self._may_log("frame"):
            log.warning("unreadable frame dropped", error=repr(error), frame=repr(frame[:_LOGGED_LENGTH_MAX]))

    def _drop_unknown(self, kind: TickKind, market: str) -> None:
        count_drop(kind, DropReason.UNKNOWN_SYMBOL)
        if self._may_log("unknown"):
            log.warning("tick dropped: the platform does not know its market", market=market[:_LOGGED_LENGTH_MAX])

    def _drop_unusable(self, kind: TickKind, market: str, error: TickError) -> None:
        count_drop(kind, DropReason.UNUSABLE)
        if self._may_log(kind):
            log.warning("tick dropped", kind=kind, market=market, error=str(error))

    def _may_log(self, what: str) -> bool:
        now = self._monotonic()
        if now - self._logged.get(what, -LOG_INTERVAL_S) < LOG_INTERVAL_S:
            return False
        self._logged[what] = now
        return True

    def _now_ms(self) -> int:
        return self._clock() // NANOSECONDS_PER_MS
