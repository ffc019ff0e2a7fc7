"""Health, metrics, the OpenAPI document and the page that shows it."""

import asyncio
import re
import time
from functools import partial

import asyncpg
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import SendNotification
from openspot.http.health import HealthResponse
from openspot.kit.bus import Bus, consumer
from openspot.kit.settings import Settings
from openspot.rest_edge.settings import RestEdgeSettings
from openspot.up.embedded_nats import EmbeddedNats
from tests.support.fake_engine_http import FakeEngineHttp
from tests.support.rest_client import RestClient
from tests.support.waiting import eventually, unstarved

HEALTH = (("", "/health"), ("/api/v1", "/health"))
READY = (("", "/ready"), ("/api/v1", "/health/ready"))


@pytest.mark.spec("A1.1-24", "A1.1-26", "B4.1-85", "B4.1-88", "B4.1-90")
async def test_health_and_readiness_are_200_while_all_is_there(edge: RestClient, engine: FakeEngineHttp) -> None:
    edge.token = None
    for prefix, path in (*HEALTH, *READY):
        # A check whose database gets no processor in its time says 503 once.
        reply = await unstarved(partial(edge, "GET", path, prefix=prefix))
        assert reply.status == 200
        HealthResponse.model_validate(reply.body)
        assert (reply.body["status"], reply.body["error"]) == ("ok", {})
        assert {"database", "bus"} <= set(reply.body["details"])


async def test_without_the_engine_the_edge_is_healthy_but_not_ready(edge: RestClient) -> None:
    for prefix, path in HEALTH:
        assert (await unstarved(partial(edge, "GET", path, prefix=prefix))).status == 200
    for prefix, path in READY:
        reply = await edge("GET", path, prefix=prefix)
        assert reply.status == 503
        assert set(reply.body["error"]) == {"engine"}


@pytest.mark.spec("A1.1-25", "A1.1-27", "A7-22", "B4.1-86", "B4.1-87", "B4.1-89")
async def test_a_lost_bus_shows_in_health_and_readiness_and_its_return_too(
    own_edge: RestClient, engine: FakeEngineHttp, nats_server: EmbeddedNats
) -> None:
    nats_server.kill()
    for prefix, path in (*HEALTH, *READY):
        reply = await own_edge("GET", path, prefix=prefix)
        assert (reply.status, reply.body["status"]) == (503, "error")
        assert reply.body["error"]["bus"]["status"] == "down"
        assert reply.body["error"]["bus"]["message"]
    assert (await own_edge("GET", "/health/live")).status == 200
    nats_server.start()

    async def ready() -> bool:
        return (await own_edge("GET", "/health/ready")).status == 200

    await eventually(ready, 20)


async def test_notices_that_hang_make_the_edge_degraded_and_it_stays_in_service(
    own_edge: RestClient,
    engine: FakeEngineHttp,
    bus: Bus,
    pool: asyncpg.Pool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(consumer, "STUCK_S", 0.3)
    monkeypatch.setattr(consumer, "LAG_INTERVAL_S", 0.1)
    stuck = 'openspot_bus_consumer_stuck{durable="rest-edge-notifications"}'

    async def metric(value: str) -> bool:
        return f"{stuck} {value}" in (await own_edge("GET", "/metrics")).body

    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("LOCK TABLE users IN ACCESS EXCLUSIVE MODE")
        now_ms = time.time_ns() // 1_000_000
        notice = SendNotification("n-1", "ada", "margin.liquidation", "A title", "A text.", now_ms)
        await bus.publish(subjects.NOTIFICATIONS_SEND, notice, "n-1")
        await eventually(lambda: metric("1.0"))
        for prefix, path in READY:
            reply = await own_edge("GET", path, prefix=prefix)
            assert (reply.status, reply.body["status"], reply.body["error"]) == (200, "ok", {})
            HealthResponse.model_validate(reply.body)
            details = reply.body["details"]["rest-edge-notifications"]
            assert (details["status"], details["message"][:24]) == ("degraded", "stuck: 1 messages wait, ")
    await eventually(lambda: metric("0.0"))
    reply = await own_edge("GET", "/health/ready")
    assert reply.body["details"]["rest-edge-notifications"] == {"status": "up"}


@pytest.mark.spec("A1.1-28", "B4.1-84")
async def test_metrics_are_in_the_prometheus_format(edge: RestClient) -> None:
    await edge("GET", "/orders")
    for prefix in ("", "/api/v1"):
        reply = await edge("GET", "/metrics", prefix=prefix)
        assert reply.status == 200
        assert reply.headers["Content-Type"].startswith("text/plain; version=")
        assert re.search(r'^openspot_http_responses_total\{status="200"\} \d', reply.body, re.MULTILINE)


@pytest.mark.spec("A1.1-01")
async def test_the_edge_listens_on_its_port(edge: RestClient, settings: Settings) -> None:
    assert RestEdgeSettings.model_fields["rest_port"].default == 3001
    _, writer = await asyncio.open_connection(settings.host, settings.rest_port)
    writer.close()


async def test_the_document_describes_every_route(edge: RestClient) -> None:
    document = (await edge("GET", "/openapi.json", prefix="")).body
    assert document["openapi"].startswith("3.1")
    assert set(document["paths"]["/api/v1/orders"]) == {"get", "post", "delete"}
    order = document["components"]["schemas"]["OrderBody"]
    assert order["additionalProperties"] is False
    assert set(order["required"]) == {"symbol", "side", "type"}
    text = str(document)
    for name in set(re.findall(r"#/components/schemas/(\w+)", text)):
        assert name in document["components"]["schemas"]
    for path, operations in document["paths"].items():
        assert path.startswith("/api/v1/")
        for operation in operations.values():
            assert operation["summary"]
            assert "422" not in operation["responses"]
    identifiers = [operation["operationId"] for row in document["paths"].values() for operation in row.values()]
    assert len(set(identifiers)) == len(identifiers)


@pytest.mark.spec("A1.1-12")
async def test_the_interactive_page_needs_no_other_host(edge: RestClient) -> None:
    edge.token = None
    page = await edge("GET", "/docs", prefix="")
    assert page.status == 200
    assert page.headers["Content-Type"].startswith("text/html")
    addresses = re.findall(r'(?:src|href)="([^"]+)"', page.body)
    assert addresses
    for address in addresses:
        assert address.startswith("/docs/")
        asset = await _asset_status(edge, address)
        assert asset == 200
    assert "//" not in page.body.replace("<!DOCTYPE html>", "")


async def _asset_status(edge: RestClient, address: str) -> int:
    import aiohttp

    async with aiohttp.ClientSession() as session, session.get(f"{edge.settings.rest_url}{address}") as response:
        return response.status


@pytest.mark.spec("A2.7-02", "B4.1-03", "B4.1-04", "B4.1-61")
async def test_the_estimate_and_the_fee_lookup_answer(edge: RestClient) -> None:
    reply = await edge("POST", "/orders/estimate", {"symbol": "ETH-USD", "side": "buy", "quantity": 2})
    assert reply.status == 200
    assert (reply.body["subtotal"], reply.body["fee"], reply.body["total"]) == ("7000", "14", "7014")
    assert (reply.body["spendAsset"], reply.body["receiveAsset"]) == ("USD", "ETH")
    unknown = await edge("POST", "/orders/estimate", {"symbol": "ADA-USD", "side": "buy", "quantity": 2})
    assert (unknown.status, unknown.message) == (400, ["price is required: there is no price for ADA-USD"])
    bad = await edge("POST", "/orders/estimate", {"symbol": "ETH-USD", "side": "buy", "quantity": 0, "x": 1})
    assert bad.message == ["quantity must be greater than 0", "property x should not exist"]
    fees = await edge("GET", "/fees/trading")
    assert (fees.body["tier"], len(fees.body["tiers"])) == ("Bronze", 7)
