"""Bodies of the operators' routes of users."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from openspot.contracts.messages.message import DecimalText, TimeText
from openspot.http.validation import Body, ResponseBody, example
from openspot.rest_edge.funds.kyc.schemas import LevelName, StatusName
from openspot.rest_edge.operators.schemas import Reason
from openspot.rest_edge.operators.users.store import LockKind
from openspot.rest_edge.orders.schemas import OwnTrade

NOTE_LENGTH_MAX = 2000


def _readable(text: str) -> str:
    if not all(letter.isprintable() or letter == "\n" for letter in text):
        raise ValueError("must be printable text")
    return text


class FoundUserResponse(ResponseBody):
    """A user in a list. `email` is null if the account is deleted. `foundBy` says what of the user was found."""

    user_id: str
    email: str | None
    display_name: str | None
    created_at: TimeText | None
    locks: list[LockKind]
    found_by: str


class FoundUsersResponse(ResponseBody):
    """The users whom a search found. `complete` is false if there are more: be more precise."""

    users: list[FoundUserResponse]
    complete: bool


class LockResponse(ResponseBody):
    """A lock that is on, who locked, and why."""

    kind: LockKind
    reason: str
    locked_by: str
    locked_at: TimeText


class UserLimitsResponse(ResponseBody):
    """A user's own limits; null where the limit of the level or of the plan holds."""

    daily_withdrawal_usd: int | None
    api_keys: int | None
    saved_addresses: int | None


class UserOverviewResponse(ResponseBody):
    """One user. Times are ISO 8601 in UTC. `marginAccounts` are the ids of all that the user has had, newest first.

    `isOperator` says that the user has a role of operators: administrators alone lock and unlock such a user, end
    sessions, and reset the second factor.
    """

    user_id: str
    email: str
    email_verified_at: TimeText | None
    display_name: str | None
    language: str | None
    time_zone: str | None
    role: Literal["user", "admin"]
    is_operator: bool
    created_at: TimeText
    second_factor_since: TimeText | None
    verification_level: LevelName
    verification_status: StatusName
    verification_changed_at: TimeText | None
    plan: str | None
    locks: list[LockResponse]
    limits: UserLimitsResponse
    margin_accounts: list[str]


class ClosureResponse(ResponseBody):
    """Who asked for the closure of an account and why, and who approved it and why."""

    requested_by: str
    reason: str
    approved_by: str
    approval_reason: str


class ClosedUserResponse(ResponseBody):
    """A closed account. What was personal is erased; orders, trades and movements of money stay under its id.

    `closure` is null if the user closed the account.
    """

    user_id: str
    closed_at: TimeText
    closure: ClosureResponse | None
    margin_accounts: list[str]


class SideBySideResponse(ResponseBody):
    """One asset of an account at the engine and in the ledger; null where that side did not respond.

    `difference` is the ledger's total less the engine's. It is not 0 while the ledger follows; what stays is found by
    `openspot reconcile`.
    """

    account: str
    asset: str
    engine_total: DecimalText | None
    engine_available: DecimalText | None
    ledger_total: DecimalText | None
    ledger_available: DecimalText | None
    difference: DecimalText | None


class UserTrade(OwnTrade, frozen=True):
    """A trade of a user, with the account whose order it was: the user's id, or the id of a margin account."""

    account: str


class NoteBody(Body):
    """A note about a user, for other operators. The user does not see it; it goes when the account is deleted."""

    model_config = example({"text": "Called on 3 May: lost the phone with the authenticator app."})

    text: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=NOTE_LENGTH_MAX),
        AfterValidator(_readable),
    ]


class NoteResponse(ResponseBody):
    """A note of support."""

    id: int
    author: str
    text: str
    created_at: TimeText


class LimitsBody(Body):
    """A user's own limits. Null gives the user the platform's again; 0 withdraws nothing."""

    model_config = example(
        {"dailyWithdrawalUsd": 50_000, "apiKeys": None, "savedAddresses": None, "reason": "documents seen"}
    )

    daily_withdrawal_usd: Annotated[int, Field(ge=0, le=10**12, strict=True)] | None = None
    api_keys: Annotated[int, Field(ge=0, le=1000, strict=True)] | None = None
    saved_addresses: Annotated[int, Field(ge=0, le=1000, strict=True)] | None = None
    reason: Reason


class MailBody(Body):
    """Which mail the user gets again."""

    model_config = example({"kind": "verify_email", "reason": "the user did not get it"})

    kind: Literal["verify_email", "reset_password"]
    reason: Reason


class RevokedKeysResponse(ResponseBody):
    """The ids of the API keys that are revoked now."""

    revoked: list[str]


class EndedSessionsResponse(ResponseBody):
    """How many sessions were ended."""

    ended: int
