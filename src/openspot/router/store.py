"""SQL of the router: order and trade rows, the cursors of the engine's events, held events, the counter of order ids.

Rows, held events and the cursor of their partition change in one statement. A writer moves the cursor only from the
value that it wrote last. So if two writers compete, the second one fails.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import asyncpg
import msgspec

from openspot.domain.partition import WHOLE, Partition
from openspot.engine_client.position import StreamPosition
from openspot.kit.bus import OutgoingEvent, PendingEvent
from openspot.kit.database import Connection, Pool
from openspot.router.division import Division, cursor_name
from openspot.router.order_columns import (
    ORDER_COLUMNS,
    ORDER_FIELDS,
    ORDER_NAMES,
    ORDER_UPDATES,
    order_arrays,
    order_rows,
    tracked_order_of,
)
from openspot.router.rows_position import CURSORS, PassedEvents, passed, position_of_cursors, rows_position
from openspot.router.tracked_order import TrackedOrder
from openspot.router.trade_row import TradeRow

BAD_ROW_ERRORS = (asyncpg.IntegrityConstraintViolationError, asyncpg.DataError, ValueError)
"""Errors that a row itself causes. PostgreSQL raises the first two. asyncpg raises the last when it encodes a value."""
_ORDERS_READ_AT_ONCE = 5000

_ORDER_SELECT = f"SELECT {ORDER_FIELDS} FROM orders"  # noqa: S608  (constant text)
_UTC_DATETIME = "timestamptz 'epoch' + {} * interval '1 millisecond'"
_INSERT_REFUSED_ORDERS = f"INSERT INTO orders ({ORDER_NAMES}) {order_rows()} ON CONFLICT DO NOTHING"
_FIRST_ORDER_ARRAY = 6
_TRADE_ARRAYS = (
    "text", "bigint", "text", "text", "text", "text", "text", "text", "text", "text", "text", "text", "text", "bigint",
)  # fmt: skip
_FIRST_TRADE_ARRAY = _FIRST_ORDER_ARRAY + len(ORDER_COLUMNS)
_FIRST_HELD_ARRAY = _FIRST_TRADE_ARRAY + len(_TRADE_ARRAYS)


def _arrays(first: int, types: Sequence[str]) -> str:
    return ", ".join(f"${number}::{type_}[]" for number, type_ in enumerate(types, first))


# One statement is one round trip and one transaction. `moved` comes first: the others read it, and write nothing if it
# is empty. So a writer that is fenced waits for no row but the cursor's.
_WRITE_ROWS = f"""
    WITH moved AS (
        UPDATE engine_cursors SET epoch = $2, sequence = $3, updated_at = now()
        WHERE consumer = $1 AND epoch = $4 AND sequence = $5 AND is_current
        RETURNING sequence
    ), written_orders AS (
        INSERT INTO orders ({ORDER_NAMES}) {order_rows(_FIRST_ORDER_ARRAY)} WHERE EXISTS (SELECT FROM moved)
        ON CONFLICT (order_id) DO UPDATE SET {ORDER_UPDATES}
        -- An order of the engine replaces one that a router refused under the same id, which never reached the engine.
        -- The row of another engine order, of a newer state, or of an order that has ended stays as it is.
        WHERE orders.engine_order_id IS NULL
            OR (
                orders.engine_order_id = EXCLUDED.engine_order_id
                AND orders.last_sequence < EXCLUDED.last_sequence
                AND orders.status IN ('pending', 'open', 'partially_filled')
            )
    ), written_trades AS (
        INSERT INTO trades (
            trade_id, sequence, symbol, price, quantity, taker_side, taker_order_id, maker_order_id, buyer_id,
            seller_id, taker_fee, maker_fee, fee_currency, executed_at
        )
        SELECT trade_id, sequence, symbol, price::numeric, quantity::numeric, taker_side, taker_order_id,
            maker_order_id, buyer_id, seller_id, taker_fee::numeric, maker_fee::numeric, fee_currency,
            {_UTC_DATETIME.format("executed_ms")}
        FROM unnest({_arrays(_FIRST_TRADE_ARRAY, _TRADE_ARRAYS)}) AS given (
            trade_id, sequence, symbol, price, quantity, taker_side, taker_order_id, maker_order_id, buyer_id,
            seller_id, taker_fee, maker_fee, fee_currency, executed_ms
        )
        WHERE EXISTS (SELECT FROM moved)
        ON CONFLICT DO NOTHING
    ), written_events AS (
        INSERT INTO router_held_events (message_id, sequence, key, subject, payload)
        SELECT message_id, sequence, key, subject, payload
        FROM unnest({_arrays(_FIRST_HELD_ARRAY, ("text", "bigint", "text", "text", "bytea"))}) WITH ORDINALITY
            AS given (message_id, sequence, key, subject, payload, place)
        WHERE EXISTS (SELECT FROM moved)
        ORDER BY place
        ON CONFLICT DO NOTHING
    )
    SELECT EXISTS (SELECT FROM moved)
"""  # noqa: S608  (constant text)


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


class RowBatch(NamedTuple):
    """Rows that bring the database to `position`. `orders` has each order at most once.

    `held` are events up to the position that the bus has not stored, in their order. An order row that is newer or has
    ended stays as it is, and a trade or event that has a row is skipped.
    """

    orders: Sequence[TrackedOrder]
    trades: Sequence[TradeRow]
    held: Sequence[PendingEvent]
    position: StreamPosition


class RefusedRow(NamedTuple):
    """A row that the database does not take, and its error."""

    row: TrackedOrder | TradeRow
    error: Exception


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

    async def orders_of_list(self, list_id: str) -> list[TrackedOrder]:
        """The orders of a list, from their rows, the entry first; empty if there is no row."""
        rows = await self._pool.fetch(
            f"{_ORDER_SELECT} WHERE list_id = $1 ORDER BY list_role <> 'entry', engine_order_id, order_id", list_id
        )
        return [tracked_order_of(row) for row in rows]

    async def ended_with_lists(self, order_ids: Sequence[str], first: int, last: int) -> list[str]:
        """The orders that were cancelled because their lists ended with one of `order_ids`.

        Only those whose last event is from `first` to `last`.
        """
        rows = await self._pool.fetch(
            """
            SELECT other.order_id FROM orders AS ended JOIN orders AS other ON other.list_id = ended.list_id
                AND other.user_id = ended.user_id
            WHERE ended.order_id = ANY($1::text[]) AND ended.list_id IS NOT NULL AND other.order_id <> ALL($1::text[])
                AND other.status = 'cancelled' AND other.last_sequence BETWEEN $2 AND $3
            """,
            list(order_ids),
            first,
            last,
        )
        return sorted({row["order_id"] for row in rows})

    async def rows_include(self, symbol: str, sequence: int) -> bool:
        """Whether the rows include every event of a symbol up to this one."""
        async with self._pool.acquire() as connection:
            position = await rows_position(connection)
        return position is not None and passed((*position.current, *position.earlier), symbol) >= sequence

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

    async def write(self, last: StreamPosition | None, batch: RowBatch) -> None:
        """Write `batch` and move the cursor from `last` to its position: all of it or nothing.

        Raises FencedError if the cursor is not at `last`, and the database's error if it refuses a row.
        """
        async with self._pool.acquire() as connection:
            await _write(connection, self._cursor, last, batch)

    async def write_singly(self, last: StreamPosition | None, batch: RowBatch) -> list[RefusedRow]:
        """Like `write`, but a row that the database refuses does not keep the others out. Returns the refused rows."""
        refused: list[RefusedRow] = []
        position = batch.position
        singles: list[tuple[TrackedOrder | TradeRow, RowBatch]] = [
            *((order, RowBatch([order], (), (), position)) for order in batch.orders),
            *((trade, RowBatch((), [trade], (), position)) for trade in batch.trades),
        ]
        async with self._pool.acquire() as connection, connection.transaction():
            await _write(connection, self._cursor, last, RowBatch((), (), batch.held, position))
            for row, single in singles:
                try:
                    async with connection.transaction():
                        await _write(connection, self._cursor, position, single)
                except BAD_ROW_ERRORS as error:
                    refused.append(RefusedRow(row, error))
        return refused

    async def insert_refused_orders(self, orders: Sequence[TrackedOrder]) -> None:
        """Insert orders that the engine never saw. An id that already has a row is skipped."""
        await self._pool.execute(_INSERT_REFUSED_ORDERS, *order_arrays(orders))

    async def forget_held(self, message_ids: Sequence[str]) -> None:
        """Delete held events that are published now."""
        await self._pool.execute(
            "DELETE FROM router_held_events WHERE message_id = ANY ($1::text[])", list(message_ids)
        )


async def _write(connection: Connection, cursor: str, last: StreamPosition | None, batch: RowBatch) -> None:
    expected, position, held = last or StreamPosition("", 0), batch.position, batch.held
    has_moved = await connection.fetchval(
        _WRITE_ROWS,
        cursor,
        position.epoch,
        position.sequence,
        expected.epoch,
        expected.sequence,
        *order_arrays(batch.orders),
        *_trade_arrays(batch.trades),
        [pending.event.message_id for pending in held],
        [pending.sequence for pending in held],
        [pending.event.order_key for pending in held],
        [pending.event.subject for pending in held],
        [pending.event.payload for pending in held],
    )
    if not has_moved:
        raise FencedError(f"the cursor of the order rows is no longer at {expected.epoch}-{expected.sequence}")


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
