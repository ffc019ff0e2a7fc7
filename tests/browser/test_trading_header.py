"""The header of the trading screen: notices that stay, and the pages on a phone."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Locator, Page, expect

from openspot.contracts import subjects
from openspot.contracts.messages import SendNotification
from openspot.kit.bus import Bus
from openspot.up.child_platform import ChildPlatform
from tests.support.console import OPPOSITE_LOOKS, PHONE
from tests.support.own_thread import in_own_thread
from tests.support.trading_screen import PASSWORD, Exchange, NewWindow, Trader, TradingScreen
from tests.support.waiting import until

pytestmark = pytest.mark.proof

MARKET = "BTC-USD"
BEGIN = datetime(2026, 11, 18, 9, 0, 0, tzinfo=UTC)


def tell(platform: ChildPlatform, trader: Trader, number: int, kind: str = "margin.liquidation") -> None:
    """Let the exchange tell a user something, as its margin service does."""
    settings = platform.settings.model_copy(update={"nats_url": platform.state.bus_urls["margin"]})
    event = SendNotification(
        f"{trader.user_id}-{number}", trader.user_id, kind, f"Notice {number}", "First line.\nSecond line.",
        int((BEGIN + timedelta(minutes=number)).timestamp() * 1000),
    )  # fmt: skip

    async def publish() -> None:
        bus = await Bus.connect(settings, "margin")
        try:
            await bus.publish(subjects.NOTIFICATIONS_SEND, event, event.id)
        finally:
            await bus.close()

    in_own_thread(publish)


def bell(screen: TradingScreen, unread: int) -> Locator:
    """The bell with so many unread notices."""
    name = "Notices" if unread == 0 else f"Notices, {unread} unread"
    return screen.page.get_by_role("button", name=name, exact=True)


def titles(screen: TradingScreen) -> Locator:
    """The notices of the open list."""
    return screen.dialog("Notices").get_by_role("list", name="Notices").get_by_role("listitem")


def log_in(screen: TradingScreen, trader: Trader) -> None:
    """Log in by hand; it ends on the market."""
    page = screen.page
    screen.go(f"/login?next=/{MARKET}", "Log in")
    page.get_by_role("textbox", name="Email").fill(trader.email)
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(screen.heading(MARKET)).to_be_visible()


def log_out(screen: TradingScreen, trader: Trader) -> None:
    """Log out by the menu of the account."""
    # What the page reads at this moment may reach the edge after the session has ended.
    screen.expect_complaint("status of 401")
    screen.page.get_by_role("button", name=f"Account of {trader.email}").click()
    screen.page.get_by_role("menuitem", name="Log out").click()
    expect(screen.page.get_by_role("banner").get_by_role("link", name="Log in")).to_be_visible()


def test_notices_are_counted_listed_and_survive_a_reload(
    new_window: NewWindow, exchange: Exchange, platform: ChildPlatform
) -> None:
    trader = exchange.register("told@example.com")
    screen = new_window(trader)
    page = screen.page
    screen.go("/wallet", "Wallet")
    expect(screen.link("Live")).to_be_visible()
    bell(screen, 0).click()
    expect(screen.dialog("Notices")).to_contain_text("No notices")
    screen.look_over("no notices", OPPOSITE_LOOKS)
    page.keyboard.press("Escape")
    expect(screen.dialog("Notices")).to_be_hidden()

    tell(platform, trader, 2)
    expect(screen.toast("Notice 2")).to_be_visible()
    expect(bell(screen, 1)).to_be_visible()
    # An older one that comes later stands below; the same one twice counts once.
    tell(platform, trader, 1, "weather.fine")
    tell(platform, trader, 1, "weather.fine")
    expect(bell(screen, 2)).to_be_visible()
    page.reload()
    expect(bell(screen, 2)).to_be_visible()
    screen.look_over("unread notices", OPPOSITE_LOOKS)

    bell(screen, 2).focus()
    page.keyboard.press("Enter")
    expect(titles(screen)).to_have_count(2)
    for place, texts in enumerate((("Notice 2", "18 Nov 2026 09:02:00"), ("Notice 1", "18 Nov 2026 09:01:00"))):
        for text in (*texts, "New", "First line. Second line."):
            expect(titles(screen).nth(place)).to_contain_text(text)
    expect(titles(screen).get_by_role("link")).to_have_count(1)
    expect(titles(screen).get_by_role("link", name="Margin")).to_have_attribute("href", "/trade/margin")
    expect(screen.dialog("Notices").locator(":focus")).to_have_count(1)
    screen.look_over("the list of notices", OPPOSITE_LOOKS)
    page.keyboard.press("Escape")
    expect(screen.dialog("Notices")).to_be_hidden()
    expect(bell(screen, 0)).to_be_focused()
    page.reload()
    bell(screen, 0).click()
    expect(titles(screen)).to_have_count(2)
    expect(titles(screen).filter(has_text="New")).to_have_count(0)
    screen.dialog("Notices").get_by_role("link", name="Choose what you are told").click()
    expect(screen.heading("Notifications")).to_be_visible()
    expect(screen.dialog("Notices")).to_be_hidden()


def test_nobody_sees_the_notices_of_another_user(
    new_window: NewWindow, exchange: Exchange, platform: ChildPlatform
) -> None:
    first, second = exchange.register("first-told@example.com"), exchange.register("second-told@example.com")
    screen = new_window()
    log_in(screen, first)
    expect(screen.link("Live")).to_be_visible()
    tell(platform, first, 1)
    expect(bell(screen, 1)).to_be_visible()
    log_out(screen, first)
    expect(screen.page.get_by_role("button", name=re.compile("^Notices"))).to_be_hidden()
    log_in(screen, second)
    bell(screen, 0).click()
    expect(screen.dialog("Notices")).to_contain_text("No notices")
    screen.page.keyboard.press("Escape")
    tell(platform, second, 2)
    expect(bell(screen, 1)).to_be_visible()
    log_out(screen, second)
    log_in(screen, first)
    bell(screen, 1).click()
    expect(titles(screen)).to_have_count(1)
    expect(titles(screen)).to_contain_text("Notice 1")


def test_a_deposit_is_told_at_once_and_in_a_browser_that_comes_later(new_window: NewWindow, exchange: Exchange) -> None:
    trader = exchange.register("funded@example.com")
    screen = new_window(trader)
    screen.go("/wallet", "Wallet")
    expect(screen.link("Live")).to_be_visible()
    exchange.deposit([(trader, "BTC", "0.75")])
    expect(screen.toast("0.75 BTC arrived and can be used.")).to_be_visible()
    expect(bell(screen, 1)).to_be_visible()

    other = new_window(trader)
    other.go(f"/{MARKET}", MARKET)
    bell(other, 1).click()
    expect(titles(other)).to_have_count(1)
    expect(titles(other)).to_contain_text("Deposit credited")
    expect(titles(other).get_by_role("link", name="Wallet")).to_have_attribute("href", "/trade/wallet")
    assert exchange.mail_text(trader.email, "Deposit credited").startswith("0.75 BTC arrived and can be used.")


def test_what_is_strange_among_the_kept_notices_is_ignored(
    new_window: NewWindow, exchange: Exchange, platform: ChildPlatform
) -> None:
    trader = exchange.register("strangely-told@example.com")
    screen = new_window(trader)
    page = screen.page
    screen.go(f"/{MARKET}", MARKET)
    key = f"openspot.trade.notices.{trader.user_id}"
    kept = {"id": "x", "kind": "order.filled", "title": "Kept", "text": "t", "createdAt": 5, "isRead": False}
    for content, unread in (("{", 0), ('{"a": 1}', 0), (json.dumps([{"id": 1}, kept | {"createdAt": 1e300}]), 0)):
        page.evaluate("([key, content]) => localStorage.setItem(key, content)", [key, content])
        page.reload()
        expect(bell(screen, unread)).to_be_visible()
    page.evaluate("([key, content]) => localStorage.setItem(key, content)", [key, json.dumps([None, kept, "text"])])
    page.reload()
    expect(bell(screen, 1)).to_be_visible()
    expect(screen.link("Live")).to_be_visible()
    tell(platform, trader, 1)
    expect(bell(screen, 2)).to_be_visible()


def test_notices_are_read_in_every_tab_at_once(
    new_window: NewWindow, exchange: Exchange, platform: ChildPlatform
) -> None:
    trader = exchange.register("twice-told@example.com")
    screen = new_window(trader)
    screen.go(f"/{MARKET}", MARKET)
    other = TradingScreen(screen.page.context.new_page(), screen.url)
    other.go(f"/{MARKET}", MARKET)
    for tab in (screen, other):
        expect(tab.link("Live")).to_be_visible()
    tell(platform, trader, 1)
    for tab in (screen, other):
        expect(bell(tab, 1)).to_be_visible()
    bell(other, 1).click()
    expect(titles(other)).to_have_count(1)
    expect(bell(screen, 0)).to_be_visible()


def test_the_pages_are_a_menu_on_a_phone(new_window: NewWindow, exchange: Exchange) -> None:
    screen = new_window(exchange.register("pages-on-a-phone@example.com"), viewport=PHONE)
    page = screen.page
    screen.go(f"/{MARKET}", MARKET)
    expect(page.get_by_role("navigation", name="Pages")).to_be_hidden()
    button = page.get_by_role("button", name="Page: Trade, choose another")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem", name="Trade")).to_have_attribute("aria-current", "page")
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        screen.assert_fits(f"the menu of pages, {scheme}")
        screen.assert_accessible(f"the menu of pages, {scheme}")
    page.keyboard.press("ArrowDown")
    page.get_by_role("menuitem", name="Wallet").press("Enter")
    expect(screen.heading("Wallet")).to_be_visible()
    expect(page.get_by_role("button", name="Page: Wallet, choose another")).to_be_visible()
    screen.go("/no-such-page", "Page not found")
    expect(page.get_by_role("button", name="Choose a page")).to_be_visible()


def is_whole(page: Page, menu: Locator, entries: Locator) -> bool:
    """Whether the header's pages are a menu, or a row that is not cut off: one or the other."""
    # The row may become a menu at any moment, so nothing here waits for its entries.
    ends = entries.evaluate_all("links => links.map((link) => link.getBoundingClientRect().right)")
    tools = page.get_by_role("status", name=re.compile("^(Connection|Verbindung)")).bounding_box()
    if menu.count():
        return not ends
    return tools is not None and len(ends) == 7 and max(ends) <= tools["x"]


@pytest.mark.parametrize("language", ["en-GB", "de-DE"])
def test_the_pages_of_the_header_have_room_or_are_a_menu(new_window: NewWindow, language: str) -> None:
    screen = new_window(locale=language)
    page = screen.page
    page.goto(f"{screen.url}/trade/{MARKET}")
    expect(screen.heading(MARKET)).to_be_visible()
    menu = page.get_by_role("banner").get_by_role("button", name=re.compile("^(Page|Seite): "))
    entries = page.get_by_role("banner").get_by_role("navigation").get_by_role("link")
    for width in (1920, 1280, 1100, 1040, 1000, 800, 360):
        page.set_viewport_size({"width": width, "height": 800})
        expect(menu if width <= 800 else menu.or_(entries).first).to_be_visible()
        screen.assert_fits(f"{language}, {width} px")
        until(lambda: is_whole(page, menu, entries), f"{language}, {width} px: the pages have room or are a menu")
