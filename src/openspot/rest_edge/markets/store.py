"""The table `trades`, which the router writes and the edge reads."""

from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Context, Decimal

import msgspec

from openspot.domain.candles import ORIGIN, Window
from openspot.domain.money import decimal_to_text
from openspot.kit.database import Pool

_PERCENT_PLACE = Decimal("0.01")
_WIDE = Context(prec=100, rounding=ROUND_HALF_EVEN)


class Trade(msgspec.Struct, rename="camel", frozen=True):
    """A trade; `side` is the taker's, `timestamp` in milliseconds since 1970."""

    trade_id: str
    symbol: str
    price: str
    quantity: str
    side: str
    timestamp: int
    sequence: int


class DayFigures(msgspec.Struct, frozen=True):
    """What traded in one symbol within a day; `last` is the newest price, however old."""

    last: str | None = None
    open: str | None = None
    high: str | None = None
    low: str | None = None
    volume: str = "0"
    quote_volume: str = "0"
    change: str | None = None
    change_percent: str | None = None


class Candle(msgspec.Struct, rename="camel", frozen=True):
    """What traded in one interval; `timestamp` is its begin in milliseconds since 1970."""

    timestamp: int
    open: str
    high: str
    low: str
    close: str
    volume: str
    trades: int


class TradeStore:
    """Reads of the table `trades`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def recent(self, symbol: str, limit: int, before: int | None) -> list[Trade]:
        """Trades of `symbol`, newest first, with an engine sequence below `before`."""
        rows = await self._pool.fetch(
            """
            SELECT trade_id, symbol, price, quantity, taker_side, executed_at, sequence FROM trades
            WHERE symbol = $1 AND ($2::bigint IS NULL OR sequence < $2) ORDER BY sequence DESC LIMIT $3
            """,
            symbol,
            before,
            limit,
        )
        return [
            Trade(
                row["trade_id"],
                row["symbol"],
                decimal_to_text(row["price"]),
                decimal_to_text(row["quantity"]),
                row["taker_side"],
                round(row["executed_at"].timestamp() * 1000),
                row["sequence"],
            )
            for row in rows
        ]

    async def candles(self, symbol: str, window: Window) -> list[Candle]:
        """The candles of `symbol` in a window, the oldest first. Intervals without a trade have none."""
        rows = await self._pool.fetch(
            """
            SELECT date_bin($2, executed_at, $3) AS begin, (array_agg(price ORDER BY sequence))[1] AS open,
                   max(price) AS high, min(price) AS low, (array_agg(price ORDER BY sequence DESC))[1] AS close,
                   sum(quantity) AS volume, count(*) AS trades
            FROM trades WHERE symbol = $1 AND executed_at >= $4 AND executed_at < $5 GROUP BY begin ORDER BY begin
            """,
            symbol,
            window.interval.length,
            ORIGIN,
            window.begin,
            window.end,
        )
        return [
            Candle(
                round(row["begin"].timestamp() * 1000),
                decimal_to_text(row["open"]),
                decimal_to_text(row["high"]),
                decimal_to_text(row["low"]),
                decimal_to_text(row["close"]),
                decimal_to_text(row["volume"]),
                row["trades"],
            )
            for row in rows
        ]

    async def day_figures(self, symbols: list[str], now: datetime) -> dict[str, DayFigures]:
        """The figures of the 24 hours before `now` for each of `symbols`, and their last prices."""
        rows = await self._pool.fetch(
            """
            SELECT wanted.symbol, newest.price AS last, day.*
            FROM unnest($1::text[]) AS wanted (symbol)
            LEFT JOIN LATERAL (
                SELECT price FROM trades WHERE symbol = wanted.symbol ORDER BY sequence DESC LIMIT 1
            ) AS newest ON true
            LEFT JOIN LATERAL (
                SELECT (array_agg(price ORDER BY sequence))[1] AS open, max(price) AS high, min(price) AS low,
                       sum(quantity) AS volume, sum(price * quantity) AS quote_volume
                FROM trades WHERE symbol = wanted.symbol AND executed_at > $2
            ) AS day ON true
            """,
            symbols,
            now.astimezone(UTC) - timedelta(days=1),
        )
        return {row["symbol"]: _figures(row["last"], dict(row)) for row in rows}


def _figures(last: Decimal | None, day: dict[str, Decimal | None]) -> DayFigures:
    opened, high, low, volume, quote = (
        day["open"], day["high"], day["low"], day["volume"], day["quote_volume"],
    )  # fmt: skip
    if last is None or opened is None or high is None or low is None or volume is None or quote is None:
        return DayFigures(None if last is None else decimal_to_text(last))
    change = _WIDE.subtract(last, opened)
    percent = _WIDE.quantize(_WIDE.divide(_WIDE.multiply(change, Decimal(100)), opened), _PERCENT_PLACE)
    return DayFigures(
        decimal_to_text(last),
        decimal_to_text(opened),
        decimal_to_text(high),
        decimal_to_text(low),
        decimal_to_text(volume),
        decimal_to_text(quote),
        decimal_to_text(change),
        decimal_to_text(percent),
    )
