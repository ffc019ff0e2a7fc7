"""Conversions, stakes and payments through the real edge and the real engine."""

import json
from typing import Any

from openspot.domain.ids import (
    CONVERSIONS_ACCOUNT_ID,
    FEE_ACCOUNT_ID,
    PAYMENTS_ACCOUNT_ID,
    STAKING_ACCOUNT_ID,
)
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.rest_edge.common.payload_digest import payload_digest
from tests.support.engine_client import EngineClient
from tests.support.fair_prices import FakeFairPrices
from tests.support.in_process_platform import running
from tests.support.rest_client import RestClient
from tests.support.waiting import eventually

CALLBACK_SECRET = "callback-secret-of-thirty-two-bytes-or-more"


async def totals(engine: EngineClient, account: str) -> dict[str, str]:
    return {currency: row.total for currency, row in (await engine.balances(account)).items() if row.total != "0"}


async def test_money_moves_in_the_engine_exactly_as_the_products_say(settings: Settings, bus: Bus) -> None:
    settings = settings.model_copy(update={"payment_callback_secret": CALLBACK_SECRET, "conversion_standing_s": 0})
    prices = FakeFairPrices(settings)
    await prices.start()
    await prices.publish("BTC-USD", "100")
    async with running(settings, "engine", "rest-edge"):
        engine, edge = EngineClient(settings), RestClient(settings)
        try:
            edge.as_user("u1")
            await engine.fund("u1", USD="5000", USDT="100")
            await engine.fund("maker", BTC="10")
            await engine.fund(CONVERSIONS_ACCOUNT_ID, BTC="50")
            placed = await engine.place("sell", "100.00", "10", "maker")
            assert placed.result_code == "SUCCESS", placed
            await _convert(engine, edge)
            await _stake(engine, edge)
            await _pay(engine, edge)
        finally:
            await edge.close()
            await engine.close()
            await prices.stop()


async def _convert(engine: EngineClient, edge: RestClient) -> None:
    wanted = {"fromAsset": "USD", "toAsset": "BTC", "fromAmount": "200"}
    quote = (await edge("POST", "/conversions/quote", wanted)).body
    assert (quote["toAmount"], quote["spreadAmount"]) == ("1.99", "1")
    body = {"quoteId": quote["quoteId"]}
    done = await edge("POST", "/conversions", body)
    assert done.status == 201, done.body
    assert done.body["status"] == "completed"
    assert (await edge("POST", "/conversions", body)).body == done.body
    assert await totals(engine, "u1") == {"USD": "4800", "USDT": "100", "BTC": "1.99"}
    assert await totals(engine, CONVERSIONS_ACCOUNT_ID) == {"USD": "199", "BTC": "48.01"}
    assert await totals(engine, FEE_ACCOUNT_ID) == {"USD": "1"}
    # Money that is spent between quote and execution: refused by the engine, and nothing moves.
    poor = (await edge("POST", "/conversions/quote", wanted)).body
    edge.as_user("u2")
    theirs = (await edge("POST", "/conversions/quote", wanted)).body
    refused = await edge("POST", "/conversions", {"quoteId": theirs["quoteId"]})
    assert (refused.status, refused.message) == (400, "RISK_NSF")
    assert (await edge("POST", "/conversions", {"quoteId": poor["quoteId"]})).status == 404
    edge.as_user("u1")


async def _stake(engine: EngineClient, edge: RestClient) -> None:
    staked = await edge("POST", "/staking/stake", {"productId": "usdt-flexible", "amount": "60"})
    assert (staked.status, staked.body["status"]) == (201, "active")
    assert await totals(engine, STAKING_ACCOUNT_ID) == {"USDT": "60"}
    taken = await edge("POST", "/staking/unstake", {"balanceId": staked.body["id"], "amount": "20"})
    assert (taken.status, taken.body["status"]) == (201, "paid")
    assert await totals(engine, STAKING_ACCOUNT_ID) == {"USDT": "40"}
    assert (await totals(engine, "u1"))["USDT"] == "60"


async def _pay(engine: EngineClient, edge: RestClient) -> None:
    wanted = {"routeId": "development-usd", "amount": "100", "currency": "USD"}
    session = (await edge("POST", "/payments/session", wanted)).body
    word: dict[str, Any] = {"eventId": "e1", "paymentId": session["id"], "paymentStatus": "paid"}
    raw = json.dumps(word | {"amount": "100", "currency": "USD"}).encode()
    digest = {"X-Payload-Digest": payload_digest(CALLBACK_SECRET, raw)}
    assert (await edge("POST", "/payments/callback", raw=raw, headers=digest)).status == 200
    # No router runs here to carry the deposit out: the credit is owed until the money is there.
    assert (await edge("GET", f"/payments/{session['id']}")).body["credited"] is False
    await engine.fund(PAYMENTS_ACCOUNT_ID, USD="100")

    async def credited() -> bool:
        return bool((await edge("GET", f"/payments/{session['id']}")).body["credited"])

    await eventually(credited)
    assert (await totals(engine, "u1"))["USD"] == "4898.2"
    assert await totals(engine, PAYMENTS_ACCOUNT_ID) == {"USD": "1.8"}
