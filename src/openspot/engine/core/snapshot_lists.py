"""Reads order lists from a snapshot (docs/protocol/snapshot.md) into the reference core's state."""

from openspot.domain.money import AMOUNT_MAX
from openspot.domain.order import EngineOrderType, OrderListType, TriggerKind
from openspot.domain.symbol import SCALED_MAX
from openspot.engine.core.protocol import FEE_ACCOUNT
from openspot.engine.core.records import TERMS_FLAGS, CommandKind
from openspot.engine.core.reference_list_links import cover_lesser
from openspot.engine.core.reference_order import BookOrder
from openspot.engine.core.reference_order_list import LIST_SIZE_MAX, LIST_SIZES, ListPart, OrderList
from openspot.engine.core.reference_state import CoreState
from openspot.engine.core.reference_triggers import Waiter
from openspot.engine.core.snapshot_parts import (
    RecordReader,
    checked_waiter,
    read_waiting_command,
    require_content,
)
from openspot.engine.core.snapshot_records import (
    COUNT_32,
    COUNT_64,
    LIST_MEMBER,
    ORDER_LIST,
    WAITING_ORDER,
    OrderListRecord,
    WaitingOrderRecord,
)

_BROKEN = "an order list breaks a rule"


def read_order_lists(state: CoreState, reader: RecordReader) -> None:
    """Read the parts that a core has while it has lists, or while some wait for their PLACE_LIST."""
    count = reader.count(COUNT_32)
    require_content(count <= LIST_SIZE_MAX, "a wrong number of orders waits for their list")
    parts = [
        ListPart(read_waiting_command(reader, CommandKind.TERMS), read_waiting_command(reader, CommandKind.LIST_ORDER))
        for _ in range(count)
    ]
    if parts:
        state.keep_list_parts(parts, before_terms=state.terms_until(state.command_sequence) is not None)
    for _ in range(reader.count(COUNT_64)):
        _read_order_list(state, reader)
    for _ in range(reader.count(COUNT_64)):
        (list_id,) = reader.take(LIST_MEMBER)
        order_list = state.lists.get(list_id)
        waits = order_list is not None and order_list.unarmed > 0
        arming = state.books[order_list.symbol].arming if order_list else {}
        require_content(waits and list_id not in arming, "a list has nothing to arm, or is repeated")
        if order_list is not None:
            arming[list_id] = order_list
    unarmed = sum(order_list.unarmed > 0 for order_list in state.lists.values())
    require_content(unarmed == sum(len(book.arming) for book in state.books.values()), "a list is not armed")


def _read_order_list(state: CoreState, reader: RecordReader) -> None:
    record = OrderListRecord._make(reader.take(ORDER_LIST))
    list_type = record.list_type
    require_content(list_type in frozenset(OrderListType), _BROKEN)
    is_oco = list_type == OrderListType.OCO
    exits = LIST_SIZES[OrderListType(list_type)] - (not is_oco)
    fits = (
        record.list_id != 0
        and record.list_id not in state.lists
        and record.symbol in state.books
        and record.account in state.accounts
        and record.account != FEE_ACCOUNT
        and ((record.exits, record.plans) == (exits, 0) or (record.exits, record.plans) == (0, exits))
        and (not is_oco or (record.entry, record.unarmed, record.plans) == (0, 0, 0))
        and 0 <= record.unarmed <= SCALED_MAX
        # Else nothing would depend on anything.
        and (record.entry != 0 or record.unarmed > 0 or record.exits > 1)
    )
    require_content(fits, _BROKEN)
    require_content(record.unarmed % state.books[record.symbol].symbol.lot == 0, _BROKEN)
    order_list = OrderList(
        record.list_id, list_type, record.account, record.symbol, entry=record.entry, unarmed=record.unarmed
    )
    state.lists[record.list_id] = order_list
    growth = record.unarmed
    side = 0
    if record.entry:
        entry = _open_member(state, order_list, record.entry)
        growth, side = growth + entry.remaining, 3 - entry.side
    order_list.exits = [reader.take(LIST_MEMBER)[0] for _ in range(record.exits)]
    members = [_open_member(state, order_list, number) for number in order_list.exits]
    members += [_planned_member(state, order_list, reader) for _ in range(record.plans)]
    require_content(all(order.side == (side or members[0].side) for order in members), _BROKEN)
    require_content(all(_may_grow(state, order, growth, is_planned=not record.exits) for order in members), _BROKEN)
    if len(order_list.exits) > 1:
        _cover(state, members)


def _open_member(state: CoreState, order_list: OrderList, order_id: int) -> BookOrder:
    order = state.orders.get(order_id)
    own = order is not None and (order.account, order.symbol) == (order_list.account, order_list.symbol)
    require_content(own and order_id not in state.listed, _BROKEN)
    state.listed[order_id] = order_list
    return state.orders[order_id]


def _planned_member(state: CoreState, order_list: OrderList, reader: RecordReader) -> BookOrder:
    plan = checked_waiter(state, WaitingOrderRecord._make(reader.take(WAITING_ORDER)))
    order = plan.order
    own = (order.account, order.symbol) == (order_list.account, order_list.symbol)
    require_content(own and order.order_id not in state.listed and _plan_allowed(plan), _BROKEN)
    state.listed[order.order_id] = order_list
    order_list.plans.append(plan)
    return order


def _plan_allowed(plan: Waiter) -> bool:
    trigger, order = plan.trigger, plan.order
    if (trigger.watermark, trigger.anchor) != (0, 0) or order.remaining != order.quantity:
        return False
    if trigger.kind == TriggerKind.NONE:
        return order.order_type == EngineOrderType.GTC and (trigger.flags, trigger.value) == (0, 0)
    return (
        trigger.kind == TriggerKind.FIXED
        and trigger.flags <= TERMS_FLAGS
        and 0 < trigger.value <= SCALED_MAX
        and trigger.value % trigger.tick == 0
    )


def _may_grow(state: CoreState, order: BookOrder, growth: int, *, is_planned: bool) -> bool:
    """Whether an exit that gets `growth` more stays in range."""
    if is_planned:
        return growth <= order.quantity
    book = state.books[order.symbol]
    return (
        order.quantity + growth <= SCALED_MAX
        and book.notional(max(order.price, order.reserve_price), order.remaining + growth) <= AMOUNT_MAX
    )


def _cover(state: CoreState, exits: list[BookOrder]) -> None:
    first, second = exits
    waits = first.order_id in state.waiting or second.order_id in state.waiting
    require_content(waits and first.remaining == second.remaining, _BROKEN)
    book, account = state.books[first.symbol], state.accounts[first.account]
    holds = {order.order_id: book.hold(order) for order in exits}
    cover_lesser(exits)
    for order in exits:
        if order.covered:
            account.held[book.held_currency(order)] -= holds[order.order_id]
