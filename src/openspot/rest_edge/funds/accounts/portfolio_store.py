"""Balances and prices at points in time, from ledger entries and trades.

Each point of each asset looks for its own last entry and its own last trade in an index, so a year costs the same
whatever the user and the markets have done in it.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal

from openspot.kit.database import Pool

# An entry has the time at which its transaction began. One that waited for another of the same account has the earlier
# time and the later balance. So the last of the entries of the last seconds counts, by its number.
_BALANCES = """
    SELECT account.asset AS name, point.number - 1 AS index, entry.balance AS value
    FROM ledger_accounts AS account CROSS JOIN unnest($2::timestamptz[]) WITH ORDINALITY AS point (at, number)
    CROSS JOIN LATERAL (
        SELECT created_at FROM ledger_entries
        WHERE user_id = $1 AND asset = account.asset AND created_at < point.at
        ORDER BY created_at DESC, entry_id DESC LIMIT 1
    ) AS newest
    CROSS JOIN LATERAL (
        SELECT max(entry_id) AS entry_id FROM (
            SELECT entry_id FROM ledger_entries
            WHERE user_id = $1 AND asset = account.asset AND created_at < point.at
                AND created_at > newest.created_at - interval '10 seconds'
            -- Else the planner looks for the maximum along the numbers, through all that is newer than the point.
            OFFSET 0
        ) AS recent
    ) AS last
    CROSS JOIN LATERAL (
        SELECT balance FROM ledger_entries
        WHERE user_id = $1 AND asset = account.asset AND entry_id = last.entry_id
    ) AS entry
    WHERE account.user_id = $1
"""
_PRICES = """
    SELECT market.symbol AS name, point.number - 1 AS index, trade.price AS value
    FROM unnest($1::text[]) AS market (symbol)
    CROSS JOIN unnest($2::timestamptz[]) WITH ORDINALITY AS point (at, number)
    CROSS JOIN LATERAL (
        SELECT price FROM trades WHERE symbol = market.symbol AND executed_at < point.at
        ORDER BY executed_at DESC, sequence DESC LIMIT 1
    ) AS trade
"""

Series = dict[str, list[Decimal | None]]


class PortfolioStore:
    """Reads the ledger's entries and the trades."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def balances(self, user_id: str, points: Sequence[datetime]) -> Series:
        """By asset: the last balance before each point, None before the first. Only assets that ever had one."""
        rows = await self._pool.fetch(_BALANCES, user_id, list(points))
        return _series(len(points), ((row["name"], row["index"], row["value"]) for row in rows))

    async def prices(self, assets: Sequence[str], quote: str, points: Sequence[datetime]) -> Series:
        """By asset: the last price before each point, None before the first. Only assets that ever had one."""
        rows = await self._pool.fetch(_PRICES, [f"{asset}-{quote}" for asset in assets], list(points))
        return _series(len(points), ((row["name"].split("-")[0], row["index"], row["value"]) for row in rows))


def _series(count: int, rows: Iterable[tuple[str, int, Decimal]]) -> Series:
    series: Series = defaultdict(lambda: [None] * count)
    for name, index, value in rows:
        series[name][index] = value
    return series
