"""Shows the large withdrawals of the last 24 hours as a metric, which an alert of operators follows.

The metric is made of the rows, so that none is missed while custody restarts.
"""

from datetime import timedelta

from openspot.custody import withdrawal_store as store
from openspot.custody.metrics import LARGE_WITHDRAWALS
from openspot.kit.clock import Clock, utc_datetime
from openspot.kit.database import Pool

LOOK_INTERVAL_S = 5.0
WINDOW = timedelta(hours=24)
SHOWN_MAX = 100
"""The newest that the metric shows."""
CENTS = 100


async def show_large_withdrawals(pool: Pool, clock: Clock, bound_usd: int) -> None:
    """Set the metric: every withdrawal worth `bound_usd` or more that was asked for within 24 hours."""
    since = utc_datetime(clock) - WINDOW
    found = await store.large_withdrawals(pool, since, bound_usd * CENTS, SHOWN_MAX)
    LARGE_WITHDRAWALS.clear()
    for withdrawal_id, value_cents in found:
        LARGE_WITHDRAWALS.labels(withdrawal_id).set(value_cents // CENTS)
