"""The rules of verification: how an event of the provider changes a user's state and level. Pure."""

from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import IntEnum, StrEnum

AGE_MIN = 18


class KycLevel(IntEnum):
    """The levels of verification."""

    NONE = 0
    BASIC = 1
    """The user has given basic information."""
    VERIFIED = 2
    """The provider has checked the documents."""


class KycState(StrEnum):
    """The state of a user's verification."""

    NOT_STARTED = "not_started"
    PENDING = "pending"
    ON_HOLD = "on_hold"
    APPROVED = "approved"
    RETRY = "retry"
    """The provider refused; the user may try again."""
    REJECTED = "rejected"
    """The provider refused for good."""


OPEN_STATES = (KycState.PENDING, KycState.ON_HOLD)
"""A check runs, and its documents may change."""
DECIDED_STATES = (KycState.APPROVED, KycState.RETRY, KycState.REJECTED)


class ReviewStatus(StrEnum):
    """The state of a review, in the provider's words."""

    INIT = "init"
    PENDING = "pending"
    ON_HOLD = "onHold"
    COMPLETED = "completed"


class ReviewAnswer(StrEnum):
    """The outcome of a completed review."""

    GREEN = "GREEN"
    RED = "RED"


class RejectType(StrEnum):
    """Whether a refused user may try again."""

    RETRY = "RETRY"
    FINAL = "FINAL"


@dataclass(frozen=True, slots=True)
class Standing:
    """A user's verification. `last_event_at` is the time of the newest event of the provider that was applied."""

    level: KycLevel
    status: KycState
    has_basic_information: bool
    last_event_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Review:
    """The content of an event of the provider."""

    level: KycLevel
    status: ReviewStatus
    answer: ReviewAnswer | None
    reject_type: RejectType | None
    created_at: datetime


def is_outdated(standing: Standing, review: Review) -> bool:
    """Whether a newer event was applied already: events may come late and in any order."""
    return standing.last_event_at is not None and review.created_at < standing.last_event_at


def reviewed(standing: Standing, review: Review) -> Standing:
    """The standing after an event that is not outdated. A later event may take an approval back."""
    status = _status(review)
    level = standing.level
    if status is KycState.APPROVED:
        level = max(level, review.level)
    elif status is KycState.REJECTED:
        level = KycLevel.NONE
    elif status is KycState.RETRY and level >= review.level:
        level = KycLevel(review.level - 1) if standing.has_basic_information else KycLevel.NONE
    return replace(standing, level=level, status=status, last_event_at=review.created_at)


def _status(review: Review) -> KycState:
    if review.status in (ReviewStatus.INIT, ReviewStatus.PENDING):
        return KycState.PENDING
    if review.status is ReviewStatus.ON_HOLD:
        return KycState.ON_HOLD
    if review.answer is ReviewAnswer.GREEN:
        return KycState.APPROVED
    return KycState.REJECTED if review.reject_type is RejectType.FINAL else KycState.RETRY


def is_of_age(born: date, today: date) -> bool:
    """Whether a person born on `born` is 18 years old on `today`. A birthday on 29 February counts on 1 March."""
    years = today.year - born.year - ((today.month, today.day) < (born.month, born.day))
    return years >= AGE_MIN
