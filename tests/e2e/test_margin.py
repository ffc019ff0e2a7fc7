"""Margin on a real platform: a position, a warning, and a liquidation by a price that falls; the user is told of it."""

import asyncio
import itertools
from collections.abc import Iterator
from contextlib import AsyncExitStack
from decimal import Decimal
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import MarginWarning
from openspot.contracts.streams import TRADES
from openspot.kit.bus import Bus
from openspot.positions.descriptor import FILLS
from openspot.up.child_platform import ChildPlatform
from tests.support.mailbox import mail_to
from tests.support.money_user import WAIT_S, MoneyUser, assert_every_book_agrees, credit, money_user, openspot
from tests.support.platforms import child_platform
from tests.support.waiting import START_S_MAX, eventually, stretched
from tests.support.websocket_edge import ask, open_client, receive

SYMBOL = "SOL-USD"
POSITION_DATA = (
    ("positions", "participant_id"),
    ("position_trades", "participant_id"),
    ("position_balances", "participant_id"),
    ("fifo_transactions", "user_id"),
)
"""Tables of the position service, with the columns of their owners."""
TITLE = "Your margin account is being liquidated"


async def place(user: MoneyUser, side: str, quantity: str, price: str) -> None:
    """Place a limit order. The router hears of the last price after the trade, and takes none too far from it."""
    order = {"symbol": SYMBOL, "side": side, "type": "limit", "quantity": quantity, "price": price}

    async def is_taken() -> bool:
        return (await user.client("POST", "/orders", order, headers={})).status == 201

    await eventually(is_taken, WAIT_S, 0.1)


async def trade_at(seller: MoneyUser, buyer: MoneyUser, price: str, quantity: str = "1") -> None:
    """Let the two trade, so that this is the last price."""
    await place(seller, "sell", quantity, price)
    await place(buyer, "buy", quantity, price)


async def make_market(users: list[MoneyUser]) -> None:
    """Let four owners trade with each other, and quote more than a position needs: so the market absorbs it."""
    for seller, buyer in itertools.permutations(users, 2):
        await trade_at(seller, buyer, "10", "40")
    await place(users[0], "sell", "40", "10.1")
    await place(users[1], "buy", "40", "9.9")


async def absorbs(borrower: MoneyUser, quantity: str) -> None:
    """Wait until the margin service believes that the market absorbs this much."""

    async def is_enough() -> bool:
        account = await borrower("GET", "/margin/account")
        known = [each["sellable"] for each in account["prices"] if each["asset"] == SYMBOL.partition("-")[0]]
        return bool(known) and Decimal(known[0]) >= Decimal(quantity)

    await eventually(is_enough, WAIT_S)


async def set_price(platform: ChildPlatform, price: str) -> None:
    """Let the operator set the fair price, whatever was traded."""
    await openspot(platform, "price", "set", SYMBOL, price, "--for", "1h", "--reason", "the test says so", "--far")


@pytest.mark.spec("A1.1-16", "A1.2-26", "A1.2-27")
async def test_spot_orders_and_their_fills_change_nothing_at_margin_and_positions(platform: ChildPlatform) -> None:
    async with money_user(platform) as seller, money_user(platform) as buyer:
        await asyncio.gather(seller.credit("ETH", "2"), buyer.credit("BTC", "1"))
        order = {"symbol": "ETH-BTC", "type": "limit", "quantity": "1", "price": "0.05"}
        for user, side in ((seller, "sell"), (buyer, "buy"), (seller, "sell")):
            await user("POST", "/orders", order | {"side": side}, status=201)
        # Once the ledger has the trade, whoever follows trades has been told of it too.
        await assert_every_book_agrees(platform)
        owners = [seller.user_id, buyer.user_id]
    connection = await asyncpg.connect(platform.settings.database_url)
    try:
        assert await connection.fetchval("SELECT count(*) FROM trades WHERE buyer_id = $1", buyer.user_id) == 1
        for table, column in (("margin_accounts", "user_id"), *POSITION_DATA):
            query = f"SELECT count(*) FROM {table} WHERE {column} = ANY($1)"
            assert await connection.fetchval(query, owners) == 0, table
    finally:
        await connection.close()
    # Without `follow_fills` the position service has no consumer of the trades.
    settings = platform.settings.model_copy(update={"nats_url": platform.state.bus_urls["positions"]})
    bus = await Bus.connect(settings, "positions")
    try:
        assert await bus.consumer_state(TRADES.name, FILLS.durable) is None
    finally:
        await bus.close()


@pytest.fixture
def own_platform(own_folder: Path) -> Iterator[ChildPlatform]:
    """A platform on whose markets nobody else trades: the prices of this test are far from all others."""
    settings = {
        "OPENSPOT_THROTTLE_ENABLED": "false",
        "OPENSPOT_MARGIN_SCAN_S": "0.5",
        "OPENSPOT_MARGIN_LIQUIDATION_PAUSE_S": "0.5",
        "OPENSPOT_FAIR_PRICE_STANDING_S": "2",
        "OPENSPOT_FAIR_PRICE_ABSORBED_SHARE_BPS": "10000",
    }
    child = child_platform(own_folder, settings)
    child.start(stretched(START_S_MAX))
    yield child
    child.stop()


@pytest.mark.proof
async def test_a_falling_price_warns_and_then_liquidates_and_every_book_agrees(own_platform: ChildPlatform) -> None:
    platform = own_platform
    await credit(platform, "house:lending", "USD", "1000")
    await credit(platform, "house:insurance", "USD", "100")
    async with AsyncExitStack() as stack:
        seller, buyer, *others, borrower = [await stack.enter_async_context(money_user(platform)) for _ in range(5)]
        makers = [seller, buyer, *others]
        await asyncio.gather(*(user.credit(asset, "2000") for user in makers for asset in ("SOL", "USD")))
        await borrower.credit("USD", "100")
        await borrower.has("USD", "100")
        await make_market(makers)
        await set_price(platform, "10")
        await borrower("POST", "/margin/transfers", {"asset": "USD", "amount": "100", "direction": "in"}, status=201)
        await absorbs(borrower, "30")
        await place(seller, "sell", "22", "10")
        # A level of about 152 %: 100 USD and 22 SOL, of which 198 USD are owed.
        position = {"symbol": SYMBOL, "side": "buy", "quantity": "22", "leverage": "10"}
        opened = await borrower("POST", "/margin/positions", position, status=201)
        assert opened["account"]["isAtRisk"] is False, opened
        assert [each["status"] for each in opened["account"]["positions"]] == ["open"]
        await buyer("DELETE", "/orders")

        warnings: list[MarginWarning] = []

        async def note(subject: str, warning: MarginWarning) -> None:
            warnings.append(warning)

        bus = await Bus.connect(platform.settings, "operator")
        await bus.subscribe(subjects.MARGIN_LIQUIDATION_WARNING, MarginWarning, note)
        async with open_client(platform.settings, f"?token={borrower.client.token}") as client:
            # Orders, balances and notifications of the user come without subscribing.
            assert (await ask(client, action="ping"))["type"] == "pong"
            # What two people print is nobody's risk.
            for price in ("9.5", "8", "6.6", "5.6"):
                await trade_at(seller, buyer, price)
            assert (await borrower("GET", "/margin/account"))["isAtRisk"] is False
            assert warnings == []
            await set_price(platform, "9.5")
            await eventually(lambda: bool(warnings), WAIT_S)
            account = await borrower("GET", "/margin/account")
            assert (account["status"], account["isAtRisk"]) == ("active", True)

            # At 5.60 the level is below 105 %.
            await place(buyer, "buy", "23", "5.6")
            await set_price(platform, "5.6")
            settled = await borrower.shows("/margin/account", status="active", debt="0")

            told = await _told(client, "margin.liquidation")
            assert told["title"] == TITLE
        await bus.close()
        assert [each.user_id for each in warnings] == [borrower.user_id]
        assert [each["status"] for each in settled["positions"]] == ["liquidated"]
        assert [each["status"] for each in settled["loans"]] == ["repaid"]
        assert settled["marginLevel"] is None
        mail = await mail_to(platform.data_dir, borrower.credentials["email"], TITLE)
        assert "Its positions are closed step by step near the fair price" in mail.text
        await assert_only_borrowers_have_margin(platform, borrower.user_id)
    await assert_every_book_agrees(platform)


async def assert_only_borrowers_have_margin(platform: ChildPlatform, borrower: str) -> None:
    """The users who only placed and filled spot orders have nothing at the margin service."""
    connection = await asyncpg.connect(platform.settings.database_url)
    try:
        assert [row["user_id"] for row in await connection.fetch("SELECT user_id FROM margin_accounts")] == [borrower]
        for table in ("margin_positions", "margin_loans"):
            assert await connection.fetchval(f"SELECT count(DISTINCT account_id) FROM {table}") == 1
    finally:
        await connection.close()


async def _told(client: Any, kind: str) -> dict[str, Any]:
    """The first notification of that kind that comes."""
    while True:
        message = await receive(client)
        if message.get("channel") == "notifications" and message["data"]["kind"] == kind:
            data: dict[str, Any] = message["data"]
            return data
