"""A market's phase in the console, where an operator changes it, and on the trading screen, which says it."""

import re
import secrets
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from openspot.up.child_platform import ChildPlatform
from tests.browser.conftest import serving_platform
from tests.support.console import Console
from tests.support.operator import Operator
from tests.support.trading_screen import Exchange, NewWindow, TradingScreen, window
from tests.support.waiting import stretched

pytestmark = pytest.mark.proof

# Of the markets of every exchange, as the router hears of no market that the engine alone lists.
SYMBOL = "SOL-USDT"
TOLD_MS = stretched(20) * 1000


@pytest.mark.usefixtures("participants")
def test_an_operator_holds_an_auction_and_the_trading_screen_says_what_it_would_trade(
    console: Console, operator: Operator, market: str, new_window: NewWindow
) -> None:
    for name in ("alice", "bob"):
        operator.fund(name, USD="1000", **{market.split("-")[0]: "100"})
    console.open("/symbols", "Symbols")
    row = console.row("Symbols", market)
    expect(row).to_contain_text("Continuous trading")
    console.act(market, "Set phase…")
    dialog = console.dialog(f"Change the phase of {market}?")
    dialog.get_by_label("Phase", exact=True).select_option("auction")
    dialog.get_by_label("Minutes until continuous trading").fill("0")
    expect(dialog.get_by_text("A whole number from 1 to")).to_be_visible()
    dialog.get_by_label("Minutes until continuous trading").fill("30")
    button = dialog.get_by_role("button", name="Change the phase")
    expect(button).to_be_disabled()
    dialog.get_by_label("Reason").fill("the opening of the market")
    console.assert_accessible("phase dialog")
    button.click()
    expect(row).to_contain_text("Auction")

    operator.place("alice", "buy", "52", "2", market)
    operator.place("bob", "sell", "50", "1", market)
    screen = new_window()
    screen.go(f"/{market}", market)
    status = screen.page.get_by_role("status").filter(has_text="Auction")
    expect(status).to_contain_text("It would trade 1", timeout=stretched(20) * 1000)
    expect(status).to_contain_text("Auction until ")
    expect(status).to_contain_text("at 51")
    screen.assert_accessible("auction")

    console.act(market, "Set phase…")
    dialog = console.dialog(f"Change the phase of {market}?")
    dialog.get_by_label("Reason").fill("the market is open")
    dialog.get_by_role("button", name="Change the phase").click()
    expect(row).to_contain_text("Continuous trading")
    expect(status).to_have_count(0, timeout=stretched(20) * 1000)
    trades = operator.call("ListTrades", symbol=market)["trades"]
    assert [(trade["price"], trade["quantity"]) for trade in trades] == [("51", "1")]


@pytest.fixture
def ordered(exchange: Exchange, operator: Operator, new_window: NewWindow) -> Iterator[TradingScreen]:
    """A trader's window of SYMBOL, in which an order of theirs is open. The market trades again afterwards."""
    trader = exchange.register(f"phases-{secrets.token_hex(4)}@example.com")
    exchange.deposit([(trader, "USDT", "1000")])
    order = {"symbol": SYMBOL, "side": "buy", "type": "limit", "price": "51", "quantity": "2"}
    exchange.call("POST", "orders", order, trader.tokens["accessToken"])
    screen = new_window(trader)
    screen.go(f"/{SYMBOL}", SYMBOL)
    expect(screen.row("Open orders", SYMBOL, "51")).to_be_visible()
    yield screen
    operator.set_phase(SYMBOL, "continuous")


@pytest.mark.parametrize(
    ("phase", "title", "text", "refusal"),
    [
        ("halted", "Halted", "Orders can only be cancelled.", "The market is halted"),
        (
            "cancel-only",
            "Cancel-only",
            "Open orders can be cancelled and made smaller.",
            "The market takes no orders now",
        ),
        (
            "post-only",
            "Post-only",
            "Only post-only orders and stops are taken.",
            "The market takes only post-only orders now",
        ),
    ],
)
def test_a_trader_sees_what_a_phase_takes_and_can_cancel_in_it(
    ordered: TradingScreen, operator: Operator, phase: str, title: str, text: str, refusal: str
) -> None:
    screen = ordered
    status = screen.page.get_by_role("status").filter(has_text=title)
    expect(status).to_have_count(0)
    operator.set_phase(SYMBOL, phase)
    # The page is told, without another load.
    expect(status).to_contain_text(text, timeout=TOLD_MS)
    screen.assert_accessible(phase)
    form = screen.page.get_by_role("form", name="Order form")
    screen.fill_order("Buy", "Limit", "1", "40")
    submit = form.get_by_role("button", name=re.compile("^Buy .*, limit$"))
    screen.expect_complaint("status of 400")
    submit.click()
    expect(form.get_by_text(refusal)).to_be_visible()
    if phase == "post-only":
        form.get_by_role("checkbox", name="Post-only").check()
        submit.click()
        expect(screen.row("Open orders", "Limit, post-only")).to_be_visible()
    cancel = screen.page.get_by_role("button", name=f"Cancel buy 2 {SYMBOL} at 51")
    cancel.click()
    expect(cancel).to_have_count(0)

    operator.set_phase(SYMBOL, "continuous")
    expect(status).to_have_count(0, timeout=TOLD_MS)


@pytest.fixture(scope="module")
def volatile(pages_folder: Path) -> Iterator[ChildPlatform]:
    """A platform that interrupts a market whose fair price moves by more than 5 %."""
    rules = {"OPENSPOT_VOLATILITY_MOVE_BPS": "500", "OPENSPOT_VOLATILITY_AUCTION_S": "3600"}
    with serving_platform(pages_folder, rules) as (platform, _):
        yield platform


def test_a_trader_sees_that_a_fast_move_has_begun_an_auction_and_until_when(
    volatile: ChildPlatform, browser: Browser, browser_context_args: dict[str, Any]
) -> None:
    with (
        browser.new_context(**browser_context_args) as context,
        closing(Operator(volatile.settings)) as operator,
    ):
        symbol = operator.create_market("V1")
        screen = window(context.new_page(), str(volatile.settings.web_url))
        screen.go(f"/{symbol}", symbol)
        for price in (100, 104, 99):
            operator.set_mark_price(symbol, price)
        status = screen.page.get_by_role("status").filter(has_text="auction")
        expect(status).to_contain_text(re.compile("Volatility auction until [0-9]{2}:[0-9]{2}"), timeout=TOLD_MS)
        expect(status).to_contain_text("The fair price moved fast. Limit orders collect")
        screen.assert_accessible("a volatility auction")
        operator.set_phase(symbol, "continuous")
        expect(status).to_have_count(0, timeout=TOLD_MS)
        screen.assert_quiet()
