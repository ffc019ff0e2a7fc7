"""The table `fill_notification_positions`, and the filled orders behind it in the router's tables.

A row says up to which trade of an engine's journal users are told of their filled orders, and is the lock of whoever
tells them. An order is filled by the trade that has its last sequence. Order and trade are written in one statement
with the cursor of their partition, so up to the least of all cursors no trade is missing.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from openspot.engine_client.position import StreamPosition
from openspot.kit.database import Connection, Pool
from openspot.rest_edge.notifications.templates import FilledOrder

# Trades have no index by sequence. Engine time never goes back, so the trades after a sequence are among those from its
# time on, which the index of each market finds. `markets` jumps from one to the next.
_FRESH = """
    WITH RECURSIVE markets AS (
        (SELECT symbol FROM trades ORDER BY symbol LIMIT 1)
        UNION ALL
        SELECT (SELECT symbol FROM trades WHERE symbol > markets.symbol ORDER BY symbol LIMIT 1)
        FROM markets WHERE markets.symbol IS NOT NULL
    ), fresh AS (
        SELECT trade.* FROM markets CROSS JOIN LATERAL (
            SELECT sequence, executed_at, taker_order_id, maker_order_id, buyer_id, seller_id FROM trades
            WHERE symbol = markets.symbol AND executed_at >= $3 AND sequence > $2 AND sequence <= $4
                AND trade_id = $1 || '-' || sequence
            ORDER BY executed_at, sequence LIMIT $5
        ) AS trade
        ORDER BY trade.sequence LIMIT $5
    )
"""


@dataclass(frozen=True, slots=True)
class FillPosition:
    """Users are told of what was filled up to an event of the journal `epoch`.

    `executed_at` is the engine time of a trade up to there.
    """

    epoch: str
    sequence: int
    executed_at: datetime


@dataclass(frozen=True, slots=True)
class FreshTrades:
    """Trades that follow each other: up to which position, and the accounts that took part in them."""

    end: FillPosition
    accounts: list[str]


class FillStore:
    """Reads filled orders, and keeps up to where users are told of them."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def news(self) -> StreamPosition | None:
        """The event up to which all rows are written, if users are not told of everything up to there; None else.

        While the partitions of the events are in different journals of the engine, there are no news.
        """
        row = await self._pool.fetchrow(
            """
            SELECT written.epoch, written.sequence FROM (
                SELECT max(epoch) AS epoch, min(sequence) AS sequence FROM engine_cursors WHERE is_current
                HAVING count(DISTINCT nullif(epoch, '')) = 1
            ) AS written LEFT JOIN fill_notification_positions AS told ON told.epoch = written.epoch
            WHERE told.sequence IS NULL OR told.sequence < written.sequence
            """
        )
        return None if row is None else StreamPosition(row["epoch"], row["sequence"])

    async def lock(self, epoch: str, begin: datetime, connection: Connection) -> FillPosition | None:
        """Lock a journal's position, and return it; None if another process tells users of its orders now.

        That of a new journal is before its first trade from `begin` on.
        """
        await connection.execute(
            "INSERT INTO fill_notification_positions (epoch, sequence, executed_at) VALUES ($1, 0, $2)"
            " ON CONFLICT DO NOTHING",
            epoch,
            begin,
        )
        row = await connection.fetchrow(
            "SELECT sequence, executed_at FROM fill_notification_positions WHERE epoch = $1 FOR UPDATE SKIP LOCKED",
            epoch,
        )
        return None if row is None else FillPosition(epoch, row["sequence"], row["executed_at"])

    async def fresh_trades(
        self, position: FillPosition, end_sequence: int, limit: int, connection: Connection
    ) -> FreshTrades:
        """At most `limit` trades after `position`, up to `end_sequence`."""
        row = await connection.fetchrow(
            f"""
            {_FRESH}
            SELECT count(DISTINCT sequence) AS trades, max(sequence) AS sequence, max(executed_at) AS executed_at,
                array_agg(DISTINCT account) AS accounts
            FROM fresh CROSS JOIN LATERAL (VALUES (buyer_id), (seller_id)) AS party (account)
            """,  # noqa: S608  (constant text)
            position.epoch,
            position.sequence,
            position.executed_at,
            end_sequence,
            limit,
        )
        assert row is not None, "an aggregate has a row"
        if not row["trades"]:
            return FreshTrades(FillPosition(position.epoch, end_sequence, position.executed_at), [])
        end = row["sequence"] if row["trades"] == limit else end_sequence
        return FreshTrades(FillPosition(position.epoch, end, row["executed_at"]), row["accounts"])

    async def filled_orders(
        self, position: FillPosition, end_sequence: int, accounts: Collection[str], trades_max: int, limit: int,
        connection: Connection,
    ) -> list[FilledOrder]:  # fmt: skip
        """At most `limit` orders of `accounts` that the trades after `position` have filled, in the trades' order."""
        rows = await connection.fetch(
            f"""
            {_FRESH}
            SELECT orders.order_id, user_id, symbol, side, filled_quantity AS quantity, filled_notional AS notional,
                updated_at AS filled_at, last_sequence AS sequence
            FROM fresh CROSS JOIN LATERAL (VALUES (taker_order_id), (maker_order_id)) AS party (order_id)
                JOIN orders ON orders.order_id = party.order_id
            WHERE (fresh.buyer_id = ANY($6::text[]) OR fresh.seller_id = ANY($6::text[]))
                AND orders.user_id = ANY($6::text[]) AND orders.status = 'filled'
                AND orders.last_sequence = fresh.sequence
            ORDER BY last_sequence, order_id LIMIT $7
            """,  # noqa: S608  (constant text)
            position.epoch,
            position.sequence,
            position.executed_at,
            end_sequence,
            trades_max,
            list(accounts),
            limit,
        )
        return [FilledOrder(**dict(row)) for row in rows]

    async def note(self, position: FillPosition, connection: Connection) -> None:
        """Note up to where users are told. The caller holds the lock."""
        await connection.execute(
            "UPDATE fill_notification_positions SET sequence = $2, executed_at = $3 WHERE epoch = $1",
            position.epoch,
            position.sequence,
            position.executed_at,
        )
