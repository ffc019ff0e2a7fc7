"""Computes a user's lots and disposals from the stored transactions, in the caller's database transaction.

The result depends only on the stored transactions, not on the order in which they arrived. A transaction that takes
more than its account holds moves nothing, and its shortfall is noted. It counts as soon as the account holds enough.
"""

import asyncio
from collections.abc import Sequence

from openspot.kit.database import Connection
from openspot.positions.cost_basis import store
from openspot.positions.cost_basis.store import BookCheckpoint
from openspot.positions.fifo import Disposal, FifoBook, ShortfallError
from openspot.positions.fifo_transaction import FifoTransaction, OrderKey

PAGE = 2_000
CHECKPOINT_EVERY = 10_000
"""Transactions between two checkpoints. About this many before an insertion into the past are computed again."""
SHORTFALLS_MAX = 1_000
STATE_LOTS_MAX = 10_000
"""A book with more open lots than this is saved less often than every CHECKPOINT_EVERY transactions."""


async def compute(connection: Connection, user_id: str, dirty_ms: int) -> list[tuple[str, str]]:
    """Compute the results of a locked owner again, from the millisecond `dirty_ms` on.

    Returns (external id, reason) of the transactions that have a new shortfall, the first SHORTFALLS_MAX of them.
    """
    state = await store.state_before(connection, user_id, dirty_ms)
    book = FifoBook(user_id) if state is None else FifoBook.from_state(state)
    place = book.last_key
    await store.forget_results_after(connection, user_id, place[0])
    uncovered: list[tuple[str, str]] = []
    since_saved = 0
    while page := await store.transactions_after(connection, user_id, place[0], PAGE):
        # In a thread, so that other requests go on meanwhile.
        disposals, shortfalls = await asyncio.to_thread(_apply, book, [transaction for transaction, _ in page])
        await store.add_disposals(connection, user_id, disposals)
        changes = [
            (transaction.external_id, shortfalls.get(transaction.external_id))
            for transaction, noted in page
            if shortfalls.get(transaction.external_id) != noted
        ]
        await store.note_shortfalls(connection, user_id, changes)
        uncovered += [(external_id, reason) for external_id, reason in changes if reason is not None]
        del uncovered[SHORTFALLS_MAX:]
        place = page[-1][0].order_key
        since_saved += len(page)
        if since_saved >= max(CHECKPOINT_EVERY, book.open_lots):
            await store.add_checkpoint(connection, user_id, BookCheckpoint(place, _state(book, place)), is_newest=False)
            since_saved = 0
    if since_saved and book.open_lots <= STATE_LOTS_MAX:
        await store.add_checkpoint(connection, user_id, BookCheckpoint(place, _state(book, place)), is_newest=True)
    await store.finish(connection, user_id, book.holdings())
    return uncovered


def _apply(book: FifoBook, transactions: Sequence[FifoTransaction]) -> tuple[list[Disposal], dict[str, str]]:
    """Apply transactions. Returns their disposals, and the reasons of those that are not covered."""
    disposals: list[Disposal] = []
    shortfalls: dict[str, str] = {}
    for transaction in transactions:
        try:
            disposals += book.apply(transaction)
        except ShortfallError as error:
            shortfalls[transaction.external_id] = str(error)
    return disposals, shortfalls


def _state(book: FifoBook, place: OrderKey) -> str:
    """The book's state after all transactions up to `place`, even if the last of them are not covered."""
    book.last_key = place
    return book.state()
