"""The reference core's arming: the exits of a list get the quantity that its entry has filled.

A list that waits for it lies in the queue of its symbol, and is armed as fired orders are activated, a bounded number
in a command. The exits hold nothing before, so the funds may be gone by then: then they stay as they are, and the entry
ends.
"""

from dataclasses import replace

from openspot.domain.order import TriggerKind
from openspot.domain.result_code import ResultCode
from openspot.engine.core.records import EVENT_LISTED, EVENT_WAITS, EventType
from openspot.engine.core.reference_book import SymbolBook
from openspot.engine.core.reference_list_links import (
    cover_lesser,
    dissolve_if_single,
    emit_list,
    end_entry,
    end_list,
)
from openspot.engine.core.reference_matching import emit_accepted, emit_order, match_order
from openspot.engine.core.reference_order import BookOrder
from openspot.engine.core.reference_order_list import OrderList
from openspot.engine.core.reference_state import CoreState, Emit
from openspot.engine.core.reference_triggers import Waiter


def begin_waiting(state: CoreState, waiter: Waiter, emit: Emit) -> None:
    """Let an order wait for its trigger. Emits WAITING."""
    state.add_waiter(waiter)
    listed = EVENT_LISTED if waiter.order.order_id in state.listed else 0
    emit_waiting(emit, EventType.WAITING, waiter, flags=waiter.trigger.flags | listed)


def emit_waiting(emit: Emit, event_type: EventType, waiter: Waiter, *, flags: int, **others: int) -> None:
    """Emit an event with an order, its trigger and its expiry, `flags` and `others`."""
    order, trigger = waiter.order, waiter.trigger
    emit_order(
        emit,
        event_type,
        order,
        flags=flags,
        maker_order_id=trigger.kind,
        maker_account=trigger.value if trigger.is_trailing else 0,
        maker_remaining=trigger.price,
        fee_bps=order.taker_fee_bps,
        maker_fee_bps=order.maker_fee_bps,
        amount=order.expiry,
        **others,
    )


def arm(state: CoreState, book: SymbolBook, order_list: OrderList, emit: Emit) -> None:
    """Give the exits of a list what its entry has filled since they were armed last."""
    del book.arming[order_list.list_id]
    quantity, order_list.unarmed = order_list.unarmed, 0
    refusal = _refusal(state, book, order_list, quantity)
    if refusal is not None:
        emit_list(emit, EventType.UNARMED, order_list, refusal, quantity)
        if order_list.plans:
            end_list(state, order_list, ResultCode.LIST_NOT_ARMED, emit)
            return
        end_entry(state, order_list, ResultCode.LIST_NOT_ARMED, emit)
    elif order_list.plans:
        if not _arm_first(state, book, order_list, quantity, emit):
            return
    else:
        for order_id in order_list.exits:
            _extend(state, state.orders[order_id], quantity, emit)
    dissolve_if_single(state, order_list, emit)


def _refusal(state: CoreState, book: SymbolBook, order_list: OrderList, quantity: int) -> ResultCode | None:
    account = state.accounts[order_list.account]
    if not account.active:
        return ResultCode.PARTICIPANT_INACTIVE
    exits = [plan.order for plan in order_list.plans] or [state.orders[number] for number in order_list.exits]
    needed = max(book.hold(replace(order, remaining=quantity, covered=False)) for order in exits)
    return None if account.free(book.held_currency(exits[0])) >= needed else ResultCode.RISK_NSF


def _arm_first(state: CoreState, book: SymbolBook, order_list: OrderList, quantity: int, emit: Emit) -> bool:
    """Place the planned exits. Returns whether the list goes on: not if one of them ends at once.

    The exit without a trigger comes first. It may trade at once, so the other one gets what is left of it.
    """
    plans, order_list.plans = order_list.plans, []
    order_list.exits = [plan.order.order_id for plan in plans]
    cover_lesser([plan.order for plan in plans])
    for plan in sorted(plans, key=lambda plan: plan.trigger.kind != TriggerKind.NONE):
        order = plan.order
        order.quantity = order.remaining = quantity
        if plan.trigger.kind != TriggerKind.NONE:
            _wait_armed(state, book, plan, emit)
            continue
        emit_accepted(state, order, emit)
        execution = match_order(state, order, emit)
        if not order.remaining:
            order_list.exits, order_list.plans = [order.order_id], [other for other in plans if other is not plan]
            was_removed = execution.removal_reason != ResultCode.SUCCESS
            end_list(
                state, order_list, ResultCode.LIST_EXIT_ENDED if was_removed else ResultCode.LIST_EXIT_TRADED, emit
            )
            return False
        state.add_order(order)
        quantity = order.remaining
    return True


def _wait_armed(state: CoreState, book: SymbolBook, plan: Waiter, emit: Emit) -> None:
    begin_waiting(state, plan, emit)
    reference = book.reference_price(by_mark=plan.trigger.by_mark)
    if reference and plan.trigger.is_reached_by(reference):
        # The price went on while the entry filled. The position needs its exit now.
        book.fired[plan.order.order_id] = reference


def _extend(state: CoreState, order: BookOrder, quantity: int, emit: Emit) -> None:
    """Let an exit cover `quantity` more. One that rests joins the end of its queue; one that waits keeps its place."""
    book, held = state.books[order.symbol], state.accounts[order.account].held
    waits = order.order_id in state.waiting
    if not waits:
        book.own_side(order).remove(order)
    held[book.held_currency(order)] -= book.hold(order)
    order.quantity += quantity
    order.remaining += quantity
    held[book.held_currency(order)] += book.hold(order)
    if not waits:
        book.own_side(order).add(order)
    limit = state.waiting[order.order_id].limit if waits else order.price
    emit_order(emit, EventType.MOVED, replace(order, price=limit), flags=EVENT_WAITS if waits else 0, amount=quantity)
