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


@pytest.mark.proof
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


def change_lists(page: Page, entry: str) -> None:
    page.get_by_role("button", name="Change the watchlists").click()
    page.get_by_role("menuitem", name=entry).click()


@pytest.mark.proof
def test_lists_are_made_filled_renamed_and_deleted_and_favourites_stay(
    new_window: NewWindow, exchange: Exchange, book: str, trader: Trader
) -> None:
    token = trader.tokens["accessToken"]

    def lists() -> dict[str, list[str]]:
        return {one["name"]: one["symbols"] for one in exchange.call("GET", "watchlists", token=token)}

    exchange.call("PATCH", "watchlists/favourites", {"add": ["BTC-USD"]}, token)
    screen = new_window(trader)
    page = screen.page
    screen.go("/markets", "Markets")
    choice = page.get_by_role("combobox", name="Watchlist")
    expect(choice).to_have_value("favourites")
    page.get_by_role("button", name="Change the watchlists").click()
    for entry in ("Rename…", "Delete it…"):
        expect(page.get_by_role("menuitem", name=entry)).to_be_disabled()
    page.get_by_role("menuitem", name="New list…").click()
    dialog = screen.dialog("New watchlist")
    dialog.get_by_label("Name").fill("My coins")
    expect(dialog.get_by_text("Up to 32 small letters")).to_be_visible()
    expect(dialog.get_by_role("button", name="Make the list")).to_be_disabled()
    dialog.get_by_label("Name").fill("favourites")
    expect(dialog.get_by_text("You have a list of this name already.")).to_be_visible()
    screen.assert_accessible("the name of a new list")
    dialog.get_by_label("Name").fill("layer-2")
    dialog.get_by_role("button", name="Make the list").click()
    expect(page.get_by_text("Nothing in this list yet")).to_be_visible()
    expect(choice).to_have_value("layer-2")
    assert lists() == {"favourites": ["BTC-USD"], "layer-2": []}

    page.get_by_role("radiogroup", name="Markets to show").get_by_text("All", exact=True).click()
    star = page.get_by_role("button", name=f"{book} is in the list layer-2")
    with page.expect_response(re.compile("/watchlists/layer-2$")):
        star.click()
    expect(star).to_have_attribute("aria-pressed", "true")
    page.get_by_role("radiogroup", name="Markets to show").get_by_text("layer-2").click()
    expect(page.get_by_text("1 market", exact=True)).to_be_visible()
    screen.look_over("a watchlist", OPPOSITE_LOOKS)

    change_lists(page, "Rename…")
    dialog = screen.dialog("Rename layer-2")
    dialog.get_by_label("Name").fill("rollups")
    dialog.get_by_role("button", name="Rename").click()
    expect(choice).to_have_value("rollups")
    assert lists() == {"favourites": ["BTC-USD"], "rollups": [book]}
    # The address keeps the list.
    page.reload()
    expect(page.get_by_text("1 market", exact=True)).to_be_visible()
    with page.expect_response(re.compile("/watchlists/rollups$")):
        page.get_by_role("button", name=f"{book} is in the list rollups").click()
    assert lists()["rollups"] == []

    change_lists(page, "Delete it…")
    screen.dialog("Delete the list rollups?").get_by_role("button", name="Delete the list").click()
    expect(choice).to_have_value("favourites")
    expect(page.get_by_role("button", name="BTC-USD is a favourite")).to_have_attribute("aria-pressed", "true")
    assert lists() == {"favourites": ["BTC-USD"]}


@pytest.mark.proof
def test_the_bounds_of_lists_are_told_in_plain_words(new_window: NewWindow, exchange: Exchange, trader: Trader) -> None:
    for number in range(20):
        exchange.call("PATCH", f"watchlists/list-{number}", {"add": []}, trader.tokens["accessToken"])
    screen = new_window(trader)
    screen.go("/markets", "Markets")
    change_lists(screen.page, "New list…")
    dialog = screen.dialog("New watchlist")
    dialog.get_by_label("Name").fill("one-more")
    screen.expect_complaint("status of 409")
    dialog.get_by_role("button", name="Make the list").click()
    expect(dialog.get_by_text("You have as many watchlists as you may have")).to_be_visible()
    expect(dialog.get_by_text("you may have at most 20 watchlists: delete one")).to_be_visible()


@pytest.mark.proof
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


def test_the_list_of_markets_says_how_many_are_below_and_shows_that_it_goes_on(new_window: NewWindow) -> None:
    screen = new_window(None, viewport={"width": 1440, "height": 480})
    page = screen.page
    screen.go("/BTC-USD", "BTC-USD")
    page.get_by_role("button", name="Market BTC-USD, choose another").click()
    entries = page.get_by_role("list", name="Markets").get_by_role("listitem")
    foot = page.get_by_text(re.compile("^[0-9]+ more below$"))
    expect(foot).to_be_visible()
    fading = page.locator("[data-more]")
    expect(fading).to_have_count(1)
    total = entries.count()
    below = int(foot.inner_text().split()[0])
    assert 0 < below < total
    # The last one that does not count is in sight, and the first one that does is not.
    expect(entries.nth(total - below - 1)).to_be_in_viewport(ratio=0.5)
    expect(entries.nth(total - below)).not_to_be_in_viewport(ratio=0.6)

    entries.last.scroll_into_view_if_needed()
    expect(foot).to_have_count(0)
    expect(fading).to_have_count(0)
    page.get_by_role("textbox", name="Search markets").fill("BTC-USD")
    entries.first.scroll_into_view_if_needed()
    expect(foot).to_have_count(0)
    page.get_by_role("textbox", name="Search markets").fill("")
    entries.first.scroll_into_view_if_needed()
    expect(foot).to_have_text(f"{below} more below")


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


@pytest.mark.proof
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
