"""The page of markets, favourites with and without a session, and the views of the order book."""

import re
import secrets

import pytest
from playwright.sync_api import Page, expect

from tests.support.console import OPPOSITE_LOOKS
from tests.support.operator import Operator
from tests.support.trading_screen import PASSWORD, Exchange, NewWindow, Trader
from tests.support.waiting import stretched


@pytest.fixture
def book(operator: Operator, market: str, participants: None) -> str:
    """A market with a trade at 20, bids of 2 and asks of 3."""
    operator.fund("alice", **{market.split("-")[0]: "10"})
    operator.fund("bob", USD="1000")
    operator.place("alice", "sell", "20", "1", market)
    operator.place("bob", "buy", "20", "1", market)
    operator.place("alice", "sell", "22", "3", market)
    operator.place("bob", "buy", "18", "2", market)
    return market


@pytest.fixture
def trader(exchange: Exchange) -> Trader:
    """A user of this test alone."""
    return exchange.register(f"{secrets.token_hex(6)}@example.com")


def choose_view(page: Page, name: str) -> None:
    page.get_by_role("button", name="View of the order book").click()
    page.get_by_role("menuitemradio", name=name).click()
    page.get_by_role("menuitemradio", name=name).press("Escape")
    expect(page.get_by_role("menu")).to_have_count(0)


def test_favourites_of_a_visitor_go_to_the_account_and_stay_there(
    new_window: NewWindow, exchange: Exchange, book: str, trader: Trader
) -> None:
    screen = new_window(None)
    page = screen.page
    screen.go("/markets", "Markets")
    expect(screen.row("Markets", book, "20")).to_be_visible()
    search = page.get_by_role("textbox", name="Search markets")
    search.fill(book.lower().replace("-", "/"))
    expect(page.get_by_text("1 market", exact=True)).to_be_visible()
    page.get_by_role("button", name=f"{book} is a favourite").click()
    search.fill("")
    page.get_by_role("radiogroup", name="Markets to show").get_by_text("Favourites").click()
    expect(page.get_by_text("1 market", exact=True)).to_be_visible()
    screen.look_over("favourites of a visitor", OPPOSITE_LOOKS)

    screen.go("/login?next=/markets", "Log in")
    page.get_by_role("textbox", name="Email").fill(trader.email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(screen.heading("Markets")).to_be_visible()
    star = page.get_by_role("button", name=f"{book} is a favourite")
    expect(star).to_have_attribute("aria-pressed", "true")
    with page.expect_response(re.compile("/watchlists$")):
        screen.go("/markets?show=favourites", "Markets")
    expect(page.get_by_text("1 market", exact=True)).to_be_visible()
    # The page shows them at once, and this browser forgets them when the account has them.
    page.wait_for_function("localStorage.getItem('openspot.trade.favourites') === null")
    token = trader.tokens["accessToken"]
    [kept] = exchange.call("GET", "watchlists", token=token)
    assert (kept["name"], kept["symbols"]) == ("favourites", [book])

    # In another browser it is there, and gone when it is taken out.
    other = new_window(trader)
    other.go(f"/{book}", book)
    other.page.get_by_role("button", name=f"Market {book}, choose another").click()
    other.page.get_by_role("button", name="Favourites alone").click()
    with other.page.expect_response(re.compile("/watchlists/favourites$")):
        other.page.get_by_role("button", name=f"{book} is a favourite").click()
    expect(other.page.get_by_text("No favourites yet")).to_be_visible()
    assert exchange.call("GET", "watchlists", token=token)[0]["symbols"] == []


def test_nobody_is_told_that_nothing_moved_while_the_figures_are_missing(new_window: NewWindow, book: str) -> None:
    screen = new_window(None)
    page = screen.page
    screen.expect_complaint("status of 503")
    headers = {"access-control-allow-origin": "*"}
    page.route("**/markets/tickers", lambda route: route.fulfill(status=503, headers=headers, body="{}"))
    screen.go("/markets", "Markets")
    expect(page.get_by_role("row").filter(has_text=book)).to_be_visible()
    expect(page.get_by_role("heading", name="Gainers")).to_be_visible()
    expect(page.get_by_text("None in the last 24 hours.")).to_have_count(0)


def test_the_keyboard_finds_a_market_and_a_trade_changes_its_price(
    new_window: NewWindow, operator: Operator, book: str
) -> None:
    screen = new_window(None)
    page = screen.page
    screen.go("/markets", "Markets")
    expect(screen.row("Markets", book, "20")).to_be_visible()
    operator.place("alice", "sell", "19", "1", book)
    operator.place("bob", "buy", "19", "1", book)
    expect(screen.row("Markets", book, "19")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type(book)
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("table", name="Markets").get_by_role("link", name=book)).to_be_focused()
    page.keyboard.press("Enter")
    expect(screen.heading(book)).to_be_visible()


@pytest.mark.proof
def test_the_page_of_a_market_that_is_not_listed_yet_opens_with_its_listing(
    new_window: NewWindow, operator: Operator
) -> None:
    base = f"L{secrets.token_hex(3).upper()}"
    screen = new_window(None)
    screen.go(f"/{base}-USD", f"{base}-USD")
    missing = screen.page.get_by_text(f"There is no market {base}-USD")
    expect(missing).to_be_visible()
    operator.create_market(base)
    # Sooner than the minute after which a page reads the markets anyway.
    expect(missing).to_have_count(0, timeout=stretched(30) * 1000)
    expect(screen.page.get_by_role("button", name="View of the order book")).to_be_visible()


def test_the_book_shows_one_side_and_totals_in_the_quote_asset(new_window: NewWindow, book: str) -> None:
    screen = new_window(None)
    page = screen.page
    screen.go(f"/{book}", book)
    expect(page.get_by_role("img", name="Of the depth in sight 40 % are bids and 60 % asks")).to_be_visible()
    choose_view(page, "Totals in USD")
    expect(page.get_by_role("list", name="Bids").get_by_role("button")).to_contain_text("36.00")
    expect(page.get_by_role("list", name="Asks").get_by_role("button")).to_contain_text("66.00")
    choose_view(page, "Bids alone")
    expect(page.get_by_role("list", name="Asks")).to_have_count(0)
    screen.look_over("bids alone, in the quote asset", OPPOSITE_LOOKS)
    # It is kept.
    screen.go(f"/{book}", book)
    expect(page.get_by_role("list", name="Bids").get_by_role("button")).to_contain_text("36.00")
    expect(page.get_by_role("list", name="Asks")).to_have_count(0)
    choose_view(page, "Bids and asks")
    expect(page.get_by_role("list", name="Asks").get_by_role("button")).to_be_visible()
