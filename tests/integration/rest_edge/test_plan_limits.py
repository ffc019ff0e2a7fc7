"""The limits that a plan shows hold at the edge; what a user has already stays."""

import asyncpg

from openspot.contracts import subjects
from openspot.contracts.messages import GetEntitlements, GetEntitlementsReply
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.rest_edge.common.plan_limits import API_KEYS, PRICE_ALERTS, SAVED_ADDRESSES, PlanLimits
from openspot.subscriptions.plans import load_plans
from tests.support.authenticator import register
from tests.support.fake_engine_http import FakeEngineHttp
from tests.support.rest_client import Reply, RestClient


async def make_key(client: RestClient) -> Reply:
    return await client("POST", "/api-keys", {"name": "bot", "scopes": ["read"], "algorithm": "hmac-sha256"})


async def test_a_plan_decides_how_many_keys_a_user_may_make(edge: RestClient, settings: Settings) -> None:
    edge.token = None
    user_id = await register(edge, "ada@example.org")
    limit = 1

    async def answer(request: GetEntitlements) -> GetEntitlementsReply:
        assert request.user_id == user_id
        return GetEntitlementsReply("basic", {API_KEYS: limit})

    bus = await Bus.connect(settings, "subscriptions")
    try:
        await bus.serve(
            subjects.ENTITLEMENTS_GET, "subscriptions", GetEntitlements, answer, GetEntitlementsReply.refused
        )
        assert (await make_key(edge)).status == 201
        refused = await make_key(edge)
        assert (refused.status, refused.code) == (409, "TOO_MANY_API_KEYS")
        assert refused.message == "you may have at most 1 API keys: revoke one, or choose a plan with more"
        limit = 2
        assert (await make_key(edge)).status == 201
        # A plan that ends takes no key away.
        limit = 0
        assert (await make_key(edge)).status == 409
        assert len((await edge("GET", "/api-keys")).body) == 2
    finally:
        await bus.close()


async def test_a_plan_decides_how_many_price_alerts_a_user_may_have(
    edge: RestClient, bus: Bus, engine: FakeEngineHttp
) -> None:
    edge.as_user("u1")
    limit = 1

    async def answer(request: GetEntitlements) -> GetEntitlementsReply:
        assert request.user_id == "u1"
        return GetEntitlementsReply("basic", {PRICE_ALERTS: limit})

    async def add() -> Reply:
        return await edge("POST", "/alerts", {"symbol": "BTC-USD", "direction": "above", "price": "100"})

    await bus.serve(subjects.ENTITLEMENTS_GET, "subscriptions", GetEntitlements, answer, GetEntitlementsReply.refused)
    await bus.check()
    assert (await add()).status == 201
    refused = await add()
    assert (refused.status, refused.code) == (409, "TOO_MANY_ALERTS")
    assert refused.message == "you may have at most 1 price alerts: delete one, or choose a plan with more"
    limit = 2
    assert (await add()).status == 201
    # A plan that ends takes no alert away.
    limit = 0
    assert (await add()).status == 409
    assert len((await edge("GET", "/alerts")).body) == 2


async def test_the_platforms_bound_holds_where_nobody_knows_the_plan(bus: Bus, pool: asyncpg.Pool) -> None:
    assert await PlanLimits(bus, pool).of_user("ada", API_KEYS, 30) == 30


def test_the_plans_name_the_limits_that_the_edge_holds() -> None:
    configuration = load_plans()
    assert set(configuration.free.limits) == {API_KEYS, PRICE_ALERTS, SAVED_ADDRESSES}
