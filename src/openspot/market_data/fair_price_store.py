"""SQL of the fair prices: the last ones, their samples by the minute, operators' prices, owner links, past trades.

Prices and samples are written under the newest leader's token only. Operators' prices and links are written by
commands.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import asyncpg

from openspot.domain.fair_price.estimate import Remembered
from openspot.domain.fair_price.model import FairPrice, PriceState
from openspot.domain.fair_price.standing import StandingMid
from openspot.domain.money import AMOUNT_SCALE, scaled_to_text, to_scaled
from openspot.domain.owners import Owners
from openspot.engine_client.position import StreamPosition
from openspot.kit.clock import datetime_from_ms, ms_from_datetime
from openspot.kit.database import Connection, Pool
from openspot.market_data.store import CHECKPOINT, FencedError, cursor_of_rows

PAST_ROWS_MAX = 100_000
"""At most this many sums of past trades are read for a market, the largest ones."""
_KEPT = "interval '25 hours'"
_PAST_TIMEOUT_S = 60.0


class PastTrade(NamedTuple):
    """The sum of trades of one price between two accounts, in one part of time that begins at `timestamp_ms`."""

    timestamp_ms: int
    symbol: str
    account: str
    other_account: str
    price: int
    quantity: int


@dataclass(frozen=True, slots=True)
class PriceRecord:
    """A market's price as it is kept, with what it costs to move it (None: nobody can by trading here)."""

    remembered: Remembered
    move_cost: int | None


class Sample(NamedTuple):
    """The price of a market at one moment."""

    symbol: str
    time_ms: int
    price: int


class OperatorPrice(NamedTuple):
    """A price that an operator set, and when it ends."""

    price: int
    ends_ms: int


class FairPriceStore:
    """The tables of the fair prices."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def remembered(self) -> dict[str, Remembered]:
        """The last price of each market."""
        rows = await self._pool.fetch("SELECT * FROM fair_prices")
        return {row["symbol"]: _remembered(row) for row in rows}

    async def samples(self) -> list[Sample]:
        """The recorded samples of the last day and the one before it, oldest first."""
        rows = await self._pool.fetch("SELECT symbol, sampled_at, price FROM fair_price_samples ORDER BY sampled_at")
        return [Sample(row["symbol"], ms_from_datetime(row["sampled_at"]), _amount(row["price"])) for row in rows]

    async def rows_have_reached(self, position: StreamPosition) -> bool:
        """Whether the router's trade rows include everything up to `position`."""
        async with self._pool.acquire() as connection:
            rows = await cursor_of_rows(connection)
        return not position.sequence or (
            rows is not None and rows.epoch == position.epoch and rows.sequence >= position.sequence
        )

    async def past_trades(self, symbol: str, since_ms: int, part_ms: int, position: StreamPosition) -> list[PastTrade]:
        """The trades of a market since `since_ms` and up to `position`, summed by part of time, price and accounts."""
        rows = await self._pool.fetch(
            """
            SELECT date_bin($2 * interval '1 millisecond', executed_at, timestamptz 'epoch') AS begins_at,
                least(buyer_id, seller_id) AS account, greatest(buyer_id, seller_id) AS other_account,
                price, sum(quantity) AS quantity
            FROM trades
            WHERE symbol = $1 AND executed_at >= $3 AND (trade_id <> $4 || '-' || sequence OR sequence <= $5)
            GROUP BY 1, 2, 3, 4 ORDER BY sum(quantity) DESC LIMIT $6
            """,
            symbol,
            part_ms,
            datetime_from_ms(since_ms),
            position.epoch,
            position.sequence,
            PAST_ROWS_MAX,
            timeout=_PAST_TIMEOUT_S,
        )
        return [
            PastTrade(
                ms_from_datetime(row["begins_at"]),
                symbol,
                row["account"],
                row["other_account"],
                _amount(row["price"]),
                _amount(row["quantity"]),
            )
            for row in rows
        ]

    async def record(self, token: int, prices: Iterable[PriceRecord], samples: Iterable[Sample]) -> None:
        """Keep prices and samples, and forget samples that are older than a day. Raises FencedError."""
        kept, new_samples = list(prices), list(samples)
        async with self._pool.acquire() as connection, connection.transaction():
            await _hold_token(connection, token)
            await connection.executemany(_UPSERT, [_row(record) for record in kept])
            await connection.executemany(
                "INSERT INTO fair_price_samples (symbol, sampled_at, price) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
                [(symbol, datetime_from_ms(time_ms), _decimal(price)) for symbol, time_ms, price in new_samples],
            )
            if not new_samples:
                return
            # The newest sample of each market stays, however old: it is the price until the next one.
            await connection.execute(
                f"""
                DELETE FROM fair_price_samples AS old WHERE sampled_at < now() - {_KEPT} AND EXISTS (
                    SELECT FROM fair_price_samples AS newer
                    WHERE newer.symbol = old.symbol AND newer.sampled_at > old.sampled_at
                    AND newer.sampled_at < now() - {_KEPT}
                )
                """  # noqa: S608  (constant text)
            )

    async def operator_prices(self) -> dict[str, OperatorPrice]:
        """The operators' prices that count now, by symbol."""
        rows = await self._pool.fetch(
            """
            SELECT DISTINCT ON (symbol) symbol, price, ends_at, cleared_at IS NULL AND ends_at > now() AS counts
            FROM operator_prices ORDER BY symbol, number DESC
            """
        )
        return {
            row["symbol"]: OperatorPrice(_amount(row["price"]), ms_from_datetime(row["ends_at"]))
            for row in rows
            if row["counts"]
        }

    async def owners(self) -> Owners:
        """Who is one owner now."""
        return Owners(await self.owner_links())

    async def owner_links(self) -> list[tuple[str, str]]:
        """The links that count now."""
        rows = await self._pool.fetch("SELECT first_user_id, second_user_id FROM owner_links WHERE ended_at IS NULL")
        return [(row["first_user_id"], row["second_user_id"]) for row in rows]


_COLUMNS = (
    "symbol", "state", "price", "low", "high", "day_median", "sellable", "buyable", "reason", "computed_at",
    "standing_price", "standing_at", "move_cost",
)  # fmt: skip
_UPSERT = f"""
    INSERT INTO fair_prices ({", ".join(_COLUMNS)})
    VALUES ({", ".join(f"${place}" for place in range(1, len(_COLUMNS) + 1))})
    ON CONFLICT (symbol) DO UPDATE SET {", ".join(f"{name} = EXCLUDED.{name}" for name in _COLUMNS[1:])}
    WHERE fair_prices.computed_at < EXCLUDED.computed_at
"""  # noqa: S608  (constant text)


def _row(record: PriceRecord) -> tuple[object, ...]:
    price, standing = record.remembered.price, record.remembered.standing
    return (
        price.symbol,
        price.state.value,
        *(
            _decimal(amount)
            for amount in (price.price, price.low, price.high, price.day_median, price.sellable, price.buyable)
        ),
        price.reason,
        datetime_from_ms(price.timestamp_ms),
        None if standing is None else _decimal(standing.price),
        None if standing is None else datetime_from_ms(standing.time_ms),
        None if record.move_cost is None else _decimal(record.move_cost),
    )


def _remembered(row: asyncpg.Record) -> Remembered:
    price = FairPrice(
        symbol=row["symbol"],
        state=PriceState(row["state"]),
        price=_amount(row["price"]),
        low=_amount(row["low"]),
        high=_amount(row["high"]),
        day_median=_amount(row["day_median"]),
        sellable=_amount(row["sellable"]),
        buyable=_amount(row["buyable"]),
        timestamp_ms=ms_from_datetime(row["computed_at"]),
        reason=row["reason"],
    )
    standing = row["standing_price"]
    return Remembered(
        price, None if standing is None else StandingMid(_amount(standing), ms_from_datetime(row["standing_at"]))
    )


async def _hold_token(connection: Connection, token: int) -> None:
    """Keep the token until the transaction ends. Raises FencedError if another process has a newer one."""
    held = await connection.fetchval(
        "SELECT token FROM market_data_checkpoints WHERE name = $1 AND token = $2 FOR SHARE", CHECKPOINT, token
    )
    if held is None:
        raise FencedError("another market data process leads")


def _decimal(amount: int) -> Decimal:
    return Decimal(scaled_to_text(amount, AMOUNT_SCALE))


def _amount(value: Decimal) -> int:
    return to_scaled(value, AMOUNT_SCALE)
