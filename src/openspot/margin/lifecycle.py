"""State machines of the margin risk service (fact A3.2-05).

Account: `active`, or `liquidating`: from the time its level is at or below 105 % until its loans are settled. A
liquidating account can neither open positions nor borrow. An account without loans and positions can become `closed`,
which is final.

Position: `opening` until its loan is decided and its order has ended; then `open`, or `failed` if nothing was traded.
`closing` while an order of its owner closes it, and `open` again if that order was for a part, or ends without closing
it. A liquidation closes open and closing positions alike. `failed`, `closed` and `liquidated` are final.

Loan: `pending` until the engine has moved the money from the lending pool; `refused` if the pool is empty; `active`
until it is fully repaid; then `repaid`. If a liquidation cannot repay everything, the insurance account pays the loss
to the pool, and the loan is `written_off`.
"""

from enum import StrEnum


class AccountStatus(StrEnum):
    """States of a margin account."""

    ACTIVE = "active"
    LIQUIDATING = "liquidating"
    CLOSED = "closed"


class AccountTrigger(StrEnum):
    """Events that move a margin account from one state to the next."""

    LIQUIDATION_STARTED = "liquidation_started"
    LIQUIDATION_SETTLED = "liquidation_settled"
    CLOSE_REQUESTED = "close_requested"


class MarginPositionStatus(StrEnum):
    """States of a margin position."""

    OPENING = "opening"
    FAILED = "failed"
    OPEN = "open"
    CLOSING = "closing"
    LIQUIDATING = "liquidating"
    CLOSED = "closed"
    LIQUIDATED = "liquidated"


class MarginPositionTrigger(StrEnum):
    """Events that move a margin position from one state to the next."""

    OPEN_FILLED = "open_filled"
    OPEN_FAILED = "open_failed"
    CLOSE_REQUESTED = "close_requested"
    CLOSE_FILLED = "close_filled"
    PART_CLOSED = "part_closed"
    CLOSE_ABANDONED = "close_abandoned"
    LIQUIDATION_STARTED = "liquidation_started"
    LIQUIDATION_FILLED = "liquidation_filled"


class LoanStatus(StrEnum):
    """States of a loan."""

    PENDING = "pending"
    ACTIVE = "active"
    REPAID = "repaid"
    REFUSED = "refused"
    WRITTEN_OFF = "written_off"


class LoanTrigger(StrEnum):
    """Events that move a loan from one state to the next."""

    FUNDED = "funded"
    POOL_EMPTY = "pool_empty"
    PARTLY_REPAID = "partly_repaid"
    FULLY_REPAID = "fully_repaid"
    LOSS_COVERED = "loss_covered"


ACCOUNT_TRANSITIONS: dict[tuple[AccountStatus, AccountTrigger], AccountStatus] = {
    (AccountStatus.ACTIVE, AccountTrigger.LIQUIDATION_STARTED): AccountStatus.LIQUIDATING,
    (AccountStatus.LIQUIDATING, AccountTrigger.LIQUIDATION_SETTLED): AccountStatus.ACTIVE,
    (AccountStatus.ACTIVE, AccountTrigger.CLOSE_REQUESTED): AccountStatus.CLOSED,
}

POSITION_TRANSITIONS: dict[tuple[MarginPositionStatus, MarginPositionTrigger], MarginPositionStatus] = {
    (MarginPositionStatus.OPENING, MarginPositionTrigger.OPEN_FILLED): MarginPositionStatus.OPEN,
    (MarginPositionStatus.OPENING, MarginPositionTrigger.OPEN_FAILED): MarginPositionStatus.FAILED,
    (MarginPositionStatus.OPEN, MarginPositionTrigger.CLOSE_REQUESTED): MarginPositionStatus.CLOSING,
    (MarginPositionStatus.CLOSING, MarginPositionTrigger.CLOSE_FILLED): MarginPositionStatus.CLOSED,
    (MarginPositionStatus.CLOSING, MarginPositionTrigger.PART_CLOSED): MarginPositionStatus.OPEN,
    (MarginPositionStatus.CLOSING, MarginPositionTrigger.CLOSE_ABANDONED): MarginPositionStatus.OPEN,
    (MarginPositionStatus.OPEN, MarginPositionTrigger.LIQUIDATION_STARTED): MarginPositionStatus.LIQUIDATING,
    (MarginPositionStatus.CLOSING, MarginPositionTrigger.LIQUIDATION_STARTED): MarginPositionStatus.LIQUIDATING,
    (MarginPositionStatus.LIQUIDATING, MarginPositionTrigger.LIQUIDATION_FILLED): MarginPositionStatus.LIQUIDATED,
}

LOAN_TRANSITIONS: dict[tuple[LoanStatus, LoanTrigger], LoanStatus] = {
    (LoanStatus.PENDING, LoanTrigger.FUNDED): LoanStatus.ACTIVE,
    (LoanStatus.PENDING, LoanTrigger.POOL_EMPTY): LoanStatus.REFUSED,
    (LoanStatus.ACTIVE, LoanTrigger.PARTLY_REPAID): LoanStatus.ACTIVE,
    (LoanStatus.ACTIVE, LoanTrigger.FULLY_REPAID): LoanStatus.REPAID,
    (LoanStatus.ACTIVE, LoanTrigger.LOSS_COVERED): LoanStatus.WRITTEN_OFF,
}


def next_account_status(status: AccountStatus, trigger: AccountTrigger) -> AccountStatus | None:
    """The state that `trigger` leads to, or None where the table has no such transition."""
    return ACCOUNT_TRANSITIONS.get((status, trigger))


def next_position_status(status: MarginPositionStatus, trigger: MarginPositionTrigger) -> MarginPositionStatus | None:
    """The state that `trigger` leads to, or None where the table has no such transition."""
    return POSITION_TRANSITIONS.get((status, trigger))


def next_loan_status(status: LoanStatus, trigger: LoanTrigger) -> LoanStatus | None:
    """The state that `trigger` leads to, or None where the table has no such transition."""
    return LOAN_TRANSITIONS.get((status, trigger))


def account_close_error(open_loans: int, open_positions: int) -> str | None:
    """Why an account with this many open loans and positions cannot be closed; None if it can."""
    if open_loans:
        return f"account has {open_loans} open loans"
    if open_positions:
        return f"account has {open_positions} open positions"
    return None
