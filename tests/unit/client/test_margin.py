"""The client's margin calls, against a stand-in for the REST edge."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from openspot.client import ApiError, MarginLoan, MarginPosition, OpenSpotClient, UnreachableError
from openspot.client.transport import RetryPolicy
from tests.support.fake_rest_edge import CUT, FakeRestEdge, running_fake

TIME = "2026-01-02T03:04:05.678Z"
ACCOUNT: dict[str, Any] = {
    "marginAccountId": "margin:u1",
    "userId": "u1",
    "status": "active",
    "valuationAsset": "USD",
    "marginLevel": "1.666666666666666667",
    "equity": "400",
    "debt": "600",
    "isAtRisk": False,
    "balances": [{"asset": "USD", "total": "0", "available": "0", "borrowed": "600", "interest": "0.01",
                  "isOffered": True}],
    "positions": [
        {
            "positionId": "9FvT4qKxW2mZr7Hd", "marginAccountId": "margin:u1", "symbol": "ETH-USD", "side": "buy",
            "quantity": "0.5", "leverage": "4", "requiredMargin": "250", "entryPrice": None, "status": "opening",
            "reason": None, "loanId": "8FvT4qKxW2mZr7Hd", "openedAt": TIME, "closedAt": None,
        }
    ],
    "loans": [
        {
            "loanId": "8FvT4qKxW2mZr7Hd", "marginAccountId": "margin:u1", "asset": "USD", "principal": "700",
            "outstanding": "600", "interest": "0.01", "interestPaid": "0.02", "rate": "0.1", "status": "active",
            "createdAt": TIME, "endedAt": None,
        }
    ],
    "prices": [
        {
            "asset": "ETH", "low": "1990", "price": "2000", "high": "2010", "dayMedian": "1950",
            "state": "disputed",
            "reason": "its sources differ", "sellable": "3", "borrowable": None,
        }
    ],
    "borrowRate": "0.1",
}  # fmt: skip
RESULT = {"positionId": "9FvT4qKxW2mZr7Hd", "loanId": None, "account": ACCOUNT}


@pytest.fixture
async def fake() -> AsyncIterator[FakeRestEdge]:
    async with running_fake() as edge:
        yield edge


@pytest.fixture
async def client(fake: FakeRestEdge) -> AsyncIterator[OpenSpotClient]:
    async with OpenSpotClient(fake.url, retry=RetryPolicy(attempts_max=3, pause_s=0.001)) as made:
        yield made


async def test_a_margin_account_comes_back_typed(fake: FakeRestEdge, client: OpenSpotClient) -> None:
    fake.answer(200, ACCOUNT)
    account = await client.margin_account()
    assert account is not None
    assert (account.margin_level, account.equity, account.is_at_risk) == (
        Decimal("1.666666666666666667"), Decimal(400), False,
    )  # fmt: skip
    [price] = account.prices
    assert (price.asset, price.low, price.day_median, price.state, price.sellable, price.borrowable) == (
        "ETH", Decimal(1990), Decimal(1950), "disputed", Decimal(3), None,
    )  # fmt: skip
    assert account.borrow_rate == Decimal("0.1")
    assert (account.balances[0].borrowed, account.balances[0].interest) == (Decimal(600), Decimal("0.01"))
    moment = datetime(2026, 1, 2, 3, 4, 5, 678000, UTC)
    assert account.positions == [
        MarginPosition(
            "9FvT4qKxW2mZr7Hd", "margin:u1", "ETH-USD", "buy", Decimal("0.5"), Decimal(4), Decimal(250), None,
            "opening", None, "8FvT4qKxW2mZr7Hd", moment, None,
        )
    ]  # fmt: skip
    assert account.loans == [
        MarginLoan(
            "8FvT4qKxW2mZr7Hd", "margin:u1", "USD", Decimal(700), Decimal(600), Decimal("0.01"), Decimal("0.02"),
            Decimal("0.1"), "active", moment, None,
        )
    ]  # fmt: skip


async def test_a_user_without_a_margin_account_gets_none(fake: FakeRestEdge, client: OpenSpotClient) -> None:
    fake.answer(200, None)
    assert await client.margin_account() is None


async def test_the_figures_of_an_account_without_mark_prices_are_none(
    fake: FakeRestEdge, client: OpenSpotClient
) -> None:
    fake.answer(200, ACCOUNT | {"marginLevel": None, "equity": None, "debt": None, "isAtRisk": None})
    account = await client.margin_account()
    assert account is not None
    assert (account.margin_level, account.equity, account.debt, account.is_at_risk) == (None, None, None, None)


async def test_a_position_is_sent_exactly_and_its_id_comes_back(fake: FakeRestEdge, client: OpenSpotClient) -> None:
    fake.answer(201, RESULT)
    result = await client.open_margin_position("ETH-USD", "buy", Decimal("5E-1"), 4)
    assert (fake.asked[0].method, fake.asked[0].path) == ("POST", "/api/v1/margin/positions")
    assert fake.asked[0].body == {"symbol": "ETH-USD", "side": "buy", "quantity": "0.5", "leverage": "4"}
    assert (result.position_id, result.loan_id, result.account.user_id) == ("9FvT4qKxW2mZr7Hd", None, "u1")


async def test_a_part_of_a_position_is_closed_by_its_quantity(fake: FakeRestEdge, client: OpenSpotClient) -> None:
    fake.answer(200, RESULT)
    await client.close_margin_position("9FvT4qKxW2mZr7Hd", quantity=Decimal("0.25"), request_id="r1")
    assert (fake.asked[0].method, fake.asked[0].path) == ("POST", "/api/v1/margin/positions/close")
    assert fake.asked[0].body == {"positionId": "9FvT4qKxW2mZr7Hd", "quantity": "0.25", "requestId": "r1"}


async def test_an_amount_that_is_not_exact_is_refused_before_it_is_sent(
    fake: FakeRestEdge, client: OpenSpotClient
) -> None:
    inexact: Any = 0.1
    for request, name in (
        (client.move_collateral("USD", inexact, "in"), "amount"),
        (client.open_margin_position("ETH-USD", "buy", inexact, 4), "quantity"),
        (client.open_margin_position("ETH-USD", "buy", 1, inexact), "leverage"),
        (client.close_margin_position("9FvT4qKxW2mZr7Hd", quantity=inexact), "quantity"),
        (client.borrow("USD", inexact), "amount"),
        (client.repay_loan("8FvT4qKxW2mZr7Hd", amount=inexact), "amount"),
    ):
        with pytest.raises(TypeError, match=f"{name} must be"):
            await request
    assert not fake.asked


async def test_a_request_with_an_id_is_repeated_with_the_same_id(fake: FakeRestEdge, client: OpenSpotClient) -> None:
    fake.answers.append(CUT)
    fake.refuse(504, "MARGIN_STATUS_UNKNOWN")
    fake.answer(201, RESULT)
    await client.borrow("USD", "50", request_id="loan-1")
    assert [asked.body for asked in fake.asked] == [{"asset": "USD", "amount": "50", "requestId": "loan-1"}] * 3


async def test_a_request_without_an_id_is_sent_once(fake: FakeRestEdge, client: OpenSpotClient) -> None:
    fake.answers.append(CUT)
    with pytest.raises(UnreachableError):
        await client.borrow("USD", "50")
    fake.refuse(504, "MARGIN_STATUS_UNKNOWN")
    with pytest.raises(ApiError) as refused:
        await client.repay_loan("8FvT4qKxW2mZr7Hd")
    assert (refused.value.status, refused.value.code) == (504, "MARGIN_STATUS_UNKNOWN")
    assert [asked.body for asked in fake.asked] == [
        {"asset": "USD", "amount": "50"},
        {"loanId": "8FvT4qKxW2mZr7Hd"},
    ]
