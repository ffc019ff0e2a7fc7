"""The reference core's transfers: money enters, leaves or is held, other than by orders and trades.

A transfer may have an external reference. If an accepted command is repeated under its reference, nothing happens and
the result is SUCCESS. A different command under the same reference is rejected. So a caller that does not know whether
its command arrived can safely send it again.
"""

from openspot.domain.money import AMOUNT_MAX
from openspot.domain.result_code import ResultCode
from openspot.engine.core.protocol import FEE_ACCOUNT
from openspot.engine.core.records import Command, CommandKind, EventType
from openspot.engine.core.reference_state import (
    Account,
    CommandResult,
    CoreState,
    CoreTransferStatus,
    Emit,
    RememberedTransfer,
    require,
    require_found,
)

_REFERENCE_LOW = (1 << 64) - 1


def deposit(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Credit an account. Adds the account if it is missing."""
    _check_transfer(state, command)
    if not _is_repeat(state, command):
        _credit(state, command, emit)
    return _total_afterwards(state, command.account, command.symbol)


def withdraw(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Debit an account at once."""
    _check_transfer(state, command)
    if not _is_repeat(state, command):
        _debit(state, command, command.amount, emit)
    return _total_afterwards(state, command.account, command.symbol)


def reserve(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Hold an amount for a withdrawal, until RELEASE or COMMIT names its reference."""
    _check_transfer(state, command)
    if not _is_repeat(state, command):
        require(command.reference != 0, ResultCode.UNKNOWN_REFERENCE)
        _check_free(state, command, command.amount)
        state.accounts[command.account].held[command.symbol] += command.amount
        _keep(state, command, CoreTransferStatus.HELD)
        _emit_balance(state, command, command.account, command.symbol, command.amount, emit)
    return _total_afterwards(state, command.account, command.symbol)


def release(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Free what a RESERVE holds."""
    return _end_reservation(state, command, CoreTransferStatus.RELEASED, emit)


def commit(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Debit what a RESERVE holds."""
    return _end_reservation(state, command, CoreTransferStatus.COMPLETED, emit)


def adjust(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Correct the total of any account up or down for an operator, even of the fee account (fact A1.5-11)."""
    require(command.symbol in state.supplies, ResultCode.INVALID_CURRENCY)
    require(command.account > 0, ResultCode.AUTH_INVALID_USER)
    require(command.amount != 0 and abs(command.amount) <= AMOUNT_MAX, ResultCode.INVALID_AMOUNT)
    if not _is_repeat(state, command):
        if command.amount > 0:
            _credit(state, command, emit)
        else:
            _debit(state, command, -command.amount, emit)
    return _total_afterwards(state, command.account, command.symbol)


def _check_transfer(state: CoreState, command: Command) -> None:
    require(command.symbol in state.supplies, ResultCode.INVALID_CURRENCY)
    require(command.account > 0 and command.account != FEE_ACCOUNT, ResultCode.AUTH_INVALID_USER)
    require(0 < command.amount <= AMOUNT_MAX, ResultCode.INVALID_AMOUNT)


def _check_free(state: CoreState, command: Command, amount: int) -> None:
    account = require_found(state.accounts.get(command.account), ResultCode.RISK_NSF)
    require(account.free(command.symbol) >= amount, ResultCode.RISK_NSF)


def _is_repeat(state: CoreState, command: Command) -> bool:
    """Whether the same command was accepted before.

    Rejects a different command under a known reference, and a repeated RESERVE that was released.
    """
    known = state.transfers.get(command.reference) if command.reference else None
    if known is None:
        return False
    same = (
        command.kind == known.kind
        and command.account == known.account
        and command.symbol == known.currency
        and command.amount == known.amount
    )
    require(same, ResultCode.REFERENCE_CONFLICT)
    require(known.status != CoreTransferStatus.RELEASED, ResultCode.RESERVATION_CLOSED)
    return True


def _keep(state: CoreState, command: Command, status: CoreTransferStatus) -> None:
    if command.reference:
        state.transfers[command.reference] = RememberedTransfer(
            command.kind, status, command.account, command.symbol, command.amount
        )


def _credit(state: CoreState, command: Command, emit: Emit) -> None:
    # The limit on the supply also limits every total, however the accounts trade with each other later.
    require(state.supplies[command.symbol] + command.amount <= AMOUNT_MAX, ResultCode.INVALID_AMOUNT)
    state.accounts.setdefault(command.account, Account())
    _change_total(state, command, command.amount, emit)


def _debit(state: CoreState, command: Command, amount: int, emit: Emit) -> None:
    _check_free(state, command, amount)
    _change_total(state, command, -amount, emit)


def _change_total(state: CoreState, command: Command, change: int, emit: Emit) -> None:
    state.change_total(command.account, command.symbol, change)
    _keep(state, command, CoreTransferStatus.DONE)
    _emit_balance(state, command, command.account, command.symbol, change, emit)


def _end_reservation(state: CoreState, command: Command, status: CoreTransferStatus, emit: Emit) -> CommandResult:
    reservation = require_found(state.transfers.get(command.reference), ResultCode.UNKNOWN_REFERENCE)
    require(reservation.kind == CommandKind.RESERVE, ResultCode.UNKNOWN_REFERENCE)
    account, currency, amount = reservation.account, reservation.currency, reservation.amount
    sent = (command.account, command.symbol, command.amount)
    require(command.amount == 0 or sent == (account, currency, amount), ResultCode.REFERENCE_CONFLICT)
    require(reservation.status in (CoreTransferStatus.HELD, status), ResultCode.RESERVATION_CLOSED)
    if reservation.status == CoreTransferStatus.HELD:
        reservation.status = status
        state.accounts[account].release(currency, amount)
        if status == CoreTransferStatus.COMPLETED:
            state.change_total(account, currency, -amount)
            amount = -amount
        _emit_balance(state, command, account, currency, amount, emit)
    return _total_afterwards(state, account, currency)


def _total_afterwards(state: CoreState, account: int, currency: int) -> CommandResult:
    return CommandResult(notional=state.accounts[account].total(currency))


def _emit_balance(state: CoreState, command: Command, account: int, currency: int, amount: int, emit: Emit) -> None:
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
