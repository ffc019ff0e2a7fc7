"""SQL of market data: trades, candles, and the checkpoint that says which engine events they include.

One transaction inserts trades, adds each new one to its eight candles, and moves the checkpoint. A trade that has a row
already changes nothing. A candle of trades takes the place of an imported one. The checkpoint moves only under the
newest leader's token, so a process that was paused and has lost the lease cannot write.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

import asyncpg

from openspot.contracts.messages import Candle, CandleEvent, MarketTrade, MarketTradeEvent
from openspot.domain.candles import ORIGIN, Interval
from openspot.domain.ids import trade_id
from openspot.domain.money import AMOUNT_SCALE, decimal_to_text, to_amount, to_scaled
from openspot.engine_client.position import StreamPosition
from openspot.kit.clock import datetime_from_ms
from openspot.kit.database import Connection, Pool
from openspot.kit.sql import rows_changed
from openspot.market_data.aggregate_store import AggregateStore
from openspot.market_data.aggregates import Fill, Run
from openspot.market_data.day import DAY_MINUTES, MINUTE_MS, Minute, RollingDay
from openspot.market_data.imported_candles import finest
from openspot.market_data.markets import MarketHistory

CHECKPOINT = "candles"
IMPORTS = "imported candles"
"""The row whose token counts the imports of candles."""
_FILL_TIMEOUT_S = 3600.0

_GIVEN_TRADES = """
    SELECT trade_id, symbol, sequence, price::numeric, quantity::numeric, taker_side,
        timestamptz 'epoch' + executed_ms * interval '1 millisecond' AS executed_at
    FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[])
        AS given (trade_id, symbol, sequence, price, quantity, taker_side, executed_ms)
"""
_ROUTERS_TRADES = """
    SELECT trade_id, symbol, sequence, price, quantity, taker_side, executed_at FROM trades
    WHERE NOT EXISTS (SELECT FROM market_trades WHERE market_trades.trade_id = trades.trade_id)
        -- Some partitions of the rows are ahead of the others: the engine's stream brings what they have beyond these.
        AND (trade_id <> $1 || '-' || sequence OR sequence <= $2)
"""
AGGREGATE = """
    SELECT symbol, name AS interval, date_bin(length, executed_at, origin) AS begins_at,
        (array_agg(price ORDER BY executed_at, sequence))[1] AS open, max(price) AS high, min(price) AS low,
        (array_agg(price ORDER BY executed_at DESC, sequence DESC))[1] AS close,
        sum(quantity) AS volume, sum(price * quantity) AS quote_volume, count(*) AS trades,
        min(executed_at) AS first_at, (array_agg(sequence ORDER BY executed_at, sequence))[1] AS first_sequence,
        max(executed_at) AS last_at, (array_agg(sequence ORDER BY executed_at DESC, sequence DESC))[1] AS last_sequence
"""
"""The SELECT clause of a query that makes candles of trades. It needs the intervals as (name, length, origin)."""
_COUNT_TRADES = """
    WITH given AS ({source}),
    counted AS (
        INSERT INTO market_trades (trade_id, symbol, sequence, price, quantity, taker_side, executed_at)
        SELECT trade_id, symbol, sequence, price, quantity, taker_side, executed_at FROM given
        ON CONFLICT DO NOTHING
        RETURNING symbol, sequence, price, quantity, executed_at
    )
    INSERT INTO market_candles AS candle (
        symbol, interval, begins_at, open, high, low, close, volume, quote_volume, trades,
        first_at, first_sequence, last_at, last_sequence
    )
    {aggregate}
    FROM counted CROSS JOIN ({intervals}) AS intervals
    GROUP BY symbol, name, date_bin(length, executed_at, origin)
    ON CONFLICT (symbol, interval, begins_at) DO UPDATE SET
        open = CASE
            WHEN candle.is_imported
                OR (EXCLUDED.first_at, EXCLUDED.first_sequence) < (candle.first_at, candle.first_sequence)
            THEN EXCLUDED.open ELSE candle.open END,
        close = CASE
            WHEN candle.is_imported
                OR (EXCLUDED.last_at, EXCLUDED.last_sequence) > (candle.last_at, candle.last_sequence)
            THEN EXCLUDED.close ELSE candle.close END,
        high = greatest(EXCLUDED.high, CASE WHEN NOT candle.is_imported THEN candle.high END),
        low = least(EXCLUDED.low, CASE WHEN NOT candle.is_imported THEN candle.low END),
        volume = EXCLUDED.volume + CASE WHEN candle.is_imported THEN 0 ELSE candle.volume END,
        quote_volume = EXCLUDED.quote_volume + CASE WHEN candle.is_imported THEN 0 ELSE candle.quote_volume END,
        trades = EXCLUDED.trades + candle.trades,
        first_sequence = CASE
            WHEN candle.is_imported
                OR (EXCLUDED.first_at, EXCLUDED.first_sequence) < (candle.first_at, candle.first_sequence)
            THEN EXCLUDED.first_sequence ELSE candle.first_sequence END,
        first_at = least(EXCLUDED.first_at, CASE WHEN NOT candle.is_imported THEN candle.first_at END),
        last_sequence = CASE
            WHEN candle.is_imported
                OR (EXCLUDED.last_at, EXCLUDED.last_sequence) > (candle.last_at, candle.last_sequence)
            THEN EXCLUDED.last_sequence ELSE candle.last_sequence END,
        last_at = greatest(EXCLUDED.last_at, CASE WHEN NOT candle.is_imported THEN candle.last_at END),
        is_imported = false
"""
_CANDLE_COLUMNS = "symbol, interval, begins_at, open, high, low, close, volume, trades, last_sequence"


def intervals_sql() -> str:
    """The intervals of `domain.candles` as a query of (name, length, origin), so that SQL cannot differ from them."""
    return " UNION ALL ".join(
        f"SELECT '{interval}' AS name, interval '{int(interval.length.total_seconds())} seconds' AS length,"
        f" timestamptz '{ORIGIN.isoformat()}' AS origin"
        for interval in Interval
    )


_COUNT_GIVEN = (
    _COUNT_TRADES.format(source=_GIVEN_TRADES, aggregate=AGGREGATE, intervals=intervals_sql())
    + f" RETURNING {_CANDLE_COLUMNS}"
)
_COUNT_ROUTERS = _COUNT_TRADES.format(source=_ROUTERS_TRADES, aggregate=AGGREGATE, intervals=intervals_sql())


class FencedError(Exception):
    """Another process leads now, so this process must not write."""


class CandleCheckpoint(NamedTuple):
    """The leader's token, and the position that the candles include: None before the first trade."""

    token: int
    position: StreamPosition | None


class MarketDataStore:
    """The tables of market data."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.aggregates = AggregateStore(pool)

    async def lead(self) -> CandleCheckpoint:
        """Take a new token. From then on no earlier leader can write."""
        row = await self._pool.fetchrow(
            """
            INSERT INTO market_data_checkpoints (name, token) VALUES ($1, 1)
            ON CONFLICT (name) DO UPDATE SET token = market_data_checkpoints.token + 1
            RETURNING token, epoch, sequence
            """,
            CHECKPOINT,
        )
        assert row is not None, "an upsert returns its row"
        position = StreamPosition(row["epoch"], row["sequence"]) if row["epoch"] else None
        return CandleCheckpoint(row["token"], position)

    async def record(
        self, token: int, trades: Sequence[MarketTradeEvent], position: StreamPosition
    ) -> list[CandleEvent]:
        """Count trades in the candles, move the checkpoint to `position`, and return the candles that changed.

        Raises FencedError.
        """
        async with self._pool.acquire() as connection, connection.transaction():
            await _move_checkpoint(connection, token, position)
            if not trades:
                return []
            rows = await connection.fetch(
                _COUNT_GIVEN,
                [trade.trade_id for trade in trades],
                [trade.symbol for trade in trades],
                [trade.seq for trade in trades],
                [trade.price for trade in trades],
                [trade.quantity for trade in trades],
                [trade.side for trade in trades],
                [trade.timestamp for trade in trades],
            )
        return [_candle_event(row) for row in rows]

    async def newest_candles(self) -> list[CandleEvent]:
        """The newest candle of every market and interval."""
        rows = await self._pool.fetch(
            f"""
            SELECT newest.* FROM (SELECT DISTINCT symbol FROM market_candles WHERE interval = '1w') AS market
            CROSS JOIN unnest($1::text[]) AS wanted (interval)
            CROSS JOIN LATERAL (
                SELECT {_CANDLE_COLUMNS} FROM market_candles
                WHERE symbol = market.symbol AND interval = wanted.interval ORDER BY begins_at DESC LIMIT 1
            ) AS newest
            """,  # noqa: S608  (constant text)
            [interval.value for interval in Interval],
        )
        return [_candle_event(row) for row in rows]

    async def count_routers_trades(self, token: int, begin: StreamPosition) -> StreamPosition:
        """Count the trades of the router's rows that are not counted yet, in one transaction.

        Returns the position that the candles then include: that of the router's rows if they are in the journal of
        `begin`, and at least `begin`. They include no later trade of that journal. Raises FencedError.
        """
        async with (
            self._pool.acquire() as connection,
            connection.transaction(isolation="repeatable_read"),
        ):
            rows = await cursor_of_rows(connection)
            reached = begin
            if rows is not None and rows.epoch == begin.epoch and rows.sequence > begin.sequence:
                reached = rows
            await _move_checkpoint(connection, token, reached)
            await connection.execute(_COUNT_ROUTERS, reached.epoch, reached.sequence, timeout=_FILL_TIMEOUT_S)
        return reached

    async def histories(self, epoch: str, now_ms: int) -> dict[str, MarketHistory]:
        """The rolling day and the newest trade of every market that has candles, as of the checkpoint."""
        since = datetime_from_ms((now_ms // MINUTE_MS - DAY_MINUTES) * MINUTE_MS)
        async with self._snapshot() as connection:
            markets = await connection.fetch(
                """
                SELECT newest.*, run.first_sequence, run.quantity AS run_quantity, run.trades
                FROM (SELECT DISTINCT symbol FROM market_candles WHERE interval = '1w') AS market
                CROSS JOIN LATERAL (
                    SELECT symbol, price, trade_id, sequence, quantity, taker_side, executed_at
                    FROM market_trades WHERE symbol = market.symbol
                    ORDER BY executed_at DESC, sequence DESC LIMIT 1
                ) AS newest
                CROSS JOIN LATERAL (
                    SELECT min(sequence) AS first_sequence, sum(quantity) AS quantity, count(*) AS trades
                    FROM (
                        -- The same number for trades of consecutive events, counted from the newest.
                        SELECT sequence, quantity, sequence + row_number() OVER (ORDER BY sequence DESC) AS island
                        FROM market_trades
                        WHERE symbol = newest.symbol AND executed_at = newest.executed_at AND price = newest.price
                            AND taker_side = newest.taker_side AND sequence <= newest.sequence
                    ) AS same
                    WHERE island = newest.sequence + 1
                ) AS run
                """
            )
            minutes = await connection.fetch(
                """
                SELECT symbol, (extract(epoch FROM begins_at) / 60)::bigint AS number,
                    open, high, low, close, volume, quote_volume
                FROM market_candles WHERE interval = '1m' AND begins_at >= $1 AND NOT is_imported
                ORDER BY symbol, begins_at
                """,
                since,
            )
        days = {row["symbol"]: RollingDay(to_amount(row["price"])) for row in markets}
        for row in minutes:
            if row["symbol"] in days:
                days[row["symbol"]].load(_minute(row))
        return {row["symbol"]: _history_of(row, days[row["symbol"]], epoch) for row in markets}

    async def imports(self) -> int:
        """How many imports of candles there have been."""
        count: int | None = await self._pool.fetchval(
            "SELECT token FROM market_data_checkpoints WHERE name = $1", IMPORTS
        )
        return count or 0

    async def imported_minutes(self, now_ms: int) -> dict[str, list[Minute]]:
        """The imported candles of the rolling day at `now_ms`, by symbol and time: of each time the shortest ones."""
        rows = await self._pool.fetch(
            """
            SELECT found.* FROM (SELECT DISTINCT symbol FROM market_candles WHERE interval = '1w') AS market
            CROSS JOIN unnest($2::text[]) AS wanted (interval)
            CROSS JOIN LATERAL (
                SELECT symbol, interval, (extract(epoch FROM begins_at) / 60)::bigint AS number,
                    open, high, low, close, volume, quote_volume
                FROM market_candles
                WHERE symbol = market.symbol AND interval = wanted.interval AND begins_at >= $1 AND is_imported
            ) AS found
            """,
            datetime_from_ms((now_ms // MINUTE_MS - DAY_MINUTES) * MINUTE_MS),
            [interval.value for interval in Interval],
        )
        by_symbol: dict[str, dict[tuple[Interval, int], Minute]] = {}
        for row in rows:
            by_symbol.setdefault(row["symbol"], {})[Interval(row["interval"]), row["number"]] = _minute(row)
        return {symbol: [found[key] for key in finest(found)] for symbol, found in by_symbol.items()}

    async def recent_trades(self, symbol: str, limit: int, before: tuple[int, int] | None) -> list[MarketTrade]:
        """Trades of `symbol` older than `before`, newest first. `before` is (milliseconds since 1970, sequence)."""
        milliseconds, sequence = before if before is not None else (None, None)
        rows = await self._pool.fetch(
            """
            SELECT trade_id, symbol, price, quantity, taker_side, executed_at, sequence FROM market_trades
            WHERE symbol = $1 AND (
                $2::bigint IS NULL
                OR (executed_at, sequence) < (timestamptz 'epoch' + $2 * interval '1 millisecond', $3::bigint)
            )
            ORDER BY executed_at DESC, sequence DESC LIMIT $4
            """,
            symbol,
            milliseconds,
            sequence,
            limit,
        )
        return [
            MarketTrade(
                row["trade_id"],
                row["symbol"],
                decimal_to_text(row["price"]),
                decimal_to_text(row["quantity"]),
                row["taker_side"],
                _milliseconds(row["executed_at"]),
                row["sequence"],
            )
            for row in rows
        ]

    async def candles(self, symbol: str, interval: Interval, since: datetime, until: datetime) -> list[Candle]:
        """The candles of `symbol` that begin at `since` or later and before `until`, oldest first."""
        rows = await self._pool.fetch(
            """
            SELECT begins_at, open, high, low, close, volume, trades FROM market_candles
            WHERE symbol = $1 AND interval = $2 AND begins_at >= $3 AND begins_at < $4 ORDER BY begins_at
            """,
            symbol,
            interval.value,
            since,
            until,
        )
        return [
            Candle(
                _milliseconds(row["begins_at"]),
                decimal_to_text(row["open"]),
                decimal_to_text(row["high"]),
                decimal_to_text(row["low"]),
                decimal_to_text(row["close"]),
                decimal_to_text(row["volume"]),
                row["trades"],
            )
            for row in rows
        ]

    @asynccontextmanager
    async def _snapshot(self) -> AsyncIterator[Connection]:
        async with (
            self._pool.acquire() as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            yield connection


async def _move_checkpoint(connection: Connection, token: int, position: StreamPosition) -> None:
    tag = await connection.execute(
        "UPDATE market_data_checkpoints SET epoch = $3, sequence = $4, updated_at = now()"
        " WHERE name = $1 AND token = $2",
        CHECKPOINT,
        token,
        position.epoch,
        position.sequence,
    )
    if not rows_changed(tag):
        raise FencedError("another market data process leads")


async def cursor_of_rows(connection: Connection) -> StreamPosition | None:
    """The position up to which all partitions of the router's trade rows have come; None before the first event.

    While the partitions are in different journals of the engine, the position is in none.
    """
    row = await connection.fetchrow(
        """
        SELECT string_agg(DISTINCT nullif(epoch, ''), ' and ') AS epoch, min(sequence) AS sequence
        FROM engine_cursors WHERE is_current
        """
    )
    return None if row is None or row["epoch"] is None else StreamPosition(row["epoch"], row["sequence"])


def _history_of(row: asyncpg.Record, day: RollingDay, epoch: str) -> MarketHistory:
    if row["trade_id"] != trade_id(epoch, row["sequence"]):
        return MarketHistory(day, 0)
    last = Fill(
        row["trade_id"],
        row["sequence"],
        to_amount(row["price"]),
        to_amount(row["quantity"]),
        row["taker_side"],
        _milliseconds(row["executed_at"]),
        None,
    )
    first_sequence = row["first_sequence"]
    first = replace(last, trade_id=trade_id(epoch, first_sequence), sequence=first_sequence)
    return MarketHistory(day, last.sequence, Run(first, last, to_amount(row["run_quantity"]), row["trades"]))


def _minute(row: asyncpg.Record) -> Minute:
    return Minute(
        number=row["number"],
        open=to_amount(row["open"]),
        high=to_amount(row["high"]),
        low=to_amount(row["low"]),
        close=to_amount(row["close"]),
        volume=to_amount(row["volume"]),
        quote_volume=to_scaled(row["quote_volume"], AMOUNT_SCALE**2),
    )


def _candle_event(row: asyncpg.Record) -> CandleEvent:
    return CandleEvent(
        symbol=row["symbol"],
        interval=row["interval"],
        seq=row["last_sequence"],
        timestamp=_milliseconds(row["begins_at"]),
        open=decimal_to_text(row["open"]),
        high=decimal_to_text(row["high"]),
        low=decimal_to_text(row["low"]),
        close=decimal_to_text(row["close"]),
        volume=decimal_to_text(row["volume"]),
        trades=row["trades"],
    )


def _milliseconds(time: datetime) -> int:
    return round(time.timestamp() * 1000)
