"""Dashboard, orders, trades, symbols and currencies in the console."""

import re

import pytest
from playwright.sync_api import expect

from openspot.up.child_platform import ChildPlatform
from tests.support.console import Console
from tests.support.operator import Operator, OperatorError

pytestmark = pytest.mark.usefixtures("participants")


@pytest.fixture
def book(operator: Operator, market: str) -> str:
    """A market that both have funds for."""
    for name in ("alice", "bob"):
        operator.fund(name, USD="1000", **{market.split("-")[0]: "100"})
    return market


@pytest.mark.proof
@pytest.mark.spec("B4.4-40")
def test_the_dashboard_follows_the_exchange(console: Console, operator: Operator, book: str) -> None:
    console.open("/", "Dashboard")
    stats = operator.call("GetExchangeStats")
    tile = console.page.get_by_role("main").get_by_role("link", name=re.compile("^Trades"))
    expect(tile).to_contain_text(f"{int(stats['trades']['count']):,}")
    expect(console.page.get_by_text(stats["matching"]["core"], exact=True)).to_be_visible()
    operator.place("alice", "sell", "3", "2", book)
    operator.place("bob", "buy", "3", "1.5", book)
    expect(tile).to_contain_text(f"{int(stats['trades']['count']) + 1:,}")
    after = operator.call("GetExchangeStats")
    expect(console.row("Traded by symbol", book)).to_contain_text(after["trades"]["volumeBySymbol"][book])
    expect(console.page.get_by_role("main").get_by_role("link", name=re.compile("^Participants"))).to_contain_text(
        f"{after['participants']['active']} active"
    )
    for name in ("Orders placed, per second", "Trades, per second", "Open orders, orders", "Queue depth, commands"):
        expect(console.page.get_by_role("slider", name=name)).to_be_visible()
    console.assert_accessible("dashboard")


@pytest.mark.proof
def test_a_graph_is_read_with_the_keyboard(console: Console) -> None:
    console.open("/", "Dashboard")
    graph = console.page.get_by_role("slider", name="Open orders, orders")
    expect(graph).not_to_have_attribute("aria-valuemax", re.compile("^[0-2]$"))
    graph.focus()
    graph.press("Home")
    expect(graph).to_have_attribute("aria-valuenow", "0")
    expect(graph).to_have_attribute("aria-valuetext", re.compile(r"^[\d,]+ orders at \d\d:\d\d:\d\d$"))
    graph.press("ArrowRight")
    expect(graph).to_have_attribute("aria-valuenow", "1")


@pytest.mark.spec("A1.1-21", "B4.4-49", "A2.1-12")
def test_orders_are_filtered_by_an_address_that_can_be_shared(console: Console, operator: Operator, book: str) -> None:
    resting = operator.place("alice", "buy", "51.5", "1", book)
    filled = operator.place("bob", "sell", "51.5", "0.25", book)
    console.open("/orders", "Orders")
    expect(console.row("Orders", resting)).to_contain_text("Partially filled")
    expect(console.row("Orders", resting)).to_contain_text("51.50")
    expect(console.row("Orders", resting)).to_contain_text("0.7500")
    expect(console.row("Orders", filled)).to_contain_text("Filled")
    console.choose("Status", "Partially filled")
    expect(console.row("Orders", filled)).to_have_count(0)
    console.choose("Symbol", book)
    field = console.page.get_by_role("textbox", name="Participant id")
    field.fill("alice")
    field.press("Enter")
    expect(console.row("Orders", resting)).to_have_count(1)
    for part in ("participant=alice", f"symbol={book}", "status=PARTIALLY_FILLED"):
        expect(console.page).to_have_url(re.compile(re.escape(part)))
    console.page.reload()
    expect(console.row("Orders", resting)).to_have_count(1)
    field.fill("nobody-at-all")
    field.press("Enter")
    expect(console.page.get_by_text("No order matches")).to_be_visible()
    console.assert_accessible("no order matches")
    console.page.get_by_role("button", name="Clear filters").click()
    expect(console.row("Orders", filled)).to_have_count(1)


@pytest.mark.proof
@pytest.mark.spec("B4.4-50", "A1.4-07")
def test_an_order_is_force_cancelled_after_a_reason_and_a_word(
    console: Console, operator: Operator, platform: ChildPlatform, book: str
) -> None:
    order_id = operator.place("alice", "buy", "42", "1.5", book)
    console.open("/orders?participant=alice&status=OPEN", "Orders")
    console.act(f"order {order_id}", "Force-cancel…")
    dialog = console.dialog(f"Force-cancel order {order_id}?")
    expect(dialog.get_by_role("row", name="Status")).to_contain_text(re.compile("Open.*Cancelled"))
    expect(dialog.get_by_role("row", name="Quantity in the book")).to_contain_text("1.5000")
    console.assert_accessible("force-cancel")
    confirm = dialog.get_by_role("button", name="Cancel the order")
    dialog.get_by_label("Type CANCEL to confirm").fill("cancel")
    dialog.get_by_label("Reason").fill("ticket 99: fat finger")
    expect(confirm).to_be_disabled()
    dialog.get_by_label("Type CANCEL to confirm").fill("CANCEL")
    confirm.click()
    expect(console.toast(f"Order {order_id} is cancelled")).to_be_visible()
    expect(console.row("Orders", order_id)).to_have_count(0)
    assert operator.order(order_id)["status"] == "CANCELLED"
    log = platform.log_path.read_text("utf-8")
    (line,) = (line for line in log.splitlines() if "cancelled an order" in line and order_id in line)
    assert '"reason": "ticket 99: fat finger"' in line and '"by": "admin"' in line


@pytest.mark.proof
def test_an_order_that_was_cancelled_meanwhile_is_explained(console: Console, operator: Operator, book: str) -> None:
    order_id = operator.place("alice", "buy", "43", "1", book)
    console.open("/orders?participant=alice&status=OPEN", "Orders")
    console.act(f"order {order_id}", "Force-cancel…")
    operator.call("CancelOrderAdmin", orderId=order_id)
    dialog = console.dialog(f"Force-cancel order {order_id}?")
    dialog.get_by_label("Reason").fill("a try")
    dialog.get_by_label("Type CANCEL to confirm").fill("CANCEL")
    dialog.get_by_role("button", name="Cancel the order").click()
    expect(dialog.get_by_role("alert")).to_contain_text("there is no such open order")
    expect(dialog.get_by_role("alert")).to_contain_text("filled or cancelled meanwhile")
    dialog.get_by_role("button", name="Keep it").click()
    expect(dialog).to_be_hidden()


@pytest.mark.proof
def test_an_ended_order_cannot_be_cancelled_and_says_why(console: Console, operator: Operator, book: str) -> None:
    order_id = operator.place("alice", "buy", "44", "1", book)
    operator.call("CancelOrderAdmin", orderId=order_id)
    console.open("/orders?participant=alice&status=CANCELLED", "Orders")
    console.page.get_by_role("button", name=f"Actions for order {order_id}").click()
    item = console.page.get_by_role("menuitem", name="Only open orders can be cancelled.")
    expect(item).to_have_attribute("aria-disabled", "true")


@pytest.mark.proof
@pytest.mark.spec("B4.4-51")
def test_trades_are_filtered_and_their_ids_copied(console: Console, operator: Operator, book: str) -> None:
    operator.place("alice", "sell", "77.7", "0.125", book)
    operator.place("bob", "buy", "77.7", "0.125", book)
    trade = operator.call("ListTrades", participantId="bob", limit=1)["trades"][0]
    console.open(f"/trades?participant=bob&symbol={book}", "Trades")
    row = console.row("Trades", trade["tradeId"])
    for text in ("77.70", "0.1250", "alice", "bob", "Buy", f"{trade['takerFee']} USD"):
        expect(row).to_contain_text(text)
    console.act(f"trade {trade['tradeId']}", "Copy taker's order id")
    expect(console.toast("Copied")).to_contain_text(trade["takerOrderId"])
    assert console.page.evaluate("navigator.clipboard.readText()") == trade["takerOrderId"]
    console.assert_accessible("trades")


@pytest.mark.proof
@pytest.mark.spec("A1.1-23", "B4.4-11", "B4.4-12", "B4.4-13", "B4.4-14")
def test_a_currency_is_created_changed_and_deleted(console: Console, operator: Operator) -> None:
    console.open("/currencies", "Currencies")
    console.page.get_by_role("button", name="New currency").click()
    dialog = console.dialog("New currency")
    dialog.get_by_role("textbox", name="Currency").fill("g")
    expect(dialog.get_by_text("2 to 10 capital letters or digits are needed.")).to_be_visible()
    dialog.get_by_role("textbox", name="Currency").fill("gold")
    dialog.get_by_role("textbox", name="Name").fill("Gold, an ounce")
    dialog.get_by_role("textbox", name="Decimal places").fill("19")
    expect(dialog.get_by_text("A whole number from 0 to 18 is needed.")).to_be_visible()
    dialog.get_by_role("textbox", name="Decimal places").fill("6")
    console.assert_accessible("new currency")
    dialog.get_by_label("Reason").fill("asked for by many")
    dialog.get_by_role("button", name="Create the currency").click()
    expect(console.row("Currencies", "GOLD")).to_contain_text("Gold, an ounce")
    console.act("GOLD", "Change…")
    dialog = console.dialog("Change GOLD")
    dialog.get_by_role("textbox", name="Name").fill("Gold")
    dialog.get_by_label("Reason").fill("a shorter name")
    dialog.get_by_role("button", name="Change the currency").click()
    expect(console.toast("GOLD is changed")).to_be_visible()
    currency = operator.admin("GET", "/currencies/GOLD")
    assert (currency["name"], currency["places"]) == ("Gold", 6)
    console.act("GOLD", "Delete…")
    dialog = console.dialog("Delete GOLD?")
    dialog.get_by_label("Reason").fill("a mistake")
    dialog.get_by_label("Type GOLD to confirm").fill("GOLD")
    dialog.get_by_role("button", name="Delete the currency").click()
    expect(console.toast("GOLD is deleted")).to_be_visible()
    expect(console.row("Currencies", "GOLD")).to_have_count(0)
    with pytest.raises(OperatorError, match="404"):
        operator.admin("GET", "/currencies/GOLD")


@pytest.mark.proof
def test_a_currency_in_use_is_kept_and_the_refusal_explained(console: Console) -> None:
    console.expect_complaint("409")
    console.open("/currencies", "Currencies")
    console.act("BTC", "Delete…")
    dialog = console.dialog("Delete BTC?")
    dialog.get_by_label("Reason").fill("a mistake")
    dialog.get_by_label("Type BTC to confirm").fill("BTC")
    dialog.get_by_role("button", name="Delete the currency").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Delete its symbols and take its balances out first.")


@pytest.mark.spec("A1.1-23", "B4.4-07", "B4.4-08", "B4.4-09", "B4.4-10", "B4.4-15", "B4.4-59")
def test_a_symbol_is_created_changed_and_deleted_once_its_orders_are_gone(
    console: Console, operator: Operator, book: str
) -> None:
    for currency in ("AAA", "BBB"):
        operator.admin("POST", "/currencies", {"currency": currency})
    console.expect_complaint("409")
    console.open("/symbols", "Symbols")
    console.page.get_by_role("link", name="New symbol").click()
    page = console.page
    create = page.get_by_role("button", name="Create the symbol")
    expect(create).to_be_disabled()
    console.choose("Base currency", "AAA")
    console.choose("Quote currency", "BBB")
    page.get_by_role("textbox", name="Tick size").fill("0.00000001")
    page.get_by_role("textbox", name="Lot size").fill("0.00000001")
    expect(page.get_by_text("8 + 8 = 16 places are too many: take a coarser tick or lot.").first).to_be_visible()
    page.get_by_role("textbox", name="Tick size").fill("0.01")
    page.get_by_role("textbox", name="Lot size").fill("0.0001")
    page.get_by_role("textbox", name="Maker fee").fill("-30")
    expect(page.get_by_text("A rebate of 30 is more than the taker fee of 20.").first).to_be_visible()
    console.assert_accessible("checks of a new symbol")
    expect(create).to_be_disabled()
    page.get_by_role("textbox", name="Maker fee").fill("-5")
    expect(create).to_be_disabled()
    page.get_by_role("textbox", name="Reason").fill("ticket 20: für Zürich")
    create.click()
    expect(console.toast("AAA-BBB is created")).to_contain_text("nobody can trade it")
    row = console.row("Symbols", "AAA-BBB")
    expect(row).to_contain_text("−5 bps")
    spec = operator.admin("GET", "/symbols/AAA-BBB")
    assert (spec["tickSize"], spec["lotSize"], spec["takerFee"], spec["makerFee"]) == ("0.01", "0.0001", 20, -5)

    console.act("AAA-BBB", "Change fees…")
    dialog = console.dialog("Change the fees of AAA-BBB")
    dialog.get_by_role("textbox", name="Taker fee").fill("25")
    dialog.get_by_label("Reason").fill("as decided")
    dialog.get_by_role("button", name="Change the fees").click()
    expect(row).to_contain_text("25 bps")

    operator.fund("alice", BBB="1000")
    order_id = operator.place("alice", "buy", "1", "1", "AAA-BBB")
    console.act("AAA-BBB", "Delete…")
    dialog = console.dialog("Delete AAA-BBB?")
    expect(dialog.get_by_role("note")).to_contain_text("1 open order is in its book")
    dialog.get_by_label("Reason").fill("it ends")
    dialog.get_by_label("Type AAA-BBB to confirm").fill("AAA-BBB")
    dialog.get_by_role("button", name="Delete the symbol").click()
    expect(dialog.get_by_role("alert")).to_contain_text("SYMBOL_HAS_OPEN_ORDERS")
    expect(dialog.get_by_role("alert")).to_contain_text("Cancel the symbol's open orders first.")
    console.assert_accessible("refused deletion")
    dialog.get_by_role("button", name="Cancel", exact=True).click()

    console.act("AAA-BBB", "Deactivate…")
    dialog = console.dialog("Deactivate AAA-BBB?")
    dialog.get_by_label("Reason").fill("it ends")
    dialog.get_by_label("Type AAA-BBB to confirm").fill("AAA-BBB")
    dialog.get_by_role("button", name="Deactivate").click()
    expect(row).to_contain_text("Inactive")
    with pytest.raises(OperatorError, match="SYMBOL_INACTIVE"):
        operator.place("alice", "buy", "1", "1", "AAA-BBB")
    operator.call("CancelOrderAdmin", orderId=order_id)
    console.act("AAA-BBB", "Delete…")
    dialog = console.dialog("Delete AAA-BBB?")
    dialog.get_by_label("Reason").fill("it ends")
    dialog.get_by_label("Type AAA-BBB to confirm").fill("AAA-BBB")
    dialog.get_by_role("button", name="Delete the symbol").click()
    expect(console.toast("AAA-BBB is deleted")).to_be_visible()
    expect(row).to_have_count(0)
    assert "AAA-BBB" not in [symbol["symbol"] for symbol in operator.call("ListSymbols")["symbols"]]
