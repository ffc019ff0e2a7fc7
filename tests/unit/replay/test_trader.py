"""One user of a replay against a stand-in for the REST edge: every answer is counted for what it is."""

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest

from openspot.client import OpenSpotClient
from openspot.client.transport import RetryPolicy
from openspot.replay import trader as trader_module
from openspot.replay.plan import CancelCommand, PlaceCommand
from openspot.replay.statistics import Statistics
from openspot.replay.trader import Patience, ThrottledTooLongError, Trader, reason_of
from tests.support.fake_rest_edge import CUT, FakeRestEdge, running_fake
from tests.unit.client.test_rest import ORDER

BUY = PlaceCommand("65595247", "buy", Decimal("236.47"), Decimal("2.00000000"))


@pytest.fixture
async def fake() -> AsyncIterator[FakeRestEdge]:
    async with running_fake() as edge:
        yield edge


@pytest.fixture
def remarks() -> list[str]:
    return []


@pytest.fixture
async def trader(fake: FakeRestEdge, remarks: list[str], monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Trader]:
    monkeypatch.setattr(trader_module, "CLARIFY_PAUSE_S", 0.001)
    statistics = Statistics()
    patience = Patience(statistics, lambda: remarks.append("throttled"))
    async with OpenSpotClient(fake.url, retry=RetryPolicy(attempts_max=1)) as client:
        yield Trader(client, "u1", "BTC-USD", "run1", patience, statistics)


def counts(trader: Trader) -> Statistics:
    return trader._statistics


async def test_an_accepted_order_is_counted_and_can_be_cancelled(fake: FakeRestEdge, trader: Trader) -> None:
    fake.answer(201, ORDER)
    await trader.do(BUY)
    assert fake.asked[0].body == {
        "symbol": "BTC-USD",
        "side": "buy",
        "type": "limit",
        "price": "236.47",
        "quantity": "2.00000000",
        "clientOrderId": "run1-65595247",
    }
    fake.answer(200, ORDER | {"status": "cancelled"})
    await trader.do(CancelCommand("65595247"))
    assert fake.asked[1].path == "/api/v1/orders/order1"
    assert (counts(trader).orders_sent, counts(trader).orders_accepted) == (1, 1)
    assert (counts(trader).cancels_sent, counts(trader).cancels_done) == (1, 1)
    assert len(counts(trader).latencies_s) == 1
    assert (trader.accepted, trader.cancelled) == ({"order1"}, {"order1"})


async def test_a_market_order_has_no_price(fake: FakeRestEdge, trader: Trader) -> None:
    fake.answer(201, ORDER)
    await trader.do(PlaceCommand("1", "sell", None, Decimal(1)))
    assert fake.asked[0].body["type"] == "market"
    assert "price" not in fake.asked[0].body


async def test_rejections_are_counted_by_reason_without_their_figures(fake: FakeRestEdge, trader: Trader) -> None:
    fake.refuse(400, "RISK_NSF", "RISK_NSF")
    fake.refuse(400, "ORDER_REJECTED", "quantity 120.5 is above the maximum of 100 on BTC-USD")
    fake.refuse(400, "ORDER_REJECTED", "quantity 101 is above the maximum of 100 on BTC-USD")
    for _ in range(3):
        await trader.do(BUY)
    assert counts(trader).orders_rejected == {"RISK_NSF": 1, "quantity … is above the maximum of … on BTC-USD": 2}
    await trader.do(CancelCommand(BUY.venue_id))
    assert counts(trader).cancels_without_order == 1
    assert len(fake.asked) == 3


def test_a_reason_keeps_its_words_and_its_symbol() -> None:
    assert reason_of("Market A1-USD2 not found") == "Market A1-USD2 not found"
    assert reason_of("price 1.5 deviates by more than 2000 bps.") == "price … deviates by more than … bps."


async def test_an_order_from_before_the_file_is_not_cancelled(fake: FakeRestEdge, trader: Trader) -> None:
    await trader.do(CancelCommand("unknown"))
    assert counts(trader).cancels_without_order == 1
    assert not fake.asked


async def test_cancels_that_come_too_late_or_fail_are_told_apart(fake: FakeRestEdge, trader: Trader) -> None:
    for number, status in enumerate((409, 404, 503)):
        fake.answer(201, ORDER)
        await trader.do(PlaceCommand(str(number), "buy", Decimal(1), Decimal(1)))
        fake.refuse(status, "SOME_CODE")
        await trader.do(CancelCommand(str(number)))
    assert counts(trader).cancels_too_late == 1
    assert counts(trader).cancels_failed == {"404 SOME_CODE": 1, "503 SOME_CODE": 1}
    assert not trader.cancelled


@pytest.mark.parametrize(("status", "done", "too_late"), [("cancelled", 1, 0), ("filled", 0, 1), ("open", 0, 0)])
async def test_a_cancel_whose_answer_was_lost_is_what_became_of_its_order(
    fake: FakeRestEdge, trader: Trader, status: str, done: int, too_late: int
) -> None:
    fake.answer(201, ORDER)
    await trader.do(BUY)
    fake.answer(504, UNKNOWN)
    fake.answer(200, ORDER)
    for _ in range(trader_module.CLARIFY_ATTEMPTS - 1):
        fake.answer(200, ORDER | {"status": status})
    await trader.do(CancelCommand(BUY.venue_id))
    assert (counts(trader).cancels_done, counts(trader).cancels_too_late) == (done, too_late)
    assert sum(counts(trader).cancels_failed.values()) == 1 - done - too_late
    assert trader.cancelled == ({"order1"} if done else set())


async def test_a_throttled_command_waits_as_told_and_one_remark_is_made(
    fake: FakeRestEdge, trader: Trader, remarks: list[str]
) -> None:
    loop = asyncio.get_running_loop()
    for _ in range(2):
        fake.refuse(429, "TOO_MANY_REQUESTS", Retry_After="1")
    fake.answer(201, ORDER)
    began = loop.time()
    await trader.do(BUY)
    assert loop.time() - began >= 1.99
    assert remarks == ["throttled"]
    assert (counts(trader).throttle_waits, counts(trader).throttle_wait_s) == (2, 2.0)
    assert counts(trader).orders_accepted == 1
    # The waits are no part of the latency.
    assert counts(trader).latencies_s[0] < 0.9


async def test_patience_has_an_end(fake: FakeRestEdge, trader: Trader) -> None:
    fake.refuse(429, "TOO_MANY_REQUESTS", Retry_After="100000")
    with pytest.raises(ThrottledTooLongError):
        await trader.do(BUY)


UNKNOWN = {"statusCode": 504, "message": "x", "code": "ORDER_STATUS_UNKNOWN", "details": {"orderId": "order1"}}


async def test_an_order_of_unknown_status_is_asked_for_until_it_is_known(fake: FakeRestEdge, trader: Trader) -> None:
    fake.answer(504, UNKNOWN)
    fake.refuse(404, "ORDER_NOT_FOUND")
    fake.answer(200, ORDER)
    await trader.do(BUY)
    assert [asked.method for asked in fake.asked] == ["POST", "GET", "GET"]
    assert counts(trader).orders_accepted == 1


async def test_an_order_of_unknown_status_may_turn_out_rejected(fake: FakeRestEdge, trader: Trader) -> None:
    fake.answer(504, UNKNOWN)
    fake.answer(200, ORDER | {"status": "rejected", "rejectReason": "RISK_NSF"})
    await trader.do(BUY)
    assert counts(trader).orders_rejected == {"RISK_NSF": 1}


async def test_an_order_that_nobody_ever_knows_is_without_a_decision(fake: FakeRestEdge, trader: Trader) -> None:
    fake.answer(504, UNKNOWN)
    for _ in range(trader_module.CLARIFY_ATTEMPTS):
        fake.refuse(404, "ORDER_NOT_FOUND")
    await trader.do(BUY)
    assert counts(trader).orders_unclear == {"ORDER_STATUS_UNKNOWN": 1}
    assert not fake.answers


async def test_an_order_whose_answer_was_lost_is_found_by_its_client_order_id(
    fake: FakeRestEdge, trader: Trader
) -> None:
    fake.answers.append(CUT)
    fake.answer(200, [])
    fake.answer(200, [ORDER])
    await trader.do(BUY)
    assert fake.asked[1].query["clientOrderId"] == "run1-65595247"
    assert counts(trader).orders_accepted == 1


async def test_an_order_that_was_not_taken_is_without_a_decision(fake: FakeRestEdge, trader: Trader) -> None:
    fake.refuse(503, "SERVICE_UNAVAILABLE")
    await trader.do(BUY)
    assert counts(trader).orders_unclear == {"503 SERVICE_UNAVAILABLE": 1}


@pytest.mark.parametrize(
    ("latencies", "percent", "expected"),
    [
        ([], 50, None),
        ([0.003], 99, 3.0),
        ([0.001, 0.002, 0.003, 0.004], 50, 2.0),
        ([x / 1000 for x in range(1, 101)], 99, 99.0),
    ],
)
def test_a_percentile_is_the_value_that_so_many_do_not_exceed(
    latencies: list[float], percent: float, expected: Any
) -> None:
    assert Statistics(latencies_s=latencies).latency_ms(percent) == (pytest.approx(expected) if expected else None)
