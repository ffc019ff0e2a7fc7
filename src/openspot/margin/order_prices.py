"""The worst price of an order that opens or closes a position. All figures are integers at 18 places.

Two accounts can print any last price, and the router measures a market order's slippage from that by default. So a
position trades with a limit measured from the fair price. What it loses against that price is the account's own money:
where the account cannot pay it, the bound of a liquidation holds (docs/adr/0139).
"""

from openspot.domain.money import AMOUNT_SCALE, BASIS_POINTS
from openspot.domain.order import Side
from openspot.domain.symbol import SymbolSpec
from openspot.margin.figures import Balances, Marks, involved, secured_high, secured_low
from openspot.margin.liquidation_plan import is_sure, worst_price
from openspot.margin.opening import price_of
from openspot.margin.slices import bound_price, in_ticks


def opening_price(spec: SymbolSpec, side: Side, marks: Marks, slippage_bps: int) -> int:
    """The worst price of an order that opens a position: `slippage_bps` from the fair price."""
    return bound_price(price_of(marks, spec.base, spec.quote), side, slippage_bps, spec)


def affordable_price(spec: SymbolSpec, quantity: int, funds: int) -> int:
    """The highest price at which `funds` buy `quantity` with the taker fee, in whole ticks and at least one."""
    return in_ticks(
        funds * AMOUNT_SCALE * BASIS_POINTS // (quantity * (BASIS_POINTS + spec.taker_fee_bps)), Side.BUY, spec
    )


def closing_price(
    spec: SymbolSpec,
    side: Side,
    quantity: int,
    balances: Balances,
    marks: Marks,
    *,
    slippage_bps: int,
    liquidation_bps: int,
) -> int:
    """The worst price of an order that trades a position back, at least one tick.

    It is `slippage_bps` from the fair price, as long as the account pays for that price itself, or a liquidation would
    trade there. While a price is not sure, it is that of a liquidation.
    """
    forced = worst_price(spec, side, marks, liquidation_bps)
    if not is_sure(spec, marks):
        return forced
    near = opening_price(spec, side, marks, slippage_bps)
    payable = _payable_price(spec, side, quantity, balances, marks)
    if payable is None:
        payable = forced
    return max(near, min(forced, payable)) if side is Side.SELL else min(near, max(forced, payable))


def _payable_price(spec: SymbolSpec, side: Side, quantity: int, balances: Balances, marks: Marks) -> int | None:
    """The worst price after which the account's assets still cover its debts, at prices as careful as for new risk.

    None if a price of the account is not sure, or no price of a buy is low enough.
    """
    assets = involved(balances)
    if any(asset not in marks or not marks[asset].state.is_usable for asset in assets):
        return None
    base, quote = marks[spec.base], marks[spec.quote]
    equity = sum(
        balances[asset].held * secured_low(marks[asset]) - balances[asset].debt * secured_high(marks[asset])
        for asset in assets
    )
    if side is Side.SELL:
        lost = quantity * secured_low(base) - equity
        gained = quantity * secured_low(quote) * (BASIS_POINTS - spec.taker_fee_bps)
        return in_ticks(-(-lost * AMOUNT_SCALE * BASIS_POINTS // gained), side, spec)
    left = equity + quantity * secured_high(base)
    paid = quantity * secured_high(quote) * (BASIS_POINTS + spec.taker_fee_bps)
    return in_ticks(left * AMOUNT_SCALE * BASIS_POINTS // paid, side, spec) if left > 0 else None
