"""Bodies of verification."""

from typing import Annotated, Literal, Self

from pydantic import StringConstraints, model_validator

from openspot.contracts.messages.message import DecimalText, TimeText
from openspot.http.validation import (
    Body,
    Day,
    IsoUtcDatetime,
    ParticipantId,
    PrintableText,
    ResponseBody,
    example,
    rule_broken,
)
from openspot.rest_edge.funds.kyc.rules import KycLevel, RejectType, Review, ReviewAnswer, ReviewStatus

LevelName = Literal["none", "basic", "verified"]
StatusName = Literal["not_started", "pending", "on_hold", "approved", "retry", "rejected"]
LEVELS: dict[str, KycLevel] = {"none": KycLevel.NONE, "basic": KycLevel.BASIC, "verified": KycLevel.VERIFIED}
NAMES: dict[KycLevel, LevelName] = {KycLevel.NONE: "none", KycLevel.BASIC: "basic", KycLevel.VERIFIED: "verified"}

Text = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$")
]


class BasicInformationBody(Body):
    """The caller's personal information. `country` is ISO 3166-1, two letters."""

    model_config = example(
        {
            "firstName": "Ada",
            "lastName": "Lovelace",
            "dateOfBirth": "1990-12-10",
            "country": "GB",
            "city": "London",
            "street": "12 St James's Square",
            "postalCode": "SW1Y 4JH",
        }
    )

    first_name: Text
    last_name: Text
    date_of_birth: Day
    country: Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]
    city: Text
    street: Text
    postal_code: Text


class StartBody(Body):
    """The level to reach by the provider's check."""

    model_config = example({"level": "verified"})

    level: Literal["verified"] = "verified"


class KycStatusResponse(ResponseBody):
    """The caller's verification. `dailyWithdrawalLimit` is in US dollars; `updatedAt` is ISO 8601 in UTC."""

    level: LevelName
    status: StatusName
    requested_level: LevelName | None
    has_basic_information: bool
    daily_withdrawal_limit: DecimalText
    updated_at: TimeText | None


class KycSessionResponse(ResponseBody):
    """A check that has begun. Continue at `url`, which is null if the provider has no page."""

    reference: str
    provider: str
    status: StatusName
    level: LevelName
    url: str | None
    instructions: str


class KycEventBody(Body):
    """An event of the provider."""

    model_config = example(
        {
            "eventId": "evt-1",
            "userId": "Xr7mGk2pQwHb4TnC",
            "level": "verified",
            "reviewStatus": "completed",
            "reviewAnswer": "GREEN",
            "createdAt": "2026-01-02T03:04:05.678Z",
        }
    )

    event_id: Annotated[str, StringConstraints(min_length=1, max_length=128), PrintableText]
    user_id: ParticipantId
    level: Literal["basic", "verified"]
    review_status: ReviewStatus
    review_answer: ReviewAnswer | None = None
    reject_type: RejectType | None = None
    created_at: IsoUtcDatetime

    @model_validator(mode="after")
    def _check_completed(self) -> Self:
        if self.review_status is ReviewStatus.COMPLETED and self.review_answer is None:
            raise rule_broken("reviewAnswer is required for a completed review")
        return self

    def review(self) -> Review:
        """The content of the event."""
        return Review(LEVELS[self.level], self.review_status, self.review_answer, self.reject_type, self.created_at)


class KycEventResponse(ResponseBody):
    """The event was received. `applied` is false if it is a repetition, is outdated, or names an unknown user."""

    received: bool
    applied: bool
