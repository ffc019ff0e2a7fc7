"""orders.submit against the real engine: check, placement, answer, events and rows."""

import asyncpg
import pytest

from openspot.contracts.messages import RiskCheckFailed
from openspot.contracts.refusals import RefusalCode
from openspot.kit.clock import NANOSECONDS_PER_MS, system_clock
from openspot.router.orders.submission import TOO_LATE
from tests.support.engine_client import EngineClient
from tests.support.fake_ledger import FakeLedger
from tests.support.router_client import Published, RouterClient
from tests.support.waiting import eventually


@pytest.mark.spec("A1.3-30", "A3.1-02", "A6.1-01", "B4.3-01", "A2.1-01", "A2.1-02")
async def test_a_limit_order_rests_in_the_engine_and_is_answered_published_and_stored(
    router: RouterClient, engine: EngineClient, pool: asyncpg.Pool, published: Published
) -> None:
    reply = await router.submit(order_id="abc", client_order_id="mine", time_in_force="fok", margin_mode="cross")
    assert reply.success
    record = reply.order
    assert record is not None
    assert (record.order_id, record.status, record.user_id, record.client_order_id) == ("abc", "open", "alice", "mine")
    assert (record.quantity, record.remaining_quantity, record.filled_quantity) == ("1", "1", "0")
    found = await engine.find(external_id="abc")
    assert (found.status, found.price, found.quantity) == ("OPEN", 10_000, 10**8)
    assert str(found.order_id) != "abc"
    await eventually(lambda: published.orders("orders.created.alice"))
    (event,) = await eventually(lambda: published.orders("orders.created"))
    assert event.order == record
    assert published.orders("orders.created.alice") == [event]
    row = await eventually(lambda: pool.fetchrow("SELECT * FROM orders WHERE order_id = 'abc'"))
    assert (row["status"], row["time_in_force"], row["client_order_id"]) == ("open", "fok", "mine")
    assert (row["engine_order_id"], row["margin_mode"]) == (found.order_id, "cross")
    stored = await router.get("abc")
    assert stored.order == record


@pytest.mark.spec("A1.3-33", "A1.3-32", "A6.1-02", "A7-06", "B4.3-02", "A1.2-01", "A1.3-17")
async def test_an_order_that_only_the_engine_refuses_carries_its_reason(
    router: RouterClient, ledger: FakeLedger, pool: asyncpg.Pool, published: Published
) -> None:
    ledger.fund("poor", USD="100000")
    reply = await router.submit("poor", order_id="nsf")
    assert (reply.success, reply.error, reply.code) == (False, "RISK_NSF", RefusalCode.ENGINE)
    assert reply.order is not None
    assert (reply.order.status, reply.order.reject_reason) == ("rejected", "RISK_NSF")
    await eventually(lambda: published.orders("orders.rejected.poor"))
    (event,) = await eventually(lambda: published.orders("orders.rejected"))
    assert (event.reason, event.order) == ("RISK_NSF", reply.order)
    row = await eventually(lambda: pool.fetchrow("SELECT * FROM orders WHERE order_id = 'nsf'"))
    assert (row["status"], row["reject_reason"]) == ("rejected", "RISK_NSF")
    assert published.of("risk.check.failed", RiskCheckFailed) == []


@pytest.mark.spec("A1.3-18", "A3.1-03", "A6.1-04", "A6.1-09", "A6.1-30", "A6.1-33", "A7-01", "A7-02", "A7-03")
@pytest.mark.parametrize(
    ("fields", "check", "reason"),
    [
        ({"type": "stop_limit"}, "stop_order", "Stop orders are not yet supported"),
        ({"type": "stop_market"}, "stop_order", "Stop orders are not yet supported"),
        ({"symbol": "DOGE-USD"}, "market", "Market DOGE-USD not found"),
        ({"quantity": "0.000001"}, "quantity", "quantity 0.000001 is below the minimum of 0.00001 on BTC-USD"),
        ({"price": "0.5"}, "notional", "notional 0.5 USD is below the minimum of 1 on BTC-USD"),
        ({"type": "market"}, "slippage", "no recent trade price for BTC-USD: a market order needs one"),
    ],
)
async def test_a_pre_trade_failure_is_answered_published_stored_and_never_reaches_the_engine(
    router: RouterClient,
    engine: EngineClient,
    pool: asyncpg.Pool,
    published: Published,
    fields: dict[str, str],
    check: str,
    reason: str,
) -> None:
    before = await engine.last_sequence()
    reply = await router.submit(order_id="bad", **fields)
    assert (reply.success, reply.error) == (False, reason)
    assert reply.order is not None
    assert (reply.order.status, reply.order.reject_reason) == ("rejected", reason)
    await eventually(lambda: published.orders("orders.rejected.alice"))
    # Another subject, which may be heard after the first.
    (failed,) = await eventually(lambda: published.of("risk.check.failed", RiskCheckFailed))
    assert (failed.order_id, failed.user_id, failed.check, failed.reason) == ("bad", "alice", check, reason)
    (event,) = await eventually(lambda: published.orders("orders.rejected"))
    assert (event.event, event.sequence, event.reason, event.order) == ("rejected", 0, reason, reply.order)
    row = await eventually(lambda: pool.fetchrow("SELECT * FROM orders WHERE order_id = 'bad'"))
    assert (row["status"], row["reject_reason"], row["engine_order_id"]) == ("rejected", reason, None)
    assert (await router.get("bad")).order == reply.order
    assert await engine.last_sequence() == before


async def test_an_order_whose_answer_nobody_waits_for_any_more_is_not_placed(
    router: RouterClient, engine: EngineClient
) -> None:
    before = await engine.last_sequence()
    now_ms = system_clock() // NANOSECONDS_PER_MS
    late = await router.submit(order_id="late", deadline=now_ms - 1)
    assert (late.success, late.error, late.order, late.code) == (False, TOO_LATE, None, RefusalCode.TOO_LATE)
    assert await engine.last_sequence() == before
    assert (await router.get("late")).order is None
    assert (await router.submit(order_id="late", deadline=now_ms + 60_000)).success
