"""Fair prices as a test sets them: as values, and published on a bus as market data publishes them."""

import asyncio
import contextlib
import time
from collections.abc import Mapping
from typing import Any

import msgspec

from openspot.contracts import subjects
from openspot.contracts.messages import FairPriceEvent, GetFairPrices, GetFairPricesReply
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.domain.fair_price.crossing import AssetPrice, asset_prices
from openspot.domain.fair_price.model import FairPrice, PriceState
from openspot.domain.money import text_to_amount
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings

PLENTY = "1000000"


def fair_price(
    symbol: str,
    price: str,
    *,
    low: str | None = None,
    high: str | None = None,
    day_median: str | None = None,
    state: PriceState = PriceState.GOOD,
    sellable: str = PLENTY,
    buyable: str = PLENTY,
    reason: str = "",
    is_confirmed: bool = False,
) -> FairPrice:
    """A market's fair price; bounds and median are the price itself unless they are given."""
    return FairPrice(
        symbol=symbol,
        state=state,
        price=text_to_amount(price),
        low=text_to_amount(low or price),
        high=text_to_amount(high or price),
        day_median=text_to_amount(day_median or price),
        sellable=text_to_amount(sellable),
        buyable=text_to_amount(buyable),
        timestamp_ms=1,
        reason=reason,
        is_confirmed=is_confirmed,
    )


def asset_price(price: str, **fields: Any) -> AssetPrice:
    """The price of an asset in the valuation asset; the same fields as `fair_price`."""
    market = fair_price("", price, **fields)
    return AssetPrice(
        market.low, market.price, market.high, market.day_median, market.state, market.sellable, market.buyable,
        market.reason,
    )  # fmt: skip


def fair_price_event(symbol: str, price: str, timestamp: int, **fields: Any) -> FairPriceEvent:
    """The same, as market data publishes it."""
    texts = {name: fields.get(name, price) for name in ("low", "high", "day_median")}
    texts |= {name: fields.get(name, PLENTY) for name in ("sellable", "buyable")}
    return FairPriceEvent(
        symbol=symbol,
        state=fields.get("state", PriceState.GOOD).value,
        price=price,
        timestamp=timestamp,
        reason=fields.get("reason", ""),
        is_confirmed=fields.get("is_confirmed", False),
        **texts,
    )


class KnownPrices:
    """The fair prices that a test has set, by symbol, as a process knows them."""

    def __init__(self, *prices: FairPrice) -> None:
        self.by_symbol = {price.symbol: price for price in prices}

    def set(self, symbol: str, price: str, **fields: Any) -> None:
        """Set a market's fair price; the fields of `fair_price`."""
        self.by_symbol[symbol] = fair_price(symbol, price, **fields)

    def of(self, symbol: str) -> FairPrice | None:
        """The fair price of a market."""
        return self.by_symbol.get(symbol)

    def all(self) -> dict[str, FairPrice]:
        """The fair prices by symbol."""
        return dict(self.by_symbol)

    def of_assets(self, valuation_asset: str) -> Mapping[str, AssetPrice]:
        """The price of each asset."""
        return asset_prices(valuation_asset, self.by_symbol)


REPEAT_S = 1.0


class FakeFairPrices:
    """Publishes fair prices, and again every second, and replies to the request for all of them.

    While `is_silent`, it does neither.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._bus: Bus | None = None
        self._timestamp = time.time_ns() // 1_000_000
        self._repeating: asyncio.Task[None] | None = None
        self.events: dict[str, FairPriceEvent] = {}
        self.is_silent = False

    async def start(self) -> None:
        """Serve."""
        self._bus = await Bus.connect(self._settings, "fake-fair-prices")
        await self._bus.serve(
            subjects.MARKETDATA_FAIR_PRICES_GET,
            subjects.MARKET_DATA_QUEUE,
            GetFairPrices,
            self._all,
            GetFairPricesReply.refused,
        )
        await self._bus.check()
        self._repeating = asyncio.create_task(self._repeat())

    async def stop(self) -> None:
        """Disappear."""
        if self._repeating is not None:
            self._repeating.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._repeating
        if self._bus is not None:
            await self._bus.close()

    async def _repeat(self) -> None:
        while True:
            await asyncio.sleep(REPEAT_S)
            for symbol in list(self.events):
                await self._announce(symbol)

    async def publish(self, symbol: str, price: str, **fields: Any) -> None:
        """Publish a new fair price of a market, and keep it for requests."""
        self.events[symbol] = fair_price_event(symbol, price, self._timestamp, **fields)
        await self._announce(symbol)

    async def _announce(self, symbol: str) -> None:
        if self._bus is None or self.is_silent:
            return
        self._timestamp += 1
        event = self.events[symbol] = msgspec.structs.replace(self.events[symbol], timestamp=self._timestamp)
        await self._bus.announce(f"{subjects.MARKETDATA_FAIR_PRICE}.{symbol}", event)

    async def _all(self, _: GetFairPrices) -> GetFairPricesReply:
        if self.is_silent:
            return GetFairPricesReply.refused(Refusal(RefusalCode.UNAVAILABLE, "market data is silent"))
        return GetFairPricesReply([self.events[symbol] for symbol in sorted(self.events)])
