"""Invented messages for every market of the platform: a random walk with plausible spreads, repeatable by its seed.

The walk is that of the assets: the price of BTC-BRL is that of BTC divided by that of BRL. So prices agree across
markets. Each walk is pulled back to its start, so that prices stay plausible over weeks. Only the walk uses floats;
prices and quantities are whole numbers of the market's smallest steps.
"""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from openspot.domain.market import MarketSeed, load_markets
from openspot.domain.money import scaled_to_text
from openspot.venue_simulator.book import Book, Level
from openspot.venue_simulator.events import Data, TimelineEvent, market_id

STEP_NS = 100_000_000
"""The time between depth updates, as in the venue's stream `depth@100ms`."""
SECONDS_PER_YEAR = 365 * 86_400
PULL_PER_S = 1 / 86_400
"""Each second the pull removes this share of a price's distance from its start."""
LEVELS = 20
TOP_VALUE_USD = 4000.0
"""Typical value of the best level."""
TRADES_PER_QUOTE = 0.25


class _Asset(NamedTuple):
    start_usd: float
    volatility: float
    """The standard deviation of the logarithmic return of a year."""
    half_spread: float
    """The asset adds this to the half spread of its markets, as a share of the price."""


_ASSETS = {
    "BTC": _Asset(60_000.0, 0.5, 0.00002),
    "ETH": _Asset(3000.0, 0.6, 0.00003),
    "SOL": _Asset(150.0, 0.8, 0.00006),
    "BRL": _Asset(0.18, 0.15, 0.0003),
    "USDT": _Asset(1.0, 0.005, 0.00002),
    "USDC": _Asset(1.0, 0.003, 0.00002),
    "USD": _Asset(1.0, 0.0, 0.0),
}
_UNKNOWN_ASSET = _Asset(10.0, 0.6, 0.0003)


class Generator:
    """Endless events of `markets`; `quotes_per_s` is how often the top of each book moves.

    `distances` gives the logarithm of an asset's first price over its usual price; 0 for assets that it lacks.
    """

    def __init__(
        self,
        seed: int,
        markets: Sequence[MarketSeed] | None = None,
        quotes_per_s: float = 2.0,
        distances: Mapping[str, float] | None = None,
    ) -> None:
        self.markets: tuple[MarketSeed, ...] = tuple(load_markets().seeds if markets is None else markets)
        self._seed = seed
        self._quotes_per_s = quotes_per_s
        self._distances = dict(distances or {})

    def first_book(self, market_id: str) -> Book:
        """The order book of a market before the first event."""
        return next(walk.book() for walk in self._walks(self._random()) if walk.market_id == market_id)

    def events(self) -> Iterator[TimelineEvent]:
        """The timeline, from its start."""
        chance = self._random()
        walks = self._walks(chance)
        assets = self._first_distances()
        at_ns = 0
        while True:
            for asset in assets:
                assets[asset] = _step(asset, assets[asset], chance)
            moved: list[TimelineEvent] = []
            for walk in walks:
                moved += walk.step(at_ns, _price(walk.market, assets), chance, self._quotes_per_s)
            moved.sort(key=lambda event: event.at_ns)
            yield from moved
            at_ns += STEP_NS

    def _random(self) -> random.Random:
        return random.Random(self._seed)  # noqa: S311  (prices, not secrets)

    def _walks(self, chance: random.Random) -> list["_Walk"]:
        distances = self._first_distances()
        return [_Walk(market, _price(market, distances), chance) for market in self.markets]

    def _first_distances(self) -> dict[str, float]:
        assets = (asset for market in self.markets for asset in (market.base, market.quote))
        return {asset: self._distances.get(asset, 0.0) for asset in assets}


def volatility(asset: str) -> float:
    """The standard deviation of the logarithmic return of an asset's invented price, for a year."""
    return _asset(asset).volatility


def _asset(name: str) -> _Asset:
    return _ASSETS.get(name, _UNKNOWN_ASSET)


def _step(asset: str, distance: float, chance: random.Random) -> float:
    """The logarithm of an asset's price over its start, one step later."""
    seconds = STEP_NS / 1e9
    scale = _asset(asset).volatility * math.sqrt(seconds / SECONDS_PER_YEAR)
    return distance * (1 - PULL_PER_S * seconds) + chance.gauss(0.0, 1.0) * scale


def _price_usd(asset: str, distances: dict[str, float]) -> float:
    return _asset(asset).start_usd * math.exp(distances[asset])


def _price(market: MarketSeed, distances: dict[str, float]) -> float:
    return _price_usd(market.base, distances) / _price_usd(market.quote, distances)


class _Walk:
    """One market: its ladder of levels, in whole steps of price and quantity, and its ids."""

    def __init__(self, market: MarketSeed, price: float, chance: random.Random) -> None:
        self.market = market
        self.market_id = market_id(market)
        self._stream = self.market_id.lower()
        self._tick = max(1, int(market.tick * market.quote_scale_k))
        self._lot = max(1, int(market.lot * market.base_scale_k))
        self._half_spread = _asset(market.base).half_spread + _asset(market.quote).half_spread
        self._update_id = 1
        self._depth_id = 1
        self._trade_id = 0
        self._bids: dict[int, int] = {}
        self._asks: dict[int, int] = {}
        self._sent: tuple[dict[int, int], dict[int, int]] = ({}, {})
        self._move(price, chance)
        self._sent = (dict(self._bids), dict(self._asks))

    def book(self) -> Book:
        """The present book."""
        bids = [self._level(price, quantity) for price, quantity in self._bids.items()]
        asks = [self._level(price, quantity) for price, quantity in self._asks.items()]
        return Book(self._update_id, bids, asks)

    def step(self, at_ns: int, price: float, chance: random.Random, quotes_per_s: float) -> list[TimelineEvent]:
        """The events of one step that begins at `at_ns`, with the market at `price`."""
        events: list[TimelineEvent] = []
        expected = quotes_per_s * STEP_NS / 1e9
        count = int(expected) + (chance.random() < expected % 1)
        for moment in sorted(chance.random() for _ in range(count)):
            quote_ns = at_ns + int(moment * STEP_NS)
            if chance.random() < TRADES_PER_QUOTE:
                events.append(self._event(quote_ns, "trade", self._trade(chance)))
            else:
                self._move(price, chance)
            self._update_id += 1
            events.append(self._event(quote_ns, "bookTicker", self._quote()))
        if self._update_id > self._depth_id:
            events.append(self._event(at_ns + STEP_NS - 1, "depth@100ms", self._depth()))
        return events

    def _event(self, at_ns: int, name: str, data: Data) -> TimelineEvent:
        return TimelineEvent(at_ns, f"{self._stream}@{name}", data)

    def _move(self, price: float, chance: random.Random) -> None:
        """Put the ladder around `price`; levels that stay keep most of their quantity."""
        tick, scaled = self._tick, price * self.market.quote_scale_k
        bid = max(tick, math.floor(scaled * (1 - self._half_spread) / tick) * tick)
        ask = max(bid + tick, math.ceil(scaled * (1 + self._half_spread) / tick) * tick)
        gap = max(1, round(scaled * self._half_spread / tick)) * tick
        lots = max(1.0, TOP_VALUE_USD / (_asset(self.market.base).start_usd) * self.market.base_scale_k / self._lot)
        for side, best, away in ((self._bids, bid, -gap), (self._asks, ask, gap)):
            prices = [best + away * place for place in range(LEVELS) if best + away * place > 0]
            old = dict(side)
            side.clear()
            for place, level in enumerate(prices):
                fresh = max(1, round(lots * (1 + place / 4) * chance.lognormvariate(0.0, 0.8))) * self._lot
                side[level] = old[level] if level in old and chance.random() < 0.8 else fresh

    def _trade(self, chance: random.Random) -> Data:
        """Let a taker trade with a part of the best level."""
        taker_buys = chance.random() < 0.5
        side = self._asks if taker_buys else self._bids
        price = min(side) if taker_buys else max(side)
        lots = side[price] // self._lot
        taken = min(max(1, round(lots * chance.random() / 2)), max(1, lots - 1)) * self._lot
        if side[price] > taken:
            side[price] -= taken
        self._trade_id += 1
        price_text, quantity_text = self._level(price, taken)
        return {
            "e": "trade",
            "E": 0,
            "s": self.market_id,
            "t": self._trade_id,
            "p": price_text,
            "q": quantity_text,
            "T": 0,
            "m": not taker_buys,
            "M": True,
        }

    def _quote(self) -> Data:
        bid_price, bid_quantity = self._level(*max(self._bids.items()))
        ask_price, ask_quantity = self._level(*min(self._asks.items()))
        return {
            "u": self._update_id,
            "s": self.market_id,
            "b": bid_price,
            "B": bid_quantity,
            "a": ask_price,
            "A": ask_quantity,
        }

    def _depth(self) -> Data:
        bids, asks = (self._changes(old, now) for old, now in zip(self._sent, (self._bids, self._asks), strict=True))
        self._sent = (dict(self._bids), dict(self._asks))
        first_id, self._depth_id = self._depth_id + 1, self._update_id
        return {
            "e": "depthUpdate",
            "E": 0,
            "s": self.market_id,
            "U": first_id,
            "u": self._update_id,
            "b": bids,
            "a": asks,
        }

    def _changes(self, old: dict[int, int], now: dict[int, int]) -> list[Level]:
        removed = [self._level(price, 0) for price in old if price not in now]
        return removed + [self._level(price, quantity) for price, quantity in now.items() if old.get(price) != quantity]

    def _level(self, price: int, quantity: int) -> Level:
        return (
            _eight_places(scaled_to_text(price, self.market.quote_scale_k)),
            _eight_places(scaled_to_text(quantity, self.market.base_scale_k)),
        )


def _eight_places(text: str) -> str:
    """A number as the venue writes it: always with eight places."""
    whole, _, fraction = text.partition(".")
    return f"{whole}.{fraction:0<8}"
