"""Settlement of trades against a bare insert of the same six legs, and a backlog through a real ledger process.

    python -m benchmarks.ledger_settlement [--batches 40] [--backlog 100000] [--worker]

Comparison: batches of 10, 40 and 1,000 trades, in turns, on one durable PostgreSQL. The bare side is one
`INSERT … SELECT FROM unnest(…)` of the six legs of each trade into a table with the same columns, key and index
as `ledger_entries`, its arrays made before the clock starts; a second bare side writes the same rows with COPY.
The settlement side begins from decoded messages: checks, six legs and the house's two, who is settled already,
running balances, accounts. The traders have accounts, as after a first deposit or trade.

Backlog: the trades wait in the stream when the ledger starts; it settles them, publishes the balance events and
acknowledges. Its memory is sampled all the while.
"""

import argparse
import asyncio
import gc
import io
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import asyncpg
import psutil

from benchmarks.postgres_time import BackendTime
from openspot.contracts import subjects
from openspot.contracts.messages import ExecutedTrade, TradeFee, TradeFees
from openspot.domain.money import amount_to_text, scaled_to_text
from openspot.kit.bus import Bus, OutgoingEvent, encode
from openspot.kit.service import GARBAGE_THRESHOLD
from openspot.kit.settings import Settings
from openspot.ledger.settlement import check_batch
from openspot.ledger.store import LedgerStore
from openspot.migrations import upgrade
from openspot.up.embedded_nats import EmbeddedNats, free_port
from openspot.up.embedded_postgres import EmbeddedPostgres
from openspot.up.services import PlatformSettings
from tests.support.ledger_process import ChildProcess

BATCH = 1000
WARM_UP_BATCHES = 2
"""The first batches meet cold caches, on all sides, and are not counted."""
MARKET_MAKERS = 3
COLUMNS = (
    "transaction_id",
    "user_id",
    "asset",
    "amount",
    "balance",
    "entry_type",
    "reference_type",
    "reference_id",
)
BARE_INSERT = """
    INSERT INTO bare_entries (transaction_id, user_id, asset, amount, balance, entry_type, reference_type, reference_id)
    SELECT transaction_id, user_id, asset, amount::numeric, balance::numeric, entry_type, reference_type, reference_id
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
        AS leg (transaction_id, user_id, asset, amount, balance, entry_type, reference_type, reference_id)
"""

MAKE_ACCOUNTS = """
    INSERT INTO ledger_accounts (user_id, asset)
    SELECT user_id, asset FROM unnest(ARRAY['BTC', 'USD']) AS asset, (
        SELECT 'user' || number AS user_id FROM generate_series(0, $1::int - 1) AS number
        UNION ALL SELECT 'maker' || number FROM generate_series(0, $2::int - 1) AS number
    ) AS participant
    ON CONFLICT DO NOTHING
"""


def trades(count: int, users: int, run: str, seed: int = 1) -> Iterator[ExecutedTrade]:
    """Trades of BTC-USD: each between a user and, half of the time, one of a few market makers."""
    source = random.Random(seed)
    for number in range(1, count + 1):
        taker = f"user{source.randrange(users)}"
        maker = f"maker{source.randrange(MARKET_MAKERS)}" if source.random() < 0.5 else f"user{source.randrange(users)}"
        buyer, seller = (taker, maker) if source.random() < 0.5 else (maker, taker)
        price, quantity = source.randrange(6_000_000, 6_500_000), source.randrange(1, 10**8)
        notional = price * quantity * 10**8
        taker_fee, maker_fee = notional * 25 // 10_000, -notional * 2 // 10_000
        buyer_fee, seller_fee = (taker_fee, maker_fee) if buyer is taker else (maker_fee, taker_fee)
        yield ExecutedTrade(
            id=f"{run}-{3 * number}",
            symbol="BTC-USD",
            base_asset="BTC",
            quote_asset="USD",
            buyer_id=buyer,
            seller_id=seller,
            price=scaled_to_text(price, 100),
            quantity=scaled_to_text(quantity, 10**8),
            fees=TradeFees(
                TradeFee(buyer, amount_to_text(buyer_fee), "USD"), TradeFee(seller, amount_to_text(seller_fee), "USD")
            ),
            taker_side="buy" if buyer is taker else "sell",
            taker_order_id="takerOrder234567",
            maker_order_id="makerOrder234567",
            is_taker_completed=True,
            is_maker_completed=False,
            sequence=3 * number,
            timestamp=1_700_000_000_000 + number,
        )


class Cost(NamedTuple):
    """What one batch took: seconds on the clock, and of the processor here and in PostgreSQL."""

    wall: float
    python: float
    postgres: float

    @property
    def processor(self) -> float:
        """Both processors together."""
        return self.python + self.postgres


async def timed(work: Callable[[], Awaitable[object]], clock: BackendTime) -> Cost:
    """What `work` took."""
    wall, python, postgres = time.perf_counter(), time.process_time(), clock.seconds()
    await work()
    return Cost(time.perf_counter() - wall, time.process_time() - python, clock.seconds() - postgres)


async def compare(pool: asyncpg.Pool, users: int, size: int, batches: int) -> None:
    """Settle and write bare, batch by batch in turns, and print what a trade took."""
    clock = await BackendTime.of(pool)
    await pool.execute("DROP TABLE IF EXISTS bare_entries")
    await pool.execute("CREATE TABLE bare_entries (LIKE ledger_entries INCLUDING ALL)")
    await pool.execute(MAKE_ACCOUNTS, users, MARKET_MAKERS)
    await pool.execute("VACUUM ANALYZE ledger_accounts")
    store = LedgerStore(pool)
    costs: dict[str, list[Cost]] = {"insert": [], "copy": [], "settlement": []}
    everything = list(trades((WARM_UP_BATCHES + batches) * size, users, f"compare{users}-{size}"))
    for start in range(0, len(everything), size):
        batch = everything[start : start + size]
        legs = [leg for trade in check_batch(batch).entries.values() for leg in trade.postings]
        rows = [(leg.transaction_id, *leg.account, f"{leg.amount}e-18", "0", *leg[-3:]) for leg in legs]
        columns = [list(column) for column in zip(*rows, strict=True)]
        copied = "".join("\t".join((f"copy-{row[0]}", *row[1:])) + "\n" for row in rows).encode()

        async def insert(columns: list[list[str]] = columns) -> None:
            await pool.execute(BARE_INSERT, *columns)

        async def copy(copied: bytes = copied) -> None:
            await pool.copy_to_table("bare_entries", source=io.BytesIO(copied), columns=COLUMNS)

        async def settle(batch: list[ExecutedTrade] = batch) -> None:
            await store.post(list(check_batch(batch).entries.values()))

        sides: dict[str, Callable[[], Awaitable[object]]] = {"insert": insert, "copy": copy, "settlement": settle}
        for name in random.Random(start).sample(sorted(sides), len(sides)):
            costs[name].append(await timed(sides[name], clock))
    median = {
        name: Cost(*(1e6 / size * statistics.median(figures) for figures in zip(*taken[WARM_UP_BATCHES:], strict=True)))
        for name, taken in costs.items()
    }
    print(f"\n{users} users, {batches} batches of {size} trades, median batch: microseconds a trade")
    for name, title in (
        ("insert", "bare INSERT of six legs"), ("copy", "bare COPY of six legs"), ("settlement", "settlement"),
    ):  # fmt: skip
        cost = median[name]
        print(
            f"  {title:24} {cost.wall:7.0f} on the clock, processor {cost.processor:5.0f}"
            f" (Python {cost.python:4.0f}, PostgreSQL {cost.postgres:4.0f})"
        )
    settled = median["settlement"]
    for name in ("insert", "copy"):
        bare = median[name]
        print(
            f"  bare {name} / settlement    {bare.wall / settled.wall:.2f} by the clock,"
            f" {bare.processor / settled.processor:.2f} by processor time"
        )


async def backlog(settings: Settings, pool: asyncpg.Pool, folder: Path, count: int, services: list[str]) -> None:
    """Let the ledger settle `count` waiting trades; print its rate and its memory on the way."""
    bus = await Bus.connect(settings, "benchmark")
    await bus.ensure_streams()
    began = time.perf_counter()
    waiting: list[OutgoingEvent] = []
    for trade in trades(count, 10_000, "backlog"):
        waiting.append(OutgoingEvent(subjects.TRADES_EXECUTED, encode(trade), trade.id))
        if len(waiting) == BATCH:
            await bus.publish_many(waiting)
            waiting = []
    if waiting:
        await bus.publish_many(waiting)
    await bus.close()
    print(f"\nbacklog of {count} trades, published at {count / (time.perf_counter() - began):,.0f} a second")
    entries = await pool.fetchval(
        "SELECT count(*) FROM ledger_entries WHERE transaction_id LIKE 'backlog-%:buyer-quote'"
    )
    assert entries == 0
    first = await pool.fetchval("SELECT coalesce(max(entry_id), 0) FROM ledger_entries")
    processes = [ChildProcess(service, settings, folder) for service in services]
    began = time.perf_counter()
    await asyncio.gather(*(process.start() for process in processes))
    try:
        settled, shown = 0, 0
        while settled < count:
            await asyncio.sleep(0.1)
            settled = (await pool.fetchval("SELECT coalesce(max(entry_id), 0) FROM ledger_entries") - first) // 8
            if settled >= shown or settled >= count:
                memory = [f"{_memory(process) / 2**20:.0f} MiB" for process in processes]
                print(f"  {settled:>7} settled after {time.perf_counter() - began:>5.1f} s, memory {', '.join(memory)}")
                shown += count // 8
        seconds = time.perf_counter() - began
    finally:
        for process in processes:
            await process.kill()
    print(f"  {' + '.join(services)}: {count / seconds:,.0f} trades/s, start of the process and events included")
    marks = await pool.fetchval("SELECT count(*) FROM ledger_entries WHERE transaction_id LIKE 'backlog-%:buyer-quote'")
    sums = await pool.fetch("SELECT asset FROM ledger_accounts GROUP BY asset HAVING sum(available + locked) <> 0")
    print(f"  settled exactly once: {marks == count}; every asset sums to zero: {not sums}")


def _memory(process: ChildProcess) -> int:
    assert process.process is not None
    resident: int = psutil.Process(process.process.pid).memory_info().rss
    return resident


async def run(folder: Path, options: argparse.Namespace) -> None:
    """Both measurements on servers of their own."""
    nats_server = EmbeddedNats(folder / "nats", free_port())
    postgres = EmbeddedPostgres(folder / "postgres", durable=True)
    nats_server.start()
    postgres.start()
    try:
        upgrade(postgres.url())
        settings = PlatformSettings(
            database_url=postgres.url(),
            nats_url=nats_server.url,
            jwt_secret="benchmark-secret-of-thirty-two-bytes",
            data_dir=folder,
            ledger_port=free_port(),
            ledger_worker_port=free_port(),
        )
        gc.set_threshold(GARBAGE_THRESHOLD)
        async with asyncpg.create_pool(postgres.url(), min_size=1, max_size=1) as pool:
            # First as many trades as a busy platform settles at a time, then as many as after a pause.
            for users, size in ((1_000, 10), (1_000, 40), (1_000, BATCH), (50_000, BATCH)):
                await compare(pool, users, size, options.batches)
            if options.backlog:
                services = ["ledger", "ledger-worker"] if options.worker else ["ledger"]
                await backlog(settings, pool, folder, options.backlog, services)
    finally:
        postgres.stop()
        nats_server.stop()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", type=int, default=40, help=f"counted batches, after {WARM_UP_BATCHES} to warm up")
    parser.add_argument("--backlog", type=int, default=100_000, help="0 leaves it out")
    parser.add_argument("--worker", action="store_true", help="the workflow worker takes part in the backlog")
    options = parser.parse_args()
    if options.batches < 1 or options.backlog < 0:
        parser.error("--batches must be at least 1, and --backlog at least 0")
    folder = Path(tempfile.mkdtemp(prefix="openspot-benchmark-"))
    try:
        asyncio.run(run(folder, options))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
