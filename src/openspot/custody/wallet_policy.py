"""The wallet policy and the multi-signature thresholds (facts A8-22 to A8-41). Pure. Amounts are US cents."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

POLICY_VERSION = "A8-1"
"""The audit records it with each decision. Change it whenever you change a figure below."""
QUOTA_WINDOW = timedelta(hours=24)
"""The daily limit counts withdrawals younger than this: a rolling window that ends now."""

_USD = 100


class Wallet(StrEnum):
    """The wallets, by how much they may send: the least first."""

    HOT = "HOT"
    WARM = "WARM"
    TREASURY = "TREASURY"
    COLD = "COLD"


@dataclass(frozen=True, slots=True)
class WalletRules:
    """The rules of one wallet. The maxima are inclusive; `auto_approve_below` is exclusive, None means never.

    `approvals` people must approve a withdrawal. Then `signatures` of its `signers` must sign it (facts A8-38 to
    A8-41).
    """

    transaction_max: int
    daily_max: int
    approvals: int
    auto_approve_below: int | None
    signatures: int
    signers: int


RULES: dict[Wallet, WalletRules] = {
    Wallet.HOT: WalletRules(10_000 * _USD, 100_000 * _USD, 1, 1_000 * _USD, 2, 3),
    Wallet.WARM: WalletRules(100_000 * _USD, 1_000_000 * _USD, 2, None, 3, 5),
    Wallet.TREASURY: WalletRules(500_000 * _USD, 2_000_000 * _USD, 3, None, 3, 5),
    Wallet.COLD: WalletRules(1_000_000 * _USD, 5_000_000 * _USD, 4, None, 4, 7),
}


def wallet_for(value: int) -> Wallet | None:
    """The smallest wallet whose maximum covers `value` (US cents), None if even the largest does not."""
    return next((wallet for wallet, rules in RULES.items() if value <= rules.transaction_max), None)


def fits_daily_limit(wallet: Wallet, sum_before: int, value: int) -> bool:
    """Whether the wallet may send `value` if it sent `sum_before` within the window (US cents)."""
    return sum_before + value <= RULES[wallet].daily_max


def wallet_of_user(wallet: Wallet, sum_of_user: int, value: int, share_percent: int) -> Wallet:
    """The wallet that sends `value` for a user who has had `sum_of_user` from `wallet` within the window (US cents).

    A user may have at most `share_percent` of HOT's daily limit from HOT, so that few cannot use it up for all. What
    goes beyond that is WARM's, with its approvals. 100 percent is no share at all. The other wallets know no shares:
    people approve what they send.
    """
    if wallet is not Wallet.HOT or share_percent == 100:
        return wallet
    share = RULES[wallet].daily_max * share_percent // 100
    return wallet if sum_of_user + value <= share else Wallet.WARM


def approvals_needed(wallet: Wallet, value: int) -> int:
    """How many people must approve a withdrawal of `value` (US cents): 0 if the wallet approves it by itself."""
    rules = RULES[wallet]
    if rules.auto_approve_below is not None and value < rules.auto_approve_below:
        return 0
    return rules.approvals


def signers_of(wallet: Wallet) -> tuple[str, ...]:
    """The names of the wallet's signers, for example `warm-1` to `warm-5`."""
    return tuple(f"{wallet.value.lower()}-{number}" for number in range(1, RULES[wallet].signers + 1))
