"""Identifiers: what they look like and how they are made from given randomness."""

import re

# URL-safe, without look-alikes (0/O, 1/I/l): people read order ids to each other.
_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

ORDER_ID_LENGTH = 16
ORDER_ID_TEXT = re.compile(rf"[{_ALPHABET}]{{{ORDER_ID_LENGTH}}}")

PARTICIPANT_ID_TEXT = re.compile(r"[A-Za-z0-9_:-]{1,64}")
"""A participant id is also a bus subject token: no dot, no space, no wildcard."""

FEE_ACCOUNT_ID = "house:fees"
"""The participant that receives fees and pays rebates."""

EXTERNAL_ACCOUNT_ID = "house:external"
"""The outside world in the ledger: the other side of every credit and debit."""

REFERENCE_TEXT = re.compile(r"[!#-\[\]-~]{1,200}")
"""What identifies something: visible ASCII without quote or backslash, so that it needs no escape anywhere."""

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
)
"""Endings of transaction ids that the ledger gives itself."""


def short_id(random_bytes: bytes, length: int = ORDER_ID_LENGTH) -> str:
    """A text of `length` letters out of `random_bytes` (at least one byte a letter)."""
    if len(random_bytes) < length:
        raise ValueError(f"{length} random bytes are needed, got {len(random_bytes)}")
    number = int.from_bytes(random_bytes, "big")
    letters = []
    for _ in range(length):
        number, index = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[index])
    return "".join(letters)


def trade_id(epoch: str, event_sequence: int) -> str:
    """The id of the trade that the engine emitted as event `event_sequence`: the same on every replay.

    `epoch` names the engine's journal, so that a new journal never repeats the ids of an old one.
    """
    return f"{epoch}-{event_sequence}"
