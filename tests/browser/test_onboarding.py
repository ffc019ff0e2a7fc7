"""What a newcomer meets: first steps that tick themselves off, and what the exchange costs and whether it works."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect

from openspot.http.brand import Brand, BrandLink, LegalText
from openspot.up.child_platform import ChildPlatform
from openspot.web_server.page_config import PageConfig
from tests.support.console import LOOKS, OPPOSITE_LOOKS, PHONE
from tests.support.trading_screen import Exchange, NewWindow

pytestmark = pytest.mark.proof

MARKET = "ETH-USD"


def test_the_first_steps_tick_themselves_off_until_nothing_is_left_or_they_are_hidden(
    new_window: NewWindow, exchange: Exchange
) -> None:
    trader = exchange.register("newcomer@example.com")
    screen = new_window(trader)
    page = screen.page
    screen.go("/wallet", "Wallet")
    steps = page.get_by_role("region", name="First steps")
    items = steps.get_by_role("listitem")
    expect(items).to_have_count(4)
    expect(steps.get_by_role("heading")).to_have_text("First steps: 0 of 4 done")
    screen.look_over("first steps", OPPOSITE_LOOKS)
    steps.get_by_role("link", name="Deposit", exact=True).click()
    expect(screen.dialog("Deposit")).to_be_visible()
    page.keyboard.press("Escape")
    expect(screen.dialog("Deposit")).to_have_count(0)
    # The same link works a second time: the dialog had left the address.
    steps.get_by_role("link", name="Deposit", exact=True).click()
    expect(screen.dialog("Deposit")).to_be_visible()
    page.keyboard.press("Escape")

    exchange.deposit([(trader, "USD", "1000")])
    page.reload()
    expect(steps.get_by_role("heading")).to_have_text("First steps: 1 of 4 done")
    expect(items.nth(2)).to_contain_text("Done")
    order = {"symbol": MARKET, "side": "buy", "type": "limit", "quantity": "1", "price": "100"}
    exchange.call("POST", "orders", order, trader.tokens["accessToken"])
    page.reload()
    expect(steps.get_by_role("heading")).to_have_text("First steps: 2 of 4 done")
    expect(items.nth(3)).to_contain_text("Done")

    steps.get_by_role("button", name="Hide first steps").click()
    expect(steps).to_have_count(0)
    page.reload()
    expect(page.get_by_role("table", name="Balances")).to_be_visible()
    expect(steps).to_have_count(0)


def test_everybody_reads_what_trading_and_withdrawing_cost(new_window: NewWindow) -> None:
    screen = new_window()
    page = screen.page
    screen.go("/login", "Log in")
    screen.go("/fees", "Fees")
    row = page.get_by_role("table", name="Trading fees").get_by_role("row").filter(has_text="ETH-BTC")
    expect(row.get_by_role("cell")).to_have_text(["ETH-BTC", "0.15 %", "0.25 %", "0.0001 BTC"])
    row = page.get_by_role("table", name="Withdrawal fees").get_by_role("row").filter(has_text="solana")
    expect(row.filter(has_text="SOL").first.get_by_role("cell")).to_have_text(["SOL", "solana", "0.01 SOL", "0.1 SOL"])
    expect(page.get_by_role("table", name="Payment fees").get_by_role("row")).not_to_have_count(1)


def test_the_status_says_what_works_and_what_does_not(new_window: NewWindow) -> None:
    screen = new_window()
    page = screen.page
    screen.go("/status", "Status")
    trading = page.get_by_role("row").filter(has_text="Placing, changing")
    expect(trading).to_contain_text("Works")
    now = 1_795_000_000_000

    def tell(route: Route) -> None:
        states = {"trading": "down", "prices": "works", "funds": "degraded"}
        functions = [{"name": name, "state": state, "since": now} for name, state in states.items()]
        route.fulfill(status=200, content_type="application/json", body=json.dumps({"at": now, "functions": functions}))

    page.route("**/status.json", tell)
    page.reload()
    expect(page.get_by_text("Down at present: Trading.")).to_be_visible()
    expect(trading).to_contain_text("Down")
    expect(page.get_by_role("row").filter(has_text="Deposits and withdrawals")).to_contain_text("Works in part")
    screen.look_over("a status with troubles", LOOKS)
    page.set_viewport_size(PHONE)
    expect(trading.get_by_text("Trading", exact=True)).to_be_visible()
    page.unroute("**/status.json")
    screen.expect_complaint("status of 502")
    page.route("**/status.json", lambda route: route.fulfill(status=502, body="gone"))
    page.reload()
    expect(page.get_by_role("alert")).to_be_visible()


def test_the_pages_are_in_the_brand_of_the_operator(
    new_window: NewWindow, platform: ChildPlatform, serve: Callable[[PageConfig], str]
) -> None:
    brand = Brand(
        name="Example Exchange",
        links=(BrandLink("Help", "https://help.example.com"),),
        colours={"light": {"filled": "#7a1fa2"}, "dark": {"filled": "#8e35b5"}},
        logo=b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2"><path d="M0 0h2v2z"/></svg>',
        legal=(LegalText("terms", "Terms of use", "Be *fair*."),),
    )
    settings = platform.settings
    url = serve(PageConfig(settings.engine_url, settings.rest_url, settings.ws_url, brand=brand))
    screen = new_window()
    page = screen.page
    page.goto(f"{url}/trade/register")
    expect(screen.heading("Create an account")).to_be_visible()
    assert page.title() == "Create an account · Example Exchange"
    button = page.get_by_role("button", name="Create the account")
    assert button.evaluate("element => getComputedStyle(element).backgroundColor") == "rgb(122, 31, 162)"
    screen.look_over("a registration in the operator's brand", OPPOSITE_LOOKS)
    page.goto(f"{url}/trade/fees")
    logo = page.get_by_role("banner").get_by_role("link", name="Example Exchange, markets").locator("img")
    assert logo.evaluate("image => image.naturalWidth") > 0
    expect(page.get_by_role("link", name="Help")).to_have_attribute("href", "https://help.example.com")
    page.get_by_role("link", name="Terms of use").click()
    expect(screen.heading("Terms of use")).to_be_visible()
    expect(page.get_by_text("Be fair.")).to_be_visible()
