"""The operators' routes that change something of a user: `/operator/users/{userId}/…`. Each takes a reason."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import json_response, respond
from openspot.http.routing import Router
from openspot.rest_edge.common.schemas import DoneResponse
from openspot.rest_edge.common.user_limits import UserLimits
from openspot.rest_edge.identity.api_keys.routes import KeyIdPath
from openspot.rest_edge.mail.texts import MailKind
from openspot.rest_edge.operators.acting import acting
from openspot.rest_edge.operators.pending.schemas import OperatorRequestResponse
from openspot.rest_edge.operators.schemas import ReasonBody
from openspot.rest_edge.operators.user_parameters import UserPath
from openspot.rest_edge.operators.users.schemas import (
    EndedSessionsResponse,
    LimitsBody,
    LockResponse,
    MailBody,
    NoteBody,
    NoteResponse,
    RevokedKeysResponse,
    UserLimitsResponse,
)
from openspot.rest_edge.operators.users.service import OperatedUsers
from openspot.rest_edge.operators.users.store import LockKind
from openspot.rest_edge.operators.users.two_persons import AccountClosure, SecondFactorReset

SessionPath = Annotated[
    str, Path(alias="sessionId", pattern=r"^[A-Za-z0-9]{1,64}$", description="Id of one of the user's sessions")
]
NOTE_REASON = "noted"
"""A note is its own reason."""
_UNTOLD = {503: "the keys are revoked, but not every process could be told: send it again"}
_UNKNOWN = {403: "the permission is missing, or it is your own account", 404: "there is no such user"}
_OUT_OF_REACH = {403: f"{_UNKNOWN[403]}, or USER_IS_OPERATOR: administrators alone do this to operators"}


def _change(permission: Permission) -> Policy:
    return Policy(Access.OPERATOR, permission=permission, audit=True)


def user_change_routes(prefix: str, users: OperatedUsers, reset: SecondFactorReset, closure: AccountClosure) -> Router:
    """The routes of `/operator/users/{userId}` that change something, below `prefix`."""
    router = Router(f"{prefix}/operator/users", tag="operator")
    for kind, permission in (
        (LockKind.LOGIN, Permission.USERS_LOCK_LOGIN),
        (LockKind.WITHDRAWALS, Permission.USERS_LOCK_WITHDRAWALS),
    ):
        _lock_routes(router, users, kind, permission)

    @router.delete(
        "/{userId}/sessions", _change(Permission.SESSIONS_END_ANY), response=EndedSessionsResponse,
        refusals=_UNKNOWN | _OUT_OF_REACH, summary="End all sessions of a user",
    )  # fmt: skip
    async def end_user_sessions(request: Request, user_id: UserPath, body: ReasonBody) -> Response:
        return json_response({"ended": await users.end_sessions(user_id, acting(request, body.reason))})

    @router.delete(
        "/{userId}/sessions/{sessionId}", _change(Permission.SESSIONS_END_ANY), response=EndedSessionsResponse,
        refusals=_OUT_OF_REACH | {404: "there is no such user or session"}, summary="End one session of a user",
    )  # fmt: skip
    async def end_user_session(
        request: Request, user_id: UserPath, session_id: SessionPath, body: ReasonBody
    ) -> Response:
        return json_response({"ended": await users.end_sessions(user_id, acting(request, body.reason), session_id)})

    @router.delete(
        "/{userId}/api-keys", _change(Permission.API_KEYS_REVOKE_ANY), response=RevokedKeysResponse,
        refusals=_UNKNOWN | _UNTOLD, summary="Revoke all API keys of a user",
    )  # fmt: skip
    async def revoke_user_api_keys(request: Request, user_id: UserPath, body: ReasonBody) -> Response:
        return json_response({"revoked": await users.revoke_keys(user_id, acting(request, body.reason))})

    @router.delete(
        "/{userId}/api-keys/{id}", _change(Permission.API_KEYS_REVOKE_ANY), response=RevokedKeysResponse,
        refusals=_UNKNOWN | _UNTOLD | {404: "there is no such user or key"}, summary="Revoke an API key of a user",
    )  # fmt: skip
    async def revoke_user_api_key(request: Request, user_id: UserPath, key_id: KeyIdPath, body: ReasonBody) -> Response:
        return json_response({"revoked": await users.revoke_keys(user_id, acting(request, body.reason), key_id)})

    @router.post(
        "/{userId}/notes", _change(Permission.USERS_ANNOTATE), response=NoteResponse, status=201, refusals=_UNKNOWN,
        summary="Note something about a user",
    )  # fmt: skip
    async def add_user_note(request: Request, user_id: UserPath, body: NoteBody) -> Response:
        return respond(await users.add_note(user_id, body.text, acting(request, NOTE_REASON)), 201)

    @router.put(
        "/{userId}/limits", _change(Permission.USERS_SET_LIMITS), response=UserLimitsResponse, refusals=_UNKNOWN,
        summary="Give a user limits of their own",
    )  # fmt: skip
    async def set_user_limits(request: Request, user_id: UserPath, body: LimitsBody) -> Response:
        limits = UserLimits(body.daily_withdrawal_usd, body.api_keys, body.saved_addresses)
        return respond(await users.set_limits(user_id, limits, acting(request, body.reason)))

    @router.post(
        "/{userId}/mails", _change(Permission.USERS_RESEND_MAIL), response=DoneResponse, status=202,
        refusals=_UNKNOWN | {
            409: "the email address is verified already, or such a mail was sent just now",
            503: "too many mails wait",
        },
        summary="Send a mail to a user again",
    )  # fmt: skip
    async def send_user_mail(request: Request, user_id: UserPath, body: MailBody) -> Response:
        await users.send_mail(user_id, MailKind(body.kind), acting(request, body.reason))
        return json_response({"success": True}, 202)

    @router.post(
        "/{userId}/second-factor-reset", _change(Permission.USERS_RESET_SECOND_FACTOR),
        response=OperatorRequestResponse, status=202,
        refusals=_UNKNOWN | _OUT_OF_REACH | {409: "the user has no second factor, or such a request waits"},
        summary="Ask for the reset of a user's second factor, which another person approves",
    )  # fmt: skip
    async def ask_for_second_factor_reset(request: Request, user_id: UserPath, body: ReasonBody) -> Response:
        await users.require(user_id)
        return respond(await reset.ask(user_id, acting(request, body.reason)), 202)

    @router.post(
        "/{userId}/closure", _change(Permission.USERS_CLOSE), response=OperatorRequestResponse, status=202,
        refusals=_UNKNOWN | {
            409: "open orders, balances or money under way are left, or such a request waits",
            503: "the balances cannot be read now",
        },
        summary="Ask for the closure of an account, which another person approves",
    )  # fmt: skip
    async def ask_for_account_closure(request: Request, user_id: UserPath, body: ReasonBody) -> Response:
        return respond(await closure.ask(user_id, acting(request, body.reason)), 202)

    return router


def _lock_routes(router: Router, users: OperatedUsers, kind: LockKind, permission: Permission) -> None:
    """Lock and unlock one thing: each has a permission of its own."""

    @router.put(
        f"/{{userId}}/locks/{kind}", _change(permission), response=LockResponse, refusals=_UNKNOWN | _OUT_OF_REACH,
        summary=f"Lock a user's {kind}", name=f"lock_user_{kind}",
    )  # fmt: skip
    async def lock(request: Request, user_id: UserPath, body: ReasonBody) -> Response:
        return respond(await users.lock(user_id, kind, acting(request, body.reason)))

    @router.delete(
        f"/{{userId}}/locks/{kind}", _change(permission), response=DoneResponse,
        refusals=_UNKNOWN | _OUT_OF_REACH | {409: "it is not locked"}, summary=f"Unlock a user's {kind}",
        name=f"unlock_user_{kind}",
    )  # fmt: skip
    async def unlock(request: Request, user_id: UserPath, body: ReasonBody) -> Response:
        await users.unlock(user_id, kind, acting(request, body.reason))
        return json_response({"success": True})
