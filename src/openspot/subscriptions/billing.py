"""The work of the routes: subscribe, cancel, upgrade, and read.

A change that costs money begins with a transaction that locks the user's subscription and notes the charge; `charging`
does the rest when the engine has decided, which it does while the request waits. A payment that is shown is completed
(facts B4.6-13, B4.6-14): nothing outside has to confirm it.
"""

from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal

from openspot.contracts.messages import PlanRecord, SubscriptionPaymentRecord, SubscriptionRecord
from openspot.domain.result_code import ResultCode
from openspot.engine_transfers.model import TransferStatus
from openspot.engine_transfers.runner import UNSENT, TransferRunner
from openspot.engine_transfers.store import TransferStore
from openspot.http.context import IdempotentOperation, Identity
from openspot.http.errors import HttpError, service_unavailable
from openspot.http.lists import decode_cursor, encode_cursor, unknown_cursor
from openspot.http.paging import time_and_id_of, time_place
from openspot.kit.clock import DateClock
from openspot.kit.database import Connection
from openspot.subscriptions import charge_store, operated
from openspot.subscriptions.billing_calendar import period_at, utc_date
from openspot.subscriptions.charge_store import PendingCharge
from openspot.subscriptions.charges import DISCOUNT_BPS_MAX, DISCOUNT_BPS_MIN, STAKING_BALANCE_STEP, charge_for
from openspot.subscriptions.charging import ChargeRules, reference_of, refund_credit, refusal_text, transfer_of
from openspot.subscriptions.entitlements import entitlements
from openspot.subscriptions.lifecycle import (
    Subscription,
    SubscriptionStatus,
    blocks_another,
    cancel,
    expire,
    upgraded,
)
from openspot.subscriptions.metrics import EXPIRED
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
from openspot.subscriptions.store import PaymentKind, StoredSubscription, SubscriptionPayment, SubscriptionStore
from openspot.subscriptions.upgrade import upgrade_charge

_PAYMENT_NUMBER_MAX = 2**63 - 1
_STAKING_BALANCE_MAX = (DISCOUNT_BPS_MAX - DISCOUNT_BPS_MIN) * STAKING_BALANCE_STEP
"""A larger staking balance gives no larger discount."""


class Billing:
    """Subscriptions of all users.

    Methods raise HttpError, whose message is for the client, and the SubscriptionError and ChargeError of the rules.
    """

    def __init__(
        self,
        store: SubscriptionStore,
        configuration: PlanConfiguration,
        rules: ChargeRules,
        transfers: TransferStore,
        runner: TransferRunner,
        now: DateClock,
    ) -> None:
        self._store = store
        self._configuration = configuration
        self._rules = rules
        self._transfers = transfers
        self._runner = runner
        self._now = now

    # Plans

    def plans(self) -> list[PlanResponse]:
        """The plans that take new subscribers, lowest rank first."""
        return [self._plan_response(plan) for plan in self._configuration.offered()]

    def all_plans(self) -> tuple[PlanRecord, ...]:
        """Every plan as operators see it, lowest rank first."""
        return tuple(operated.plan_record(plan) for plan in self._configuration.plans.values())

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
        """Begin a subscription and charge its first period. Both have the operation's id.

        409 if one is active, if the user lacks the funds, or if another charge of the user is being made.
        """
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
        pending = PendingCharge(
            user_id=caller.user_id,
            charge_id=operation.operation_id,
            subscription_id=operation.operation_id,
            kind=PaymentKind.SUBSCRIBE,
            plan_id=plan.plan_id,
            interval_months=plan.interval_months,
            period_index=0,
            period_number=1,
            attempt=1,
            period=period_at(today, plan.interval_months, 0),
            charge=charge,
            staking_balance=stake,
            made_on=today,
        )
        async with self._store.transaction() as connection:
            earlier = await self._store.lock_running(connection, caller.user_id)
            if earlier is not None and blocks_another(earlier.subscription, today):
                raise _active()
            await self._note(connection, pending, now)
            if earlier is not None:
                # Its last period is over; only the record of its end is missing.
                await self._end(connection, expire(earlier.subscription), now)
            elif await self._store.is_running(connection, caller.user_id):
                # Another charge became a subscription before this one was noted. It is not locked here: whoever has
                # locked it may wait for this charge.
                raise _active()
            await self._begin(connection, pending, None, now)
        return await self._charged(pending)

    async def cancel(self, user_id: str) -> SubscriptionResponse:
        """End the subscription with its paid period, or at once if it is past due. 404 if there is none.

        409 while a charge of it is being made.
        """
        return self._response(await self._cancelled(user_id))

    async def _cancelled(self, user_id: str) -> StoredSubscription:
        now = self._now()
        async with self._store.transaction() as connection:
            stored = await self._locked(connection, user_id, utc_date(now))
            if await charge_store.is_under_way(connection, user_id):
                raise _under_way()
            ended = await self._end(connection, cancel(stored.subscription), now)
        return replace(stored, subscription=ended)

    async def upgrade(self, caller: Identity, body: UpgradeBody, operation: IdempotentOperation) -> ChargedResponse:
        """Change to a plan of higher rank from today on. The payment has the operation's id.

        409 if the user lacks the funds, or if another charge of the user is being made.
        """
        if operation.is_resumed and (done := await self._done(caller.user_id, operation.operation_id)):
            return done
        plan = self._known(body.plan_id)
        stake = staking_balance_of(caller)
        now = self._now()
        today = utc_date(now)
        async with self._store.transaction() as connection:
            before = (await self._locked(connection, caller.user_id, today)).subscription
            charge = upgrade_charge(self._configuration, before, plan, today, Decimal(stake))
            after = upgraded(before, plan.plan_id, plan.interval_months, today, charge.price, charge.credit_left)
            pending = PendingCharge(
                user_id=caller.user_id,
                charge_id=operation.operation_id,
                subscription_id=after.subscription_id,
                kind=PaymentKind.UPGRADE,
                plan_id=plan.plan_id,
                interval_months=after.interval_months,
                period_index=after.period_index,
                period_number=after.period_number,
                attempt=1,
                period=after.period,
                charge=charge,
                staking_balance=stake,
                made_on=today,
            )
            if charge.due:
                await self._note(connection, pending, now)
            elif await charge_store.is_under_way(connection, caller.user_id):
                raise _under_way()
            await self._begin(connection, pending, before, now)
        return await self._charged(pending)

    async def _note(self, connection: Connection, pending: PendingCharge, now: datetime) -> None:
        if not await charge_store.add(connection, pending, now):
            raise _under_way()

    async def _begin(
        self, connection: Connection, pending: PendingCharge, before: Subscription | None, now: datetime
    ) -> None:
        """Begin the transfer of a charge that is noted. Credit that pays all of it needs none."""
        if pending.charge.due:
            await self._runner.begin(connection, transfer_of(pending))
        else:
            await self._rules.complete(connection, pending, before, now)

    async def _end(self, connection: Connection, ended: Subscription, now: datetime) -> Subscription:
        """Store a subscription after a cancel or an expiry, and return it as it is stored."""
        ended = await refund_credit(self._transfers, connection, ended, now)
        await self._store.save(connection, ended, now)
        if ended.state.status is SubscriptionStatus.EXPIRED:
            EXPIRED.inc()
        return ended

    async def _charged(self, pending: PendingCharge) -> ChargedResponse:
        """Let the engine decide on a charge that has begun, and return what came of it."""
        if pending.charge.due:
            await self._runner.attempt(transfer_of(pending))
        done = await self._done(pending.user_id, pending.charge_id)
        if done is None:
            message = "the matching engine does not respond; nothing was charged: try again"
            raise HttpError(503, message, UNSENT, headers={"Retry-After": "1"})
        return done

    async def payments(self, user_id: str, limit: int, cursor: str | None) -> tuple[list[PaymentResponse], str | None]:
        """A page of the user's payments, newest first, and the cursor of the next page."""
        before = None if cursor is None else _payment_number(cursor)
        rows = await self._store.payments_of(user_id, limit + 1, before)
        page = rows[:limit]
        following = encode_cursor([page[-1].payment_number]) if len(rows) > limit else None
        return [payment_response(row) for row in page], following

    # Those of all users, for operators

    async def all_subscriptions(
        self, wanted: operated.Wanted, limit: int, cursor: str | None
    ) -> tuple[tuple[SubscriptionRecord, ...], str | None]:
        """A page of the subscriptions of all users, newest first, and the cursor of the next page."""
        rows = await operated.subscriptions(self._store.pool, wanted, limit + 1, time_and_id_of(cursor))
        page = tuple(operated.subscription_record(row, self._configuration.retry_days) for row in rows[:limit])
        if len(rows) <= limit:
            return page, None
        last = rows[limit - 1]
        return page, encode_cursor(time_place(last.created_at, last.subscription.subscription_id))

    async def all_payments(
        self, wanted: operated.Wanted, limit: int, cursor: str | None
    ) -> tuple[tuple[SubscriptionPaymentRecord, ...], str | None]:
        """A page of the payments of all users, newest first, and the cursor of the next page."""
        before = None if cursor is None else _payment_number(cursor)
        rows = await operated.payments(self._store.pool, wanted, limit + 1, before)
        following = encode_cursor([rows[limit - 1].payment_number]) if len(rows) > limit else None
        return tuple(operated.payment_record(row) for row in rows[:limit]), following

    async def cancel_for_operator(self, user_id: str) -> SubscriptionRecord:
        """End a user's subscription as `cancel` does."""
        return operated.subscription_record(await self._cancelled(user_id), self._configuration.retry_days)

    def _today(self) -> date:
        return utc_date(self._now())

    async def _locked(self, connection: Connection, user_id: str, today: date) -> StoredSubscription:
        stored = await self._store.lock_running(connection, user_id)
        if stored is None or not blocks_another(stored.subscription, today):
            raise _no_subscription()
        return stored

    async def _done(self, user_id: str, charge_id: str) -> ChargedResponse | None:
        """What came of a charge; None if it was not made. Raises HttpError if it was refused, or is not decided yet."""
        payment = await self._store.payment(charge_id, user_id)
        if payment is not None:
            stored = await self._store.get(payment.subscription_id, user_id)
            assert stored is not None, "a payment names its subscription"
            return self._shown(stored, payment)
        decided = await charge_store.decision(self._store.pool, reference_of(charge_id), user_id)
        if decided is None:
            return None
        if decided.status is TransferStatus.PENDING:
            raise service_unavailable(
                "the charge is being made: send the request again in a moment", "CHARGE_UNDER_WAY"
            )
        is_short = decided.code == ResultCode.RISK_NSF.name
        text = refusal_text(decided.asset, decided.amount, decided.code)
        raise HttpError(409, text, "INSUFFICIENT_FUNDS" if is_short else "CHARGE_REFUSED")

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


def _active() -> HttpError:
    return HttpError(409, "you have a subscription already: upgrade or cancel it", "SUBSCRIPTION_ACTIVE")


def _under_way() -> HttpError:
    return HttpError(409, "a charge of yours is being made: try again in a moment", "CHARGE_UNDER_WAY")


def _no_subscription() -> HttpError:
    return HttpError(404, "you have no subscription", "SUBSCRIPTION_NOT_FOUND")
