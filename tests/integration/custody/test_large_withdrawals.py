"""The large withdrawals of a day are shown as a metric, from the rows."""

from datetime import timedelta

import asyncpg
from prometheus_client import REGISTRY

from openspot.custody.large_withdrawals import show_large_withdrawals
from openspot.custody.settings import CustodySettings
from openspot.kit.clock import utc_now
from tests.support.filled_tables import insert

NOW = utc_now()
USER = {"user_id": "alice"}


async def shown(pool: asyncpg.Pool, bound_usd: int) -> dict[str, float]:
    await show_large_withdrawals(pool, lambda: round(NOW.timestamp() * 1_000_000_000), bound_usd)
    return {
        sample.labels["withdrawal"]: sample.value
        for family in REGISTRY.collect()
        if family.name == "openspot_custody_large_withdrawal_usd"
        for sample in family.samples
    }


async def test_those_of_a_day_from_the_bound_on_are_shown_and_those_that_are_old_go(pool: asyncpg.Pool) -> None:
    assert CustodySettings().alert_withdrawal_usd == 100_000
    rows = (
        ("at-the-bound", 10_000_000, timedelta(0)),
        ("below", 9_999_999, timedelta(0)),
        ("yesterday", 90_000_000, timedelta(days=1, milliseconds=1)),
        ("huge", 90_000_050, timedelta(hours=23, minutes=59)),
    )
    for withdrawal_id, value_cents, age in rows:
        await insert(
            pool, "custody_withdrawals", USER, withdrawal_id=withdrawal_id, value_cents=value_cents,
            created_at=(NOW - age).isoformat(),
        )  # fmt: skip
    assert await shown(pool, 100_000) == {"at-the-bound": 100_000, "huge": 900_000}
    assert await shown(pool, 900_001) == {}
