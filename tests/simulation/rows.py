"""The router's tables in the simulation, and a `Store` on them that follows the rules of the router's SQL."""

from collections.abc import Sequence
from typing import NamedTuple

from openspot.engine_client.position import StreamPosition
from openspot.kit.bus import OutgoingEvent, PendingEvent
from openspot.router.orders.engine_order_ids import BLOCK_SIZE
from openspot.router.store import FencedError, Resumption, RowBatch
from openspot.router.tracked_order import TrackedOrder
from openspot.router.trade_row import TradeRow
from tests.simulation.process import Place, Process


class HeldRow(NamedTuple):
    """A row of `router_held_events`."""

    message_id: str
    sequence: int
    key: str
    subject: str
    payload: bytes


class Rows:
    """Order and trade rows, their cursor, and the counter of order ids."""

    def __init__(self) -> None:
        self.orders: dict[str, TrackedOrder] = {}
        self.trades: dict[str, TradeRow] = {}
        self.held: dict[str, HeldRow] = {}
        """Events that the bus has not taken, by message id, oldest first."""
        self.cursor: StreamPosition | None = None
        self.last_id = 0
        self.faults: list[str] = []

    def next_id(self) -> int:
        """The next value of the counter."""
        self.last_id += BLOCK_SIZE
        return self.last_id

    def resumption(self) -> Resumption:
        """The cursor, the orders that are open there, and the events that were held."""
        orders = self.orders.values()
        return Resumption(
            self.cursor,
            [order for order in orders if not order.has_ended and order.engine_order_id is not None],
            [
                PendingEvent(
                    OutgoingEvent(row.subject, row.payload, row.message_id, key=row.key), row.sequence, is_stored=True
                )
                for row in self.held.values()
            ],
        )

    def write(self, last: StreamPosition | None, batch: RowBatch) -> None:
        """One statement. Raises FencedError."""
        self.move_cursor(last, batch.position)
        for order in batch.orders:
            self.write_order(order)
        for trade in batch.trades:
            self.write_trade(trade)
        for held in batch.held:
            event = held.event
            self.held.setdefault(
                event.message_id,
                HeldRow(event.message_id, held.sequence, event.order_key, event.subject, event.payload),
            )

    def move_cursor(self, last: StreamPosition | None, position: StreamPosition) -> None:
        """Raises FencedError if the cursor is not where its writer left it."""
        if self.cursor != last:
            raise FencedError(f"the cursor is at {self.cursor}, not at {last}")
        self.cursor = position

    def write_order(self, order: TrackedOrder) -> None:
        """Insert an order or update its row. A row that is newer, or whose order has ended, stays as it is.

        The row of an order that a router refused before it reached the engine is replaced.
        """
        row = self.orders.get(order.order_id)
        if (
            row is None
            or row.engine_order_id is None
            or (
                row.engine_order_id == order.engine_order_id
                and row.last_sequence < order.last_sequence
                and not row.has_ended
            )
        ):
            self.orders[order.order_id] = order

    def write_trade(self, trade: TradeRow) -> None:
        """Insert a trade unless it exists. Notes a fault if the rows of its orders are missing."""
        missing = {trade.taker_order_id, trade.maker_order_id} - self.orders.keys()
        if missing:
            self.faults.append(f"trade {trade.trade_id} came before the rows of {sorted(missing)}")
        else:
            self.trades.setdefault(trade.trade_id, trade)


class SimulatedStore:
    """One process's way to the rows: `Store` without SQL."""

    def __init__(self, rows: Rows, process: Process) -> None:
        self._rows = rows
        self._process = process

    async def take_id_block(self) -> int:
        """The next value of the counter."""
        return await self._process.act(Place.ROWS, self._rows.next_id)

    async def order(self, order_id: str) -> TrackedOrder | None:
        """The order of that id."""
        return await self._process.act(Place.ROWS, lambda: self._rows.orders.get(order_id))

    async def resumption(self) -> Resumption:
        """The position, orders and held events at the same moment."""
        return await self._process.act(Place.ROWS, self._rows.resumption)

    async def forget_held(self, message_ids: Sequence[str]) -> None:
        """Delete held events that are published now."""

        def forget() -> None:
            for message_id in message_ids:
                self._rows.held.pop(message_id, None)

        await self._process.act(Place.ROWS, forget)

    async def write(self, last: StreamPosition | None, batch: RowBatch) -> None:
        """One statement. Raises FencedError."""
        await self._process.act(Place.ROWS, lambda: self._rows.write(last, batch))

    async def insert_refused_orders(self, orders: Sequence[TrackedOrder]) -> None:
        """Insert orders that the engine never saw."""

        def insert() -> None:
            for order in orders:
                self._rows.orders.setdefault(order.order_id, order)

        await self._process.act(Place.ROWS, insert)
