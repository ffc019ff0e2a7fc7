"""Reads a snapshot (docs/protocol/snapshot.md) into the reference core's state.

The reader trusts nothing. It checks every number against the rules of the core, in the order of
docs/protocol/snapshot.md. At the end it writes the state again, which must give the same bytes. The Rust core makes
the same checks in the same order (rust/matching/src/restore.rs), so both report the same reason.
"""

from openspot.domain.market_phase import UNCROSSED_PHASES
from openspot.domain.money import AMOUNT_MAX
from openspot.domain.order import RESTING_TYPES, StpMode
from openspot.domain.transfer import MOVEMENTS_MAX
from openspot.engine.core.protocol import FEE_ACCOUNT, Symbol
from openspot.engine.core.records import CommandKind
from openspot.engine.core.reference_directory import add_symbol
from openspot.engine.core.reference_state import (
    Account,
    CoreState,
    CoreTransferStatus,
    PendingMovement,
    Rejected,
    RememberedTransfer,
)
from openspot.engine.core.snapshot_extras import read_extras
from openspot.engine.core.snapshot_lists import read_order_lists
from openspot.engine.core.snapshot_parts import (
    RecordReader,
    checked_fees,
    checked_order,
    has_missed_trigger,
    read_terms_and_waiting,
    require_content,
)
from openspot.engine.core.snapshot_records import (
    ACCOUNT,
    BALANCE,
    COUNT_32,
    COUNT_64,
    CURRENCY,
    HEADER,
    MAGIC,
    MOVEMENT,
    ORDER,
    OWNER_LINK,
    SYMBOL,
    TRANSFER,
    AccountRecord,
    MovementRecord,
    RestingOrderRecord,
    SymbolRecord,
    TransferRecord,
    join_halves,
    not_a_snapshot,
    state_of,
)
from openspot.engine.core.snapshot_writer import write_state

_SEQUENCE_MAX = 1 << 62
"""Largest sequence in a snapshot. It leaves enough room for all later commands."""

_LEAST_AMOUNTS = {
    CommandKind.DEPOSIT: 1,
    CommandKind.WITHDRAW: 1,
    CommandKind.RESERVE: 1,
    CommandKind.ADJUST: -AMOUNT_MAX,
    CommandKind.TRANSFER: 1,
}
"""Kind of a transfer → its smallest amount, or the smallest digest of a TRANSFER."""


def read_snapshot(snapshot: bytes) -> CoreState:
    """Return the state in `snapshot`, which may be one of an older version, without a checksum.

    Raises ValueError, with the reason, unless the snapshot is complete and canonical and its state follows the rules.
    """
    state_bytes = state_of(snapshot)
    reader = RecordReader(state_bytes)
    state = CoreState()
    magic, state.command_sequence, state.event_sequence = reader.take(HEADER)
    require_content(magic == MAGIC, "it has another format")
    require_content(max(state.command_sequence, state.event_sequence) <= _SEQUENCE_MAX, "a sequence is too large")
    for _ in range(reader.count(COUNT_32)):
        (currency,) = reader.take(CURRENCY)
        require_content(currency != 0 and currency not in state.supplies, "a currency number is 0 or repeated")
        state.supplies[currency] = 0
    for _ in range(reader.count(COUNT_32)):
        _read_symbol(state, SymbolRecord._make(reader.take(SYMBOL)))
    for position in range(reader.count(COUNT_32)):
        _read_account(state, reader, first=position == 0)
    for _ in range(reader.count(COUNT_64)):
        _read_order(state, RestingOrderRecord._make(reader.take(ORDER)))
    for _ in range(reader.count(COUNT_64)):
        _read_transfer(state, TransferRecord._make(reader.take(TRANSFER)))
    if reader.has_more:
        _read_movements(state, reader)
    if reader.has_more:
        for _ in range(reader.count(COUNT_32)):
            _read_owner_link(state, *reader.take(OWNER_LINK))
    if reader.has_more:
        read_terms_and_waiting(state, reader)
    if reader.has_more:
        read_order_lists(state, reader)
    if reader.has_more:
        read_extras(state, reader)
    covered = all(account.free(currency) >= 0 for account in state.accounts.values() for currency in account.held)
    require_content(covered, "an account holds more than it owns")
    crossed = any(book.is_crossed and book.phase.phase in UNCROSSED_PHASES for book in state.books.values())
    require_content(not crossed, "a book is crossed")
    require_content(not has_missed_trigger(state), "a waiting order's trigger was reached")
    require_content(write_state(state) == state_bytes, "it is not in canonical form")
    return state


def _read_symbol(state: CoreState, record: SymbolRecord) -> None:
    require_content(record.symbol != 0 and record.symbol not in state.books, "a symbol number is 0 or repeated")
    symbol = Symbol(
        symbol=record.symbol,
        base=record.base,
        quote=record.quote,
        base_scale_k=record.base_scale_k,
        quote_scale_k=record.quote_scale_k,
        tick=record.tick,
        lot=record.lot,
        taker_fee_bps=record.taker_fee_bps,
        maker_fee_bps=record.maker_fee_bps,
        active=record.active == 1,
    )
    try:
        add_symbol(state, symbol)
    except Rejected as rejected:
        raise not_a_snapshot("a symbol breaks a rule of its specification") from rejected


def _read_account(state: CoreState, reader: RecordReader, *, first: bool) -> None:
    record = AccountRecord._make(reader.take(ACCOUNT))
    require_content(record.stp_mode in frozenset(StpMode), "an STP mode is unknown")
    fees = checked_fees(record)
    active = record.active == 1
    if first:
        is_fee_account = record.account == FEE_ACCOUNT and not active
        require_content(is_fee_account, "the first account is not the inactive fee account")
    else:
        is_new = record.account != 0 and record.account not in state.accounts
        require_content(is_new, "an account number is 0 or repeated")
    account = Account(active, record.stp_mode, fees if record.has_fees == 1 else None)
    state.accounts[record.account] = account
    for _ in range(record.balances):
        currency, low, high = reader.take(BALANCE)
        total = join_halves(low, high)
        require_content(currency in state.supplies, "a balance has no currency")
        require_content(0 < total <= AMOUNT_MAX, "a balance is out of range")
        require_content(currency not in account.totals, "a balance is repeated")
        state.change_total(record.account, currency, total)
        require_content(state.supplies[currency] <= AMOUNT_MAX, "the supply of a currency is too large")


def _read_order(state: CoreState, record: RestingOrderRecord) -> None:
    state.add_order(checked_order(state, record, RESTING_TYPES, "an order of this type cannot rest"))


def _read_transfer(state: CoreState, record: TransferRecord) -> None:
    reference, amount = record.reference, record.amount
    require_content(reference != 0 and reference not in state.transfers, "a reference is 0 or repeated")
    require_content(record.kind in _LEAST_AMOUNTS, "a transfer has no valid kind")
    kind = CommandKind(record.kind)
    known_status = record.status in frozenset(CoreTransferStatus)
    is_done = record.status == CoreTransferStatus.DONE
    require_content(known_status and is_done == (kind != CommandKind.RESERVE), "a transfer has no valid status")
    in_range = amount != 0 and _LEAST_AMOUNTS[kind] <= amount <= AMOUNT_MAX
    require_content(in_range, "a transfer's amount is out of range")
    require_content(record.account in state.accounts, "a transfer has no account")
    is_held = record.status == CoreTransferStatus.HELD
    # Once its money is no longer held, the currency of a transfer can be deleted.
    has_currency = record.currency != 0 and (not is_held or record.currency in state.supplies)
    require_content(has_currency, "a transfer has no currency")
    if is_held:
        state.accounts[record.account].held[record.currency] += amount
    state.transfers[reference] = RememberedTransfer(
        kind, CoreTransferStatus(record.status), record.account, record.currency, amount
    )


def _read_movements(state: CoreState, reader: RecordReader) -> None:
    count = reader.count(COUNT_32)
    # Links of owners come after the movements, also after none.
    right = count <= MOVEMENTS_MAX and (count > 0 or reader.has_more)
    require_content(right, "a wrong number of movements waits")
    state.keep_movements([_movement(MovementRecord._make(reader.take(MOVEMENT))) for _ in range(count)])


def _read_owner_link(state: CoreState, account: int, owner: int) -> None:
    is_new = state.may_be_linked(account) and account not in state.owners
    require_content(is_new, "a link has no account that may be linked, or is repeated")
    require_content(owner != account and state.may_be_linked(owner), "a link has no account that may be its owner")
    state.owners[account] = owner


def _movement(record: MovementRecord) -> PendingMovement:
    amount = join_halves(record.amount_low, record.amount_high)
    return PendingMovement(record.source, record.destination, record.currency, amount)
