"""SQL of the router: order and trade rows, the cursor of the engine's events, held events, the counter of order ids.

Rows, held events and cursor change in one transaction. A writer moves the cursor only from the value that it wrote
last. So if two writers compete, the second one fails.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import asyncpg

from openspot.domain.order import OrderStatus
from openspot.engine_client.position import StreamPosition
from openspot.kit.bus import OutgoingEvent, PendingEvent
from openspot.kit.database import Connection, Pool
from openspot.kit.sql import rows_changed
from openspot.router.tracked_order import TrackedOrder
from openspot.router.trade_row import TradeRow

CONSUMER = "router"
BAD_ROW_ERRORS = (asyncpg.IntegrityConstraintViolationError, asyncpg.DataError, ValueError)
"""Errors that a row itself causes. PostgreSQL raises the first two. asyncpg raises the last when it encodes a value."""
_ORDERS_READ_AT_ONCE = 5000

_ORDER_COLUMNS = """
    order_id, engine_order_id, client_order_id, user_id, symbol, side, type, time_in_force, margin_mode, price,
    quantity, filled_quantity, filled_notional, remaining_quantity, fee, fee_currency, status, reject_reason,
    last_sequence, created_at, updated_at
"""
_ORDER_SELECT = """
    SELECT order_id, engine_order_id, client_order_id, user_id, symbol, side, type, time_in_force, margin_mode, price,
        quantity, filled_quantity, filled_notional, remaining_quantity, fee, fee_currency, status, reject_reason,
        last_sequence, (extract(epoch FROM created_at) * 1000)::bigint AS created_ms,
        (extract(epoch FROM updated_at) * 1000)::bigint AS updated_ms
    FROM orders
"""
_UTC_DATETIME = "timestamptz 'epoch' + {} * interval '1 millisecond'"
_ORDER_ROWS = f"""
    SELECT order_id, engine_order_id, client_order_id, user_id, symbol, side, type, time_in_force, margin_mode,
        price::numeric, quantity::numeric, filled_quantity::numeric, filled_notional::numeric,
        remaining_quantity::numeric, fee::numeric, fee_currency, status, reject_reason, last_sequence,
        {_UTC_DATETIME.format("created_ms")}, {_UTC_DATETIME.format("updated_ms")}
    FROM unnest(
        $1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
        $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[],
        $18::text[], $19::bigint[], $20::bigint[], $21::bigint[]
    ) AS given (
        order_id, engine_order_id, client_order_id, user_id, symbol, side, type, time_in_force, margin_mode, price,
        quantity, filled_quantity, filled_notional, remaining_quantity, fee, fee_currency, status, reject_reason,
        last_sequence, created_ms, updated_ms
    )
"""  # noqa: S608  (constant text)
_UPSERT_ORDERS = f"""
    INSERT INTO orders ({_ORDER_COLUMNS}) {_ORDER_ROWS}
    ON CONFLICT (order_id) DO UPDATE SET
        engine_order_id = EXCLUDED.engine_order_id,
        client_order_id = EXCLUDED.client_order_id,
        user_id = EXCLUDED.user_id,
        symbol = EXCLUDED.symbol,
        side = EXCLUDED.side,
        type = EXCLUDED.type,
        time_in_force = EXCLUDED.time_in_force,
        margin_mode = EXCLUDED.margin_mode,
        price = EXCLUDED.price,
        quantity = EXCLUDED.quantity,
        filled_quantity = EXCLUDED.filled_quantity,
        filled_notional = EXCLUDED.filled_notional,
        remaining_quantity = EXCLUDED.remaining_quantity,
        fee = EXCLUDED.fee,
        fee_currency = EXCLUDED.fee_currency,
        status = EXCLUDED.status,
        reject_reason = EXCLUDED.reject_reason,
        last_sequence = EXCLUDED.last_sequence,
        created_at = EXCLUDED.created_at,
        updated_at = EXCLUDED.updated_at
    -- An order of the engine replaces one that a router refused under the same id, which never reached the engine.
    -- The row of another engine order, of a newer state, or of an order that has ended stays as it is.
    WHERE orders.engine_order_id IS NULL
        OR (
            orders.engine_order_id = EXCLUDED.engine_order_id
            AND orders.last_sequence < EXCLUDED.last_sequence
            AND orders.status IN ('pending', 'open', 'partially_filled')
        )
"""
_INSERT_REFUSED_ORDERS = f"INSERT INTO orders ({_ORDER_COLUMNS}) {_ORDER_ROWS} ON CONFLICT DO NOTHING"
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
    INSERT INTO engine_cursors (consumer, epoch, sequence) VALUES ($1, $2, $3)
    ON CONFLICT (consumer) DO UPDATE SET epoch = EXCLUDED.epoch, sequence = EXCLUDED.sequence, updated_at = now()
    WHERE engine_cursors.epoch = $4 AND engine_cursors.sequence = $5
"""


class FencedError(Exception):
    """Another process has changed the saved state. This process must load it and start again."""


class Resumption(NamedTuple):
    """The state from which a translator goes on after a restart.

    `position` is the position of the rows, `orders` has the open orders at that position, and `held` has the events up
    to that position that are not published yet.
    """

    position: StreamPosition | None
    orders: list[TrackedOrder]
    held: list[PendingEvent]


class RouterStore:
    """The router's tables."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def take_id_block(self) -> int:
        """The next value of the shared counter of engine order ids."""
        return int(await self._pool.fetchval("SELECT nextval('engine_order_ids')"))

    async def order(self, order_id: str) -> TrackedOrder | None:
        """The order with this id, from its row; None if there is no row."""
        row = await self._pool.fetchrow(f"{_ORDER_SELECT} WHERE order_id = $1", order_id)
        return None if row is None else _order_of(row)

    async def resumption(self) -> Resumption:
        """Load the state from which to go on, in one snapshot of the database."""
        async with (
            self._pool.acquire() as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            cursor = await connection.fetchrow(
                "SELECT epoch, sequence FROM engine_cursors WHERE consumer = $1", CONSUMER
            )
            orders = [
                _order_of(row)
                async for row in connection.cursor(
                    f"{_ORDER_SELECT} WHERE status IN ('pending', 'open', 'partially_filled') "
                    "AND engine_order_id IS NOT NULL",
                    prefetch=_ORDERS_READ_AT_ONCE,
                )
            ]
            held = await connection.fetch(
                "SELECT key, subject, payload, message_id, sequence FROM router_held_events ORDER BY held_id"
            )
        return Resumption(
            None if cursor is None else StreamPosition(cursor["epoch"], cursor["sequence"]),
            orders,
            [
                PendingEvent(
                    OutgoingEvent(row["subject"], row["payload"], row["message_id"], key=row["key"]),
                    row["sequence"],
                    is_stored=True,
                )
                for row in held
            ],
        )

    @asynccontextmanager
    async def moving_cursor(self, last: StreamPosition | None, position: StreamPosition) -> AsyncIterator[Connection]:
        """A transaction that moves the cursor from `last` to `position`. Raises FencedError if it is not at `last`."""
        async with self._pool.acquire() as connection, connection.transaction():
            expected = last or StreamPosition("", 0)
            tag = await connection.execute(
                _MOVE_CURSOR, CONSUMER, position.epoch, position.sequence, expected.epoch, expected.sequence
            )
            if not rows_changed(tag):
                raise FencedError(f"the cursor of the order rows is no longer at {expected.epoch}-{expected.sequence}")
            yield connection

    async def insert_refused_orders(self, orders: Sequence[TrackedOrder]) -> None:
        """Insert orders that the engine never saw. An id that already has a row is skipped."""
        await self._pool.execute(_INSERT_REFUSED_ORDERS, *_order_arrays(orders))

    async def forget_held(self, message_ids: Sequence[str]) -> None:
        """Delete held events that are published now."""
        await self._pool.execute(
            "DELETE FROM router_held_events WHERE message_id = ANY ($1::text[])", list(message_ids)
        )


async def write_orders(connection: Connection, orders: Sequence[TrackedOrder]) -> None:
    """Insert orders or update their rows. `orders` has each order at most once."""
    if orders:
        await connection.execute(_UPSERT_ORDERS, *_order_arrays(orders))


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


def _order_of(row: asyncpg.Record) -> TrackedOrder:
    values = dict(row)
    values["status"] = OrderStatus(values["status"])
    return TrackedOrder(**values)


def _order_arrays(orders: Sequence[TrackedOrder]) -> list[list[Any]]:
    return [
        [order.order_id for order in orders],
        [order.engine_order_id for order in orders],
        [order.client_order_id for order in orders],
        [order.user_id for order in orders],
        [order.symbol for order in orders],
        [order.side for order in orders],
        [order.type for order in orders],
        [order.time_in_force for order in orders],
        [order.margin_mode for order in orders],
        [None if order.price is None else str(order.price) for order in orders],
        [str(order.quantity) for order in orders],
        [str(order.filled_quantity) for order in orders],
        [str(order.filled_notional) for order in orders],
        [str(order.remaining_quantity) for order in orders],
        [str(order.fee) for order in orders],
        [order.fee_currency for order in orders],
        [order.status.value for order in orders],
        [order.reject_reason for order in orders],
        [order.last_sequence for order in orders],
        [order.created_ms for order in orders],
        [order.updated_ms for order in orders],
    ]


def _trade_arrays(trades: Sequence[TradeRow]) -> list[list[Any]]:
    return [
        [trade.trade_id for trade in trades],
        [trade.sequence for trade in trades],
        [trade.symbol for trade in trades],
        [trade.price for trade in trades],
        [trade.quantity for trade in trades],
        [trade.taker_side for trade in trades],
        [trade.taker_order_id for trade in trades],
        [trade.maker_order_id for trade in trades],
        [trade.buyer_id for trade in trades],
        [trade.seller_id for trade in trades],
        [trade.taker_fee for trade in trades],
        [trade.maker_fee for trade in trades],
        [trade.fee_currency for trade in trades],
        [trade.executed_ms for trade in trades],
    ]
