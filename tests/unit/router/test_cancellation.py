"""What the reply to a cancel says of an order that has changed since this router replied last."""

import asyncio
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.contracts.messages import CancelOrder, OrderRecord
from openspot.domain.order import OrderStatus
from openspot.router.orders import lookup as module
from openspot.router.orders.cancellation import Cancellation
from openspot.router.orders.engine_orders import cancelled_order, refused_order
from openspot.router.orders.lookup import OrderLookup
from openspot.router.orders.recent_orders import RecentOrder, RecentOrders
from openspot.router.tracked_order import TrackedOrder
from tests.unit.router.orders import SPEC, candidate

NOW_MS = 1_700_000_000_000
PLACED = msgspec.structs.replace(
    refused_order(candidate().draft, "", NOW_MS - 9000),
    engine_order_id=77,
    remaining_quantity=Decimal(1),
    status=OrderStatus.OPEN,
    reject_reason=None,
    last_sequence=5,
)
"""A buy of 1 at 100, as this router has placed it."""
WAITING = msgspec.structs.replace(PLACED, type="stop_limit", trigger_by="last", stop_price=Decimal(99))


def changed(order: TrackedOrder, sequence: int, **fields: Any) -> TrackedOrder:
    return msgspec.structs.replace(order, last_sequence=sequence, updated_ms=NOW_MS - 10 + sequence, **fields)


class Platform:
    """A router that remembers an order, rows that are read one after the other, and an engine that cancels 1."""

    def __init__(self, remembered: TrackedOrder, *rows: TrackedOrder | None) -> None:
        self.rows = list(rows)
        self.reads = 0
        recent = RecentOrders(10)
        recent.put(RecentOrder(remembered))
        specs = {"BTC-USD": SPEC}
        clock = lambda: NOW_MS * 1_000_000  # noqa: E731
        platform: Any = self
        lookup = OrderLookup(
            specs=specs, recent_orders=recent, store=platform, engine=platform, clock=clock, placement_s_max=1
        )
        self.recent = recent
        self.cancellation = Cancellation(specs=specs, lookup=lookup, recent_orders=recent, engine=platform, clock=clock)

    async def order(self, order_id: str) -> TrackedOrder | None:
        self.reads += 1
        return self.rows.pop(0) if len(self.rows) > 1 else self.rows[0]

    async def cancel_order(self, order_id: int, user_id: str, symbol: str) -> orders_pb2.CancelOrderResponse:
        assert order_id == 77
        return orders_pb2.CancelOrderResponse(
            order_id=77, status=orders_pb2.CANCELLED, cancelled_quantity=10_000, sequence=9
        )

    async def cancelled(self) -> OrderRecord:
        """The order of the reply to its cancel, which is also what this router remembers."""
        reply = await self.cancellation.cancel(CancelOrder("u1", "o1", "BTC-USD"))
        assert reply.success, reply
        assert reply.order is not None
        recent = self.recent.get("o1")
        assert recent is not None
        assert (reply.order.status, reply.order.remaining_quantity) == ("cancelled", "0")
        assert (recent.order.status, recent.order.last_sequence) == (OrderStatus.CANCELLED, 9)
        return reply.order


async def test_an_order_that_nobody_has_changed_is_shown_as_it_was_for_one_read_of_its_row() -> None:
    for row in (PLACED, None):
        platform = Platform(PLACED, row)
        order = await platform.cancelled()
        assert (order.price, order.quantity, order.filled_quantity) == ("100", "1", "0")
        assert platform.reads == 1


async def test_a_price_that_another_router_has_changed_is_shown() -> None:
    platform = Platform(PLACED, changed(PLACED, 8, price=Decimal(95)))
    order = await platform.cancelled()
    assert (order.price, order.quantity, order.filled_quantity) == ("95", "1", "0")
    assert platform.reads == 1


async def test_what_was_filled_and_made_up_for_by_another_router_is_shown() -> None:
    filled = {"status": OrderStatus.PARTIALLY_FILLED, "filled_quantity": Decimal("0.4"), "filled_notional": Decimal(40)}
    row = changed(PLACED, 8, quantity=Decimal("1.4"), remaining_quantity=Decimal(1), fee=Decimal("0.1"), **filled)
    order = await Platform(PLACED, row).cancelled()
    assert (order.quantity, order.filled_quantity, order.average_price, order.fee) == ("1.4", "0.4", "100", "0.1")


FIRED = changed(WAITING, 7, triggered_ms=NOW_MS - 500)


@pytest.mark.parametrize(
    ("rows", "reads"),
    [
        ((FIRED,), 1),
        ((WAITING, WAITING, cancelled_order(FIRED, 9, NOW_MS)), 3),
        ((cancelled_order(FIRED, 9, NOW_MS),), 1),
    ],
)
async def test_a_stop_that_fired_and_rests_is_shown_as_fired_even_if_its_row_comes_later(
    rows: tuple[TrackedOrder, ...], reads: int
) -> None:
    platform = Platform(WAITING, *rows)
    order = await platform.cancelled()
    assert (order.trigger_status, order.triggered_at) == ("triggered", "2023-11-14T22:13:19.500Z")
    assert platform.reads == reads


async def test_a_trailing_order_is_shown_with_the_limit_that_it_fired_at() -> None:
    trailing = msgspec.structs.replace(PLACED, type="trailing_stop_limit", trigger_by="last", trailing_bps=300)
    fired = changed(trailing, 7, price=Decimal(102), stop_price=Decimal(101), triggered_ms=NOW_MS - 500)
    order = await Platform(trailing, fired).cancelled()
    assert (order.price, order.stop_price) == ("102", "101")


async def test_an_order_of_a_list_is_shown_as_its_row_says() -> None:
    listed = {"list_id": "l1", "list_type": "oco", "list_role": "exit"}
    active = msgspec.structs.replace(PLACED, list_state="active", **listed)
    ended = cancelled_order(msgspec.structs.replace(active, list_state="ended"), 9, NOW_MS)
    assert (await Platform(active, active, ended).cancelled()).list_state == "ended"


@pytest.mark.parametrize("order", [PLACED, WAITING])
async def test_a_database_that_does_not_answer_leaves_the_state_that_is_remembered(
    monkeypatch: pytest.MonkeyPatch, order: TrackedOrder
) -> None:
    monkeypatch.setattr(module, "ROW_S_MAX", 0.01)
    platform = Platform(order, None)
    answer = platform.order

    async def silent_once(order_id: str) -> TrackedOrder | None:
        if platform.reads == 0:
            platform.reads = 1
            await asyncio.Event().wait()
        return await answer(order_id)

    monkeypatch.setattr(platform, "order", silent_once)
    assert (await platform.cancelled()).price == "100"
