"""Who may decide on what another asked for. Pure."""

from collections.abc import Set
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from openspot.http.errors import HttpError


class ActionKind(StrEnum):
    """What needs two persons."""

    ADJUSTMENT = "adjustment"
    SECOND_FACTOR_RESET = "second_factor_reset"
    ACCOUNT_CLOSURE = "account_closure"
    HOUSE_TRANSFER = "house_transfer"
    """Its `user_id` is the account of the house that the money comes from."""

    ENGINE_ADJUSTMENTS = "engine_adjustments"
    """Book what the engine alone has. Its `user_id` is `house:external`, the other side of all of them."""

    HOUSE_FLOW = "house_flow"
    """Money of the house from or to outside. Its `user_id` is the account of the house."""

    @property
    def subject_kind(self) -> str:
        """What the trail calls the subject of such a request."""
        of_house = (ActionKind.HOUSE_TRANSFER, ActionKind.ENGINE_ADJUSTMENTS, ActionKind.HOUSE_FLOW)
        return "account" if self in of_house else "user"


class RequestStatus(StrEnum):
    """The state of a request. One that waits beyond `expires_at` can only be rejected."""

    WAITING = "waiting"
    APPROVED = "approved"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class OperatorRequest:
    """What an operator asked for. `detail` has the texts that the kind needs, by name."""

    request_id: str
    kind: ActionKind
    user_id: str
    detail: dict[str, str]
    reason: str
    requested_by: str
    requested_at: datetime
    expires_at: datetime
    status: RequestStatus = RequestStatus.WAITING
    decided_by: str | None = None
    decided_at: datetime | None = None
    decision_reason: str | None = None


def person_of(operator: str) -> str:
    """The person behind an operator's name, in small letters.

    A user is a participant of the engine under the same id. So `user:X` and `engine:X` are one person.
    """
    return operator.partition(":")[2].lower()


def require_other_person(operator: str, user_id: str, linked: Set[str] = frozenset()) -> None:
    """Raise HttpError (403) if the operator acts on an account of their own, or of one in `linked` with them.

    `linked` are the ids, in small letters, that belong to the same owner as the operator.
    """
    if user_id.lower() in linked | {person_of(operator)}:
        raise HttpError(403, "nobody acts on an account of their own", "OWN_ACCOUNT")


def require_decidable(request: OperatorRequest, operator: str, linked: Set[str], now: datetime) -> None:
    """Raise HttpError if `operator` must not approve the request now: 403 for the same person, 409 otherwise."""
    require_waiting(request)
    if now >= request.expires_at:
        raise HttpError(409, "the request has expired: ask for it anew", "REQUEST_EXPIRED")
    require_other_person(operator, request.user_id, linked)
    if person_of(request.requested_by) in linked | {person_of(operator)}:
        raise HttpError(403, "another person than the one who asked must approve", "SAME_PERSON")


def require_apart(requester: Set[str], made_together: Set[str]) -> None:
    """Raise HttpError (403) if an account of the requester is among those that the approver was made together with."""
    if requester & made_together:
        raise HttpError(
            403,
            "whoever asked gave you a role not long ago, or got one from you or from whoever gave you yours: somebody "
            "who is independent must approve",
            "ROLES_TOO_NEW",
        )


def require_waiting(request: OperatorRequest) -> None:
    """Raise HttpError (409) if the request is decided."""
    if request.status is not RequestStatus.WAITING:
        raise HttpError(409, f"the request is {request.status} already", "REQUEST_DECIDED")
