"""A trade as the table `trades` holds it."""

import msgspec


class TradeRow(msgspec.Struct, frozen=True):
    """One trade as its row holds it. Its order ids are the platform's. A negative fee is a rebate."""

    trade_id: str
    sequence: int
    symbol: str
    price: str
    quantity: str
    taker_side: str
    taker_order_id: str
    maker_order_id: str
    buyer_id: str
    seller_id: str
    taker_fee: str
    maker_fee: str
    fee_currency: str
    executed_ms: int
