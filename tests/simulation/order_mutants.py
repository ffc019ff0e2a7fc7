"""Faults in icebergs, replacements, and orders that never rest or never take.

The auditor of a world with the complete rules must find every one of them.
"""

from typing import Any
from unittest.mock import patch

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.contracts.messages import CancelOrderReply, ReplaceOrderReply
from openspot.contracts.refusals import RefusalCode
from openspot.domain.order import EngineOrderType, Side
from openspot.domain.result_code import ResultCode
from openspot.engine.core import (
    reference,
    reference_amendments,
    reference_execution,
    reference_matching,
    reference_placement,
)
from openspot.engine.core.records import Command, CommandKind
from openspot.engine.core.reference_book import QueuedSide, SymbolBook
from openspot.engine.core.reference_order import BookOrder
from openspot.engine.core.reference_state import CommandResult, CoreState
from openspot.engine.core.reference_triggers import Waiter
from openspot.engine.intake.command_intake import CommandIntake
from openspot.market_data.book import PublishedBook
from openspot.router.orders import engine_orders
from openspot.router.orders.cancellation import Cancellation
from openspot.router.orders.replacement import Replacement
from tests.simulation.mutants import Fault, order_ids_count_again
from tests.simulation.rule_mutants import in_the_core

# Icebergs


def icebergs_show_all() -> Fault:
    """The depth has what icebergs hide, too."""

    def whole(side: QueuedSide, levels: int) -> Any:
        pairs = zip(depth(side, levels), side.volumes(), strict=False)
        return [level._replace(quantity=quantity) for level, (_, quantity) in pairs]

    depth = QueuedSide.depth
    return in_the_core(patch.object(QueuedSide, "depth", whole))


def icebergs_trade_all() -> Fault:
    """A resting iceberg trades what it hides before it joins the end of the queue."""
    trade, shown = reference_matching._trade, BookOrder.shown.__get__  # type: ignore[attr-defined]

    def greedy(state: Any, taker: BookOrder, maker: BookOrder, *given: Any) -> None:
        if maker.display:
            maker.visible = min(maker.remaining, max(shown(maker), taker.remaining))
        trade(state, taker, maker, *given)

    return in_the_core(patch.object(reference_matching, "_trade", greedy))


def slices_keep_their_place() -> Fault:
    """The next slice of an iceberg comes before the orders that were there."""
    fill_order = CoreState.fill_order

    def at_the_front(state: CoreState, order: BookOrder, quantity: int) -> bool:
        side = state.books[order.symbol].own_side(order)
        with patch.object(side, "remove", lambda _: None), patch.object(side, "add", lambda _: None):
            return fill_order(state, order, quantity)

    def fill(state: CoreState, order: BookOrder, quantity: int) -> bool:
        has_ended = quantity == order.remaining
        return fill_order(state, order, quantity) if has_ended else at_the_front(state, order, quantity)

    return in_the_core(patch.object(CoreState, "fill_order", fill))


def icebergs_show_one_slice() -> Fault:
    """An iceberg whose first slice is gone shows no more, and says so to nobody."""
    emit_shown = reference_matching.emit_shown

    def once(emit: Any, order: BookOrder) -> None:
        if order.remaining == order.quantity:
            emit_shown(emit, order)

    return in_the_core(patch.object(reference_matching, "emit_shown", once))


def icebergs_hold_one_slice() -> Fault:
    """An iceberg holds funds for what it shows alone."""
    hold = SymbolBook.hold

    def less(book: SymbolBook, order: BookOrder) -> int:
        amount = hold(book, order)
        return amount * min(order.display, order.remaining) // order.remaining if order.display else amount

    return in_the_core(patch.object(SymbolBook, "hold", less))


def shrunk_icebergs_show_less() -> Fault:
    """What leaves an iceberg without a trade leaves what it shows first, as its events tell."""
    reduce_order = CoreState.reduce_order

    def visibly(state: CoreState, order: BookOrder, quantity: int) -> None:
        visible = order.visible
        reduce_order(state, order, quantity)
        if order.display and order.remaining:
            order.visible = max(visible - quantity, 1)

    return in_the_core(patch.object(CoreState, "reduce_order", visibly))


def new_orders_come_first() -> Fault:
    """Of orders at one price the newest trades first."""

    def newest(side: QueuedSide) -> BookOrder | None:
        return next(reversed(side._levels[side._keys[-1]].values())) if side._keys else None

    return in_the_core(patch.object(QueuedSide, "best", newest))


def books_show_whole_icebergs() -> Fault:
    """Market data takes the rest of an iceberg for what it shows."""

    def whole(book: PublishedBook, event: Any, quantity: str) -> None:
        rest(book, event, getattr(event, "remaining", quantity))

    rest = PublishedBook._rest
    return patch.object(PublishedBook, "_rest", whole)


def displays_are_not_sent() -> Fault:
    """The router forgets to tell the engine what an iceberg displays."""
    add_terms = engine_orders.add_terms

    def forgetful(request: Any, draft: Any, scaled_trigger: int, _: int) -> None:
        add_terms(request, draft, scaled_trigger, 0)

    return patch.object(engine_orders, "add_terms", forgetful)


# Replacements


def replaced_orders_stay() -> Fault:
    """The core says that it has cancelled the order that is replaced, and leaves it."""

    def pretend(state: CoreState, command: Command, _: Any) -> CommandResult:
        state.tracks_prices = True
        return CommandResult()

    return in_the_core(patch.dict(reference._HANDLERS, {CommandKind.REPLACE: pretend}))


def replacements_need_no_first() -> Fault:
    """The new order is placed although there was nothing to replace."""
    return in_the_core(patch.object(CoreState, "stop_placement", lambda _: None))


def replacements_take_any_order() -> Fault:
    """The core cancels whatever order a REPLACE names, whoever owns it."""
    replace_order = reference._HANDLERS[CommandKind.REPLACE]

    def generous(state: CoreState, command: Command, emit: Any) -> Any:
        order = state.orders.get(command.order_id)
        return replace_order(state, command if order is None else command._replace(account=order.account), emit)

    return in_the_core(patch.dict(reference._HANDLERS, {CommandKind.REPLACE: generous}))


def replacements_are_two_commands() -> Fault:
    """The engine cancels the old order and places the new one as if they had nothing to do with each other."""

    def apart(intake: CommandIntake, engine_order_id: int, request: Any, *, allow_failure: bool) -> Any:
        account = intake._machine.directory.account(request.participant_id)
        cancel = Command(CommandKind.CANCEL, order_id=engine_order_id, account=account)
        return intake.place((request,), cancel)

    return patch.object(CommandIntake, "replace", apart)


def replacements_are_told_too_early() -> Fault:
    """The router reports an old order as cancelled, whatever the engine said."""

    async def done(_: Any, order: Any, response: Any) -> CancelOrderReply:
        shown = await outcome(_, order, orders_pb2.CancelOrderResponse(cancelled_quantity=response.cancelled_quantity))
        return CancelOrderReply(True, order=shown.order)

    outcome = Cancellation.outcome
    return patch.object(Cancellation, "outcome", done)


def refused_replacements_are_not_told() -> Fault:
    """The router says nothing of a new order that was refused after the old one was cancelled."""
    replace = Replacement.replace

    async def silent(each: Replacement, request: Any) -> ReplaceOrderReply:
        reply = await replace(each, request)
        is_refused = reply.placed is not None and reply.placed.code == RefusalCode.ENGINE
        return ReplaceOrderReply(reply.cancelled, None) if is_refused else reply

    return patch.object(Replacement, "replace", silent)


def repeated_replacements_count_again() -> Fault:
    """The engine forgets the ids that it has seen, so a repeated replacement is another one."""
    return order_ids_count_again()


# Changes inside lists


def planned_exits_keep_their_prices() -> Fault:
    """A planned exit is told to have another price, and is placed with its old one."""
    move_waiter = reference_amendments._move_waiter

    def pretend(state: CoreState, waiter: Waiter, *given: Any) -> CommandResult:
        if waiter.order.order_id in state.orders:
            return move_waiter(state, waiter, *given)
        before = waiter.order.price, waiter.order.reserve_price
        result = move_waiter(state, waiter, *given)
        waiter.order.price, waiter.order.reserve_price = before
        return result

    return in_the_core(patch.object(reference_amendments, "_move_waiter", pretend))


def exits_may_meet_their_entry() -> Fault:
    """An exit, or its entry, gets a price at which they would trade with each other."""
    return in_the_core(
        patch.object(reference_amendments, "check_exit", lambda *_: None),
        patch.object(reference_amendments, "check_exits", lambda *_: None),
    )


def pairs_hold_for_the_exit_that_needed_more() -> Fault:
    """Another price of an exit does not change which of a pair holds for both."""
    return in_the_core(patch.object(reference_amendments, "cover_again", lambda *_: None))


def lists_take_another_quantity() -> Fault:
    """One order of a list gets another quantity, and the others keep theirs."""
    require = reference_amendments.require

    def generous(condition: bool, code: ResultCode) -> None:
        require(condition or code == ResultCode.ORDER_IN_LIST, code)

    return in_the_core(patch.object(reference_amendments, "require", generous))


# Orders that never rest, and orders that never take


def immediate_orders_rest() -> Fault:
    """What an IOC could not trade stays in the book."""
    reduce_incoming = reference_execution.reduce_incoming

    def unless_it_is_the_rest(order: BookOrder, quantity: int, reason: ResultCode, *given: Any) -> None:
        if reason != ResultCode.IOC_REMAINDER:
            reduce_incoming(order, quantity, reason, *given)

    return in_the_core(patch.object(reference_execution, "reduce_incoming", unless_it_is_the_rest))


def immediate_orders_leave_the_last_price() -> Fault:
    """An IOC does not trade at a price that is exactly its limit."""
    may_trade_at = BookOrder.may_trade_at

    def better(order: BookOrder, price: int) -> bool:
        is_at_its_limit = order.order_type == EngineOrderType.IOC and price == order.price
        return may_trade_at(order, price) and not is_at_its_limit

    return in_the_core(patch.object(BookOrder, "may_trade_at", better))


def killed_orders_fill_in_part() -> Fault:
    """A FOK that the book cannot fill trades what is there, like an IOC."""
    match_order = reference_execution.match_order

    def what_is_there(state: CoreState, order: BookOrder, emit: Any) -> Any:
        execution = match_order(state, order, emit)
        if order.remaining and order.order_type == EngineOrderType.FOK:
            reference_execution.reduce_incoming(order, order.remaining, ResultCode.FOK_NOT_FILLABLE, execution, emit)
        return execution

    return in_the_core(
        patch.object(reference_execution, "fill_or_kill_refusal", lambda *_, **__: None),
        patch.object(reference_execution, "match_order", what_is_there),
    )


def killed_orders_overlook_icebergs() -> Fault:
    """A FOK counts what icebergs show, and nothing of what they hide."""
    return in_the_core(patch.object(BookOrder, "hidden", property(lambda _: 0)))


def post_only_orders_take() -> Fault:
    """A post-only order that would trade is taken, and trades."""
    return in_the_core(patch.object(reference_placement, "check_post_only", lambda *_: None))


def sliding_orders_are_refused() -> Fault:
    """A post-only order that may slide is refused like any other."""
    return in_the_core(patch.object(reference_placement, "_slide", lambda *_: None))


def sliding_orders_slide_too_far() -> Fault:
    """A post-only order slides to two ticks behind the best opposite price."""
    slide = reference_placement._slide

    def farther(book: SymbolBook, order: BookOrder) -> None:
        price = order.price
        slide(book, order)
        if order.price != price:
            order.price += -book.symbol.tick if order.side == Side.BUY else book.symbol.tick
            order.reserve_price = order.price if order.side == Side.BUY else 0

    return in_the_core(patch.object(reference_placement, "_slide", farther))
