"""Deposits and withdrawals that operators have paused: nothing begins, what is under way waits, and nothing is lost."""

import asyncpg
import pytest

from openspot.coin_networks import pauses
from openspot.coin_networks.pauses import EVERY, Direction, Pause
from openspot.contracts.messages import AssignAddress
from openspot.contracts.refusals import RefusalCode
from openspot.custody.address_book import DepositAddressBook
from openspot.custody.deposits import ChainDeposit, Deposits
from openspot.custody.handlers import RequestHandlers
from openspot.custody.withdrawal_states import Funds, Status
from openspot.custody.withdrawals import WithdrawalError
from openspot.domain.market import load_markets
from openspot.domain.networks import load_networks
from tests.support.custody import SEED, CustodyBench


async def pause(
    custody: CustodyBench, direction: Direction, asset: str = "BTC", network: str = "bitcoin", notice: str = ""
) -> None:
    async with custody.pool.acquire() as connection:
        made = Pause(asset, network, direction, notice, "maintenance", "user:ada", custody.time.now())
        await pauses.begin(connection, made)


async def resume(custody: CustodyBench, direction: Direction, asset: str = "BTC", network: str = "bitcoin") -> None:
    async with custody.pool.acquire() as connection:
        assert await pauses.end(connection, asset, network, direction)


@pytest.mark.parametrize(("asset", "network"), [("BTC", "bitcoin"), ("BTC", EVERY), (EVERY, "bitcoin")])
async def test_a_paused_withdrawal_is_refused_before_any_funds_are_held_and_those_under_way_wait(
    custody: CustodyBench, asset: str, network: str
) -> None:
    made = await custody.create("0.09")
    await pause(custody, Direction.WITHDRAWALS, asset, network, "the network is upgraded")
    with pytest.raises(WithdrawalError) as refused:
        await custody.create("0.01", user_id="bob")
    assert refused.value.refusal.code is RefusalCode.WITHDRAWALS_PAUSED
    assert str(refused.value) == "withdrawals of BTC over bitcoin are paused: the network is upgraded"
    # A repeated request gets its withdrawal, pause or not.
    assert (await custody.create("0.09", withdrawal_id=made.withdrawal_id)).withdrawal_id == made.withdrawal_id
    await custody.advance()
    found = await custody.get(made.withdrawal_id)
    assert (found.status, found.funds) == (Status.PENDING_APPROVAL, Funds.RESERVED)
    assert list(custody.router.held) == [made.withdrawal_id]
    await resume(custody, Direction.WITHDRAWALS, asset, network)
    await custody.advance()
    assert (await custody.get(made.withdrawal_id)).status is Status.COMPLETED


async def test_other_coins_networks_and_directions_go_on(custody: CustodyBench) -> None:
    await pause(custody, Direction.DEPOSITS)
    await pause(custody, Direction.WITHDRAWALS, "ETH", EVERY)
    await pause(custody, Direction.WITHDRAWALS, EVERY, "tron")
    made = await custody.create("0.09")
    await custody.advance()
    assert (await custody.get(made.withdrawal_id)).status is Status.COMPLETED


async def test_an_approved_withdrawal_that_waits_for_a_pause_can_be_cancelled_and_its_funds_come_back(
    custody: CustodyBench,
) -> None:
    custody.automatic = frozenset()
    made = await custody.create("0.09")
    await custody.advance()
    assert (await custody.get(made.withdrawal_id)).status is Status.SIGNING
    with pytest.raises(WithdrawalError) as refused:
        await custody.withdrawals.cancel(made.withdrawal_id, "alice")
    assert refused.value.refusal.code is RefusalCode.NOT_CANCELLABLE
    await pause(custody, Direction.WITHDRAWALS)
    assert (await custody.withdrawals.cancel(made.withdrawal_id, "alice")).status is Status.CANCELLED
    await resume(custody, Direction.WITHDRAWALS)
    await custody.advance()
    assert custody.router.released[made.withdrawal_id] == 1
    assert await custody.sent() == []


async def test_a_deposit_that_comes_during_a_pause_is_credited_once_after_it(custody: CustodyBench) -> None:
    networks, assets = load_networks(), load_markets().assets
    book = DepositAddressBook(custody.pool, SEED, networks, custody.time, confirmations=1)
    deposits = Deposits(custody.pool, custody.chain, networks, assets, custody.time, confirmations_required=1)
    address = (await book.assign("alice", "BTC", networks["bitcoin"])).address
    await pause(custody, Direction.DEPOSITS)
    await deposits.include(ChainDeposit("tx-1", "bitcoin", address, "BTC", "1"))
    custody.time.pass_seconds(10)
    assert await deposits.announce_confirmed(custody.router) == 0
    await resume(custody, Direction.DEPOSITS)
    assert [await deposits.announce_confirmed(custody.router) for _ in range(2)] == [1, 0]
    assert custody.router.message_ids == ["deposit-tx-1"]


async def test_no_new_address_is_given_during_a_pause_and_one_that_exists_is_shown_with_a_warning(
    custody: CustodyBench, pool: asyncpg.Pool
) -> None:
    networks, assets = load_networks(), load_markets().assets
    book = DepositAddressBook(pool, SEED, networks, custody.time)
    handlers = RequestHandlers(pool, book, custody.withdrawals, custody.progress(), networks, assets, 0.1)
    before = (await handlers.assign(AssignAddress("alice", "BTC", "bitcoin"))).address
    await pause(custody, Direction.DEPOSITS, EVERY, "bitcoin", "back at noon")
    refused = await handlers.assign(AssignAddress("bob", "BTC", "bitcoin"))
    assert refused.code is RefusalCode.DEPOSITS_PAUSED
    assert refused.error == "deposits of BTC over bitcoin are paused: back at noon"
    after = (await handlers.assign(AssignAddress("alice", "BTC", "bitcoin"))).address
    assert before is not None
    assert after is not None
    assert (before.address, before.deposits_enabled) == (after.address, True)
    assert not after.deposits_enabled
    assert [each.deposits_enabled for each in await book.of_user("alice", None)] == [False]
