"""The reference core's order commands: PLACE, CANCEL, MOVE, REDUCE, and the matching behind them.

Each function takes the state, the command and what emits events, and answers the outcome or raises Refused.
The checks stand in the order of docs/protocol/matching.md; nothing changes before the last of them.
"""

from dataclasses import dataclass

from openspot.domain.money import AMOUNT_MAX, BASIS_POINTS
from openspot.domain.order import EngineOrderType, Side, StpMode
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SCALED_MAX
from openspot.engine.core.protocol import FEE_ACCOUNT
from openspot.engine.core.records import (
    EVENT_MAKER_COMPLETED,
    EVENT_MAKER_REBATE,
    EVENT_TAKER_COMPLETED,
    Command,
    EventType,
    ResultStatus,
)
from openspot.engine.core.reference_book import Order
from openspot.engine.core.reference_state import Account, Emit, Market, Outcome, Refused, State, found, require

_SIDES = frozenset(Side)
_ORDER_TYPES = frozenset(EngineOrderType)
_FILL_OR_KILL = frozenset({EngineOrderType.FOK, EngineOrderType.FOK_BUDGET})


@dataclass(slots=True)
class _Execution:
    """What matching did to the incoming order. `reason` is that of its last REDUCE, SUCCESS if none."""

    filled: int = 0
    notional: int = 0
    reason: ResultCode = ResultCode.SUCCESS


def place(state: State, command: Command, emit: Emit) -> Outcome:
    """Take a new order, match it, and let rest what its type lets rest (Document A 2.8)."""
    try:
        order = _checked_order(state, command)
    except Refused as refusal:
        emit(
            EventType.REJECT,
            side=command.side,
            order_type=command.order_type,
            code=refusal.code,
            symbol=command.symbol,
            order_id=command.order_id,
            account=command.account,
            price=command.price,
            quantity=command.quantity,
            remaining=command.quantity,
        )
        return Outcome(refusal.code, ResultStatus.REJECTED, remaining=command.quantity)
    _emit_order(emit, EventType.ACCEPTED, order, fee_bps=order.taker_fee_bps, maker_fee_bps=order.maker_fee_bps)
    if order.order_type in _FILL_OR_KILL and not _fills_wholly(state, order, budget=command.amount):
        execution = _Execution()
        _cancel_incoming(order, ResultCode.FOK_NOT_FILLABLE, execution, emit)
    else:
        execution = _match(state, order, emit)
        if order.remaining and order.order_type == EngineOrderType.IOC:
            _cancel_incoming(order, ResultCode.IOC_REMAINDER, execution, emit)
    if order.remaining:
        state.rest(order)
    if order.remaining or execution.filled:
        return Outcome(filled=execution.filled, remaining=order.remaining, notional=execution.notional)
    return Outcome(execution.reason, ResultStatus.CANCELLED)


def cancel(state: State, command: Command, emit: Emit) -> Outcome:
    """Take an order out of the book, for its owner or (account 0) an administrator (Document A 1.4)."""
    order = found(state.orders.get(command.order_id), ResultCode.MATCHING_UNKNOWN_ORDER_ID)
    require(command.account in (order.account, 0), ResultCode.AUTH_INVALID_USER)
    require(command.symbol in (order.symbol, 0), ResultCode.MATCHING_UNKNOWN_ORDER_ID)
    code = ResultCode.CANCELLED_BY_USER if command.account else ResultCode.CANCELLED_BY_ADMIN
    cancelled = order.remaining
    _reduce_resting(state, order, cancelled, code, emit)
    return Outcome(remaining=cancelled)


def reduce(state: State, command: Command, emit: Emit) -> Outcome:
    """Take a quantity off an order, which keeps its place in the queue."""
    order = _own_order(state, command)
    require(command.quantity > 0, ResultCode.INVALID_QUANTITY)
    lot = state.markets[order.symbol].symbol.lot
    require(command.quantity % lot == 0, ResultCode.INVALID_QUANTITY_STEP)
    quantity = min(command.quantity, order.remaining)
    _reduce_resting(state, order, quantity, ResultCode.REDUCED_BY_USER, emit)
    return Outcome(remaining=order.remaining)


def move(state: State, command: Command, emit: Emit) -> Outcome:
    """Give an order a new price: it is matched anew and rests behind the queue of that price."""
    order = _own_order(state, command)
    market, account = state.markets[order.symbol], state.accounts[order.account]
    require(market.symbol.active, ResultCode.SYMBOL_INACTIVE)
    _check_price(market, command.price)
    _check_size(market, command.price, order.remaining)
    if order.side == Side.BUY:
        # The new hold is the old one at another price: both are price × the same figure.
        new_hold = market.hold(order) // order.reserve_price * command.price
        require(
            account.free(market.symbol.quote) + market.hold(order) >= new_hold,
            ResultCode.RISK_NSF,
        )
    if order.order_type == EngineOrderType.POST_ONLY:
        _check_post_only(market, order, command.price)
    state.unrest(order)
    order.price = command.price
    order.reserve_price = command.price if order.side == Side.BUY else 0
    _emit_order(emit, EventType.MOVED, order)
    execution = _match(state, order, emit)
    if order.remaining:
        state.rest(order)
    return Outcome(filled=execution.filled, remaining=order.remaining, notional=execution.notional)
