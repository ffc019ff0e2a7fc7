"""Deleting an account: what stops it, what is gone afterwards, and what stays."""

import asyncpg
import pytest

from openspot.contracts.subjects import USERS_DELETED_BUCKET
from openspot.kit.bus import Bus
from openspot.kit.mail.transports import MAILBOX_NAME
from openspot.kit.settings import Settings
from tests.support.authenticator import PASSWORD, enable_mfa, log_in, register
from tests.support.fake_engine_http import FakeEngineHttp
from tests.support.mailbox import mail_to
from tests.support.rest_client import Reply, RestClient, running_edge
from tests.support.waiting import eventually

EMAIL = "ada@example.org"
BODY = {"password": PASSWORD}

INSERT_ORDER = """
    INSERT INTO orders (order_id, user_id, symbol, side, type, time_in_force, quantity, remaining_quantity,
                        fee_currency, status, created_at, updated_at)
    VALUES ('o1', $1, 'BTC-USD', 'buy', 'limit', 'gtc', 1, 1, 'USD', $2, now(), now())
"""


@pytest.fixture
async def ada(edge: RestClient, engine: FakeEngineHttp) -> RestClient:
    """A client that is logged in as a registered user without balances."""
    edge.token = None
    await register(edge, EMAIL)
    return edge


async def delete(client: RestClient, **more: str) -> Reply:
    return await client("DELETE", "/users/me", BODY | more)


async def user_id(pool: asyncpg.Pool) -> str:
    return str(await pool.fetchval("SELECT user_id FROM users"))


@pytest.mark.spec("B4.1-48")
async def test_the_personal_data_is_gone_and_orders_stay_under_the_id(
    ada: RestClient, pool: asyncpg.Pool, settings: Settings
) -> None:
    """Looks for the address, the name and the mail address in every column of every table."""
    ada_id = await user_id(pool)
    await ada("PATCH", "/users/me/profile", {"displayName": "Ada Lovelace"})
    await ada("PUT", "/users/me/anti-phishing-code", {"code": "blue heron"})
    await ada("POST", "/users/me/check-in")
    app = await enable_mfa(ada)
    await pool.execute(INSERT_ORDER, ada_id, "filled")
    refresh_token = (await log_in(ada, EMAIL)).body
    assert refresh_token["mfaRequired"] is True

    async def recorded() -> bool:
        query = "SELECT count(*) FROM audit_records WHERE path ~ 'enable' AND user_id = $1"
        return bool(await pool.fetchval(query, ada_id))

    await eventually(recorded)
    assert await traces(pool, EMAIL) and await traces(pool, "127.0.0.1")
    assert (await delete(ada, mfaCode=app.recovery_codes[0])).body == {"success": True}
    await mail_to(settings.data_dir, EMAIL, "Your account is deleted")

    async def sent() -> bool:
        return await pool.fetchval("SELECT count(*) FROM mail_outbox") == 0

    await eventually(sent)
    for trace in (EMAIL, "Ada Lovelace", "blue heron"):
        assert await traces(pool, trace) == []
    # The record of the deletion itself may still have been on its way; the hourly clean-up takes it.
    late = "SELECT count(*) FROM audit_records WHERE user_id = $1 AND address <> '' AND method <> 'DELETE'"
    assert await pool.fetchval(late, ada_id) == 0
    assert await pool.fetchval("SELECT status FROM orders WHERE user_id = $1", ada_id) == "filled"


async def traces(pool: asyncpg.Pool, text: str) -> list[str]:
    """The tables in which some column holds `text`."""
    tables = await pool.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    count = "SELECT count(*) FROM {0} WHERE {0}::text LIKE '%' || $1 || '%'"
    return [row["tablename"] for row in tables if await pool.fetchval(count.format(row["tablename"]), text)]


async def test_late_audit_records_lose_their_address(ada: RestClient, pool: asyncpg.Pool, settings: Settings) -> None:
    ada_id = await user_id(pool)
    assert (await delete(ada)).status == 200

    async def recorded() -> bool:
        query = "SELECT count(*) FROM audit_records WHERE method = 'DELETE' AND user_id = $1"
        return bool(await pool.fetchval(query, ada_id))

    await eventually(recorded)
    async with running_edge(settings.model_copy(update={"rest_port": settings.ws_port})):

        async def erased() -> bool:
            query = "SELECT count(*) FROM audit_records WHERE user_id = $1 AND address <> ''"
            return await pool.fetchval(query, ada_id) == 0

        await eventually(erased)


async def test_every_token_of_a_deleted_user_is_refused_everywhere(
    ada: RestClient, settings: Settings, pool: asyncpg.Pool
) -> None:
    tokens = (await log_in(ada, EMAIL)).body
    assert (await delete(ada)).status == 200
    (settings.data_dir / MAILBOX_NAME).unlink(missing_ok=True)
    async with running_edge(settings.model_copy(update={"rest_port": settings.ws_port})) as later:
        for client in (ada, later):
            for token in (ada.token, tokens["accessToken"]):
                client.token = token
                assert (await client("GET", "/users/me/profile")).status == 401
            reply = await client("POST", "/auth/refresh", {"refreshToken": tokens["refreshToken"]})
            assert (reply.status, reply.code) == (401, "INVALID_REFRESH_TOKEN")
    assert (await log_in(ada, EMAIL)).code == "INVALID_CREDENTIALS"


async def test_other_services_are_told_and_told_again_if_the_bus_did_not_take_it(
    ada: RestClient, pool: asyncpg.Pool, settings: Settings, bus: Bus
) -> None:
    ada_id, deleted = await user_id(pool), bus.key_value(USERS_DELETED_BUCKET, bytes)
    assert (await delete(ada, password="wrong")).status == 400
    assert await deleted.get(ada_id) is None
    assert (await delete(ada)).status == 200
    assert await deleted.get(ada_id) is not None
    await deleted.delete(ada_id)
    async with running_edge(settings.model_copy(update={"rest_port": settings.ws_port})):
        await eventually(lambda: deleted.get(ada_id))


async def test_a_token_without_a_session_finds_no_account_any_more(ada: RestClient, pool: asyncpg.Pool) -> None:
    ada_id = await user_id(pool)
    await delete(ada)
    ada.as_user(ada_id)
    for method, path, body in (
        ("GET", "/profile", None),
        ("PATCH", "/profile", {"displayName": "Ada"}),
        ("PUT", "/anti-phishing-code", {"code": "blue heron"}),
        ("POST", "/check-in", None),
        ("POST", "/email-verification", None),
        ("POST", "/password", {"currentPassword": PASSWORD, "newPassword": "another long pass phrase"}),
    ):
        reply = await ada(method, f"/users/me{path}", body)
        assert (reply.status, reply.code) == (404, "USER_NOT_FOUND"), path
    assert (await ada("POST", "/users/me/mfa/setup", BODY)).code == "PASSWORD_WRONG"
    assert (await delete(ada)).code == "PASSWORD_WRONG"


async def test_the_address_is_free_again_for_somebody_else(ada: RestClient, pool: asyncpg.Pool) -> None:
    first = await user_id(pool)
    await delete(ada)
    second = await register(ada, EMAIL)
    assert second != first
    assert (await ada("GET", "/users/me/activity")).body[0]["kind"] == "logged_in"
    assert len((await ada("GET", "/users/me/activity")).body) == 1


@pytest.mark.parametrize("status", ["pending", "open", "partially_filled"])
async def test_open_orders_stop_it(ada: RestClient, pool: asyncpg.Pool, status: str) -> None:
    await pool.execute(INSERT_ORDER, await user_id(pool), status)
    reply = await delete(ada)
    assert (reply.status, reply.code, reply.body["details"]) == (409, "OPEN_ORDERS_REMAIN", {"openOrders": 1})
    assert (await ada("GET", "/users/me/profile")).status == 200


async def test_any_balance_above_zero_stops_it(ada: RestClient, pool: asyncpg.Pool, engine: FakeEngineHttp) -> None:
    zero = {"total": "0", "available": "0", "locked": "0", "reserved": "0"}
    rows = [{"currency": "BTC"} | zero, {"currency": "USD"} | zero | {"total": "0.000000000000000001"}]
    engine.balances[await user_id(pool)] = rows
    reply = await delete(ada)
    assert (reply.status, reply.code) == (409, "BALANCES_REMAIN")
    assert reply.body["details"] == {"balances": {"USD": "0.000000000000000001"}}
    rows.pop()
    assert (await delete(ada)).status == 200


async def test_without_the_engine_nothing_is_deleted(ada: RestClient, engine: FakeEngineHttp) -> None:
    await engine.stop()
    assert (await delete(ada)).status == 503
    assert (await ada("GET", "/users/me/profile")).status == 200


async def test_it_needs_the_password_and_with_mfa_a_code(ada: RestClient) -> None:
    assert (await ada("DELETE", "/users/me", {"password": "wrong"})).code == "PASSWORD_WRONG"
    app = await enable_mfa(ada)
    reply = await delete(ada)
    assert (reply.status, reply.code) == (401, "MFA_REQUIRED")
    assert (await delete(ada, mfaCode=app.wrong_code())).code == "MFA_CODE_INVALID"
    assert (await ada("GET", "/users/me/profile")).status == 200
    assert (await delete(ada, mfaCode=app.code())).status == 200
