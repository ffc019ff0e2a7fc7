"""Balance events: published after the commit that they speak of, and not lost by a crash between the two.

- A credit, debit, lock or unlock leaves its event in the outbox table, in its own transaction. It is published
  right after the commit and then forgotten there; what a crash or a silent bus left behind is published by the
  sweep of any ledger process.
- A settled trade needs no row for that: its message on the bus is acknowledged after its events are published, so
  that after a crash it comes again, and the events with it (`settlement.py`).

Message ids are transaction ids, so that the stream drops a repeat within its duplicate window. An event tells the
account as it stood at some moment after the change, and `version` tells which of two is newer.
"""

import asyncio
from collections.abc import Sequence

from openspot.contracts import subjects
from openspot.contracts.messages import BalanceUpdated
from openspot.domain.money import amount_to_text
from openspot.kit.bus import Bus, Outgoing, PublishError, encode
from openspot.kit.circuit_breaker import CircuitOpenError
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock
from openspot.kit.log import get_logger
from openspot.kit.tasks import TaskSet
from openspot.ledger.changes import BalanceChange
from openspot.ledger.metrics import OUTBOX_RECOVERED
from openspot.ledger.store import LedgerStore

EVENTS_IN_FLIGHT_MAX = 500
"""Events sent before the server has acknowledged the last of them; the first and the last speak for the rest."""
PUBLICATIONS_MAX = 64
"""Batches published in the background at a time; what is beyond waits for the sweep."""
SWEEP_AGE_S = 2.0
"""An event that has waited for so long was left behind."""
SWEEP_PAUSE_S = 1.0

log = get_logger("outbox")


class BalanceEvents:
    """Publishes `balances.updated.<userId>`."""

    def __init__(self, bus: Bus, store: LedgerStore, clock: Clock) -> None:
        self._bus = bus
        self._store = store
        self._clock = clock
        self._publications = TaskSet(PUBLICATIONS_MAX)

    async def publish(self, changes: Sequence[BalanceChange]) -> None:
        """Publish one event for each change. Raises PublishError or CircuitOpenError unless all are taken."""
        timestamp = self._clock() // NANOSECONDS_PER_MS
        for start in range(0, len(changes), EVENTS_IN_FLIGHT_MAX):
            batch = changes[start : start + EVENTS_IN_FLIGHT_MAX]
            last = len(batch) - 1
            await self._bus.publish_many(
                [_event(change, timestamp, place in (0, last)) for place, change in enumerate(batch)]
            )

    def publish_later(self, changes: Sequence[BalanceChange], outbox_ids: Sequence[int]) -> None:
        """Publish what has just been committed in the background. It does not fail: the sweep comes after it."""
        if changes and not self._publications.full:
            self._publications.start(self._publish_and_forget(changes, outbox_ids))

    async def _publish_and_forget(self, changes: Sequence[BalanceChange], outbox_ids: Sequence[int]) -> None:
        try:
            await self.publish(changes)
            await self._store.published(outbox_ids)
        except Exception as error:
            log.warning("balance events are left to the sweep", events=len(changes), error=repr(error))

    async def sweep(self) -> int:
        """Publish what was left behind; answers how many events that was. Raises what publishing raises."""
        swept = 0
        while True:
            async with self._store.unpublished(SWEEP_AGE_S, EVENTS_IN_FLIGHT_MAX) as changes:
                await self.publish(changes)
            swept += len(changes)
            OUTBOX_RECOVERED.inc(len(changes))
            if len(changes) < EVENTS_IN_FLIGHT_MAX:
                return swept

    async def run(self, stop: asyncio.Event) -> None:
        """Sweep until `stop` is set."""
        while not stop.is_set():
            try:
                if swept := await self.sweep():
                    log.info("balance events recovered", events=swept)
            except (PublishError, CircuitOpenError) as error:
                log.warning("balance events not published", error=str(error))
            except Exception as error:
                log.warning("outbox not read", error=repr(error))
            try:
                await asyncio.wait_for(stop.wait(), SWEEP_PAUSE_S)
            except TimeoutError:
                continue

    async def close(self) -> None:
        """End what is published in the background; what it leaves is swept later."""
        await self._publications.cancel()


def _event(change: BalanceChange, timestamp: int, acknowledged: bool) -> Outgoing:
    user_id, asset = change.account
    message = BalanceUpdated(
        user_id,
        asset,
        amount_to_text(change.state.available),
        amount_to_text(change.state.locked),
        change.transaction_id,
        timestamp,
        change.state.version,
    )
    subject = subjects.of_user(subjects.BALANCES_UPDATED, user_id)
    return Outgoing(subject, encode(message), change.transaction_id, acknowledged)
