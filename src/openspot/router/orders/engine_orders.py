"""Converts orders for the engine and back: the PlaceOrder request, and the order that its response describes.

A limit order is sent as GTC, a market order as IOC (facts A1.2-07 to A1.2-15). With `honour_time_in_force`, IOC and FOK
limit orders are sent as such, and so are those of a liquidation (`is_immediate`). A market order has a price bound. A
buy has the price at which the engine reserves funds (fact A1.3-29).
"""

from decimal import Decimal
from typing import Any, NamedTuple

import msgspec

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.contracts.messages import OrderFill, OrderRecord
from openspot.domain.money import EXACT, decimal_to_text, scaled_to_text
from openspot.domain.order import OrderStatus, OrderType, PostOnlyMode, TimeInForce, TriggerKind, TriggerSource
from openspot.domain.order_list import ListRole, ListState, ListType, role_of
from openspot.domain.symbol import SymbolSpec
from openspot.router.orders.draft import OrderDraft
from openspot.router.orders.engine_terms import add_terms, kept_terms, tracked_terms
from openspot.router.orders.pre_trade import Candidate
from openspot.router.tracked_order import ZERO, OrderMetadata, TrackedOrder, quote_of, record_of

_TYPE_BY_TIME_IN_FORCE = {
    TimeInForce.GTC: orders_pb2.GTC,
    TimeInForce.IOC: orders_pb2.IOC,
    TimeInForce.FOK: orders_pb2.FOK,
    TimeInForce.GTD: orders_pb2.GTC,
}
_TIME_IN_FORCE_BY_TYPE = {orders_pb2.IOC: "ioc", orders_pb2.FOK: "fok", orders_pb2.FOK_BUDGET: "fok"}
_POST_ONLY = {
    None: orders_pb2.MAY_TAKE,
    PostOnlyMode.REFUSE: orders_pb2.REFUSE,
    PostOnlyMode.SLIDE: orders_pb2.SLIDE,
}
_STATUS_BY_NAME = {
    "PLANNED": OrderStatus.OPEN,
    "WAITING": OrderStatus.OPEN,
    "OPEN": OrderStatus.OPEN,
    "PARTIALLY_FILLED": OrderStatus.PARTIALLY_FILLED,
    "FILLED": OrderStatus.FILLED,
    "CANCELLED": OrderStatus.CANCELLED,
    "REJECTED": OrderStatus.REJECTED,
}
_encode_metadata = msgspec.json.Encoder().encode


class Listing(NamedTuple):
    """The list of an order, and the order's place in it, from 1."""

    list_id: str
    client_list_id: str | None
    type: ListType
    place: int

    def role(self, draft: OrderDraft) -> ListRole:
        """What the order is in the list."""
        return role_of(self.type, self.place, draft.type)

    def kept(self, draft: OrderDraft) -> dict[str, Any]:
        """The fields of an OrderMetadata that come from the list."""
        return {
            "list_id": self.list_id,
            "client_list_id": self.client_list_id,
            "list_type": self.type.value,
            "list_role": self.role(draft).value,
        }

    def tracked(self, draft: OrderDraft) -> dict[str, Any]:
        """The fields of a TrackedOrder that come from the list."""
        is_planned = self.type.has_entry and self.place > 1
        return self.kept(draft) | {"list_state": (ListState.PLANNED if is_planned else ListState.ACTIVE).value}


def engine_type(draft: OrderDraft, *, honour_time_in_force: bool) -> orders_pb2.OrderType:
    """The engine's order type for a draft."""
    if draft.is_market:
        fok = honour_time_in_force and draft.time_in_force is TimeInForce.FOK
        return orders_pb2.FOK if fok else orders_pb2.IOC
    is_own = honour_time_in_force or draft.is_immediate
    return _TYPE_BY_TIME_IN_FORCE[draft.time_in_force] if is_own else orders_pb2.GTC


def place_request(
    candidate: Candidate, engine_order_id: int, *, honour_time_in_force: bool, listing: Listing | None = None
) -> orders_pb2.PlaceOrderRequest:
    """The request to the engine for a candidate that passed every check."""
    draft = candidate.draft
    price = candidate.scaled_price
    is_complete = candidate.has_complete_rules
    metadata = OrderMetadata(
        type=draft.type.value,
        time_in_force=draft.time_in_force.value,
        client_order_id=draft.client_order_id,
        margin_mode=draft.margin_mode,
        quantity=decimal_to_text(candidate.quantity) if candidate.is_sized else None,
        **(kept_terms(draft) if is_complete else {}),
        **(listing.kept(draft) if listing is not None else {}),
    )
    request = orders_pb2.PlaceOrderRequest(
        order_id=engine_order_id,
        participant_id=draft.user_id,
        symbol=draft.symbol,
        side=orders_pb2.BUY if draft.is_buy else orders_pb2.SELL,
        type=engine_type(draft, honour_time_in_force=honour_time_in_force),
        price=price,
        quantity=candidate.scaled_quantity,
        reserve_price=price if draft.is_buy else 0,
        external_id=draft.order_id,
        metadata=_encode_metadata(metadata).decode(),
        budget=decimal_to_text(draft.quote_quantity) if candidate.is_sized and draft.quote_quantity else "",
        post_only=_POST_ONLY[draft.post_only],
        client_order_id=(draft.client_order_id or "") if is_complete else "",
        with_fills=is_complete,
    )
    if is_complete and not draft.terms.is_empty:
        add_terms(request, draft, candidate.scaled_trigger, candidate.scaled_display)
    return request


def pending_order(candidate: Candidate, engine_order_id: int, now_ms: int) -> TrackedOrder:
    """The order before the engine responds."""
    return _order(
        draft=candidate.draft,
        quantity=candidate.quantity,
        fee_currency=quote_of(candidate.draft.symbol),
        engine_order_id=engine_order_id,
        status=OrderStatus.PENDING,
        remaining=candidate.quantity,
        reason=None,
        now_ms=now_ms,
        has_complete_rules=candidate.has_complete_rules,
    )


def listed_order(order: TrackedOrder, draft: OrderDraft, listing: Listing) -> TrackedOrder:
    """The order of a draft with the list that it belongs to."""
    return msgspec.structs.replace(order, **listing.tracked(draft))


def refused_order(draft: OrderDraft, reason: str, now_ms: int, *, has_complete_rules: bool = False) -> TrackedOrder:
    """An order that the pre-trade check refused. The engine never saw it."""
    quantity = draft.quantity or ZERO
    return _order(
        draft=draft,
        quantity=quantity,
        fee_currency=quote_of(draft.symbol),
        engine_order_id=None,
        status=OrderStatus.REJECTED,
        remaining=ZERO,
        reason=reason,
        now_ms=now_ms,
        has_complete_rules=has_complete_rules,
    )


def order_in_response(pending: TrackedOrder, spec: SymbolSpec, response: orders_pb2.PlaceOrderResponse) -> TrackedOrder:
    """The order after the engine's response: open, filled in part or in full, cancelled or rejected."""
    scaled = response.filled_quantity
    filled = quantity_of(scaled, spec) if scaled else ZERO
    remaining = quantity_of(response.remaining_quantity, spec)
    rejected = response.status == orders_pb2.REJECTED
    return msgspec.structs.replace(
        pending,
        price=price_of(response.accepted_price, spec) if response.accepted_price and pending.price else pending.price,
        quantity=quantity_of(response.accepted_quantity, spec) if response.accepted_quantity else pending.quantity,
        filled_quantity=filled,
        filled_notional=Decimal(response.notional or "0"),
        remaining_quantity=ZERO if rejected else remaining,
        fee=Decimal(response.fee or "0"),
        status=_status_of(response),
        reject_reason=response.result_code if rejected else None,
        last_sequence=response.sequence,
        created_ms=response.timestamp or pending.created_ms,
        updated_ms=response.timestamp or pending.created_ms,
    )


def placed_record(
    order: TrackedOrder, spec: SymbolSpec, response: orders_pb2.PlaceOrderResponse, *, with_fills: bool
) -> OrderRecord:
    """The order after the engine's response as clients see it, with its fills if they are wanted."""
    record = record_of(order)
    if not with_fills:
        return record
    fills = [
        OrderFill(
            fill.trade_id,
            scaled_to_text(fill.price, spec.quote_scale_k),
            scaled_to_text(fill.quantity, spec.base_scale_k),
            fill.fee,
            spec.quote,
        )
        for fill in response.fills
    ]
    return msgspec.structs.replace(record, fills=fills, fills_truncated=response.fills_truncated)


def orders_of_list(
    pending: list[TrackedOrder], list_type: ListType, spec: SymbolSpec, response: orders_pb2.PlaceOrderListResponse
) -> list[TrackedOrder]:
    """The orders of a list after the engine's response, which tells of the entry only what it has filled.

    Its fee, and what has become of its exits, stand in the rows.
    """
    rejected = response.status == orders_pb2.REJECTED
    common = {
        "last_sequence": response.sequence,
        "created_ms": response.timestamp or pending[0].created_ms,
        "updated_ms": response.timestamp or pending[0].created_ms,
    }
    if rejected:
        refused = {"status": OrderStatus.REJECTED, "remaining_quantity": ZERO, "reject_reason": response.result_code}
        return [msgspec.structs.replace(order, **common | refused) for order in pending]
    opened = [msgspec.structs.replace(order, **common, status=OrderStatus.OPEN) for order in pending]
    if list_type.has_entry:
        filled, remaining = (
            quantity_of(scaled, spec) for scaled in (response.filled_quantity, response.remaining_quantity)
        )
        if remaining:
            status = OrderStatus.PARTIALLY_FILLED if filled else OrderStatus.OPEN
        else:
            status = OrderStatus.FILLED if filled == pending[0].quantity else OrderStatus.CANCELLED
        opened[0] = msgspec.structs.replace(
            opened[0],
            status=status,
            filled_quantity=filled,
            filled_notional=Decimal(response.notional or "0"),
            remaining_quantity=remaining,
        )
    return opened


def found_order(found: orders_pb2.GetOrderResponse, spec: SymbolSpec, now_ms: int) -> TrackedOrder:
    """An order that only the engine knows so far.

    The engine's response has no order type of the platform, no time of the order, and no prices and fees of its fills.
    Until the order's row is written, the order is shown as one that was placed just now: as a stop, a take profit or a
    trailing stop, with a limit or without, while it waits; else as a limit order.
    """
    quantity, remaining = quantity_of(found.quantity, spec), quantity_of(found.remaining_quantity, spec)
    status = status_of(found)
    filled = quantity if status is OrderStatus.FILLED else ZERO
    if status is OrderStatus.PARTIALLY_FILLED:
        filled = EXACT.subtract(quantity, remaining)
    price = price_of(found.trigger_limit or found.price, spec)
    waits = found.status == "WAITING"
    is_market = waits and not _has_limit(found)
    return TrackedOrder(
        order_id=found.external_id,
        engine_order_id=found.order_id,
        client_order_id=None,
        user_id=found.participant_id,
        symbol=found.symbol,
        side="buy" if found.side == orders_pb2.BUY else "sell",
        type=_waiting_type(found).value if waits else "limit",
        time_in_force=_TIME_IN_FORCE_BY_TYPE.get(found.type, "gtc"),
        margin_mode=None,
        price=None if is_market else price,
        quantity=quantity,
        filled_quantity=filled,
        filled_notional=EXACT.multiply(price, filled),
        remaining_quantity=remaining if status in (OrderStatus.OPEN, OrderStatus.PARTIALLY_FILLED) else ZERO,
        fee=ZERO,
        fee_currency=spec.quote,
        status=status,
        reject_reason=None,
        last_sequence=0,
        created_ms=now_ms,
        updated_ms=now_ms,
        post_only=found.post_only == orders_pb2.REFUSE,
        **(_found_trigger(found, spec) if waits else {}),
    )


def _waiting_type(found: orders_pb2.GetOrderResponse) -> OrderType:
    """The type of an order that waits: its trigger says which."""
    is_market = not _has_limit(found)
    if found.trigger != orders_pb2.TRIGGER_FIXED:
        return OrderType.TRAILING_STOP_MARKET if is_market else OrderType.TRAILING_STOP_LIMIT
    is_above = found.trigger_direction == orders_pb2.TRIGGER_AT_OR_ABOVE
    if is_above == (found.side == orders_pb2.BUY):
        return OrderType.STOP_MARKET if is_market else OrderType.STOP_LIMIT
    return OrderType.TAKE_PROFIT_MARKET if is_market else OrderType.TAKE_PROFIT_LIMIT


def _has_limit(found: orders_pb2.GetOrderResponse) -> bool:
    """Whether the owner chose the limit of an order that waits. Of an order of an older journal its type decides."""
    return found.has_limit or found.type == orders_pb2.GTC


def _found_trigger(found: orders_pb2.GetOrderResponse, spec: SymbolSpec) -> dict[str, Any]:
    """The fields of a TrackedOrder that come from the trigger of an order that waits."""
    is_by_mark = found.trigger_source == orders_pb2.TRIGGER_MARK_PRICE
    trigger: dict[str, Any] = {"trigger_by": (TriggerSource.MARK if is_by_mark else TriggerSource.LAST).value}
    match found.trigger:
        case TriggerKind.FIXED:
            trigger["stop_price"] = price_of(found.trigger_price, spec)
        case TriggerKind.TRAILING_DISTANCE:
            trigger["trailing_amount"] = price_of(found.trigger_value, spec)
        case TriggerKind.TRAILING_BASIS_POINTS:
            trigger["trailing_bps"] = found.trigger_value
    return trigger


def status_of(found: orders_pb2.GetOrderResponse) -> OrderStatus:
    """The status of an order in a GetOrder response."""
    return _STATUS_BY_NAME[found.status]


def cancelled_order(order: TrackedOrder, sequence: int, now_ms: int) -> TrackedOrder:
    """The order after the engine has cancelled its rest, in the event with this sequence."""
    return msgspec.structs.replace(
        order,
        status=OrderStatus.CANCELLED,
        remaining_quantity=ZERO,
        last_sequence=max(sequence, order.last_sequence),
        updated_ms=max(now_ms, order.updated_ms),
    )


def _order(
    *,
    draft: OrderDraft,
    quantity: Decimal,
    fee_currency: str,
    engine_order_id: int | None,
    status: OrderStatus,
    remaining: Decimal,
    reason: str | None,
    now_ms: int,
    has_complete_rules: bool,
) -> TrackedOrder:
    return TrackedOrder(
        order_id=draft.order_id,
        engine_order_id=engine_order_id,
        client_order_id=draft.client_order_id,
        user_id=draft.user_id,
        symbol=draft.symbol,
        side=draft.side.value,
        type=draft.type.value,
        time_in_force=draft.time_in_force.value,
        margin_mode=draft.margin_mode,
        price=None if draft.is_market else draft.price,
        quantity=quantity,
        filled_quantity=ZERO,
        filled_notional=ZERO,
        remaining_quantity=remaining,
        fee=ZERO,
        fee_currency=fee_currency,
        status=status,
        reject_reason=reason,
        last_sequence=0,
        created_ms=now_ms,
        updated_ms=now_ms,
        post_only=draft.post_only is not None,
        **(tracked_terms(draft) if has_complete_rules else {}),
    )


def price_of(scaled: int, spec: SymbolSpec) -> Decimal:
    """A price in the engine's units as a decimal."""
    return Decimal(scaled_to_text(scaled, spec.quote_scale_k))


def quantity_of(scaled: int, spec: SymbolSpec) -> Decimal:
    """A quantity in the engine's units as a decimal."""
    return Decimal(scaled_to_text(scaled, spec.base_scale_k))


def _status_of(response: orders_pb2.PlaceOrderResponse) -> OrderStatus:
    if response.status == orders_pb2.REJECTED:
        return OrderStatus.REJECTED
    if response.status == orders_pb2.CANCELLED:
        return OrderStatus.CANCELLED
    if response.remaining_quantity:
        return OrderStatus.PARTIALLY_FILLED if response.filled_quantity else OrderStatus.OPEN
    # Nothing is left of an order that is filled in part, so the engine cancelled the rest.
    return OrderStatus.FILLED if response.is_order_completed else OrderStatus.CANCELLED
