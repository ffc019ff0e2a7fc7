"""Settlement of trades (facts A1.3-35, A1.3-36, A2.4-09).

A batch is one transaction. A trade that is already settled is skipped as a whole. A trade that cannot be settled is
kept in `ledger_rejected_trades`, counted and logged; the others are settled. The ledger follows the engine: it settles
a trade even if that leaves an account below zero, and counts such accounts.

Balance events are published after the commit. A crash between the two loses none: the bus delivers the trades again
until `settle` has returned, and for trades that were settled before, `settle` publishes the accounts as they are now.
"""

import time
from collections.abc import Sequence
from typing import NamedTuple

from openspot.contracts import subjects
from openspot.contracts.messages import ExecutedTrade, TradesSettled
from openspot.kit import tracing
from openspot.kit.bus import Bus
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock
from openspot.kit.log import get_logger
from openspot.ledger.batch_posting import LOGGED_LENGTH_MAX, post_writable, rejected
from openspot.ledger.changes import ChangedAccount
from openspot.ledger.metrics import BATCH_SECONDS, BATCH_TRADES, NEGATIVE_BALANCES, SETTLED_SEQUENCE, TRADES
from openspot.ledger.outbox import BalanceEvents
from openspot.ledger.postings import JournalEntry, PostingError, trade_entry
from openspot.ledger.retrying import with_retries
from openspot.ledger.store import LedgerStore, PostedEntries, RejectedTrade

log = get_logger("settlement")


class CheckedBatch(NamedTuple):
    """A batch before it is written: the trades that can be posted, in order, and those that cannot."""

    entries: dict[str, JournalEntry]
    trades: dict[str, ExecutedTrade]
    rejected: list[RejectedTrade]


class Settlement:
    """Settles trades. If a method raises, the batch must be delivered again."""

    def __init__(self, store: LedgerStore, events: BalanceEvents, bus: Bus, clock: Clock) -> None:
        self._store = store
        self._events = events
        self._bus = bus
        self._clock = clock
        self._newest_settled = 0

    async def start(self) -> None:
        """Read the sequence of the newest settled trade. Raises the database's error if it fails."""
        self._note_settled(await self._store.newest_settled())

    async def settle(self, trades: Sequence[ExecutedTrade]) -> frozenset[str]:
        """Settle `trades` in order and publish their balance events. Returns the ids of the rejected ones.

        Raises the database's error if it fails. Balance events that the bus does not take go to the outbox.
        """
        begin, traced_from = time.perf_counter(), tracing.begin()
        batch = check_batch(trades)
        settled, unwritable = await post_writable(self._store, list(batch.entries.values()))
        refused = batch.rejected + [rejected(batch.trades[trade_id], reason) for trade_id, reason in unwritable.items()]
        if refused:
            await self._reject(refused)
        posted = batch.entries.keys() - unwritable.keys()
        if traced_from:
            for trade in trades:
                order_id = trade.taker_order_id
                tracing.end(order_id, tracing.Step.SETTLE, traced_from, key=trade.id, trades=len(trades))
        await self._publish([trade for trade_id, trade in batch.entries.items() if trade_id in posted], settled)
        self._note_settled(max((batch.trades[trade_id].sequence for trade_id in posted), default=0))
        TRADES.labels("settled").inc(len(settled.ids))
        TRADES.labels("already_settled").inc(len(posted) - len(settled.ids))
        BATCH_TRADES.observe(len(trades))
        BATCH_SECONDS.observe(time.perf_counter() - begin)
        return frozenset(trade.trade_id for trade in refused) - posted

    def _note_settled(self, sequence: int) -> None:
        self._newest_settled = max(self._newest_settled, sequence)
        SETTLED_SEQUENCE.set(self._newest_settled)

    async def announce(self, trades: Sequence[ExecutedTrade], rejected_ids: frozenset[str]) -> None:
        """Publish `trades.settled` for a batch that `settle` has settled. Nothing depends on it: it may be lost."""
        settled = {trade.id: trade.sequence for trade in trades if trade.id not in rejected_ids}
        if settled:
            last = max(settled.values())
            message = TradesSettled(list(settled), len(settled), last, self._clock() // NANOSECONDS_PER_MS)
            await self._bus.announce(subjects.TRADES_SETTLED, message)

    async def _reject(self, trades: Sequence[RejectedTrade]) -> None:
        for trade in trades:
            log.error("trade rejected", trade_id=trade.trade_id[:LOGGED_LENGTH_MAX], reason=trade.reason)
        await with_retries(lambda: self._store.reject(trades))
        TRADES.labels("rejected").inc(len(trades))

    async def _publish(self, entries: Sequence[JournalEntry], settled: PostedEntries) -> None:
        fresh = [trade for trade in entries if trade.id in settled.ids]
        news = list({posting.account: posting.transaction_id for trade in fresh for posting in trade.postings}.items())
        # Some of the trades that were settled before are published, too. So each trade has message ids of its own:
        # under a shared id the stream would drop a new event as a repeat.
        for trade in entries:
            if trade.id not in settled.ids:
                news += {posting.account: posting.transaction_id for posting in trade.postings}.items()
        states = settled.states
        before = {account for account, _ in news} - states.keys()
        if before:
            states = states | await self._store.states(before)
        NEGATIVE_BALANCES.inc(sum(state.available < 0 for state in settled.states.values()))
        changes = [
            ChangedAccount(account, states[account], transaction_id)
            for account, transaction_id in news
            if account in states
        ]
        await with_retries(lambda: self._events.publish_or_keep(changes))


def check_batch(trades: Sequence[ExecutedTrade]) -> CheckedBatch:
    """Sort `trades` into those that can be posted and the others. Among equal ids, the first valid one counts."""
    batch = CheckedBatch({}, {}, [])
    for trade in trades:
        if trade.id in batch.entries:
            continue
        try:
            batch.entries[trade.id] = trade_entry(trade)
            batch.trades[trade.id] = trade
        except PostingError as error:
            batch.rejected.append(rejected(trade, str(error)))
    return batch
