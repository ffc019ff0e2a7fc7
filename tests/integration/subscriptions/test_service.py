"""The subscription service as a process runs it: on the real bus, with its own database, over HTTP."""

import asyncio
from typing import Any

import aiohttp
import asyncpg
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import GetEntitlements, GetEntitlementsReply
from openspot.contracts.subjects import SESSIONS_REVOKED_BUCKET, USERS_DELETED_BUCKET
from openspot.domain.ids import SUBSCRIPTIONS_ACCOUNT_ID
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.kit.tokens import Claims, sign
from openspot.subscriptions.plans import PlanError
from openspot.subscriptions.service import run
from openspot.subscriptions.settings import SubscriptionSettings
from tests.support.engine_client import EngineClient
from tests.support.in_process_platform import running
from tests.support.waiting import eventually

EXPIRES = 2**33


def token(settings: Settings, session_id: str = "", secret: str = "") -> dict[str, str]:
    claims = Claims("ada", "user", EXPIRES, session_id=session_id)
    return {"Authorization": f"Bearer {sign(claims, secret or settings.jwt_secret, 1)}"}


@pytest.mark.spec("B4.6-12", "A1.1-07", "A1.1-17", "A1.1-54", "A1.1-55", "A1.1-56", "A5-31")
async def test_the_service_serves_from_its_own_database_and_says_when_it_cannot(
    settings: Any, subscriptions_database_url: str, pool: asyncpg.Pool, bus: Bus
) -> None:
    assert SubscriptionSettings().subscriptions_port == 3060
    settings = settings.model_copy(
        update={"subscriptions_database_url": subscriptions_database_url, "subscriptions_poll_interval_s": 0.05}
    )
    async with (
        running(settings, "engine", "subscriptions"),
        asyncpg.create_pool(subscriptions_database_url, min_size=1, max_size=1) as own,
        aiohttp.ClientSession(settings.subscriptions_url) as client,
    ):

        async def get(path: str, headers: dict[str, str] | None = None) -> int:
            async with client.get(path, headers=headers) as response:
                await response.read()
                return response.status

        engine = EngineClient(settings)
        await engine.fund("ada", USD="100")

        # Nothing of the service is in the platform's database.
        body = {"planId": "pro", "asset": "USD"}
        async with client.post("/api/subscribe", json=body, headers=token(settings)) as response:
            assert response.status == 201
        assert await own.fetchval("SELECT user_id FROM subscriptions") == "ada"
        assert await pool.fetchval("SELECT to_regclass('subscriptions') IS NULL")
        audited = "SELECT count(*) FROM audit_records WHERE user_id = 'ada' AND address = ''"
        await eventually(lambda: own.fetchval(audited))

        # Other services ask it for the limits that they hold.
        reply = await bus.request(subjects.ENTITLEMENTS_GET, GetEntitlements("ada"), GetEntitlementsReply)
        assert (reply.plan_id, reply.limits) == ("pro", {"api_keys": 20, "saved_addresses": 50, "price_alerts": 100})
        free = await bus.request(subjects.ENTITLEMENTS_GET, GetEntitlements("bob"), GetEntitlementsReply)
        assert (free.plan_id, free.limits) == (None, {"api_keys": 2, "saved_addresses": 3, "price_alerts": 20})

        # The service renews what is due by itself.
        await own.execute("UPDATE subscriptions SET anchor = anchor - 45, due_on = due_on - 45")
        renewed = "SELECT count(*) FROM subscription_payments WHERE kind = 'renewal' AND status = 'completed'"
        await eventually(lambda: own.fetchval(renewed))

        # A user who was deleted is charged no more: the next step ends the subscription.
        await bus.key_value(USERS_DELETED_BUCKET, bytes).put("ada", b"")
        await own.execute("UPDATE subscriptions SET anchor = anchor - 45, due_on = due_on - 45")
        await eventually(lambda: own.fetchval("SELECT status = 'expired' FROM subscriptions"))
        assert await own.fetchval(renewed) == 1
        # Two periods were paid from the account.
        assert (await engine.balances("ada"))["USD"].total == "40"
        assert (await engine.balances(SUBSCRIPTIONS_ACCOUNT_ID))["USD"].total == "60"
        await engine.close()

        async with client.get("/metrics") as response:
            assert response.status == 200
            text = await response.text()
        assert 'openspot_subscription_charges_total{kind="renewal",status="completed"}' in text
        assert "openspot_subscription_overdue 0.0" in text

        # A token of another secret, and one whose session ends while the service runs.
        assert await get("/api/entitlements", token(settings, secret="x" * 40)) == 401
        assert await get("/api/entitlements", token(settings, "session-1")) == 200
        await bus.key_value(SESSIONS_REVOKED_BUCKET, bytes, settings.ended_session_life_s).put("session-1", b"")

        async def refused() -> bool:
            return await get("/api/entitlements", token(settings, "session-1")) == 401

        await eventually(refused)
        assert await get("/api/entitlements", token(settings, "session-2")) == 200

        # Without its tables it is not ready, and says so; /health is static.
        async def is_ready() -> bool:
            return await get("/ready") == 200

        await eventually(is_ready)
        await own.execute("ALTER TABLE subscriptions RENAME TO away")

        async def is_not_ready() -> bool:
            return await get("/ready") == 503

        await eventually(is_not_ready)
        async with client.get("/health") as response:
            assert (response.status, (await response.json())["status"]) == (200, "ok")
        await own.execute("ALTER TABLE away RENAME TO subscriptions")

        async def is_ready() -> bool:
            return await get("/ready") == 200

        await eventually(is_ready)


async def test_bad_plans_keep_the_service_from_starting_and_name_file_and_reason(tmp_path: Any) -> None:
    path = tmp_path / "plans.toml"
    for content, reason in ((b"retry_days = []", "places is missing"), (b"\xff", "codec"), (None, "No such file")):
        if content is None:
            path.unlink()
        else:
            path.write_bytes(content)
        settings = SubscriptionSettings(
            subscriptions_plans_file=str(path), data_dir=tmp_path / "data", jwt_secret="s" * 32
        )
        with pytest.raises(PlanError, match=reason) as raised:
            await run(settings, asyncio.Event())
        assert str(path) in str(raised.value)


@pytest.mark.parametrize(
    ("given", "database"),
    [
        ({"database_url": "postgresql://me:p%40ss@db:5432/spot?sslmode=require"},
         "postgresql://me:p%40ss@db:5432/spot_subscriptions?sslmode=require"),
        ({"database_url": "postgresql://openspot@/openspot?host=/run/a%20b&port=5432"},
         "postgresql://openspot@/openspot_subscriptions?host=/run/a%20b&port=5432"),
        ({"database_url": "postgresql://me@db"}, "postgresql://me@db/me_subscriptions"),
        ({"database_url": "postgresql://db/spot", "subscriptions_database_url": "postgresql://other/own"},
         "postgresql://other/own"),
        ({"database_url": ""}, ""),
    ],
)  # fmt: skip
def test_the_own_database_lies_beside_the_platforms_unless_it_is_given(given: dict[str, str], database: str) -> None:
    assert SubscriptionSettings(**given).subscriptions_database == database
