"""Completed orders that a broker of record reports: what is accepted, what is repeated, what is an exception."""

from dataclasses import replace

import pytest

from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.order import Side
from openspot.positions.broker_of_record import (
    AcceptedReport,
    CompletedOrder,
    ExceptedReport,
    ExceptionCode,
    IntakeContext,
    KnownOrder,
    PriceRange,
    RepeatedReport,
    ReportedFill,
    judge,
)
from openspot.positions.position import PositionTrade

UNIT = AMOUNT_SCALE
NOW = 1_700_000_000_000
C = ExceptionCode
REPORT = CompletedOrder(
    order_id="order-1",
    participant_id="user-1",
    symbol="BTC-USD",
    side=Side.BUY,
    quantity=3 * UNIT,
    price=100 * UNIT,
    fee=UNIT,
    fee_asset="USD",
    completed_at=NOW,
)
KNOWN = KnownOrder("user-1", "BTC-USD", Side.BUY, 3 * UNIT)
CONTEXT = IntakeContext(frozenset({"BTC-USD"}), True, {"BTC-USD": PriceRange(100 * UNIT, 500)}, NOW, KNOWN)


def codes(report: CompletedOrder, context: IntakeContext = CONTEXT) -> list[tuple[ExceptionCode, str]]:
    outcome = judge(report, context)
    assert isinstance(outcome, ExceptedReport)
    return [(exception.code, exception.field) for exception in outcome.exceptions]


def test_a_report_that_fits_becomes_a_trade_of_its_participant() -> None:
    assert judge(REPORT, CONTEXT) == AcceptedReport(PositionTrade("order-1", NOW, Side.BUY, 3 * UNIT, 300 * UNIT, UNIT))


def test_an_order_that_the_platform_does_not_know_and_a_market_without_price_are_not_held_against_it() -> None:
    assert isinstance(judge(REPORT, replace(CONTEXT, order=None, ranges={})), AcceptedReport)


def test_the_notional_is_that_of_the_fills() -> None:
    fills = (ReportedFill(UNIT, 90 * UNIT), ReportedFill(2 * UNIT, 105 * UNIT))
    outcome = judge(replace(REPORT, fills=fills), CONTEXT)
    assert isinstance(outcome, AcceptedReport)
    assert outcome.trade.notional == 300 * UNIT


def test_the_same_report_again_is_a_repetition() -> None:
    assert judge(REPORT, replace(CONTEXT, earlier=REPORT)) == RepeatedReport()


def test_the_same_order_with_other_content_is_an_exception() -> None:
    other = replace(REPORT, quantity=2 * UNIT)
    assert codes(other, replace(CONTEXT, earlier=REPORT)) == [(C.DUPLICATE_MISMATCH, "orderId")]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"quantity": 0}, [(C.NOT_POSITIVE, "quantity")]),
        ({"price": -1}, [(C.NOT_POSITIVE, "price")]),
        ({"price": 10**37 + 1}, [(C.TOO_LARGE, "price")]),
        (
            {"fills": (ReportedFill(0, -1),)},
            [(C.NOT_POSITIVE, "fills[0].quantity"), (C.NOT_POSITIVE, "fills[0].price")],
        ),
        ({"quantity": 4 * UNIT}, [(C.QUANTITY_MISMATCH, "quantity")]),
        ({"fills": (ReportedFill(2 * UNIT, 100 * UNIT),)}, [(C.QUANTITY_MISMATCH, "quantity")]),
        ({"fills": (ReportedFill(3 * UNIT, 101 * UNIT),)}, [(C.PRICE_MISMATCH, "price")]),
        ({"price": 105 * UNIT + 1}, [(C.PRICE_OUT_OF_RANGE, "price")]),
        ({"price": 95 * UNIT - 1}, [(C.PRICE_OUT_OF_RANGE, "price")]),
        ({"fee_asset": "BTC"}, [(C.UNSUPPORTED_FEE_ASSET, "feeAsset")]),
        ({"fee": 301 * UNIT}, [(C.FEE_TOO_LARGE, "fee")]),
        ({"fee": -301 * UNIT}, [(C.FEE_TOO_LARGE, "fee")]),
        ({"completed_at": NOW + 60_001}, [(C.TIME_IN_FUTURE, "completedAt")]),
        ({"participant_id": "user-2"}, [(C.ORDER_MISMATCH, "participantId")]),
        ({"side": Side.SELL}, [(C.ORDER_MISMATCH, "side")]),
    ],
)
def test_each_rule_has_a_code_and_names_its_field(
    changes: dict[str, object], expected: list[tuple[ExceptionCode, str]]
) -> None:
    assert codes(replace(REPORT, **changes)) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changes",
    [
        {"price": 105 * UNIT},
        {"price": 95 * UNIT},
        {"quantity": 2 * UNIT},
        {"fee": -UNIT},
        {"completed_at": NOW + 60_000},
        # The average of the fills is 100.333…; it was rounded at its 8th place.
        {
            "price": 100_333_333_330_000_000_000,
            "fills": (ReportedFill(2 * UNIT, 100 * UNIT), ReportedFill(UNIT, 101 * UNIT)),
        },
    ],
)
def test_bounds_are_inclusive(changes: dict[str, object]) -> None:
    assert isinstance(judge(replace(REPORT, **changes), CONTEXT), AcceptedReport)  # type: ignore[arg-type]


def test_an_unknown_symbol_and_an_unknown_participant_are_both_named() -> None:
    context = IntakeContext(frozenset(), False, {}, NOW)
    assert codes(REPORT, context) == [(C.UNKNOWN_SYMBOL, "symbol"), (C.UNKNOWN_PARTICIPANT, "participantId")]


def test_a_product_beyond_the_largest_amount_is_an_exception() -> None:
    huge = replace(REPORT, quantity=10**37, price=10**37)
    assert (C.TOO_LARGE, "quantity") in codes(huge, replace(CONTEXT, order=None, ranges={}))


def test_exceptions_say_what_was_expected() -> None:
    outcome = judge(replace(REPORT, quantity=4 * UNIT, side=Side.SELL), CONTEXT)
    assert isinstance(outcome, ExceptedReport)
    assert [exception.reason for exception in outcome.exceptions] == [
        "is sell, the order's is buy",
        "is 4, the order's is 3",
    ]
