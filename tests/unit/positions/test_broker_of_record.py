"""Completed orders that a broker of record reports: what is accepted, what is repeated, what is an exception."""

from dataclasses import replace

import pytest

from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.order import Side
from openspot.positions.broker_of_record import (
    AcceptedReport,
    BrokerException,
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
        ({"symbol": "ETH-USD"}, [(C.UNKNOWN_SYMBOL, "symbol"), (C.ORDER_MISMATCH, "symbol")]),
        ({"fee": 300 * UNIT + 1}, [(C.FEE_TOO_LARGE, "fee")]),
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
        {"fee": 300 * UNIT},
        {"fee": -300 * UNIT},
        {"completed_at": NOW + 60_000},
        {"price": 100 * UNIT + 10**10, "fills": (ReportedFill(3 * UNIT, 100 * UNIT),)},
        # The average of the fills is 100.333…; it was rounded at its 8th place.
        {
            "price": 100_333_333_330_000_000_000,
            "fills": (ReportedFill(2 * UNIT, 100 * UNIT), ReportedFill(UNIT, 101 * UNIT)),
        },
    ],
)
def test_bounds_are_inclusive(changes: dict[str, object]) -> None:
    assert isinstance(judge(replace(REPORT, **changes), CONTEXT), AcceptedReport)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("quantity", "price", "notional"),
    [
        (1, 100 * UNIT, 100),
        (UNIT, 1, 1),
        (10**37, 1, 10**19),
        (1, 10**37, 10**19),
        (10**37, UNIT, 10**37),
    ],
)
def test_the_smallest_and_the_largest_numbers_are_allowed(quantity: int, price: int, notional: int) -> None:
    report = replace(REPORT, quantity=quantity, price=price, fee=0)
    assert judge(report, replace(CONTEXT, order=None, ranges={})) == AcceptedReport(
        PositionTrade("order-1", NOW, Side.BUY, quantity, notional, 0)
    )


def test_an_order_of_the_exchange_itself_is_an_exception() -> None:
    assert codes(REPORT, replace(CONTEXT, is_followed=True)) == [(C.FOLLOWED_ORDER, "orderId")]


def test_an_unknown_symbol_and_an_unknown_participant_are_both_named() -> None:
    context = IntakeContext(frozenset(), False, {}, NOW)
    assert codes(REPORT, context) == [(C.UNKNOWN_SYMBOL, "symbol"), (C.UNKNOWN_PARTICIPANT, "participantId")]


def test_a_product_beyond_the_largest_amount_is_an_exception() -> None:
    huge = replace(REPORT, quantity=10**37, price=UNIT + 1)
    assert judge(huge, replace(CONTEXT, order=None, ranges={})) == ExceptedReport(
        (BrokerException(C.TOO_LARGE, "quantity", "times price is too large"),)
    )


def test_exceptions_say_what_was_expected() -> None:
    outcome = judge(replace(REPORT, quantity=4 * UNIT, side=Side.SELL), CONTEXT)
    assert isinstance(outcome, ExceptedReport)
    assert [exception.reason for exception in outcome.exceptions] == [
        "is sell, the order's is buy",
        "is 4, the order's is 3",
    ]


@pytest.mark.parametrize(
    ("changes", "context", "reasons"),
    [
        ({"quantity": 0}, {}, ["is 0"]),
        ({"price": 10**37 + 1}, {}, ["is too large"]),
        ({}, {"earlier": replace(REPORT, fee=0)}, ["was reported before with other content"]),
        ({"symbol": "X-USD"}, {"order": None}, ["X-USD is not a market"]),
        ({}, {"participant_known": False}, ["user-1 does not exist"]),
        ({"completed_at": NOW + 10**9}, {}, ["lies in the future"]),
        ({}, {"is_followed": True}, ["is an order of the exchange, whose fills are followed already"]),
        ({"fills": (ReportedFill(UNIT, 100 * UNIT),)}, {}, ["is 3, the fills add up to 1"]),
        ({"fills": (ReportedFill(3 * UNIT, 99 * UNIT),)}, {}, ["is 100, the average of the fills is 99"]),
        (
            {"price": 100 * UNIT + 10**10 + 1, "fills": (ReportedFill(3 * UNIT, 100 * UNIT),)},
            {},
            ["is 100.000000010000000001, the average of the fills is 100"],
        ),
        ({"price": 106 * UNIT}, {}, ["is 106, more than 500 bps away from 100"]),
        ({"fee_asset": "BTC"}, {}, ["is BTC, not the quote asset of BTC-USD"]),
        ({"fee": 301 * UNIT}, {}, ["is larger than the notional"]),
    ],
)
def test_each_exception_says_why(changes: dict[str, object], context: dict[str, object], reasons: list[str]) -> None:
    outcome = judge(replace(REPORT, **changes), replace(CONTEXT, **context))
    assert isinstance(outcome, ExceptedReport)
    assert [exception.reason for exception in outcome.exceptions] == reasons
