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
INTERVAL_S = 0.1
"""Least time between two batches that are not full: a transaction costs the same for one trade as for a hundred."""
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

    def __init__(self, bus: Bus, settle: Settle, interval_s: float = INTERVAL_S) -> None:
        self._bus = bus
        self._interval_s = interval_s
        self._settle = settle
        self._consuming = False
        self._failure: str | None = None

    async def run(self, stop: asyncio.Event) -> None:
        """Consume until `stop` is set, beginning again after a fault."""
        while not stop.is_set():
            self._consuming = True
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
                self._consuming = False

    async def check(self) -> None:
        """Raise SettlementError if trades are not consumed, or the newest batch failed."""
        if not self._consuming:
            raise SettlementError("trades are not consumed")
        if self._failure is not None:
            raise SettlementError(f"the newest batch failed: {self._failure}")

    async def _take(self, trades: list[ExecutedTrade]) -> None:
        try:
            await self._settle(trades)
        except Exception as error:
            self._failure = repr(error)
            raise
        self._failure = None
