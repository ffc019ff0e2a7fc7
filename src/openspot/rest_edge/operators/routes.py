"""The routes about operators: who calls, who else is one, and in which roles."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import operator
from openspot.http.operators import PERMISSIONS, OperatorRole
from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.rest_edge.operators.alerting.routes import operator_alert_routes
from openspot.rest_edge.operators.coins.routes import coin_network_routes
from openspot.rest_edge.operators.markets.routes import operator_market_routes
from openspot.rest_edge.operators.participants.routes import participant_routes
from openspot.rest_edge.operators.pauses.routes import pause_routes
from openspot.rest_edge.operators.processes.routes import process_routes
from openspot.rest_edge.operators.reports.routes import report_routes
from openspot.rest_edge.operators.roles import RolesChange
from openspot.rest_edge.operators.runs.routes import run_routes
from openspot.rest_edge.operators.schemas import (
    EndedSession,
    NewOperatorBody,
    OperatorResponse,
    OperatorSessionEntry,
    OperatorSessionResponse,
    ReasonBody,
    RoleDescription,
    RolesBody,
    RolesResponse,
)
from openspot.rest_edge.operators.service import OperatorServices
from openspot.rest_edge.operators.trail_routes import trail_routes

UserIdPath = Annotated[
    str, Path(description="Id of the user", alias="userId", min_length=1, max_length=64, pattern=r"^[A-Za-z0-9]+$")
]
SessionIdPath = Annotated[
    str, Path(description="Id of the session", alias="sessionId", max_length=64, pattern=r"^[A-Za-z0-9]+$")
]
_USE = Policy(Access.OPERATOR, permission=Permission.CONSOLE_USE)
_READ = Policy(Access.OPERATOR, permission=Permission.PERMISSIONS_READ)
_LOOK = Policy(Access.OPERATOR, permission=Permission.OPERATORS_READ)
_END = Policy(Access.OPERATOR, permission=Permission.OPERATORS_END_SESSIONS, audit=True)
_GRANT = Policy(Access.OPERATOR, permission=Permission.PERMISSIONS_GRANT, audit=True)


def operator_routes(prefix: str, services: OperatorServices) -> list[Router]:
    """The routes of `/operator`, below `prefix`."""
    router = Router(f"{prefix}/operator", tag="operators")
    operators = services.operators

    @router.get("/session", _USE, response=OperatorSessionResponse, summary="Who you are as an operator")
    async def get_operator_session(request: Request) -> Response:
        name, roles, permissions = operator(request)
        return json_response({"operator": name, "roles": sorted(roles), "permissions": sorted(permissions)})

    @router.get("/roles", _READ, response=list[RoleDescription], summary="Every role, and its permissions")
    async def list_operator_roles() -> Response:
        return json_response([{"role": role, "permissions": sorted(PERMISSIONS[role])} for role in OperatorRole])

    @router.get("/operators", _LOOK, response=list[OperatorResponse], summary="The users who are operators")
    async def list_operators() -> Response:
        return json_response([each.model_dump(by_alias=True) for each in await operators.all()])

    @router.post(
        "/operators", _GRANT, response=RolesResponse,
        refusals={
            400: "the body is not valid",
            404: "nobody is registered so: USER_NOT_FOUND",
            409: "the user is an operator already: ROLES_CHANGED; it is you: OWN_ROLES; or the user's e-mail address "
            "is not verified: EMAIL_NOT_VERIFIED",
        },
        summary="Make a user an operator",
    )  # fmt: skip
    async def add_operator(request: Request, body: NewOperatorBody) -> Response:
        return _reply(await operators.change(request, body.user, body.roles, body.reason, expected=()))

    @router.put(
        "/operators/{userId}/roles", _GRANT, response=RolesResponse,
        refusals={
            400: "the body is not valid",
            404: "there is no such user: USER_NOT_FOUND",
            409: "the roles are not the expected ones: ROLES_CHANGED; they are yours: OWN_ROLES; it would leave no "
            "administrator: LAST_ADMINISTRATOR; or a role is new and the user's e-mail address is not verified: "
            "EMAIL_NOT_VERIFIED",
        },
        summary="Change the roles of an operator; without any, the user's sessions end",
    )  # fmt: skip
    async def change_operator_roles(request: Request, user_id: UserIdPath, body: RolesBody) -> Response:
        return _reply(await operators.change(request, user_id, body.roles, body.reason, body.expected))

    @router.get(
        "/sessions", _LOOK, response=list[OperatorSessionEntry],
        summary="The sessions of users who are operators, the most recently used first",
    )  # fmt: skip
    async def list_operator_sessions(request: Request) -> Response:
        found = await services.session_list.all(request)
        return json_response([each.model_dump(by_alias=True) for each in found])

    @router.post(
        "/sessions/{sessionId}/end", _END, response=EndedSession,
        refusals={400: "the body is not valid", 404: "no operator has such a session: SESSION_NOT_FOUND"},
        summary="End a session of an operator, at once",
    )  # fmt: skip
    async def end_operator_session(request: Request, session_id: SessionIdPath, body: ReasonBody) -> Response:
        await services.session_list.end(request, session_id, body.reason)
        return json_response({"sessionId": session_id})

    return [
        router,
        trail_routes(prefix, services),
        operator_market_routes(prefix, services.markets),
        *participant_routes(prefix, services.participants, services.exports),
        coin_network_routes(prefix, services.coins),
        pause_routes(prefix, services.pauses),
        report_routes(prefix, services.reports),
        operator_alert_routes(prefix, services.alerts),
        process_routes(prefix, services.processes),
        run_routes(prefix, services.runs),
    ]


def _reply(change: RolesChange) -> Response:
    return json_response({"userId": change.user_id, "roles": sorted(change.after), "changed": change.is_new})
