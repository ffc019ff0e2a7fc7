"""Reads the holdings of participants from the database."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from openspot.kit.database import Connection, Pool
from openspot.kit.sql import numeric, rows_changed
from openspot.positions.amounts import amount_of
from openspot.positions.times import milliseconds_of

POSITIONS_MAX = 10_000
"""A figure is computed from at most this many positions of a participant."""
FORGOTTEN_AT_A_TIME = 10_000

_MARKED = """
    SELECT positions.*, marks.price AS mark_price, marks.priced_at
    FROM positions LEFT JOIN position_marks AS marks
        ON marks.symbol = positions.symbol AND marks.marked_at > now() - $1::interval
"""


class HoldingStore:
    """Positions with their mark prices, balances, trades, snapshots, statistics."""

    def __init__(self, pool: Pool, mark_age_s_max: int) -> None:
        """A mark price that was not confirmed for `mark_age_s_max` seconds does not count."""
        self._pool = pool
        self._mark_age = timedelta(seconds=mark_age_s_max)

    async def positions(
        self,
        participant_id: str | None,
        symbol: str | None,
        *,
        is_open: bool | None,
        after: tuple[str, str],
        limit: int,
    ) -> Sequence[Any]:
        """Positions after the key `after`, by participant and symbol. `is_open` None: both open and closed ones."""
        return await self._pool.fetch(
            f"""
            {_MARKED}
            WHERE (positions.participant_id, positions.symbol) > ($2, $3)
                AND ($4::text IS NULL OR positions.participant_id = $4)
                AND ($5::text IS NULL OR positions.symbol = $5) AND trade_count > 0
                AND ($6::boolean IS NULL OR (quantity <> 0) = $6)
            ORDER BY positions.participant_id, positions.symbol LIMIT $7
            """,
            self._mark_age, *after, participant_id, symbol, is_open, limit,
        )  # fmt: skip

    async def position(self, participant_id: str, symbol: str, connection: Connection | None = None) -> Any | None:
        """One position; None if it never had a trade."""
        rows = await (connection or self._pool).fetch(
            f"{_MARKED} WHERE positions.participant_id = $2 AND positions.symbol = $3 AND trade_count > 0",
            self._mark_age, participant_id, symbol,
        )  # fmt: skip
        return rows[0] if rows else None

    async def positions_of(self, participant_id: str) -> Sequence[Any]:
        """All positions of a participant, at most POSITIONS_MAX."""
        return await self.positions(participant_id, None, is_open=None, after=("", ""), limit=POSITIONS_MAX)

    async def marks(self) -> dict[str, int]:
        """The mark price of every symbol that has one, at 18 places."""
        rows = await self._pool.fetch(
            "SELECT symbol, price FROM position_marks WHERE marked_at > now() - $1::interval", self._mark_age
        )
        return {row["symbol"]: amount_of(row["price"]) for row in rows}

    async def mark(self, prices: dict[str, tuple[int, datetime]]) -> None:
        """Note the latest price of each symbol (18 places) and its time. A price with an older time changes nothing."""
        await self._pool.executemany(
            """
            INSERT INTO position_marks AS known (symbol, price, priced_at, marked_at) VALUES ($1, $2, $3, now())
            ON CONFLICT (symbol) DO UPDATE
                SET price = excluded.price, priced_at = excluded.priced_at, marked_at = excluded.marked_at
                WHERE known.priced_at <= excluded.priced_at
            """,
            [(symbol, numeric(price), at) for symbol, (price, at) in sorted(prices.items())],
        )

    async def balances(
        self, participant_id: str | None, asset: str | None, after: tuple[str, str], limit: int
    ) -> Sequence[Any]:
        """Balances after the key `after`, by participant and asset."""
        return await self._pool.fetch(
            """
            SELECT * FROM position_balances
            WHERE (participant_id, asset) > ($1, $2) AND ($3::text IS NULL OR participant_id = $3)
                AND ($4::text IS NULL OR asset = $4)
            ORDER BY participant_id, asset LIMIT $5
            """,
            *after, participant_id, asset, limit,
        )  # fmt: skip

    async def trades(
        self, participant_id: str | None, symbol: str | None, source: str | None, before: int, limit: int
    ) -> Sequence[Any]:
        """Trades with a serial below `before`, newest first."""
        return await self._pool.fetch(
            """
            SELECT * FROM position_trades
            WHERE serial < $1 AND ($2::text IS NULL OR participant_id = $2) AND ($3::text IS NULL OR symbol = $3)
                AND ($4::text IS NULL OR source = $4)
            ORDER BY serial DESC LIMIT $5
            """,
            before, participant_id, symbol, source, limit,
        )  # fmt: skip

    async def snapshots(
        self, participant_id: str | None, symbol: str | None, before: tuple[datetime, str, str], limit: int
    ) -> Sequence[Any]:
        """Snapshots before the key `before`, newest first."""
        return await self._pool.fetch(
            """
            SELECT * FROM position_snapshots
            WHERE (taken_at, participant_id, symbol) < ($1, $2, $3)
                AND ($4::text IS NULL OR participant_id = $4) AND ($5::text IS NULL OR symbol = $5)
            ORDER BY taken_at DESC, participant_id DESC, symbol DESC LIMIT $6
            """,
            *before, participant_id, symbol, limit,
        )  # fmt: skip

    async def take_snapshot(self, taken_at: datetime) -> int:
        """Store every open position, unless another process has done so for this time. Returns how many.

        The row of `position_checkpoints` decides which process stores them, so that no snapshot is a mixture of two.
        """
        taken: int = await self._pool.fetchval(
            """
            WITH turn AS (
                INSERT INTO position_checkpoints AS known (name, sequence, trade_id, trade_count)
                VALUES ('snapshots', $3, '', 0)
                ON CONFLICT (name) DO UPDATE SET sequence = excluded.sequence, updated_at = now()
                    WHERE known.sequence <> excluded.sequence
                RETURNING 1
            ), taken AS (
                INSERT INTO position_snapshots
                    (taken_at, participant_id, symbol, quantity, cost, realised, fees, mark_price, unrealised)
                SELECT $2, participant_id, positions.symbol, quantity, cost, realised, fees, marks.price,
                    floor(quantity * marks.price * 1e18) * 1e-18 - cost
                FROM positions LEFT JOIN position_marks AS marks
                    ON marks.symbol = positions.symbol AND marks.marked_at > now() - $1::interval
                WHERE quantity <> 0 AND EXISTS (SELECT FROM turn)
                ON CONFLICT DO NOTHING RETURNING 1
            )
            SELECT count(*) FROM taken
            """,
            self._mark_age, taken_at, milliseconds_of(taken_at),
        )  # fmt: skip
        return taken

    async def forget_snapshots(self, before: datetime) -> None:
        """Delete the snapshots from before this time, piece by piece."""
        deleted = FORGOTTEN_AT_A_TIME
        while deleted == FORGOTTEN_AT_A_TIME:
            outcome = await self._pool.execute(
                """
                DELETE FROM position_snapshots WHERE (taken_at, participant_id, symbol) IN (
                    SELECT taken_at, participant_id, symbol FROM position_snapshots WHERE taken_at < $1 LIMIT $2
                )
                """,
                before,
                FORGOTTEN_AT_A_TIME,
            )
            deleted = rows_changed(outcome)

    async def statistics(self, participant_id: str | None, after: str, limit: int) -> Sequence[Any]:
        """Counts of each participant, by id."""
        return await self._pool.fetch(
            """
            SELECT participant_id, count(*) AS symbols, count(*) FILTER (WHERE quantity <> 0) AS open_positions,
                sum(trade_count)::bigint AS trade_count, max(updated_at) AS updated_at
            FROM positions WHERE trade_count > 0 AND participant_id > $1 AND ($2::text IS NULL OR participant_id = $2)
            GROUP BY participant_id ORDER BY participant_id LIMIT $3
            """,
            after, participant_id, limit,
        )  # fmt: skip

    async def summary(self, participant_id: str | None) -> Any:
        """Counts over all participants, or of one."""
        return await self._pool.fetchrow(
            """
            SELECT count(DISTINCT participant_id) AS participants,
                count(*) FILTER (WHERE quantity <> 0) AS open_positions,
                coalesce(sum(trade_count), 0)::bigint AS trade_count,
                (SELECT count(*) FROM position_transfers
                    WHERE status = 'pending' AND ($1::text IS NULL OR participant_id = $1)) AS pending_transfers,
                (SELECT count(*) FROM broker_exceptions WHERE $1::text IS NULL OR participant_id = $1) AS exceptions
            FROM positions WHERE trade_count > 0 AND ($1::text IS NULL OR participant_id = $1)
            """,
            participant_id,
        )

    async def sums_by_symbol(self, participant_id: str | None) -> Sequence[Any]:
        """Sums over the positions in each symbol, with its mark price."""
        return await self._pool.fetch(
            """
            SELECT positions.symbol, sum(quantity) AS quantity, sum(cost) AS cost, sum(realised) AS realised,
                sum(fees) AS fees, sum(cash_flow) AS cash_flow, sum(trade_count)::bigint AS trade_count,
                max(marks.price) AS mark_price
            FROM positions LEFT JOIN position_marks AS marks
                ON marks.symbol = positions.symbol AND marks.marked_at > now() - $1::interval
            WHERE trade_count > 0 AND ($2::text IS NULL OR participant_id = $2)
            GROUP BY positions.symbol ORDER BY positions.symbol
            """,
            self._mark_age, participant_id,
        )  # fmt: skip
