"""What reports are put together from: periods, sums by period, and what counts as owed."""

from datetime import date
from decimal import Decimal

import pytest

from openspot.contracts.messages import CustodyReserve
from openspot.rest_edge.operators.reports.days import MovementRow, UserRow, VolumeRow
from openspot.rest_edge.operators.reports.periods import Period, PeriodError, Span, checked_span
from openspot.rest_edge.operators.reports.service import held_by_asset
from openspot.rest_edge.operators.reports.tables import (
    balance_rows,
    fee_rows,
    ratio,
    reserve_rows,
    user_rows,
    volume_rows,
    with_gaps,
)

NEW_YEAR_EVE, NEW_YEAR, NEXT = date(2025, 12, 31), date(2026, 1, 1), date(2026, 1, 2)
DAYS = Span(NEW_YEAR_EVE, NEXT, Period.DAY)
MONTHS = Span(NEW_YEAR_EVE, NEXT, Period.MONTH)


def moved(day: date, account: str, asset: str, fees: str, rebates: str, other: str, balance: str) -> MovementRow:
    return MovementRow(day, account, asset, *map(Decimal, (fees, rebates, other, balance)))


@pytest.mark.parametrize(
    ("since", "until", "by", "refusal"),
    [
        (NEXT, NEW_YEAR, Period.DAY, "to must not be before from"),
        (date(2025, 1, 1), date(2026, 1, 2), Period.DAY, "to must be less than 366 days after from, by day"),
        (date(2016, 1, 1), date(2026, 1, 8), Period.MONTH, "to must be less than 3660 days after from, by month"),
    ],
)
def test_a_span_is_bounded(since: date, until: date, by: Period, refusal: str) -> None:
    with pytest.raises(PeriodError, match=refusal):
        checked_span(since, until, by)


def test_the_longest_spans() -> None:
    assert checked_span(date(2025, 1, 1), date(2026, 1, 1), Period.DAY).period_of(NEW_YEAR) == "2026-01-01"
    assert checked_span(date(2016, 1, 1), date(2026, 1, 7), Period.MONTH).period_of(NEW_YEAR) == "2026-01"
    assert checked_span(NEXT, NEXT, Period.DAY) == Span(NEXT, NEXT, Period.DAY)


def test_fees_rebates_and_the_rest_are_summed_by_period_to_the_last_digit() -> None:
    days = [
        moved(NEW_YEAR_EVE, "house:fees", "USD", "1.000000000000000001", "-0.1", "0", "9"),
        moved(NEW_YEAR, "house:fees", "USD", "2", "0", "-5", "9"),
        moved(NEXT, "house:fees", "USD", "0.000000000000000001", "-0.25", "0", "9"),
        moved(NEXT, "house:interest", "BTC", "0", "0", "0", "9"),
    ]
    row = {"account": "house:fees", "asset": "USD"}
    assert fee_rows(MONTHS, days) == [
        {"period": "2025-12"} | row | {"fees": "1.000000000000000001", "rebates": "-0.1", "other": "0",
                                       "total": "0.900000000000000001"},
        {"period": "2026-01"} | row | {"fees": "2.000000000000000001", "rebates": "-0.25", "other": "-5",
                                       "total": "-3.249999999999999999"},
    ]  # fmt: skip
    assert [each["period"] for each in fee_rows(DAYS, days)] == ["2025-12-31", "2026-01-01", "2026-01-02"]


def test_volumes_add_up_and_users_are_those_of_the_busiest_and_of_the_last_day() -> None:
    volumes = [
        VolumeRow(NEW_YEAR, "BTC-USD", 2, Decimal("0.1"), Decimal(10)),
        VolumeRow(NEXT, "BTC-USD", 3, Decimal("0.2"), Decimal(25)),
        VolumeRow(NEXT, "ETH-USD", 1, Decimal(1), Decimal(2)),
    ]
    assert volume_rows(MONTHS, volumes) == [
        {"period": "2026-01", "symbol": "BTC-USD", "trades": 5, "base": "0.3", "quote": "35"},
        {"period": "2026-01", "symbol": "ETH-USD", "trades": 1, "base": "1", "quote": "2"},
    ]
    users = [UserRow(NEW_YEAR, 4, 9, 14, None), UserRow(NEXT, 1, 3, 15, 2)]
    assert user_rows(MONTHS, users) == [{"period": "2026-01", "registered": 5, "active": 9, "total": 15, "verified": 2}]
    assert [row["active"] for row in user_rows(DAYS, users)] == [9, 3]


def test_liabilities_are_what_belongs_to_users_and_the_house_stands_apart() -> None:
    days = [
        moved(NEXT, "users", "USD", "0", "0", "0", "100"),
        moved(NEXT, "margin", "USD", "0", "0", "0", "20"),
        moved(NEXT, "house:staking", "USD", "0", "0", "0", "3"),
        moved(NEXT, "house:fees", "USD", "0", "0", "0", "7"),
        moved(NEXT, "house:external", "USD", "0", "0", "0", "-130"),
        moved(NEXT, "users", "BTC", "0", "0", "0", "2"),
        moved(NEW_YEAR, "users", "BTC", "0", "0", "0", "1"),
    ]
    held = {(NEXT, "USD"): Decimal("122.999"), (NEXT, "SOL"): Decimal(1), (NEW_YEAR, "BTC"): Decimal(5)}
    loans = {NEXT: {"USD": Decimal(15), "ETH": Decimal(4)}}
    assert reserve_rows(DAYS, days, held, [NEXT], loans) == [
        {"period": "2026-01-01", "asset": "BTC", "liabilities": "1", "house": "0", "loans": None, "reserves": None,
         "ratio": None,
         "covered": None},
        {"period": "2026-01-02", "asset": "BTC", "liabilities": "2", "house": "0", "loans": "0", "reserves": "0",
         "ratio": "0",
         "covered": False},
        {"period": "2026-01-02", "asset": "ETH", "liabilities": "0", "house": "0", "loans": "4", "reserves": "0",
         "ratio": None, "covered": True},
        {"period": "2026-01-02", "asset": "SOL", "liabilities": "0", "house": "0", "loans": "0", "reserves": "1",
         "ratio": None,
         "covered": True},
        {"period": "2026-01-02", "asset": "USD", "liabilities": "123", "house": "7", "loans": "15",
         "reserves": "122.999",
         "ratio": "0.9999", "covered": False},
    ]  # fmt: skip
    assert balance_rows(DAYS, [days[0], moved(NEXT, "users", "SOL", "0", "0", "0", "0")]) == [
        {"period": "2026-01-02", "account": "users", "asset": "USD", "balance": "100"}
    ]


def test_a_ratio_is_cut_so_that_it_never_looks_covered() -> None:
    assert ratio(Decimal("0.99999999"), Decimal(1)) == "0.9999"
    assert ratio(Decimal(1), Decimal(1)) == "1"
    assert ratio(Decimal(3), Decimal(2)) == "1.5"
    assert ratio(Decimal(-3), Decimal(2)) == "0"
    assert ratio(Decimal(3), Decimal(0)) is None


def test_what_custody_holds_is_summed_over_networks_with_what_is_leaving() -> None:
    reserves = [
        CustodyReserve("USDT", "ethereum", "1.5", "0.25"),
        CustodyReserve("USDT", "tron", "2", "0"),
        CustodyReserve("BTC", "bitcoin", "-1", "0"),
    ]
    assert held_by_asset(reserves) == {"USDT": Decimal("3.75"), "BTC": Decimal(-1)}


def test_a_period_with_a_day_that_is_not_closed_has_a_note_in_place_of_figures() -> None:
    assert DAYS.periods_without([NEW_YEAR], is_at_end=True) == ["2026-01-01"]
    assert MONTHS.periods_without([NEW_YEAR_EVE, NEW_YEAR], is_at_end=False) == ["2025-12", "2026-01"]
    # January goes on: what is there at its end does not depend on its first day.
    assert MONTHS.periods_without([NEW_YEAR_EVE, NEW_YEAR], is_at_end=True) == ["2025-12"]
    assert MONTHS.periods_without([NEXT], is_at_end=True) == ["2026-01"]
    rows = [{"period": "2025-12-31", "total": 1}, {"period": "2026-01-01", "total": 2}, {"period": "2026-01-02"}]
    assert with_gaps(rows, ["2026-01-01"]) == [
        rows[0], {"period": "2026-01-01", "note": "not closed yet"}, rows[2],
    ]  # fmt: skip
