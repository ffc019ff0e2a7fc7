"""What a round of a liquidation trades: in which markets, how much, and at which price at worst.

A surplus is sold for an asset that the account owes, and a shortage is bought with an asset that it holds. Each order
is a slice (`slices`), within the sizes that its market allows. Figures are integers at 18 places.
"""

from collections.abc import Mapping
from typing import NamedTuple

from openspot.domain.market import MarketLimits
from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.order import Side
from openspot.domain.symbol import SymbolSpec
from openspot.margin.figures import Balances, Marks, involved
from openspot.margin.liquidation import LiquidationOrder, in_order, liquidation_orders
from openspot.margin.order_sizes import cost_price, largest_limit_order, lot_of, smallest_limit_order
from openspot.margin.slices import Slices, absorbed, bound_price, forced_price


class Markets(NamedTuple):
    """The platform's markets at the present mark prices. `bound_bps` is how far from the fair price an order trades."""

    symbols: Mapping[str, SymbolSpec]
    limits: Mapping[str, MarketLimits]
    marks: Marks
    valuation_asset: str
    bound_bps: int


def round_orders(
    markets: Markets, balances: Balances, free: Mapping[str, int], idle_rounds: int, slices: Slices, now_ms: int
) -> list[LiquidationOrder] | None:
    """The orders of a round: slices that the markets can absorb, and for which the account can pay from `free`.

    They are noted in `slices`. None while an asset has no price, or while no market that the round needs has a sure
    one. `idle_rounds` is the number of newest rounds that traded nothing.
    """
    if not _are_priced(balances, markets.marks):
        return None
    used = used_markets(markets, balances)
    sure = {symbol: spec for symbol, spec in used.items() if is_sure(spec, markets.marks)}
    if used and not sure:
        return None
    left_free = dict(free)
    orders = []
    for order in liquidation_orders({symbol: lot_of(spec) for symbol, spec in sure.items()}, balances):
        spec, limits, side = sure[order.symbol], markets.limits[order.symbol], order.side
        bound = worst_price(spec, side, markets.marks, markets.bound_bps)
        smallest = smallest_limit_order(spec, limits, bound)
        quantity = min(order.quantity, largest_limit_order(spec, limits, bound))
        # What a unit costs. The account may lack a rounding of the engine: an idle round leaves one percent more room.
        cost = cost_price(spec, bound, 0) * (100 + idle_rounds) // 100
        if side is Side.BUY:
            affordable = max(left_free.get(spec.quote, 0), 0) * AMOUNT_SCALE // cost
            quantity = min(max(quantity, smallest), affordable)
        most = absorbed(markets.marks, spec.base, spec.quote, side)
        # In a quiet market a slice is the smallest order, so that the liquidation goes on within its price bound.
        left = slices.left(spec.symbol, side, None if most is None else max(most, smallest), now_ms)
        lot = lot_of(spec)
        quantity = (quantity if left is None else min(quantity, left)) // lot * lot
        if quantity < smallest:
            continue
        if side is Side.BUY:
            left_free[spec.quote] -= -(-quantity * cost // AMOUNT_SCALE)
        slices.take(spec.symbol, side, quantity, now_ms)
        orders.append(order._replace(quantity=quantity, price=bound))
    return in_order(orders)


def sellable_quantities(markets: Markets, balances: Balances) -> dict[str, int] | None:
    """The smallest quantity of each asset that can be sold in the markets of the orders. None without prices.

    While a price is not sure or a market takes no orders, any quantity counts, so that nothing becomes a loss then.
    """
    if not _are_priced(balances, markets.marks):
        return None
    found: dict[str, int] = {}
    for symbol, spec in used_markets(markets, balances).items():
        own = balances[spec.base]
        side, sold = (Side.SELL, spec.base) if own.held > own.debt else (Side.BUY, spec.quote)
        needed = 1
        if spec.active and is_sure(spec, markets.marks):
            bound = worst_price(spec, side, markets.marks, markets.bound_bps)
            needed = smallest_limit_order(spec, markets.limits[symbol], bound)
            if side is Side.BUY:
                needed = -(-needed * cost_price(spec, bound, 0) // AMOUNT_SCALE)
        found[sold] = min(found.get(sold, needed), needed)
    return found


def used_markets(markets: Markets, balances: Balances) -> dict[str, SymbolSpec]:
    """The markets that close positions and sell collateral, by symbol.

    A surplus is sold for an owed asset, and a shortage is bought with a surplus asset. Without such a market, the
    valuation asset is the other side.
    """
    surplus = {asset for asset, each in balances.items() if each.held > each.debt}
    shortage = {asset for asset, each in balances.items() if each.debt > each.held}
    direct = {
        symbol: spec
        for symbol, spec in sorted(markets.symbols.items())
        if (spec.base in surplus and spec.quote in shortage) or (spec.base in shortage and spec.quote in surplus)
    }
    if direct or not shortage:
        return direct
    return {
        symbol: spec
        for symbol, spec in sorted(markets.symbols.items())
        if spec.quote == markets.valuation_asset and spec.base in surplus | shortage
    }


def worst_price(spec: SymbolSpec, side: Side, marks: Marks, bps: int) -> int:
    """The worst price that an order of a liquidation may trade at: `bps` basis points from the fair price."""
    return bound_price(forced_price(marks, spec.base, spec.quote, side), side, bps, spec)


def is_sure(spec: SymbolSpec, marks: Marks) -> bool:
    """Whether the prices of both assets of a market are sure."""
    return all(asset in marks and marks[asset].state.is_usable for asset in (spec.base, spec.quote))


def _are_priced(balances: Balances, marks: Marks) -> bool:
    return all(asset in marks for asset in involved(balances))
