"""The reference core's links between the orders of a list: what one order loses, the others lose, exactly once.

Each change of an open order calls `follow_change`. Nothing here matches: exits are armed later, in reference_arming.py.
"""

from dataclasses import replace

from openspot.domain.result_code import ResultCode
from openspot.engine.core.records import EVENT_ICEBERG, EVENT_TAKER_COMPLETED, EVENT_WAITS, EventType
from openspot.engine.core.reference_order import BookOrder
from openspot.engine.core.reference_order_list import OrderList
from openspot.engine.core.reference_state import CoreState, Emit


def emit_reduce(
    emit: Emit, order: BookOrder, quantity: int, reason: ResultCode, flags: int = 0, from_shown: int = 0
) -> None:
    """Emit REDUCE for an order that has lost `quantity` without a trade, of which an iceberg showed `from_shown`."""
    emit(
        EventType.REDUCE,
        side=order.side,
        order_type=order.order_type,
        flags=flags | (0 if order.remaining else EVENT_TAKER_COMPLETED),
        code=reason,
        symbol=order.symbol,
        order_id=order.order_id,
        account=order.account,
        price=order.price,
        quantity=quantity,
        remaining=order.remaining,
        maker_remaining=from_shown,
    )


def reduce_open(state: CoreState, order: BookOrder, quantity: int, reason: ResultCode, emit: Emit) -> None:
    """Reduce an open order by `quantity` without a trade, and nothing else."""
    waiter = state.waiting.get(order.order_id)
    limit = waiter.limit if waiter else order.price
    shown, flags = order.shown, EVENT_WAITS if waiter else 0
    state.reduce_order(order, quantity)
    if order.display:
        flags |= EVENT_ICEBERG
    from_shown = shown - order.shown if order.display else 0
    emit_reduce(emit, replace(order, price=limit), quantity, reason, flags, from_shown)


def cover_lesser(orders: list[BookOrder]) -> None:
    """Let the exit of a pair that needs more funds hold them for both, and the other one hold nothing."""
    if len(orders) > 1:
        first, second = orders
        (first if first.reserve_price < second.reserve_price else second).covered = True


def follow_change(state: CoreState, order: BookOrder, quantity: int, emit: Emit, *, traded: bool) -> None:
    """Carry over what an open order has just lost, if it is one of a list."""
    order_list = state.listed.get(order.order_id)
    if order_list is None:
        return
    if order.order_id == order_list.entry:
        _follow_entry(state, order_list, order, quantity if traded else 0, emit)
        return
    code = ResultCode.LIST_EXIT_TRADED if traded else ResultCode.LIST_EXIT_ENDED
    other = order_list.other_exit(order.order_id)
    if other:
        reduce_open(state, state.orders[other], quantity, code, emit)
    if not order.remaining:
        end_list(state, order_list, code, emit)


def follow_execution(state: CoreState, order: BookOrder, filled: int, emit: Emit) -> None:
    """Carry over what an incoming order has filled and whether it rests, if it is the entry of a list."""
    order_list = state.listed.get(order.order_id)
    if order_list is not None:
        _follow_entry(state, order_list, order, filled, emit)


def follow_trigger(state: CoreState, order_id: int, emit: Emit) -> None:
    """End the others if an order that is no longer open, because its trigger fired, was an exit."""
    order_list = state.listed.get(order_id)
    if order_list is not None and order_id != order_list.entry:
        end_list(state, order_list, ResultCode.LIST_EXIT_TRIGGERED, emit)


def end_list(state: CoreState, order_list: OrderList, code: ResultCode, emit: Emit) -> None:
    """End what is still open of a list."""
    for order_id in order_list.members:
        order = state.orders.get(order_id)
        if order is not None:
            reduce_open(state, order, order.remaining, code, emit)
    dissolve(state, order_list, code, emit)


def end_entry(state: CoreState, order_list: OrderList, code: ResultCode, emit: Emit) -> None:
    """End what is still open of an entry. The exits stay."""
    if order_list.entry:
        order = state.orders[order_list.entry]
        del state.listed[order.order_id]
        order_list.entry = 0
        reduce_open(state, order, order.remaining, code, emit)


def dissolve_if_single(state: CoreState, order_list: OrderList, emit: Emit) -> None:
    """Let the last order of a list go on alone, once nothing can change it any more."""
    if not order_list.entry and not order_list.unarmed and len(order_list.exits) == 1:
        dissolve(state, order_list, ResultCode.SUCCESS, emit)


def dissolve(state: CoreState, order_list: OrderList, code: ResultCode, emit: Emit) -> None:
    """Forget a list. Its planned exits end, its open orders go on alone."""
    for plan in order_list.plans:
        planned = plan.order.quantity
        emit_reduce(emit, replace(plan.order, remaining=0), planned, code, EVENT_WAITS)
    for order_id in order_list.members:
        del state.listed[order_id]
    del state.lists[order_list.list_id]
    state.books[order_list.symbol].arming.pop(order_list.list_id, None)
    emit_list(emit, EventType.LIST_ENDED, order_list, code)


def emit_list(emit: Emit, event_type: EventType, order_list: OrderList, code: ResultCode, quantity: int = 0) -> None:
    """Emit an event about a list as a whole."""
    emit(
        event_type,
        order_type=order_list.list_type,
        code=code,
        symbol=order_list.symbol,
        order_id=order_list.list_id,
        account=order_list.account,
        quantity=quantity,
    )


def _follow_entry(state: CoreState, order_list: OrderList, entry: BookOrder, filled: int, emit: Emit) -> None:
    if filled:
        order_list.unarmed += filled
        state.books[order_list.symbol].arming[order_list.list_id] = order_list
    if entry.remaining:
        return
    del state.listed[entry.order_id]
    order_list.entry = 0
    if not order_list.exits and not order_list.unarmed:
        dissolve(state, order_list, ResultCode.LIST_ENTRY_ENDED, emit)
    else:
        dissolve_if_single(state, order_list, emit)
