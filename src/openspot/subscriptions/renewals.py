"""Renewals, retries and expiries: the steps that a date makes due.

Due dates are in the database. A process claims one due subscription at a time with `FOR UPDATE SKIP LOCKED`, and does
its step or begins its charge in one transaction. So any number of processes may run side by side, and what a process
that is killed has begun, another one finishes. A deleted user is not charged any more. The time is an argument.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import date, datetime, timedelta
from decimal import Decimal

from openspot.engine_transfers.model import Transfer
from openspot.engine_transfers.runner import TransferRunner
from openspot.engine_transfers.store import TransferStore
from openspot.kit.bus import BusError
from openspot.kit.clock import DateClock
from openspot.kit.database import TRANSIENT_ERRORS, Connection
from openspot.kit.log import get_logger
from openspot.subscriptions import charge_store
from openspot.subscriptions.billing_calendar import period_at, utc_date
from openspot.subscriptions.charge_store import PendingCharge
from openspot.subscriptions.charges import Charge, ChargeError, charge_for
from openspot.subscriptions.charging import ChargeRules, refund_credit, transfer_of
from openspot.subscriptions.lifecycle import (
    DueStep,
    StepKind,
    Subscription,
    due_step,
    expire,
    user_deleted,
)
from openspot.subscriptions.metrics import EXPIRED, FAULTS, OVERDUE
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
        rules: ChargeRules,
        transfers: TransferStore,
        runner: TransferRunner,
        is_deleted: Callable[[str], Awaitable[bool]],
        now: DateClock,
    ) -> None:
        """`is_deleted` says whether a user is deleted; it raises BusError if that is not known now."""
        self._store = store
        self._configuration = configuration
        self._rules = rules
        self._transfers = transfers
        self._runner = runner
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
            except (BusError, *TRANSIENT_ERRORS) as error:
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
        transfer: Transfer | None = None
        try:
            async with self._store.transaction() as connection:
                claimed = await self._store.claim_due(connection, utc_date(now), now)
                if claimed is None:
                    return False
                transfer = await self._do(connection, claimed, now)
            if transfer is not None:
                await self._runner.attempt(transfer)
        except (BusError, *TRANSIENT_ERRORS):
            raise
        except Exception:
            if claimed is None:
                raise
            FAULTS.inc()
            subscription_id = claimed.subscription.subscription_id
            log.exception("step of a subscription failed", subscription_id=subscription_id)
            await self._store.put_off(subscription_id, now + FAULT_PAUSE)
            return True
        return True

    async def _do(self, connection: Connection, claimed: StoredSubscription, now: datetime) -> Transfer | None:
        """Do a step that is due. Returns the transfer of a charge that has begun."""
        today = utc_date(now)
        before = claimed.subscription
        step = due_step(before, today, self._configuration.retry_days)
        if step is None:
            # The date was stored under another configuration of retries. Store the present date.
            await self._store.save(connection, before, now)
        elif await self._is_deleted(before.user_id):
            # The credit of a deleted user stays: nobody could use it.
            await self._end(connection, user_deleted(before), now)
        elif step.kind is StepKind.EXPIRE:
            ended = await refund_credit(self._transfers, connection, expire(before), now)
            await self._end(connection, ended, now)
        else:
            return await self._charge(connection, claimed, step, today, now)
        return None

    async def _end(self, connection: Connection, ended: Subscription, now: datetime) -> None:
        await self._store.save(connection, ended, now)
        EXPIRED.inc()
        log.info("subscription has ended", subscription_id=ended.subscription_id)

    async def _charge(
        self, connection: Connection, claimed: StoredSubscription, step: DueStep, today: date, now: datetime
    ) -> Transfer | None:
        before = claimed.subscription
        attempt = before.attempts + 1
        charge_id = f"{step.charge_key}:{attempt}"
        period = period_at(before.anchor, before.interval_months, step.period_index)
        charge, reason = self._computed(claimed)
        if charge is None:
            payment = PaymentDraft(
                payment_id=charge_id,
                kind=PaymentKind.RENEWAL,
                plan_id=before.plan_id,
                asset=before.asset,
                period_number=before.period_number + 1,
                attempt=attempt,
                period=period,
                charge=None,
                reason=reason,
            )
            await self._rules.fail(connection, before, payment, today, now)
            return None
        pending = PendingCharge(
            user_id=before.user_id,
            charge_id=charge_id,
            subscription_id=before.subscription_id,
            kind=PaymentKind.RENEWAL,
            plan_id=before.plan_id,
            interval_months=before.interval_months,
            period_index=step.period_index,
            period_number=before.period_number + 1,
            attempt=attempt,
            period=period,
            charge=charge,
            staking_balance=claimed.staking_balance,
            made_on=today,
        )
        if not charge.due:
            await self._rules.complete(connection, pending, before, now)
            return None
        is_new = await charge_store.add(connection, pending, now)
        assert is_new, "a subscription with a charge under way is not claimed"
        transfer = transfer_of(pending)
        await self._runner.begin(connection, transfer)
        return transfer

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
