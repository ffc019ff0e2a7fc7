"""The tables of the subscription service, in its own database.

A payment is one row in `subscription_payments`, written in the transaction that changes the subscription, when the
money has moved or the engine has refused it. The unique index on (subscription, period) of completed payments makes a
second payment of a period impossible.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from openspot.domain.money import to_amount
from openspot.kit.database import Connection, Pool
from openspot.kit.sql import numeric, rows_changed
from openspot.subscriptions.billing_calendar import Period
from openspot.subscriptions.charges import Charge
from openspot.subscriptions.lifecycle import Subscription, SubscriptionState, SubscriptionStatus, next_due_on

SUBSCRIPTION_COLUMNS = (
    "subscription_id, user_id, plan_id, asset, interval_months, anchor, price, status, cancel_at_period_end,"
    " period_index, period_number, attempts, past_due_since, credit, staking_balance, created_at"
)
PAYMENT_COLUMNS = (
    "payment_number, payment_id, subscription_id, user_id, plan_id, kind, period_number, attempt, period_start,"
    " period_end, status, reason, asset, price, discount_bps, credit, amount, created_at"
)
_IS_CHARGED = "SELECT EXISTS (SELECT FROM subscription_charges WHERE user_id = $1)"


class PaymentKind(StrEnum):
    """What a payment is for."""

    SUBSCRIBE = "subscribe"
    UPGRADE = "upgrade"
    RENEWAL = "renewal"


@dataclass(frozen=True, slots=True)
class StoredSubscription:
    """A subscription, the stake that gives its renewals a discount (whole units), and its creation time."""

    subscription: Subscription
    staking_balance: int
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentDraft:
    """A charge of a period. It is completed, or has failed for a `reason`."""

    payment_id: str
    kind: PaymentKind
    plan_id: str
    asset: str
    period_number: int
    attempt: int
    period: Period
    charge: Charge | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class SubscriptionPayment:
    """A payment as it was recorded; amounts in units of 18 places, None if they were not known."""

    payment_number: int
    payment_id: str
    subscription_id: str
    user_id: str
    plan_id: str
    kind: str
    period_number: int
    attempt: int
    period_start: date
    period_end: date
    status: str
    reason: str | None
    asset: str
    price: int | None
    discount_bps: int | None
    credit: int | None
    amount: int | None
    created_at: datetime


class SubscriptionStore:
    """Subscriptions and payments of all users."""

    def __init__(self, pool: Pool, retry_days: tuple[int, ...]) -> None:
        self._pool = pool
        self._retry_days = retry_days

    @property
    def pool(self) -> Pool:
        """The connections."""
        return self._pool

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """A connection in a transaction."""
        async with self._pool.acquire() as connection, connection.transaction():
            yield connection

    # Subscriptions

    async def running(self, user_id: str) -> StoredSubscription | None:
        """The user's subscription that has not expired."""
        query = f"SELECT {SUBSCRIPTION_COLUMNS} FROM subscriptions WHERE user_id = $1 AND status <> 'expired'"  # noqa: S608
        row = await self._pool.fetchrow(query, user_id)
        return None if row is None else subscription_of(row)

    async def lock_running(self, connection: Connection, user_id: str) -> StoredSubscription | None:
        """The same, locked until the transaction ends."""
        query = (
            f"SELECT {SUBSCRIPTION_COLUMNS} FROM subscriptions WHERE user_id = $1 AND status <> 'expired' FOR UPDATE"  # noqa: S608
        )
        row = await connection.fetchrow(query, user_id)
        return None if row is None else subscription_of(row)

    async def is_running(self, connection: Connection, user_id: str) -> bool:
        """Whether the user has a subscription that has not expired, without locking it."""
        query = "SELECT EXISTS (SELECT FROM subscriptions WHERE user_id = $1 AND status <> 'expired')"
        return bool(await connection.fetchval(query, user_id))

    async def get(self, subscription_id: str, user_id: str) -> StoredSubscription | None:
        """One subscription of the user."""
        query = f"SELECT {SUBSCRIPTION_COLUMNS} FROM subscriptions WHERE subscription_id = $1 AND user_id = $2"  # noqa: S608
        row = await self._pool.fetchrow(query, subscription_id, user_id)
        return None if row is None else subscription_of(row)

    async def claim_due(self, connection: Connection, today: date, now: datetime) -> StoredSubscription | None:
        """Lock the subscription whose step has been due for the longest time.

        Skips those that others have locked, and those with a charge that is being made.
        """
        while True:
            row = await connection.fetchrow(
                f"""
                SELECT {SUBSCRIPTION_COLUMNS} FROM subscriptions
                WHERE due_on <= $1 AND (not_before IS NULL OR not_before <= $2) AND NOT EXISTS (
                    SELECT FROM subscription_charges AS charge WHERE charge.user_id = subscriptions.user_id
                )
                ORDER BY due_on, subscription_id LIMIT 1 FOR UPDATE SKIP LOCKED
                """,  # noqa: S608
                today,
                now,
            )
            if row is None:
                return None
            # Between the search and the lock, another process may have begun a charge; a new search sees it.
            if not await connection.fetchval(_IS_CHARGED, row["user_id"]):
                return subscription_of(row)

    async def overdue(self, today: date) -> int:
        """How many subscriptions have a step that is due."""
        return int(await self._pool.fetchval("SELECT count(*) FROM subscriptions WHERE due_on <= $1", today))

    async def add(
        self, connection: Connection, subscription: Subscription, staking_balance: int, now: datetime
    ) -> bool:
        """Store a new subscription. If its user has one that has not expired, returns False and stores nothing."""
        outcome = await connection.execute(
            """
            INSERT INTO subscriptions (
                subscription_id, user_id, plan_id, asset, interval_months, anchor, price, status,
                cancel_at_period_end, period_index, period_number, attempts, past_due_since, credit, staking_balance,
                due_on, created_at, updated_at
            ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $17)
            ON CONFLICT (user_id) WHERE status <> 'expired' DO NOTHING
            """,
            subscription.subscription_id,
            subscription.user_id,
            *self._changing(subscription),
            staking_balance,
            next_due_on(subscription, self._retry_days),
            now,
        )
        return rows_changed(outcome) == 1

    async def save(
        self, connection: Connection, subscription: Subscription, now: datetime, staking_balance: int | None = None
    ) -> None:
        """Write the new state of a subscription, and a new stake if one is given."""
        await connection.execute(
            """
            UPDATE subscriptions SET
                plan_id = $2, asset = $3, interval_months = $4, anchor = $5, price = $6, status = $7,
                cancel_at_period_end = $8, period_index = $9, period_number = $10, attempts = $11,
                past_due_since = $12, credit = $13, staking_balance = coalesce($14, staking_balance), due_on = $15,
                updated_at = $16, not_before = NULL
            WHERE subscription_id = $1
            """,
            subscription.subscription_id,
            *self._changing(subscription),
            staking_balance,
            next_due_on(subscription, self._retry_days),
            now,
        )

    async def put_off(self, subscription_id: str, until: datetime, connection: Connection | None = None) -> None:
        """Do no step of a subscription before `until`. Uses the transaction of `connection` if one is given."""
        await (connection or self._pool).execute(
            "UPDATE subscriptions SET not_before = $2 WHERE subscription_id = $1", subscription_id, until
        )

    @staticmethod
    def _changing(subscription: Subscription) -> tuple[Any, ...]:
        return (
            subscription.plan_id,
            subscription.asset,
            subscription.interval_months,
            subscription.anchor,
            numeric(subscription.price),
            subscription.state.status.value,
            subscription.state.cancel_at_period_end,
            subscription.period_index,
            subscription.period_number,
            subscription.attempts,
            subscription.past_due_since,
            numeric(subscription.credit),
        )

    # Payments

    async def add_payment(
        self, connection: Connection, subscription: Subscription, draft: PaymentDraft, now: datetime
    ) -> SubscriptionPayment:
        """Record a charge. Raises asyncpg.UniqueViolationError for a second charge of a period."""
        charge = draft.charge
        row = await connection.fetchrow(
            f"""
            INSERT INTO subscription_payments (
                payment_id, subscription_id, user_id, plan_id, kind, period_number, attempt, period_start, period_end,
                status, reason, asset, price, discount_bps, credit, amount, created_at
            ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
            RETURNING {PAYMENT_COLUMNS}
            """,  # noqa: S608
            draft.payment_id,
            subscription.subscription_id,
            subscription.user_id,
            draft.plan_id,
            draft.kind.value,
            draft.period_number,
            draft.attempt,
            draft.period.start,
            draft.period.end,
            "completed" if draft.reason is None else "failed",
            draft.reason,
            draft.asset,
            None if charge is None else numeric(charge.price),
            None if charge is None else charge.discount_bps,
            None if charge is None else numeric(charge.credit),
            None if charge is None else numeric(charge.due),
            now,
        )
        return payment_of(row)

    async def payment(self, payment_id: str, user_id: str) -> SubscriptionPayment | None:
        """One payment of the user."""
        query = f"SELECT {PAYMENT_COLUMNS} FROM subscription_payments WHERE payment_id = $1 AND user_id = $2"  # noqa: S608
        row = await self._pool.fetchrow(query, payment_id, user_id)
        return None if row is None else payment_of(row)

    async def payments_of(self, user_id: str, limit: int, before: int | None) -> list[SubscriptionPayment]:
        """Up to `limit` payments of the user, newest first, with numbers below `before`."""
        rows = await self._pool.fetch(
            f"""
            SELECT {PAYMENT_COLUMNS} FROM subscription_payments
            WHERE user_id = $1 AND ($2::bigint IS NULL OR payment_number < $2)
            ORDER BY payment_number DESC LIMIT $3
            """,  # noqa: S608
            user_id,
            before,
            limit,
        )
        return [payment_of(row) for row in rows]


def subscription_of(row: Any) -> StoredSubscription:
    """The subscription in a row of SUBSCRIPTION_COLUMNS."""
    values = dict(row)
    staking_balance, created_at = values.pop("staking_balance"), values.pop("created_at")
    state = SubscriptionState(SubscriptionStatus(values.pop("status")), values.pop("cancel_at_period_end"))
    values |= {"price": to_amount(values["price"]), "credit": to_amount(values["credit"]), "state": state}
    return StoredSubscription(Subscription(**values), staking_balance, created_at)


def payment_of(row: Any) -> SubscriptionPayment:
    """The payment in a row of PAYMENT_COLUMNS."""
    amounts = {name: row[name] for name in ("price", "credit", "amount")}
    known = {name: None if value is None else to_amount(value) for name, value in amounts.items()}
    return SubscriptionPayment(**(dict(row) | known))
