"""The trading screen: registration, login, two users who trade."""

import re
import secrets
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pyotp
import pytest
from playwright.sync_api import Error, Route, expect

from tests.support.operator import Operator
from tests.support.trading_screen import PASSWORD, Exchange, NewWindow

SYMBOL = "ETH-USD"


def test_a_visitor_registers_confirms_the_address_and_logs_out(new_window: NewWindow, exchange: Exchange) -> None:
    screen = new_window()
    page = screen.page
    screen.go(f"/{SYMBOL}", SYMBOL)
    screen.assert_accessible("a visitor's market")
    page.get_by_role("link", name="Register").click()
    create = page.get_by_role("button", name="Create the account")
    page.get_by_role("textbox", name="Email").fill("nobody")
    page.get_by_role("textbox", name="Password", exact=True).fill("short")
    create.click()
    expect(page.get_by_text("An email address looks like name@example.com.")).to_be_visible()
    expect(page.get_by_text("10 to 128 characters are needed.")).to_be_visible()
    expect(page.get_by_role("textbox", name="Email")).to_have_attribute("aria-invalid", "true")
    screen.assert_accessible("faults of a registration")
    page.get_by_role("textbox", name="Email").fill("visitor@example.com")
    page.get_by_role("textbox", name="Password", exact=True).fill(PASSWORD)
    page.get_by_role("textbox", name="Password again").fill(PASSWORD)
    create.click()
    # Back on the market that the visitor came from.
    expect(screen.heading(SYMBOL)).to_be_visible()
    expect(page.get_by_text("No open orders")).to_be_visible()
    for tab, text in (("History", "No orders have ended yet"), ("Fills", "No fills yet"), ("Balances", "No funds yet")):
        screen.tab(tab)
        expect(page.get_by_text(text)).to_be_visible()
    screen.assert_accessible("a new user's market")

    token = exchange.mail_token("visitor@example.com", "Confirm your email address")
    page.goto(f"{screen.url}/trade/verify-email#token={token}")
    page.get_by_role("button", name="Confirm").click()
    expect(screen.heading("Your address is confirmed")).to_be_visible()
    page.get_by_role("link", name="Go to the markets").click()
    page.get_by_role("button", name="Account of visitor@example.com").click()
    # What the page reads at this moment may reach the edge after the session has ended.
    screen.expect_complaint("status of 401")
    page.get_by_role("menuitem", name="Log out").click()
    expect(page.get_by_role("link", name="Log in to trade")).to_be_visible()
    assert page.evaluate("localStorage.getItem('openspot.trade.session')") is None


@pytest.mark.proof
def test_a_logout_while_the_markets_are_read_leaves_them_to_be_shown(new_window: NewWindow, exchange: Exchange) -> None:
    trader = exchange.register("hasty@example.com")
    screen = new_window(trader)
    page = screen.page
    held: list[Route] = []
    page.route(re.compile("/api/v1/markets$"), lambda route: held.append(route))
    page.goto(f"{screen.url}/trade/account/profile")
    with page.expect_request(re.compile("/api/v1/markets$")):
        page.get_by_role("link", name="Trade", exact=True).click()
    page.get_by_role("button", name=f"Account of {trader.email}").click()
    screen.expect_complaint("status of 401")
    page.get_by_role("menuitem", name="Log out").click()
    expect(page.get_by_role("link", name="Register")).to_be_visible()
    for route in held:
        # One that the page has given up cannot be continued.
        with suppress(Error):
            route.continue_()
    page.unroute_all(behavior="ignoreErrors")
    expect(page.get_by_role("link", name="Log in to trade")).to_be_visible()


def test_a_login_takes_the_right_password_and_the_second_factor(new_window: NewWindow, exchange: Exchange) -> None:
    trader = exchange.register("careful@example.com")
    access = trader.tokens["accessToken"]
    secret = exchange.call("POST", "users/me/mfa/setup", {"password": PASSWORD}, access)["secret"]
    enabled = exchange.call("POST", "users/me/mfa/enable", {"code": pyotp.TOTP(secret).now()}, access)
    screen = new_window()
    # The browser reports each refused request by itself.
    screen.expect_complaint("status of 40[01]")
    page = screen.page
    screen.go(f"/login?next=/{SYMBOL}", "Log in")
    page.get_by_role("textbox", name="Email").fill(trader.email)
    page.get_by_role("textbox", name="Password").fill("not the password")
    page.get_by_role("button", name="Log in").click()
    expect(screen.problem()).to_contain_text("Check the email address and the password")
    screen.assert_accessible("a wrong password")
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(screen.heading("Enter your code")).to_be_visible()
    page.get_by_role("textbox", name="Code").fill("000000")
    page.get_by_role("button", name="Log in").click()
    expect(screen.problem()).to_contain_text("The code is wrong")
    screen.assert_accessible("a wrong code")
    page.get_by_role("textbox", name="Code").fill(enabled["recoveryCodes"][0])
    page.get_by_role("button", name="Log in").click()
    expect(screen.heading(SYMBOL)).to_be_visible()
    expect(page.get_by_role("button", name=f"Account of {trader.email}")).to_be_visible()


def test_two_users_trade_in_two_windows(new_window: NewWindow, exchange: Exchange) -> None:
    seller, buyer = exchange.register("seller@example.com"), exchange.register("buyer@example.com")
    exchange.deposit([(seller, "ETH", "10"), (buyer, "USD", "10000")])
    left, right = new_window(seller), new_window(buyer)
    for screen in (left, right):
        screen.go(f"/{SYMBOL}", SYMBOL)
        expect(screen.link("Live")).to_be_visible()

    submit = left.page.get_by_role("button", name="Sell ETH, limit")
    left.fill_order("Sell", "Limit", "3", "2000")
    expect(left.page.get_by_text("10 ETH", exact=True)).to_be_visible()
    left.page.get_by_role("textbox", name="Amount").fill("11")
    expect(submit).to_be_disabled()
    expect(submit).to_have_accessible_description("Not enough ETH: the order needs 11, 10 is free.")
    left.page.get_by_role("textbox", name="Amount").fill("3")
    submit.click()
    expect(left.toast("Sell: Order placed")).to_be_visible()
    expect(left.row("Open orders", "Sell", "2,000")).to_be_visible()

    # The other window shows the new level at once; a click on it fills in the price.
    asks = right.page.get_by_role("list", name="Asks").get_by_role("button")
    expect(asks).to_have_count(1)
    asks.first.click()
    expect(right.page.get_by_role("textbox", name="Price")).to_have_value("2000")
    right.page.get_by_role("textbox", name="Amount").fill("1")
    right.page.get_by_role("button", name="Buy ETH, limit").click()
    expect(right.toast("Buy: Filled")).to_be_visible()
    for screen in (left, right):
        expect(screen.page.get_by_role("table", name="Trades").get_by_role("row", name="2,000")).to_have_count(1)
    expect(left.row("Open orders", "Sell", "33.3 %")).to_be_visible()

    # A market order for money, with the part of the free funds that a button gives.
    right.fill_order("Buy", "Market", "")
    right.segment("Amount in", "USD")
    right.page.get_by_role("button", name="25 % of what is free").click()
    right.page.get_by_role("button", name="Buy ETH, market").click()
    expect(right.toast("Buy: Filled").or_(right.toast("Buy: Partly filled")).last).to_be_visible()
    right.tab("Fills")
    expect(right.row("Fills", "Buy", "Taker")).to_have_count(2)
    left.tab("Fills")
    expect(left.row("Fills", "Sell", "Maker")).to_have_count(2)
    left.tab("Open orders")
    right.tab("Balances")
    held = {row["asset"]: row for row in exchange.call("GET", "accounts/balances", token=buyer.tokens["accessToken"])}
    expect(right.row("Balances", f"{held['ETH']['total']} ETH")).to_be_visible()
    for screen in (left, right):
        screen.assert_accessible("a user's market")

    left.page.get_by_role("button", name="Cancel all").click()
    left.dialog("Cancel all orders?").get_by_role("button", name="Cancel 1 order").click()
    expect(left.page.get_by_text("No open orders")).to_be_visible()
    left.tab("History")
    expect(left.row("Order history", "Cancelled", "Sell")).to_be_visible()
    expect(right.page.get_by_text("The book is empty")).to_be_visible()

    # A price far from the market needs a word.
    right.fill_order("Buy", "Limit", "0.1", "1900")
    right.segment("Amount in", "ETH")
    right.page.get_by_role("textbox", name="Amount").fill("0.1")
    right.page.get_by_role("button", name="Buy ETH, limit").click()
    expect(right.toast("Buy: Order placed")).to_be_visible()
    # The word is about the best bid, and the other window hears of it by a push.
    expect(left.page.get_by_role("list", name="Bids").get_by_role("button")).to_have_count(1)
    left.fill_order("Sell", "Limit", "0.1", "1800")
    left.page.get_by_role("button", name="Sell ETH, limit").click()
    dialog = left.dialog("Sell far from the market?")
    expect(dialog.get_by_role("note")).to_contain_text("5.26 % below the best bid")
    confirm = dialog.get_by_role("button", name="Sell ETH, limit")
    expect(confirm).to_be_disabled()
    left.assert_accessible("an order far from the market")
    dialog.get_by_role("textbox").fill(SYMBOL)
    confirm.click()
    expect(left.toast("Sell: Filled")).to_be_visible()


@pytest.mark.proof
def test_a_session_that_ended_elsewhere_leads_to_the_login_and_back(new_window: NewWindow, exchange: Exchange) -> None:
    trader = exchange.register("guest@example.com")
    screen = new_window(trader)
    screen.expect_complaint("status of 401")
    page = screen.page
    screen.go(f"/{SYMBOL}", SYMBOL)
    expect(page.get_by_text("No open orders")).to_be_visible()
    exchange.call("POST", "auth/logout", token=trader.tokens["accessToken"])
    # The edge closes the stream; the page finds that its session cannot be renewed.
    notice = screen.problem().filter(has_text="Your session has ended")
    expect(notice).to_be_visible()
    notice.get_by_role("link", name="Log in again").click()
    expect(page.get_by_text("the page that you were on opens afterwards")).to_be_visible()
    page.get_by_role("textbox", name="Email").fill(trader.email)
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(screen.heading(SYMBOL)).to_be_visible()
    expect(page.get_by_text("No open orders")).to_be_visible()


@pytest.mark.proof
@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 390), ("light", 1440)])
def test_a_market_fits_and_can_be_read(new_window: NewWindow, market: str, scheme: str, width: int) -> None:
    screen = new_window(color_scheme=scheme, viewport={"width": width, "height": 844})
    page = screen.page
    screen.go(f"/{SYMBOL}", SYMBOL)
    expect(page.get_by_role("group", name=re.compile("^Candles of 15m"))).to_be_visible()
    screen.assert_fits("a market")
    page.get_by_role("button", name=f"Market {SYMBOL}, choose another").click()
    page.get_by_role("textbox", name="Search markets").fill(market.lower())
    entry = page.get_by_role("list", name="Markets").get_by_role("link")
    expect(entry).not_to_have_count(0)
    screen.assert_accessible(f"the list of markets, {scheme}")
    page.get_by_role("button", name=f"{market} is a favourite").click()
    page.get_by_role("link", name=re.compile(f"^{market} ")).click()
    expect(screen.heading(market)).to_be_visible()
    for view in ("Depth", "Figures"):
        screen.segment("Chart", view)
        expect(page.get_by_text({"Depth": "No depth to show", "Figures": "No candles yet"}[view])).to_be_visible()
    screen.assert_accessible(f"a market, {scheme}")
    screen.assert_fits("another market")


@pytest.mark.proof
def test_a_deep_book_is_two_tab_stops_and_goes_on_by_arrows(
    new_window: NewWindow, operator: Operator, market: str
) -> None:
    operator.create("deep")
    operator.fund("deep", **dict.fromkeys(market.split("-"), "100000"))
    asks = [("sell", str(101 + number), "1") for number in range(12)]
    bids = [("buy", str(99 - number), "1") for number in range(12)]
    operator.place_all("deep", asks + bids, market)
    screen = new_window()
    page = screen.page
    screen.go(f"/{market}", market)
    rows = {side: page.get_by_role("list", name=side).get_by_role("button") for side in ("Asks", "Bids")}
    for side, best in (("Asks", "101"), ("Bids", "99")):
        # So many as there is room for.
        expect(rows[side].nth(2)).to_be_visible()
        expect(rows[side].first).to_contain_text(best)
    screen.assert_accessible("a deep book")
    rows["Asks"].first.focus()
    page.keyboard.press("ArrowUp")
    expect(rows["Asks"].nth(1)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(rows["Asks"].first).to_be_focused()
    page.keyboard.press("Tab")
    expect(rows["Bids"].first).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("form", name="Order form").get_by_role("textbox", name="Price")).to_have_value("98")
    page.keyboard.press("Tab")
    expect(page.get_by_role("list", name="Bids").locator(":focus")).to_have_count(0)


def test_a_market_that_does_not_exist_says_so(new_window: NewWindow) -> None:
    screen = new_window()
    screen.go("/NO-SUCH", "NO-SUCH")
    expect(screen.problem()).to_contain_text("There is no market NO-SUCH")
    screen.go("/no/such/page", "Page not found")
    screen.assert_accessible("no such page")


@pytest.mark.proof
def test_an_account_is_deleted_once_it_is_empty(new_window: NewWindow, exchange: Exchange) -> None:
    trader = exchange.register("leaver@example.com")
    exchange.deposit([(trader, "USD", "10")])
    screen = new_window(trader)
    screen.expect_complaint("status of 40[019]")
    page = screen.page
    screen.go("/account/security", "Security")
    page.get_by_role("button", name="Delete the account").click()
    dialog = screen.dialog("Delete your account?")
    delete = dialog.get_by_role("button", name="Delete the account")
    expect(delete).to_have_accessible_description("To go on, enter your password.")
    screen.assert_accessible("deleting an account")
    dialog.get_by_role("textbox", name="Your password").fill(PASSWORD)
    dialog.get_by_role("textbox", name="Type leaver@example.com to confirm").fill("leaver@example.com")
    delete.click()
    expect(dialog.get_by_role("alert")).to_contain_text("There are balances left")
    dialog.get_by_role("button", name="Cancel", exact=True).click()

    newcomer = new_window(exchange.register("short-stay@example.com"))
    # What was being read at that moment belongs to nobody any more.
    newcomer.expect_complaint("status of 40[14]")
    newcomer.go("/account/security", "Security")
    newcomer.page.get_by_role("button", name="Delete the account").click()
    dialog = newcomer.dialog("Delete your account?")
    dialog.get_by_role("textbox", name="Your password").fill(PASSWORD)
    dialog.get_by_role("textbox", name="Type short-stay@example.com to confirm").fill("short-stay@example.com")
    dialog.get_by_role("button", name="Delete the account").click()
    expect(newcomer.page.get_by_text("Your account is deleted.")).to_be_visible()


@pytest.mark.proof
def test_an_order_that_is_sent_without_a_network_leaves_the_page_as_it_is(
    new_window: NewWindow, exchange: Exchange
) -> None:
    trader = exchange.register("on-a-train@example.com")
    exchange.deposit([(trader, "USD", "100")])
    screen = new_window(trader)
    screen.expect_complaint("ERR_INTERNET_DISCONNECTED")
    screen.go(f"/{SYMBOL}", SYMBOL)
    form = screen.page.get_by_role("form", name="Order form")
    with screen.page.expect_response(re.compile("/Refused-")):
        screen.fill_order("Buy", "Limit", "0.1", "100")
    screen.page.context.set_offline(True)
    form.get_by_role("button", name=re.compile("^Buy ETH")).click()
    expect(form.get_by_role("alert")).to_contain_text("look whether it was done")
    expect(form.get_by_role("textbox", name="Price")).to_have_value("100")
    screen.page.context.set_offline(False)


@pytest.mark.proof
def test_letters_work_after_any_click(new_window: NewWindow) -> None:
    screen = new_window()
    page = screen.page
    screen.go(f"/{SYMBOL}", SYMBOL)
    screen.segment("Order type", "Market")
    page.keyboard.press("s")
    expect(page.get_by_role("radio", name="Sell")).to_be_checked()
    screen.segment("Chart", "Depth")
    page.keyboard.press("b")
    expect(page.get_by_role("radio", name="Buy")).to_be_checked()
    # The keyboard is in the form then, and further letters work there.
    expect(page.get_by_role("radio", name="Buy")).to_be_focused()
    page.keyboard.press("l")
    expect(page.get_by_role("radio", name="Limit")).to_be_focused()
    # Where somebody types, a letter is a letter.
    page.get_by_role("textbox", name="Amount", exact=True).press("s")
    expect(page.get_by_role("radio", name="Buy")).to_be_checked()


@pytest.mark.proof
def test_a_dialog_that_closes_gives_the_focus_back(new_window: NewWindow) -> None:
    screen = new_window()
    screen.go(f"/{SYMBOL}", SYMBOL)
    opener = screen.page.get_by_role("button", name="Keyboard shortcuts")
    opener.click()
    dialog = screen.page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog).to_be_visible()
    for _ in range(3):
        screen.page.keyboard.press("Tab")
        expect(dialog.locator(":focus")).to_have_count(1)
    screen.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(opener).to_be_focused()


@pytest.mark.proof
def test_the_second_factor_is_set_up_and_switched_off(new_window: NewWindow, exchange: Exchange) -> None:
    trader = exchange.register("secure@example.com")
    screen = new_window(trader)
    screen.expect_complaint("status of 40[01]")
    page = screen.page
    screen.go("/account/security", "Security")
    page.get_by_role("button", name="Set up two-factor authentication").click()
    dialog = screen.dialog("Set up two-factor authentication")
    dialog.get_by_role("textbox", name="Your password").fill("not the password")
    dialog.get_by_role("button", name="Go on").click()
    expect(dialog.get_by_role("alert")).to_contain_text("The password is wrong")
    dialog.get_by_role("textbox", name="Your password").fill(PASSWORD)
    dialog.get_by_role("button", name="Go on").click()
    expect(dialog.get_by_role("img", name="QR code for your authenticator app")).to_be_visible()
    screen.assert_accessible("setting up two-factor authentication")
    name = dialog.get_by_role("button", name=re.compile("^Copy secret ")).get_attribute("aria-label")
    assert name is not None
    secret = name.removeprefix("Copy secret ")
    # Each step is ready for the keyboard: what had the focus has gone with the step before.
    expect(dialog.get_by_role("textbox", name="Code of the app")).to_be_focused()
    page.keyboard.type(pyotp.TOTP(secret).now())
    page.keyboard.press("Enter")
    codes = screen.dialog("Keep your recovery codes").get_by_role("list", name="Recovery codes").get_by_role("listitem")
    expect(codes).to_have_count(10)
    recovery = codes.first.inner_text()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert download.value.path().read_text().split() == codes.all_inner_texts()
    # Closed by mistake, they are not lost.
    page.keyboard.press("Escape")
    expect(page.get_by_text("The codes are never shown again.")).to_be_visible()
    expect(page.get_by_role("button", name="Back to the codes")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Copy all")).to_be_focused()
    page.keyboard.press("Enter")
    # A message would repeat the codes, and lie on the button below.
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    expect(screen.toast("Copied")).to_be_hidden()
    page.get_by_role("button", name="I have kept them").click()
    expect(page.get_by_text("10 recovery codes left")).to_be_visible()
    page.get_by_role("button", name="New recovery codes").click()
    screen.dialog("New recovery codes").get_by_role("textbox", name="Two-factor authentication code").fill(recovery)
    page.get_by_role("button", name="Make new codes").click()
    screen.assert_accessible("new recovery codes")
    recovery = codes.first.inner_text()
    page.get_by_role("button", name="I have kept them").click()
    screen.tab("Activity")
    expect(screen.row("Activity", "Two-factor authentication switched on")).to_be_visible()
    page.get_by_role("button", name="Switch it off").click()
    dialog = screen.dialog("Switch two-factor authentication off?")
    dialog.get_by_role("textbox", name="Your password").fill(PASSWORD)
    dialog.get_by_role("textbox", name="Code").fill(recovery)
    dialog.get_by_role("button", name="Switch it off").click()
    expect(page.get_by_role("button", name="Set up two-factor authentication")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    screen.assert_fits("security")
    screen.assert_accessible("security")


@pytest.mark.proof
def test_a_login_with_the_second_factor_goes_by_keyboard_and_says_what_it_does_not_repeat(
    new_window: NewWindow, exchange: Exchange
) -> None:
    trader = exchange.register("typist@example.com")
    access = trader.tokens["accessToken"]
    secret = exchange.call("POST", "users/me/mfa/setup", {"password": PASSWORD}, access)["secret"]
    codes = exchange.call("POST", "users/me/mfa/enable", {"code": pyotp.TOTP(secret).now()}, access)["recoveryCodes"]
    screen = new_window()
    screen.expect_complaint("ERR_FAILED")
    page = screen.page
    screen.go("/login?next=/wallet", "Log in")
    page.route("**/auth/login", lambda route: route.abort())
    page.get_by_role("textbox", name="Email").fill(trader.email)
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    # The button that shows what was typed is on the way of the keyboard, too.
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Show or hide what was typed")).to_be_focused()
    page.get_by_role("textbox", name="Password").press("Enter")
    expect(screen.problem()).to_contain_text("The page does not send this again by itself")
    page.unroute("**/auth/login")
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(screen.heading("Enter your code")).to_be_visible()
    expect(page.get_by_role("textbox", name="Code")).to_be_focused()
    page.keyboard.type(codes[0])
    page.keyboard.press("Enter")
    expect(screen.heading("Wallet")).to_be_visible()


@pytest.mark.proof
def test_a_page_that_cannot_be_loaded_says_so_and_leaves_the_way_to_the_others(new_window: NewWindow) -> None:
    screen = new_window()
    screen.expect_complaint("ERR_FAILED|Failed to fetch|error loading dynamically imported")
    page = screen.page
    screen.go("/status", "Status")
    # After an upgrade an open page asks for files that are no more.
    page.route("**/assets/FeesPage*", lambda route: route.abort())
    page.get_by_role("link", name="Fees").click()
    expect(screen.problem()).to_contain_text("The page failed")
    page.get_by_role("link", name="Status").click()
    expect(screen.heading("Status")).to_be_visible()
    page.unroute("**/assets/FeesPage*")
    page.get_by_role("link", name="Fees").click()
    page.get_by_role("button", name="Try again").click()
    expect(screen.heading("Fees")).to_be_visible()


@pytest.mark.proof
def test_older_trades_are_there_once_somebody_scrolls_to_them(
    new_window: NewWindow, operator: Operator, market: str
) -> None:
    base = market.partition("-")[0]
    for participant in ("older-maker", "older-taker"):
        operator.create(participant)
        operator.fund(participant, **{base: "1000", "USD": "100000"})
    quantities = [f"{number}.0001" for number in range(1, 41)]
    for quantity in quantities:
        operator.place("older-maker", "sell", "100", quantity, market)
        operator.place("older-taker", "buy", "100", quantity, market)
    screen = new_window()
    screen.go(f"/{market}", market)
    trades = screen.page.get_by_role("table", name="Trades")
    oldest, newest = (trades.get_by_role("cell", name=quantities[index], exact=True) for index in (0, -1))
    expect(newest).to_be_in_viewport()
    expect(oldest).to_have_count(0)
    # The room for the rows below is made of rows of this height.
    assert (trades.get_by_role("row").last.bounding_box() or {}).get("height") == 20
    screen.page.get_by_role("region", name="Trades, scrollable").hover()
    screen.page.mouse.wheel(0, 5000)
    expect(oldest).to_be_in_viewport()
    expect(trades.get_by_role("row")).to_have_count(len(quantities) + 1)
    screen.page.mouse.wheel(0, -5000)
    expect(newest).to_be_in_viewport()
    expect(oldest).to_have_count(0)


@pytest.mark.proof
def test_the_wallet_shows_addresses_and_converts(new_window: NewWindow, exchange: Exchange) -> None:
    maker, owner = exchange.register("maker@example.com"), exchange.register("owner@example.com")
    exchange.deposit([(maker, "SOL", "5"), (owner, "USD", "1000")], house={"house:conversions": ("SOL", "10")})
    order = {"symbol": "SOL-USD", "side": "sell", "type": "limit", "quantity": "5", "price": "200"}
    exchange.set_price("SOL-USD", "200")
    exchange.call("POST", "orders", order, maker.tokens["accessToken"])
    exchange.quoted({"fromAsset": "USD", "toAsset": "SOL", "fromAmount": "100"}, owner.tokens["accessToken"])
    screen = new_window(owner)
    page = screen.page
    screen.go("/wallet", "Wallet")
    expect(screen.row("Balances", "1,000.00 USD")).to_be_visible()
    page.get_by_role("button", name="Deposit", exact=True).click()
    screen.choose("Asset", "BTC", screen.dialog("Deposit"))
    expect(page.get_by_role("img", name="QR code of your BTC address")).to_be_visible()
    network = next(row["network"] for row in exchange.call("GET", "fees/network/all") if row["asset"] == "BTC")
    query = f"accounts/deposit-address?asset=BTC&network={network}"
    address = exchange.call("GET", query, token=owner.tokens["accessToken"])["address"]
    expect(page.get_by_role("button", name=f"Copy address {address}")).to_be_visible()
    screen.assert_accessible("a deposit")
    page.keyboard.press("Escape")

    page.get_by_role("link", name="Convert", exact=True).click()
    expect(screen.heading("Convert")).to_be_visible()
    expect(page.get_by_text("No conversions yet")).to_be_visible()
    screen.choose("To", "SOL")
    amount = page.get_by_role("textbox", name="Amount in USD")
    ask = page.get_by_role("button", name="Ask for a price")
    amount.fill("1001")
    expect(ask).to_have_accessible_description("Not enough USD: 1,000.00 is free.")
    amount.fill("100")
    ask.click()
    expect(page.get_by_role("group", name="Quote")).to_contain_text("You get")
    screen.assert_accessible("a quote")
    page.get_by_role("button", name=re.compile("^Convert .*left")).click()
    expect(screen.toast("Converted")).to_be_visible()
    expect(screen.row("Conversions", "100.00 USD", "Done")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    screen.assert_fits("conversions")
    page.get_by_role("button", name="Page: Convert, choose another").click()
    page.get_by_role("menuitem", name="Wallet").click()
    expect(screen.row("Balances", "900.00 USD")).to_be_visible()
    screen.assert_fits("the wallet")
    screen.assert_accessible("the wallet")


@pytest.mark.proof
def test_a_window_that_becomes_a_phones_keeps_what_it_shows_and_opens_the_form_as_a_sheet(
    new_window: NewWindow, exchange: Exchange
) -> None:
    trader = exchange.register(f"narrow-{secrets.token_hex(6)}@example.com")
    exchange.deposit([(trader, "USD", "1000")])
    exchange.set_price("SOL-USD", "200")
    screen = new_window(trader)
    page = screen.page
    screen.go("/SOL-USD", "SOL-USD")
    screen.tab("Balances")
    page.get_by_role("checkbox", name="Take profit, stop loss").check()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.get_by_role("tab", name="Balances")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("form", name="Order form")).to_have_count(0)
    page.get_by_role("button", name="Open the form to buy").click()
    sheet = screen.dialog("Order form")
    # Its parts are loaded for the form that is mounted anew.
    expect(sheet.get_by_role("textbox", name="Take profit at")).to_be_visible()
    sheet.get_by_role("checkbox", name="Take profit, stop loss").uncheck()
    submit = sheet.get_by_role("button", name="Buy SOL, limit")
    expect(submit).to_be_in_viewport()
    screen.assert_accessible("the order form of a phone")
    screen.assert_fits("the order form of a phone")
    sheet.get_by_role("textbox", name="Price").fill("190")
    sheet.get_by_role("textbox", name="Amount").fill("1")
    submit.click()
    expect(screen.toast("Buy: Order placed")).to_be_visible()
    expect(sheet).to_have_count(0)
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(page.get_by_role("tab", name="Balances")).to_have_attribute("aria-selected", "true")
    exchange.call("DELETE", "orders", token=trader.tokens["accessToken"])


@pytest.mark.proof
@pytest.mark.parametrize(("path", "heading", "kilobytes"), [("/login", "Log in", 170), (f"/{SYMBOL}", SYMBOL, 250)])
def test_a_first_load_is_small(
    new_window: NewWindow, exchange: Exchange, pages_folder: Path, path: str, heading: str, kilobytes: int
) -> None:
    # A book with two sides shows more than an empty one.
    maker = exchange.register(f"{secrets.token_hex(4)}@example.com")
    exchange.deposit([(maker, "ETH", "1"), (maker, "USD", "1000")])
    for side, price in (("sell", "2000"), ("buy", "1900")):
        order = {"symbol": SYMBOL, "side": side, "type": "limit", "quantity": "0.1", "price": price}
        exchange.call("POST", "orders", order, token=maker.tokens["accessToken"])
    screen = new_window()
    screen.go(path, heading)
    if path == f"/{SYMBOL}":
        expect(screen.page.get_by_role("group", name=re.compile("^Candles of"))).to_be_visible()
        expect(screen.page.get_by_role("list", name="Asks").get_by_role("button").first).to_be_visible()
    screen.page.wait_for_load_state("networkidle")
    scripts = {urlsplit(request.url).path for request in screen.requests if request.resource_type == "script"}
    assert scripts
    size = sum((pages_folder / f"{name.removeprefix('/')}.br").stat().st_size for name in scripts)
    print(f"\nfirst load of /trade{path}: {size / 1000:.1f} kB of scripts in {len(scripts)} files, brotli")
    assert size <= kilobytes * 1000
    origins = {urlsplit(request.url).hostname for request in screen.requests}
    assert origins == {"127.0.0.1"}, "a page asks no other host"
    exchange.call("DELETE", "orders", token=maker.tokens["accessToken"])
