"""Which orders have a trigger that their owner is told, and which requests are refused."""

from typing import Any

import pytest

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.contracts.messages import GetTriggers, GetTriggersReply, OrderTrigger
from openspot.contracts.refusals import RefusalCode
from openspot.engine_client.errors import EngineError
from openspot.router.orders.triggers import TRIGGERS_MAX, Triggers
from tests.unit.router.orders import SPEC

WAITING = orders_pb2.GetOrderResponse(
    found=True, external_id="waiting", participant_id="alice", symbol="BTC-USD", status="WAITING",
    trigger_price=9750, trigger_limit=9700,
)  # fmt: skip


def changed(**fields: Any) -> orders_pb2.GetOrderResponse:
    order = orders_pb2.GetOrderResponse()
    order.CopyFrom(WAITING)
    for name, value in fields.items():
        setattr(order, name, value)
    return order


class Engine:
    """Knows some orders. It counts how often it is asked."""

    def __init__(self) -> None:
        self.orders = {"waiting": WAITING}
        self.asked = 0
        self.is_away = False

    async def get_order(self, order_id: str) -> orders_pb2.GetOrderResponse:
        self.asked += 1
        if self.is_away:
            raise EngineError("away")
        return self.orders.get(order_id, orders_pb2.GetOrderResponse(found=False))


async def told(engine: Engine, *order_ids: str, user_id: str = "alice") -> GetTriggersReply:
    anything: Any = engine
    return await Triggers(specs={"BTC-USD": SPEC}, engine=anything).get(GetTriggers(user_id, order_ids))


async def test_the_orders_of_the_user_that_wait_for_a_price_have_one() -> None:
    engine = Engine()
    engine.orders |= {
        "theirs": changed(external_id="theirs", participant_id="bob"),
        "resting": changed(external_id="resting", status="OPEN", trigger_price=0, trigger_limit=0),
        "planned": changed(external_id="planned", status="PLANNED"),
        "elsewhere": changed(external_id="elsewhere", symbol="ETH-USD"),
    }
    reply = await told(engine, "theirs", "resting", "waiting", "planned", "elsewhere", "nobodys", "waiting")
    assert reply == GetTriggersReply((OrderTrigger("waiting", "97.5", "97"),))
    # An order that is named twice is asked for once.
    assert engine.asked == 6


@pytest.mark.parametrize(
    ("order_ids", "user_id"),
    [((), "alice"), (tuple(f"order{number}" for number in range(TRIGGERS_MAX + 1)), "alice"), (("no id",), "alice"),
     (("waiting",), "no id")],
)  # fmt: skip
async def test_a_request_beyond_the_bounds_asks_the_engine_nothing(order_ids: tuple[str, ...], user_id: str) -> None:
    engine = Engine()
    reply = await told(engine, *order_ids, user_id=user_id)
    assert (reply.code, reply.triggers, engine.asked) == (RefusalCode.VALIDATION, (), 0)


async def test_without_the_engine_nobody_knows() -> None:
    engine = Engine()
    engine.is_away = True
    reply = await told(engine, "waiting")
    assert (reply.code, reply.triggers) == (RefusalCode.UNAVAILABLE, ())
