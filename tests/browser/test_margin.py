"""Margin on the trading screen: an account from its first collateral to its closing, and one that is liquidated."""

import itertools
import json
import re
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from urllib.error import HTTPError

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.support.console import OPPOSITE_LOOKS, PHONE, Look
from tests.support.trading_screen import Exchange, NewWindow, Trader, TradingScreen
from tests.support.waiting import stretched, until

pytestmark = pytest.mark.proof

SYMBOL = "BTC-USD"
ALL_WIDTHS: tuple[Look, ...] = (
    ("dark", {"width": 360, "height": 800}),
    ("light", {"width": 768, "height": 1024}),
    ("dark", {"width": 1280, "height": 800}),
    ("light", {"width": 1920, "height": 1080}),
)
"""The page of a market has another arrangement at each."""
ENDED_MS = 1000 * stretched(180)
"""A liquidation tries again after growing pauses; on a machine that does much else each takes longer."""


def place(exchange: Exchange, trader: Trader, side: str, quantity: str, price: str) -> None:
    """A limit order, as soon as the router takes it: it hears of the last price after the trade."""
    order = {"symbol": SYMBOL, "side": side, "type": "limit", "quantity": quantity, "price": price}

    def is_placed() -> bool:
        try:
            exchange.call("POST", "orders", order, trader.tokens["accessToken"])
        except HTTPError as error:
            if error.code != 400:
                raise AssertionError(error.read()) from error
            return False
        return True

    until(is_placed, f"{order} is placed")


def trade_at(exchange: Exchange, seller: Trader, buyer: Trader, price: str) -> None:
    """Let the two trade a little, so that this is the price."""
    place(exchange, seller, "sell", "0.01", price)
    place(exchange, buyer, "buy", "0.01", price)


@pytest.fixture
def maker(exchange: Exchange) -> Iterator[Trader]:
    """Somebody to trade with, on a market that absorbs what is needed: four owners have traded, and quotes stand.

    Afterwards no quote is left, which another test's liquidation would sell to.
    """
    owners = [exchange.register(f"owner-{time.time_ns()}@example.com") for _ in range(4)]
    exchange.deposit(
        [(owner, asset, amount) for owner in owners for asset, amount in (("BTC", "20"), ("USD", "30000"))]
    )
    exchange.set_price(SYMBOL, "1000")
    for seller, buyer in itertools.permutations(owners, 2):
        place(exchange, seller, "sell", "1", "1000")
        place(exchange, buyer, "buy", "1", "1000")
    place(exchange, owners[0], "buy", "3", "960")
    place(exchange, owners[0], "sell", "3", "1040")
    yield owners[0]
    for owner in owners:
        exchange.call("DELETE", "orders", token=owner.tokens["accessToken"])


def wait_for_depth(exchange: Exchange, trader: Trader) -> None:
    """Wait until the margin service believes that the market absorbs more than these tests need."""

    def is_deep() -> bool:
        prices = exchange.call("GET", "margin/account", token=trader.tokens["accessToken"])["prices"]
        return any(each["asset"] == "BTC" and Decimal(each["sellable"]) >= 2 for each in prices)

    until(is_deep, "the market absorbs 2 BTC", 0.2)


def trader_with_money(exchange: Exchange, name: str, *others: tuple[str, str]) -> Trader:
    """A new user with 1,000 USD and what else is given."""
    trader = exchange.register(f"{name}@example.com")
    exchange.deposit([(trader, asset, amount) for asset, amount in (("USD", "1000"), *others)])
    return trader


def expect_level(screen: TradingScreen, words: str) -> None:
    """Wait until the margin level is described in words that end like these."""
    meter = screen.page.get_by_role("meter", name="Margin level")
    expect(meter).to_have_attribute("aria-valuetext", re.compile(f"{words}$"))


def move(screen: TradingScreen, direction: str, asset: str, amount: str) -> Locator:
    """Fill in the movement of collateral; returns its button."""
    screen.page.get_by_role("button", name=f"Move {direction}", exact=True).click()
    dialog = screen.dialog("Move collateral")
    if dialog.get_by_role("combobox", name="Asset").input_value() != asset:
        screen.choose("Asset", asset, dialog)
    field = dialog.get_by_role("textbox", name="Amount")
    if amount == "all":
        dialog.get_by_role("button", name="Max, 100 % of what can be moved").click()
    else:
        field.fill(amount)
    return dialog.get_by_role("button", name=f"Move it {direction}")


def dismiss(screen: TradingScreen, title: str) -> None:
    """Take a message away, so that it hides nothing."""
    screen.toast(title).get_by_role("button", name="Dismiss").click()
    expect(screen.toast(title)).to_have_count(0)


def fill_form(screen: TradingScreen, side: str, leverage: str, quantity: str) -> Locator:
    """Fill in the form that opens a position; returns its button."""
    form = screen.page.get_by_role("form", name="Open a position")
    screen.segment("Side", side)
    form.get_by_role("textbox", name="Leverage").fill(leverage)
    form.get_by_role("textbox", name="Quantity").fill(quantity)
    return form.get_by_role("button", name="Open a ")


def tab_to(target: Locator) -> None:
    """Press Tab until this element has the keyboard."""
    for _ in range(60):
        if target.evaluate("element => element === document.activeElement"):
            return
        target.page.keyboard.press("Tab")
    raise AssertionError(f"{target} is not reached with Tab")


def figure_of(part: Locator, name: str) -> Locator:
    """A figure of what an opening would do."""
    return part.locator("dl > div").filter(has=part.page.get_by_text(name, exact=True)).locator("dd")


def chart_saying(screen: TradingScreen, words: str) -> Locator:
    """The chart of a market, whose description has `words`."""
    return screen.page.get_by_role("group", name=re.compile(f"^Candles of .*{words}"))


def first_one_lost(screen: TradingScreen, path: str) -> list[Any]:
    """Let nobody know what became of the first request to `path`, which does not arrive. Returns what is asked for."""
    screen.expect_complaint("status of 504")
    asked: list[Any] = []

    def lose(route: Route) -> None:
        asked.append(route.request.post_data_json)
        if len(asked) > 1:
            route.continue_()
            return
        body = {"message": "nobody knows yet what became of the request", "code": "MARGIN_STATUS_UNKNOWN"}
        route.fulfill(status=504, json=body, headers={"Access-Control-Allow-Origin": "*"})

    screen.page.route(path, lose)
    return asked


def test_a_market_that_was_listed_later_is_traded_with_ones_own_funds_alone(
    new_window: NewWindow, exchange: Exchange, market: str
) -> None:
    coin = market.split("-")[0]
    trader = trader_with_money(exchange, "listed-later", (coin, "5"))
    screen = new_window(trader)
    page = screen.page
    choice = page.get_by_role("radiogroup", name="Trade with")
    screen.go(f"/{SYMBOL}", SYMBOL)
    expect(choice).to_be_visible()
    # Also where this browser has kept the mode from a time when the market had it.
    page.evaluate("kept => localStorage.setItem('openspot.trade.margin', kept)", json.dumps([market]))
    screen.go(f"/{market}", market)
    expect(page.get_by_role("form", name="Order form")).to_be_visible()
    expect(choice).to_have_count(0)
    screen.look_over("a market that is not on margin", OPPOSITE_LOOKS)

    # Neither is its coin collateral.
    screen.go("/margin", "Margin")
    page.get_by_role("button", name="Move collateral in and open the account").click()
    dialog = screen.dialog("Open a margin account")
    expect(dialog.get_by_role("combobox", name="Asset")).to_have_value("USD")
    dialog.get_by_role("button", name="Cancel").click()
    position = {"symbol": market, "side": "buy", "quantity": "1", "leverage": "2"}
    with pytest.raises(HTTPError) as refused:
        exchange.call("POST", "margin/positions", position, trader.tokens["accessToken"])
    assert f"symbol is not offered on margin: {market} was listed later" in refused.value.read().decode()


def test_a_long_is_opened_and_half_closed_on_the_page_of_its_market(
    new_window: NewWindow, exchange: Exchange, maker: Trader
) -> None:
    trader = trader_with_money(exchange, "on-screen")
    # Little, so that the pool can be emptied for others who borrow as much.
    exchange.deposit([], house={"house:lending": ("USD", "650")})
    trade_at(exchange, maker, trader, "1000")
    screen = new_window(trader)
    page = screen.page
    screen.go(f"/{SYMBOL}", SYMBOL)
    # By keyboard, which goes on in the choice of the form that appears.
    page.get_by_role("radio", name="Spot").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radiogroup", name="Trade with").get_by_role("radio", name="Margin")).to_be_focused()
    expect(page.get_by_text("You have no margin account yet")).to_be_visible()
    screen.look_over("margin mode without an account", OPPOSITE_LOOKS)
    page.get_by_role("link", name="Open a margin account").click()
    expect(screen.heading("Margin")).to_be_visible()

    token = trader.tokens["accessToken"]
    exchange.call("POST", "margin/transfers", {"asset": "USD", "amount": "400", "direction": "in"}, token)
    wait_for_depth(exchange, trader)
    # The market is in margin mode still.
    screen.go(f"/{SYMBOL}", SYMBOL)
    form = page.get_by_role("form", name="Open a position")
    expect(figure_of(form, "Margin available")).to_have_text("400.00 USD")
    page.keyboard.press("s")
    expect(form.get_by_role("button", name="Open a short")).to_be_visible()
    # The whole order without a pointer.
    page.keyboard.press("b")
    opening = form.get_by_role("button", name="Open a long")
    expect(opening).to_be_visible()
    for name, text in {"Leverage": "4", "Quantity": "0.8"}.items():
        tab_to(form.get_by_role("textbox", name=name))
        page.keyboard.press("Control+a")
        page.keyboard.type(text)
    # What is paid and what is borrowed are the worth; 200 USD and 0.8 BTC are liquidated at a debt of 600.
    for name, figure in {
        "Worth, about": "800.00 USD",
        "Paid from your own USD": "200.00 USD",
        "Borrowed, about": "600 USD",
        "Maintenance margin": "30.00 USD",
        "Liquidated near": "537.50 USD",
    }.items():
        expect(figure_of(form, name)).to_have_text(figure)
    expect(chart_saying(screen, "Liquidation")).to_have_count(0)
    place(exchange, maker, "sell", "0.8", "1000")
    tab_to(opening)
    page.keyboard.press("Enter")
    dialog = screen.dialog(f"Open a long of {SYMBOL}?")
    tab_to(dialog.get_by_role("button", name="Open a long"))
    asked = first_one_lost(screen, "**/margin/positions")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("Nobody knows yet what became of it")
    # Another dialog for the same position asks for it as the same one.
    dialog.get_by_role("button", name="Cancel").click()
    opening.click()
    dialog.get_by_role("button", name="Ask again what became of it").click()
    dismiss(screen, f"Long of {SYMBOL} opened")
    assert len(asked) == 2
    assert asked[0] == asked[1]
    assert asked[0]["requestId"]
    expect(chart_saying(screen, r"Long entry: 1,000\..* Liquidation: 5[34]\d")).to_be_visible()

    screen.tab("Positions")
    position = screen.row("Open positions", SYMBOL)
    for text in ("Long", "0.8 BTC", "4 ×", "1,000", "200.00 USD"):
        expect(position).to_contain_text(text)
    screen.look_over("a position on the page of its market", ALL_WIDTHS)
    place(exchange, maker, "buy", "0.4", "1000")
    screen.act(f"the long of {SYMBOL}", "Close the position…")
    dialog = screen.dialog(f"Close the long of {SYMBOL}?")
    screen.segment("How much", "A part")
    part = dialog.get_by_role("button", name="Close this part")
    expect(part).to_have_accessible_description("To go on, enter a quantity.")
    dialog.get_by_role("button", name="50 % of the position").click()
    expect(dialog.get_by_role("textbox", name="Quantity")).to_have_value("0.4")
    screen.assert_accessible("closing a part")
    part.click()
    dismiss(screen, "A part of the position is closed")
    expect(position).to_contain_text("0.4 BTC")
    # What the part brought has repaid two thirds of the loan.
    expect(chart_saying(screen, r"Long entry: 1,000\..* Liquidation: [1-9]\d\.")).to_be_visible()

    page.get_by_role("checkbox", name="Reduce only").check()
    reducing = page.get_by_role("form", name="Reduce positions")
    screen.segment("Side", "Buy, closes shorts")
    expect(reducing.get_by_role("status")).to_have_text(f"You have no open short of {SYMBOL}.")
    screen.segment("Side", "Sell, closes longs")
    expect(figure_of(reducing, "Open longs")).to_have_text("0.4 BTC")
    quantity = reducing.get_by_role("textbox", name="Quantity")
    quantity.fill("0.399995")
    expect(quantity).to_have_accessible_description(re.compile("close all of it, or leave at least"))
    # More than is open closes it, and opens no short.
    quantity.fill("2")
    expect(figure_of(reducing, "Stays open")).to_have_text("0 BTC")
    quantity.fill("0.3")
    expect(figure_of(reducing, "Stays open")).to_have_text("0.1 BTC")
    screen.assert_accessible("reduce-only")
    place(exchange, maker, "buy", "0.3", "1000")
    reducing.get_by_role("button", name="Reduce the longs").click()
    dialog = screen.dialog(f"Reduce the longs of {SYMBOL}?")
    screen.assert_accessible("reducing positions")
    dialog.get_by_role("button", name="Reduce the longs").click()
    dismiss(screen, "Positions reduced")
    expect(position).to_contain_text("0.1 BTC")
    # What was repaid is lent again, so that the pool is empty for others.
    exchange.call("POST", "margin/loans", {"asset": "USD", "amount": "600"}, token)

    screen.tab("Balances")
    expect(screen.row("Margin balances", "BTC")).to_contain_text("0.1")
    screen.segment("Trade with", "Spot")
    expect(page.get_by_role("form", name="Order form")).to_be_visible()
    expect(chart_saying(screen, "Liquidation")).to_have_count(0)
    expect(page.get_by_role("table", name="Margin balances")).to_have_count(0)


def test_an_account_from_its_first_collateral_to_its_closing(
    new_window: NewWindow, exchange: Exchange, maker: Trader
) -> None:
    trader = trader_with_money(exchange, "margin")
    trade_at(exchange, maker, trader, "1000")
    screen = new_window(trader)
    # The browser reports each refused request by itself. To have no account is no refusal.
    screen.expect_complaint("status of (409|504)")
    page = screen.page
    screen.go("/margin", "Margin")
    expect(page.get_by_text("You have no margin account yet")).to_be_visible()
    expect(page.get_by_text("You can lose everything that you move in")).to_be_visible()
    screen.look_over("no margin account")

    page.get_by_role("button", name="Move collateral in and open the account").click()
    # A trade cost 10 USD and a fee of 25 basis points; cents alone can be moved in.
    dialog = screen.dialog("Open a margin account")
    submit = dialog.get_by_role("button", name="Move it in")
    expect(submit).to_have_accessible_description("To go on, choose an asset.")
    expect(dialog.locator(":focus")).to_have_count(1)
    screen.choose("Asset", "USD", dialog)
    dialog.get_by_role("textbox", name="Amount").fill("5000")
    expect(submit).to_have_accessible_description("To go on, lower the amount: 989.97 USD can be moved in.")
    dialog.get_by_role("textbox", name="Amount").fill("0.001")
    expect(submit).to_have_accessible_description("To go on, write at most 2 digits after the point.")
    dialog.get_by_role("textbox", name="Amount").fill("400")
    expect(dialog.get_by_role("row", name="Free in the wallet")).to_contain_text("589.9750 USD")
    screen.assert_accessible("the first collateral")
    submit.click()
    dismiss(screen, "Collateral moved in")
    expect_level(screen, "No debt: Safe")
    expect(screen.row("Margin balances", "USD")).to_contain_text("400")
    expect(page.get_by_text("No open positions")).to_be_visible()
    wait_for_depth(exchange, trader)
    closing = page.get_by_role("button", name="Close the account…")
    expect(closing).to_have_accessible_description("Only an empty account can be closed: it holds USD.")
    screen.look_over("an account with collateral")

    opening = fill_form(screen, "Buy, long", "4", "20")
    expect(opening).to_have_accessible_description(
        "It needs 5,000.00 USD of margin, and 400.00 USD is available. Lower the quantity, or move collateral in."
    )
    leverage = page.get_by_role("textbox", name="Leverage")
    leverage.press("ArrowUp")
    expect(leverage).to_have_value("5")
    leverage.fill("11")
    expect(page.get_by_text("The leverage is a number from 1 to 10.")).to_be_visible()
    screen.assert_accessible("faults of an opening")
    page.get_by_role("button", name="2 ×", exact=True).click()
    page.get_by_role("button", name="Max, 100 % of what your margin carries").click()
    expect(page.get_by_role("textbox", name="Quantity")).to_have_value("0.8")
    fill_form(screen, "Buy, long", "4", "0.8").click()
    # Nobody has lent anything yet.
    dialog = screen.dialog(f"Open a long of {SYMBOL}?")
    dialog.get_by_role("button", name="Open a long").click()
    expect(dialog.get_by_role("alert")).to_contain_text("The lending pool is empty")
    screen.look_over("an empty pool", OPPOSITE_LOOKS)
    dialog.get_by_role("button", name="Cancel", exact=True).click()
    screen.segment("Shown", "Past")
    expect(screen.row("Past positions", SYMBOL)).to_contain_text("the lending pool was empty")
    screen.segment("Shown", "Open")

    exchange.deposit([], house={"house:lending": ("USD", "5000")})
    place(exchange, maker, "sell", "0.8", "1000")
    opening.click()
    expect(figure_of(dialog, "Your margin for it")).to_have_text("200.00 USD")
    dialog.get_by_role("button", name="Open a long").click()
    dismiss(screen, f"Long of {SYMBOL} opened")
    position = screen.row("Open positions", SYMBOL)
    for text in ("Long", "0.8 BTC", "4 ×", "1,000", "200.00 USD"):
        expect(position).to_contain_text(text)
    expect_level(screen, "%: Safe")
    screen.look_over("an open position")

    # 200 USD and 0.8 BTC at 850 for a debt of about 602.
    exchange.set_price(SYMBOL, "850")
    expect_level(screen, "%: Warning")
    expect(page.get_by_text("Move collateral in, close a position or repay a loan.")).to_be_visible()
    expect(position).to_contain_text("−120.00 USD")
    screen.look_over("a warning")
    out = move(screen, "out", "USD", "1")
    expect(out).to_have_accessible_description("To go on, lower the amount: 0 USD can be moved out.")
    page.keyboard.press("Escape")

    collateral_of_an_unknown_outcome(screen)
    exchange.set_price(SYMBOL, "1000")
    place(exchange, maker, "buy", "0.8", "1000")
    screen.act(f"the long of {SYMBOL}", "Close the position…")
    dialog = screen.dialog(f"Close the long of {SYMBOL}?")
    screen.assert_accessible("closing a position")
    dialog.get_by_role("button", name="Close the position").click()
    dismiss(screen, "Position closed")
    expect(page.get_by_text("No open positions")).to_be_visible()
    screen.segment("Shown", "Past")
    expect(screen.row("Past positions", "Closed")).to_have_count(1)
    screen.assert_accessible("past positions")

    loan_without_a_position(screen)
    move(screen, "out", "USD", "all").click()
    dismiss(screen, "Collateral moved out")
    expect(page.get_by_text("Nothing is in the account")).to_be_visible()
    expect(closing).to_have_accessible_description(
        "It is empty, so it can be closed. You can open another one at any time."
    )
    closing.click()
    screen.dialog("Close your margin account?").get_by_role("button", name="Close the account").click()
    expect(screen.toast("Margin account closed")).to_be_visible()
    expect(page.get_by_text("You have no margin account yet")).to_be_visible()


def collateral_of_an_unknown_outcome(screen: TradingScreen) -> None:
    """Move collateral in; the response is lost, and the request repeated as the same one."""
    page = screen.page
    asked: list[Any] = []

    def lose(route: Route) -> None:
        asked.append(route.request.post_data_json)
        response = route.fetch()
        if len(asked) > 1:
            route.fulfill(response=response)
            return
        body = {"message": "nobody knows yet what became of the request", "code": "MARGIN_STATUS_UNKNOWN"}
        route.fulfill(response=response, status=504, body=json.dumps(body))

    page.route("**/margin/transfers", lose)
    move(screen, "in", "USD", "60").click()
    dialog = screen.dialog("Move collateral")
    expect(dialog.get_by_role("alert")).to_contain_text("Nobody knows yet what became of it")
    expect(dialog.get_by_role("textbox", name="Amount")).to_be_disabled()
    screen.assert_accessible("an unknown outcome")
    # The dialog is closed and opened again: it goes on with the request, and sends no second one.
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Move in", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("Nobody knows yet what became of it")
    expect(dialog.get_by_role("textbox", name="Amount")).to_have_value("60")
    dialog.get_by_role("button", name="Ask again what became of it").click()
    dismiss(screen, "Collateral moved in")
    page.unroute_all(behavior="ignoreErrors")
    assert len(asked) == 2
    assert asked[0] == asked[1]
    assert asked[0]["requestId"]


def loan_without_a_position(screen: TradingScreen) -> None:
    """Borrow, repay a part, and repay the rest."""
    page = screen.page
    screen.tab("Loans")
    expect(page.get_by_text("No loans")).to_be_visible()
    page.get_by_role("button", name="Borrow", exact=True).click()
    dialog = screen.dialog("Borrow")
    submit = dialog.get_by_role("button", name="Borrow it")
    screen.choose("Asset", "USD", dialog)
    dialog.get_by_role("textbox", name="Amount").fill("90000")
    expect(submit).to_have_accessible_description(re.compile("lower the amount: you can borrow 4,[45].* USD"))
    dialog.get_by_role("textbox", name="Amount").fill("100")
    screen.assert_accessible("borrowing")
    submit.click()
    dismiss(screen, "Borrowed")
    loan = screen.row("Running loans", "100.00 USD")
    for text in ("10 %", "Running"):
        expect(loan).to_contain_text(text)
    screen.look_over("a running loan", OPPOSITE_LOOKS)
    screen.act("the loan of 100.00 USD", "Repay…")
    dialog = screen.dialog("Repay the loan of 100.00 USD")
    screen.segment("How much", "A part")
    dialog.get_by_role("textbox", name="Amount").fill("40")
    screen.assert_accessible("repaying a part")
    dialog.get_by_role("button", name="Repay this part").click()
    dismiss(screen, "A part is repaid")
    expect(loan).to_contain_text("60.")
    screen.act("the loan of 100.00 USD", "Repay…")
    dialog.get_by_role("button", name="Repay all of it").click()
    dismiss(screen, "Loan repaid")
    expect(page.get_by_text("No loans")).to_be_visible()
    screen.segment("Shown", "Ended")
    expect(screen.row("Ended loans", "100.00 USD", "Repaid")).to_be_visible()


def test_the_sheet_of_a_phone_closes_once_a_position_is_opened_or_made_smaller(
    new_window: NewWindow, exchange: Exchange, maker: Trader
) -> None:
    trader = trader_with_money(exchange, "margin-phone")
    exchange.deposit([], house={"house:lending": ("USD", "1000")})
    trade_at(exchange, maker, trader, "1000")
    token = trader.tokens["accessToken"]
    exchange.call("POST", "margin/transfers", {"asset": "USD", "amount": "400", "direction": "in"}, token)
    wait_for_depth(exchange, trader)
    screen = new_window(trader, viewport=PHONE)
    page = screen.page
    screen.go(f"/{SYMBOL}", SYMBOL)
    screen.show_order_form()
    sheet = screen.dialog("Order form")
    screen.segment("Trade with", "Margin")
    place(exchange, maker, "sell", "0.2", "1000")
    fill_form(screen, "Buy, long", "2", "0.2").click()
    screen.dialog(f"Open a long of {SYMBOL}?").get_by_role("button", name="Open a long").click()
    expect(screen.toast(f"Long of {SYMBOL} opened")).to_be_visible()
    expect(sheet).to_have_count(0)

    page.get_by_role("button", name="Open the form to sell").click()
    sheet.get_by_role("checkbox", name="Reduce only").check()
    sheet.get_by_role("textbox", name="Quantity").fill("0.1")
    place(exchange, maker, "buy", "0.1", "1000")
    sheet.get_by_role("button", name="Reduce the longs").click()
    screen.dialog(f"Reduce the longs of {SYMBOL}?").get_by_role("button", name="Reduce the longs").click()
    expect(screen.toast("Positions reduced")).to_be_visible()
    expect(sheet).to_have_count(0)


def test_a_liquidation_is_seen_from_its_beginning_to_its_end(
    new_window: NewWindow, exchange: Exchange, maker: Trader
) -> None:
    trader = trader_with_money(exchange, "unlucky")
    house = {"house:lending": ("USD", "1000"), "house:insurance": ("USD", "500")}
    exchange.deposit([], house=house)
    trade_at(exchange, maker, trader, "1000")
    place(exchange, maker, "sell", "0.3", "1000")
    token = trader.tokens["accessToken"]
    exchange.call("POST", "margin/transfers", {"asset": "USD", "amount": "50", "direction": "in"}, token)
    wait_for_depth(exchange, trader)
    position = {"symbol": SYMBOL, "side": "buy", "quantity": "0.3", "leverage": "10"}
    exchange.call("POST", "margin/positions", position, token)
    screen = new_window(trader)
    page = screen.page
    screen.go("/margin", "Margin")
    expect_level(screen, "%: Warning")

    # 20 USD and 0.3 BTC at 850 for a debt of 270, and nobody who buys: those who quoted withdraw.
    exchange.call("DELETE", "orders", token=maker.tokens["accessToken"])
    exchange.set_price(SYMBOL, "850")
    expect_level(screen, "%: Liquidation")
    notice = page.get_by_role("note").filter(has_text="Your account is being liquidated.")
    expect(notice).to_be_visible()
    expect(screen.row("Open positions", "Being liquidated")).to_be_visible()
    opening = fill_form(screen, "Buy, long", "2", "0.01")
    expect(opening).to_have_accessible_description("Your account is being liquidated.")
    expect(page.get_by_role("button", name="Move out", exact=True)).to_be_disabled()
    screen.look_over("a liquidation", OPPOSITE_LOOKS)

    place(exchange, maker, "buy", "0.4", "850")
    expect(notice).to_be_hidden(timeout=ENDED_MS)
    screen.segment("Shown", "Past")
    expect(screen.row("Past positions", "Liquidated")).to_be_visible()
    expect_level(screen, "No debt: Safe")


def test_a_margin_service_that_is_away_is_told_and_tried_again(new_window: NewWindow, exchange: Exchange) -> None:
    trader = trader_with_money(exchange, "patient")
    screen = new_window(trader)
    screen.expect_complaint("status of 503")
    page = screen.page
    body = json.dumps({"message": "the margin service does not respond now", "code": "SERVICE_UNAVAILABLE"})

    def away(route: Route) -> None:
        headers = {"Access-Control-Allow-Origin": "*", "Content-Type": "application/json"}
        route.fulfill(status=503, body=body, headers=headers)

    page.route("**/margin/account", away)
    screen.stop_polling()
    screen.go("/margin", "Margin")
    expect(screen.problem()).to_contain_text("Margin trading does not respond now")
    screen.look_over("no margin service", OPPOSITE_LOOKS)
    page.unroute("**/margin/account", away)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("You have no margin account yet")).to_be_visible()

    token = trader.tokens["accessToken"]
    exchange.call("POST", "margin/transfers", {"asset": "USD", "amount": "10", "direction": "in"}, token)
    page.reload()
    expect_level(screen, "No debt: Safe")
    page.route("**/margin/account", away)
    page.get_by_role("button", name="Refresh").first.click()
    expect(page.get_by_text("Shown as of").first).to_be_visible()
    screen.look_over("figures of a service that went away", OPPOSITE_LOOKS)
    page.unroute("**/margin/account", away)
    page.get_by_role("button", name="Refresh").first.click()
    expect(page.get_by_text("Shown as of")).to_have_count(0)
