"""Writes the reference core's state as a snapshot (docs/protocol/snapshot.md)."""

from collections.abc import Iterator

from openspot.domain.market_phase import MarketPhase
from openspot.engine.core.protocol import Symbol
from openspot.engine.core.records import Command
from openspot.engine.core.reference_book import SymbolBook
from openspot.engine.core.reference_order import BookOrder
from openspot.engine.core.reference_order_list import OrderList
from openspot.engine.core.reference_state import Account, CoreState, FeeRates, RememberedTransfer
from openspot.engine.core.reference_triggers import Waiter
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
    AccountRecord,
    OrderListRecord,
    RestingOrderRecord,
    SymbolRecord,
    TransferRecord,
    WaitingOrderRecord,
    halves,
)


def write_state(state: CoreState) -> bytes:
    """Return the canonical bytes of `state`, which a snapshot seals. Equal states have equal bytes."""
    parts = [HEADER.pack(MAGIC, state.command_sequence, state.event_sequence)]
    parts.append(COUNT_32.pack(len(state.supplies)))
    parts += [CURRENCY.pack(currency) for currency in sorted(state.supplies)]
    books = [book for _, book in sorted(state.books.items())]
    parts.append(COUNT_32.pack(len(books)))
    parts += [SYMBOL.pack(*_symbol_record(book.symbol)) for book in books]
    parts.append(COUNT_32.pack(len(state.accounts)))
    for number, account in sorted(state.accounts.items()):
        parts.append(ACCOUNT.pack(*_account_record(number, account)))
        parts += [BALANCE.pack(currency, *halves(total)) for currency, total in sorted(account.totals.items())]
    parts.append(COUNT_64.pack(len(state.orders) - len(state.waiting)))
    parts += [ORDER.pack(*_order_record(order)) for book in books for order in book.orders()]
    parts.append(COUNT_64.pack(len(state.transfers)))
    for reference, transfer in sorted(state.transfers.items()):
        parts.append(TRANSFER.pack(*_transfer_record(reference, transfer)))
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
        yield WAITING_ORDER.pack(*_waiting_order_record(waiter))
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
            yield WAITING_ORDER.pack(*_waiting_order_record(plan))
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


def _symbol_record(symbol: Symbol) -> SymbolRecord:
    return SymbolRecord(
        symbol=symbol.symbol,
        base=symbol.base,
        quote=symbol.quote,
        active=symbol.active,
        base_scale_k=symbol.base_scale_k,
        quote_scale_k=symbol.quote_scale_k,
        tick=symbol.tick,
        lot=symbol.lot,
        taker_fee_bps=symbol.taker_fee_bps,
        maker_fee_bps=symbol.maker_fee_bps,
    )


def _account_record(number: int, account: Account) -> AccountRecord:
    fees = account.fees or FeeRates(0, 0)
    return AccountRecord(
        account=number,
        active=account.active,
        stp_mode=account.stp_mode,
        has_fees=account.fees is not None,
        taker_fee_bps=fees.taker_bps,
        maker_fee_bps=fees.maker_bps,
        balances=len(account.totals),
    )


def _order_record(order: BookOrder) -> RestingOrderRecord:
    return RestingOrderRecord(
        order_id=order.order_id,
        account=order.account,
        symbol=order.symbol,
        side=order.side,
        order_type=order.order_type,
        price=order.price,
        reserve_price=order.reserve_price,
        quantity=order.quantity,
        remaining=order.remaining,
        taker_fee_bps=order.taker_fee_bps,
        maker_fee_bps=order.maker_fee_bps,
        timestamp=order.timestamp,
    )


def _waiting_order_record(waiter: Waiter) -> WaitingOrderRecord:
    order, trigger = waiter.order, waiter.trigger
    return WaitingOrderRecord(
        *_order_record(order),
        own_stp=order.own_stp,
        expiry=order.expiry,
        fok_steps=waiter.fok_steps,
        kind=trigger.kind,
        flags=trigger.flags,
        value=trigger.value,
        watermark=trigger.watermark,
        anchor=trigger.anchor,
    )


def _transfer_record(reference: int, transfer: RememberedTransfer) -> TransferRecord:
    reference_low, reference_high = halves(reference)
    amount_low, amount_high = halves(transfer.amount)
    return TransferRecord(
        reference_low=reference_low,
        reference_high=reference_high,
        kind=transfer.kind,
        status=transfer.status,
        account=transfer.account,
        currency=transfer.currency,
        amount_low=amount_low,
        amount_high=amount_high,
    )
