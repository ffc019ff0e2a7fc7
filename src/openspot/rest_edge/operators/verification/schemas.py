"""Bodies of the operators' routes of verification."""

from enum import StrEnum
from typing import Literal

from openspot.contracts.messages.message import DayText, TimeText
from openspot.http.validation import Body, ResponseBody, example
from openspot.rest_edge.funds.kyc.schemas import LevelName, StatusName
from openspot.rest_edge.operators.schemas import Reason


class Decision(StrEnum):
    """What an operator decides: as the provider's answers, in the words of the platform."""

    APPROVE = "approve"
    HOLD = "hold"
    RETRY = "retry"
    """Refuse; the user may try again."""
    REJECT = "reject"
    """Refuse for good."""


class QueuedVerificationResponse(ResponseBody):
    """A verification. `reference` names the provider's check, where the documents are."""

    user_id: str
    level: LevelName
    status: StatusName
    requested_level: LevelName | None
    reference: str | None
    waits_since: TimeText
    has_information: bool


class InformationResponse(ResponseBody):
    """What the user stated."""

    first_name: str
    last_name: str
    date_of_birth: DayText
    country: str
    city: str
    street: str
    postal_code: str


class VerificationResponse(ResponseBody):
    """One user's verification with what the user stated, null without any. Reading it stands in the trail."""

    user_id: str
    level: LevelName
    status: StatusName
    requested_level: LevelName | None
    reference: str | None
    updated_at: TimeText | None
    information: InformationResponse | None


class DecisionBody(Body):
    """The decision, and the level that it is about."""

    model_config = example({"decision": "approve", "level": "verified", "reason": "passport and bill match"})

    decision: Decision
    level: Literal["basic", "verified"] = "verified"
    reason: Reason
