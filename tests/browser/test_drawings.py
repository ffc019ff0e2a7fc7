"""Drawings on the chart: by pointer and by keys, kept in the browser and at the account; and markets beside it."""

import re
import secrets
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.operator import Operator
from tests.support.trading_screen import PASSWORD, Exchange, NewWindow, Trader, TradingScreen
from tests.support.waiting import until

pytestmark = pytest.mark.proof


@pytest.fixture
def traded(operator: Operator, market: str, participants: None) -> str:
    """A market with trades at 20 and 30: a pixel of its chart is wider than a step of its price."""
    operator.fund("alice", **{market.split("-")[0]: "10"})
    operator.fund("bob", USD="1000")
    for price in ("20", "30"):
        operator.place("alice", "sell", price, "1", market)
        operator.place("bob", "buy", price, "1", market)
    return market


@pytest.fixture
def trader(exchange: Exchange) -> Trader:
    """A user of this test alone."""
    return exchange.register(f"{secrets.token_hex(6)}@example.com")


def chart(page: Page, words: str = "") -> Locator:
    """The chart, whose description has `words`."""
    return page.get_by_role("group", name=re.compile(f"^Candles of .*{words}"))


def opened(screen: TradingScreen, market: str) -> Page:
    """The market's page with the tools open."""
    page = screen.page
    screen.go(f"/{market}", market)
    expect(chart(page, "to 30")).to_be_visible()
    page.get_by_role("button", name="Draw on the chart").click()
    expect(tools(page)).to_be_visible()
    return page


def tools(page: Page) -> Locator:
    return page.get_by_role("group", name="Drawing tools")


def tool(page: Page, name: str) -> Locator:
    return tools(page).get_by_role("button", name=name, exact=True)


def spot(page: Page, across: float, down: float) -> tuple[float, float]:
    """A place of the chart, by its shares of width and height."""
    box = chart(page).bounding_box()
    assert box
    return box["x"] + across * box["width"], box["y"] + down * box["height"]


def kept(exchange: Exchange, trader: Trader, market: str) -> list[dict[str, Any]]:
    drawings: list[dict[str, Any]] = exchange.call("GET", f"drawings/{market}", token=trader.tokens["accessToken"])[
        "drawings"
    ]
    return drawings


def becomes(
    exchange: Exchange, trader: Trader, market: str, holds: Callable[[list[dict[str, Any]]], bool]
) -> list[dict[str, Any]]:
    """Wait until something holds of the drawings that the account keeps; returns them."""
    found: list[dict[str, Any]] = []

    def does() -> bool:
        found[:] = kept(exchange, trader, market)
        return holds(found)

    until(does, f"the drawings of {market}")
    return found


def of_kinds(*kinds: str) -> Callable[[list[dict[str, Any]]], bool]:
    """Whether drawings are of these kinds, in their order."""
    return lambda found: [drawing["kind"] for drawing in found] == list(kinds)


def test_a_line_is_drawn_moved_undone_and_seen_on_another_device(
    new_window: NewWindow, exchange: Exchange, traded: str, trader: Trader
) -> None:
    screen = new_window(trader)
    page = opened(screen, traded)
    tool(page, "Trend line").click()
    page.mouse.click(*spot(page, 0.3, 0.6))
    page.mouse.move(*spot(page, 0.5, 0.4))
    page.mouse.click(*spot(page, 0.6, 0.3))
    expect(chart(page, r"Your 1 drawing\.")).to_be_visible()
    [line] = becomes(exchange, trader, traded, of_kinds("trend_line"))
    first, second = line["points"]
    assert first["time"] < second["time"] and float(first["price"]) < float(second["price"])

    bar = page.get_by_role("group", name="Trend line", exact=True)
    bar.get_by_role("textbox", name="Name of the drawing").fill("Support")
    bar.get_by_role("textbox").press("Enter")
    page.get_by_role("radio", name="Pink").check()
    screen.assert_accessible("a selected drawing")
    # Its second end is dragged below the first.
    page.mouse.move(*spot(page, 0.6, 0.3))
    page.mouse.down()
    page.mouse.move(*spot(page, 0.6, 0.5), steps=3)
    page.mouse.move(*spot(page, 0.6, 0.75), steps=3)
    page.mouse.up()

    other = new_window(trader)
    other.go(f"/{traded}", traded)
    expect(chart(other.page, r"Your 1 drawing\.")).to_be_visible()
    [moved] = kept(exchange, trader, traded)
    assert (moved["text"], moved["colour"], moved["points"][0]) == ("Support", "pink", first)
    assert float(moved["points"][1]["price"]) < float(first["price"])

    for _ in range(3):
        tool(page, "Undo").click()
    becomes(exchange, trader, traded, lambda found: found == [line])
    tool(page, "Undo").click()
    expect(chart(page, "drawing")).to_have_count(0)
    tool(page, "Redo").click()
    expect(chart(page, r"Your 1 drawing\.")).to_be_visible()
    # Points are times and prices: another interval has them too.
    screen.segment("Interval", "1h")
    expect(chart(page, r"Your 1 drawing\.")).to_be_visible()
    page.get_by_role("button", name="Delete all drawings").click()
    page.get_by_role("button", name="Delete all", exact=True).click()
    becomes(exchange, trader, traded, of_kinds())


def test_a_visitor_draws_with_keys_alone_and_the_drawings_go_to_the_account(
    new_window: NewWindow, exchange: Exchange, traded: str, trader: Trader
) -> None:
    screen = new_window()
    page = opened(screen, traded)
    press = page.keyboard.press
    tool(page, "Rectangle").focus()
    press("Enter")
    expect(chart(page)).to_be_focused()
    spoken = page.get_by_role("status").filter(has_text="Rectangle, point 1 at")
    expect(spoken).to_contain_text(", 30")
    begin = spoken.inner_text()
    press("ArrowUp")
    expect(spoken).not_to_have_text(begin)
    press("Enter")
    for _ in range(4):
        press("ArrowDown")
    press("Shift+ArrowRight")
    press("Enter")
    expect(chart(page, r"Your 1 drawing\.")).to_be_visible()
    # An end of it, and then the whole.
    press("Enter")
    expect(page.get_by_role("status").filter(has_text="Rectangle, point 1 at")).to_be_attached()
    press("ArrowLeft")
    press("Escape")
    tool(page, "Text").focus()
    press("Enter")
    press("Enter")
    expect(page.get_by_role("textbox", name="Text")).to_be_focused()
    page.keyboard.type("Here")
    press("Enter")
    press("Escape")
    expect(chart(page, r"Your 2 drawings\.")).to_be_visible()

    tool(page, "List of drawings").focus()
    press("Enter")
    names = page.get_by_role("list", name="Drawings").get_by_role("textbox")
    expect(names).to_have_count(2)
    screen.assert_accessible("the list of drawings")
    names.first.fill("Box")
    names.first.press("Enter")
    page.get_by_role("button", name="Edit Rectangle: Box").press("Enter")
    expect(chart(page)).to_be_focused()
    expect(page.get_by_role("group", name="Rectangle: Box")).to_be_visible()
    press("Delete")
    expect(chart(page, r"Your 1 drawing\.")).to_be_visible()
    press("Control+z")
    expect(chart(page, r"Your 2 drawings\.")).to_be_visible()
    page.reload()
    expect(chart(page, r"Your 2 drawings\.")).to_be_visible()

    screen.go(f"/login?next=/{traded}", "Log in")
    page.get_by_role("textbox", name="Email").fill(trader.email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(chart(page, r"Your 2 drawings\.")).to_be_visible()
    found = becomes(exchange, trader, traded, of_kinds("text", "rectangle"))
    assert [drawing["text"] for drawing in found] == ["Here", "Box"]
    # The browser forgets them when it hears that the account has them.
    page.wait_for_function("Object.keys(localStorage).every((key) => !key.includes('drawings.'))")


def test_two_windows_of_one_browser_and_a_finger_on_a_phone_lose_nothing(new_window: NewWindow, traded: str) -> None:
    screen = new_window(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    page = opened(screen, traded)
    second = page.context.new_page()
    second.goto(page.url)
    expect(tools(second)).to_be_visible()
    for window, down in ((page, 0.4), (second, 0.6)):
        tool(window, "Horizontal line").tap()
        window.touchscreen.tap(*spot(window, 0.5, down))
    for window in (page, second):
        expect(chart(window, r"Your 2 drawings\.")).to_be_visible()
    screen.assert_fits("the tools on a phone")
    screen.assert_accessible("the tools on a phone")


def test_other_markets_are_compared_in_percent_and_remembered(
    new_window: NewWindow, operator: Operator, traded: str, participants: None
) -> None:
    other = operator.create_market(f"C{traded.split('-')[0]}")
    operator.fund("alice", **{other.split("-")[0]: "10"})
    operator.fund("bob", USD="1000")
    operator.place("alice", "sell", "5", "1", other)
    operator.place("bob", "buy", "5", "1", other)
    screen = new_window()
    page = screen.page
    screen.go(f"/{traded}", traded)
    expect(chart(page, "to 30")).to_be_visible()
    page.get_by_role("button", name="Compare with other markets").click()
    page.get_by_role("textbox", name="Search markets").fill(other)
    page.get_by_role("checkbox", name=other, exact=True).check()
    screen.assert_accessible("the markets to compare with")
    page.keyboard.press("Escape")
    expect(chart(page, rf"Compared with {other}\.")).to_be_visible()
    expect(page.get_by_text(re.compile(rf"^{other} (\+?[0-9.]+ %)"))).to_be_visible()
    expect(page.get_by_role("button", name="Logarithmic scale")).to_be_disabled()
    page.reload()
    expect(chart(page, rf"Compared with {other}\.")).to_be_visible()
    # Its own market is not compared with itself.
    screen.go(f"/{other}", other)
    expect(chart(page, "to 5")).to_be_visible()
    expect(chart(page, "Compared")).to_have_count(0)
