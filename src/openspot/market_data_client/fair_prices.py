"""The fair prices of all markets, as a process that decides about money knows them.

Market data publishes each market's fair price when it changes, and every three seconds otherwise. A price that did not
come again for a while is stale, so that a process whose connection or whose market data stands still decides nothing at
an old price.

A process that stood still itself finds messages of before in its connection, and they look new to it. So after a
silence published prices count only when market data has been asked since: its reply is newer than all that waited.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace

from openspot.contracts import subjects
from openspot.contracts.messages import FairPriceEvent
from openspot.domain.fair_price.crossing import AssetPrice, asset_prices
from openspot.domain.fair_price.model import FairPrice, PriceState
from openspot.domain.money import AMOUNT_SCALE, MoneyError, text_to_amount
from openspot.kit.bus import Bus
from openspot.kit.log import get_logger
from openspot.market_data_client.errors import MarketDataUnavailableError
from openspot.market_data_client.requests import MarketDataClient

log = get_logger("fair-prices")

STALE_S = 10.0
"""A price that did not come again for this many seconds is stale."""
SYMBOLS_MAX = 10_000
_SILENT = "market data has not sent this price for a while"


class FairPrices:
    """Follows the fair prices of all markets. `monotonic` returns the monotonic clock's seconds."""

    def __init__(self, bus: Bus, monotonic: Callable[[], float], stale_s: float = STALE_S) -> None:
        self._bus = bus
        self._client = MarketDataClient(bus)
        self._monotonic = monotonic
        self._stale_s = stale_s
        self._known: dict[str, tuple[FairPrice, float]] = {}
        self._asking = asyncio.Lock()
        self._asked_at = float("-inf")
        self._heard_at = float("-inf")
        self._silent_until = float("-inf")
        """The end of the newest silence that was too long. What was asked before does not prove what came after it."""

    async def follow(self) -> None:
        """Begin to follow the published prices, and ask once for the present ones."""
        self._heard_at = self._monotonic()
        await self._bus.subscribe(f"{subjects.MARKETDATA_FAIR_PRICE}.*", FairPriceEvent, self._take_event)
        await self.refresh()

    async def refresh(self) -> None:
        """Ask market data for all prices, unless that was done in the last second. A failed request changes nothing."""
        async with self._asking:
            asked_at = self._monotonic()
            if asked_at - self._asked_at < 1.0:
                return
            try:
                events = await self._client.fair_prices()
            except MarketDataUnavailableError as error:
                log.warning("fair prices not read", error=str(error))
                return
            self._asked_at = asked_at
            for event in events:
                self._take(event, asked_at)

    def of(self, symbol: str) -> FairPrice | None:
        """The fair price of a market; None if it never had one. A price that is not current has the state `stale`."""
        known = self._known.get(symbol)
        if known is None:
            return None
        price, taken_at = known
        if self._monotonic() - taken_at < self._stale_s:
            return price
        return replace(price, state=PriceState.STALE, reason=_SILENT, is_confirmed=False)

    def all(self) -> dict[str, FairPrice]:
        """The fair prices by symbol."""
        return {symbol: price for symbol in self._known if (price := self.of(symbol)) is not None}

    def of_assets(self, valuation_asset: str) -> Mapping[str, AssetPrice]:
        """The price of each asset in `valuation_asset`. An asset that is not there has no price."""
        return asset_prices(valuation_asset, self.all())

    async def _take_event(self, _subject: str, event: FairPriceEvent) -> None:
        now = self._monotonic()
        if now - self._heard_at >= self._stale_s:
            self._silent_until = now
        self._heard_at = now
        if self._asked_at < self._silent_until:
            await self.refresh()
        if self._asked_at >= self._silent_until:
            self._take(event, now)

    def _take(self, event: FairPriceEvent, known_at: float) -> None:
        """Take a price that market data had at `known_at`, in seconds of the monotonic clock, or later."""
        try:
            price = fair_price_of(event)
        except (MoneyError, ValueError) as error:
            log.warning("a fair price cannot be used", symbol=event.symbol, error=str(error))
            return
        known = self._known.get(event.symbol)
        if known is None and len(self._known) >= SYMBOLS_MAX:
            return
        if known is None or known[0].timestamp_ms <= price.timestamp_ms:
            self._known[event.symbol] = (price, known_at)


def fair_price_of(event: FairPriceEvent) -> FairPrice:
    """The fair price in a message. Raises ValueError (also as MoneyError) if it cannot be one."""
    low, price, high = (text_to_amount(text) for text in (event.low, event.price, event.high))
    if not 0 < low <= price <= high or high > AMOUNT_SCALE**2:
        raise ValueError("low, price and high are not in order")
    return FairPrice(
        symbol=event.symbol,
        state=PriceState(event.state),
        price=price,
        low=low,
        high=high,
        day_median=text_to_amount(event.day_median),
        sellable=text_to_amount(event.sellable),
        buyable=text_to_amount(event.buyable),
        timestamp_ms=event.timestamp,
        reason=event.reason,
        is_confirmed=event.is_confirmed,
    )
