"""Says who is to decide on a withdrawal.

It is a division of work, and no rule: custody takes the decision of everybody who may decide, and its two persons stay
two. Decisions themselves are custody's.
"""

from collections.abc import Callable
from datetime import datetime

from openspot.http.errors import HttpError
from openspot.http.operators import PERMISSIONS, OperatorRole
from openspot.http.policy import Permission
from openspot.kit.clock import iso_of
from openspot.kit.database import Connection, Pool
from openspot.rest_edge.operators.acting import Acting, record
from openspot.rest_edge.operators.assignments import store
from openspot.rest_edge.operators.assignments.schemas import AssigneeBody, AssigneeResponse, AssignmentResponse
from openspot.rest_edge.operators.pending.rules import require_other_person
from openspot.rest_edge.operators.pending.store import linked_with

_DECIDING = frozenset({Permission.WITHDRAWALS_APPROVE, Permission.WITHDRAWALS_REJECT, Permission.WITHDRAWALS_SIGN})
DECIDERS = frozenset(role for role in OperatorRole if PERMISSIONS[role] & _DECIDING)
"""The roles that may decide on a withdrawal in some way."""


class Assignments:
    """Who is to decide on withdrawals. Methods raise HttpError."""

    def __init__(self, pool: Pool, now: Callable[[], datetime]) -> None:
        self._pool = pool
        self._now = now

    async def deciders(self) -> list[AssigneeResponse]:
        """The users whose roles let them decide, by e-mail address, with how many open withdrawals each has."""
        return [
            AssigneeResponse(
                operator=f"user:{row['user_id']}",
                email=row["email"],
                display_name=row["display_name"],
                assigned=row["assigned"],
            )
            for row in await store.deciders(self._pool, DECIDERS)
        ]

    async def assign(self, withdrawal_id: str, body: AssigneeBody, acting: Acting) -> AssignmentResponse:
        """Let an operator decide on a withdrawal, or nobody.

        404 for an unknown withdrawal; 409 `WITHDRAWAL_SETTLED`, `ASSIGNEE_CHANGED` if another than the expected one is
        to decide, `ASSIGNEE_CANNOT_DECIDE` if the roles of the new one do not allow it or the withdrawal is their own.
        """
        name, now = acting.operator.name, self._now()
        async with self._pool.acquire() as connection, connection.transaction():
            found = await store.withdrawal(connection, withdrawal_id)
            if found is None:
                raise HttpError(404, f"withdrawal {withdrawal_id} not found", "WITHDRAWAL_NOT_FOUND")
            before = await store.assignee_of(connection, withdrawal_id)
            if before != body.expected and before != body.assignee:
                message = f"expected: {before or 'nobody'} is to decide on it meanwhile"
                raise HttpError(409, message, "ASSIGNEE_CHANGED")
            if before != body.assignee:
                if found["is_settled"]:
                    raise HttpError(409, "the withdrawal is settled: nobody decides on it", "WITHDRAWAL_SETTLED")
                if body.assignee is not None:
                    await self._require_decider(connection, body.assignee, name, found["user_id"])
                await store.assign(connection, withdrawal_id, body.assignee, name, now)
                await record(
                    connection, acting, "withdrawal.assigned", "withdrawal", withdrawal_id,
                    {"assignee": before}, {"assignee": body.assignee},
                )  # fmt: skip
        return AssignmentResponse(
            withdrawal_id=withdrawal_id, assignee=body.assignee, assigned_by=name, assigned_at=iso_of(now)
        )

    async def _require_decider(self, connection: Connection, assignee: str, caller: str, owner: str) -> None:
        """409 unless the operator may decide on a withdrawal of `owner`. A participant can take it over alone."""
        kind, _, user_id = assignee.partition(":")
        if kind == "engine" and assignee != caller:
            message = "assignee: a participant of the engine takes it over by itself"
            raise HttpError(409, message, "ASSIGNEE_CANNOT_DECIDE")
        if kind == "user" and not await store.has_role(connection, user_id, DECIDERS):
            message = f"assignee: the roles of {assignee} decide on no withdrawal"
            raise HttpError(409, message, "ASSIGNEE_CANNOT_DECIDE")
        try:
            require_other_person(assignee, owner, await linked_with(connection, assignee))
        except HttpError as error:
            message = "assignee: nobody decides on a withdrawal of their own"
            raise HttpError(409, message, "ASSIGNEE_CANNOT_DECIDE") from error
