"""Two routers, one translator; the symbols at start; health (facts A1.3-25, A8-09 to A8-11)."""

import asyncio
from collections import Counter

import aiohttp
import asyncpg
import pytest

from openspot.contracts.messages import OrderRecord
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.router.metrics import ORDERS
from openspot.router.orders.symbols import SymbolsUnavailableError
from openspot.router.service import run
from openspot.up.embedded_nats import EmbeddedNats
from tests.support.engine_client import EngineClient
from tests.support.fake_ledger import FakeLedger
from tests.support.ports import free_port
from tests.support.router_client import Published, RouterClient, running_router, stored
from tests.support.waiting import eventually, stretched

SERVICE = {"x-api-key": "test-key", "x-api-secret": "test-api-secret", "x-participant-type": "SYSTEM"}


def orders_handled() -> float:
    """How many orders the routers of this process have handled, whatever came of them."""
    samples = [sample for metric in ORDERS.collect() for sample in metric.samples]
    return sum(sample.value for sample in samples if sample.name.endswith("_total"))


async def ready(settings: Settings, path: str = "/ready") -> int:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://{settings.host}:{settings.router_port}{path}") as response,
    ):
        return response.status


@pytest.mark.spec("A1.3-25", "B4.3-03", "A6.1-10", "A6.1-11")
async def test_two_routers_answer_each_order_once_and_publish_each_event_once(
    settings: Settings,
    bus: Bus,
    pool: asyncpg.Pool,
    engine: EngineClient,
    ledger: FakeLedger,
    nats_url: str,
) -> None:
    router = RouterClient(bus)
    second = settings.model_copy(update={"router_port": free_port()})
    handled_before = orders_handled()
    async with running_router(settings), running_router(second):
        replies = await asyncio.gather(
            *(router.submit("alice" if n % 2 else "bob", side="buy" if n % 2 else "sell") for n in range(40))
        )
        assert all(reply.success for reply in replies)
        await eventually(lambda: _count(pool, "SELECT count(*) FROM trades", 20))
        await eventually(
            lambda: _count(
                pool, "SELECT count(*) FROM orders WHERE status = 'filled' AND engine_order_id IS NOT NULL", 40
            )
        )
        trades = [message for message in await stored(nats_url, "TRADES") if message[0] == "trades.executed"]
    assert len(trades) == 20

    async def created() -> list[str]:
        return [name for name, *_ in await stored(nats_url, "ORDERS") if name.startswith("orders.created.")]

    async def each_was_created() -> bool:
        return len(await created()) >= 40

    await eventually(each_was_created)
    assert len(await created()) == 40
    # Both routers have stopped, so this counts the orders that either of them handled.
    assert orders_handled() - handled_before == 40


async def _count(pool: asyncpg.Pool, query: str, expected: int) -> bool:
    return bool(await pool.fetchval(query) == expected)


@pytest.mark.spec("A6.4-06", "A6.4-07")
async def test_a_fill_while_no_router_runs_is_published_once_when_one_is_back(
    settings: Settings, bus: Bus, engine: EngineClient, ledger: FakeLedger, published: Published, nats_url: str
) -> None:
    router = RouterClient(bus)
    async with running_router(settings):
        order_id = await router.place("alice")
        await eventually(lambda: published.orders("orders.created.alice"))
    # The engine fills the order while nobody listens to it.
    await engine.place("sell", "100", "1", "bob", order_id=9_000_001, external_id="beside")
    assert not published.trades()
    async with running_router(settings):
        (trade,) = await eventually(published.trades)
        assert {trade.taker_order_id, trade.maker_order_id} == {order_id, "beside"}
        await eventually(lambda: published.orders("orders.filled.alice"))

        async def filled() -> OrderRecord | None:
            order = (await router.get(order_id)).order
            return order if order is not None and order.status == "filled" else None

        assert await eventually(filled)
    # A listener may hear a repeat of what was not noted before the stop; the streams hold each event once.
    trades = [subject for subject, *_ in await stored(nats_url, "TRADES")]
    assert trades == ["trades.executed"]

    async def has_the_news() -> bool:
        sides = [subject for subject, *_ in await stored(nats_url, "TRADE_SIDES")]
        orders = Counter(subject for subject, *_ in await stored(nats_url, "ORDERS"))
        return sides == ["trades.executed.BTC-USD"] * 2 and (
            orders["orders.created.alice"] == orders["orders.filled.alice"] == 1
        )

    await eventually(has_the_news)


@pytest.mark.spec("A2.5-08", "A2.5-09")
async def test_symbols_are_read_at_start_and_the_market_list_decides(
    router: RouterClient, settings: Settings, engine: EngineClient
) -> None:
    body = {
        "symbol": "BTC-ETH",
        "symbolId": 99,
        "baseCurrency": "BTC",
        "quoteCurrency": "ETH",
        "baseScaleK": 100_000_000,
        "quoteScaleK": 100,
        "tickSize": "0.01",
        "lotSize": "0.00000001",
        "takerFee": 25,
        "makerFee": 15,
    }
    async with aiohttp.ClientSession(settings.engine_url) as session:
        async with session.post("/api/v1/admin/symbols", json=body, headers=SERVICE) as response:
            assert response.status in (200, 201), await response.text()
        async with session.get("/api/v1/markets") as response:
            assert "BTC-ETH" in {market["symbol"] for market in await response.json()}
    reply = await router.submit(symbol="BTC-ETH")
    assert (reply.success, reply.error) == (False, "Market BTC-ETH not found")


@pytest.mark.spec("A8-09", "A8-11")
async def test_without_an_engine_the_router_gives_up_after_its_attempts(settings: Settings, bus: Bus) -> None:
    hasty = settings.model_copy(update={"symbol_load_pause_s": 0.01})
    with pytest.raises(SymbolsUnavailableError, match="10 attempts"):
        # Nine pauses of the default length would take 18 s.
        await asyncio.wait_for(run(hasty, asyncio.Event()), stretched(15))


@pytest.mark.spec("A1.1-34", "A1.1-35", "A1.1-36", "A1.1-37")
async def test_health_and_readiness_tell_that_the_bus_is_gone(
    router: RouterClient, settings: Settings, nats_server: EmbeddedNats
) -> None:
    async def both(status: int) -> bool:
        return (await ready(settings), await ready(settings, "/health")) == (status, status)

    await eventually(lambda: both(200))
    nats_server.stop()
    await eventually(lambda: both(503), 20)


@pytest.mark.spec("B4.7-02")
async def test_nothing_but_health_readiness_and_metrics_is_served(router: RouterClient, settings: Settings) -> None:
    async def are_served() -> bool:
        return [await ready(settings, path) for path in ("/health", "/ready", "/metrics")] == [200] * 3

    await eventually(are_served)
    for path in ("/", "/docs", "/openapi.json", "/orders", "/api/v1/orders", "/api/v1/health", "/health/x"):
        assert await ready(settings, path) == 404, path
