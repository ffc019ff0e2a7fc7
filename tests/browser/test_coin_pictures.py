"""Pictures of coins: the trading pages draw what the operator named, and a sign with a letter where there is none."""

import secrets

import pytest
from playwright.sync_api import Locator, expect

from tests.support.console import OPPOSITE_LOOKS, Console
from tests.support.operator import Operator
from tests.support.trading_screen import Exchange, NewWindow
from tests.support.waiting import until

pytestmark = pytest.mark.proof


def has_picture(place: Locator) -> None:
    """Fail unless the picture is drawn, and not only asked for."""
    picture = place.locator("img[src='/brand/coins/doge']")
    expect(picture).to_be_visible()
    expect(picture).to_have_js_property("naturalWidth", 20)


def has_letter(place: Locator, letter: str) -> None:
    sign = place.locator(f"[data-letter={letter}]")
    expect(sign).to_be_visible()
    assert sign.evaluate("element => getComputedStyle(element, '::before').content") == f'"{letter}"'


def test_traders_see_a_coins_picture_wherever_its_name_is_and_no_script_of_it_runs(
    new_window: NewWindow, exchange: Exchange, operator: Operator, market: str
) -> None:
    coin = market.split("-")[0]
    operator.admin("PATCH", f"/currencies/{coin}", {"logo": "doge"})
    trader = exchange.register(f"{secrets.token_hex(6)}@example.com")
    exchange.deposit([(trader, coin, "2"), (trader, "USD", "10")])
    screen = new_window(trader)
    page = screen.page

    def is_known() -> bool:
        return [row["logo"] for row in exchange.call("GET", "markets") if row["symbol"] == market] == ["doge"]

    until(is_known, "the REST edge knows the logo")
    screen.go("/markets", "Markets")
    has_picture(screen.row("Markets", market))
    has_letter(screen.row("Markets", "ETH-USD").first, "E")
    screen.go("/wallet", "Wallet")
    has_picture(screen.row("Balances", coin))
    has_letter(screen.page.get_by_role("table", name="Balances"), "U")
    screen.look_over("a wallet with pictures", OPPOSITE_LOOKS)
    screen.go(f"/{market}", market)
    chooser = page.get_by_role("button", name=f"Market {market}, choose another")
    has_picture(chooser)
    chooser.click()
    has_picture(page.get_by_role("list", name="Markets").get_by_role("listitem").filter(has_text=market))
    page.keyboard.press("Escape")

    # What the picture has beside its circle runs nowhere, also not where somebody opens it by itself.
    alone = page.context.new_page()
    alone.goto(f"{page.url.split('/trade')[0]}/brand/coins/doge")
    expect(alone.locator("circle")).to_be_visible()
    assert alone.evaluate("document.title") == ""
    alone.close()


def test_an_operator_names_a_coins_picture_and_is_told_of_one_that_is_not_there(
    console: Console, operator: Operator, market: str
) -> None:
    coin = market.split("-")[0]
    console.open("/currencies", "Currencies")
    console.act(coin, "Change…")
    dialog = console.dialog(f"Change {coin}")
    dialog.get_by_role("textbox", name="Logo").fill("pepe")
    dialog.get_by_role("textbox", name="Reason").fill("it has a new face")
    console.expect_complaint("400")
    dialog.get_by_role("button", name="Change the currency").click()
    expect(dialog).to_contain_text("logo must name a picture: there is no pepe.svg and no pepe.png")
    dialog.get_by_role("textbox", name="Logo").fill("doge")
    console.assert_accessible("a coin gets a logo")
    dialog.get_by_role("button", name="Change the currency").click()
    has_picture(console.row("Currencies", coin))
    (changed,) = [row for row in operator.admin("GET", "/currencies") if row["currency"] == coin]
    assert changed["logo"] == "doge"
