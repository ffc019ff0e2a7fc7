"""The durable consumer of `trades.executed`, shared by all ledger processes.

A trade is acknowledged after it is settled, so that it is settled also if every ledger process was down when it
was published, or was killed in the middle of it.
"""

import asyncio
from collections.abc import Awaitable, Callable

import nats
import nats.errors
import nats.js.errors
from nats.js.api import AckPolicy, ConsumerConfig

from openspot.contracts import subjects
from openspot.contracts.messages import ExecutedTrade
from openspot.contracts.streams import TRADES
from openspot.kit.bus import Bus, BusUnavailableError
from openspot.kit.log import get_logger
from openspot.kit.settings import Settings

DURABLE = "ledger-settlement"
DELIVERY_SUBJECT = f"deliver.{DURABLE}"
BATCH_MAX = 1000
LANES = 1
"""Batches under way in one process: while one waits for the disk or the bus, the other is prepared."""
INTERVAL_S = 0.05
"""Least time between two batches that are not full: a transaction costs the same for one trade as for fifty."""
ACKNOWLEDGE_WAIT_S = 10.0
"""After this time without an acknowledgement another process gets the trade: its holder may have been killed."""
UNACKNOWLEDGED_MAX = 4 * BATCH_MAX
"""Trades handed out to all processes together: it bounds what waits in each."""
RESTART_PAUSE_S = 1.0

Settle = Callable[[list[ExecutedTrade]], Awaitable[None]]
"""Settles a batch of trades; what it raises brings the batch back later."""

log = get_logger("settlement")


class SettlementError(Exception):
    """Trades are not being settled at this moment."""


async def ensure_consumer(settings: Settings) -> None:
    """Make the durable consumer, or leave it as it is. Raises BusUnavailableError.

    It delivers to a subject of its own name. Otherwise the process that consumes first makes it deliver to an inbox
    of its own, and of two processes that begin at the same moment, one listens to an inbox that gets nothing.
    """
    config = ConsumerConfig(
        durable_name=DURABLE,
        deliver_group=DURABLE,
        deliver_subject=DELIVERY_SUBJECT,
        filter_subject=subjects.TRADES_EXECUTED,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=ACKNOWLEDGE_WAIT_S,
        max_deliver=-1,
        max_ack_pending=UNACKNOWLEDGED_MAX,
    )
    try:
        client = await nats.connect(
            settings.nats_url or f"nats://127.0.0.1:{settings.nats_port}", connect_timeout=2, allow_reconnect=False
        )
        try:
            await client.jetstream(timeout=settings.request_timeout_s).add_consumer(TRADES.name, config)
        finally:
            await client.close()
    except (OSError, nats.errors.Error, nats.js.errors.Error, TimeoutError) as error:
        raise BusUnavailableError(f"the consumer {DURABLE} cannot be made: {error!r}") from error


class TradeConsumer:
    """Hands batches of executed trades to `settle`."""

    def __init__(self, bus: Bus, settle: Settle, interval_s: float = INTERVAL_S) -> None:
        self._bus = bus
        self._interval_s = interval_s
        self._settle = settle
        self._consuming = 0
        self._failure: str | None = None

    async def run(self, stop: asyncio.Event) -> None:
        """Consume until `stop` is set, beginning again after a fault."""
        await asyncio.gather(*(self._run_lane(stop) for _ in range(LANES)))

    async def check(self) -> None:
        """Raise SettlementError if trades are not consumed, or the newest batch failed."""
        if self._consuming == 0:
            raise SettlementError("trades are not consumed")
        if self._failure is not None:
            raise SettlementError(f"the newest batch failed: {self._failure}")

    async def _run_lane(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            self._consuming += 1
            try:
                await self._bus.consume(
                    TRADES,
                    subjects.TRADES_EXECUTED,
                    DURABLE,
                    ExecutedTrade,
                    self._take,
                    batch_max=BATCH_MAX,
                    stop=stop,
                    acknowledge_wait_s=ACKNOWLEDGE_WAIT_S,
                    interval_s=self._interval_s,
                )
            except Exception as error:
                log.warning("trades are not consumed, trying again", error=repr(error))
                await asyncio.sleep(RESTART_PAUSE_S)
            finally:
                self._consuming -= 1

    async def _take(self, trades: list[ExecutedTrade]) -> None:
        try:
            await self._settle(trades)
        except Exception as error:
            self._failure = repr(error)
            raise
        self._failure = None
