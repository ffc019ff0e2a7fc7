"""Between a phone and a desk: lists at 1024 px show what they are opened for, and long addresses fit a phone."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.console import PHONE, Console
from tests.support.operator import Operator
from tests.support.trading_screen import Exchange, NewWindow

pytestmark = pytest.mark.proof

SMALL_DESK = {"width": 1024, "height": 800}
CONSOLE_PAGES = (
    ("/", "Dashboard"), ("/orders", "Orders"), ("/trades", "Trades"), ("/participants", "Participants"),
    ("/users", "Users"), ("/balances", "Balances"), ("/risk", "Risk"), ("/symbols", "Symbols"),
    ("/treasury", "Treasury"), ("/withdrawals", "Withdrawals"), ("/reports", "Reports"), ("/alerts", "Alerts"),
    ("/trail", "Audit trail"), ("/health", "Health"),
)  # fmt: skip
ADDRESS = "addr1q" + "x8z9" * 21
"""As long as the longest that the networks have."""
ROOM = "table => [table.parentElement.scrollWidth, table.parentElement.clientWidth]"
IS_IN_SIGHT = """cell => {
    const list = cell.closest("table").parentElement.getBoundingClientRect();
    const own = cell.getBoundingClientRect();
    return own.left >= list.left && own.right <= list.right;
}"""
TOO_WIDE = """dialog => [...dialog.querySelectorAll("*")]
    .filter((element) => element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1)
    .filter((element) => !element.closest("button") && getComputedStyle(element).textOverflow !== "ellipsis")
    .map((element) => `${element.tagName} ${element.className}: ${element.textContent.slice(0, 80)}`)"""
WIDTHS_OF_LETTER = """(text) => ["9x9", "yxy"].map((around) => {
    text.textContent = around;
    const letter = document.createRange();
    letter.setStart(text.firstChild, 1);
    letter.setEnd(text.firstChild, 2);
    return Math.round(letter.getBoundingClientRect().width * 100);
})"""


def assert_in_sight(table: Locator, title: str) -> None:
    """Fail if a column is not wholly seen before the list is scrolled sideways."""
    head = table.get_by_role("columnheader", name=title, exact=True)
    expect(head).to_be_visible()
    assert head.evaluate(IS_IN_SIGHT), f"{title} lies outside the list"


def test_the_console_fits_a_small_desk_and_its_lists_show_what_they_are_opened_for(
    console: Console, operator: Operator, market: str
) -> None:
    operator.create("narrow")
    operator.fund("narrow", USD="1000")
    operator.place("narrow", "buy", "10", "1", market)
    page = console.page
    page.set_viewport_size(SMALL_DESK)
    for path, heading in CONSOLE_PAGES:
        console.open(path, heading)
        console.assert_fits(f"{heading}, 1024 px")
    expect(page.get_by_role("navigation", name="Pages of the console")).not_to_be_in_viewport()
    console.open("/balances", "Balances")
    scrolled, seen = console.table("Balances").evaluate(ROOM)
    assert scrolled <= seen
    for path, heading, table, columns in (
        ("/orders", "Orders", "Orders", ("Participant", "Status")),
        ("/treasury", "Treasury", "House accounts", ("Level", "State")),
        ("/alerts", "Alerts", "Alerts", ("Why", "First")),
    ):
        console.open(path, heading)
        for column in columns:
            assert_in_sight(console.table(table), column)
    page.get_by_role("button", name="Open the navigation").click()
    page.get_by_role("link", name="Treasury").click()
    expect(console.heading("Treasury")).to_be_visible()
    page.set_viewport_size({"width": 1440, "height": 900})
    for column in ("Level", "Ledger", "State"):
        assert_in_sight(console.table("House accounts"), column)


def test_a_withdrawal_to_a_long_address_fits_a_phone_and_a_failed_one_names_no_transaction(
    new_window: NewWindow, exchange: Exchange
) -> None:
    trader = exchange.register("long-address@example.com")
    screen = new_window(trader, viewport=PHONE)
    page = screen.page
    serve(page, "**/users/me/withdrawal-addresses*", [saved()])
    serve(page, "**/accounts/withdrawals*", [failed()])
    screen.go("/withdrawals", "Withdraw")
    expect(screen.row("Withdrawals", "Failed")).to_contain_text(ADDRESS)
    screen.assert_fits("withdrawals to a long address, 390 px")
    assert len(set(screen.row("Saved addresses", ADDRESS).locator(".figures").first.evaluate(WIDTHS_OF_LETTER))) == 1

    screen.act("Wallet", "Delete it…")
    expect(screen.dialog("Delete Wallet?")).to_contain_text(ADDRESS)
    assert screen.dialog("Delete Wallet?").evaluate(TOO_WIDE) == []
    page.keyboard.press("Escape")

    screen.act("2.13 SOL", "Show its steps")
    dialog = screen.dialog("Withdrawal of 2.13 SOL")
    expect(dialog).to_contain_text("the recipient is on a list of the network")
    expect(dialog).to_contain_text("Nothing was sent")
    expect(dialog.get_by_role("button", name=re.compile("^Copy address"))).to_be_visible()
    expect(dialog.get_by_role("button", name=re.compile("^Copy transaction"))).to_have_count(0)


def serve(page: Page, path: str, rows: list[dict[str, Any]]) -> None:
    """Answer a list in the exchange's place: no network that runs here has such addresses, or refuses anything."""

    def answer(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, body=json.dumps(rows))

    page.route(path, answer)


def saved() -> dict[str, Any]:
    """A saved address."""
    return {
        "id": "saved", "label": "Wallet", "asset": "SOL", "network": "solana", "address": ADDRESS, "tag": None,
        "isOwn": True, "beneficiary": None, "availableAt": "2026-11-29T10:00:00Z", "createdAt": "2026-11-29T10:00:00Z",
        "simulated": False,
    }  # fmt: skip


def failed() -> dict[str, Any]:
    """A withdrawal that the network refused: it had been signed, so it has a hash."""
    return {
        "id": "refused", "clientWithdrawalId": None, "wallet": "HOT", "asset": "SOL",
        "network": "solana", "amount": "2.13", "fee": "0.01", "netAmount": "2.12",
        "address": ADDRESS, "tag": None, "status": "failed", "reason": "the recipient is on a list of the network",
        "txHash": "0x" + "ab" * 32, "confirmations": 0, "requiredConfirmations": 32,
        "createdAt": "2026-11-29T10:00:00Z", "updatedAt": "2026-11-29T10:00:10Z",
    }  # fmt: skip
