"""The durable consumer of `trades.executed`, shared by all ledger processes.

A trade is acknowledged after it is settled, so that it is settled also if every ledger process was down when it
was published, or was killed in the middle of it.
"""

import asyncio
from collections.abc import Awaitable, Callable

from openspot.contracts import subjects
from openspot.contracts.messages import ExecutedTrade
from openspot.contracts.streams import TRADES
from openspot.kit.bus import Bus
from openspot.kit.log import get_logger

DURABLE = "ledger-settlement"
BATCH_MAX = 1000
LANES = 2
"""Batches under way in one process: while one waits for the disk or the bus, the other is prepared."""
ACKNOWLEDGE_WAIT_S = 10.0
"""After this time without an acknowledgement another process gets the trade: its holder may have been killed."""
RESTART_PAUSE_S = 1.0

Settle = Callable[[list[ExecutedTrade]], Awaitable[None]]
"""Settles a batch of trades; what it raises brings the batch back later."""

log = get_logger("settlement")


class SettlementError(Exception):
    """Trades are not being settled at this moment."""


class TradeConsumer:
    """Hands batches of executed trades to `settle`."""

    def __init__(self, bus: Bus, settle: Settle) -> None:
        self._bus = bus
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
