"""What services pay beside an order: for a use of their pool, and for a filled order that nobody wants to hear of.

    python -m benchmarks.beside_orders [--uses 3000] [--fills 3000] [--rounds 5]

A use of a pool is one short statement, with asyncpg's reset of the session after it and as the platform's pools do it.
Filled orders come in batches of as many as 20 ms
bring at 300 fills a second, and as many as 250 ms bring. Processor time of this process and of PostgreSQL's backend, so
that other work on the machine counts little; medians of rounds in turn.
"""

import argparse
import asyncio
import shutil
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import asyncpg
import uvloop

from benchmarks.local_requests import RECORD
from benchmarks.postgres_time import BackendTime
from openspot.contracts.messages import OrderEvent
from openspot.kit.bus import Bus
from openspot.kit.database import Pool, create_pool
from openspot.kit.settings import Settings
from openspot.migrations import upgrade
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.notifications.delivery import NotificationDelivery
from openspot.rest_edge.notifications.store import NotificationStore
from openspot.rest_edge.push.queue import PushQueue
from openspot.up.embedded_nats import EmbeddedNats, free_port
from openspot.up.embedded_postgres import EmbeddedPostgres

BATCHES = (6, 75)
Cost = tuple[float, float]
"""Microseconds of processor time: of this process, of the backend."""


async def cost(work: Callable[[], Awaitable[object]], times: int, things: int, clock: BackendTime) -> Cost:
    """What one of `things` costs if `work` is done so many times."""
    before = time.process_time(), clock.seconds()
    for _ in range(times):
        await work()
    used = time.process_time() - before[0], clock.seconds() - before[1]
    return 1e6 * used[0] / things, 1e6 * used[1] / things


async def measure(settings: Settings, options: argparse.Namespace) -> None:
    """Both comparisons, their sides in turn."""
    found: dict[str, list[Cost]] = {}
    async with (
        asyncpg.create_pool(settings.database_url, min_size=1, max_size=1) as resetting,
        await create_pool(settings, 1) as kept,
    ):
        pools: dict[str, Pool] = {"a use of a pool, session reset": resetting, "a use of a pool": kept}
        clocks = {name: await BackendTime.of(pool) for name, pool in pools.items()}
        bus = await Bus.connect(settings, "benchmark")
        delivery = NotificationDelivery(
            kept, bus, NotificationStore(kept, Outbox(kept, 1), PushQueue(kept, 1)), ["BTC", "USD"]
        )
        filled = OrderEvent("filled", 1, 1_767_225_600_000, RECORD)
        for _ in range(options.rounds):
            for name, pool in pools.items():

                async def use(pool: Pool = pool) -> None:
                    await pool.fetchval("SELECT 1")

                found.setdefault(name, []).append(await cost(use, options.uses, options.uses, clocks[name]))
            for size in BATCHES:

                async def take(size: int = size) -> None:
                    await delivery.take_fills([filled] * size)

                batches = options.fills // size
                costs = found.setdefault(f"a filled order in a batch of {size}", [])
                costs.append(await cost(take, batches, batches * size, clocks["a use of a pool"]))
        await bus.close()
    for name, costs in found.items():
        here, backend = (statistics.median(column) for column in zip(*costs, strict=True))
        print(f"{name:34} {here:6.1f} microseconds here, {backend:6.1f} in PostgreSQL")


def main() -> None:
    """Start servers, measure, stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--uses", type=int, default=3000)
    parser.add_argument("--fills", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="openspot-benchmark-"))
    server, postgres = EmbeddedNats(folder / "nats", free_port()), EmbeddedPostgres(folder / "postgres")
    try:
        server.start()
        postgres.start()
        upgrade(postgres.url())
        settings = Settings(nats_url=server.url, database_url=postgres.url())
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(measure(settings, options))
    finally:
        postgres.stop()
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
