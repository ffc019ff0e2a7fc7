"""An order whose outcome nobody knows: the form sends it again as it was, and never another one in its place."""

import json
import re

from playwright.sync_api import Route, expect

from tests.support.console import PHONE
from tests.support.trading_screen import Exchange, NewWindow

SYMBOL = "BTC-BRL"


def test_an_order_of_unknown_outcome_goes_out_again_as_it_was(new_window: NewWindow, exchange: Exchange) -> None:
    maker, trader = exchange.register("unsure-maker@example.com"), exchange.register("unsure@example.com")
    exchange.deposit([(maker, "BRL", "100000"), (trader, "BTC", "10")])
    exchange.set_price(SYMBOL, "250")

    def bid(price: str, quantity: str) -> str:
        order = {"symbol": SYMBOL, "side": "buy", "type": "limit", "price": price, "quantity": quantity}
        placed: str = exchange.call("POST", "orders", order, maker.tokens["accessToken"])["orderId"]
        return placed

    bid("250", "1")
    order = {"symbol": SYMBOL, "side": "sell", "type": "limit", "price": "250", "quantity": "1"}
    exchange.call("POST", "orders", order, trader.tokens["accessToken"])
    best = bid("249.5", "5")
    screen = new_window(trader, viewport=PHONE)
    screen.expect_complaint("status of 504")
    page = screen.page
    asked: list[tuple[str | None, str | None]] = []
    held: list[Route] = []

    def answer(route: Route) -> None:
        if route.request.method != "POST":
            route.continue_()
            return
        asked.append((route.request.header_value("Idempotency-Key"), route.request.post_data))
        if len(asked) > 1:
            held.append(route)
            return
        body = {"message": "nobody knows yet what became of it", "code": "ORDER_STATUS_UNKNOWN"}
        headers = {"Access-Control-Allow-Origin": "*"}
        route.fulfill(status=504, body=json.dumps(body), content_type="application/json", headers=headers)

    page.route(re.compile("/api/v1/orders$"), answer)
    screen.go(f"/{SYMBOL}", SYMBOL)
    expect(page).to_have_title(re.compile("^250"))
    page.get_by_role("button", name="Open the form to sell").click()
    sheet = screen.dialog("Order form")
    screen.segment("Order type", "Market")
    screen.segment("Amount in", "BRL")
    sheet.get_by_role("textbox", name="Amount").fill("100")
    submit = sheet.get_by_role("button", name="Sell BTC, market")
    average = sheet.get_by_role("definition").filter(has_text=re.compile(r"^249\.50"))
    expect(average).to_be_visible()
    submit.click()
    expect(sheet.get_by_role("alert")).to_contain_text("never places a second one")

    # The sheet is closed and opened again, and the money is another quantity by now.
    sheet.get_by_role("button", name="Close").click()
    expect(sheet).to_have_count(0)
    bid("249", "5")
    exchange.call("DELETE", f"orders/{best}", token=maker.tokens["accessToken"])
    page.get_by_role("button", name="Open the form to sell").click()
    expect(sheet.get_by_role("alert")).to_contain_text("never places a second one")
    expect(sheet.get_by_role("definition").filter(has_text=re.compile(r"^249\.00"))).to_be_visible()
    submit.click()

    # While it is on its way, another sheet does not send it once more.
    expect(submit).to_be_disabled()
    sheet.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Open the form to sell").click()
    expect(submit).to_be_disabled()
    held[0].continue_()
    expect(screen.toast("Sell: Filled")).to_be_visible()
    [first, second] = asked
    assert first == second
    assert first[0]
    exchange.call("DELETE", "orders", token=maker.tokens["accessToken"])
