"""A user with a long history, its pages, and what PostgreSQL reads for each of them.

The rows are the worst case: what a page looks for is the oldest of the user's rows. The user has only made, never
taken; its open orders and its deposits came first.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import asyncpg

from openspot.ledger.store import LedgerStore
from openspot.rest_edge.funds.withdrawals.store import WithdrawalStore
from openspot.rest_edge.orders.list_store import OrderListStore
from openspot.rest_edge.orders.own_trades import OwnTradeFilter, OwnTradePosition
from openspot.rest_edge.orders.positions import OrderPosition
from openspot.rest_edge.orders.recent import OrderFilter
from openspot.rest_edge.orders.service import OPEN_STATUSES
from openspot.rest_edge.orders.store import OrderStore

LIMIT = 50
USER = "trader"
OLDEST = 20
"""The user's open orders, and its deposits of each kind."""
BEGIN = datetime(2025, 1, 1, tzinfo=UTC)

# Every second row is the user's. The others are spread over a thousand users.
_FILL = (
    """
    INSERT INTO orders (
        order_id, engine_order_id, client_order_id, user_id, symbol, side, type, time_in_force, price, quantity,
        filled_quantity, filled_notional, remaining_quantity, fee, fee_currency, status, last_sequence, created_at,
        updated_at
    )
    SELECT 'order-' || n, n, 'client-' || n, CASE n % 2 WHEN 0 THEN 'trader' ELSE 'user' || n % 1000 END,
        'BTC-USD', 'buy', 'limit', 'gtc', 50000, 1, 1, 50000, 0, 1, 'USD',
        CASE WHEN n <= 2 * $2::int THEN 'open' ELSE 'filled' END, n, at, at
    FROM generate_series(1, $1::bigint) AS n, LATERAL (SELECT $3::timestamptz + n * interval '1 second' AS at) AS moment
    """,
    """
    INSERT INTO trades
    SELECT 'epoch-' || n, n, 'BTC-USD', 50000, 1, 'sell', 'order-' || n, 'order-' || n,
        CASE n % 2 WHEN 0 THEN 'trader' ELSE 'user' || n % 1000 END, 'user' || (n + 500) % 1000, 1, 1, 'USD',
        $3::timestamptz + n * interval '1 second'
    FROM generate_series(1, $1::bigint) AS n WHERE $2::int > 0
    """,
    """
    INSERT INTO ledger_entries (
        entry_id, transaction_id, user_id, asset, amount, balance, entry_type, reference_type, reference_id, created_at
    ) OVERRIDING SYSTEM VALUE
    SELECT n, 'entry-' || n, CASE n % 2 WHEN 0 THEN 'trader' ELSE 'user' || n % 1000 END, 'USD', 1, n,
        CASE WHEN n <= 2 * $2::int THEN 'deposit' ELSE 'trade' END,
        CASE WHEN n <= 2 * $2::int THEN 'custody' ELSE 'trade' END, 'reference-' || n,
        $3::timestamptz + n * interval '1 second'
    FROM generate_series(1, $1::bigint) AS n
    """,
    """
    INSERT INTO custody_deposits
    SELECT 'deposit-' || n, CASE WHEN n <= $2::int THEN 'trader' ELSE 'user' || n % 1000 END, 'USD', 'ethereum',
        'address', 1, n, 1, at, at
    FROM generate_series(1, $1::bigint) AS n, LATERAL (SELECT $3::timestamptz + n * interval '1 second' AS at) AS moment
    """,
    """
    INSERT INTO ledger_accounts (user_id, asset)
    SELECT CASE n WHEN 0 THEN 'trader' ELSE 'user' || n END, 'USD' FROM generate_series(0, 999) AS n
    WHERE $1::bigint > 0 AND $2::int > 0 AND $3::timestamptz IS NOT NULL
    """,
)


_LISTS = """
    UPDATE orders
    SET list_id = 'list-' || engine_order_id, list_type = 'oco', list_role = 'stop_loss', list_state = 'active'
"""


class PlanNode(NamedTuple):
    """A node of a plan that was run. `rows` are those that it returned or passed over, all its loops together."""

    kind: str
    table: str
    index: str
    rows: float


class RecordingPool:
    """Passes queries on, and keeps them with their arguments."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool
        self.issued: list[tuple[str, tuple[Any, ...]]] = []

    async def fetch(self, query: str, *arguments: Any) -> list[asyncpg.Record]:
        """As a pool does."""
        self.issued.append((query, arguments))
        rows: list[asyncpg.Record] = await self._pool.fetch(query, *arguments)
        return rows

    async def fetchrow(self, query: str, *arguments: Any) -> asyncpg.Record | None:
        """As a pool does."""
        self.issued.append((query, arguments))
        return await self._pool.fetchrow(query, *arguments)

    async def fetchval(self, query: str, *arguments: Any) -> Any:
        """As a pool does."""
        self.issued.append((query, arguments))
        return await self._pool.fetchval(query, *arguments)


async def fill(pool: asyncpg.Pool, rows: int, *, with_lists: bool = True) -> None:
    """Write `rows` rows into each of the tables that the pages read. Tables of earlier versions know no order lists."""
    for statement in _FILL:
        await pool.execute(statement, rows, OLDEST, BEGIN, timeout=7200)
    if with_lists:
        await pool.execute(_LISTS, timeout=7200)
        await pool.execute("VACUUM orders", timeout=7200)
    for table in ("orders", "trades", "ledger_entries", "custody_deposits", "ledger_accounts"):
        await pool.execute(f"ANALYZE {table}", timeout=600)


def pages(pool: Any, rows: int) -> dict[str, Callable[[], Awaitable[Sequence[Any]]]]:
    """By name, what reads a page of the user's history. `pool` is a pool or a RecordingPool."""
    orders, ledger, deposits = OrderStore(pool), LedgerStore(pool), WithdrawalStore(pool, {})
    middle = rows // 4 * 2
    half_way = OrderPosition(BEGIN + timedelta(seconds=middle), f"order-{middle}")

    async def orders_of(wanted: OrderFilter, after: OrderPosition | None = None) -> Sequence[Any]:
        return (await orders.list_of(USER, wanted, LIMIT, after))[0]

    async def trades_of(after: OwnTradePosition | None = None) -> Sequence[Any]:
        return (await orders.trades_of(USER, OwnTradeFilter(), LIMIT, after))[0]

    async def entries_of(before: int | None = None, **span: datetime) -> Sequence[Any]:
        return (await ledger.history(USER, None, before, LIMIT, **span)).entries

    async def deposits_of() -> Sequence[Any]:
        return (await deposits.deposits(USER, None, LIMIT, None))[0]

    async def one_order() -> Sequence[Any]:
        return [await orders.get(f"order-{middle}")]

    lists = OrderListStore(pool)
    lists_half_way = OrderPosition(BEGIN + timedelta(seconds=middle), f"list-{middle}")

    async def lists_of(after: OrderPosition | None = None, *, is_active: bool = False) -> Sequence[Any]:
        return (await lists.page_of(USER, None, LIMIT, after, is_active=is_active))[0]

    async def orders_of_lists() -> Sequence[Any]:
        wanted = [f"list-{middle + 2 * number}" for number in range(LIMIT)]
        return list(await lists.orders_of(USER, wanted))

    return {
        "lists": lists_of,
        "lists, half way back": lambda: lists_of(lists_half_way),
        "active lists": lambda: lists_of(is_active=True),
        "orders of lists": orders_of_lists,
        "orders of a list": lambda: orders_of(OrderFilter(list_id=f"list-{middle}")),
        "order": one_order,
        "order by client id": lambda: orders_of(OrderFilter(client_order_id=f"client-{middle}")),
        "orders": lambda: orders_of(OrderFilter()),
        "orders, half way back": lambda: orders_of(OrderFilter(), half_way),
        "open orders": lambda: orders_of(OrderFilter(OPEN_STATUSES)),
        "trades": trades_of,
        "trades, half way back": lambda: trades_of(OwnTradePosition(middle, "maker")),
        "ledger entries": entries_of,
        "ledger entries, half way back": lambda: entries_of(middle),
        "ledger entries of the oldest days": lambda: entries_of(until=BEGIN + timedelta(seconds=4 * LIMIT)),
        "ledger entries of the newest days": lambda: entries_of(since=BEGIN + timedelta(seconds=rows - LIMIT)),
        "deposits": deposits_of,
    }


async def plan_of(connection: asyncpg.Connection, query: str, arguments: Sequence[Any], mode: str) -> list[PlanNode]:
    """Run a query as a prepared statement with the plan of `mode`, and return the nodes of the plan."""
    await connection.execute(f"SET plan_cache_mode = {mode}")
    await connection.execute(f"PREPARE page AS {query}")
    try:
        values = f" ({', '.join(map(_literal, arguments))})" if arguments else ""
        plan = await connection.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE page{values}")
    finally:
        await connection.execute("DEALLOCATE page")
    return _nodes(json.loads(plan)[0]["Plan"])


def _nodes(node: dict[str, Any]) -> list[PlanNode]:
    passed = sum(node.get(key, 0) for key in ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck"))
    loops = node["Actual Loops"]
    own = PlanNode(node["Node Type"], node.get("Relation Name", ""), node.get("Index Name", ""), passed * loops)
    return [own, *(below for child in node.get("Plans", ()) for below in _nodes(child))]


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, list):
        value = "{" + ",".join(map(str, value)) + "}"
    return f"'{value}'"
