"""Trades in atomic batches against trades one by one, on two embedded NATS servers in turn.

    .venv/bin/python -m benchmarks.bus_batches [--orders 35] [--seconds 3] [--rounds 6]

Every 20 ms the events of so many orders are published, three of four with a trade, as the translator publishes them;
three connections follow them. One server's stream of trades takes batches, the other's takes none. Printed are the
processor time of each server for an order, the time of the publishing process, and how long a batch takes until all of
it is acknowledged.
"""

import argparse
import asyncio
import shutil
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import uvloop
from nats.js.api import StreamConfig

from openspot.contracts import subjects
from openspot.contracts.streams import TRADES
from openspot.kit.bus import Bus, OutgoingEvent
from openspot.up.embedded_nats import EmbeddedNats, free_port
from openspot.up.services import PlatformSettings

INTERVAL_S = 0.02
FOLLOWERS = 3
PAYLOAD = b"x" * 600


@dataclass(slots=True)
class Side:
    """One server with its connections, and what its rounds have shown: microseconds an order, and seconds."""

    name: str
    nats: EmbeddedNats
    bus: Bus
    others: list[Bus]
    server_us: list[float] = field(default_factory=list)
    client_us: list[float] = field(default_factory=list)
    batch_s: list[float] = field(default_factory=list)

    def used_s(self) -> float:
        """Seconds of processor time that the server has used so far, to the nanosecond. Runs on Linux."""
        assert self.nats.process is not None
        threads = psutil.Process(self.nats.process.pid).threads()
        paths = [Path(f"/proc/{self.nats.process.pid}/task/{thread.id}/schedstat") for thread in threads]
        return sum(int(path.read_text("ascii").split()[0]) for path in paths if path.exists()) / 1e9


def events_of(orders: int, run: str) -> list[OutgoingEvent]:
    """The events of so many orders, three of four with a trade that fills two orders."""
    events = []
    for number in range(orders):
        user, order = f"user{number % 4}", f"{run}-{number}"
        created = subjects.of_user(subjects.ORDERS_CREATED, user)
        events.append(OutgoingEvent(created, PAYLOAD, f"{order}-created", key=user))
        if number % 4 == 0:
            continue
        events.append(OutgoingEvent(subjects.TRADES_EXECUTED, PAYLOAD, f"{order}-trade"))
        of_symbol, filled = f"{subjects.TRADES_EXECUTED}.BTC-USD", subjects.of_user(subjects.ORDERS_FILLED, user)
        for role in ("taker", "maker"):
            events.append(OutgoingEvent(of_symbol, PAYLOAD, f"{order}-trade-{role}"))
            events.append(OutgoingEvent(filled, PAYLOAD, f"{order}-{role}", key=user))
    return events


async def open_side(folder: Path, name: str, *, takes_batches: bool) -> Side:
    """Start a server with the platform's streams, and connect."""
    nats = EmbeddedNats(folder / name, free_port())
    nats.start()
    settings = PlatformSettings(nats_url=nats.url, data_dir=folder, nats_synced=True)
    bus = await Bus.connect(settings, "benchmark")
    await bus.ensure_streams()
    if not takes_batches:
        await bus.connection.jetstream.delete_stream(TRADES.name)
        await bus.connection.jetstream.add_stream(StreamConfig(name=TRADES.name, subjects=list(TRADES.subjects)))
    others = [await Bus.connect(settings, f"follower{number}") for number in range(FOLLOWERS)]
    for other in others:
        await other.listen(subjects.TRADES_EXECUTED, lambda subject, payload: None)
    await others[0].listen("orders.*.>", lambda subject, payload: None)
    return Side(name, nats, bus, others)


async def measure(side: Side, orders: int, seconds: float, run: str) -> None:
    """Publish for so many seconds."""
    before, client, began, batches = side.used_s(), time.process_time(), time.monotonic(), 0
    while time.monotonic() < began + seconds:
        published = time.monotonic()
        await side.bus.publish_many(events_of(orders, f"{run}-{batches}"))
        batches += 1
        side.batch_s.append(time.monotonic() - published)
        await asyncio.sleep(published + INTERVAL_S - time.monotonic())
    side.server_us.append(1e6 * (side.used_s() - before) / (orders * batches))
    side.client_us.append(1e6 * (time.process_time() - client) / (orders * batches))


async def compare(folder: Path, options: argparse.Namespace) -> None:
    """Measure both sides in turn and print them."""
    sides = [
        await open_side(folder, "singly", takes_batches=False),
        await open_side(folder, "batch", takes_batches=True),
    ]
    for number in range(options.rounds):
        for side in sides if number % 2 else reversed(sides):
            await measure(side, options.orders, options.seconds, str(number))
    for side in sides:
        server_us, batch_ms = statistics.median(side.server_us), 1000 * statistics.median(side.batch_s)
        print(
            f"{side.name:8} NATS {min(side.server_us):5.0f} µs an order (median {server_us:.0f})   publisher "
            f"{min(side.client_us):5.0f} µs   a batch of {options.orders} orders takes {batch_ms:.1f} ms"
        )
        for bus in (side.bus, *side.others):
            await bus.close()
        side.nats.stop()


def main() -> None:
    """Start both servers, measure, stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, default=35, help="orders in a batch: 35 are 1,750 a second")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=6)
    folder = Path(tempfile.mkdtemp(prefix="openspot-benchmark-"))
    try:
        uvloop.run(compare(folder, parser.parse_args()))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
