"""Orders: the requests of the order router, and the events `orders.*`."""

from typing import Annotated, Self

import msgspec

from openspot.contracts.messages.message import DecimalText, Message, TimeText, listed
from openspot.contracts.messages.reply import RefusableReply
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.domain.ids import ORDER_ID_LENGTH
from openspot.domain.order import OrderStatus, OrderType, SelfTradePrevention, TimeInForce, TriggerSource, TriggerStatus
from openspot.domain.order_list import ListRole, ListState, ListType

OrderIdText = Annotated[str, msgspec.Meta(extra_json_schema={"minLength": ORDER_ID_LENGTH})]
"""An order's id. Orders that were placed through the bus may have shorter ids, so decoding does not check it."""


class OrderRequest(Message, frozen=True):
    """An order as the REST edge sends it: valid in shape, not yet checked against the rules of its market.

    The edge allocates `order_id`. A market buy may have `quote_quantity`, the amount to spend, instead of `quantity`;
    under the complete rules of orders a market sell may have it, too. All numbers are decimal text, `max_slippage_bps`
    too. `post_only` is a domain.order.PostOnlyMode, None for an order that may take. `expires_at` is ISO 8601 in UTC.
    The fields from `trigger_by` on belong to the complete rules of orders.
    """

    order_id: str
    symbol: str
    side: str
    type: str
    quantity: str | None = None
    price: str | None = None
    quote_quantity: str | None = None
    stop_price: str | None = None
    time_in_force: str = "gtc"
    margin_mode: str | None = None
    max_slippage_bps: str | None = None
    client_order_id: str | None = None
    post_only: str | None = None
    trigger_by: str | None = None
    trailing_amount: str | None = None
    trailing_bps: int | None = None
    expires_at: str | None = None
    self_trade_prevention: str | None = None
    display_quantity: str | None = None


class OrderFill(Message, frozen=True):
    """A fill that an order made at once, as the taker."""

    trade_id: str
    price: DecimalText
    quantity: DecimalText
    fee: DecimalText
    fee_currency: str


class OrderRecord(Message, frozen=True):
    """An order as clients see it (fact A2.1-15). Times are ISO 8601 in UTC.

    `time_in_force` and `margin_mode` are only stored, unless the complete rules of orders are on, which honour the time
    in force. Only they have the fields from `post_only` on: that of an order that never takes; `fills`, in the reply to
    a placement, are those that the order made at once, oldest first, at most 100; `fills_truncated` says that there are
    more; `expires_at` and `self_trade_prevention` are there if the order asked for them, and `display_quantity`: what
    the order shows of its quantity at a time while it rests.

    Only an order with a trigger has the others. While `trigger_status` is waiting, the order is not in the book, though
    its status is open. `stop_price` of a trailing order is null until it fires. An order that ended before it fired
    stays waiting. One of `trailing_amount` and `trailing_bps` is there for a trailing order, and null for the others.
    `max_slippage_bps` is there if the order asked for one: how far from its trigger it may match, in basis points.

    Only an order of a list has the fields from `list_id` on. While `list_state` is planned, the order is an exit that
    waits for its entry: its status is open, but it holds no funds, and its quantity becomes what the entry has filled.
    active: what happens to one order of the list happens to the others. ended: the order went on alone. An order that
    ends keeps the state that it had.
    """

    order_id: OrderIdText
    client_order_id: str | None
    user_id: str
    symbol: str
    side: Annotated[str, listed("buy", "sell")]
    type: Annotated[str, listed(*OrderType)]
    time_in_force: Annotated[str, listed(*TimeInForce)]
    margin_mode: str | None
    price: DecimalText | None
    quantity: DecimalText
    filled_quantity: DecimalText
    remaining_quantity: DecimalText
    average_price: DecimalText | None
    fee: DecimalText
    fee_currency: str
    status: Annotated[str, listed(*OrderStatus)]
    reject_reason: str | None
    created_at: TimeText
    updated_at: TimeText
    post_only: bool | msgspec.UnsetType = msgspec.UNSET
    fills: list[OrderFill] | msgspec.UnsetType = msgspec.UNSET
    fills_truncated: bool | msgspec.UnsetType = msgspec.UNSET
    stop_price: DecimalText | msgspec.UnsetType | None = msgspec.UNSET
    trigger_by: Annotated[str, listed(*TriggerSource)] | msgspec.UnsetType = msgspec.UNSET
    trailing_amount: DecimalText | msgspec.UnsetType | None = msgspec.UNSET
    trailing_bps: int | msgspec.UnsetType | None = msgspec.UNSET
    trigger_status: Annotated[str, listed(*TriggerStatus)] | msgspec.UnsetType = msgspec.UNSET
    triggered_at: TimeText | msgspec.UnsetType | None = msgspec.UNSET
    expires_at: TimeText | msgspec.UnsetType = msgspec.UNSET
    self_trade_prevention: Annotated[str, listed(*SelfTradePrevention)] | msgspec.UnsetType = msgspec.UNSET
    list_id: str | msgspec.UnsetType = msgspec.UNSET
    client_list_id: str | msgspec.UnsetType | None = msgspec.UNSET
    list_type: Annotated[str, listed(*ListType)] | msgspec.UnsetType = msgspec.UNSET
    list_role: Annotated[str, listed(*ListRole)] | msgspec.UnsetType = msgspec.UNSET
    list_state: Annotated[str, listed(*ListState)] | msgspec.UnsetType = msgspec.UNSET
    display_quantity: DecimalText | msgspec.UnsetType = msgspec.UNSET
    max_slippage_bps: DecimalText | msgspec.UnsetType = msgspec.UNSET


class SubmitOrder(Message, frozen=True):
    """Request `orders.submit`.

    `deadline` is in milliseconds since 1970. After it nobody waits for the reply, and the router does not place the
    order. A limit order with `is_immediate` reaches the engine with its own time in force, whatever the setting of fact
    A1.2-13 says. A liquidation needs that, and no client can ask for it.
    """

    user_id: str
    order: OrderRequest
    deadline: int | None = None
    is_immediate: bool = False


class SubmitOrderReply(RefusableReply, frozen=True):
    """Reply of `orders.submit`. A refusal has `error` and `code`, and the rejected `order` if it was recorded.

    A refusal with DUPLICATE_CLIENT_ORDER_ID names the open order that has the client order id.
    """

    success: bool
    order: OrderRecord | None = None
    conflicting_order_id: str | None = None

    @classmethod
    def refused(cls, refusal: Refusal, order: OrderRecord | None = None) -> Self:
        """A reply with this refusal."""
        return cls(False, order, error=refusal.message, code=refusal.code)


class CancelOrder(Message, frozen=True):
    """Request `orders.cancel`. `symbol` may be empty if the caller does not know it."""

    user_id: str
    order_id: str
    symbol: str = ""


class CancelOrderReply(RefusableReply, frozen=True):
    """Reply of `orders.cancel`. A refusal has `error` and `code`. `order` is the order as the router knows it."""

    success: bool
    order: OrderRecord | None = None

    @classmethod
    def refused(cls, refusal: Refusal, order: OrderRecord | None = None) -> Self:
        """A reply with this refusal."""
        return cls(False, order=order, error=refusal.message, code=refusal.code)


class CancelOpenOrders(Message, frozen=True):
    """Request `orders.cancel_open`: cancel as many of a user's open orders as the engine takes in one call.

    An empty symbol means every symbol, an empty side both sides. With `order_ids`, at most 500, only those of them.
    """

    user_id: str
    symbol: str = ""
    side: str = ""
    order_ids: tuple[str, ...] = ()


class CancelOpenOrdersReply(RefusableReply, frozen=True):
    """Reply of `orders.cancel_open`: the ids of the cancelled orders, and whether more such orders remain.

    A refusal has `error` and `code`.
    """

    NOTHING = (False,)

    success: bool
    cancelled: tuple[str, ...] = ()
    more_remain: bool = False


class SubmitOrderList(Message, frozen=True):
    """Request `orders.submit_list`: place orders that depend on each other, all or none.

    `type` is a domain.order_list.ListType. The entry comes first, if there is one. The caller allocates the ids of the
    list and of its orders: the same request has the same ids, however often it is sent. `deadline` is as in
    SubmitOrder.
    """

    user_id: str
    list_id: str
    type: str
    orders: tuple[OrderRequest, ...]
    client_list_id: str | None = None
    deadline: int | None = None


class SubmitOrderListReply(RefusableReply, frozen=True):
    """Reply of `orders.submit_list`: the orders as they are once the engine has placed the list, in their order.

    A refusal has `error` and `code`, and the rejected `orders` if they were recorded. `failed_order` is the place of
    the order that is the reason, from 1; 0 if no single one is.
    """

    NOTHING = (False,)

    success: bool
    orders: tuple[OrderRecord, ...] = ()
    failed_order: int = 0

    @classmethod
    def refused(cls, refusal: Refusal, orders: tuple[OrderRecord, ...] = (), failed_order: int = 0) -> Self:
        """A reply with this refusal."""
        return cls(False, orders, failed_order, error=refusal.message, code=refusal.code)


class CancelOrderList(Message, frozen=True):
    """Request `orders.cancel_list`: cancel all that is open or planned of a list."""

    user_id: str
    list_id: str


class CancelOrderListReply(RefusableReply, frozen=True):
    """Reply of `orders.cancel_list`: the orders of the list. A refusal has `error` and `code`."""

    NOTHING = (False,)

    success: bool
    orders: tuple[OrderRecord, ...] = ()

    @classmethod
    def refused(cls, refusal: Refusal, orders: tuple[OrderRecord, ...] = ()) -> Self:
        """A reply with this refusal."""
        return cls(False, orders, error=refusal.message, code=refusal.code)


class OrderAmendment(Message, frozen=True):
    """What an order shall have: a price, an ordered quantity (with what is filled), the price of its trigger.

    None leaves one as it is.
    """

    order_id: str
    price: str | None = None
    quantity: str | None = None
    stop_price: str | None = None


class AmendOrders(Message, frozen=True):
    """Request `orders.amend`: amend up to 20 open limit orders of a user in one step, each with its own outcome.

    `deadline` is in milliseconds since 1970. After it nobody waits for the reply, and the router amends nothing.
    """

    user_id: str
    orders: tuple[OrderAmendment, ...]
    deadline: int | None = None


class AmendmentOutcome(Message, frozen=True):
    """What became of one amendment. A refusal has `error` and `code`. `order` is the order as the router knows it."""

    order_id: str
    success: bool
    order: OrderRecord | None = None
    error: str | None = None
    code: RefusalCode | None = None

    @classmethod
    def refused(cls, order_id: str, refusal: Refusal, order: OrderRecord | None = None) -> Self:
        """An outcome with this refusal."""
        return cls(order_id, False, order, refusal.message, refusal.code)


class AmendOrdersReply(RefusableReply, frozen=True):
    """Reply of `orders.amend`: the outcomes in the order of the request.

    A refusal of the whole request has `error` and `code`.
    """

    NOTHING = (False,)

    success: bool
    outcomes: tuple[AmendmentOutcome, ...] = ()


class ReplaceOrder(Message, frozen=True):
    """Request `orders.replace`: cancel an open order of a user and place another on its symbol, with nothing between.

    With `allow_failure` the other is placed even if nothing is cancelled. `deadline` is as in SubmitOrder.
    """

    user_id: str
    order_id: str
    order: OrderRequest
    allow_failure: bool = False
    deadline: int | None = None


class ReplaceOrderReply(RefusableReply, frozen=True):
    """Reply of `orders.replace`: what became of the cancel and of the placement. One is None if it was not tried.

    A refusal of the whole request, after which nothing has changed, has `error` and `code`.
    """

    NOTHING = (None, None)

    cancelled: CancelOrderReply | None
    placed: SubmitOrderReply | None


class GetOrder(Message, frozen=True):
    """Request `orders.get`: find an order, even if its row is not written yet."""

    user_id: str
    order_id: str


class GetOrderReply(RefusableReply, frozen=True):
    """Reply of `orders.get`. If it has neither order nor error, the order is unknown or another user's."""

    order: OrderRecord | None = None


class GetTriggers(Message, frozen=True):
    """Request `orders.get_triggers`: the prices that fire up to 20 orders of a user now."""

    user_id: str
    order_ids: tuple[str, ...]


class OrderTrigger(Message, frozen=True):
    """The price that fires an order now, and the limit that it would match with.

    Both of a trailing order move with the best price since it was placed. Without a price of its own an order has the
    worst price that its slippage allows as the limit.
    """

    order_id: str
    trigger_price: DecimalText
    limit_price: DecimalText


class GetTriggersReply(RefusableReply, frozen=True):
    """Reply of `orders.get_triggers`, in the order of the request.

    Left out are orders that do not wait for a price, unknown ones and those of other users.
    """

    triggers: tuple[OrderTrigger, ...] = ()


class IncompleteOrder(Message, frozen=True):
    """Payload of `orders.incomplete.<userId>`: an order that ended with a part of it filled, or with nothing although
    its trigger had fired.

    `filled_notional` is Σ price × quantity of its fills, in the quote asset. `reason` is the name of a result code.
    """

    order_id: str
    user_id: str
    symbol: str
    side: str
    quantity: DecimalText
    filled_quantity: DecimalText
    filled_notional: DecimalText
    reason: str
    timestamp: int


class OrderEvent(Message, frozen=True):
    """Payload of `orders.*`: the order's record after the event.

    `sequence` is the sequence of the engine's event; 0 for an order that the router refused.
    """

    event: str
    sequence: int
    timestamp: int
    order: OrderRecord
    reason: str | None = None
