"""A market of margin is delisted by an operator: margin is asked, and takes nothing new that needs the market."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import pytest_asyncio

from openspot.contracts import subjects
from openspot.contracts.messages import CheckMargin, CheckMarginReply, GetMarketNeeds, MarketNeedsReply
from openspot.contracts.refusals import RefusalCode
from openspot.http.operators import OperatorRole
from openspot.margin import departure_store
from tests.support.databases import TestDatabases
from tests.support.edge_operators import make_operator
from tests.support.margin import MarginMarket, margin_market
from tests.support.rest_client import RestClient, running_edge
from tests.support.waiting import eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")

MARKET = "/operator/markets/BTC-USD"
DELISTING = f"{MARKET}/delisting", {"reason": "the coin has ended"}
NOT_TAKEN = "is not taken: the account would need BTC-USD, which is delisted soon"


class Exchange(NamedTuple):
    """A market with two margin processes, and the REST edge with an operator's session."""

    market: MarginMarket
    edge: RestClient


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def exchange(run_folder: Path, databases: TestDatabases) -> AsyncIterator[Exchange]:
    """An exchange whose services follow what operators list."""
    async with (
        margin_market(run_folder, databases, margins=2, markets="live") as market,
        running_edge(market.settings) as edge,
    ):
        await make_operator(edge, market.pool, "ada@example.org", OperatorRole.MARKET_OPERATIONS)
        yield Exchange(market, edge)


async def schedule(edge: RestClient, *entries: dict[str, Any]) -> None:
    changed = await edge("PATCH", MARKET, {"schedule": list(entries), "reason": "the coin ends"})
    assert changed.status == 200, changed.body


def an_hour_ahead() -> dict[str, Any]:
    return {"status": "delisting", "at": int(time.time() * 1000) + 3_600_000}


async def needs(market: MarginMarket, symbol: str = "BTC-USD") -> MarketNeedsReply:
    reply: MarketNeedsReply = await market.ask(subjects.RISK_MARGIN_NEEDS, GetMarketNeeds(symbol), MarketNeedsReply)
    return reply


async def test_a_question_waits_for_the_risk_that_is_being_written(
    exchange: Exchange, monkeypatch: pytest.MonkeyPatch
) -> None:
    market, edge = exchange
    monkeypatch.setattr(departure_store, "LOCK_WAIT", "60s")
    await schedule(edge, an_hour_ahead())
    assert (await needs(market)).accounts == 0
    async with market.pool.acquire() as connection:
        writing = connection.transaction()
        await writing.start()
        # An opening that has read the list of markets before, and commits its loan now.
        await departure_store.begin_new_risk(connection)
        await connection.execute(
            "INSERT INTO margin_accounts (account_id, user_id, status, zone, changes, created_at)"
            " VALUES ('margin:zoe', 'zoe', 'active', 'safe', nextval('margin_changes'), now())"
        )
        await connection.execute(
            "INSERT INTO margin_loans (loan_id, account_id, asset, borrowed, principal, rate, segment_start, settled,"
            " posted, paid, status, created_at) VALUES ('late', 'margin:zoe', 'BTC', 1, 1, 0.1, 1, 0, 0, 0, 'pending',"
            " now())"
        )
        asked = asyncio.create_task(needs(market))
        waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        await eventually(lambda: market.pool.fetchval(waits))
        assert not asked.done()
        await writing.commit()
    reply = await asked
    assert (reply.is_leaving, reply.accounts, reply.owed) == (True, 1, {"BTC": 1})
    await market.pool.execute("DELETE FROM margin_loans WHERE loan_id = 'late'")
    await market.pool.execute("DELETE FROM margin_accounts WHERE account_id = 'margin:zoe'")
    await schedule(edge)


async def test_a_market_that_accounts_need_is_not_delisted_and_gets_no_new_risk(exchange: Exchange) -> None:
    market, edge = exchange
    assert (await market.move("alice", "200")).success
    await market.place("sell", "100", "1", "bob")
    opened = await market.open("alice", "buy", "1", "2")
    assert opened.position_id is not None, opened
    assert (await market.move("carol", "5", asset="BTC")).success
    borrowed = await market.borrow("carol", "100")
    assert borrowed.loan_id is not None, borrowed
    assert (await market.move("bob", "1", asset="BTC")).success

    unscheduled = await edge("POST", *DELISTING)
    assert (unscheduled.status, unscheduled.code) == (409, "DELISTING_NOT_SCHEDULED")
    assert "schedule its delisting first" in unscheduled.message
    await schedule(edge, an_hour_ahead())
    refused = await edge("POST", *DELISTING)
    assert (refused.status, refused.code) == (409, "MARKET_NEEDED_ON_MARGIN"), refused.body
    assert refused.body["details"] == {
        "accounts": 2, "positions": 1, "held": {"BTC": 2, "USD": 2}, "owed": {"USD": 2},
    }  # fmt: skip
    assert "margin accounts need BTC-USD: 2 (1 open on it, BTC held by 2, USD held by 2, USD owed by 2)" in str(
        refused.message
    )
    assert (await edge("GET", MARKET)).body["terms"]["status"] == "open"

    # From the entry in the engine's journal on, each of the two processes refuses what would need it.
    for _ in range(3):
        assert NOT_TAKEN in str((await market.open("alice", "buy", "0.1", "2")).error)
    checked = await market.ask(
        subjects.RISK_MARGIN_CHECK, CheckMargin("alice", "BTC-USD", "buy", "0.1", "2"), CheckMarginReply
    )
    assert (checked.approved, checked.code, f"symbol {NOT_TAKEN}" in checked.reason) == (False, None, True)
    secured_by_it = await market.borrow("bob", "10")
    assert (secured_by_it.code, f"asset {NOT_TAKEN}" in str(secured_by_it.error)) == (RefusalCode.MARGIN_REFUSED, True)
    assert f"asset {NOT_TAKEN}" in str((await market.move("dave", "1", asset="BTC")).error)
    # Nobody is kept from saving an account, nor from leaving.
    assert (await market.move("carol", "1", asset="BTC")).success
    assert (await market.move("alice", "10")).success
    assert (await market.move("bob", "1", "out", "BTC")).success

    # Taken back, margin offers it again.
    await schedule(edge)
    assert (await market.move("bob", "1", asset="BTC")).success
    await schedule(edge, an_hour_ahead())

    await market.place("buy", "100", "1", "bob")
    assert (await market.close("alice", opened.position_id)).success
    one_left = await edge("POST", *DELISTING)
    assert (one_left.code, one_left.body["details"]["accounts"]) == ("MARKET_NEEDED_ON_MARGIN", 1)
    # The interest.
    assert (await market.move("carol", "1")).success
    assert (await market.repay("carol", borrowed.loan_id)).success
    ended = await edge("POST", *DELISTING)
    assert (ended.status, ended.body["terms"]["status"]) == (200, "delisting"), ended.body
    assert ended.body["terms"]["schedule"] == []

    # What it secured before leaves, and secures nothing.
    assert NOT_TAKEN in str((await market.borrow("carol", "10")).error)
    assert (await market.move("carol", "6", "out", "BTC")).success
    assert await market.differences() == []
