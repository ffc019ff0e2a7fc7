"""Fees of networks and payments, pinned quotes, token holders, and the settings routes."""

from typing import Any

import asyncpg
import pytest

from openspot import __version__
from openspot.domain.networks import load_networks
from openspot.engine_client.errors import EngineUnreachableError
from openspot.rest_edge.funds.fees.network_fees import FeeQuotes
from openspot.rest_edge.funds.fees.schemas import NetworkFeeQuoteResponse, NetworkFeeResponse
from openspot.rest_edge.notifications.schemas import NotificationPreferenceResponse
from openspot.rest_edge.site_settings.schemas import SystemResponse
from tests.support.edge_products import EdgeProducts


@pytest.fixture
def edge(pool: asyncpg.Pool) -> EdgeProducts:
    return EdgeProducts(pool)


BITCOIN = load_networks()["bitcoin"].assets["BTC"]


@pytest.mark.spec("B4.1-58")
async def test_a_network_fee_is_quoted_and_stays_pinned_for_five_minutes(edge: EdgeProducts) -> None:
    reply = await edge("GET", "/fees/network?asset=BTC&network=bitcoin&amount=0.5")
    quote = NetworkFeeQuoteResponse.model_validate(reply.json)
    assert (quote.amount, quote.expires_at) == ("0.5", "2026-03-01T12:05:00.000Z")
    assert (quote.fee, quote.minimum) == (f"{BITCOIN.fee.normalize():f}", f"{BITCOIN.minimum.normalize():f}")
    assert quote.net_amount == "0.4999"
    quotes = FeeQuotes(edge.pool)
    about = quote.fee_quote_id, "u1", "BTC", "bitcoin"
    for _ in range(2):
        pinned = await quotes.find(*about, edge.now)
        assert pinned is not None
        assert pinned.fee == int(BITCOIN.fee * 10**18)
    # Nobody else can use it, nor for anything else, nor later.
    assert await quotes.find(quote.fee_quote_id, "u2", "BTC", "bitcoin", edge.now) is None
    assert await quotes.find(quote.fee_quote_id, "u1", "USDT", "bitcoin", edge.now) is None
    assert await quotes.find(quote.fee_quote_id, "u1", "BTC", "tron", edge.now) is None
    edge.pass_time(minutes=5)
    assert await quotes.find(*about, edge.now) is None
    await edge.fees.network.delete_expired()
    assert await edge.pool.fetchval("SELECT count(*) FROM fee_quotes") == 0


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ("asset=BTC&network=tron&amount=1", 404, "BTC cannot be withdrawn over tron"),
        ("asset=DOGE&network=bitcoin&amount=1", 404, "DOGE cannot be withdrawn over bitcoin"),
        ("asset=BTC&network=bitcoin&amount=0.0001", 400, ["amount must be at least 0.0005 BTC"]),
        ("asset=BTC&network=bitcoin&amount=x", 400, ["amount is not a plain decimal number such as 0.015"]),
        ("asset=BTC&network=bitcoin", 400, ["amount is required"]),
        ("asset=BTC&network=Bit'coin&amount=1", 400, ["network has characters that are not allowed"]),
    ],
)
async def test_a_bad_question_for_a_fee_names_the_reason(
    edge: EdgeProducts, query: str, status: int, said: Any
) -> None:
    reply = await edge("GET", f"/fees/network?{query}")
    assert (reply.status, reply.json["message"]) == (status, said)


@pytest.mark.spec("B4.1-59", "B4.1-60")
async def test_all_fees_are_public(edge: EdgeProducts) -> None:
    networks = [NetworkFeeResponse.model_validate(row) for row in (await edge("GET", "/fees/network/all")).json]
    assert {(row.asset, row.network) for row in networks} == {
        (asset, name) for name, network in load_networks().items() for asset in network.assets
    }
    assert (await edge("GET", "/fees/payment")).json == [
        {"routeId": "development-brl", "currency": "BRL", "feeBps": 100, "feeFixed": "0"},
        {"routeId": "development-usd", "currency": "USD", "feeBps": 150, "feeFixed": "0.3"},
    ]


@pytest.mark.spec("A2.7-19", "A2.7-20", "B4.1-61")
async def test_a_token_holder_is_shown_the_token_holders_rates(pool: asyncpg.Pool) -> None:
    edge = EdgeProducts(pool, fee_token="USDC", fee_token_minimum="500")
    edge.transfers.fund("u1", "USDC", "499")
    edge.transfers.fund("u2", "USDC", "500")
    others = (await edge("GET", "/fees/trading", user="u1")).json
    assert (others["tier"], others["makerRate"], others["takerRate"]) == ("Bronze", "0.0016", "0.0026")
    holder = (await edge("GET", "/fees/trading", user="u2")).json
    assert (holder["makerRate"], holder["takerRate"], holder["tokenHolder"]["isHolder"]) == ("0.0003", "0.0006", True)
    edge.queries.fault = EngineUnreachableError("gone")
    assert (await edge("GET", "/fees/trading", user="u2")).status == 503


@pytest.mark.spec("B4.1-75", "B4.1-76")
async def test_countries_and_provinces(edge: EdgeProducts) -> None:
    countries = (await edge("GET", "/settings/countries", user=None)).json
    assert {"code": "BR", "alpha3": "BRA", "numeric": "076", "name": "Brazil"} in countries
    provinces = (await edge("GET", "/settings/provinces?country=BR", user=None)).json
    assert {"code": "BR-SP", "name": "São Paulo", "type": "State", "parent": None} in provinces
    assert (await edge("GET", "/settings/provinces?country=AQ", user=None)).json == []
    assert (await edge("GET", "/settings/provinces?country=XX", user=None)).status == 404
    for query in ("", "?country=br", "?country=BRA", "?country=%00"):
        assert (await edge("GET", f"/settings/provinces{query}", user=None)).status == 400


@pytest.mark.spec("B4.1-77")
async def test_notification_settings_are_kept_for_each_user_and_event(edge: EdgeProducts) -> None:
    rows = [
        NotificationPreferenceResponse.model_validate(row)
        for row in (await edge("GET", "/settings/notifications")).json
    ]
    # A program that trades fills thousands of orders a day, and hears of a refusal at once.
    assert [row.event for row in rows if not row.email or not row.websocket] == ["order_filled", "order_refused"]
    off = {"email": False, "websocket": False}
    for row in rows:
        reply = await edge("PUT", f"/settings/notifications/{row.event}", off)
        # Security mail is always on, and so is that of a position without its stop.
        assert reply.status == (409 if row.email_is_required else 200)
    after = {row["event"]: row for row in (await edge("GET", "/settings/notifications")).json}
    assert {event for event, row in after.items() if row["email"]} == {
        "new_login", "password_changed", "mfa_changed", "api_key_changed", "withdrawal_requested",
        "withdrawal_address_changed", "order_list_not_armed",
    }  # fmt: skip
    assert (await edge("PUT", "/settings/notifications/new_login", {"email": True, "websocket": False})).status == 200
    others = (await edge("GET", "/settings/notifications", user="u2")).json
    assert all(row["email"] and row["websocket"] for row in others if not row["event"].startswith("order_"))
    assert (await edge("PUT", "/settings/notifications/nothing", off)).status == 400
    assert (await edge("PUT", "/settings/notifications/new_login", {"email": "yes"})).status == 400


@pytest.mark.spec("B4.1-78", "B4.1-79")
async def test_the_system_settings_tell_what_the_edge_runs_with(pool: asyncpg.Pool) -> None:
    edge = EdgeProducts(pool, throttle_enabled=False, conversion_quote_s=7, body_bytes_max=2048)
    assert (await edge("GET", "/settings/sso", user=None)).json == {"enabled": False, "providers": []}
    system = SystemResponse.model_validate((await edge("GET", "/settings/system", user=None)).json)
    assert (system.version, system.server_time) == (__version__, "2026-03-01T12:00:00.000Z")
    assert (system.throttling_enabled, system.throttle_tiers) == (False, [])
    assert (system.conversion_quote_seconds, system.body_bytes_max) == (7, 2048)
    throttled = (await EdgeProducts(pool)("GET", "/settings/system", user=None)).json
    assert throttled["throttleTiers"][0] == {"name": "short", "requests": 10, "seconds": 1}
