"""Posts the engine's transfers: all movements of a transfer in one transaction, once.

A batch is one transaction. A transfer that is already posted is skipped. One that cannot be posted is kept in
`ledger_rejected_trades` under its reference, counted and logged; the others are posted. Like settlement, this follows
the engine: it posts a transfer even if that leaves an account below zero, and counts such accounts.

Balance events are published after the commit. The bus delivers the transfers again until `post` has returned, and for
transfers that were posted before, `post` publishes the accounts as they are now. So a crash loses no event.
"""

from collections.abc import Mapping, Sequence

from openspot.contracts import subjects
from openspot.contracts.messages import ExecutedTransfer
from openspot.contracts.streams import TRANSFERS
from openspot.kit.bus import Consumption, DurableConsumer, encode
from openspot.kit.bus.consumer import ConsumingBus
from openspot.kit.log import get_logger
from openspot.ledger.changes import BalanceChange
from openspot.ledger.consumer import ACKNOWLEDGE_WAIT_S
from openspot.ledger.metrics import NEGATIVE_BALANCES, TRANSFERS_POSTED
from openspot.ledger.outbox import BalanceEvents
from openspot.ledger.postings import PostingError, TransferPostings, transfer_postings
from openspot.ledger.retrying import with_retries
from openspot.ledger.settlement import LOGGED_LENGTH_MAX, UNWRITABLE
from openspot.ledger.store import LedgerStore, PostedTransfers, RejectedTrade

log = get_logger("transfers")

DURABLE = "ledger-transfers"
BATCH_MAX = 200


class TransferPosting:
    """Posts transfers. If `post` raises, the batch must be delivered again."""

    def __init__(self, store: LedgerStore, events: BalanceEvents) -> None:
        self._store = store
        self._events = events

    async def post(self, transfers: Sequence[ExecutedTransfer]) -> None:
        """Post `transfers` in order and publish their balance events. Raises the database's error if it fails."""
        checked: dict[str, TransferPostings] = {}
        messages: dict[str, ExecutedTransfer] = {}
        rejected: list[RejectedTrade] = []
        for transfer in transfers:
            if transfer.id in checked:
                continue
            try:
                checked[transfer.id] = transfer_postings(transfer)
                messages[transfer.id] = transfer
            except PostingError as error:
                rejected.append(_rejected(transfer, str(error)))
        posted, unwritable = await self._write(list(checked.values()), messages)
        rejected += unwritable
        if rejected:
            await self._reject(rejected)
        for refused in unwritable:
            del checked[refused.trade_id]
        await self._publish(checked, posted)
        TRANSFERS_POSTED.labels("posted").inc(len(posted.references))
        TRANSFERS_POSTED.labels("already_posted").inc(len(checked) - len(posted.references))

    async def _write(
        self, postings: Sequence[TransferPostings], messages: Mapping[str, ExecutedTransfer]
    ) -> tuple[PostedTransfers, list[RejectedTrade]]:
        nothing = PostedTransfers(set(), {})
        if not postings:
            return nothing, []
        try:
            return await with_retries(lambda: self._store.post_transfers(postings)), []
        except UNWRITABLE as error:
            if len(postings) == 1:
                return nothing, [_rejected(messages[postings[0].reference], f"cannot be written: {error}")]
        # One of them is bad. Halve the batch until the bad one is alone.
        middle = len(postings) // 2
        first, rejected_first = await self._write(postings[:middle], messages)
        second, rejected_second = await self._write(postings[middle:], messages)
        both = PostedTransfers(first.references | second.references, first.states | second.states)
        return both, rejected_first + rejected_second

    async def _reject(self, rejected: Sequence[RejectedTrade]) -> None:
        for transfer in rejected:
            log.error("transfer rejected", reference=transfer.trade_id[:LOGGED_LENGTH_MAX], reason=transfer.reason)
        await with_retries(lambda: self._store.reject(rejected))
        TRANSFERS_POSTED.labels("rejected").inc(len(rejected))

    async def _publish(self, postings: Mapping[str, TransferPostings], posted: PostedTransfers) -> None:
        """Publish one event for each user account of each transfer, under that transfer's own message ids.

        An account's event of an earlier posting shows its present state too.
        """
        legs = {
            (reference, leg.account): leg.transaction_id
            for reference, transfer in postings.items()
            for leg in transfer.legs
        }
        states = posted.states
        before = {account for _, account in legs} - states.keys()
        if before:
            states = states | await with_retries(lambda: self._store.states(before))
        NEGATIVE_BALANCES.inc(sum(state.available < 0 for state in posted.states.values()))
        changes = [
            BalanceChange(account, states[account], transaction_id)
            for (_, account), transaction_id in legs.items()
            if account in states
        ]
        await with_retries(lambda: self._events.publish_or_keep(changes))


def transfer_consumer(bus: ConsumingBus, posting: TransferPosting) -> DurableConsumer[ExecutedTransfer]:
    """Hands batches of executed transfers to `posting`. All ledger processes share the durable consumer."""
    consumption = Consumption(
        TRANSFERS,
        subjects.TRANSFERS_EXECUTED,
        DURABLE,
        ExecutedTransfer,
        BATCH_MAX,
        acknowledge_wait_s=ACKNOWLEDGE_WAIT_S,
    )
    return DurableConsumer(bus, consumption, posting.post)


def _rejected(transfer: ExecutedTransfer, reason: str) -> RejectedTrade:
    # JSON escapes any character that a text column would refuse.
    return RejectedTrade(transfer.id, reason, encode(transfer).decode())
