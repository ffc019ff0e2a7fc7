"""The hash chain over the custody's audit entries. Pure.

Each entry holds the hash of the entry before it. So no entry can be changed, removed or added later without a change
of all hashes that follow.
"""

import hashlib
from collections.abc import Iterable, Mapping

import msgspec

FIRST_HASH = "0" * 64


def entry_hash(previous_hash: str, content: Mapping[str, str | int | None]) -> str:
    """The hash of an entry: SHA-256, in hex, over the hash before it and its fields sorted by name."""
    encoded = msgspec.json.encode([previous_hash, sorted(content.items())])
    return hashlib.sha256(encoded).hexdigest()


def first_break(entries: Iterable[tuple[str, str, Mapping[str, str | int | None]]]) -> int | None:
    """The index of the first of `entries` (previous hash, hash, content) that does not fit the chain, or None."""
    expected = FIRST_HASH
    for index, (previous, own, content) in enumerate(entries):
        if previous != expected or own != entry_hash(previous, content):
            return index
        expected = own
    return None
