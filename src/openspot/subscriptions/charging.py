"""Takes what a plan costs from the user's spot account, and gives back the credit of a subscription that has ended.

A charge is a transfer from the user to `house:subscriptions`. The charge is noted in the transaction that begins the
transfer. When the engine has decided, one transaction removes the note, records the payment and changes the
subscription. So a payment is never recorded before the money has moved (facts B4.6-13, B4.6-14), and a process that is
killed at any point leaves a charge that any other finishes.

A charge that the engine refuses, for lack of funds as a rule, moves nothing. One that was never sent, because the
engine could not be reached, is no failure of the user's: it is as if it had not begun.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import date, datetime, timedelta

from openspot.contracts.messages import SendNotification
from openspot.domain.ids import SUBSCRIPTIONS_ACCOUNT_ID
from openspot.domain.money import amount_to_text
from openspot.domain.result_code import ResultCode
from openspot.domain.transfer import Movement, TransferKind
from openspot.engine_transfers.model import Transfer, TransferResult
from openspot.engine_transfers.runner import UNSENT
from openspot.engine_transfers.store import TransferStore
from openspot.kit.clock import ms_from_datetime
from openspot.kit.database import Connection
from openspot.kit.log import get_logger
from openspot.kit.sql import numeric
from openspot.subscriptions import charge_store
from openspot.subscriptions.charge_store import PendingCharge
from openspot.subscriptions.lifecycle import (
    Subscription,
    SubscriptionStatus,
    charge_failed,
    charge_succeeded,
    next_due_on,
    upgraded,
)
from openspot.subscriptions.metrics import CHARGES, EXPIRED
from openspot.subscriptions.store import PaymentDraft, PaymentKind, SubscriptionStore

log = get_logger("subscriptions")

UNSENT_PAUSE = timedelta(minutes=1)
"""After a charge that could not be sent, its subscription waits this long for the next one."""

Tell = Callable[[SendNotification], Awaitable[None]]
"""Notifies a user, once for each id. Raises BusError."""


def reference_of(charge_id: str) -> str:
    """The reference of a charge's transfer."""
    return f"subscription:{charge_id}"


def transfer_of(pending: PendingCharge) -> Transfer:
    """The transfer that pays a charge."""
    amount = numeric(pending.charge.due)
    movement = Movement(pending.user_id, SUBSCRIPTIONS_ACCOUNT_ID, pending.charge.asset, amount)
    return Transfer(reference_of(pending.charge_id), TransferKind.SUBSCRIPTION, pending.charge_id, (movement,))


def refusal_text(asset: str, amount: int, code: str) -> str:
    """Why a charge was refused, for its user."""
    charge = f"{amount_to_text(amount)} {asset}"
    if code == ResultCode.RISK_NSF.name:
        return f"your spot account does not have {charge} that no order uses: add funds and try again"
    return f"the engine refused the charge of {charge}: {code}"


async def refund_credit(
    transfers: TransferStore, connection: Connection, ended: Subscription, now: datetime
) -> Subscription:
    """Give the credit of an ended subscription back, in the caller's transaction; returns it without credit.

    A subscription that goes on keeps its credit for later charges.
    """
    if ended.state.status is not SubscriptionStatus.EXPIRED or not ended.credit:
        return ended
    movement = Movement(SUBSCRIPTIONS_ACCOUNT_ID, ended.user_id, ended.asset, numeric(ended.credit))
    reference = f"refund:{ended.subscription_id}"
    refund = Transfer(reference, TransferKind.REFUND, ended.subscription_id, (movement,))
    # The timer sends it: nobody waits for it.
    await transfers.add(connection, refund, now, leased_until=now)
    return replace(ended, credit=0)


class RefundRules:
    """Handles refunds. The platform owes them, so that they are tried again until `house:subscriptions` has enough."""

    is_owed = True

    async def before(self, transfer: Transfer) -> None:
        """There is nothing to do before."""

    async def settle(self, connection: Connection, transfer: Transfer, result: TransferResult, now: datetime) -> None:
        """The subscription has lost its credit when the refund began."""
        log.info("credit given back", subscription_id=transfer.subject_id)


class ChargeRules:
    """Writes what the engine has decided on a charge."""

    is_owed = False

    def __init__(
        self, store: SubscriptionStore, transfers: TransferStore, retry_days: tuple[int, ...], tell: Tell
    ) -> None:
        self._store = store
        self._transfers = transfers
        self._retry_days = retry_days
        self._tell = tell

    async def before(self, transfer: Transfer) -> None:
        """There is nothing to do before."""

    async def settle(self, connection: Connection, transfer: Transfer, result: TransferResult, now: datetime) -> None:
        """Record the payment and change the subscription. Raises BusError if the user cannot be told of a failure."""
        # In this order, as everywhere: the subscription, then the charge.
        stored = await self._store.lock_running(connection, transfer.movements[0].source)
        before = None if stored is None else stored.subscription
        pending = await charge_store.take(connection, transfer.subject_id)
        if result.succeeded:
            await self.complete(connection, pending, before, now)
        elif result.code == UNSENT:
            await charge_store.forget_transfer(connection, transfer.reference)
            if before is not None and pending.kind is PaymentKind.RENEWAL:
                await self._store.put_off(before.subscription_id, now + UNSENT_PAUSE, connection)
        elif before is not None and pending.kind is PaymentKind.RENEWAL:
            reason = refusal_text(pending.charge.asset, pending.charge.due, result.code)
            await self.fail(connection, before, pending.payment(reason), pending.made_on, now)

    async def complete(
        self, connection: Connection, pending: PendingCharge, before: Subscription | None, now: datetime
    ) -> None:
        """Record a payment whose money has moved, or that credit pays, and begin its period."""
        charge, stake = pending.charge, pending.staking_balance
        if pending.kind is PaymentKind.SUBSCRIBE:
            after = Subscription(
                pending.subscription_id,
                pending.user_id,
                pending.plan_id,
                charge.asset,
                pending.interval_months,
                pending.made_on,
                charge.price,
            )
            is_added = await self._store.add(connection, after, stake, now)
            assert is_added, "nobody else begins a subscription while its charge is being made"
            await self._store.add_payment(connection, after, pending.payment(), now)
        else:
            assert before is not None, "nothing ends a subscription while its charge is being made"
            if pending.kind is PaymentKind.UPGRADE:
                plan = pending.plan_id, pending.interval_months
                after = upgraded(before, *plan, pending.made_on, charge.price, charge.credit_left)
            else:
                after = charge_succeeded(before, pending.period_index, charge.price, charge.credit_left)
            await self._store.add_payment(connection, after, pending.payment(), now)
            await self._store.save(connection, after, now, stake)
        CHARGES.labels(pending.kind.value, "completed").inc()

    async def fail(
        self, connection: Connection, before: Subscription, payment: PaymentDraft, made_on: date, now: datetime
    ) -> None:
        """Record a renewal that failed, and tell the user: the subscription is past due, or has ended.

        Raises BusError if the user cannot be told.
        """
        after = charge_failed(before, made_on, self._retry_days)
        await self._store.add_payment(connection, before, payment, now)
        await self._store.save(connection, await refund_credit(self._transfers, connection, after, now), now)
        CHARGES.labels(payment.kind.value, "failed").inc()
        if after.state.status is SubscriptionStatus.EXPIRED:
            EXPIRED.inc()
        await self._tell(failure_notice(payment, after, self._retry_days, now))


def failure_notice(
    payment: PaymentDraft, after: Subscription, retry_days: tuple[int, ...], now: datetime
) -> SendNotification:
    """What a user is told of a renewal that failed. The id follows from the payment's, so it is told once."""
    if after.state.status is SubscriptionStatus.EXPIRED:
        what = f"Your plan {payment.plan_id} has ended."
    else:
        what = f"Your plan {payment.plan_id} goes on for now. The charge is tried again on "
        what += f"{next_due_on(after, retry_days)}."
    reason = payment.reason or ""
    return SendNotification(
        f"subscription:{payment.payment_id}:failed",
        after.user_id,
        "subscription.failed",
        "Your plan could not be charged",
        f"{reason[:1].upper()}{reason[1:]}.\n{what}",
        ms_from_datetime(now),
    )
