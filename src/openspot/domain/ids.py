"""Identifiers: their formats, and how to make them from given random bytes."""

import re

# URL-safe, and without letters that look alike (0/O, 1/I/l): people read order ids to each other.
_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

ORDER_ID_LENGTH = 16
ORDER_ID_TEXT = re.compile(rf"[{_ALPHABET}]{{{ORDER_ID_LENGTH}}}")

PARTICIPANT_ID_TEXT = re.compile(r"[A-Za-z0-9_:-]{1,64}")
"""A participant id is also a bus subject token: no dot, no space, no wildcard."""

FEE_ACCOUNT_ID = "house:fees"
"""The participant that receives fees and pays rebates."""

EXTERNAL_ACCOUNT_ID = "house:external"
"""The outside world in the ledger. It is the other side of every credit and debit."""

HOUSE_PREFIX = "house:"
"""The ids of the house's own accounts begin with this. No participant can be created under such an id."""

CONVERSIONS_ACCOUNT_ID = "house:conversions"
"""The other side of every conversion between assets."""

STAKING_ACCOUNT_ID = "house:staking"
"""Holds what users have staked."""

REWARDS_ACCOUNT_ID = "house:rewards"
"""Pays rewards and interest."""

PAYMENTS_ACCOUNT_ID = "house:payments"
"""The other side of payments to and from outside."""

LENDING_ACCOUNT_ID = "house:lending"
"""The pool that margin loans are paid from and repaid to."""

INTEREST_ACCOUNT_ID = "house:interest"
"""Receives the interest of margin loans."""

INSURANCE_ACCOUNT_ID = "house:insurance"
"""Pays what liquidated margin accounts cannot repay."""

SUBSCRIPTIONS_ACCOUNT_ID = "house:subscriptions"
"""Receives what plans cost, and gives the credit of ended subscriptions back."""

ADJUSTMENTS_ACCOUNT_ID = "house:adjustments"
"""The other side of what operators give to users or take from them."""

HOUSE_ACCOUNT_PURPOSES = {
    FEE_ACCOUNT_ID: "trading fees and rebates",
    EXTERNAL_ACCOUNT_ID: "the outside world",
    CONVERSIONS_ACCOUNT_ID: "conversions",
    STAKING_ACCOUNT_ID: "staked funds",
    REWARDS_ACCOUNT_ID: "rewards",
    PAYMENTS_ACCOUNT_ID: "payments",
    LENDING_ACCOUNT_ID: "margin lending pool",
    INTEREST_ACCOUNT_ID: "margin interest",
    INSURANCE_ACCOUNT_ID: "margin insurance",
    SUBSCRIPTIONS_ACCOUNT_ID: "subscriptions",
    ADJUSTMENTS_ACCOUNT_ID: "adjustments by operators",
}
"""What each of the house's accounts is for."""

REFERENCE_TEXT = re.compile(r"[!#-\[\]-~]{1,200}")
"""A transaction id, trade id or external reference: visible ASCII. Without quote and backslash it needs no escapes."""

RESERVED_SUFFIXES = (
    ":contra",
    ":buyer-quote",
    ":buyer-base",
    ":seller-base",
    ":seller-quote",
    ":buyer-fee",
    ":seller-fee",
    ":house-buyer-fee",
    ":house-seller-fee",
    ":transfer-debit",
    ":transfer-credit",
)
"""Only the ledger itself gives a transaction id one of these endings."""


def withdrawals_lock(user_id: str) -> str:
    """The name of the database's advisory lock under which a user's withdrawals are created, or forbidden."""
    return f"openspot-custody-user:{user_id}"


def short_id(random_bytes: bytes, length: int = ORDER_ID_LENGTH) -> str:
    """Return an id of `length` letters, made from `random_bytes`. Raises ValueError for fewer bytes than letters."""
    if len(random_bytes) < length:
        raise ValueError(f"{length} random bytes are needed, got {len(random_bytes)}")
    number = int.from_bytes(random_bytes, "big")
    letters = []
    for _ in range(length):
        number, index = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[index])
    return "".join(letters)


def trade_id(epoch: str, event_sequence: int) -> str:
    """The id of the trade that the engine emitted as event `event_sequence`. Every replay gives the same id.

    `epoch` identifies the engine's journal, so a new journal never repeats the ids of an old one.
    """
    return f"{epoch}-{event_sequence}"
