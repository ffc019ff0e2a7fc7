"""A market's phase in the console, where an operator changes it, and on the trading screen, which says it."""

import pytest
from playwright.sync_api import expect

from tests.support.console import Console
from tests.support.operator import Operator
from tests.support.trading_screen import NewWindow
from tests.support.waiting import stretched

pytestmark = [pytest.mark.proof, pytest.mark.usefixtures("participants")]


def test_an_operator_holds_an_auction_and_the_trading_screen_says_what_it_would_trade(
    console: Console, operator: Operator, market: str, new_window: NewWindow
) -> None:
    for name in ("alice", "bob"):
        operator.fund(name, USD="1000", **{market.split("-")[0]: "100"})
    console.open("/symbols", "Symbols")
    row = console.row("Symbols", market)
    expect(row).to_contain_text("Continuous trading")
    console.act(market, "Change phase…")
    dialog = console.dialog(f"Change the phase of {market}?")
    dialog.get_by_label("Phase", exact=True).select_option("auction")
    dialog.get_by_label("Minutes until continuous trading").fill("0")
    expect(dialog.get_by_text("A whole number from 1 to")).to_be_visible()
    dialog.get_by_label("Minutes until continuous trading").fill("")
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
    expect(status).to_contain_text("at 51")
    screen.assert_accessible("auction")

    console.act(market, "Change phase…")
    dialog = console.dialog(f"Change the phase of {market}?")
    dialog.get_by_label("Reason").fill("the market is open")
    dialog.get_by_role("button", name="Change the phase").click()
    expect(row).to_contain_text("Continuous trading")
    expect(status).to_have_count(0, timeout=stretched(20) * 1000)
    trades = operator.call("ListTrades", symbol=market)["trades"]
    assert [(trade["price"], trade["quantity"]) for trade in trades] == [("51", "1")]
