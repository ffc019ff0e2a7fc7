"""Balances and prices at points in time, from ledger entries and trades."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal

from openspot.kit.database import Pool

# width_bucket numbers the gaps between the points. Gap 0 lies before the first point.
_BALANCES = """
    SELECT DISTINCT ON (asset, gap) asset, width_bucket(created_at, $2::timestamptz[]) AS gap, balance AS value
    FROM ledger_entries WHERE user_id = $1 AND created_at < $3
    ORDER BY asset, gap, entry_id DESC
"""
_PRICES = """
    SELECT DISTINCT ON (symbol, gap) symbol, width_bucket(executed_at, $2::timestamptz[]) AS gap, price AS value
    FROM trades WHERE symbol = ANY ($1::text[]) AND executed_at < $3
    ORDER BY symbol, gap, sequence DESC
"""

Series = dict[str, dict[int, Decimal]]


class PortfolioStore:
    """Reads the ledger's entries and the trades."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def balances(self, user_id: str, points: Sequence[datetime]) -> Series:
        """By asset and index of a point: the last balance before the point, if it changed since the previous point."""
        rows = await self._pool.fetch(_BALANCES, user_id, list(points), points[-1])
        return _series((row["asset"], row["gap"], row["value"]) for row in rows)

    async def prices(self, assets: Sequence[str], quote: str, points: Sequence[datetime]) -> Series:
        """By asset and index of a point: the last price before the point, if a trade followed the previous point."""
        symbols = [f"{asset}-{quote}" for asset in assets]
        rows = await self._pool.fetch(_PRICES, symbols, list(points), points[-1])
        return _series((row["symbol"].split("-")[0], row["gap"], row["value"]) for row in rows)


def _series(rows: Iterable[tuple[str, int, Decimal]]) -> Series:
    series: Series = defaultdict(dict)
    for name, gap, value in rows:
        series[name][gap] = value
    return series
