"""Posts those journal entries of a batch that the database takes."""

from collections.abc import Sequence

import asyncpg

from openspot.contracts.messages import ExecutedTrade, ExecutedTransfer
from openspot.kit.bus import encode
from openspot.ledger.postings import JournalEntry
from openspot.ledger.retrying import with_retries
from openspot.ledger.store import LedgerStore, PostedEntries, RejectedTrade

LOGGED_LENGTH_MAX = 200
"""The log shows this many characters of an id. The id of a rejected message may be of any length."""

# Errors in the data itself: a retry would fail as well.
_UNWRITABLE = (asyncpg.DataError, asyncpg.IntegrityConstraintViolationError)


async def post_writable(store: LedgerStore, entries: Sequence[JournalEntry]) -> tuple[PostedEntries, dict[str, str]]:
    """Post what the database takes. Returns it, and for the id of each other entry the reason for the refusal.

    No two of `entries` have the same id. Raises the database's error if it fails; some entries may be posted then.
    """
    if not entries:
        return PostedEntries(set(), {}), {}
    try:
        return await with_retries(lambda: store.post(entries)), {}
    except _UNWRITABLE as error:
        if len(entries) == 1:
            return PostedEntries(set(), {}), {entries[0].id: f"cannot be written: {error}"}
    # One of them is bad. Halve the batch until the bad one is alone.
    middle = len(entries) // 2
    first, refused_first = await post_writable(store, entries[:middle])
    second, refused_second = await post_writable(store, entries[middle:])
    return PostedEntries(first.ids | second.ids, first.states | second.states), refused_first | refused_second


def rejected(message: ExecutedTrade | ExecutedTransfer, reason: str) -> RejectedTrade:
    """The row for a trade or transfer that cannot be posted."""
    # JSON escapes any character that a text column would refuse.
    return RejectedTrade(message.id, reason, encode(message).decode())
