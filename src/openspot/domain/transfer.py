"""Transfers: lists of movements between accounts that the engine carries out as a whole or not at all."""

import hashlib
from collections.abc import Iterable
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

MOVEMENTS_MAX = 32
"""A transfer has at most this many movements."""

REFERENCE_LENGTH_MAX = 128
"""A transfer's reference has at most this many characters. The ledger makes longer ids from it."""

_DIGEST_BYTES = 15


class TransferKind(StrEnum):
    """What a transfer is for. The ledger's entries carry it as their entry type."""

    CONVERSION = "conversion"
    STAKING = "staking"
    UNSTAKING = "unstaking"
    REWARD = "reward"
    PAYMENT = "payment"
    LOAN = "loan"
    SUBSCRIPTION = "subscription"
    REFUND = "refund"
    ADJUSTMENT = "adjustment"
    TREASURY = "treasury"


class Movement(NamedTuple):
    """A payment of `amount` of `asset` from `source` to `destination`, both participant ids (users or the house's)."""

    source: str
    destination: str
    asset: str
    amount: Decimal


def transfer_digest(kind: TransferKind, movements: Iterable[tuple[str, str, str, int]]) -> int:
    """A number that identifies a kind and a list of (source, destination, asset, amount at 18 places).

    It is above 0 and below 2^120, so it fits where the core keeps an amount. The chance that two different transfers
    have the same digest is negligible. Participants and assets must be valid names, which have no spaces.
    """
    digest = hashlib.blake2b(kind.value.encode(), digest_size=_DIGEST_BYTES)
    for source, destination, asset, amount in movements:
        digest.update(f"\n{source} {destination} {asset} {amount}".encode())
    return int.from_bytes(digest.digest(), "big") or 1
