"""The reference core's PLACE: checks a new order, which matches and then rests or ends, or waits for its trigger.

The checks run in the order of docs/protocol/matching.md. Nothing changes until all of them have passed.
"""

from typing import NamedTuple

from openspot.domain.money import AMOUNT_MAX, BASIS_POINTS
from openspot.domain.order import EngineOrderType, Side, TriggerKind
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SCALED_MAX
from openspot.engine.core.records import FLAG_BUDGET, FLAG_SLIDE, Command, EventType, ResultStatus
from openspot.engine.core.reference_arming import begin_waiting
from openspot.engine.core.reference_book import SymbolBook
from openspot.engine.core.reference_checks import check_display, check_notional, check_post_only, check_price
from openspot.engine.core.reference_execution import activate_fired, execute
from openspot.engine.core.reference_matching import emit_accepted
from openspot.engine.core.reference_order import BookOrder
from openspot.engine.core.reference_phases import check_may_enter
from openspot.engine.core.reference_sizing import affordable_quantity, steps_of
from openspot.engine.core.reference_state import (
    Account,
    CommandResult,
    CoreState,
    Emit,
    Rejected,
    require,
    require_found,
)
from openspot.engine.core.reference_terms import check_terms, checked_trigger
from openspot.engine.core.reference_triggers import Waiter

_SIDES = frozenset(Side)
_ORDER_TYPES = frozenset(EngineOrderType)


class PlannedEntry(NamedTuple):
    """The price at which the entry of a list is expected to fill, and the one that its exits must not meet."""

    expected_price: int
    worst_price: int


def place(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Check a new order and match it. Its type decides what becomes of a remainder (facts A2.8-01 to A2.8-05)."""
    terms = state.terms_until(state.command_sequence - 1)
    try:
        require(not state.is_stopped_after(state.command_sequence - 1), ResultCode.REPLACEMENT_NOT_ATTEMPTED)
        order, waiter = checked_order(state, command, terms)
    except Rejected as rejected:
        emit_reject(emit, command, rejected.code)
        return CommandResult(rejected.code, ResultStatus.REJECTED, remaining=command.quantity)
    if waiter is not None:
        begin_waiting(state, waiter, emit)
        return CommandResult(remaining=order.remaining)
    result = accept(state, order, command, emit)
    activate_fired(state, state.books[order.symbol], emit)
    return result


def accept(state: CoreState, order: BookOrder, command: Command, emit: Emit) -> CommandResult:
    """Match a checked order, which then rests or ends."""
    emit_accepted(state, order, emit)
    execution = execute(state, order, emit, budget=command.amount, flags=command.flags)
    if order.remaining or execution.filled:
        return CommandResult(filled=execution.filled, remaining=order.remaining, notional=execution.notional)
    return CommandResult(execution.removal_reason, ResultStatus.CANCELLED)


def checked_order(
    state: CoreState, command: Command, terms: Command | None, entry: PlannedEntry | None = None
) -> tuple[BookOrder, Waiter | None]:
    """The order that a PLACE asks for, and how it waits. Raises Rejected with the first check that fails.

    With an `entry` it is an exit of a list: it needs no funds yet, and its trigger is compared with the entry's price.
    """
    require(command.side in _SIDES, ResultCode.INVALID_SIDE)
    require(command.order_type in _ORDER_TYPES, ResultCode.INVALID_ORDER_TYPE)
    if terms is not None:
        check_terms(terms, command)
    require(command.order_id > 0, ResultCode.INVALID_ORDER_ID)
    is_new = command.order_id not in state.orders and command.order_id not in state.listed
    require(is_new, ResultCode.DUPLICATE_ORDER_ID)
    book = require_found(state.books.get(command.symbol), ResultCode.INVALID_SYMBOL)
    require(book.symbol.active, ResultCode.SYMBOL_INACTIVE)
    has_trigger = terms is not None and terms.side != TriggerKind.NONE
    check_may_enter(book, command.order_type, has_trigger=has_trigger)
    account = require_found(state.accounts.get(command.account), ResultCode.RISK_NSF)
    require(account.active, ResultCode.PARTICIPANT_INACTIVE)
    require(0 < command.quantity <= SCALED_MAX, ResultCode.INVALID_QUANTITY)
    require(command.quantity % book.symbol.lot == 0, ResultCode.INVALID_QUANTITY_STEP)
    order = _new_order(command, book, account)
    if terms is not None:
        order.own_stp, order.expiry, order.display = terms.order_type, terms.amount, terms.quantity
        check_display(book, order.display, order.quantity)
    if order.has_limit:
        check_price(book, order.price)
        if order.side == Side.BUY:
            require(order.price <= order.reserve_price, ResultCode.RISK_INVALID_RESERVE_BID_PRICE)
            require(order.reserve_price <= SCALED_MAX, ResultCode.INVALID_PRICE)
    has_budget = _has_budget(command)
    if has_budget:
        require(0 < command.amount <= AMOUNT_MAX, ResultCode.INVALID_BUDGET)
    if order.order_type == EngineOrderType.POST_ONLY and command.flags & FLAG_SLIDE:
        _slide(book, order)
    # A BUY's reserve price is not below its price. A FOK_BUDGET has neither: both are 0.
    check_notional(book, max(order.price, order.reserve_price), order.quantity)
    free = account.free(book.held_currency(order))
    if has_budget and order.has_limit and order.side == Side.SELL:
        # A sell for a budget sells no more than there is. Without a whole lot there is nothing to sell.
        order.remaining = min(order.remaining, free // book.base_amount(book.symbol.lot) * book.symbol.lot)
        require(order.remaining > 0, ResultCode.RISK_NSF)
    needed = _needed_funds(book, order, budget=command.amount if has_budget else None)
    require(entry is not None or free >= needed, ResultCode.RISK_NSF)
    if not has_trigger:
        check_post_only(book, order)
    if has_budget and order.has_limit:
        order.remaining = affordable_quantity(state, order, command.amount, steps_of(command.flags))
        require(order.remaining > 0, ResultCode.BUDGET_NOT_FILLABLE)
        order.quantity = order.remaining
    if terms is None or not has_trigger:
        return order, None
    trigger = checked_trigger(book, terms, entry.expected_price if entry else 0)
    return order, Waiter(order, trigger, command.flags)


def _has_budget(command: Command) -> bool:
    """Whether the amount of a PLACE is a budget, not a reserve price."""
    if command.order_type == EngineOrderType.IOC:
        return bool(command.flags & FLAG_BUDGET)
    return command.order_type == EngineOrderType.FOK_BUDGET


def _slide(book: SymbolBook, order: BookOrder) -> None:
    """Put a post-only order that would match one tick behind the best opposite price, if there is such a price."""
    best = book.opposite_side(order).best()
    if best is None or not order.may_trade_at(best.price):
        return
    price = best.price - book.symbol.tick if order.side == Side.BUY else best.price + book.symbol.tick
    if 0 < price <= SCALED_MAX:
        order.price = price
        order.reserve_price = price if order.side == Side.BUY else 0


def _new_order(command: Command, book: SymbolBook, account: Account) -> BookOrder:
    has_limit = command.order_type != EngineOrderType.FOK_BUDGET
    reserve_price = command.price if _has_budget(command) else command.amount
    taker_fee_bps, maker_fee_bps = account.fees or (book.symbol.taker_fee_bps, book.symbol.maker_fee_bps)
    return BookOrder(
        order_id=command.order_id,
        account=command.account,
        symbol=command.symbol,
        side=command.side,
        order_type=command.order_type,
        price=command.price if has_limit else 0,
        reserve_price=reserve_price if has_limit and command.side == Side.BUY else 0,
        quantity=command.quantity,
        remaining=command.quantity,
        taker_fee_bps=taker_fee_bps,
        maker_fee_bps=maker_fee_bps,
        timestamp=command.timestamp,
    )


def _needed_funds(book: SymbolBook, order: BookOrder, budget: int | None) -> int:
    """The free funds that an order needs. The worst fee on a budget is rounded up to a whole amount unit."""
    if budget is None or order.side == Side.SELL:
        return book.hold(order)
    return budget - (-budget * order.worst_fee_bps // BASIS_POINTS)


def emit_reject(emit: Emit, command: Command, code: ResultCode) -> None:
    """Emit REJECT for an order that was refused."""
    emit(
        EventType.REJECT,
        side=command.side,
        order_type=command.order_type,
        code=code,
        symbol=command.symbol,
        order_id=command.order_id,
        account=command.account,
        price=command.price,
        quantity=command.quantity,
        remaining=command.quantity,
    )
