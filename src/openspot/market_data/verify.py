"""Compares the candles of trades with a recomputation from the router's trade rows, which market data does not write.

The comparison copies the candles together with their checkpoint, and waits until the router's rows have reached that
checkpoint. Then it makes the candles again, from the rows of the trades up to the checkpoint, and compares both.
"""

import asyncio
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

import asyncpg

from openspot.domain.money import decimal_to_text
from openspot.engine_client.position import StreamPosition
from openspot.kit.database import TRANSIENT_ERRORS, Connection
from openspot.kit.settings import Settings
from openspot.market_data.store import AGGREGATE, CHECKPOINT, cursor_of_rows, intervals_sql

SHOWN_MAX = 100
"""At most this many differences are named. All are counted."""
_POLL_INTERVAL_S = 0.2
_TIMEOUT_S = 3600.0
_FIGURES = (
    "open", "high", "low", "close", "volume", "quote_volume", "trades",
    "first_at", "first_sequence", "last_at", "last_sequence",
)  # fmt: skip
_KEY = ("symbol", "interval", "begins_at")
# Trade rows that are older may be in the archive, so only candles that began later can be made again.
_FLOOR = "(SELECT coalesce(max(before), '-infinity') FROM archive_floors WHERE kind = 'trades')"
_COPY = f"""
    CREATE TEMPORARY TABLE copied ON COMMIT PRESERVE ROWS AS
    SELECT * FROM market_candles WHERE NOT is_imported AND begins_at >= {_FLOOR}
"""  # noqa: S608  (constant text)
_RECOMPUTE = f"""
    CREATE TEMPORARY TABLE recomputed ON COMMIT PRESERVE ROWS AS
    {AGGREGATE}
    FROM trades CROSS JOIN ({intervals_sql()}) AS intervals
    -- Trades of the current journal that the checkpoint has not reached are not in the candles yet.
    WHERE (trade_id <> $1 || '-' || sequence OR sequence <= $2)
        AND date_bin(length, executed_at, origin) >= {_FLOOR}
    GROUP BY symbol, name, date_bin(length, executed_at, origin)
"""
_COMPARE = f"""
    SELECT {", ".join(_KEY)}, {
    ", ".join(f"copied.{name} AS has_{name}, recomputed.{name} AS needs_{name}" for name in _FIGURES)
}
    FROM copied FULL JOIN recomputed USING ({", ".join(_KEY)})
    WHERE ({", ".join(f"copied.{name}" for name in _FIGURES)})
        IS DISTINCT FROM ({", ".join(f"recomputed.{name}" for name in _FIGURES)})
    ORDER BY {", ".join(_KEY)}
"""  # noqa: S608  (constant text)


class CandlesNotComparableError(Exception):
    """The candles cannot be compared now. The message says why."""


class CandleDifference(NamedTuple):
    """A candle that differs, and how."""

    candle: str
    text: str

    def __str__(self) -> str:
        return f"{self.candle}: {self.text}"


@dataclass
class CandleVerification:
    """The outcome. `differences` names at most SHOWN_MAX of `count`."""

    position: StreamPosition
    candles: int
    trades: int
    count: int = 0
    differences: list[CandleDifference] = field(default_factory=list)


async def verify(settings: Settings, wait_s: float) -> CandleVerification:
    """Compare all candles. Waits up to `wait_s` for the router's rows. Raises CandlesNotComparableError."""
    try:
        connection = await asyncpg.connect(settings.database_url, timeout=10)
    except (*TRANSIENT_ERRORS, asyncpg.PostgresError, ValueError) as error:
        raise CandlesNotComparableError(f"the database does not answer: {error!r}") from error
    try:
        return await _verify(connection, wait_s)
    except (*TRANSIENT_ERRORS, asyncpg.PostgresError) as error:
        raise CandlesNotComparableError(f"the database: {error!r}") from error
    finally:
        await connection.close()


async def _verify(connection: Connection, wait_s: float) -> CandleVerification:
    await connection.execute("SET TimeZone = 'UTC'")
    async with connection.transaction(isolation="repeatable_read"):
        row = await connection.fetchrow(
            "SELECT epoch, sequence FROM market_data_checkpoints WHERE name = $1", CHECKPOINT
        )
        await connection.execute(_COPY, timeout=_TIMEOUT_S)
    position = StreamPosition("", 0) if row is None else StreamPosition(row["epoch"], row["sequence"])
    await _await_rows(connection, position, wait_s)
    await connection.execute(_RECOMPUTE, position.epoch, position.sequence, timeout=_TIMEOUT_S)
    outcome = CandleVerification(
        position,
        await connection.fetchval("SELECT count(*) FROM copied"),
        await connection.fetchval("SELECT coalesce(sum(trades), 0)::bigint FROM copied WHERE interval = '1w'"),
    )
    async with connection.transaction():
        async for found in connection.cursor(_COMPARE, timeout=_TIMEOUT_S):
            outcome.count += 1
            if outcome.count <= SHOWN_MAX:
                outcome.differences.append(_difference(found))
    return outcome


async def _await_rows(connection: Connection, position: StreamPosition, wait_s: float) -> None:
    """Wait until the router's rows include every event up to `position`."""
    deadline = asyncio.get_running_loop().time() + wait_s
    while True:
        rows = await cursor_of_rows(connection)
        if position.sequence == 0 or (
            rows is not None and rows.epoch == position.epoch and rows.sequence >= position.sequence
        ):
            return
        if asyncio.get_running_loop().time() > deadline:
            reached = "nowhere" if rows is None else f"{rows.epoch}-{rows.sequence}"
            raise CandlesNotComparableError(
                f"the candles include the events up to {position.epoch}-{position.sequence}, "
                f"the router's rows have come to {reached}"
            )
        await asyncio.sleep(_POLL_INTERVAL_S)


def _difference(row: asyncpg.Record) -> CandleDifference:
    candle = f"{row['symbol']} {row['interval']} {row['begins_at']:%Y-%m-%dT%H:%MZ}"
    if row["has_open"] is None:
        return CandleDifference(candle, f"is missing; the trade rows give {row['needs_trades']} trades")
    if row["needs_open"] is None:
        return CandleDifference(candle, f"has {row['has_trades']} trades, and no trade row")
    wrong = [
        f"{name} is {_text(row[f'has_{name}'])}, the trade rows give {_text(row[f'needs_{name}'])}"
        for name in _FIGURES
        if row[f"has_{name}"] != row[f"needs_{name}"]
    ]
    return CandleDifference(candle, "; ".join(wrong))


def _text(value: Any) -> str:
    return decimal_to_text(value) if isinstance(value, Decimal) else str(value)
