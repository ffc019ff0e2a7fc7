"""The fair prices of all markets in one process: rules without IO.

The board takes trades and quotes as they come. Once a second `tick` samples the books and makes every market's price.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from openspot.contracts.engine_events import TradeEvent
from openspot.contracts.messages import FairPriceEvent
from openspot.domain.fair_price.estimate import FairPriceEstimator, Remembered, Surroundings
from openspot.domain.fair_price.model import FairPrice, PriceState
from openspot.domain.fair_price.reference import DOLLAR, reference_price
from openspot.domain.fair_price.rules import FairPriceRules
from openspot.domain.money import AMOUNT_SCALE, amount_to_text
from openspot.domain.order_book import amount_of
from openspot.domain.owners import Owners
from openspot.market_data.fair_price_store import OperatorPrice, PastTrade, PriceRecord, Sample
from openspot.market_data.markets import Markets, MarketState

SYMBOLS_MAX = 10_000
SAMPLES_WAITING_MAX = 100_000
"""Samples that wait for the database; more of them are not recorded."""
_BEHIND = "Market data is behind the matching engine. Wait until it has caught up."


class FairPriceBoard:
    """Estimators by symbol. `references` are US dollars by asset, `fees` basis points of both sides by symbol."""

    def __init__(self, rules: FairPriceRules, references: Mapping[str, int], fees: Mapping[str, int]) -> None:
        self._rules = rules
        self._references = references
        self._fees = fees
        self._owners = Owners()
        self._operator_prices: Mapping[str, OperatorPrice] = {}
        self._estimators: dict[str, FairPriceEstimator] = {}
        self._prices: dict[str, FairPrice] = {}
        self._samples: list[Sample] = []
        self._sampled: dict[str, int] = {}
        """The newest sample of each market that was handed to the database."""
        self.is_complete = False
        """Whether the past trades are there. Until then the prices of the last process count."""

    def begin(self, remembered: Mapping[str, Remembered], samples: Iterable[Sample]) -> None:
        """Forget all markets and continue from what is remembered. The past trades are not there yet."""
        self.is_complete = False
        self._estimators = {
            symbol: FairPriceEstimator(symbol, self._rules, known) for symbol, known in remembered.items()
        }
        self._prices = {symbol: known.price for symbol, known in remembered.items()}
        self._samples.clear()
        self._sampled.clear()
        for symbol, time_ms, price in samples:
            self._estimator(symbol).day.load(time_ms, price)
            self._sampled[symbol] = time_ms

    def set_by_operator(self, prices: Mapping[str, OperatorPrice], owners: Owners) -> None:
        """The operators' prices that count now, and who is one owner."""
        self._operator_prices = prices
        # The same object while nothing changed: figures are kept by it.
        if owners != self._owners:
            self._owners = owners

    def take(self, event: TradeEvent) -> None:
        """Count a trade."""
        estimator = self._estimators.get(event.symbol) or self._estimator(event.symbol)
        estimator.trades.add(
            event.timestamp,
            event.taker_participant_id,
            event.maker_participant_id,
            amount_of(event.price),
            amount_of(event.quantity),
        )

    def take_past(self, trades: Iterable[PastTrade]) -> None:
        """Count trades of before the first event of this process."""
        for past in trades:
            self._estimator(past.symbol).trades.add(
                past.timestamp_ms, past.account, past.other_account, past.price, past.quantity
            )

    def quote(self, now_ms: int, symbol: str, bid: str, ask: str) -> None:
        """Take a quote of the venue. Raises MoneyError if it has no prices."""
        if symbol in self._estimators or len(self._estimators) < SYMBOLS_MAX:
            self._estimator(symbol).quote(now_ms, amount_of(bid), amount_of(ask))

    def tick(self, now_ms: int, markets: Markets) -> list[FairPriceEvent]:
        """Make every market's price at `now_ms`, and return those that exist."""
        if self.is_complete:
            for market in markets.all():
                self._estimate(now_ms, market)
        else:
            # What was known a moment ago still counts while the past trades are read.
            hold_ms = self._rules.hold_ms
            self._prices = {
                symbol: price if now_ms - price.timestamp_ms <= hold_ms else _stale(price)
                for symbol, price in self._prices.items()
            }
        return self.events()

    def events(self) -> list[FairPriceEvent]:
        """The newest prices, by symbol."""
        return [_event(price) for _, price in sorted(self._prices.items())]

    def stale_events(self) -> list[FairPriceEvent]:
        """The newest prices as prices that nobody should believe, because this process is behind."""
        return [_event(replace(_stale(price), reason=_BEHIND)) for _, price in sorted(self._prices.items())]

    @property
    def prices(self) -> Mapping[str, FairPrice]:
        """The newest prices by symbol."""
        return self._prices

    def move_cost(self, symbol: str) -> int | None:
        """What moving the market's price costs, in its quote asset; None if nobody can by trading here."""
        estimator = self._estimators.get(symbol)
        return None if estimator is None else estimator.move_cost

    def records(self) -> list[PriceRecord]:
        """What is to be kept."""
        if not self.is_complete:
            return []
        return [
            PriceRecord(remembered, estimator.move_cost)
            for estimator in self._estimators.values()
            if (remembered := estimator.remembered) is not None
        ]

    def take_samples(self) -> list[Sample]:
        """The samples since the last call."""
        samples, self._samples = self._samples, []
        return samples

    def put_samples_back(self, samples: list[Sample]) -> None:
        """Return samples that could not be recorded."""
        self._samples = (samples + self._samples)[:SAMPLES_WAITING_MAX]

    def _estimate(self, now_ms: int, market: MarketState) -> None:
        symbol, book = market.symbol, market.book
        estimator = self._estimator(symbol)
        around = self._surroundings(symbol, now_ms)
        if book.is_whole:
            estimator.see_book(now_ms, book.bids.priced_levels(), book.asks.priced_levels(), around.quote_dollars)
        price = estimator.estimate(now_ms, around)
        if price is None:
            return
        self._prices[symbol] = price
        newest = estimator.day.newest
        if newest is not None and newest[0] > self._sampled.get(symbol, -1):
            self._sampled[symbol] = newest[0]
            if len(self._samples) < SAMPLES_WAITING_MAX:
                self._samples.append(Sample(symbol, *newest))

    def _estimator(self, symbol: str) -> FairPriceEstimator:
        estimator = self._estimators.get(symbol)
        if estimator is None:
            estimator = self._estimators[symbol] = FairPriceEstimator(symbol, self._rules)
        return estimator

    def _surroundings(self, symbol: str, now_ms: int) -> Surroundings:
        by_operator = self._operator_prices.get(symbol)
        return Surroundings(
            owners=self._owners,
            quote_dollars=self._dollars(symbol.partition("-")[2]),
            operator_price=by_operator.price if by_operator is not None and now_ms < by_operator.ends_ms else None,
            reference_price=reference_price(symbol, self._references),
            fee_bps=self._fees.get(symbol, 0),
        )

    def _dollars(self, asset: str) -> int:
        """US dollars of one unit, roughly: it decides what is worth looking at. 1 if nothing is known."""
        if asset in self._references:
            return self._references[asset]
        price = self._prices.get(f"{asset}-{DOLLAR}")
        # A power of two, so that it stays the same for a while.
        return AMOUNT_SCALE if price is None else 1 << (price.price.bit_length() - 1)


def _stale(price: FairPrice) -> FairPrice:
    return replace(price, state=PriceState.STALE, sellable=0, buyable=0, is_confirmed=False)


def _event(price: FairPrice) -> FairPriceEvent:
    return FairPriceEvent(
        symbol=price.symbol,
        state=price.state.value,
        price=amount_to_text(price.price),
        low=amount_to_text(price.low),
        high=amount_to_text(price.high),
        day_median=amount_to_text(price.day_median),
        sellable=amount_to_text(price.sellable),
        buyable=amount_to_text(price.buyable),
        timestamp=price.timestamp_ms,
        reason=price.reason,
        is_confirmed=price.is_confirmed,
    )
