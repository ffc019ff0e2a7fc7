"""Fills lead to a line of the chart, to the list of holdings and to the results by market, with the same figures.

The position service of these tests follows the trades, because of the complete rules alone. The one of the other tests
does not, as they record what was bought and close positions by hand.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from openspot.up.child_platform import ChildPlatform
from tests.browser.conftest import serving_platform
from tests.support.trading_screen import Exchange, NewWindow, Trader, TradingScreen
from tests.support.waiting import stretched

pytestmark = pytest.mark.proof

SYMBOL = "SOL-USD"
# Results are read again every half minute, and soon after a fill.
FOLLOWED_MS = stretched(40) * 1000


@pytest.fixture(scope="module")
def following(pages_folder: Path) -> Iterator[ChildPlatform]:
    """A platform whose position service follows the trades."""
    with serving_platform(pages_folder, {"OPENSPOT_FOLLOW_FILLS": ""}) as (platform, _):
        yield platform


@pytest.fixture(scope="module")
def exchange(following: ChildPlatform) -> Exchange:
    """Its REST edge."""
    return Exchange(following)


@pytest.fixture(scope="module")
def pages_url(following: ChildPlatform) -> str:
    """Its pages."""
    return str(following.settings.web_url)


def place(exchange: Exchange, trader: Trader, side: str, price: str, quantity: str) -> None:
    """Place a limit order."""
    order = {"symbol": SYMBOL, "side": side, "type": "limit", "price": price, "quantity": quantity}
    exchange.call("POST", "orders", order, trader.tokens["accessToken"])


def line(screen: TradingScreen, figure: str) -> Locator:
    """The chart, if its line of the average cost has this figure."""
    words = rf"Your average cost, {re.escape(figure)}, as a line\."
    return screen.page.get_by_role("group", name=re.compile(f"^Candles of .*{words}"))


def opened(new_window: NewWindow, trader: Trader) -> TradingScreen:
    """The market with the trader's holdings below."""
    screen = new_window(trader)
    screen.go(f"/{SYMBOL}", SYMBOL)
    expect(screen.link("Live")).to_be_visible()
    screen.tab("Positions")
    return screen


def test_fills_lead_to_the_line_and_the_list_with_one_figure(new_window: NewWindow, exchange: Exchange) -> None:
    buyer, seller = (exchange.register(f"cost-{side}@example.com") for side in ("buyer", "seller"))
    exchange.set_price(SYMBOL, "200")
    exchange.deposit([(buyer, "USD", "5000"), (seller, "SOL", "5")])
    place(exchange, seller, "sell", "199", "2")
    place(exchange, seller, "sell", "202", "1")
    screen = opened(new_window, buyer)
    expect(screen.row("Holdings", "USD")).to_be_visible()
    expect(screen.row("Holdings", "SOL")).to_have_count(0)
    candles = screen.page.get_by_role("group", name=re.compile("^Candles of "))
    expect(candles).to_be_visible()
    expect(candles).not_to_have_accessible_name(re.compile("Your average cost"))

    place(exchange, buyer, "buy", "202", "3")
    holding = screen.row("Holdings", "SOL")
    expect(holding).to_be_visible(timeout=FOLLOWED_MS)
    figure = holding.get_by_role("cell").nth(2).inner_text().removesuffix("USD").strip()
    # 600 USD for 3 SOL, less what the fee took of them.
    assert 200 < float(figure) < 203
    expect(line(screen, figure)).to_be_visible(timeout=FOLLOWED_MS)

    # Who has sold of what was deposited holds the rest at the price of its deposit, and has no short position.
    other = opened(new_window, seller)
    rest = other.row("Holdings", "SOL")
    expect(rest).to_contain_text("2 SOL", timeout=FOLLOWED_MS)
    expect(rest.get_by_role("cell").nth(2)).to_contain_text("200.00")
    expect(line(other, "200.00")).to_be_visible(timeout=FOLLOWED_MS)


def test_results_by_market_agree_with_those_by_asset_and_stay_after_a_reload(
    new_window: NewWindow, exchange: Exchange
) -> None:
    buyer, seller = (exchange.register(f"market-{side}@example.com") for side in ("buyer", "seller"))
    exchange.set_price(SYMBOL, "200")
    exchange.deposit([(buyer, "USD", "5000"), (seller, "SOL", "5")])
    screen = new_window(buyer)
    page = screen.page
    screen.go("/positions?by=market", "Positions")
    expect(page.get_by_text("No fills yet")).to_be_visible()
    screen.assert_accessible("no fills")

    place(exchange, seller, "sell", "200", "2")
    place(exchange, buyer, "buy", "200", "2")
    place(exchange, seller, "buy", "204", "1")
    place(exchange, buyer, "sell", "204", "1")
    row = screen.row("Results by market", SYMBOL)
    for text in ("2 SOL", "400.00 USD", "at 200.00 USD on average", "1 SOL", "204.00 USD", "at 204.00 USD on average"):
        expect(row).to_contain_text(text, timeout=FOLLOWED_MS)
    expect(row.get_by_role("cell").nth(1)).to_have_text("2")
    by_market = [row.get_by_role("cell").nth(place).inner_text() for place in range(5, 11)]
    assert by_market[0] == "1 SOL"
    # 4 USD, less what the fees took of them.
    assert by_market[-1].startswith("+2."), by_market
    # One asset on one market: nothing is left over, and the column adds up to the sum above.
    expect(screen.row("Results by market", "Outside the markets")).to_have_count(0)
    totals = page.get_by_role("region", name="Value of your holdings")
    expect(totals).to_contain_text(f"Realised in all\n{by_market[-1]}", use_inner_text=True)
    head = page.get_by_role("columnheader", name="Realised", exact=True)
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    screen.look_over("results by market")

    page.reload()
    expect(row).to_be_visible()
    screen.segment("Results by", "By asset")
    holding = screen.row("Holdings", "SOL")
    quantity, average, value, cost, unrealised, realised = (
        holding.get_by_role("cell").nth(place) for place in range(1, 7)
    )
    for cell, text in zip((quantity, average, value, cost, unrealised, realised), by_market, strict=True):
        expect(cell).to_have_text(text, use_inner_text=True)
