"""Users and sessions through the REST edge, on the real database and bus."""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import jwt
import pytest
from argon2 import PasswordHasher
from prometheus_client import REGISTRY

from openspot.contracts.subjects import SESSIONS_REVOKED_BUCKET
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.kit.tokens import verify_access_token
from openspot.rest_edge.identity import service as identity
from openspot.rest_edge.identity.auth.schemas import LogoutResponse, TokensResponse, UserResponse
from openspot.up.embedded_nats import EmbeddedNats
from tests.support.fake_engine_http import FakeEngineHttp
from tests.support.filled_tables import insert
from tests.support.rest_client import Reply, RestClient, running_edge
from tests.support.waiting import eventually

EMAIL = "ada@example.org"
PASSWORD = "correct horse battery"
CREDENTIALS = {"email": EMAIL, "password": PASSWORD}


@pytest.fixture
async def visitor(edge: RestClient) -> RestClient:
    """A client without a token."""
    edge.token = None
    return edge


async def log_in(client: RestClient) -> dict[str, Any]:
    reply = await client("POST", "/auth/login", CREDENTIALS)
    assert reply.status == 200, reply.body
    client.token = reply.body["accessToken"]
    return dict(reply.body)


async def refresh(client: RestClient, token: str) -> Reply:
    return await client("POST", "/auth/refresh", {"refreshToken": token})


@pytest.mark.spec("A5-11")
async def test_the_table_of_users_takes_no_role_but_user_and_admin(pool: asyncpg.Pool) -> None:
    insert = "INSERT INTO users (user_id, email, password_hash, role) VALUES ($1, $1, 'hash', $1)"
    for role in ("user", "admin"):
        await pool.execute(insert, role)
    with pytest.raises(asyncpg.CheckViolationError):
        await pool.execute(insert, "operator")


@pytest.mark.spec("B4.1-32")
async def test_register_creates_a_user_whose_password_is_kept_as_a_hash(
    visitor: RestClient, pool: asyncpg.Pool
) -> None:
    reply = await visitor("POST", "/auth/register", {"email": " Ada@Example.ORG ", "password": PASSWORD})
    assert reply.status == 201
    user = UserResponse.model_validate(reply.body)
    assert (user.email, user.role) == (EMAIL, "user")
    row = await pool.fetchrow("SELECT * FROM users")
    assert (row["user_id"], row["email"]) == (user.user_id, EMAIL)
    assert row["password_hash"].startswith("$argon2id$")


@pytest.mark.spec("A5-01", "A5-08", "B4.1-31")
async def test_login_gives_tokens_that_work(visitor: RestClient, settings: Settings, engine: FakeEngineHttp) -> None:
    user = (await visitor("POST", "/auth/register", CREDENTIALS)).body
    tokens = await log_in(visitor)
    TokensResponse.model_validate(tokens)
    assert (tokens["tokenType"], tokens["expiresIn"], tokens["userId"]) == ("Bearer", 900, user["userId"])
    claims = jwt.decode(tokens["accessToken"], settings.jwt_secret, algorithms=["HS256"])
    assert {"sub", "role", "sid", "iat", "exp", "jti"} <= set(claims)
    assert (claims["sub"], claims["role"], claims["exp"] - claims["iat"]) == (user["userId"], "user", 900)
    assert (await visitor("GET", "/accounts/balances")).status == 200


async def test_an_email_address_registers_once(visitor: RestClient, pool: asyncpg.Pool) -> None:
    replies = await asyncio.gather(*(visitor("POST", "/auth/register", CREDENTIALS) for _ in range(4)))
    # A taken address gets the same response: it must not tell who has an account.
    assert [reply.status for reply in replies] == [201] * 4
    [row] = await pool.fetch("SELECT user_id FROM users")
    assert sum(reply.body["userId"] == row["user_id"] for reply in replies) == 1


def failed_logins() -> float:
    return REGISTRY.get_sample_value("openspot_edge_failed_logins_total", {"reason": "password"}) or 0.0


@pytest.mark.usefixtures("costly_passwords")
async def test_wrong_credentials_are_refused_alike_and_take_alike(own_edge: RestClient) -> None:
    await own_edge("POST", "/auth/register", CREDENTIALS)
    counted = failed_logins()
    # Processor time, of all threads: what else the machine does counts in neither.
    began = time.process_time()
    wrong = await own_edge("POST", "/auth/login", CREDENTIALS | {"password": "wrong password"})
    between = time.process_time()
    unknown = await own_edge("POST", "/auth/login", CREDENTIALS | {"email": "bob@example.org"})
    ended = time.process_time()
    for reply in (wrong, unknown):
        assert (reply.status, reply.code) == (401, "INVALID_CREDENTIALS")
    assert wrong.message == unknown.message
    assert failed_logins() == counted + 2, "operators' alerts count them"
    # A hash is checked in both cases: without one the answer would come in a few milliseconds.
    assert (ended - between) > 0.3 * (between - began)


BAD_CREDENTIALS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("register", {"email": "ada"}, "email must be an email address"),
    ("register", {"email": "a b@example.org"}, "email must be an email address"),
    ("register", {"email": "a@b..org"}, "email must be an email address"),
    ("register", {"email": f"{'a' * 250}@example.org"}, "email must be an email address"),
    ("register", {"email": 5}, "email must be an email address"),
    ("register", {"password": "too short"}, "password must be at least 10 characters long"),
    ("register", {"password": "x" * 129}, "password must be at most 128 characters long"),
    ("register", {"password": None}, "password must be a text"),
    ("register", {"password": EMAIL.upper()}, "password must not be the email address"),
    ("register", {"role": "admin"}, "property role should not exist"),
    ("login", {"email": ["x"]}, "email must be an email address"),
    ("login", {"mfa": "1"}, "property mfa should not exist"),
    ("login", {"password": ""}, "password must be at least 1 characters long"),
)


async def test_bad_credentials_are_refused_by_field(visitor: RestClient) -> None:
    for path, body, message in BAD_CREDENTIALS:
        reply = await visitor("POST", f"/auth/{path}", CREDENTIALS | body)
        assert (reply.status, reply.message) == (400, [message]), body


@pytest.mark.spec("A5-10", "B4.1-33")
async def test_a_refresh_token_works_once_and_gives_the_next(
    visitor: RestClient, pool: asyncpg.Pool, engine: FakeEngineHttp
) -> None:
    await visitor("POST", "/auth/register", CREDENTIALS)
    first = await log_in(visitor)
    reply = await refresh(visitor, first["refreshToken"])
    assert reply.status == 200
    TokensResponse.model_validate(reply.body)
    assert reply.body["refreshToken"] != first["refreshToken"]
    visitor.token = reply.body["accessToken"]
    assert (await visitor("GET", "/accounts/balances")).status == 200
    rows = await pool.fetch("SELECT * FROM refresh_tokens ORDER BY created_at")
    assert [row["used_at"] is None for row in rows] == [False, True]
    assert len({row["family_id"] for row in rows}) == 1
    assert 29.9 < (rows[1]["expires_at"] - rows[1]["created_at"]).total_seconds() / 86_400 < 30.1
    assert not any(first["refreshToken"].encode() in bytes(row["token_hash"]) for row in rows)


@pytest.mark.spec("A5-10")
async def test_a_refresh_token_that_is_used_twice_ends_the_session(visitor: RestClient) -> None:
    await visitor("POST", "/auth/register", CREDENTIALS)
    first = await log_in(visitor)
    second = (await refresh(visitor, first["refreshToken"])).body
    reply = await refresh(visitor, first["refreshToken"])
    assert (reply.status, reply.code) == (401, "REFRESH_TOKEN_REUSED")
    reply = await refresh(visitor, second["refreshToken"])
    assert (reply.status, reply.code) == (401, "INVALID_REFRESH_TOKEN")
    for tokens in (first, second):
        visitor.token = tokens["accessToken"]
        assert (await visitor("GET", "/accounts/balances")).status == 401
    another = await log_in(visitor)
    assert (await refresh(visitor, another["refreshToken"])).status == 200


async def test_of_two_refreshes_at_once_one_wins_and_the_session_ends(visitor: RestClient, pool: asyncpg.Pool) -> None:
    await visitor("POST", "/auth/register", CREDENTIALS)
    token = (await log_in(visitor))["refreshToken"]
    replies = await asyncio.gather(*(refresh(visitor, token) for _ in range(6)))
    assert sorted(reply.status for reply in replies) == [200, 401, 401, 401, 401, 401]
    [winner] = [reply for reply in replies if reply.status == 200]
    assert (await refresh(visitor, winner.body["refreshToken"])).status == 401
    assert await pool.fetchval("SELECT count(*) FROM refresh_tokens WHERE used_at IS NULL AND revoked_at IS NULL") == 0


async def test_an_expired_or_unknown_refresh_token_is_refused(visitor: RestClient, pool: asyncpg.Pool) -> None:
    await visitor("POST", "/auth/register", CREDENTIALS)
    token = (await log_in(visitor))["refreshToken"]
    await pool.execute("UPDATE refresh_tokens SET expires_at = $1", datetime.now(UTC) - timedelta(seconds=1))
    reply = await refresh(visitor, token)
    assert (reply.status, reply.message) == (401, "the refresh token has expired")
    for unknown in ("nonsense", "\ud800", "a" * 256):
        assert (await refresh(visitor, unknown)).status in (400, 401)
    assert (await refresh(visitor, "x" * 257)).message == ["refreshToken must be at most 256 characters long"]


@pytest.mark.spec("A5-09")
async def test_a_refresh_token_of_one_process_works_at_another(visitor: RestClient, settings: Settings) -> None:
    await visitor("POST", "/auth/register", CREDENTIALS)
    token = (await log_in(visitor))["refreshToken"]
    async with running_edge(settings.model_copy(update={"rest_port": settings.ws_port})) as other:
        reply = await refresh(other, token)
        assert reply.status == 200
        assert (await refresh(visitor, reply.body["refreshToken"])).status == 200


@pytest.mark.spec("B4.1-34")
async def test_logout_ends_the_session_here_and_at_every_process(visitor: RestClient, settings: Settings) -> None:
    await visitor("POST", "/auth/register", CREDENTIALS)
    other_session = await log_in(visitor)
    tokens = await log_in(visitor)
    async with running_edge(settings.model_copy(update={"rest_port": settings.ws_port})) as other:
        other.token = tokens["accessToken"]
        assert (await other("GET", "/orders")).status == 200
        reply = await visitor("POST", "/auth/logout")
        assert reply.status == 200
        LogoutResponse.model_validate(reply.body)
        reply = await visitor("GET", "/orders")
        assert (reply.status, reply.code, reply.message) == (401, "UNAUTHENTICATED", "the session has ended")
        assert (await refresh(visitor, tokens["refreshToken"])).status == 401

        async def refused_there() -> bool:
            return (await other("GET", "/orders")).status == 401

        await eventually(refused_there)
    visitor.token = other_session["accessToken"]
    assert (await visitor("GET", "/orders")).status == 200


async def test_a_process_that_starts_later_knows_the_ended_sessions(visitor: RestClient, settings: Settings) -> None:
    await visitor("POST", "/auth/register", CREDENTIALS)
    tokens = await log_in(visitor)
    await visitor("POST", "/auth/logout")
    async with running_edge(settings.model_copy(update={"rest_port": settings.ws_port})) as other:
        other.token = tokens["accessToken"]
        assert (await other("GET", "/orders")).status == 401


async def test_a_session_whose_end_a_process_did_not_live_to_tell_of_ends_everywhere(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "UNTOLD_INTERVAL_S", 0.05)
    told = bus.key_value(SESSIONS_REVOKED_BUCKET, bytes, settings.ended_session_life_s)

    async def end_untold(token: str) -> str:
        """The database takes the end of the session, and then the process dies."""
        session_id = verify_access_token(token, settings.jwt_secret, time.time()).session_id
        await pool.execute("UPDATE refresh_tokens SET revoked_at = now() WHERE family_id = $1", session_id)
        return session_id

    async with running_edge(settings) as edge:
        await edge("POST", "/auth/register", CREDENTIALS)
        first = await log_in(edge)
        # A session that was renewed has several tokens.
        renewed = (await refresh(edge, first["refreshToken"])).body
        at_once, later = renewed["accessToken"], (await log_in(edge))["accessToken"]
        session_id = await end_untold(at_once)
        edge.token = at_once

        async def refused() -> bool:
            return (await edge("GET", "/orders")).status == 401

        await eventually(refused)
        await eventually(lambda: told.get(session_id))
        edge.token = later
        assert (await edge("GET", "/orders")).status == 200
    session_id = await end_untold(later)
    monkeypatch.setattr(identity, "UNTOLD_INTERVAL_S", 60)
    async with running_edge(settings) as edge:
        edge.token = later
        assert (await edge("GET", "/orders")).status == 401
        await eventually(lambda: told.get(session_id))


async def test_a_session_that_ends_while_the_bus_is_away_ends_everywhere_when_it_is_back(
    settings: Settings, nats_server: EmbeddedNats
) -> None:
    other_settings = settings.model_copy(update={"rest_port": settings.ws_port})
    async with running_edge(settings) as edge, running_edge(other_settings) as other:
        await edge("POST", "/auth/register", CREDENTIALS)
        other.token = (await log_in(edge))["accessToken"]
        edge.token = other.token
        nats_server.kill()
        assert (await edge("POST", "/auth/logout")).status == 503
        assert (await edge("GET", "/orders")).status == 401
        # The client cannot repeat the logout: its session has ended there.
        assert (await edge("POST", "/auth/logout")).status == 401
        nats_server.start()

        async def refused_there() -> bool:
            return (await other("GET", "/orders")).status == 401

        await eventually(refused_there, 60)


async def test_ended_sessions_are_followed_again_after_the_bus_was_lost(
    settings: Settings, nats_server: EmbeddedNats
) -> None:
    other_settings = settings.model_copy(update={"rest_port": settings.ws_port})
    async with running_edge(settings) as edge, running_edge(other_settings) as other:
        await edge("POST", "/auth/register", CREDENTIALS)
        other.token = (await log_in(edge))["accessToken"]
        nats_server.kill()
        assert (await edge("POST", "/auth/logout")).status == 503
        assert (await edge("GET", "/orders")).status == 401
        nats_server.start()
        other_session = RestClient(settings, (await log_in(edge))["accessToken"])
        edge.token = other_session.token

        async def logged_out() -> bool:
            return (await edge("POST", "/auth/logout")).status in (200, 401)

        await eventually(logged_out, 60)
        other.token = other_session.token

        async def refused_there() -> bool:
            return (await other("GET", "/orders")).status == 401

        await eventually(refused_there, 60)
        await other_session.close()


def from_address(address: str) -> dict[str, str]:
    """Headers of a request that a trusted proxy hands on."""
    return {"X-Forwarded-For": address}


@pytest.fixture
async def behind_proxy(settings: Settings) -> AsyncIterator[RestClient]:
    """The edge behind a proxy, so that one test can send from many addresses."""
    async with running_edge(settings.model_copy(update={"trusted_proxies": "127.0.0.1"})) as client:
        yield client


async def log_in_from(client: RestClient, address: str, password: str = PASSWORD, email: str = EMAIL) -> Reply:
    return await client("POST", "/auth/login", {"email": email, "password": password}, headers=from_address(address))


async def test_the_owner_is_told_of_a_login_from_a_network_that_is_new_but_for_the_first(
    behind_proxy: RestClient, pool: asyncpg.Pool
) -> None:
    await behind_proxy("POST", "/auth/register", CREDENTIALS)
    for address in ("192.0.2.1", "192.0.2.1", "198.51.100.7", "192.0.2.1", "198.51.100.7"):
        assert (await log_in_from(behind_proxy, address)).status == 200
    (notice,) = await pool.fetch("SELECT kind, title, text FROM notifications")
    assert (notice["kind"], notice["title"]) == ("new.login", "New login to your account")
    assert notice["text"].startswith("Somebody logged in from 198.51.100.7")
    assert notice["text"].endswith("Was it not you? Reset your password and end all sessions.")


async def test_guesses_are_free_five_times_and_then_wait_for_that_account_only(visitor: RestClient) -> None:
    await visitor("POST", "/auth/register", CREDENTIALS)
    wrong = CREDENTIALS | {"password": "wrong password"}
    statuses = [(await visitor("POST", "/auth/login", wrong)).status for _ in range(5)]
    assert statuses == [401] * 5
    reply = await visitor("POST", "/auth/login", CREDENTIALS)
    assert (reply.status, reply.code) == (429, "TOO_MANY_LOGINS")
    assert 0 < int(reply.headers["Retry-After"]) <= 30
    other = {"email": "bob@example.org", "password": PASSWORD}
    await visitor("POST", "/auth/register", other)
    assert (await visitor("POST", "/auth/login", other)).status == 200


async def test_of_many_guesses_at_once_no_more_are_judged_than_one_after_the_other(behind_proxy: RestClient) -> None:
    await behind_proxy("POST", "/auth/register", CREDENTIALS)
    replies = await asyncio.gather(
        *(log_in_from(behind_proxy, "203.0.113.9", f"guess number {number}") for number in range(200))
    )
    assert sorted({reply.status for reply in replies}) == [401, 429]
    assert sum(reply.status == 401 for reply in replies) == 5


async def test_a_right_password_forgets_the_failures_before_it(behind_proxy: RestClient) -> None:
    await behind_proxy("POST", "/auth/register", CREDENTIALS)
    for _ in range(4):
        for _ in range(4):
            assert (await log_in_from(behind_proxy, "203.0.113.9", "wrong password")).status == 401
        assert (await log_in_from(behind_proxy, "203.0.113.9")).status == 200


async def test_strangers_do_not_keep_the_owner_out_of_a_known_address(behind_proxy: RestClient) -> None:
    await behind_proxy("POST", "/auth/register", CREDENTIALS)
    home = "198.51.100.7"
    assert (await log_in_from(behind_proxy, home)).status == 200
    for number in range(60):
        await log_in_from(behind_proxy, f"203.0.113.{number // 3}", "wrong password")
    # From anywhere else the account waits; its owner's address does not.
    elsewhere = await log_in_from(behind_proxy, "192.0.2.1")
    assert (elsewhere.status, elsewhere.code) == (429, "TOO_MANY_LOGINS")
    assert int(elsewhere.headers["Retry-After"]) <= 900
    assert (await log_in_from(behind_proxy, home)).status == 200


async def test_one_address_that_tries_many_accounts_waits(behind_proxy: RestClient) -> None:
    replies = [
        await log_in_from(behind_proxy, "203.0.113.9", "wrong password", f"user{number}@example.org")
        for number in range(102)
    ]
    assert [reply.status for reply in replies] == [401] * 100 + [429] * 2


async def test_waits_are_known_to_every_process_and_survive_a_restart(settings: Settings) -> None:
    async with running_edge(settings) as edge:
        await edge("POST", "/auth/register", CREDENTIALS)
        for _ in range(5):
            await edge("POST", "/auth/login", CREDENTIALS | {"password": "wrong password"})
    async with running_edge(settings) as edge:
        assert (await edge("POST", "/auth/login", CREDENTIALS)).status == 429


@pytest.mark.usefixtures("costly_passwords")
async def test_a_flood_of_registrations_keeps_no_login_out(settings: Settings) -> None:
    async with running_edge(settings) as edge:
        await edge("POST", "/auth/register", CREDENTIALS)

        async def register(number: int) -> int:
            body = {"email": f"user{number}@example.org", "password": PASSWORD}
            return (await edge("POST", "/auth/register", body)).status

        flood = [asyncio.create_task(register(number)) for number in range(150)]
        logins = [await edge("POST", "/auth/login", CREDENTIALS) for _ in range(4)]
        assert [reply.status for reply in logins] == [200] * 4
        statuses = set(await asyncio.gather(*flood))
        # The flood was one: most of it found the queue full.
        assert statuses == {201, 503}


async def test_registrations_of_one_address_are_throttled_more_strictly(settings: Settings) -> None:
    limited = settings.model_copy(update={"throttle_enabled": True, "trusted_proxies": "127.0.0.1"})
    async with running_edge(limited) as edge:
        statuses = []
        for number in range(6):
            body = {"email": f"user{number}@example.org", "password": PASSWORD}
            statuses.append((await edge("POST", "/auth/register", body, headers=from_address("203.0.113.9"))).status)
        assert statuses == [201] * 5 + [429]
        body = {"email": "other@example.org", "password": PASSWORD}
        assert (await edge("POST", "/auth/register", body, headers=from_address("203.0.113.10"))).status == 201


@pytest.mark.parametrize(
    ("password", "message"),
    [
        (" " * 12, "password must not be blank"),
        ("\t \t \t \t \t \t ", "password must not be blank"),
        ("qwertyuiop", "password is too common: it is among the first that anybody tries"),
        ("QwertyUIOP", "password is too common: it is among the first that anybody tries"),
        ("openspot123!", "password is too common: it is among the first that anybody tries"),
        ("ada123456789", "password is too common: it is among the first that anybody tries"),
        ("aaaaaaaaaaaa", "password must have at least 3 different characters"),
    ],
)
async def test_a_password_that_anybody_would_guess_is_refused(visitor: RestClient, password: str, message: str) -> None:
    reply = await visitor("POST", "/auth/register", {"email": EMAIL, "password": password})
    assert (reply.status, reply.message) == (400, [message])


@pytest.mark.usefixtures("costly_passwords")
async def test_a_hash_of_old_parameters_is_renewed_at_login(visitor: RestClient, pool: asyncpg.Pool) -> None:
    await visitor("POST", "/auth/register", CREDENTIALS)
    weak = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
    await pool.execute("UPDATE users SET password_hash = $1", weak)
    await log_in(visitor)
    assert await pool.fetchval("SELECT password_hash FROM users") != weak
    await log_in(visitor)


def staked(tokens: Any) -> Any:
    return jwt.decode(tokens["accessToken"], options={"verify_signature": False}).get("stakingBalance")


@pytest.mark.spec("A5-07")
async def test_tokens_state_the_users_active_stakes_of_the_payment_token(
    own_edge: RestClient, pool: asyncpg.Pool
) -> None:
    user = {"user_id": (await own_edge("POST", "/auth/register", CREDENTIALS)).body["userId"]}
    tokens = await log_in(own_edge)
    assert staked(tokens) == "0"
    stakes = (
        ("USDT", "active", "99999.5"), ("USDT", "active", "0.5"), ("USDT", "redeemed", "7"), ("BTC", "active", "9"),
    )  # fmt: skip
    for number, (asset, status, amount) in enumerate(stakes):
        stake = {"balance_id": f"stake-{number}", "asset": asset, "status": status, "amount": amount}
        await insert(pool, "staking_balances", user, **stake)
    renewed = (await refresh(own_edge, tokens["refreshToken"])).body
    assert staked(renewed) == "100000"
    # What cannot be read is left out; the session goes on.
    await pool.execute("ALTER TABLE staking_balances RENAME TO away")
    again = await refresh(own_edge, renewed["refreshToken"])
    assert again.status == 200
    assert staked(again.body) is None
