"""The ledger's main process: requests and settlement (facts A1.1-04, B4.3-20)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from openspot.contracts.messages import ExecutedTrade
from openspot.ledger.consumer import Settle
from openspot.ledger.process import run_process
from openspot.ledger.settings import LedgerSettings
from openspot.ledger.settlement import Settlement


@asynccontextmanager
async def direct(settlement: Settlement) -> AsyncIterator[Settle]:
    """Settle a batch, then publish `trades.settled` for it, as the worker does."""

    async def settle(trades: list[ExecutedTrade]) -> None:
        await settlement.announce(trades, await settlement.settle(trades))

    yield settle


async def run(settings: LedgerSettings, stop: asyncio.Event) -> None:
    """Serve until `stop` is set."""
    await run_process(settings, stop, "ledger", settings.ledger_port, settings.ledger_host, direct)
