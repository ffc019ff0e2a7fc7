"""The reference core's execution: an order that passed its checks, or whose trigger fired, matches, rests or ends."""

from dataclasses import replace

from openspot.domain.market_phase import MarketPhase
from openspot.domain.order import EngineOrderType
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SCALED_MAX
from openspot.engine.core.records import ACTIVATIONS_MAX, Command, EventType
from openspot.engine.core.reference_arming import arm
from openspot.engine.core.reference_book import SymbolBook
from openspot.engine.core.reference_checks import check_notional, check_price
from openspot.engine.core.reference_firing import fire
from openspot.engine.core.reference_list_links import follow_execution, follow_trigger
from openspot.engine.core.reference_matching import (
    Execution,
    emit_order,
    fill_or_kill_refusal,
    match_order,
    reduce_incoming,
    rest_order,
)
from openspot.engine.core.reference_order import BookOrder
from openspot.engine.core.reference_sizing import steps_of
from openspot.engine.core.reference_state import CommandResult, CoreState, Emit, Rejected, require, require_found

_FILL_OR_KILL = frozenset({EngineOrderType.FOK, EngineOrderType.FOK_BUDGET})


def execute(state: CoreState, order: BookOrder, emit: Emit, *, budget: int, flags: int) -> Execution:
    """Match an order. Its type decides what becomes of a remainder (facts A2.8-01 to A2.8-05).

    The low bits of `flags`, those of the PLACE, bound the test of a FOK.
    """
    refusal = None
    if order.order_type in _FILL_OR_KILL:
        refusal = fill_or_kill_refusal(state, order, budget=budget, steps_max=steps_of(flags))
    if refusal is not None:
        execution = Execution()
        reduce_incoming(order, order.remaining, refusal, execution, emit)
    else:
        execution = match_order(state, order, emit)
        if order.remaining and order.order_type == EngineOrderType.IOC:
            reduce_incoming(order, order.remaining, ResultCode.IOC_REMAINDER, execution, emit)
    if order.remaining:
        rest_order(state, order, emit)
    return execution


def activate_fired(state: CoreState, book: SymbolBook, emit: Emit) -> None:
    """Arm lists and activate fired orders of a symbol in their order, at most ACTIVATIONS_MAX of both.

    Lists come first. What this trades may fill and fire more. All wait until the market is in continuous trading.
    """
    if book.phase.phase != MarketPhase.CONTINUOUS:
        return
    for _ in range(ACTIVATIONS_MAX):
        unarmed = next(iter(book.arming.values()), None)
        fired = next(iter(book.fired.items()), None)
        if unarmed is not None:
            arm(state, book, unarmed, emit)
        elif fired is not None:
            _activate(state, book, *fired, emit)
        else:
            return


def set_mark_price(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Set the mark price of a symbol, which fires the triggers that wait for it."""
    book = _active_book(state, command)
    require(0 < command.price <= SCALED_MAX, ResultCode.INVALID_PRICE)
    state.tracks_prices = True
    book.mark_price = command.price
    fire(book, list(state.waiting.values()), command.price, by_mark=True)
    activate_fired(state, book, emit)
    return CommandResult()


def activate(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Activate fired orders that the commands before left waiting."""
    activate_fired(state, _active_book(state, command), emit)
    return CommandResult()


def _active_book(state: CoreState, command: Command) -> SymbolBook:
    book = require_found(state.books.get(command.symbol), ResultCode.INVALID_SYMBOL)
    require(book.symbol.active, ResultCode.SYMBOL_INACTIVE)
    return book


def _activate(state: CoreState, book: SymbolBook, order_id: int, fired_price: int, emit: Emit) -> None:
    waiter = state.waiting[order_id]
    order = replace(waiter.order, price=waiter.limit, covered=False)
    state.remove_order(waiter.order)
    emit_order(
        emit,
        EventType.TRIGGERED,
        order,
        flags=waiter.trigger.flags,
        maker_order_id=waiter.trigger.kind,
        maker_remaining=waiter.trigger.price,
        fee_bps=order.taker_fee_bps,
        maker_fee_bps=order.maker_fee_bps,
        amount=fired_price,
    )
    follow_trigger(state, order_id, emit)
    refusal, execution = _activation_refusal(state, book, order), Execution()
    if refusal is not None:
        reduce_incoming(order, order.remaining, refusal, execution, emit)
    else:
        execution = execute(state, order, emit, budget=0, flags=waiter.fok_steps)
    follow_execution(state, order, execution.filled, emit)


def _activation_refusal(state: CoreState, book: SymbolBook, order: BookOrder) -> ResultCode | None:
    """Why an order ends instead of its activation. A limit that follows the price may leave its range."""
    try:
        require(state.accounts[order.account].active, ResultCode.PARTICIPANT_INACTIVE)
        check_price(book, order.price)
        check_notional(book, order.price, order.remaining)
    except Rejected as rejected:
        return rejected.code
    return None
