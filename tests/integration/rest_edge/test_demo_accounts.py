"""The accounts of the demo market: made once, however often and wherever a start was killed."""

import asyncpg

from openspot.kit.settings import Settings
from openspot.rest_edge.common.demo_account_names import DEMO_ACCOUNTS, DEMO_MAKER, DEMO_TAKERS
from openspot.rest_edge.identity.users.demo_accounts import keep_demo_accounts
from tests.support.rest_client import running_edge

PASSWORD = "a password of the demo market"


async def rows(pool: asyncpg.Pool) -> list[tuple[str, str]]:
    return [tuple(row) for row in await pool.fetch("SELECT user_id, email FROM users ORDER BY user_id")]


async def test_the_bots_can_log_in_after_every_start_and_are_not_throttled(
    settings: Settings, pool: asyncpg.Pool
) -> None:
    demo = settings.model_copy(update={"demo": True, "demo_password": PASSWORD, "throttle_enabled": True})
    # As a start that was killed between the accounts leaves it.
    await keep_demo_accounts(pool, "an older password")
    await pool.execute("DELETE FROM users WHERE user_id = $1", DEMO_TAKERS[0].user_id)
    for _ in range(2):
        async with running_edge(demo) as edge:
            for account in DEMO_ACCOUNTS:
                edge.token = None
                body = {"email": account.email, "password": PASSWORD}
                reply = await edge("POST", "/auth/login", body)
                assert reply.status == 200, reply.body
                edge.token = reply.body["accessToken"]
                assert {(await edge("GET", "/orders")).status for _ in range(12)} == {200}
    assert await rows(pool) == sorted(DEMO_ACCOUNTS)


async def test_without_the_demo_market_there_are_no_accounts(settings: Settings, pool: asyncpg.Pool) -> None:
    async with running_edge(settings):
        assert await rows(pool) == []


async def test_an_account_whose_address_is_taken_is_not_taken_over(pool: asyncpg.Pool) -> None:
    await pool.execute(
        "INSERT INTO users (user_id, email, password_hash, role) VALUES ('somebody', $1, 'theirs', 'user')",
        DEMO_MAKER.email,
    )
    await keep_demo_accounts(pool, PASSWORD)
    assert await rows(pool) == [*DEMO_TAKERS, ("somebody", DEMO_MAKER.email)]
    assert await pool.fetchval("SELECT password_hash FROM users WHERE user_id = 'somebody'") == "theirs"
