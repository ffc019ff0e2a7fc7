"""What a user holds, with its cost and its results: the page adds up, and says what wallet and portfolio say."""

import json
import urllib.request
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import expect

from openspot.up.child_platform import ChildPlatform
from tests.support.trading_screen import Exchange, NewWindow, Trader
from tests.support.waiting import stretched, until

pytestmark = pytest.mark.proof


def record(platform: ChildPlatform, trader: Trader, name: str, days_ago: int, **fields: Any) -> None:
    """A FIFO transaction of what the user holds on the exchange."""
    time = datetime.now(UTC) - timedelta(days=days_ago)
    body = {"externalId": name, "timestamp": time.isoformat(), "account": "exchange", "asset": "ETH"} | fields
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {trader.tokens['accessToken']}"}
    url = f"{platform.settings.positions_url}/api/pms/fifo/transactions"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=stretched(30)) as response:
        assert response.status == 201


def test_holdings_add_up_and_agree_with_wallet_and_portfolio(
    new_window: NewWindow, exchange: Exchange, platform: ChildPlatform
) -> None:
    trader = exchange.register("holdings@example.com")
    screen = new_window(trader)
    page = screen.page
    screen.go("/positions", "Positions")
    expect(page.get_by_text("Nothing held yet")).to_be_visible()
    screen.assert_accessible("no holdings")

    exchange.set_price("ETH-USD", "3000")
    exchange.deposit([(trader, "USD", "1000"), (trader, "ETH", "3")])
    record(platform, trader, "b1", 60, type="acquisition", quantity="2.5", value="5000")
    record(platform, trader, "s1", 20, type="disposal", quantity="0.5", value="1500")
    row = screen.row("Holdings", "ETH")

    def has_the_price() -> bool:
        page.reload()
        expect(row).to_be_visible()
        return "9,000.00 USD" in row.inner_text()

    until(has_the_price, "the holdings do not get the price")
    # 2 of the 3 cost 4,000; nobody has told what the third cost.
    for text in ("3 ETH", "9,000.00 USD", "4,000.00 USD", "of 2 ETH", "+2,000.00 USD", "50.00 %", "+500.00 USD"):
        expect(row).to_contain_text(text)
    expect(page.get_by_text("The cost of what came by a deposit")).to_be_visible()
    totals = page.get_by_role("region", name="Value of your holdings")
    for text in ("10,000.00 USD", "5,000.00 USD", "+2,000.00 USD", "40.00 %", "3,000.00 USD", "+500.00 USD"):
        expect(totals).to_contain_text(text)
    # It was sold 20 days ago.
    page.get_by_role("radiogroup", name="Realised in").get_by_text("7 days", exact=True).click()
    expect(row).not_to_contain_text("+500.00 USD")
    page.get_by_role("radiogroup", name="Realised in").get_by_text("30 days", exact=True).click()
    expect(row).to_contain_text("+500.00 USD")
    names = screen.table("Holdings").get_by_role("row").locator("strong")
    expect(names).to_have_text(["ETH", "USD"])
    page.get_by_role("columnheader", name="Value").get_by_role("button").click()
    expect(names).to_have_text(["USD", "ETH"])
    screen.look_over("holdings")

    # What was recorded is of no market, and the trades of this platform are not followed.
    screen.segment("Results by", "By market")
    expect(screen.row("Results by market", "Outside the markets")).to_contain_text("+500.00 USD")
    expect(screen.table("Results by market").get_by_role("row")).to_have_count(2)
    expect(page.get_by_text("The trades of this exchange are not followed here")).to_be_visible()
    screen.segment("Results by", "By asset")

    screen.act("ETH", "Show its lots and sales")
    expect(screen.row("Lots of ETH", "b1")).to_contain_text("4,000.00")
    expect(screen.row("Sales of ETH", "s1")).to_contain_text("+500.00 USD")
    screen.assert_accessible("lots and sales")
    page.keyboard.press("Escape")

    for path, heading in (("/wallet", "Wallet"), ("/portfolio", "Portfolio")):
        screen.go(path, heading)
        expect(page.get_by_role("region", name="Worth about")).to_contain_text("10,000.00 USD")
