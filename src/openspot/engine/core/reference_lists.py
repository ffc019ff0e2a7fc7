"""The reference core's LIST_ORDER, PLACE_LIST and CANCEL_LIST: several orders that depend on each other, all or none.

A list is a run of pairs of TERMS and LIST_ORDER, and the PLACE_LIST directly after it. Nothing changes until every
check of every order has passed.
"""

from openspot.domain.order import RESTING_TYPES, EngineOrderType, OrderListType, Side, TriggerKind
from openspot.domain.result_code import ResultCode
from openspot.engine.core.records import LISTED_PLACE, STEPS_MASK, Command, EventType, ResultStatus
from openspot.engine.core.reference_arming import begin_waiting, emit_waiting
from openspot.engine.core.reference_book import SymbolBook
from openspot.engine.core.reference_execution import activate_fired
from openspot.engine.core.reference_list_links import cover_lesser, end_list, follow_execution
from openspot.engine.core.reference_matching import emit_accepted
from openspot.engine.core.reference_order import BookOrder
from openspot.engine.core.reference_order_list import LIST_SIZE_MAX, LIST_SIZES, ListPart, OrderList
from openspot.engine.core.reference_placement import PlannedEntry, accept, checked_order, emit_reject
from openspot.engine.core.reference_state import (
    CommandResult,
    CoreState,
    Emit,
    Rejected,
    require,
    require_found,
)
from openspot.engine.core.reference_triggers import Trigger, Waiter

_ENTRY_TYPES = frozenset({*RESTING_TYPES, EngineOrderType.IOC, EngineOrderType.FOK})
_TRIGGERED_EXIT_TYPES = frozenset({EngineOrderType.GTC, EngineOrderType.IOC})
_UNFOLLOWING = frozenset({TriggerKind.NONE, TriggerKind.FIXED})


def add_list_order(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Let an order and its terms wait for their PLACE_LIST. Any other command ends the run."""
    terms = require_found(state.terms_until(state.command_sequence - 1), ResultCode.INVALID_ORDER_LIST)
    parts = state.list_parts_until(state.command_sequence - 2)
    require(len(parts) < LIST_SIZE_MAX, ResultCode.INVALID_ORDER_LIST)
    state.keep_list_parts([*parts, ListPart(terms, command)])
    return CommandResult()


def place_list(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Place the orders of a run, all or none. The result is that of the entry; of an OCO, that of both exits.

    If it is rejected, `remaining` is the place of the order that failed, from 1, or 0 if they do not fit together.
    """
    parts = [
        ListPart(part.terms, part.order._replace(timestamp=command.timestamp))
        for part in state.list_parts_until(state.command_sequence - 1)
    ]
    checked: list[Waiter] = []
    try:
        _check_list(state, command, parts)
        _check_shape(OrderListType(command.order_type), parts)
        for part in parts:
            # An order is counted while it is checked, so that a rejection knows its place.
            checked.append(_checked_member(state, command.order_type, part, checked))
    except Rejected as rejected:
        fails = rejected.code not in (
            ResultCode.INVALID_ORDER_LIST,
            ResultCode.DUPLICATE_LIST_ID,
        )
        for part in parts:
            emit_reject(emit, part.order, rejected.code)
        return CommandResult(rejected.code, ResultStatus.REJECTED, remaining=len(checked) + 1 if fails else 0)
    order_list = OrderList(command.order_id, command.order_type, parts[0].order.account, parts[0].order.symbol)
    for place, member in enumerate(checked, 1):
        emit_waiting(
            emit,
            EventType.LISTED,
            member,
            flags=member.trigger.flags,
            currency=command.order_type + LISTED_PLACE * place,
            maker_amount=command.order_id,
        )
    result = _place_members(state, order_list, checked, parts[0].order, emit)
    activate_fired(state, state.books[order_list.symbol], emit)
    return result


def cancel_list(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """End all that is open of a list for its owner, or for an administrator, who has account 0."""
    order_list = require_found(state.lists.get(command.order_id), ResultCode.UNKNOWN_LIST_ID)
    require(command.account in (order_list.account, 0), ResultCode.AUTH_INVALID_USER)
    require(command.symbol in (order_list.symbol, 0), ResultCode.UNKNOWN_LIST_ID)
    end_list(
        state,
        order_list,
        ResultCode.CANCELLED_BY_USER if command.account else ResultCode.CANCELLED_BY_ADMIN,
        emit,
    )
    return CommandResult()


def _place_members(
    state: CoreState, order_list: OrderList, members: list[Waiter], first: Command, emit: Emit
) -> CommandResult:
    state.lists[order_list.list_id] = order_list
    for member in members:
        state.listed[member.order.order_id] = order_list
    if order_list.list_type == OrderListType.OCO:
        order_list.exits = [member.order.order_id for member in members]
        cover_lesser([member.order for member in members])
        for member in members:
            if member.trigger.kind != TriggerKind.NONE:
                begin_waiting(state, member, emit)
            else:
                emit_accepted(state, member.order, emit)
                state.add_order(member.order)
        return CommandResult(remaining=members[0].order.remaining)
    entry, *order_list.plans = members
    order_list.entry = entry.order.order_id
    if entry.trigger.kind != TriggerKind.NONE:
        begin_waiting(state, entry, emit)
        return CommandResult(remaining=entry.order.remaining)
    result = accept(state, entry.order, first, emit)
    follow_execution(state, entry.order, result.filled, emit)
    return result


def _check_list(state: CoreState, command: Command, parts: list[ListPart]) -> None:
    require(command.order_id > 0, ResultCode.INVALID_ORDER_LIST)
    require(command.order_id not in state.lists, ResultCode.DUPLICATE_LIST_ID)
    require(command.order_type in frozenset(OrderListType), ResultCode.INVALID_ORDER_LIST)
    require(len(parts) == LIST_SIZES[OrderListType(command.order_type)], ResultCode.INVALID_ORDER_LIST)


def _check_shape(list_type: OrderListType, parts: list[ListPart]) -> None:
    """Check that the orders are of one account, symbol and quantity, and of types that can depend on each other."""
    orders = [part.order for part in parts]
    exits = parts if list_type == OrderListType.OCO else parts[1:]
    is_oco, first, last = list_type == OrderListType.OCO, exits[0].order, exits[-1].order
    common = {(order.account, order.symbol, order.quantity) for order in orders}
    fits = (
        len({order.order_id for order in orders}) == len(orders)
        and len(common) == 1
        and all(order.flags <= STEPS_MASK for order in orders)
        and all(part.terms.quantity == 0 for part in parts)
        and first.side == last.side
        and all(_exit_fits(part, is_oco=is_oco) for part in exits)
        and (len(exits) == 1 or any(part.terms.side != TriggerKind.NONE for part in exits))
        and (is_oco or _entry_fits(parts[0], first.side))
    )
    require(fits, ResultCode.INVALID_ORDER_LIST)


def _entry_fits(part: ListPart, side_of_exits: int) -> bool:
    return (
        {part.order.side, side_of_exits} == {Side.BUY, Side.SELL}
        and part.order.order_type in _ENTRY_TYPES
        and part.terms.side in _UNFOLLOWING
    )


def _exit_fits(part: ListPart, *, is_oco: bool) -> bool:
    kind, order_type = part.terms.side, part.order.order_type
    if kind == TriggerKind.NONE:
        return order_type == EngineOrderType.GTC or (is_oco and order_type == EngineOrderType.POST_ONLY)
    return order_type in _TRIGGERED_EXIT_TYPES and (is_oco or kind == TriggerKind.FIXED)


def _checked_member(state: CoreState, list_type: int, part: ListPart, before: list[Waiter]) -> Waiter:
    """An order of a list that passed every check, with its trigger, whose kind may be NONE."""
    entry = None
    if list_type != OrderListType.OCO and before:
        entry = planned_entry(state.books[part.order.symbol], before[0])
    order, waiter = checked_order(state, part.order, part.terms, entry)
    if waiter is not None:
        return waiter
    book = state.books[order.symbol]
    if list_type == OrderListType.OCO:
        best = book.opposite_side(order).best()
        require(best is None or not order.may_trade_at(best.price), ResultCode.LIST_EXIT_WOULD_FILL)
    elif entry is not None:
        require(not order.may_trade_at(entry.worst_price), ResultCode.LIST_EXIT_WOULD_FILL)
    return Waiter(order, Trigger(TriggerKind.NONE, 0, 0, book.symbol.tick), part.order.flags)


def planned_entry(book: SymbolBook, entry: Waiter) -> PlannedEntry:
    """The price at which an entry is expected to fill: at its trigger or the last price, or at its limit if better."""
    order = entry.order
    starts_at = book.last_price if entry.trigger.kind == TriggerKind.NONE else entry.trigger.value
    expected = _better(order, starts_at or order.price)
    # What rests may fill at the limit, and an exit must not meet it.
    return PlannedEntry(expected, order.price if order.order_type in RESTING_TYPES else expected)


def _better(order: BookOrder, price: int) -> int:
    return min(order.price, price) if order.side == Side.BUY else max(order.price, price)
