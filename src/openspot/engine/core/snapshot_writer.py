"""Writes the reference core's state as a snapshot (docs/protocol/snapshot.md)."""

from collections.abc import Iterator
from operator import attrgetter

from openspot.domain.market_phase import MarketPhase
from openspot.engine.core.records import Command
from openspot.engine.core.reference_book import SymbolBook
from openspot.engine.core.reference_order import BookOrder
from openspot.engine.core.reference_order_list import OrderList
from openspot.engine.core.reference_state import Account, CoreState, FeeRates, RememberedTransfer
from openspot.engine.core.snapshot_records import (
    ACCOUNT,
    BALANCE,
    COUNT_32,
    COUNT_64,
    CURRENCY,
    FIRED_ORDER,
    HEADER,
    ICEBERG,
    LIST_MEMBER,
    MAGIC,
    MOVEMENT,
    ORDER,
    ORDER_LIST,
    ORDER_TERMS,
    OWNER_LINK,
    PHASE,
    REFERENCE_PRICES,
    SYMBOL,
    TERMS,
    TRANSFER,
    WAITING_ORDER,
    OrderListRecord,
    RestingOrderRecord,
    SymbolRecord,
    halves,
)

# Built once, and by the names of the records: a snapshot has a record for each of many thousand orders.
_symbol_fields = attrgetter(*SymbolRecord._fields)
_order_fields = attrgetter(*RestingOrderRecord._fields)
_waiting_fields = attrgetter(
    *(f"order.{name}" for name in (*RestingOrderRecord._fields, "own_stp", "expiry")),
    "fok_steps",
    *(f"trigger.{name}" for name in ("kind", "flags", "value", "watermark", "anchor")),
)


def write_state(state: CoreState) -> bytes:
    """Return the canonical bytes of `state`, which a snapshot seals. Equal states have equal bytes."""
    parts = [HEADER.pack(MAGIC, state.command_sequence, state.event_sequence)]
    parts.append(COUNT_32.pack(len(state.supplies)))
    parts += [CURRENCY.pack(currency) for currency in sorted(state.supplies)]
    books = [book for _, book in sorted(state.books.items())]
    parts.append(COUNT_32.pack(len(books)))
    parts += [SYMBOL.pack(*_symbol_fields(book.symbol)) for book in books]
    parts.append(COUNT_32.pack(len(state.accounts)))
    for number, account in sorted(state.accounts.items()):
        parts.append(_account(number, account))
        parts += [BALANCE.pack(currency, *halves(total)) for currency, total in sorted(account.totals.items())]
    parts.append(COUNT_64.pack(len(state.orders) - len(state.waiting)))
    parts += [ORDER.pack(*_order_fields(order)) for book in books for order in book.orders()]
    parts.append(COUNT_64.pack(len(state.transfers)))
    parts += [_transfer(reference, transfer) for reference, transfer in sorted(state.transfers.items())]
    movements = state.movements_until(state.command_sequence)
    # States of before had none of these, so that their hashes stay.
    if movements or state.owners or state.tracks_prices:
        parts.append(COUNT_32.pack(len(movements)))
        parts += [MOVEMENT.pack(*movement[:3], *halves(movement.amount)) for movement in movements]
    if state.owners or state.tracks_prices:
        parts.append(COUNT_32.pack(len(state.owners)))
        parts += [OWNER_LINK.pack(*link) for link in sorted(state.owners.items())]
    has_extras = _has_extras(state)
    has_lists = has_extras or bool(state.lists or state.waiting_list_parts())
    if state.tracks_prices:
        parts += _terms_and_waiting(state, books, has_lists=has_lists)
    if has_lists:
        parts += _order_lists(state, books)
    if has_extras:
        parts += _extras(state)
    return b"".join(parts)


def _icebergs(state: CoreState) -> list[BookOrder]:
    return [order for _, order in sorted(state.orders.items()) if order.display]


def _has_extras(state: CoreState) -> bool:
    """Whether the last part is written. States of before had nothing for it, so that their hashes stay."""
    return bool(_icebergs(state)) or state.is_stopped_after(state.command_sequence)


def _extras(state: CoreState) -> Iterator[bytes]:
    yield COUNT_32.pack(state.is_stopped_after(state.command_sequence))
    icebergs = _icebergs(state)
    yield COUNT_64.pack(len(icebergs))
    for order in icebergs:
        yield ICEBERG.pack(order.order_id, order.display, order.visible)


def _terms_and_waiting(state: CoreState, books: list[SymbolBook], *, has_lists: bool) -> Iterator[bytes]:
    terms = state.terms_until(state.command_sequence)
    yield COUNT_32.pack(terms is not None)
    if terms is not None:
        yield _waiting_command(terms)
    own = [
        (number, order.own_stp, order.expiry)
        for number, order in sorted(state.orders.items())
        if number not in state.waiting and (order.own_stp or order.expiry)
    ]
    yield COUNT_64.pack(len(own))
    for record in own:
        yield ORDER_TERMS.pack(*record)
    yield COUNT_64.pack(len(state.waiting))
    for waiter in state.waiting.values():
        yield WAITING_ORDER.pack(*_waiting_fields(waiter))
    yield COUNT_64.pack(sum(len(book.fired) for book in books))
    for book in books:
        for fired in book.fired.items():
            yield FIRED_ORDER.pack(*fired)
    priced = [book for book in books if book.last_price or book.mark_price]
    yield COUNT_32.pack(len(priced))
    for book in priced:
        yield REFERENCE_PRICES.pack(book.symbol.symbol, book.last_price, book.mark_price)
    phased = [book for book in books if book.phase.phase != MarketPhase.CONTINUOUS]
    # States of before had neither phases nor lists, so that their hashes stay.
    if phased or has_lists:
        yield COUNT_32.pack(len(phased))
    for book in phased:
        phase = book.phase
        yield PHASE.pack(book.symbol.symbol, phase.phase, phase.following, phase.price, phase.ends)


def _order_lists(state: CoreState, books: list[SymbolBook]) -> Iterator[bytes]:
    waiting_parts = state.waiting_list_parts()
    yield COUNT_32.pack(len(waiting_parts))
    for part in waiting_parts:
        yield _waiting_command(part.terms)
        yield _waiting_command(part.order)
    yield COUNT_64.pack(len(state.lists))
    for _, order_list in sorted(state.lists.items()):
        yield ORDER_LIST.pack(*_order_list_record(order_list))
        for number in order_list.exits:
            yield LIST_MEMBER.pack(number)
        for plan in order_list.plans:
            yield WAITING_ORDER.pack(*_waiting_fields(plan))
    yield COUNT_64.pack(sum(len(book.arming) for book in books))
    for book in books:
        for number in book.arming:
            yield LIST_MEMBER.pack(number)


def _waiting_command(command: Command) -> bytes:
    """A command that waits for the one that follows it, without its kind and time."""
    _, side, order_type, flags, symbol, _, order_id, account, price, quantity, amount = command
    return TERMS.pack(side, order_type, flags, symbol, order_id, account, price, quantity, *halves(amount))


def _order_list_record(order_list: OrderList) -> OrderListRecord:
    return OrderListRecord(
        list_id=order_list.list_id,
        list_type=order_list.list_type,
        account=order_list.account,
        symbol=order_list.symbol,
        entry=order_list.entry,
        unarmed=order_list.unarmed,
        exits=len(order_list.exits),
        plans=len(order_list.plans),
    )


def _account(number: int, account: Account) -> bytes:
    """An AccountRecord."""
    fees = account.fees or FeeRates(0, 0)
    return ACCOUNT.pack(
        number, account.active, account.stp_mode, account.fees is not None, fees.taker_bps, fees.maker_bps,
        len(account.totals),
    )  # fmt: skip


def _transfer(reference: int, transfer: RememberedTransfer) -> bytes:
    """A TransferRecord."""
    return TRANSFER.pack(
        *halves(reference), transfer.kind, transfer.status, transfer.account, transfer.currency,
        *halves(transfer.amount),
    )  # fmt: skip
