"""What every ledger process does: requests, settlement, the sweep of the outbox, health."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from openspot.http.server import serve_health
from openspot.kit.clock import system_clock
from openspot.kit.service_frame import ServiceFrame
from openspot.ledger.consumer import INTERVAL_S, Settle, trade_consumer
from openspot.ledger.handlers import RequestHandlers
from openspot.ledger.outbox import BalanceEvents
from openspot.ledger.settings import LedgerSettings
from openspot.ledger.settlement import Settlement
from openspot.ledger.store import LedgerStore
from openspot.ledger.transfers import TransferPosting, transfer_consumer

CONNECTIONS_MAX = 8
"""Two settlements, a batch of changes, a query of balances, two of history, publications and the sweep."""

Runner = Callable[[Settlement], AbstractAsyncContextManager[Settle]]
"""Gives the function that settles a batch: directly, or in a durable workflow."""


async def run_process(
    settings: LedgerSettings,
    stop: asyncio.Event,
    name: str,
    port: int,
    host: str,
    runner: Runner,
    *,
    interval_s: float = INTERVAL_S,
) -> None:
    """Run one ledger process until `stop` is set. It serves health on `host`:`port`; no `host` means OPENSPOT_HOST.

    Raises DatabaseUnavailableError, BusError or PortTakenError if it cannot start.
    """
    async with ServiceFrame(name, settings, stop) as frame:
        pool = await frame.connect_database(CONNECTIONS_MAX)
        bus = await frame.connect_bus()
        await bus.ensure_streams()
        store = LedgerStore(pool)
        events = BalanceEvents(bus, store, system_clock)
        frame.at_end(events.close)
        settlement = Settlement(store, events, bus, system_clock)
        await settlement.start()
        consumer = trade_consumer(bus, await frame.enter(runner(settlement)), interval_s)
        transfers = transfer_consumer(bus, TransferPosting(store, events))
        await serve_health(frame, port, "OpenSpot ledger", host)

        await RequestHandlers(store, events).serve(bus)
        frame.start("settlement", consumer.run(stop), finishes=True)
        frame.start("transfers", transfers.run(stop), finishes=True)
        frame.start("outbox", events.run(stop), finishes=True)
        await frame.until_stopped()
