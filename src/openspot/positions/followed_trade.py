"""A trade of the exchange as its two participants see it: each has an own side and an own fee."""

from dataclasses import dataclass

from openspot.contracts.messages import ExecutedTrade, TradeFee
from openspot.domain.ids import PARTICIPANT_ID_TEXT, REFERENCE_TEXT
from openspot.domain.money import AMOUNT_SCALE, MoneyError, parse_decimal, to_amount
from openspot.domain.order import Side
from openspot.domain.symbol import SYMBOL_TEXT
from openspot.positions.fifo_transaction import TIMESTAMP_MAX
from openspot.positions.holdings.trade_store import NewTrade, PositionKey, side_text
from openspot.positions.position import PositionTrade, TradeError


class UnusableTradeError(ValueError):
    """A trade from the bus cannot be booked. The message names the field and the reason."""


@dataclass(frozen=True, slots=True)
class FollowedTrade:
    """A trade of the exchange as the two participants see it."""

    trade_id: str
    sequence: int
    sides: tuple[NewTrade, NewTrade]


def followed_trade(trade: ExecutedTrade) -> FollowedTrade:
    """The two sides of a trade. Raises UnusableTradeError."""
    if not REFERENCE_TEXT.fullmatch(trade.id):
        raise UnusableTradeError("id is not a trade id")
    if not SYMBOL_TEXT.fullmatch(trade.symbol):
        raise UnusableTradeError("symbol is not <BASE>-<QUOTE>")
    if not 0 <= trade.timestamp <= TIMESTAMP_MAX:
        raise UnusableTradeError("timestamp is out of range")
    quantity, price = _amount("qty", trade.quantity), _amount("price", trade.price)
    notional = quantity * price // AMOUNT_SCALE
    quote = trade.symbol.split("-")[1]

    def side_of(side: Side, user_id: str, fee: TradeFee) -> NewTrade:
        if not PARTICIPANT_ID_TEXT.fullmatch(user_id):
            raise UnusableTradeError(f"the {side_text(side)}er's id is not one")
        if fee.asset != quote:
            raise UnusableTradeError(f"the fee is in {fee.asset}, not in {quote}")
        try:
            booked = PositionTrade(
                f"{trade.id}:{side_text(side)}", trade.timestamp, side, quantity, notional, _amount("fee", fee.amount)
            )
        except TradeError as error:
            raise UnusableTradeError(str(error)) from error
        return NewTrade(PositionKey(user_id, trade.symbol), booked, "fill")

    buyer = side_of(Side.BUY, trade.buyer_id, trade.fees.buyer)
    seller = side_of(Side.SELL, trade.seller_id, trade.fees.seller)
    return FollowedTrade(trade.id, trade.sequence, (buyer, seller))


def _amount(field: str, text: str) -> int:
    try:
        return to_amount(parse_decimal(text))
    except MoneyError as error:
        raise UnusableTradeError(f"{field} {error}") from error
