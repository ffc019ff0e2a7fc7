"""The router's tables in the simulation, and a `Store` on them that follows the rules of the router's SQL."""

from collections.abc import Sequence
from typing import NamedTuple

from openspot.domain.order import OrderStatus
from openspot.domain.partition import WHOLE, Partition, partitions
from openspot.engine_client.position import StreamPosition
from openspot.kit.bus import OutgoingEvent, PendingEvent
from openspot.router.orders.engine_order_ids import BLOCK_SIZE
from openspot.router.rows_position import PassedEvents, RowsPosition, passed, position_of_cursors
from openspot.router.store import FencedError, Resumption, RowBatch, symbol_of_held
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


class Cursor(NamedTuple):
    """A row of `engine_cursors`."""

    position: StreamPosition | None
    is_current: bool


class Rows:
    """Order and trade rows, their cursors, and the counter of order ids."""

    def __init__(self) -> None:
        self.orders: dict[str, TrackedOrder] = {}
        self.trades: dict[str, TradeRow] = {}
        self.held: dict[str, HeldRow] = {}
        """Events that the bus has not taken, by message id, oldest first."""
        self.cursors: dict[Partition, Cursor] = {}
        self.last_id = 0
        self.faults: list[str] = []

    def next_id(self) -> int:
        """The next value of the counter."""
        self.last_id += BLOCK_SIZE
        return self.last_id

    @property
    def position(self) -> RowsPosition | None:
        """How far the rows have come."""
        return position_of_cursors(
            {
                "partition": partition.number,
                "partitions": partition.total,
                "epoch": cursor.position.epoch if cursor.position else "",
                "sequence": cursor.position.sequence if cursor.position else 0,
                "is_current": cursor.is_current,
            }
            for partition, cursor in self.cursors.items()
        )

    def begin(self, count: int) -> int:
        """The stored number of partitions; begins `count` cursors if there are none."""
        stored = sum(cursor.is_current for cursor in self.cursors.values())
        if not stored:
            self.cursors = {partition: Cursor(None, True) for partition in partitions(count)}
        return stored or count

    def change(self, old: int, new: int) -> None:
        """Begin `new` cursors at the least of `old`."""
        if self.begin(old) != old:
            return
        known = [cursor.position for cursor in self.cursors.values() if cursor.is_current]
        least = min(known, key=lambda position: position.sequence if position else 0)
        self.cursors = {partition: cursor._replace(is_current=False) for partition, cursor in self.cursors.items()}
        self.cursors |= {partition: Cursor(least, True) for partition in partitions(new)}

    def earlier(self) -> tuple[PassedEvents, ...]:
        """The marks of earlier divisions."""
        return () if self.position is None else self.position.earlier

    def resumption(self, partition: Partition) -> Resumption:
        """The cursor of a partition, the orders that are open there, and the events that were held."""
        orders = self.orders.values()
        cursor = self.cursors[partition]
        if not cursor.is_current:
            raise FencedError("another number of partitions is stored")
        return Resumption(
            cursor.position,
            [
                order
                for order in orders
                if not order.has_ended and order.engine_order_id is not None and partition.has(order.symbol)
            ],
            [
                PendingEvent(
                    OutgoingEvent(row.subject, row.payload, row.message_id, key=row.key), row.sequence, is_stored=True
                )
                for row in self.held.values()
                if partition.has(symbol_of_held(row.payload))
            ],
            self.earlier(),
        )

    def write(self, partition: Partition, last: StreamPosition | None, batch: RowBatch) -> None:
        """One statement. Raises FencedError."""
        self.move_cursor(partition, last, batch.position)
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

    def move_cursor(self, partition: Partition, last: StreamPosition | None, position: StreamPosition) -> None:
        """Raises FencedError if the cursor is not where its writer left it."""
        cursor = self.cursors[partition]
        if not cursor.is_current or cursor.position != last:
            raise FencedError(f"the cursor is at {cursor}, not at {last}")
        self.cursors[partition] = Cursor(position, True)

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

    def __init__(self, rows: Rows, process: Process, partition: Partition = WHOLE) -> None:
        self._rows = rows
        self._process = process
        self._partition = partition

    @property
    def division(self) -> "SimulatedStore":
        """The stored division: `begin` and `change`."""
        return self

    def of(self, partition: Partition) -> "SimulatedStore":
        """The same tables for a partition."""
        return SimulatedStore(self._rows, self._process, partition)

    async def begin(self, count: int) -> int:
        """The stored number of partitions."""
        return await self._process.act(Place.ROWS, lambda: self._rows.begin(count))

    async def change(self, old: int, new: int) -> None:
        """Change the stored number of partitions."""
        await self._process.act(Place.ROWS, lambda: self._rows.change(old, new))

    async def take_id_block(self) -> int:
        """The next value of the counter."""
        return await self._process.act(Place.ROWS, self._rows.next_id)

    async def order(self, order_id: str) -> TrackedOrder | None:
        """The order of that id."""
        return await self._process.act(Place.ROWS, lambda: self._rows.orders.get(order_id))

    async def orders_of_list(self, list_id: str) -> list[TrackedOrder]:
        """The orders of a list, the entry first."""

        def found() -> list[TrackedOrder]:
            orders = [order for order in self._rows.orders.values() if order.list_id == list_id]
            return sorted(
                orders, key=lambda order: (order.list_role != "entry", order.engine_order_id or 0, order.order_id)
            )

        return await self._process.act(Place.ROWS, found)

    async def ended_with_lists(self, order_ids: Sequence[str], first: int, last: int) -> list[str]:
        """The orders that were cancelled because their lists ended with one of `order_ids`."""

        def found() -> list[str]:
            rows = self._rows.orders
            lists = {rows[order_id].list_id for order_id in order_ids if order_id in rows} - {None}
            return sorted(
                order_id
                for order_id, order in rows.items()
                if order.list_id in lists
                and order_id not in order_ids
                and order.status == OrderStatus.CANCELLED
                and first <= order.last_sequence <= last
            )

        return await self._process.act(Place.ROWS, found)

    async def rows_include(self, symbol: str, sequence: int) -> bool:
        """Whether the rows include every event of a symbol up to this one."""

        def included() -> bool:
            position = self._rows.position
            return position is not None and passed((*position.current, *position.earlier), symbol) >= sequence

        return await self._process.act(Place.ROWS, included)

    async def resumption(self) -> Resumption:
        """The position, orders and held events at the same moment."""
        return await self._process.act(Place.ROWS, lambda: self._rows.resumption(self._partition))

    async def forget_held(self, message_ids: Sequence[str]) -> None:
        """Delete held events that are published now."""

        def forget() -> None:
            for message_id in message_ids:
                self._rows.held.pop(message_id, None)

        await self._process.act(Place.ROWS, forget)

    async def write(self, last: StreamPosition | None, batch: RowBatch) -> None:
        """One statement. Raises FencedError."""
        await self._process.act(Place.ROWS, lambda: self._rows.write(self._partition, last, batch))

    async def insert_refused_orders(self, orders: Sequence[TrackedOrder]) -> None:
        """Insert orders that the engine never saw."""

        def insert() -> None:
            for order in orders:
                self._rows.orders.setdefault(order.order_id, order)

        await self._process.act(Place.ROWS, insert)
