"""The records of what the market channels carry, where no record of REST is the same."""

from decimal import Decimal
from typing import Any

import msgspec

from openspot.client.gen.records import AggregateTrade, Candle, Order, Ticker
from openspot.client.records import Record


class BestPrices(Record, frozen=True):
    """Best bid and best ask of a market with what stands at them; None for an empty side. Channel `bbo:<SYMBOL>`.

    `seq` is the engine's event that changed them, `timestamp` in milliseconds since 1970.
    """

    symbol: str
    bid_price: Decimal | None
    bid_quantity: Decimal | None
    ask_price: Decimal | None
    ask_quantity: Decimal | None
    seq: int
    timestamp: int


class TradeUpdate(Record, frozen=True):
    """A trade of a market, without its parties. Channel `trades:<SYMBOL>`.

    `side` is the taker's. `prev_seq` is the `seq` of the trade before it: another one shows that a trade was missed.
    """

    symbol: str
    seq: int
    prev_seq: int
    trade_id: str
    price: Decimal
    quantity: Decimal
    side: str
    timestamp: int


class AggregateTradeUpdate(AggregateTrade, frozen=True, kw_only=True):
    """An aggregate trade as it is known now. Channel `agg-trades:<SYMBOL>`.

    A later one with the same `first_trade_id` replaces it. `prev_seq` is the `seq` of the market's trade before its
    first one: another one shows that something was missed.
    """

    seq: int
    prev_seq: int


class CandleUpdate(Candle, frozen=True, kw_only=True):
    """A whole candle with its market and its interval. Channel `candles:<SYMBOL>:<INTERVAL>`."""

    symbol: str
    interval: str


RECORDS: dict[str, type[Record]] = {
    "ticker": Ticker,
    "bbo": BestPrices,
    "trades": TradeUpdate,
    "agg-trades": AggregateTradeUpdate,
    "candles": CandleUpdate,
    "orders": Order,
}
"""The record of each channel's data, by the channel's name before the colon.

Books have `openspot.client.books`; balances and notifications have records of REST, which say more.
"""


def record_of(channel: str, data: Any) -> Record:
    """The data of a push as the record of its channel. Raises ValueError for a channel without one, or bad data."""
    kind = RECORDS.get(channel.partition(":")[0])
    if kind is None:
        raise ValueError(f"{channel} has no record")
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise ValueError(f"{channel} sent {error}") from error
