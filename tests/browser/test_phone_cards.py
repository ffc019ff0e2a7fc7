"""Lists on a phone: each row is a card of a few lines, in which every value stands in its place."""

import re
import secrets
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.support.console import PHONE
from tests.support.stub_orders import fulfil, waiting_order
from tests.support.trading_screen import Exchange, NewWindow, Trader

pytestmark = pytest.mark.proof

SYMBOL = "USDC-USD"
"""No other test trades here, so no trade stands in the way of an order."""
LINE = 24
"""The most that a line of text takes, in pixels."""
BUTTON = 44
"""The height of what a finger hits."""


@pytest.fixture
def trader(exchange: Exchange) -> Iterator[Trader]:
    """A user with an open order, an ended one, and two assets."""
    trader = exchange.register(f"{secrets.token_hex(6)}@example.com")
    exchange.deposit([(trader, "USD", "100000"), (trader, "BRL", "1000")])
    exchange.set_price("BTC-USD", "1000")
    order = {"symbol": SYMBOL, "side": "buy", "type": "limit", "price": "0.49", "quantity": "200"}
    for _ in range(2):
        placed = exchange.call("POST", "orders", order, trader.tokens["accessToken"])
    exchange.call("DELETE", f"orders/{placed['orderId']}", token=trader.tokens["accessToken"])
    yield trader
    exchange.call("DELETE", "orders", token=trader.tokens["accessToken"])


def height(part: Locator) -> float:
    box = part.bounding_box()
    assert box is not None
    return box["height"]


def test_markets_orders_and_assets_take_a_few_lines_each(new_window: NewWindow, trader: Trader) -> None:
    screen = new_window(trader, viewport=PHONE)
    page = screen.page
    screen.go("/markets", "Markets")
    card = screen.row("Markets", SYMBOL)
    expect(card).to_be_visible()
    assert height(card) <= 3 * LINE
    screen.assert_fits("markets on a phone")

    screen.go(f"/{SYMBOL}", SYMBOL)
    card = screen.row("Open orders", SYMBOL, "0.49")
    card.scroll_into_view_if_needed()
    assert height(card) <= 3 * LINE + 2 * BUTTON
    screen.assert_fits("open orders on a phone")
    card.get_by_role("button", name="Change").click()
    # The fields have a line each.
    expect(page.get_by_role("textbox", name=re.compile("^(Price|Amount) of buy 200 "))).to_have_count(2)
    screen.assert_fits("an open order that is changed on a phone")

    screen.go("/history", "History")
    card = screen.row("Orders", SYMBOL, "Cancelled")
    assert height(card) <= 5 * LINE
    screen.assert_fits("the history on a phone")

    screen.go("/portfolio", "Portfolio")
    assets = page.get_by_role("table", name="Assets", exact=True)
    bars = assets.locator("[style*='width']")
    expect(bars).to_have_count(2)
    boxes = [bar.bounding_box() for bar in bars.all()]
    assert len({round(box["x"]) for box in boxes if box is not None}) == 1, "the bars begin below each other"
    assert height(assets.get_by_role("row").nth(1)) <= 3 * LINE
    screen.look_over("the portfolio of a phone", (("light", PHONE),))


def test_a_rejected_order_says_why_also_where_there_is_no_pointer(new_window: NewWindow, trader: Trader) -> None:
    asked = {"symbol": SYMBOL, "side": "buy", "type": "limit", "price": "0.49", "quantity": "200"}
    reason = "insufficient USD balance: the order needs 98, 97.5 is available"
    order = waiting_order(trader.user_id, asked, status="rejected", rejectReason=reason, triggerStatus=None)
    screen = new_window(trader, viewport=PHONE)
    screen.page.route(re.compile("/api/v1/orders/history"), lambda route: fulfil(route, [order]))
    screen.go("/history", "History")
    expect(screen.row("Orders", SYMBOL, "Rejected")).to_contain_text(reason)
    screen.assert_fits("the reason of a rejected order on a phone")
    screen.assert_accessible("the reason of a rejected order on a phone")
