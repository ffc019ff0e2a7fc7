"""Changing an open order: in its row, and by moving its line on the chart."""

import re
import secrets
from collections.abc import Callable, Iterator
from decimal import Decimal

import pytest
from playwright.sync_api import Locator, expect

from tests.support.trading_screen import Exchange, NewWindow, Trader, TradingScreen

SYMBOL = "ETH-BRL"
HOME = "249"


@pytest.fixture
def trader(exchange: Exchange) -> Iterator[Trader]:
    """A user with an order to buy 2 at HOME, in a market whose candle goes from 245 to 255."""
    number = secrets.token_hex(4)
    buyer, seller = (exchange.register(f"changing-{side}-{number}@example.com") for side in ("buyer", "seller"))
    exchange.deposit([(buyer, "BRL", "10000"), (seller, "ETH", "10")])
    exchange.set_price(SYMBOL, "250")
    for price in ("245", "255", "250"):
        place(exchange, seller, "sell", price, "1")
        place(exchange, buyer, "buy", price, "1")
    place(exchange, buyer, "buy", HOME, "2")
    yield buyer
    # The next test begins with an empty book.
    exchange.call("DELETE", "orders", token=buyer.tokens["accessToken"])


def place(exchange: Exchange, trader: Trader, side: str, price: str, quantity: str) -> None:
    """Place a limit order."""
    order = {"symbol": SYMBOL, "side": side, "type": "limit", "price": price, "quantity": quantity}
    exchange.call("POST", "orders", order, trader.tokens["accessToken"])


def open_order(exchange: Exchange, trader: Trader) -> tuple[str, str]:
    """Price and quantity of the only open order."""
    (order,) = exchange.call("GET", "orders?status=open", token=trader.tokens["accessToken"])
    return order["price"], order["quantity"]


def test_price_and_amount_are_changed_in_the_row_by_keyboard(
    new_window: NewWindow, exchange: Exchange, trader: Trader
) -> None:
    screen = new_window(trader)
    page = screen.page
    screen.go(f"/{SYMBOL}", SYMBOL)
    opener = page.get_by_role("button", name=re.compile("^Change buy 2 "))
    opener.press("Enter")
    price = page.get_by_role("textbox", name=re.compile("^Price of buy 2 "))
    amount = page.get_by_role("textbox", name=re.compile("^Amount of buy 2 "))
    expect(price).to_be_focused()
    expect(price).to_have_value(HOME)
    price.fill("248.001")
    expect(page.get_by_text("Prices go in steps of 0.01 BRL.")).to_be_visible()
    screen.assert_accessible("a row with a wrong price")
    page.keyboard.press("Escape")
    expect(price).to_have_count(0)
    expect(opener).to_be_focused()

    opener.press("Enter")
    price.fill("248.5")
    amount.fill("3")
    amount.press("Enter")
    dialog = screen.dialog("Change the order to buy")
    expect(dialog.get_by_role("row", name="Price 249.00 BRL 248.50 BRL")).to_be_visible()
    expect(dialog).to_contain_text("It goes behind the orders that are at its price already.")
    screen.assert_accessible("the review of a change")
    dialog.get_by_role("button", name="Change the order").click()
    expect(screen.toast("Order changed")).to_be_visible()
    expect(screen.row("Open orders", "Buy", "248.50", "3")).to_be_visible()
    assert open_order(exchange, trader) == ("248.5", "3")

    # More than the funds allow: the exchange refuses, and the order stays.
    screen.expect_complaint("status of 400")
    page.get_by_role("button", name=re.compile("^Change buy 3 ")).click()
    page.get_by_role("textbox", name=re.compile("^Amount of buy 3 ")).fill("900")
    page.get_by_role("button", name="Review").click()
    dialog.get_by_role("button", name="Change the order").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Not enough funds")
    dialog.get_by_role("button", name="Leave it").click()
    assert open_order(exchange, trader) == ("248.5", "3")


@pytest.mark.proof
def test_the_distance_of_a_trailing_stop_is_changed_in_the_row(
    new_window: NewWindow, exchange: Exchange, trader: Trader
) -> None:
    token = trader.tokens["accessToken"]
    exchange.call("DELETE", "orders", token=token)
    stop = {"symbol": SYMBOL, "side": "sell", "type": "trailing_stop_market", "quantity": "1", "trailingBps": 150}
    exchange.call("POST", "orders", stop, token)
    screen = new_window(trader)
    page = screen.page
    screen.go(f"/{SYMBOL}", SYMBOL)
    page.get_by_role("button", name=re.compile("^Change sell 1 ")).click()
    distance = page.get_by_role("textbox", name=re.compile("^Follows by of sell 1 "))
    expect(distance).to_be_focused()
    expect(distance).to_have_value("1.5")
    distance.fill("100")
    expect(page.get_by_text("From 0.01 % to 99.99 %, in steps of 0.01 %.")).to_be_visible()
    distance.fill("2.25")
    distance.press("Enter")
    dialog = screen.dialog("Change the order to sell")
    expect(dialog.get_by_role("row", name="Follows by 1.5 % 2.25 %")).to_be_visible()
    expect(dialog).to_contain_text("A new order takes its place, and follows the price from now on.")
    screen.assert_accessible("the review of a distance")
    dialog.get_by_role("button", name="Change the order").click()
    expect(screen.toast("Order changed")).to_be_visible()
    expect(screen.row("Open orders", "Sell", "follows by 2.25 %")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Cancel sell 1 "))).to_have_count(1)
    (order,) = exchange.call("GET", "orders?status=open", token=token)
    assert (order["trailingBps"], order["quantity"]) == (225, "1")


def with_mouse(screen: TradingScreen, handle: Locator, by: int) -> None:
    """Move a line by pixels with the mouse."""
    box = handle.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    screen.page.mouse.move(x, y)
    screen.page.mouse.down()
    screen.page.mouse.move(x, y + by, steps=4)
    screen.page.mouse.up()


def with_finger(screen: TradingScreen, handle: Locator, by: int) -> None:
    """Move a line by pixels with a finger."""
    box = handle.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    browser = screen.page.context.new_cdp_session(screen.page)

    def touch(kind: str, *points: dict[str, float]) -> None:
        browser.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(points)})

    touch("touchStart", {"x": x, "y": y})
    touch("touchMove", {"x": x, "y": y + by / 2})
    touch("touchMove", {"x": x, "y": y + by})
    touch("touchEnd")


def with_keys(screen: TradingScreen, handle: Locator, by: int) -> None:
    """Move a line by a step for each pixel with the arrow keys."""
    handle.focus()
    for _ in range(abs(by)):
        screen.page.keyboard.press("ArrowDown" if by > 0 else "ArrowUp")
    screen.page.keyboard.press("Enter")


@pytest.mark.proof
@pytest.mark.parametrize("move", [with_keys, with_mouse, with_finger])
def test_a_line_that_is_moved_asks_for_the_new_price(
    new_window: NewWindow,
    exchange: Exchange,
    trader: Trader,
    move: Callable[[TradingScreen, Locator, int], None],
) -> None:
    screen = new_window(trader, has_touch=move is with_finger)
    screen.go(f"/{SYMBOL}", SYMBOL)
    handle = screen.page.get_by_role("slider", name=re.compile("^Price of Buy 2 "))
    expect(handle).to_have_attribute("aria-valuenow", HOME)
    screen.assert_accessible("a line of an order")
    # At whatever height it stands, it does not cover the figures at the top.
    legend, held = (part.bounding_box() for part in (screen.page.locator("div.figures[aria-hidden]").first, handle))
    assert legend is not None
    assert held is not None
    assert legend["x"] + legend["width"] <= held["x"]
    move(screen, handle, 12)
    dialog = screen.dialog("Change the order to buy")
    row = dialog.get_by_role("row", name="Price").last
    asked = Decimal(row.get_by_role("cell").last.inner_text().removesuffix(" BRL"))
    assert Decimal(245) < asked < Decimal(HOME)
    # Whoever leaves it finds the order, and its line, as before.
    screen.page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(handle).to_have_attribute("aria-valuenow", HOME)
    assert open_order(exchange, trader) == (HOME, "2")

    move(screen, handle, 12)
    dialog.get_by_role("button", name="Change the order").click()
    expect(screen.toast("Order changed")).to_be_visible()
    expect(screen.row("Open orders", "Buy", f"{asked:.2f}")).to_be_visible()
    assert Decimal(open_order(exchange, trader)[0]) == asked


@pytest.mark.proof
def test_escape_returns_a_line_that_is_held(new_window: NewWindow, exchange: Exchange, trader: Trader) -> None:
    screen = new_window(trader)
    screen.go(f"/{SYMBOL}", SYMBOL)
    handle = screen.page.get_by_role("slider", name=re.compile("^Price of Buy 2 "))
    expect(handle).to_have_attribute("aria-valuenow", HOME)
    handle.press("ArrowUp")
    expect(handle).to_have_attribute("aria-valuenow", "249.01")
    handle.press("Shift+ArrowDown")
    expect(handle).to_have_attribute("aria-valuenow", "248.91")
    handle.press("Escape")
    expect(handle).to_have_attribute("aria-valuenow", HOME)
    handle.press("Enter")
    expect(screen.page.get_by_role("dialog")).to_have_count(0)
    assert open_order(exchange, trader) == (HOME, "2")


@pytest.mark.proof
def test_one_click_changes_an_order_without_a_review(new_window: NewWindow, exchange: Exchange, trader: Trader) -> None:
    screen = new_window(trader)
    screen.go(f"/{SYMBOL}", SYMBOL)
    form = screen.page.get_by_role("form", name="Order form")
    form.get_by_text("Advanced").click()
    form.get_by_role("checkbox", name="One-click orders").check()
    form.get_by_role("button", name="Unlock one-click orders").click()
    handle = screen.page.get_by_role("slider", name=re.compile("^Price of Buy 2 "))
    handle.press("ArrowDown")
    handle.press("Enter")
    expect(screen.row("Open orders", "Buy", "248.99")).to_be_visible()
    expect(handle).to_have_attribute("aria-valuenow", "248.99")
    screen.page.get_by_role("button", name=re.compile("^Change buy 2 ")).click()
    screen.page.get_by_role("textbox", name=re.compile("^Amount of buy 2 ")).fill("1")
    screen.page.get_by_role("button", name="Save").click()
    expect(screen.row("Open orders", "Buy", "248.99", "1")).to_be_visible()
    assert open_order(exchange, trader) == ("248.99", "1")

    # A price far from the market needs the word all the same.
    screen.page.get_by_role("button", name=re.compile("^Change buy 1 ")).click()
    screen.page.get_by_role("textbox", name=re.compile("^Price of buy 1 ")).fill("300")
    screen.page.get_by_role("button", name="Save").click()
    dialog = screen.dialog("Change the order to buy")
    expect(dialog.get_by_role("note")).to_contain_text("The price is far above the last one, 250.00 BRL.")
    expect(dialog.get_by_role("button", name="Change the order")).to_be_disabled()
    assert open_order(exchange, trader) == ("248.99", "1")


@pytest.mark.proof
def test_the_line_of_a_stop_moves_what_it_waits_for(new_window: NewWindow, exchange: Exchange, trader: Trader) -> None:
    token = trader.tokens["accessToken"]
    stop = {"symbol": SYMBOL, "side": "buy", "type": "stop_limit", "quantity": "1", "stopPrice": "253", "price": "254"}
    exchange.call("POST", "orders", stop, token)
    screen = new_window(trader)
    screen.go(f"/{SYMBOL}", SYMBOL)
    handle = screen.page.get_by_role("slider", name=re.compile("^Price of Stop: Buy 1 "))
    expect(handle).to_have_attribute("aria-valuenow", "253")
    with_keys(screen, handle, -3)
    dialog = screen.dialog("Change the order to buy")
    expect(dialog.get_by_role("row", name="Stop price 253.00 BRL 253.03 BRL")).to_be_visible()
    expect(dialog.get_by_role("row", name="Price 254.00 BRL 254.00 BRL")).to_be_visible()
    dialog.get_by_role("button", name="Change the order").click()
    expect(screen.toast("Order changed")).to_be_visible()
    expect(handle).to_have_attribute("aria-valuenow", "253.03")
    stops = [one for one in exchange.call("GET", "orders?status=open", token=token) if one["type"] == "stop_limit"]
    assert [(one["stopPrice"], one["price"]) for one in stops] == [("253.03", "254")]


SEEN = """element => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return element.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}"""
"""Whether nothing covers the middle of an element, and it is drawn: other tests of being visible go by its style."""


@pytest.mark.proof
def test_what_a_chart_in_full_screen_asks_and_tells_is_seen(
    new_window: NewWindow, exchange: Exchange, coin: str
) -> None:
    symbol = f"{coin}-USD"
    buyer, seller = (exchange.register(f"full-{side}-{coin.lower()}@example.com") for side in ("buyer", "seller"))
    token = buyer.tokens["accessToken"]
    exchange.deposit([(buyer, "USD", "10000"), (seller, coin, "10")])
    for price in ("245", "255", "250"):
        for trader, side in ((seller, "sell"), (buyer, "buy")):
            order = {"symbol": symbol, "side": side, "type": "limit", "price": price, "quantity": "1"}
            exchange.call("POST", "orders", order, trader.tokens["accessToken"])
    stop = {"symbol": symbol, "side": "buy", "type": "stop_limit", "quantity": "1", "stopPrice": "253", "price": "254"}
    exchange.call("POST", "orders", stop, token)
    screen = new_window(buyer)
    page = screen.page
    screen.go(f"/{symbol}", symbol)
    page.get_by_role("button", name="Full screen").click()
    leave = page.get_by_role("button", name="Leave full screen")
    expect(leave).to_be_visible()
    handle = page.get_by_role("slider", name=re.compile("^Price of Stop: Buy 1 "))
    expect(handle).to_have_attribute("aria-valuenow", "253")
    with_mouse(screen, handle, -12)
    dialog = screen.dialog("Change the order to buy")
    row = dialog.get_by_role("row", name="Stop price")
    asked = Decimal(row.get_by_role("cell").last.inner_text().removesuffix(" USD"))
    assert asked > Decimal(253)
    change = dialog.get_by_role("button", name="Change the order")
    assert change.evaluate(SEEN)
    change.click()
    toast = screen.toast("Order changed")
    expect(toast).to_be_visible()
    assert toast.evaluate(SEEN)
    (order,) = exchange.call("GET", "orders?status=open", token=token)
    assert Decimal(order["stopPrice"]) == asked
    # A menu that is open goes with the page when the screen is left, and keeps the keyboard.
    page.get_by_role("button", name="Indicators", exact=True).click()
    box = page.get_by_role("checkbox", name="SMA 20", exact=True)
    box.focus()
    assert box.evaluate(SEEN)
    page.evaluate("document.exitFullscreen()")
    expect(page.get_by_role("button", name="Full screen", exact=True)).to_be_visible()
    expect(box).to_be_focused()


def test_the_line_of_a_trailing_stop_moves_how_far_it_follows(
    new_window: NewWindow, exchange: Exchange, trader: Trader
) -> None:
    token = trader.tokens["accessToken"]
    exchange.call("DELETE", "orders", token=token)
    stop = {"symbol": SYMBOL, "side": "sell", "type": "trailing_stop_market", "quantity": "1", "trailingAmount": "3"}
    exchange.call("POST", "orders", stop, token)
    seller = exchange.register(f"changing-trailing-{secrets.token_hex(4)}@example.com")
    exchange.deposit([(seller, "ETH", "10")])
    # Its best price so far is 252, and the present one 251.
    for price in ("252", "251"):
        place(exchange, seller, "sell", price, "1")
        place(exchange, trader, "buy", price, "1")
    screen = new_window(trader)
    page = screen.page
    screen.go(f"/{SYMBOL}", SYMBOL)
    handle = page.get_by_role("slider", name=re.compile("^Price of Trailing stop: Sell 1 "))
    expect(handle).to_have_attribute("aria-valuenow", "249")
    screen.assert_accessible("the line of a trailing stop")
    with_keys(screen, handle, 50)
    dialog = screen.dialog("Change the order to sell")
    # Another order takes its place. It follows from the present price, so it fires where the line was let go.
    expect(dialog.get_by_role("row", name="Follows by 3 BRL 2.5 BRL")).to_be_visible()
    expect(dialog.get_by_role("row", name="Fires at 249.00 BRL 248.50 BRL")).to_be_visible()
    expect(dialog).to_contain_text("A new order takes its place, and follows the price from now on.")
    screen.assert_accessible("the review of a trailing stop that was moved")
    dialog.get_by_role("button", name="Change the order").click()
    expect(screen.toast("Order changed")).to_be_visible()
    expect(handle).to_have_attribute("aria-valuenow", "248.5")
    (order,) = exchange.call("GET", "orders?status=open", token=token)
    assert (order["trailingAmount"], order["quantity"], order["type"]) == ("2.5", "1", "trailing_stop_market")

    # Where it would fire at once the page says so, and asks for nothing.
    handle.focus()
    for _ in range(25):
        page.keyboard.press("Shift+ArrowUp")
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("It would fire at once: the last price is 251. Move the line below it.")
    expect(dialog.get_by_role("button", name="Change the order")).to_be_disabled()
    page.keyboard.press("Escape")
    expect(handle).to_have_attribute("aria-valuenow", "248.5")

    with_mouse(screen, handle, 12)
    after = dialog.get_by_role("row", name="Fires at").get_by_role("cell").last.inner_text()
    fires_at = Decimal(after.removesuffix(" BRL"))
    assert Decimal(245) < fires_at < Decimal("248.5")
    expect(dialog.get_by_role("row", name=f"Follows by 2.5 BRL {(251 - fires_at).normalize():f} BRL")).to_be_visible()
    page.keyboard.press("Escape")
    assert exchange.call("GET", "orders?status=open", token=token) == [order]


def test_the_lines_of_a_bracket_move_its_take_profit_and_its_stop(
    new_window: NewWindow, exchange: Exchange, trader: Trader
) -> None:
    token = trader.tokens["accessToken"]
    orders: list[dict[str, str]] = [
        {"side": "buy", "type": "limit", "price": "247"},
        {"side": "sell", "type": "limit", "price": "254"},
        {"side": "sell", "type": "stop_market", "stopPrice": "246"},
    ]
    listed = [{"symbol": SYMBOL, "quantity": "1"} | order for order in orders]
    bracket = exchange.call("POST", "orders/lists", {"type": "bracket", "orders": listed}, token)
    screen = new_window(trader)
    screen.go(f"/{SYMBOL}", SYMBOL)
    profit = screen.page.get_by_role("slider", name=re.compile("^Price of Take profit: Sell 1 "))
    expect(profit).to_have_attribute("aria-valuenow", "254")
    with_keys(screen, profit, -3)
    dialog = screen.dialog("Change the order to sell")
    expect(dialog).to_contain_text("take profit, waits for its entry")
    expect(dialog.get_by_role("row", name="Price 254.00 BRL 254.03 BRL")).to_be_visible()
    # The amount is that of all orders of the list.
    expect(dialog.get_by_role("row", name="Amount")).to_have_count(0)
    dialog.get_by_role("button", name="Change the order").click()
    expect(profit).to_have_attribute("aria-valuenow", "254.03")
    stop = screen.page.get_by_role("slider", name=re.compile("^Price of Stop: Sell 1 "))
    with_keys(screen, stop, -2)
    dialog.get_by_role("button", name="Change the order").click()
    expect(stop).to_have_attribute("aria-valuenow", "246.02")
    found = exchange.call("GET", f"orders/lists/{bracket['listId']}", token=token)
    assert [(order["price"], order.get("stopPrice")) for order in found["orders"]] == [
        ("247", None), ("254.03", None), (None, "246.02"),
    ]  # fmt: skip

    # A stop above the entry would fire as that fills. The review says so, and the line returns.
    screen.expect_complaint("400")
    for _ in range(10):
        stop.press("Shift+ArrowUp")
    stop.press("Enter")
    dialog.get_by_role("button", name="Change the order").click()
    expect(dialog).to_contain_text("The price would fire it at once")
    screen.page.keyboard.press("Escape")
    expect(stop).to_have_attribute("aria-valuenow", "246.02")
