"""Checks the completed orders that a broker of record reports (POST /bvi/order-completed, fact B4.5-26).

A report that breaks no rule becomes a trade of its participant. A report that breaks a rule moves nothing. It becomes
an exception with a code for each broken rule, and an operator decides about it. The same report again changes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from openspot.domain.money import AMOUNT_MAX, AMOUNT_SCALE, BASIS_POINTS, amount_to_text
from openspot.domain.order import Side
from openspot.positions.position import PositionTrade

CLOCK_TOLERANCE_MS = 60_000
"""A completion may be this far in the future, because clocks differ."""

AVERAGE_PRICE_TOLERANCE = AMOUNT_SCALE // 10**8
"""An average price may be rounded at the 8th place."""


class ExceptionCode(StrEnum):
    """The rule that a report breaks."""

    UNKNOWN_SYMBOL = "unknown_symbol"
    UNKNOWN_PARTICIPANT = "unknown_participant"
    NOT_POSITIVE = "not_positive"
    TOO_LARGE = "too_large"
    QUANTITY_MISMATCH = "quantity_mismatch"
    PRICE_MISMATCH = "price_mismatch"
    PRICE_OUT_OF_RANGE = "price_out_of_range"
    UNSUPPORTED_FEE_ASSET = "unsupported_fee_asset"
    FEE_TOO_LARGE = "fee_too_large"
    TIME_IN_FUTURE = "time_in_future"
    ORDER_MISMATCH = "order_mismatch"
    FOLLOWED_ORDER = "followed_order"
    DUPLICATE_MISMATCH = "duplicate_mismatch"


class ReportedFill(NamedTuple):
    """One fill of a reported order. Quantity and price are integers at 18 places."""

    quantity: int
    price: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletedOrder:
    """A report. Quantity, average price and fee are integers at 18 places; `completed_at` is in ms since 1970."""

    order_id: str
    participant_id: str
    symbol: str
    side: Side
    quantity: int
    price: int
    fee: int
    fee_asset: str
    completed_at: int
    fills: tuple[ReportedFill, ...] = ()


class KnownOrder(NamedTuple):
    """The order as the platform itself knows it."""

    participant_id: str
    symbol: str
    side: Side
    quantity: int


class PriceRange(NamedTuple):
    """A price may differ from `reference` (18 places) by `deviation_bps`, inclusive."""

    reference: int
    deviation_bps: int


@dataclass(frozen=True, slots=True)
class IntakeContext:
    """The platform's facts with which a report is compared. `now` is in ms since 1970.

    `earlier` is the report with the same order id that was accepted before. `is_followed` says that the fills of the
    order come from the exchange itself. A symbol in `symbols` without a recent price has no entry in `ranges`, and its
    price is not checked.
    """

    symbols: frozenset[str]
    participant_known: bool
    ranges: Mapping[str, PriceRange]
    now: int
    order: KnownOrder | None = None
    earlier: CompletedOrder | None = None
    is_followed: bool = False


class BrokerException(NamedTuple):
    """One rule that a report breaks, and the field that breaks it."""

    code: ExceptionCode
    field: str
    reason: str


@dataclass(frozen=True, slots=True)
class AcceptedReport:
    """The report breaks no rule. `trade` is the trade to book."""

    trade: PositionTrade


@dataclass(frozen=True, slots=True)
class RepeatedReport:
    """The same report was accepted before."""


@dataclass(frozen=True, slots=True)
class ExceptedReport:
    """The report breaks rules. `exceptions` has all of them."""

    exceptions: tuple[BrokerException, ...]


def judge(report: CompletedOrder, context: IntakeContext) -> AcceptedReport | RepeatedReport | ExceptedReport:
    """Check a report."""
    if context.earlier == report:
        return RepeatedReport()
    found = [*_number_exceptions(report), *_context_exceptions(report, context)]
    if not found:
        found = _content_exceptions(report, context)
    if found:
        return ExceptedReport(tuple(found))
    return AcceptedReport(
        PositionTrade(report.order_id, report.completed_at, report.side, report.quantity, _notional(report), report.fee)
    )


def _number_exceptions(report: CompletedOrder) -> list[BrokerException]:
    """Numbers that are out of range. The other rules cannot use them."""
    numbers = {"quantity": report.quantity, "price": report.price}
    for index, fill in enumerate(report.fills):
        numbers[f"fills[{index}].quantity"] = fill.quantity
        numbers[f"fills[{index}].price"] = fill.price
    found = []
    for field, number in numbers.items():
        if number <= 0:
            found.append(BrokerException(ExceptionCode.NOT_POSITIVE, field, f"is {amount_to_text(number)}"))
        elif number > AMOUNT_MAX:
            found.append(BrokerException(ExceptionCode.TOO_LARGE, field, "is too large"))
    return found


def _context_exceptions(report: CompletedOrder, context: IntakeContext) -> list[BrokerException]:
    """Compares the report with the platform's own records."""
    found = []
    if context.earlier is not None:
        reason = "was reported before with other content"
        found.append(BrokerException(ExceptionCode.DUPLICATE_MISMATCH, "orderId", reason))
    if report.symbol not in context.symbols:
        found.append(BrokerException(ExceptionCode.UNKNOWN_SYMBOL, "symbol", f"{report.symbol} is not a market"))
    if not context.participant_known:
        reason = f"{report.participant_id} does not exist"
        found.append(BrokerException(ExceptionCode.UNKNOWN_PARTICIPANT, "participantId", reason))
    if report.completed_at > context.now + CLOCK_TOLERANCE_MS:
        found.append(BrokerException(ExceptionCode.TIME_IN_FUTURE, "completedAt", "lies in the future"))
    if context.is_followed:
        reason = "is an order of the exchange, whose fills are followed already"
        found.append(BrokerException(ExceptionCode.FOLLOWED_ORDER, "orderId", reason))
    if context.order is not None:
        known = context.order
        for field, reported, recorded in (
            ("participantId", report.participant_id, known.participant_id),
            ("symbol", report.symbol, known.symbol),
            ("side", report.side.name.lower(), known.side.name.lower()),
        ):
            if reported != recorded:
                reason = f"is {reported}, the order's is {recorded}"
                found.append(BrokerException(ExceptionCode.ORDER_MISMATCH, field, reason))
        if report.quantity > known.quantity:
            reason = f"is {amount_to_text(report.quantity)}, the order's is {amount_to_text(known.quantity)}"
            found.append(BrokerException(ExceptionCode.QUANTITY_MISMATCH, "quantity", reason))
    return found


def _content_exceptions(report: CompletedOrder, context: IntakeContext) -> list[BrokerException]:
    """Compares the report with its own fills and with the market's price."""
    found = []
    notional = _notional(report)
    if report.fills:
        filled = sum(fill.quantity for fill in report.fills)
        if filled != report.quantity:
            reason = f"is {amount_to_text(report.quantity)}, the fills add up to {amount_to_text(filled)}"
            found.append(BrokerException(ExceptionCode.QUANTITY_MISMATCH, "quantity", reason))
        elif abs(notional * AMOUNT_SCALE - report.price * filled) > AVERAGE_PRICE_TOLERANCE * filled:
            average = amount_to_text(notional * AMOUNT_SCALE // filled)
            reason = f"is {amount_to_text(report.price)}, the average of the fills is {average}"
            found.append(BrokerException(ExceptionCode.PRICE_MISMATCH, "price", reason))
    if notional > AMOUNT_MAX:
        found.append(BrokerException(ExceptionCode.TOO_LARGE, "quantity", "times price is too large"))
    price_range = context.ranges.get(report.symbol)
    if price_range is not None:
        away = abs(report.price - price_range.reference)
        if away * BASIS_POINTS > price_range.reference * price_range.deviation_bps:
            reason = (
                f"is {amount_to_text(report.price)}, more than {price_range.deviation_bps} bps away from "
                f"{amount_to_text(price_range.reference)}"
            )
            found.append(BrokerException(ExceptionCode.PRICE_OUT_OF_RANGE, "price", reason))
    if report.fee_asset != report.symbol.split("-")[1]:
        reason = f"is {report.fee_asset}, not the quote asset of {report.symbol}"
        found.append(BrokerException(ExceptionCode.UNSUPPORTED_FEE_ASSET, "feeAsset", reason))
    if abs(report.fee) > notional:
        found.append(BrokerException(ExceptionCode.FEE_TOO_LARGE, "fee", "is larger than the notional"))
    return found


def _notional(report: CompletedOrder) -> int:
    """The order's value in the quote asset, rounded down at 18 places. If the report has fills, they decide."""
    fills = report.fills or (ReportedFill(report.quantity, report.price),)
    return sum(fill.quantity * fill.price for fill in fills) // AMOUNT_SCALE
