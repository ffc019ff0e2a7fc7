"""The reference core's transfers between accounts: a list of movements that happens as a whole or not at all.

A transfer is a run of MOVEMENT commands and the TRANSFER directly after them. A MOVEMENT only waits; TRANSFER checks
all of them before it moves anything. A run that any other command interrupts is void. So a transfer of which a part is
missing is refused, and it does not matter how the commands are cut into batches.
"""

from collections import Counter

from openspot.domain.money import AMOUNT_MAX
from openspot.domain.result_code import ResultCode
from openspot.domain.transfer import MOVEMENTS_MAX
from openspot.engine.core.records import Command, CommandKind, EventType
from openspot.engine.core.reference_state import (
    Account,
    CommandResult,
    CoreState,
    CoreTransferStatus,
    Emit,
    PendingMovement,
    RememberedTransfer,
    require,
)

_REFERENCE_LOW = (1 << 64) - 1


def add_movement(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Let a movement wait for the TRANSFER that follows it."""
    run = state.movements_until(state.command_sequence - 1)
    require(len(run) < MOVEMENTS_MAX, ResultCode.INVALID_TRANSFER)
    movement = PendingMovement(command.order_id, command.account, command.symbol, command.amount)
    state.keep_movements([*run, movement])
    return CommandResult()


def transfer(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Carry out the movements directly before this command, in order, once for the reference."""
    movements = state.movements_until(state.command_sequence - 1)
    require(0 < len(movements) == command.order_id, ResultCode.INVALID_TRANSFER)
    require(0 < command.amount <= AMOUNT_MAX, ResultCode.INVALID_TRANSFER)
    require(command.reference != 0, ResultCode.UNKNOWN_REFERENCE)
    known = state.transfers.get(command.reference)
    if known is not None:
        same = known.kind == CommandKind.TRANSFER and known.amount == command.amount
        require(same, ResultCode.REFERENCE_CONFLICT)
        return CommandResult()
    for movement in movements:
        _check(state, movement)
    _check_funds(state, movements)
    first = movements[0]
    state.transfers[command.reference] = RememberedTransfer(
        command.kind, CoreTransferStatus.DONE, first.source, first.currency, command.amount
    )
    for place, movement in enumerate(movements, start=1):
        state.accounts.setdefault(movement.destination, Account())
        state.credit(movement.source, movement.currency, -movement.amount)
        state.credit(movement.destination, movement.currency, movement.amount)
        emit(
            EventType.TRANSFER,
            currency=movement.currency,
            order_id=command.reference & _REFERENCE_LOW,
            maker_order_id=command.reference >> 64,
            account=movement.source,
            maker_account=movement.destination,
            quantity=len(movements),
            remaining=len(movements) - place,
            amount=movement.amount,
        )
    return CommandResult()


def _check(state: CoreState, movement: PendingMovement) -> None:
    require(movement.currency in state.supplies, ResultCode.INVALID_CURRENCY)
    require(movement.source > 0 and movement.destination > 0, ResultCode.AUTH_INVALID_USER)
    require(movement.source != movement.destination, ResultCode.INVALID_TRANSFER)
    require(0 < movement.amount <= AMOUNT_MAX, ResultCode.INVALID_AMOUNT)


def _check_funds(state: CoreState, movements: list[PendingMovement]) -> None:
    """Check that each source can pay what it owes after the movements before."""
    changes: Counter[tuple[int, int]] = Counter()
    for source, destination, currency, amount in movements:
        account = state.accounts.get(source)
        free = account.free(currency) if account else 0
        require(free + changes[source, currency] >= amount, ResultCode.RISK_NSF)
        changes[source, currency] -= amount
        changes[destination, currency] += amount
