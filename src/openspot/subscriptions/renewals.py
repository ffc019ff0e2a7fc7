"""Renewals, retries and expiries: the steps that a date makes due.

Due dates are in the database. A process claims one due subscription at a time with `FOR UPDATE SKIP LOCKED`, does its
step, and commits charge and new state together. So any number of processes may run side by side, and a process that is
killed has done a step wholly or not at all. A deleted user is not charged any more. The time is an argument.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import date, datetime, timedelta
from decimal import Decimal

from openspot.kit.bus import KeyValueError
from openspot.kit.clock import DateClock
from openspot.kit.database import TRANSIENT_ERRORS, Connection
from openspot.kit.log import get_logger
from openspot.subscriptions.billing_calendar import period_at, utc_date
from openspot.subscriptions.charges import Charge, ChargeError, charge_for
from openspot.subscriptions.lifecycle import (
    DueStep,
    StepKind,
    Subscription,
    SubscriptionStatus,
    charge_failed,
    charge_succeeded,
    due_step,
    expire,
    user_deleted,
)
from openspot.subscriptions.metrics import CHARGES, EXPIRED, FAULTS, OVERDUE
from openspot.subscriptions.plans import PlanConfiguration
from openspot.subscriptions.store import PaymentDraft, PaymentKind, StoredSubscription, SubscriptionStore

log = get_logger("subscriptions")

FAULT_PAUSE = timedelta(hours=1)
"""After a fault in a step, the subscription waits this long, so that the others get their turn."""


class NotRenewingError(Exception):
    """The due steps are not done; the message says why."""


class Renewals:
    """Does the steps that are due."""

    def __init__(
        self,
        store: SubscriptionStore,
        configuration: PlanConfiguration,
        is_deleted: Callable[[str], Awaitable[bool]],
        now: DateClock,
    ) -> None:
        """`is_deleted` says whether a user is deleted; it raises KeyValueError if that is not known now."""
        self._store = store
        self._configuration = configuration
        self._is_deleted = is_deleted
        self._now = now
        self._fault: str | None = "not started"

    async def check(self) -> None:
        """Raise NotRenewingError if the last search for due subscriptions failed."""
        if self._fault is not None:
            raise NotRenewingError(self._fault)

    async def run(self, interval_s: float) -> None:
        """Do the due steps every `interval_s` seconds, until cancelled."""
        while True:
            try:
                await self.run_due()
                self._fault = None
            except (KeyValueError, *TRANSIENT_ERRORS) as error:
                self._fault = repr(error)
                log.warning("the database or the bus does not respond", error=repr(error))
            except Exception as error:
                self._fault = repr(error)
                log.exception("due subscriptions cannot be worked on")
            await asyncio.sleep(interval_s)

    async def run_due(self) -> int:
        """Do every step that is due now, and return how many were done."""
        steps = 0
        while await self.do_next():
            steps += 1
        OVERDUE.set(await self._store.overdue(utc_date(self._now())))
        return steps

    async def do_next(self) -> bool:
        """Do the step that has been due for the longest time. Returns False if none is due.

        After a fault, a step has changed nothing and is put off by FAULT_PAUSE.
        """
        now = self._now()
        claimed: StoredSubscription | None = None
        try:
            async with self._store.transaction() as connection:
                claimed = await self._store.claim_due(connection, utc_date(now), now)
                if claimed is None:
                    return False
                outcome = await self._do(connection, claimed, now)
        except (KeyValueError, *TRANSIENT_ERRORS):
            raise
        except Exception:
            if claimed is None:
                raise
            FAULTS.inc()
            subscription_id = claimed.subscription.subscription_id
            log.exception("step of a subscription failed", subscription_id=subscription_id)
            await self._store.put_off(subscription_id, now + FAULT_PAUSE)
            return True
        self._count(outcome)
        return True

    async def _do(self, connection: Connection, claimed: StoredSubscription, now: datetime) -> "Outcome":
        today = utc_date(now)
        before = claimed.subscription
        step = due_step(before, today, self._configuration.retry_days)
        if step is None:
            # The date was stored under another configuration of retries. Store the present date.
            after, status = before, None
        elif await self._is_deleted(before.user_id):
            after, status = user_deleted(before), None
        elif step.kind is StepKind.EXPIRE:
            after, status = expire(before), None
        else:
            after, status = await self._charge(connection, claimed, step, today, now)
        await self._store.save(connection, after, now)
        return before, after, status

    async def _charge(
        self, connection: Connection, claimed: StoredSubscription, step: DueStep, today: date, now: datetime
    ) -> tuple[Subscription, str]:
        before = claimed.subscription
        attempt = before.attempts + 1
        number = before.period_number + 1
        charge, reason = self._computed(claimed)
        draft = PaymentDraft(
            payment_id=f"{step.charge_key}:{attempt}",
            kind=PaymentKind.RENEWAL,
            plan_id=before.plan_id,
            asset=before.asset,
            period_number=number,
            attempt=attempt,
            period=period_at(before.anchor, before.interval_months, step.period_index),
            charge=charge,
            reason=reason,
        )
        payment = await self._store.add_payment(connection, before, draft, now)
        if charge is None:
            return charge_failed(before, today, self._configuration.retry_days), payment.status
        return charge_succeeded(before, step.period_index, charge.price, charge.credit_left), payment.status

    def _computed(self, claimed: StoredSubscription) -> tuple[Charge | None, str | None]:
        """The charge of the next period, or the reason why there can be none."""
        subscription = claimed.subscription
        plan = self._configuration.plans.get(subscription.plan_id)
        if plan is None:
            return None, f"plan {subscription.plan_id} does not exist any more"
        stake = Decimal(claimed.staking_balance)
        try:
            return charge_for(self._configuration, plan, subscription.asset, stake, subscription.credit), None
        except ChargeError as error:
            return None, str(error)

    @staticmethod
    def _count(outcome: "Outcome") -> None:
        before, after, status = outcome
        if status is not None:
            CHARGES.labels(PaymentKind.RENEWAL.value, status).inc()
        if after.state.status is not before.state.status:
            log.info(
                "subscription moved on",
                subscription_id=after.subscription_id,
                status=after.state.status.value,
                was=before.state.status.value,
            )
            if after.state.status is SubscriptionStatus.EXPIRED:
                EXPIRED.inc()


Outcome = tuple[Subscription, Subscription, str | None]
"""The subscription before and after a step, and the status of its charge, if there was one."""
