"""Rows of the list of all trades."""

from typing import Annotated

from openspot.contracts.messages import Message
from openspot.contracts.messages.message import Count, DecimalText, TimeText, listed
from openspot.rest_edge.orders.schemas import OrderSide


class OperatedTrade(Message, frozen=True):
    """A trade with both of its sides. `sequence` is the engine's; a `makerFee` below 0 is a rebate."""

    trade_id: str
    symbol: str
    price: DecimalText
    quantity: DecimalText
    taker_side: Annotated[str, listed(*OrderSide)]
    buyer_id: str
    seller_id: str
    taker_order_id: str
    maker_order_id: str
    taker_fee: DecimalText
    maker_fee: DecimalText
    fee_currency: str
    sequence: Count
    executed_at: TimeText
