"""A charge takes what is due and no more, a refund gives all credit back once, and nothing unsent is a failure."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from openspot.domain.ids import SUBSCRIPTIONS_ACCOUNT_ID
from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.transfer import Movement, TransferKind
from openspot.engine_transfers.model import Transfer, TransferResult
from openspot.engine_transfers.runner import UNSENT
from openspot.http.context import Identity
from openspot.http.policy import Access
from openspot.kit.sql import numeric
from openspot.subscriptions import charging
from openspot.subscriptions.billing import staking_balance_of
from openspot.subscriptions.billing_calendar import Period
from openspot.subscriptions.charge_store import PendingCharge
from openspot.subscriptions.charges import Charge
from openspot.subscriptions.charging import ChargeRules, RefundRules, refund_credit, refusal_text, transfer_of
from openspot.subscriptions.lifecycle import ENDING, EXPIRED, PAST_DUE, Subscription
from openspot.subscriptions.store import PaymentKind

ONE = AMOUNT_SCALE
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
RUNNING = Subscription("s1", "alice", "pro", "USD", 1, date(2026, 2, 1), 30 * ONE, credit=4 * ONE)
PENDING = PendingCharge(
    user_id="alice", charge_id="c1", subscription_id="s1", kind=PaymentKind.RENEWAL, plan_id="pro", interval_months=1,
    period_index=1, period_number=2, attempt=1, period=Period(date(2026, 3, 1), date(2026, 4, 1)),
    charge=Charge("USD", 30 * ONE, 0, 4 * ONE, 26 * ONE, 0), staking_balance=0, made_on=date(2026, 3, 1),
)  # fmt: skip


class Tables:
    """The tables of subscriptions, charges and transfers around one charge."""

    def __init__(self, pending: PendingCharge = PENDING) -> None:
        self.pending = pending
        self.saved: list[Subscription] = []
        self.payments: list[Any] = []
        self.forgotten: list[str] = []
        self.put: list[tuple[str, datetime]] = []
        self.added: list[Transfer] = []
        self.told: list[Any] = []

    async def lock_running(self, _connection: Any, user_id: str) -> Any:
        assert user_id == "alice"
        holder: Any = type("Stored", (), {"subscription": RUNNING})
        return holder

    async def take(self, _connection: Any, charge_id: str) -> PendingCharge:
        assert charge_id == "c1"
        return self.pending

    async def forget_transfer(self, _connection: Any, reference: str) -> None:
        self.forgotten.append(reference)

    async def put_off(self, subscription_id: str, until: datetime, _connection: Any) -> None:
        self.put.append((subscription_id, until))

    async def save(self, _connection: Any, after: Subscription, *_: Any) -> None:
        self.saved.append(after)

    async def add_payment(self, _connection: Any, _after: Subscription, payment: Any, _now: datetime) -> None:
        self.payments.append(payment)

    async def add(self, _connection: Any, transfer: Transfer, _now: datetime, *, leased_until: datetime) -> None:
        assert leased_until == NOON
        self.added.append(transfer)

    async def tell(self, notification: Any) -> None:
        self.told.append(notification)


async def settled(monkeypatch: pytest.MonkeyPatch, result: TransferResult, pending: PendingCharge = PENDING) -> Tables:
    """The tables after the engine's decision on the charge."""
    tables: Any = Tables(pending)
    monkeypatch.setattr(charging, "charge_store", tables)
    rules = ChargeRules(tables, tables, (1, 3, 7), tables.tell)
    await rules.settle(tables, transfer_of(pending), result, NOON)
    return tables  # type: ignore[no-any-return]


def test_a_charge_takes_what_credit_does_not_pay() -> None:
    movement = Movement("alice", SUBSCRIPTIONS_ACCOUNT_ID, "USD", numeric(26 * ONE))
    assert transfer_of(PENDING) == Transfer("subscription:c1", TransferKind.SUBSCRIPTION, "c1", (movement,))


def test_a_user_is_told_whether_money_was_missing() -> None:
    assert refusal_text("USD", 26 * ONE, "RISK_NSF") == (
        "your spot account does not have 26 USD that no order uses: add funds and try again"
    )
    assert refusal_text("USD", 26 * ONE, "RISK_FROZEN") == "the engine refused the charge of 26 USD: RISK_FROZEN"


async def test_an_ended_subscription_gets_its_whole_credit_back_once() -> None:
    tables: Any = Tables()
    ended = replace(RUNNING, state=EXPIRED)
    after = await refund_credit(tables, tables, ended, NOON)
    assert after == replace(ended, credit=0)
    movement = Movement(SUBSCRIPTIONS_ACCOUNT_ID, "alice", "USD", numeric(4 * ONE))
    assert tables.added == [Transfer("refund:s1", TransferKind.REFUND, "s1", (movement,))]
    for goes_on in (after, replace(RUNNING, state=ENDING), replace(RUNNING, state=PAST_DUE), RUNNING):
        assert await refund_credit(tables, tables, goes_on, NOON) == goes_on
    assert len(tables.added) == 1
    assert RefundRules().is_owed
    assert not ChargeRules.is_owed


async def test_a_renewal_that_was_paid_begins_its_period_and_uses_the_credit_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tables = await settled(monkeypatch, TransferResult(True, "SUCCESS"))
    [after] = tables.saved
    assert (after.period_index, after.period_number, after.price, after.credit) == (1, 2, 30 * ONE, 0)
    assert tables.payments == [PENDING.payment()]


async def test_a_charge_that_was_never_sent_is_no_failure_and_waits_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = await settled(monkeypatch, TransferResult(False, UNSENT))
    assert tables.forgotten == ["subscription:c1"]
    assert tables.put == [("s1", NOON + timedelta(minutes=1))]
    assert (tables.saved, tables.payments, tables.told) == ([], [], [])
    upgrade = await settled(monkeypatch, TransferResult(False, UNSENT), replace(PENDING, kind=PaymentKind.UPGRADE))
    assert (upgrade.forgotten, upgrade.put) == (["subscription:c1"], [])


async def test_an_upgrade_that_was_refused_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    upgrade = replace(PENDING, kind=PaymentKind.UPGRADE)
    tables = await settled(monkeypatch, TransferResult(False, "RISK_NSF"), upgrade)
    assert (tables.saved, tables.payments, tables.forgotten, tables.put) == ([], [], [], [])


@pytest.mark.parametrize(
    ("stated", "counted"),
    [(None, 0), ("0", 0), ("99.99", 99), ("100000", 100_000), ("100000.01", 100_000), ("9e30", 100_000)],
)
def test_a_stake_counts_in_whole_units_up_to_the_largest_that_gives_a_discount(
    stated: str | None, counted: int
) -> None:
    caller = Identity("alice", Access.USER, staking_balance=None if stated is None else Decimal(stated))
    assert staking_balance_of(caller) == counted
