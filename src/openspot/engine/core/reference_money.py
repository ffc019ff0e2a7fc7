"""The reference core's money commands: what enters, leaves or is set aside other than by a trade.

Every command may carry an external reference. A command that was taken under a reference and comes again
answers SUCCESS and does nothing; another command under the same reference is refused. So a caller that does
not know whether its command arrived sends it again.
"""

from openspot.domain.money import AMOUNT_MAX
from openspot.domain.result_code import ResultCode
from openspot.engine.core.protocol import FEE_ACCOUNT
from openspot.engine.core.records import Command, CommandKind, EventType
from openspot.engine.core.reference_state import (
    Account,
    Emit,
    Outcome,
    Reference,
    ReferenceStatus,
    State,
    found,
    require,
)

_REFERENCE_LOW = (1 << 64) - 1


def deposit(state: State, command: Command, emit: Emit) -> Outcome:
    """Credit an account, which is made if it is missing."""
    _check_money(state, command)
    if not _is_repeat(state, command):
        _credit(state, command, emit)
    return _total_afterwards(state, command.account, command.symbol)


def withdraw(state: State, command: Command, emit: Emit) -> Outcome:
    """Debit an account at once."""
    _check_money(state, command)
    if not _is_repeat(state, command):
        _check_free(state, command, command.amount)
        state.transfer_in(command.account, command.symbol, -command.amount)
        _remember(state, command, ReferenceStatus.DONE)
        _emit_balance(state, command, command.account, command.symbol, -command.amount, emit)
    return _total_afterwards(state, command.account, command.symbol)


def reserve(state: State, command: Command, emit: Emit) -> Outcome:
    """Set an amount aside for a withdrawal, until RELEASE or COMMIT names its reference."""
    _check_money(state, command)
    if not _is_repeat(state, command):
        require(command.reference != 0, ResultCode.UNKNOWN_REFERENCE)
        _check_free(state, command, command.amount)
        state.accounts[command.account].held[command.symbol] += command.amount
        _remember(state, command, ReferenceStatus.HELD)
        _emit_balance(state, command, command.account, command.symbol, command.amount, emit)
    return _total_afterwards(state, command.account, command.symbol)


def release(state: State, command: Command, emit: Emit) -> Outcome:
    """Set free what a RESERVE holds."""
    return _close(state, command, ReferenceStatus.RELEASED, emit)


def commit(state: State, command: Command, emit: Emit) -> Outcome:
    """Debit what a RESERVE holds."""
    return _close(state, command, ReferenceStatus.COMPLETED, emit)


def adjust(state: State, command: Command, emit: Emit) -> Outcome:
    """An operator's correction, up or down, of any account, the fee account too (Document A 1.5)."""
    require(command.symbol in state.currencies, ResultCode.INVALID_CURRENCY)
    require(command.account > 0, ResultCode.AUTH_INVALID_USER)
    require(command.amount != 0 and abs(command.amount) <= AMOUNT_MAX, ResultCode.INVALID_AMOUNT)
    if _is_repeat(state, command):
        pass
    elif command.amount > 0:
        _credit(state, command, emit)
    else:
        _check_free(state, command, -command.amount)
        state.transfer_in(command.account, command.symbol, command.amount)
        _remember(state, command, ReferenceStatus.DONE)
        _emit_balance(state, command, command.account, command.symbol, command.amount, emit)
    return _total_afterwards(state, command.account, command.symbol)


def _check_money(state: State, command: Command) -> None:
    require(command.symbol in state.currencies, ResultCode.INVALID_CURRENCY)
    require(command.account > 0 and command.account != FEE_ACCOUNT, ResultCode.AUTH_INVALID_USER)
    require(0 < command.amount <= AMOUNT_MAX, ResultCode.INVALID_AMOUNT)


def _check_free(state: State, command: Command, amount: int) -> None:
    account = found(state.accounts.get(command.account), ResultCode.RISK_NSF)
    require(account.free(command.symbol) >= amount, ResultCode.RISK_NSF)


def _is_repeat(state: State, command: Command) -> bool:
    """Whether this very command was taken before. Refuses another command under a known reference."""
    known = state.references.get(command.reference) if command.reference else None
    if known is None:
        return False
    asked = (command.kind, command.account, command.symbol, command.amount)
    require(asked == (known.kind, known.account, known.currency, known.amount), ResultCode.REFERENCE_CONFLICT)
    require(known.status != ReferenceStatus.RELEASED, ResultCode.RESERVATION_CLOSED)
    return True


def _remember(state: State, command: Command, status: ReferenceStatus) -> None:
    if command.reference:
        state.references[command.reference] = Reference(
            command.kind, status, command.account, command.symbol, command.amount
        )


def _credit(state: State, command: Command, emit: Emit) -> None:
    # Bounding the sum over all accounts bounds each of them, whatever they trade with each other later.
    require(state.currencies[command.symbol] + command.amount <= AMOUNT_MAX, ResultCode.INVALID_AMOUNT)
    state.accounts.setdefault(command.account, Account())
    state.transfer_in(command.account, command.symbol, command.amount)
    _remember(state, command, ReferenceStatus.DONE)
    _emit_balance(state, command, command.account, command.symbol, command.amount, emit)


def _close(state: State, command: Command, status: ReferenceStatus, emit: Emit) -> Outcome:
    reservation = found(state.references.get(command.reference), ResultCode.UNKNOWN_REFERENCE)
    require(reservation.kind == CommandKind.RESERVE, ResultCode.UNKNOWN_REFERENCE)
    account, currency, amount = held = reservation.account, reservation.currency, reservation.amount
    require(
        command.amount == 0 or (command.account, command.symbol, command.amount) == held, ResultCode.REFERENCE_CONFLICT
    )
    require(reservation.status in (ReferenceStatus.HELD, status), ResultCode.RESERVATION_CLOSED)
    if reservation.status == ReferenceStatus.HELD:
        reservation.status = status
        state.accounts[account].held[currency] -= amount
        if status == ReferenceStatus.COMPLETED:
            state.transfer_in(account, currency, -amount)
            amount = -amount
        _emit_balance(state, command, account, currency, amount, emit)
    return _total_afterwards(state, account, currency)


def _total_afterwards(state: State, account: int, currency: int) -> Outcome:
    return Outcome(notional=state.accounts[account].total(currency))


def _emit_balance(state: State, command: Command, account: int, currency: int, amount: int, emit: Emit) -> None:
    emit(
        EventType.BALANCE,
        order_type=command.kind,
        currency=currency,
        order_id=command.reference & _REFERENCE_LOW,
        maker_order_id=command.reference >> 64,
        account=account,
        amount=amount,
        maker_amount=state.accounts[account].total(currency),
    )
