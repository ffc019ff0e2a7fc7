"""The messages of an order connection."""

from typing import Annotated

import msgspec

from openspot.contracts.order_actions import ORDER_ACTIONS
from openspot.kit.tokens import TOKEN_LENGTH_MAX

TEXT_LENGTH_MAX = 64
_INTEGER_MAX = 2**53 - 1
"""The largest integer that JavaScript holds exactly."""

PING, AUTHENTICATE = "ping", "authenticate"
ACTIONS = (*ORDER_ACTIONS, PING, AUTHENTICATE)

PathText = Annotated[str, msgspec.Meta(min_length=1, max_length=TEXT_LENGTH_MAX, pattern=r"^[^/]*$")]
MessageId = (
    Annotated[str, msgspec.Meta(max_length=TEXT_LENGTH_MAX)]
    | Annotated[int, msgspec.Meta(ge=-_INTEGER_MAX, le=_INTEGER_MAX)]
)


class OrderMessage(msgspec.Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    """A message of a client. `body` is the body of the REST request, byte for byte."""

    action: str
    id: MessageId
    body: msgspec.Raw = msgspec.Raw(b"")
    order_id: PathText | None = None
    client_order_id: PathText | None = None
    list_id: PathText | None = None
    idempotency_key: Annotated[str, msgspec.Meta(max_length=255)] | None = None
    token: Annotated[str, msgspec.Meta(max_length=TOKEN_LENGTH_MAX)] | None = None

    def parameter(self, name: str) -> str | None:
        """What the message gives for the property `orderId`, `clientOrderId` or `listId`."""
        if name == "listId":
            return self.list_id
        return self.order_id if name == "orderId" else self.client_order_id


class Pong(msgspec.Struct, tag="pong", frozen=True):
    """Reply to ping."""

    id: MessageId


class Authenticated(msgspec.Struct, tag="authenticated", frozen=True, rename="camel"):
    """Reply to authenticate: the new token counts from now on. It ends at `expiresAt`, in seconds since 1970."""

    id: MessageId
    expires_at: int


class MessageRefused(msgspec.Struct, tag="error", frozen=True):
    """Reply to a message that was not carried out. `id` is null if it could not be read."""

    id: MessageId | None
    code: str
    message: str


class MessageError(Exception):
    """A message cannot be carried out."""

    def __init__(self, message_id: str | int | None, code: str, reason: str) -> None:
        super().__init__(reason)
        self.reply = MessageRefused(message_id, code, reason)


class _Identified(msgspec.Struct):
    id: MessageId | None = None


_message = msgspec.json.Decoder(OrderMessage)
_identified = msgspec.json.Decoder(_Identified)


def read_message(text: str) -> OrderMessage:
    """The message that a client sent. Raises MessageError, which names the property and the reason."""
    try:
        message = _message.decode(text)
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise MessageError(_id_of(text), "MALFORMED_MESSAGE", str(error)) from None
    action = ORDER_ACTIONS.get(message.action)
    wanted = action.parameter if action is not None else ""
    if action is None and message.action not in ACTIONS:
        raise MessageError(message.id, "UNKNOWN_ACTION", f"action must be one of {', '.join(ACTIONS)}")
    for name in ("orderId", "clientOrderId", "listId"):
        is_given = message.parameter(name) is not None
        if is_given != (name == wanted):
            fault = "does not belong to" if is_given else "is required for"
            raise MessageError(message.id, "MALFORMED_MESSAGE", f"{name} {fault} {message.action}")
    return message


def _id_of(text: str) -> str | int | None:
    try:
        return _identified.decode(text).id
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None
