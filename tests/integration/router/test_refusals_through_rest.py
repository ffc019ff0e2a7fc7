"""What the platform refuses an order with, seen by the client, in the rows and on the bus."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from openspot.contracts import subjects
from openspot.contracts.gen.exchange.v1 import accounts_pb2
from openspot.contracts.messages import OrderEvent, RiskCheckFailed
from openspot.kit.settings import Settings
from tests.integration.router.test_order_path_absent import Trading, trading_on
from tests.support.waiting import eventually

REASON = "Stop orders are not yet supported"


@pytest.fixture
async def trading(settings: Settings, pool: asyncpg.Pool) -> AsyncIterator[Trading]:
    """A platform on which alice and bob have funds."""
    async with trading_on(settings, pool) as platform:
        yield platform


@pytest.mark.spec("A1.2-09", "A1.2-10", "A7-01")
async def test_a_stop_order_passes_validation_and_is_refused_by_the_pre_trade_check(trading: Trading) -> None:
    for fields in (
        {"type": "stop_limit", "stopPrice": "90"},
        {"type": "stop_limit"},
        {"type": "stop_market", "price": None, "stopPrice": "90"},
        {"type": "stop_market", "price": None},
    ):
        reply = await trading.place("alice", **fields)
        assert (reply.status, reply.message, reply.code) == (400, REASON, "ORDER_REJECTED"), fields
        assert reply.body["details"]["status"] == "rejected"
        await check_traces(trading, reply.body["details"]["orderId"], fields["type"] or "")


async def check_traces(trading: Trading, order_id: str, order_type: str) -> None:
    """The row and the events that a refused stop order leaves."""
    query = "SELECT type, status, reject_reason FROM orders WHERE order_id = $1"
    row = await eventually(lambda: trading.pool.fetchrow(query, order_id))
    assert dict(row) == {"type": order_type, "status": "rejected", "reject_reason": REASON}

    def failed() -> list[RiskCheckFailed]:
        events = trading.heard.of(subjects.RISK_CHECK_FAILED, RiskCheckFailed)
        return [event for event in events if event.order_id == order_id]

    def heard(subject: str) -> list[OrderEvent]:
        return [event for event in trading.heard.orders(subject) if event.order.order_id == order_id]

    [event] = await eventually(failed)
    assert (event.user_id, event.symbol, event.reason) == ("alice", "BTC-USD", REASON)
    [rejected] = await eventually(lambda: heard("orders.rejected.alice"))
    assert rejected.reason == REASON
    assert not heard("orders.created.alice")


async def test_what_is_shown_as_available_is_what_an_order_can_use(trading: Trading) -> None:
    await trading.engine.fund("carol", USD="1000")
    held = await trading.engine.accounts.ReserveWithdrawal(
        accounts_pb2.ReserveWithdrawalRequest(participant_id="carol", currency="USD", amount="700", reference="w-1")
    )
    assert held.success
    assert await balance_of_carol(trading) == ("1000", "300", "0", "700")
    refused = await trading.place("carol", price="400")
    assert refused.status == 400
    # 299 and its worst-case fee of 25 basis points fit into 300.
    assert (await trading.place("carol", price="299")).status == 201
    assert await balance_of_carol(trading) == ("1000", "0.2525", "299", "700.7475")


async def balance_of_carol(trading: Trading) -> tuple[str, ...]:
    """(total, available, locked, reserved)."""
    trading.rest.as_user("carol")
    reply = await trading.rest("GET", "/accounts/balances/USD")
    assert reply.status == 200
    return tuple(reply.body[name] for name in ("total", "available", "locked", "reserved"))
