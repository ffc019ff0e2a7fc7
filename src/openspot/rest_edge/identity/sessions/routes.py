"""The routes of a user's sessions: `/users/me/sessions` (fact B4.1-38)."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller, context_of
from openspot.http.policy import Access, Policy
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.rest_edge.common.schemas import DoneResponse
from openspot.rest_edge.identity.activity.log import origin_of
from openspot.rest_edge.identity.sessions.schemas import SessionsEndedResponse, UserSessionResponse
from openspot.rest_edge.identity.sessions.session_list import SessionList

SessionPath = Annotated[
    str,
    Path(description="Id of the session", alias="sessionId", min_length=1, max_length=64, pattern=r"^[A-Za-z0-9]+$"),
]

_READ = Policy(Access.USER)
_CHANGE = Policy(Access.USER, audit=True)
"""There is no scope: API keys have no access to personal data."""


def session_routes(prefix: str, sessions: SessionList) -> Router:
    """The routes of `/users/me/sessions`, below `prefix`."""
    router = Router(f"{prefix}/users/me/sessions", tag="users")

    @router.get("", _READ, response=list[UserSessionResponse], summary="Your sessions, the last used first")
    async def list_sessions(request: Request) -> Response:
        found = await sessions.all_of(caller(request))
        return json_response([session.model_dump(by_alias=True) for session in found])

    @router.delete("", _CHANGE, response=SessionsEndedResponse, summary="End every session but this one")
    async def end_other_sessions(request: Request) -> Response:
        ended = await sessions.end_others(caller(request), origin_of(context_of(request)))
        return json_response({"ended": ended})

    @router.delete(
        "/{sessionId}", _CHANGE, response=DoneResponse, refusals={404: "you have no such session"},
        summary="End one session",
    )  # fmt: skip
    async def end_session(request: Request, session_id: SessionPath) -> Response:
        await sessions.end(caller(request).user_id, session_id, origin_of(context_of(request)))
        return json_response({"success": True})

    return router
