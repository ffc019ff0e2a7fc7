"""Orders that wait for a price, on the trading screen: their form, their review, and what the lists say of them.

The exchange has the complete rules, and takes such orders in `test_the_exchange_takes_what_the_form_sends`. The other
tests play it, to see what a form asks for to the letter, other rules, and states that take long to come about.
"""

import re
import secrets

import pytest
from playwright.sync_api import Route, expect

from tests.support.console import OPPOSITE_LOOKS, Look
from tests.support.parts import first_then_proof
from tests.support.stub_orders import StubbedOrders, fulfil, listed_order, offer, waiting_order
from tests.support.trading_screen import Exchange, NewWindow, Trader, TradingScreen

SYMBOL = "BTC-BRL"
LAST = "250"


@pytest.fixture
def trader(exchange: Exchange) -> Trader:
    """A user with funds in a market whose last price is LAST."""
    number = secrets.token_hex(4)
    buyer, seller = (exchange.register(f"waiting-{side}-{number}@example.com") for side in ("buyer", "seller"))
    exchange.deposit([(buyer, "BRL", "100000"), (buyer, "BTC", "10"), (seller, "BTC", "10")])
    exchange.set_price(SYMBOL, LAST)
    for one, side in ((seller, "sell"), (buyer, "buy")):
        order = {"symbol": SYMBOL, "side": side, "type": "limit", "price": LAST, "quantity": "1"}
        exchange.call("POST", "orders", order, one.tokens["accessToken"])
    return buyer


def opened(screen: TradingScreen, exchange: Exchange, **changes: object) -> None:
    """Open the market with an exchange that offers everything but for `changes`."""
    offer(screen.page, exchange.call("GET", "settings/trading"), **changes)
    screen.go(f"/{SYMBOL}", SYMBOL)
    expect(screen.link("Live")).to_be_visible()
    # The last price is known.
    expect(screen.page).to_have_title(re.compile(f"^{LAST}"))
    screen.show_order_form()


def choose_type(screen: TradingScreen, name: str) -> None:
    """Choose a type of the list by keyboard."""
    button = screen.page.get_by_role("button", name=re.compile("^(More order types|Order type: )"))
    button.focus()
    screen.page.keyboard.press("Enter")
    entry = screen.page.get_by_role("menuitem", name=re.compile(f"^{name} "))
    entry.press("Enter")
    expect(entry).to_be_hidden()


def send(screen: TradingScreen, button: str, review: str) -> None:
    """Send what the form has, through its review, and wait until the exchange has taken it."""
    submit = screen.page.get_by_role("form", name="Order form").get_by_role("button", name=button)
    submit.click()
    dialog = screen.dialog(review)
    with screen.page.expect_response(lambda reply: reply.request.method == "POST" and "/orders" in reply.url) as sent:
        dialog.get_by_role("button", name=button).click()
    assert sent.value.status == 201
    expect(dialog).to_have_count(0)


def test_the_exchange_takes_what_the_form_sends(new_window: NewWindow, exchange: Exchange, trader: Trader) -> None:
    screen = new_window(trader)
    screen.go(f"/{SYMBOL}", SYMBOL)
    expect(screen.page).to_have_title(re.compile(f"^{LAST}"))
    form = screen.page.get_by_role("form", name="Order form")

    screen.segment("Side", "Sell")
    choose_type(screen, "Stop limit")
    form.get_by_role("textbox", name="Stop price").fill("240")
    form.get_by_role("textbox", name="Price", exact=True).fill("239")
    form.get_by_role("textbox", name="Amount").fill("2")
    send(screen, "Sell BTC, stop limit", "Stop limit: sell?")
    expect(screen.row("Open orders", "Stop limit", "waits for last ≤ 240")).to_be_visible()

    choose_type(screen, "Trailing stop market")
    form.get_by_role("textbox", name="Follows by").fill("2")
    form.get_by_role("textbox", name="Amount").fill("1")
    send(screen, "Sell BTC, trailing stop market", "Trailing stop market: sell?")
    expect(screen.row("Open orders", "Trailing stop market", "waits for last, follows by 2 %")).to_be_visible()

    screen.page.get_by_role("button", name=re.compile("^Order type: ")).click()
    screen.page.get_by_role("menuitem", name=re.compile("^OCO ")).click()
    form.get_by_role("textbox", name="Price", exact=True).fill("280")
    form.get_by_role("textbox", name="Stop price").fill("220")
    form.get_by_role("textbox", name="Amount").fill("1.5")
    send(screen, "Sell BTC, OCO", "OCO: sell?")
    expect(screen.row("Open orders", "OCO", "280", "1.5")).to_be_visible()
    expect(screen.row("Open orders", "OCO", "waits for last ≤ 220")).to_be_visible()

    screen.segment("Order type", "Limit")
    screen.segment("Side", "Buy")
    form.get_by_role("textbox", name="Price", exact=True).fill("241")
    form.get_by_role("textbox", name="Amount").fill("0.5")
    form.get_by_role("checkbox", name="Take profit, stop loss").check()
    form.get_by_role("textbox", name="Take profit at").fill("281")
    form.get_by_role("textbox", name="Stop loss at").fill("221")
    send(screen, "Buy BTC, limit", "Limit: buy?")
    expect(screen.row("Open orders", "Bracket", ": entry", "241")).to_be_visible()
    expect(screen.row("Open orders", "Bracket", ": take profit, waits for its entry", "281")).to_be_visible()
    expect(screen.row("Open orders", "Bracket", ": stop loss, waits for its entry")).to_be_visible()

    # The exchange lists them to others, too: one and one, two, and an entry with two exits.
    listed = exchange.call("GET", "orders?status=open&limit=50", token=trader.tokens["accessToken"])
    assert sorted(order["type"] for order in listed if order.get("listId") is None) == [
        "stop_limit",
        "trailing_stop_market",
    ]
    assert sorted(order["listType"] for order in listed if order.get("listId") is not None)[-2:] == ["oco", "oco"]
    # They would stand in the way of other tests of this market.
    exchange.call("DELETE", "orders", token=trader.tokens["accessToken"])


@pytest.mark.proof
@pytest.mark.parametrize("look", OPPOSITE_LOOKS)
def test_a_stop_limit_says_when_it_fires_and_is_sent_after_a_review(
    new_window: NewWindow, exchange: Exchange, trader: Trader, look: Look
) -> None:
    scheme, viewport = look
    screen = new_window(trader, color_scheme=scheme, viewport=viewport)
    orders = StubbedOrders(screen.page, trader.user_id)
    opened(screen, exchange)
    form = screen.page.get_by_role("form", name="Order form")
    screen.page.get_by_role("button", name="More order types").click()
    # Eight types, and OCO.
    expect(screen.page.get_by_role("menuitem")).to_have_count(9)
    screen.assert_accessible("the list of order types")
    screen.page.get_by_role("menuitem").first.press("Escape")
    choose_type(screen, "Stop limit")

    submit = form.get_by_role("button", name="Buy BTC, stop limit")
    form.get_by_role("textbox", name="Price", exact=True).fill("261")
    form.get_by_role("textbox", name="Amount").fill("2")
    expect(submit).to_have_accessible_description("Enter a stop price.")
    form.get_by_role("textbox", name="Stop price").fill("240")
    expect(form.get_by_text("It would fire at once: the last price is 250.")).to_be_visible()
    screen.segment("Side", "Sell")
    form.get_by_role("textbox", name="Price", exact=True).fill("239")
    form.get_by_role("textbox", name="Amount").fill("2")
    form.get_by_role("combobox", name="Time in force").select_option("Good till date (GTD)")
    submit = form.get_by_role("button", name="Sell BTC, stop limit")
    expect(submit).to_have_accessible_description("Choose until when the order is good.")
    form.get_by_label("Good till", exact=True).fill("2099-01-30T18:30")
    expect(form.get_by_text("Sells when the last price is at or below 240 BRL.")).to_be_visible()
    screen.assert_accessible("a stop limit order")
    screen.assert_fits("a stop limit order")
    submit.click()
    dialog = screen.dialog("Stop limit: sell?")
    expect(dialog).to_contain_text("Sells when the last price is at or below 240 BRL.")
    expect(dialog).to_contain_text("Until then 2 BTC are held for it.")
    screen.assert_accessible("the review of a stop limit order")
    assert orders.asked == []
    dialog.get_by_role("button", name="Sell BTC, stop limit").click()
    expect(screen.toast("Sell: Order placed")).to_be_visible()
    assert orders.asked == [
        {
            "symbol": SYMBOL,
            "side": "sell",
            "type": "stop_limit",
            "price": "239",
            "timeInForce": "gtd",
            "expiresAt": "2099-01-30T18:30:00.000Z",
            "quantity": "2",
            "triggerBy": "last",
            "stopPrice": "240",
        }
    ]
    expect(screen.row("Open orders", "Stop limit, GTD", "waits for last ≤ 240")).to_be_visible()
    screen.assert_accessible("an order that waits")


@pytest.mark.proof
def test_a_trailing_stop_follows_by_percent_and_its_present_trigger_is_listed(
    new_window: NewWindow, exchange: Exchange, trader: Trader
) -> None:
    screen = new_window(trader)
    asked = {"symbol": SYMBOL, "side": "sell", "type": "trailing_stop_market", "quantity": "3", "triggerBy": "mark"}
    listed = waiting_order(trader.user_id, asked, stopPrice="244.5", trailingAmount="5")
    orders = StubbedOrders(screen.page, trader.user_id, [listed])
    opened(screen, exchange)
    expect(
        screen.row("Open orders", "Trailing stop market", "waits for mark ≤ 244.5, follows by 5 BRL")
    ).to_be_visible()
    chart = screen.page.get_by_role("group", name=re.compile("^Candles of .*Your 1 open order as lines"))
    expect(chart).to_be_visible()

    choose_type(screen, "Trailing stop market")
    screen.segment("Side", "Buy")
    screen.segment("Fires by", "Mark price")
    form = screen.page.get_by_role("form", name="Order form")
    follows = form.get_by_role("textbox", name="Follows by")
    follows.fill("1.255")
    form.get_by_role("textbox", name="Amount").fill("1")
    expect(form.get_by_text("From 0.01 % to 99.99 %, in steps of 0.01 %.")).to_be_visible()
    follows.fill("1.25")
    sentence = "Buys when the mark price has risen 1.25 % from its lowest since the order was placed."
    expect(form.get_by_text(sentence)).to_be_visible()
    form.get_by_role("button", name="Buy BTC, trailing stop market").click()
    dialog = screen.dialog("Trailing stop market: buy?")
    dialog.get_by_role("button", name="Buy BTC, trailing stop market").click()
    expect(screen.toast("Buy: Order placed")).to_be_visible()
    assert orders.asked == [
        {
            "symbol": SYMBOL,
            "side": "buy",
            "type": "trailing_stop_market",
            "quantity": "1",
            "triggerBy": "mark",
            "maxSlippageBps": "100",
            "trailingBps": 125,
        }
    ]


@pytest.mark.parametrize("look", first_then_proof(*reversed(OPPOSITE_LOOKS)))
def test_an_entry_with_both_exits_is_one_request_that_the_review_names_in_full(
    new_window: NewWindow, exchange: Exchange, trader: Trader, look: Look
) -> None:
    scheme, viewport = look
    screen = new_window(trader, color_scheme=scheme, viewport=viewport)
    orders = StubbedOrders(screen.page, trader.user_id)
    opened(screen, exchange)
    form = screen.page.get_by_role("form", name="Order form")
    form.get_by_role("textbox", name="Price", exact=True).fill("240")
    form.get_by_role("textbox", name="Amount").fill("2")
    form.get_by_role("checkbox", name="Take profit, stop loss").check()
    submit = form.get_by_role("button", name="Buy BTC, limit")
    expect(submit).to_have_accessible_description("Enter a take profit, a stop loss or both.")
    form.get_by_role("textbox", name="Take profit at").fill("239")
    expect(form.get_by_text("The entry fills at 240. Enter a price above it.")).to_be_visible()
    form.get_by_role("textbox", name="Take profit at").fill("280")
    form.get_by_role("textbox", name="Stop loss at").fill("220")
    # In a tall window the form does not scroll by itself, so none of its buttons is cut off at its edge.
    screen.page.set_viewport_size({"width": viewport["width"], "height": 2000})
    screen.assert_accessible("an entry with exits")
    screen.assert_fits("an entry with exits")
    submit.click()
    dialog = screen.dialog("Limit: buy?")
    for sentence in (
        "Entry: Buys 2 BTC at 240 BRL or better.",
        "Take profit: Sells 2 BTC at 280 BRL or better.",
        "Stop loss: Sells when the last price is at or below 220 BRL.",
    ):
        expect(dialog).to_contain_text(sentence)
    screen.assert_accessible("the review of an entry with exits")
    assert orders.lists == []
    dialog.get_by_role("button", name="Buy BTC, limit").click()
    expect(screen.toast("Buy: Order placed")).to_be_visible()
    assert orders.asked == []
    exits = {"symbol": SYMBOL, "side": "sell", "quantity": "2"}
    stop = {"type": "stop_market", "stopPrice": "220", "triggerBy": "last", "maxSlippageBps": "100"}
    gtc = {"type": "limit", "timeInForce": "gtc"}
    assert orders.lists == [
        {
            "type": "bracket",
            "orders": [
                {"symbol": SYMBOL, "side": "buy", "quantity": "2", "price": "240", **gtc},
                {**exits, "price": "280", **gtc},
                {**exits, **stop},
            ],
        }
    ]

    expect(screen.row("Open orders", "Bracket 4f2a: take profit, waits for its entry")).to_be_visible()
    entry = screen.row("Open orders", "Bracket 4f2a: entry")
    expect(entry.get_by_role("button", name=re.compile("^Change "))).to_have_count(1)
    screen.assert_accessible("orders of a list")
    entry.get_by_role("button", name=re.compile("^Cancel ")).click()
    question = screen.dialog("Cancel buy 2 BTC-BRL at 240?")
    expect(question).to_contain_text("Exits of what it has filled stay. The others end with it.")
    screen.assert_accessible("the question before an order of a list is cancelled")
    question.get_by_role("button", name="Keep it").click()


@pytest.mark.proof
def test_oco_is_a_type_of_its_own_and_holds_the_funds_once(
    new_window: NewWindow, exchange: Exchange, trader: Trader
) -> None:
    screen = new_window(trader)
    orders = StubbedOrders(screen.page, trader.user_id)
    opened(screen, exchange)
    form = screen.page.get_by_role("form", name="Order form")
    screen.segment("Side", "Sell")
    screen.page.get_by_role("button", name="More order types").click()
    screen.page.get_by_role("menuitem", name=re.compile("^OCO ")).click()
    form.get_by_role("textbox", name="Price", exact=True).fill("280")
    form.get_by_role("textbox", name="Stop price").fill("220")
    screen.segment("Fires by", "Mark price")
    form.get_by_role("textbox", name="Limit once it fires").fill("219")
    expect(form.get_by_role("textbox", name="Slippage at most")).to_have_count(0)
    form.get_by_role("textbox", name="Amount").fill("3")
    screen.assert_accessible("the fields of an OCO")
    form.get_by_role("button", name="Sell BTC, OCO").click()
    dialog = screen.dialog("OCO: sell?")
    expect(dialog).to_contain_text("Limit: Sells 3 BTC at 280 BRL or better.")
    stop = "Stop: Sells when the mark price is at or below 220 BRL. Its limit is 219 BRL."
    expect(dialog).to_contain_text(stop)
    expect(dialog).to_contain_text("Until one of them has filled it, 3 BTC are held once for both.")
    dialog.get_by_role("button", name="Sell BTC, OCO").click()
    expect(screen.toast("Sell: Order placed")).to_be_visible()
    limit, stop = orders.lists[0]["orders"]
    assert limit["type"] == "limit"
    assert (stop["type"], stop["price"], stop["triggerBy"]) == ("stop_limit", "219", "mark")
    # Another type is one order again.
    screen.segment("Order type", "Limit")
    form.get_by_role("textbox", name="Amount").fill("3")
    form.get_by_text("Advanced").click()
    form.get_by_role("textbox", name="Show only").fill("4")
    expect(form.get_by_text("Less than the whole amount, and at least a hundredth of it.")).to_be_visible()
    form.get_by_role("textbox", name="Show only").fill("0.5")
    form.get_by_role("button", name="Sell BTC, limit").click()
    expect(screen.toast("Sell: Order placed").last).to_be_visible()
    expect(form.get_by_role("textbox", name="Amount")).to_have_value("")
    assert [order["displayQuantity"] for order in orders.asked] == ["0.5"]


@pytest.mark.proof
def test_the_trigger_of_a_stop_can_be_changed(new_window: NewWindow, exchange: Exchange, trader: Trader) -> None:
    screen = new_window(trader)
    asked = {"symbol": SYMBOL, "side": "sell", "type": "stop_market", "quantity": "3", "triggerBy": "last"}
    listed = waiting_order(trader.user_id, asked, stopPrice="220")
    StubbedOrders(screen.page, trader.user_id, [listed])
    changed: list[object] = []

    def amend(route: Route) -> None:
        changed.append(route.request.post_data_json)
        fulfil(route, listed | {"stopPrice": "230"})

    screen.page.route(re.compile(f"/api/v1/orders/{listed['orderId']}$"), amend)
    opened(screen, exchange, rules="complete")
    row = screen.row("Open orders", "waits for last ≤ 220")
    row.get_by_role("button", name=re.compile("^Change ")).click()
    field = screen.page.get_by_role("textbox", name=re.compile("^Stop price of "))
    expect(field).to_be_focused()
    expect(screen.page.get_by_role("textbox", name=re.compile("^Price of "))).to_have_count(0)
    field.fill("230")
    field.press("Enter")
    dialog = screen.dialog(f"Change the order to sell {SYMBOL}?")
    expect(dialog).to_contain_text("Sells when the last price is at or below 230 BRL.")
    dialog.get_by_role("button", name="Change the order").click()
    expect(screen.toast("Order changed")).to_be_visible()
    assert changed == [{"stopPrice": "230"}]


def test_the_take_profit_of_a_bracket_gets_another_price_in_its_row(
    new_window: NewWindow, exchange: Exchange, trader: Trader
) -> None:
    screen = new_window(trader)
    asked = {"symbol": SYMBOL, "side": "sell", "type": "limit", "quantity": "3", "price": "280"}
    listed = listed_order(trader.user_id, asked, "bracket", "take_profit")
    StubbedOrders(screen.page, trader.user_id, [listed])
    changed: list[object] = []

    def amend(route: Route) -> None:
        changed.append(route.request.post_data_json)
        fulfil(route, listed | {"price": "290"})

    screen.page.route(re.compile(f"/api/v1/orders/{listed['orderId']}$"), amend)
    opened(screen, exchange, rules="complete")
    row = screen.row("Open orders", "waits for its entry")
    row.get_by_role("button", name=re.compile("^Change ")).click()
    field = screen.page.get_by_role("textbox", name=re.compile("^Price of "))
    expect(field).to_be_focused()
    # The amount is that of all orders of the list.
    expect(screen.page.get_by_role("textbox", name=re.compile("^Amount of "))).to_have_count(0)
    field.fill("290")
    field.press("Enter")
    dialog = screen.dialog(f"Change the order to sell {SYMBOL}?")
    expect(dialog).to_contain_text("take profit, waits for its entry")
    expect(dialog).to_contain_text("The others of its list stay as they are.")
    dialog.get_by_role("button", name="Change the order").click()
    expect(screen.toast("Order changed")).to_be_visible()
    assert changed == [{"price": "290"}]


@pytest.mark.proof
@pytest.mark.parametrize(
    ("status", "title", "has_form"),
    [("auction", "Opening auction", True), ("announced", "Announced", False), ("delisted", "Delisted", False)],
)
def test_a_market_that_does_not_trade_says_why_and_since_when(
    new_window: NewWindow, exchange: Exchange, trader: Trader, status: str, title: str, has_form: bool
) -> None:
    screen = new_window(trader)
    markets = exchange.call("GET", "markets")
    for market in markets:
        if market["symbol"] == SYMBOL:
            schedule = [{"status": "open", "at": 4_073_500_800_000}]
            market |= {"status": status, "announcement": "Trading begins on Monday.", "schedule": schedule}
            market |= {"active": has_form}
    screen.page.route(re.compile("/api/v1/markets$"), lambda route: fulfil(route, markets))
    screen.go(f"/{SYMBOL}", SYMBOL)
    state = screen.page.get_by_role("region", name="State of the market")
    expect(state).to_contain_text(title)
    expect(state).to_contain_text("Trading begins on Monday.")
    expect(state).to_contain_text("2099")
    expect(screen.page.get_by_role("form", name="Order form")).to_have_count(1 if has_form else 0)
    screen.assert_accessible(f"a market that is {status}")
    screen.page.keyboard.press("/")
    listed = screen.page.get_by_role("list", name="Delisted" if status == "delisted" else "Markets")
    expect(listed.get_by_role("link", name=re.compile(f"^{SYMBOL}"))).to_be_visible()
    screen.assert_accessible("the list of markets")


@pytest.mark.proof
def test_the_form_offers_what_the_exchange_says_and_no_more(
    new_window: NewWindow, exchange: Exchange, trader: Trader
) -> None:
    screen = new_window(trader)
    types = ["limit", "market", "stop_market"]
    opened(screen, exchange, orderTypes=types, triggerSources=["last"], selfTradePreventionModes=[], orderListTypes=[])
    screen.page.get_by_role("button", name="More order types").click()
    expect(screen.page.get_by_role("menuitem")).to_have_count(3)
    screen.page.get_by_role("menuitem").first.press("Escape")
    expect(screen.page.get_by_role("menuitem")).to_have_count(0)
    choose_type(screen, "Stop market")
    form = screen.page.get_by_role("form", name="Order form")
    expect(form.get_by_role("textbox", name="Stop price")).to_be_visible()
    expect(form.get_by_role("radiogroup", name="Fires by")).to_have_count(0)
    expect(form.get_by_role("combobox", name="Time in force")).to_have_count(0)
    form.get_by_text("Advanced").click()
    expect(form.get_by_role("checkbox", name="One-click orders")).to_be_visible()
    expect(form.get_by_role("combobox", name="Self-trade prevention")).to_have_count(0)
    screen.segment("Order type", "Limit")
    expect(form.get_by_role("checkbox", name="Take profit, stop loss")).to_have_count(0)

    plain = new_window()
    opened(plain, exchange, orderTypes=["limit", "market"], orderListTypes=[])
    expect(plain.page.get_by_role("button", name="More order types")).to_have_count(0)


@pytest.mark.proof
def test_own_sizes_and_one_click_are_kept_for_the_account_and_the_lock_closes(
    new_window: NewWindow, exchange: Exchange, trader: Trader
) -> None:
    screen = new_window(trader)
    orders = StubbedOrders(screen.page, trader.user_id)
    opened(screen, exchange)
    form = screen.page.get_by_role("form", name="Order form")
    expect(form.get_by_role("button", name=re.compile("one-click"))).to_have_count(0)
    form.get_by_text("Advanced").click()
    sizes = form.get_by_role("textbox", name="Your sizes in BTC")
    sizes.fill("0.5 nothing")
    expect(form.get_by_text("Up to 4 amounts above zero, such as 0.1 0.5 1.")).to_be_visible()
    sizes.fill("0.5 2")
    form.get_by_role("combobox", name="Self-trade prevention").select_option("Cancel both")
    form.get_by_role("checkbox", name="One-click orders").check()
    screen.assert_accessible("advanced choices")

    choose_type(screen, "Stop market")
    screen.segment("Side", "Sell")
    form.get_by_role("textbox", name="Stop price").fill("240")
    form.get_by_role("button", name="2 BTC", exact=True).click()
    submit = form.get_by_role("button", name="Sell BTC, stop market")
    submit.click()
    screen.dialog("Stop market: sell?").get_by_role("button", name="Cancel", exact=True).click()
    form.get_by_role("button", name="Unlock one-click orders").click()
    submit.click()
    expect(screen.toast("Sell: Order placed")).to_be_visible()
    assert [(order["quantity"], order["selfTradePrevention"]) for order in orders.asked] == [("2", "cancel_both")]

    screen.page.reload()
    expect(form.get_by_role("button", name="Unlock one-click orders")).to_be_visible()
    expect(form.get_by_role("button", name="0.5 BTC", exact=True)).to_be_visible()

    # Another account of the same browser has habits of its own.
    other = exchange.register("waiting-other@example.com")
    stranger = new_window(other)
    opened(stranger, exchange)
    expect(stranger.page.get_by_role("group", name="Your sizes")).to_have_count(0)
