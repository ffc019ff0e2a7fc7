"""All markets as of one event of the engine: books, rolling days, newest trades. Rules without IO.

`apply` takes the engine's events one by one, in their order. It returns the trade to publish and record, if any, and
says whether the market's book needs a new base.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import msgspec

from openspot.contracts.engine_events import (
    AcceptedEvent,
    EngineEvent,
    MovedEvent,
    PhaseEvent,
    ReduceEvent,
    ShownEvent,
    TradeEvent,
    TriggeredEvent,
)
from openspot.contracts.messages import AggregateTradeEvent, MarketTradeEvent, OrderBookEvent, TickerEvent
from openspot.domain.auction import clearing_of
from openspot.domain.market_phase import MarketPhase
from openspot.domain.money import amount_to_text, text_to_amount
from openspot.domain.order_book import BookContradictionError
from openspot.market_data.aggregates import Fill, Run, run_of
from openspot.market_data.book import BookBase, BookEvent, PublishedBook
from openspot.market_data.day import MINUTE_MS, Minute, RollingDay

_BOOK_EVENTS = frozenset({AcceptedEvent, TradeEvent, ReduceEvent, MovedEvent, TriggeredEvent, ShownEvent})


class MarketHistory(NamedTuple):
    """The past of a market, from its rows: its rolling day, and its newest trade (0: none in this journal).

    `run` are the newest trades that belong together, without their taker; None if they are of another journal.
    """

    day: RollingDay
    last_trade: int
    run: Run | None = None


class EventOutcome(NamedTuple):
    """The consequences of an event. `contradiction` says why the book of `symbol` needs a new base.

    `aggregate` is the trade, together with those before it that belong to it.
    """

    symbol: str
    trade: MarketTradeEvent | None = None
    contradiction: str | None = None
    aggregate: AggregateTradeEvent | None = None


class MarketPhaseState(NamedTuple):
    """The phase of a market: its text, when it ends (milliseconds since 1970, 0 for never), and for the price of an
    auction the tick and the reference price, as amounts. `cause` is why the engine itself began it, else empty."""

    phase: str = MarketPhase.CONTINUOUS.text
    ends_at: int = 0
    tick: int = 1
    reference: int = 0
    cause: str = ""


class MarketState:
    """One market."""

    def __init__(self, symbol: str, book: PublishedBook, history: MarketHistory) -> None:
        self.symbol = symbol
        self.book = book
        self.day = history.day
        self.last_trade = history.last_trade
        self.run = history.run
        self._phase = MarketPhaseState()
        self._phase_sequence = 0
        self._ticker: TickerEvent | None = None

    def set_phase(self, phase: MarketPhaseState, sequence: int = 0) -> None:
        """The market's phase, as of an event."""
        self._phase, self._phase_sequence = phase, max(sequence, self._phase_sequence)
        # Other figures may be as they were.
        self._ticker = None

    def set_imported(self, minutes: Iterable[Minute]) -> None:
        """Put these imported minutes before the market's first trade."""
        self.day.set_imported(minutes)
        # Other figures at the same event.
        self._ticker = None

    @property
    def _sequence(self) -> int:
        return max(self.book.sequence, self.last_trade, self._phase_sequence)

    def _phase_figures(self) -> dict[str, Any]:
        """The fields of PhaseFigures; none in continuous trading."""
        phase = self._phase
        if phase.phase == MarketPhase.CONTINUOUS.text:
            return {}
        figures: dict[str, Any] = {"phase": phase.phase, "phase_ends_at": phase.ends_at or None}
        if phase.cause:
            figures["phase_cause"] = phase.cause
        if phase.phase == MarketPhase.AUCTION.text:
            book = self.book
            clearing = clearing_of(
                book.bids.priced_levels(), book.asks.priced_levels(), tick=phase.tick, reference=phase.reference
            )
            figures["indicative_price"] = clearing and amount_to_text(clearing.price)
            figures["indicative_quantity"] = clearing and amount_to_text(clearing.volume)
        return figures

    def ticker(self, now_ms: int) -> TickerEvent:
        """The ticker at `now_ms`."""
        self.day.forget_before(now_ms)
        figures = self.day.figures()
        bid_price, bid_quantity = self.book.best_bid or (None, None)
        ask_price, ask_quantity = self.book.best_ask or (None, None)
        return TickerEvent(
            symbol=self.symbol,
            seq=self._sequence,
            last_price=figures.last,
            bid_price=bid_price,
            bid_quantity=bid_quantity,
            ask_price=ask_price,
            ask_quantity=ask_quantity,
            open_price=figures.open,
            high_price=figures.high,
            low_price=figures.low,
            volume=figures.volume,
            quote_volume=figures.quote_volume,
            price_change=figures.change,
            price_change_percent=figures.change_percent,
            timestamp=now_ms,
            **self._phase_figures(),
        )

    def changed_ticker(self, now_ms: int) -> TickerEvent | None:
        """The ticker at `now_ms`; None if it equals the last one that this method returned."""
        before = self._ticker
        if before is not None and before.seq == self._sequence and before.timestamp // MINUTE_MS == now_ms // MINUTE_MS:
            return None
        self._ticker = self.ticker(now_ms)
        return None if before is not None and _says_the_same(before, self._ticker) else self._ticker


class Markets:
    """The markets by symbol. `depth` levels a side are published."""

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._markets: dict[str, MarketState] = {}
        self._histories: dict[str, MarketHistory] = {}
        self._imported: Mapping[str, Sequence[Minute]] = {}

    def begin(self, histories: dict[str, MarketHistory]) -> None:
        """Forget all markets. Markets that begin later have these histories."""
        self._markets.clear()
        self._histories = dict(histories)

    def set_imported(self, imported: Mapping[str, Sequence[Minute]]) -> None:
        """Take these imported minutes of each market for those of before, also for markets that begin later."""
        self._imported = imported
        for symbol, market in self._markets.items():
            market.set_imported(imported.get(symbol, ()))

    def all(self) -> list[MarketState]:
        """The markets, by symbol."""
        return [market for _, market in sorted(self._markets.items())]

    def get(self, symbol: str) -> MarketState | None:
        """The market of this symbol, or None."""
        return self._markets.get(symbol)

    def set_base(self, symbol: str, base: BookBase) -> None:
        """Begin a market with this book, or give its book a new base."""
        market = self._markets.get(symbol)
        if market is None:
            self._begin_market(symbol, base)
        else:
            market.book.rebase(base)

    def apply(self, event: EngineEvent) -> EventOutcome | None:
        """Apply the next event. Returns None if it does no more than change a book."""
        if isinstance(event, PhaseEvent):
            self._enter_phase(event)
        if type(event) not in _BOOK_EVENTS:
            return None
        changing = cast(BookEvent, event)
        market = self._markets.get(changing.symbol)
        if market is None:
            # The engine did not have this market when the others got their books, so its book was empty until now.
            market = self._begin_market(changing.symbol, BookBase(event.seq - 1, event.timestamp, (), ()))
        trade = aggregate = None
        if isinstance(event, TradeEvent):
            aggregate = _aggregate(market, event)
            trade = self._trade(market, event)
        try:
            market.book.apply(changing)
        except BookContradictionError as error:
            return EventOutcome(market.symbol, trade, f"event {event.seq}: {error}", aggregate)
        return None if trade is None else EventOutcome(market.symbol, trade, None, aggregate)

    def set_phase(self, symbol: str, phase: MarketPhaseState) -> None:
        """The phase of a market that has begun, as the engine says it."""
        self._markets[symbol].set_phase(phase)

    def _enter_phase(self, event: PhaseEvent) -> None:
        market = self._markets.get(event.symbol)
        if market is None:
            market = self._begin_market(event.symbol, BookBase(event.seq - 1, event.timestamp, (), ()))
        phase = phase_of(event.phase, event.ends_at, event.tick_size, event.reference_price, event.cause)
        market.set_phase(phase, event.seq)

    def _begin_market(self, symbol: str, base: BookBase) -> MarketState:
        history = self._histories.pop(symbol, None) or MarketHistory(RollingDay(), 0)
        market = self._markets[symbol] = MarketState(symbol, PublishedBook(symbol, base, self._depth), history)
        market.set_imported(self._imported.get(symbol, ()))
        return market

    def _trade(self, market: MarketState, event: TradeEvent) -> MarketTradeEvent:
        market.day.add(event.timestamp, text_to_amount(event.price), text_to_amount(event.quantity))
        before, market.last_trade = market.last_trade, event.seq
        return MarketTradeEvent(
            symbol=event.symbol,
            seq=event.seq,
            prev_seq=before,
            trade_id=event.trade_id,
            price=event.price,
            quantity=event.quantity,
            side="buy" if event.taker_side == "buy" else "sell",
            timestamp=event.timestamp,
        )


def _aggregate(market: MarketState, event: TradeEvent) -> AggregateTradeEvent:
    """The trades of `event` and of those before it that belong to it. The market's last trade is still the one before.

    An auction's trades have takers of their own, so they do not go on with a run whose taker is not known.
    """
    fill = Fill(
        event.trade_id,
        event.seq,
        text_to_amount(event.price),
        text_to_amount(event.quantity),
        "buy" if event.taker_side == "buy" else "sell",
        event.timestamp,
        event.taker_engine_order_id,
    )
    run = market.run
    is_of_auction = bool(event.taker_limit)
    if run is None or not run.admits(fill) or (run.last.taker is None and is_of_auction):
        run = market.run = run_of(fill, market.last_trade)
    else:
        run.add_younger(fill)
    return run.event(market.symbol)


def phase_of(phase: str, ends_at: int, tick_size: str, reference_price: str, cause: str = "") -> MarketPhaseState:
    """The phase in the engine's texts."""
    return MarketPhaseState(phase, ends_at, text_to_amount(tick_size), text_to_amount(reference_price), cause)


def publishable(markets: Iterable[MarketState]) -> list[OrderBookEvent]:
    """The messages about changed books, without those in the middle of a command. The books count as published."""
    messages = []
    for market in markets:
        if market.book.is_changed and market.book.is_whole:
            message = market.book.update()
            if message is not None:
                messages.append(message)
    return messages


def _says_the_same(first: TickerEvent, second: TickerEvent) -> bool:
    return msgspec.structs.replace(first, seq=second.seq, timestamp=second.timestamp) == second
