"""Reports of a broker of record through HTTP: a trade once, or an exception."""

import asyncio

import asyncpg
import pytest

from tests.support.fake_prices import FakePrices
from tests.support.positions import ADMIN, SERVICE_HEADERS, PositionClient
from tests.support.waiting import eventually

NOT_FITTING = {"participantId": "nobody", "symbol": "DOGE-USD", "completedAt": "2999-01-01T00:00:00Z"}


@pytest.mark.spec("B4.5-26")
async def test_a_report_that_fits_becomes_one_trade_however_often_it_comes(positions: PositionClient) -> None:
    first = await positions.report_order()
    assert first == {"status": "accepted", "orderId": "broker-1", "tradeId": "broker:broker-1", "exceptionId": None}
    repeats = await asyncio.gather(*(positions.report_order() for _ in range(5)))
    assert {repeat["status"] for repeat in repeats} == {"repeated"}
    raced = await asyncio.gather(*(positions.report_order(orderId="broker-2") for _ in range(6)))
    assert sorted(outcome["status"] for outcome in raced) == ["accepted"] + ["repeated"] * 5
    assert (await positions.get("alice", "/positions/alice/BTC-USD"))["quantity"] == "4"


@pytest.mark.spec("B4.5-26", "B4.5-27", "B4.5-28", "A2.8-19")
async def test_a_report_that_does_not_fit_moves_nothing_and_is_kept_with_every_reason(
    positions: PositionClient,
) -> None:
    outcome = await positions.report_order(
        participantId="nobody", symbol="DOGE-USD", completedAt="2999-01-01T00:00:00Z"
    )
    assert outcome["status"] == "exception"
    found = await positions.get(ADMIN, f"/bvi/exceptions/{outcome['exceptionId']}")
    assert {(reason["code"], reason["field"]) for reason in found["reasons"]} == {
        ("unknown_symbol", "symbol"), ("unknown_participant", "participantId"), ("time_in_future", "completedAt"),
    }  # fmt: skip
    assert (found["orderId"], found["participantId"], found["timesReported"]) == ("broker-1", "nobody", 1)
    assert found["report"]["symbol"] == "DOGE-USD"
    await positions.report_order(**NOT_FITTING)
    [listed] = await positions.get(ADMIN, "/bvi/exceptions")
    assert (listed["id"], listed["timesReported"]) == (outcome["exceptionId"], 2)
    assert await positions.get("alice", "/bvi/exceptions") == []
    assert await positions.get(ADMIN, "/positions") == []


async def test_numbers_prices_and_repeats_with_other_content_are_exceptions(
    positions: PositionClient, prices: FakePrices
) -> None:
    await positions.report_order()

    async def codes(**changes: object) -> set[str]:
        outcome = await positions.report_order(**changes)
        assert outcome["status"] == "exception", outcome
        found = await positions.get(ADMIN, f"/bvi/exceptions/{outcome['exceptionId']}")
        return {reason["code"] for reason in found["reasons"]}

    assert await codes(quantity="3") == {"duplicate_mismatch"}
    assert await codes(orderId="o2", quantity="-1") == {"not_positive"}
    assert await codes(orderId="o3", feeAsset="BTC") == {"unsupported_fee_asset"}
    fills = [{"quantity": "1", "price": "100"}]
    assert await codes(orderId="o4", fills=fills) == {"quantity_mismatch"}
    prices.prices["BTC-USD"] = "1000"
    await eventually(lambda: _marked(positions), 120)
    assert await codes(orderId="o5") == {"price_out_of_range"}


async def _marked(positions: PositionClient) -> bool:
    return (await positions.get("alice", "/positions/alice/BTC-USD"))["markPrice"] is not None


async def test_a_report_about_an_order_of_the_platform_must_agree_with_it(
    positions: PositionClient, pool: asyncpg.Pool
) -> None:
    await pool.execute(
        """
        INSERT INTO orders (order_id, user_id, symbol, side, type, time_in_force, quantity, remaining_quantity,
            fee_currency, status, created_at, updated_at)
        VALUES ('ours', 'bob', 'BTC-USD', 'buy', 'limit', 'gtc', 1, 1, 'USD', 'open', now(), now())
        """
    )
    outcome = await positions.report_order(orderId="ours")
    found = await positions.get(ADMIN, f"/bvi/exceptions/{outcome['exceptionId']}")
    assert {(reason["code"], reason["field"]) for reason in found["reasons"]} == {
        ("order_mismatch", "participantId"), ("quantity_mismatch", "quantity"),
    }  # fmt: skip


async def test_services_and_administrators_report_and_nobody_else(positions: PositionClient) -> None:
    assert (await positions.ask("alice", "POST", "/bvi/order-completed", {})).status == 403
    positions.token = None
    reply = await positions("POST", "/bvi/order-completed", {}, prefix="/api/pms", headers=SERVICE_HEADERS)
    assert reply.status == 400
    assert "orderId is required" in reply.message
    assert (await positions("POST", "/bvi/order-completed", {}, prefix="/api/pms")).status == 401
