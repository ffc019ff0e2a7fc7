"""The tables of staking."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from openspot.domain.money import to_amount
from openspot.kit.database import Connection, Pool
from openspot.kit.sql import newest_rows, numeric
from openspot.rest_edge.common.amounts import row_values
from openspot.rest_edge.products.staking.accrual import Accrual

_BALANCE = (
    "balance_id, user_id, product_id, asset, type, amount, accrued, remainder, apr_ppm, lock_days, unbonding_days,"
    " early_redemption, status, failure_code, created_at, starts_on, ends_on, next_accrual_on"
)
_UNSTAKE = (
    "unstake_id, balance_id, user_id, asset, amount, reward, status, principal_paid, reward_paid, created_at,"
    " available_at"
)
_AMOUNTS = frozenset({"amount", "accrued", "reward"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StakingBalance:
    """A stake. Amounts are in units of 18 places; `accrual` explains `remainder`.

    `early_redemption` is None for a stake of an earlier release, until `keep_redemptions`.
    """

    balance_id: str
    user_id: str
    product_id: str
    asset: str
    type: str
    amount: int
    accrued: int
    remainder: int
    apr_ppm: int
    lock_days: int
    unbonding_days: int
    early_redemption: str | None
    status: str
    failure_code: str | None
    created_at: datetime
    starts_on: date | None
    ends_on: date | None
    next_accrual_on: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unstake:
    """An amount that is taken back from a stake. Amounts are in units of 18 places."""

    unstake_id: str
    balance_id: str
    user_id: str
    asset: str
    amount: int
    reward: int
    status: str
    principal_paid: bool
    reward_paid: bool
    created_at: datetime
    available_at: datetime


@dataclass(frozen=True, slots=True)
class StakingEvent:
    """An event of a user's staking history."""

    event_id: int
    user_id: str
    balance_id: str
    type: str
    asset: str
    amount: int
    created_at: datetime


class StakingStore:
    """Reads and writes the stakes, accruals, unstakes and history of all users."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    # Stakes

    async def lock_product(self, connection: Connection, product_id: str) -> None:
        """Lock the product until the transaction ends, so that its bounds hold for stakes of all edges together."""
        await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", f"staking:{product_id}")

    async def staked(self, connection: Connection, product_id: str, user_id: str) -> tuple[int, int]:
        """The amounts that all users and this user have staked in a product."""
        row = await connection.fetchrow(
            "SELECT coalesce(sum(amount), 0) AS total, coalesce(sum(amount) FILTER (WHERE user_id = $2), 0) AS own"
            " FROM staking_balances WHERE product_id = $1 AND status IN ('pending', 'active')",
            product_id,
            user_id,
        )
        assert row is not None, "an aggregate has a row"
        return to_amount(row["total"]), to_amount(row["own"])

    async def totals(self) -> dict[str, int]:
        """The amount that all users have staked, by product. Products without stakes are left out."""
        rows = await self.pool.fetch(
            "SELECT product_id, sum(amount) AS total FROM staking_balances"
            " WHERE status IN ('pending', 'active') GROUP BY product_id"
        )
        return {row["product_id"]: to_amount(row["total"]) for row in rows}

    async def active(self, user_id: str, asset: str) -> int:
        """The amount of a user's active stakes of an asset."""
        total = await self.pool.fetchval(
            "SELECT coalesce(sum(amount), 0) FROM staking_balances"
            " WHERE user_id = $1 AND asset = $2 AND status = 'active'",
            user_id,
            asset,
        )
        return to_amount(total)

    async def add(self, connection: Connection, balance: StakingBalance) -> None:
        """Store a new stake."""
        await connection.execute(
            f"INSERT INTO staking_balances ({_BALANCE}, staked)"  # noqa: S608
            " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $6)",
            balance.balance_id,
            balance.user_id,
            balance.product_id,
            balance.asset,
            balance.type,
            numeric(balance.amount),
            numeric(balance.accrued),
            balance.remainder,
            balance.apr_ppm,
            balance.lock_days,
            balance.unbonding_days,
            balance.early_redemption,
            balance.status,
            balance.failure_code,
            balance.created_at,
            balance.starts_on,
            balance.ends_on,
            balance.next_accrual_on,
        )

    async def lock(
        self, connection: Connection, balance_id: str, *, skip_locked: bool = False
    ) -> StakingBalance | None:
        """A stake, locked until the transaction ends. With `skip_locked`, None if another transaction holds it."""
        skip = " SKIP LOCKED" if skip_locked else ""
        row = await connection.fetchrow(
            f"SELECT {_BALANCE} FROM staking_balances WHERE balance_id = $1 FOR UPDATE{skip}",  # noqa: S608
            balance_id,
        )
        return None if row is None else StakingBalance(**row_values(row, _AMOUNTS))

    async def get(self, balance_id: str, user_id: str) -> StakingBalance | None:
        """A stake of the user, None if this user has no such stake."""
        row = await self.pool.fetchrow(
            f"SELECT {_BALANCE} FROM staking_balances WHERE balance_id = $1 AND user_id = $2",  # noqa: S608
            balance_id,
            user_id,
        )
        return None if row is None else StakingBalance(**row_values(row, _AMOUNTS))

    async def list_of(self, user_id: str, limit: int, after: tuple[datetime, str] | None) -> list[StakingBalance]:
        """Up to `limit` stakes of the user, newest first, after a position."""
        query = f"SELECT {_BALANCE} FROM staking_balances WHERE user_id = $1"  # noqa: S608
        rows = await newest_rows(self.pool, query, "balance_id", user_id, limit, after)
        return [StakingBalance(**row_values(row, _AMOUNTS)) for row in rows]

    async def activate(self, connection: Connection, balance_id: str, starts_on: date, ends_on: date | None) -> None:
        """Write that the stake has reached the staking account. It earns from `starts_on` on."""
        await connection.execute(
            "UPDATE staking_balances SET status = 'active', starts_on = $2, next_accrual_on = $2, ends_on = $3"
            " WHERE balance_id = $1 AND status = 'pending'",
            balance_id,
            starts_on,
            ends_on,
        )

    async def fail(self, connection: Connection, balance_id: str, code: str) -> None:
        """Write that the stake was refused, and nothing was moved."""
        await connection.execute(
            "UPDATE staking_balances SET status = 'failed', failure_code = $2"
            " WHERE balance_id = $1 AND status = 'pending'",
            balance_id,
            code,
        )

    async def keep_redemptions(self, redemptions: Mapping[str, str], limit: int) -> int:
        """Let locked stakes that have no early redemption keep their product's. Returns how many, at most `limit`."""
        result = await self.pool.execute(
            """
            WITH found AS (
                SELECT balance_id, redemption FROM staking_balances
                JOIN unnest($1::text[], $2::text[]) AS products (product, redemption) ON product_id = product
                WHERE early_redemption IS NULL AND type = 'locked'
                LIMIT $3 FOR UPDATE OF staking_balances SKIP LOCKED
            )
            UPDATE staking_balances SET early_redemption = redemption FROM found
            WHERE staking_balances.balance_id = found.balance_id
            """,
            list(redemptions),
            list(redemptions.values()),
            limit,
        )
        return int(result.rpartition(" ")[2])

    # Accruals

    async def due(self, today: date, limit: int) -> list[str]:
        """Ids of stakes with a day to accrue, and of locked stakes that have ended."""
        rows = await self.pool.fetch(
            "SELECT balance_id FROM staking_balances WHERE status = 'active'"
            " AND (next_accrual_on < least($1, ends_on) OR ends_on <= $1) ORDER BY next_accrual_on LIMIT $2",
            today,
            limit,
        )
        return [row["balance_id"] for row in rows]

    async def add_accrual(
        self, connection: Connection, balance: StakingBalance, accrual: Accrual, reward: int, rate_ppm: int
    ) -> None:
        """Add a day's reward. The key (stake, day) prevents a second one for the day."""
        await connection.execute(
            "INSERT INTO staking_accruals (balance_id, day, amount, apr_ppm, reward, remainder)"
            " VALUES ($1, $2, $3, $4, $5, $6)",
            balance.balance_id,
            accrual.day,
            numeric(balance.amount),
            rate_ppm,
            numeric(reward),
            accrual.remainder,
        )

    async def write_accrued(
        self, connection: Connection, balance_id: str, accrued: int, remainder: int, next_day: date
    ) -> None:
        """Write a stake's sum of rewards, its remainder, and its next day to accrue."""
        await connection.execute(
            "UPDATE staking_balances SET accrued = $2, remainder = $3, next_accrual_on = $4 WHERE balance_id = $1",
            balance_id,
            numeric(accrued),
            remainder,
            next_day,
        )

    # Unstakes

    async def write_unstake(self, connection: Connection, unstake: Unstake, *, left: int, remainder: int) -> None:
        """Take `unstake` out of its stake. `left` stays; the accrued rewards are taken along or forfeited."""
        await connection.execute(
            "UPDATE staking_balances SET amount = $2, accrued = 0, remainder = $3, status = $4 WHERE balance_id = $1",
            unstake.balance_id,
            numeric(left),
            remainder,
            "active" if left else "unbonding",
        )
        await connection.execute(
            f"INSERT INTO staking_unstakes ({_UNSTAKE})"  # noqa: S608
            " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            unstake.unstake_id,
            unstake.balance_id,
            unstake.user_id,
            unstake.asset,
            numeric(unstake.amount),
            numeric(unstake.reward),
            unstake.status,
            unstake.principal_paid,
            unstake.reward_paid,
            unstake.created_at,
            unstake.available_at,
        )

    async def is_payable(self, now: datetime) -> bool:
        """Whether the unbonding of any unstake is over that nobody pays out yet."""
        query = "SELECT EXISTS (SELECT FROM staking_unstakes WHERE status = 'unbonding' AND available_at <= $1)"
        return bool(await self.pool.fetchval(query, now))

    async def take_payable(self, connection: Connection, now: datetime, unstake_id: str | None) -> Unstake | None:
        """Mark as `paying`, and return, an unstake whose unbonding is over: `unstake_id`, or else the oldest."""
        row = await connection.fetchrow(
            f"""
            UPDATE staking_unstakes SET status = 'paying' WHERE unstake_id = (
                SELECT unstake_id FROM staking_unstakes
                WHERE status = 'unbonding' AND available_at <= $1 AND ($2::text IS NULL OR unstake_id = $2)
                ORDER BY available_at LIMIT 1 FOR UPDATE SKIP LOCKED
            ) RETURNING {_UNSTAKE}
            """,  # noqa: S608
            now,
            unstake_id,
        )
        return None if row is None else Unstake(**row_values(row, _AMOUNTS))

    async def mark_paid(self, connection: Connection, unstake_id: str, *, reward: bool) -> Unstake:
        """Write that the amount, or the reward, has reached the user. After both, the unstake is paid."""
        # The stake is locked first, as everywhere. If two parts are paid at once, the later one sees the other.
        await connection.execute(
            "SELECT 1 FROM staking_balances WHERE balance_id ="
            " (SELECT balance_id FROM staking_unstakes WHERE unstake_id = $1) FOR UPDATE",
            unstake_id,
        )
        row = await connection.fetchrow(
            f"""
            UPDATE staking_unstakes SET
                principal_paid = principal_paid OR NOT $2, reward_paid = reward_paid OR $2,
                status = CASE WHEN (principal_paid OR NOT $2) AND (reward_paid OR $2) THEN 'paid' ELSE status END
            WHERE unstake_id = $1 RETURNING {_UNSTAKE}
            """,  # noqa: S608
            unstake_id,
            reward,
        )
        assert row is not None, "a transfer names an unstake that exists"
        unstake = Unstake(**row_values(row, _AMOUNTS))
        await connection.execute(
            "UPDATE staking_balances SET status = 'redeemed' WHERE balance_id = $1 AND status = 'unbonding'"
            " AND NOT EXISTS (SELECT FROM staking_unstakes WHERE balance_id = $1 AND status <> 'paid')",
            unstake.balance_id,
        )
        return unstake

    async def unstake(self, unstake_id: str) -> Unstake | None:
        """An unstake of any user, None if there is none."""
        row = await self.pool.fetchrow(f"SELECT {_UNSTAKE} FROM staking_unstakes WHERE unstake_id = $1", unstake_id)  # noqa: S608
        return None if row is None else Unstake(**row_values(row, _AMOUNTS))

    async def pending_of(self, user_id: str, limit: int, after: tuple[datetime, str] | None) -> list[Unstake]:
        """Up to `limit` unstakes of the user that are not paid, newest first, after a position."""
        query = f"SELECT {_UNSTAKE} FROM staking_unstakes WHERE user_id = $1 AND status <> 'paid'"  # noqa: S608
        rows = await newest_rows(self.pool, query, "unstake_id", user_id, limit, after)
        return [Unstake(**row_values(row, _AMOUNTS)) for row in rows]

    # History

    async def note(
        self, connection: Connection, user_id: str, balance_id: str, kind: str, asset: str, amount: int, at: datetime
    ) -> None:
        """Add an event to the history."""
        await connection.execute(
            "INSERT INTO staking_events (user_id, balance_id, type, asset, amount, created_at)"
            " VALUES ($1, $2, $3, $4, $5, $6)",
            user_id,
            balance_id,
            kind,
            asset,
            numeric(amount),
            at,
        )

    async def history_of(self, user_id: str, limit: int, before: int | None) -> list[StakingEvent]:
        """Up to `limit` events of the user's history, newest first, before an id."""
        rows = await self.pool.fetch(
            "SELECT event_id, user_id, balance_id, type, asset, amount, created_at FROM staking_events"
            " WHERE user_id = $1 AND ($2::bigint IS NULL OR event_id < $2) ORDER BY event_id DESC LIMIT $3",
            user_id,
            before,
            limit,
        )
        return [StakingEvent(**row_values(row, _AMOUNTS)) for row in rows]
