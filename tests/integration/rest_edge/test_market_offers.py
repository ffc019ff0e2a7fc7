"""A coin that an operator lists and offers: conversions, payments and staking follow without a restart, both ways."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from openspot.domain.ids import CONVERSIONS_ACCOUNT_ID, PAYMENTS_ACCOUNT_ID
from openspot.http.operators import OperatorRole
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.rest_edge.common.payload_digest import payload_digest
from tests.integration.rest_edge.test_operator_markets import DOGE_USD, trail
from tests.support.coin_pictures import SVG, brand_with_coins
from tests.support.edge_operators import make_operator
from tests.support.engine_client import EngineClient, running_engine
from tests.support.fair_prices import FakeFairPrices
from tests.support.rest_client import RestClient, running_edge
from tests.support.waiting import eventually

CALLBACK_SECRET = "callback-secret-of-thirty-two-bytes-or-more"
PAYMENTS = {"minimum": "5", "maximum": "1000", "feeBps": 100, "feeFixed": "0.5"}
STAKING = {
    "apr": "0.04", "lockDays": 0, "unbondingDays": 0, "earlyRedemption": "allowed", "minimum": "1", "maximum": "100",
    "capacity": "1000",
}  # fmt: skip
OFFERED = {"offers": ["conversions", "payments", "staking"], "payments": PAYMENTS, "staking": STAKING}


@pytest.fixture
def live(settings: Settings, tmp_path: Path) -> Settings:
    """A platform whose services follow what operators list."""
    brand = brand_with_coins(tmp_path, doge_svg=SVG)
    return settings.model_copy(
        update={
            "markets": "live", "rules": "complete", "brand_folder": brand, "conversion_standing_s": 0,
            "payment_callback_secret": CALLBACK_SECRET,
        }
    )  # fmt: skip


def offers(edge: RestClient, expected: bool) -> Callable[[], Awaitable[bool]]:
    """Whether all three services offer DOGE, or none does, as anybody sees it."""

    async def agree() -> bool:
        paths = ("/conversions/pairs", "/payments/routes", "/staking/products", "/fees/payment")
        lists = [(await edge("GET", path)).body for path in paths]
        return all(any("DOGE" in row.values() for row in rows) is expected for rows in lists)

    return agree


async def test_three_services_follow_an_offer_and_its_end_without_a_restart(
    live: Settings, bus: Bus, pool: asyncpg.Pool
) -> None:
    prices = FakeFairPrices(live)
    await prices.start()
    try:
        async with running_engine(live) as engine, running_edge(live) as edge:
            await make_operator(edge, pool, "ada@example.org", OperatorRole.MARKET_OPERATIONS)
            operator = edge.token
            assert (await edge("POST", "/operator/markets", DOGE_USD | {"status": "open"})).status == 201
            assert (await edge("GET", "/operator/markets/DOGE-USD")).body["terms"]["offers"] == []
            await eventually(offers(edge, False))
            body = OFFERED | {"reason": "it is liquid now"}
            assert (await edge("PATCH", "/operator/markets/DOGE-USD", body)).status == 200
            await eventually(offers(edge, True))

            edge.as_user("u1")
            await _convert(engine, edge, prices)
            stake = await _stake(engine, edge)
            payment = await _open_payment(edge)

            edge.token = operator
            body = {"offers": [], "reason": "the maker has left"}
            assert (await edge("PATCH", "/operator/markets/DOGE-USD", body)).status == 200
            await eventually(offers(edge, False))
            edge.as_user("u1")
            await _nothing_new(edge)
            # What was begun goes on: the stake is taken back, and the payment is credited.
            taken = await edge("POST", "/staking/unstake", {"balanceId": stake})
            assert (taken.status, taken.body["status"]) == (201, "paid")
            await _pay(engine, edge, payment)
            assert (await engine.balances("u1"))["DOGE"].total == "198.5"

            entries = [entry for entry in await trail(pool) if entry["action"] == "markets.change"]
            assert [entry["reason"] for entry in entries] == ["it is liquid now", "the maker has left"]
            assert entries[1]["before"] == {"offers": "conversions, payments, staking"}
            assert entries[1]["after"] == {"offers": ""}
    finally:
        await prices.stop()


async def test_an_edge_that_begins_without_the_engine_opens_nothing_again_and_breaks_no_lock(
    live: Settings, bus: Bus, pool: asyncpg.Pool
) -> None:
    locked = STAKING | {"lockDays": 365, "earlyRedemption": "not_allowed"}
    async with running_engine(live) as engine, running_edge(live) as edge:
        await make_operator(edge, pool, "ada@example.org", OperatorRole.MARKET_OPERATIONS)
        operator = edge.token
        body = {"offers": ["conversions", "staking"], "staking": locked, "reason": "it is liquid"}
        assert (await edge("PATCH", "/operator/markets/BTC-USD", body)).status == 200

        async def offered() -> bool:
            return (await edge("GET", "/staking/products/market-btc-usd")).status == 200

        await eventually(offered)
        await engine.fund("u1", BTC="10")
        edge.as_user("u1")
        staked = await edge("POST", "/staking/stake", {"productId": "market-btc-usd", "amount": "5"})
        assert (staked.status, staked.body["status"]) == (201, "active")
        edge.token = operator
        body = {"offers": [], "reason": "it is liquid no more"}
        assert (await edge("PATCH", "/operator/markets/BTC-USD", body)).status == 200
    take_back = {"balanceId": staked.body["id"]}
    quote = {"fromAsset": "USD", "toAsset": "BTC", "toAmount": "1"}
    async with running_edge(live) as edge:
        edge.as_user("u1")
        for method, path, request in (
            ("GET", "/conversions/pairs", None), ("GET", "/payments/routes", None), ("GET", "/fees/payment", None),
            ("GET", "/staking/products", None), ("POST", "/conversions/quote", quote),
            ("POST", "/staking/stake", {"productId": "market-btc-usd", "amount": "5"}),
            ("POST", "/staking/unstake", take_back),
        ):  # fmt: skip
            reply = await edge(method, path, request)
            assert (path, reply.status) == (path, 503)
            assert "has not said yet what its markets offer" in reply.message
        async with running_engine(live):

            async def known() -> bool:
                return (await edge("GET", "/staking/products")).status == 200

            await eventually(known)
            assert (await edge("GET", "/staking/products/market-btc-usd")).status == 404
            assert (await edge("POST", "/conversions/quote", quote)).code == "PAIR_NOT_FOUND"
            refused = await edge("POST", "/staking/unstake", take_back)
            assert (refused.status, refused.code) == (409, "STAKE_LOCKED")


async def _convert(engine: EngineClient, edge: RestClient, prices: FakeFairPrices) -> None:
    """Nobody but a maker trades here, so the house deals at a price alone that somebody else confirms."""
    await engine.fund("u1", USD="100", DOGE="10")
    await engine.fund("maker", DOGE="1000")
    await engine.fund(CONVERSIONS_ACCOUNT_ID, DOGE="500")
    placed = await engine.place("sell", "1", "1", "maker", symbol="DOGE-USD", price=1_000, quantity=10_000)
    assert placed.result_code == "SUCCESS", placed
    wanted = {"fromAsset": "USD", "toAsset": "DOGE", "toAmount": "90"}
    await prices.publish("DOGE-USD", "0.1")

    async def unconfirmed() -> bool:
        reply = await edge("POST", "/conversions/quote", wanted)
        assert (reply.status, reply.code) == (409, "PRICE_UNCERTAIN")
        return "neither a venue nor the operator confirms it" in reply.message

    await eventually(unconfirmed)
    await prices.publish("DOGE-USD", "0.1", is_confirmed=True)

    async def quoted() -> Any:
        reply = await edge("POST", "/conversions/quote", wanted)
        return reply.body if reply.status == 201 else None

    quote = await eventually(quoted)
    done = await edge("POST", "/conversions", {"quoteId": quote["quoteId"]})
    assert (done.status, done.body["status"]) == (201, "completed")
    assert (await engine.balances("u1"))["DOGE"].total == "100"


async def _stake(engine: EngineClient, edge: RestClient) -> str:
    staked = await edge("POST", "/staking/stake", {"productId": "market-doge-usd", "amount": "60"})
    assert (staked.status, staked.body["status"]) == (201, "active")
    assert (await engine.balances("u1"))["DOGE"].total == "40"
    return str(staked.body["id"])


async def _open_payment(edge: RestClient) -> str:
    body = {"routeId": "market-doge-usd", "amount": "100", "currency": "DOGE"}
    opened = await edge("POST", "/payments/session", body)
    assert opened.status == 201, opened.body
    return str(opened.body["id"])


async def _nothing_new(edge: RestClient) -> None:
    quote = {"fromAsset": "USD", "toAsset": "DOGE", "toAmount": "1"}
    payment = {"routeId": "market-doge-usd", "amount": "100", "currency": "DOGE"}
    for path, body, code in (
        ("/conversions/quote", quote, "PAIR_NOT_FOUND"),
        ("/payments/session", payment, "PAYMENT_ROUTE_NOT_FOUND"),
        ("/staking/stake", {"productId": "market-doge-usd", "amount": "1"}, "PRODUCT_NOT_FOUND"),
    ):
        reply = await edge("POST", path, body)
        assert (reply.status, reply.code) == (404, code)


async def _pay(engine: EngineClient, edge: RestClient, payment_id: str) -> None:
    event = {"eventId": "e1", "paymentId": payment_id, "paymentStatus": "paid", "amount": "100", "currency": "DOGE"}
    raw = json.dumps(event).encode()
    digest = {"X-Payload-Digest": payload_digest(CALLBACK_SECRET, raw)}
    assert (await edge("POST", "/payments/callback", raw=raw, headers=digest)).status == 200
    # No router runs here to carry the deposit out: the credit is owed until the money is there.
    await engine.fund(PAYMENTS_ACCOUNT_ID, DOGE="100")

    async def credited() -> bool:
        return bool((await edge("GET", f"/payments/{payment_id}")).body["credited"])

    await eventually(credited)
    # The fee: 1 % and the fixed part.
    assert (await engine.balances(PAYMENTS_ACCOUNT_ID))["DOGE"].total == "1.5"
