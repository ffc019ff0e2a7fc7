"""An order id that is used twice: what one router refuses does not hide the order that stands through another."""

import itertools

import asyncpg

from openspot.contracts.messages import OrderRequest, SubmitOrder
from openspot.contracts.refusals import RefusalCode
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.router.orders.draft import draft_of
from openspot.router.orders.engine_orders import refused_order
from openspot.router.store import RouterStore
from openspot.router.tracked_order import TrackedOrder
from tests.support.engine_client import EngineClient
from tests.support.fake_ledger import FakeLedger
from tests.support.ports import free_port
from tests.support.router_client import RouterClient, running_router
from tests.support.waiting import eventually

PAIRS_MAX = 50

_serial = itertools.count(1)


def refused(order_id: str) -> TrackedOrder:
    """An order of alice that the pre-trade check of some router refused."""
    request = OrderRequest(order_id, "BTC-USD", "buy", "limit", "1000000", "100")
    return refused_order(draft_of(SubmitOrder("alice", request)), "quantity is too large", 1)


async def stands(router: RouterClient, pool: asyncpg.Pool, order_id: str) -> bool:
    """Whether the row and a router show the order as open."""
    status = await pool.fetchval(
        "SELECT status FROM orders WHERE order_id = $1 AND engine_order_id IS NOT NULL", order_id
    )
    reply = await router.get(order_id)
    return status == "open" and reply.order is not None and reply.order.status == "open"


async def used_through_two_routers(router: RouterClient) -> str:
    """The id of an order that stands through one router, and was refused by the other when it came a second time.

    The bus chooses the router, so this may take a few pairs of requests.
    """
    for _ in range(PAIRS_MAX):
        order_id = f"twice-{next(_serial)}"
        assert (await router.submit(order_id=order_id)).success
        repeat = await router.submit(order_id=order_id, symbol="NONE-SUCH")
        if repeat.code is RefusalCode.PRE_TRADE_CHECK:
            return order_id
        assert repeat.code is RefusalCode.DUPLICATE_ORDER_ID
    raise AssertionError("both requests of every pair went to the same router")


async def test_a_repeat_that_another_router_refuses_hides_nothing_and_both_routers_can_cancel(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, engine: EngineClient, ledger: FakeLedger
) -> None:
    router = RouterClient(bus)
    second = settings.model_copy(update={"router_port": free_port()})
    async with running_router(settings), running_router(second):
        for _ in range(4):
            order_id = await used_through_two_routers(router)
            for _ in range(8):
                reply = await router.get(order_id)
                assert reply.order is not None
                assert reply.order.status == "open"
            assert (await router.cancel(order_id)).success


async def test_the_row_of_a_refused_repeat_gives_way_to_that_of_the_order_that_stands(
    settings: Settings, router: RouterClient, pool: asyncpg.Pool
) -> None:
    store = RouterStore(pool)
    # The refusal of the repeat is stored before the order itself.
    await store.insert_refused_orders([refused("first")])
    assert (await router.submit(order_id="first")).success
    await eventually(lambda: stands(router, pool, "first"))
    # The other way round.
    assert (await router.submit(order_id="second")).success
    await eventually(lambda: stands(router, pool, "second"))
    await store.insert_refused_orders([refused("second")])
    assert await stands(router, pool, "second")
    for order_id in ("first", "second"):
        assert (await router.cancel(order_id)).success
