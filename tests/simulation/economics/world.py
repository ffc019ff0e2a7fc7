"""One run: the exchange, the fair prices, the products, honest actors, and a clock that only the run moves."""

import random
from collections.abc import Mapping
from decimal import Decimal

from openspot.domain.fair_price.band import PriceReference
from openspot.domain.fair_price.estimate import Remembered
from openspot.domain.fair_price.model import FairPrice, PriceState
from openspot.domain.fair_price.reference import DOLLAR
from openspot.domain.money import AMOUNT_PLACES, AMOUNT_SCALE, BASIS_POINTS, EXACT
from openspot.domain.order import OrderType, Side, TimeInForce
from openspot.market_data.book import BookBase
from openspot.market_data.fair_price_board import FairPriceBoard
from openspot.market_data.fair_price_store import PastTrade, Sample
from openspot.market_data.markets import Markets
from openspot.market_data_client.price_bands import PriceBands
from openspot.router.orders.draft import OrderDraft, OrderSide
from openspot.router.orders.pre_trade import BEFORE_BALANCE, Candidate, MarketRules, first_failure
from openspot.router.orders.reference_prices import FairReferences, LastTradePrices
from tests.simulation.economics.auditor import Auditor
from tests.simulation.economics.desks import (
    INSURANCE,
    INVENTORY,
    POOL,
    SCAN_S,
    Conversions,
    Custody,
    Margin,
    marks_of,
)
from tests.simulation.economics.exchange import Exchange
from tests.simulation.economics.guards import GUARDED, Guards
from tests.simulation.economics.honest import Innocents, Life, Traders, limits_of, spec_of

STEP_S = 2
BEGAN_MS = 1_800_000_000_000
MINUTE_MS = 60_000
DAY_MINUTES = 1_440
LAST_TRADE_AGE_MS = 3_600_000
RICH = 10**12 * AMOUNT_SCALE


class EconomicWorld:
    """The platform with its honest actors. Attackers act between the honest ones and the products, in every step."""

    def __init__(
        self, seed: int, lives: Mapping[str, Life], guards: Guards = GUARDED, *, has_past: bool = True
    ) -> None:
        self.chance = random.Random(seed)
        self.guards = guards
        self.lives = lives
        self.now_ms = BEGAN_MS
        self.references: dict[str, Decimal] = {}
        self.honest = {life.base: life.price for life in lives.values()} | {DOLLAR: AMOUNT_SCALE}
        """The price of each asset in dollars that honest actors know."""
        self._home = dict(self.honest)
        self.drift_bps: dict[str, int] = {}
        """By how much the honest price of an asset moves in each step, beside its walk."""
        specs = [spec_of(symbol, number) for number, symbol in enumerate(lives, 1)]
        self.exchange = Exchange(specs, knows_owners=guards.knows_owners)
        self._rules = {spec.symbol: MarketRules(limits_of(spec.symbol), spec) for spec in specs}
        self._fees = {spec.symbol: spec.taker_fee_bps + spec.maker_fee_bps for spec in specs}
        self._samples: list[Sample] = []
        self._past: list[PastTrade] = []
        self.prices: Mapping[str, FairPrice] = {}
        self.marks = marks_of({})
        self.books: dict[str, BookBase] = {}
        self._last_trades = LastTradePrices(LAST_TRADE_AGE_MS)
        self._fair_references = FairReferences(PriceBands(self, lambda: self.now_s), self._rules)
        self.margin, self.custody, self.conversions = Margin(self), Custody(self), Conversions(self)
        for account in (POOL, INSURANCE, INVENTORY):
            for asset in self.exchange.assets:
                self.exchange.pay_in(account, asset, RICH)
        self.traders = Traders(self)
        self.innocents = Innocents(self)
        self.auditor = Auditor(self)
        self._begin(has_past=has_past)

    @property
    def now_s(self) -> float:
        """The time in seconds."""
        return self.now_ms / 1000

    def honest_price(self, symbol: str) -> int:
        """The price of a market that honest actors know."""
        base, _, quote = symbol.partition("-")
        return self.honest[base] * AMOUNT_SCALE // self.honest[quote]

    def of(self, symbol: str) -> FairPrice | None:
        """The price that the products believe."""
        return self.prices.get(symbol)

    # Orders

    def refusal(self, account: str, symbol: str, side: Side, quantity: int, price: int) -> str | None:
        """Why the router refuses a limit order; None if it takes it."""
        spec = self.exchange.specs[symbol]
        tick, lot = AMOUNT_SCALE // spec.quote_scale_k, spec.base_unit
        draft = OrderDraft(
            account,
            "order",
            symbol,
            OrderSide.BUY if side is Side.BUY else OrderSide.SELL,
            OrderType.LIMIT,
            TimeInForce.GTC,
            _decimal(quantity // lot * lot),
            None,
            _decimal(max(price // tick, 1) * tick),
            None,
            None,
            None,
        )
        found = self._last_trades if self.guards.band is PriceReference.LAST_TRADE else self._fair_references
        candidate = Candidate(draft, self._rules, found.reference(symbol, self.now_ms))
        failure = first_failure(candidate, BEFORE_BALANCE)
        return None if failure is None else failure.reason

    def place(
        self, account: str, symbol: str, side: Side, quantity: int, price: int, *, is_immediate: bool = False
    ) -> bool:
        """Place a limit order through the router's check; False if it refuses."""
        if quantity <= 0 or self.refusal(account, symbol, side, quantity, price) is not None:
            return False
        self.exchange.place(account, symbol, side, quantity, price, is_immediate=is_immediate)
        self._take_trades()
        return True

    # Time

    def begin_step(self) -> None:
        """Let time pass, the honest prices move, and honest actors act."""
        self.now_ms += STEP_S * 1000
        for asset in self.honest:
            if asset != DOLLAR:
                self._walk(asset)
        self.traders.act()

    def end_step(self) -> None:
        """Let prices be made and the products act on them."""
        if self.now_ms // 1000 % SCAN_S == 0:
            # Before the books are looked at: whoever knows the hour of a forced sale has seen to the book in time.
            self.margin.scan()
            self._take_trades()
        for symbol in self.exchange.specs:
            self.books[symbol] = self.exchange.book(symbol)
            self._markets.set_base(symbol, self.books[symbol])
        self._tick()
        self.conversions.sample()
        self.auditor.look()

    def pass_time(self, seconds: int) -> None:
        """Let honest actors be among themselves."""
        for _ in range(seconds // STEP_S):
            self.begin_step()
            self.end_step()

    def restart(self) -> None:
        """Market data begins anew from what is kept, or from nothing where the guard is away."""
        records = {record.remembered.price.symbol: record.remembered for record in self._board.records()}
        self._samples += self._board.take_samples()
        self._new_board(records, self._past)

    def _begin(self, *, has_past: bool) -> None:
        remembered = {}
        if has_past:
            for symbol, life in self.lives.items():
                price = self.honest_price(symbol)
                self._samples += [
                    Sample(symbol, self.now_ms - ago * MINUTE_MS, price) for ago in range(DAY_MINUTES, 0, -1)
                ]
                fair = _first_price(symbol, price, self.now_ms - 5_000)
                remembered[symbol] = Remembered(fair)
                self._past += self.traders.past(symbol, life, self.now_ms)
        self._new_board(remembered, self._past, is_first=True)
        for symbol in self.exchange.specs:
            self.books[symbol] = BookBase(1, 0, [], [])
        self.pass_time(16)
        self.innocents.borrow()

    def _new_board(
        self, remembered: Mapping[str, Remembered], past: list[PastTrade], *, is_first: bool = False
    ) -> None:
        keeps = is_first or self.guards.restart_remembers
        self._board = FairPriceBoard(self.guards.rules, {DOLLAR: AMOUNT_SCALE}, self._fees)
        self._board.begin(remembered if keeps else {}, self._samples if keeps else [])
        if keeps:
            since = self.now_ms - self.guards.rules.window_ms
            self._board.take_past(each for each in past if each.timestamp_ms >= since)
        self._board.is_complete = True
        self._markets = Markets(10)
        self._markets.begin({})

    def _tick(self) -> None:
        self._board.tick(self.now_ms, self._markets)
        self._samples += self._board.take_samples()
        self.prices = self.guards.believed(self._board.prices, self.exchange.last_trades)
        self.marks = marks_of(self.prices)

    def _take_trades(self) -> None:
        for traded in self.exchange.new_trades:
            self._board.take(traded.event(self.now_ms))
            self.auditor.note(traded)
            self._last_trades.note(traded.symbol, _decimal(traded.price), self.now_ms)
            self._past.append(
                PastTrade(self.now_ms, traded.symbol, traded.taker, traded.maker, traded.price, traded.quantity)
            )
        self.exchange.new_trades.clear()

    def _walk(self, asset: str) -> None:
        price = self.honest[asset]
        # In millionths, with a pull home: what an attacker gains is not to be luck.
        move = self.chance.randint(-100, 100) + (40 if price < self._home[asset] else -40)
        if drift := self.drift_bps.get(asset, 0):
            move += drift * 100
            self._home[asset] = price
        self.honest[asset] = max(price * (BASIS_POINTS * 100 + move) // (BASIS_POINTS * 100), 1)


def _decimal(amount: int) -> Decimal:
    return Decimal(amount).scaleb(-AMOUNT_PLACES, EXACT)


def _first_price(symbol: str, price: int, time_ms: int) -> FairPrice:
    return FairPrice(
        symbol=symbol,
        state=PriceState.GOOD,
        price=price,
        low=price,
        high=price,
        day_median=price,
        sellable=0,
        buyable=0,
        timestamp_ms=time_ms,
    )
