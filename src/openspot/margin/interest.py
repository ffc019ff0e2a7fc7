"""Interest of a margin loan: simple interest, exact, and independent of how often it is computed.

A loan's time consists of segments in which its principal does not change. After n minutes, a segment with principal P
and the yearly rate a/b has earned

    ⌊P · a · n / (b · 525600)⌋,

where every year has 365 days. No sum is carried from minute to minute: each scan computes the whole interest, and posts
the difference to the posted sum. So errors do not add up, and a missed scan changes nothing.

While a loan runs, only whole minutes count. A repayment ends the segment and counts the minute that has begun. The next
segment begins at the end of that minute, so every minute is charged once. A principal never grows, and a rate never
changes: a further amount, or an amount at another rate, is a new loan.
"""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple

MINUTES_OF_YEAR = 525_600
MINUTE_MS = 60_000
RATE_MAX = Decimal(10)
"""1,000 % a year."""


class InterestError(ValueError):
    """A loan cannot be changed in this way. The message names the field and the reason."""


class Rate(NamedTuple):
    """A yearly rate as an exact fraction: 5 % is 5/100, or 1/20."""

    numerator: int
    denominator: int


def yearly_rate(rate: Decimal) -> Rate:
    """The fraction of a decimal rate: 0.05 is 5 % a year. Raises InterestError unless it lies from 0 to 10."""
    if not rate.is_finite() or not 0 <= rate <= RATE_MAX:
        raise InterestError(f"rate must lie between 0 and {RATE_MAX}")
    return Rate(*rate.as_integer_ratio())


@dataclass(frozen=True, slots=True)
class LoanAccrual:
    """The debt of a loan. Amounts are integers at 18 places of the borrowed asset, times in ms since 1970.

    `principal` is valid since `segment_start`. `settled` is the interest of the ended segments, `posted`
    the interest that was posted to the ledger so far, `paid` the part of it that was repaid.
    """

    loan_id: str
    principal: int
    rate: Rate
    segment_start: int
    settled: int = 0
    posted: int = 0
    paid: int = 0

    def accrued(self, now: int) -> int:
        """All interest since the loan began, for whole minutes."""
        return self.settled + self._of_segment((now - self.segment_start) // MINUTE_MS)

    def due(self, now: int) -> int:
        """All interest since the loan began, with the minute that has begun."""
        return self.settled + self._of_segment(_started_minutes(now - self.segment_start))

    def owed(self, now: int) -> int:
        """The amount of a full repayment: principal and unpaid interest, with the minute that has begun."""
        return self.principal + max(self.due(now), self.posted) - self.paid

    def _of_segment(self, minutes: int) -> int:
        numerator, denominator = self.rate
        return self.principal * numerator * max(minutes, 0) // (denominator * MINUTES_OF_YEAR)


class InterestPosting(NamedTuple):
    """Interest to post. The id contains the sum that is posted already, so no two scans can post the same minutes."""

    posting_id: str
    amount: int


class Accrued(NamedTuple):
    """A loan after a scan, and the posting to make; None if there is no new interest."""

    loan: LoanAccrual
    posting: InterestPosting | None


class Repayment(NamedTuple):
    """A loan after a repayment, the posting to make first, how the amount was used, and its unused rest."""

    loan: LoanAccrual
    posting: InterestPosting | None
    interest: int
    principal: int
    unused: int

    @property
    def is_full(self) -> bool:
        """Whether the loan is fully repaid."""
        return self.loan.principal == 0 and self.loan.paid == self.loan.posted


def new_loan(loan_id: str, principal: int, rate: Rate, now: int) -> LoanAccrual:
    """A loan that begins now. Raises InterestError if the principal is not positive."""
    if principal <= 0:
        raise InterestError("principal must be positive")
    return LoanAccrual(loan_id, principal, rate, now)


def accrue(loan: LoanAccrual, now: int) -> Accrued:
    """The loan with the interest since the last posting. If the clock was set back, there is none."""
    return _post(loan, loan.accrued(now))


def repay(loan: LoanAccrual, amount: int, now: int) -> Repayment:
    """Use `amount` for the interest first, then for the principal.

    Raises InterestError if the amount is not positive or nothing is owed.
    """
    if amount <= 0:
        raise InterestError("amount must be positive")
    if loan.owed(now) == 0:
        raise InterestError("loan is repaid already")
    ended, posting = _end_segment(loan, now)
    interest = min(amount, ended.posted - ended.paid)
    principal = min(amount - interest, ended.principal)
    repaid = replace(ended, principal=ended.principal - principal, paid=ended.paid + interest)
    return Repayment(repaid, posting, interest, principal, amount - interest - principal)


def _end_segment(loan: LoanAccrual, now: int) -> Accrued:
    """End the segment at the end of the minute that has begun, and post all interest."""
    due = loan.due(now)
    minutes = _started_minutes(now - loan.segment_start)
    ended = replace(loan, settled=due, segment_start=loan.segment_start + minutes * MINUTE_MS)
    return _post(ended, due)


def _post(loan: LoanAccrual, total: int) -> Accrued:
    amount = total - loan.posted
    if amount <= 0:
        return Accrued(loan, None)
    posting = InterestPosting(f"{loan.loan_id}:interest:{loan.posted}", amount)
    return Accrued(replace(loan, posted=total), posting)


def _started_minutes(elapsed: int) -> int:
    return max(-(-elapsed // MINUTE_MS), 0)
