"""What an account held and what a market's price was at points in time, against a plain look at all rows."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import asyncpg
import pytest

from openspot.rest_edge.funds.accounts.portfolio_store import PortfolioStore

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
Row = tuple[datetime, int]
"""The time of an entry or a trade, and its value. The place in a list is its number."""


async def add_entries(pool: asyncpg.Pool, user_id: str, asset: str, rows: Sequence[Row]) -> None:
    """Ledger entries of an account, numbered as they come."""
    await pool.execute("INSERT INTO ledger_accounts (user_id, asset) VALUES ($1, $2)", user_id, asset)
    await pool.executemany(
        """
        INSERT INTO ledger_entries (transaction_id, user_id, asset, amount, balance, entry_type, reference_type,
            reference_id, created_at)
        VALUES ($1, $2, $3, 1, $4, 'trade', 'trade', 'r', $5)
        """,
        [(f"{user_id}-{asset}-{n}", user_id, asset, value, at) for n, (at, value) in enumerate(rows)],
    )


async def add_trades(pool: asyncpg.Pool, symbol: str, rows: Sequence[Row]) -> None:
    """Trades of a market."""
    await pool.executemany(
        """
        INSERT INTO trades (trade_id, sequence, symbol, price, quantity, taker_side, taker_order_id, maker_order_id,
            buyer_id, seller_id, taker_fee, maker_fee, fee_currency, executed_at)
        VALUES ($1, $2, $3, $4, 1, 'buy', 'o1', 'o2', 'a', 'b', 0, 0, 'USD', $5)
        """,
        [(f"{symbol}-{n}", n, symbol, value, at) for n, (at, value) in enumerate(rows)],
    )


def plainly(rows: Sequence[Row], points: Sequence[datetime]) -> list[Decimal | None]:
    """The value of the last row before each point."""
    found = [[value for at, value in rows if at < point] for point in points]
    return [Decimal(values[-1]) if values else None for values in found]


@pytest.mark.parametrize("seed", range(3))
async def test_each_point_has_the_last_balance_and_the_last_price_before_it(pool: asyncpg.Pool, seed: int) -> None:
    chance = random.Random(seed)
    # Some share a time, and some points are the time of a row.
    times = sorted(BEGIN + timedelta(minutes=chance.randrange(500)) for _ in range(200))
    rows = [(at, chance.randrange(1000)) for at in times]
    points = sorted({BEGIN + timedelta(minutes=chance.randrange(600)) for _ in range(60)})
    await add_entries(pool, "bob", "BTC", [(BEGIN, 7)])
    await add_entries(pool, "ada", "BTC", rows)
    await add_entries(pool, "ada", "ETH", [])
    await add_trades(pool, "BTC-USD", rows)
    store = PortfolioStore(pool)
    assert await store.balances("ada", points) == {"BTC": plainly(rows, points)}
    assert await store.prices(["BTC", "ETH"], "USD", points) == {"BTC": plainly(rows, points)}
    assert await store.balances("nobody", points) == {}


async def test_an_entry_that_waited_for_another_is_the_later_one(pool: asyncpg.Pool) -> None:
    """Its transaction began earlier, so its time is earlier, too; its balance counts both."""
    second = timedelta(seconds=1)
    rows = [(BEGIN, 1), (BEGIN + 60 * second, 2), (BEGIN + 55 * second, 3)]
    await add_entries(pool, "ada", "BTC", rows)
    points = [BEGIN + 54 * second, BEGIN + 61 * second, BEGIN + timedelta(days=30)]
    assert await PortfolioStore(pool).balances("ada", points) == {"BTC": [Decimal(1), Decimal(3), Decimal(3)]}


async def test_a_portfolio_before_any_entry_is_empty(pool: asyncpg.Pool) -> None:
    assert await PortfolioStore(pool).balances("ada", [BEGIN]) == {}
