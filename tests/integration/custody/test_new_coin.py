"""A coin that operators list gets its networks, and users bring it in and take it out. Nobody restarts anything."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from openspot.custody.deposits import ChainDeposit
from openspot.custody.operator import OperatorError, operator
from openspot.custody.settings import CustodySettings
from openspot.engine_client.settings import EngineConnectionSettings
from openspot.http.operators import OperatorRole
from openspot.kit.settings import Settings, as_part
from openspot.reconcile.reconciliation import reconcile
from tests.integration.custody.test_through_the_platform import BASIC_INFORMATION, OUTSIDE, SERVICES
from tests.integration.rest_edge.test_operator_markets import DOGE_USD
from tests.support.edge_operators import make_operator
from tests.support.fair_prices import FakeFairPrices
from tests.support.in_process_platform import running
from tests.support.rest_client import RestClient
from tests.support.waiting import eventually, stretched

TERMS: dict[str, Any] = {
    "addressForm": "bitcoin", "confirmations": 20, "takesTag": False, "withdrawalFee": "2", "withdrawalMinimum": "10",
    "depositMinimum": "1", "reason": "DOGE arrives on Monday",
}  # fmt: skip
TOKEN = {"withdrawalFee": "5", "withdrawalMinimum": "20", "depositMinimum": "2", "reason": "a token of it"}
DOGE = "/operator/coins/DOGE/networks"


@pytest.fixture
async def settings(settings: Settings) -> Settings:
    return settings.model_copy(
        update={
            "markets": "live",
            "rules": "complete",
            "custody_seed": "seed of a test",
            "custody_block_s": 0.05,
            "custody_confirmations": 2,
            "withdrawal_address_wait_s": 0,
        }
    )


@pytest.fixture
async def desk(settings: Settings, pool: asyncpg.Pool) -> AsyncIterator[RestClient]:
    """An operator who has listed DOGE, which is worth 0.1 USD, on a platform that runs."""
    prices = FakeFairPrices(settings)
    await prices.start()
    await prices.publish("DOGE-USD", "0.1")
    async with running(settings, *SERVICES):
        client = RestClient(settings)
        await make_operator(client, pool, "ada@example.org", OperatorRole.MARKET_OPERATIONS)
        listed = await client("POST", "/operator/markets", DOGE_USD | {"asset": DOGE_USD["asset"] | {"logo": ""}})
        assert listed.status == 201, listed.body
        await eventually(lambda: knows_the_coin(client))
        yield client
        await client.close()
    await prices.stop()


async def knows_the_coin(client: RestClient) -> bool:
    return (await client("GET", DOGE)).status == 200


async def test_a_listed_coin_gets_networks_and_comes_in_and_leaves(
    desk: RestClient, settings: Settings, pool: asyncpg.Pool
) -> None:
    alice = RestClient(settings)
    alice.as_user("alice")
    assert (await desk("GET", DOGE)).body == []
    assert (await alice("GET", "/accounts/deposit-address?asset=DOGE")).code == "ASSET_NOT_FOUND"
    made = await desk("PUT", f"{DOGE}/dogecoin", TERMS)
    assert (made.status, made.body) == (200, {
        "asset": "DOGE", "network": "dogecoin", "addressForm": "bitcoin", "confirmations": 20, "takesTag": False,
        "withdrawalFee": "2", "withdrawalMinimum": "10", "depositMinimum": "1", "listed": True,
    })  # fmt: skip
    assert (await desk("PUT", f"{DOGE}/ethereum", TOKEN)).status == 200

    async def address_on(network: str) -> Any:
        reply = await alice("GET", f"/accounts/deposit-address?asset=DOGE&network={network}")
        return reply.body["address"] if reply.status == 200 else None

    address = await eventually(lambda: address_on("dogecoin"))
    assert address.startswith("tb1") and (await eventually(lambda: address_on("ethereum"))).startswith("0x")
    with pytest.raises(OperatorError, match="at least 1 DOGE"):
        async with operator(as_part(settings, CustodySettings)) as people:
            await people.deposit(ChainDeposit("0xsmall", "dogecoin", address, "DOGE", "0.5"))
    async with operator(as_part(settings, CustodySettings)) as people:
        await people.deposit(ChainDeposit("0xdoge", "dogecoin", address, "DOGE", "500"))

    async def has(total: str) -> bool:
        reply = await alice("GET", "/accounts/balances/DOGE")
        return reply.status == 200 and (reply.body["total"], reply.body["reserved"]) == (total, "0")

    await eventually(lambda: has("500"))
    assert (await alice("POST", "/kyc/basic-info", BASIC_INFORMATION)).status == 200
    saved = await alice(
        "POST", "/users/me/withdrawal-addresses",
        {"label": "Cold", "asset": "DOGE", "network": "dogecoin", "address": OUTSIDE},
    )  # fmt: skip
    assert saved.status == 201, saved.body
    # A new fee counts for the next withdrawal.
    assert (await desk("PUT", f"{DOGE}/dogecoin", TERMS | {"withdrawalFee": "3", "reason": "dear"})).status == 200

    async def fee_is(fee: str) -> bool:
        rows = (await alice("GET", "/fees/network/all")).body
        return [row["fee"] for row in rows if (row["asset"], row["network"]) == ("DOGE", "dogecoin")] == [fee]

    await eventually(lambda: fee_is("3"))
    body = {"asset": "DOGE", "network": "dogecoin", "amount": "100", "addressId": saved.body["id"]}
    assert (await alice("POST", "/accounts/withdraw/crypto", body | {"amount": "9"})).status == 400
    sent = await alice("POST", "/accounts/withdraw/crypto", body)
    assert (sent.status, sent.body["fee"], sent.body["netAmount"]) == (201, "3", "97"), sent.body

    async def completed() -> bool:
        found = (await alice("GET", f"/accounts/withdrawals/{sent.body['id']}")).body
        return bool(found["status"] == "completed")

    await eventually(completed)
    await eventually(lambda: has("400"))
    report = await reconcile(as_part(settings, EngineConnectionSettings), stretched(20))
    assert report.exit_code == 0, repr(report)
    await alice.close()

    # What has moved over a network stays there; what was a mistake goes. The trail has each step.
    used = await desk("POST", f"{DOGE}/dogecoin/removal", {"reason": "a mistake"})
    assert (used.status, used.code) == (409, "NETWORK_IN_USE")
    # An address takes every coin of its network, and its user may send this one next year.
    given = await desk("POST", f"{DOGE}/ethereum/removal", {"reason": "a mistake"})
    assert (given.status, given.code, given.body["details"]) == (409, "NETWORK_HAS_ADDRESSES", {"users": 1})
    assert given.message.startswith("1 users have a deposit address on ethereum, where DOGE may still come")
    assert (await desk("PUT", f"{DOGE}/dogechain", TERMS | {"addressForm": "ethereum"})).status == 200
    left = await desk("POST", f"{DOGE}/dogechain/removal", {"reason": "a mistake"})
    assert [row["network"] for row in left.body] == ["dogecoin", "ethereum"]
    rows = await pool.fetch(
        "SELECT action, subject_id, reason, before, after FROM operator_actions WHERE subject_kind = 'coin_network'"
        " ORDER BY entry_number"
    )
    assert [tuple(row.values())[:3] for row in rows] == [
        ("coins.network", "DOGE@dogecoin", "DOGE arrives on Monday"),
        ("coins.network", "DOGE@ethereum", "a token of it"),
        ("coins.network", "DOGE@dogecoin", "dear"),
        ("coins.network", "DOGE@dogechain", "DOGE arrives on Monday"),
        ("coins.network_removed", "DOGE@dogechain", "a mistake"),
    ]
    assert (rows[2]["before"], rows[2]["after"]) == ('{"withdrawalFee":"2"}', '{"withdrawalFee":"3"}')
