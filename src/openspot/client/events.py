"""What a stream yields, and how it reads the messages of the WebSocket edge (docs/protocol/websocket.md)."""

from typing import Any

import msgspec

from openspot.client.errors import StreamError
from openspot.client.gen.records import Balance, Order


class Push(msgspec.Struct, frozen=True):
    """An event. `channel` is a market channel, `orders` or `balances`; `ts` milliseconds since 1970.

    `data` is the event's payload as JSON values; decimals in it are texts.
    """

    channel: str
    type: str
    seq: int
    ts: int
    data: Any
    event: str | None = None


class Reconnected(msgspec.Struct, frozen=True):
    """The stream was closed with `code` and `reason`, and is open again. Events between were not received.

    Every channel is subscribed again; books, candles and tickers begin with a snapshot. Trades that were missed are in
    `GET /markets/<SYMBOL>/trades`. If the stream has a user, `orders` and `balances` were read from REST after the
    stream was open again. `orders` are all open orders, and those that this stream had shown as open and that have
    ended since. An event that follows may be older than what stands here: compare `updatedAt`.
    """

    code: int
    reason: str
    orders: list[Order] | None = None
    balances: list[Balance] | None = None


class Notice(msgspec.Struct, frozen=True):
    """The platform announces something to all clients. It closes the connection after `closes_in_ms`, if not None."""

    code: str
    message: str
    closes_in_ms: int | None = None


class ChannelFault(msgspec.Struct, frozen=True):
    """Something is wrong with one channel, and the others go on.

    `UNKNOWN_MARKET`: the subscription stays, and its events come when the market is listed. Another code comes after a
    reconnection only: the channel was refused and is no longer subscribed.
    """

    channel: str
    code: str
    message: str


Event = Push | Reconnected | Notice | ChannelFault


class Message(msgspec.Struct):
    """A message of the edge: any of its types."""

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


_decode = msgspec.json.Decoder(Message).decode
_PUSHES = frozenset({"update", "snapshot"})


def read_message(text: str) -> Message:
    """The message in `text`. Raises StreamError if it is none."""
    try:
        return _decode(text)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise StreamError("UNREADABLE", str(error)) from error


def event_of(message: Message) -> Event | None:
    """What the caller of a stream gets for a message, None for a reply. Raises StreamError for a refusal."""
    if message.type in _PUSHES:
        return Push(message.channel, message.type, message.seq, message.ts, message.data, message.event)
    if message.type == "notice":
        return Notice(message.code, message.message, message.closes_in_ms)
    if message.type != "error" or message.id is not None:
        return None
    if message.channel:
        return ChannelFault(message.channel, message.code, message.message)
    raise StreamError(message.code, message.message)
