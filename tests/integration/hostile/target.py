"""The services that run for all tests of a module, and what an attacker sends them."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import nats
import pytest
from nats.aio.client import Client

from openspot.contracts import subjects
from openspot.contracts.messages import DepositConfirmed
from openspot.contracts.streams import CUSTODY, STREAMS, TRADES, TRANSFERS
from openspot.kit.bus import Bus, Consumption, KeyValueBucket
from openspot.kit.metrics import BUS_MALFORMED
from openspot.kit.settings import Settings
from tests.support.databases import TestDatabases
from tests.support.engine_client import EngineClient
from tests.support.fixtures import platform_settings
from tests.support.in_process_platform import running
from tests.support.ledger import count
from tests.support.own_bus import own_bus
from tests.support.waiting import eventually, stretched, unstarved

DURABLES = {
    subjects.CUSTODY_DEPOSIT_CONFIRMED: (CUSTODY.name, ("router-deposit",)),
    subjects.CUSTODY_WITHDRAWAL_REQUESTED: (CUSTODY.name, ("router-reserve",)),
    subjects.CUSTODY_WITHDRAWAL_RESERVED: (CUSTODY.name, ("custody-reserved",)),
    subjects.CUSTODY_WITHDRAWAL_COMPLETED: (CUSTODY.name, ("router-complete",)),
    subjects.CUSTODY_WITHDRAWAL_FAILED: (CUSTODY.name, ("router-release", "custody-refused")),
    subjects.TRADES_EXECUTED: (TRADES.name, ("ledger-settlement",)),
    subjects.TRANSFERS_EXECUTED: (TRANSFERS.name, ("ledger-transfers",)),
}
"""(stream, durables) of the consumers of each subject."""

TABLES = (
    "orders", "trades", "ledger_accounts", "ledger_entries", "ledger_movements", "ledger_outbox", "custody_addresses",
    "custody_deposits", "custody_withdrawals", "custody_chain_transactions", "custody_audit",
)  # fmt: skip


class Target:
    """The services under attack. `handlers` holds every subject that they registered a handler for."""

    def __init__(
        self, settings: Settings, bus: Bus, raw: Client, pool: asyncpg.Pool, engine: EngineClient, handlers: set[str]
    ) -> None:
        self.settings = settings
        self.bus = bus
        self.raw = raw
        self.pool = pool
        self.engine = engine
        self.handlers = handlers
        self._newest: dict[str, int] = {}

    async def ask(self, subject: str, payload: Any) -> dict[str, Any]:
        """Return the reply to a request. `payload` is sent as JSON, bytes as they are."""
        reply = await self.raw.request(subject, as_bytes(payload), timeout=stretched(10))
        answer: dict[str, Any] = json.loads(reply.data)
        return answer

    async def publish(self, subject: str, payload: Any) -> None:
        """Publish an event, and wait until the server has it."""
        acknowledgement = await self.raw.jetstream().publish(subject, as_bytes(payload))
        self._newest[subject] = acknowledgement.seq

    async def state(self) -> dict[str, Any]:
        """Everything that an attack must not change: what the tables hold, and the engine's newest event."""
        found: dict[str, Any] = {
            table: await self.pool.fetchval(
                f"SELECT md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) FROM {table} AS t"
            )
            for table in TABLES
        }
        found["engine"] = await self.engine.last_sequence()
        return found

    async def at_rest(self) -> None:
        """Wait until every event is dealt with everywhere."""
        # First the engine does what custody asked for. Then its events reach the rows and the bus, and are settled.
        await self._all_is_taken()
        last = await self.engine.last_sequence()
        await eventually(lambda: self._rows_are_at(last), 20)
        await self._all_is_taken()
        await eventually(self._outbox_is_empty, 20)

    async def custody_is_at_rest(self) -> None:
        """Wait until every withdrawal has its funds, and every cancelled one has returned them."""
        await eventually(self._funds_are_settled, 20)

    async def _funds_are_settled(self) -> bool:
        waiting = await self.pool.fetchval(
            "SELECT count(*) FROM custody_withdrawals WHERE funds IN ('new', 'requested')"
            " OR (status = 'cancelled' AND funds <> 'released')"
        )
        return waiting == 0

    async def _all_is_taken(self) -> None:
        for subject in DURABLES:
            await eventually(lambda subject=subject: self.has_taken_all(subject), 20)

    async def _rows_are_at(self, sequence: int) -> bool:
        rows = await self.pool.fetchval("SELECT sequence FROM engine_cursors WHERE consumer = 'router'")
        return rows is not None and rows >= sequence

    async def _outbox_is_empty(self) -> bool:
        return await count(self.pool, "ledger_outbox") == 0

    async def has_taken_all(self, subject: str) -> bool:
        """Whether every consumer of `subject` has nothing waiting, and nothing that will come again."""
        stream, durables = DURABLES[subject]
        for durable in durables:
            if not await self._has_taken_all(subject, stream, durable):
                return False
        return True

    async def _has_taken_all(self, subject: str, stream: str, durable: str) -> bool:
        info = await self.raw.jetstream().consumer_info(stream, durable)
        # An event that was stored just now may not count as pending yet.
        if info.ack_floor is None or info.ack_floor.stream_seq < self._newest.get(subject, 0):
            return False
        return not info.num_pending and not info.num_ack_pending and not info.num_redelivered

    async def are_ready(self) -> None:
        """Fail unless every service says that it has all it needs; a starved one may say it a little later."""
        settings = self.settings
        async with aiohttp.ClientSession() as session:
            for port in (
                settings.engine_http_port, settings.ledger_port, settings.router_port, settings.custody_port,
                settings.ws_port,
            ):  # fmt: skip
                reply = await unstarved(partial(session.get, f"http://{settings.host}:{port}/ready"))
                assert reply.status == 200, await reply.text()


def as_bytes(payload: Any) -> bytes:
    """A payload as it is sent."""
    return payload if isinstance(payload, bytes) else json.dumps(payload).encode()


def malformed(subject: str) -> float:
    """How many messages of a subject were counted as malformed."""
    return float(BUS_MALFORMED.labels(subject)._value.get())


@asynccontextmanager
async def target(folder: Path, databases: TestDatabases) -> AsyncIterator[Target]:
    """Running services, in which alice and bob have funds."""
    with own_bus(folder) as (server, data), databases.lend() as url:
        async with _attacked(_complete(platform_settings(data, url, server.url, shared=True))) as attacked:
            yield attacked


def _complete(settings: Settings) -> Settings:
    """With the complete rules, which have the most requests."""
    return settings.model_copy(update={"rules": "complete"})


@asynccontextmanager
async def _attacked(settings: Settings) -> AsyncIterator[Target]:
    handlers: set[str] = set()
    with _noting(handlers):
        async with running(settings, "engine", "ledger", "router", "custody", "ws-edge"):
            bus = await Bus.connect(settings, "test")
            await bus.ensure_streams(STREAMS)
            engine = EngineClient(settings)
            raw = await nats.connect(settings.nats_url, allow_reconnect=False)
            try:
                async with asyncpg.create_pool(settings.database_url, min_size=1, max_size=3) as pool:
                    attacked = Target(settings, bus, raw, pool, engine, handlers)
                    await _fund(attacked)
                    yield attacked
            finally:
                await raw.close()
                await engine.close()
                await bus.close()


@contextmanager
def _noting(handlers: set[str]) -> Iterator[None]:
    """Note what is served, subscribed to, consumed or watched meanwhile, as "kind subject"."""

    def note(owner: type, name: str) -> None:
        original = getattr(owner, name)

        async def noting(self: object, first: Any, *arguments: Any, **options: Any) -> Any:
            subject = first.subject if isinstance(first, Consumption) else first
            handlers.add(f"{name} {subject}")
            return await original(self, first, *arguments, **options)

        patch.setattr(owner, name, noting)

    watch = KeyValueBucket.watch

    async def watching(self: KeyValueBucket[Any], *arguments: Any) -> None:
        handlers.add(f"watch {self._name}")
        await watch(self, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("serve", "subscribe", "listen", "consume"):
            note(Bus, name)
        patch.setattr(KeyValueBucket, "watch", watching)
        yield


async def _fund(attacked: Target) -> None:
    for user in ("alice", "bob"):
        for asset, amount in (("USD", "100000"), ("BTC", "100")):
            event = DepositConfirmed(f"first-{user}-{asset}", user, asset, amount)
            await attacked.bus.publish(subjects.CUSTODY_DEPOSIT_CONFIRMED, event, event.tx_hash)
    await eventually(lambda: _has_accounts(attacked.pool, 4))
    await attacked.at_rest()


async def _has_accounts(pool: asyncpg.Pool, wanted: int) -> bool:
    return await pool.fetchval("SELECT count(*) FROM ledger_accounts WHERE user_id <> 'house:external'") == wanted
