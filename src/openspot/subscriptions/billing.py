"""The work of the routes: subscribe, cancel, upgrade, and read.

Each change is one transaction with the user's subscription locked, so it happens wholly or not at all. A payment is
recorded as completed in the same transaction (facts B4.6-13, B4.6-14): nothing outside has to confirm it.
"""

from dataclasses import replace
from datetime import date
from decimal import Decimal

from openspot.http.context import IdempotentOperation, Identity
from openspot.http.errors import HttpError
from openspot.http.lists import decode_cursor, encode_cursor, unknown_cursor
from openspot.kit.clock import DateClock
from openspot.kit.database import Connection
from openspot.subscriptions.billing_calendar import utc_date
from openspot.subscriptions.charges import DISCOUNT_BPS_MAX, DISCOUNT_BPS_MIN, STAKING_BALANCE_STEP, charge_for
from openspot.subscriptions.entitlements import entitlements
from openspot.subscriptions.lifecycle import Subscription, blocks_another, cancel, expire, upgraded
from openspot.subscriptions.metrics import CHARGES, EXPIRED
from openspot.subscriptions.plans import Plan, PlanConfiguration
from openspot.subscriptions.schemas import (
    ChargedResponse,
    EntitlementsResponse,
    PaymentResponse,
    PlanResponse,
    SubscribeBody,
    SubscriptionResponse,
    UpgradeBody,
    entitlements_response,
    payment_response,
    plan_response,
    subscription_response,
)
from openspot.subscriptions.store import (
    PaymentDraft,
    PaymentKind,
    StoredSubscription,
    SubscriptionPayment,
    SubscriptionStore,
)
from openspot.subscriptions.upgrade import upgrade_charge

_PAYMENT_NUMBER_MAX = 2**63 - 1
_STAKING_BALANCE_MAX = (DISCOUNT_BPS_MAX - DISCOUNT_BPS_MIN) * STAKING_BALANCE_STEP
"""A larger staking balance gives no larger discount."""


class Billing:
    """Subscriptions of all users.

    Methods raise HttpError, whose message is for the client, and the SubscriptionError and ChargeError of the rules.
    """

    def __init__(self, store: SubscriptionStore, configuration: PlanConfiguration, now: DateClock) -> None:
        self._store = store
        self._configuration = configuration
        self._now = now

    # Plans

    def plans(self) -> list[PlanResponse]:
        """The plans that take new subscribers, lowest rank first."""
        return [self._plan_response(plan) for plan in self._configuration.offered()]

    def plan(self, plan_id: str) -> PlanResponse:
        """One plan, even if it takes no new subscribers. 404 if the plan is unknown."""
        return self._plan_response(self._known(plan_id))

    def _plan_response(self, plan: Plan) -> PlanResponse:
        return plan_response(plan, self._configuration.payment_token)

    def _known(self, plan_id: str) -> Plan:
        plan = self._configuration.plans.get(plan_id)
        if plan is None:
            raise HttpError(404, f"plan {plan_id} not found", "PLAN_NOT_FOUND")
        return plan

    # A user's subscription

    async def current(self, user_id: str) -> SubscriptionResponse:
        """The user's subscription. 404 if there is none."""
        stored = await self._store.running(user_id)
        if stored is None or not blocks_another(stored.subscription, self._today()):
            raise _no_subscription()
        return self._response(stored)

    async def entitlements(self, user_id: str) -> EntitlementsResponse:
        """What the user may use now."""
        stored = await self._store.running(user_id)
        subscription = None if stored is None else stored.subscription
        return entitlements_response(entitlements(subscription, self._today(), self._configuration))

    async def subscribe(self, caller: Identity, body: SubscribeBody, operation: IdempotentOperation) -> ChargedResponse:
        """Begin a subscription and charge its first period. Both have the operation's id. 409 if one is active."""
        if operation.is_resumed and (done := await self._done(caller.user_id, operation.operation_id)):
            return done
        plan = self._known(body.plan_id)
        if not plan.active:
            raise HttpError(409, f"plan {plan.plan_id} is not offered any more", "PLAN_NOT_OFFERED")
        asset = body.asset or self._configuration.payment_token
        stake = staking_balance_of(caller)
        charge = charge_for(self._configuration, plan, asset, Decimal(stake))
        now = self._now()
        today = utc_date(now)
        subscription = Subscription(
            operation.operation_id, caller.user_id, plan.plan_id, asset, plan.interval_months, today, charge.price
        )
        draft = PaymentDraft(
            payment_id=operation.operation_id,
            kind=PaymentKind.SUBSCRIBE,
            plan_id=plan.plan_id,
            asset=asset,
            period_number=1,
            attempt=1,
            period=subscription.period,
            charge=charge,
        )
        async with self._store.transaction() as connection:
            earlier = await self._store.lock_running(connection, caller.user_id)
            if earlier is not None and not blocks_another(earlier.subscription, today):
                # Its last period is over; only the record of its end is missing.
                await self._store.save(connection, expire(earlier.subscription), now)
                EXPIRED.inc()
            if not await self._store.add(connection, subscription, stake, now):
                raise HttpError(409, "you have a subscription already: upgrade or cancel it", "SUBSCRIPTION_ACTIVE")
            payment = await self._store.add_payment(connection, subscription, draft, now)
        return self._charged(StoredSubscription(subscription, stake, now), payment)

    async def cancel(self, user_id: str) -> SubscriptionResponse:
        """End the subscription with its paid period, or at once if it is past due. 404 if there is none."""
        now = self._now()
        async with self._store.transaction() as connection:
            stored = await self._locked(connection, user_id, utc_date(now))
            ended = cancel(stored.subscription)
            await self._store.save(connection, ended, now)
        return self._response(replace(stored, subscription=ended))

    async def upgrade(self, caller: Identity, body: UpgradeBody, operation: IdempotentOperation) -> ChargedResponse:
        """Change to a plan of higher rank from today on. The payment has the operation's id."""
        if operation.is_resumed and (done := await self._done(caller.user_id, operation.operation_id)):
            return done
        plan = self._known(body.plan_id)
        stake = staking_balance_of(caller)
        now = self._now()
        today = utc_date(now)
        async with self._store.transaction() as connection:
            stored = await self._locked(connection, caller.user_id, today)
            before = stored.subscription
            charge = upgrade_charge(self._configuration, before, plan, today, Decimal(stake))
            after = upgraded(before, plan.plan_id, plan.interval_months, today, charge.price, charge.credit_left)
            draft = PaymentDraft(
                payment_id=operation.operation_id,
                kind=PaymentKind.UPGRADE,
                plan_id=plan.plan_id,
                asset=after.asset,
                period_number=after.period_number,
                attempt=1,
                period=after.period,
                charge=charge,
            )
            payment = await self._store.add_payment(connection, after, draft, now)
            await self._store.save(connection, after, now, stake)
        return self._charged(StoredSubscription(after, stake, stored.created_at), payment)

    async def payments(self, user_id: str, limit: int, cursor: str | None) -> tuple[list[PaymentResponse], str | None]:
        """A page of the user's payments, newest first, and the cursor of the next page."""
        before = None if cursor is None else _payment_number(cursor)
        rows = await self._store.payments_of(user_id, limit + 1, before)
        page = rows[:limit]
        following = encode_cursor([page[-1].payment_number]) if len(rows) > limit else None
        return [payment_response(row) for row in page], following

    def _today(self) -> date:
        return utc_date(self._now())

    async def _locked(self, connection: Connection, user_id: str, today: date) -> StoredSubscription:
        stored = await self._store.lock_running(connection, user_id)
        if stored is None or not blocks_another(stored.subscription, today):
            raise _no_subscription()
        return stored

    async def _done(self, user_id: str, operation_id: str) -> ChargedResponse | None:
        """The response of an earlier run of the operation, if there was one."""
        payment = await self._store.payment(operation_id, user_id)
        stored = None if payment is None else await self._store.get(payment.subscription_id, user_id)
        return None if payment is None or stored is None else self._shown(stored, payment)

    def _charged(self, stored: StoredSubscription, payment: SubscriptionPayment) -> ChargedResponse:
        CHARGES.labels(payment.kind, payment.status).inc()
        return self._shown(stored, payment)

    def _shown(self, stored: StoredSubscription, payment: SubscriptionPayment) -> ChargedResponse:
        return ChargedResponse(subscription=self._response(stored), payment=payment_response(payment))

    def _response(self, stored: StoredSubscription) -> SubscriptionResponse:
        return subscription_response(stored, self._configuration.retry_days)


def staking_balance_of(caller: Identity) -> int:
    """The caller's stake in whole units, up to the largest that counts; 0 if the token has none."""
    return int(min(caller.staking_balance or Decimal(0), Decimal(_STAKING_BALANCE_MAX)))


def _payment_number(cursor: str) -> int:
    (number,) = decode_cursor(cursor, tuple[int])
    if not 0 <= number <= _PAYMENT_NUMBER_MAX:
        raise unknown_cursor()
    return number


def _no_subscription() -> HttpError:
    return HttpError(404, "you have no subscription", "SUBSCRIPTION_NOT_FOUND")
