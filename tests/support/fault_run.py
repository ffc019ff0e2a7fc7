"""A platform that is broken on purpose, the order flow on it, and the checks of what must hold afterwards.

The tests share how long they break it, how to kill a part, how to know that it has healed, and how to judge the
result. The judgement uses what the clients were told, the engine's events and the tables, never durations.
"""

import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import psutil
import pytest

from openspot.contracts.engine_events import BalanceEvent
from openspot.kit.description import Process
from openspot.kit.settings import Settings
from openspot.reconcile.store import EngineReader
from openspot.up.child_platform import ChildPlatform
from openspot.up.launch import ProgramLauncher
from openspot.up.services import SERVICES, enabled
from openspot.up.supervisor import Child, child_settings, is_ready
from tests.support.order_flow import OrderFlow, Replies
from tests.support.waiting import eventually, stretched

SECONDS = float(os.environ.get("OPENSPOT_FAULT_SECONDS", "5"))
"""How long parts are killed at random, after each was killed once."""
OUTAGE_S = float(os.environ.get("OPENSPOT_FAULT_OUTAGE_SECONDS", "5"))
"""How long a dependency is away."""
SEED = int(os.environ.get("OPENSPOT_FAULT_SEED", "0")) or int(time.time())
USERS = 6
HEALED_S_MAX = 120.0
SETTLED_S_MAX = stretched(120)
FLOW_END_S_MAX = stretched(60)
METRIC_TIMEOUT_S = stretched(2)
TIMEOUT_S = stretched(2 * HEALED_S_MAX) + SETTLED_S_MAX + FLOW_END_S_MAX
"""The time limit of a test, without the time in which it breaks things."""
LEDGER_PROCESSES = ("ledger", "ledger-worker")
SETTLED_SEQUENCE = "openspot_ledger_settled_sequence"

# No process may log these, whatever happens to the others.
FORBIDDEN = ("ended by a fault", "engine event contradicts", "order row dropped", "trade row dropped",
             "trade rejected", "custody event failed")  # fmt: skip


class Beside:
    """A further process of one of the services, kept alive like those of `openspot up`, on a port of its own."""

    def __init__(self, platform: ChildPlatform, service: Process, port: int) -> None:
        self.settings = platform.settings.model_copy(update={service.listeners[0].setting: port})
        self.port = port
        given = child_settings(service.name, self.settings, platform.state.bus_urls)
        self.child = Child({service.name: given}, platform.log_path, ProgramLauncher())


@dataclass
class Run:
    """A platform, processes beside it, the flow, and what was killed. Made with `running`."""

    platform: ChildPlatform
    flow: OrderFlow
    beside: dict[str, Beside] = field(default_factory=dict)
    killed: Counter[str] = field(default_factory=Counter)

    @property
    def settings(self) -> Settings:
        """Addresses and secrets of the platform."""
        return self.platform.settings

    @property
    def chance(self) -> random.Random:
        """A new random generator with the run's seed at each access."""
        return random.Random(SEED)

    @asynccontextmanager
    async def flowing(self) -> AsyncIterator[None]:
        """Run orders, cancels and deposits during the context. Raises the flow's error."""
        stop = asyncio.Event()
        flow = asyncio.create_task(self.flow.run(stop))
        try:
            await self.takes_orders()
            yield
        finally:
            stop.set()
            async with asyncio.timeout(FLOW_END_S_MAX):
                await flow

    # Breaking

    def pid(self, name: str) -> int:
        """Process id of a part. Raises KeyError while the part does not run."""
        beside = self.beside.get(name)
        pid = self.platform.pid(name) if beside is None else beside.child.pid
        if pid is None:
            raise KeyError(name)
        return pid

    def kill(self, *names: str) -> None:
        """Kill -9 those that run now, as nearly at once as possible."""
        for name in names:
            try:
                psutil.Process(self.pid(name)).kill()
            except (KeyError, psutil.NoSuchProcess):
                continue
            self.killed[name] += 1

    async def kill_and_heal(self, *names: str) -> float:
        """Kill -9, and wait until all services are ready and take orders. Returns how many seconds that took."""
        old = {name: self.pid(name) for name in names}
        began = time.monotonic()
        self.kill(*names)

        def started_again() -> bool:
            try:
                return all(self.pid(name) != pid for name, pid in old.items())
            except KeyError:
                return False

        await eventually(started_again, HEALED_S_MAX, 0.05)
        await self.healed()
        await self.takes_orders()
        return self.note(f"killed {', '.join(names)}: ready and taking orders", began)

    @contextmanager
    def away(self, name: str) -> Iterator[None]:
        """Kill -9 a server of `openspot up`. Its supervisor is suspended meanwhile, so nobody starts it again."""
        supervisor = psutil.Process(self.platform.state.supervisor_pid)
        supervisor.suspend()
        try:
            self.kill(name)
            yield
        finally:
            supervisor.resume()

    # Waiting

    async def healed(self) -> None:
        """Wait until every service is ready."""
        ports = [self._port(name) for name in (*enabled(self.settings), *self.beside)]

        async def ready() -> bool:
            return all(await asyncio.gather(*(is_ready(self.settings.host, port, stretched(3)) for port in ports)))

        await eventually(ready, HEALED_S_MAX, 0.1)

    async def takes_orders(self, number: int = 5) -> None:
        """Wait until `number` more orders are accepted with 201, while the flow runs."""
        accepted = len(self.flow.replies.accepted)
        await eventually(lambda: len(self.flow.replies.accepted) >= accepted + number, HEALED_S_MAX, 0.05)

    async def settles_trades(self) -> None:
        """Wait until a trade made after this call is settled, while the flow runs."""
        async with EngineReader(self.settings) as engine:
            now = (await engine.position()).last_seq

        async def settled() -> bool:
            return any([await self.metric(name, SETTLED_SEQUENCE) > now for name in LEDGER_PROCESSES])

        await eventually(settled, HEALED_S_MAX, 0.1)

    async def metric(self, name: str, metric: str) -> float:
        """A metric of a process, summed over its labels. 0 if the process does not reply or lacks the metric."""
        return await _metric(self.settings.host, self._port(name), metric)

    def _port(self, name: str) -> int:
        beside = self.beside.get(name)
        return SERVICES[name].ready_port(self.settings) if beside is None else beside.port

    def note(self, what: str, began: float) -> float:
        """Print how long something took, and return the seconds."""
        seconds = time.monotonic() - began
        print(f"{what} after {seconds:.1f} s")
        return seconds

    # Judging

    async def heal_and_check(self) -> None:
        """Wait until the platform has healed, then check everything that must hold."""
        began = time.monotonic()
        await self.healed()
        self.note("at the end all ready", began)
        outcome = await asyncio.to_thread(self.openspot, "reconcile", "--json", "--wait", str(SETTLED_S_MAX))
        self.note("at the end no difference", began)
        assert outcome.returncode == 0, outcome.stdout + outcome.stderr
        report = json.loads(outcome.stdout)
        assert report["caughtUp"]
        assert report["differences"] == []
        candles = await asyncio.to_thread(self.openspot, "market-data", "verify", "--wait", str(SETTLED_S_MAX))
        assert candles.returncode == 0, candles.stdout + candles.stderr
        connection = await asyncpg.connect(self.settings.database_url)
        try:
            await _check_trades(connection, report["trades"])
            await _check_orders(connection, self.flow.replies)
            await self._check_deposits(connection)
        finally:
            await connection.close()
        log = self.platform.log_path.read_text("utf-8", "replace")
        assert not [line for line in log.splitlines() if any(f'"event": "{text}' in line for text in FORBIDDEN)]
        print(
            f"{report['orders']} orders, {report['trades']} trades, {report['entries']} entries, "
            f"{len(self.flow.deposits)} deposits, answers {dict(self.flow.replies.answers)}, killed {dict(self.killed)}"
        )

    def openspot(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The command line, beside the platform."""
        return subprocess.run(
            [sys.executable, "-m", "openspot.cli", *arguments],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"OPENSPOT_DATA_DIR": str(self.platform.data_dir)},
        )

    async def _check_deposits(self, connection: asyncpg.Connection) -> None:
        """Each deposit is credited once by the engine and once by the ledger, however often it was published."""
        credited: dict[str, list[Decimal]] = {}
        async with EngineReader(self.settings) as engine:
            async for events in engine.events(1):
                for event in events:
                    if isinstance(event, BalanceEvent):
                        credited.setdefault(event.reference, []).append(Decimal(event.amount))
        entries: dict[str, list[Any]] = {}
        for row in await connection.fetch("SELECT * FROM ledger_entries WHERE reference_type = 'custody'"):
            if not row["transaction_id"].endswith(":contra"):
                entries.setdefault(row["reference_id"], []).append((row["user_id"], row["asset"], row["amount"]))
        assert any(deposit.copies > 1 for deposit in self.flow.deposits)
        for deposit in self.flow.deposits:
            assert credited.get(deposit.tx_hash) == [deposit.amount], deposit
            assert entries.get(deposit.tx_hash) == [(deposit.user_id, deposit.asset, deposit.amount)], deposit


@contextmanager
def kept_after_failure(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A data directory. It is kept, with the log, if a test failed."""
    folder = Path(tempfile.mkdtemp(prefix="openspot-faults-"))
    failed = request.session.testsfailed
    yield folder
    if request.session.testsfailed == failed:
        shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def running(
    platform: ChildPlatform, beside: dict[str, Beside] | None = None, edges: Sequence[str] = ()
) -> AsyncIterator[Run]:
    """The flow's users on a healthy platform, and processes beside it. The users share the REST edges at `edges`."""
    print(f"\nOPENSPOT_FAULT_SEED={SEED}, log {platform.log_path}")
    flow = await OrderFlow.begin(platform.settings, SEED, USERS, edges)
    try:
        yield Run(platform, flow, beside or {})
    finally:
        await flow.close()


async def _metric(host: str, port: int, name: str) -> float:
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=METRIC_TIMEOUT_S)) as session,
            session.get(f"http://{host}:{port}/metrics") as response,
        ):
            text = await response.text()
    except (aiohttp.ClientError, TimeoutError, OSError):
        return 0.0
    return sum(_values(text.splitlines(), name))


def _values(lines: Iterable[str], name: str) -> Iterable[float]:
    for line in lines:
        if line.startswith((f"{name} ", f"{name}{{")):
            yield float(line.rpartition(" ")[2])


async def _check_trades(connection: asyncpg.Connection, trades: int) -> None:
    """Each trade of the engine has one row and its eight entries, once."""
    assert trades > 0
    assert await connection.fetchval("SELECT count(*) FROM trades") == trades
    settled = await connection.fetch(
        "SELECT count(*) AS entries FROM ledger_entries WHERE reference_type = 'trade' GROUP BY reference_id"
    )
    assert [row["entries"] for row in settled] == [8] * trades
    assert await connection.fetchval("SELECT count(*) FROM ledger_rejected_trades") == 0


async def _check_orders(connection: asyncpg.Connection, replies: Replies) -> None:
    """Check what clients were told. Reconcile checks that an order without a reply is everywhere or nowhere."""
    rows = {row["order_id"]: row for row in await connection.fetch("SELECT * FROM orders")}
    assert replies.accepted
    for order_id, order in replies.accepted.items():
        row = rows.get(order_id)
        assert row is not None, f"an order that was answered with 201 has no row: {order}"
        assert (row["user_id"], row["symbol"], row["side"], row["quantity"]) == (
            order.user_id,
            order.symbol,
            order.side,
            order.quantity,
        )
        assert row["filled_quantity"] >= order.filled_quantity
        if order.status in ("filled", "cancelled"):
            assert row["status"] == order.status, order
        assert row["status"] in ("open", "partially_filled", "filled", "cancelled"), order
    for order_id in replies.cancelled:
        assert order_id in rows, f"an order whose cancel was answered with 200 has no row: {order_id}"
        assert rows[order_id]["status"] == "cancelled", order_id
    for order_id in replies.rejected & rows.keys():
        assert rows[order_id]["status"] == "rejected", order_id
