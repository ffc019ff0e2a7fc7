"""What REST edge, NATS and PostgreSQL pay beside a filled order that nobody wants to hear of.

    python -m benchmarks.beside_orders [--rounds 5] [--seconds 5]

`from the rows` is what an edge does: once a second it reads the trades of that second. `by a consumer` is what it did:
the bus delivers each filled order, and in batches of 250 ms the database is asked who wants to hear of them. There are
300 a second, each filled by a trade of its own. Processor time of this process and of NATS beyond what publishing alone
takes, and of PostgreSQL's backend, so that other work on the machine counts little; medians of rounds in turn.
"""

import argparse
import asyncio
import shutil
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import psutil
import uvloop

from benchmarks.local_requests import RECORD
from benchmarks.postgres_time import BackendTime
from openspot.contracts import subjects
from openspot.contracts.messages import OrderEvent
from openspot.contracts.streams import ORDERS
from openspot.kit.bus import Bus, Consumption, DurableConsumer, OutgoingEvent, encode
from openspot.kit.database import Pool, create_pool
from openspot.kit.settings import Settings
from openspot.kit.tasks import end_tasks
from openspot.migrations import upgrade
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.notifications.fill_store import FillStore
from openspot.rest_edge.notifications.fills import FillNotifier
from openspot.rest_edge.notifications.order_mails import OrderMails
from openspot.rest_edge.notifications.preferences import NotificationEvent
from openspot.rest_edge.notifications.store import NotificationStore
from openspot.rest_edge.push.queue import PushQueue
from openspot.up.embedded_nats import EmbeddedNats, free_port
from openspot.up.embedded_postgres import EmbeddedPostgres

FILLS_S = 300
INTERVAL_S = 0.02
USERS = 40
_CURSOR = """
    INSERT INTO engine_cursors (consumer, partition, partitions, epoch, sequence, is_current)
    VALUES ('router', 0, 1, 'e', $1, true) ON CONFLICT (consumer) DO UPDATE SET sequence = EXCLUDED.sequence
"""
_TRADES = """
    INSERT INTO trades (trade_id, sequence, symbol, price, quantity, taker_side, taker_order_id, maker_order_id,
        buyer_id, seller_id, taker_fee, maker_fee, fee_currency, executed_at)
    SELECT 'e-' || number, number, (ARRAY['BTC-USD', 'ETH-USD', 'SOL-USD'])[1 + number % 3], 1, 1, 'buy', 't' || number,
        'm' || number, 'u' || number % $3, 'v' || number % $3, 0, 0, 'USD', now() + number * interval '3 ms'
    FROM generate_series($1::bigint + 1, $2::bigint) AS number
"""


class Cost(NamedTuple):
    """Microseconds of processor time of a filled order."""

    here: float
    nats: float
    postgres: float


class Parts:
    """The parts of an edge, its servers' clocks, and what has been filled."""

    def __init__(self, bus: Bus, pool: Pool, writer: Pool, clock: BackendTime, nats: psutil.Process) -> None:
        self._bus = bus
        self._pool = pool
        self._writer = writer
        self._clock = clock
        self._nats = nats
        self._store = NotificationStore(pool, Outbox(pool, 1), PushQueue(pool, 1))
        self._notifier = FillNotifier(pool, self._store, FillStore(pool), OrderMails())
        self._filled = 0
        self._published = 0

    def _used(self) -> tuple[float, float, float]:
        threads = [Path(f"/proc/{self._nats.pid}/task/{thread.id}/schedstat") for thread in self._nats.threads()]
        nats_s = sum(int(path.read_text("ascii").split()[0]) for path in threads if path.exists()) / 1e9
        return time.process_time(), nats_s, self._clock.seconds()

    async def read_rows(self, seconds: int) -> Cost:
        """Read the trades of so many seconds from the rows, second by second."""
        total = [0.0, 0.0, 0.0]
        for _ in range(seconds):
            await self._writer.execute(_TRADES, self._filled, self._filled + FILLS_S, USERS)
            self._filled += FILLS_S
            await self._writer.execute(_CURSOR, self._filled)
            before = self._used()
            await self._notifier.tell()
            total = [sum(pair) for pair in zip(total, map(float.__sub__, self._used(), before), strict=True)]
        return Cost(*(1e6 * used / (seconds * FILLS_S) for used in total))

    async def publish(self, seconds: int) -> Cost:
        """Publish filled orders for so many seconds, as a translator does."""
        payload = encode(OrderEvent("filled", 1, 1_767_225_600_000, RECORD))
        batch = round(FILLS_S * INTERVAL_S)
        before, end = self._used(), time.monotonic() + seconds
        count = 0
        while (began := time.monotonic()) < end:
            users = [f"u{number % USERS}" for number in range(batch)]
            await self._bus.publish_many(
                [
                    OutgoingEvent(subjects.of_user(subjects.ORDERS_FILLED, user), payload, f"{self._published}-{place}")
                    for place, user in enumerate(users)
                ]
            )
            self._published += 1
            count += batch
            await asyncio.sleep(began + INTERVAL_S - time.monotonic())
        return Cost(*(1e6 * (after - start) / count for start, after in zip(before, self._used(), strict=True)))

    @asynccontextmanager
    async def consumer(self) -> AsyncIterator[None]:
        """A durable consumer that asks who wants to hear of filled orders."""

        async def take(events: list[OrderEvent]) -> None:
            await self._store.who_wants(NotificationEvent.ORDER_FILLED, [event.order.user_id for event in events])

        subject = f"{subjects.ORDERS_FILLED}.*"
        consumption = Consumption(ORDERS, subject, "benchmark", OrderEvent, batch_max=500, interval_s=0.25)
        consumer = DurableConsumer(self._bus, consumption, take)
        task = asyncio.create_task(consumer.run(asyncio.Event()))
        try:
            yield
        finally:
            await end_tasks(task)


async def measure(settings: Settings, nats: psutil.Process, options: argparse.Namespace) -> None:
    """Both ways in turn."""
    found: dict[str, list[Cost]] = {"from the rows": [], "by a consumer": []}
    async with await create_pool(settings, 1) as pool, await create_pool(settings, 1) as writer:
        bus = await Bus.connect(settings, "benchmark")
        await bus.ensure_streams()
        parts = Parts(bus, pool, writer, await BackendTime.of(pool), nats)
        await parts.read_rows(1)
        for _ in range(options.rounds):
            found["from the rows"].append(await parts.read_rows(options.seconds))
            alone = await parts.publish(options.seconds)
            async with parts.consumer():
                await parts.publish(1)
                together = await parts.publish(options.seconds)
            found["by a consumer"].append(Cost(*map(float.__sub__, together, alone)))
        await bus.close()
    for name, costs in found.items():
        here, server, backend = (statistics.median(column) for column in zip(*costs, strict=True))
        print(f"{name}: {here:5.1f} microseconds here, {server:5.1f} in NATS, {backend:5.1f} in PostgreSQL")


def main() -> None:
    """Start servers, measure, stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="openspot-benchmark-"))
    server, postgres = EmbeddedNats(folder / "nats", free_port()), EmbeddedPostgres(folder / "postgres")
    try:
        server.start()
        postgres.start()
        assert server.process is not None
        upgrade(postgres.url())
        settings = Settings(nats_url=server.url, database_url=postgres.url(), nats_synced=True)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(measure(settings, psutil.Process(server.process.pid), options))
    finally:
        postgres.stop()
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
