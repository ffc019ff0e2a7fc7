"""Records refused orders that have no engine event: publishes `orders.rejected`, and writes a row.

After a failed pre-trade check it also publishes `risk.check.failed` (facts A3.1-03 to A3.1-04, fact A6.1-09).

Events and rows are retried until the bus and the database have stored them. The queue is bounded: an order reserves a
slot before its pre-trade check, and is refused as busy if no slot is free (`Rejections.reserve`). Refusals are
recorded in micro-batches, so that many bad orders cost few calls. The caller waits at most one second for the events,
and never for the row.
"""

import asyncio
from typing import NamedTuple, NoReturn

import asyncpg

from openspot.contracts import subjects
from openspot.contracts.messages import OrderEvent, RiskCheckFailed
from openspot.kit.backoff import Backoff
from openspot.kit.batching import Batcher
from openspot.kit.bus import Bus, OutgoingEvent, PendingEvent, RetryingPublisher, encode
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger
from openspot.kit.tasks import end_tasks, first_ended
from openspot.router.metrics import REJECTIONS_WAITING, ROW_WRITE_FAILURES, ROWS_DROPPED
from openspot.router.orders.pre_trade import PreTradeFailure
from openspot.router.store import BAD_ROW_ERRORS, RouterStore
from openspot.router.tracked_order import TrackedOrder, record_of

log = get_logger("rejections")

SLOTS = 10_000
"""At most this many orders are being checked, or are refused and not recorded yet."""
BATCH_MAX = 500
PUBLISH_WAIT_S = 1.0
CONNECTION_POLL_INTERVAL_S = 0.1
RETRY_S, RETRY_S_MAX = 0.1, 5.0
DRAIN_S_MAX = 3.0


class _Refused(NamedTuple):
    """A refused order, its events, and the future that completes when they are published or held."""

    order: TrackedOrder
    events: list[OutgoingEvent]
    published: asyncio.Future[None]


class Slot:
    """Room for one refused order: `record` uses it, `release` gives it back."""

    def __init__(self, rejections: "Rejections") -> None:
        self._rejections: Rejections | None = rejections

    async def record(self, order: TrackedOrder, failure: PreTradeFailure | None) -> None:
        """Publish and store a refused order. Waits for the publication of its events, at most a second.

        `failure` is None if the engine refused the order.
        """
        rejections, self._rejections = self._rejections, None
        assert rejections is not None, "a slot is used once"
        await rejections.record(order, failure)

    def release(self) -> None:
        """Give the slot back, unless `record` has used it."""
        rejections, self._rejections = self._rejections, None
        if rejections is not None:
            rejections.free()


class Rejections:
    """Publishes and stores refused orders, in the background."""

    def __init__(self, bus: Bus, store: RouterStore) -> None:
        self._bus = bus
        self._store = store
        self._publisher = RetryingPublisher(bus, held_max=SLOTS, ready=self._connected)
        self._events: Batcher[_Refused, None] = Batcher(self._publish, batch_max=BATCH_MAX, waiting_max=SLOTS)
        self._rows: Batcher[TrackedOrder, None] = Batcher(self._write, batch_max=BATCH_MAX, waiting_max=SLOTS)
        self._taken = 0
        REJECTIONS_WAITING.set_function(lambda: self.waiting)

    @property
    def waiting(self) -> int:
        """The number of orders that are being checked or not recorded yet, and of held events."""
        return self._taken + self._publisher.held

    def reserve(self) -> Slot | None:
        """Reserve a slot for an order before its check. Returns None if none is free."""
        if self._taken >= SLOTS:
            return None
        self._taken += 1
        return Slot(self)

    def free(self) -> None:
        """Give a slot back."""
        self._taken -= 1

    async def record(self, order: TrackedOrder, failure: PreTradeFailure | None) -> None:
        """Record an order whose slot was reserved. See `Slot.record`."""
        published: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        await self._events.put(_Refused(order, _events_of(order, failure), published))
        await asyncio.wait({published}, timeout=PUBLISH_WAIT_S)

    async def run(self) -> NoReturn:
        """Wait until recording fails, and raise its error."""
        failures = [asyncio.ensure_future(batcher.failure()) for batcher in (self._events, self._rows)]
        try:
            await first_ended(*failures)
        finally:
            await end_tasks(*failures)
        raise AssertionError("`failure` always raises")

    async def close(self) -> None:
        """Record the waiting orders, for three seconds at most, and stop."""
        try:
            async with asyncio.timeout(DRAIN_S_MAX):
                await self._events.drained()
                await self._rows.drained()
                while self._publisher.held:
                    await asyncio.sleep(CONNECTION_POLL_INTERVAL_S)
        except TimeoutError:
            log.error("refused orders lost: bus or database did not take them", orders=self._taken)
        await self._events.cancel()
        await self._rows.cancel()
        await self._publisher.close()

    async def _connected(self) -> None:
        while not self._bus.is_connected:
            await asyncio.sleep(CONNECTION_POLL_INTERVAL_S)

    async def _publish(self, batch: list[_Refused]) -> None:
        await self._publisher.publish([PendingEvent(event) for refused in batch for event in refused.events])
        for refused in batch:
            if not refused.published.done():
                refused.published.set_result(None)
            await self._rows.put(refused.order)

    async def _write(self, orders: list[TrackedOrder]) -> None:
        """Store rows, and retry until that succeeds. A row that the database refuses is logged and dropped."""
        backoff = Backoff(RETRY_S, RETRY_S_MAX)
        while True:
            try:
                await self._store.insert_refused_orders(orders)
                break
            except BAD_ROW_ERRORS as error:
                ROW_WRITE_FAILURES.labels("refused").inc()
                if len(orders) > 1:
                    for order in orders:
                        await self._write([order])
                    return
                ROWS_DROPPED.labels("orders").inc()
                log.error("row of a refused order dropped", order_id=orders[0].order_id, error=str(error))
                break
            except (*TRANSIENT_ERRORS, asyncpg.PostgresError) as error:
                ROW_WRITE_FAILURES.labels("unavailable").inc()
                log.warning("rows of refused orders not written yet", error=repr(error), rows=len(orders))
                await asyncio.sleep(backoff.failed())
        for _ in orders:
            self.free()


def _events_of(order: TrackedOrder, failure: PreTradeFailure | None) -> list[OutgoingEvent]:
    # This router refuses an order id only once, so the id makes the message ids unique.
    message_id = f"refused-{order.user_id}-{order.order_id}"
    rejected = encode(OrderEvent("rejected", 0, order.updated_ms, record_of(order), order.reject_reason))
    of_user = subjects.of_user(subjects.ORDERS_REJECTED, order.user_id)
    # The server itself publishes the bare subject (contracts/streams.py).
    events = [OutgoingEvent(of_user, rejected, message_id, key=order.user_id)]
    if failure is not None:
        risk = RiskCheckFailed(
            order.order_id, order.user_id, order.symbol, failure.check.value, failure.reason, order.updated_ms
        )
        events.insert(0, OutgoingEvent(subjects.RISK_CHECK_FAILED, encode(risk), f"{message_id}-risk"))
    return events
