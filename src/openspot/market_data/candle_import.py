"""Imports candles of another venue into the chart's past, before the first trade of a market.

A candle of trades is never changed: what ends after a market's first trade is left out, and a trade that comes later
into the interval of an imported candle replaces it (`store`). Each import is counted, so that the market data that runs
reads the new candles into its tickers.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import asyncpg

from openspot.kit.database import TRANSIENT_ERRORS, Connection
from openspot.market_data.imported_candles import ImportedCandle, with_larger
from openspot.market_data.store import IMPORTS

_TIMEOUT_S = 600.0
_BATCH = 10_000
_FIRST_TRADES = """
    SELECT symbol, min(first_at) AS first_at FROM market_candles
    WHERE interval = '1w' AND NOT is_imported GROUP BY symbol
"""
_INSERT = """
    INSERT INTO market_candles AS candle (
        symbol, interval, begins_at, open, high, low, close, volume, quote_volume, trades,
        first_at, first_sequence, last_at, last_sequence, is_imported
    )
    SELECT symbol, interval, begins_at, open, high, low, close, volume, close * volume, 0,
        begins_at, 0, begins_at, 0, true
    FROM unnest(
        $1::text[], $2::text[], $3::timestamptz[], $4::numeric[], $5::numeric[], $6::numeric[], $7::numeric[],
        $8::numeric[]
    ) AS given (symbol, interval, begins_at, open, high, low, close, volume)
    ON CONFLICT (symbol, interval, begins_at) DO UPDATE SET
        open = EXCLUDED.open, high = EXCLUDED.high, low = EXCLUDED.low, close = EXCLUDED.close,
        volume = EXCLUDED.volume, quote_volume = EXCLUDED.quote_volume
    WHERE candle.is_imported AND (candle.open, candle.high, candle.low, candle.close, candle.volume)
        IS DISTINCT FROM (EXCLUDED.open, EXCLUDED.high, EXCLUDED.low, EXCLUDED.close, EXCLUDED.volume)
    RETURNING 1
"""
_COUNT_IMPORT = """
    INSERT INTO market_data_checkpoints (name, token) VALUES ($1, 1)
    ON CONFLICT (name) DO UPDATE SET token = market_data_checkpoints.token + 1, updated_at = now()
"""


class CandleImportError(Exception):
    """The candles could not be written. The message says why."""


class CandlesImported(NamedTuple):
    """The outcome, with the larger intervals: candles written, those that stood there already, and those left out."""

    written: int
    same: int
    left_out: int


async def import_candles(
    database_url: str, candles: Sequence[ImportedCandle], *, only_first: bool = False
) -> CandlesImported:
    """Write `candles` and their larger intervals in one transaction. A repetition changes nothing.

    With `only_first` nothing is written if there is any candle already. Raises CandleImportError.
    """
    try:
        connection = await asyncpg.connect(database_url, timeout=10)
        try:
            async with connection.transaction():
                return await _import(connection, with_larger(candles), only_first=only_first)
        finally:
            await connection.close()
    except (*TRANSIENT_ERRORS, asyncpg.PostgresError, ValueError) as error:
        raise CandleImportError(f"the database: {error!r}") from error


async def _import(connection: Connection, candles: Sequence[ImportedCandle], *, only_first: bool) -> CandlesImported:
    if only_first and await connection.fetchval("SELECT EXISTS (SELECT FROM market_candles)"):
        return CandlesImported(0, 0, len(candles))
    first_trades: dict[str, datetime] = {
        row["symbol"]: row["first_at"] for row in await connection.fetch(_FIRST_TRADES)
    }
    past = [
        candle
        for candle in candles
        if candle.symbol not in first_trades or candle.begins_at + candle.interval.length <= first_trades[candle.symbol]
    ]
    written = 0
    for begin in range(0, len(past), _BATCH):
        batch = past[begin : begin + _BATCH]
        rows = await connection.fetch(
            _INSERT,
            [candle.symbol for candle in batch],
            [candle.interval.value for candle in batch],
            [candle.begins_at for candle in batch],
            [candle.open for candle in batch],
            [candle.high for candle in batch],
            [candle.low for candle in batch],
            [candle.close for candle in batch],
            [candle.volume for candle in batch],
            timeout=_TIMEOUT_S,
        )
        written += len(rows)
    if written:
        await connection.execute(_COUNT_IMPORT, IMPORTS)
    return CandlesImported(written, len(past) - written, len(candles) - len(past))
