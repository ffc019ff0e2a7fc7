"""Balance events. They are published after the commit, and are not lost if the process dies between the two.

- A credit, debit, lock or unlock leaves its event in the outbox table, in its own transaction. It is published right
  after the commit and then deleted there. If a crash or the bus prevents that, the sweep of any ledger process
  publishes it.
- A settled trade needs no row in the outbox: its message is acknowledged after its events are published. After a crash
  the bus delivers the trade again, and the ledger publishes its events again (`settlement.py`).

If one user's subject fails, no other user waits: the sweep publishes the events that the bus does not take.

Message ids are transaction ids, so the stream drops a repeat within its duplicate window. An event shows the account at
some time after the change; of two events, the one with the higher `version` is newer.
"""

import asyncio
from collections.abc import Sequence

from openspot.contracts import subjects
from openspot.contracts.messages import BalanceUpdated
from openspot.domain.money import amount_to_text
from openspot.kit.bus import Bus, OutgoingEvent, PublishError, encode
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock
from openspot.kit.log import get_logger
from openspot.kit.tasks import TaskSet, is_set_within
from openspot.ledger.changes import ChangedAccount
from openspot.ledger.metrics import OUTBOX_RECOVERED
from openspot.ledger.store import LedgerStore

EVENTS_IN_FLIGHT_MAX = 500
"""At most this many events are sent at once; the next ones wait for their acknowledgements."""
PUBLICATIONS_MAX = 64
"""At most this many batches are published in the background at the same time. The sweep does the others."""
SWEEP_AGE_S = 2.0
"""The sweep publishes an event that has waited this long."""
SWEEP_PAUSE_S = 2.0
"""Seconds between two sweeps."""

log = get_logger("outbox")


class BalanceEvents:
    """Publishes `balances.updated.<userId>`."""

    def __init__(self, bus: Bus, store: LedgerStore, clock: Clock) -> None:
        self._bus = bus
        self._store = store
        self._clock = clock
        self._publications = TaskSet(PUBLICATIONS_MAX)

    async def publish(self, changes: Sequence[ChangedAccount]) -> list[ChangedAccount]:
        """Publish one event for each change. Returns the changes whose events the bus did not take."""
        timestamp = self._clock() // NANOSECONDS_PER_MS
        left: list[ChangedAccount] = []
        for start in range(0, len(changes), EVENTS_IN_FLIGHT_MAX):
            batch = changes[start : start + EVENTS_IN_FLIGHT_MAX]
            events = [_event(change, timestamp) for change in batch]
            try:
                await self._bus.publish_many(events)
            except PublishError as error:
                log.warning("balance events not published", error=str(error), events=len(error.unpublished))
                unpublished = {id(event) for event in error.unpublished}
                left += [change for change, event in zip(batch, events, strict=True) if id(event) in unpublished]
        return left

    async def publish_or_keep(self, changes: Sequence[ChangedAccount]) -> None:
        """Publish one event for each change; put those that the bus does not take into the outbox.

        Raises the database's error if it fails.
        """
        left = await self.publish(changes)
        if left:
            await self._store.keep(left)

    def publish_later(self, changes: Sequence[ChangedAccount], outbox_ids: Sequence[int]) -> None:
        """Publish in the background the changes that were just committed. If that fails, the sweep does it."""
        if changes and not self._publications.full:
            self._publications.start(self._publish_and_forget(changes, outbox_ids))

    async def _publish_and_forget(self, changes: Sequence[ChangedAccount], outbox_ids: Sequence[int]) -> None:
        try:
            left = {id(change) for change in await self.publish(changes)}
            await self._store.published(
                [outbox_id for change, outbox_id in zip(changes, outbox_ids, strict=True) if id(change) not in left]
            )
        except Exception as error:
            log.warning("balance events are left to the sweep", events=len(changes), error=repr(error))

    async def sweep(self) -> int:
        """Publish the events in the outbox. Returns how many of them the bus took. Raises the database's error."""
        swept = 0
        failing: set[str] = set()
        while True:
            async with self._store.unpublished(SWEEP_AGE_S, EVENTS_IN_FLIGHT_MAX, failing) as outbox:
                left = await self.publish(list(outbox.changes.values()))
                kept = {id(change) for change in left}
                outbox.published.extend(key for key, change in outbox.changes.items() if id(change) not in kept)
            swept += len(outbox.published)
            OUTBOX_RECOVERED.inc(len(outbox.published))
            # The next round leaves out the users whose subjects fail, so that they do not crowd out the others.
            failing.update(change.account.user_id for change in left)
            if len(outbox.changes) < EVENTS_IN_FLIGHT_MAX or not self._bus.is_connected:
                return swept

    async def run(self, stop: asyncio.Event) -> None:
        """Sweep until `stop` is set."""
        while not stop.is_set():
            try:
                if swept := await self.sweep():
                    log.info("balance events recovered", events=swept)
            except Exception as error:
                log.warning("outbox not swept", error=repr(error))
            await is_set_within(stop, SWEEP_PAUSE_S)

    async def close(self) -> None:
        """Cancel publications in the background. A later sweep publishes what they leave."""
        await self._publications.cancel()


def _event(change: ChangedAccount, timestamp: int) -> OutgoingEvent:
    account = change.account
    message = BalanceUpdated(
        account.user_id,
        account.asset,
        amount_to_text(change.state.available),
        amount_to_text(change.state.locked),
        change.transaction_id,
        timestamp,
        change.state.version,
    )
    subject = subjects.of_user(subjects.BALANCES_UPDATED, account.user_id)
    return OutgoingEvent(subject, encode(message), change.transaction_id)
