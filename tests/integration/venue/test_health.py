"""Health, readiness and metrics of the venue adapter, and nothing else over HTTP."""

import asyncio
import json

import pytest

from openspot.up.embedded_nats import EmbeddedNats
from openspot.up.services import SERVICES
from openspot.venue.ccxt_venue import VenueSettingError
from openspot.venue.service import run
from openspot.venue.settings import VenueSettings
from openspot.venue_simulator.faults import Faults
from openspot.venue_simulator.server import Simulator
from tests.support.venue import (
    BusTicks,
    Counts,
    get,
    of,
    quote,
    running_adapter,
    running_simulator,
    send,
    status,
    subscribed,
    trade,
)
from tests.support.waiting import eventually, stretched


@pytest.mark.spec("A1.1-08")
def test_the_adapter_listens_on_port_3010() -> None:
    assert SERVICES["venue"].ready_port(VenueSettings()) == 3010
    assert SERVICES["venue"].main() is run


async def answers(settings: VenueSettings, code: int) -> bool:
    """Whether health and readiness both have this status."""
    return {await status(settings, "/health"), await status(settings, "/ready")} == {code}


@pytest.mark.spec("A1.1-57", "A1.1-58", "A1.1-59", "A1.1-60")
async def test_health_and_readiness_follow_the_ticks(venue_settings: VenueSettings) -> None:
    async with (
        running_simulator() as venue,
        running_adapter(settings := of(venue_settings, venue, venue_stale_s=2.0)),
    ):
        assert await answers(settings, 503)
        await eventually(lambda: _with_trades(venue, settings, 200))
        venue.faults = Faults(is_silent=True)
        await eventually(lambda: answers(settings, 503))
        code, _, body = await get(settings, "/health")
        report = json.loads(body)
        assert code == 503
        assert report["status"] == "error"
        assert "no tick for" in report["error"]["venue"]["message"]
        assert "bus" not in report["error"]
        venue.faults = Faults()
        await eventually(lambda: _with_trades(venue, settings, 200))


async def _with_trades(venue: Simulator, settings: VenueSettings, code: int) -> bool:
    await send(venue, trade(1 + venue.sent["btcusdt@trade"]))
    return await answers(settings, code)


@pytest.mark.spec("A1.1-58", "A1.1-60")
async def test_without_the_bus_the_adapter_is_not_healthy(
    venue_settings: VenueSettings, nats_server: EmbeddedNats
) -> None:
    async with running_simulator() as venue, running_adapter(settings := of(venue_settings, venue)):
        await eventually(lambda: _with_trades(venue, settings, 200))
        nats_server.stop()
        await eventually(lambda: _with_trades(venue, settings, 503))
        assert "bus" in json.loads((await get(settings, "/health"))[2])["error"]
        nats_server.start()
        await eventually(lambda: _with_trades(venue, settings, 200))


@pytest.mark.spec("A1.1-61")
async def test_metrics_count_ticks_by_kind(venue_settings: VenueSettings, ticks: BusTicks) -> None:
    async with running_simulator() as venue, running_adapter(settings := of(venue_settings, venue)):
        await subscribed(venue)
        counts = Counts()
        await send(venue, quote(1), trade(1), trade(2), trade(2))
        await eventually(lambda: len(ticks.heard) == 3)
        # A tick is counted after it was sent, and the repeated one comes last.
        await eventually(lambda: counts("openspot_venue_lag_seconds_count", kind="trade") == 2)
        await eventually(lambda: counts.dropped("trade", "repeated") == 1)
        code, content_type, body = await get(settings, "/metrics")
        assert (code, content_type) == (200, "text/plain")
        text = body.decode()
        for line in (
            'openspot_venue_ticks_total{kind="bookTicker"}',
            'openspot_venue_ticks_total{kind="trade"}',
            'openspot_venue_dropped_total{kind="trade",reason="repeated"}',
            "openspot_venue_sessions_total",
            "openspot_venue_waiting_ticks",
            'openspot_venue_lag_seconds_bucket{kind="trade",le="1.0"}',
        ):
            assert f"\n{line}" in text
        assert counts("openspot_venue_ticks_total", kind="bookTicker") == 1
        assert counts("openspot_venue_ticks_total", kind="trade") == 2
        assert counts("openspot_venue_lag_seconds_count", kind="trade") == 2
        assert counts("openspot_venue_lag_seconds_count", kind="bookTicker") == 0


@pytest.mark.spec("B4.7-01")
@pytest.mark.parametrize("path", ["/", "/docs", "/openapi.json", "/venues", "/api/v1/health", "/health/x", "/ticks"])
async def test_nothing_else_is_served(venue_settings: VenueSettings, path: str) -> None:
    async with running_simulator() as venue, running_adapter(settings := of(venue_settings, venue)):
        assert await status(settings, path) == 404


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"venue": ""}, "OPENSPOT_VENUE is not set"),
        ({"venue": "atlantis"}, "OPENSPOT_VENUE: ccxt has no venue 'atlantis'"),
        pytest.param(
            {"venue": "binance,kraken"},
            "OPENSPOT_VENUE: ccxt has no venue 'binance,kraken'",
            marks=pytest.mark.spec("A1.2-20"),
            id="no failover between venues",
        ),
        ({"venue_config": "{"}, "OPENSPOT_VENUE_CONFIG is not JSON"),
        ({"venue_config": "[]"}, "OPENSPOT_VENUE_CONFIG must be a JSON object"),
        ({"venue_symbols": "BTC-EUR=BTC/EUR"}, "OPENSPOT_VENUE_SYMBOLS: .*no symbol 'BTC-EUR'"),
    ],
)
async def test_a_bad_setting_ends_the_service_with_its_name(
    venue_settings: VenueSettings, changes: dict[str, str], reason: str
) -> None:

    with pytest.raises(VenueSettingError, match=reason):
        await asyncio.wait_for(run(venue_settings.model_copy(update=changes), asyncio.Event()), stretched(60))
