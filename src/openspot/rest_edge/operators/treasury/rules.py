"""Between which accounts of the house an operator may move money. Pure."""

from collections.abc import Mapping
from decimal import Decimal

from openspot.domain.ids import EXTERNAL_ACCOUNT_ID, HOUSE_ACCOUNT_PURPOSES, STAKING_ACCOUNT_ID

CLOSED: Mapping[str, str] = {
    EXTERNAL_ACCOUNT_ID: "is the outside world: deposits and withdrawals alone go through it",
    STAKING_ACCOUNT_ID: "holds what users have staked, and nothing of the house",
}
"""The accounts that no operator moves money of, with the reason."""

OPEN: Mapping[str, str] = {
    account: purpose for account, purpose in HOUSE_ACCOUNT_PURPOSES.items() if account not in CLOSED
}
"""The accounts between which operators move money, with what each is for."""


def account_fault(field: str, account: str) -> str:
    """Why no money may be moved from or to the account, naming the field; empty if it may."""
    if account in CLOSED:
        return f"{field}: {account} {CLOSED[account]}"
    if account not in OPEN:
        return f"{field} must be one of {', '.join(OPEN)}"
    return ""


def transfer_faults(source: str, destination: str) -> list[str]:
    """Everything that is wrong with a pair of accounts. A user's account is never one of them."""
    faults = [fault for fault in (account_fault("from", source), account_fault("to", destination)) if fault]
    if not faults and source == destination:
        return ["to must be another account than from"]
    return faults


def is_low(available: Decimal | None, level: Decimal | None) -> bool:
    """Whether less is available than the level asks for. Nobody knows without both; the level itself is enough."""
    return available is not None and level is not None and available < level
