"""The states of a withdrawal and of its funds, and the step that follows. Pure.

    pending_approval → approved → signing → broadcasting → confirming → completed
    pending_approval → cancelled; pending_approval, approved or signing → rejected
    pending_approval → failed (no funds); broadcasting → failed (the chain refused, nothing was sent)

The funds follow on the bus: requested, reserved (or refused), and at the end taken or released.
"""

import re
from enum import StrEnum

from openspot.custody.wallet_policy import RULES, Wallet

WITHDRAWAL_ID_LENGTH_MAX = 64
WITHDRAWAL_ID_TEXT = re.compile(rf"[A-Za-z0-9_-]{{1,{WITHDRAWAL_ID_LENGTH_MAX}}}")


class Status(StrEnum):
    """The state that clients and operators see."""

    PENDING_APPROVAL = "pending_approval"
    APPROVED = "approved"
    SIGNING = "signing"
    BROADCASTING = "broadcasting"
    CONFIRMING = "confirming"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    REJECTED = "rejected"
    FAILED = "failed"


class Funds(StrEnum):
    """What custody knows of the amount's state in the engine."""

    NEW = "new"
    """No request was published, as far as custody knows."""
    REQUESTED = "requested"
    RESERVED = "reserved"
    REFUSED = "refused"
    """The engine did not reserve; nothing is held."""
    RELEASED = "released"
    TAKEN = "taken"


class WithdrawalStep(StrEnum):
    """What custody does next with a withdrawal."""

    REQUEST_FUNDS = "request_funds"
    APPROVE = "approve"
    PREPARE = "prepare"
    SIGN = "sign"
    SEND = "send"
    COUNT_CONFIRMATIONS = "count_confirmations"
    TAKE_FUNDS = "take_funds"
    RELEASE_FUNDS = "release_funds"


UNSENT = frozenset({Status.CANCELLED, Status.REJECTED, Status.FAILED})
"""The withdrawal certainly never reached the chain. Its quota and its funds are returned."""
CANCELLABLE = frozenset({Status.PENDING_APPROVAL})
REJECTABLE = frozenset({Status.PENDING_APPROVAL, Status.APPROVED, Status.SIGNING})
SETTLED_FUNDS = frozenset({Funds.REFUSED, Funds.RELEASED, Funds.TAKEN})
"""Nothing is left to do."""

_BY_STATUS = {
    Status.APPROVED: WithdrawalStep.PREPARE,
    Status.SIGNING: WithdrawalStep.SIGN,
    Status.BROADCASTING: WithdrawalStep.SEND,
    Status.CONFIRMING: WithdrawalStep.COUNT_CONFIRMATIONS,
    Status.COMPLETED: WithdrawalStep.TAKE_FUNDS,
}


def next_step(
    status: Status, funds: Funds, *, wallet: Wallet, approvals: int, needed: int, signatures: int
) -> WithdrawalStep | None:
    """The next step; None if custody waits for a person or the engine, or if nothing is left to do.

    `approvals` and `signatures` count those that exist; the withdrawal needs `needed` approvals.
    """
    if funds is Funds.NEW:
        # Also for a cancelled withdrawal: an earlier process may have published the request and been killed then.
        return WithdrawalStep.REQUEST_FUNDS
    if funds is not Funds.RESERVED:
        return None
    if status in UNSENT:
        return WithdrawalStep.RELEASE_FUNDS
    if status is Status.PENDING_APPROVAL:
        return WithdrawalStep.APPROVE if approvals >= needed else None
    if status is Status.SIGNING and signatures < RULES[wallet].signatures:
        return None
    return _BY_STATUS[status]
