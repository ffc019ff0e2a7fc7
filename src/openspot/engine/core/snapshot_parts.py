"""Reads orders and what they wait for from a snapshot (docs/protocol/snapshot.md) into the reference core's state."""

import struct
from collections.abc import Collection
from typing import Any

from openspot.domain.market_phase import UNCROSSED_PHASES, MarketPhase
from openspot.domain.money import AMOUNT_MAX
from openspot.domain.order import Side, StpMode, TriggerKind
from openspot.domain.symbol import SCALED_MAX
from openspot.engine.core.protocol import FEE_ACCOUNT
from openspot.engine.core.records import TERMS_FLAGS, Command, CommandKind
from openspot.engine.core.reference_book import PhaseState, SymbolBook
from openspot.engine.core.reference_checks import check_price
from openspot.engine.core.reference_directory import fees_valid
from openspot.engine.core.reference_order import BookOrder
from openspot.engine.core.reference_state import CoreState, FeeRates, Rejected
from openspot.engine.core.reference_terms import ACTIVATED_TYPES, trailing_fits
from openspot.engine.core.reference_triggers import Trigger, Waiter
from openspot.engine.core.snapshot_records import (
    COUNT_32,
    COUNT_64,
    FIRED_ORDER,
    ORDER_TERMS,
    PHASE,
    REFERENCE_PRICES,
    TERMS,
    WAITING_ORDER,
    AccountRecord,
    RestingOrderRecord,
    WaitingOrderRecord,
    join_halves,
    not_a_snapshot,
)

_KINDS = frozenset(TriggerKind) - {TriggerKind.NONE}


class RecordReader:
    """Takes whole records from the front of a snapshot."""

    def __init__(self, snapshot: bytes) -> None:
        self._snapshot = snapshot
        self._offset = 0

    def take(self, record: struct.Struct) -> tuple[Any, ...]:
        """The fields of the next record."""
        try:
            fields = record.unpack_from(self._snapshot, self._offset)
        except struct.error as error:
            raise not_a_snapshot("it breaks off") from error
        self._offset += record.size
        return fields

    @property
    def has_more(self) -> bool:
        """Whether anything is left."""
        return self._offset < len(self._snapshot)

    def count(self, record: struct.Struct) -> int:
        """The number of records that follow."""
        number: int = self.take(record)[0]
        return number


def require_content(condition: bool, reason: str) -> None:
    """Raise the error for a snapshot that is not valid unless `condition` holds."""
    if not condition:
        raise not_a_snapshot(reason)


def checked_fees(record: AccountRecord | RestingOrderRecord | WaitingOrderRecord) -> FeeRates:
    """The fees of a record, which must be in range."""
    fees = FeeRates(record.taker_fee_bps, record.maker_fee_bps)
    require_content(fees_valid(fees), "a fee is out of range")
    return fees


def checked_order(
    state: CoreState, record: RestingOrderRecord | WaitingOrderRecord, types: Collection[int], wrong_type: str
) -> BookOrder:
    """The order of a record, of one of these types, which must be one that PLACE accepts."""
    is_new = record.order_id != 0 and record.order_id not in state.orders
    require_content(is_new, "an order id is 0 or repeated")
    may_own = record.account in state.accounts and record.account != FEE_ACCOUNT
    require_content(may_own, "an order has no account that may own it")
    book = state.books.get(record.symbol)
    if book is None:
        raise not_a_snapshot("an order has no symbol")
    require_content(record.side in frozenset(Side), "an order has no side")
    require_content(record.order_type in types, wrong_type)
    checked_fees(record)
    try:
        check_price(book, record.price)
    except Rejected as rejected:
        raise not_a_snapshot("an order's price is out of range") from rejected
    if record.side == Side.BUY:
        reserve_price_allowed = record.price <= record.reserve_price <= SCALED_MAX
    else:
        reserve_price_allowed = record.reserve_price == 0
    require_content(reserve_price_allowed, "an order's reserve price is out of range")
    require_content(_quantities_allowed(book, record), "an order's quantity is out of range")
    return BookOrder(
        order_id=record.order_id,
        account=record.account,
        symbol=record.symbol,
        side=record.side,
        order_type=record.order_type,
        price=record.price,
        reserve_price=record.reserve_price,
        quantity=record.quantity,
        remaining=record.remaining,
        taker_fee_bps=record.taker_fee_bps,
        maker_fee_bps=record.maker_fee_bps,
        timestamp=record.timestamp,
    )


def _quantities_allowed(book: SymbolBook, record: RestingOrderRecord | WaitingOrderRecord) -> bool:
    lot = book.symbol.lot
    return (
        0 < record.quantity <= SCALED_MAX
        and 0 < record.remaining <= record.quantity
        and record.quantity % lot == 0
        and record.remaining % lot == 0
        and book.notional(max(record.reserve_price, record.price), record.remaining) <= AMOUNT_MAX
    )


def read_terms_and_waiting(state: CoreState, reader: RecordReader) -> None:
    """Read the parts that a core has written since its first TERMS or SET_MARK_PRICE."""
    state.tracks_prices = True
    count = reader.count(COUNT_32)
    require_content(count <= 1, "a wrong number of terms waits")
    if count:
        state.keep_terms(read_waiting_command(reader, CommandKind.TERMS))
    for _ in range(reader.count(COUNT_64)):
        _read_order_terms(state, *reader.take(ORDER_TERMS))
    for _ in range(reader.count(COUNT_64)):
        _read_waiting_order(state, WaitingOrderRecord._make(reader.take(WAITING_ORDER)))
    for _ in range(reader.count(COUNT_64)):
        _read_fired_order(state, *reader.take(FIRED_ORDER))
    for _ in range(reader.count(COUNT_32)):
        _read_reference_prices(state, *reader.take(REFERENCE_PRICES))
    if reader.has_more:
        for _ in range(reader.count(COUNT_32)):
            _read_phase(state, *reader.take(PHASE))


def read_waiting_command(reader: RecordReader, kind: CommandKind) -> Command:
    """Read a command that waits for the one that follows it."""
    *head, low, high = reader.take(TERMS)
    side, order_type, flags, symbol, order_id, account, price, quantity = head
    return Command(kind, side, order_type, flags, symbol, 0, order_id, account, price, quantity, join_halves(low, high))


def has_missed_trigger(state: CoreState) -> bool:
    """Whether the present price has fired a trigger whose order still waits for it."""
    for order_id, waiter in state.waiting.items():
        book = state.books[waiter.order.symbol]
        reference = book.reference_price(by_mark=waiter.trigger.by_mark)
        if order_id not in book.fired and reference and waiter.trigger.is_reached_by(reference):
            return True
    return False


def _read_order_terms(state: CoreState, order_id: int, own_stp: int, expiry: int) -> None:
    order = state.orders.get(order_id)
    if order is None or order.own_stp or order.expiry:
        raise not_a_snapshot("terms have no order that rests, or are repeated")
    require_content(own_stp <= len(StpMode) and (own_stp, expiry) != (0, 0), "terms of an order are out of range")
    order.own_stp, order.expiry = own_stp, expiry


def _read_waiting_order(state: CoreState, record: WaitingOrderRecord) -> None:
    waiter = checked_waiter(state, record)
    require_content(_trigger_allowed(waiter.trigger, record.side), "a trigger breaks a rule")
    state.add_waiter(waiter)


def checked_waiter(state: CoreState, record: WaitingOrderRecord) -> Waiter:
    """The order of a record, which must be one that can wait, with its trigger, which is not checked."""
    order = checked_order(state, record, ACTIVATED_TYPES, "an order of this type cannot wait")
    require_content(record.own_stp <= len(StpMode), "terms of an order are out of range")
    order.own_stp, order.expiry = record.own_stp, record.expiry
    tick = state.books[record.symbol].symbol.tick
    trigger = Trigger(record.kind, record.flags, record.value, tick, record.watermark, record.anchor)
    return Waiter(order, trigger, record.fok_steps)


def _trigger_allowed(trigger: Trigger, side: int) -> bool:
    if trigger.kind not in _KINDS or trigger.flags > TERMS_FLAGS or not 0 < trigger.value <= SCALED_MAX:
        return False
    if trigger.kind != TriggerKind.TRAILING_BASIS_POINTS and trigger.value % trigger.tick:
        return False
    if not trigger.is_trailing:
        return trigger.watermark == trigger.anchor == 0
    return (
        trailing_fits(trigger.kind, trigger.flags, trigger.value, side)
        and all(0 < price <= SCALED_MAX for price in (trigger.watermark, trigger.anchor, trigger.price))
        and trigger.anchor % trigger.tick == 0
        # It only moves to the better side, so a limit never exceeds what is held.
        and trigger.sign * trigger.shift <= 0
    )


def _read_fired_order(state: CoreState, order_id: int, price: int) -> None:
    waiter = state.waiting.get(order_id)
    fired = state.books[waiter.order.symbol].fired if waiter else {}
    if waiter is None or order_id in fired:
        raise not_a_snapshot("a fired order does not wait, or is repeated")
    is_fired = 0 < price <= SCALED_MAX and waiter.trigger.is_reached_by(price)
    require_content(is_fired, "a fired order has no price that fired it")
    fired[order_id] = price


def _read_reference_prices(state: CoreState, symbol: int, last_price: int, mark_price: int) -> None:
    book = state.books.get(symbol)
    if book is None or book.last_price or book.mark_price:
        raise not_a_snapshot("a price has no symbol, or is repeated")
    in_range = all(0 <= price <= SCALED_MAX for price in (last_price, mark_price))
    require_content(in_range and (last_price, mark_price) != (0, 0), "a reference price is out of range")
    book.last_price, book.mark_price = last_price, mark_price


def _read_phase(state: CoreState, symbol: int, phase: int, following: int, price: int, ends: int) -> None:
    book = state.books.get(symbol)
    if book is None or book.phase.phase != MarketPhase.CONTINUOUS:
        raise not_a_snapshot("a phase has no symbol, or is repeated")
    is_known = MarketPhase.CONTINUOUS < phase <= max(MarketPhase) and following in UNCROSSED_PHASES
    require_content(is_known, "a phase is unknown")
    if phase == MarketPhase.UNCROSSING:
        is_allowed = 0 <= price <= SCALED_MAX and price % book.symbol.tick == 0
        is_allowed = is_allowed and (ends == 0 or following != MarketPhase.CONTINUOUS)
    else:
        is_allowed = (following, price) == (MarketPhase.CONTINUOUS, 0)
    require_content(is_allowed, "a phase breaks a rule")
    book.phase = PhaseState(MarketPhase(phase), ends, MarketPhase(following), price)
