"""Mark prices: the last trade of each market, else the middle of the venue's quote (design section 10).

A price counts only for a while after it was read. So when market data or the venue falls silent, an account's assets
lose their price, and nothing is liquidated on an old one.
"""

import asyncio
from collections.abc import Callable, Mapping

from openspot.contracts import subjects
from openspot.contracts.messages import VenueBookTicker
from openspot.domain.money import AMOUNT_SCALE, MoneyError, parse_decimal, to_amount
from openspot.kit.bus import Bus
from openspot.kit.log import get_logger
from openspot.market_data_client.errors import MarketDataUnavailableError
from openspot.market_data_client.requests import MarketDataClient

log = get_logger("margin")

REQUEST_TIMEOUT_S = 1.5
VENUE_SYMBOLS_MAX = 1000
REUSED_S = 1.0
"""A request that finds prices younger than this does not read them again."""


class StaleMarksError(Exception):
    """There are no current mark prices; the message says why."""


class MarkPrices:
    """The mark prices as this process knows them. `monotonic` returns seconds of the monotonic clock."""

    def __init__(self, bus: Bus, valuation_asset: str, stale_s: float, monotonic: Callable[[], float]) -> None:
        self._bus = bus
        self._market_data = MarketDataClient(bus, REQUEST_TIMEOUT_S)
        self._valuation_asset = valuation_asset
        self._stale_s = stale_s
        self._monotonic = monotonic
        self._last: dict[str, int] = {}
        self._read_at = float("-inf")
        self._venue: dict[str, tuple[int, float]] = {}
        self._fault = "market data has not been asked yet"
        self._reading = asyncio.Lock()

    async def listen(self) -> None:
        """Follow the quotes of the venue adapter, if there is one."""
        await self._bus.subscribe(f"venue.*.{subjects.VENUE_BOOK_TICKER}.*", VenueBookTicker, self._take_quote)

    async def check(self) -> None:
        """Raise StaleMarksError, with the reason, if market data did not reply for too long."""
        # A process that stands by reads no prices by itself.
        await self.current()
        if not self._is_fresh(self._read_at):
            raise StaleMarksError(f"mark prices are not current, nothing is liquidated: {self._fault}")

    async def current(self, reused_s: float = REUSED_S) -> dict[str, int]:
        """The price of one unit of each asset in the valuation asset, at 18 places; without those that are unknown."""
        async with self._reading:
            if self._monotonic() - self._read_at >= reused_s:
                await self._read()
        prices = {symbol: mid for symbol, (mid, read_at) in self._venue.items() if self._is_fresh(read_at)}
        if self._is_fresh(self._read_at):
            prices |= self._last
        return asset_marks(self._valuation_asset, prices)

    async def _read(self) -> None:
        try:
            tickers = await self._market_data.tickers()
            last = {each.symbol: _price(each.last_price) for each in tickers if each.last_price is not None}
        except (MarketDataUnavailableError, MoneyError) as error:
            self._fault = str(error)
            log.warning("mark prices not read", error=self._fault)
            return
        self._last = last
        self._read_at = self._monotonic()

    async def _take_quote(self, subject: str, quote: VenueBookTicker) -> None:
        try:
            bid, ask = _price(quote.bid_price), _price(quote.ask_price)
        except MoneyError as error:
            log.warning("a quote of the venue cannot be used", subject=subject, error=str(error))
            return
        if quote.symbol in self._venue or len(self._venue) < VENUE_SYMBOLS_MAX:
            self._venue[quote.symbol] = ((bid + ask) // 2, self._monotonic())

    def _is_fresh(self, read_at: float) -> bool:
        return self._monotonic() - read_at < self._stale_s


def asset_marks(valuation_asset: str, prices: Mapping[str, int]) -> dict[str, int]:
    """The mark of each asset from the prices of markets (BASE-QUOTE), all at 18 places.

    An asset is valued in the valuation asset directly if such a market has a price, else through the quote or base of
    another market, by the fewest markets and then the first by name.
    """
    marks = {valuation_asset: AMOUNT_SCALE}
    while True:
        found: dict[str, int] = {}
        for symbol in sorted(prices):
            base, _, quote = symbol.partition("-")
            price = prices[symbol]
            if quote in marks and base not in marks:
                found.setdefault(base, price * marks[quote] // AMOUNT_SCALE)
            elif base in marks and quote not in marks:
                found.setdefault(quote, marks[base] * AMOUNT_SCALE // price)
        found = {asset: mark for asset, mark in found.items() if mark > 0}
        if not found:
            return marks
        marks |= found


def _price(text: str) -> int:
    price = to_amount(parse_decimal(text))
    if price <= 0:
        raise MoneyError("is not a positive price")
    return price
