"""The lists of a user's own trades, with fees, and of deposits by chain."""

from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from openspot.rest_edge.funds.withdrawals.schemas import Deposit
from openspot.rest_edge.orders.schemas import OwnTrade
from tests.integration.rest_edge.test_orders import NOW, add_row
from tests.support.records import read_exactly
from tests.support.rest_client import RestClient

TRADES = (
    # number, taker side, buyer, seller
    (1, "buy", "u1", "u2"),
    (2, "sell", "u1", "u2"),
    (3, "buy", "u2", "u1"),
    (4, "sell", "u2", "u1"),
    (5, "buy", "u1", "u1"),
    (6, "buy", "u2", "u3"),
)


async def add_trade(pool: asyncpg.Pool, number: int, taker_side: str, buyer: str, seller: str) -> None:
    """Trade number N of 0.1 × N at 100 + N; the orders are `t<N>` (taker) and `m<N>` (maker)."""
    taker, maker = (buyer, seller) if taker_side == "buy" else (seller, buyer)
    symbol = "ETH-USD" if number == 4 else "BTC-USD"
    for order_id, user_id, side in (
        (f"t{number}", taker, taker_side), (f"m{number}", maker, "sell" if taker_side == "buy" else "buy"),
    ):  # fmt: skip
        await add_row(pool, order_id, user_id=user_id, symbol=symbol, side=side)
    await pool.execute(
        """
        INSERT INTO trades VALUES ($1, $2, $3, $4::text::numeric, $5::text::numeric, $6, $7, $8, $9, $10,
            0.25, 0.15, 'USD', $11)
        """,
        f"epoch-{number}", number, symbol, f"{100 + number}", f"0.{number}", taker_side, f"t{number}", f"m{number}",
        buyer, seller, NOW + timedelta(seconds=number),
    )  # fmt: skip


@pytest.fixture
async def traded(edge: RestClient, pool: asyncpg.Pool) -> RestClient:
    for trade in TRADES:
        await add_trade(pool, *trade)
    return edge


def short(body: list[dict[str, Any]]) -> list[tuple[str, str, str, str]]:
    return [(row["orderId"], row["side"], row["role"], row["fee"]) for row in body]


ALL = [
    ("t5", "buy", "taker", "0.25"), ("m5", "sell", "maker", "0.15"), ("t4", "sell", "taker", "0.25"),
    ("m3", "sell", "maker", "0.15"), ("m2", "buy", "maker", "0.15"), ("t1", "buy", "taker", "0.25"),
]  # fmt: skip


async def test_a_user_sees_each_own_side_of_each_trade_with_its_fee(traded: RestClient) -> None:
    body = (await traded("GET", "/orders/trades")).body
    assert short(body) == ALL
    for row in body:
        read_exactly(row, OwnTrade)
    assert body[-1] == {
        "tradeId": "epoch-1", "orderId": "t1", "symbol": "BTC-USD", "side": "buy", "price": "101", "quantity": "0.1",
        "fee": "0.25", "feeCurrency": "USD", "role": "taker", "sequence": 1, "executedAt": "2026-01-02T03:04:06.678Z",
    }  # fmt: skip


async def test_trades_are_chosen_by_symbol_order_and_time(traded: RestClient) -> None:
    async def found(query: str) -> list[str]:
        return [row["orderId"] for row in (await traded("GET", f"/orders/trades?{query}")).body]

    assert await found("symbol=ETH-USD") == ["t4"]
    assert await found("orderId=m3") == ["m3"]
    assert await found("orderId=t3") == [], "the other side's order is another user's"
    since, until = ((NOW + timedelta(seconds=second)).isoformat().replace("+00:00", "Z") for second in (2, 4))
    assert await found(f"from={since}&to={until}") == ["m3", "m2"], "the first moment is inside, the last is not"
    for query in ("orderId=%00", "symbol=btc", "cursor=x", "from=x", "limit=0"):
        assert (await traded("GET", f"/orders/trades?{query}")).code == "VALIDATION_FAILED"


@pytest.mark.parametrize("limit", [1, 2, 3])
async def test_pages_of_trades_lose_and_repeat_nothing(traded: RestClient, limit: int) -> None:
    seen: list[Any] = []
    cursor = ""
    while True:
        reply = await traded("GET", f"/orders/trades?limit={limit}{cursor}")
        assert len(reply.body) <= limit
        seen += short(reply.body)
        if "X-Next-Cursor" not in reply.headers:
            break
        cursor = f"&cursor={reply.headers['X-Next-Cursor']}"
    assert seen == ALL


async def test_deposits_are_listed_page_by_page_with_their_state(edge: RestClient, pool: asyncpg.Pool) -> None:
    for number, (user_id, asset, confirmed) in enumerate(
        [("u1", "BTC", True), ("u2", "BTC", True), ("u1", "SOL", True), ("u1", "BTC", False)]
    ):
        created = NOW + timedelta(minutes=number)
        await pool.execute(
            "INSERT INTO custody_deposits VALUES ($1, $2, $3, 'net', 'address', 1.5, 7, 3, $4, $5)",
            f"hash{number}", user_id, asset, created, created + timedelta(seconds=9) if confirmed else None,
        )  # fmt: skip
    body = (await edge("GET", "/accounts/deposits")).body
    assert [(row["txHash"], row["status"]) for row in body] == [
        ("hash3", "pending"), ("hash2", "confirmed"), ("hash0", "confirmed"),
    ]  # fmt: skip
    for row in body:
        read_exactly(row, Deposit)
    assert body[2] == {
        "txHash": "hash0", "asset": "BTC", "network": "net", "address": "address", "amount": "1.5",
        "status": "confirmed", "requiredConfirmations": 3, "createdAt": "2026-01-02T03:04:05.678Z",
        "confirmedAt": "2026-01-02T03:04:14.678Z",
    }  # fmt: skip
    first = await edge("GET", "/accounts/deposits?asset=BTC&limit=1")
    rest = await edge("GET", f"/accounts/deposits?asset=BTC&limit=1&cursor={first.headers['X-Next-Cursor']}")
    assert [row["txHash"] for row in first.body + rest.body] == ["hash3", "hash0"]
    assert "X-Next-Cursor" not in rest.headers
    assert (await edge("GET", "/accounts/deposits?cursor=x")).code == "VALIDATION_FAILED"
