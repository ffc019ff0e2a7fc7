"""Transfers through HTTP: states, balances that move once, and references."""

import asyncio

import asyncpg
import pytest

from tests.support.positions import ADMIN, PositionClient


async def balance(positions: PositionClient, asset: str = "USD") -> tuple[str, str]:
    """What alice has available and locked."""
    found = await positions.get("alice", f"/balances/alice/{asset}")
    return found["available"], found["locked"]


async def funded(positions: PositionClient, amount: str) -> None:
    """Give alice US dollars."""
    transfer = await positions.post("alice", "/transfers/deposit", {"assetId": "USD", "amount": amount})
    await positions.post(ADMIN, f"/transfers/{transfer['id']}/complete", status=200)


@pytest.mark.spec("A2.8-15", "A2.8-16", "A3.2-02", "B4.5-05", "B4.5-06", "B4.5-07", "B4.5-10")
async def test_a_deposit_moves_its_balance_once_when_it_is_completed(positions: PositionClient) -> None:
    transfer = await positions.post("alice", "/transfers/deposit", {"assetId": "USD", "amount": "100.50"})
    fixed = {
        "participantId": "alice", "assetId": "USD", "kind": "deposit", "amount": "100.5", "status": "pending",
        "reference": None, "reason": None, "allowNegative": False, "createdBy": "alice", "endedBy": None,
        "endedAt": None,
    }  # fmt: skip
    assert {name: transfer[name] for name in fixed} == fixed
    assert set(transfer) == {*fixed, "id", "createdAt"}
    assert await balance(positions) == ("0", "0")
    path = f"/transfers/{transfer['id']}"
    own = await positions.ask("alice", "POST", f"{path}/complete")
    assert (own.status, own.code) == (403, "FORBIDDEN")
    replies = [await positions.ask(ADMIN, "POST", f"{path}/complete") for _ in range(3)]
    assert {(reply.status, reply.body["status"], reply.body["endedBy"]) for reply in replies} == {
        (200, "completed", ADMIN)
    }
    assert await balance(positions) == ("100.5", "0")
    late = await positions.ask("alice", "POST", f"{path}/cancel")
    assert (late.status, late.code, late.body["details"]) == (409, "TRANSFER_ENDED", {"status": "completed"})
    assert (await positions.get("alice", path))["status"] == "completed"
    assert [row["id"] for row in await positions.get("alice", "/transfers?status=completed")] == [transfer["id"]]
    assert await positions.get("alice", "/transfers?kind=withdrawal") == []


@pytest.mark.spec("B4.5-08", "B4.5-11", "A3.2-02")
async def test_a_withdrawal_locks_its_amount_and_a_cancel_gives_it_back(positions: PositionClient) -> None:
    body = {"assetId": "USD", "amount": "60"}
    short = await positions.ask("alice", "POST", "/transfers/withdrawal", body)
    assert (short.status, short.code) == (409, "INSUFFICIENT_BALANCE")
    assert short.message == "0 USD are available, 60 are needed"
    await funded(positions, "100")
    first = await positions.post("alice", "/transfers/withdrawal", body)
    assert first == {
        "id": first["id"], "participantId": "alice", "assetId": "USD", "kind": "withdrawal", "amount": "60",
        "status": "pending", "reference": None, "reason": None, "allowNegative": False, "createdBy": "alice",
        "createdAt": first["createdAt"], "endedBy": None, "endedAt": None,
    }  # fmt: skip
    assert await balance(positions) == ("40", "60")
    assert (await positions.ask("alice", "POST", "/transfers/withdrawal", body)).status == 409
    await positions.post("alice", f"/transfers/{first['id']}/cancel", status=200)
    assert await balance(positions) == ("100", "0")
    late = await positions.ask(ADMIN, "POST", f"/transfers/{first['id']}/complete")
    assert (late.status, late.code) == (409, "TRANSFER_ENDED")
    second = await positions.post("alice", "/transfers/withdrawal", body)
    await positions.post(ADMIN, f"/transfers/{second['id']}/complete", status=200)
    assert await balance(positions) == ("40", "0")


@pytest.mark.spec("B4.5-09")
async def test_only_an_adjustment_that_says_so_leaves_less_than_nothing(positions: PositionClient) -> None:
    body = {"participantId": "alice", "assetId": "USD", "amount": "-5", "reason": "booked twice"}
    assert (await positions.ask("alice", "POST", "/transfers/adjustment", body)).status == 403
    no_reason = {name: value for name, value in body.items() if name != "reason"}
    missing = await positions.ask(ADMIN, "POST", "/transfers/adjustment", no_reason)
    assert (missing.status, missing.message) == (400, ["reason is required"])
    zero = await positions.ask(ADMIN, "POST", "/transfers/adjustment", body | {"amount": "0"})
    assert (zero.status, zero.message) == (400, ["amount must not be zero"])
    unknown = await positions.ask(ADMIN, "POST", "/transfers/adjustment", body | {"participantId": "nobody"})
    assert (unknown.status, unknown.code) == (404, "PARTICIPANT_NOT_FOUND")
    refused = await positions.post(ADMIN, "/transfers/adjustment", body)
    reply = await positions.ask(ADMIN, "POST", f"/transfers/{refused['id']}/complete")
    assert (reply.status, reply.code) == (409, "INSUFFICIENT_BALANCE")
    assert (await positions.get("alice", f"/transfers/{refused['id']}"))["status"] == "pending"
    allowed = await positions.post(ADMIN, "/transfers/adjustment", body | {"allowNegative": True})
    await positions.post(ADMIN, f"/transfers/{allowed['id']}/complete", status=200)
    assert await balance(positions) == ("-5", "0")


async def test_a_reference_or_an_idempotency_key_creates_one_transfer(positions: PositionClient) -> None:
    body = {"assetId": "USD", "amount": "7", "reference": "invoice-17"}
    first = await positions.post("alice", "/transfers/deposit", body)
    assert await positions.post("alice", "/transfers/deposit", body, status=200) == first
    other = await positions.ask("alice", "POST", "/transfers/deposit", body | {"amount": "8"})
    assert (other.status, other.code) == (409, "REFERENCE_IN_USE")
    headers = {"Idempotency-Key": "k1"}
    pair = [
        await positions.ask("alice", "POST", "/transfers/deposit", {"assetId": "USD", "amount": "9"}, headers=headers)
        for _ in range(2)
    ]
    assert pair[0].body == pair[1].body
    assert len(await positions.get("alice", "/transfers")) == 2
    unknown = await positions.ask("alice", "POST", "/transfers/deposit", {"assetId": "DOGE", "amount": "9"})
    assert (unknown.status, unknown.message) == (400, ["asset DOGE is not an asset of this platform"])


async def test_of_a_race_to_end_one_transfer_and_to_spend_one_balance_one_wins(
    positions: PositionClient, pool: asyncpg.Pool
) -> None:
    await funded(positions, "10")
    body = {"assetId": "USD", "amount": "6"}
    replies = await asyncio.gather(*(positions.ask("alice", "POST", "/transfers/withdrawal", body) for _ in range(8)))
    assert sorted(reply.status for reply in replies) == [201] + [409] * 7
    [won] = [reply.body["id"] for reply in replies if reply.status == 201]
    steps = [f"/transfers/{won}/{step}" for step in ("complete", "cancel") for _ in range(4)]
    ended = await asyncio.gather(*(positions.ask(ADMIN, "POST", step) for step in steps))
    winners = {reply.body["status"] for reply in ended if reply.status == 200}
    assert len(winners) == 1
    assert [reply.status for reply in ended].count(200) == 4
    assert await balance(positions) == (("4", "0") if winners == {"completed"} else ("10", "0"))
    assert await pool.fetchval("SELECT count(*) FROM position_transfers") == 2
