"""The reference core's AMEND of one order of a list: what the others need of it.

The checks are those of a PLACE_LIST with the orders as they shall be. Of two open exits the one with the greater need
holds the funds for both, so a new limit can change which one that is.
"""

from dataclasses import replace

from openspot.domain.order import TriggerKind
from openspot.domain.result_code import ResultCode
from openspot.engine.core.reference_list_links import cover_lesser
from openspot.engine.core.reference_lists import planned_entry
from openspot.engine.core.reference_order import BookOrder
from openspot.engine.core.reference_order_list import OrderList
from openspot.engine.core.reference_placement import PlannedEntry
from openspot.engine.core.reference_state import CoreState, require
from openspot.engine.core.reference_terms import check_not_reached
from openspot.engine.core.reference_triggers import Trigger, Waiter


def expected_price(state: CoreState, order_list: OrderList, order: BookOrder) -> int:
    """The price that the trigger of an order is compared with: of a planned exit, the one its entry is expected at.

    0 for the present one.
    """
    entry = _entry_of(state, order_list) if order_list.plan_of(order.order_id) else None
    return entry.expected_price if entry else 0


def check_exits(state: CoreState, order_list: OrderList, entry: BookOrder, new_trigger: int) -> None:
    """Check that the exits fit their entry as it shall be. The trigger of an armed one watches the price itself."""
    waiter = _waiter_of(state, entry)
    trigger = replace(waiter.trigger, value=new_trigger or waiter.trigger.value)
    planned = planned_entry(state.books[entry.symbol], replace(waiter, order=entry, trigger=trigger))
    for plan in order_list.plans:
        if plan.trigger.kind == TriggerKind.NONE:
            require(not plan.order.may_trade_at(planned.worst_price), ResultCode.LIST_EXIT_WOULD_FILL)
        else:
            check_not_reached(plan.trigger, planned.expected_price)
    for order_id in order_list.exits:
        rests = order_id not in state.waiting
        fills = rests and state.orders[order_id].may_trade_at(planned.worst_price)
        require(not fills, ResultCode.LIST_EXIT_WOULD_FILL)


def check_exit(state: CoreState, order_list: OrderList, exit_order: BookOrder) -> None:
    """Check that an exit without a trigger does not fill at once at its new limit, or as its entry fills."""
    plan = order_list.plan_of(exit_order.order_id)
    if exit_order.order_id in state.waiting or (plan and plan.trigger.kind != TriggerKind.NONE):
        return
    entry = _entry_of(state, order_list) if plan else None
    best = state.books[exit_order.symbol].opposite_side(exit_order).best()
    price = entry.worst_price if entry else best.price if best else None
    require(price is None or not exit_order.may_trade_at(price), ResultCode.LIST_EXIT_WOULD_FILL)


def check_funds(state: CoreState, order_list: OrderList | None, order: BookOrder, moved: BookOrder) -> None:
    """Check that the owner can pay for an order as it shall be. A planned exit needs nothing yet."""
    if order.order_id not in state.orders:
        return
    book, account = state.books[order.symbol], state.accounts[order.account]
    present, needed = book.hold(order), book.hold(replace(moved, covered=False))
    other = _other_exit(state, order_list, order)
    if other is not None:
        present += book.hold(other)
        needed = max(needed, book.hold(replace(other, covered=False)))
    require(account.free(book.held_currency(order)) + present >= needed, ResultCode.RISK_NSF)


def cover_again(state: CoreState, order_list: OrderList | None, moved: BookOrder) -> None:
    """Choose anew which exit of a pair holds for both, while `moved`, one of them, holds nothing."""
    other = _other_exit(state, order_list, moved)
    if other is None:
        return
    book, account = state.books[moved.symbol], state.accounts[moved.account]
    account.release(book.held_currency(other), book.hold(other))
    moved.covered = other.covered = False
    is_first = order_list is not None and order_list.exits[0] == moved.order_id
    cover_lesser([moved, other] if is_first else [other, moved])
    account.held[book.held_currency(other)] += book.hold(other)


def _other_exit(state: CoreState, order_list: OrderList | None, order: BookOrder) -> BookOrder | None:
    """The other one of a pair of open exits."""
    if order_list is None or order.order_id == order_list.entry:
        return None
    return state.orders.get(order_list.other_exit(order.order_id))


def _entry_of(state: CoreState, order_list: OrderList) -> PlannedEntry | None:
    """Where the entry of a list is expected to fill, while it is open."""
    if not order_list.entry:
        return None
    entry = state.orders[order_list.entry]
    return planned_entry(state.books[entry.symbol], _waiter_of(state, entry))


def _waiter_of(state: CoreState, order: BookOrder) -> Waiter:
    """An open order with its trigger, whose kind may be NONE."""
    waiter = state.waiting.get(order.order_id)
    return waiter or Waiter(order, Trigger(TriggerKind.NONE, 0, 0, state.books[order.symbol].symbol.tick), 0)
