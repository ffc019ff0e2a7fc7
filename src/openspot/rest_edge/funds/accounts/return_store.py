"""What a portfolio's return is made of, all read at one moment: flows, balances and prices at their times."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from openspot.kit.database import Connection, Pool
from openspot.rest_edge.funds.accounts.portfolio import DOLLAR
from openspot.rest_edge.funds.accounts.portfolio_return import (
    FLOW_POINTS_MAX,
    NO_FLOWS,
    RESOLUTION,
    Flow,
    equal_points,
    flow_kind,
    points_at_flows,
)
from openspot.rest_edge.funds.accounts.portfolio_store import PortfolioStore, Series

FLOWS_MAX = 10 * FLOW_POINTS_MAX
"""More flows than these are grouped, even if they share few times."""

# Along ledger_entries_flows, which has no entry of a trade.
_OF_PERIOD = """
    FROM ledger_entries WHERE user_id = $1 AND reference_type <> 'trade' AND created_at >= $2 AND created_at < $3
        AND entry_type <> ALL ($4::text[])
"""
FLOWS = f"""
    SELECT created_at, entry_type, asset, sum(amount) AS amount {_OF_PERIOD}
    GROUP BY created_at, entry_type, asset ORDER BY created_at, entry_type, asset LIMIT $5
"""
GROUPED_FLOWS = f"""
    SELECT max(created_at) AS created_at, width_bucket(created_at, $5::timestamptz[]) AS point, entry_type, asset,
        sum(amount) AS amount {_OF_PERIOD}
    GROUP BY point, entry_type, asset ORDER BY created_at, entry_type, asset
"""
# What was held before the oldest entry that is still there; others may be in the archive.
_OPENING = """
    SELECT account.asset, oldest.balance - oldest.amount AS balance, oldest.created_at
    FROM ledger_accounts AS account CROSS JOIN LATERAL (
        SELECT balance, amount, created_at FROM ledger_entries
        WHERE user_id = account.user_id AND asset = account.asset ORDER BY entry_id LIMIT 1
    ) AS oldest
    WHERE account.user_id = $1
"""


class PeriodRecord(NamedTuple):
    """A user's portfolio at the points of a period, and the flows between them. `is_grouped`: see FLOW_POINTS_MAX."""

    points: Sequence[datetime]
    flows: Sequence[Flow]
    is_grouped: bool
    balances: Series
    prices: Series


class ReturnStore:
    """Reads the ledger's entries and the trades."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def period(self, user_id: str, start: datetime | None, end: datetime) -> PeriodRecord:
        """The period from `start` to `end`. Without `start` it begins with the user's oldest entry."""
        async with (
            self._pool.acquire() as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            opening = await connection.fetch(_OPENING, user_id)
            begin = start or min((row["created_at"] for row in opening if row["created_at"] < end), default=end)
            points, flows, is_grouped = await _flows(connection, user_id, begin, end)
            store = PortfolioStore(connection)
            balances = await store.balances(user_id, points)
            for row in opening:
                held = balances.setdefault(row["asset"], [None] * len(points))
                balances[row["asset"]] = [row["balance"] if balance is None else balance for balance in held]
            assets = [asset for asset in balances if asset != DOLLAR]
            prices = await store.prices(assets, DOLLAR, points) if assets else {}
        return PeriodRecord(points, flows, is_grouped, balances, prices)


async def _flows(
    connection: Connection, user_id: str, start: datetime, end: datetime
) -> tuple[list[datetime], list[Flow], bool]:
    """The points of a period, its flows, and whether they are grouped."""
    period = (user_id, start, end, list(NO_FLOWS))
    rows: Sequence[Any] = await connection.fetch(FLOWS, *period, FLOWS_MAX + 1)
    times = {row["created_at"] for row in rows}
    if len(rows) <= FLOWS_MAX and len(times) <= FLOW_POINTS_MAX:
        points = points_at_flows(start, end, times)
        places = {point: index for index, point in enumerate(points)}
        return points, [_flow(row, places[min(row["created_at"] + RESOLUTION, end)]) for row in rows], False
    points = equal_points(start, end)
    rows = await connection.fetch(GROUPED_FLOWS, *period, points[:-1])
    return points, [_flow(row, row["point"]) for row in rows], True


def _flow(row: Any, point: int) -> Flow:
    amount: Decimal = row["amount"]
    return Flow(row["created_at"], point, flow_kind(row["entry_type"]), row["asset"], amount)
