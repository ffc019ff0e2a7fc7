"""Balances and prices at points in time, from ledger entries and trades.

Each point of each market looks for its own last trade in an index. Balances are found among all entries of the user:
an index by time would make every entry of every trade dearer, for the sake of this one reader (ADR 0065).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal

from openspot.kit.database import Connection, Pool

# width_bucket numbers the gaps between the points. Gap 0 lies before the first point.
_BALANCES = """
    SELECT DISTINCT ON (asset, gap) asset, width_bucket(created_at, $2::timestamptz[]) AS gap, balance AS value
    FROM ledger_entries WHERE user_id = $1 AND created_at < $3
    ORDER BY asset, gap, entry_id DESC
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

    def __init__(self, pool: Pool | Connection) -> None:
        self._pool = pool

    async def balances(self, user_id: str, points: Sequence[datetime]) -> Series:
        """By asset: the last balance before each point, None before the first. Only assets that ever had one."""
        rows = await self._pool.fetch(_BALANCES, user_id, list(points), points[-1])
        series = _series(len(points), ((row["asset"], row["gap"], row["value"]) for row in rows))
        for values in series.values():
            for index in range(1, len(values)):
                if values[index] is None:
                    values[index] = values[index - 1]
        return series

    async def prices(self, assets: Sequence[str], quote: str, points: Sequence[datetime]) -> Series:
        """By asset: the last price before each point, None before the first. Only assets that ever had one."""
        rows = await self._pool.fetch(_PRICES, [f"{asset}-{quote}" for asset in assets], list(points))
        return _series(len(points), ((row["name"].split("-")[0], row["index"], row["value"]) for row in rows))


def _series(count: int, rows: Iterable[tuple[str, int, Decimal]]) -> Series:
    series: Series = defaultdict(lambda: [None] * count)
    for name, index, value in rows:
        series[name][index] = value
    return series
