"""Refused orders are recorded, however long bus and database are away, and what waits for that is bounded."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import OrderRequest, RiskCheckFailed, SubmitOrder
from openspot.contracts.refusals import RefusalCode
from openspot.kit.bus import Bus, retrying_publisher
from openspot.kit.settings import Settings
from openspot.router.metrics import ROW_WRITE_FAILURES
from openspot.router.orders import rejections as rejections_module
from openspot.router.orders.draft import draft_of
from openspot.router.orders.engine_orders import refused_order
from openspot.router.orders.pre_trade import PreTradeCheck, PreTradeFailure
from openspot.router.orders.rejections import Rejections
from openspot.router.store import RouterStore
from openspot.router.tracked_order import TrackedOrder
from openspot.up.embedded_nats import EmbeddedNats
from tests.support.engine_client import EngineClient
from tests.support.router_client import Published, RouterClient, listening, stored
from tests.support.waiting import eventually, stretched

FAILURE = PreTradeFailure(PreTradeCheck.QUANTITY, "quantity 1000000 is too large")
ATTEMPTS = 5
"""More than the three after which refusals were once given up."""


def refused(order_id: str) -> TrackedOrder:
    request = OrderRequest(order_id, "BTC-USD", "buy", "limit", "1000000", "100")
    return refused_order(draft_of(SubmitOrder("alice", request)), FAILURE.reason, 1)


async def record(rejections: Rejections, order_id: str) -> None:
    place = rejections.reserve()
    assert place is not None
    await place.record(refused(order_id), FAILURE)


async def order_ids(pool: asyncpg.Pool) -> list[str]:
    return [row[0] for row in await pool.fetch("SELECT order_id FROM orders ORDER BY 1")]


def unavailable() -> float:
    return float(ROW_WRITE_FAILURES.labels("unavailable")._value.get())


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """The bus is tried again a second after it refused, not half a minute."""
    return settings.model_copy(update={"breaker_window_s": 1.0})


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again soon, and do not keep a caller waiting for a bus that is away."""
    for module in (rejections_module, retrying_publisher):
        monkeypatch.setattr(module, "RETRY_S", 0.01)
        monkeypatch.setattr(module, "RETRY_S_MAX", 0.02)
    monkeypatch.setattr(rejections_module, "PUBLISH_WAIT_S", 0.1)


@pytest.fixture
async def rejections(bus: Bus, pool: asyncpg.Pool) -> AsyncIterator[Rejections]:
    """The recorder of a router, on the real bus and database."""
    recorder = Rejections(bus, RouterStore(pool))
    yield recorder
    await recorder.close()


async def test_while_the_database_is_away_nothing_is_given_up(
    rejections: Rejections, pool: asyncpg.Pool, nats_url: str
) -> None:
    await pool.execute("ALTER TABLE orders RENAME TO orders_away")
    before = unavailable()
    await record(rejections, "a")
    await record(rejections, "b")
    await eventually(lambda: unavailable() >= before + ATTEMPTS)
    await pool.execute("ALTER TABLE orders_away RENAME TO orders")
    await eventually(lambda: rejections.waiting == 0)
    assert await order_ids(pool) == ["a", "b"]
    await eventually(lambda: _holds(nats_url, "ORDERS", "refused-alice-a", "refused-alice-b"))


async def test_while_the_bus_refuses_the_events_they_are_held_in_their_order_and_published_once(
    rejections: Rejections, bus: Bus, pool: asyncpg.Pool, nats_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = 0
    publish_many = bus.publish_many

    async def counted(events: object) -> None:
        nonlocal attempts
        attempts += 1
        await publish_many(events)  # type: ignore[arg-type]

    monkeypatch.setattr(bus, "publish_many", counted)
    await bus.connection.jetstream.delete_stream("ORDERS")
    for order_id in ("a", "b", "c"):
        await record(rejections, order_id)
    await eventually(lambda: attempts >= ATTEMPTS)

    async def has_the_others() -> bool:
        return await order_ids(pool) == ["a", "b", "c"] and await _counts(nats_url, "RISK", 3)

    # The rows and the other stream do not wait for it, nor did `record` for them.
    await eventually(has_the_others)
    async with listening(nats_url, "orders.rejected") as heard:
        await bus.ensure_streams()
        await eventually(lambda: rejections.waiting == 0, 40)
        await eventually(lambda: len(heard.messages) == 3)
    await eventually(lambda: _holds(nats_url, "ORDERS", "refused-alice-a", "refused-alice-b", "refused-alice-c"))


async def _holds(nats_url: str, stream: str, *message_ids: str) -> bool:
    return [message_id for *_, message_id in await stored(nats_url, stream)] == list(message_ids)


async def _counts(nats_url: str, stream: str, number: int) -> bool:
    return len(await stored(nats_url, stream)) == number


async def test_an_order_that_is_refused_while_the_bus_is_away_is_told_when_it_is_back(
    rejections: Rejections, pool: asyncpg.Pool, nats_server: EmbeddedNats, bus: Bus, nats_url: str
) -> None:
    nats_server.kill()
    await eventually(lambda: not bus.is_connected)
    recording = asyncio.create_task(record(rejections, "a"))
    # The caller does not wait for the bus beyond its bound.
    await asyncio.wait_for(recording, stretched(30))
    nats_server.start()
    await eventually(lambda: rejections.waiting == 0, 40)
    assert await order_ids(pool) == ["a"]
    await eventually(lambda: _holds(nats_url, "ORDERS", "refused-alice-a"))
    await eventually(lambda: _counts(nats_url, "RISK", 1))


async def test_a_recorder_that_ends_records_what_waits(
    bus: Bus, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rejections = Rejections(bus, RouterStore(pool))
    await pool.execute("ALTER TABLE orders RENAME TO orders_away")
    before = unavailable()
    await record(rejections, "a")
    await eventually(lambda: unavailable() > before)
    closing = asyncio.create_task(rejections.close())
    await pool.execute("ALTER TABLE orders_away RENAME TO orders")
    await closing
    assert await order_ids(pool) == ["a"]


async def test_an_order_is_not_judged_while_there_is_no_slot_for_its_refusal(
    settings: Settings,
    router: RouterClient,
    engine: EngineClient,
    pool: asyncpg.Pool,
    published: Published,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rejections_module, "SLOTS", 2)
    await pool.execute("ALTER TABLE orders RENAME TO orders_away")
    replies = [await router.submit(order_id=f"r{number}", quantity="1000000") for number in range(4)]
    assert [reply.code for reply in replies] == [
        RefusalCode.PRE_TRADE_CHECK,
        RefusalCode.PRE_TRADE_CHECK,
        RefusalCode.BUSY,
        RefusalCode.BUSY,
    ]
    # A good order is not judged either: it might be a bad one.
    sequence = await engine.last_sequence()
    good = await router.submit(order_id="good")
    assert (good.code, good.order) == (RefusalCode.BUSY, None)
    assert await engine.last_sequence() == sequence
    await pool.execute("ALTER TABLE orders_away RENAME TO orders")

    async def is_accepted() -> bool:
        return (await router.submit(order_id="good")).success

    await eventually(is_accepted)
    await eventually(lambda: len(published.of(subjects.RISK_CHECK_FAILED, RiskCheckFailed)) >= 2)
    failed = [event.order_id for event in published.of(subjects.RISK_CHECK_FAILED, RiskCheckFailed)]
    assert failed == ["r0", "r1"]
    await eventually(lambda: _has(pool, "good", "r0", "r1"))


async def _has(pool: asyncpg.Pool, *wanted: str) -> bool:
    return await order_ids(pool) == list(wanted)
