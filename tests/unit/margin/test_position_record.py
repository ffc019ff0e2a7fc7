"""A margin position and a loan as their user sees them: all fields, to the last one."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import msgspec
import pytest

from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.order import Side
from openspot.margin import accounts
from openspot.margin.interest import LoanAccrual, Rate
from openspot.margin.lifecycle import LoanStatus, MarginPositionStatus
from openspot.margin.records import MarginLoanRow, MarginPositionRow, derived_id, part_order_id

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


ROW = MarginPositionRow(
    position_id="p1", account_id="a1", symbol="BTC-USD", side=Side.SELL, quantity=3 * AMOUNT_SCALE // 2,
    leverage=Decimal("2.50"), required_margin=60 * AMOUNT_SCALE, own_funds=7, entry_price=Decimal("100.10"),
    status=MarginPositionStatus.CLOSED, reason="liquidated", loan_id="l1", closings=4, close_request="r1",
    closing_quantity=None, opened_at=NOON, closed_at=NOON + timedelta(minutes=1),
)  # fmt: skip


@pytest.mark.spec("A2.8-08")
def test_a_position_has_exactly_the_decided_fields() -> None:
    assert msgspec.to_builtins(accounts._position_record(ROW)) == {
        "positionId": "p1",
        "marginAccountId": "a1",
        "symbol": "BTC-USD",
        "side": "sell",
        "quantity": "1.5",
        "leverage": "2.5",
        "requiredMargin": "60",
        "entryPrice": "100.1",
        "status": "closed",
        "reason": "liquidated",
        "loanId": "l1",
        "openedAt": "2026-03-01T12:00:00.000Z",
        "closedAt": "2026-03-01T12:01:00.000Z",
    }


@pytest.mark.spec("A2.8-09")
def test_a_loan_has_exactly_the_decided_fields() -> None:
    row = MarginLoanRow(
        account_id="a1", asset="USD", borrowed=300 * AMOUNT_SCALE,
        accrual=LoanAccrual(
            loan_id="l1", principal=200 * AMOUNT_SCALE, rate=Rate(1, 7), segment_start=1,
            posted=5 * AMOUNT_SCALE // 2, paid=AMOUNT_SCALE,
        ),
        yearly_rate=Decimal("0.10"), repaying="r1", status=LoanStatus.REPAID, created_at=NOON,
        ended_at=NOON + timedelta(minutes=1),
    )  # fmt: skip
    assert msgspec.to_builtins(accounts._loan_record(row)) == {
        "loanId": "l1",
        "marginAccountId": "a1",
        "asset": "USD",
        "principal": "300",
        "outstanding": "200",
        "interest": "1.5",
        "interestPaid": "1",
        "rate": "0.1",
        "status": "repaid",
        "createdAt": "2026-03-01T12:00:00.000Z",
        "endedAt": "2026-03-01T12:01:00.000Z",
    }


def test_an_id_is_the_same_in_every_release_and_another_for_other_parts() -> None:
    """Orders, loans and transfers of an unfinished request are found again by these ids after an upgrade."""
    assert derived_id("open", "p1") == "ZDhxoHeZm6G9PUwh"
    assert derived_id("close", "p1", "3") == "7czEdVZbVm6EDHKq"
    assert part_order_id("p1", "r1") == "Hm337EbthXVWsbcV"
    assert (derived_id("a", "bc"), derived_id("ab", "c")) == ("EBeLqsDBLXYdXNFf", "mtgaNMhj7o6zbceF")


def test_an_order_for_a_part_is_its_requests_and_one_for_the_whole_is_numbered() -> None:
    assert replace(ROW, status=MarginPositionStatus.OPENING).order_id == derived_id("open", "p1")
    assert ROW.order_id == derived_id("close", "p1", "4")
    assert replace(ROW, closing_quantity=AMOUNT_SCALE).order_id == part_order_id("p1", "r1")
