"""SQL of the router: order and trade rows, the cursors of the engine's events, held events, the counter of order ids.

Rows, held events and the cursor of their partition change in one transaction. A writer moves the cursor only from the
value that it wrote last. So if two writers compete, the second one fails.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from operator import attrgetter
from typing import Any, NamedTuple

import asyncpg
import msgspec

from openspot.domain.partition import WHOLE, Partition
from openspot.engine_client.position import StreamPosition
from openspot.kit.bus import OutgoingEvent, PendingEvent
from openspot.kit.database import Connection, Pool
from openspot.kit.sql import rows_changed
from openspot.router.division import Division, cursor_name
from openspot.router.order_columns import (
    ORDER_FIELDS,
    ORDER_NAMES,
    ORDER_ROWS,
    ORDER_UPDATES,
    order_arrays,
    tracked_order_of,
)
from openspot.router.rows_position import CURSORS, PassedEvents, position_of_cursors
from openspot.router.tracked_order import TrackedOrder
from openspot.router.trade_row import TradeRow

BAD_ROW_ERRORS = (asyncpg.IntegrityConstraintViolationError, asyncpg.DataError, ValueError)
"""Errors that a row itself causes. PostgreSQL raises the first two. asyncpg raises the last when it encodes a value."""
_ORDERS_READ_AT_ONCE = 5000

_ORDER_SELECT = f"SELECT {ORDER_FIELDS} FROM orders"  # noqa: S608  (constant text)
_UTC_DATETIME = "timestamptz 'epoch' + {} * interval '1 millisecond'"
_UPSERT_ORDERS = f"""
    INSERT INTO orders ({ORDER_NAMES}) {ORDER_ROWS}
    ON CONFLICT (order_id) DO UPDATE SET {ORDER_UPDATES}
    -- An order of the engine replaces one that a router refused under the same id, which never reached the engine.
    -- The row of another engine order, of a newer state, or of an order that has ended stays as it is.
    WHERE orders.engine_order_id IS NULL
        OR (
            orders.engine_order_id = EXCLUDED.engine_order_id
            AND orders.last_sequence < EXCLUDED.last_sequence
            AND orders.status IN ('pending', 'open', 'partially_filled')
        )
"""
_INSERT_REFUSED_ORDERS = f"INSERT INTO orders ({ORDER_NAMES}) {ORDER_ROWS} ON CONFLICT DO NOTHING"
_INSERT_TRADES = f"""
    INSERT INTO trades (
        trade_id, sequence, symbol, price, quantity, taker_side, taker_order_id, maker_order_id, buyer_id, seller_id,
        taker_fee, maker_fee, fee_currency, executed_at
    )
    SELECT trade_id, sequence, symbol, price::numeric, quantity::numeric, taker_side, taker_order_id, maker_order_id,
        buyer_id, seller_id, taker_fee::numeric, maker_fee::numeric, fee_currency, {_UTC_DATETIME.format("executed_ms")}
    FROM unnest(
        $1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
        $10::text[], $11::text[], $12::text[], $13::text[], $14::bigint[]
    ) AS given (
        trade_id, sequence, symbol, price, quantity, taker_side, taker_order_id, maker_order_id, buyer_id, seller_id,
        taker_fee, maker_fee, fee_currency, executed_ms
    )
    ON CONFLICT DO NOTHING
"""  # noqa: S608  (constant text)
_INSERT_HELD_EVENTS = """
    INSERT INTO router_held_events (message_id, sequence, key, subject, payload)
    SELECT message_id, sequence, key, subject, payload
    FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bytea[]) WITH ORDINALITY
        AS given (message_id, sequence, key, subject, payload, place)
    ORDER BY place
    ON CONFLICT DO NOTHING
"""
_MOVE_CURSOR = """
    UPDATE engine_cursors SET epoch = $2, sequence = $3, updated_at = now()
    WHERE consumer = $1 AND epoch = $4 AND sequence = $5 AND is_current
"""


class FencedError(Exception):
    """Another process has changed the saved state. This process must load it and start again."""


class Resumption(NamedTuple):
    """The state from which the translator of a partition goes on after a restart.

    `position` is the position of the partition's rows, `orders` has its open orders at that position, and `held` has
    its events up to that position that are not published yet. `earlier` names the partitions of earlier divisions: the
    rows include events of them after `position`, and `orders` are as these left them.
    """

    position: StreamPosition | None
    orders: list[TrackedOrder]
    held: list[PendingEvent]
    earlier: tuple[PassedEvents, ...] = ()


class _HeldOrder(msgspec.Struct):
    """The field of an order in a held event that says to which partition the event belongs."""

    symbol: str = ""


class _HeldMessage(msgspec.Struct):
    """A held event: that of an order names the symbol in the order, that of a trade itself."""

    symbol: str = ""
    order: _HeldOrder = msgspec.field(default_factory=_HeldOrder)


_decode_held = msgspec.json.Decoder(_HeldMessage).decode


class RouterStore:
    """The router's tables. The translator of a partition uses the store that `of` returns."""

    def __init__(self, pool: Pool, partition: Partition = WHOLE) -> None:
        self._pool = pool
        self._partition = partition
        self._cursor = cursor_name(partition)
        self.division = Division(pool)

    def of(self, partition: Partition) -> "RouterStore":
        """The same tables, with cursor, open orders and held events of `partition`."""
        return RouterStore(self._pool, partition)

    async def take_id_block(self) -> int:
        """The next value of the shared counter of engine order ids."""
        return int(await self._pool.fetchval("SELECT nextval('engine_order_ids')"))

    async def order(self, order_id: str) -> TrackedOrder | None:
        """The order with this id, from its row; None if there is no row."""
        row = await self._pool.fetchrow(f"{_ORDER_SELECT} WHERE order_id = $1", order_id)
        return None if row is None else tracked_order_of(row)

    async def resumption(self) -> Resumption:
        """Load the state from which the partition goes on, in one snapshot of the database.

        Raises FencedError if the partition is none of the stored division.
        """
        has = self._partition.has
        async with (
            self._pool.acquire() as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            cursors = await connection.fetch(CURSORS)
            orders = [
                tracked_order_of(row)
                async for row in connection.cursor(
                    f"{_ORDER_SELECT} WHERE status IN ('pending', 'open', 'partially_filled') "
                    "AND engine_order_id IS NOT NULL",
                    prefetch=_ORDERS_READ_AT_ONCE,
                )
                if has(row["symbol"])
            ]
            held = await connection.fetch(
                "SELECT key, subject, payload, message_id, sequence FROM router_held_events ORDER BY held_id"
            )
        position = position_of_cursors(cursors)
        return Resumption(
            _cursor_of(self._partition, cursors),
            orders,
            [
                PendingEvent(
                    OutgoingEvent(row["subject"], row["payload"], row["message_id"], key=row["key"]),
                    row["sequence"],
                    is_stored=True,
                )
                for row in held
                if has(symbol_of_held(row["payload"]))
            ],
            () if position is None else position.earlier,
        )

    @asynccontextmanager
    async def moving_cursor(self, last: StreamPosition | None, position: StreamPosition) -> AsyncIterator[Connection]:
        """A transaction that moves the cursor from `last` to `position`. Raises FencedError if it is not at `last`."""
        async with self._pool.acquire() as connection, connection.transaction():
            expected = last or StreamPosition("", 0)
            tag = await connection.execute(
                _MOVE_CURSOR, self._cursor, position.epoch, position.sequence, expected.epoch, expected.sequence
            )
            if not rows_changed(tag):
                raise FencedError(f"the cursor of the order rows is no longer at {expected.epoch}-{expected.sequence}")
            yield connection

    async def insert_refused_orders(self, orders: Sequence[TrackedOrder]) -> None:
        """Insert orders that the engine never saw. An id that already has a row is skipped."""
        await self._pool.execute(_INSERT_REFUSED_ORDERS, *order_arrays(orders))

    async def forget_held(self, message_ids: Sequence[str]) -> None:
        """Delete held events that are published now."""
        await self._pool.execute(
            "DELETE FROM router_held_events WHERE message_id = ANY ($1::text[])", list(message_ids)
        )


async def write_orders(connection: Connection, orders: Sequence[TrackedOrder]) -> None:
    """Insert orders or update their rows. `orders` has each order at most once."""
    if orders:
        await connection.execute(_UPSERT_ORDERS, *order_arrays(orders))


async def write_trades(connection: Connection, trades: Sequence[TradeRow]) -> None:
    """Insert trades. A trade that already has a row is skipped."""
    if trades:
        await connection.execute(_INSERT_TRADES, *_trade_arrays(trades))


async def write_held(connection: Connection, held: Sequence[PendingEvent]) -> None:
    """Store events that the bus has not stored, in their order."""
    if held:
        await connection.execute(
            _INSERT_HELD_EVENTS,
            [pending.event.message_id for pending in held],
            [pending.sequence for pending in held],
            [pending.event.order_key for pending in held],
            [pending.event.subject for pending in held],
            [pending.event.payload for pending in held],
        )


def _cursor_of(partition: Partition, cursors: Sequence[Any]) -> StreamPosition | None:
    for row in cursors:
        if row["is_current"] and (row["partition"], row["partitions"]) == partition:
            return StreamPosition(row["epoch"], row["sequence"]) if row["epoch"] else None
    raise FencedError(f"the stored division has no partition {partition.number} of {partition.total}")


def symbol_of_held(payload: bytes) -> str:
    """The symbol of a held event; empty for that of a transfer."""
    message = _decode_held(payload)
    return message.symbol or message.order.symbol


def _trade_arrays(trades: Sequence[TradeRow]) -> list[list[Any]]:
    return [list(map(attrgetter(field), trades)) for field in TradeRow.__struct_fields__]
