"""An operator lists a coin, its market and its network in the console, opens it, changes it, and delists it."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.support.console import Console
from tests.support.operator import Operator


def schedule_of(operator: Operator, symbol: str) -> list[tuple[str, int]]:
    """The statuses that the engine lets a market get by itself, each with its time in milliseconds since 1970."""
    return [
        (entry["status"], entry["at"]) for entry in operator.admin("GET", f"/listings/{symbol}")["terms"]["schedule"]
    ]


@pytest.mark.proof
def test_a_market_is_listed_opened_changed_and_delisted(console: Console, operator: Operator) -> None:
    page = console.page
    console.open("/listings", "Listings")
    page.get_by_role("link", name="List a market").click()
    expect(console.heading("List a market")).to_be_visible()
    send = page.get_by_role("button", name="List the market")
    expect(send).to_be_disabled()
    for name, value in (
        ("Base asset", "doge"), ("Quote asset", "USD"), ("Decimal places", "8"), ("Tick size", "0.0001"),
        ("Lot size", "0.1"), ("Least quantity", "1.05"), ("Largest quantity", "1000"),
    ):  # fmt: skip
        page.get_by_role("textbox", name=name).fill(value)
    page.get_by_role("textbox", name="Name", exact=True).fill("Dogecoin")
    page.get_by_role("textbox", name="Announcement").fill("Trading begins soon.")
    page.get_by_role("button", name="Add a network").click()
    for name, value in (
        ("Network", "dogecoin"), ("Confirmations", "20"), ("Least deposit", "1"), ("Withdrawal fee", "2"),
        ("Least withdrawal", "10"),
    ):  # fmt: skip
        page.get_by_role("textbox", name=name).fill(value)
    page.get_by_role("combobox", name="Address form").select_option("bitcoin")

    # The engine's own rules, before anything is sent.
    logo = page.get_by_role("textbox", name="Logo")
    logo.fill("pepe")
    expect(page.get_by_text("must name a picture: there is no pepe.svg and no pepe.png").first).to_be_visible()
    logo.fill("doge")
    expect(page.get_by_text("quantityMin and quantityMax must be multiples of lotSize").first).to_be_visible()
    expect(send).to_be_disabled()
    page.get_by_role("textbox", name="Least quantity").fill("1")
    page.get_by_role("textbox", name="Why").fill("asked for by many")
    expect(send).to_be_enabled()
    console.assert_accessible("a new listing")
    send.click()
    expect(console.toast("DOGE-USD is listed")).to_be_visible()
    row = console.row("Markets", "DOGE-USD")
    expect(row).to_contain_text("Announced")

    console.act("DOGE-USD", "Change status…")
    dialog = console.dialog("Change the status of DOGE-USD?")
    dialog.get_by_role("textbox", name="Reason").fill("the makers are there")
    dialog.get_by_role("button", name="Change the status").click()
    expect(row).to_contain_text("Open")
    assert operator.admin("GET", "/symbols/DOGE-USD")["active"] is True

    console.act("DOGE-USD", "Change…")
    dialog = console.dialog("Change DOGE-USD?")
    dialog.get_by_role("textbox", name="Taker fee in basis points").fill("30")
    dialog.get_by_role("textbox", name="Reason").fill("as decided")
    console.assert_accessible("a changed listing")
    dialog.get_by_role("button", name="Change the market").click()
    expect(row).to_contain_text("30 and 15 bps")

    expect(row).not_to_contain_text("staking")
    console.act("DOGE-USD", "Change offers…")
    dialog = console.dialog("Change what DOGE-USD offers?")
    dialog.get_by_role("checkbox", name="Staking").check()
    for name, value in (
        ("Yearly rate", "0.04"), ("Locked days", "0"), ("Unbonding days", "1"), ("Least stake", "0.000000001"),
        ("Most of one user", "100"), ("Most of all users", "1000"),
    ):  # fmt: skip
        dialog.get_by_role("textbox", name=name).fill(value)
    dialog.get_by_role("textbox", name="Reason").fill("asked for by many")
    console.assert_accessible("the offers of a market")
    console.expect_complaint("status of 400")
    change = dialog.get_by_role("button", name="Change the offers")
    change.click()
    expect(dialog.get_by_text("staking.minimum must have at most 8 decimal places")).to_be_visible()
    dialog.get_by_role("textbox", name="Least stake").fill("1")
    # A colleague has changed the market: the dialog shows that, and keeps what is typed.
    colleague = {"offers": ["conversions"], "reason": "a venue confirms its price"}
    operator.admin("PATCH", "/listings/DOGE-USD", colleague)
    console.expect_complaint("status of 409")
    change.click()
    expect(dialog.get_by_text("Somebody has changed the market meanwhile")).to_be_visible()
    expect(dialog.get_by_role("checkbox", name="Conversions")).to_be_checked()
    expect(dialog.get_by_role("checkbox", name="Staking")).to_be_checked()
    expect(dialog.get_by_role("textbox", name="Yearly rate")).to_have_value("0.04")
    change.click()
    expect(row).to_contain_text("staking")

    operator.fund("doge-buyer", USD="100")
    for _ in range(2):
        operator.place("doge-buyer", "buy", "1", "2", "DOGE-USD")
    console.act("DOGE-USD", "Cancel all orders…")
    dialog = console.dialog("Cancel all orders of DOGE-USD?")
    expect(dialog.get_by_role("row", name="Open orders")).to_contain_text("20")
    dialog.get_by_label("Type DOGE-USD to confirm").fill("DOGE-USD")
    dialog.get_by_role("textbox", name="Reason").fill("its price was wrong")
    console.assert_accessible("all orders of a market")
    dialog.get_by_role("button", name="Cancel the orders").click()
    expect(console.toast("2 orders of DOGE-USD cancelled")).to_be_visible()
    assert operator.call("ListOrders", symbol="DOGE-USD", status="OPEN")["orders"] == []

    console.act("DOGE-USD", "Delist…")
    dialog = console.dialog("Delist DOGE-USD?")
    dialog.get_by_label("Type DOGE-USD to confirm").fill("DOGE-USD")
    dialog.get_by_role("textbox", name="Reason").fill("the coin has ended")
    dialog.get_by_role("button", name="Delist the market").click()
    expect(row).to_contain_text("Delisted")

    console.act("DOGE-USD", "Show history")
    expect(console.heading("Changes of DOGE-USD")).to_be_visible()
    changes = console.table("Changes")
    expect(changes).to_contain_text("takerFee: 25 → 30")
    expect(changes).to_contain_text("offers: conversions → conversions, staking")
    expect(changes).to_contain_text("offers: conversions, staking → none")
    expect(changes).to_contain_text("as decided")
    expect(changes).to_contain_text("the coin has ended")
    assert operator.admin("GET", "/symbols/DOGE-USD")["active"] is False

    # The coin came with its network, and an operator changes the terms.
    networks = console.table("Networks of DOGE")
    expect(networks).to_contain_text("dogecoin")
    console.act("dogecoin", "Change…")
    dialog = console.dialog("Change DOGE on dogecoin?")
    dialog.get_by_role("textbox", name="Withdrawal fee").fill("3")
    dialog.get_by_role("textbox", name="Reason").fill("the chain is dear")
    console.assert_accessible("the networks of a coin")
    dialog.get_by_role("button", name="Change the terms").click()
    expect(console.toast("DOGE comes and goes over dogecoin")).to_be_visible()
    expect(console.row("Networks of DOGE", "dogecoin")).to_contain_text("3")
    # One trail has all of it, the edge's actions and the engine's.
    console.open("/trail?subject=DOGE-USD", "Audit trail")
    trail = console.table("Audit trail")
    for action in ("markets.list", "markets.change", "markets.cancel_orders", "markets.status"):
        expect(trail.get_by_role("row", name=action).first).to_be_visible()
    expect(trail).to_contain_text("its price was wrong")


@pytest.mark.proof
def test_a_market_of_margin_is_scheduled_first_and_the_dialog_says_who_needs_it(
    console: Console, operator: Operator
) -> None:
    page = console.page
    console.open("/listings", "Listings")

    def ask(button: str) -> None:
        dialog.get_by_label("Type SOL-BRL to confirm").fill("SOL-BRL")
        dialog.get_by_role("textbox", name="Reason").fill("the coin has ended")
        dialog.get_by_role("button", name=button).click()

    console.act("SOL-BRL", "Delist…")
    dialog = console.dialog("Delist SOL-BRL?")
    console.expect_complaint("status of 409")
    ask("Delist the market")
    expect(dialog.get_by_text("Its delisting has to be scheduled first")).to_be_visible()
    console.assert_accessible("a delisting")
    dialog.get_by_label("Later, at", exact=True).fill(f"{datetime.now(UTC) + timedelta(days=30):%Y-%m-%dT%H:%M}")
    ask("Schedule the delisting")
    expect(console.toast("The delisting of SOL-BRL is scheduled")).to_be_visible()
    row = console.row("Markets", "SOL-BRL")
    expect(row).to_contain_text("Delisting")
    expect(row).to_contain_text("Open")

    # What the edge answers while accounts need it is proved in tests/integration/margin.
    message = "symbol: margin accounts need SOL-BRL: 2 (1 open on it, SOL held by 2)"
    refusal = {"statusCode": 409, "error": "Conflict", "code": "MARKET_NEEDED_ON_MARGIN", "message": message}

    def refuse(route: Route) -> None:
        route.fulfill(status=409, content_type="application/json", body=json.dumps(refusal))

    page.route("**/operator/markets/SOL-BRL/delisting", refuse)
    console.act("SOL-BRL", "Delist…")
    dialog = console.dialog("Delist SOL-BRL?")
    console.expect_complaint("status of 409")
    ask("Delist the market")
    expect(dialog.get_by_text("Margin accounts still need this market")).to_be_visible()
    expect(dialog.get_by_text(message)).to_be_visible()
    dialog.get_by_role("button", name="Keep the market").click()

    console.act("SOL-BRL", "Change times…")
    dialog = console.dialog("Change the times of SOL-BRL?")
    dialog.get_by_role("button", name="Empty Delisting from").click()
    dialog.get_by_role("textbox", name="Reason").fill("it stays")
    dialog.get_by_role("button", name="Change the times").click()
    expect(row).not_to_contain_text("Delisting")
    assert schedule_of(operator, "SOL-BRL") == []


@pytest.mark.proof
def test_the_times_of_a_market_are_changed_and_taken_back(console: Console, operator: Operator) -> None:
    symbol = operator.list_for_traders("TIMED", status="announced")
    days = [f"{datetime.now(UTC) + timedelta(days=number):%Y-%m-%dT12:00}" for number in range(1, 6)]
    console.open("/listings", "Listings")
    console.act(symbol, "Change times…")
    dialog = console.dialog(f"Change the times of {symbol}?")
    change = dialog.get_by_role("button", name="Change the times")

    def field(name: str) -> Locator:
        return dialog.get_by_label(f"{name} from", exact=True)

    dialog.get_by_role("textbox", name="Reason").fill("the makers come later")
    field("Post-only").fill("2020-01-01T00:00")
    expect(dialog.get_by_text("It must be in the future.")).to_be_visible()
    field("Post-only").fill(days[1])
    field("Auction").fill(days[0])
    expect(dialog.get_by_text("It must be after Post-only.")).to_be_visible()
    expect(change).to_be_disabled()
    console.assert_accessible("times with a fault")
    field("Auction").fill(days[2])
    field("Open").fill(days[3])
    # A time that is half typed is not taken for none.
    field("Open").focus()
    console.page.keyboard.press("Backspace")
    expect(dialog.get_by_text("Complete the date and the time, or empty the field.")).to_be_visible()
    expect(change).to_be_disabled()
    field("Open").fill(days[3])
    # Colleagues were faster: the dialog follows, says so, and keeps what is typed.
    operator.admin("PUT", f"/listings/{symbol}/status", {"status": "post-only", "reason": "the makers are there"})
    expect(dialog.get_by_text("Status: Announced, now Post-only.")).to_be_visible()
    expect(dialog.get_by_text("The time that you typed for Post-only cannot come any more.")).to_be_visible()
    expect(field("Post-only")).to_have_count(0)
    expect(field("Auction")).to_have_value(days[2])
    at = int(datetime.fromisoformat(f"{days[4]}Z").timestamp() * 1000)
    colleague = {"schedule": [{"status": "delisting", "at": at}], "reason": "the coin ends"}
    operator.admin("PATCH", f"/listings/{symbol}", colleague)
    later = f"{days[4].replace('T', ' ')} UTC"
    expect(dialog.get_by_text(f"Delisting from: none, now {later}.")).to_be_visible()
    expect(field("Delisting")).to_have_value(days[4])
    expect(field("Open")).to_have_value(days[3])
    console.assert_accessible("times of a market that has changed")
    change.click()
    expect(console.toast(f"The times of {symbol} are changed")).to_be_visible()
    row = console.row("Markets", symbol)
    expect(row).to_contain_text("Post-only")
    assert [status for status, _ in schedule_of(operator, symbol)] == ["auction", "open", "delisting"]

    console.act(symbol, "Delist…")
    delisting = console.dialog(f"Delist {symbol}?")
    delisting.get_by_label("Later, at", exact=True).fill(days[3])
    comparison = delisting.get_by_role("row", name="Delisting")
    expect(comparison).to_contain_text(f"{days[4].replace('T', ' ')} UTC")
    delisting.get_by_role("button", name="Keep the market").click()

    console.act(symbol, "Change times…")
    for status in ("Auction", "Delisting"):
        dialog.get_by_role("button", name=f"Empty {status} from").click()
    dialog.get_by_role("textbox", name="Reason").fill("it opens at once")
    change.click()
    expect(row).not_to_contain_text("Auction")
    at = int(datetime.fromisoformat(f"{days[3]}Z").timestamp() * 1000)
    assert schedule_of(operator, symbol) == [("open", at)]
