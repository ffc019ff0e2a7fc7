"""Interest: exact, and the same however often and whenever the scan runs."""

import random
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.domain.money import AMOUNT_SCALE
from openspot.margin.interest import (
    MINUTE_MS,
    InterestError,
    LoanAccrual,
    Rate,
    Repayment,
    accrue,
    new_loan,
    repay,
    yearly_rate,
)

YEAR_MS = 365 * 86_400_000
BEGAN = 1_700_000_000_123
principals = st.integers(1, 10**30)
rates = st.builds(Rate, st.integers(0, 10**6), st.integers(1, 10**6))


def closed_formula(principal: int, rate: Rate, minutes: int) -> int:
    return int(Fraction(principal * rate.numerator * minutes, rate.denominator * 525_600) // 1)


def test_a_year_earns_the_yearly_rate() -> None:
    loan = new_loan("loan", 1_000 * AMOUNT_SCALE, yearly_rate(Decimal("0.0525")), BEGAN)
    assert loan.accrued(BEGAN + YEAR_MS) == Decimal("52.5") * AMOUNT_SCALE


def test_only_whole_minutes_count_while_a_loan_runs() -> None:
    loan = new_loan("loan", 525_600, Rate(1, 1), BEGAN)
    assert [loan.accrued(BEGAN + elapsed) for elapsed in (0, 59_999, 60_000, 119_999, 120_000)] == [0, 0, 1, 1, 2]


def test_a_repayment_counts_the_started_minute() -> None:
    loan = new_loan("loan", 525_600, Rate(1, 1), BEGAN)
    assert [loan.due(BEGAN + elapsed) for elapsed in (0, 1, 60_000, 60_001)] == [0, 1, 1, 2]
    assert repay(loan, 10, BEGAN + 60_001).interest == 2


@given(principals, rates, st.integers(0, 2**32))
def test_a_year_of_random_scans_posts_the_closed_formula_to_the_last_digit(
    principal: int, rate: Rate, seed: int
) -> None:
    source = random.Random(seed)
    moments = sorted(source.randrange(YEAR_MS) for _ in range(source.randrange(200)))
    loan = new_loan("loan", principal, rate, BEGAN)
    posted, ids = 0, set()
    for elapsed in [*moments, YEAR_MS]:
        loan, posting = accrue(loan, BEGAN + elapsed)
        if posting is not None:
            assert posting.amount > 0
            posted += posting.amount
            ids.add(posting.posting_id)
            assert posted == closed_formula(principal, rate, elapsed // MINUTE_MS)
    assert posted == closed_formula(principal, rate, 525_600)
    assert posted == loan.posted
    assert len(ids) <= len(moments) + 1


def test_a_year_of_scans_every_quarter_of_an_hour_does_not_drift() -> None:
    principal = 123_456_789_012_345_678
    loan = new_loan("loan", principal, Rate(7, 100), BEGAN)
    posted = 0
    for minute in range(15, 525_601, 15):
        loan, posting = accrue(loan, BEGAN + minute * MINUTE_MS)
        posted += posting.amount if posting else 0
    assert posted == principal * 7 // 100


def test_a_scan_that_is_repeated_posts_under_the_same_id_and_a_later_one_under_another() -> None:
    loan = new_loan("loan", 525_600, Rate(1, 1), BEGAN)
    first = accrue(loan, BEGAN + MINUTE_MS)
    again = accrue(loan, BEGAN + 5 * MINUTE_MS)
    later = accrue(first.loan, BEGAN + 5 * MINUTE_MS)
    assert first.posting is not None
    assert again.posting is not None
    assert later.posting is not None
    assert first.posting.posting_id == again.posting.posting_id == "loan:interest:0"
    assert later.posting == ("loan:interest:1", 4)


def test_a_clock_that_went_back_posts_nothing() -> None:
    loan = accrue(new_loan("loan", 525_600, Rate(1, 1), BEGAN), BEGAN + 5 * MINUTE_MS).loan
    assert accrue(loan, BEGAN) == (loan, None)
    assert accrue(loan, BEGAN - MINUTE_MS) == (loan, None)


def test_interest_is_paid_before_principal_and_the_rest_is_not_used() -> None:
    loan = new_loan("loan", 525_600, Rate(1, 1), BEGAN)
    moment = BEGAN + 10 * MINUTE_MS
    part = repay(loan, 4, moment)
    assert (part.interest, part.principal, part.unused, part.is_full) == (4, 0, 0, False)
    assert part.posting == ("loan:interest:0", 10)
    more = repay(part.loan, 106, moment)
    assert (more.interest, more.principal, more.unused, more.posting) == (6, 100, 0, None)
    rest = repay(more.loan, 10**9, moment)
    assert (rest.principal, rest.unused, rest.is_full) == (525_500, 10**9 - 525_500, True)
    with pytest.raises(InterestError, match=r"^loan is repaid already$"):
        repay(rest.loan, 1, moment)


def test_no_minute_is_charged_twice_around_a_repayment() -> None:
    loan = new_loan("loan", 525_600 * 2, Rate(1, 1), BEGAN)
    half_minute = BEGAN + MINUTE_MS // 2
    # Two units of interest for the started minute, then half of the principal.
    repaid = repay(loan, 2 + 525_600, half_minute).loan
    assert repaid.principal == 525_600
    assert repaid.due(half_minute + 1) == 2
    assert repaid.accrued(BEGAN + MINUTE_MS) == 2
    assert repaid.accrued(BEGAN + 2 * MINUTE_MS) == 3
    assert repaid.due(BEGAN + MINUTE_MS + 1) == 3


@given(principals, st.integers(0, 2**32))
def test_segments_of_principal_add_up_however_often_scans_run_between(principal: int, seed: int) -> None:
    source = random.Random(seed)
    changes = sorted(source.randrange(1, 10**7) for _ in range(6))
    steps = [(elapsed, "repay", source.randrange(1, 10**6)) for elapsed in changes]

    def run(scans: list[int]) -> tuple[LoanAccrual, int]:
        loan, posted = new_loan("loan", principal, Rate(1, 3), BEGAN), 0
        events = sorted([*[(elapsed, "scan", 0) for elapsed in scans], *steps])
        for elapsed, event, number in [*events, (10**7 + 1, "scan", 0)]:
            now = BEGAN + elapsed
            if event == "scan":
                loan, posting = accrue(loan, now)
            elif loan.owed(now):
                repayment = repay(loan, max(principal * number // 10**7, 1), now)
                loan, posting = repayment.loan, repayment.posting
            else:
                posting = None
            posted += posting.amount if posting else 0
        return loan, posted

    quiet, busy = run([]), run(sorted(source.randrange(10**7) for _ in range(100)))
    assert quiet == busy
    assert quiet[1] == quiet[0].posted


@pytest.mark.parametrize("rate", ["-0.01", "10.01", "NaN", "Infinity"])
def test_a_rate_out_of_range_is_refused(rate: str) -> None:
    with pytest.raises(InterestError, match="rate must lie"):
        yearly_rate(Decimal(rate))


def test_a_decimal_rate_is_an_exact_fraction() -> None:
    assert yearly_rate(Decimal("0.05")) == (1, 20)
    assert yearly_rate(Decimal(0)) == (0, 1)


def test_amounts_must_be_positive() -> None:
    with pytest.raises(InterestError, match=r"^principal must be positive$"):
        new_loan("loan", 0, Rate(1, 1), BEGAN)
    with pytest.raises(InterestError, match=r"^amount must be positive$"):
        repay(new_loan("loan", 1, Rate(1, 1), BEGAN), 0, BEGAN)


@given(principals, rates, st.integers(0, 10**12))
def test_what_is_owed_repays_the_loan_exactly(principal: int, rate: Rate, elapsed: int) -> None:
    loan = new_loan("loan", principal, rate, BEGAN)
    now = BEGAN + elapsed
    exact = repay(loan, loan.owed(now), now)
    assert (exact.is_full, exact.unused) == (True, 0)
    if loan.owed(now) > 1:
        assert not repay(loan, loan.owed(now) - 1, now).is_full


def test_the_largest_rate_is_allowed_and_no_other_above_it() -> None:
    assert yearly_rate(Decimal(10)) == Rate(10, 1)
    assert yearly_rate(Decimal(0)) == Rate(0, 1)
    for rate in ("10.0000001", "-0.0000001", "NaN", "Infinity"):
        with pytest.raises(InterestError, match="rate must lie between 0 and 10"):
            yearly_rate(Decimal(rate))


def test_a_clock_that_was_set_back_takes_no_interest_back() -> None:
    loan = accrue(new_loan("loan", 525_600, Rate(1, 1), BEGAN), BEGAN + 3 * MINUTE_MS).loan
    assert loan.posted == 3
    for now in (BEGAN - 5 * MINUTE_MS, BEGAN + MINUTE_MS):
        assert accrue(loan, now) == (loan, None)
        assert loan.owed(now) == 525_603
        assert loan.accrued(now) == max(now - BEGAN, 0) // MINUTE_MS


def test_a_loan_is_repaid_in_full_only_with_the_last_unit_of_its_interest() -> None:
    loan = new_loan("loan", 525_600, Rate(1, 1), BEGAN)
    almost = repay(loan, 525_600 + 2, BEGAN + 3 * MINUTE_MS)
    assert (almost.interest, almost.principal, almost.unused, almost.is_full) == (3, 525_599, 0, False)
    rest = repay(almost.loan, 5, BEGAN + 3 * MINUTE_MS)
    assert (rest.interest, rest.principal, rest.unused, rest.is_full) == (0, 1, 4, True)
    # Interest comes first, so a principal of nothing with interest left is not full either.
    unpaid = LoanAccrual("loan", 0, Rate(1, 1), BEGAN, settled=3, posted=3, paid=2)
    assert not Repayment(unpaid, None, 0, 0, 0).is_full
    assert repay(unpaid, 1, BEGAN).is_full
