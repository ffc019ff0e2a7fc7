"""The engine events that one process translates in a second of its processor time, and that two processes share.

    python -m benchmarks.translator [--commands 10000] [--rounds 3]

A stand-in for the engine sends the events of the shallow workload on two markets, which are in different partitions of
two; it filters them as the engine does. PostgreSQL and NATS are real and durable. In turns, one process translates
everything (one partition), and two processes translate a partition each. A process takes the bus's acknowledgements and
writes all rows, and its processor time (user and system) counts from the first event to the last row.
"""

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import aiohttp
import asyncpg
import msgspec
import psutil
from aiohttp import web

from benchmarks.engine_commands import engine_commands, first_commands
from openspot.contracts.engine_events import EngineEvent, Hello, StreamEntry, TradeEvent, symbol_of
from openspot.domain.partition import Partition
from openspot.engine.core.selection import make_core
from openspot.engine.state.state_machine import StateMachine
from openspot.engine.stream.event_render import EventRenderer
from openspot.engine.stream.partition_filter import PartitionFilter
from openspot.kit.bus import Bus
from openspot.kit.database import create_pool
from openspot.kit.settings import environment_of
from openspot.migrations import upgrade
from openspot.router.settings import RouterSettings
from openspot.router.store import RouterStore
from openspot.router.translation.translation import Translation
from openspot.up.embedded_nats import EmbeddedNats, free_port
from openspot.up.embedded_postgres import EmbeddedPostgres
from openspot.up.services import PlatformSettings

ARRAY = 256
SECOND_MARKET = "ETH-USD"
ORDER_ID_OFFSET = 10_000_000
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[StreamEntry]).decode


def groups(commands: int) -> Iterator[list[EngineEvent]]:
    """The events of each command, in turns on the one market and on the other."""
    machine = StateMachine(make_core("auto"), commands)
    renderer = EventRenderer(machine.directory, "")
    first, notes = first_commands()
    machine.register(first, notes)
    machine.apply(first, notes)
    for record, note in engine_commands(commands, seed=1):
        machine.register(record, [note])
        messages = renderer.messages(machine.apply(record, [note]).events)
        events: list[EngineEvent] = _decode(b"[" + b",".join(messages) + b"]")  # type: ignore[assignment]
        yield events
        yield [_on_second_market(event) for event in events]


def _on_second_market(event: EngineEvent) -> EngineEvent:
    changes: dict[str, str] = {"symbol": SECOND_MARKET}
    for name in ("engine_order_id", "taker_engine_order_id", "maker_engine_order_id"):
        if hasattr(event, name):
            changes[name] = str(int(getattr(event, name)) + ORDER_ID_OFFSET)
    for name in ("order_id", "taker_order_id", "maker_order_id"):
        if hasattr(event, name):
            changes[name] = f"second-{getattr(event, name)}"
    return msgspec.structs.replace(event, **changes)


class Source:
    """Serves `/ws/events` of an engine that has just made all of its events."""

    def __init__(self, events: Sequence[EngineEvent], epoch: str) -> None:
        self._epoch = epoch
        self._events = [self._numbered(event, number) for number, event in enumerate(events, 1)]
        self._symbols = [symbol_of(event) for event in self._events]
        self._messages = [_encode(event) for event in self._events]
        self.begun = asyncio.Event()

    def _numbered(self, event: EngineEvent, number: int) -> EngineEvent:
        changes: dict[str, object] = {"seq": number}
        if isinstance(event, TradeEvent):
            changes["trade_id"] = f"{self._epoch}-{number}"
        return msgspec.structs.replace(event, **changes)

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Send a hello, and the events once `begun` is set."""
        socket = web.WebSocketResponse(compress=False)
        await socket.prepare(request)
        count = int(request.query.get("partitions", "1"))
        selection = PartitionFilter(Partition(int(request.query.get("partition", "0")), count), time.monotonic)
        await socket.send_bytes(_encode([Hello(self._epoch, 1, len(self._messages))]))
        await self.begun.wait()
        # A process that gave its partition up has closed its connection meanwhile.
        with suppress(ConnectionResetError):
            for at in range(int(request.query["fromSeq"]) - 1, len(self._messages), ARRAY):
                parts = self._messages[at : at + ARRAY]
                sent = selection.select(at + 1, self._symbols[at : at + ARRAY], parts)
                if sent:
                    await socket.send_bytes(b"[" + b",".join(sent) + b"]")
            if rest := selection.rest():
                await socket.send_bytes(b"[" + b",".join(rest) + b"]")
        await socket.receive()
        return socket


async def translate() -> None:
    """What a measured process does: it translates until it is killed."""
    settings = RouterSettings()
    bus = await Bus.connect(settings, "benchmark")
    await bus.ensure_streams()
    async with aiohttp.ClientSession() as session:
        store = RouterStore(await create_pool(settings))
        translation = Translation(
            settings=settings, bus=bus, store=store, session=session, engine_url=settings.engine_url
        )
        await translation.prepare()
        await translation.run()


async def measured(settings: PlatformSettings, events: Sequence[EngineEvent], epoch: str, count: int) -> list[float]:
    """Processor time of each of `count` processes that translate the events, a partition each."""
    await _empty(settings)
    source = Source(events, epoch)
    application = web.Application()
    application.router.add_get("/ws/events", source.serve)
    runner = web.AppRunner(application)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    given = settings.model_copy(update={"translator_partitions": count, "given_engine_url": f"http://127.0.0.1:{port}"})
    environment = os.environ | environment_of(given)
    command = [sys.executable, "-m", "benchmarks.translator", "--translate"]
    children = [_started(command, environment) for _ in range(count)]
    processes = [psutil.Process(child.pid) for child in children]
    try:
        while [_streams(process, port) for process in processes] != [1] * count:
            await asyncio.sleep(0.2)
        before = [_seconds(process) for process in processes]
        source.begun.set()
        await _written(settings, len(events))
        return [_seconds(process) - begun for process, begun in zip(processes, before, strict=True)]
    finally:
        for child in children:
            child.kill()
            child.wait()
        await runner.cleanup()


def _started(command: Sequence[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _streams(process: psutil.Process, port: int) -> int:
    return sum(1 for each in process.net_connections() if each.raddr and each.raddr.port == port)


def _seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


async def _empty(settings: PlatformSettings) -> None:
    connection = await asyncpg.connect(settings.database_url)
    await connection.execute("TRUNCATE orders, trades, engine_cursors, router_held_events CASCADE")
    await connection.close()


async def _written(settings: PlatformSettings, last: int) -> None:
    connection = await asyncpg.connect(settings.database_url)
    try:
        while await connection.fetchval("SELECT min(sequence) FROM engine_cursors WHERE is_current") != last:
            await asyncio.sleep(0.1)
    finally:
        await connection.close()


async def compare(settings: PlatformSettings, commands: int, rounds: int) -> None:
    """Measure both sides in turns, and print each round and the medians."""
    events = [event for group in groups(commands) for event in group]
    print(f"{len(events):,} events on two markets")
    alone: list[float] = []
    busier: list[float] = []
    together: list[float] = []
    for number in range(rounds):
        (one,) = await measured(settings, events, f"one-{number}", 1)
        two = await measured(settings, events, f"two-{number}", 2)
        alone.append(len(events) / one)
        busier.append(len(events) / max(two))
        together.append(len(events) / sum(two))
        print(f"round {number + 1}: one process {one:.2f} s; two processes {two[0]:.2f} and {two[1]:.2f} s", flush=True)
    middle = rounds // 2
    print(f"one process                           {sorted(alone)[middle]:>8,.0f} events a second of its processor time")
    print(f"two processes, by the busier          {sorted(busier)[middle]:>8,.0f}")
    print(f"two processes, by their sum           {sorted(together)[middle]:>8,.0f}")


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commands", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--translate", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.translate:
        asyncio.run(translate())
        return
    folder = Path(tempfile.mkdtemp(prefix="openspot-translator-"))
    database, nats = EmbeddedPostgres(folder / "postgres"), EmbeddedNats(folder / "nats", free_port())
    try:
        database.start()
        nats.start()
        upgrade(database.url())
        settings = PlatformSettings(database_url=database.url(), nats_url=nats.url, data_dir=folder)
        asyncio.run(compare(settings, arguments.commands, arguments.rounds))
    finally:
        nats.stop()
        database.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
