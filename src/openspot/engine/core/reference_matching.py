"""The reference core's matching: trades and self-trade prevention of an incoming order."""

from dataclasses import dataclass

from openspot.domain.market_phase import MarketPhase
from openspot.domain.order import Side, StpMode
from openspot.domain.result_code import ResultCode
from openspot.engine.core.protocol import FEE_ACCOUNT
from openspot.engine.core.records import (
    EVENT_AUCTION,
    EVENT_LISTED,
    EVENT_MAKER_COMPLETED,
    EVENT_MAKER_REBATE,
    EVENT_TAKER_COMPLETED,
    EventType,
)
from openspot.engine.core.reference_firing import fire
from openspot.engine.core.reference_list_links import emit_reduce, follow_change, reduce_open
from openspot.engine.core.reference_order import BookOrder
from openspot.engine.core.reference_state import CoreState, Emit


@dataclass(slots=True)
class Execution:
    """What matching did to an incoming order.

    `filled` is scaled, `notional` is in amount units of the quote asset. `removal_reason` is the code of the
    order's last REDUCE, or SUCCESS if there was none.
    """

    filled: int = 0
    notional: int = 0
    removal_reason: ResultCode = ResultCode.SUCCESS


def match_order(state: CoreState, incoming: BookOrder, emit: Emit) -> Execution:
    """Trade against the opposite side by priority until nothing remains or the limit allows no more.

    In an auction nothing matches: orders collect.
    """
    execution = Execution()
    book = state.books[incoming.symbol]
    if book.phase.phase == MarketPhase.AUCTION:
        return execution
    opposite = book.opposite_side(incoming)
    mode = state.stp_mode_of(incoming)
    owner = state.owner_of(incoming.account)
    while incoming.remaining:
        resting = opposite.best()
        if resting is None or not incoming.may_trade_at(resting.price):
            break
        if mode != StpMode.NONE and state.owner_of(resting.account) == owner:
            _prevent_self_trade(state, mode, incoming, resting, execution, emit)
        else:
            _trade(state, incoming, resting, execution, emit)
    return execution


def fill_or_kill_refusal(
    state: CoreState, incoming: BookOrder, budget: int, steps_max: int | None
) -> ResultCode | None:
    """Why a FOK or FOK_BUDGET order is killed; None if matching will fill it entirely, within its budget.

    Looks at no more than `steps_max` price levels, or resting orders if the order may meet one of its own owner; None
    means any number. Changes nothing.
    """
    book = state.books[incoming.symbol]
    owner, mode = state.owner_of(incoming.account), state.stp_mode_of(incoming)
    is_by_order = may_meet_itself(state, incoming)
    unfilled, notional, steps = incoming.remaining, 0, 0
    for level in book.opposite_side(incoming).levels():
        price, hidden = level[0].price, 0
        if not incoming.may_trade_at(price):
            return ResultCode.FOK_NOT_FILLABLE
        for place, resting in enumerate(level):
            if is_by_order or place == 0:
                if steps == steps_max:
                    return ResultCode.FOK_TOO_DEEP
                steps += 1
            if is_by_order and state.owner_of(resting.account) == owner:
                if mode == StpMode.CANCEL_RESTING:
                    continue
                return ResultCode.FOK_NOT_FILLABLE
            quantity = min(unfilled, resting.shown)
            unfilled -= quantity
            hidden += resting.hidden
            notional += book.notional(price, quantity)
            if not unfilled:
                break
        # What is hidden comes after all that the price shows.
        quantity = min(unfilled, hidden)
        unfilled -= quantity
        notional += book.notional(price, quantity)
        if not unfilled:
            break
    is_filled = not unfilled
    if is_filled and not incoming.has_limit:
        is_filled = notional <= budget if incoming.side == Side.BUY else notional >= budget
    return None if is_filled else ResultCode.FOK_NOT_FILLABLE


def may_meet_itself(state: CoreState, incoming: BookOrder) -> bool:
    """Whether an incoming order may meet one of its own owner, so that a walk through the book looks at each order."""
    book, account = state.books[incoming.symbol], state.accounts[incoming.account]
    # The currency that the orders of the opposite side hold.
    opposite = book.symbol.base if incoming.side == Side.BUY else book.symbol.quote
    owner = state.owner_of(incoming.account)
    return state.stp_mode_of(incoming) != StpMode.NONE and (
        any(state.books[order.symbol].held_currency(order) == opposite for order in account.orders.values())
        or any(number != owner and state.owner_of(number) == owner for number in state.accounts)
    )


def reduce_resting(state: CoreState, order: BookOrder, quantity: int, reason: ResultCode, emit: Emit) -> None:
    """Reduce an open order by `quantity` without a trade, and emit REDUCE with the reason."""
    reduce_open(state, order, quantity, reason, emit)
    follow_change(state, order, quantity, emit, traded=False)


def reduce_incoming(order: BookOrder, quantity: int, reason: ResultCode, execution: Execution, emit: Emit) -> None:
    """Reduce an incoming order by `quantity` without a trade, and emit REDUCE with the reason."""
    order.remaining -= quantity
    execution.removal_reason = reason
    emit_reduce(emit, order, quantity, reason)


def removals(mode: StpMode, incoming: BookOrder, resting: BookOrder) -> tuple[int, int, ResultCode]:
    """How much the resting and the incoming order of one owner lose instead of a trade, and the reason."""
    smaller = min(incoming.remaining, resting.remaining)
    return {
        StpMode.CANCEL_RESTING: (resting.remaining, 0, ResultCode.STP_CANCEL_RESTING),
        StpMode.CANCEL_INCOMING: (0, incoming.remaining, ResultCode.STP_CANCEL_INCOMING),
        StpMode.CANCEL_BOTH: (resting.remaining, incoming.remaining, ResultCode.STP_CANCEL_BOTH),
        StpMode.DECREMENT_AND_CANCEL: (smaller, smaller, ResultCode.STP_DECREMENT),
    }[mode]


def _prevent_self_trade(
    state: CoreState, mode: StpMode, incoming: BookOrder, resting: BookOrder, execution: Execution, emit: Emit
) -> None:
    """Reduce the two orders of one owner as the incoming account's mode says (facts A2.6-12 to A2.6-16)."""
    from_resting, from_incoming, reason = removals(mode, incoming, resting)
    if from_resting:
        reduce_resting(state, resting, from_resting, reason, emit)
    if from_incoming:
        reduce_incoming(incoming, from_incoming, reason, execution, emit)


def _trade(state: CoreState, taker: BookOrder, maker: BookOrder, execution: Execution, emit: Emit) -> None:
    """Fill two orders against each other at the resting price (fact A1-01) and charge both fees."""
    price, quantity = maker.price, min(taker.remaining, maker.shown)
    shows_more = state.fill_order(maker, quantity)
    taker.remaining -= quantity
    execution.filled += quantity
    execution.notional += state.books[taker.symbol].notional(price, quantity)
    settle_trade(state, taker, maker, price, quantity, emit)
    if shows_more:
        emit_shown(emit, maker)


def rest_order(state: CoreState, order: BookOrder, emit: Emit) -> None:
    """Put an order at the end of its queue. One that shows a part of its quantity says which."""
    state.add_order(order)
    if order.display:
        emit_shown(emit, order)


def emit_shown(emit: Emit, order: BookOrder) -> None:
    """Emit SHOWN for an order that shows a new part of its quantity."""
    emit(
        EventType.SHOWN,
        side=order.side,
        order_type=order.order_type,
        symbol=order.symbol,
        order_id=order.order_id,
        account=order.account,
        price=order.price,
        quantity=order.shown,
        remaining=order.remaining,
    )


def settle_trade(
    state: CoreState, taker: BookOrder, maker: BookOrder, price: int, quantity: int, emit: Emit, flags: int = 0
) -> None:
    """Pay for a trade by which both orders were reduced already, charge both fees, and emit TRADE.

    `flags` are those that do not follow from the orders.
    """
    book = state.books[taker.symbol]
    notional, base_amount = book.notional(price, quantity), book.base_amount(quantity)
    # Limits a rebate to the taker's fee, so that the fee account never pays.
    maker_fee_bps = max(maker.maker_fee_bps, -taker.taker_fee_bps)
    taker_fee = book.fee(price, quantity, taker.taker_fee_bps)
    maker_fee = book.fee(price, quantity, maker_fee_bps)

    base, quote = book.symbol.base, book.symbol.quote
    buyer, seller = (taker, maker) if taker.side == Side.BUY else (maker, taker)
    state.credit(buyer.account, base, base_amount)
    state.credit(seller.account, base, -base_amount)
    state.credit(buyer.account, quote, -notional)
    state.credit(seller.account, quote, notional)
    state.credit(taker.account, quote, -taker_fee)
    state.credit(maker.account, quote, -maker_fee)
    state.credit(FEE_ACCOUNT, quote, taker_fee + maker_fee)

    flags |= EVENT_MAKER_REBATE if maker_fee < 0 else 0
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
    follow_change(state, maker, quantity, emit, traded=True)
    if flags & EVENT_AUCTION:
        # The taker rested, too.
        follow_change(state, taker, quantity, emit, traded=True)
    if state.tracks_prices:
        book.last_price = price
        fire(book, list(state.waiting.values()), price, by_mark=False)


def emit_accepted(state: CoreState, order: BookOrder, emit: Emit) -> None:
    """Emit ACCEPTED for an order that is about to enter its book."""
    emit_order(
        emit,
        EventType.ACCEPTED,
        order,
        flags=EVENT_LISTED if order.order_id in state.listed else 0,
        maker_remaining=order.display,
        fee_bps=order.taker_fee_bps,
        maker_fee_bps=order.maker_fee_bps,
        amount=order.expiry,
    )


def emit_order(emit: Emit, event_type: EventType, order: BookOrder, **others: int) -> None:
    """Emit an event with the order's current price and quantities, and `others`."""
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
        **others,
    )
