"""The orders and trades of all users in the console, for operators who are no participants of the engine."""

import re
import secrets
from typing import Any

import pytest
from playwright.sync_api import expect

from openspot.http.operators import OperatorRole
from openspot.up.child_platform import ChildPlatform
from tests.support.console import OPPOSITE_LOOKS, Console
from tests.support.console_operators import log_in_with
from tests.support.trading_screen import Exchange, Trader


def new_trader(exchange: Exchange, coin: str) -> Trader:
    trader = exchange.register(f"{secrets.token_hex(6)}@example.org")
    exchange.deposit([(trader, "USD", "10000"), (trader, coin, "10")])
    return trader


def place(exchange: Exchange, trader: Trader, coin: str, side: str, price: str) -> str:
    """Place a limit order for 0.1 of the coin, and return its id."""
    body = {"symbol": f"{coin}-USD", "side": side, "type": "limit", "quantity": "0.1", "price": price}
    order: dict[str, Any] = exchange.call("POST", "orders", body, trader.tokens["accessToken"])
    return str(order["orderId"])


def status_of(exchange: Exchange, trader: Trader, order_id: str) -> str:
    return str(exchange.call("GET", f"orders/{order_id}", token=trader.tokens["accessToken"])["status"])


@pytest.mark.proof
def test_market_operations_cancel_one_order_and_all_of_its_user_without_the_engine(
    visitor: Console, platform: ChildPlatform, exchange: Exchange, coin: str
) -> None:
    first, second = new_trader(exchange, coin), new_trader(exchange, coin)
    low, lower = place(exchange, first, coin, "buy", "2400"), place(exchange, first, coin, "buy", "2390")
    other = place(exchange, second, coin, "buy", "2380")
    log_in_with(visitor, platform, OperatorRole.MARKET_OPERATIONS, page="/")
    page = visitor.page
    page.get_by_role("link", name="All orders", exact=True).click()
    expect(visitor.heading("All orders")).to_be_visible()
    # The filters are in the address, and a view keeps them.
    page.get_by_role("textbox", name="Market").fill(f"{coin}-USD".lower())
    page.get_by_role("textbox", name="Market").press("Enter")
    visitor.choose("Status", "Still open")
    page.wait_for_url(re.compile(rf"symbol={coin}-USD.*status=pending"))
    expect(visitor.row("All orders", low)).to_be_visible()
    expect(visitor.row("All orders", other)).to_contain_text(second.user_id)
    visitor.look_over("all orders", OPPOSITE_LOOKS)

    visitor.act(f"order {low}", "Cancel the order…")
    dialog = visitor.dialog(f"Cancel order {low}?")
    confirm = dialog.get_by_role("button", name="Cancel the order")
    expect(dialog).to_contain_text(f"for {first.user_id}")
    dialog.get_by_role("textbox", name="Reason").fill("fat finger, ticket 9")
    expect(confirm).to_be_disabled()
    dialog.get_by_label("Type CANCEL to confirm").fill("CANCEL")
    visitor.look_over("cancel an order", OPPOSITE_LOOKS)
    confirm.click()
    expect(visitor.toast(f"Order {low} is cancelled")).to_be_visible()
    expect(visitor.row("All orders", low)).to_have_count(0)
    assert status_of(exchange, first, low) == "cancelled"

    # Chosen orders stand for their users: the dialog says whose orders go, and a dry run comes first.
    page.get_by_role("checkbox", name=f"Choose order {lower}").check()
    bar = page.get_by_role("group", name="Chosen rows")
    expect(bar).to_contain_text("1 order chosen")
    bar.get_by_role("button", name="Do with them").click()
    page.get_by_role("menuitem", name="Cancel all open orders of their users…").click()
    several = visitor.dialog("Cancel the open orders?")
    expect(several).to_contain_text(f"every open order of 1 user goes, {first.user_id}")
    several.get_by_role("textbox", name="Reason").fill("bot runs wild")
    several.get_by_role("button", name="Dry run").click()
    expect(several.get_by_role("region", name="What would happen")).to_contain_text("Would be done")
    assert status_of(exchange, first, lower) == "open"
    several.get_by_role("button", name="Cancel the open orders", exact=True).click()
    expect(several.get_by_role("region", name="What happened")).to_contain_text("Done")
    several.get_by_text("Close", exact=True).click()
    expect(visitor.row("All orders", lower)).to_have_count(0)
    assert status_of(exchange, first, lower) == "cancelled"
    assert status_of(exchange, second, other) == "open"
    # What ended stays in the list, and cannot be cancelled once more.
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_role("button", name=f"Actions for order {low}", exact=True).click()
    expect(page.get_by_role("menuitem", name="Cancel the order…")).to_be_disabled()
    visitor.close_menu()
    assert visitor.admin_calls() == []


@pytest.mark.proof
def test_support_reads_all_trades_and_neither_saves_nor_cancels_anything(
    visitor: Console, platform: ChildPlatform, exchange: Exchange, coin: str
) -> None:
    maker, taker = new_trader(exchange, coin), new_trader(exchange, coin)
    resting = place(exchange, maker, coin, "sell", "2500")
    place(exchange, taker, coin, "buy", "2500")
    log_in_with(visitor, platform, OperatorRole.SUPPORT, page=f"/all-trades?symbol={coin}-USD&side=buy")
    page = visitor.page
    expect(visitor.heading("All trades")).to_be_visible()
    row = visitor.row("All trades", maker.user_id, taker.user_id)
    expect(row).to_contain_text("2,500")
    expect(page.get_by_role("button", name="Save as a file")).to_be_disabled()
    visitor.look_over("all trades", OPPOSITE_LOOKS)
    row.get_by_role("link", name=taker.user_id).click()
    expect(visitor.heading(taker.email)).to_be_visible()
    visitor.open(f"/all-orders?user={maker.user_id}", "All orders")
    page.get_by_role("button", name=f"Actions for order {resting}", exact=True).click()
    expect(page.get_by_role("menuitem", name="Cancel the order…")).to_be_disabled()
    assert visitor.admin_calls() == []


@pytest.mark.proof
def test_both_lists_are_narrowed_by_days_and_saved_as_files(console: Console, exchange: Exchange, coin: str) -> None:
    trader = new_trader(exchange, coin)
    order_id = place(exchange, trader, coin, "buy", "2450")
    page = console.page
    console.open(f"/all-orders?user={trader.user_id}&from=2020-01-01", "All orders")
    expect(console.row("All orders", order_id)).to_be_visible()
    lines = console.save_as_file("orders.csv").read_text().splitlines()
    assert len(lines) == 2 and lines[1].startswith(order_id)
    for path, heading, empty, name in (
        ("/all-orders", "All orders", "No orders", "orders"),
        ("/all-trades", "All trades", "No trades", "trades"),
    ):
        console.open(f"{path}?to=2020-01-01", heading)
        expect(page.get_by_text(empty, exact=True)).to_be_visible()
        assert len(console.save_as_file(f"{name}.csv").read_text().splitlines()) == 1, name
        page.get_by_role("button", name="Clear filters").click()
        expect(page).not_to_have_url(re.compile("2020"))
