"""The writer of order and trade rows, on a database whose foreign keys are not satisfied yet (facts A8-12, A8-13)."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal

import asyncpg
import pytest

from openspot.domain.order import OrderStatus
from openspot.engine_client.position import StreamPosition
from openspot.kit.bus import OutgoingEvent, PendingEvent, PublishError, RetryingPublisher
from openspot.router.metrics import ROW_WRITE_FAILURES, ROWS_DROPPED
from openspot.router.store import FencedError, RefusedRow, RouterStore, RowBatch
from openspot.router.tracked_order import TrackedOrder
from openspot.router.trade_row import TradeRow
from openspot.router.translation.row_writer import FOREIGN_KEY_PAUSE_S, RowWriter
from tests.support.waiting import eventually, stretched

POSITION = StreamPosition("epoch", 7)


class RacingStore(RouterStore):
    """A store in which something else happens before an attempt: `before[n]` before the n-th, from 1."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        super().__init__(pool)
        self.before: dict[int, Callable[[], Awaitable[object]]] = {}
        self.attempts: list[float] = []

    async def write(self, last: StreamPosition | None, batch: RowBatch) -> None:
        await self._begin_attempt()
        await super().write(last, batch)

    async def write_singly(self, last: StreamPosition | None, batch: RowBatch) -> list[RefusedRow]:
        await self._begin_attempt()
        return await super().write_singly(last, batch)

    async def _begin_attempt(self) -> None:
        self.attempts.append(time.monotonic())
        happening = self.before.get(len(self.attempts))
        if happening is not None:
            await happening()


@pytest.fixture
async def store(pool: asyncpg.Pool) -> RacingStore:
    """The router's tables, with a cursor at the beginning."""
    store = RacingStore(pool)
    await store.division.begin(1)
    return store


def order(order_id: str, engine_order_id: int, user_id: str = "alice") -> TrackedOrder:
    return TrackedOrder(
        order_id=order_id,
        engine_order_id=engine_order_id,
        client_order_id=None,
        user_id=user_id,
        symbol="BTC-USD",
        side="buy",
        type="limit",
        time_in_force="gtc",
        margin_mode=None,
        price=Decimal(100),
        quantity=Decimal(1),
        filled_quantity=Decimal(1),
        filled_notional=Decimal(100),
        remaining_quantity=Decimal(0),
        fee=Decimal("0.25"),
        fee_currency="USD",
        status=OrderStatus.FILLED,
        reject_reason=None,
        last_sequence=7,
        created_ms=1,
        updated_ms=2,
    )


def trade(trade_id: str, maker: str) -> TradeRow:
    return TradeRow(
        trade_id=trade_id,
        sequence=7,
        symbol="BTC-USD",
        price="100",
        quantity="1",
        taker_side="buy",
        taker_order_id="taker",
        maker_order_id=maker,
        buyer_id="alice",
        seller_id="bob",
        taker_fee="0.25",
        maker_fee="0.15",
        fee_currency="USD",
        executed_ms=3,
    )


class RefusingBus:
    """Takes no event of `refused` subjects."""

    is_connected = True

    def __init__(self, *refused: str) -> None:
        self.refused = set(refused)

    async def publish_many(self, events: Sequence[OutgoingEvent]) -> None:
        left = [event for event in events if event.subject in self.refused]
        if left:
            raise PublishError("not now", left)


@asynccontextmanager
async def publishing(bus: RefusingBus, store: RouterStore) -> AsyncIterator[RetryingPublisher]:
    """A publisher that keeps in the database what the bus refuses."""

    async def forget(events: Sequence[PendingEvent]) -> None:
        await store.forget_held([pending.event.message_id for pending in events])

    async def ready() -> None:
        return

    publisher = RetryingPublisher(bus, held_max=1000, ready=ready, forget=forget)
    try:
        yield publisher
    finally:
        await publisher.close()


async def write(store: RouterStore, orders: list[TrackedOrder], trades: list[TradeRow]) -> None:
    """Have a new writer write, until everything is in the database or given up."""
    async with publishing(RefusingBus(), store) as publisher:
        writer = RowWriter(store, publisher, None, 1000)
        await writer.put(orders, trades, POSITION)
        async with asyncio.timeout(stretched(30)):
            await writer.drained()


REFERENCES_OF_TRADES = """
    ALTER TABLE trades ADD FOREIGN KEY (taker_order_id) REFERENCES orders (order_id),
        ADD FOREIGN KEY (maker_order_id) REFERENCES orders (order_id)
"""


def foreign_key_failures() -> float:
    return float(ROW_WRITE_FAILURES.labels("foreign_key")._value.get())


def dropped(table: str) -> float:
    return float(ROWS_DROPPED.labels(table)._value.get())


async def names(pool: asyncpg.Pool, table: str, column: str) -> list[str]:
    return [row[0] for row in await pool.fetch(f"SELECT {column} FROM {table} ORDER BY 1")]


async def cursor(pool: asyncpg.Pool) -> int | None:
    sequence: int | None = await pool.fetchval("SELECT sequence FROM engine_cursors WHERE consumer = 'router'")
    return sequence


@pytest.mark.spec("A8-13")
async def test_a_trade_whose_order_is_written_a_moment_later_is_written_at_the_second_attempt(
    store: RacingStore, pool: asyncpg.Pool
) -> None:
    await pool.execute(REFERENCES_OF_TRADES)
    failures, lost = foreign_key_failures(), dropped("trades")
    # Another process's order: its row comes between the two attempts.
    store.before[2] = lambda: RouterStore(pool).insert_refused_orders([order("maker", 2, "bob")])
    await write(store, [order("taker", 1)], [trade("t1", "maker")])
    assert await names(pool, "trades", "trade_id") == ["t1"]
    assert await names(pool, "orders", "order_id") == ["maker", "taker"]
    assert await cursor(pool) == POSITION.sequence
    first, second = store.attempts
    assert second - first >= FOREIGN_KEY_PAUSE_S
    assert (foreign_key_failures(), dropped("trades")) == (failures + 1, lost)


@pytest.mark.spec("A8-12")
async def test_an_order_whose_user_is_written_a_moment_later_is_written_at_the_second_attempt(
    store: RacingStore, pool: asyncpg.Pool
) -> None:
    # Our rows refer to nothing; an operator's schema may have orders refer to the users, and trades to the orders.
    await pool.execute("ALTER TABLE orders ADD FOREIGN KEY (user_id) REFERENCES users (user_id)")
    failures, lost = foreign_key_failures(), dropped("orders")
    store.before[2] = lambda: pool.execute(
        "INSERT INTO users (user_id, email, password_hash, role) VALUES ('alice', 'alice@example.com', 'x', 'user')"
    )
    await write(store, [order("taker", 1)], [])
    assert await names(pool, "orders", "order_id") == ["taker"]
    first, second = store.attempts
    assert second - first >= FOREIGN_KEY_PAUSE_S
    assert (foreign_key_failures(), dropped("orders")) == (failures + 1, lost)


@pytest.mark.spec("A8-13")
async def test_a_trade_whose_order_never_comes_is_given_up_after_one_retry_and_the_rest_is_written(
    store: RacingStore, pool: asyncpg.Pool
) -> None:
    await pool.execute(REFERENCES_OF_TRADES)
    failures, lost = foreign_key_failures(), dropped("trades")
    orders = [order("taker", 1), order("maker", 2, "bob")]
    await write(store, orders, [trade("t1", "maker"), trade("t2", "nobody"), trade("t3", "maker")])
    assert await names(pool, "trades", "trade_id") == ["t1", "t3"]
    assert await names(pool, "orders", "order_id") == ["maker", "taker"]
    assert await cursor(pool) == POSITION.sequence
    # Written together, together once more, then one by one.
    assert len(store.attempts) == 3
    assert (foreign_key_failures(), dropped("trades")) == (failures + 2, lost + 1)


async def test_a_writer_goes_on_after_a_row_was_given_up(store: RacingStore, pool: asyncpg.Pool) -> None:
    await pool.execute(REFERENCES_OF_TRADES)
    async with publishing(RefusingBus(), store) as publisher:
        writer = RowWriter(store, publisher, None, 1000)
        await writer.put([], [trade("t1", "nobody")], POSITION)
        await eventually(lambda: cursor(pool))
        await writer.put([order("taker", 1)], [trade("t2", "taker")], StreamPosition("epoch", 8))
        async with asyncio.timeout(stretched(30)):
            await writer.drained()
    assert await names(pool, "trades", "trade_id") == ["t2"]
    assert await cursor(pool) == 8


async def test_held_events_are_stored_with_the_rows_that_pass_them_and_deleted_once_they_are_published(
    store: RacingStore, pool: asyncpg.Pool
) -> None:
    bus = RefusingBus("orders.filled.alice")
    events = [
        PendingEvent(OutgoingEvent("orders.created.alice", b"{}", "a-1", key="alice"), 6),
        PendingEvent(OutgoingEvent("orders.filled.alice", b"{}", "a-2", key="alice"), 7),
        PendingEvent(OutgoingEvent("orders.filled.alice", b"{}", "a-3", key="alice"), 8),
    ]
    async with publishing(bus, store) as publisher:
        await publisher.publish(events)
        writer = RowWriter(store, publisher, None, 1000)
        await writer.put([order("taker", 1)], [], POSITION)
        await writer.drained()
        # The rows have not passed the event of sequence 8, so a successor meets it again in the engine's stream.
        assert await names(pool, "router_held_events", "message_id") == ["a-2"]
        resumption = await store.resumption()
        assert [(one.event, one.sequence, one.is_stored) for one in resumption.held] == [(events[1].event, 7, True)]
        bus.refused.clear()
        await eventually(lambda: _is_empty(pool, "router_held_events"))
        assert publisher.held == 0


async def test_a_writer_that_is_overtaken_stores_neither_rows_nor_held_events(
    store: RacingStore, pool: asyncpg.Pool
) -> None:
    await write(RouterStore(pool), [], [])
    async with publishing(RefusingBus("trades.executed"), store) as publisher:
        await publisher.publish([PendingEvent(OutgoingEvent("trades.executed", b"{}", "t-1"), 7)])
        writer = RowWriter(store, publisher, None, 1000)
        await writer.put([order("taker", 1)], [], POSITION)
        with pytest.raises(FencedError):
            await writer.failure()
    assert await names(pool, "orders", "order_id") == []
    assert await names(pool, "router_held_events", "message_id") == []


async def _is_empty(pool: asyncpg.Pool, table: str) -> bool:
    return not await pool.fetchval(f"SELECT count(*) FROM {table}")
