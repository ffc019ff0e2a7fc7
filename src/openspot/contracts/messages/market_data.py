"""Market data: the events `marketdata.*`, and requests to the market data service.

`seq` of a book or trade is the engine's event sequence. `prev_seq` is the `seq` of the message before it on the same
subject, so that a receiver notices a gap. Sequences do not rise by one, and they begin again with a new journal of the
engine.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, UnsetType

from openspot.contracts.messages.message import Count, DecimalText, Message, listed
from openspot.contracts.messages.reply import RefusableReply
from openspot.domain.market_phase import PhaseCause

Level = Annotated[tuple[DecimalText, DecimalText], msgspec.Meta(description="[price, quantity]")]
"""In an update, quantity "0" removes the level."""


class OrderBookEvent(Message, frozen=True):
    """Payload of `marketdata.orderbook.<SYMBOL>`, and the book in the reply of `marketdata.books.get`.

    A snapshot has every level of the published depth, best first, and no `prev_seq`. A receiver always accepts a
    snapshot, even one with a lower `seq`. An update has the levels that changed since the message with seq `prev_seq`.
    A receiver whose book is not at `prev_seq` has missed a message, and asks for a snapshot.

    `checksum` is the CRC-32 of the ten best levels after this message: `bidPrice:bidQuantity:askPrice:askQuantity` of
    level 1, 2 and so on, joined with colons. A side that has fewer levels is left out in the later ones.
    """

    symbol: str
    type: Literal["snapshot", "update"]
    seq: Count
    prev_seq: Count | None
    timestamp: Count
    bids: list[Level]
    asks: list[Level]
    checksum: int


class MarketTradeEvent(Message, frozen=True):
    """Payload of `marketdata.trade.<SYMBOL>`: a trade, without its parties. `side` is the taker's.

    After a restart of the service, trades may arrive again. A receiver drops those whose `seq` it has seen.
    `prev_seq` is the `seq` of the market's trade before this one, 0 if the service knows none.
    """

    symbol: str
    seq: Count
    prev_seq: Count
    trade_id: str
    price: DecimalText
    quantity: DecimalText
    side: Literal["buy", "sell"]
    timestamp: Count


class PhaseFigures(Message, frozen=True, kw_only=True):
    """The phase of a market. All of it is left out in continuous trading.

    `phase_ends_at` is when continuous trading begins again, in milliseconds since 1970, null if no end is set.
    `phase_cause` is only there for an auction that the exchange itself began: `volatility`, because the fair price
    moved too fast; `volatility-extension`, because the auction would have ended too far from the fair price. In an
    auction `indicative_price` and `indicative_quantity` are what it would trade now, null while nothing would. The
    book is not published while it is crossed.
    """

    phase: Annotated[str, listed("halted", "cancel-only", "post-only", "auction", "uncrossing")] | UnsetType = UNSET
    phase_ends_at: Count | UnsetType | None = UNSET
    phase_cause: Annotated[str, listed(*PhaseCause)] | UnsetType = UNSET
    indicative_price: DecimalText | UnsetType | None = UNSET
    indicative_quantity: DecimalText | UnsetType | None = UNSET


class BestQuantities(PhaseFigures, frozen=True, kw_only=True):
    """What stands at the best bid and at the best ask of a market; null for an empty side."""

    bid_quantity: DecimalText | None = None
    ask_quantity: DecimalText | None = None


class Ticker(BestQuantities, frozen=True):
    """The best prices of a market with what stands at them, its last price, and the figures of the last 24 hours.

    A market that is not in continuous trading also has its `phase`, when that ends, and what an auction would trade.

    The 24 hours begin with a whole minute, so they are up to 59,999 ms longer. Where nothing traded, prices are null
    and volumes 0. An empty side of the book has neither price nor quantity. `timestamp` is in milliseconds since 1970.
    """

    symbol: str
    last_price: DecimalText | None
    bid_price: DecimalText | None
    ask_price: DecimalText | None
    open_price: DecimalText | None
    high_price: DecimalText | None
    low_price: DecimalText | None
    volume: DecimalText
    quote_volume: DecimalText
    price_change: DecimalText | None
    price_change_percent: DecimalText | None
    timestamp: Count


class TickerEvent(Ticker, frozen=True):
    """Payload of `marketdata.ticker.<SYMBOL>`. `seq` is the newest engine event of the market that it includes."""

    seq: Count


class Candle(Message, frozen=True):
    """The trades of one interval. `timestamp` is the beginning of the interval, in milliseconds since 1970.

    An interval without a trade has no candle.
    """

    timestamp: Count
    open: DecimalText
    high: DecimalText
    low: DecimalText
    close: DecimalText
    volume: DecimalText
    trades: Count


class MarketCandle(Candle, frozen=True):
    """A candle with its market and its interval: the data of a candle channel on WebSocket."""

    symbol: str
    interval: str


class CandleEvent(MarketCandle, frozen=True):
    """Payload of `marketdata.candle.<SYMBOL>`: a candle of one interval with the trades up to `seq`.

    Each message has the whole candle. It replaces the receiver's candle with the same `timestamp`, unless that one has
    more trades.
    """

    seq: Count


class GetBook(Message, frozen=True):
    """Request `marketdata.books.get`.

    Without `depth`, the reply is the snapshot that the published updates continue. With `depth`, it is the present
    book, at most `depth` levels a side; its `seq` may lie between those of two updates.
    """

    symbol: str
    depth: int | None = None


class GetBookReply(RefusableReply, frozen=True):
    """Reply of `marketdata.books.get`; a refusal has `error` and `code`, and no book."""

    book: OrderBookEvent | None = None


class GetTickers(Message, frozen=True):
    """Request `marketdata.tickers.get`: the tickers of all markets, or with `symbol` that of one."""

    symbol: str | None = None


class GetTickersReply(RefusableReply, frozen=True):
    """Reply of `marketdata.tickers.get`, by symbol; a refusal has `error` and `code`."""

    NOTHING = ([],)

    tickers: list[TickerEvent]


class GetMarketTrades(Message, frozen=True):
    """Request `marketdata.trades.get`: trades of a market, newest first.

    With `before`, the (timestamp, sequence) of a trade, the reply has only older trades.
    """

    symbol: str
    limit: int = 100
    before: tuple[int, int] | None = None


class MarketTrade(Message, frozen=True):
    """A public trade. `side` is the taker's, `timestamp` in milliseconds since 1970, `sequence` the engine's."""

    trade_id: str
    symbol: str
    price: DecimalText
    quantity: DecimalText
    side: Annotated[str, listed("buy", "sell")]
    timestamp: Count
    sequence: Count


class GetMarketTradesReply(RefusableReply, frozen=True):
    """Reply of `marketdata.trades.get`; a refusal has `error` and `code`."""

    NOTHING = ([],)

    trades: list[MarketTrade]


class AggregateTrade(Message, frozen=True):
    """Trades of one order as taker, at one price and at one time, that follow each other in their market.

    `first_trade_id` names the aggregate, `trades` is how many there are, `quantity` their sum. `side` is the taker's,
    `timestamp` in milliseconds since 1970, the sequences are the engine's.
    """

    first_trade_id: str
    last_trade_id: str
    symbol: str
    price: DecimalText
    quantity: DecimalText
    side: Annotated[str, listed("buy", "sell")]
    trades: Count
    timestamp: Count
    first_sequence: Count
    last_sequence: Count


class AggregateTradeEvent(AggregateTrade, frozen=True):
    """Payload of `marketdata.aggtrade.<SYMBOL>`: a whole aggregate. `seq` is its last sequence.

    A later message with the same `first_trade_id` replaces it: the order has traded on. `prev_seq` is the sequence of
    the market's trade before the aggregate, 0 if the service knows none: another one than the last message's `seq`
    shows that something was missed.
    """

    seq: Count
    prev_seq: Count


class GetAggregateTrades(Message, frozen=True):
    """Request `marketdata.aggtrades.get`: aggregates of a market, newest first.

    `since` (inclusive) and `until` (exclusive) are milliseconds since 1970. With `before`, the timestamp and the first
    sequence of an aggregate, the reply has only older ones. With `from_trade_id` it begins with the aggregate of that
    trade instead, and goes on with younger ones, oldest first.
    """

    symbol: str
    limit: int = 100
    since: int | None = None
    until: int | None = None
    before: tuple[int, int] | None = None
    from_trade_id: str | None = None


class GetAggregateTradesReply(RefusableReply, frozen=True):
    """Reply of `marketdata.aggtrades.get`; a refusal has `error` and `code`.

    NOT_FOUND: the market has no trade of the id `from_trade_id`. `more_remain`: there are further aggregates.
    """

    NOTHING = ([],)

    aggregates: list[AggregateTrade]
    more_remain: bool = False


class GetCandles(Message, frozen=True):
    """Request `marketdata.candles.get`: candles that begin at `since` or later and before `until`, in milliseconds."""

    symbol: str
    interval: str
    since: int
    until: int


class GetCandlesReply(RefusableReply, frozen=True):
    """Reply of `marketdata.candles.get`, oldest first; a refusal has `error` and `code`.

    An interval without a trade has no candle.
    """

    NOTHING = ([],)

    candles: list[Candle]
