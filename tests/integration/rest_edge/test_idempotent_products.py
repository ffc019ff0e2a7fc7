"""`Idempotency-Key` on the routes that move money: one key is one operation, on any edge and after a crash."""

import asyncio
from typing import Any

import asyncpg
import pytest

from openspot.domain.ids import CONVERSIONS_ACCOUNT_ID
from tests.support.asgi import Reply
from tests.support.edge_products import EdgeProducts

STAKING = """
[products.flexible]
asset = "BTC"
type = "flexible"
apr = "0.01"
unbonding_days = 0
minimum = "0.001"
maximum = "10"
capacity = "15"
"""
STAKE = {"productId": "flexible", "amount": "1"}
SESSION = {"routeId": "development-usd", "amount": "100", "currency": "USD"}
ROWS = {
    "/staking/stake": "SELECT count(*) FROM staking_balances",
    "/staking/unstake": "SELECT count(*) FROM staking_unstakes",
    "/payments/session": "SELECT count(*) FROM payments",
    "/conversions": "SELECT count(*) FROM conversions",
}
Edges = tuple[EdgeProducts, EdgeProducts]


@pytest.fixture
def edges(pool: asyncpg.Pool, tmp_path: Any) -> Edges:
    """Two edges on one database and engine; u1 has 20 BTC and 5,000 USD."""
    path = tmp_path / "staking.toml"
    path.write_text(STAKING)
    first = EdgeProducts(pool, staking_file=str(path))
    first.transfers.fund("u1", "BTC", "20")
    first.transfers.fund("u1", "USD", "5000")
    first.transfers.fund(CONVERSIONS_ACCOUNT_ID, "BTC", "100")
    second = EdgeProducts(pool, first.transfers, staking_file=str(path))
    for edge in (first, second):
        edge.fair_prices.set("BTC-USD", "100")
        edge.queries.books["BTC-USD"] = ([("99", "100")], [("100", "5"), ("110", "100")])
    return first, second


async def send(edge: EdgeProducts, path: str, body: Any, key: str = "k1") -> Reply:
    return await edge("POST", path, body, headers={"idempotency-key": key})


async def body_for(edge: EdgeProducts, path: str) -> Any:
    """A body that the route takes, after what must be there before."""
    if path == "/staking/unstake":
        stake = await edge("POST", "/staking/stake", STAKE)
        return {"balanceId": stake.json["id"], "amount": "0.25"}
    if path == "/conversions":
        wanted = {"fromAsset": "USD", "toAsset": "BTC", "fromAmount": "1000"}
        return {"quoteId": (await edge("POST", "/conversions/quote", wanted)).json["quoteId"]}
    return STAKE if path == "/staking/stake" else SESSION


async def forget_the_response(pool: asyncpg.Pool) -> None:
    """Leave what a crash leaves between the work and the stored response, when the claim has lapsed."""
    await pool.execute("UPDATE idempotency_keys SET status = NULL, headers = NULL, body = NULL, claimed_until = now()")


@pytest.mark.parametrize("path", ROWS)
async def test_one_key_is_one_operation_on_every_edge(edges: Edges, path: str, pool: asyncpg.Pool) -> None:
    body = await body_for(edges[0], path)
    first = await send(edges[0], path, body)
    assert first.status == 201, first.json
    held = dict(edges[0].transfers.balances)
    for edge in edges:
        again = await send(edge, path, body)
        assert (again.status, again.json, again.header("idempotency-hit")) == (201, first.json, "true")
    assert await pool.fetchval(ROWS[path]) == 1
    assert edges[0].transfers.balances == held


@pytest.mark.parametrize("path", ROWS)
async def test_a_crash_before_the_response_was_stored_does_not_repeat_the_operation(
    edges: Edges, path: str, pool: asyncpg.Pool
) -> None:
    body = await body_for(edges[0], path)
    first = await send(edges[0], path, body)
    assert first.status == 201, first.json
    held = dict(edges[0].transfers.balances)
    await forget_the_response(pool)
    again = await send(edges[1], path, body)
    assert (again.status, again.json, again.header("idempotency-hit")) == (201, first.json, None)
    assert await pool.fetchval(ROWS[path]) == 1
    assert edges[0].transfers.balances == held
    assert (await send(edges[0], path, body)).header("idempotency-hit") == "true"


@pytest.mark.parametrize("path", ROWS)
async def test_of_many_at_once_one_operation_is_done(edges: Edges, path: str, pool: asyncpg.Pool) -> None:
    body = await body_for(edges[0], path)
    replies = await asyncio.gather(*(send(edges[number % 2], path, body) for number in range(10)))
    assert {reply.status for reply in replies} <= {201, 409}
    assert {reply.json["code"] for reply in replies if reply.status == 409} <= {"IDEMPOTENCY_KEY_IN_USE"}
    assert len({reply.json["id"] for reply in replies if reply.status == 201}) == 1
    assert await pool.fetchval(ROWS[path]) == 1


async def test_a_stake_whose_outcome_was_lost_is_one_stake(edges: Edges, pool: asyncpg.Pool) -> None:
    edges[0].transfers.faults = ["lost"]
    first = await send(edges[0], "/staking/stake", STAKE)
    assert (first.status, first.json["status"]) == (201, "pending")
    await forget_the_response(pool)
    again = await send(edges[1], "/staking/stake", STAKE)
    assert again.json["id"] == first.json["id"]
    assert edges[0].transfers.held("u1", "BTC") == "19"


async def test_a_stake_that_was_certainly_not_sent_is_made_anew(edges: Edges, pool: asyncpg.Pool) -> None:
    edges[0].transfers.faults = ["unsent"]
    refused = await send(edges[0], "/staking/stake", STAKE)
    assert (refused.status, refused.json["code"]) == (503, "ENGINE_UNREACHABLE")
    again = await send(edges[1], "/staking/stake", STAKE)
    assert (again.status, again.json["status"]) == (201, "active")
    assert edges[0].transfers.held("u1", "BTC") == "19"


async def test_a_refused_stake_is_refused_again(edges: Edges, pool: asyncpg.Pool) -> None:
    body = STAKE | {"amount": "9"}
    edges[0].transfers.balances["u1", "BTC"] = 0
    refused = await send(edges[0], "/staking/stake", body)
    assert (refused.status, refused.json["message"]) == (400, "RISK_NSF")
    edges[0].transfers.fund("u1", "BTC", "20")
    stored = await send(edges[1], "/staking/stake", body)
    assert (stored.status, stored.json["code"], stored.header("idempotency-hit")) == (400, "TRANSFER_REFUSED", "true")
    await forget_the_response(pool)
    assert (await send(edges[1], "/staking/stake", body)).json["message"] == "RISK_NSF"
    assert edges[0].transfers.held("u1", "BTC") == "20"


async def test_one_users_key_is_not_anothers(edges: Edges, pool: asyncpg.Pool) -> None:
    first = await send(edges[0], "/payments/session", SESSION)
    headers = {"idempotency-key": "k1"}
    other = await edges[0]("POST", "/payments/session", SESSION, user="u2", headers=headers)
    assert (other.status, other.header("idempotency-hit")) == (201, None)
    assert other.json["id"] != first.json["id"]
