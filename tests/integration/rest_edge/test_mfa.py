"""The second factor through the REST edge, on the real database and bus."""

import asyncio
from typing import Any
from xml.etree import ElementTree

import asyncpg
import pytest

from openspot.kit.settings import Settings
from openspot.rest_edge.identity.auth.schemas import ChallengeResponse, TokensResponse
from openspot.rest_edge.identity.second_factor.schemas import MfaSetupResponse, MfaStatusResponse, RecoveryCodesResponse
from tests.support.authenticator import (
    PASSWORD,
    Authenticator,
    enable_mfa,
    log_in,
    register,
    send_code,
    set_up_mfa,
)
from tests.support.rest_client import Reply, RestClient, running_edge

EMAIL = "ada@example.org"


@pytest.fixture
async def ada(edge: RestClient) -> RestClient:
    """A client that is logged in as a registered user."""
    edge.token = None
    await register(edge, EMAIL)
    return edge


@pytest.fixture
async def app(ada: RestClient) -> Authenticator:
    """The authenticator of that user, who has MFA."""
    return await enable_mfa(ada)


# Setting up


@pytest.mark.spec("B4.1-41")
async def test_setup_gives_a_secret_as_text_uri_and_picture_and_changes_nothing_yet(ada: RestClient) -> None:
    reply = await ada("POST", "/users/me/mfa/setup", {"password": PASSWORD})
    setup = MfaSetupResponse.model_validate(reply.body)
    assert setup.otpauth_uri == f"otpauth://totp/OpenSpot:ada%40example.org?secret={setup.secret}&issuer=OpenSpot"
    assert len(setup.secret) == 32
    assert ElementTree.fromstring(setup.qr_svg).tag.endswith("svg")
    assert (await ada("GET", "/users/me/mfa")).body["enabled"] is False
    assert "accessToken" in (await log_in(ada, EMAIL)).body


async def test_setup_needs_the_password_and_counts_wrong_ones(ada: RestClient) -> None:
    wrong = [await ada("POST", "/users/me/mfa/setup", {"password": "wrong password"}) for _ in range(5)]
    assert {(reply.status, reply.code) for reply in wrong} == {(400, "PASSWORD_WRONG")}
    reply = await ada("POST", "/users/me/mfa/setup", {"password": PASSWORD})
    assert (reply.status, reply.code) == (429, "TOO_MANY_PASSWORD_ATTEMPTS")


async def test_the_database_alone_does_not_give_the_secret_away(ada: RestClient, pool: asyncpg.Pool) -> None:
    app = await enable_mfa(ada)
    for table in ("user_mfa", "user_recovery_codes"):
        kept = b"".join(bytes(value) for row in await pool.fetch(f"SELECT * FROM {table}") for value in row.values()
                        if isinstance(value, bytes))  # fmt: skip
        assert kept
        for secret in (app.secret, *app.recovery_codes, *(code.replace("-", "") for code in app.recovery_codes)):
            assert secret.encode() not in kept


@pytest.mark.spec("B4.1-42")
async def test_enabling_needs_a_right_code(ada: RestClient) -> None:
    app = await set_up_mfa(ada)
    reply = await ada("POST", "/users/me/mfa/enable", {"code": app.wrong_code()})
    assert (reply.status, reply.code) == (400, "MFA_CODE_INVALID")
    assert (await ada("GET", "/users/me/mfa")).body["enabled"] is False


@pytest.mark.spec("B4.1-42")
async def test_enabling_gives_ten_recovery_codes_and_shows_in_the_status(ada: RestClient) -> None:
    app = await set_up_mfa(ada)
    code = app.code()
    reply = await ada("POST", "/users/me/mfa/enable", {"code": f"{code[:3]} {code[3:]}"})
    codes = RecoveryCodesResponse.model_validate(reply.body).recovery_codes
    assert len(set(codes)) == 10
    status = MfaStatusResponse.model_validate((await ada("GET", "/users/me/mfa")).body)
    assert (status.enabled, status.recovery_codes_left) == (True, 10)
    for path, body in (("enable", {"code": app.code()}), ("setup", {"password": PASSWORD})):
        reply = await ada("POST", f"/users/me/mfa/{path}", body)
        assert (reply.status, reply.code) == (409, "MFA_ALREADY_ENABLED")


async def test_what_is_not_enabled_cannot_be_used(ada: RestClient) -> None:
    reply = await ada("POST", "/users/me/mfa/enable", {"code": "123456"})
    assert (reply.status, reply.code) == (409, "MFA_NOT_SET_UP")
    for path, body in (
        ("verify", {"code": "123456"}),
        ("recovery-codes", {"code": "123456"}),
        ("disable", {"code": "123456", "password": PASSWORD}),
    ):
        reply = await ada("POST", f"/users/me/mfa/{path}", body)
        assert (reply.status, reply.code) == (409, "MFA_NOT_ENABLED")


# Logging in


async def test_login_takes_two_steps(ada: RestClient, app: Authenticator) -> None:
    challenge = (await log_in(ada, EMAIL)).body
    ChallengeResponse.model_validate(challenge)
    assert challenge["methods"] == ["totp", "recovery_code"]
    reply = await send_code(ada, challenge, app.code())
    assert reply.status == 200
    TokensResponse.model_validate(reply.body)
    ada.token = reply.body["accessToken"]
    assert (await ada("GET", "/users/me/mfa")).status == 200
    again = await send_code(ada, challenge, app.recovery_codes[0])
    assert (again.status, again.code) == (401, "MFA_CHALLENGE_INVALID")


async def test_a_challenge_is_no_access_token(ada: RestClient, app: Authenticator) -> None:
    ada.token = (await log_in(ada, EMAIL)).body["challengeToken"]
    assert (await ada("GET", "/users/me/mfa")).status == 401


async def test_a_totp_code_works_once(ada: RestClient, app: Authenticator) -> None:
    code = app.code()
    challenges = [(await log_in(ada, EMAIL)).body for _ in range(4)]
    replies = await asyncio.gather(*(send_code(ada, challenge, code) for challenge in challenges))
    assert sorted(reply.status for reply in replies) == [200, 400, 400, 400]
    assert {reply.code for reply in replies if reply.status == 400} == {"MFA_CODE_INVALID"}


async def test_a_recovery_code_works_once(ada: RestClient, app: Authenticator) -> None:
    code = app.recovery_codes[3].lower().replace("-", " ")
    challenges = [(await log_in(ada, EMAIL)).body for _ in range(4)]
    replies = await asyncio.gather(*(send_code(ada, challenge, code) for challenge in challenges))
    assert sorted(reply.status for reply in replies) == [200, 400, 400, 400]
    assert (await ada("GET", "/users/me/mfa")).body["recoveryCodesLeft"] == 9


async def test_a_challenge_takes_five_codes(ada: RestClient, app: Authenticator, pool: asyncpg.Pool) -> None:
    challenge = (await log_in(ada, EMAIL)).body
    for _ in range(5):
        assert (await send_code(ada, challenge, app.wrong_code())).code == "MFA_CODE_INVALID"
        # The wait of the account is another rule: without it only the challenge counts.
        await pool.execute("DELETE FROM login_attempts")
    reply = await send_code(ada, challenge, app.code())
    assert (reply.status, reply.code) == (401, "MFA_CHALLENGE_INVALID")


async def test_a_challenge_expires_after_five_minutes(ada: RestClient, app: Authenticator, pool: asyncpg.Pool) -> None:
    challenge = (await log_in(ada, EMAIL)).body
    life = await pool.fetchval("SELECT extract(epoch FROM expires_at - now()) FROM mfa_challenges")
    assert 290 < life <= 300
    await pool.execute("UPDATE mfa_challenges SET expires_at = now()")
    reply = await send_code(ada, challenge, app.code())
    assert (reply.status, reply.code) == (401, "MFA_CHALLENGE_INVALID")


async def test_of_200_codes_at_once_five_are_judged(ada: RestClient, app: Authenticator, pool: asyncpg.Pool) -> None:
    challenges = [(await log_in(ada, EMAIL)).body for _ in range(50)]
    wrong = app.wrong_code()
    replies = await asyncio.gather(*(send_code(ada, challenges[number % 50], wrong) for number in range(200)))
    assert sorted({reply.status for reply in replies}) == [400, 429]
    assert sum(reply.status == 400 for reply in replies) == 5
    reply = await send_code(ada, challenges[0], app.code())
    assert (reply.status, reply.code) == (429, "TOO_MANY_MFA_ATTEMPTS")
    assert 0 < int(reply.headers["Retry-After"]) <= 30


async def test_who_has_the_password_but_no_code_does_not_keep_the_owner_out(settings: Settings) -> None:
    """The owner has logged in from one network. The guesses come from two others."""
    home, strange, stranger = ("198.51.100.7", "203.0.113.9", "203.0.113.10")
    async with running_edge(settings.model_copy(update={"trusted_proxies": "127.0.0.1"})) as edge:
        await edge("POST", "/auth/register", {"email": EMAIL, "password": PASSWORD})

        async def login(address: str) -> Any:
            body = {"email": EMAIL, "password": PASSWORD}
            return (await edge("POST", "/auth/login", body, headers={"X-Forwarded-For": address})).body

        async def answer(address: str, code: str) -> Reply:
            edge.token, token = None, edge.token
            body = {"challengeToken": (await login(address))["challengeToken"], "code": code}
            reply = await edge("POST", "/auth/login/mfa", body, headers={"X-Forwarded-For": address})
            edge.token = token
            return reply

        edge.token = (await login(home))["accessToken"]
        app = await enable_mfa(edge)
        guesses = [await answer(strange, app.wrong_code()) for _ in range(6)]
        assert [reply.status for reply in guesses] == [400] * 5 + [429]
        # Guesses from all unknown networks count together, and a right code waits like a wrong one.
        assert (await answer(stranger, app.code())).code == "TOO_MANY_MFA_ATTEMPTS"
        # At home, and in a session, the owner is not held up.
        assert (await answer(home, app.recovery_codes[0])).status == 200
        assert (await edge("POST", "/users/me/mfa/verify", {"code": app.recovery_codes[1]})).body == {"verified": True}
        # What the owner does at home gives the others no new guesses.
        assert (await answer(strange, app.wrong_code())).code == "TOO_MANY_MFA_ATTEMPTS"


async def test_guesses_at_home_and_in_a_session_are_bounded_too(ada: RestClient, app: Authenticator) -> None:
    challenge = [(await log_in(ada, EMAIL)).body for _ in range(2)]
    at_home = [await send_code(ada, challenge[number // 5], app.wrong_code()) for number in range(6)]
    assert [reply.status for reply in at_home] == [400] * 5 + [429]
    in_session = [await ada("POST", "/users/me/mfa/verify", {"code": app.wrong_code()}) for _ in range(6)]
    assert [reply.status for reply in in_session] == [400] * 5 + [429]


async def test_a_challenge_of_one_process_is_answered_at_another(
    ada: RestClient, app: Authenticator, settings: Settings
) -> None:
    challenge = (await log_in(ada, EMAIL)).body
    async with running_edge(settings.model_copy(update={"rest_port": settings.ws_port})) as other:
        assert (await send_code(other, challenge, app.code())).status == 200


# Using and removing


@pytest.mark.spec("B4.1-44")
async def test_verify_uses_a_code_up(ada: RestClient, app: Authenticator) -> None:
    code = app.code()
    assert (await ada("POST", "/users/me/mfa/verify", {"code": code})).body == {"verified": True}
    reply = await ada("POST", "/users/me/mfa/verify", {"code": code})
    assert (reply.status, reply.code) == (400, "MFA_CODE_INVALID")


@pytest.mark.parametrize("code", ["12345", "１２３４５６", "x" * 41, "123456;", None, 5.5])
async def test_what_is_no_code_is_refused_by_field(ada: RestClient, app: Authenticator, code: object) -> None:
    reply = await ada("POST", "/users/me/mfa/verify", {"code": code})
    assert (reply.status, reply.code) == (400, "VALIDATION_FAILED")
    assert all(message.startswith("code ") for message in reply.message)


@pytest.mark.spec("B4.1-43")
async def test_disabling_needs_password_and_code(ada: RestClient, app: Authenticator) -> None:
    body = {"password": PASSWORD, "code": app.recovery_codes[0]}
    assert (await ada("POST", "/users/me/mfa/disable", body | {"password": "wrong"})).code == "PASSWORD_WRONG"
    assert (await ada("POST", "/users/me/mfa/disable", body | {"code": app.wrong_code()})).code == "MFA_CODE_INVALID"
    assert (await ada("POST", "/users/me/mfa/disable", {"password": PASSWORD})).code == "VALIDATION_FAILED"
    assert (await ada("GET", "/users/me/mfa")).body["enabled"] is True
    assert (await ada("POST", "/users/me/mfa/disable", body)).body == {"success": True}
    assert (await ada("GET", "/users/me/mfa")).body == {"enabled": False, "enabledAt": None, "recoveryCodesLeft": 0}
    assert "accessToken" in (await log_in(ada, EMAIL)).body


async def test_new_recovery_codes_replace_the_old_ones(ada: RestClient, app: Authenticator) -> None:
    reply = await ada("POST", "/users/me/mfa/recovery-codes", {"code": app.recovery_codes[0]})
    renewed = reply.body["recoveryCodes"]
    assert not set(renewed) & set(app.recovery_codes)
    assert (await ada("POST", "/users/me/mfa/verify", {"code": app.recovery_codes[1]})).code == "MFA_CODE_INVALID"
    assert (await ada("POST", "/users/me/mfa/verify", {"code": renewed[0]})).status == 200


async def test_the_secret_of_another_user_cannot_be_put_in_its_place(
    ada: RestClient, app: Authenticator, pool: asyncpg.Pool
) -> None:
    mallory = await register(ada, "mallory@example.org")
    other = await enable_mfa(ada)
    await pool.execute(
        "UPDATE user_mfa SET sealed_secret = (SELECT sealed_secret FROM user_mfa WHERE user_id = $1)"
        " WHERE user_id <> $1",
        mallory,
    )
    challenge = (await log_in(ada, EMAIL)).body
    refused = await send_code(ada, challenge, other.code())
    assert (refused.status, refused.body["code"]) == (503, "SEALING_SECRET_MISSING")
