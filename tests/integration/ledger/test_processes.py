"""The main process and the workflow worker: alone, together, and killed."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import asyncpg
import nats
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import (
    LedgerBalance,
    LedgerBalancesReply,
    LedgerBalancesRequest,
    LedgerPostingReply,
    TradesSettled,
)
from openspot.kit.bus import Bus, BusError, consumer, encode
from openspot.kit.settings import Settings
from openspot.ledger import service, worker
from openspot.ledger.worker import pack, unpack
from openspot.migrations import upgrade
from openspot.up.embedded_nats import EmbeddedNats
from openspot.up.embedded_postgres import EmbeddedPostgres
from tests.support.ledger import assert_books_are_right, available, count, posting, trade
from tests.support.ledger_process import ChildProcess, child, get, is_ready, running
from tests.support.ports import free_port
from tests.support.waiting import eventually, stretched


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Settings with a free port for the worker too."""
    return settings.model_copy(update={"ledger_worker_port": free_port()})


@pytest.fixture
async def settled(bus: Bus) -> AsyncIterator[list[TradesSettled]]:
    """Every `trades.settled` from now on."""
    seen: list[TradesSettled] = []

    async def note(_: str, event: TradesSettled) -> None:
        seen.append(event)

    end = await bus.subscribe(subjects.TRADES_SETTLED, TradesSettled, note)
    await bus.check()
    yield seen
    await end()


async def publish(bus: Bus, first: int, last: int) -> None:
    for number in range(first, last + 1):
        one = trade(number, f"user{number % 5}", f"maker{number % 2}", qty=f"0.{number}1")
        await bus.publish(subjects.TRADES_EXECUTED, one, f"{one.id}-trade")


async def entries_are(pool: asyncpg.Pool, number: int) -> None:
    async def reached() -> bool:
        return await count(pool) == number

    await eventually(reached, timeout_s=60)


async def served(settings: Settings, path: str) -> tuple[int, str, str] | None:
    reply = await get(settings, settings.ledger_port, path)
    return reply if reply[0] == 200 else None


async def ask(bus: Bus, number: int) -> LedgerPostingReply:
    return await bus.request(subjects.LEDGER_CREDIT, posting(f"tx{number}", amount="1"), LedgerPostingReply)


@pytest.mark.spec("A1.1-04", "A1.1-39", "A1.1-41", "A1.1-43", "B4.3-20")
async def test_the_main_process_answers_settles_and_shows_its_health(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, settled: list[TradesSettled]
) -> None:
    async with running(service, settings, settings.ledger_port):
        assert (await ask(bus, 1)).new_balance == "1"
        await publish(bus, 1, 3)
        await entries_are(pool, 26)
        await eventually(lambda: sum(event.count for event in settled) == 3)
        for path in ("/health", "/ready"):
            # A check whose database gets no processor in its time says 503 once.
            status, _, body = await eventually(partial(served, settings, path))
            assert (status, json.loads(body)["status"]) == (200, "ok")
        assert set(json.loads(body)["details"]) == {"bus", "database", "disk", "ledger-settlement", "ledger-transfers"}
        status, content_type, body = await get(settings, settings.ledger_port, "/metrics")
        assert (status, content_type) == (200, "text/plain")
        assert 'openspot_ledger_trades_total{outcome="settled"}' in body
    await assert_books_are_right(pool)


async def test_a_settlement_that_hangs_is_shown_as_degraded_and_in_the_metrics(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumer, "STUCK_S", 0.3)
    monkeypatch.setattr(consumer, "LAG_INTERVAL_S", 0.1)
    stuck = 'openspot_bus_consumer_stuck{durable="ledger-settlement"}'

    async def shown() -> tuple[int, str]:
        status, _, body = await get(settings, settings.ledger_port, "/ready")
        return status, json.loads(body)["details"]["ledger-settlement"]["status"]

    async def metric() -> bool:
        return f"{stuck} 1.0" in (await get(settings, settings.ledger_port, "/metrics"))[2]

    async with running(service, settings, settings.ledger_port):
        async with pool.acquire() as connection, connection.transaction():
            await connection.execute("LOCK TABLE ledger_entries IN ACCESS EXCLUSIVE MODE")
            await publish(bus, 1, 2)
            await eventually(metric)
            # Requests are still served, so the service stays ready.
            assert await shown() == (200, "degraded")

        async def is_well() -> bool:
            return await shown() == (200, "up") and not await metric()

        await eventually(is_well)
        await entries_are(pool, 16)


@pytest.mark.spec("A1.1-40", "A1.1-42")
async def test_without_the_bus_it_is_neither_healthy_nor_ready(settings: Settings, nats_server: EmbeddedNats) -> None:
    port = settings.ledger_port
    async with running(service, settings, port):
        nats_server.kill()
        for path in ("/health", "/ready"):
            status, _, body = await get(settings, port, path)
            assert status == 503
            assert "bus" in json.loads(body)["error"]
        nats_server.start()

        async def back() -> bool:
            return await is_ready(settings, port)

        await eventually(back, timeout_s=30)


@pytest.mark.proof
@pytest.mark.spec("A1.1-40", "A1.1-42")
async def test_without_the_database_it_is_neither_healthy_nor_ready(
    settings: Settings, bus: Bus, run_folder: Path
) -> None:
    server = EmbeddedPostgres(run_folder / f"postgres-{settings.ledger_port}", durable=False)
    server.start()
    try:
        upgrade(server.url())
        own = settings.model_copy(update={"database_url": server.url()})
        async with running(service, own, own.ledger_port):
            server.stop()
            for path in ("/health", "/ready"):
                status, _, body = await get(own, own.ledger_port, path)
                assert status == 503
                assert "database" in json.loads(body)["error"]
            await publish(bus, 1, 2)
            server.start()

            async def back() -> bool:
                return await is_ready(own, own.ledger_port)

            await eventually(back, timeout_s=30)
            async with asyncpg.create_pool(server.url(), min_size=1, max_size=2) as pool:
                await entries_are(pool, 16)
                await assert_books_are_right(pool)
    finally:
        server.stop()


@pytest.mark.spec("A6.1-14", "A6.1-15", "A6.1-34", "B4.3-21")
async def test_the_worker_alone_answers_and_settles_in_workflows_that_announce_it(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, settled: list[TradesSettled]
) -> None:
    async with running(worker, settings, settings.ledger_worker_port):
        assert (await ask(bus, 1)).new_balance == "1"
        await publish(bus, 1, 20)
        await entries_are(pool, 2 + 160)
        await eventually(lambda: sum(event.count for event in settled) == 20)
        assert sorted(trade_id for event in settled for trade_id in event.trade_ids) == sorted(
            f"epoch-{number}" for number in range(1, 21)
        )
        assert max(event.last_sequence for event in settled) == 20

        async def workflows_are_done() -> bool:
            return not await pool.fetchval("SELECT count(*) FROM dbos.workflow_status WHERE status <> 'SUCCESS'")

        await eventually(workflows_are_done)
        workflows = await pool.fetch("SELECT name, status FROM dbos.workflow_status")
        assert {row["name"] for row in workflows} == {worker.WORKFLOW}
        assert len(workflows) == len(settled)
        # One step, because each record of a step costs more than it protects.
        assert await pool.fetchval("SELECT count(*) FROM dbos.operation_outputs") == len(workflows)
        assert (await get(settings, settings.ledger_worker_port, "/health"))[0] == 200
    await assert_books_are_right(pool)


async def test_a_workflow_that_fails_brings_its_trades_again_and_the_worker_goes_on(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, settled: list[TradesSettled]
) -> None:
    port = settings.ledger_worker_port
    async with running(worker, settings, port):
        await pool.execute("ALTER TABLE ledger_entries RENAME TO away")
        await publish(bus, 1, 3)

        async def fails() -> bool:
            status, _, body = await get(settings, port, "/ready")
            return status == 503 and "UndefinedTableError" in body

        await eventually(fails)
        assert (await get(settings, port, "/health"))[0] == 200
        assert not settled
        await pool.execute("ALTER TABLE away RENAME TO ledger_entries")
        await entries_are(pool, 24)
        await eventually(lambda: sum(event.count for event in settled) == 3)

        async def back() -> bool:
            return await is_ready(settings, port)

        await eventually(back)
    await assert_books_are_right(pool)


@pytest.mark.proof
async def test_a_worker_stops_in_time_when_its_database_is_gone(
    settings: Settings, bus: Bus, run_folder: Path, tmp_path: Path
) -> None:
    server = EmbeddedPostgres(run_folder / f"postgres-{settings.ledger_worker_port}", durable=False)
    server.start()
    try:
        upgrade(server.url())
        own = settings.model_copy(update={"database_url": server.url()})
        async with child("ledger-worker", own, tmp_path) as process:
            server.stop()
            await publish(bus, 1, 2)
            assert await asyncio.wait_for(process.stop(), stretched(30)) == 0
    finally:
        server.stop()


@pytest.mark.proof
async def test_the_workflow_library_keeps_to_its_own_schema(settings: Settings, pool: asyncpg.Pool) -> None:
    query = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1"
    before = await pool.fetch(query)
    revision = await pool.fetchval("SELECT version_num FROM alembic_version")
    async with running(worker, settings, settings.ledger_worker_port):
        assert await pool.fetchval("SELECT count(*) FROM information_schema.schemata WHERE schema_name = 'dbos'") == 1
    async with running(worker, settings, settings.ledger_worker_port):
        assert await pool.fetch(query) == before
        assert await pool.fetchval("SELECT version_num FROM alembic_version") == revision


@pytest.mark.proof
async def test_finished_workflows_do_not_pile_up(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = 10
    monkeypatch.setattr(worker, "FINISHED_KEPT", kept)
    async with running(worker, settings, settings.ledger_worker_port):
        for number in range(1, 2 * kept + 6):
            await publish(bus, number, number)
            await entries_are(pool, 8 * number)

        async def few_are_left() -> bool:
            # The entries of a workflow are there before it has ended, and older ones are deleted after that.
            query = "SELECT (SELECT count(*) FROM dbos.workflow_status), (SELECT count(*) FROM dbos.workflow_input)"
            return max(*await pool.fetchrow(query)) <= 2 * kept

        await eventually(few_are_left)


def test_a_batch_survives_its_packing() -> None:
    trades = [trade(1), trade(2, buyer_fee="-0.000000000000000001")]
    assert unpack(pack(trades)) == trades


@pytest.mark.spec("B4.3-22")
async def test_main_and_worker_together_answer_each_request_exactly_once(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, nats_url: str
) -> None:
    client = await nats.connect(nats_url)
    async with (
        running(service, settings, settings.ledger_port),
        running(worker, settings, settings.ledger_worker_port),
    ):
        inbox = client.new_inbox()
        replies: Counter[str] = Counter()

        async def note(message: nats.aio.msg.Msg) -> None:
            replies[message.subject.rpartition(".")[2]] += 1

        await client.subscribe(f"{inbox}.*", cb=note)
        for number in range(200):
            request = encode(posting(f"tx{number}", f"user{number % 3}", amount="1"))
            await client.publish(subjects.LEDGER_CREDIT, request, reply=f"{inbox}.{number}")
        await eventually(lambda: len(replies) == 200)
        await publish(bus, 1, 40)
        await entries_are(pool, 2 * 200 + 8 * 40)
        assert set(replies.values()) == {1}
    await client.close()
    assert await available(pool, "user0", "USD") != "0"
    await assert_books_are_right(pool)


@pytest.mark.spec("B4.3-21", "B4.3-22", "A6.4-06", "A6.4-08")
async def test_trades_are_settled_once_each_while_processes_are_killed_under_load(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, tmp_path: Path
) -> None:
    other = settings.model_copy(update={"ledger_worker_port": free_port()})
    trades = 600
    async with (
        child("ledger", settings, tmp_path) as main,
        child("ledger-worker", settings, tmp_path) as first,
        child("ledger-worker", other, tmp_path),
    ):
        publishing = asyncio.create_task(publish(bus, 1, trades))

        async def some() -> bool:
            return await count(pool) > 8 * 100

        await eventually(some, timeout_s=60)
        await first.kill()
        await main.kill()

        async def is_answered() -> bool:
            # The bus may give a request to a process whose end it has not noticed yet.
            try:
                return (await ask(bus, 1)).success
            except BusError:
                return False

        # The second worker goes on alone.
        await eventually(is_answered)
        reply = await bus.request(subjects.LEDGER_BALANCES_GET, LedgerBalancesRequest("ann"), LedgerBalancesReply)
        assert reply.balances == [LedgerBalance("USD", "1", "0")]
        await first.start()
        await publishing
        await entries_are(pool, 8 * trades + 2)

        async def workflows_are_done() -> bool:
            query = "SELECT count(*) FROM dbos.workflow_status WHERE status NOT IN ('SUCCESS', 'ERROR')"
            return await pool.fetchval(query) == 0

        await eventually(workflows_are_done, timeout_s=30)
        assert await first.stop() == 0
    assert await count(pool) == 8 * trades + 2
    await assert_books_are_right(pool)


@pytest.mark.proof
async def test_processes_that_begin_at_the_same_moment_all_take_part(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, tmp_path: Path
) -> None:
    main = ChildProcess("ledger", settings, tmp_path)
    first = ChildProcess("ledger-worker", settings, tmp_path)
    try:
        await asyncio.gather(main.start(), first.start())
        await publish(bus, 1, 200)
        await entries_are(pool, 1600)
        for port in (settings.ledger_port, settings.ledger_worker_port):
            _, _, body = await get(settings, port, "/metrics")
            line = next(line for line in body.splitlines() if 'trades_total{outcome="settled"}' in line)
            assert float(line.split()[-1]) > 0
        assert await asyncio.gather(main.stop(), first.stop()) == [0, 0]
    finally:
        await main.kill()
        await first.kill()
