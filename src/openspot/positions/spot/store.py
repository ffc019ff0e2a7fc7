"""Reads what the results of an account on the exchange are made of."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from openspot.kit.clock import datetime_from_ms
from openspot.kit.database import Pool
from openspot.kit.sql import numeric
from openspot.positions.amounts import amount_of
from openspot.positions.fifo_transaction import sequence_in_sql
from openspot.positions.movements import ESTIMATE_PREFIX, EXCHANGE
from openspot.positions.spot_results import LotSum, Realised, newest_lots

_NEWEST_LOTS = f"""
    WITH counted AS (
        SELECT lot.asset, lot.quantity, lot.cost, held.quantity AS held, lot.acquisition_id, sum(lot.quantity) OVER (
            PARTITION BY lot.asset
            ORDER BY starts_with(acquisition_id, $5), acquired_ms DESC, {sequence_in_sql("acquisition_id")} DESC,
                acquisition_id DESC
        ) AS reached
        FROM unnest($3::text[], $4::numeric[]) AS held (asset, quantity) JOIN fifo_lots AS lot USING (asset)
        WHERE user_id = $1 AND account = $2
    )
    SELECT asset, coalesce(sum(quantity) FILTER (WHERE reached <= held), 0) AS whole_quantity,
        coalesce(sum(cost) FILTER (WHERE reached <= held), 0) AS whole_cost,
        max(quantity) FILTER (WHERE reached > held) AS part_quantity,
        max(cost) FILTER (WHERE reached > held) AS part_cost,
        coalesce(sum(quantity) FILTER (WHERE NOT starts_with(acquisition_id, $5)), 0) AS told
    FROM counted WHERE reached - quantity < held GROUP BY asset
"""  # noqa: S608
_REALISED = """
    SELECT asset, sum(proceeds - cost) AS all,
        coalesce(sum(proceeds - cost) FILTER (WHERE disposed_ms >= $3), 0) AS today,
        coalesce(sum(proceeds - cost) FILTER (WHERE disposed_ms >= $4), 0) AS week,
        coalesce(sum(proceeds - cost) FILTER (WHERE disposed_ms >= $5), 0) AS month
    FROM fifo_disposals WHERE user_id = $1 AND account = $2 GROUP BY asset
"""
_FEES = """
    SELECT symbol, sum(fee) AS fees FROM position_trades WHERE participant_id = $1 AND source = 'fill'
    GROUP BY symbol HAVING sum(fee) <> 0
"""
# Trades are followed in their order, so the newest ones tell whether all are counted.
_UNFOLLOWED = """
    SELECT EXISTS (
        SELECT FROM unnest(ARRAY['buy', 'sell']) AS taker (side) CROSS JOIN LATERAL (
            (SELECT trade_id || ':buy' AS id FROM trades WHERE buyer_id = $1 AND taker_side = taker.side
            ORDER BY sequence DESC LIMIT 1)
            UNION ALL
            (SELECT trade_id || ':sell' FROM trades WHERE seller_id = $1 AND taker_side = taker.side
            ORDER BY sequence DESC LIMIT 1)
        ) AS newest
        WHERE NOT EXISTS (SELECT FROM position_trades WHERE trade_id = newest.id)
    )
"""

_UNFOLLOWED_MOVEMENT = """
    SELECT EXISTS (
        SELECT FROM ledger_entries WHERE user_id = $1 AND reference_type <> 'trade' AND created_at > $2
    )
"""


class Waiting(NamedTuple):
    """What is not counted yet. Everything before `since` is; None if nothing waits. `fills` wait for a price."""

    since: datetime | None
    fills: int


class SpotStore:
    """Reads lots, disposals and fees of the account `exchange`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def lots(self, user_id: str, held: Mapping[str, int]) -> dict[str, LotSum]:
        """By asset the newest lots, of at most the quantity that is held. Assets without lots are left out."""
        quantities = list(map(numeric, held.values()))
        rows = await self._pool.fetch(_NEWEST_LOTS, user_id, EXCHANGE, list(held), quantities, ESTIMATE_PREFIX)
        return {
            row["asset"]: newest_lots(
                LotSum(amount_of(row["whole_quantity"]), amount_of(row["whole_cost"])),
                None
                if row["part_quantity"] is None
                else LotSum(amount_of(row["part_quantity"]), amount_of(row["part_cost"])),
                held[row["asset"]],
                amount_of(row["told"]),
            )
            for row in rows
        }

    async def realised(self, user_id: str, today: int, week: int, month: int) -> dict[str, Realised]:
        """By asset the result of disposals of all time, and since three times in milliseconds."""
        rows = await self._pool.fetch(_REALISED, user_id, EXCHANGE, today, week, month)
        return {row["asset"]: Realised(*(amount_of(row[name]) for name in Realised._fields)) for row in rows}

    async def fees(self, user_id: str) -> dict[str, dict[str, int]]:
        """By the asset that was traded the fees of its fills, by the asset in which they were paid."""
        found: dict[str, dict[str, int]] = {}
        for row in await self._pool.fetch(_FEES, user_id):
            base, quote = row["symbol"].split("-")
            found.setdefault(base, {})[quote] = amount_of(row["fees"])
        return found

    async def waiting(self, user_id: str, followed_until: datetime | None = None) -> Waiting:
        """What of the user's fills is not counted yet, and of the movements if they are followed."""
        pending = await self._pool.fetchrow(
            "SELECT count(*) AS fills, min(executed_ms) AS first FROM fifo_pending_fills WHERE user_id = $1", user_id
        )
        assert pending is not None, "counts always give a row"
        times = [] if pending["first"] is None else [datetime_from_ms(pending["first"])]
        if await self._pool.fetchval(_UNFOLLOWED, user_id):
            followed: datetime | None = await self._pool.fetchval(
                "SELECT updated_at FROM position_checkpoints WHERE name = 'exchange'"
            )
            times.append(followed or datetime_from_ms(0))
        if followed_until is not None and await self._pool.fetchval(_UNFOLLOWED_MOVEMENT, user_id, followed_until):
            times.append(followed_until)
        return Waiting(min(times, default=None), pending["fills"])
