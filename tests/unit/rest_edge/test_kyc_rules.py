"""What an event of the provider means for a user's verification."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from openspot.http.errors import HttpError
from openspot.rest_edge.common.payload_digest import is_signed, payload_digest
from openspot.rest_edge.funds.kyc.rules import (
    KycLevel,
    KycState,
    RejectType,
    Review,
    ReviewAnswer,
    ReviewStatus,
    Standing,
    is_of_age,
    is_outdated,
    reviewed,
)
from openspot.rest_edge.funds.withdrawals.limits import limit_in_cents

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
BASIC = Standing(KycLevel.BASIC, KycState.PENDING, True)
GREEN, RED = ReviewAnswer.GREEN, ReviewAnswer.RED
COMPLETED = ReviewStatus.COMPLETED


def event(status: ReviewStatus, answer: ReviewAnswer | None = None, reject: RejectType | None = None) -> Review:
    return Review(KycLevel.VERIFIED, status, answer, reject, NOON)


@pytest.mark.parametrize(
    ("review", "status", "level"),
    [
        (event(ReviewStatus.INIT), KycState.PENDING, KycLevel.BASIC),
        (event(ReviewStatus.PENDING), KycState.PENDING, KycLevel.BASIC),
        (event(ReviewStatus.ON_HOLD), KycState.ON_HOLD, KycLevel.BASIC),
        (event(COMPLETED, GREEN), KycState.APPROVED, KycLevel.VERIFIED),
        (event(COMPLETED, RED, RejectType.RETRY), KycState.RETRY, KycLevel.BASIC),
        (event(COMPLETED, RED), KycState.RETRY, KycLevel.BASIC),
        (event(COMPLETED, RED, RejectType.FINAL), KycState.REJECTED, KycLevel.NONE),
    ],
)
def test_an_event_decides_status_and_level(review: Review, status: KycState, level: KycLevel) -> None:
    after = reviewed(BASIC, review)
    assert (after.status, after.level, after.last_event_at) == (status, level, NOON)


def test_an_approval_that_is_taken_back_lowers_the_level() -> None:
    approved = reviewed(BASIC, event(COMPLETED, GREEN))
    assert reviewed(approved, event(COMPLETED, RED, RejectType.RETRY)).level is KycLevel.BASIC
    without = replace(approved, has_basic_information=False)
    assert reviewed(without, event(COMPLETED, RED, RejectType.RETRY)).level is KycLevel.NONE
    assert reviewed(approved, event(ReviewStatus.ON_HOLD)).level is KycLevel.VERIFIED


@pytest.mark.parametrize(("earlier_ms", "outdated"), [(1, True), (0, False), (-1, False)])
def test_only_an_event_older_than_the_newest_is_outdated(earlier_ms: int, outdated: bool) -> None:
    standing = replace(BASIC, last_event_at=NOON + timedelta(milliseconds=earlier_ms))
    assert is_outdated(standing, event(COMPLETED, GREEN)) is outdated
    assert not is_outdated(BASIC, event(COMPLETED, GREEN))


@pytest.mark.parametrize(
    ("born", "of_age"),
    [
        (date(2008, 11, 22), True),
        (date(2008, 11, 23), False),
        (date(2008, 11, 21), True),
        (date(2009, 1, 1), False),
    ],
)
def test_eighteen_years_are_counted_to_the_day(born: date, of_age: bool) -> None:
    assert is_of_age(born, date(2026, 11, 22)) is of_age


def test_born_on_the_29th_of_february_counts_on_the_first_of_march() -> None:
    assert not is_of_age(date(2008, 2, 29), date(2026, 2, 28))
    assert is_of_age(date(2008, 2, 29), date(2026, 3, 1))


@pytest.mark.spec("A5-33", "A5-34")
def test_a_digest_holds_for_its_body_and_secret_only() -> None:
    # RFC 4231, test case 2.
    known = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    body = b"what do ya want for nothing?"
    assert payload_digest("Jefe", body) == known
    assert is_signed("Jefe", body, known)
    assert is_signed("Jefe", body, known.upper())
    for digest in (None, "", known[:-1], known + "0", "é" * 64, "0" * 64):
        assert not is_signed("Jefe", body, digest)
    assert not is_signed("Jefe", body + b" ", known)
    assert not is_signed("jefe", body, known)


def test_a_level_has_its_limit_and_says_which_level_is_needed() -> None:
    limits = (0, 10_000, 1_000_000)
    assert limit_in_cents(1, limits) == 1_000_000
    assert limit_in_cents(2, limits) == 100_000_000
    with pytest.raises(HttpError) as refused:
        limit_in_cents(0, limits)
    assert (refused.value.code, refused.value.details) == ("KYC_REQUIRED", {"level": "none", "needed": "basic"})
    with pytest.raises(HttpError, match="turned off"):
        limit_in_cents(2, (0, 0, 0))
