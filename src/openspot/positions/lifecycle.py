"""State machines of the position service.

The specification names the operations of a transfer (create, complete, cancel) and leaves states and transitions
open (Document A 3.2); they are decided here, as are those of a position.

Transfer: created `pending`, ends `completed` or `cancelled`. An ended transfer never changes. A client may repeat the
request that ended it: the repetition succeeds and changes nothing. BALANCE_EFFECTS holds the balance change of each
step: a withdrawal locks its amount while it is pending, a deposit and an adjustment move nothing before they are
complete. An adjustment's amount is signed.

Position: `open` while its quantity is not zero. The trade that brings it to zero closes it, and so does a close
request, which books a closing trade at the mark price. A closed position never reopens: the next trade opens a new
one. A trade larger than the opposite position closes it and opens a new one with the rest.
"""

from enum import StrEnum
from typing import NamedTuple


class PositionTransferKind(StrEnum):
    """Kinds of transfers (Document A 2.8)."""

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
    """Amounts to add to the available and the locked balance."""

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
"""Factors of the transfer's amount."""


class TransferError(ValueError):
    """A transfer cannot take the asked step; the message gives the reason."""


class TransferStep(NamedTuple):
    """The next state and the balance change; `repeated` if the transfer was in that state already."""

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


class PositionStatus(StrEnum):
    """States of a position."""

    OPEN = "open"
    CLOSED = "closed"


class PositionTrigger(StrEnum):
    """Events that move a position from one state to the next."""

    OPENING_TRADE = "opening_trade"
    TRADE = "trade"
    FLATTENING_TRADE = "flattening_trade"
    CLOSE_REQUEST = "close_request"


POSITION_TRANSITIONS: dict[tuple[PositionStatus | None, PositionTrigger], PositionStatus] = {
    (None, PositionTrigger.OPENING_TRADE): PositionStatus.OPEN,
    (PositionStatus.OPEN, PositionTrigger.TRADE): PositionStatus.OPEN,
    (PositionStatus.OPEN, PositionTrigger.FLATTENING_TRADE): PositionStatus.CLOSED,
    (PositionStatus.OPEN, PositionTrigger.CLOSE_REQUEST): PositionStatus.CLOSED,
}


def next_position_status(status: PositionStatus | None, trigger: PositionTrigger) -> PositionStatus | None:
    """The state that `trigger` leads to, or None where the table has no such transition."""
    return POSITION_TRANSITIONS.get((status, trigger))
