"""Posts a batch of trades or transfers without those that the database refuses."""

from collections.abc import Sequence

import asyncpg

from openspot.contracts.messages import ExecutedTrade, ExecutedTransfer
from openspot.kit.bus import encode
from openspot.ledger.postings import Postings
from openspot.ledger.retrying import with_retries
from openspot.ledger.store import LedgerStore, Posted, RejectedTrade

LOGGED_LENGTH_MAX = 200
"""Characters of an id that are logged: that of a rejected message may be of any length."""

# Errors in the data itself: a retry would fail as well.
_UNWRITABLE = (asyncpg.DataError, asyncpg.IntegrityConstraintViolationError)


async def post_writable(store: LedgerStore, postings: Sequence[Postings]) -> tuple[Posted, dict[str, str]]:
    """Post what the database takes. Returns that, and by id the reasons why the others cannot be written.

    No two of `postings` have the same id. Raises the database's error if it fails; some may be posted then.
    """
    if not postings:
        return Posted(set(), {}), {}
    try:
        return await with_retries(lambda: store.post(postings)), {}
    except _UNWRITABLE as error:
        if len(postings) == 1:
            return Posted(set(), {}), {postings[0].id: f"cannot be written: {error}"}
    # One of them is bad. Halve the batch until the bad one is alone.
    middle = len(postings) // 2
    first, refused_first = await post_writable(store, postings[:middle])
    second, refused_second = await post_writable(store, postings[middle:])
    return Posted(first.ids | second.ids, first.states | second.states), refused_first | refused_second


def rejected(message: ExecutedTrade | ExecutedTransfer, reason: str) -> RejectedTrade:
    """The row for a trade or transfer that cannot be posted."""
    # JSON escapes any character that a text column would refuse.
    return RejectedTrade(message.id, reason, encode(message).decode())
