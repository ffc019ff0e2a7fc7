"""The routes of auth (facts B4.1-31 to B4.1-37)."""

from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller, context_of
from openspot.http.policy import Access, Policy, ThrottleClass
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.kit.clock import iso_of
from openspot.rest_edge.common.schemas import DoneResponse
from openspot.rest_edge.identity.activity.log import origin_of
from openspot.rest_edge.identity.auth.mail_proof import MailProof
from openspot.rest_edge.identity.auth.schemas import (
    ChallengeResponse,
    ForgotPasswordBody,
    LoginBody,
    LoginWithCodeBody,
    LogoutResponse,
    RefreshBody,
    RegisterBody,
    ResetPasswordBody,
    TokensResponse,
    UserResponse,
    VerifyEmailBody,
)
from openspot.rest_edge.identity.auth.service import AuthService

_VISITOR = Policy(Access.PUBLIC, audit=True)
_REGISTRATION = Policy(Access.PUBLIC, throttle=ThrottleClass.REGISTRATION, audit=True)
_SESSION = Policy(Access.USER, audit=True)
"""There is no scope: only a session's own token ends it, never an API key."""


def auth_routes(prefix: str, auth: AuthService, proof: MailProof) -> Router:
    """The routes of `/auth`, below `prefix`."""
    router = Router(f"{prefix}/auth", tag="auth")

    @router.post(
        "/register", _REGISTRATION, status=201, response=UserResponse,
        refusals={400: "the address or the password does not fit"},
        summary="Create a user; a taken address gets the same response, and its owner a mail",
    )  # fmt: skip
    async def register(body: RegisterBody) -> Response:
        user = await auth.register(body)
        response = UserResponse(
            user_id=user.user_id, email=user.email, role=user.role, created_at=iso_of(user.created_at)
        )
        return json_response(response.model_dump(by_alias=True), 201)

    @router.post(
        "/login", _VISITOR, response=TokensResponse | ChallengeResponse,
        refusals={401: "the address or the password is wrong", 429: "too many requests, or too many failed logins"},
        summary="Begin a session, or with MFA the first of two steps",
    )  # fmt: skip
    async def login(request: Request, body: LoginBody) -> Response:
        return json_response(await auth.login(body.email, body.password, origin_of(context_of(request))))

    @router.post(
        "/login/mfa", _VISITOR, response=TokensResponse,
        refusals={
            400: "the code is wrong, expired or was used before",
            401: "the challenge is unknown, expired, used or used up",
            429: "too many requests, or too many wrong codes",
        },
        summary="The second step of a login with MFA",
    )  # fmt: skip
    async def login_with_code(request: Request, body: LoginWithCodeBody) -> Response:
        origin = origin_of(context_of(request))
        return json_response(await auth.login_with_code(body.challenge_token, body.code, origin))

    @router.post(
        "/refresh", _VISITOR, response=TokensResponse,
        refusals={
            401: "the token is not valid, or was used before, which ends the session",
            429: "too many requests, or the session was refreshed too often: the token stays as good as it was",
        },
        summary="New tokens for a refresh token, which works once",
    )  # fmt: skip
    async def refresh(request: Request, body: RefreshBody) -> Response:
        return json_response(await auth.refresh(body.refresh_token, origin_of(context_of(request))))

    @router.post(
        "/logout", _SESSION, response=LogoutResponse, refusals={503: "not every process could be told: send it again"},
        summary="End the session: its refresh and access tokens work no more",
    )  # fmt: skip
    async def logout(request: Request) -> Response:
        await auth.logout(caller(request), origin_of(context_of(request)))
        return json_response({"success": True})

    @router.post(
        "/forgot-password", _REGISTRATION, status=202, response=DoneResponse,
        summary="Ask for a mail with a token that resets the password",
    )  # fmt: skip
    async def forgot_password(body: ForgotPasswordBody) -> Response:
        await proof.ask_for_reset(body.email)
        return json_response({"success": True}, 202)

    @router.post(
        "/reset-password", _VISITOR, response=DoneResponse,
        refusals={400: "the token is unknown, used or expired, or the password does not fit"},
        summary="Set a new password with a token from a mail, and end all sessions",
    )  # fmt: skip
    async def reset_password(request: Request, body: ResetPasswordBody) -> Response:
        await proof.reset(body.token, body.new_password, origin_of(context_of(request)))
        return json_response({"success": True})

    @router.post(
        "/verify-email", _VISITOR, response=DoneResponse, refusals={400: "the token is unknown, used or expired"},
        summary="Verify an email address with a token from a mail",
    )  # fmt: skip
    async def verify_email(request: Request, body: VerifyEmailBody) -> Response:
        await proof.verify(body.token, origin_of(context_of(request)))
        return json_response({"success": True})

    return router
