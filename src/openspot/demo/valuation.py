"""What assets are worth in US dollars, from prices of markets. Pure rules."""

import math
from collections.abc import Iterable, Mapping
from decimal import ROUND_FLOOR, Decimal

from openspot.demo.inventory import InventoryTarget
from openspot.demo.market import DemoMarket
from openspot.domain.market import AssetScale

DOLLAR = "USD"
DISTANCE_MAX = 0.5
"""Bound of a logarithmic distance from the usual price. So one absurd trade does not set our prices."""


def dollar_prices(markets: Iterable[DemoMarket], prices: Mapping[str, Decimal]) -> dict[str, Decimal]:
    """The price of each asset in US dollars, through as many markets as needed.

    `prices` are by symbol. An asset that no priced market connects with the dollar is left out.
    """
    priced = [market for market in markets if prices.get(market.symbol, Decimal(0)) > 0]
    found = {DOLLAR: Decimal(1)}
    while True:
        known = len(found)
        for market in priced:
            price = prices[market.symbol]
            if market.quote in found and market.base not in found:
                found[market.base] = found[market.quote] * price
            elif market.base in found and market.quote not in found:
                found[market.quote] = found[market.base] / price
        if len(found) == known:
            return found


def distances(now: Mapping[str, Decimal], usual: Mapping[str, Decimal]) -> dict[str, float]:
    """The logarithm of each asset's price over its usual one, within DISTANCE_MAX."""
    return {
        asset: max(-DISTANCE_MAX, min(DISTANCE_MAX, math.log(price / usual[asset])))
        for asset, price in now.items()
        if asset in usual
    }


def deposit_step(asset: AssetScale) -> Decimal:
    """The smallest deposit step of an asset."""
    return Decimal(1).scaleb(-asset.places)


def worth(dollars: Decimal, price: Decimal, asset: AssetScale) -> Decimal:
    """The amount of an asset that is worth `dollars`, down to the asset's smallest deposit step."""
    return (dollars / price).quantize(deposit_step(asset), ROUND_FLOOR)


def targets(
    dollars: Decimal, band_share: Decimal, prices: Mapping[str, Decimal], assets: Mapping[str, AssetScale]
) -> dict[str, InventoryTarget]:
    """The target of each priced asset: `dollars` worth of it, and `band_share` of that as band.

    Both are whole multiples of the asset's smallest deposit step.
    """
    found = {}
    for asset, price in prices.items():
        step = deposit_step(assets[asset])
        amount = worth(dollars, price, assets[asset])
        found[asset] = InventoryTarget(amount, max(step, (amount * band_share).quantize(step, ROUND_FLOOR)))
    return found
