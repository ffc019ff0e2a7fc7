"""The table of charges that are being made: what is to happen when the engine has decided on the transfer.

A user has one such charge at most. Whoever begins one, or changes a subscription, locks the subscription first.
"""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NamedTuple

from openspot.domain.money import to_amount
from openspot.engine_transfers.model import TransferStatus, decode_movements
from openspot.kit.database import Connection, Pool
from openspot.kit.sql import numeric, rows_changed
from openspot.subscriptions.billing_calendar import Period
from openspot.subscriptions.charges import Charge
from openspot.subscriptions.store import PaymentDraft, PaymentKind

_COLUMNS = (
    "user_id, charge_id, subscription_id, kind, plan_id, interval_months, period_index, period_number, attempt,"
    " period_start, period_end, asset, price, discount_bps, credit, amount, credit_left, staking_balance, made_on"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCharge:
    """A charge that the engine has not decided yet. It becomes a payment with the id `charge_id`.

    `made_on` is the UTC date on which it was begun, `staking_balance` the stake that its discount is for.
    """

    user_id: str
    charge_id: str
    subscription_id: str
    kind: PaymentKind
    plan_id: str
    interval_months: int
    period_index: int
    period_number: int
    attempt: int
    period: Period
    charge: Charge
    staking_balance: int
    made_on: date

    def payment(self, reason: str | None = None) -> PaymentDraft:
        """The payment that is recorded: completed, or failed for a `reason`."""
        return PaymentDraft(
            payment_id=self.charge_id,
            kind=self.kind,
            plan_id=self.plan_id,
            asset=self.charge.asset,
            period_number=self.period_number,
            attempt=self.attempt,
            period=self.period,
            charge=self.charge,
            reason=reason,
        )


class Decision(NamedTuple):
    """What the engine has decided on a transfer of `amount` (18 places); `code` is empty until it has."""

    status: TransferStatus
    code: str
    asset: str
    amount: int


async def add(connection: Connection, pending: PendingCharge, now: datetime) -> bool:
    """Note a charge that begins. False, and nothing is noted, if another of this user is being made."""
    charge = pending.charge
    outcome = await connection.execute(
        f"INSERT INTO subscription_charges ({_COLUMNS}, created_at) VALUES"  # noqa: S608
        " ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)"
        " ON CONFLICT (user_id) DO NOTHING",
        pending.user_id,
        pending.charge_id,
        pending.subscription_id,
        pending.kind.value,
        pending.plan_id,
        pending.interval_months,
        pending.period_index,
        pending.period_number,
        pending.attempt,
        pending.period.start,
        pending.period.end,
        charge.asset,
        numeric(charge.price),
        charge.discount_bps,
        numeric(charge.credit),
        numeric(charge.due),
        numeric(charge.credit_left),
        pending.staking_balance,
        pending.made_on,
        now,
    )
    return rows_changed(outcome) == 1


async def take(connection: Connection, charge_id: str) -> PendingCharge:
    """Remove a charge that is decided, and return it."""
    row = await connection.fetchrow(
        f"DELETE FROM subscription_charges WHERE charge_id = $1 RETURNING {_COLUMNS}",  # noqa: S608
        charge_id,
    )
    assert row is not None, "a transfer is decided once, and has a charge until then"
    return _charge_of(row)


async def is_under_way(connection: Connection, user_id: str) -> bool:
    """Whether a charge of the user is being made."""
    query = "SELECT EXISTS (SELECT FROM subscription_charges WHERE user_id = $1)"
    return bool(await connection.fetchval(query, user_id))


async def forget_transfer(connection: Connection, reference: str) -> None:
    """Delete the row of a transfer that was never sent, so that its reference can be used."""
    await connection.execute("DELETE FROM subscription_transfers WHERE reference = $1", reference)


async def decision(pool: Pool, reference: str, user_id: str) -> Decision | None:
    """What became of a transfer from this user; None if there is none."""
    row = await pool.fetchrow(
        "SELECT status, coalesce(result_code, '') AS code, movements FROM subscription_transfers WHERE reference = $1",
        reference,
    )
    if row is None:
        return None
    [movement] = decode_movements(row["movements"])
    if movement.source != user_id:
        return None
    return Decision(TransferStatus(row["status"]), row["code"], movement.asset, to_amount(movement.amount))


def _charge_of(row: Any) -> PendingCharge:
    price, credit, due, left = (to_amount(row[name]) for name in ("price", "credit", "amount", "credit_left"))
    return PendingCharge(
        user_id=row["user_id"],
        charge_id=row["charge_id"],
        subscription_id=row["subscription_id"],
        kind=PaymentKind(row["kind"]),
        plan_id=row["plan_id"],
        interval_months=row["interval_months"],
        period_index=row["period_index"],
        period_number=row["period_number"],
        attempt=row["attempt"],
        period=Period(row["period_start"], row["period_end"]),
        charge=Charge(row["asset"], price, row["discount_bps"], credit, due, left),
        staking_balance=row["staking_balance"],
        made_on=row["made_on"],
    )
