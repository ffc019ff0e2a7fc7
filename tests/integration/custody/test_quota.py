"""Quotas of wallets and users: taken under a lock, returned, and rolling."""

import asyncio

import pytest

from openspot.contracts.refusals import RefusalCode
from openspot.custody.wallet_policy import Wallet
from openspot.custody.withdrawals import WithdrawalError
from tests.support.custody import CustodyBench

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


@pytest.mark.parametrize("end", ["cancel", "reject", "fail"])
async def test_a_quota_comes_back_when_nothing_was_sent(custody: CustodyBench, end: str) -> None:
    if end == "fail":
        custody.router.available -= custody.router.available
    withdrawals = [await custody.create("1") for _ in range(10)]
    assert await refusal(custody, "1") is RefusalCode.WALLET_DAILY_LIMIT
    if end == "cancel":
        await custody.withdrawals.cancel(withdrawals[0].withdrawal_id, "alice")
    elif end == "reject":
        await custody.withdrawals.reject(withdrawals[0].withdrawal_id, "olivia", "looks wrong")
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
    await trade(custody, "20000")
    second = await custody.create("0.5")
    assert second.price == 20_000
    third = await custody.create("1")
    assert (third.wallet, third.value_cents) == (Wallet.WARM, 2_000_000)
    assert await custody.pool.fetchval("SELECT sum(value_cents) FROM custody_withdrawals") == 4_000_000


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


async def trade(custody: CustodyBench, price: str) -> None:
    """A trade of BTC for dollars at that price."""
    for order in ("maker", "taker"):
        await custody.pool.execute(
            """
            INSERT INTO orders (order_id, user_id, symbol, side, type, time_in_force, quantity, remaining_quantity,
                fee_currency, status, created_at, updated_at)
            VALUES ($1, 'x', 'BTC-USD', 'buy', 'limit', 'gtc', 1, 0, 'USD', 'filled', now(), now())
            """,
            order,
        )
    await custody.pool.execute(
        """
        INSERT INTO trades VALUES ('t1', 1, 'BTC-USD', $1::text::numeric, 1, 'buy', 'taker', 'maker', 'x', 'y', 0, 0,
            'USD', now())
        """,
        price,
    )
