"""Messages on a connection: client messages, replies, pushes, and the parts of bus events that the edge reads."""

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec

from openspot.contracts.messages.message import Count
from openspot.kit.bus import MalformedEventError
from openspot.kit.tokens import TOKEN_LENGTH_MAX

Data = TypeVar("Data")

CHANNEL_LENGTH_MAX = 64
ID_LENGTH_MAX = 64
SIGNATURE_LENGTH_MAX = 128
NOTIFICATION_ID_LENGTH_MAX = 200

_INTEGER_MAX = 2**53 - 1
"""The largest integer that JavaScript holds exactly."""

Id = Annotated[str, msgspec.Meta(max_length=ID_LENGTH_MAX)]
"""A text that the edge keeps in memory, so its length is limited."""
MessageId = Id | Annotated[int, msgspec.Meta(ge=-_INTEGER_MAX, le=_INTEGER_MAX)]


class Action(StrEnum):
    """The requests of clients."""

    SUBSCRIBE = "subscribe"
    UNSUBSCRIBE = "unsubscribe"
    PING = "ping"
    AUTHENTICATE = "authenticate"


class ErrorCode(StrEnum):
    """Why a client message was refused."""

    MALFORMED_MESSAGE = "MALFORMED_MESSAGE"
    UNKNOWN_ACTION = "UNKNOWN_ACTION"
    CHANNEL_REQUIRED = "CHANNEL_REQUIRED"
    UNKNOWN_CHANNEL = "UNKNOWN_CHANNEL"
    TOO_MANY_CHANNELS = "TOO_MANY_CHANNELS"
    INVALID_CREDENTIAL = "INVALID_CREDENTIAL"
    INSUFFICIENT_SCOPE = "INSUFFICIENT_SCOPE"
    ALREADY_AUTHENTICATED = "ALREADY_AUTHENTICATED"
    UNAVAILABLE = "UNAVAILABLE"
    INVALID_TOKEN = "INVALID_TOKEN"  # noqa: S105  (a code, no secret)
    UNKNOWN_MARKET = "UNKNOWN_MARKET"


class ClientMessage(msgspec.Struct, frozen=True):
    """A client message. `channel` is any text, empty if the client sent none."""

    action: Action
    channel: str
    message_id: str | int | None
    credential: "SignedMessage | TokenMessage | None" = None
    """The token or signature of an `authenticate`."""


class TokenMessage(msgspec.Struct, frozen=True):
    """An access token."""

    token: Annotated[str, msgspec.Meta(max_length=TOKEN_LENGTH_MAX)]


class SignedMessage(msgspec.Struct, rename="camel", frozen=True):
    """The signature of an API key over timestamp and `GET/`, as for a connection with headers."""

    api_key: "Id"
    timestamp: "Id"
    signature: Annotated[str, msgspec.Meta(max_length=SIGNATURE_LENGTH_MAX)]


class ClientMessageError(Exception):
    """A client message is refused. The reply repeats `message_id`, which is None if it could not be read."""

    def __init__(self, code: ErrorCode, message: str, message_id: str | int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message_id = message_id


_ACTIONS = frozenset(Action)
_decode_any = msgspec.json.Decoder().decode


def parse_client_message(data: str | bytes) -> ClientMessage:
    """The message that a client sent as text. Raises ClientMessageError with the field and the reason."""
    if isinstance(data, bytes):
        raise ClientMessageError(ErrorCode.MALFORMED_MESSAGE, "messages are text, not binary")
    try:
        fields = _decode_any(data)
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise ClientMessageError(ErrorCode.MALFORMED_MESSAGE, "the message is not valid JSON") from error
    if not isinstance(fields, dict):
        raise ClientMessageError(ErrorCode.MALFORMED_MESSAGE, "the message must be an object")
    message_id = _message_id(fields)
    action, channel = fields.get("action"), fields.get("channel")
    if not isinstance(action, str) or action not in _ACTIONS:
        reason = f"action must be one of {', '.join(Action)}"
        raise ClientMessageError(ErrorCode.UNKNOWN_ACTION, reason, message_id)
    if channel is None:
        channel = ""
    elif not isinstance(channel, str) or len(channel) > CHANNEL_LENGTH_MAX:
        reason = f"channel must be a text of at most {CHANNEL_LENGTH_MAX} characters"
        raise ClientMessageError(ErrorCode.UNKNOWN_CHANNEL, reason, message_id)
    if action == Action.AUTHENTICATE:
        return ClientMessage(Action.AUTHENTICATE, channel, message_id, _credential(fields, message_id))
    if not channel and action != Action.PING:
        raise ClientMessageError(ErrorCode.CHANNEL_REQUIRED, f"channel is required to {action}", message_id)
    return ClientMessage(Action(action), channel, message_id)


def _credential(fields: dict[str, Any], message_id: str | int | None) -> SignedMessage | TokenMessage:
    if "token" in fields:
        try:
            return msgspec.convert(fields, TokenMessage)
        except msgspec.ValidationError as error:
            reason = f"token must be a text of at most {TOKEN_LENGTH_MAX} characters"
            raise ClientMessageError(ErrorCode.INVALID_TOKEN, reason, message_id) from error
    timestamp = fields.get("timestamp")
    if isinstance(timestamp, int) and not isinstance(timestamp, bool):
        fields = fields | {"timestamp": str(timestamp)}
    try:
        return msgspec.convert(fields, SignedMessage)
    except msgspec.ValidationError as error:
        reason = "authenticate needs the text token, or the texts apiKey, timestamp and signature"
        raise ClientMessageError(ErrorCode.INVALID_CREDENTIAL, reason, message_id) from error


def _message_id(fields: dict[str, Any]) -> str | int | None:
    try:
        message_id: str | int | None = msgspec.convert(fields.get("id"), MessageId | None)
    except msgspec.ValidationError as error:
        reason = f"id must be a text of at most {ID_LENGTH_MAX} characters or an integer"
        raise ClientMessageError(ErrorCode.MALFORMED_MESSAGE, reason) from error
    return message_id


class Subscribed(msgspec.Struct, tag="subscribed", frozen=True, omit_defaults=True):
    """Reply to subscribe."""

    channel: str
    id: str | int | None = None


class Unsubscribed(msgspec.Struct, tag="unsubscribed", frozen=True, omit_defaults=True):
    """Reply to unsubscribe."""

    channel: str
    id: str | int | None = None


class Pong(msgspec.Struct, tag="pong", frozen=True, omit_defaults=True):
    """Reply to ping; `ts` in milliseconds since 1970."""

    ts: int
    id: str | int | None = None


class Authenticated(msgspec.Struct, tag="authenticated", frozen=True, omit_defaults=True, rename="camel"):
    """Reply to authenticate: the user's events come from now on. A token ends at `expiresAt`, in seconds since 1970."""

    user_id: str
    expires_at: int | None = None
    id: str | int | None = None


class ErrorReply(msgspec.Struct, tag="error", frozen=True, omit_defaults=True):
    """Reply to a refused message, or the fault of a subscribed channel. The connection stays open."""

    code: ErrorCode
    message: str
    id: str | int | None = None
    channel: str | None = None


class Notice(msgspec.Struct, tag="notice", frozen=True, rename="camel"):
    """An announcement to all clients. The connection is closed after `closesInMs`."""

    code: str
    message: str
    closes_in_ms: int


Answer = Subscribed | Unsubscribed | Pong | Authenticated | ErrorReply


class MarketPush(msgspec.Struct, Generic[Data], frozen=True):
    """A push of a market channel. If `data` is the publisher's whole payload, it stays as bytes (`msgspec.Raw`)."""

    channel: str
    type: str
    seq: int
    ts: int
    data: Data


class BestPrices(msgspec.Struct, frozen=True, rename="camel"):
    """The best bid and ask of a market, as texts; null while there is none. `seq` is the event that changed them."""

    symbol: str
    bid_price: str | None
    bid_quantity: str | None
    ask_price: str | None
    ask_quantity: str | None
    seq: int
    timestamp: int


class UserPush(msgspec.Struct, frozen=True):
    """A push of a per-user channel."""

    channel: str
    type: str
    event: str
    seq: int
    ts: int
    data: msgspec.Raw


class MarketHead(msgspec.Struct, frozen=True):
    """The fields of a `marketdata.*` payload that the edge reads. The client gets the whole payload."""

    symbol: str
    seq: Count
    timestamp: Count | None = None
    type: Literal["snapshot", "update"] = "update"


market_head = msgspec.json.Decoder(MarketHead).decode


class OrderHead(msgspec.Struct, frozen=True):
    """The fields of an `orders.*` payload that the edge reads. `order` is forwarded unchanged."""

    sequence: Count
    timestamp: Count
    order: msgspec.Raw


class OrderIdentity(msgspec.Struct, rename="camel", frozen=True):
    """The order of an `orders.*` payload, and its user."""

    order_id: Id
    user_id: str


class BalanceHead(msgspec.Struct, rename="camel", frozen=True):
    """The fields of a `balances.updated.*` payload that the edge reads."""

    user_id: str
    asset: Id
    timestamp: Count
    version: Count = 0


class NotificationHead(msgspec.Struct, rename="camel", frozen=True):
    """The fields of a `notifications.user.*` payload that the edge reads. The client gets the whole payload."""

    id: Annotated[str, msgspec.Meta(max_length=NOTIFICATION_ID_LENGTH_MAX)]
    created_at: Count


Event = TypeVar("Event")


def read_event(decode: Callable[[bytes], Event], payload: bytes) -> Event:
    """An event, or the part of it that `decode` reads. Raises MalformedEventError."""
    try:
        # The decoder does not check the parts that it skips. Clients close a connection that sends invalid UTF-8.
        payload.decode()
        return decode(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedEventError(str(error)) from error
