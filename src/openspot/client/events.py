"""The events of a stream, and the messages of the WebSocket edge (docs/protocol/websocket.md)."""

from typing import Any

import msgspec

from openspot.client.errors import StreamError
from openspot.client.gen.records import Balance, Order
from openspot.client.pushes import record_of
from openspot.client.records import Record


class Push(msgspec.Struct, frozen=True):
    """An event. `channel` is a market channel, `orders`, `balances` or `notifications`; `ts` milliseconds since 1970.

    `notifications` do not come to a stream by an API key: keys have no access to personal data.
    `data` is the event's payload as JSON values; decimals in it are texts.
    """

    channel: str
    type: str
    seq: int
    ts: int
    data: Any
    event: str | None = None

    def record(self) -> Record:
        """`data` as the record of its channel, with exact decimals.

        Ticker, BestPrices (`bbo`), TradeUpdate (`trades`), AggregateTradeUpdate (`agg-trades`), CandleUpdate
        (`candles`) and Order. Raises ValueError for a channel without a record: books, balances and notifications.
        """
        return record_of(self.channel, self.data)


class Reconnected(msgspec.Struct, frozen=True):
    """The stream was closed with `code` and `reason`, and is open again. It missed the events in between.

    It has subscribed to every channel again; books, candles and tickers begin with a snapshot. The missed trades are in
    `GET /markets/<SYMBOL>/trades`. If the stream has a user, it has then read `orders` and `balances` from REST.
    `orders` are all open orders, and those that this stream had shown as open and that have ended since. A later event
    may be older than these records: compare `updatedAt`.
    """

    code: int
    reason: str
    orders: list[Order] | None = None
    balances: list[Balance] | None = None


class Notice(msgspec.Struct, frozen=True):
    """An announcement to all clients. If `closes_in_ms` is not None, the platform then closes the connection."""

    code: str
    message: str
    closes_in_ms: int | None = None


class ChannelFault(msgspec.Struct, frozen=True):
    """One channel has a fault. The others go on.

    With the code `UNKNOWN_MARKET` the subscription stays, and its events come when the market is listed. Any other code
    comes only after a reconnection: the platform refused the channel, and it is no longer subscribed.
    """

    channel: str
    code: str
    message: str


Event = Push | Reconnected | Notice | ChannelFault


class EdgeMessage(msgspec.Struct):
    """A message of the WebSocket edge, of any type."""

    type: str
    channel: str = ""
    seq: int = 0
    ts: int = 0
    data: Any = None
    event: str | None = None
    code: str = ""
    message: str = ""
    id: str | int | None = None
    closes_in_ms: int | None = msgspec.field(name="closesInMs", default=None)


_decode = msgspec.json.Decoder(EdgeMessage).decode
_PUSHES = frozenset({"update", "snapshot"})


def read_message(text: str) -> EdgeMessage:
    """Decode a message. Raises StreamError if `text` is not a message."""
    try:
        return _decode(text)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise StreamError("UNREADABLE", str(error)) from error


def event_of(message: EdgeMessage) -> Event | None:
    """The event that the caller of a stream gets for a message, None for a reply. Raises StreamError for a refusal."""
    if message.type in _PUSHES:
        return Push(message.channel, message.type, message.seq, message.ts, message.data, message.event)
    if message.type == "notice":
        return Notice(message.code, message.message, message.closes_in_ms)
    if message.type != "error" or message.id is not None:
        return None
    if message.channel:
        return ChannelFault(message.channel, message.code, message.message)
    raise StreamError(message.code, message.message)
