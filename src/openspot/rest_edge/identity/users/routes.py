"""The routes of a user's own account: `/users/me` (facts B4.1-38 to B4.1-40, B4.1-47 and B4.1-48).

Activity, sessions, the second factor and notifications have routes of their own.
"""

from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller, context_of
from openspot.http.policy import Access, Policy
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.rest_edge.common.schemas import DoneResponse
from openspot.rest_edge.identity.activity.log import origin_of
from openspot.rest_edge.identity.auth.mail_proof import MailProof
from openspot.rest_edge.identity.users.check_in import CheckIns, CheckInStatus
from openspot.rest_edge.identity.users.deletion import AccountDeletion
from openspot.rest_edge.identity.users.password_change import PasswordChange
from openspot.rest_edge.identity.users.profile import Profiles
from openspot.rest_edge.identity.users.schemas import (
    AntiPhishingBody,
    AntiPhishingResponse,
    CheckInResponse,
    DeletionBody,
    PasswordBody,
    ProfileBody,
    ProfileResponse,
)

_READ = Policy(Access.USER)
_CHANGE = Policy(Access.USER, audit=True)
"""There is no scope: API keys have no access to personal data."""
_GONE = {404: "the user does not exist any more"}


def user_routes(
    prefix: str,
    *,
    profiles: Profiles,
    check_ins: CheckIns,
    password_change: PasswordChange,
    mail_proof: MailProof,
    deletion: AccountDeletion,
) -> Router:
    """The routes of `/users/me` that are about the user, below `prefix`."""
    router = Router(f"{prefix}/users/me", tag="users")

    @router.get("/profile", _READ, response=ProfileResponse, refusals=_GONE, summary="Your account")
    async def get_profile(request: Request) -> Response:
        profile = await profiles.get(caller(request).user_id)
        return json_response(profile.model_dump(by_alias=True))

    @router.patch("/profile", _CHANGE, response=ProfileResponse, refusals=_GONE, summary="Change your profile")
    async def change_profile(request: Request, body: ProfileBody) -> Response:
        given = body.model_dump(exclude_unset=True)
        origin = origin_of(context_of(request))
        profile = await profiles.change(caller(request).user_id, given, origin)
        return json_response(profile.model_dump(by_alias=True))

    @router.get(
        "/anti-phishing-code", _READ, response=AntiPhishingResponse, refusals=_GONE,
        summary="The text that every mail to you shows",
    )  # fmt: skip
    async def get_anti_phishing_code(request: Request) -> Response:
        profile = await profiles.get(caller(request).user_id)
        return json_response({"code": profile.anti_phishing_code})

    @router.put(
        "/anti-phishing-code", _CHANGE, response=AntiPhishingResponse, refusals=_GONE,
        summary="Choose the text that every mail to you shows",
    )  # fmt: skip
    async def set_anti_phishing_code(request: Request, body: AntiPhishingBody) -> Response:
        origin = origin_of(context_of(request))
        await profiles.set_anti_phishing_code(caller(request).user_id, body.code, origin)
        return json_response({"code": body.code})

    @router.get("/check-in", _READ, response=CheckInResponse, summary="Whether you have checked in today")
    async def get_check_in(request: Request) -> Response:
        return _check_in_response(await check_ins.status(caller(request).user_id))

    @router.post(
        "/check-in", _CHANGE, response=CheckInResponse, refusals=_GONE,
        summary="Check in for today (UTC); again changes nothing",
    )  # fmt: skip
    async def check_in(request: Request) -> Response:
        return _check_in_response(await check_ins.check_in(caller(request).user_id))

    @router.post(
        "/password", _CHANGE, response=DoneResponse,
        refusals=_GONE | {
            400: "the current password or the code is wrong, or the new password does not fit",
            401: "no valid credential, or MFA_REQUIRED: the code is missing",
            429: "too many requests, or too many wrong passwords or codes",
        },
        summary="Change your password and end your other sessions",
    )  # fmt: skip
    async def change_password(request: Request, body: PasswordBody) -> Response:
        origin = origin_of(context_of(request))
        await password_change.change(caller(request), body.current_password, body.new_password, body.mfa_code, origin)
        return json_response({"success": True})

    @router.post(
        "/email-verification", _CHANGE, status=202, response=DoneResponse,
        refusals=_GONE | {409: "the email address is verified already"},
        summary="Ask for another mail that verifies your address",
    )  # fmt: skip
    async def ask_for_verification(request: Request) -> Response:
        await mail_proof.ask_for_verification(caller(request).user_id)
        return json_response({"success": True}, 202)

    @router.delete(
        "", _CHANGE, response=DoneResponse,
        refusals=_GONE | {
            400: "the password or the code is wrong", 401: "no valid credential, or MFA_REQUIRED: the code is missing",
            409: "open orders, balances or money on its way remain",
            429: "too many requests, or too many wrong passwords or codes", 503: "balances cannot be read now",
        },
        summary="Delete your account; orders and ledger stay, without your name",
    )  # fmt: skip
    async def delete_account(request: Request, body: DeletionBody) -> Response:
        origin = origin_of(context_of(request))
        await deletion.delete(caller(request).user_id, body.password, body.mfa_code, origin)
        return json_response({"success": True})

    return router


def _check_in_response(status: CheckInStatus) -> Response:
    return json_response(
        {
            "date": status.day.isoformat(),
            "checkedIn": status.checked_in,
            "streak": status.streak,
            "total": status.total,
        }
    )
