"""The reference core's CANCEL, REDUCE, MOVE, AMEND and EXPIRE: commands on open orders."""

from dataclasses import replace

from openspot.domain.order import Side, TriggerKind
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SCALED_MAX
from openspot.engine.core.records import (
    EVENT_ICEBERG,
    EVENT_WAITS,
    FLAG_ALLOW_FAILURE,
    FLAG_LISTED,
    Command,
    EventType,
)
from openspot.engine.core.reference_checks import check_notional, check_post_only, check_price, check_slices
from openspot.engine.core.reference_execution import activate_fired
from openspot.engine.core.reference_list_amendments import (
    check_exit,
    check_exits,
    check_funds,
    cover_again,
    expected_price,
)
from openspot.engine.core.reference_list_links import end_list, follow_execution
from openspot.engine.core.reference_matching import emit_order, match_order, reduce_resting, rest_order
from openspot.engine.core.reference_order import BookOrder
from openspot.engine.core.reference_order_list import OrderList
from openspot.engine.core.reference_phases import check_may_enter_again, check_may_shrink
from openspot.engine.core.reference_state import CommandResult, CoreState, Emit, Rejected, require, require_found
from openspot.engine.core.reference_terms import check_fixed_trigger
from openspot.engine.core.reference_triggers import Waiter


def cancel(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Remove an order for its owner, or for an administrator, who has account 0 (facts A1.4-06, A1.4-07)."""
    planned_in = state.listed.get(command.order_id) if command.order_id not in state.orders else None
    if planned_in is not None:
        return _cancel_planned(state, planned_in, command, emit)
    order = require_found(state.orders.get(command.order_id), ResultCode.MATCHING_UNKNOWN_ORDER_ID)
    require(command.account in (order.account, 0), ResultCode.AUTH_INVALID_USER)
    require(command.symbol in (order.symbol, 0), ResultCode.MATCHING_UNKNOWN_ORDER_ID)
    reason = ResultCode.CANCELLED_BY_USER if command.account else ResultCode.CANCELLED_BY_ADMIN
    cancelled = order.remaining
    reduce_resting(state, order, cancelled, reason, emit)
    return CommandResult(remaining=cancelled)


def replace_order(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Cancel an order for its owner, which the PLACE that follows replaces.

    If there is nothing to cancel, that PLACE is not attempted, unless the command allows it.
    """
    state.tracks_prices = True
    try:
        require(command.account != 0, ResultCode.AUTH_INVALID_USER)
        return cancel(state, command, emit)
    except Rejected:
        if not command.flags & FLAG_ALLOW_FAILURE:
            state.stop_placement()
        raise


def reduce(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Reduce an order, which keeps its place in the queue."""
    order = _own_order(state, command)
    book = state.books[order.symbol]
    check_may_shrink(book)
    require(command.quantity > 0, ResultCode.INVALID_QUANTITY)
    lot = book.symbol.lot
    require(command.quantity % lot == 0, ResultCode.INVALID_QUANTITY_STEP)
    quantity = min(command.quantity, order.remaining)
    reduce_resting(state, order, quantity, ResultCode.REDUCED_BY_USER, emit)
    return CommandResult(remaining=order.remaining)


def move(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Change an order's price and match it again. What remains rests at the end of the queue of the new price."""
    order = _own_order(state, command)
    book = state.books[order.symbol]
    require(book.symbol.active, ResultCode.SYMBOL_INACTIVE)
    check_may_enter_again(book)
    check_price(book, command.price)
    return _enter_again(state, order, state.waiting.get(order.order_id), command.price, order.quantity, emit)


def amend(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Change an order's price, its ordered quantity, its trigger or all of them; 0 leaves one as it is.

    Less at the same price keeps the order's place, and the same once more changes nothing. Anything else is as a MOVE.
    The price of a waiting order is its present limit. All orders of a list keep their quantity.
    """
    order, waiter = _order_to_amend(state, command)
    book, order_list = state.books[order.symbol], state.listed.get(order.order_id)
    require(order_list is None or command.quantity in (0, order.quantity), ResultCode.ORDER_IN_LIST)
    check_may_shrink(book)
    if command.amount:
        fixed = waiter is not None and waiter.trigger.kind == TriggerKind.FIXED and order.order_id not in book.fired
        require(fixed, ResultCode.NO_TRIGGER_TO_AMEND)
    limit = waiter.limit if waiter else order.price
    price, quantity = command.price or limit, command.quantity or order.quantity
    require(0 < quantity <= SCALED_MAX, ResultCode.INVALID_QUANTITY)
    require(quantity % book.symbol.lot == 0, ResultCode.INVALID_QUANTITY_STEP)
    require(quantity > order.quantity - order.remaining, ResultCode.QUANTITY_BELOW_FILLED)
    check_price(book, price)
    if quantity > order.quantity:
        check_slices(order.display, quantity)
    new_trigger = command.amount if waiter and command.amount != waiter.trigger.value else 0
    if price != limit or quantity > order.quantity or new_trigger:
        require(book.symbol.active, ResultCode.SYMBOL_INACTIVE)
        check_may_enter_again(book)
        if waiter and new_trigger:
            expected = expected_price(state, order_list, order) if order_list else 0
            check_fixed_trigger(book, replace(waiter.trigger, value=new_trigger), expected)
        return _enter_again(state, order, waiter, price, quantity, emit, new_trigger=new_trigger)
    less = order.quantity - quantity
    if less:
        order.quantity = quantity
        reduce_resting(state, order, less, ResultCode.AMENDED_BY_USER, emit)
    return CommandResult(remaining=order.remaining)


def _enter_again(
    state: CoreState,
    order: BookOrder,
    waiter: Waiter | None,
    price: int,
    quantity: int,
    emit: Emit,
    new_trigger: int = 0,
) -> CommandResult:
    """Match an order again with another price and ordered quantity. What remains rests at the end of its queue.

    A waiting or planned order gets both, and a trigger if that is new, and goes on waiting.
    """
    book = state.books[order.symbol]
    change = quantity - order.quantity
    moved = replace(
        order,
        price=price,
        reserve_price=price if order.side == Side.BUY else 0,
        quantity=quantity,
        remaining=order.remaining + change,
    )
    check_notional(book, moved.price, moved.remaining)
    order_list = state.listed.get(order.order_id)
    if order_list is not None:
        if order.order_id == order_list.entry:
            check_exits(state, order_list, moved, new_trigger)
        else:
            check_exit(state, order_list, moved)
    check_funds(state, order_list, order, moved)
    if waiter is not None:
        waiter.trigger.value = new_trigger or waiter.trigger.value
        return _move_waiter(state, waiter, moved, change, emit, new_trigger)
    check_post_only(book, moved)
    state.remove_order(order)
    iceberg = {"flags": EVENT_ICEBERG, "maker_remaining": order.display, "maker_amount": order.shown}
    emit_order(emit, EventType.MOVED, moved, amount=change, **(iceberg if order.display else {}))
    execution = match_order(state, moved, emit)
    cover_again(state, order_list, moved)
    if moved.remaining:
        rest_order(state, moved, emit)
    follow_execution(state, moved, execution.filled, emit)
    result = CommandResult(filled=execution.filled, remaining=moved.remaining, notional=execution.notional)
    activate_fired(state, book, emit)
    return result


def expire(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """End an order whose expiry has passed."""
    order = require_found(state.orders.get(command.order_id), ResultCode.MATCHING_UNKNOWN_ORDER_ID)
    require(0 < order.expiry <= command.timestamp, ResultCode.ORDER_NOT_EXPIRED)
    ended = order.remaining
    reduce_resting(state, order, ended, ResultCode.ORDER_EXPIRED, emit)
    return CommandResult(remaining=ended)


def _move_waiter(
    state: CoreState, waiter: Waiter, moved: BookOrder, change: int, emit: Emit, new_trigger: int
) -> CommandResult:
    """Give a waiting or planned order a new limit and quantity. It keeps its place, and does not match."""
    order, book = waiter.order, state.books[moved.symbol]
    account, currency = state.accounts[order.account], book.held_currency(order)
    is_open = order.order_id in state.orders
    if is_open:
        account.release(currency, book.hold(order))
    order.price, order.reserve_price = moved.price, moved.reserve_price
    order.quantity, order.remaining = moved.quantity, moved.remaining
    if is_open:
        cover_again(state, state.listed.get(order.order_id), order)
        account.held[currency] += book.hold(order)
    if waiter.trigger.is_trailing:
        waiter.trigger.anchor = waiter.trigger.price
    emit_order(emit, EventType.MOVED, order, flags=EVENT_WAITS, amount=change, maker_remaining=new_trigger)
    return CommandResult(remaining=order.remaining)


def _own_order(state: CoreState, command: Command) -> BookOrder:
    order = require_found(state.orders.get(command.order_id), ResultCode.MATCHING_UNKNOWN_ORDER_ID)
    require(command.account == order.account, ResultCode.AUTH_INVALID_USER)
    require(order.order_id not in state.listed, ResultCode.ORDER_IN_LIST)
    return order


def _order_to_amend(state: CoreState, command: Command) -> tuple[BookOrder, Waiter | None]:
    """The order that an AMEND names, and how it waits. Only an AMEND that says so may be of an order of a list."""
    if not command.flags & FLAG_LISTED:
        order = _own_order(state, command)
        return order, state.waiting.get(order.order_id)
    order_list = state.listed.get(command.order_id)
    plan = order_list.plan_of(command.order_id) if order_list else None
    open_order = plan.order if plan else state.orders.get(command.order_id)
    order = require_found(open_order, ResultCode.MATCHING_UNKNOWN_ORDER_ID)
    require(command.account == order.account, ResultCode.AUTH_INVALID_USER)
    return order, plan or state.waiting.get(order.order_id)


def _cancel_planned(state: CoreState, order_list: OrderList, command: Command, emit: Emit) -> CommandResult:
    """Cancel an exit that is no open order yet, which ends its list."""
    require(command.account in (order_list.account, 0), ResultCode.AUTH_INVALID_USER)
    require(command.symbol in (order_list.symbol, 0), ResultCode.MATCHING_UNKNOWN_ORDER_ID)
    end_list(state, order_list, ResultCode.LIST_EXIT_ENDED, emit)
    return CommandResult()
