"""Response bodies of the market routes. Decimals are texts, times milliseconds since 1970."""

from typing import Annotated, Literal

from pydantic import Field

from openspot.http.validation import ResponseBody

Level = Annotated[list[str], Field(min_length=2, max_length=2, description="[price, quantity]")]


class MarketResponse(ResponseBody):
    """A market: the engine's specification, fees in basis points, and the limits of the pre-trade check.

    The limits are null where the pre-trade check has none for the symbol: it then rejects its orders.
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


class OrderBookResponse(ResponseBody):
    """Level-2 bids and asks, best first, quantities summed per price. `sequence` is the engine's."""

    symbol: str
    bids: list[Level]
    asks: list[Level]
    sequence: int
    timestamp: int


class TradeResponse(ResponseBody):
    """A trade; `side` is the taker's."""

    trade_id: str
    symbol: str
    price: str
    quantity: str
    side: Literal["buy", "sell"]
    timestamp: int
    sequence: int


class CandleResponse(ResponseBody):
    """What traded in one interval; `timestamp` is its begin. An interval without a trade has no candle."""

    timestamp: int
    open: str
    high: str
    low: str
    close: str
    volume: str
    trades: int


class TickerResponse(ResponseBody):
    """A market's last 24 hours. Prices are null where nothing traded; volumes are then 0."""

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
