"""A participant's position in one symbol: quantity, average cost and realised result, from trades.

Positions are signed. The platform is spot-only, but a participant may sell a quantity that was deposited or borrowed
and never bought here. Such a trade must count, so it opens a short position: `quantity` is negative, and `cost` is the
proceeds of the sale as a negative number. (FIFO lots, which matter for tax, are never short.)

Fees add to the cost of an opening trade and reduce the proceeds of a closing one. After every trade, exactly:
realised result = sum of cash flows + cost of the open position.
"""

from dataclasses import dataclass
from typing import NamedTuple

from openspot.domain.money import AMOUNT_MAX, AMOUNT_SCALE
from openspot.domain.order import Side
from openspot.positions.lifecycle import PositionTrigger


class TradeError(ValueError):
    """A trade breaks a rule. The message names the field and the reason."""


@dataclass(frozen=True, slots=True)
class PositionTrade:
    """A trade of one participant in one symbol. Amounts are integers at 18 places.

    `notional` is price × quantity in the quote asset; `fee` is in the quote asset, negative if it is a rebate.
    Raises TradeError if a field is out of range.
    """

    trade_id: str
    timestamp: int
    side: Side
    quantity: int
    notional: int
    fee: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.quantity <= AMOUNT_MAX:
            raise TradeError("quantity must be positive" if self.quantity <= 0 else "quantity is too large")
        if not 0 <= self.notional <= AMOUNT_MAX:
            raise TradeError("notional must not be negative" if self.notional < 0 else "notional is too large")
        if abs(self.fee) > AMOUNT_MAX:
            raise TradeError("fee is too large")

    @property
    def signed_quantity(self) -> int:
        """The change of the position's quantity."""
        return self.quantity if self.side is Side.BUY else -self.quantity

    @property
    def cash_flow(self) -> int:
        """The change of the participant's quote balance: negative for a buy."""
        gross = -self.notional if self.side is Side.BUY else self.notional
        return gross - self.fee


@dataclass(frozen=True, slots=True)
class Position:
    """The state of a position. Amounts are integers at 18 places, money is in the quote asset."""

    quantity: int
    cost: int
    realised: int
    fees: int
    cash_flow: int
    trades: int

    @property
    def average_price(self) -> int | None:
        """The cost of one whole unit at 18 places, rounded down; None if the position is flat."""
        return self.cost * AMOUNT_SCALE // self.quantity if self.quantity else None


class AppliedTrade(NamedTuple):
    """The result that a trade realised, and its triggers: two if the trade closed one position and opened another."""

    realised: int
    triggers: tuple[PositionTrigger, ...]


FLAT = Position(quantity=0, cost=0, realised=0, fees=0, cash_flow=0, trades=0)


class PositionKeeper:
    """Follows one participant's position in one symbol, trade by trade in the order of execution."""

    def __init__(self, position: Position = FLAT) -> None:
        """Begin with a stored position."""
        self.position = position
        """The position after the last trade."""

    def apply(self, trade: PositionTrade) -> AppliedTrade:
        """Apply the next trade. It first reduces an opposite position. Its rest opens a position or adds to one."""
        held, opening_cash = self.position, trade.cash_flow
        realised = cost_taken = 0
        if held.quantity * trade.signed_quantity < 0:
            closing = min(trade.quantity, abs(held.quantity))
            # The closing part takes its share of the cash, rounded down. The opening part takes the rest.
            closing_cash = opening_cash * closing // trade.quantity
            cost_taken = held.cost * closing // abs(held.quantity)
            realised = closing_cash - cost_taken
            opening_cash -= closing_cash
        self.position = Position(
            quantity=held.quantity + trade.signed_quantity,
            cost=held.cost - cost_taken - opening_cash,
            realised=held.realised + realised,
            fees=held.fees + trade.fee,
            cash_flow=held.cash_flow + trade.cash_flow,
            trades=held.trades + 1,
        )
        return AppliedTrade(realised, _triggers(held.quantity, self.position.quantity))


def closing_trade(position: Position, mark: int | None, trade_id: str, timestamp: int) -> PositionTrade:
    """The trade that a close request books: the whole position at the mark price (18 places), without a fee.

    Raises TradeError if the position is flat or has no mark price.
    """
    if not position.quantity:
        raise TradeError("position is not open")
    if mark is None:
        raise TradeError("position has no mark price to be closed at")
    quantity = abs(position.quantity)
    side = Side.SELL if position.quantity > 0 else Side.BUY
    return PositionTrade(trade_id, timestamp, side, quantity, quantity * mark // AMOUNT_SCALE)


def _triggers(before: int, after: int) -> tuple[PositionTrigger, ...]:
    if not before:
        return (PositionTrigger.OPENING_TRADE,)
    if not after:
        return (PositionTrigger.FLATTENING_TRADE,)
    if before * after < 0:
        return (PositionTrigger.FLATTENING_TRADE, PositionTrigger.OPENING_TRADE)
    return (PositionTrigger.TRADE,)
