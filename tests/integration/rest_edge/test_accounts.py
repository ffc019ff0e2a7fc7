"""Balances and ledger entries through the REST edge."""

import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import (
    LedgerBalance,
    LedgerBalancesReply,
    LedgerBalancesRequest,
    LedgerHistoryEntry,
    LedgerHistoryReply,
    LedgerHistoryRequest,
)
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.kit.bus import Bus
from openspot.rest_edge.funds.accounts.schemas import Balance
from tests.support.fake_engine_http import FakeEngineHttp
from tests.support.records import read_exactly
from tests.support.rest_client import RestClient

ENTRY = LedgerHistoryEntry(
    transaction_id="t1",
    asset="BTC",
    amount="1.5",
    balance="2.5",
    entry_type="deposit",
    reference_type="deposit",
    reference_id="0xabc",
    created_at="2026-01-01T00:00:00.000Z",
)


async def serve_balances(bus: Bus, reply: LedgerBalancesReply) -> None:
    async def answer(request: LedgerBalancesRequest) -> LedgerBalancesReply:
        return reply if request.user_id == "u1" else LedgerBalancesReply([])

    await bus.serve(
        subjects.LEDGER_BALANCES_GET,
        subjects.LEDGER_QUEUE,
        LedgerBalancesRequest,
        answer,
        LedgerBalancesReply.refused,
    )
    await bus.check()


@pytest.mark.spec("B4.1-13", "B4.1-14")
async def test_balances_are_the_engines(edge: RestClient, engine: FakeEngineHttp) -> None:
    engine.balances["u1"] = [
        {"currency": "USD", "total": "100", "available": "60.5", "locked": "39.5", "reserved": "10.25"},
        {"currency": "BTC", "total": "1", "available": "1", "locked": "0", "reserved": "0"},
    ]
    engine.balances["u2"] = [{"currency": "ETH", "total": "9", "available": "9", "locked": "0", "reserved": "0"}]
    reply = await edge("GET", "/accounts/balances")
    assert reply.body == [
        {"asset": "BTC", "total": "1", "available": "1", "locked": "0", "reserved": "0", "source": "engine"},
        # What is reserved is not available: the engine would refuse an order that needs it.
        {
            "asset": "USD",
            "total": "100",
            "available": "50.25",
            "locked": "39.5",
            "reserved": "10.25",
            "source": "engine",
        },
    ]
    for row in reply.body:
        read_exactly(row, Balance)
    assert (await edge("GET", "/accounts/balances/USD")).body == reply.body[1]
    zero = {"asset": "ETH", "total": "0", "available": "0", "locked": "0", "reserved": "0", "source": "engine"}
    assert (await edge("GET", "/accounts/balances/ETH")).body == zero
    unknown = await edge("GET", "/accounts/balances/DOGE")
    assert (unknown.status, unknown.code, unknown.message) == (404, "ASSET_NOT_FOUND", "asset DOGE not found")
    assert (await edge("GET", "/accounts/balances/usd")).status == 400
    edge.as_user("new")
    assert (await edge("GET", "/accounts/balances")).body == []


@pytest.mark.spec("B4.1-13")
async def test_without_the_engine_balances_are_the_ledgers_and_say_so(edge: RestClient, bus: Bus) -> None:
    mirror = LedgerBalancesReply([LedgerBalance("USD", "60.5", "39.5"), LedgerBalance("BTC", "1", "0")])
    await serve_balances(bus, mirror)
    assert (await edge("GET", "/accounts/balances")).body == [
        {"asset": "BTC", "total": "1", "available": "1", "locked": "0", "reserved": None, "source": "ledger"},
        {"asset": "USD", "total": "100", "available": "60.5", "locked": "39.5", "reserved": None, "source": "ledger"},
    ]
    assert (await edge("GET", "/accounts/balances/ETH")).body["source"] == "ledger"


async def test_balances_that_nobody_can_tell_answer_503(edge: RestClient, bus: Bus) -> None:
    assert (await edge("GET", "/accounts/balances")).status == 503
    await serve_balances(bus, LedgerBalancesReply([], error="the database does not answer"))
    assert (await edge("GET", "/accounts/balances")).status == 503


@pytest.mark.spec("B4.1-18")
async def test_transactions_are_the_ledgers_entries(edge: RestClient, bus: Bus) -> None:
    asked: list[LedgerHistoryRequest] = []

    async def answer(request: LedgerHistoryRequest) -> LedgerHistoryReply:
        asked.append(request)
        if request.cursor == "bad":
            return LedgerHistoryReply.refused(Refusal(RefusalCode.INVALID_CURSOR, "cursor is not valid"))
        return LedgerHistoryReply([ENTRY], "next" if request.cursor is None else None)

    await bus.serve(
        subjects.LEDGER_HISTORY_GET,
        subjects.LEDGER_QUEUE,
        LedgerHistoryRequest,
        answer,
        LedgerHistoryReply.refused,
    )
    await bus.check()
    reply = await edge("GET", "/accounts/transactions?asset=BTC&limit=1")
    assert reply.status == 200
    [row] = reply.body
    assert read_exactly(row, LedgerHistoryEntry).transaction_id == "t1"
    assert reply.headers["X-Next-Cursor"] == "next"
    following = await edge("GET", "/accounts/transactions?cursor=next")
    assert "X-Next-Cursor" not in following.headers
    assert asked == [LedgerHistoryRequest("u1", "BTC", 1, None), LedgerHistoryRequest("u1", None, 100, "next")]
    bad = await edge("GET", "/accounts/transactions?cursor=bad")
    assert (bad.status, bad.message) == (400, ["cursor is not one that this list gave"])


async def test_without_the_ledger_transactions_answer_503(edge: RestClient) -> None:
    assert (await edge("GET", "/accounts/transactions")).status == 503
