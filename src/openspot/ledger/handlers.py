"""The ledger's requests (Document B 4.3): the same in the main process and the workflow worker.

A request that is not sound, or that cannot be done, is answered with an error that says why. Concurrent requests
share statements: all balance questions that wait are one query, all changes that wait one transaction.
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
from openspot.domain.money import amount_to_text
from openspot.kit.bus import Bus
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger
from openspot.ledger.batching import MicroBatch
from openspot.ledger.changes import Change, Outcome
from openspot.ledger.metrics import REQUESTS
from openspot.ledger.outbox import BalanceEvents
from openspot.ledger.retrying import with_retries
from openspot.ledger.schemas import (
    RequestError,
    check_balances,
    checked_movement,
    checked_posting,
    history_position,
)
from openspot.ledger.store import LedgerStore

QUESTIONS_MAX = 1000
"""Users whose balances one query reads."""
CHANGES_MAX = 500
"""Changes in one transaction."""
HISTORY_QUERIES_MAX = 2
"""History pages read at a time."""
UNAVAILABLE = "the ledger's database does not answer"

log = get_logger("ledger")


class RequestHandlers:
    """Answers requests."""

    def __init__(self, store: LedgerStore, events: BalanceEvents) -> None:
        self._store = store
        self._events = events
        self._questions: MicroBatch[str, list[LedgerBalance]] = MicroBatch(self._read_balances, QUESTIONS_MAX)
        self._changes: MicroBatch[Change, Outcome] = MicroBatch(self._apply, CHANGES_MAX)
        self._history_queries = asyncio.Semaphore(HISTORY_QUERIES_MAX)

    async def serve(self, bus: Bus) -> None:
        """Take requests, in the queue group that all ledger processes share."""
        queue = subjects.LEDGER_QUEUE
        await bus.serve(subjects.LEDGER_BALANCES_GET, queue, LedgerBalancesRequest, self.balances, _refused_balances)
        await bus.serve(subjects.LEDGER_CREDIT, queue, LedgerPosting, self.credit, _refused_posting)
        await bus.serve(subjects.LEDGER_DEBIT, queue, LedgerPosting, self.debit, _refused_posting)
        await bus.serve(subjects.LEDGER_LOCK, queue, LedgerLock, self.lock, _refused_lock)
        await bus.serve(subjects.LEDGER_UNLOCK, queue, LedgerLock, self.unlock, _refused_lock)
        await bus.serve(subjects.LEDGER_HISTORY_GET, queue, LedgerHistoryRequest, self.history, _refused_history)

    async def balances(self, request: LedgerBalancesRequest) -> LedgerBalancesReply:
        """A user's accounts, or that of one asset: none where the ledger has no such account."""
        try:
            check_balances(request)
            balances = await self._questions.submit(request.user_id)
        except RequestError as error:
            return _refused_balances(str(error))
        except TRANSIENT_ERRORS:
            return _refused_balances(UNAVAILABLE)
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
        """Take from available, which must cover it. A repeated transaction id changes nothing."""
        return await self._post("debit", request, -1)

    async def _post(self, operation: str, request: LedgerPosting, sign: int) -> LedgerPostingReply:
        try:
            outcome = await self._changed(operation, checked_posting(request, sign))
        except RequestError as error:
            return _refused_posting(str(error))
        except TRANSIENT_ERRORS:
            return _refused_posting(UNAVAILABLE)
        if outcome.error is not None:
            return _refused_posting(outcome.error)
        if outcome.altered:
            log.warning("transaction id repeated with other fields", operation=operation, request=request)
        return LedgerPostingReply(True, amount_to_text(outcome.available))

    async def lock(self, request: LedgerLock) -> LedgerLockReply:
        """Move from available, which must cover it, to locked; once for its reference."""
        return await self._move("lock", request, 1)

    async def unlock(self, request: LedgerLock) -> LedgerLockReply:
        """Move from locked, which must cover it, to available; once for its reference."""
        return await self._move("unlock", request, -1)

    async def _move(self, operation: str, request: LedgerLock, sign: int) -> LedgerLockReply:
        try:
            outcome = await self._changed(operation, checked_movement(request, sign))
        except RequestError as error:
            return _refused_lock(str(error))
        except TRANSIENT_ERRORS:
            return _refused_lock(UNAVAILABLE)
        return LedgerLockReply(outcome.error is None, outcome.error)

    async def _changed(self, operation: str, change: Change) -> Outcome:
        outcome = await self._changes.submit(change)
        label = "refused" if outcome.error is not None else "done" if outcome.changed else "repeated"
        REQUESTS.labels(operation, label).inc()
        return outcome

    async def _apply(self, changes: list[Change]) -> Sequence[Outcome]:
        decision, outbox_ids = await with_retries(lambda: self._store.apply(changes))
        self._events.publish_later(decision.balance_changes, outbox_ids)
        return decision.outcomes

    async def history(self, request: LedgerHistoryRequest) -> LedgerHistoryReply:
        """A page of a user's entries, newest first."""
        try:
            before = history_position(request)
            async with self._history_queries:
                entries, following = await with_retries(
                    lambda: self._store.history(request.user_id, request.asset, before, request.limit)
                )
        except RequestError as error:
            return _refused_history(str(error))
        except TRANSIENT_ERRORS:
            return _refused_history(UNAVAILABLE)
        return LedgerHistoryReply(entries, None if following is None else str(following))


def _refused_balances(reason: str) -> LedgerBalancesReply:
    return LedgerBalancesReply([], reason)


def _refused_posting(reason: str) -> LedgerPostingReply:
    return LedgerPostingReply(False, error=reason)


def _refused_lock(reason: str) -> LedgerLockReply:
    return LedgerLockReply(False, reason)


def _refused_history(reason: str) -> LedgerHistoryReply:
    return LedgerHistoryReply([], error=reason)
