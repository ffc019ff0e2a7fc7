"""Bodies and responses of the routes about operators."""

from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from openspot.contracts.messages.message import TimeText
from openspot.http.operators import OperatorRole
from openspot.http.policy import Permission
from openspot.http.validation import Body, ResponseBody, example, signed_decimal
from openspot.rest_edge.operators.trail import REASON_LENGTH_MAX, REASON_LENGTH_MIN

Reason = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True,
        min_length=REASON_LENGTH_MIN,
        max_length=REASON_LENGTH_MAX,
        pattern=r"^[^\x00-\x08\x0b-\x1f\x7f]*$",
    ),
]
"""Why an operator does something. The trail keeps it for ever, so it names nobody: ids stand for people."""


def _not_zero(value: object) -> Decimal:
    number = signed_decimal(value)
    if not number:
        raise PydanticCustomError("decimal", "must not be 0")
    return number


SignedAmount = Annotated[
    Decimal,
    BeforeValidator(_not_zero),
    WithJsonSchema({"type": "string", "pattern": r"^-?(?=.*[1-9])[0-9]+(\.[0-9]{1,18})?$", "examples": ["-0.5"]}),
]
"""What an account gets; below 0 what it gives. Never 0."""

RoleList = Annotated[list[OperatorRole], Field(max_length=len(OperatorRole))]


class ReasonBody(Body):
    """Why: the trail of operators keeps it."""

    model_config = example({"reason": "left the team"})

    reason: Reason


class NewOperatorBody(Body):
    """A registered user, by id or e-mail address, who becomes an operator with these roles; and why."""

    model_config = example({"user": "ada@example.org", "roles": ["SUPPORT"], "reason": "joined the support team"})

    user: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=254, pattern=r"^[^\x00-\x1f\x7f]+$")
    ]
    roles: Annotated[RoleList, Field(min_length=1)]
    reason: Reason


class RolesBody(Body):
    """The roles that an operator has from now on: none ends that. `expected` are those that the caller has seen."""

    model_config = example({"roles": ["SUPPORT", "TREASURY"], "expected": ["SUPPORT"], "reason": "covers for a week"})

    roles: RoleList
    expected: RoleList
    reason: Reason


class OperatorSessionResponse(ResponseBody):
    """Who calls, as operator: the name in the trail, the roles, and the permissions of all roles together.

    A session with the engine has no roles, and every permission.
    """

    operator: str
    roles: list[OperatorRole]
    permissions: list[Permission]


class RoleDescription(ResponseBody):
    """A role, and what it may do."""

    role: OperatorRole
    permissions: list[Permission]


class OperatorResponse(ResponseBody):
    """A user who is an operator. The roles open nothing before the user has a second factor."""

    user_id: str
    email: str
    display_name: str | None
    roles: list[OperatorRole]
    second_factor: bool
    changed_at: TimeText


class OperatorSessionEntry(ResponseBody):
    """A session of a user who is an operator. `current` is the caller's own."""

    session_id: str
    user_id: str
    email: str
    current: bool
    address: str
    user_agent: str
    created_at: TimeText
    last_used_at: TimeText
    expires_at: TimeText


class EndedSession(ResponseBody):
    """The session that was ended."""

    session_id: str


class TrailEntry(ResponseBody):
    """What an operator did. `address` is null where it was erased with the operator's account.

    `before` and `after` are the fields that changed.
    """

    number: int
    time: TimeText
    operator: str
    action: str
    subject_kind: str
    subject_id: str
    reason: str
    before: dict[str, str | None]
    after: dict[str, str | None]
    request_id: str
    address: str | None
    hash: str


class RolesResponse(ResponseBody):
    """The roles of a user now. `changed` is false if they were the same before."""

    user_id: str
    roles: list[OperatorRole]
    changed: bool
