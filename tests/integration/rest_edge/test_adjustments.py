"""Adjustments through the real edge and the real engine: money moves once, by one person or by two."""

import asyncio
from datetime import timedelta

import asyncpg

from openspot.domain.ids import ADJUSTMENTS_ACCOUNT_ID, EXTERNAL_ACCOUNT_ID
from openspot.http.operators import Operator
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.rest_edge.operators.acting import Acting, record
from openspot.rest_edge.operators.booking.store import BOOKED, SUBJECT_KIND
from tests.support.authenticator import register
from tests.support.edge_operators import link_owners
from tests.support.engine_client import EngineClient
from tests.support.fair_prices import FakeFairPrices
from tests.support.house_money import approve, assert_another_approves_once, treasurer
from tests.support.in_process_platform import running
from tests.support.rest_client import RestClient
from tests.support.waiting import eventually_served

ADA, BOB, CAS, EVE = "ada@example.org", "bob@example.org", "cas@example.org", "eve@example.org"
WHY = {"reason": "delayed withdrawal, ticket 4711"}


async def total(engine: EngineClient, account: str, asset: str) -> str:
    balances = await engine.balances(account)
    return balances[asset].total if asset in balances else "0"


async def test_money_is_given_and_taken_once_and_beyond_the_bound_by_two_persons(
    settings: Settings, bus: Bus, pool: asyncpg.Pool
) -> None:
    settings = settings.model_copy(update={"adjustment_alone_limit": 100, "operator_request_s": 3600})
    prices = FakeFairPrices(settings)
    await prices.start()
    await prices.publish("BTC-USD", "50")
    async with (
        running(settings, "engine", "rest-edge"),
        treasurer(settings, pool, ADA) as ada,
        treasurer(settings, pool, BOB) as bob,
        treasurer(settings, pool, CAS) as cas,
    ):
        engine, user = EngineClient(settings), RestClient(settings)
        try:
            eve = await register(user, EVE)
            await link_owners(pool, ADA, CAS)
            await engine.fund(ADJUSTMENTS_ACCOUNT_ID, USD="500", BTC="10")
            await _alone(engine, ada, eve)
            await _together(engine, ada, bob, cas, eve, pool)
        finally:
            for client in (engine, user):
                await client.close()
            await prices.stop()


async def _alone(engine: EngineClient, ada: RestClient, eve: str) -> None:
    path = f"/operator/users/{eve}/adjustments"

    async def priced() -> bool:
        # The value is known as soon as the edge has heard the price.
        return (await ada("POST", path, {"asset": "BTC", "amount": "1", "category": "goodwill"} | WHY)).body[
            "status"
        ] == "done"

    await eventually_served(priced)
    key = {"Idempotency-Key": "adjust-1"}
    given = {"asset": "USD", "amount": "30", "category": "goodwill"} | WHY
    first = await ada("POST", path, given, headers=key)
    assert (first.status, first.body["status"], first.body["valueUsd"]) == (201, "done", "30.00")
    assert (await ada("POST", path, given, headers=key)).body["id"] == first.body["id"]
    taken = await ada("POST", path, {"asset": "USD", "amount": "-10", "category": "correction"} | WHY)
    assert taken.body["status"] == "done"
    assert await total(engine, eve, "USD") == "20"
    # Nobody has what is not there: refused, and nothing moves.
    poor = await ada("POST", path, {"asset": "USDT", "amount": "1", "category": "refund"} | WHY)
    assert poor.body["status"] in ("refused", "waiting")
    for bad in ({"amount": "0"}, {"asset": "NOPE"}, {"amount": "0.001"}, {"category": "gift"}, {"amount": "1e2"}):
        assert (await ada("POST", path, given | bad)).status == 400, bad
    assert (await ada("POST", "/operator/users/nobody/adjustments", given)).code == "USER_NOT_FOUND"
    assert (await ada("GET", "/operator/adjustments/nothing")).code == "ADJUSTMENT_NOT_FOUND"
    assert (await ada("POST", "/operator/users/house:fees/adjustments", given)).code == "USER_NOT_FOUND"


async def _together(
    engine: EngineClient, ada: RestClient, bob: RestClient, cas: RestClient, eve: str, pool: asyncpg.Pool
) -> None:
    path = f"/operator/users/{eve}/adjustments"
    before = await total(engine, eve, "USD")
    # 50 (1 BTC) + 30 + 10 are used, and 4 that were booked in the ledger alone; many small ones at once are no way
    # around the bound of 100, nor is an account that has the same owner.
    await _book_alone(pool, (await ada("GET", "/operator/session")).body["operator"], cents=400)
    small = {"asset": "USD", "amount": "4", "category": "goodwill"} | WHY
    replies = await asyncio.gather(*(each("POST", path, small) for each in (ada, cas, cas, ada, cas)))
    assert sorted(reply.body["status"] for reply in replies) == ["done", *["waiting"] * 4]
    assert await total(engine, eve, "USD") == "24" and before == "20"
    asked = (await ada("POST", path, {"asset": "USD", "amount": "200", "category": "refund"} | WHY)).body
    assert asked["status"] == "waiting"
    life = "SELECT expires_at - requested_at FROM operator_requests WHERE request_id = $1"
    assert await pool.fetchval(life, asked["id"]) == timedelta(hours=1)
    await assert_another_approves_once(ada, bob, asked["id"])
    made = (await bob("GET", f"/operator/adjustments/{asked['id']}")).body
    assert (made["status"], made["amount"], made["approvedBy"] != made["requestedBy"]) == ("done", "200", True)
    assert await total(engine, eve, "USD") == "224"
    # What an approval cannot pay is refused by the engine, and says so.
    much = (await ada("POST", path, {"asset": "USD", "amount": "9000", "category": "refund"} | WHY)).body
    assert (await approve(bob, much["id"])).status == 200
    refused = (await bob("GET", f"/operator/adjustments/{much['id']}")).body
    assert (refused["status"], refused["resultCode"]) == ("refused", "RISK_NSF")
    listed = (await bob("GET", f"/operator/adjustments?userId={eve}&status=refused")).body
    assert much["id"] in [row["id"] for row in listed]
    made_rows = await pool.fetchval("SELECT count(*) FROM adjustments WHERE status = 'done'")
    sent_rows = await pool.fetchval("SELECT count(*) FROM edge_transfers WHERE status = 'done' AND kind = 'adjustment'")
    assert made_rows == sent_rows == await _counted(pool)


async def _book_alone(pool: asyncpg.Pool, operator: str, *, cents: int) -> None:
    """What a run of `openspot ledger book-adjustments` that asks nobody writes into the trail."""
    acting = Acting(Operator(operator, frozenset(), frozenset()), "the ledger lacks it", "", "")
    async with pool.acquire() as connection, connection.transaction():
        await record(connection, acting, BOOKED, SUBJECT_KIND, EXTERNAL_ACCOUNT_ID, {}, {"valueCents": str(cents)})


async def _counted(pool: asyncpg.Pool) -> int:
    """How many adjustments the trail tells of that were not refused: made alone, or approved."""
    return int(
        await pool.fetchval(
            "SELECT count(*) FROM operator_actions WHERE action IN ('adjustment.made', 'adjustment.approved')"
        )
    ) - int(await pool.fetchval("SELECT count(*) FROM adjustments WHERE status = 'refused'"))
