"""A coin is listed while margin runs: margin says that it does not offer it, and it decides about nobody."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from openspot.contracts import subjects
from openspot.contracts.messages import (
    BorrowMargin,
    CheckBalance,
    CheckBalanceReply,
    CheckMargin,
    CheckMarginReply,
    MarginAccount,
    OpenMarginPosition,
)
from openspot.contracts.refusals import RefusalCode
from openspot.domain.fair_price.model import PriceState
from tests.integration.engine.test_market_listings import AS_CAROL, DOGE_USD, LISTINGS, delist_on_margin
from tests.support.databases import TestDatabases
from tests.support.margin import MarginMarket, margin_market
from tests.support.waiting import eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")

ASSET = DOGE_USD["asset"] | {"logo": ""}
# SOL-BTC lies between two assets that margin offers.
SOL_BTC = {name: value for name, value in DOGE_USD.items() if name != "asset"} | {"symbol": "SOL-BTC"}
REFUSED = "is not offered on margin: {} was listed later"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def market(run_folder: Path, databases: TestDatabases) -> AsyncIterator[MarginMarket]:
    """A platform whose services follow what operators list, with two margin processes."""
    async with margin_market(run_folder, databases, margins=2, markets="live", rules="complete") as made:
        yield made


async def list_later(market: MarginMarket, body: dict[str, Any]) -> None:
    """List a market that is open at once, and give it a price that every source agrees on."""
    headers = market.engine.headers | AS_CAROL
    status, reply = await market.engine.request("POST", LISTINGS, body, headers)
    assert status == 201, reply
    await market.prices.publish(body["symbol"], "0.1")


async def open_reply(market: MarginMarket, symbol: str) -> Any:
    message = OpenMarginPosition(market.request_id(), "alice", symbol, "buy", "100", "2")
    return await market.ask(subjects.RISK_MARGIN_OPEN, message)


def balance_of(account: MarginAccount, asset: str) -> tuple[str, bool] | None:
    found = [(each.total, each.is_offered) for each in account.balances if each.asset == asset]
    return found[0] if found else None


async def test_requests_for_what_was_listed_later_are_refused_by_name_within_seconds(market: MarginMarket) -> None:
    assert (await market.move("alice", "200")).success
    await market.deposit("alice", "DOGE", "1000")
    assert (await open_reply(market, "DOGE-USD")).error == "symbol is not a market of the platform"
    await list_later(market, DOGE_USD | {"asset": ASSET})
    await list_later(market, SOL_BTC)

    async def both_say_so() -> bool:
        # Each of the two processes answers some of them.
        replies = [await open_reply(market, symbol) for symbol in ("DOGE-USD", "SOL-BTC") * 3]
        assert not any(reply.success for reply in replies)
        return [reply.error for reply in replies] == [
            f"symbol {REFUSED.format(symbol)}" for symbol in ("DOGE-USD", "SOL-BTC") * 3
        ]

    await eventually(both_say_so)
    checked = await market.ask(
        subjects.RISK_MARGIN_CHECK, CheckMargin("alice", "DOGE-USD", "sell", "100", "2"), CheckMarginReply
    )
    assert (checked.approved, checked.code) == (False, RefusalCode.VALIDATION)
    assert checked.reason == f"symbol {REFUSED.format('DOGE-USD')}"
    moved = await market.move("alice", "100", asset="DOGE")
    borrowed = await market.ask(subjects.RISK_MARGIN_BORROW, BorrowMargin(market.request_id(), "alice", "DOGE", "1"))
    assert [(reply.code, reply.error) for reply in (moved, borrowed)] == [
        (RefusalCode.VALIDATION, f"asset {REFUSED.format('DOGE')}")
    ] * 2
    assert "asset must be one of BRL, BTC, ETH" in ((await market.move("alice", "1", asset="NOPE")).error or "")
    # The account shows the prices that decide, and no others.
    assert {price.asset for price in (await market.account("alice")).prices} == {"USD", "BTC"}


async def test_a_coin_that_reached_an_account_protects_nobody_and_leaves_again(market: MarginMarket) -> None:
    assert (await market.move("carol", "5", asset="BTC")).success
    assert (await market.borrow("carol", "400")).success
    # An operator's transfer reaches any account. At its price the coin would be worth 100,000 USD.
    await market.deposit("margin:carol", "DOGE", "1000000")

    async def is_there() -> bool:
        return balance_of(await market.account("carol"), "DOGE") == ("1000000", False)

    await eventually(is_there)
    assert (await market.account("carol")).equity == "500"
    sufficient = await market.ask(
        subjects.RISK_BALANCE_CHECK, CheckBalance("carol", "DOGE", "1000000"), CheckBalanceReply
    )
    assert (sufficient.sufficient, sufficient.available) == (True, "1000000")
    # It secures nothing, so it leaves, with a debt and while no price is sure too.
    await market.prices.publish("BTC-USD", "100", state=PriceState.DISPUTED)
    out = await market.move("carol", "400000", "out", "DOGE")
    assert out.account is not None, out
    assert balance_of(out.account, "DOGE") == ("600000", False)

    # 417.5 USD for a debt of 400 USD.
    await market.print_at("3.5")
    await market.place("buy", "3.5", "10", "bob")
    await market.prices.publish("BTC-USD", "3.5")

    async def is_liquidated() -> bool:
        account = await market.account("carol")
        return account.status == "active" and [loan.status for loan in account.loans] == ["repaid"]

    await eventually(is_liquidated)
    assert balance_of(await market.account("carol"), "DOGE") == ("600000", False)
    assert (await market.move("carol", "600000", "out", "DOGE")).success
    assert balance_of(await market.account("carol"), "DOGE") is None
    assert await market.differences() == []


async def test_a_position_whose_market_is_delisted_says_so_and_goes_on(market: MarginMarket) -> None:
    assert (await market.move("alice", "200")).success
    await market.trade_at("100")
    await market.place("sell", "100", "1", "bob")
    opened = await market.open("alice", "buy", "1", "2")
    assert opened.position_id is not None, opened
    # By a caller of the engine who says that margin was asked, and did not ask.
    await delist_on_margin(market.engine, "BTC-USD")
    refused = "symbol is not traded now: BTC-USD takes no orders"

    async def all_say_so() -> bool:
        # Two processes answer in turn, as chance has it: so many replies are from both.
        closed = [await market.close("alice", opened.position_id) for _ in range(20)]
        return [reply.error for reply in closed] == [refused] * 20

    await eventually(all_say_so)
    assert (
        (await market.reduce("alice", "sell")).error == (await market.open("alice", "buy", "1", "2")).error == refused
    )
    position = (await market.account("alice")).positions[0]
    assert (position.status, position.quantity) == ("open", "1")

    # One whose closing was written a moment before.
    await market.pool.execute(
        "UPDATE margin_positions SET status = 'closing', closings = closings + 1, close_request = 'before'"
        " WHERE position_id = $1",
        opened.position_id,
    )

    async def is_given_up() -> Any:
        [position] = (await market.account("alice")).positions
        return position.reason if position.status == "open" else None

    assert await eventually(is_given_up)
