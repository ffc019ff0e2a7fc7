"""The route with which an administrator makes others administrators, and ends that."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller, context_of
from openspot.http.errors import HttpError
from openspot.http.policy import Access, Policy
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.rest_edge.identity.activity.log import origin_of
from openspot.rest_edge.identity.second_factor.code_check import SecondFactor
from openspot.rest_edge.identity.sessions.ended_sessions import EndedSessions
from openspot.rest_edge.identity.users.roles import Roles
from openspot.rest_edge.identity.users.schemas import RoleBody, RoleResponse

UserPath = Annotated[
    str, Path(description="Id of the user", alias="userId", min_length=1, max_length=64, pattern=r"^[A-Za-z0-9]+$")
]


def role_routes(prefix: str, roles: Roles, ended: EndedSessions, second_factor: SecondFactor) -> Router:
    """`/users/{userId}/role`, below `prefix`."""
    router = Router(f"{prefix}/users", tag="users")

    @router.put(
        "/{userId}/role", Policy(Access.ADMIN, audit=True), response=RoleResponse,
        refusals={
            400: "the code is wrong",
            401: "no valid credential, or MFA_REQUIRED: the code is missing",
            404: "there is no such user",
            409: "it is your own role",
        },
        summary="Make a user an administrator, or end that together with the user's sessions",
    )  # fmt: skip
    async def change_role(request: Request, user_id: UserPath, body: RoleBody) -> Response:
        context = context_of(request)
        administrator, origin = caller(request), origin_of(context)
        if user_id == administrator.user_id:
            raise HttpError(409, "your own role is changed by another administrator or by the operator", "OWN_ROLE")
        await second_factor.require(administrator.user_id, body.mfa_code, origin)
        change = await roles.change(user_id, body.role)
        if change is None:
            raise HttpError(404, f"user {user_id} not found", "USER_NOT_FOUND")
        await ended.end_as_far_as_possible(change.ended)
        return json_response({"userId": change.user_id, "role": change.role, "changed": change.is_new})

    return router
