"""The prices of assets in one valuation asset, from the fair prices of markets. Integers at 18 places."""

from collections.abc import Mapping
from dataclasses import dataclass

from openspot.domain.fair_price.model import FairPrice, PriceState, worst_state
from openspot.domain.market import load_markets
from openspot.domain.money import AMOUNT_SCALE


@dataclass(frozen=True, slots=True)
class AssetPrice:
    """The price of one unit of an asset in the valuation asset.

    What is owned is valued at `low`, rounded down. What is owed is valued at `high`, rounded up. `sellable` and
    `buyable` are amounts of the asset that its market can absorb near the price; None where no market is needed.
    `day_median` is 0 where it is not known. `is_confirmed` says that each of the prices has a source outside of the
    platform.
    """

    low: int
    price: int
    high: int
    day_median: int
    state: PriceState
    sellable: int | None = None
    buyable: int | None = None
    reason: str = ""
    is_confirmed: bool = False


_OWN_MARKETS = frozenset(load_markets().limits)

IDENTITY = AssetPrice(AMOUNT_SCALE, AMOUNT_SCALE, AMOUNT_SCALE, AMOUNT_SCALE, PriceState.GOOD, is_confirmed=True)
"""The price of the valuation asset in itself."""


def asset_prices(valuation_asset: str, prices: Mapping[str, FairPrice]) -> dict[str, AssetPrice]:
    """The price of each asset that a market (BASE-QUOTE) or a chain of markets connects with the valuation asset.

    A chain has as few markets as possible, and among those the first by name. Its state is the worst of its markets,
    and its bounds are those of all its markets together. Markets that were listed later lead only to assets that the
    platform's own do not reach: a few accounts make their prices, and would say what a currency is worth.
    """
    own = {symbol: price for symbol, price in prices.items() if symbol in _OWN_MARKETS}
    reached = _reached(valuation_asset, own, {})
    return reached if len(own) == len(prices) else _reached(valuation_asset, prices, reached)


def _reached(
    valuation_asset: str, prices: Mapping[str, FairPrice], fixed: Mapping[str, AssetPrice]
) -> dict[str, AssetPrice]:
    """What chains of these markets reach, with the prices in `fixed` where there are some."""
    known = {valuation_asset: IDENTITY}
    while True:
        found: dict[str, AssetPrice] = {}
        for symbol in sorted(prices):
            base, _, quote = symbol.partition("-")
            price = prices[symbol]
            if price.low <= 0:
                continue
            if quote in known and base not in known:
                found.setdefault(base, _base_price(price, known[quote]))
            elif base in known and quote not in known:
                found.setdefault(quote, _quote_price(price, known[base]))
        found = {asset: fixed.get(asset, price) for asset, price in found.items() if price.low > 0}
        if not found:
            return known
        known |= found


def _base_price(market: FairPrice, quote: AssetPrice) -> AssetPrice:
    return AssetPrice(
        low=market.low * quote.low // AMOUNT_SCALE,
        price=market.price * quote.price // AMOUNT_SCALE,
        high=_divided_up(market.high * quote.high, AMOUNT_SCALE),
        day_median=_divided_up(market.day_median * quote.day_median, AMOUNT_SCALE),
        state=worst_state(market.state, quote.state),
        sellable=market.sellable,
        buyable=market.buyable,
        reason=market.reason or quote.reason,
        is_confirmed=market.is_confirmed and quote.is_confirmed,
    )


def _quote_price(market: FairPrice, base: AssetPrice) -> AssetPrice:
    """Whoever sells the quote asset buys the base asset, and the other way around."""
    return AssetPrice(
        low=base.low * AMOUNT_SCALE // market.high,
        price=base.price * AMOUNT_SCALE // market.price,
        high=_divided_up(base.high * AMOUNT_SCALE, market.low),
        day_median=_divided_up(base.day_median * AMOUNT_SCALE, market.day_median) if market.day_median else 0,
        state=worst_state(market.state, base.state),
        sellable=market.buyable * market.price // AMOUNT_SCALE,
        buyable=market.sellable * market.price // AMOUNT_SCALE,
        reason=market.reason or base.reason,
        is_confirmed=market.is_confirmed and base.is_confirmed,
    )


def _divided_up(dividend: int, divisor: int) -> int:
    return -(-dividend // divisor)
