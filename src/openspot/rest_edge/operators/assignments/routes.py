"""The routes that say who is to decide on a withdrawal: `/operator/withdrawals/…`."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import json_response, respond
from openspot.http.routing import Router
from openspot.rest_edge.operators.acting import acting
from openspot.rest_edge.operators.assignments.schemas import AssigneeBody, AssigneeResponse, AssignmentResponse
from openspot.rest_edge.operators.assignments.service import Assignments

WithdrawalPath = Annotated[str, Path(alias="id", pattern="^[A-Za-z0-9_-]{1,64}$", description="Id of the withdrawal")]
_READ = Policy(Access.OPERATOR, permission=Permission.WITHDRAWALS_READ)
_ASSIGN = Policy(Access.OPERATOR, permission=Permission.WITHDRAWALS_ASSIGN, audit=True)


def assignment_routes(prefix: str, assignments: Assignments) -> Router:
    """The routes, below `prefix`."""
    router = Router(f"{prefix}/operator/withdrawals", tag="operator")

    @router.get(
        "/assignees", _READ, response=list[AssigneeResponse],
        summary="The users who can be asked to decide on withdrawals",
    )  # fmt: skip
    async def list_withdrawal_assignees() -> Response:
        return json_response([each.model_dump(by_alias=True) for each in await assignments.deciders()])

    @router.put(
        "/{id}/assignee", _ASSIGN, response=AssignmentResponse,
        refusals={
            400: "the body is not valid",
            404: "there is no such withdrawal: WITHDRAWAL_NOT_FOUND",
            409: "another is to decide meanwhile: ASSIGNEE_CHANGED, the assignee may not: ASSIGNEE_CANNOT_DECIDE, or "
            "it is settled: WITHDRAWAL_SETTLED",
        },
        summary="Say who is to decide on a withdrawal; everybody who may decide still can",
    )  # fmt: skip
    async def assign_withdrawal(request: Request, withdrawal_id: WithdrawalPath, body: AssigneeBody) -> Response:
        return respond(await assignments.assign(withdrawal_id, body, acting(request, body.reason)))

    return router
