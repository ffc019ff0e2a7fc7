"""Posts the engine's transfers: all movements of a transfer in one transaction, once.

A batch is one transaction. A transfer that is already posted is skipped. One that cannot be posted is kept in
`ledger_rejected_trades` under its reference, counted and logged; the others are posted. Like settlement, this follows
the engine: it posts a transfer even if that leaves an account below zero, and counts such accounts.

Balance events are published after the commit. The bus delivers the transfers again until `post` has returned, and for
transfers that were posted before, `post` publishes the accounts as they are now. So a crash loses no event.
"""

from collections.abc import Mapping, Sequence

from openspot.contracts.messages import ExecutedTransfer
from openspot.kit.bus import Consumption, DurableConsumer
from openspot.kit.bus.consumer import ConsumingBus
from openspot.kit.log import get_logger
from openspot.ledger.batch_posting import LOGGED_LENGTH_MAX, post_writable, rejected
from openspot.ledger.changes import ChangedAccount
from openspot.ledger.descriptor import TRANSFER_POSTING
from openspot.ledger.metrics import NEGATIVE_BALANCES, TRANSFERS_POSTED
from openspot.ledger.outbox import BalanceEvents
from openspot.ledger.postings import JournalEntry, PostingError, transfer_entry
from openspot.ledger.retrying import with_retries
from openspot.ledger.store import LedgerStore, PostedEntries, RejectedTrade

log = get_logger("transfers")


class TransferPosting:
    """Posts transfers. If `post` raises, the batch must be delivered again."""

    def __init__(self, store: LedgerStore, events: BalanceEvents) -> None:
        self._store = store
        self._events = events

    async def post(self, transfers: Sequence[ExecutedTransfer]) -> None:
        """Post `transfers` in order and publish their balance events. Raises the database's error if it fails."""
        checked: dict[str, JournalEntry] = {}
        messages: dict[str, ExecutedTransfer] = {}
        refused: list[RejectedTrade] = []
        for transfer in transfers:
            if transfer.id in checked:
                continue
            try:
                checked[transfer.id] = transfer_entry(transfer)
                messages[transfer.id] = transfer
            except PostingError as error:
                refused.append(rejected(transfer, str(error)))
        posted, unwritable = await post_writable(self._store, list(checked.values()))
        for reference, reason in unwritable.items():
            del checked[reference]
            refused.append(rejected(messages[reference], reason))
        if refused:
            await self._reject(refused)
        await self._publish(checked, posted)
        TRANSFERS_POSTED.labels("posted").inc(len(posted.ids))
        TRANSFERS_POSTED.labels("already_posted").inc(len(checked) - len(posted.ids))

    async def _reject(self, transfers: Sequence[RejectedTrade]) -> None:
        for transfer in transfers:
            log.error("transfer rejected", reference=transfer.trade_id[:LOGGED_LENGTH_MAX], reason=transfer.reason)
        await with_retries(lambda: self._store.reject(transfers))
        TRANSFERS_POSTED.labels("rejected").inc(len(transfers))

    async def _publish(self, entries: Mapping[str, JournalEntry], posted: PostedEntries) -> None:
        """Publish one event for each user account of each transfer, under that transfer's own message ids.

        An account's event of an earlier posting shows its present state too.
        """
        transaction_ids = {
            (reference, posting.account): posting.transaction_id
            for reference, transfer in entries.items()
            for posting in transfer.postings
        }
        states = posted.states
        before = {account for _, account in transaction_ids} - states.keys()
        if before:
            states = states | await with_retries(lambda: self._store.states(before))
        NEGATIVE_BALANCES.inc(sum(state.available < 0 for state in posted.states.values()))
        changes = [
            ChangedAccount(account, states[account], transaction_id)
            for (_, account), transaction_id in transaction_ids.items()
            if account in states
        ]
        await with_retries(lambda: self._events.publish_or_keep(changes))


def transfer_consumer(bus: ConsumingBus, posting: TransferPosting) -> DurableConsumer[ExecutedTransfer]:
    """Return a consumer that hands batches of executed transfers to `posting`. All ledger processes share it."""
    return DurableConsumer(bus, Consumption.of(TRANSFER_POSTING, ExecutedTransfer), posting.post)
