"""Placement in batches: one call under way at a time, what arrives meanwhile goes into the next."""

import asyncio
from collections.abc import Sequence

import pytest

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.engine_client.errors import EngineAmbiguousError, EngineRefusedError, EngineUnreachableError
from openspot.router.orders.placements import BATCH_MAX, Placements
from tests.support.waiting import eventually


class Engine:
    """Answers each call when it is let go."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []
        self.under_way = 0
        self.go = asyncio.Event()
        self.go.set()
        self.error: Exception | None = None

    async def place(self, orders: Sequence[orders_pb2.PlaceOrderRequest]) -> list[orders_pb2.PlaceOrderResponse]:
        self.calls.append([order.order_id for order in orders])
        self.under_way += 1
        assert self.under_way == 1, "one call at a time"
        await self.go.wait()
        self.under_way -= 1
        if self.error is not None:
            raise self.error
        return [orders_pb2.PlaceOrderResponse(order_id=order.order_id) for order in orders]


def order(number: int) -> orders_pb2.PlaceOrderRequest:
    return orders_pb2.PlaceOrderRequest(order_id=number)


def placements(engine: Engine, wait_s_max: float = 5.0, waiting_max: int = 10_000) -> Placements:
    return Placements(engine.place, wait_s_max=wait_s_max, waiting_max=waiting_max)


@pytest.mark.spec("A1.3-30")
async def test_each_order_gets_its_own_answer_and_what_arrives_meanwhile_shares_a_call() -> None:
    engine = Engine()
    engine.go.clear()
    place = placements(engine).place
    waiting = [asyncio.create_task(place(order(number))) for number in range(1, 4)]
    await asyncio.sleep(0)
    waiting += [asyncio.create_task(place(order(number))) for number in range(4, 10)]
    await asyncio.sleep(0)
    engine.go.set()
    answers = await asyncio.gather(*waiting)
    assert [answer.order_id for answer in answers] == list(range(1, 10))
    assert sorted(number for call in engine.calls for number in call) == list(range(1, 10))
    assert len(engine.calls) == 2


async def test_a_call_has_a_bound() -> None:
    engine = Engine()
    place = placements(engine).place
    await asyncio.gather(*(place(order(number)) for number in range(1, BATCH_MAX * 2 + 2)))
    assert max(len(call) for call in engine.calls) == BATCH_MAX


@pytest.mark.parametrize(
    "error", [EngineUnreachableError("down"), EngineAmbiguousError("lost"), EngineRefusedError("no")]
)
async def test_a_failed_call_fails_each_of_its_orders_in_the_same_way(error: Exception) -> None:
    engine = Engine()
    engine.error = error
    place = placements(engine).place
    results = await asyncio.gather(*(place(order(number)) for number in range(1, 4)), return_exceptions=True)
    assert [type(result) for result in results] == [type(error)] * 3
    engine.error = None
    assert (await place(order(4))).order_id == 4


async def test_a_fault_of_the_call_itself_leaves_the_orders_unknown() -> None:
    engine = Engine()
    engine.error = RuntimeError("broken")
    with pytest.raises(EngineAmbiguousError, match="broken"):
        await placements(engine).place(order(1))


async def test_an_order_that_waited_too_long_is_never_sent() -> None:
    engine = Engine()
    engine.go.clear()
    waiting = placements(engine, wait_s_max=-1.0)
    first = asyncio.create_task(waiting.place(order(1)))
    with pytest.raises(EngineUnreachableError, match="busy"):
        await first
    assert engine.calls == []


async def test_too_many_waiting_orders_are_refused_at_once() -> None:
    engine = Engine()
    engine.go.clear()
    waiting = placements(engine, waiting_max=2)
    under_way = asyncio.create_task(waiting.place(order(1)))
    await eventually(lambda: engine.calls == [[1]])
    others = [asyncio.create_task(waiting.place(order(number))) for number in (2, 3)]
    await asyncio.sleep(0)
    with pytest.raises(EngineUnreachableError, match="too many"):
        await waiting.place(order(4))
    engine.go.set()
    await asyncio.gather(under_way, *others)
    assert engine.calls == [[1], [2, 3]]


async def test_closing_gives_up_what_waits_and_finishes_what_is_under_way() -> None:
    engine = Engine()
    engine.go.clear()
    waiting = placements(engine)
    first = asyncio.create_task(waiting.place(order(1)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    second = asyncio.create_task(waiting.place(order(2)))
    await asyncio.sleep(0)
    closing = asyncio.create_task(waiting.close())
    with pytest.raises(EngineUnreachableError, match="stopping"):
        await second
    engine.go.set()
    await closing
    assert (await first).order_id == 1
    assert engine.calls == [[1]]
