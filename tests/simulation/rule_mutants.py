"""Platforms whose complete rules of orders have one deliberate fault each. The auditor must find every one of them."""

import functools
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import msgspec

from openspot.contracts.engine_events import ListEndedEvent
from openspot.contracts.messages import CancelOrderListReply, SubmitOrderListReply
from openspot.contracts.refusals import RefusalCode
from openspot.domain.auction import Clearing
from openspot.domain.market_phase import MarketPhase
from openspot.domain.result_code import ResultCode
from openspot.domain.volatility import PriceWindow
from openspot.engine.core import (
    reference_amendments,
    reference_arming,
    reference_auction,
    reference_execution,
    reference_lists,
    reference_matching,
    reference_placement,
)
from openspot.engine.core.records import Event, EventType, decode_events
from openspot.engine.core.reference import ReferenceCore
from openspot.engine.core.reference_state import CoreState, require
from openspot.engine.core.reference_triggers import Trigger, Waiter
from openspot.engine.core.selection import make_core
from openspot.engine.intake import upkeep
from openspot.engine.intake.phase_upkeep import PhaseUpkeep
from openspot.engine.intake.upkeep import Upkeep
from openspot.engine.intake.volatility import VolatilityGuard
from openspot.engine.state.client_order_ids import ClientOrderIds
from openspot.rest_edge.orders.bulk_cancel import OpenOrderCancels
from openspot.router.orders import engine_orders
from openspot.router.orders.list_cancellation import ListCancellation
from openspot.router.orders.list_submission import ListSubmission
from openspot.router.store import Resumption
from openspot.router.translation.order_state_machine import OrderStateMachine
from tests.simulation import complete_orders
from tests.simulation import engine as simulated_engine
from tests.simulation.mutants import Fault
from tests.simulation.rows import Rows


def in_the_core(*patches: Any) -> Fault:
    """Faults of the reference core, which then runs alone."""
    faults = ExitStack()
    faults.enter_context(
        patch.object(simulated_engine, "core_makers", lambda: [functools.partial(make_core, "reference")])
    )
    for each in patches:
        faults.enter_context(each)
    return faults


def _nothing(*_: Any, **__: Any) -> None:
    """Do nothing."""


# Triggers


def stops_fire_twice() -> Fault:
    """The core tells every activation twice."""
    emit_order = reference_execution.emit_order

    def twice(emit: Any, event_type: EventType, *given: Any, **fields: Any) -> None:
        emit_order(emit, event_type, *given, **fields)
        emit_order(emit, event_type, *given, **fields)

    return in_the_core(patch.object(reference_execution, "emit_order", twice))


def stops_fire_too_early() -> Fault:
    """A price fires a stop when it is near its trigger."""
    return in_the_core(
        patch.object(Trigger, "is_reached_by", lambda trigger, price: trigger.sign * (price - trigger.price) >= -20)
    )


def stops_fire_too_late() -> Fault:
    """A price that is exactly the trigger's does not fire it."""
    return in_the_core(
        patch.object(Trigger, "is_reached_by", lambda trigger, price: trigger.sign * (price - trigger.price) > 0)
    )


def trailing_stops_follow_back() -> Fault:
    """A trailing trigger follows the price in both directions."""
    return in_the_core(patch.object(Trigger, "follow", lambda trigger, price: setattr(trigger, "watermark", price)))


def limits_do_not_follow() -> Fault:
    """The limit of a trailing order stays where it was when its trigger moves."""
    return in_the_core(patch.object(Waiter, "limit", property(lambda waiter: waiter.order.price)))


def mark_prices_fire_nothing() -> Fault:
    """Orders that wait for the mark price are compared with trades alone."""
    fire = reference_execution.fire

    def deaf(*given: Any, by_mark: bool) -> None:
        if not by_mark:
            fire(*given, by_mark=by_mark)

    return in_the_core(patch.object(reference_execution, "fire", deaf))


def fired_orders_stay() -> Fault:
    """Fired orders are not activated, and the core says that nothing is left to do."""
    modules = (reference_execution, reference_placement, reference_lists)
    return in_the_core(
        patch.object(ReferenceCore, "activations_due", lambda _: []),
        *(patch.object(module, "activate_fired", _nothing) for module in modules),
    )


def activations_forget_the_own_mode() -> Fault:
    """An order's own mode of self-trade prevention does not count."""
    return in_the_core(
        patch.object(CoreState, "stp_mode_of", lambda state, order: state.accounts[order.account].stp_mode)
    )


# Funds


def stops_hold_nothing_while_they_wait() -> Fault:
    """An order that waits releases its funds at once, and the rest of the core reckons with them."""
    add_waiter = CoreState.add_waiter

    def free(state: CoreState, waiter: Waiter) -> None:
        waiter.order.covered = True
        add_waiter(state, waiter)

    return in_the_core(patch.object(CoreState, "add_waiter", free))


def holds_are_released_twice() -> Fault:
    """The end of a waiting order releases its funds twice, as far as the account holds any."""
    remove_order = CoreState.remove_order

    def generous(state: CoreState, order: Any) -> None:
        waits = order.order_id in state.waiting
        book, held = state.books[order.symbol], state.accounts[order.account].held
        amount = book.hold(order)
        remove_order(state, order)
        if waits:
            held[book.held_currency(order)] -= min(amount, held[book.held_currency(order)])

    return in_the_core(patch.object(CoreState, "remove_order", generous))


def both_exits_hold() -> Fault:
    """Each of two exits holds the funds that one of them can spend."""
    return in_the_core(
        patch.object(reference_lists, "cover_lesser", _nothing),
        patch.object(reference_arming, "cover_lesser", _nothing),
    )


# Lists


def exits_know_nothing_of_each_other() -> Fault:
    """What a trade takes of one exit is not taken of the other."""
    follow = reference_matching.follow_change

    def forgetful(state: Any, order: Any, quantity: int, emit: Any, *, traded: bool) -> None:
        found = state.listed.get(order.order_id)
        if found is None or order.order_id == found.entry or not order.remaining:
            follow(state, order, quantity, emit, traded=traded)

    return in_the_core(patch.object(reference_matching, "follow_change", forgetful))


def fired_exits_leave_the_other() -> Fault:
    """When the trigger of one exit has fired, the other one goes on."""
    return in_the_core(patch.object(reference_execution, "follow_trigger", _nothing))


def exits_get_too_much() -> Fault:
    """Exits are armed with what the list was asked for, whatever its entry has filled."""
    arm = reference_execution.arm

    def generous(state: Any, book: Any, order_list: Any, emit: Any) -> None:
        if order_list.plans:
            order_list.unarmed = order_list.plans[0].order.quantity
        arm(state, book, order_list, emit)

    return in_the_core(patch.object(reference_execution, "arm", generous))


# Phases


def halts_take_orders() -> Fault:
    """A market takes new orders in every phase."""
    return in_the_core(patch.object(reference_placement, "check_may_enter", _nothing))


def auctions_match_at_once() -> Fault:
    """A market that collects orders for an auction matches what comes in, as ever."""
    return in_the_core(patch.object(reference_matching, "MarketPhase", SimpleNamespace(AUCTION=None)))


def auctions_take_the_first_price() -> Fault:
    """An auction has the price of the best bid."""
    clearing_of = reference_auction.clearing_of

    def first(bids: Any, asks: Any, **given: Any) -> Clearing | None:
        bids = list(bids)
        found = clearing_of(bids, asks, **given)
        return found and found._replace(price=bids[0][0])

    return in_the_core(patch.object(reference_auction, "clearing_of", first))


def auctions_trade_at_limits() -> Fault:
    """The orders of an auction trade at the price of the older one."""
    settle = reference_auction.settle_trade

    def at_limit(state: Any, taker: Any, maker: Any, _: int, *given: Any) -> None:
        settle(state, taker, maker, maker.price, *given)

    return in_the_core(patch.object(reference_auction, "settle_trade", at_limit))


def phases_do_not_end() -> Fault:
    """The engine forgets to end a phase whose time is over."""
    return patch.object(PhaseUpkeep, "note", _nothing)


def interruptions_come_without_a_move() -> Fault:
    """A market is interrupted by every second price."""
    return patch.object(PriceWindow, "has_moved", lambda window, price, _: price % 2 == 0)


def moves_are_overlooked() -> Fault:
    """A market is never interrupted by a price that falls."""
    has_moved = PriceWindow.has_moved

    def hopeful(window: PriceWindow, price: int, move_bps: int) -> bool:
        return has_moved(window, price, move_bps) and price > 10_000

    return patch.object(PriceWindow, "has_moved", hopeful)


def interruptions_override_operators() -> Fault:
    """A market is interrupted whatever phase it is in, and however short a time after the last time."""
    return patch.object(VolatilityGuard, "_may_interrupt", lambda *_: True)


def auctions_go_on_for_ever() -> Fault:
    """An auction goes on whenever it is over."""

    def again(guard: VolatilityGuard, row: Any) -> Any:
        return guard._auction(row.symbol, guard._sequencer.now()) if row.phase == MarketPhase.AUCTION else None

    return patch.object(VolatilityGuard, "extension", again)


# Times and ids


def orders_do_not_expire() -> Fault:
    """The core forgets when orders expire."""
    return in_the_core(patch.object(ReferenceCore, "expiries", lambda _: []), patch.object(Upkeep, "_expire", _nothing))


def expiries_are_forgotten_at_a_restart() -> Fault:
    """The engine ends only those orders whose time is over that it has taken since its start."""
    begin = Upkeep.__init__

    def forgetful(each: Upkeep, *given: Any) -> None:
        begin(each, *given)
        each._expiries.clear()

    return patch.object(Upkeep, "__init__", forgetful)


def orders_expire_early() -> Fault:
    """An order that expires ends a third of a second too soon."""

    def hurried(records: bytes) -> Iterator[Event]:
        for event in decode_events(records):
            yield event._replace(amount=event.amount - 300_000_000) if event.amount else event

    def lenient(condition: bool, code: ResultCode) -> None:
        require(condition or code == ResultCode.ORDER_NOT_EXPIRED, code)

    return in_the_core(
        patch.object(upkeep, "decode_events", hurried), patch.object(reference_amendments, "require", lenient)
    )


def client_order_ids_are_free() -> Fault:
    """Nobody looks whether an open order has the client order id."""
    return patch.object(ClientOrderIds, "holder", _nothing)


def client_order_ids_are_not_in_snapshots() -> Fault:
    """After a restart from a snapshot the client order ids of the orders in it are free.

    Users choose among so few ids that one comes again soon.
    """
    faults = ExitStack()
    faults.enter_context(patch.object(complete_orders, "CLIENT_IDS", 2))
    faults.enter_context(patch.object(ClientOrderIds, "snapshot", lambda *_: []))
    return faults


def switches_are_told_too_early() -> Fault:
    """A dead man's switch is told to be done without having cancelled anything."""

    async def done(*_: Any) -> None:
        return None

    return patch.object(OpenOrderCancels, "_cancel", done)


# Rows and events


class ForgetsTriggers(Rows):
    """Has no column for the time at which a trigger fired."""

    def write_order(self, order: Any) -> None:
        """Write the order without it."""
        super().write_order(msgspec.structs.replace(order, triggered_ms=None))


class ReadsNoTriggers(Rows):
    """The columns of triggers are written and not read: a router that goes on knows nothing of them."""

    def resumption(self, partition: Any) -> Resumption:
        """Read the open orders without their triggers."""
        found = super().resumption(partition)
        orders = [msgspec.structs.replace(order, trigger_by=None, stop_price=None) for order in found.orders]
        return found._replace(orders=orders)


class ReadsNoExpiry(Rows):
    """The column of the expiry is not read."""

    def resumption(self, partition: Any) -> Resumption:
        """Read the open orders without the time at which they expire."""
        found = super().resumption(partition)
        return found._replace(orders=[msgspec.structs.replace(order, expires_ms=None) for order in found.orders])


class ReadsNoLists(Rows):
    """The columns of lists are not read."""

    def resumption(self, partition: Any) -> Resumption:
        """Read the open orders without the lists that bind them."""
        found = super().resumption(partition)
        orders = [msgspec.structs.replace(order, list_id=None, list_state=None) for order in found.orders]
        return found._replace(orders=orders)


def ends_of_lists_are_not_told() -> Fault:
    """The router does not follow the event of a list that has ended."""
    follow = OrderStateMachine._follow_list

    def deaf(machine: Any, event: Any, translated: Any) -> None:
        if not isinstance(event, ListEndedEvent):
            follow(machine, event, translated)

    return patch.object(OrderStateMachine, "_follow_list", deaf)


def unknown_lists_are_refused() -> Fault:
    """The router reports a list without a reply of the engine as refused."""
    submit = ListSubmission.submit

    async def certain(submission: Any, request: Any) -> SubmitOrderListReply:
        reply = await submit(submission, request)
        code = None if reply.code is None else RefusalCode.ENGINE
        return SubmitOrderListReply(reply.success, reply.orders, error=reply.error, code=code)

    return patch.object(ListSubmission, "submit", certain)


def cancels_of_lists_are_not_sent() -> Fault:
    """The router reports lists as cancelled that the engine never heard of."""

    async def done(_: Any, request: Any) -> CancelOrderListReply:
        return CancelOrderListReply(True)

    return patch.object(ListCancellation, "cancel", done)


def activations_are_not_told() -> Fault:
    """The router does not follow the event of a trigger that has fired."""
    return patch.object(OrderStateMachine, "_trigger", _nothing)


def terms_are_not_kept() -> Fault:
    """The router sends an order's trigger without what its row needs."""
    return patch.object(engine_orders, "kept_terms", lambda _: {})


def expiries_are_not_sent() -> Fault:
    """The router forgets to tell the engine when an order expires."""
    add_terms = engine_orders.add_terms

    def lasting(request: Any, draft: Any, scaled_trigger: int, scaled_display: int) -> None:
        without = replace(draft, terms=replace(draft.terms, expires_ms=None))
        add_terms(request, without, scaled_trigger, scaled_display)

    return patch.object(engine_orders, "add_terms", lasting)
