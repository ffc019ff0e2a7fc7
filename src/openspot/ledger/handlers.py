"""The ledger's requests (facts B4.3-06 to B4.3-13), served by the main process and by the workflow worker.

An invalid or impossible request is refused with a reason. Concurrent requests share statements: all
waiting requests for balances are one query, all waiting changes one transaction.
"""

import asyncio
from collections.abc import Sequence

from openspot.contracts import subjects
from openspot.contracts.messages import (
    LedgerBalance,
    LedgerBalancesReply,
    LedgerBalancesRequest,
    LedgerHistoryReply,
    LedgerHistoryRequest,
    LedgerLock,
    LedgerLockReply,
    LedgerPosting,
    LedgerPostingReply,
)
from openspot.contracts.refusals import InvalidRequestError, Refusal, RefusalCode
from openspot.domain.money import amount_to_text
from openspot.kit.batching import Batcher, BatcherFullError
from openspot.kit.bus import Bus
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger
from openspot.ledger.changes import Change, ChangeResult
from openspot.ledger.metrics import NEGATIVE_BALANCES, REQUESTS
from openspot.ledger.outbox import BalanceEvents
from openspot.ledger.retrying import with_retries
from openspot.ledger.schemas import (
    check_balances,
    checked_credit_or_debit,
    checked_lock_or_unlock,
    history_position,
    history_span,
)
from openspot.ledger.store import LedgerStore

USERS_MAX = 1000
"""One query reads the balances of at most this many users."""
CHANGES_MAX = 500
"""One transaction makes at most this many changes."""
HISTORY_QUERIES_MAX = 2
"""At most this many history pages are read at the same time."""
WAITING_MAX = 20_000
"""At most this many requests of one kind wait for the database. More are refused as busy."""
UNAVAILABLE = Refusal(RefusalCode.UNAVAILABLE, "the ledger's database does not answer")
BUSY = Refusal(RefusalCode.BUSY, "too many requests wait for the ledger's database")

# These errors become refusals. Any other error is a fault of the ledger.
_EXPECTED = (InvalidRequestError, BatcherFullError, *TRANSIENT_ERRORS)

log = get_logger("ledger")


class RequestHandlers:
    """Handles the requests. Each method returns a reply, even to a bad request or while the database is away."""

    def __init__(self, store: LedgerStore, events: BalanceEvents) -> None:
        self._store = store
        self._events = events
        self._balances: Batcher[str, list[LedgerBalance]] = Batcher(
            self._read_balances, batch_max=USERS_MAX, waiting_max=WAITING_MAX
        )
        self._changes: Batcher[Change, ChangeResult] = Batcher(
            self._apply, batch_max=CHANGES_MAX, waiting_max=WAITING_MAX
        )
        self._history_queries = asyncio.Semaphore(HISTORY_QUERIES_MAX)

    async def serve(self, bus: Bus) -> None:
        """Take requests, in the queue group that all ledger processes share."""
        queue = subjects.LEDGER_QUEUE
        balances, posting, lock = LedgerBalancesReply.refused, LedgerPostingReply.refused, LedgerLockReply.refused
        await bus.serve(subjects.LEDGER_BALANCES_GET, queue, LedgerBalancesRequest, self.balances, balances)
        await bus.serve(subjects.LEDGER_CREDIT, queue, LedgerPosting, self.credit, posting)
        await bus.serve(subjects.LEDGER_DEBIT, queue, LedgerPosting, self.debit, posting)
        await bus.serve(subjects.LEDGER_LOCK, queue, LedgerLock, self.lock, lock)
        await bus.serve(subjects.LEDGER_UNLOCK, queue, LedgerLock, self.unlock, lock)
        await bus.serve(
            subjects.LEDGER_HISTORY_GET, queue, LedgerHistoryRequest, self.history, LedgerHistoryReply.refused
        )

    async def balances(self, request: LedgerBalancesRequest) -> LedgerBalancesReply:
        """Return a user's accounts, or only that of one asset. The list is empty if the ledger has no such account."""
        try:
            check_balances(request)
            balances = await self._balances.submit(request.user_id)
        except _EXPECTED as error:
            return LedgerBalancesReply.refused(_refusal(error))
        if request.asset is not None:
            balances = [balance for balance in balances if balance.asset == request.asset]
        return LedgerBalancesReply(balances)

    async def _read_balances(self, user_ids: list[str]) -> Sequence[list[LedgerBalance]]:
        balances = await with_retries(lambda: self._store.balances(set(user_ids)))
        return [balances.get(user_id, []) for user_id in user_ids]

    async def credit(self, request: LedgerPosting) -> LedgerPostingReply:
        """Add to available, making the account if it is missing. A repeated transaction id changes nothing."""
        return await self._post("credit", request, 1)

    async def debit(self, request: LedgerPosting) -> LedgerPostingReply:
        """Take from available, which must cover it unless the money was already moved.

        A repeated transaction id changes nothing.
        """
        return await self._post("debit", request, -1)

    async def _post(self, operation: str, request: LedgerPosting, sign: int) -> LedgerPostingReply:
        try:
            outcome = await self._changed(operation, checked_credit_or_debit(request, sign))
        except _EXPECTED as error:
            return LedgerPostingReply.refused(_refusal(error))
        if outcome.refusal is not None:
            return LedgerPostingReply.refused(outcome.refusal)
        if outcome.altered:
            log.warning("transaction id repeated with other fields", operation=operation, request=request)
        if outcome.changed and outcome.available < 0:
            NEGATIVE_BALANCES.inc()
            log.warning("a posting left an account below zero", operation=operation, request=request)
        return LedgerPostingReply(True, amount_to_text(outcome.available))

    async def lock(self, request: LedgerLock) -> LedgerLockReply:
        """Move from available, which must cover it, to locked. Done once for its reference."""
        return await self._move("lock", request, 1)

    async def unlock(self, request: LedgerLock) -> LedgerLockReply:
        """Move from locked, which must cover it, to available. Done once for its reference."""
        return await self._move("unlock", request, -1)

    async def _move(self, operation: str, request: LedgerLock, sign: int) -> LedgerLockReply:
        try:
            outcome = await self._changed(operation, checked_lock_or_unlock(request, sign))
        except _EXPECTED as error:
            return LedgerLockReply.refused(_refusal(error))
        return LedgerLockReply(True) if outcome.refusal is None else LedgerLockReply.refused(outcome.refusal)

    async def _changed(self, operation: str, change: Change) -> ChangeResult:
        outcome = await self._changes.submit(change)
        label = "refused" if outcome.refusal is not None else "done" if outcome.changed else "repeated"
        REQUESTS.labels(operation, label).inc()
        return outcome

    async def _apply(self, changes: list[Change]) -> Sequence[ChangeResult]:
        applied = await with_retries(lambda: self._store.apply(changes))
        self._events.publish_later(applied.decision.balance_changes, applied.outbox_ids)
        return applied.decision.results

    async def history(self, request: LedgerHistoryRequest) -> LedgerHistoryReply:
        """A page of a user's entries, newest first."""
        try:
            before = history_position(request)
            since, until = history_span(request)
            async with self._history_queries:
                page = await with_retries(
                    lambda: self._store.history(
                        request.user_id,
                        request.asset,
                        before,
                        request.limit,
                        request.entry_type,
                        since=since,
                        until=until,
                    )
                )
        except _EXPECTED as error:
            return LedgerHistoryReply.refused(_refusal(error))
        return LedgerHistoryReply(page.entries, None if page.next_before is None else str(page.next_before))


def _refusal(error: Exception) -> Refusal:
    """The refusal for one of the expected errors."""
    if isinstance(error, InvalidRequestError):
        return error.refusal
    return BUSY if isinstance(error, BatcherFullError) else UNAVAILABLE
