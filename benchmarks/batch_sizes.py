"""What an order costs behind the engine's answer, by the size of the batches.

    .venv/bin/python -m benchmarks.batch_sizes [--orders 1200] [--rounds 5]

Three stages, each on a bus and a database of its own: the translator's events with the position, its rows, and the
ledger's settlement with its balance events. Their batches have the sizes that 300 orders a second make, half of them
with a trade: at the least intervals, and at four times as long ones (docs/adr/0046). The sizes take turns. Printed is
the processor time of an order, user and system, of this process and of both servers: the least of the rounds, because
other work of the machine can only add to it.
"""

import argparse
import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import asyncpg
import psutil

from openspot.contracts.engine_events import AcceptedEvent, EngineEvent, TradeEvent
from openspot.contracts.messages import ExecutedTrade
from openspot.domain.partition import WHOLE
from openspot.engine_client.position import StreamPosition
from openspot.kit.bus import Bus, OutgoingEvent, encode
from openspot.kit.clock import system_clock
from openspot.ledger.outbox import BalanceEvents
from openspot.ledger.settlement import Settlement
from openspot.ledger.store import LedgerStore
from openspot.migrations import upgrade
from openspot.router.store import RouterStore, RowBatch
from openspot.router.translation.lease import POSITION_BUCKET, PublishedPosition
from openspot.router.translation.order_state_machine import OrderStateMachine
from openspot.up.embedded_nats import EmbeddedNats, free_port
from openspot.up.embedded_postgres import EmbeddedPostgres
from openspot.up.services import PlatformSettings

SIZES = {"events": (6, 24), "rows": (15, 60), "settlement": (15, 60)}
"""Orders in a batch. The ledger's two processes share the trades, so 15 orders are about four trades for each."""
USERS = 40
BEGIN_MS = 1_700_000_000_000


class Servers(NamedTuple):
    """What the stages work on."""

    bus: Bus
    pool: asyncpg.Pool
    processes: dict[str, list[psutil.Process]]

    def used(self) -> dict[str, float]:
        """Seconds of processor time so far, by process."""
        return {
            name: sum(sum(process.cpu_times()[:2]) for process in processes)
            for name, processes in self.processes.items()
        }


def events_of(orders: int, first: int) -> Iterator[list[EngineEvent]]:
    """The events of each order. Every second one fills the one before it."""
    for number in range(first, first + orders):
        sequence = 2 * number
        takes = number % 2 == 0
        accepted = AcceptedEvent(
            seq=sequence - 1,
            timestamp=BEGIN_MS + sequence,
            symbol="BTC-USD",
            engine_order_id=str(number),
            order_id=f"order{number:011}",
            participant_id=f"user{number % USERS}",
            side="sell" if takes else "buy",
            order_type="GTC",
            price="50000",
            quantity="0.005",
            metadata='{"type":"limit","timeInForce":"gtc"}',
        )
        yield [accepted, _trade(number, sequence)] if takes else [accepted]


def _trade(number: int, sequence: int) -> TradeEvent:
    notional = Decimal(250)
    return TradeEvent(
        seq=sequence,
        timestamp=BEGIN_MS + sequence,
        symbol="BTC-USD",
        trade_id=str(sequence),
        taker_engine_order_id=str(number),
        maker_engine_order_id=str(number - 1),
        taker_order_id=f"order{number:011}",
        maker_order_id=f"order{number - 1:011}",
        taker_participant_id=f"user{number % USERS}",
        maker_participant_id=f"user{(number - 1) % USERS}",
        taker_side="sell",
        price="50000",
        quantity="0.005",
        is_taker_completed=True,
        is_maker_completed=True,
        taker_remaining="0",
        maker_remaining="0",
        taker_fee_amount=str(notional * 25 / 10_000),
        taker_fee_bps=25,
        maker_fee_amount=str(notional * 15 / 10_000),
        maker_fee_bps=15,
        maker_is_rebate=False,
        fee_currency="USD",
    )


class Work:
    """The three stages. Each call does all its work in batches of `size` orders."""

    def __init__(self, servers: Servers, orders: int) -> None:
        self._servers = servers
        self._orders = orders
        self._next = 1
        self._position = PublishedPosition(servers.bus.key_value(POSITION_BUCKET, StreamPosition), WHOLE)
        store = LedgerStore(servers.pool)
        self._settlement = Settlement(store, BalanceEvents(servers.bus, store, system_clock), servers.bus, system_clock)
        self._store = RouterStore(servers.pool)
        self._written: StreamPosition | None = None

    def _batches(self, size: int) -> Iterator[list[EngineEvent]]:
        """The events of new orders, in batches."""
        events = list(events_of(self._orders, self._next))
        self._next += self._orders
        for begin in range(0, len(events), size):
            yield [event for of_order in events[begin : begin + size] for event in of_order]

    async def events(self, size: int) -> Callable[[], Awaitable[None]]:
        """Translate, publish, and save the position."""
        batches, machine = list(self._batches(size)), OrderStateMachine("epoch", [])
        await self._position.load()

        async def work() -> None:
            for batch in batches:
                outgoing = []
                for event in batch:
                    for message_targets, message in machine.apply(event).publications:
                        subject, message_id = message_targets[-1]
                        outgoing.append(OutgoingEvent(subject, encode(message), message_id))
                await self._servers.bus.publish_many(outgoing)
                await self._position.save(StreamPosition("epoch", batch[-1].seq))

        return work

    async def rows(self, size: int) -> Callable[[], Awaitable[None]]:
        """Write the rows of orders and trades, with the cursor."""
        await self._store.division.begin(WHOLE.total)
        machine, batches = OrderStateMachine("epoch", []), []
        for batch in self._batches(size):
            translated = [machine.apply(event) for event in batch]
            orders = {order.order_id: order for each in translated for order in each.orders}
            trades = [row for each in translated for row in each.trades]
            batches.append(RowBatch(list(orders.values()), trades, (), StreamPosition("epoch", batch[-1].seq)))

        async def work() -> None:
            for batch in batches:
                await self._store.write(self._written, batch)
                self._written = batch.position

        return work

    async def settlement(self, size: int) -> Callable[[], Awaitable[None]]:
        """Settle the trades of the orders, shared by two processes, and publish the balances."""
        machine, batches = OrderStateMachine("epoch", []), []
        for batch in self._batches(size):
            messages = [each.message for event in batch for each in machine.apply(event).publications]
            trades = [message for message in messages if isinstance(message, ExecutedTrade)]
            batches += [trades[: len(trades) // 2], trades[len(trades) // 2 :]]

        async def work() -> None:
            for trades in batches:
                await self._settlement.settle(trades)

        return work


async def measure(servers: Servers, orders: int, rounds: int) -> None:
    """Run each stage with its sizes in turns, and print what an order took."""
    work = Work(servers, orders)
    for stage, sizes in SIZES.items():
        prepare = getattr(work, stage)
        least: dict[int, dict[str, float]] = {size: {} for size in sizes}
        for number in range(rounds):
            for size in sizes if number % 2 else reversed(sizes):
                run = await prepare(size)
                before = servers.used()
                await run()
                for name, used in servers.used().items():
                    taken = (used - before[name]) / orders * 1e6
                    least[size][name] = min(taken, least[size].get(name, taken))
        for size, costs in least.items():
            parts = "  ".join(f"{name} {value:5.0f}" for name, value in costs.items())
            total = sum(costs.values())
            print(f"{stage:11} batches of {size:3} orders: {total:5.0f} µs an order   {parts}", flush=True)


async def run(folder: Path, orders: int, rounds: int) -> None:
    """Start both servers, measure, stop."""
    nats_server, postgres = (
        EmbeddedNats(folder / "nats", free_port()),
        EmbeddedPostgres(folder / "postgres", durable=True),
    )
    nats_server.start()
    try:
        postgres.start()
        upgrade(postgres.url())
        settings = PlatformSettings(database_url=postgres.url(), nats_url=nats_server.url)
        bus = await Bus.connect(settings, "benchmark")
        await bus.ensure_streams()
        this = psutil.Process()
        # One connection, so that one process of the database does all the work, and is there from the beginning.
        async with asyncpg.create_pool(postgres.url(), min_size=1, max_size=1) as pool:
            backend = psutil.Process(await pool.fetchval("SELECT pg_backend_pid()"))
            nats_processes = [each for each in this.children() if "nats" in each.name()]
            processes = {"this process": [this], "NATS": nats_processes, "PostgreSQL": [backend]}
            await measure(Servers(bus, pool, processes), orders, rounds)
        await bus.close()
    finally:
        postgres.stop()
        nats_server.stop()


def main() -> None:
    """Measure in a folder that is removed afterwards."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--orders", type=int, default=1200)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="openspot-benchmark-"))
    try:
        asyncio.run(run(folder, options.orders, options.rounds))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
