"""Mark prices: the last trade of each market, or else the middle of the venue's quote.

A price is valid only for a while after it was read. So if market data or the venue stops, an account's assets have no
price, and no account is liquidated at an old one.
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
"""Requests reuse prices that are younger than this many seconds."""


class StaleMarksError(Exception):
    """There are no current mark prices. The message says why."""


class MarkPrices:
    """The mark prices as this process knows them. `monotonic` returns the monotonic clock's seconds."""

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
        # A process that does not lead reads prices only for requests, so read them now.
        await self.current()
        if not self._is_fresh(self._read_at):
            raise StaleMarksError(f"mark prices are not current, nothing is liquidated: {self._fault}")

    async def current(self, reused_s: float = REUSED_S) -> dict[str, int]:
        """The known price of one unit of each asset in the valuation asset, at 18 places."""
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

    If the asset's market with the valuation asset has a price, that is the mark. Otherwise the mark goes through
    several markets: through as few as possible, and among those through the first by name.
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
