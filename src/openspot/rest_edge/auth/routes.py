"""Paths of auth (Document B 4.1)."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from openspot.rest_edge.answers import ExactRoute, json_response, refusals
from openspot.rest_edge.auth.schemas import (
    LoginBody,
    LogoutAnswer,
    RefreshBody,
    RegisterBody,
    TokensAnswer,
    UserAnswer,
)
from openspot.rest_edge.auth.service import AuthService
from openspot.rest_edge.authentication import required_identity
from openspot.rest_edge.context import context_of


def auth_routes(auth: AuthService) -> APIRouter:
    """The routes below `/auth`."""
    router = APIRouter(prefix="/auth", tags=["auth"], route_class=ExactRoute)

    @router.post(
        "/register", status_code=201, response_model=UserAnswer,
        responses=refusals(_400="the address or the password does not fit", _409="the address is taken"),
        summary="Create a user",
    )  # fmt: skip
    async def register(body: RegisterBody) -> Response:
        user = await auth.register(body)
        answer = UserAnswer(user_id=user.user_id, email=user.email, role=user.role, created_at=user.created_at_iso)
        return json_response(answer.model_dump(by_alias=True), 201)

    @router.post(
        "/login", response_model=TokensAnswer,
        responses=refusals(_401="the address or the password is wrong", _429="too many failed logins"),
        summary="Begin a session",
    )  # fmt: skip
    async def login(request: Request, body: LoginBody) -> Response:
        address = context_of(request).address
        return json_response(await auth.login(body.email, body.password, address))

    @router.post(
        "/refresh", response_model=TokensAnswer,
        responses=refusals(_401="the token is not valid, or was used before, which ends the session"),
        summary="New tokens for a refresh token, which works once",
    )  # fmt: skip
    async def refresh(body: RefreshBody) -> Response:
        return json_response(await auth.refresh(body.refresh_token))

    @router.post(
        "/logout", response_model=LogoutAnswer,
        responses=refusals(_503="not every process could be told: send it again"),
        summary="End the session: its refresh and access tokens work no more",
    )  # fmt: skip
    async def logout(request: Request) -> Response:
        await auth.logout(required_identity(context_of(request)))
        return json_response({"success": True})

    return router
