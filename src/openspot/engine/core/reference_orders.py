"""The reference core's order commands: PLACE, CANCEL, MOVE, REDUCE, and the matching behind them.

Each function takes the state, the command and what emits events, and answers the outcome or raises Refused.
The checks stand in the order of docs/protocol/matching.md; nothing changes before the last of them.
"""

from dataclasses import dataclass, replace

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
        _reduce_incoming(order, order.remaining, ResultCode.FOK_NOT_FILLABLE, execution, emit)
    else:
        execution = _match(state, order, emit)
        if order.remaining and order.order_type == EngineOrderType.IOC:
            _reduce_incoming(order, order.remaining, ResultCode.IOC_REMAINDER, execution, emit)
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
    moved = replace(order, price=command.price, reserve_price=command.price if order.side == Side.BUY else 0)
    _check_notional(market, moved.price, moved.remaining)
    free = account.free(market.held_currency(order)) + market.hold(order)
    require(free >= market.hold(moved), ResultCode.RISK_NSF)
    _check_post_only(market, moved)
    state.unrest(order)
    _emit_order(emit, EventType.MOVED, moved)
    execution = _match(state, moved, emit)
    if moved.remaining:
        state.rest(moved)
    return Outcome(filled=execution.filled, remaining=moved.remaining, notional=execution.notional)


def _own_order(state: State, command: Command) -> Order:
    order = found(state.orders.get(command.order_id), ResultCode.MATCHING_UNKNOWN_ORDER_ID)
    require(command.account == order.account, ResultCode.AUTH_INVALID_USER)
    return order


def _checked_order(state: State, command: Command) -> Order:
    """The order that a PLACE asks for, if every check allows it."""
    require(command.side in _SIDES, ResultCode.INVALID_SIDE)
    require(command.order_type in _ORDER_TYPES, ResultCode.INVALID_ORDER_TYPE)
    require(command.order_id > 0, ResultCode.INVALID_ORDER_ID)
    require(command.order_id not in state.orders, ResultCode.DUPLICATE_ORDER_ID)
    market = found(state.markets.get(command.symbol), ResultCode.INVALID_SYMBOL)
    require(market.symbol.active, ResultCode.SYMBOL_INACTIVE)
    account = found(state.accounts.get(command.account), ResultCode.RISK_NSF)
    require(account.active, ResultCode.PARTICIPANT_INACTIVE)
    require(0 < command.quantity <= SCALED_MAX, ResultCode.INVALID_QUANTITY)
    require(command.quantity % market.symbol.lot == 0, ResultCode.INVALID_QUANTITY_STEP)
    order = _new_order(command, market, account)
    if order.has_limit:
        _check_price(market, order.price)
        if order.side == Side.BUY:
            require(order.price <= order.reserve_price, ResultCode.RISK_INVALID_RESERVE_BID_PRICE)
            require(order.reserve_price <= SCALED_MAX, ResultCode.INVALID_PRICE)
    else:
        require(0 < command.amount <= AMOUNT_MAX, ResultCode.INVALID_BUDGET)
    # The worst price: a BUY's reserve, which is not below its price; a SELL's price; 0 where a budget bounds.
    _check_notional(market, max(order.price, order.reserve_price), order.quantity)
    needed = _hold(market, order, budget=command.amount)
    require(account.free(market.held_currency(order)) >= needed, ResultCode.RISK_NSF)
    _check_post_only(market, order)
    return order


def _new_order(command: Command, market: Market, account: Account) -> Order:
    has_limit = command.order_type != EngineOrderType.FOK_BUDGET
    taker_fee_bps, maker_fee_bps = account.fees or (market.symbol.taker_fee_bps, market.symbol.maker_fee_bps)
    return Order(
        order_id=command.order_id,
        account=command.account,
        symbol=command.symbol,
        side=command.side,
        order_type=command.order_type,
        price=command.price if has_limit else 0,
        reserve_price=command.amount if has_limit and command.side == Side.BUY else 0,
        quantity=command.quantity,
        remaining=command.quantity,
        taker_fee_bps=taker_fee_bps,
        maker_fee_bps=maker_fee_bps,
        timestamp=command.timestamp,
    )


def _check_price(market: Market, price: int) -> None:
    require(0 < price <= SCALED_MAX, ResultCode.INVALID_PRICE)
    require(price % market.symbol.tick == 0, ResultCode.INVALID_PRICE_STEP)


def _check_notional(market: Market, limit: int, quantity: int) -> None:
    require(market.notional(limit, quantity) <= AMOUNT_MAX, ResultCode.NOTIONAL_TOO_LARGE)


def _check_post_only(market: Market, order: Order) -> None:
    """Refuse a POST_ONLY order that would match at once, even against an order of its own account."""
    best = market.book.opposite(order).best()
    would_match = best is not None and order.allows(best.price)
    require(order.order_type != EngineOrderType.POST_ONLY or not would_match, ResultCode.POST_ONLY_WOULD_CROSS)


def _hold(market: Market, order: Order, budget: int) -> int:
    """What must be free for an order to be taken: also a budget's worst fee, rounded up to a whole unit."""
    if order.has_limit or order.side == Side.SELL:
        return market.hold(order)
    worst_fee_bps = max(order.taker_fee_bps, order.maker_fee_bps, 0)
    return budget - (-budget * worst_fee_bps // BASIS_POINTS)


def _fills_wholly(state: State, incoming: Order, budget: int) -> bool:
    """Whether matching would fill the whole of a FOK or FOK_BUDGET order. Changes nothing."""
    market, mode = state.markets[incoming.symbol], state.accounts[incoming.account].stp_mode
    remaining, notional = incoming.remaining, 0
    for resting in market.book.opposite(incoming).orders():
        if not incoming.allows(resting.price):
            return False
        if resting.account == incoming.account and mode != StpMode.NONE:
            if mode == StpMode.CANCEL_RESTING:
                continue
            return False
        quantity = min(remaining, resting.remaining)
        remaining -= quantity
        notional += market.notional(resting.price, quantity)
        if not remaining:
            break
    if remaining or incoming.has_limit:
        return not remaining
    return notional <= budget if incoming.side == Side.BUY else notional >= budget


def _match(state: State, incoming: Order, emit: Emit) -> _Execution:
    """Walk the opposite side by priority for as long as the limit allows and something remains."""
    execution = _Execution()
    opposite = state.markets[incoming.symbol].book.opposite(incoming)
    # The mode is asked once: no command but SET_ACCOUNT changes it.
    mode = state.accounts[incoming.account].stp_mode
    while incoming.remaining:
        resting = opposite.best()
        if resting is None or not incoming.allows(resting.price):
            break
        if resting.account == incoming.account and mode != StpMode.NONE:
            _prevent_self_trade(state, mode, incoming, resting, execution, emit)
        else:
            _trade(state, incoming, resting, execution, emit)
    return execution


def _prevent_self_trade(
    state: State, mode: int, incoming: Order, resting: Order, execution: _Execution, emit: Emit
) -> None:
    """Take off the two orders of one account what the account's mode says (Document A 2.6)."""
    smaller = min(incoming.remaining, resting.remaining)
    off_resting, off_incoming, code = {
        StpMode.CANCEL_RESTING: (resting.remaining, 0, ResultCode.STP_CANCEL_RESTING),
        StpMode.CANCEL_INCOMING: (0, incoming.remaining, ResultCode.STP_CANCEL_INCOMING),
        StpMode.CANCEL_BOTH: (resting.remaining, incoming.remaining, ResultCode.STP_CANCEL_BOTH),
        StpMode.DECREMENT_AND_CANCEL: (smaller, smaller, ResultCode.STP_DECREMENT),
    }[StpMode(mode)]
    if off_resting:
        _reduce_resting(state, resting, off_resting, code, emit)
    if off_incoming:
        _reduce_incoming(incoming, off_incoming, code, execution, emit)


def _trade(state: State, taker: Order, maker: Order, execution: _Execution, emit: Emit) -> None:
    """Fill two orders against each other at the resting price (fact A1-01) and charge both their fees."""
    market = state.markets[taker.symbol]
    price, quantity = maker.price, min(taker.remaining, maker.remaining)
    notional, base_amount = market.notional(price, quantity), market.base_amount(quantity)
    # A rebate is bounded by the fee that the taker pays, so that the fee account never pays net.
    maker_fee_bps = max(maker.maker_fee_bps, -taker.taker_fee_bps)
    taker_fee = market.fee(price, quantity, taker.taker_fee_bps)
    maker_fee = market.fee(price, quantity, maker_fee_bps)

    state.shrink(maker, quantity)
    taker.remaining -= quantity
    base, quote = market.symbol.base, market.symbol.quote
    buyer, seller = (taker, maker) if taker.side == Side.BUY else (maker, taker)
    state.add(buyer.account, base, base_amount)
    state.add(seller.account, base, -base_amount)
    state.add(buyer.account, quote, -notional)
    state.add(seller.account, quote, notional)
    state.add(taker.account, quote, -taker_fee)
    state.add(maker.account, quote, -maker_fee)
    state.add(FEE_ACCOUNT, quote, taker_fee + maker_fee)
    execution.filled += quantity
    execution.notional += notional

    flags = EVENT_MAKER_REBATE if maker_fee < 0 else 0
    flags |= 0 if taker.remaining else EVENT_TAKER_COMPLETED
    flags |= 0 if maker.remaining else EVENT_MAKER_COMPLETED
    emit(
        EventType.TRADE,
        side=taker.side,
        order_type=taker.order_type,
        flags=flags,
        symbol=taker.symbol,
        currency=quote,
        order_id=taker.order_id,
        maker_order_id=maker.order_id,
        account=taker.account,
        maker_account=maker.account,
        price=price,
        quantity=quantity,
        remaining=taker.remaining,
        maker_remaining=maker.remaining,
        fee_bps=taker.taker_fee_bps,
        maker_fee_bps=maker_fee_bps,
        amount=taker_fee,
        maker_amount=maker_fee,
    )


def _reduce_resting(state: State, order: Order, quantity: int, code: ResultCode, emit: Emit) -> None:
    state.shrink(order, quantity)
    _emit_reduce(emit, order, quantity, code)


def _reduce_incoming(order: Order, quantity: int, code: ResultCode, execution: _Execution, emit: Emit) -> None:
    order.remaining -= quantity
    execution.reason = code
    _emit_reduce(emit, order, quantity, code)


def _emit_reduce(emit: Emit, order: Order, quantity: int, code: ResultCode) -> None:
    emit(
        EventType.REDUCE,
        side=order.side,
        order_type=order.order_type,
        flags=0 if order.remaining else EVENT_TAKER_COMPLETED,
        code=code,
        symbol=order.symbol,
        order_id=order.order_id,
        account=order.account,
        price=order.price,
        quantity=quantity,
        remaining=order.remaining,
    )


def _emit_order(emit: Emit, event_type: EventType, order: Order, **fees: int) -> None:
    """An event that shows an order as it stands."""
    emit(
        event_type,
        side=order.side,
        order_type=order.order_type,
        symbol=order.symbol,
        order_id=order.order_id,
        account=order.account,
        price=order.price,
        quantity=order.quantity,
        remaining=order.remaining,
        **fees,
    )
