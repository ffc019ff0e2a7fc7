"""The lists of a user's own trades, with fees, and of deposits by chain."""

from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from openspot.http.lists import encode_cursor
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


@pytest.mark.parametrize("limit", [1, 2, 9])
async def test_deposits_that_only_the_ledger_knows_stand_among_those_by_chain(
    edge: RestClient, pool: asyncpg.Pool, limit: int
) -> None:
    """By bank, and what `openspot deposit` booked. A deposit that custody has seen is listed once, as custody's."""
    for tx_hash, minute in (("chain-1", 1), ("chain-2", 4)):
        await pool.execute(
            "INSERT INTO custody_deposits VALUES ($1, 'u1', 'BTC', 'bitcoin', 'address', 1.5, 7, 3, $2, $3)",
            tx_hash, NOW + timedelta(minutes=minute), NOW + timedelta(minutes=minute + 1),
        )  # fmt: skip
    for minute, (reference, user_id, asset, entry_type, kind) in enumerate(
        [
            ("bank-1", "u1", "USD", "deposit", "custody"),
            ("operator-0", "u2", "BTC", "deposit", "custody"),
            ("chain-1", "u1", "BTC", "deposit", "custody"),
            ("operator-1", "u1", "BTC", "deposit", "custody"),
            ("fill-1", "u1", "BTC", "trade", "trade"),
            ("chain-2", "u1", "BTC", "deposit", "custody"),
            ("withdrawal-1", "u1", "BTC", "withdrawal", "custody"),
        ]
    ):
        await pool.execute(
            """
            INSERT INTO ledger_entries
                (transaction_id, user_id, asset, amount, balance, entry_type, reference_type, reference_id, created_at)
            VALUES ($1, $2, $3, 2.5, 9, $4, $5, $1, $6)
            """,
            reference, user_id, asset, entry_type, kind, NOW + timedelta(minutes=minute),
        )  # fmt: skip
    rows: list[dict[str, Any]] = []
    cursor = ""
    while True:
        page = await edge("GET", f"/accounts/deposits?limit={limit}{cursor}")
        assert len(page.body) <= limit
        rows += page.body
        if "X-Next-Cursor" not in page.headers:
            break
        cursor = f"&cursor={page.headers['X-Next-Cursor']}"
    assert [(row["txHash"], row["network"], row["address"]) for row in rows] == [
        ("chain-2", "bitcoin", "address"), ("operator-1", "", ""), ("chain-1", "bitcoin", "address"),
        ("bank-1", "wire", ""),
    ]  # fmt: skip
    assert rows[1] == {
        "txHash": "operator-1", "asset": "BTC", "network": "", "address": "", "amount": "2.5", "status": "confirmed",
        "requiredConfirmations": 0, "createdAt": "2026-01-02T03:07:05.678Z", "confirmedAt": "2026-01-02T03:07:05.678Z",
    }  # fmt: skip
    of_dollars = (await edge("GET", "/accounts/deposits?asset=USD")).body
    assert [row["txHash"] for row in of_dollars] == ["bank-1"]


async def test_a_cursor_whose_time_is_on_no_day_in_utc_is_refused_by_every_list_that_is_sorted_by_time(
    edge: RestClient,
) -> None:
    """Whoever made up such a cursor was answered 500, and the operators were called."""
    for time in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "2026-11-28T12:00:00"):
        cursor = encode_cursor([time, "abc"])
        for path in ("/orders", "/accounts/withdrawals", "/accounts/deposits"):
            reply = await edge("GET", f"{path}?cursor={cursor}")
            assert (reply.status, reply.message) == (400, ["cursor is not one that this list gave"]), (path, time)
