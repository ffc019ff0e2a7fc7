"""What the REST edge pays beside a filled order that nobody wants to hear of.

    python -m benchmarks.beside_orders [--fills 3000] [--rounds 5]

Filled orders come in batches of as many as 20 ms bring at 300 fills a second, and as many as 250 ms bring. Processor
time of this process and of PostgreSQL's backend, so that other work on the machine counts little; medians of rounds in
turn.
"""

import argparse
import asyncio
import shutil
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import uvloop

from benchmarks.local_requests import RECORD
from benchmarks.postgres_time import BackendTime
from openspot.contracts.messages import OrderEvent
from openspot.kit.bus import Bus
from openspot.kit.database import create_pool
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
    """The sizes of batches in turn."""
    found: dict[int, list[Cost]] = {}
    async with await create_pool(settings, 1) as pool:
        clock = await BackendTime.of(pool)
        bus = await Bus.connect(settings, "benchmark")
        delivery = NotificationDelivery(
            pool, bus, NotificationStore(pool, Outbox(pool, 1), PushQueue(pool, 1)), ["BTC", "USD"]
        )
        filled = OrderEvent("filled", 1, 1_767_225_600_000, RECORD)
        for _ in range(options.rounds):
            for size in BATCHES:

                async def take(size: int = size) -> None:
                    await delivery.take_fills([filled] * size)

                batches = options.fills // size
                found.setdefault(size, []).append(await cost(take, batches, batches * size, clock))
        await bus.close()
    for size, costs in found.items():
        here, backend = (statistics.median(column) for column in zip(*costs, strict=True))
        print(f"a filled order in a batch of {size:3} {here:6.1f} microseconds here, {backend:6.1f} in PostgreSQL")


def main() -> None:
    """Start servers, measure, stop."""
    parser = argparse.ArgumentParser(description=__doc__)
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
