"""Forgotten passwords and unverified addresses: what a token from a mail can do."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import asyncpg
import pytest

from openspot.kit import passwords
from openspot.kit.mail.transports import read_mailbox
from openspot.kit.settings import Settings
from openspot.rest_edge.identity.credentials.login_throttling import FAILURES_MAX, account_key
from tests.support.authenticator import PASSWORD, enable_mfa, log_in, register, send_code, set_up_mfa
from tests.support.filled_tables import insert
from tests.support.mailbox import mail_to, token_of
from tests.support.rest_client import PREFIX, Reply, RestClient, running_edge
from tests.support.signed_requests import Signer
from tests.support.waiting import eventually

EMAIL = "ada@example.org"
NEW_PASSWORD = "another long pass phrase"
RESET = "Reset your password"
VERIFY = "Confirm your email address"


@pytest.fixture
async def ada(edge: RestClient) -> RestClient:
    """A client that is logged in as a registered user."""
    edge.token = None
    await register(edge, EMAIL)
    return edge


async def reset_token(client: RestClient, settings: Settings, email: str = EMAIL) -> str:
    reply = await client("POST", "/auth/forgot-password", {"email": email})
    assert (reply.status, reply.body) == (202, {"success": True})
    return token_of(await mail_to(settings.data_dir, EMAIL, RESET))


async def reset(client: RestClient, token: str, password: str = NEW_PASSWORD) -> Reply:
    return await client("POST", "/auth/reset-password", {"token": token, "newPassword": password})


async def verify(client: RestClient, settings: Settings) -> None:
    token = token_of(await mail_to(settings.data_dir, EMAIL, VERIFY))
    assert (await client("POST", "/auth/verify-email", {"token": token})).status == 200


async def leave_ways_in(client: RestClient, pool: asyncpg.Pool, user_id: str) -> Signer:
    """Make what opens the account without its password: a key, which is returned, an address, a factor, a code."""
    body = {"name": "mine", "scopes": ["read", "trade", "withdraw"], "ipAllowList": ["127.0.0.1"]}
    key = (await client("POST", "/api-keys", body)).body
    await insert(pool, "withdrawal_addresses", {"user_id": user_id}, address_id=f"of-{user_id}", address=user_id)
    assert (await client("PUT", "/users/me/anti-phishing-code", {"code": "blue heron"})).status == 200
    await enable_mfa(client)
    return Signer(key["id"], key["secret"])


async def ways_in(pool: asyncpg.Pool, user_id: str) -> dict[str, Any]:
    """What of it is there now."""
    row = await pool.fetchrow(
        """
        SELECT (SELECT count(*) FROM api_keys WHERE user_id = $1 AND revoked_at IS NULL) AS keys,
            (SELECT count(*) FROM withdrawal_addresses WHERE user_id = $1) AS addresses,
            (SELECT count(*) FROM user_mfa WHERE user_id = $1) AS factors, anti_phishing_code AS code
        FROM users WHERE user_id = $1
        """,
        user_id,
    )
    return dict(row)  # type: ignore[call-overload, no-any-return]


async def status_with(client: RestClient, signer: Signer) -> int:
    target, token = f"{PREFIX}/api-keys", client.token
    client.token = None
    reply = await client("GET", "/api-keys", headers=signer.headers("GET", target))
    client.token = token
    return reply.status


async def outbox_is_empty(pool: asyncpg.Pool) -> None:
    async def nothing_waits() -> bool:
        return await pool.fetchval("SELECT count(*) FROM mail_outbox") == 0

    await eventually(nothing_waits, 20)


@pytest.mark.spec("B4.1-35", "B4.1-36")
async def test_a_reset_sets_the_password_and_ends_every_session(ada: RestClient, settings: Settings) -> None:
    refresh_token = (await log_in(ada, EMAIL)).body["refreshToken"]
    assert (await reset(ada, await reset_token(ada, settings))).body == {"success": True}
    assert (await ada("GET", "/users/me/mfa")).status == 401
    assert (await ada("POST", "/auth/refresh", {"refreshToken": refresh_token})).status == 401
    assert (await log_in(ada, EMAIL)).status == 401
    assert (await log_in(ada, EMAIL, NEW_PASSWORD)).status == 200


async def test_a_reset_token_works_once_even_for_many_at_once(ada: RestClient, settings: Settings) -> None:
    token = await reset_token(ada, settings)
    replies = await asyncio.gather(*(reset(ada, token, f"{NEW_PASSWORD} {number}") for number in range(4)))
    assert sorted(reply.status for reply in replies) == [200, 400, 400, 400]
    assert {reply.code for reply in replies if reply.status == 400} == {"INVALID_MAIL_TOKEN"}


async def test_a_reset_token_lives_30_minutes_and_is_kept_as_a_hash(
    ada: RestClient, settings: Settings, pool: asyncpg.Pool
) -> None:
    token = await reset_token(ada, settings)
    row = await pool.fetchrow("SELECT * FROM mail_tokens WHERE kind = 'reset_password'")
    assert (row["expires_at"] - row["created_at"]).total_seconds() == 1800
    assert token.encode() not in bytes(row["token_hash"])
    assert token not in str(await pool.fetch("SELECT * FROM mail_outbox"))
    await pool.execute("UPDATE mail_tokens SET expires_at = now()")
    assert (await reset(ada, token)).code == "INVALID_MAIL_TOKEN"


async def test_a_refused_password_leaves_the_token_as_it_was(ada: RestClient, settings: Settings) -> None:
    token = await reset_token(ada, settings)
    reply = await reset(ada, token, "qwertyuiop")
    assert reply.message == ["newPassword is too common: it is among the first that anybody tries"]
    assert (await reset(ada, token, "short")).message == ["newPassword must be at least 10 characters long"]
    assert (await reset(ada, token)).status == 200


async def test_a_reset_keeps_mfa_and_ends_logins_that_wait_for_a_code(ada: RestClient, settings: Settings) -> None:
    await verify(ada, settings)
    app = await enable_mfa(ada)
    challenge = (await log_in(ada, EMAIL)).body
    assert (await reset(ada, await reset_token(ada, settings))).status == 200
    assert (await send_code(ada, challenge, app.recovery_codes[0])).code == "MFA_CHALLENGE_INVALID"
    challenge = (await log_in(ada, EMAIL, NEW_PASSWORD)).body
    assert challenge["mfaRequired"] is True
    assert (await send_code(ada, challenge, app.recovery_codes[0])).status == 200


async def test_a_reset_that_first_proves_the_address_removes_every_way_in_of_whoever_registered_it(
    ada: RestClient, settings: Settings, pool: asyncpg.Pool
) -> None:
    attackers = ada.token
    user_id = str(await pool.fetchval("SELECT user_id FROM users"))
    key = await leave_ways_in(ada, pool, user_id)
    assert await status_with(ada, key) == 200
    await insert(pool, "users", {"user_id": "bob"}, email="bob@example.org", role="user")
    await insert(pool, "withdrawal_addresses", {"user_id": "bob"}, address_id="of-bob", address="bob")
    await insert(pool, "user_mfa", {"user_id": "bob"})

    assert (await reset(ada, await reset_token(ada, settings))).status == 200
    assert await ways_in(pool, user_id) == {"keys": 0, "addresses": 0, "factors": 0, "code": None}
    assert await status_with(ada, key) == 401
    ada.token = attackers
    assert (await ada("GET", "/users/me/profile")).status == 401
    assert [(await ways_in(pool, "bob"))[what] for what in ("addresses", "factors")] == [1, 1]
    # The owner logs in with the password alone, and reads in the log and in mails what is gone.
    session = (await log_in(ada, EMAIL, NEW_PASSWORD)).body
    ada.token = session["accessToken"]
    kinds = [entry["kind"] for entry in (await ada("GET", "/users/me/activity")).body]
    assert kinds[:6] == [
        "logged_in", "password_reset", "unproved_anti_phishing_code_removed", "unproved_mfa_removed",
        "unproved_addresses_deleted", "unproved_api_keys_revoked",
    ]  # fmt: skip
    await outbox_is_empty(pool)
    told = " ".join(mail.text.replace("\n", " ") for mail in read_mailbox(settings.data_dir) if mail.recipient == EMAIL)
    for notice in (
        "Your API keys were revoked", "Your saved withdrawal addresses were deleted",
        "Two-factor authentication was removed", "Your anti-phishing code was removed",
    ):  # fmt: skip
        assert told.count(f"{notice}, because") == 1


async def test_who_verifies_the_address_by_its_mail_loses_nothing_then_or_at_a_later_reset(
    ada: RestClient, settings: Settings, pool: asyncpg.Pool
) -> None:
    user_id = str(await pool.fetchval("SELECT user_id FROM users"))
    key = await leave_ways_in(ada, pool, user_id)
    kept = {"keys": 1, "addresses": 1, "factors": 1, "code": "blue heron"}
    await verify(ada, settings)
    assert (await ada("GET", "/users/me/profile")).status == 200
    assert (await ways_in(pool, user_id), await status_with(ada, key)) == (kept, 200)
    assert (await reset(ada, await reset_token(ada, settings))).status == 200
    assert (await ways_in(pool, user_id), await status_with(ada, key)) == (kept, 200)
    query = "SELECT count(*) FROM user_activity WHERE starts_with(kind, 'unproved')"
    assert await pool.fetchval(query) == 0


async def test_a_mailbox_alone_makes_nobody_an_operator(
    ada: RestClient, settings: Settings, pool: asyncpg.Pool
) -> None:
    """Earlier releases gave roles to addresses that nobody had proved."""
    user_id = str(await pool.fetchval("SELECT user_id FROM users"))
    await leave_ways_in(ada, pool, user_id)
    await insert(pool, "operator_roles", {"user_id": user_id}, role="AUDITOR")
    assert (await reset(ada, await reset_token(ada, settings))).status == 200
    assert await ways_in(pool, user_id) == {"keys": 0, "addresses": 0, "factors": 1, "code": None}


async def test_a_factor_that_is_only_set_up_goes_too_and_nobody_is_told_of_what_was_not_there(
    ada: RestClient, settings: Settings, pool: asyncpg.Pool
) -> None:
    app = await set_up_mfa(ada)
    attackers = ada.token
    assert (await reset(ada, await reset_token(ada, settings))).status == 200
    assert await pool.fetchval("SELECT count(*) FROM user_mfa") == 0
    assert await pool.fetchval("SELECT count(*) FROM user_activity WHERE starts_with(kind, 'unproved')") == 0
    ada.token = attackers
    assert (await ada("POST", "/users/me/mfa/enable", {"code": app.code()})).status == 401


async def test_nothing_tells_whether_an_address_has_an_account(
    ada: RestClient, settings: Settings, pool: asyncpg.Pool
) -> None:
    """Status, words and work: one row for the outbox in each case, decided by the sender, outside the request."""
    statements: list[list[str]] = []
    for email in (EMAIL, "nobody@example.org"):
        before = await pool.fetchval("SELECT last_value FROM pg_sequences WHERE sequencename ~ 'mail_outbox'")
        reset_reply = await ada("POST", "/auth/forgot-password", {"email": email})
        registered = await ada("POST", "/auth/register", {"email": email, "password": PASSWORD})
        after = await pool.fetchval("SELECT last_value FROM pg_sequences WHERE sequencename ~ 'mail_outbox'")
        assert (reset_reply.status, registered.status, after - (before or 0)) == (202, 201, 2)
        statements.append(sorted(registered.body))
        assert (registered.body["email"], len(registered.body["userId"])) == (email, 16)
    assert statements[0] == statements[1]
    await outbox_is_empty(pool)
    subjects = [mail.subject for mail in read_mailbox(settings.data_dir) if mail.recipient == EMAIL]
    assert subjects == [VERIFY, RESET, "You have an account already"]
    to_nobody = [mail.subject for mail in read_mailbox(settings.data_dir) if mail.recipient != EMAIL]
    assert to_nobody in ([VERIFY], [RESET, VERIFY])


async def test_unknown_and_known_addresses_cost_the_same_hashes(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    class Counting:
        """The hasher of the service, which notes its work."""

        def __init__(self, inner: Any) -> None:
            self._inner = inner

        def hash(self, *given: str) -> Any:
            calls.append("hash")
            return self._inner.hash(*given)

        def verify(self, *given: str) -> Any:
            calls.append("verify")
            return self._inner.verify(*given)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._inner, name)

    monkeypatch.setattr(passwords, "_HASHER", Counting(passwords._HASHER))
    async with running_edge(settings) as edge:
        assert (await edge("POST", "/auth/register", {"email": EMAIL, "password": PASSWORD})).status == 201
        for email in (EMAIL, "nobody@example.org"):
            for path, body, status, work in (
                ("login", {"password": "wrong password"}, 401, ["verify"]),
                ("forgot-password", {}, 202, []),
                ("register", {"password": PASSWORD}, 201, ["hash"]),
            ):
                calls.clear()
                reply = await edge("POST", f"/auth/{path}", {"email": email, **body})
                # A request that was refused for another reason says nothing about the work.
                assert (reply.status, calls) == (status, work), (email, path, reply.body)


async def test_a_mailbox_cannot_be_flooded(ada: RestClient, settings: Settings, pool: asyncpg.Pool) -> None:
    await reset_token(ada, settings)
    for _ in range(5):
        await ada("POST", "/auth/forgot-password", {"email": EMAIL})
    await outbox_is_empty(pool)
    assert [mail.subject for mail in read_mailbox(settings.data_dir)].count(RESET) == 1


async def test_a_full_outbox_refuses_with_503(settings: Settings, pool: asyncpg.Pool) -> None:
    later = datetime(2100, 1, 1, tzinfo=UTC)
    insert = (
        "INSERT INTO mail_outbox (kind, email, detail, created_at, next_at)"
        " VALUES ('notification', 'x', 'title', $1, $1)"
    )
    await pool.executemany(insert, [(later,)] * 3)
    async with running_edge(settings.model_copy(update={"mail_queue_max": 3})) as edge:
        reply = await edge("POST", "/auth/forgot-password", {"email": EMAIL})
        assert (reply.status, reply.code) == (503, "SERVICE_UNAVAILABLE")


@pytest.mark.spec("B4.1-37")
async def test_a_mail_verifies_the_address_once(ada: RestClient, settings: Settings, pool: asyncpg.Pool) -> None:
    token = token_of(await mail_to(settings.data_dir, EMAIL, VERIFY))
    assert await pool.fetchval("SELECT email_verified_at FROM users") is None
    assert (await ada("POST", "/auth/verify-email", {"token": token})).body == {"success": True}
    assert await pool.fetchval("SELECT email_verified_at FROM users") is not None
    assert (await ada("POST", "/auth/verify-email", {"token": token})).code == "INVALID_MAIL_TOKEN"


async def test_a_token_of_one_kind_does_nothing_as_another(ada: RestClient, settings: Settings) -> None:
    token = token_of(await mail_to(settings.data_dir, EMAIL, VERIFY))
    assert (await reset(ada, token)).code == "INVALID_MAIL_TOKEN"
    token = await reset_token(ada, settings)
    assert (await ada("POST", "/auth/verify-email", {"token": token})).code == "INVALID_MAIL_TOKEN"


async def test_after_a_hundred_failures_only_a_reset_helps(
    ada: RestClient, settings: Settings, pool: asyncpg.Pool
) -> None:
    await log_in(ada, EMAIL, "wrong password")
    # 98 more of them would take days of waits.
    waited = "UPDATE login_attempts SET attempts = $1, next_at = 'epoch' WHERE starts_with(key, $2)"
    await pool.execute(waited, FAILURES_MAX - 1, f"pair:{account_key(EMAIL)}")
    assert (await log_in(ada, EMAIL, "wrong password")).code == "INVALID_CREDENTIALS"
    await pool.execute(waited, FAILURES_MAX, f"pair:{account_key(EMAIL)}")
    reply = await log_in(ada, EMAIL)
    assert (reply.status, reply.code) == (429, "LOGIN_LOCKED")
    mail = await mail_to(settings.data_dir, EMAIL, "Too many failed logins: choose a new password")
    assert (await reset(ada, token_of(mail))).status == 200
    assert (await log_in(ada, EMAIL, NEW_PASSWORD)).status == 200


@pytest.mark.parametrize(
    ("registered", "typed"),
    [
        ("ada@example.org", "ＡＤＡ@example.org"),
        ("ada@example.org", "ada@EXAMPLE.ＯＲＧ"),
        ("kim@example.org", "\u212aim@example.org"),
        ("office@example.org", "o\ufb03ce@example.org"),
    ],
)
async def test_disguises_of_an_address_are_one_user_and_mail_goes_to_the_registered_one(
    edge: RestClient, settings: Settings, pool: asyncpg.Pool, registered: str, typed: str
) -> None:
    edge.token = None
    await register(edge, registered)
    assert (await log_in(edge, typed)).status == 200
    await edge("POST", "/auth/register", {"email": typed, "password": PASSWORD})
    assert await pool.fetchval("SELECT count(*) FROM users") == 1
    await edge("POST", "/auth/forgot-password", {"email": typed})
    await mail_to(settings.data_dir, registered, RESET)


@pytest.mark.parametrize(
    "email",
    ["\u0430da@example.org", "ada@ex\u0430mple.org", "ada\u200b@example.org", "ada@example.org\r\nBcc: eve@example.org",
     "ada@example.org,eve@example.org", "ada@example.org\x00", "\"ada\"@example.org", "<ada@example.org>",
     "ada@example\u3002org\u202e"],
)  # fmt: skip
async def test_look_alikes_and_injections_are_no_addresses(edge: RestClient, email: str) -> None:
    edge.token = None
    for path, body in (
        ("register", {"password": PASSWORD}),
        ("login", {"password": PASSWORD}),
        ("forgot-password", {}),
    ):
        reply = await edge("POST", f"/auth/{path}", {"email": email, **body})
        assert (reply.status, reply.message) == (400, ["email must be an email address"])
