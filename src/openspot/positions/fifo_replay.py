"""Replay of a FIFO history from checkpoints.

A transaction that is inserted into the past changes every result after it. The computation then does not begin again
from the first transaction, but from the newest checkpoint before the insertion. Later checkpoints are wrong from then
on.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from openspot.positions.fifo import Disposal, FifoBook
from openspot.positions.fifo_transaction import FifoTransaction, OrderKey

CHECKPOINT_EVERY = 10_000
"""Transactions between two checkpoints. At most this many before an insertion are computed again."""


class BookCheckpoint(NamedTuple):
    """A saved book. `key` is the key of the last transaction that the state includes."""

    key: OrderKey
    state: str


def nearest_checkpoint(checkpoints: Sequence[BookCheckpoint], key: OrderKey) -> BookCheckpoint | None:
    """The newest of the sorted `checkpoints` before `key`; None if the replay must begin with the first transaction."""
    place = bisect_left(checkpoints, key, key=lambda checkpoint: checkpoint.key)
    return checkpoints[place - 1] if place else None


def superseded_checkpoints(checkpoints: Sequence[BookCheckpoint], key: OrderKey) -> Sequence[BookCheckpoint]:
    """The sorted `checkpoints` that are wrong after an insertion, change or removal at `key`."""
    return checkpoints[bisect_left(checkpoints, key, key=lambda checkpoint: checkpoint.key) :]


def replay(
    book: FifoBook, transactions: Iterable[FifoTransaction], every: int = CHECKPOINT_EVERY
) -> Iterator[Disposal | BookCheckpoint]:
    """Apply sorted transactions to `book`. Yields each disposal, and a checkpoint after every `every` transactions.

    Raises the errors of `FifoBook.apply`. A shortfall may name a later transaction than the inserted one: the inserted
    one took what the later one needs. The caller then refuses the insertion.
    """
    if every < 1:
        raise ValueError("every must be at least 1")
    for number, transaction in enumerate(transactions, start=1):
        yield from book.apply(transaction)
        if number % every == 0:
            yield BookCheckpoint(book.last_key, book.state())
