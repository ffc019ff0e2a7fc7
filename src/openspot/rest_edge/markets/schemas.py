"""What goes out of the market routes. Decimals are text, times milliseconds since 1970."""

from typing import Annotated, Literal

from pydantic import Field

from openspot.http.validation import Answer

Level = Annotated[list[str], Field(min_length=2, max_length=2, description="[price, quantity]")]


class MarketAnswer(Answer):
    """A market: the engine's specification, fees in basis points, and the limits of the pre-trade check.

    The limits are absent (null) where the pre-trade check has none for the symbol: it rejects its orders.
    """

    symbol: str
    base_asset: str
    quote_asset: str
    active: bool
    tick_size: str
    lot_size: str
    taker_fee: int
    maker_fee: int
    base_scale_k: int
    quote_scale_k: int
    quantity_min: str | None
    quantity_max: str | None
    notional_min: str | None
    notional_max: str | None


class OrderBookAnswer(Answer):
    """Level-2 bids and asks, best first, quantities summed per price. `sequence` is the engine's."""

    symbol: str
    bids: list[Level]
    asks: list[Level]
    sequence: int
    timestamp: int


class TradeAnswer(Answer):
    """A trade; `side` is the taker's."""

    trade_id: str
    symbol: str
    price: str
    quantity: str
    side: Literal["buy", "sell"]
    timestamp: int
    sequence: int


class TickerAnswer(Answer):
    """A market's last 24 hours. What there is nothing to tell of is null; volumes are then 0."""

    symbol: str
    last_price: str | None
    bid_price: str | None
    ask_price: str | None
    open_price: str | None
    high_price: str | None
    low_price: str | None
    volume: str
    quote_volume: str
    price_change: str | None
    price_change_percent: str | None
    timestamp: int
