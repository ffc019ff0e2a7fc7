"""Reads what the results of an account on the exchange are made of."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from openspot.kit.clock import datetime_from_ms
from openspot.kit.database import Pool
from openspot.kit.sql import numeric
from openspot.positions.amounts import amount_of
from openspot.positions.fifo_transaction import sequence_in_sql
from openspot.positions.market_results import FillSums
from openspot.positions.movements import ESTIMATE_PREFIX, EXCHANGE
from openspot.positions.spot_results import LotSum, Realised, newest_lots

# `reached` is the quantity of a lot and of all that are newer: the newest lots are those that begin below what is held.
_COUNTED = f"""
    WITH counted AS (
        SELECT lot.asset, lot.quantity, lot.cost, held.quantity AS held, lot.acquisition_id, sum(lot.quantity) OVER (
            PARTITION BY lot.asset
            ORDER BY starts_with(acquisition_id, $5), acquired_ms DESC, {sequence_in_sql("acquisition_id")} DESC,
                acquisition_id DESC
        ) AS reached
        FROM unnest($3::text[], $4::numeric[]) AS held (asset, quantity) JOIN fifo_lots AS lot USING (asset)
        WHERE user_id = $1 AND account = $2
    )
"""  # noqa: S608
_SUMS_OF_LOTS = """
    coalesce(sum(counted.quantity) FILTER (WHERE reached <= held), 0) AS whole_quantity,
    coalesce(sum(counted.cost) FILTER (WHERE reached <= held), 0) AS whole_cost,
    max(counted.quantity) FILTER (WHERE reached > held) AS part_quantity,
    max(counted.cost) FILTER (WHERE reached > held) AS part_cost
"""
_NEWEST_LOTS = f"""
    {_COUNTED}
    SELECT asset, {_SUMS_OF_LOTS},
        coalesce(sum(quantity) FILTER (WHERE NOT starts_with(acquisition_id, $5)), 0) AS told
    FROM counted WHERE reached - quantity < held GROUP BY asset
"""  # noqa: S608
# The ids of a fill's transactions are its own with the leg behind it (`fills`). Their columns have another collation.
_NEWEST_LOTS_OF_MARKETS = f"""
    {_COUNTED}
    SELECT symbol, {_SUMS_OF_LOTS},
        coalesce(max(held - reached + counted.quantity) FILTER (WHERE reached > held), 0) AS part_held
    FROM counted JOIN position_trades
        ON trade_id = left(acquisition_id, -length(':to')) COLLATE "default" AND acquisition_id LIKE '%:to'
    WHERE reached - counted.quantity < held AND participant_id = $1 AND source = 'fill'
        AND split_part(symbol, '-', 1) = asset
    GROUP BY symbol
"""  # noqa: S608
_SUMS_OF_DISPOSALS = """
    sum(proceeds - cost) AS all,
    coalesce(sum(proceeds - cost) FILTER (WHERE disposed_ms >= $3), 0) AS today,
    coalesce(sum(proceeds - cost) FILTER (WHERE disposed_ms >= $4), 0) AS week,
    coalesce(sum(proceeds - cost) FILTER (WHERE disposed_ms >= $5), 0) AS month
"""
_REALISED = f"""
    SELECT asset, {_SUMS_OF_DISPOSALS} FROM fifo_disposals WHERE user_id = $1 AND account = $2 GROUP BY asset
"""  # noqa: S608
# One statement for markets and assets, so that both count the same disposals.
_REALISED_BY_MARKET = f"""
    SELECT asset, symbol, {_SUMS_OF_DISPOSALS}
    FROM fifo_disposals LEFT JOIN position_trades
        ON trade_id = left(disposal_id, -length(':from')) COLLATE "default" AND disposal_id LIKE '%:from'
        AND participant_id = $1 AND source = 'fill'
    WHERE user_id = $1 AND account = $2 GROUP BY asset, symbol
"""  # noqa: S608
_FILLS = """
    SELECT symbol, count(*) AS fills,
        coalesce(sum(quantity) FILTER (WHERE side = 'buy'), 0) AS bought,
        coalesce(sum(notional) FILTER (WHERE side = 'buy'), 0) AS bought_notional,
        coalesce(sum(quantity) FILTER (WHERE side = 'sell'), 0) AS sold,
        coalesce(sum(notional) FILTER (WHERE side = 'sell'), 0) AS sold_notional,
        sum(fee) AS fees
    FROM position_trades WHERE participant_id = $1 AND source = 'fill' GROUP BY symbol
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
        rows = await self._pool.fetch(_NEWEST_LOTS, *_lots_arguments(user_id, held))
        return {
            row["asset"]: newest_lots(_whole_lots(row), _partial_lot(row), held[row["asset"]], amount_of(row["told"]))
            for row in rows
        }

    async def lots_of_markets(self, user_id: str, held: Mapping[str, int]) -> dict[str, LotSum]:
        """By symbol those of the newest lots of its base asset (`lots`) that fills on the market acquired."""
        rows = await self._pool.fetch(_NEWEST_LOTS_OF_MARKETS, *_lots_arguments(user_id, held))
        found = {}
        for row in rows:
            whole = _whole_lots(row)
            quantity = whole.quantity + amount_of(row["part_held"])
            found[row["symbol"]] = newest_lots(whole, _partial_lot(row), quantity, quantity)
        return found

    async def realised(self, user_id: str, today: int, week: int, month: int) -> dict[str, Realised]:
        """By asset the result of disposals of all time, and since three times in milliseconds."""
        rows = await self._pool.fetch(_REALISED, user_id, EXCHANGE, today, week, month)
        return {row["asset"]: _realised_of(row) for row in rows}

    async def realised_by_market(
        self, user_id: str, today: int, week: int, month: int
    ) -> dict[tuple[str, str | None], Realised]:
        """As `realised`, by asset and by the symbol of the fill that disposed of it; None if that was no fill."""
        rows = await self._pool.fetch(_REALISED_BY_MARKET, user_id, EXCHANGE, today, week, month)
        return {(row["asset"], row["symbol"]): _realised_of(row) for row in rows}

    async def fills(self, user_id: str) -> dict[str, FillSums]:
        """By symbol the sums of the user's fills, also of those that wait for a value."""
        rows = await self._pool.fetch(_FILLS, user_id)
        return {
            row["symbol"]: FillSums(row["fills"], *(amount_of(row[name]) for name in FillSums._fields[1:]))
            for row in rows
        }

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


def _lots_arguments(user_id: str, held: Mapping[str, int]) -> tuple[Any, ...]:
    return user_id, EXCHANGE, list(held), list(map(numeric, held.values())), ESTIMATE_PREFIX


def _whole_lots(row: Any) -> LotSum:
    return LotSum(amount_of(row["whole_quantity"]), amount_of(row["whole_cost"]))


def _partial_lot(row: Any) -> LotSum | None:
    if row["part_quantity"] is None:
        return None
    return LotSum(amount_of(row["part_quantity"]), amount_of(row["part_cost"]))


def _realised_of(row: Any) -> Realised:
    return Realised(*(amount_of(row[name]) for name in Realised._fields))
