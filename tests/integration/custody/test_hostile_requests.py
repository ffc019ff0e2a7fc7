"""Requests to custody that are no good: refused by the name of the field, and nothing is kept."""

from decimal import Decimal
from typing import Any

import pytest

from openspot.contracts.messages import (
    AssignAddress,
    CancelWithdrawal,
    CreateWithdrawal,
    GetAddress,
    GetUserAddresses,
    WithdrawalOutcome,
)
from openspot.contracts.refusals import RefusalCode
from openspot.custody.address_book import DepositAddressBook
from openspot.custody.handlers import RequestHandlers
from openspot.custody.withdrawal_states import Funds, Status
from openspot.domain.market import load_markets
from openspot.domain.networks import load_networks
from tests.support.custody import BITCOIN_ADDRESS, NO_LIMIT_CENTS, SEED, CustodyBench
from tests.support.waiting import stretched

GOOD: dict[str, Any] = {
    "withdrawal_id": "w1", "user_id": "alice", "asset": "BTC", "network": "bitcoin", "amount": "0.01", "fee": "0.0001",
    "address": BITCOIN_ADDRESS, "tag": None, "user_limit_cents": NO_LIMIT_CENTS,
}  # fmt: skip
BAD = [
    ("withdrawal_id", "", "withdrawalId"),
    ("withdrawal_id", "w1:contra", "withdrawalId"),
    ("withdrawal_id", "x" * 65, "withdrawalId"),
    ("client_withdrawal_id", "a b", "clientWithdrawalId"),
    ("user_id", "alice.>", "userId"),
    ("user_id", "", "userId"),
    ("asset", "DOGE", "asset"),
    ("network", "tron", "asset"),
    ("network", "nowhere", "network"),
    ("amount", "NaN", "amount"),
    ("amount", "-1", "amount"),
    ("amount", "0.000000001", "amount"),
    ("amount", "0.0001", "amount"),
    ("amount", "0.0004", "amount"),
    ("amount", "1e400", "amount"),
    ("fee", "-0.1", "fee"),
    ("fee", "x", "fee"),
    ("address", BITCOIN_ADDRESS.upper(), "address"),
    ("address", "'; DROP TABLE custody_withdrawals; --", "address"),
    ("address", "x\x00", "address"),
    ("tag", "7", "tag"),
    ("user_limit_cents", -1, "userLimitCents must be 0 to"),
    ("user_limit_cents", 2**62 + 1, "userLimitCents must be 0 to"),
]


@pytest.fixture
def handlers(custody: CustodyBench) -> RequestHandlers:
    networks = load_networks()
    addresses = DepositAddressBook(custody.pool, SEED, networks, custody.time)
    return RequestHandlers(
        custody.pool,
        addresses,
        custody.withdrawals,
        custody.progress(),
        networks,
        load_markets().assets,
        funds_wait_s=stretched(3),
    )


@pytest.mark.parametrize(("field", "value", "named"), BAD)
async def test_a_bad_withdrawal_is_refused_by_the_name_of_its_field(
    handlers: RequestHandlers, custody: CustodyBench, field: str, value: Any, named: str
) -> None:
    reply = await handlers.create(CreateWithdrawal(**(GOOD | {field: value})))
    assert reply.code in (RefusalCode.VALIDATION, RefusalCode.ADDRESS_INVALID)
    assert (reply.error or "").startswith(f"{named} ")
    assert await custody.pool.fetchval("SELECT count(*) FROM custody_withdrawals") == 0


@pytest.mark.spec("B4.3-17", "B4.3-19")
async def test_addresses_are_assigned_once_and_their_owner_is_known(
    handlers: RequestHandlers, custody: CustodyBench
) -> None:
    for request in (AssignAddress("a.b", "BTC", "bitcoin"), AssignAddress("a", "USD", "wire")):
        assert (await handlers.assign(request)).code is RefusalCode.VALIDATION
    first = (await handlers.assign(AssignAddress("alice", "BTC", "bitcoin"))).address
    assert first is not None
    assert (await handlers.assign(AssignAddress("alice", "BTC", "bitcoin"))).address == first
    assert (first.simulated, first.tag, first.confirmations) == (True, None, 2)
    other = (await handlers.assign(AssignAddress("bob", "BTC", "bitcoin"))).address
    assert other is not None
    assert other.address != first.address
    found = await handlers.address(GetAddress("BTC", "bitcoin", first.address.upper()))
    assert (found.address, found.user_id) == (first.address, "alice")
    assert (await handlers.address(GetAddress("BTC", "bitcoin", BITCOIN_ADDRESS))).user_id is None
    assert (await handlers.address(GetAddress("BTC", "bitcoin", "nothing"))).code is RefusalCode.ADDRESS_INVALID


@pytest.mark.spec("B4.3-18")
async def test_a_users_addresses_are_listed_by_asset(handlers: RequestHandlers, custody: CustodyBench) -> None:
    await handlers.assign(AssignAddress("alice", "ETH", "ethereum"))
    await handlers.assign(AssignAddress("alice", "BTC", "bitcoin"))
    listed = (await handlers.of_user(GetUserAddresses("alice"))).addresses
    assert [(found.asset, found.network) for found in listed] == [
        ("BTC", "bitcoin"), ("ETH", "ethereum"), ("USDT", "ethereum"), ("USDC", "ethereum"),
    ]  # fmt: skip
    assert [found.asset for found in (await handlers.of_user(GetUserAddresses("alice", "USDT"))).addresses] == ["USDT"]
    assert (await handlers.of_user(GetUserAddresses("bob"))).addresses == []


async def test_the_fee_is_part_of_the_amount(custody: CustodyBench) -> None:
    withdrawal = await custody.create("0.01")
    assert (withdrawal.amount, withdrawal.fee, withdrawal.net_amount) == (
        Decimal("0.01"), Decimal("0.0001"), Decimal("0.0099"),
    )  # fmt: skip


@pytest.mark.parametrize("beyond", ["x", "\x00", ":contra"])
async def test_a_cancel_of_an_id_that_is_too_long_leaves_the_withdrawal_it_begins_with(
    handlers: RequestHandlers, custody: CustodyBench, beyond: str
) -> None:
    longest = "w" * 64
    await custody.create("0.5", withdrawal_id=longest)
    refused = await handlers.cancel(CancelWithdrawal(longest + beyond, "alice"))
    assert (refused.code, refused.error) == (
        RefusalCode.VALIDATION, "withdrawalId must be 1 to 64 letters, digits, _ or -",
    )  # fmt: skip
    assert (await custody.get(longest)).status is Status.PENDING_APPROVAL
    cancelled = (await handlers.cancel(CancelWithdrawal(longest, "alice"))).withdrawal
    assert cancelled is not None
    assert cancelled.status == "cancelled"


async def test_the_addresses_of_an_unknown_asset_are_refused_and_not_an_empty_list(handlers: RequestHandlers) -> None:
    reply = await handlers.of_user(GetUserAddresses("alice", "DOGE"))
    assert reply.code is RefusalCode.VALIDATION
    assert (reply.error or "").startswith("asset must be one of ")


@pytest.mark.parametrize(
    "withdrawal_id", ["", "a\x00b", "x" * 65, "w1:contra", "'; DROP TABLE custody_withdrawals; --"]
)
async def test_an_outcome_with_an_impossible_id_is_passed_over(custody: CustodyBench, withdrawal_id: str) -> None:
    withdrawal = await custody.create("0.5")
    progress = custody.progress()
    outcome = WithdrawalOutcome(withdrawal_id, "alice", "BTC", "0.5", "RISK_NSF", refused=True)
    await progress.reserved(outcome)
    await progress.refused(outcome)
    assert (await custody.get(withdrawal.withdrawal_id)).funds is Funds.NEW
