"""IOC orders of margin accounts, through the order router. Each has an id of its own and is placed once."""

from decimal import Decimal
from typing import NamedTuple

from openspot.contracts import subjects
from openspot.contracts.messages import OrderRecord, OrderRequest, SubmitOrder, SubmitOrderReply
from openspot.contracts.refusals import RefusalCode
from openspot.domain.money import amount_to_text, parse_decimal, to_amount
from openspot.domain.order import OrderStatus, Side
from openspot.domain.result_code import ResultCode
from openspot.kit.bus import BusError
from openspot.kit.database import Connection, text_of
from openspot.margin.dependencies import Dependencies

_REFUSED_BY_ROUTER = frozenset({RefusalCode.VALIDATION, RefusalCode.PRE_TRADE_CHECK})
_ENDED = frozenset({OrderStatus.FILLED, OrderStatus.CANCELLED, OrderStatus.REJECTED})


class OrderUndecidedError(Exception):
    """Nobody knows yet how the order ended. The caller repeats the call until it is known."""


class OrderOutcome(NamedTuple):
    """How an order ended, at 18 places. `spent` is the notional with the fee. `reason` says why it was refused."""

    quantity: int
    notional: int
    spent: int
    average_price: Decimal | None
    reason: str | None


class OrderRefusedError(OrderUndecidedError):
    """The router refused the order before the engine saw it. The message is its reason.

    An earlier attempt whose reply was lost may still be on its way to the engine.
    """


class MarginOrder(NamedTuple):
    """An IOC order for a margin account. `quantity` and `price`, the worst one, have 18 places.

    Without a price it is a market order, as earlier releases planned those of liquidations.
    """

    order_id: str
    account_id: str
    symbol: str
    side: Side
    quantity: int
    price: int | None


async def outcome_of(dependencies: Dependencies, connection: Connection, order: MarginOrder) -> OrderOutcome:
    """Place an order, unless it was placed before, and return how it ended.

    Raises OrderRefusedError if the router refuses it, and OrderUndecidedError.
    """
    recorded = await recorded_outcome(connection, order.order_id)
    if recorded is not None:
        return recorded
    request = SubmitOrder(
        order.account_id,
        OrderRequest(
            order.order_id,
            order.symbol,
            order.side.name.lower(),
            "market" if order.price is None else "limit",
            amount_to_text(order.quantity),
            None if order.price is None else amount_to_text(order.price),
            time_in_force="ioc",
            margin_mode="cross",
        ),
        dependencies.now_ms() + dependencies.settings.order_deadline_ms,
        is_immediate=True,
    )
    try:
        reply = await dependencies.bus.request(subjects.ORDERS_SUBMIT, request, SubmitOrderReply)
    except BusError as error:
        raise OrderUndecidedError(f"the order router did not reply: {error}") from error
    if reply.code in _REFUSED_BY_ROUTER:
        raise OrderRefusedError(reply.error or "the router refused the order")
    # An order with this id may have been placed before this process or the router was restarted.
    is_repeat = reply.code is RefusalCode.DUPLICATE_ORDER_ID or reply.error == ResultCode.DUPLICATE_ORDER_ID.name
    if reply.order is None or is_repeat or OrderStatus(reply.order.status) not in _ENDED:
        raise OrderUndecidedError(reply.error or "the order has not ended")
    return _outcome(reply.order)


async def recorded_outcome(connection: Connection, order_id: str) -> OrderOutcome | None:
    """How an order ended, from the router's row; None if there is no row.

    Raises OrderRefusedError if the row is the router's refusal, OrderUndecidedError if the order has not ended.
    """
    row = await connection.fetchrow(
        "SELECT status, engine_order_id, filled_quantity, filled_notional, fee, reject_reason FROM orders"
        " WHERE order_id = $1",
        order_id,
    )
    if row is None:
        return None
    if OrderStatus(row["status"]) not in _ENDED:
        raise OrderUndecidedError(f"the order is {row['status']}")
    if row["engine_order_id"] is None:
        raise OrderRefusedError(row["reject_reason"] or "the router refused the order")
    quantity, notional = to_amount(row["filled_quantity"]), to_amount(row["filled_notional"])
    if not quantity:
        return nothing_filled(row["reject_reason"] or "nothing was traded")
    average = row["filled_notional"] / row["filled_quantity"]
    spent = notional + to_amount(row["fee"])
    return OrderOutcome(quantity, notional, spent, parse_decimal(text_of(round(average, 18))), None)


async def was_placed(connection: Connection, order_id: str) -> bool:
    """Whether the router has a row of the order, whatever became of it."""
    return bool(await connection.fetchval("SELECT EXISTS (SELECT FROM orders WHERE order_id = $1)", order_id))


async def was_never_placed(dependencies: Dependencies, connection: Connection, order_id: str) -> bool:
    """Whether the engine does not know the order. Raises EngineError."""
    found = await dependencies.commands.get_order(order_id)
    query = "SELECT EXISTS (SELECT FROM orders WHERE order_id = $1 AND engine_order_id IS NOT NULL)"
    return not found.found and not await connection.fetchval(query, order_id)


def _outcome(record: OrderRecord) -> OrderOutcome:
    quantity = to_amount(parse_decimal(record.filled_quantity))
    if not quantity or record.average_price is None:
        return nothing_filled(record.reject_reason or "nothing was traded")
    average = parse_decimal(record.average_price)
    notional = to_amount(round(average * parse_decimal(record.filled_quantity), 18))
    return OrderOutcome(quantity, notional, notional + to_amount(parse_decimal(record.fee)), average, None)


def nothing_filled(reason: str) -> OrderOutcome:
    """The end of an order that traded nothing."""
    return OrderOutcome(0, 0, 0, None, reason)
