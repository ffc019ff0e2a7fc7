"""Shapes that only the market routes have. Decimals are texts, times are milliseconds since 1970."""

from openspot.contracts.messages.market_data import Level
from openspot.contracts.messages.message import Count, DecimalText, Message


class Market(Message, frozen=True):
    """A market: the engine's specification, fees in basis points, and the limits of the pre-trade check.

    A price is a multiple of the tick, a quantity of the lot. The limits are null if the pre-trade check has none for
    the symbol. It then rejects all orders for it.
    """

    symbol: str
    base_asset: str
    quote_asset: str
    active: bool
    tick_size: DecimalText
    lot_size: DecimalText
    taker_fee: int
    maker_fee: int
    base_scale_k: int
    quote_scale_k: int
    quantity_min: DecimalText | None = None
    quantity_max: DecimalText | None = None
    notional_min: DecimalText | None = None
    notional_max: DecimalText | None = None


class OrderBook(Message, frozen=True):
    """Level-2 bids and asks, best first, quantities summed per price. `sequence` is the engine's newest event in it."""

    symbol: str
    bids: list[Level]
    asks: list[Level]
    sequence: Count
    timestamp: Count
