"""Quotas of wallets and users: taken under a lock, returned, and rolling."""

import asyncio

import asyncpg
import pytest

from openspot.contracts.refusals import RefusalCode
from openspot.custody.settings import CustodySettings
from openspot.custody.wallet_policy import Wallet
from openspot.custody.withdrawals import WithdrawalError
from openspot.domain.fair_price.model import PriceState
from tests.support.custody import BY, CustodyBench
from tests.support.fair_prices import asset_price

DAY_S = 86_400


async def refusal(custody: CustodyBench, amount: str, **fields: object) -> RefusalCode:
    with pytest.raises(WithdrawalError) as caught:
        await custody.create(amount, **fields)  # type: ignore[arg-type]
    return caught.value.refusal.code


@pytest.mark.spec("A8-22")
async def test_ten_thousand_dollars_leave_the_hot_wallet_and_a_cent_more_the_warm_one(custody: CustodyBench) -> None:
    assert (await custody.create("1")).wallet is Wallet.HOT
    assert (await custody.create("1.000001")).wallet is Wallet.WARM
    assert await refusal(custody, "100.000001") is RefusalCode.WITHDRAWAL_TOO_LARGE


@pytest.mark.spec("A8-23")
async def test_a_spent_limit_is_refused_to_the_cent_and_never_falls_to_a_colder_wallet(custody: CustodyBench) -> None:
    for _ in range(9):
        await custody.create("1")
    await custody.create("0.999999")  # 99,999.99 USD
    assert await refusal(custody, "0.500002") is RefusalCode.WALLET_DAILY_LIMIT
    assert await refusal(custody, "0.0005") is RefusalCode.WALLET_DAILY_LIMIT
    wallets = await custody.pool.fetch("SELECT wallet, sum(value_cents) FROM custody_withdrawals GROUP BY wallet")
    assert [tuple(row) for row in wallets] == [("HOT", 9_999_999)]


async def test_a_quota_ends_twenty_four_hours_after_its_withdrawal_and_not_before(custody: CustodyBench) -> None:
    for _ in range(10):
        await custody.create("1")
    custody.time.pass_seconds(DAY_S - 0.001)
    assert await refusal(custody, "1") is RefusalCode.WALLET_DAILY_LIMIT
    custody.time.pass_seconds(0.001)
    assert (await custody.create("1")).wallet is Wallet.HOT


async def test_few_users_cannot_use_up_the_hot_wallet_for_all(pool: asyncpg.Pool) -> None:
    custody = CustodyBench(pool, hot_share_percent=25)
    for user_id in ("alice", "bob"):
        taken = [await custody.create("0.05", user_id) for _ in range(50)]
        assert {(one.wallet, one.approvals_needed) for one in taken} == {(Wallet.HOT, 0)}
    beyond = await custody.create("0.0002", "alice")
    assert (beyond.wallet, beyond.approvals_needed) == (Wallet.WARM, 2)
    assert (await custody.create("0.05", "carol")).wallet is Wallet.HOT
    query = "SELECT detail FROM custody_audit WHERE withdrawal_id = $1"
    assert await pool.fetchval(query, beyond.withdrawal_id) == "beyond the user's 25 % of HOT, so WARM sends it"
    # A share comes back when its withdrawal was not sent, and when its day is over.
    await custody.withdrawals.cancel(taken[0].withdrawal_id, "bob")
    assert (await custody.create("0.05", "bob")).wallet is Wallet.HOT
    assert (await custody.create("0.0002", "bob")).wallet is Wallet.WARM
    custody.time.pass_seconds(DAY_S)
    assert (await custody.create("1", "alice")).wallet is Wallet.HOT


async def test_a_user_cannot_pass_their_share_with_requests_at_the_same_time(pool: asyncpg.Pool) -> None:
    custody = CustodyBench(pool, hot_share_percent=25)
    taken = await asyncio.gather(*(custody.create("1") for _ in range(6)))
    assert sorted(one.wallet for one in taken) == [Wallet.HOT] * 2 + [Wallet.WARM] * 4


def test_one_user_may_have_a_quarter_of_the_hot_wallet_by_default() -> None:
    assert CustodySettings().custody_hot_user_share == 25


@pytest.mark.parametrize("end", ["cancel", "reject", "fail"])
async def test_a_quota_comes_back_when_nothing_was_sent(custody: CustodyBench, end: str) -> None:
    if end == "fail":
        custody.router.available -= custody.router.available
    withdrawals = [await custody.create("1") for _ in range(10)]
    assert await refusal(custody, "1") is RefusalCode.WALLET_DAILY_LIMIT
    if end == "cancel":
        await custody.withdrawals.cancel(withdrawals[0].withdrawal_id, "alice")
    elif end == "reject":
        await custody.withdrawals.reject(withdrawals[0].withdrawal_id, "olivia", BY)
    else:
        await custody.advance()
        assert (await custody.get(withdrawals[0].withdrawal_id)).status == "failed"
    assert (await custody.create("1")).wallet is Wallet.HOT


async def test_withdrawals_at_the_same_time_never_pass_the_limit_together(custody: CustodyBench) -> None:
    outcomes = await asyncio.gather(
        *(custody.create("1", f"user{number}") for number in range(25)), return_exceptions=True
    )
    assert sum(not isinstance(outcome, BaseException) for outcome in outcomes) == 10
    assert all(
        outcome.refusal.code is RefusalCode.WALLET_DAILY_LIMIT
        for outcome in outcomes
        if isinstance(outcome, WithdrawalError)
    )


async def test_a_user_has_a_limit_of_their_own_inclusive_and_over_all_wallets(custody: CustodyBench) -> None:
    limit = {"user_limit_cents": 3_000_000}
    await custody.create("2", **limit)
    assert await refusal(custody, "1.000001", **limit) is RefusalCode.USER_DAILY_LIMIT
    await custody.create("1", **limit)
    assert await refusal(custody, "0.0005", **limit) is RefusalCode.USER_DAILY_LIMIT
    assert (await custody.create("1", "bob", **limit)).user_id == "bob"


async def test_a_user_cannot_pass_their_limit_with_requests_at_the_same_time(custody: CustodyBench) -> None:
    outcomes = await asyncio.gather(
        *(custody.create("1", user_limit_cents=3_000_000) for _ in range(8)), return_exceptions=True
    )
    assert sum(not isinstance(outcome, BaseException) for outcome in outcomes) == 3


async def test_the_sum_counts_each_withdrawal_at_the_price_of_its_time(custody: CustodyBench) -> None:
    await custody.create("1")
    custody.fair_prices["BTC"] = asset_price("20000")
    second = await custody.create("0.5")
    assert second.price == 20_000
    third = await custody.create("1")
    assert (third.wallet, third.value_cents) == (Wallet.WARM, 2_000_000)
    assert await custody.pool.fetchval("SELECT sum(value_cents) FROM custody_withdrawals") == 4_000_000


async def test_a_users_quota_ends_twenty_four_hours_after_its_withdrawal_and_not_before(custody: CustodyBench) -> None:
    limit = {"user_limit_cents": 1_000_000}
    await custody.create("1", **limit)
    custody.time.pass_seconds(DAY_S - 0.001)
    assert await refusal(custody, "0.0005", **limit) is RefusalCode.USER_DAILY_LIMIT
    custody.time.pass_seconds(0.001)
    assert (await custody.create("1", **limit)).wallet is Wallet.HOT


async def test_coins_at_a_price_that_was_pushed_to_fifty_dollars_count_what_they_were_worth_today(
    custody: CustodyBench,
) -> None:
    custody.fair_prices["BTC"] = asset_price("50", low="49", high="51", day_median="100000")
    fields = {"user_limit_cents": 10_000_000}
    assert await refusal(custody, "15", **fields) is RefusalCode.WITHDRAWAL_TOO_LARGE
    one = await custody.create("1", **fields)
    assert (one.wallet, one.approvals_needed, one.value_cents) == (Wallet.WARM, 2, 10_000_000)
    assert await refusal(custody, "0.0005", **fields) is RefusalCode.USER_DAILY_LIMIT


@pytest.mark.parametrize("state", [PriceState.STALE, PriceState.DISPUTED, None])
async def test_at_a_price_that_is_not_sure_even_a_small_withdrawal_waits_for_people_and_says_so(
    custody: CustodyBench, state: PriceState | None
) -> None:
    if state is None:
        custody = CustodyBench(custody.pool, "BTC=10000")
        custody.fair_prices.clear()
        because = "no market of it has a fair price yet"
    else:
        because = "the sources differ, until they agree again"
        custody.fair_prices["BTC"] = asset_price("10000", state=state, reason=because)
    made = await custody.create("0.01")
    assert (made.wallet, made.approvals_needed, made.value_cents) == (Wallet.HOT, 1, 10_000)
    expected = f"it waits until the price of BTC is certain, or an operator decides: {because}"
    assert made.record().reason == expected
    await custody.advance()
    waiting = await custody.get(made.withdrawal_id)
    assert (waiting.status, waiting.reason) == ("pending_approval", expected)
    assert await custody.withdrawals.approve_at_sure_prices() == 0
    await custody.withdrawals.approve(made.withdrawal_id, "olivia", BY)
    await custody.advance()
    sent = await custody.get(made.withdrawal_id)
    assert (sent.status, sent.reason) == ("completed", None)
    noted = await custody.pool.fetchval("SELECT detail FROM custody_audit WHERE decision = 'requested'")
    assert noted == expected


async def test_a_withdrawal_that_waited_for_a_sure_price_alone_goes_on_by_itself(custody: CustodyBench) -> None:
    custody.fair_prices["BTC"] = asset_price("10000", state=PriceState.STALE)
    small = await custody.create("0.01")
    # People decide about it at any price.
    large = await custody.create("0.1")
    custody.fair_prices["BTC"] = asset_price("10000.1", state=PriceState.GOOD)
    # It counts for 100 USD in the limits and is worth a cent more.
    assert await custody.withdrawals.approve_at_sure_prices() == 0
    custody.fair_prices["BTC"] = asset_price("10000", state=PriceState.GOOD)
    assert await custody.withdrawals.approve_at_sure_prices() == 1
    assert await custody.withdrawals.approve_at_sure_prices() == 0
    await custody.advance()
    sent, waiting = await custody.get(small.withdrawal_id), await custody.get(large.withdrawal_id)
    assert (sent.status, sent.reason, sent.approvals_needed) == ("completed", None, 0)
    assert (waiting.status, waiting.approvals_needed) == ("pending_approval", 1)
    noted = await custody.pool.fetchrow("SELECT actor, detail FROM custody_audit WHERE decision = 'priced'")
    assert tuple(noted) == ("custody", "the price is certain now: 100.00 USD")


async def test_a_withdrawal_that_ended_is_not_approved_at_a_sure_price(custody: CustodyBench) -> None:
    custody.fair_prices["BTC"] = asset_price("10000", state=PriceState.STALE)
    ended = await custody.create("0.01", user_id="alice")
    await custody.withdrawals.cancel(ended.withdrawal_id, "alice")
    custody.fair_prices["BTC"] = asset_price("10000", state=PriceState.GOOD)
    assert await custody.withdrawals.approve_at_sure_prices() == 0
    assert (await custody.get(ended.withdrawal_id)).status == "cancelled"


async def test_a_thin_price_lets_small_withdrawals_go_by_themselves(custody: CustodyBench) -> None:
    custody.fair_prices["BTC"] = asset_price("10000", state=PriceState.THIN)
    made = await custody.create("0.01")
    assert (made.approvals_needed, made.reason) == (0, None)


async def test_without_a_price_nothing_can_be_decided(custody: CustodyBench) -> None:
    fields = {"asset": "ETH", "network": "ethereum"}
    assert await refusal(custody, "1", **fields) is RefusalCode.PRICE_UNKNOWN


async def test_a_repeated_id_returns_the_withdrawal_that_is_there(custody: CustodyBench) -> None:
    first = await custody.create("1", withdrawal_id="w-same", client_withdrawal_id="c-1")
    assert (await custody.create("1", withdrawal_id="w-same")).withdrawal_id == first.withdrawal_id
    assert (await custody.create("1", client_withdrawal_id="c-1")).withdrawal_id == first.withdrawal_id
    assert await refusal(custody, "2", client_withdrawal_id="c-1") is RefusalCode.REFERENCE_USED
    # Another user's client id is another id.
    assert (await custody.create("1", "bob", client_withdrawal_id="c-1")).withdrawal_id != first.withdrawal_id
    assert await refusal(custody, "1", withdrawal_id="w-same", user_id="bob") is RefusalCode.REFERENCE_USED
    assert await custody.pool.fetchval("SELECT count(*) FROM custody_withdrawals") == 2
