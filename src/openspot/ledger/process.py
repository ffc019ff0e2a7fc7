"""What every ledger process does: requests, settlement, the sweep of the outbox, health."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack

from openspot.http.server import serve_health
from openspot.kit import database
from openspot.kit.bus import Bus
from openspot.kit.clock import Clock, system_clock
from openspot.kit.health import Health
from openspot.kit.log import get_logger
from openspot.kit.tasks import end_tasks
from openspot.ledger.consumer import INTERVAL_S, Settle, trade_consumer
from openspot.ledger.handlers import RequestHandlers
from openspot.ledger.outbox import BalanceEvents
from openspot.ledger.settings import LedgerSettings
from openspot.ledger.settlement import Settlement
from openspot.ledger.store import LedgerStore
from openspot.ledger.transfers import TransferPosting, transfer_consumer

CONNECTIONS_MAX = 8
"""Two settlements, a batch of changes, a query of balances, two of history, publications and the sweep."""
STOP_TIMEOUT_S = 5.0
"""At a stop, work under way gets this much time. Another process settles a batch that takes longer."""

Runner = Callable[[Settlement], AbstractAsyncContextManager[Settle]]
"""Gives the function that settles a batch: directly, or in a durable workflow."""

log = get_logger("ledger")


async def run_process(
    settings: LedgerSettings,
    stop: asyncio.Event,
    name: str,
    port: int,
    host: str,
    runner: Runner,
    *,
    interval_s: float = INTERVAL_S,
    clock: Clock = system_clock,
) -> None:
    """Run one ledger process until `stop` is set. It serves health on `host`:`port`; no `host` means OPENSPOT_HOST.

    Raises DatabaseUnavailableError, BusError or PortTakenError if it cannot start.
    """
    async with AsyncExitStack() as stack:
        pool = await database.create_pool(settings, connections_max=CONNECTIONS_MAX)
        stack.push_async_callback(_close, pool)
        bus = await Bus.connect(settings, name)
        stack.push_async_callback(bus.close)
        await bus.ensure_streams()
        store = LedgerStore(pool)
        events = BalanceEvents(bus, store, clock)
        stack.push_async_callback(events.close)
        settlement = Settlement(store, events, bus, clock)
        await settlement.start()
        consumer = trade_consumer(bus, await stack.enter_async_context(runner(settlement)), interval_s)
        transfers = transfer_consumer(bus, TransferPosting(store, events))

        health = Health()
        health.add("bus", bus.check, vital=True)
        health.add("database", lambda: database.check(pool), vital=True)
        health.add("settlement", consumer.check)
        health.add("transfers", transfers.check)
        server = await serve_health(health, settings, port, "OpenSpot ledger", host)
        stack.push_async_callback(server.stop)

        await RequestHandlers(store, events).serve(bus)
        tasks = [asyncio.create_task(task.run(stop)) for task in (consumer, transfers, events)]
        try:
            await stop.wait()
        finally:
            _, unfinished = await asyncio.wait(tasks, timeout=STOP_TIMEOUT_S)
            if unfinished:
                log.warning("stopped before the work under way had ended")
            await end_tasks(*tasks)


async def _close(pool: database.Pool) -> None:
    try:
        async with asyncio.timeout(STOP_TIMEOUT_S):
            await pool.close()
    except TimeoutError:
        pool.terminate()
