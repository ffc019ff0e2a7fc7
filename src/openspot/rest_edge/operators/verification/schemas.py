"""Bodies of the operators' routes of verification."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from openspot.contracts.messages.message import DayText, TimeText
from openspot.http.validation import Body, ResponseBody, example
from openspot.rest_edge.funds.documents.schemas import KycDocumentResponse
from openspot.rest_edge.funds.documents.store import DOCUMENTS_SHOWN_MAX
from openspot.rest_edge.funds.kyc.schemas import LevelName, StatusName
from openspot.rest_edge.operators.schemas import Reason

Sha256 = Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9a-f]{64}$")]
SeenTime = Annotated[TimeText, StringConstraints(strict=True, max_length=40)]


class Decision(StrEnum):
    """What an operator decides: as the provider's answers, in the words of the platform."""

    APPROVE = "approve"
    HOLD = "hold"
    RETRY = "retry"
    """Refuse; the user may try again."""
    REJECT = "reject"
    """Refuse for good."""


class QueuedVerificationResponse(ResponseBody):
    """A verification. `reference` names the check; `documents` is how many the user has uploaded for it."""

    user_id: str
    level: LevelName
    status: StatusName
    requested_level: LevelName | None
    reference: str | None
    waits_since: TimeText
    has_information: bool
    documents: int


class InformationResponse(ResponseBody):
    """What the user stated."""

    first_name: str
    last_name: str
    date_of_birth: DayText
    country: str
    city: str
    street: str
    postal_code: str


class OperatedDocumentResponse(KycDocumentResponse):
    """A document that a user uploaded. `isOfThisCheck` says whether it belongs to the check that is open or newest."""

    is_of_this_check: bool


class VerificationResponse(ResponseBody):
    """One user's verification with what the user stated, null without any. Reading it stands in the trail.

    `documents` are those that the user uploaded last, the oldest first. A decision does not repeat them.
    """

    user_id: str
    level: LevelName
    status: StatusName
    requested_level: LevelName | None
    reference: str | None
    updated_at: TimeText | None
    information: InformationResponse | None
    documents: list[OperatedDocumentResponse]


class DecisionBody(Body):
    """The decision, and the level that it is about.

    `documents` are the SHA-256 of the documents of this check that the operator has seen, in any order. If the check
    has others by now, the decision is refused. Without it, it counts for whatever the check has. `updatedAt` is that of
    the verification as the operator has seen it: if it has changed by now, as when the user states another name or
    another operator decides, the decision is refused. Without it, it counts for whatever the user states.
    """

    model_config = example({"decision": "approve", "level": "verified", "reason": "passport and bill match"})

    decision: Decision
    level: Literal["basic", "verified"] = "verified"
    documents: Annotated[list[Sha256], Field(max_length=DOCUMENTS_SHOWN_MAX)] | None = None
    updated_at: SeenTime | None = None
    reason: Reason
