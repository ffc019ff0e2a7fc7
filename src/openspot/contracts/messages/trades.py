"""Trades: the events `trades.executed`, `trades.executed.<SYMBOL>` and `trades.settled`."""

import msgspec

from openspot.contracts.messages.message import Message


class SideTrade(Message, frozen=True):
    """Payload of `trades.executed.<SYMBOL>`: a trade as one of its two orders sees it."""

    trade_id: str
    symbol: str
    liquidity: str
    order_id: str
    user_id: str
    side: str
    price: str
    quantity: str
    fee: str
    fee_bps: int
    fee_currency: str
    is_order_completed: bool
    sequence: int
    timestamp: int


class TradeFee(Message, frozen=True):
    """The fee of one side of a trade. A negative amount is a rebate."""

    user_id: str
    amount: str
    asset: str = msgspec.field(name="currency")


class TradeFees(Message, frozen=True):
    """The fees of both sides."""

    buyer: TradeFee
    seller: TradeFee


class ExecutedTrade(Message, frozen=True):
    """Payload of `trades.executed` (facts A2.3-01 to A2.3-03): published once for each trade, for settlement."""

    id: str
    symbol: str
    base_asset: str
    quote_asset: str
    buyer_id: str
    seller_id: str
    price: str
    quantity: str = msgspec.field(name="qty")
    fees: TradeFees
    taker_side: str
    taker_order_id: str
    maker_order_id: str
    is_taker_completed: bool
    is_maker_completed: bool
    sequence: int
    timestamp: int


class TradesSettled(Message, frozen=True):
    """Payload of `trades.settled`: a batch of trades was settled. Nothing depends on it (fact A6.1-15)."""

    trade_ids: list[str]
    count: int
    last_sequence: int
    timestamp: int
