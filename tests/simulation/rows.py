"""The router's tables in the simulation, and a `Store` on them, by the rules of the router's SQL."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any

from openspot.domain.order import OrderStatus
from openspot.router.order_ids import BLOCK_SIZE
from openspot.router.schemas import Position, TrackedOrder, TradeRow
from openspot.router.store import FencedError
from tests.simulation.process import Place, Process

_NUMBERS = ("price", "quantity", "filled_quantity", "filled_notional", "remaining_quantity", "fee")


class Rows:
    """Order and trade rows, their cursor, and the counter of order ids."""

    def __init__(self) -> None:
        self.orders: dict[str, TrackedOrder] = {}
        self.trades: dict[str, TradeRow] = {}
        self.cursor: Position | None = None
        self.last_id = 0
        self.faults: list[str] = []

    def next_id(self) -> int:
        """The next value of the counter."""
        self.last_id += BLOCK_SIZE
        return self.last_id

    def open_orders(self) -> tuple[Position | None, list[TrackedOrder]]:
        """The cursor, and the orders that are open there."""
        orders = self.orders.values()
        return self.cursor, [order for order in orders if not order.has_ended and order.internal_id is not None]

    def write(
        self, last: Position | None, position: Position, orders: list[TrackedOrder], trades: list[TradeRow]
    ) -> None:
        """One transaction. Raises FencedError."""
        self.move_cursor(last, position)
        for order in orders:
            self.write_order(order)
        for trade in trades:
            self.write_trade(trade)

    def move_cursor(self, last: Position | None, position: Position) -> None:
        """Raises FencedError if the cursor is not where its writer left it."""
        if self.cursor != last:
            raise FencedError(f"the cursor is at {self.cursor}, not at {last}")
        self.cursor = position

    def write_order(self, order: TrackedOrder) -> None:
        """Insert an order or bring it up to date; an older state and one that has ended stay as they are."""
        row = self.orders.get(order.order_id)
        if row is None or (
            row.internal_id is not None
            and row.internal_id == order.internal_id
            and row.last_sequence < order.last_sequence
            and not row.has_ended
        ):
            self.orders[order.order_id] = order

    def write_trade(self, trade: TradeRow) -> None:
        """Insert a trade unless it is there; a foreign key asks for the rows of its orders."""
        missing = {trade.taker_order_id, trade.maker_order_id} - self.orders.keys()
        if missing:
            self.faults.append(f"trade {trade.trade_id} came before the rows of {sorted(missing)}")
        else:
            self.trades.setdefault(trade.trade_id, trade)


class _Connection:
    """A transaction: what it writes is seen with its end."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.orders: list[TrackedOrder] = []
        self.trades: list[TradeRow] = []

    async def execute(self, query: str, *columns: Sequence[Any]) -> None:
        """One of the two statements that the row writer uses."""
        await self._process.io(Place.ROWS)
        rows = zip(*columns, strict=True)
        if "INSERT INTO orders" in query:
            self.orders += map(_order_of, rows)
        else:
            self.trades += [TradeRow(*row) for row in rows]


class SimulatedStore:
    """One process's way to the rows: `Store` without SQL."""

    def __init__(self, rows: Rows, process: Process) -> None:
        self._rows = rows
        self._process = process

    async def take_id_block(self) -> int:
        """The next value of the counter."""
        return await self._process.act(Place.ROWS, self._rows.next_id)

    async def order(self, order_id: str) -> TrackedOrder | None:
        """The order of that external id."""
        return await self._process.act(Place.ROWS, lambda: self._rows.orders.get(order_id))

    async def open_orders(self) -> tuple[Position | None, list[TrackedOrder]]:
        """The cursor, and the open orders at exactly that place."""
        return await self._process.act(Place.ROWS, self._rows.open_orders)

    @asynccontextmanager
    async def moving_cursor(self, last: Position | None, position: Position) -> AsyncIterator[_Connection]:
        """One transaction. Raises FencedError."""
        await self._process.io(Place.ROWS)
        connection = _Connection(self._process)
        yield connection
        await self._process.act(
            Place.ROWS, lambda: self._rows.write(last, position, connection.orders, connection.trades)
        )

    async def insert_refused_orders(self, orders: Sequence[TrackedOrder]) -> None:
        """Insert orders that the engine never saw."""

        def insert() -> None:
            for order in orders:
                self._rows.orders.setdefault(order.order_id, order)

        await self._process.act(Place.ROWS, insert)


def _order_of(row: Sequence[Any]) -> TrackedOrder:
    values = dict(zip(TrackedOrder.__struct_fields__, row, strict=True))
    for name in _NUMBERS:
        values[name] = None if values[name] is None else Decimal(values[name])
    return TrackedOrder(**values | {"status": OrderStatus(values["status"])})
