"""More open orders than the page reads: what it shows of a market is that market's, and a cut list says so."""

import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Route, expect

from tests.support.stub_orders import waiting_order
from tests.support.trading_screen import Exchange, NewWindow

pytestmark = pytest.mark.proof

SYMBOL, OTHER = "BTC-BRL", "ETH-USD"


def test_orders_of_another_market_take_no_place_in_the_list_of_this_one(
    new_window: NewWindow, exchange: Exchange
) -> None:
    trader = exchange.register("many-orders@example.com")
    screen = new_window(trader)
    page = screen.page
    number = 250

    def order(symbol: str, name: str) -> dict[str, object]:
        asked = {"symbol": symbol, "side": "buy", "type": "limit", "price": "100", "quantity": "1"}
        return waiting_order(trader.user_id, asked, orderId=name, triggerStatus=None)

    def answer(route: Route) -> None:
        if route.request.method != "GET":
            route.continue_()
            return
        query = parse_qs(urlsplit(route.request.url).query)
        headers = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "X-Next-Cursor"}
        if query.get("symbol") == [SYMBOL]:
            orders = [order(SYMBOL, "of-this-market")]
        else:
            # The oldest is below the end of the list.
            orders = [order(OTHER, f"of-another-{each}") for each in range(number)]
            headers["X-Next-Cursor"] = "further"
        route.fulfill(body=json.dumps(orders), content_type="application/json", headers=headers)

    page.route(re.compile(r"/api/v1/orders\?"), answer)
    screen.go(f"/{SYMBOL}", SYMBOL)
    expect(page.get_by_role("tab", name=f"Open orders ({number}+)")).to_be_visible()
    table = page.get_by_role("table", name="Open orders", exact=True)
    every = page.get_by_role("button", name="Cancel all")
    # A table is drawn with every price, so it does not begin with all rows.
    expect(table.get_by_role("row")).to_have_count(1 + 200)
    expect(page.get_by_text("The newest 200 orders are shown. There are older ones.")).to_be_visible()
    screen.assert_accessible("a list of open orders that is cut")
    page.get_by_role("button", name="Show older").click()
    expect(table.get_by_role("row")).to_have_count(1 + number)
    expect(page.get_by_text(f"The newest {number} orders are shown. There are older ones.")).to_be_visible()
    expect(page.get_by_role("button", name="Show older")).to_have_count(0)
    every.click()
    # Nobody knows how many there are.
    question = screen.dialog("Cancel all orders?")
    expect(question.get_by_role("button", name="Cancel all", exact=True)).to_be_visible()
    question.get_by_role("button", name="Keep them").click()

    screen.segment("Markets shown", SYMBOL)
    expect(table.get_by_role("row")).to_have_count(1 + 1)
    expect(page.get_by_text("There are older ones")).to_have_count(0)
    lines = re.compile(r"^Candles of .*Your 1 open order as lines\.")
    expect(page.get_by_role("group", name=lines)).to_be_visible()
    every.click()
    question = screen.dialog(f"Cancel all orders on {SYMBOL}?")
    expect(question.get_by_role("button", name="Cancel 1 order", exact=True)).to_be_visible()
    question.get_by_role("button", name="Keep them").click()
