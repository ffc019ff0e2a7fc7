"""Reference prices: the last executed trade of each symbol that this router saw (facts A1.3-20 to A1.3-22).

They are only in memory, so after a restart there are none until a trade is seen. A trade that was published late,
because no router was running, keeps the time at which it happened.

With the setting `OPENSPOT_PRICE_BAND=fair_price` the references are fair prices instead: market data keeps them, so a
restart has them at once, and no trade that somebody made with themselves moves them.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple, Protocol

from openspot.domain.fair_price.band import PriceReference
from openspot.domain.money import MoneyError, parse_decimal, to_amount
from openspot.market_data_client.price_bands import PriceBands
from openspot.router.orders.pre_trade import MarketRules, Reference


def price_of(text: str) -> Decimal:
    """The price in `text`. Raises MoneyError, with the reason, if no trade can have this price."""
    price = parse_decimal(text)
    if to_amount(price) <= 0:
        raise MoneyError("must be positive")
    return price


class References(Protocol):
    """Finds what the price of an order is compared with."""

    def reference(self, symbol: str, now_ms: int) -> Reference:
        """The reference of a symbol, which may be one that does not exist."""


class _LastTrade(NamedTuple):
    price: Decimal
    timestamp_ms: int


class LastTradePrices:
    """The last trade price of each symbol. `recent` ignores a price older than `age_ms_max`."""

    def __init__(self, age_ms_max: int) -> None:
        self._age_ms_max = age_ms_max
        self._last: dict[str, _LastTrade] = {}

    def note(self, symbol: str, price: Decimal, timestamp_ms: int) -> None:
        """Note a trade. A trade older than the newest one seen changes nothing."""
        last = self._last.get(symbol)
        if last is None or timestamp_ms >= last.timestamp_ms:
            self._last[symbol] = _LastTrade(price, timestamp_ms)

    def recent(self, symbol: str, now_ms: int) -> Decimal | None:
        """The price of the newest trade seen; None if there is none, or if it is too old."""
        last = self._last.get(symbol)
        if last is None or now_ms - last.timestamp_ms > self._age_ms_max:
            return None
        return last.price

    def reference(self, symbol: str, now_ms: int) -> Reference:
        """The newest trade's price."""
        return Reference(self.recent(symbol, now_ms))


class FairReferences:
    """The fair price of each market, with the width of its band."""

    def __init__(self, bands: PriceBands, markets: Mapping[str, MarketRules]) -> None:
        self._bands = bands
        self._markets = markets

    def reference(self, symbol: str, now_ms: int) -> Reference:
        """The fair price, whatever its age: its band is wider then."""
        market = self._markets.get(symbol)
        if market is None:
            return Reference(None, PriceReference.FAIR_PRICE)
        band = self._bands.of(symbol, market.limits.deviation_bps_max)
        return Reference(band.centre, PriceReference.FAIR_PRICE, band.width_bps)
