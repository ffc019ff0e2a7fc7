"""A user's own account through the REST edge: profile, sessions, activity, check-in, password."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import asyncpg
import pytest

from openspot.contracts.messages import SendNotification
from openspot.kit.settings import Settings
from openspot.rest_edge.identity.activity.log import ActivityKind, ActivityLog, Origin
from openspot.rest_edge.identity.activity.schemas import ActivityResponse
from openspot.rest_edge.identity.sessions.schemas import UserSessionResponse
from openspot.rest_edge.identity.users.schemas import (
    AntiPhishingResponse,
    CheckInResponse,
    ProfileResponse,
)
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.mail.texts import MailKind
from openspot.rest_edge.notifications.store import NotificationStore, OutboxFullError
from openspot.rest_edge.push.queue import PushQueue
from tests.support.authenticator import PASSWORD, enable_mfa, log_in, register
from tests.support.filled_tables import insert
from tests.support.mailbox import mail_to
from tests.support.rest_client import RestClient
from tests.support.websocket_edge import open_as, receive
from tests.support.websocket_edge import running_edge as running_websocket_edge

EMAIL = "ada@example.org"
NEW_PASSWORD = "another long pass phrase"


@pytest.fixture
async def ada(edge: RestClient) -> RestClient:
    """A client that is logged in as a registered user."""
    edge.token = None
    await register(edge, EMAIL)
    return edge


# Profile


@pytest.mark.spec("B4.1-39")
async def test_a_profile_is_read_and_changed_field_by_field(ada: RestClient) -> None:
    profile = (await ada("GET", "/users/me/profile")).body
    ProfileResponse.model_validate(profile)
    assert (profile["email"], profile["emailVerified"], profile["mfaEnabled"]) == (EMAIL, False, False)
    reply = await ada("PATCH", "/users/me/profile", {"displayName": " Ada Lovelac\u0065\u0301 ", "language": "en-GB"})
    assert reply.body == profile | {"displayName": "Ada Lovelacé", "language": "en-GB"}
    reply = await ada("PATCH", "/users/me/profile", {"timeZone": "Europe/London", "language": None})
    assert reply.body == profile | {"displayName": "Ada Lovelacé", "timeZone": "Europe/London"}
    assert (await ada("PATCH", "/users/me/profile", {})).body == reply.body


BAD_PROFILES: tuple[tuple[dict[str, Any], str], ...] = (
    ({"role": "admin"}, "property role should not exist"),
    ({"email": "eve@example.org"}, "property email should not exist"),
    ({"userId": "u2"}, "property userId should not exist"),
    ({"emailVerified": True}, "property emailVerified should not exist"),
    ({"mfaEnabled": False}, "property mfaEnabled should not exist"),
    ({"email_verified_at": "now"}, "property email_verified_at should not exist"),
    ({"display_name": "Ada"}, "property display_name should not exist"),
    ({"displayName": "x" * 65}, "displayName must be at most 64 characters long"),
    ({"displayName": "a\u202eb"}, "displayName must be printable text"),
    ({"displayName": "a\x00b"}, "displayName must be printable text"),
    ({"displayName": "   "}, "displayName must be printable text"),
    ({"language": "english!"}, "language has characters that are not allowed"),
    ({"timeZone": "../../etc/passwd"}, "timeZone must be a time zone such as Europe/Berlin"),
)


async def test_what_a_profile_cannot_hold_is_refused_and_changes_nothing(ada: RestClient, pool: asyncpg.Pool) -> None:
    before = await pool.fetchrow("SELECT * FROM users")
    for body, message in BAD_PROFILES:
        reply = await ada("PATCH", "/users/me/profile", {"displayName": "Eve"} | body)
        assert (reply.status, reply.message) == (400, [message]), body
    assert await pool.fetchrow("SELECT * FROM users") == before


@pytest.mark.spec("B4.1-40")
async def test_the_anti_phishing_code_shows_in_mails(ada: RestClient, settings: Settings) -> None:
    assert (await ada("GET", "/users/me/anti-phishing-code")).body == {"code": None}
    reply = await ada("PUT", "/users/me/anti-phishing-code", {"code": "blue heron"})
    AntiPhishingResponse.model_validate(reply.body)
    assert (await ada("GET", "/users/me/anti-phishing-code")).body == {"code": "blue heron"}
    mail = await mail_to(settings.data_dir, EMAIL, "A change of your account")
    assert mail.text.startswith("Your anti-phishing code: blue heron\n")
    for code, message in (
        ("abc", "code must be at least 4 characters long"),
        ("x" * 33, "code must be at most 32 characters long"),
        ("blue\nheron", "code must be printable text"),
    ):
        assert (await ada("PUT", "/users/me/anti-phishing-code", {"code": code})).message == [message]
    assert (await ada("PUT", "/users/me/anti-phishing-code", {"code": None})).body == {"code": None}


# Sessions


async def sessions(client: RestClient) -> list[dict[str, Any]]:
    return list((await client("GET", "/users/me/sessions")).body)


async def test_sessions_are_listed_with_their_origin(ada: RestClient) -> None:
    body = {"email": EMAIL, "password": PASSWORD}
    reply = await ada("POST", "/auth/login", body, headers={"User-Agent": "Phone\t1.0" + "x" * 300})
    listed = await sessions(ada)
    for session in listed:
        UserSessionResponse.model_validate(session)
    assert [session["current"] for session in listed] == [False, True]
    assert (listed[0]["address"], listed[0]["userAgent"]) == ("127.0.0.1", ("Phone1.0" + "x" * 300)[:256])
    await ada("POST", "/auth/refresh", {"refreshToken": reply.body["refreshToken"]})
    assert [session["sessionId"] for session in await sessions(ada)] == [s["sessionId"] for s in listed]


async def test_one_session_is_ended(ada: RestClient) -> None:
    other = (await log_in(ada, EMAIL)).body
    [listed] = [session for session in await sessions(ada) if not session["current"]]
    path = f"/users/me/sessions/{listed['sessionId']}"
    assert (await ada("DELETE", path)).body == {"success": True}
    assert (await ada("POST", "/auth/refresh", {"refreshToken": other["refreshToken"]})).status == 401
    reply = await ada("DELETE", path)
    assert (reply.status, reply.code) == (404, "SESSION_NOT_FOUND")
    assert [session["current"] for session in await sessions(ada)] == [True]
    ada.token = other["accessToken"]
    assert (await ada("GET", "/users/me/profile")).status == 401


async def test_the_session_of_another_user_is_not_found_and_goes_on(ada: RestClient) -> None:
    [own] = await sessions(ada)
    token = ada.token
    await register(ada, "eve@example.org")
    reply = await ada("DELETE", f"/users/me/sessions/{own['sessionId']}")
    assert (reply.status, reply.code) == (404, "SESSION_NOT_FOUND")
    assert own["sessionId"] not in {session["sessionId"] for session in await sessions(ada)}
    ada.token = token
    assert (await ada("GET", "/users/me/profile")).status == 200


async def test_the_other_sessions_are_ended_together(ada: RestClient) -> None:
    others = [(await log_in(ada, EMAIL)).body for _ in range(3)]
    assert (await ada("DELETE", "/users/me/sessions")).body == {"ended": 3}
    assert (await ada("DELETE", "/users/me/sessions")).body == {"ended": 0}
    assert (await ada("GET", "/users/me/profile")).status == 200
    ada.token = others[0]["accessToken"]
    assert (await ada("GET", "/users/me/profile")).status == 401


# Activity


@pytest.mark.spec("B4.1-45")
async def test_the_activity_log_has_pages_and_only_ones_own_entries(ada: RestClient) -> None:
    await log_in(ada, EMAIL)
    await ada("PATCH", "/users/me/profile", {"displayName": "Ada"})
    await enable_mfa(ada)
    whole = (await ada("GET", "/users/me/activity")).body
    for entry in whole:
        ActivityResponse.model_validate(entry)
    assert [entry["kind"] for entry in whole] == ["mfa_enabled", "profile_changed", "logged_in", "logged_in"]
    paged: list[Any] = []
    cursor = ""
    while True:
        reply = await ada("GET", f"/users/me/activity?limit=1{cursor}")
        paged += reply.body
        if "X-Next-Cursor" not in reply.headers:
            break
        cursor = f"&cursor={reply.headers['X-Next-Cursor']}"
    assert paged == whole
    for bad in (
        "limit=0",
        "limit=-1",
        "limit=1001",
        "cursor=x",
        "cursor=WyJhIl0",
        "cursor=Wzk5OTk5OTk5OTk5OTk5OTk5OTk5OTlD",
    ):
        assert (await ada("GET", f"/users/me/activity?{bad}")).status == 400, bad
    await register(ada, "eve@example.org")
    assert len((await ada("GET", "/users/me/activity")).body) == 1


# Check-in


@pytest.mark.spec("B4.1-47")
async def test_a_check_in_counts_once_a_day(ada: RestClient, pool: asyncpg.Pool) -> None:
    before = (await ada("GET", "/users/me/check-in")).body
    assert (before["checkedIn"], before["streak"], before["total"]) == (False, 0, 0)
    replies = await asyncio.gather(*(ada("POST", "/users/me/check-in") for _ in range(5)))
    for reply in replies:
        CheckInResponse.model_validate(reply.body)
        assert (reply.body["checkedIn"], reply.body["streak"], reply.body["total"]) == (True, 1, 1)
    await pool.execute("UPDATE check_ins SET day = day - 1")
    assert (await ada("GET", "/users/me/check-in")).body["streak"] == 1
    assert (await ada("POST", "/users/me/check-in")).body["streak"] == 2


# Password


async def test_a_changed_password_ends_the_other_sessions(ada: RestClient, settings: Settings) -> None:
    other = (await log_in(ada, EMAIL)).body
    body = {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}
    assert (await ada("POST", "/users/me/password", body)).body == {"success": True}
    assert (await ada("GET", "/users/me/profile")).status == 200
    assert (await ada("POST", "/auth/refresh", {"refreshToken": other["refreshToken"]})).status == 401
    assert (await log_in(ada, EMAIL)).status == 401
    assert (await log_in(ada, EMAIL, NEW_PASSWORD)).status == 200
    mail = await mail_to(settings.data_dir, EMAIL, "A change of your account")
    assert "Your password was changed." in mail.text
    assert "Reset your password and end all sessions." in mail.text


async def test_a_change_of_the_account_is_told_on_the_screen_too(
    ada: RestClient, settings: Settings, pool: asyncpg.Pool
) -> None:
    user_id = await pool.fetchval("SELECT user_id FROM users")
    async with running_websocket_edge(settings), open_as(settings, user_id) as screen:
        body = {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}
        assert (await ada("POST", "/users/me/password", body)).status == 200
        told = await receive(screen)
    assert (told["channel"], told["data"]["kind"]) == ("notifications", "password.changed")
    assert told["data"]["text"].startswith("Your password was changed.")


async def test_security_mail_that_the_outbox_does_not_take_holds_no_change_up(
    settings: Settings, pool: asyncpg.Pool
) -> None:
    later = (
        "INSERT INTO mail_outbox (kind, email, detail, created_at, next_at) VALUES ('notification', 'x', '', $1, $1)"
    )
    await pool.execute(later, datetime(2100, 1, 1, tzinfo=UTC))
    activity = ActivityLog(pool, NotificationStore(pool, Outbox(pool, 1), PushQueue(pool, 1)))
    await insert(pool, "users", {"user_id": "ada", "email": EMAIL}, role="user", email=EMAIL)
    await activity.record("ada", ActivityKind.MFA_DISABLED, Origin())
    assert [entry.kind for entry in await activity.page("ada", 10, None)] == ["mfa_disabled"]
    assert await pool.fetchval("SELECT kind FROM notifications") == "mfa.changed"


async def test_security_mail_finds_room_where_other_notifications_find_none(pool: asyncpg.Pool) -> None:
    outbox = Outbox(pool, 5)
    notifications = NotificationStore(pool, outbox, PushQueue(pool, 1))
    await insert(pool, "users", {"user_id": "ada", "email": EMAIL}, role="user", email=EMAIL)
    while await outbox.add(MailKind.REGISTERED_ALREADY, EMAIL):
        pass
    payout = SendNotification("n1", "ada", "staking.payout", "title", "text", 1)
    async with pool.acquire() as connection:
        with pytest.raises(OutboxFullError):
            await notifications.add(payout, connection)
    await ActivityLog(pool, notifications).record("ada", ActivityKind.API_KEY_CREATED, Origin())
    assert await pool.fetchval("SELECT detail FROM mail_outbox WHERE kind = 'notification'") == (
        "A change of your account\nAn API key was made.\nWas it not you? Reset your password and end all sessions."
    )


async def test_a_password_is_changed_only_with_the_old_one_and_with_mfa_a_code(ada: RestClient) -> None:
    body = {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}
    assert (await ada("POST", "/users/me/password", body | {"currentPassword": "wrong"})).code == "PASSWORD_WRONG"
    reply = await ada("POST", "/users/me/password", body | {"newPassword": "qwertyuiop"})
    assert reply.message == ["newPassword is too common: it is among the first that anybody tries"]
    app = await enable_mfa(ada)
    reply = await ada("POST", "/users/me/password", body)
    assert (reply.status, reply.code) == (401, "MFA_REQUIRED")
    assert (await ada("POST", "/users/me/password", body | {"mfaCode": app.wrong_code()})).code == "MFA_CODE_INVALID"
    assert (await log_in(ada, EMAIL)).status == 200
    assert (await ada("POST", "/users/me/password", body | {"mfaCode": app.code()})).status == 200


async def test_a_verified_address_needs_no_mail(ada: RestClient, settings: Settings, pool: asyncpg.Pool) -> None:
    await mail_to(settings.data_dir, EMAIL, "Confirm your email address")
    await pool.execute("UPDATE mail_tokens SET created_at = created_at - interval '1 hour'")
    reply = await ada("POST", "/users/me/email-verification")
    assert (reply.status, reply.body) == (202, {"success": True})
    await mail_to(settings.data_dir, EMAIL, "Confirm your email address", 2)
    await pool.execute("UPDATE users SET email_verified_at = now()")
    assert (await ada("POST", "/users/me/email-verification")).code == "EMAIL_VERIFIED_ALREADY"
