"""The price bands of markets around their fair prices, as a process knows them at this moment."""

from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple, Protocol

from openspot.domain.fair_price.band import width_bps
from openspot.domain.fair_price.model import FairPrice, PriceState
from openspot.domain.money import amount_to_text


class PriceBand(NamedTuple):
    """Limit prices may be up to `width_bps` basis points from `centre`. Without a centre there is no bound."""

    centre: Decimal | None
    width_bps: int


class KnownFairPrices(Protocol):
    """The present fair prices."""

    def of(self, symbol: str) -> FairPrice | None:
        """The fair price of a market; None if it never had one."""


class PriceBands:
    """Follows how long each market's fair price has not been good. `monotonic` returns seconds.

    Ask for markets of the platform's list only: what was asked for is remembered.
    """

    def __init__(self, fair_prices: KnownFairPrices, monotonic: Callable[[], float]) -> None:
        self._fair_prices = fair_prices
        self._monotonic = monotonic
        self._unsure_since: dict[str, float] = {}

    def of(self, symbol: str, market_bps: int) -> PriceBand:
        """The band of a market whose own width is `market_bps`."""
        fair = self._fair_prices.of(symbol)
        state = PriceState.STALE if fair is None else fair.state
        unsure_s = 0.0
        if state is PriceState.GOOD:
            self._unsure_since.pop(symbol, None)
        else:
            now = self._monotonic()
            unsure_s = now - self._unsure_since.setdefault(symbol, now)
        centre = None if fair is None else Decimal(amount_to_text(fair.price))
        return PriceBand(centre, width_bps(market_bps, state, unsure_s))
