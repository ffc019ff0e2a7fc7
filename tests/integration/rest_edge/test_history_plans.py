"""A page of a user's history reads about as many rows as it shows, however many the user and all others have."""

from collections.abc import Collection
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from openspot.archive.run import archive
from openspot.kit.settings import Settings
from openspot.positions.movement_follower import ENTRIES as ENTRIES_IN_ORDER
from openspot.positions.movement_follower import PAGE
from openspot.rest_edge.funds.accounts.portfolio_store import PortfolioStore
from openspot.rest_edge.funds.accounts.return_store import FLOWS, FLOWS_MAX, GROUPED_FLOWS
from tests.support.histories import BEGIN, LIMIT, OLDEST, USER, RecordingPool, fill, pages, plan_of

ROWS = 20_000
READ_MAX = 4 * (LIMIT + 1)
"""A page of trades merges four lists."""
TRADES = {"trades_of_buyer_by_side", "trades_of_seller_by_side"}
ENTRIES = {"ledger_accounts_pkey", "ledger_entries_of_account"}
SHAPES = {
    "lists": {"orders_lists_of_user"},
    "lists, half way back": {"orders_lists_of_user"},
    "active lists": {"orders_open"},
    "orders of lists": {"orders_of_list"},
    "orders of a list": {"orders_of_list"},
    "order": {"orders_pkey"},
    "order by client id": {"orders_by_client_id"},
    "orders": {"orders_of_user"},
    "orders, half way back": {"orders_of_user"},
    "open orders": {"orders_open"},
    "trades": TRADES,
    "trades, half way back": TRADES,
    "ledger entries": ENTRIES,
    "ledger entries, half way back": ENTRIES,
    "ledger entries of the oldest days": ENTRIES,
    "ledger entries of the newest days": ENTRIES,
    "deposits": {
        "custody_deposits_of_user",
        "ledger_entries_deposits",
        "custody_deposits_pkey",
        "transfer_pauses_pkey",
    },
}
"""The indexes that each page is read along. A page reads no table otherwise."""
ALONG_AN_INDEX = {"Index Scan", "Index Only Scan", "Bitmap Index Scan", "Bitmap Heap Scan"}


async def require_shapes(pool: asyncpg.Pool, names: Collection[str]) -> None:
    """Read each page, and look at its plans."""
    recording = RecordingPool(pool)
    async with pool.acquire() as connection:
        for name, page in pages(recording, ROWS).items():
            if name not in names:
                continue
            recording.issued.clear()
            assert await page(), f"{name}: the page is empty"
            # PostgreSQL plans a prepared statement for its arguments, and after a few calls for any arguments.
            for mode in ("force_custom_plan", "force_generic_plan"):
                plans = [await plan_of(connection, query, values, mode) for query, values in recording.issued]
                nodes = [node for plan in plans for node in plan]
                assert {node.kind for node in nodes if node.table} <= ALONG_AN_INDEX, f"{name}: {nodes}"
                assert {node.index for node in nodes if node.index} == SHAPES[name], f"{name}: {nodes}"
                assert max(node.rows for node in nodes) <= READ_MAX, f"{name}: {nodes}"


async def test_no_page_of_a_history_reads_more_than_it_shows(pool: asyncpg.Pool) -> None:
    await fill(pool, ROWS)
    assert pages(pool, ROWS).keys() == SHAPES.keys()
    await require_shapes(pool, SHAPES)


async def test_a_year_of_prices_reads_two_rows_at_most_for_each_point(pool: asyncpg.Pool) -> None:
    await fill(pool, ROWS)
    recording = RecordingPool(pool)
    store, count = PortfolioStore(recording), 366
    points = [BEGIN + timedelta(seconds=ROWS * number / count) for number in range(count)]
    assert (await store.prices(["BTC"], "USD", points))["BTC"][-1] is not None
    async with pool.acquire() as connection:
        for mode in ("force_custom_plan", "force_generic_plan"):
            for query, values in recording.issued:
                nodes = await plan_of(connection, query, values, mode)
                assert {node.kind for node in nodes if node.table} <= ALONG_AN_INDEX, nodes
                # The sort of trades of one time looks at the first of the time before, too.
                assert max(node.rows for node in nodes) <= 2 * count, nodes


async def test_what_no_trade_moved_is_read_past_the_entries_of_all_trades(pool: asyncpg.Pool) -> None:
    await fill(pool, ROWS)
    end = BEGIN + timedelta(seconds=2 * ROWS)
    grouped = [BEGIN, BEGIN + timedelta(days=1)]
    queries: dict[str, tuple[str, list[Any]]] = {
        "flows": (FLOWS, [USER, BEGIN, end, ["conversion"], FLOWS_MAX]),
        "grouped flows": (GROUPED_FLOWS, [USER, BEGIN, end, ["conversion"], grouped]),
        "movements of all users": (ENTRIES_IN_ORDER, [BEGIN - timedelta(days=1), PAGE]),
    }
    indexes = {"ledger_entries_flows", "ledger_entries_movements"}
    async with pool.acquire() as connection:
        for name, (query, values) in queries.items():
            for mode in ("force_custom_plan", "force_generic_plan"):
                nodes = await plan_of(connection, query, values, mode)
                assert {node.kind for node in nodes if node.table} <= ALONG_AN_INDEX, f"{name}: {nodes}"
                assert {node.index for node in nodes if node.index} <= indexes, f"{name}: {nodes}"
                # The deposits of the user, and those of the others among them.
                assert max(node.rows for node in nodes) <= 2 * OLDEST, f"{name}: {nodes}"


@pytest.mark.proof
async def test_it_does_not_either_when_half_of_the_rows_have_left(
    pool: asyncpg.Pool, settings: Settings, tmp_path: Path
) -> None:
    await fill(pool, ROWS)
    await pool.execute("INSERT INTO engine_cursors (consumer, epoch, sequence) VALUES ('router', 'epoch', $1)", ROWS)
    times = dict.fromkeys(("orders", "trades", "entries"), BEGIN + timedelta(seconds=ROWS // 2))
    moved = await archive(settings.database_url, tmp_path, times, is_dry=False)
    left = {name: sum(months.values()) for name, months in moved.rows.items()}
    # Open orders, deposits, the newest trade of the market and the newest entry of each account stay.
    assert left["trades"] == ROWS // 2 - 2
    assert left["orders"] == ROWS // 2 - 1 - 40
    assert 0 < ROWS // 2 - left["entries"] < 1200
    names = {"order", "orders", "open orders", "trades", "ledger entries", "deposits"}
    await require_shapes(pool, names)
