"""Deposits and withdrawals through the whole platform: edge, custody, router, engine, ledger."""

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from openspot.custody.deposits import ChainDeposit
from openspot.custody.operator import Operator, OperatorError, operator
from openspot.custody.settings import CustodySettings
from openspot.deposit.deposit import deposit
from openspot.domain.fair_price.model import PriceState
from openspot.engine_client.settings import EngineConnectionSettings
from openspot.kit.settings import Settings, as_part
from openspot.reconcile.reconciliation import reconcile
from tests.support.fair_prices import FakeFairPrices
from tests.support.in_process_platform import running
from tests.support.rest_client import Reply, RestClient
from tests.support.waiting import eventually, stretched

REASON = "as the owner asked"
OUTSIDE = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"
WEBHOOK_SECRET = "webhook-secret-of-at-least-thirty-two-bytes"
SERVICES = ("engine", "ledger", "router", "custody", "rest-edge")


@pytest.fixture
async def settings(settings: Settings) -> Settings:
    return settings.model_copy(
        update={
            "custody_seed": "seed of a test",
            "custody_block_s": 0.05,
            "custody_confirmations": 2,
            "withdrawal_address_wait_s": 0,
            "kyc_webhook_secret": WEBHOOK_SECRET,
        }
    )


@pytest.fixture
async def prices(settings: Settings) -> AsyncIterator[FakeFairPrices]:
    """Market data, for which BTC is worth 10,000 USD."""
    published = FakeFairPrices(settings)
    await published.start()
    await published.publish("BTC-USD", "10000")
    yield published
    await published.stop()


@pytest.fixture
async def edge(settings: Settings, prices: FakeFairPrices) -> AsyncIterator[RestClient]:
    async with running(settings, *SERVICES):
        client = RestClient(settings)
        client.as_user("alice")
        yield client
        await client.close()


@pytest.fixture
async def people(settings: Settings, edge: RestClient) -> AsyncIterator[Operator]:
    async with operator(as_part(settings, CustodySettings)) as commands:
        yield commands


async def known(edge: RestClient) -> None:
    """Give alice's basic information."""
    reply = await edge("POST", "/kyc/basic-info", BASIC_INFORMATION)
    assert (reply.status, reply.body["level"]) == (200, "basic")


BASIC_INFORMATION = {
    "firstName": "Alice", "lastName": "Liddell", "dateOfBirth": "1990-05-04", "country": "GB", "city": "Oxford",
    "street": "1 Broad Street", "postalCode": "OX1 3AZ",
}  # fmt: skip


async def verification_event(edge: RestClient, digest: str | None = None, **changed: Any) -> Reply:
    event = {
        "eventId": "e1", "userId": "alice", "level": "verified", "reviewStatus": "completed", "reviewAnswer": "GREEN",
        "createdAt": "2026-11-22T06:00:00Z",
    } | changed  # fmt: skip
    raw = json.dumps({name: value for name, value in event.items() if value is not None}).encode()
    right = hmac.new(WEBHOOK_SECRET.encode(), raw, hashlib.sha256).hexdigest()
    headers = {"X-Payload-Digest": right if digest is None else digest}
    return await edge("POST", "/kyc/webhook", raw=raw, headers=headers)


async def funded(edge: RestClient, people: Operator, amount: str = "5", asset: str = "BTC") -> str:
    """Send a deposit to alice's address, and wait until it counts."""
    reply = await edge("GET", f"/accounts/deposit-address?asset={asset}")
    assert reply.status == 200, reply.body
    await people.deposit(
        ChainDeposit(f"0xdeposit{amount}", reply.body["network"], reply.body["address"], asset, amount)
    )
    await eventually(lambda: balance(edge, asset, amount))
    return str(reply.body["address"])


async def balance(edge: RestClient, asset: str, total: str) -> bool:
    found = (await edge("GET", f"/accounts/balances/{asset}")).body
    return bool(found["total"] == total and found["reserved"] == "0")


async def saved(edge: RestClient, **changed: Any) -> str:
    body = {"label": "Cold storage", "asset": "BTC", "network": "bitcoin", "address": OUTSIDE} | changed
    reply = await edge("POST", "/users/me/withdrawal-addresses", body)
    assert reply.status == 201, reply.body
    return str(reply.body["id"])


async def withdraw(edge: RestClient, address_id: str, amount: str, **changed: Any) -> Reply:
    body = {"asset": "BTC", "network": "bitcoin", "amount": amount, "addressId": address_id} | changed
    return await edge("POST", "/accounts/withdraw/crypto", body)


async def has_status(edge: RestClient, withdrawal_id: str, status: str) -> bool:
    reply = await edge("GET", f"/accounts/withdrawals/{withdrawal_id}")
    return bool(reply.body["status"] == status)


async def differences(settings: Settings) -> list[str]:
    report = await reconcile(as_part(settings, EngineConnectionSettings), stretched(20))
    return [] if report.exit_code == 0 else [repr(report)]


@pytest.mark.spec("B4.1-15", "B4.1-16", "B4.1-18", "B4.1-19", "B4.1-46", "B4.3-17", "B4.3-19")
async def test_money_comes_in_and_leaves_once_and_every_book_agrees(
    edge: RestClient, people: Operator, settings: Settings
) -> None:
    await known(edge)
    address = await funded(edge, people)
    again = await edge("GET", "/accounts/deposit-address?asset=BTC&network=bitcoin")
    assert again.body == {
        "asset": "BTC", "network": "bitcoin", "address": address, "tag": None, "confirmations": 2, "minimum": "0.0001",
        "simulated": True, "depositsEnabled": True,
    }  # fmt: skip
    address_id = await saved(edge)
    created = await withdraw(edge, address_id, "0.05", clientWithdrawalId="payout-1")
    assert created.status == 201, created.body
    assert (created.body["fee"], created.body["netAmount"], created.body["wallet"]) == ("0.0001", "0.0499", "HOT")
    repeated = await withdraw(edge, address_id, "0.05", clientWithdrawalId="payout-1")
    assert repeated.body["id"] == created.body["id"]
    await eventually(lambda: has_status(edge, created.body["id"], "completed"))
    await eventually(lambda: balance(edge, "BTC", "4.95"))
    assert await differences(settings) == []

    [listed] = (await edge("GET", "/accounts/withdrawals?status=completed")).body
    assert (listed["id"], listed["confirmations"]) == (created.body["id"], 2)
    everything = (await edge("GET", "/accounts/transactions")).body
    assert [entry["entryType"] for entry in everything] == ["withdrawal", "deposit"]
    assert (await edge("GET", "/accounts/transactions?type=deposit")).body == everything[1:]
    assert (await edge("GET", "/accounts/transactions?type=trade")).body == []
    history = (await edge("GET", "/accounts/portfolio-history?interval=1h")).body
    assert history[-1]["holdings"] == [{"asset": "BTC", "balance": "4.95", "price": "10000", "value": "49500"}]
    assert (history[-1]["value"], history[-1]["unpriced"], history[0]["holdings"]) == ("49500", [], [])
    assert await people.verified_audit() > 3
    # Nobody else sees any of it.
    edge.as_user("bob")
    assert (await edge("GET", f"/accounts/withdrawals/{created.body['id']}")).status == 404
    assert (await edge("DELETE", f"/accounts/withdrawals/{created.body['id']}")).status == 404
    assert (await edge("GET", "/accounts/withdrawals")).body == []
    assert (await edge("GET", "/users/me/withdrawal-addresses")).body == []
    assert (await edge("DELETE", f"/users/me/withdrawal-addresses/{address_id}")).status == 404


@pytest.mark.spec("A8-28", "A8-39")
async def test_a_large_withdrawal_waits_for_people_and_a_rejected_or_cancelled_one_gives_all_back(
    edge: RestClient, people: Operator, settings: Settings
) -> None:
    await known(edge)
    assert (await edge("POST", "/kyc/start", {"level": "verified"})).status == 201
    assert (await verification_event(edge)).body == {"received": True, "applied": True}
    await funded(edge, people)
    address_id = await saved(edge)
    large, rejected, cancelled = [(await withdraw(edge, address_id, "1.25")).body for _ in range(3)]
    assert {withdrawal["wallet"] for withdrawal in (large, rejected, cancelled)} == {"WARM"}
    assert (await edge("GET", "/accounts/balances/BTC")).body["available"] == "1.25"
    too_much = await withdraw(edge, address_id, "1.26")
    assert (too_much.status, too_much.code, too_much.message) == (400, "INSUFFICIENT_BALANCE", "RISK_NSF")
    await people.approve(large["id"], "olivia", REASON)
    with pytest.raises(OperatorError, match="has approved"):
        await people_again(settings, large["id"])
    await people.approve(large["id"], "peter", REASON)
    await eventually(lambda: has_status(edge, large["id"], "signing"))
    refused = await edge("DELETE", f"/accounts/withdrawals/{large['id']}")
    assert (refused.status, refused.code) == (409, "NOT_CANCELLABLE")
    for signer in ("warm-1", "warm-3", "warm-5"):
        await people.sign(large["id"], signer, REASON)
    await people.reject(rejected["id"], "quinn", "not explained")
    reply = await edge("DELETE", f"/accounts/withdrawals/{cancelled['id']}")
    assert (reply.status, reply.body["status"]) == (200, "cancelled")
    await eventually(lambda: has_status(edge, large["id"], "completed"))
    await eventually(lambda: balance(edge, "BTC", "3.75"))
    assert (await edge("GET", f"/accounts/withdrawals/{rejected['id']}")).body["reason"] == "not explained"
    assert (await edge("GET", "/accounts/balances/BTC")).body["available"] == "3.75"
    assert await differences(settings) == []


async def people_again(settings: Settings, withdrawal_id: str) -> None:
    async with operator(as_part(settings, CustodySettings)) as commands:
        await commands.approve(withdrawal_id, "olivia", REASON)


@pytest.mark.spec("B4.1-17", "B4.1-20")
async def test_dollars_leave_to_a_saved_bank_account(edge: RestClient, people: Operator, settings: Settings) -> None:
    await known(edge)
    info = (await edge("GET", "/accounts/deposit-fiat-info?currency=USD")).body
    assert (info["network"], info["reference"], info["simulated"]) == ("wire", "alice", True)
    assert (await edge("GET", "/accounts/deposit-fiat-info?currency=BTC")).status == 404
    await funded(edge, people, "100", "USDC")
    bank = await saved(edge, asset="USD", network="wire", address="021000021:123456789")
    body = {"currency": "USD", "amount": "60.50", "bankAccountId": bank}
    poor = await edge("POST", "/accounts/withdraw/fiat", body)
    assert (poor.status, poor.message) == (400, "RISK_NSF")
    crypto = await withdraw(edge, bank, "1")
    assert (crypto.status, crypto.code) == (404, "ADDRESS_NOT_FOUND")
    await deposit(settings, "alice", "USD", "100", "0xdollars")
    made = await edge("POST", "/accounts/withdraw/fiat", body)
    assert (made.status, made.body["fee"], made.body["netAmount"]) == (201, "25", "35.5")
    await eventually(lambda: has_status(edge, made.body["id"], "completed"))
    await eventually(lambda: balance(edge, "USD", "39.5"))
    assert await differences(settings) == []


@pytest.mark.spec("B4.1-49", "B4.1-50", "B4.1-51", "B4.1-52", "A5-33", "A5-34")
async def test_levels_open_withdrawals_and_only_signed_events_raise_them(
    edge: RestClient, people: Operator, pool: asyncpg.Pool
) -> None:
    await pool.execute("INSERT INTO users VALUES ('alice', 'alice@example.org', 'x', 'user', now(), now())")
    status = (await edge("GET", "/kyc/status")).body
    assert (status["level"], status["status"], status["dailyWithdrawalLimit"]) == ("none", "not_started", "0")
    await funded(edge, people)
    address_id = await saved(edge)
    unknown = await withdraw(edge, address_id, "0.05")
    assert (unknown.status, unknown.code) == (403, "KYC_REQUIRED")
    early = await edge("POST", "/kyc/start", {})
    assert (early.status, early.code) == (409, "KYC_BASIC_INFO_REQUIRED")
    await known(edge)
    too_much = await withdraw(edge, address_id, "1.0001")
    assert (too_much.status, too_much.code) == (400, "USER_DAILY_LIMIT")
    assert (await withdraw(edge, address_id, "0.9999")).status == 201
    first, second = (await edge("POST", "/kyc/start", {})).body, (await edge("POST", "/kyc/start", {})).body
    assert first == second
    assert (first["provider"], first["status"]) == ("development", "pending")

    for digest in ("", "0" * 64, "not hex", "é"):
        bad = await verification_event(edge, digest)
        assert (bad.status, bad.code) == (401, "SIGNATURE_INVALID")
    unsigned = await edge("POST", "/kyc/webhook", raw=b"{", headers={"X-Payload-Digest": "0" * 64})
    assert (unsigned.status, unsigned.code) == (401, "SIGNATURE_INVALID")
    assert (await edge("GET", "/kyc/status")).body["level"] == "basic"

    assert (await verification_event(edge)).body["applied"]
    assert (await edge("GET", "/kyc/status")).body["level"] == "verified"
    # Repeated, and older ones that were late, are accepted and do nothing.
    for changed in (
        {},
        {"reviewAnswer": "RED", "rejectType": "FINAL"},
        {"eventId": "e0", "createdAt": "2026-11-22T05:59:59Z", "reviewAnswer": "RED", "rejectType": "FINAL"},
        {"eventId": "e9", "userId": "nobody"},
    ):
        late = await verification_event(edge, **changed)
        assert (late.status, late.body) == (200, {"received": True, "applied": False})
    assert (await edge("GET", "/kyc/status")).body["status"] == "approved"
    taken_back = await verification_event(
        edge, eventId="e2", createdAt="2026-11-22T06:00:01Z", reviewAnswer="RED", rejectType="RETRY"
    )
    assert taken_back.body["applied"]
    after = (await edge("GET", "/kyc/status")).body
    assert (after["level"], after["status"]) == ("basic", "retry")
    malformed = await verification_event(edge, reviewAnswer=None)
    assert (malformed.status, malformed.message) == (400, ["reviewAnswer is required for a completed review"])
    assert await pool.fetchval("SELECT count(*) FROM kyc_events") == 3
    told = await pool.fetch("SELECT title FROM notifications WHERE kind = 'verification.decided' ORDER BY number")
    assert [row["title"] for row in told] == ["Verification approved", "Verification needs more from you"]


async def test_a_withdrawal_follows_the_published_price_and_waits_while_it_is_disputed(
    edge: RestClient, people: Operator, prices: FakeFairPrices
) -> None:
    await known(edge)
    await funded(edge, people)
    address_id = await saved(edge)
    await prices.publish("BTC-USD", "50", low="49", high="51", day_median="100000")

    async def is_valued_by_the_median() -> bool:
        reply = await withdraw(edge, address_id, "0.5")
        return reply.code == "USER_DAILY_LIMIT"

    await eventually(is_valued_by_the_median)
    reason = "the sources differ, until they agree again"
    await prices.publish("BTC-USD", "10000", state=PriceState.DISPUTED, reason=reason)

    async def waits_and_says_why() -> bool:
        reply = await withdraw(edge, address_id, "0.001")
        return reply.status == 201 and reason in (reply.body["reason"] or "")

    await eventually(waits_and_says_why)
    await prices.publish("BTC-USD", "10000")

    async def goes_on() -> bool:
        listed = (await edge("GET", "/accounts/withdrawals")).body
        return {withdrawal["status"] for withdrawal in listed} == {"completed"}

    await eventually(goes_on)


async def test_what_is_saved_is_checked_and_waits(edge: RestClient) -> None:
    for changed, message in (
        ({"address": OUTSIDE[:-1] + "q"}, "address is no bitcoin address"),
        ({"network": "tron"}, "network must be one of bitcoin for BTC"),
        ({"asset": "DOGE"}, "asset DOGE cannot be withdrawn"),
        ({"tag": "7"}, "tag must be absent"),
        ({"isOwn": False}, "beneficiary is required"),
        ({"availableAt": "2020-01-01T00:00:00Z"}, "property availableAt should not exist"),
    ):
        body = {"label": "x", "asset": "BTC", "network": "bitcoin", "address": OUTSIDE} | changed
        reply = await edge("POST", "/users/me/withdrawal-addresses", body)
        shown = reply.message if isinstance(reply.message, str) else reply.message[0]
        assert (reply.status, message in shown) == (400, True), reply.body
    first = await saved(edge, address=OUTSIDE.upper())
    again = await edge(
        "POST",
        "/users/me/withdrawal-addresses",
        {"label": "x", "asset": "BTC", "network": "bitcoin", "address": OUTSIDE},
    )
    assert (again.status, again.code, again.body["details"]) == (409, "ADDRESS_EXISTS", {"id": first})
    [listed] = (await edge("GET", "/users/me/withdrawal-addresses")).body
    assert (listed["address"], listed["simulated"]) == (OUTSIDE, True)
    assert (await edge("DELETE", f"/users/me/withdrawal-addresses/{first}")).body == {"success": True}
    assert (await edge("GET", "/users/me/withdrawal-addresses")).body == []


async def test_requests_at_the_same_time_get_one_address(edge: RestClient, pool: asyncpg.Pool) -> None:
    replies = await asyncio.gather(*(edge("GET", "/accounts/deposit-address?asset=ETH") for _ in range(10)))
    assert len({reply.body["address"] for reply in replies}) == 1
    usdt = await edge("GET", "/accounts/deposit-address?asset=USDT&network=ethereum")
    assert usdt.body["address"] == replies[0].body["address"]
    assert await pool.fetchval("SELECT count(*) FROM custody_addresses") == 1
    assert (await edge("GET", "/accounts/deposit-address?asset=USD")).status == 404
    assert (await edge("GET", "/accounts/deposit-address?asset=BTC&network=tron")).status == 400
