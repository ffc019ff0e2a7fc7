"""State machines of the position service.

Fact A3.2-02 names the operations of a transfer (create, complete, cancel). The project decided its states and
transitions, and those of a position.

Transfer: it begins `pending` and ends `completed` or `cancelled`. An ended transfer never changes. A client may repeat
the request that ended it: the repetition succeeds and changes nothing. BALANCE_EFFECTS has the balance change of each
step: a withdrawal locks its amount while it is pending; a deposit or an adjustment moves nothing before it completes.
An adjustment's amount is signed.

Position: `open` while its quantity is not zero. The trade that brings it to zero closes it. A request to close it books
such a trade at the mark price. A closed position never reopens: the next trade opens a new one. A trade that is larger
than the opposite position closes it, and opens a new one with the rest.
"""

from enum import StrEnum
from typing import NamedTuple


class PositionTransferKind(StrEnum):
    """Kinds of transfers (fact A2.8-16)."""

    DEPOSIT = "deposit"
    WITHDRAWAL = "withdrawal"
    ADJUSTMENT = "adjustment"


class PositionTransferStatus(StrEnum):
    """States of a transfer."""

    PENDING = "pending"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


class TransferTrigger(StrEnum):
    """Operations on a transfer."""

    CREATE = "create"
    COMPLETE = "complete"
    CANCEL = "cancel"


TRANSFER_TRANSITIONS: dict[tuple[PositionTransferStatus | None, TransferTrigger], PositionTransferStatus] = {
    (None, TransferTrigger.CREATE): PositionTransferStatus.PENDING,
    (PositionTransferStatus.PENDING, TransferTrigger.COMPLETE): PositionTransferStatus.COMPLETED,
    (PositionTransferStatus.PENDING, TransferTrigger.CANCEL): PositionTransferStatus.CANCELLED,
}

_ENDED_BY = {
    TransferTrigger.COMPLETE: PositionTransferStatus.COMPLETED,
    TransferTrigger.CANCEL: PositionTransferStatus.CANCELLED,
}


class BalanceChange(NamedTuple):
    """The amounts to add to the available and to the locked balance."""

    available: int
    locked: int


_NOTHING = BalanceChange(0, 0)

BALANCE_EFFECTS: dict[tuple[PositionTransferKind, TransferTrigger], BalanceChange] = {
    (PositionTransferKind.DEPOSIT, TransferTrigger.CREATE): _NOTHING,
    (PositionTransferKind.DEPOSIT, TransferTrigger.COMPLETE): BalanceChange(1, 0),
    (PositionTransferKind.DEPOSIT, TransferTrigger.CANCEL): _NOTHING,
    (PositionTransferKind.WITHDRAWAL, TransferTrigger.CREATE): BalanceChange(-1, 1),
    (PositionTransferKind.WITHDRAWAL, TransferTrigger.COMPLETE): BalanceChange(0, -1),
    (PositionTransferKind.WITHDRAWAL, TransferTrigger.CANCEL): BalanceChange(1, -1),
    (PositionTransferKind.ADJUSTMENT, TransferTrigger.CREATE): _NOTHING,
    (PositionTransferKind.ADJUSTMENT, TransferTrigger.COMPLETE): BalanceChange(1, 0),
    (PositionTransferKind.ADJUSTMENT, TransferTrigger.CANCEL): _NOTHING,
}
"""The changes as multiples of the transfer's amount."""


class TransferError(ValueError):
    """A transfer cannot do this step. The message gives the reason."""


class TransferStep(NamedTuple):
    """The next state and the balance change. `repeated` says that the transfer was in that state already."""

    status: PositionTransferStatus
    change: BalanceChange
    repeated: bool


def check_transfer_amount(kind: PositionTransferKind, amount: int) -> None:
    """Raise TransferError unless `amount` (18 places) is positive, or, for an adjustment, not zero."""
    if kind is PositionTransferKind.ADJUSTMENT:
        if amount == 0:
            raise TransferError("amount of an adjustment must not be zero")
    elif amount <= 0:
        raise TransferError(f"amount of a {kind} must be positive")


def transfer_step(
    kind: PositionTransferKind, status: PositionTransferStatus | None, trigger: TransferTrigger, amount: int
) -> TransferStep:
    """The step that `trigger` makes from `status` (None before creation). Raises TransferError if there is none."""
    check_transfer_amount(kind, amount)
    following = TRANSFER_TRANSITIONS.get((status, trigger))
    if following is None:
        if status is not None and _ENDED_BY.get(trigger) is status:
            return TransferStep(status, _NOTHING, repeated=True)
        raise TransferError(f"cannot {trigger} a transfer that {f'is {status}' if status else 'does not exist'}")
    effect = BALANCE_EFFECTS[kind, trigger]
    return TransferStep(following, BalanceChange(effect.available * amount, effect.locked * amount), repeated=False)


class PositionTrigger(StrEnum):
    """What a trade does to a position."""

    OPENING_TRADE = "opening_trade"
    TRADE = "trade"
    FLATTENING_TRADE = "flattening_trade"
