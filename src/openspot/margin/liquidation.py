"""Liquidation of a margin account: a sequence of steps that can be resumed after any of them.

Theory of operation. The steps have the order of fact A3.2-04. A step ends before the next one begins, and the
database has the step that is under way:

    cancel_orders        ask for every open order to be cancelled, wait until none is left
    positions_closed     publish margin.position.closed for each position
    notify_user          publish notifications.send
    liquidation_orders   publish orders.liquidation: IOC orders that close the positions and sell collateral
    settle_loans         repay each loan from what the account holds

After a kill the process repeats the step that was under way. Every message of a step has an id that is made from
liquidation, step and round, so receivers recognise a repetition, and it counts once.

A round trades a slice: as much as the markets can absorb, at the worst price of `slices`. If there is still a debt
when the orders have ended, and the account still holds something to sell, another round begins after a pause. It goes
on for as long as it takes: the pause grows with each round that traded nothing. When nothing is left to sell, the
insurance account pays the rest of the debt. While a price that a round needs is not sure, the round waits.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from openspot.domain.order import Side
from openspot.margin.figures import AssetBalance, Balances

IDLE_ROUNDS_ALARM = 20
"""After this many rounds in a row that traded nothing, an operator should look: nobody trades at the fair price."""
PAUSE_MS_MAX = 60_000
"""The longest pause between two rounds."""


class LiquidationStep(StrEnum):
    """Steps of a liquidation, in their order."""

    CANCEL_ORDERS = "cancel_orders"
    POSITIONS_CLOSED = "positions_closed"
    NOTIFY_USER = "notify_user"
    LIQUIDATION_ORDERS = "liquidation_orders"
    SETTLE_LOANS = "settle_loans"


NEXT_STEP: dict[LiquidationStep, LiquidationStep | None] = {
    LiquidationStep.CANCEL_ORDERS: LiquidationStep.POSITIONS_CLOSED,
    LiquidationStep.POSITIONS_CLOSED: LiquidationStep.NOTIFY_USER,
    LiquidationStep.NOTIFY_USER: LiquidationStep.LIQUIDATION_ORDERS,
    LiquidationStep.LIQUIDATION_ORDERS: LiquidationStep.SETTLE_LOANS,
    LiquidationStep.SETTLE_LOANS: None,
}


class LiquidationError(ValueError):
    """A liquidation cannot do this step. The message gives the reason."""


@dataclass(frozen=True, slots=True)
class Liquidation:
    """A liquidation under way. `step` is the next step, None after the last one."""

    liquidation_id: str
    account_id: str
    step: LiquidationStep | None = LiquidationStep.CANCEL_ORDERS
    round: int = 1

    def message_id(self, item: str) -> str:
        """The id of this step's message about `item` (an order, a position, a loan, the user)."""
        if self.step is None:
            raise LiquidationError("liquidation is done and sends nothing")
        return f"{self.liquidation_id}:{self.step}:{self.round}:{item}"


def finish_step(liquidation: Liquidation, step: LiquidationStep, round_number: int) -> Liquidation:
    """The liquidation after `step` of `round_number`.

    A step that ended before changes nothing. Raises LiquidationError for a step that has not begun.
    """
    place = (liquidation.round, _place(liquidation.step))
    asked = (round_number, _place(step))
    if asked < place:
        return liquidation
    if asked > place:
        raise LiquidationError(f"{step} of round {round_number} has not begun")
    return replace(liquidation, step=NEXT_STEP[step])


def another_round(liquidation: Liquidation) -> Liquidation:
    """Begin another round of orders. Raises LiquidationError: only the settlement may begin one."""
    if liquidation.step is not LiquidationStep.SETTLE_LOANS:
        raise LiquidationError("another round begins from the settlement only")
    return replace(liquidation, step=LiquidationStep.LIQUIDATION_ORDERS, round=liquidation.round + 1)


def pause_ms(pause: int, idle_rounds: int) -> int:
    """The pause before the next round, after this many rounds in a row that traded nothing."""
    return max(min(pause * (1 + idle_rounds), PAUSE_MS_MAX), pause)


class LiquidationOrder(NamedTuple):
    """An IOC order. `quantity` is an integer at 18 places, a multiple of the market's lot.

    `price` is the worst price it may trade at, at 18 places. None stands for a market order, as earlier
    releases wrote them.
    """

    symbol: str
    side: Side
    quantity: int
    price: int | None = None


def in_order(orders: Iterable[LiquidationOrder]) -> list[LiquidationOrder]:
    """The orders as they are placed. Sells come first: their proceeds pay for the buys of the next round."""
    return sorted(orders, key=lambda order: (order.side is Side.BUY, order.symbol))


def liquidation_orders(lots: Mapping[str, int], balances: Balances) -> list[LiquidationOrder]:
    """The orders that close the account's positions and sell its collateral, sorted by symbol.

    `lots` maps each market to its lot at 18 places. It has the markets of the positions, and for each other collateral
    a market that sells it for an owed asset. If an account holds more of a base asset than it owes, the surplus is
    sold, rounded down to the lot. If it holds less, the shortage is bought, rounded up. A base asset of several markets
    is traded in the first of them.
    """
    orders = []
    traded: set[str] = set()
    for symbol, lot in sorted(lots.items()):
        base = symbol.split("-")[0]
        if base in traded:
            continue
        traded.add(base)
        balance = balances.get(base, AssetBalance())
        surplus = balance.held - balance.debt
        # The division rounds a surplus down, and a shortage up.
        quantity = abs(surplus // lot) * lot
        if quantity:
            orders.append(LiquidationOrder(symbol, Side.SELL if surplus > 0 else Side.BUY, quantity))
    return orders


class LoanSettlement(NamedTuple):
    """The payments for the debt in one asset, at 18 places: from the account, and by the insurance account."""

    asset: str
    paid: int
    loss: int


class DebtSettlement(NamedTuple):
    """The outcome of the settlement. With `needs_another_round` the account pays only what it can."""

    loans: tuple[LoanSettlement, ...]
    needs_another_round: bool


def settle(balances: Balances, sellable: Mapping[str, int]) -> DebtSettlement:
    """Pay each debt from what the account holds of the same asset.

    `sellable` is the smallest quantity of each asset that can be sold in the markets of `liquidation_orders` (18
    places). An asset without an entry cannot be sold. An unpaid debt is a loss only if the account holds nothing that
    can be sold.
    """
    debts = {asset: balance.debt for asset, balance in sorted(balances.items()) if balance.debt}
    paid = {asset: min(balances[asset].held, debt) for asset, debt in debts.items()}
    unpaid = any(paid[asset] < debt for asset, debt in debts.items())
    left = {asset: balance.held - paid.get(asset, 0) for asset, balance in balances.items()}
    more = unpaid and any(asset in sellable and quantity >= sellable[asset] for asset, quantity in left.items())
    loans = tuple(
        LoanSettlement(asset, paid[asset], 0 if more else debt - paid[asset]) for asset, debt in debts.items()
    )
    return DebtSettlement(loans, more)


def _place(step: LiquidationStep | None) -> int:
    steps = list(LiquidationStep)
    return len(steps) if step is None else steps.index(step)
