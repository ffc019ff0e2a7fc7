"""Paths of a user's own account: `/users/me` (Document B 4.1). The second factor has its own file."""

from typing import Annotated

import msgspec
from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller, context_of
from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit, decode_cursor, encode_cursor
from openspot.http.policy import Access, Policy
from openspot.http.responses import json_response, page_response
from openspot.http.routing import Router
from openspot.kit.clock import iso_of
from openspot.rest_edge.auth.schemas import DoneResponse
from openspot.rest_edge.identity import UserServices
from openspot.rest_edge.users.activity import origin_of
from openspot.rest_edge.users.check_in import CheckInStatus
from openspot.rest_edge.users.profile import Profile
from openspot.rest_edge.users.schemas import (
    ActivityResponse,
    AntiPhishingBody,
    AntiPhishingResponse,
    CheckInResponse,
    DeletionBody,
    PasswordBody,
    ProfileBody,
    ProfileResponse,
    SessionResponse,
    SessionsEndedResponse,
    ToldResponse,
)

SessionPath = Annotated[str, Path(alias="sessionId", min_length=1, max_length=64, pattern=r"^[A-Za-z0-9]+$")]

CursorNumber = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""What the database takes as an id."""

_READ = Policy(Access.USER)
_CHANGE = Policy(Access.USER, audit=True)
"""No scope: what is personal is not for API keys."""
_GONE = {404: "the user does not exist any more"}


def user_routes(prefix: str, users: UserServices) -> Router:
    """The routes of `/users/me`, below `prefix`."""
    router = Router(f"{prefix}/users/me", tag="users")

    @router.get("/profile", _READ, response=ProfileResponse, refusals=_GONE, summary="Your account")
    async def get_profile(request: Request) -> Response:
        return _profile_response(await users.profiles.get(caller(request).user_id))

    @router.patch("/profile", _CHANGE, response=ProfileResponse, refusals=_GONE, summary="Change your profile")
    async def change_profile(request: Request, body: ProfileBody) -> Response:
        given = body.model_dump(exclude_unset=True)
        origin = origin_of(context_of(request))
        return _profile_response(await users.profiles.change(caller(request).user_id, given, origin))

    @router.get(
        "/anti-phishing-code", _READ, response=AntiPhishingResponse, refusals=_GONE,
        summary="The text that every mail to you shows",
    )  # fmt: skip
    async def get_anti_phishing_code(request: Request) -> Response:
        profile = await users.profiles.get(caller(request).user_id)
        return json_response({"code": profile.anti_phishing_code})

    @router.put(
        "/anti-phishing-code", _CHANGE, response=AntiPhishingResponse, refusals=_GONE,
        summary="Choose the text that every mail to you shows",
    )  # fmt: skip
    async def set_anti_phishing_code(request: Request, body: AntiPhishingBody) -> Response:
        origin = origin_of(context_of(request))
        await users.profiles.set_anti_phishing_code(caller(request).user_id, body.code, origin)
        return json_response({"code": body.code})

    @router.get(
        "/activity", _READ, response=list[ActivityResponse], headers=NEXT_CURSOR_HEADER,
        summary="What happened to your account, newest first",
    )  # fmt: skip
    async def list_activity(request: Request, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None) -> Response:
        before = None if cursor is None else decode_cursor(cursor, tuple[CursorNumber])[0]
        found = await users.activity.page(caller(request).user_id, limit + 1, before)
        entries = [
            {
                "id": str(entry.activity_id),
                "kind": entry.kind,
                "address": entry.address,
                "userAgent": entry.user_agent,
                "createdAt": iso_of(entry.created_at),
            }
            for entry in found[:limit]
        ]
        return page_response(entries, encode_cursor([found[limit - 1].activity_id]) if len(found) > limit else None)

    @router.get(
        "/notifications", _READ, response=list[ToldResponse], headers=NEXT_CURSOR_HEADER,
        summary="What you were told on the screen in the last two weeks, newest first",
    )  # fmt: skip
    async def list_told(request: Request, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None) -> Response:
        before = None if cursor is None else decode_cursor(cursor, tuple[CursorNumber])[0]
        found = await users.notifications.page(caller(request).user_id, limit + 1, before)
        told = [
            {
                "id": row.notification_id,
                "kind": row.kind,
                "title": row.title,
                "text": row.text,
                "createdAt": iso_of(row.created_at),
            }
            for row in found[:limit]
        ]
        return page_response(told, encode_cursor([found[limit - 1].number]) if len(found) > limit else None)

    @router.get("/check-in", _READ, response=CheckInResponse, summary="Whether you have checked in today")
    async def get_check_in(request: Request) -> Response:
        return _check_in_response(await users.check_ins.status(caller(request).user_id))

    @router.post(
        "/check-in", _CHANGE, response=CheckInResponse, refusals=_GONE,
        summary="Check in for today (UTC); again changes nothing",
    )  # fmt: skip
    async def check_in(request: Request) -> Response:
        return _check_in_response(await users.check_ins.check_in(caller(request).user_id))

    @router.get("/sessions", _READ, response=list[SessionResponse], summary="Your sessions, the last used first")
    async def list_sessions(request: Request) -> Response:
        identity = caller(request)
        return json_response(
            [
                {
                    "sessionId": session.session_id,
                    "current": session.session_id == identity.session_id,
                    "address": session.address,
                    "userAgent": session.user_agent,
                    "createdAt": iso_of(session.created_at),
                    "lastUsedAt": iso_of(session.last_used_at),
                    "expiresAt": iso_of(session.expires_at),
                }
                for session in await users.sessions.all_of(identity.user_id)
            ]
        )

    @router.delete("/sessions", _CHANGE, response=SessionsEndedResponse, summary="End every session but this one")
    async def end_other_sessions(request: Request) -> Response:
        ended = await users.sessions.end_others(caller(request), origin_of(context_of(request)))
        return json_response({"ended": ended})

    @router.delete(
        "/sessions/{sessionId}", _CHANGE, response=DoneResponse, refusals={404: "you have no such session"},
        summary="End one session",
    )  # fmt: skip
    async def end_session(request: Request, session_id: SessionPath) -> Response:
        await users.sessions.end(caller(request).user_id, session_id, origin_of(context_of(request)))
        return json_response({"success": True})

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
        await users.password_change.change(
            caller(request), body.current_password, body.new_password, body.mfa_code, origin
        )
        return json_response({"success": True})

    @router.post(
        "/email-verification", _CHANGE, status=202, response=DoneResponse,
        refusals=_GONE | {409: "the email address is verified already"},
        summary="Ask for another mail that verifies your address",
    )  # fmt: skip
    async def ask_for_verification(request: Request) -> Response:
        await users.mail_proof.ask_for_verification(caller(request).user_id)
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
        await users.deletion.delete(caller(request).user_id, body.password, body.mfa_code, origin)
        return json_response({"success": True})

    return router


def _profile_response(profile: Profile) -> Response:
    response = ProfileResponse(
        user_id=profile.user_id,
        email=profile.email,
        email_verified=profile.email_verified,
        role=profile.role,
        display_name=profile.display_name,
        language=profile.language,
        time_zone=profile.time_zone,
        mfa_enabled=profile.mfa_enabled,
        anti_phishing_code=profile.anti_phishing_code,
        created_at=iso_of(profile.created_at),
    )
    return json_response(response.model_dump(by_alias=True))


def _check_in_response(status: CheckInStatus) -> Response:
    return json_response(
        {
            "date": status.day.isoformat(),
            "checkedIn": status.checked_in,
            "streak": status.streak,
            "total": status.total,
        }
    )
