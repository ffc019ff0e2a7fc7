"""Chains of hashes over audit entries: the custody's and the operators'. Pure.

Each entry holds the hash of the entry before it. So whoever changes, removes or adds an entry must also
change all hashes that follow.
"""

import hashlib
from collections.abc import Mapping

import msgspec

FIRST_HASH = "0" * 64


def entry_hash(previous_hash: str, content: Mapping[str, str | int | None]) -> str:
    """The hash of an entry: SHA-256, in hex, over the hash before it and its fields sorted by name."""
    encoded = msgspec.json.encode([previous_hash, sorted(content.items())])
    return hashlib.sha256(encoded).hexdigest()


def is_next(newest_hash: str, previous: str, own: str, content: Mapping[str, str | int | None]) -> bool:
    """Whether an entry with these hashes and this content follows the entry whose hash is `newest_hash`."""
    return previous == newest_hash and own == entry_hash(previous, content)
