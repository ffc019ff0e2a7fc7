"""The order form under the complete rules: time in force and post-only, and neither where the rules do not say so."""

import json
import re
from decimal import ROUND_DOWN, Decimal
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.support.console import PHONE
from tests.support.stub_orders import fulfil
from tests.support.trading_screen import Exchange, NewWindow


@pytest.fixture
def market(coin: str) -> str:
    """The market of the coin."""
    return f"{coin}-USD"


def test_a_post_only_order_that_would_trade_is_refused_in_plain_words(
    new_window: NewWindow, exchange: Exchange, tmp_path: Path, market: str, coin: str
) -> None:
    maker, trader = exchange.register("poster@example.com"), exchange.register("careful-poster@example.com")
    exchange.deposit([(maker, coin, "10"), (trader, "USD", "10000")])
    order = {"symbol": market, "side": "sell", "type": "limit", "quantity": "1", "price": "150"}
    exchange.call("POST", "orders", order, token=maker.tokens["accessToken"])
    screen = new_window(trader)
    screen.go(f"/{market}", market)
    expect(screen.link("Live")).to_be_visible()
    form = screen.page.get_by_role("form", name="Order form")
    screen.fill_order("Buy", "Limit", "1", "150")
    box = form.get_by_role("checkbox", name="Post-only")
    box.check()
    expect(form.get_by_text("Limit, post-only")).to_be_visible()
    expect(form.get_by_text("It is post-only, so the exchange will refuse it.")).to_be_visible()
    screen.assert_accessible("a post-only order")
    # The page is looked at by people, too.
    screen.page.screenshot(path=tmp_path / "post-only.png")
    screen.expect_complaint("status of 400")
    form.get_by_role("button", name=f"Buy {coin}, limit").click()
    expect(form.get_by_text("The order would have traded at once")).to_be_visible()
    form.get_by_role("textbox", name="Price").fill("149")
    form.get_by_role("button", name=f"Buy {coin}, limit").click()
    expect(screen.toast("Buy: Order placed")).to_be_visible()
    expect(screen.row("Open orders", "Buy", "Limit, post-only")).to_be_visible()


@pytest.mark.proof
def test_the_form_judges_orders_by_the_fair_price_where_the_exchange_does(
    new_window: NewWindow, exchange: Exchange, market: str, coin: str
) -> None:
    maker, trader = exchange.register("fair-maker@example.com"), exchange.register("fair-taker@example.com")
    exchange.deposit([(maker, coin, "10"), (trader, "USD", "10000")])
    order = {"symbol": market, "side": "sell", "type": "limit", "quantity": "1", "price": "155"}
    exchange.call("POST", "orders", order, token=maker.tokens["accessToken"])
    markets = exchange.call("GET", "markets")
    [rules] = [rules for rules in markets if rules["symbol"] == market]
    rules |= {"priceReference": "fair_price", "referencePrice": "400", "deviationBpsMax": 2000}
    # The list of all markets is read again much later than the one that is shown.
    present = dict(rules)
    screen = new_window(trader)
    screen.page.route(re.compile("/api/v1/markets$"), lambda route: fulfil(route, markets))
    screen.page.route(re.compile(f"/api/v1/markets/{market}$"), lambda route: fulfil(route, present))
    screen.go(f"/{market}", market)
    expect(screen.link("Live")).to_be_visible()
    form = screen.page.get_by_role("form", name="Order form")
    screen.fill_order("Buy", "Market", "1")
    expect(form.get_by_text("Beyond this distance from the fair price nothing is traded.")).to_be_visible()
    at_most = form.locator("dl > div").filter(has_text="You pay at most")
    fee = Decimal(max(rules["takerFee"], rules["makerFee"]))
    for fair_price, worst in (("400", Decimal(404)), ("500", Decimal(505))):
        present["referencePrice"] = fair_price
        paid = (worst + worst * fee / 10_000).quantize(Decimal("0.01"), rounding=ROUND_DOWN)
        expect(at_most).to_contain_text(f"{paid.normalize():f}")
    form.get_by_role("button", name="Max, 100 % of what is free").click()
    field = form.get_by_role("textbox", name="Amount")
    # What computes it may still have to be loaded.
    expect(field).not_to_have_value("1")
    amount = Decimal(field.input_value())
    assert amount * 505 * (1 + fee / 10_000) <= 10_000 < (amount + 1) * 505 * (1 + fee / 10_000)
    screen.fill_order("Buy", "Limit", "1", "100")
    expect(form.get_by_text("The price is more than 20 % from the fair price, 500.")).to_be_visible()
    expect(form.get_by_role("button", name=f"Buy {coin}, limit")).to_be_disabled()


@pytest.mark.proof
def test_a_post_only_order_that_moves_rests_one_tick_behind_the_best_ask(
    new_window: NewWindow, exchange: Exchange, market: str, coin: str
) -> None:
    maker, trader = exchange.register("slide-maker@example.com"), exchange.register("slider@example.com")
    exchange.deposit([(maker, coin, "10"), (trader, "USD", "10000")])
    order = {"symbol": market, "side": "sell", "type": "limit", "quantity": "1", "price": "149.2"}
    exchange.call("POST", "orders", order, token=maker.tokens["accessToken"])
    screen = new_window(trader)
    screen.go(f"/{market}", market)
    expect(screen.link("Live")).to_be_visible()
    form = screen.page.get_by_role("form", name="Order form")
    screen.fill_order("Buy", "Limit", "1", "149.5")
    choice = form.get_by_role("combobox", name="If it would trade at once")
    expect(choice).to_have_count(0)
    form.get_by_role("checkbox", name="Post-only").check()
    choice.select_option("Move it one tick behind")
    # The exchange takes no order that moves in a list.
    exits = form.get_by_role("checkbox", name="Take profit, stop loss")
    exits.check()
    expect(choice).to_have_count(0)
    exits.uncheck()
    expect(choice).to_have_value("slide")
    [tick] = [rules["tickSize"] for rules in exchange.call("GET", "markets") if rules["symbol"] == market]
    behind = f"{Decimal('149.2') - Decimal(tick)}"
    expect(form.get_by_text(f"now at {behind} USD.")).to_be_visible()
    screen.assert_accessible("a post-only order that moves")
    form.get_by_role("button", name=f"Buy {coin}, limit").click()
    expect(screen.toast("Buy: Order placed")).to_be_visible()
    expect(screen.row("Open orders", "Buy", "Limit, post-only", behind)).to_be_visible()


def test_a_post_only_order_may_be_good_till_a_date(
    new_window: NewWindow, exchange: Exchange, market: str, coin: str
) -> None:
    trader = exchange.register("dated-maker@example.com")
    exchange.deposit([(trader, "USD", "10000")])
    screen = new_window(trader)
    screen.go(f"/{market}", market)
    expect(screen.link("Live")).to_be_visible()
    form = screen.page.get_by_role("form", name="Order form")
    screen.fill_order("Buy", "Limit", "1", "140")
    post_only = form.get_by_role("checkbox", name="Post-only")
    post_only.check()
    time_in_force = form.get_by_role("combobox", name="Time in force")
    time_in_force.select_option("Good till date (GTD)")
    form.get_by_label("Good till", exact=True).fill("2099-01-30T18:30")
    # What does not wait cannot be post-only.
    time_in_force.select_option("Fill or kill (FOK)")
    expect(post_only).to_be_disabled()
    expect(post_only).not_to_be_checked()
    time_in_force.select_option("Good till date (GTD)")
    form.get_by_label("Good till", exact=True).fill("2099-01-30T18:30")
    post_only.check()
    form.get_by_role("button", name=f"Buy {coin}, limit").click()
    expect(screen.toast("Buy: Order placed")).to_be_visible()
    expect(screen.row("Open orders", "Buy", "Limit, post-only, GTD", "2099")).to_be_visible()
    [placed] = exchange.call("GET", "orders?status=open", token=trader.tokens["accessToken"])
    assert (placed["postOnly"], placed["timeInForce"]) == (True, "gtd")


def test_a_market_sell_for_an_amount_of_money_brings_it_to_the_lot(
    new_window: NewWindow, exchange: Exchange, market: str, coin: str
) -> None:
    maker, trader = exchange.register("money-maker@example.com"), exchange.register("money-seller@example.com")
    exchange.deposit([(maker, "USD", "10000"), (trader, coin, "10")])
    # The first trade is what market orders are judged by.
    for price, quantity in (("149.8", "1"), ("149.6", "5")):
        order = {"symbol": market, "side": "buy", "type": "limit", "quantity": quantity, "price": price}
        exchange.call("POST", "orders", order, token=maker.tokens["accessToken"])
    sell = {"symbol": market, "side": "sell", "type": "limit", "quantity": "0.1", "price": "149.8"}
    exchange.call("POST", "orders", sell, token=trader.tokens["accessToken"])
    screen = new_window(trader)
    screen.go(f"/{market}", market)
    expect(screen.link("Live")).to_be_visible()
    expect(screen.page).to_have_title(re.compile("^149.8"))
    form = screen.page.get_by_role("form", name="Order form")
    screen.segment("Side", "Sell")
    screen.segment("Order type", "Market")
    screen.segment("Amount in", "USD")
    form.get_by_role("textbox", name="Amount").fill("300")
    shown = form.locator("dl > div").filter(has=screen.page.get_by_text("Amount", exact=True))
    expect(shown).to_contain_text(f" {coin}")
    form.get_by_role("button", name=f"Sell {coin}, market").click()
    expect(screen.toast("Sell: Filled")).to_be_visible()
    [lot] = [rules["lotSize"] for rules in exchange.call("GET", "markets") if rules["symbol"] == market]
    [order, *_] = exchange.call("GET", "orders?status=filled", token=trader.tokens["accessToken"])
    brought = Decimal(order["averagePrice"]) * Decimal(order["filledQuantity"])
    assert 300 - Decimal("149.8") * Decimal(lot) < brought <= 300


def test_an_immediate_order_takes_what_is_there_and_leaves_nothing(
    new_window: NewWindow, exchange: Exchange, market: str, coin: str
) -> None:
    maker, trader = exchange.register("ioc-maker@example.com"), exchange.register("ioc-taker@example.com")
    exchange.deposit([(maker, coin, "10"), (trader, "USD", "10000")])
    order = {"symbol": market, "side": "sell", "type": "limit", "quantity": "1", "price": "149.5"}
    exchange.call("POST", "orders", order, token=maker.tokens["accessToken"])
    screen = new_window(trader)
    screen.go(f"/{market}", market)
    expect(screen.link("Live")).to_be_visible()
    form = screen.page.get_by_role("form", name="Order form")
    screen.fill_order("Buy", "Limit", "3", "149.5")
    form.get_by_role("combobox", name="Time in force").select_option("Immediate or cancel (IOC)")
    expect(form.get_by_text("What can fill at once does; the rest is cancelled.")).to_be_visible()
    expect(form.get_by_role("checkbox", name="Post-only")).to_be_disabled()
    form.get_by_role("button", name=f"Buy {coin}, limit").click()
    expect(screen.toast("Buy: Partly filled")).to_be_visible()
    screen.tab("History")
    expect(screen.row("Order history", "Buy", "Limit, IOC")).to_be_visible()


@pytest.mark.proof
def test_a_sheet_that_is_opened_again_shows_until_when_its_order_is_good(
    new_window: NewWindow, exchange: Exchange, market: str, coin: str
) -> None:
    trader = exchange.register("gtd-on-a-phone@example.com")
    exchange.deposit([(trader, "USD", "10000")])
    screen = new_window(trader, viewport=PHONE)
    screen.go(f"/{market}", market)
    screen.show_order_form()
    sheet = screen.dialog("Order form")
    until = sheet.get_by_label("Good till", exact=True)
    screen.fill_order("Buy", "Limit", "1", "140")
    sheet.get_by_role("combobox", name="Time in force").select_option("Good till date (GTD)")
    until.fill("2099-01-30T18:30")
    sheet.get_by_role("button", name="Close").click()
    expect(sheet).to_have_count(0)

    screen.show_order_form()
    expect(until).to_have_value("2099-01-30T18:30")
    sheet.get_by_role("button", name=f"Buy {coin}, limit").click()
    expect(screen.toast("Buy: Order placed")).to_be_visible()
    expect(sheet).to_have_count(0)

    # The next order is not good until then in secret.
    screen.show_order_form()
    expect(until).to_have_value("2099-01-30T18:30")
    screen.assert_accessible("an expiry that is shown again")
    # Another type begins without one, in the field as in the order.
    screen.segment("Order type", "Market")
    screen.segment("Order type", "Limit")
    sheet.get_by_role("textbox", name="Amount").fill("1")
    expect(until).to_have_value("")
    expect(sheet.get_by_role("button", name=f"Buy {coin}, limit")).to_have_accessible_description(
        "Choose until when the order is good."
    )


def test_under_other_rules_the_form_offers_neither(new_window: NewWindow, exchange: Exchange, market: str) -> None:
    rules = exchange.call("GET", "settings/trading") | {"timesInForce": ["gtc"], "postOnly": False, "postOnlyModes": []}
    screen = new_window(exchange.register("plain@example.com"))

    def answer(route: Route) -> None:
        route.fulfill(
            body=json.dumps(rules), content_type="application/json", headers={"Access-Control-Allow-Origin": "*"}
        )

    screen.page.route(re.compile("/api/v1/settings/trading$"), answer)
    screen.go(f"/{market}", market)
    form = screen.page.get_by_role("form", name="Order form")
    expect(form.get_by_role("textbox", name="Amount")).to_be_visible()
    expect(form.get_by_role("combobox", name="Time in force")).to_have_count(0)
    expect(form.get_by_role("checkbox", name="Post-only")).to_have_count(0)
