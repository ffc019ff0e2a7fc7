"""The sizes and the cost of an order that the router takes. Prices and quantities are integers at 18 places.

The router refuses an order whose quantity or notional lies outside of its market's limits. So a margin account does not
place one.
"""

from openspot.domain.market import MarketLimits
from openspot.domain.money import AMOUNT_SCALE, BASIS_POINTS, amount_to_text, to_amount
from openspot.domain.symbol import SymbolSpec


def lot_of(spec: SymbolSpec) -> int:
    """The lot of a market: every quantity is a multiple of it."""
    return spec.lot * spec.base_unit


def smallest_market_order(spec: SymbolSpec, limits: MarketLimits, price: int) -> int:
    """The smallest quantity that a market order may have at `price`.

    The router checks its notional at the worst price that the order allows.
    """
    return smallest_limit_order(spec, limits, price * (BASIS_POINTS - limits.slippage_bps_max) // BASIS_POINTS)


def smallest_limit_order(spec: SymbolSpec, limits: MarketLimits, price: int) -> int:
    """The smallest quantity that a limit order may have at `price`."""
    lot = lot_of(spec)
    by_notional = -(-to_amount(limits.notional_min) * AMOUNT_SCALE // price) if price else 0
    needed = max(lot, to_amount(limits.quantity_min), by_notional)
    return -(-needed // lot) * lot


def largest_limit_order(spec: SymbolSpec, limits: MarketLimits, price: int) -> int:
    """The largest quantity that a limit order may have at `price`."""
    lot = lot_of(spec)
    by_notional = to_amount(limits.notional_max) * AMOUNT_SCALE // price
    return min(to_amount(limits.quantity_max), by_notional) // lot * lot


def part_error(quantity: int, whole: int, lot: int, least: int) -> str | None:
    """Why `quantity` of a position of `whole` cannot be closed by itself; None if it can.

    The rest must stay large enough to be closed later.
    """
    if quantity > whole:
        return f"quantity is more than the open {amount_to_text(whole)}"
    if quantity % lot:
        return f"quantity must be a multiple of the lot {amount_to_text(lot)}"
    if quantity < least:
        return f"quantity is below the smallest order of the market, {amount_to_text(least)}"
    if quantity < whole < quantity + least:
        return f"quantity leaves less than the smallest order of the market, {amount_to_text(least)}: close the whole"
    return None


def cost_price(spec: SymbolSpec, price: int, slippage_bps: int) -> int:
    """The highest cost of one unit, with the taker fee, if the order may slip by `slippage_bps`."""
    worst = -(-price * (BASIS_POINTS + slippage_bps) // BASIS_POINTS)
    return -(-worst * (BASIS_POINTS + spec.taker_fee_bps) // BASIS_POINTS)
