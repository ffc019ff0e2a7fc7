"""Between which accounts of the house an operator may move money. Pure."""

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum

from openspot.domain.ids import EXTERNAL_ACCOUNT_ID, FEE_ACCOUNT_ID, HOUSE_ACCOUNT_PURPOSES, STAKING_ACCOUNT_ID


class FlowCategory(StrEnum):
    """Why money of the house comes from outside or goes there. A report sums flows by category."""

    CAPITAL = "capital"
    """What the owners put in or take out."""
    PROFIT = "profit"
    """What the house has earned and takes out."""
    COSTS = "costs"
    """What the house pays for, such as fees of networks and of banks, or what is paid back of it."""
    SETTLEMENT = "settlement"
    """What is settled with a provider of payments, prices or liquidity."""
    CORRECTION = "correction"
    """Something was recorded wrongly."""


CLOSED: dict[str, str] = {
    EXTERNAL_ACCOUNT_ID: "is the outside world: deposits and withdrawals alone go through it",
    STAKING_ACCOUNT_ID: "holds what users have staked, and nothing of the house",
}
"""The accounts that no operator moves money of, with the reason."""

CLOSED_TO_OUTSIDE: Mapping[str, str] = CLOSED | {
    # The engine refuses deposits to the fee account, and holds on it.
    FEE_ACCOUNT_ID: "takes and gives nothing outside: move its money from or to another account of the house",
}
"""The accounts that no money comes into from outside or leaves to outside, with the reason."""

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


def outside_fault(field: str, account: str) -> str:
    """Why no money comes into the account from outside or leaves it, naming the field; empty if it may."""
    if account in CLOSED_TO_OUTSIDE:
        return f"{field}: {account} {CLOSED_TO_OUTSIDE[account]}"
    return account_fault(field, account)


def transfer_faults(source: str, destination: str) -> list[str]:
    """Everything that is wrong with a pair of accounts. A user's account is never one of them."""
    faults = [fault for fault in (account_fault("from", source), account_fault("to", destination)) if fault]
    if not faults and source == destination:
        return ["to must be another account than from"]
    return faults


def is_low(available: Decimal | None, level: Decimal | None) -> bool:
    """Whether less is available than the level asks for. Nobody knows without both; the level itself is enough."""
    return available is not None and level is not None and available < level
