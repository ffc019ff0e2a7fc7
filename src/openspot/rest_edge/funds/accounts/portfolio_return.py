"""What a portfolio gained over a period, without what was paid in and out. Pure and exact.

The value at the end is the value at the start, plus the flows, plus the result. A flow is an entry of the ledger that
the user's own investing did not make: a deposit, a withdrawal, a payment, a move to staking or the margin account. It
is worth its amount at the price of its time. Trades, their fees, conversions and rewards are the result.

The percentage is the time-weighted return (Bacon, Practical Portfolio Performance Measurement and Attribution, chapter
2; the method of the Global Investment Performance Standards): the portfolio is valued at each flow, and the growths of
the stretches between two flows are multiplied. So it says how the investments did, whatever was paid in or out, and
when. A stretch that began with nothing has no growth.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise

from openspot.domain.money import EXACT, scaled_to_text
from openspot.domain.transfer import TransferKind
from openspot.rest_edge.funds.accounts.portfolio import DOLLAR

FLOW_POINTS_MAX = 366
"""Flows of more than so many times are grouped into so many equal parts of the period."""
RESOLUTION = timedelta(microseconds=1)
"""The smallest step of a time in the database."""
PERCENT_SCALE = 100

PERIODS: Mapping[str, timedelta | None] = {
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=30),
    "year": timedelta(days=365),
    "all": None,
}
"""The lengths of the periods; that of `all` begins with the first entry."""


class FlowKind(StrEnum):
    """What moved money into the portfolio or out of it. `income` is part of the result."""

    DEPOSIT = "deposit"
    WITHDRAWAL = "withdrawal"
    PAYMENT = "payment"
    MOVE = "move"
    SUBSCRIPTION = "subscription"
    ADJUSTMENT = "adjustment"
    INCOME = "income"


_KINDS = {
    "deposit": FlowKind.DEPOSIT,
    "withdrawal": FlowKind.WITHDRAWAL,
    TransferKind.PAYMENT: FlowKind.PAYMENT,
    TransferKind.STAKING: FlowKind.MOVE,
    TransferKind.UNSTAKING: FlowKind.MOVE,
    TransferKind.LOAN: FlowKind.MOVE,
    TransferKind.SUBSCRIPTION: FlowKind.SUBSCRIPTION,
    TransferKind.REFUND: FlowKind.SUBSCRIPTION,
    TransferKind.REWARD: FlowKind.INCOME,
}
NO_FLOWS = (TransferKind.CONVERSION, TransferKind.TREASURY)
"""Entry types besides those of trades that change what is held, and bring nothing in or out."""

Series = Mapping[str, Sequence[Decimal | None]]


def flow_kind(entry_type: str) -> FlowKind:
    """The kind of an entry that belongs to no trade and no conversion. An unknown type is an adjustment."""
    return _KINDS.get(entry_type, FlowKind.ADJUSTMENT)


@dataclass(frozen=True, slots=True)
class Flow:
    """An amount that came in, or went out if it is negative. `point` is the first point that counts it."""

    time: datetime
    point: int
    kind: FlowKind
    asset: str
    amount: Decimal


@dataclass(frozen=True, slots=True)
class ValuedFlow:
    """A flow with its value in US dollars, None if its asset had no price in the whole period."""

    flow: Flow
    value: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodReturn:
    """`end` is `start` + the sum of `flows` + `result`; `income` is a part of the result.

    `percent` is cut to two places, None if nothing was held in the period. `unpriced` assets are in no figure.
    """

    start: Decimal
    end: Decimal
    flows: Mapping[FlowKind, Decimal]
    income: Decimal
    result: Decimal
    percent: Decimal | None
    movements: Sequence[ValuedFlow]
    unpriced: Sequence[str]


def points_at_flows(start: datetime, end: datetime, times: Iterable[datetime]) -> list[datetime]:
    """The begin, the moment after each flow, and the end. What is before a point counts at it."""
    return [start, *sorted({min(time + RESOLUTION, end) for time in times} - {start, end}), end]


def equal_points(start: datetime, end: datetime) -> list[datetime]:
    """FLOW_POINTS_MAX equal parts of the period, from its begin to its end."""
    return [start + (end - start) * number / FLOW_POINTS_MAX for number in range(FLOW_POINTS_MAX)] + [end]


def period_return(balances: Series, prices: Series, flows: Sequence[Flow], count: int) -> PeriodReturn:
    """The return over `count` points, the first of which is the begin.

    Prices are in US dollars. Where an asset has none yet, its first later one counts: what was moved in before the
    first trade of a market is no gain with it.
    """
    assets = sorted({*balances, *(flow.asset for flow in flows)})
    known = {asset: _prices_of(asset, prices, count) for asset in assets}
    values = [_value(index, balances, known) for index in range(count)]
    movements = [_valued(flow, known) for flow in flows]
    sums = {kind: Decimal(0) for kind in FlowKind}
    moved = [Decimal(0)] * count
    for movement in movements:
        if movement.value is not None:
            flow = movement.flow
            sums[flow.kind] = EXACT.add(sums[flow.kind], movement.value)
            if flow.kind is not FlowKind.INCOME:
                moved[flow.point] = EXACT.add(moved[flow.point], movement.value)
    income = sums.pop(FlowKind.INCOME)
    result = EXACT.subtract(values[-1], values[0])
    for value in sums.values():
        result = EXACT.subtract(result, value)
    return PeriodReturn(
        start=values[0],
        end=values[-1],
        flows=sums,
        income=income,
        result=result,
        percent=_percent(values, moved),
        movements=movements,
        unpriced=[asset for asset in assets if known[asset] is None and _was_held(asset, balances, flows)],
    )


def _prices_of(asset: str, prices: Series, count: int) -> Sequence[Decimal] | None:
    if asset == DOLLAR:
        return [Decimal(1)] * count
    found: list[Decimal] = []
    later: Decimal | None = None
    for price in reversed(prices.get(asset, ())):
        later = price if price is not None else later
        if later is not None:
            found.append(later)
    # A price stays known, so only the first points can lack one.
    return [*found[::-1]] if len(found) == count else None


def _value(index: int, balances: Series, prices: Mapping[str, Sequence[Decimal] | None]) -> Decimal:
    total = Decimal(0)
    for asset, held in balances.items():
        balance, known = held[index], prices[asset]
        if balance and known is not None:
            total = EXACT.add(total, EXACT.multiply(balance, known[index]))
    return total


def _valued(flow: Flow, prices: Mapping[str, Sequence[Decimal] | None]) -> ValuedFlow:
    known = prices[flow.asset]
    return ValuedFlow(flow, None if known is None else EXACT.multiply(flow.amount, known[flow.point]))


def _was_held(asset: str, balances: Series, flows: Iterable[Flow]) -> bool:
    return any(balances.get(asset, ())) or any(flow.asset == asset for flow in flows)


def _percent(values: Sequence[Decimal], moved: Sequence[Decimal]) -> Decimal | None:
    growth: Fraction | None = None
    for index, (before, after) in enumerate(pairwise(values), start=1):
        if before > 0:
            grown = Fraction(EXACT.subtract(after, moved[index])) / Fraction(before)
            growth = grown if growth is None else growth * grown
    if growth is None:
        return None
    # `int` cuts towards zero.
    return Decimal(scaled_to_text(int((growth - 1) * 100 * PERCENT_SCALE), PERCENT_SCALE))
