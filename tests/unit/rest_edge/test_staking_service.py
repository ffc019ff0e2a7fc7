"""Staking's rules of amounts, rates and days, with the tables and the engine replaced."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from openspot.domain.ids import REWARDS_ACCOUNT_ID, STAKING_ACCOUNT_ID
from openspot.domain.market import load_markets
from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.offers import EarlyRedemption
from openspot.domain.transfer import Movement
from openspot.engine_transfers.model import Transfer, TransferResult
from openspot.http.context import IdempotentOperation
from openspot.http.errors import HttpError
from openspot.kit.sql import numeric
from openspot.rest_edge.products.staking.accrual import Accrual
from openspot.rest_edge.products.staking.products import Product, ProductType
from openspot.rest_edge.products.staking.rules import PayoutRules, StakeRules
from openspot.rest_edge.products.staking.schemas import StakeBody, UnstakeBody
from openspot.rest_edge.products.staking.service import StakingService, payouts_of
from openspot.rest_edge.products.staking.store import StakingBalance, Unstake

ONE = AMOUNT_SCALE
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LOCKED = Product(
    product_id="locked", asset="USD", type=ProductType.LOCKED, rate_ppm=365_000, lock_days=3, unbonding_days=0,
    early_redemption=EarlyRedemption.NOT_ALLOWED, minimum=10 * ONE, maximum=100 * ONE, capacity=250 * ONE,
    unit=ONE // 100,
)  # fmt: skip
FLEXIBLE = replace(LOCKED, product_id="flexible", type=ProductType.FLEXIBLE, lock_days=0, unbonding_days=2)
ACTIVE = StakingBalance(
    balance_id="b1", user_id="alice", product_id="locked", asset="USD", type="locked", amount=50 * ONE, accrued=0,
    remainder=0, apr_ppm=365_000, lock_days=3, unbonding_days=0, early_redemption="not_allowed", status="active",
    failure_code=None, created_at=NOON, starts_on=date(2026, 3, 2), ends_on=date(2026, 3, 5),
    next_accrual_on=date(2026, 3, 2),
)  # fmt: skip


class Tables:
    """The tables of staking, in memory. It is its own pool and its own connection."""

    def __init__(self) -> None:
        self.pool = self
        self.balances: dict[str, StakingBalance] = {}
        self.unstakes: dict[str, Unstake] = {}
        self.accrued: list[tuple[date, int, int]] = []
        self.notes: list[tuple[str, int]] = []

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator["Tables"]:
        yield self

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        yield

    async def totals(self) -> dict[str, int]:
        return {}

    async def lock_product(self, _connection: Any, _product_id: str) -> None:
        """One test at a time is here."""

    async def staked(self, _connection: Any, product_id: str, user_id: str) -> tuple[int, int]:
        in_product = [each for each in self.balances.values() if each.product_id == product_id]
        return sum(each.amount for each in in_product), sum(
            each.amount for each in in_product if each.user_id == user_id
        )

    async def add(self, _connection: Any, balance: StakingBalance) -> None:
        self.balances[balance.balance_id] = balance

    async def lock(self, _connection: Any, balance_id: str, *, skip_locked: bool = False) -> StakingBalance | None:
        return self.balances.get(balance_id)

    async def get(self, balance_id: str, user_id: str) -> StakingBalance | None:
        found = self.balances.get(balance_id)
        return found if found is not None and found.user_id == user_id else None

    async def activate(self, _connection: Any, balance_id: str, starts_on: date, ends_on: date | None) -> None:
        self._change(balance_id, status="active", starts_on=starts_on, next_accrual_on=starts_on, ends_on=ends_on)

    async def keep_redemptions(self, redemptions: Mapping[str, str], _limit: int) -> int:
        for each in [each for each in self.balances.values() if each.early_redemption is None]:
            if each.type == "locked" and each.product_id in redemptions:
                self._change(each.balance_id, early_redemption=redemptions[each.product_id])
        return 0

    async def fail(self, _connection: Any, balance_id: str, code: str) -> None:
        self._change(balance_id, status="failed", failure_code=code)

    async def due(self, _today: date, _limit: int) -> list[str]:
        return sorted(self.balances)

    async def add_accrual(
        self, _connection: Any, _balance: StakingBalance, accrual: Accrual, reward: int, rate_ppm: int
    ) -> None:
        self.accrued.append((accrual.day, reward, rate_ppm))

    async def write_accrued(
        self, _connection: Any, balance_id: str, accrued: int, remainder: int, next_day: date
    ) -> None:
        self._change(balance_id, accrued=accrued, remainder=remainder, next_accrual_on=next_day)

    async def write_unstake(self, _connection: Any, unstake: Unstake, *, left: int, remainder: int) -> None:
        self.unstakes[unstake.unstake_id] = unstake
        status = "active" if left else "unbonding"
        self._change(unstake.balance_id, amount=left, accrued=0, remainder=remainder, status=status)

    async def unstake(self, unstake_id: str) -> Unstake | None:
        return self.unstakes.get(unstake_id)

    async def take_payable(self, _connection: Any, now: datetime, unstake_id: str | None) -> Unstake | None:
        return next(
            (
                each
                for each in self.unstakes.values()
                if unstake_id in (None, each.unstake_id) and each.available_at <= now
            ),
            None,
        )

    async def note(
        self, _connection: Any, _user: str, _balance: str, kind: str, _asset: str, amount: int, _at: datetime
    ) -> None:
        self.notes.append((kind, amount))

    def _change(self, balance_id: str, **fields: Any) -> None:
        self.balances[balance_id] = replace(self.balances[balance_id], **fields)


class Bench:
    """The service at a time that the test sets, and an engine that moves everything unless it `refuses`."""

    def __init__(self, *products: Product) -> None:
        self.tables: Any = Tables()
        self.now = NOON
        self.begun: list[Transfer] = []
        self.refuses: str | None = None
        self.markets = load_markets()
        self.products = {each.product_id: each for each in products or (LOCKED, FLEXIBLE)}
        runner: Any = self
        self.service = StakingService(
            self.tables,
            runner,
            self.products,
            self.markets,
            lambda: round(self.now.timestamp()) * 10**9,
        )

    async def begin(self, _connection: Any, transfer: Transfer) -> None:
        self.begun.append(transfer)

    async def attempt(self, transfer: Transfer) -> None:
        if transfer.reference.startswith("stake:"):
            result = TransferResult(self.refuses is None, self.refuses or "SUCCESS")
            await StakeRules(self.tables).settle(self.tables, transfer, result, self.now)

    async def stake(self, amount: str, *, user: str = "alice", product: str = "locked") -> Any:
        body = StakeBody.model_validate({"productId": product, "amount": amount})
        operation = IdempotentOperation(f"o{len(self.tables.balances)}", is_resumed=False)
        return await self.service.stake(user, body, operation)

    async def unstake(self, amount: str | None = None, *, user: str = "alice", balance: str = "b1") -> Any:
        body = UnstakeBody.model_validate({"balanceId": balance, "amount": amount})
        return await self.service.unstake(user, body, IdempotentOperation("u1", is_resumed=False))

    def hold(self, balance: StakingBalance = ACTIVE) -> None:
        """Let a stake exist."""
        self.tables.balances[balance.balance_id] = balance


def at(day: int, hour: int = 0) -> datetime:
    return datetime(2026, 3, day, hour, tzinfo=UTC)


async def test_the_maximum_holds_for_all_stakes_of_a_user_together() -> None:
    bench = Bench()
    await bench.stake("60")
    with pytest.raises(HttpError, match="you can stake 40 USD more in this product") as refused:
        await bench.stake("40.01")
    assert (refused.value.status_code, refused.value.code) == (409, "MAXIMUM_EXCEEDED")
    await bench.stake("40")
    # Another user, and another product, have bounds of their own.
    await bench.stake("100", user="bob")
    await bench.stake("100", product="flexible")


async def test_the_capacity_holds_for_all_users_together_to_the_last_unit() -> None:
    bench = Bench()
    await bench.stake("100")
    await bench.stake("100", user="bob")
    with pytest.raises(HttpError, match="the product has room for 50 USD more") as refused:
        await bench.stake("50.01", user="carol")
    assert (refused.value.status_code, refused.value.code) == (409, "CAPACITY_EXCEEDED")
    await bench.stake("50", user="carol")


async def test_a_product_that_is_closed_takes_nothing_new_and_its_stakes_earn_and_are_taken_back() -> None:
    bench = Bench(LOCKED, replace(FLEXIBLE, is_open=False))
    assert [each.id for each in await bench.service.products()] == ["locked"]
    for refused_call in (bench.stake("10", product="flexible"), bench.service.product("flexible")):
        with pytest.raises(HttpError) as refused:
            await refused_call
        assert (refused.value.status_code, refused.value.code) == (404, "PRODUCT_NOT_FOUND")
    bench.hold(replace(ACTIVE, product_id="flexible", type="flexible", lock_days=0, ends_on=None))
    bench.now = at(4)
    assert await bench.service.accrue_due() == 1
    assert len(bench.tables.accrued) == 2
    # What is left has the least amount of the product, as before.
    with pytest.raises(HttpError, match="or leave at least 10"):
        await bench.unstake("45")
    assert (await bench.unstake()).amount == "50"


async def test_a_stake_of_an_asset_that_is_not_known_yet_waits_and_hinders_no_other() -> None:
    bench = Bench()
    bench.hold(replace(ACTIVE, balance_id="b0", asset="DOGE"))
    bench.hold()
    bench.now = at(4)
    assert await bench.service.accrue_due() == 1
    with pytest.raises(HttpError, match="decimal places of DOGE are not known yet") as refused:
        await bench.unstake(balance="b0")
    assert refused.value.status_code == 503


async def test_the_minimum_is_enough_and_less_is_not() -> None:
    bench = Bench()
    with pytest.raises(HttpError, match="amount must be at least 10 USD"):
        await bench.stake("9.99")
    response = await bench.stake("10")
    assert (response.status, response.amount) == ("active", "10")


async def test_a_stake_of_noon_earns_from_midnight_for_its_days_and_ends_at_a_midnight() -> None:
    bench = Bench()
    response = await bench.stake("50")
    assert (response.starts_at, response.ends_at) == ("2026-03-02T00:00:00.000Z", "2026-03-05T00:00:00.000Z")
    [transfer] = bench.begun
    assert transfer.movements == (Movement("alice", STAKING_ACCOUNT_ID, "USD", numeric(50 * ONE)),)
    assert bench.tables.notes == [("stake", 50 * ONE)]


async def test_a_refused_stake_has_failed_with_the_engines_reason() -> None:
    bench = Bench()
    bench.refuses = "RISK_NSF"
    with pytest.raises(HttpError) as refused:
        await bench.stake("50")
    assert (refused.value.status_code, refused.value.code) == (400, "TRANSFER_REFUSED")
    assert bench.tables.balances["o0"].status == "failed"
    assert bench.tables.notes == []


async def test_a_locked_stake_keeps_the_rate_of_its_first_day_and_a_flexible_one_has_the_present_rate() -> None:
    cheaper = [replace(each, rate_ppm=36_500) for each in (LOCKED, FLEXIBLE)]
    bench = Bench(*cheaper)
    bench.hold()
    bench.hold(replace(ACTIVE, balance_id="b2", product_id="flexible", type="flexible", ends_on=None))
    bench.now = at(3)
    await bench.service.accrue_due()
    # 50 USD at 36.5 % and at 3.65 % a year: 5 cents and half a cent a day.
    assert bench.tables.accrued == [(date(2026, 3, 2), 5 * ONE // 100, 365_000), (date(2026, 3, 2), 0, 36_500)]


async def test_a_stake_of_a_product_that_is_gone_keeps_its_rate_and_comes_back_without_conditions() -> None:
    bench = Bench(FLEXIBLE)
    bench.hold(replace(ACTIVE, early_redemption=None))
    bench.now = at(3)
    response = await bench.unstake()
    assert bench.tables.accrued == [(date(2026, 3, 2), 5 * ONE // 100, 365_000)]
    assert (response.amount, response.reward) == ("50", "0.05")


async def test_a_locked_stake_comes_back_on_the_day_of_its_end_with_the_rewards_of_all_its_days() -> None:
    bench = Bench()
    bench.hold()
    bench.now = at(5) - timedelta(seconds=1)
    await bench.service.accrue_due()
    assert bench.tables.unstakes == {}
    bench.now = at(5)
    await bench.service.accrue_due()
    [unstake] = bench.tables.unstakes.values()
    assert (unstake.amount, unstake.reward, unstake.available_at) == (50 * ONE, 15 * ONE // 100, at(5))


async def test_an_end_that_was_missed_earns_nothing_more() -> None:
    bench = Bench()
    bench.hold()
    bench.now = at(20)
    await bench.service.accrue_due()
    assert [day for day, _, _ in bench.tables.accrued] == [date(2026, 3, 2), date(2026, 3, 3), date(2026, 3, 4)]


async def test_a_locked_stake_is_held_until_the_second_of_its_end() -> None:
    bench = Bench()
    bench.hold()
    bench.now = at(5) - timedelta(seconds=1)
    with pytest.raises(HttpError, match=r"the stake is locked until 2026-03-05T00:00:00\.000Z") as refused:
        await bench.unstake()
    assert (refused.value.status_code, refused.value.code) == (409, "STAKE_LOCKED")
    bench.now = at(5)
    assert (await bench.unstake()).amount == "50"


async def test_an_early_end_forfeits_all_rewards_if_the_product_says_so() -> None:
    bench = Bench()
    bench.hold(replace(ACTIVE, remainder=7, early_redemption="forfeits_rewards"))
    bench.now = at(4)
    response = await bench.unstake()
    assert (response.amount, response.reward, response.reward_paid) == ("50", "0", True)
    assert bench.tables.balances["b1"].remainder == 0
    assert bench.tables.notes[-2:] == [("unstake", 50 * ONE), ("reward_forfeited", 10 * ONE // 100)]


async def test_a_locked_stake_comes_back_whole_or_not_at_all() -> None:
    bench = Bench()
    bench.hold()
    bench.now = at(5)
    with pytest.raises(HttpError) as refused:
        await bench.unstake("49.99")
    assert "amount of a locked stake must be all of it" in str(refused.value.details or refused.value)
    with pytest.raises(HttpError):
        await bench.unstake("50.01")


async def test_what_is_left_of_a_stake_is_at_least_the_minimum_or_nothing() -> None:
    flexible = replace(ACTIVE, product_id="flexible", type="flexible", ends_on=None)
    bench = Bench()
    bench.now = at(3)
    for too_much in ("49.99", "40.01"):
        bench.hold(flexible)
        with pytest.raises(HttpError) as refused:
            await bench.unstake(too_much)
        assert refused.value.status_code == 400
        assert refused.value.message == ["amount must be all of it, 50 USD, or leave at least 10"]
        assert bench.tables.unstakes == {}
    assert (await bench.unstake("40")).amount == "40"
    assert bench.tables.balances["b1"].amount == 10 * ONE
    for wanted in ("50", None):
        bench.hold(flexible)
        assert (await bench.unstake(wanted)).amount == "50"
        assert bench.tables.balances["b1"].status == "unbonding"


async def test_a_stake_below_a_minimum_that_was_raised_comes_back_whole_and_one_without_a_product_in_any_part() -> None:
    small = replace(ACTIVE, product_id="flexible", type="flexible", ends_on=None, amount=5 * ONE)
    bench = Bench()
    bench.now = at(3)
    bench.hold(small)
    with pytest.raises(HttpError):
        await bench.unstake("1")
    assert (await bench.unstake("5")).amount == "5"
    bench.hold(replace(small, product_id="gone"))
    assert (await bench.unstake("4.99")).amount == "4.99"


async def test_the_stake_of_another_user_is_not_there_and_one_that_ended_is_refused() -> None:
    bench = Bench()
    bench.hold()
    bench.now = at(5)
    with pytest.raises(HttpError) as refused:
        await bench.unstake(user="bob")
    assert (refused.value.status_code, refused.value.code) == (404, "STAKING_BALANCE_NOT_FOUND")
    bench.hold(replace(ACTIVE, status="unbonding"))
    with pytest.raises(HttpError, match="the stake is unbonding") as refused:
        await bench.unstake()
    assert refused.value.code == "STAKE_NOT_ACTIVE"


async def test_an_unbonding_amount_is_paid_after_its_days_and_not_before() -> None:
    bench = Bench()
    flexible = replace(ACTIVE, product_id="flexible", type="flexible", lock_days=0, unbonding_days=2, ends_on=None)
    bench.hold(flexible)
    bench.now = at(2, 6)
    response = await bench.unstake("20")
    assert (response.status, response.available_at) == ("unbonding", "2026-03-04T06:00:00.000Z")
    assert bench.begun == []
    assert bench.tables.balances["b1"].amount == 30 * ONE
    bench.now = at(4, 6) - timedelta(seconds=1)
    assert not await bench.service.pay_out(None)
    bench.now = at(4, 6)
    assert await bench.service.pay_out(None)
    assert [transfer.reference for transfer in bench.begun] == ["unstake:u1"]


async def test_without_unbonding_days_an_unstake_is_paid_at_once() -> None:
    bench = Bench()
    bench.hold(replace(ACTIVE, product_id="flexible", type="flexible", ends_on=None))
    bench.now = at(3)
    await bench.unstake("20")
    assert [transfer.reference for transfer in bench.begun] == ["unstake:u1", "staking-reward:u1"]


def test_the_amount_comes_from_the_staking_account_and_the_reward_from_the_rewards_account() -> None:
    unstake = Unstake(
        unstake_id="u1", balance_id="b1", user_id="alice", asset="USD", amount=20 * ONE, reward=ONE, status="unbonding",
        principal_paid=False, reward_paid=False, created_at=NOON, available_at=NOON,
    )  # fmt: skip
    assert [(each.reference, each.kind.value, each.movements) for each in payouts_of(unstake)] == [
        ("unstake:u1", "unstaking", (Movement(STAKING_ACCOUNT_ID, "alice", "USD", numeric(20 * ONE)),)),
        ("staking-reward:u1", "reward", (Movement(REWARDS_ACCOUNT_ID, "alice", "USD", numeric(ONE)),)),
    ]
    assert len(payouts_of(replace(unstake, reward=0))) == 1


async def test_an_unknown_product_is_not_found() -> None:
    with pytest.raises(HttpError) as refused:
        await Bench().stake("50", product="none")
    assert (refused.value.status_code, refused.value.code) == (404, "PRODUCT_NOT_FOUND")


@pytest.mark.parametrize(("reward", "note"), [(False, ("payout", 50 * ONE)), (True, ("reward_payout", 3 * ONE))])
async def test_a_payout_is_owed_until_it_is_made_and_noted_with_its_own_amount(
    reward: bool, note: tuple[str, int]
) -> None:
    tables: Any = Tables()
    tables.unstakes["u1"] = Unstake(
        unstake_id="u1", balance_id="b1", user_id="alice", asset="USD", amount=50 * ONE, reward=3 * ONE,
        status="unbonding", principal_paid=False, reward_paid=False, created_at=NOON, available_at=NOON,
    )  # fmt: skip
    marked: list[tuple[str, bool]] = []

    async def mark_paid(_connection: Any, unstake_id: str, *, reward: bool) -> Unstake:
        marked.append((unstake_id, reward))
        return tables.unstakes[unstake_id]  # type: ignore[no-any-return]

    tables.mark_paid = mark_paid
    rules = PayoutRules(tables, reward=reward)
    assert rules.is_owed
    assert not StakeRules(tables).is_owed
    transfer = payouts_of(tables.unstakes["u1"])[reward]
    await rules.settle(tables, transfer, TransferResult(True, "SUCCESS"), NOON)
    assert (marked, tables.notes) == ([("u1", reward)], [note])


async def test_a_resumed_stake_is_found_and_moves_nothing_a_second_time() -> None:
    bench = Bench()
    first = await bench.stake("50")
    body = StakeBody.model_validate({"productId": "locked", "amount": "50"})
    again = await bench.service.stake("alice", body, IdempotentOperation(first.id, is_resumed=True))
    assert (again, len(bench.begun), len(bench.tables.balances)) == (first, 1, 1)


async def test_a_resumed_unstake_is_found_and_takes_nothing_back_a_second_time() -> None:
    bench = Bench()
    bench.hold(replace(ACTIVE, type="flexible", product_id="flexible", unbonding_days=2, ends_on=None))
    first = await bench.unstake("20")
    body = UnstakeBody.model_validate({"balanceId": "b1", "amount": "20"})
    again = await bench.service.unstake("alice", body, IdempotentOperation("u1", is_resumed=True))
    assert (again, bench.tables.balances["b1"].amount) == (first, 30 * ONE)
    assert [kind for kind, _ in bench.tables.notes].count("unstake") == 1


async def test_a_flexible_stake_comes_back_up_to_its_last_unit() -> None:
    bench = Bench()
    bench.hold(replace(ACTIVE, type="flexible", product_id="flexible", unbonding_days=2, ends_on=None))
    with pytest.raises(HttpError) as refused:
        await bench.unstake("50.01")
    assert (refused.value.status_code, refused.value.message) == (400, ["amount must be at most 50 USD"])
    assert (await bench.unstake("50")).amount == "50"
    assert bench.tables.balances["b1"].amount == 0


class Calls:
    """The tables of staking as transfers settle: every call with its arguments."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        async def call(*arguments: Any, **options: Any) -> Any:
            self.calls.append((name, arguments, options))
            if name == "mark_paid":
                return SimpleNamespace(user_id="alice", balance_id="b1", asset="USD", amount=7, reward=3)
            return ACTIVE if name == "lock" else None

        return call


async def settled(rules: type[Any], result: TransferResult, **options: Any) -> list[Any]:
    store, transfer = Calls(), SimpleNamespace(subject_id="b1")
    await rules(store, **options).settle("connection", transfer, result, NOON)
    return store.calls


async def test_a_transfer_is_settled_in_its_own_transaction_and_noted_for_its_user() -> None:
    moved = TransferResult(True, "SUCCESS")
    start, end = date(2026, 3, 2), date(2026, 3, 5)
    assert await settled(StakeRules, moved) == [
        ("lock", ("connection", "b1"), {}),
        ("activate", ("connection", "b1", start, end), {}),
        ("note", ("connection", "alice", "b1", "stake", "USD", 50 * ONE, NOON), {}),
    ]
    assert await settled(StakeRules, TransferResult(False, "RISK_NSF")) == [
        ("fail", ("connection", "b1", "RISK_NSF"), {})
    ]
    for is_reward, kind, amount in ((False, "payout", 7), (True, "reward_payout", 3)):
        assert await settled(PayoutRules, moved, reward=is_reward) == [
            ("mark_paid", ("connection", "b1"), {"reward": is_reward}),
            ("note", ("connection", "alice", "b1", kind, "USD", amount, NOON), {}),
        ]
