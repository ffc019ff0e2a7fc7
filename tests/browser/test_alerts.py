"""Price alerts on the trading screen: from the bell to the notice, and what the dialog says about mistakes."""

import re
import secrets

import pytest
from playwright.sync_api import expect

from tests.support.console import OPPOSITE_LOOKS
from tests.support.operator import Operator
from tests.support.trading_screen import Exchange, NewWindow, Trader


@pytest.fixture
def book(operator: Operator, market: str, participants: None) -> str:
    """A market in which a trade can be made."""
    operator.fund("alice", **{market.split("-")[0]: "10"})
    operator.fund("bob", USD="1000")
    return market


@pytest.fixture
def trader(exchange: Exchange) -> Trader:
    """A user of this test alone."""
    return exchange.register(f"{secrets.token_hex(6)}@example.com")


@pytest.mark.proof
def test_an_alert_from_the_bell_fires_at_a_trade_and_the_bell_tells(
    new_window: NewWindow, exchange: Exchange, operator: Operator, book: str, trader: Trader
) -> None:
    screen = new_window(trader)
    page = screen.page
    screen.go(f"/{book}", book)
    page.get_by_role("button", name="Notices", exact=True).click()
    screen.dialog("Notices").get_by_role("button", name="Alert me…").click()
    dialog = screen.dialog("Alert me")
    expect(dialog.get_by_role("combobox", name="Market")).to_have_value(book)
    ready = dialog.get_by_role("button", name="Alert me")
    expect(ready).to_be_disabled()
    expect(ready).to_have_accessible_description("Missing: a price above 0.")
    price = dialog.get_by_role("textbox", name="Price in")
    price.fill("20.5")
    dialog.get_by_role("textbox", name="Note").fill("sell half")
    dialog.get_by_role("checkbox", name="Tell me again").check()
    distance = dialog.get_by_role("textbox", name="Only after the price was back by")
    distance.fill("20.5")
    expect(ready).to_have_accessible_description("Missing: a distance below the price.")
    distance.fill("2")
    screen.look_over("the dialog of an alert", OPPOSITE_LOOKS)
    ready.click()
    expect(screen.toast("The alert is armed")).to_be_visible()

    operator.place("alice", "sell", "21", "1", book)
    operator.place("bob", "buy", "21", "1", book)
    expect(page.get_by_role("button", name="Notices, 1 unread")).to_be_visible()
    page.get_by_role("button", name="Notices, 1 unread").click()
    notices = screen.dialog("Notices")
    expect(notices).to_contain_text(re.compile(r"The last trade was at 21 \w+: at or above 20\.5 \w+\."))
    expect(notices).to_contain_text("Your note: sell half")
    screen.assert_accessible("a fired alert")
    notices.get_by_role("listitem").get_by_role("link", name="Price alerts").click()
    expect(screen.heading("Price alerts")).to_be_visible()
    expect(screen.row("Price alerts", book, "Waiting", "back by 2")).to_be_visible()
    screen.look_over("the list of alerts", OPPOSITE_LOOKS)

    name = f"{book} at 20.5"
    screen.act(name, "Change or arm it…")
    dialog = screen.dialog(f"Change the alert of {book}")
    expect(dialog.get_by_role("textbox", name="Note")).to_have_value("sell half")
    dialog.get_by_role("textbox", name="Price in").fill("21")
    expect(dialog.get_by_text("The price is there already: the next trade may fire the alert.")).to_be_visible()
    dialog.get_by_role("button", name="Save and arm it").click()
    expect(screen.row("Price alerts", book, "Armed", "21")).to_be_visible()
    assert [(row["price"], row["rearmDistance"]) for row in exchange.call(
        "GET", "alerts", token=trader.tokens["accessToken"]
    )] == [("21", "2")]  # fmt: skip

    screen.act(f"{book} at 21", "Delete it…")
    screen.dialog(f"Delete the alert of {book}?").get_by_role("button", name="Delete the alert").click()
    expect(page.get_by_text("No price alerts")).to_be_visible()


def test_the_dialog_names_why_an_alert_is_not_taken(new_window: NewWindow, exchange: Exchange, trader: Trader) -> None:
    token = trader.tokens["accessToken"]
    # As many as there are without a subscription.
    for number in range(20):
        wanted = {"symbol": "BTC-USD", "direction": "above", "price": str(1_000_000 + number)}
        exchange.call("POST", "alerts", wanted, token)
    screen = new_window(trader)
    screen.expect_complaint("status of 409")
    screen.go("/alerts", "Price alerts")
    screen.page.get_by_role("button", name="Alert me").click()
    dialog = screen.dialog("Alert me")
    dialog.get_by_role("combobox", name="Market").click()
    screen.page.get_by_role("option", name="BTC-USD", exact=True).click()
    dialog.get_by_role("textbox", name="Price in USD").fill("5")
    dialog.get_by_role("button", name="Alert me").click()
    expect(screen.problem()).to_contain_text("You have as many alerts as you may have")
    expect(screen.problem()).to_contain_text(
        "you may have at most 20 price alerts: delete one, or choose a plan with more"
    )
