"""The layout of the trading screen: panels are moved, sized, hidden, added, kept and reset."""

import json
import re
import secrets

import pytest
from playwright.sync_api import Locator, WebSocket, expect

from tests.support.console import DESK, Look
from tests.support.trading_screen import Exchange, NewWindow, TradingScreen
from tests.support.waiting import until

pytestmark = pytest.mark.proof

SYMBOL = "ETH-USD"
OTHER = "BTC-USD"
TABLET_AND_DESK: tuple[Look, ...] = (("dark", {"width": 800, "height": 1000}), ("light", DESK))


def panel(screen: TradingScreen, name: str) -> Locator:
    """A panel of the screen."""
    return screen.page.get_by_role("region", name=name, exact=True)


def handle(screen: TradingScreen, name: str) -> Locator:
    """What a panel is moved by while the layout is edited."""
    return screen.page.get_by_role("button", name=f"Move {name}", exact=True)


def box(part: Locator) -> tuple[float, float, float, float]:
    """Where a part is: left, top, width, height."""
    found = part.bounding_box()
    assert found is not None
    return found["x"], found["y"], found["width"], found["height"]


def await_above(screen: TradingScreen, upper: Locator, lower: Locator) -> None:
    """Wait until a part stands above another."""
    expect(upper).to_be_visible()
    expect(lower).to_be_visible()
    until(lambda: box(upper)[1] < box(lower)[1], "it does not stand above")


def edit(screen: TradingScreen) -> Locator:
    """Begin to edit. Returns the bar with the choices."""
    screen.page.get_by_role("button", name="Edit layout").click()
    bar = panel(screen, "Edit layout")
    expect(bar.get_by_role("heading")).to_be_focused()
    return bar


def drag(screen: TradingScreen, held: Locator, x: float, y: float) -> None:
    """Drag a part by pixels, and let it go."""
    held.scroll_into_view_if_needed()
    left, top, width, height = box(held)
    middle = (left + width / 2, top + height / 2)
    screen.page.mouse.move(*middle)
    screen.page.mouse.down()
    screen.page.mouse.move(middle[0] + x, middle[1] + y, steps=5)
    screen.page.mouse.up()


def test_panels_are_moved_and_sized_by_pointer_and_keys_and_stay_so(new_window: NewWindow) -> None:
    screen = new_window()
    page = screen.page
    screen.go(f"/{SYMBOL}", SYMBOL)
    orders, chart = panel(screen, "Your orders"), panel(screen, "Chart")
    await_above(screen, chart, orders)

    bar = edit(screen)
    screen.assert_accessible("editing the layout")
    drag(screen, handle(screen, "Your orders"), 0, -600)
    await_above(screen, handle(screen, "Your orders"), handle(screen, "Chart"))
    wide = box(handle(screen, "Chart"))[2]
    handle(screen, "Chart").press("Shift+ArrowLeft")
    expect(bar.get_by_text("Chart: columns 1 to 13 of 24", exact=False)).to_be_attached()
    until(lambda: box(handle(screen, "Chart"))[2] < wide - 20, "the chart is as wide as before")
    # Its neighbour has taken the room. The left edge of that is sized by the pointer, below its title.
    book = handle(screen, "Order book")
    left, top, before = box(book)[:3]
    page.mouse.move(left - 2, top + 100)
    page.mouse.down()
    page.mouse.move(left - 122, top + 100, steps=4)
    page.mouse.up()
    until(lambda: box(book)[2] > before + 60, "the book is as wide as before")
    bar.get_by_role("button", name="Keep the layout").click()
    expect(bar).to_have_count(0)
    expect(page.get_by_role("button", name="Edit layout")).to_be_focused()
    await_above(screen, orders, chart)
    kept = box(panel(screen, "Order book"))

    page.reload()
    expect(panel(screen, "Order book")).to_be_visible()
    until(lambda: box(panel(screen, "Order book")) == kept, "the book stands elsewhere")
    await_above(screen, orders, chart)
    screen.assert_accessible("a layout of one's own")
    screen.assert_fits("a layout of one's own")

    # What is cancelled has not happened; the standard comes back when it is asked for.
    bar = edit(screen)
    handle(screen, "Chart").press("ArrowUp")
    bar.get_by_role("button", name="Cancel").click()
    until(lambda: box(panel(screen, "Order book")) == kept, "the book stands elsewhere")
    edit(screen).get_by_role("button", name="Standard layout").click()
    expect(bar).to_have_count(0)
    await_above(screen, chart, orders)
    page.reload()
    await_above(screen, chart, orders)


def test_escape_lets_a_dragged_panel_return(new_window: NewWindow) -> None:
    screen = new_window()
    screen.go(f"/{SYMBOL}", SYMBOL)
    edit(screen)
    orders = handle(screen, "Your orders")
    home = box(orders)
    left, top, width, height = home
    screen.page.mouse.move(left + width / 2, top + height / 2)
    screen.page.mouse.down()
    screen.page.mouse.move(left + width / 2, top - 600, steps=4)
    until(lambda: box(orders)[1] < home[1], "it does not follow the pointer")
    screen.page.keyboard.press("Escape")
    until(lambda: box(orders) == home, "it does not return")
    screen.page.mouse.up()
    assert box(orders) == home


def test_charts_are_added_with_a_market_of_their_own_and_ask_for_nothing_once_they_are_hidden(
    new_window: NewWindow,
) -> None:
    screen = new_window()
    page = screen.page
    asked: list[tuple[str, str]] = []

    def note(payload: str | bytes) -> None:
        message = json.loads(payload)
        if str(message.get("channel", "")).startswith("candles:"):
            asked.append((message["action"], message["channel"]))

    def listen(socket: WebSocket) -> None:
        socket.on("framesent", note)

    page.on("websocket", listen)
    screen.go(f"/{SYMBOL}", SYMBOL)
    expect(screen.link("Live")).to_be_visible()
    bar = edit(screen)
    add = bar.get_by_role("button", name="Add a chart")
    for _ in range(3):
        add.click()
    expect(add).to_be_disabled()
    for name in ("Chart 3", "Chart 4", "Trades"):
        bar.get_by_role("button", name=name, exact=True).click()
    for name in ("Depth", "Markets"):
        bar.get_by_role("button", name=name, exact=True).click()
    bar.get_by_role("button", name="Keep the layout").click()
    page.get_by_role("combobox", name="Market of Chart 2").select_option(OTHER)
    page.get_by_role("combobox", name="Interval of Chart 2").select_option("4h")
    expect(page.get_by_role("group", name=re.compile(f"^Candles of 4h for {OTHER}"))).to_be_visible()
    expect(panel(screen, "Trades")).to_have_count(0)
    expect(panel(screen, "Depth")).to_be_visible()
    screen.look_over("further panels", TABLET_AND_DESK)

    asked.clear()
    # Each has a scale of its own, and keeps it.
    scale = panel(screen, f"{OTHER} 4h").get_by_role("button", name="Logarithmic scale")
    scale.click()
    expect(scale).to_have_attribute("aria-pressed", "true")
    expect(panel(screen, "Chart").get_by_role("button", name="Logarithmic scale")).to_have_attribute(
        "aria-pressed", "false"
    )
    page.reload()
    expect(page.get_by_role("group", name=re.compile(f"^Candles of 4h for {OTHER}"))).to_be_visible()
    expect(scale).to_have_attribute("aria-pressed", "true")
    # The other market is one click away, and the chart stays with its own.
    panel(screen, "Markets").get_by_role("link", name=re.compile(f"^{OTHER} ")).click()
    expect(screen.heading(OTHER)).to_be_visible()
    expect(page.get_by_role("group", name=re.compile(f"^Candles of 4h for {OTHER}"))).to_be_visible()
    expect(panel(screen, "Trades")).to_have_count(0)
    assert ("subscribe", f"candles:{OTHER}:4h") in asked

    bar = edit(screen)
    page.get_by_role("button", name="Hide Chart 2").click()
    page.get_by_role("button", name="Hide Chart", exact=True).click()
    expect(handle(screen, "Chart")).to_have_count(0)
    bar.get_by_role("button", name="Keep the layout").click()
    expect(page.locator("canvas")).to_have_count(0)
    until(lambda: not followed(asked), "a hidden chart is still followed")


def followed(asked: list[tuple[str, str]]) -> set[str]:
    """The channels that are still wanted after what the page has asked."""
    last = {channel: action for action, channel in asked}
    return {channel for channel, action in last.items() if action == "subscribe"}


def test_a_layout_is_the_accounts_and_no_device_replaces_that_of_another_unseen(
    new_window: NewWindow, exchange: Exchange
) -> None:
    trader = exchange.register(f"layout-{secrets.token_hex(6)}@example.com")

    def kept() -> list[tuple[int, list[str]]]:
        layouts = exchange.call("GET", "layouts", token=trader.tokens["accessToken"])
        return [(layout["version"], [panel["id"] for panel in layout["panels"]]) for layout in layouts]

    # What a visitor has made goes to the account with the login, and is another device's, too.
    desk = new_window()
    page = desk.page
    desk.go(f"/{SYMBOL}", SYMBOL)
    bar = edit(desk)
    bar.get_by_role("button", name="Trades", exact=True).click()
    bar.get_by_role("button", name="Keep the layout").click()
    expect(panel(desk, "Trades")).to_have_count(0)
    desk.bring_trader(trader)
    page.reload()
    expect(panel(desk, "Chart")).to_be_visible()
    until(lambda: kept() != [], "the layout does not come to the account")
    assert kept() == [(1, ["chart", "book", "form", "orders"])]
    own = "localStorage.getItem('openspot.trade.layout.laptop')"
    until(lambda: page.evaluate(own) is None, "the browser keeps it, too")
    expect(panel(desk, "Trades")).to_have_count(0)
    road = new_window(trader)
    road.go(f"/{SYMBOL}", SYMBOL)
    expect(panel(road, "Trades")).to_have_count(0)

    # Both edit the same layout. The second hears of the first, and replaces it when it says so once more.
    bars = [edit(screen) for screen in (desk, road)]
    bars[0].get_by_role("button", name="Depth", exact=True).click()
    bars[1].get_by_role("button", name="Markets", exact=True).click()
    bars[0].get_by_role("button", name="Keep the layout").click()
    expect(bars[0]).to_have_count(0)
    road.expect_complaint("status of 409")
    bars[1].get_by_role("button", name="Keep the layout").click()
    expect(road.toast("Another device has changed the layout")).to_be_visible()
    assert kept() == [(2, ["chart", "book", "form", "orders", "depth"])]
    bars[1].get_by_role("button", name="Keep the layout").click()
    expect(bars[1]).to_have_count(0)
    assert kept() == [(3, ["chart", "book", "form", "orders", "markets"])]
    edit(road).get_by_role("button", name="Standard layout").click()
    until(lambda: kept() == [(4, [])], "the standard is not kept")
    page.reload()
    expect(panel(desk, "Trades")).to_be_visible()


@pytest.mark.parametrize("kept", ["[{", '[{"id":"news","x":0,"w":12,"h":10}]'])
def test_a_damaged_layout_is_the_standard(new_window: NewWindow, kept: str) -> None:
    screen = new_window()
    script = f"localStorage.setItem('openspot.trade.layout.laptop', {json.dumps(kept)})"
    screen.page.add_init_script(script)
    screen.go(f"/{SYMBOL}", SYMBOL)
    for name in ("Chart", "Order book", "Trades", "Your orders"):
        expect(panel(screen, name)).to_be_visible()
