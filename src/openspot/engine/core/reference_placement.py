"""The reference core's PLACE: checks a new order and matches it, then the order rests or ends.

The checks run in the order of docs/protocol/matching.md. Nothing changes until all of them have passed.
"""

from openspot.domain.money import AMOUNT_MAX, BASIS_POINTS
from openspot.domain.order import EngineOrderType, Side
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SCALED_MAX
from openspot.engine.core.records import FLAG_BUDGET, FLAG_SLIDE, Command, EventType, ResultStatus
from openspot.engine.core.reference_book import BookOrder, SymbolBook
from openspot.engine.core.reference_matching import (
    Execution,
    emit_order,
    fill_or_kill_refusal,
    match_order,
    reduce_incoming,
)
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

_SIDES = frozenset(Side)
_ORDER_TYPES = frozenset(EngineOrderType)
_FILL_OR_KILL = frozenset({EngineOrderType.FOK, EngineOrderType.FOK_BUDGET})


def place(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Check a new order and match it. Its type decides what becomes of a remainder (facts A2.8-01 to A2.8-05)."""
    try:
        order = _checked_order(state, command)
    except Rejected as rejected:
        _emit_reject(emit, command, rejected.code)
        return CommandResult(rejected.code, ResultStatus.REJECTED, remaining=command.quantity)
    emit_order(emit, EventType.ACCEPTED, order, fee_bps=order.taker_fee_bps, maker_fee_bps=order.maker_fee_bps)
    refusal = None
    if order.order_type in _FILL_OR_KILL:
        refusal = fill_or_kill_refusal(state, order, budget=command.amount, steps_max=steps_of(command.flags))
    if refusal is not None:
        execution = Execution()
        reduce_incoming(order, order.remaining, refusal, execution, emit)
    else:
        execution = match_order(state, order, emit)
        if order.remaining and order.order_type == EngineOrderType.IOC:
            reduce_incoming(order, order.remaining, ResultCode.IOC_REMAINDER, execution, emit)
    if order.remaining:
        state.add_order(order)
    if order.remaining or execution.filled:
        return CommandResult(filled=execution.filled, remaining=order.remaining, notional=execution.notional)
    return CommandResult(execution.removal_reason, ResultStatus.CANCELLED)


def check_price(book: SymbolBook, price: int) -> None:
    """Check 6 of PLACE, which MOVE and AMEND share: the price is in range and a multiple of the tick."""
    require(0 < price <= SCALED_MAX, ResultCode.INVALID_PRICE)
    require(price % book.symbol.tick == 0, ResultCode.INVALID_PRICE_STEP)


def check_notional(book: SymbolBook, limit: int, quantity: int) -> None:
    """Check 8 of PLACE, which MOVE and AMEND share: the notional fits an amount."""
    require(book.notional(limit, quantity) <= AMOUNT_MAX, ResultCode.NOTIONAL_TOO_LARGE)


def check_post_only(book: SymbolBook, order: BookOrder) -> None:
    """Reject a POST_ONLY order that would match at once, even against an order of its own account."""
    best = book.opposite_side(order).best()
    would_match = best is not None and order.may_trade_at(best.price)
    require(order.order_type != EngineOrderType.POST_ONLY or not would_match, ResultCode.POST_ONLY_WOULD_CROSS)


def _checked_order(state: CoreState, command: Command) -> BookOrder:
    """The order that a PLACE asks for. Raises Rejected with the first check that fails."""
    require(command.side in _SIDES, ResultCode.INVALID_SIDE)
    require(command.order_type in _ORDER_TYPES, ResultCode.INVALID_ORDER_TYPE)
    require(command.order_id > 0, ResultCode.INVALID_ORDER_ID)
    require(command.order_id not in state.orders, ResultCode.DUPLICATE_ORDER_ID)
    book = require_found(state.books.get(command.symbol), ResultCode.INVALID_SYMBOL)
    require(book.symbol.active, ResultCode.SYMBOL_INACTIVE)
    account = require_found(state.accounts.get(command.account), ResultCode.RISK_NSF)
    require(account.active, ResultCode.PARTICIPANT_INACTIVE)
    require(0 < command.quantity <= SCALED_MAX, ResultCode.INVALID_QUANTITY)
    require(command.quantity % book.symbol.lot == 0, ResultCode.INVALID_QUANTITY_STEP)
    order = _new_order(command, book, account)
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
    require(free >= needed, ResultCode.RISK_NSF)
    check_post_only(book, order)
    if has_budget and order.has_limit:
        order.remaining = affordable_quantity(state, order, command.amount, steps_of(command.flags))
        require(order.remaining > 0, ResultCode.BUDGET_NOT_FILLABLE)
        order.quantity = order.remaining
    return order


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


def _emit_reject(emit: Emit, command: Command, code: ResultCode) -> None:
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
