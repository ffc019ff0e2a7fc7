"""SQL of the router: order and trade rows, the cursor of the engine's events, the counter of order ids.

Rows and cursor change in one transaction. The cursor moves only from the place where its writer left it, so
that of two writers one is fenced off.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from openspot.domain.order import OrderStatus
from openspot.kit.database import Connection, Pool
from openspot.router.schemas import Position, TrackedOrder, TradeRow

CONSUMER = "router"
_ORDERS_READ_AT_ONCE = 5000

_ORDER_COLUMNS = """
    order_id, internal_id, client_order_id, user_id, symbol, side, type, time_in_force, margin_mode, price,
    quantity, filled_quantity, filled_notional, remaining_quantity, fee, fee_currency, status, reject_reason,
    last_sequence, created_at, updated_at
"""
_ORDER_SELECT = """
    SELECT order_id, internal_id, client_order_id, user_id, symbol, side, type, time_in_force, margin_mode, price,
        quantity, filled_quantity, filled_notional, remaining_quantity, fee, fee_currency, status, reject_reason,
        last_sequence, (extract(epoch FROM created_at) * 1000)::bigint AS created_ms,
        (extract(epoch FROM updated_at) * 1000)::bigint AS updated_ms
    FROM orders
"""
_MOMENT = "timestamptz 'epoch' + {} * interval '1 millisecond'"
_ORDER_ROWS = f"""
    SELECT order_id, internal_id, client_order_id, user_id, symbol, side, type, time_in_force, margin_mode,
        price::numeric, quantity::numeric, filled_quantity::numeric, filled_notional::numeric,
        remaining_quantity::numeric, fee::numeric, fee_currency, status, reject_reason, last_sequence,
        {_MOMENT.format("created_ms")}, {_MOMENT.format("updated_ms")}
    FROM unnest(
        $1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
        $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[],
        $18::text[], $19::bigint[], $20::bigint[], $21::bigint[]
    ) AS given (
        order_id, internal_id, client_order_id, user_id, symbol, side, type, time_in_force, margin_mode, price,
        quantity, filled_quantity, filled_notional, remaining_quantity, fee, fee_currency, status, reject_reason,
        last_sequence, created_ms, updated_ms
    )
"""  # noqa: S608  (constant text)
_UPSERT_ORDERS = f"""
    INSERT INTO orders ({_ORDER_COLUMNS}) {_ORDER_ROWS}
    ON CONFLICT (order_id) DO UPDATE SET
        price = EXCLUDED.price,
        filled_quantity = EXCLUDED.filled_quantity,
        filled_notional = EXCLUDED.filled_notional,
        remaining_quantity = EXCLUDED.remaining_quantity,
        fee = EXCLUDED.fee,
        status = EXCLUDED.status,
        reject_reason = EXCLUDED.reject_reason,
        last_sequence = EXCLUDED.last_sequence,
        updated_at = EXCLUDED.updated_at
    -- Another order under the same id, an older state, or an order that has ended, stays as it is.
    WHERE orders.internal_id = EXCLUDED.internal_id
        AND orders.last_sequence < EXCLUDED.last_sequence
        AND orders.status IN ('pending', 'open', 'partially_filled')
"""
_INSERT_REFUSED_ORDERS = f"INSERT INTO orders ({_ORDER_COLUMNS}) {_ORDER_ROWS} ON CONFLICT DO NOTHING"
_INSERT_TRADES = f"""
    INSERT INTO trades (
        trade_id, sequence, symbol, price, quantity, taker_side, taker_order_id, maker_order_id, buyer_id, seller_id,
        taker_fee, maker_fee, fee_currency, executed_at
    )
    SELECT trade_id, sequence, symbol, price::numeric, quantity::numeric, taker_side, taker_order_id, maker_order_id,
        buyer_id, seller_id, taker_fee::numeric, maker_fee::numeric, fee_currency, {_MOMENT.format("executed_ms")}
    FROM unnest(
        $1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
        $10::text[], $11::text[], $12::text[], $13::text[], $14::bigint[]
    ) AS given (
        trade_id, sequence, symbol, price, quantity, taker_side, taker_order_id, maker_order_id, buyer_id, seller_id,
        taker_fee, maker_fee, fee_currency, executed_ms
    )
    ON CONFLICT DO NOTHING
"""  # noqa: S608  (constant text)
_MOVE_CURSOR = """
    INSERT INTO engine_cursors (consumer, epoch, sequence) VALUES ($1, $2, $3)
    ON CONFLICT (consumer) DO UPDATE SET epoch = EXCLUDED.epoch, sequence = EXCLUDED.sequence, updated_at = now()
    WHERE engine_cursors.epoch = $4 AND engine_cursors.sequence = $5
"""


class FencedError(Exception):
    """Another process has moved on from where this one was: this one has to begin anew."""


class Store:
    """The router's tables."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def take_id_block(self) -> int:
        """The next value of the shared counter of internal order ids."""
        return int(await self._pool.fetchval("SELECT nextval('internal_order_ids')"))

    async def order(self, order_id: str) -> TrackedOrder | None:
        """The order with that external id, as its row shows it."""
        row = await self._pool.fetchrow(f"{_ORDER_SELECT} WHERE order_id = $1", order_id)
        return None if row is None else _order_of(row)

    async def open_orders(self) -> tuple[Position | None, list[TrackedOrder]]:
        """How far the rows have come, and the open orders at exactly that place."""
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
                    "AND internal_id IS NOT NULL",
                    prefetch=_ORDERS_READ_AT_ONCE,
                )
            ]
        return (None if cursor is None else Position(cursor["epoch"], cursor["sequence"])), orders

    @asynccontextmanager
    async def moving_cursor(self, last: Position | None, position: Position) -> AsyncIterator[Connection]:
        """A transaction that moves the cursor from `last` to `position`. Raises FencedError if it is not at `last`."""
        async with self._pool.acquire() as connection, connection.transaction():
            expected = last or Position("", 0)
            tag = await connection.execute(
                _MOVE_CURSOR, CONSUMER, position.epoch, position.sequence, expected.epoch, expected.sequence
            )
            if tag != "INSERT 0 1":
                raise FencedError(f"the cursor of the order rows is no longer at {expected.epoch}-{expected.sequence}")
            yield connection

    async def insert_refused_orders(self, orders: Sequence[TrackedOrder]) -> None:
        """Insert orders that the engine never saw; one whose id is taken changes nothing."""
        await self._pool.execute(_INSERT_REFUSED_ORDERS, *_order_arrays(orders))


async def write_orders(connection: Connection, orders: Sequence[TrackedOrder]) -> None:
    """Insert or bring up to date; each order at most once in `orders`."""
    if orders:
        await connection.execute(_UPSERT_ORDERS, *_order_arrays(orders))


async def write_trades(connection: Connection, trades: Sequence[TradeRow]) -> None:
    """Insert trades; one that is there already changes nothing."""
    if trades:
        await connection.execute(_INSERT_TRADES, *_trade_arrays(trades))


def _order_of(row: asyncpg.Record) -> TrackedOrder:
    values = dict(row)
    values["status"] = OrderStatus(values["status"])
    return TrackedOrder(**values)


def _order_arrays(orders: Sequence[TrackedOrder]) -> list[list[Any]]:
    return [
        [order.order_id for order in orders],
        [order.internal_id for order in orders],
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
