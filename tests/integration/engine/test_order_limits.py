"""The engine's order limits over gRPC: refused at intake, without an event (facts A8-46 to A8-48)."""

from pathlib import Path

import pytest

from openspot.contracts.gen.exchange.v1 import orders_pb2 as pb
from tests.support.engine_client import SCALE, EngineClient, engine_settings, order, running_engine
from tests.support.waiting import eventually


@pytest.mark.spec("A8-47", "A8-48")
async def test_an_order_or_move_beyond_the_largest_size_or_notional_is_refused(engine: EngineClient) -> None:
    await engine.fund("alice", BTC="5000", USD="1000000000")
    sequence = await engine.last_sequence()
    for size, price, code in (("1000.00000001", "1", "MAX_ORDER_SIZE"), ("1000", "100000.01", "MAX_NOTIONAL")):
        answer = await engine.place("sell", price, size)
        assert (answer.status, answer.result_code, answer.sequence) == (pb.REJECTED, code, 0)
    budget = order("buy", "1", "1", type=pb.FOK_BUDGET, budget="100000001")
    assert (await engine.send(budget)).result_code == "MAX_NOTIONAL"
    assert await engine.last_sequence() == sequence
    taken = await engine.place("sell", "100000", "1000")
    assert (taken.status, taken.remaining_quantity) == (pb.ACCEPTED, 1000 * SCALE)
    move = pb.MoveOrderRequest(order_id=taken.order_id, participant_id="alice", symbol="BTC-USD", price=10_000_001)
    assert (await engine.orders.MoveOrder(move)).result_code == "MAX_NOTIONAL"
    move.price -= 2
    assert (await engine.orders.MoveOrder(move)).result_code == "SUCCESS"
    amend = pb.AmendOrderRequest(order_id=taken.order_id, participant_id="alice", price=10_000_001)
    amendments = pb.AmendOrdersRequest(orders=[amend])
    assert [row.result_code for row in (await engine.orders.AmendOrders(amendments)).orders] == ["MAX_NOTIONAL"]


@pytest.mark.spec("A8-46")
async def test_beyond_the_rate_orders_are_refused_and_cancels_are_not(tmp_path: Path) -> None:
    settings = engine_settings(tmp_path, engine_rate_limit=50)
    async with running_engine(settings) as engine:
        await engine.fund("alice")
        await engine.fund("bob")
        orders = [order("buy", "1", "0.001") for _ in range(120)]
        answers = (await engine.orders.PlaceOrders(pb.PlaceOrdersRequest(orders=orders))).orders
        codes = [answer.result_code for answer in answers]
        assert codes == ["SUCCESS"] * 50 + ["RATE_LIMITED"] * 70
        assert (await engine.place("buy", "1", "0.001", "bob")).result_code == "SUCCESS"
        assert (await engine.cancel(answers[0].order_id)).result_code == "SUCCESS"

        async def accepted_again() -> bool:
            """Repeat a refused order id in the next second: the id is still unused."""
            return (await engine.send(orders[-1])).result_code == "SUCCESS"

        await eventually(accepted_again)


@pytest.mark.parametrize("core", ["reference", "rust"])
async def test_a_participant_has_at_most_so_many_open_orders_on_a_symbol_also_after_a_restart(
    tmp_path: Path, core: str
) -> None:
    if core == "rust":
        pytest.importorskip("openspot_matching", reason="the wheel openspot-matching is not installed")
    settings = engine_settings(tmp_path, engine_open_orders_max=3, engine_core=core)
    async with running_engine(settings) as engine:
        await engine.fund("alice")
        await engine.fund("bob")
        sequence = await engine.last_sequence()
        orders = [order("buy", "1", "0.001") for _ in range(5)]
        answers = (await engine.orders.PlaceOrders(pb.PlaceOrdersRequest(orders=orders))).orders
        assert [answer.result_code for answer in answers] == ["SUCCESS"] * 3 + ["MAX_NUM_ORDERS"] * 2
        # A refused order leaves no event, and its id stays free.
        assert await engine.last_sequence() == sequence + 3
        assert (await engine.cancel(answers[0].order_id)).result_code == "SUCCESS"
        assert (await engine.send(orders[3])).result_code == "SUCCESS"
        assert (await engine.send(orders[4])).result_code == "MAX_NUM_ORDERS"
        # Neither another participant nor an order that cannot rest is concerned.
        assert (await engine.place("buy", "1", "0.001", "bob")).result_code == "SUCCESS"
        assert (await engine.send(order("buy", "1", "0.001", type=pb.IOC))).result_code == "IOC_REMAINDER"
    async with running_engine(settings) as engine:
        assert (await engine.send(orders[4])).result_code == "MAX_NUM_ORDERS"
        # A fill makes room as a cancel does.
        assert (await engine.place("sell", "1", "0.001", "bob")).result_code == "SUCCESS"
        assert (await engine.send(orders[4])).result_code == "SUCCESS"
        assert (await engine.place("buy", "1", "0.001")).result_code == "MAX_NUM_ORDERS"
