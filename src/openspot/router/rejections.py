"""What an order leaves behind that never came into the engine's book nor its events: `orders.rejected` and a
row, after a pre-trade failure also `risk.check.failed` (Document A 1.3, 3.1).

Gathered in micro-batches by one worker of its own: a storm of bad orders costs a few calls. The caller waits
for the events to be published, within a bound, never for the row. Events and rows that fail are tried a few
times and then given up with a count: nothing of value hangs on them.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import asyncpg

from openspot.contracts import subjects
from openspot.contracts.messages import OrderEvent, RiskCheckFailed
from openspot.kit.bus import Bus, Outgoing, PublishError, encode
from openspot.kit.circuit_breaker import CircuitOpenError
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger
from openspot.router.metrics import REJECTIONS_DROPPED
from openspot.router.pre_trade import PreTradeFailure
from openspot.router.schemas import TrackedOrder, record_of
from openspot.router.store import Store

log = get_logger("rejections")

WAITING_MAX = 10_000
BATCH_MAX = 500
PUBLISH_WAIT_S = 1.0
ATTEMPTS = 3
ATTEMPT_PAUSE_S = 0.2

Item = TypeVar("Item")
_Waiting = tuple[TrackedOrder, list[Outgoing], asyncio.Future[None]]


class Rejections:
    """Publishes and stores refused orders. `run` does the work."""

    def __init__(self, bus: Bus, store: Store) -> None:
        self._bus = bus
        self._store = store
        self._waiting: asyncio.Queue[_Waiting] = asyncio.Queue(WAITING_MAX)
        self._rows: asyncio.Queue[TrackedOrder] = asyncio.Queue(WAITING_MAX)

    async def add(self, order: TrackedOrder, failure: PreTradeFailure | None) -> None:
        """Publish and store a refused order; answers once it is published, at the latest after a second.

        `failure` is None where the engine refused it.
        """
        published: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        try:
            self._waiting.put_nowait((order, _events_of(order, failure), published))
        except asyncio.QueueFull:
            REJECTIONS_DROPPED.labels("event").inc()
            return
        await asyncio.wait({published}, timeout=PUBLISH_WAIT_S)

    async def run(self) -> None:
        """Publish and store what is added until cancelled."""
        rows = asyncio.create_task(self._store_rows())
        try:
            while True:
                batch = await _gathered(self._waiting)
                events = [event for _, outgoing, _ in batch for event in outgoing]
                if not await _tried(lambda events=events: self._bus.publish_many(events)):  # type: ignore[misc]
                    REJECTIONS_DROPPED.labels("event").inc(len(batch))
                for order, _, published in batch:
                    if not published.done():
                        published.set_result(None)
                    if self._rows.full():
                        REJECTIONS_DROPPED.labels("row").inc()
                    else:
                        self._rows.put_nowait(order)
        finally:
            rows.cancel()
            await asyncio.gather(rows, return_exceptions=True)

    async def _store_rows(self) -> None:
        while True:
            orders = await _gathered(self._rows)
            if not await _tried(lambda orders=orders: self._store.insert_refused_orders(orders)):  # type: ignore[misc]
                REJECTIONS_DROPPED.labels("row").inc(len(orders))


async def _gathered(queue: asyncio.Queue[Item]) -> list[Item]:
    items = [await queue.get()]
    while len(items) < BATCH_MAX and not queue.empty():
        items.append(queue.get_nowait())
    return items


async def _tried(work: Callable[[], Awaitable[None]]) -> bool:
    """Whether `work` went through in one of a few attempts."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            await work()
        except (PublishError, CircuitOpenError, asyncpg.PostgresError, ValueError, *TRANSIENT_ERRORS) as error:
            log.warning("rejection not recorded yet", error=repr(error), attempt=attempt)
            await asyncio.sleep(ATTEMPT_PAUSE_S * attempt)
        else:
            return True
    return False


def _events_of(order: TrackedOrder, failure: PreTradeFailure | None) -> list[Outgoing]:
    # An order id is refused once: the ids of the events need no more than that.
    message_id = f"refused-{order.user_id}-{order.order_id}"
    rejected = encode(OrderEvent("rejected", 0, order.updated_ms, record_of(order), order.reject_reason))
    of_user = subjects.of_user(subjects.ORDERS_REJECTED, order.user_id)
    # The stream publishes the bare form itself (contracts/streams.py).
    events = [Outgoing(of_user, rejected, message_id)]
    if failure is not None:
        risk = RiskCheckFailed(
            order.order_id, order.user_id, order.symbol, failure.check.value, failure.reason, order.updated_ms
        )
        events.insert(0, Outgoing(subjects.RISK_CHECK_FAILED, encode(risk), f"{message_id}-risk"))
    return events
