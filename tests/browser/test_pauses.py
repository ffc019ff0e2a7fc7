"""A pause of withdrawals: an operator begins and ends it, and users read why they cannot withdraw."""

import pytest
from playwright.sync_api import expect

from tests.support.console import OPPOSITE_LOOKS, Console
from tests.support.stub_orders import fulfil
from tests.support.trading_screen import Exchange, NewWindow

pytestmark = pytest.mark.proof

NETWORKS = "Networks of BTC"


def test_an_operator_pauses_withdrawals_and_users_read_it(
    new_window: NewWindow, exchange: Exchange, console: Console
) -> None:
    trader = exchange.register("paused@example.com")
    exchange.deposit([(trader, "BTC", "1")])
    console.open("/listings/BTC-USD", "Changes of BTC-USD")
    expect(console.row(NETWORKS, "bitcoin")).to_contain_text("●Open●Open")
    console.act("bitcoin", "Pause withdrawals…")
    dialog = console.dialog("Pause withdrawals of BTC on bitcoin?")
    dialog.get_by_role("textbox", name="Notice for users").fill("Back at noon.")
    dialog.get_by_role("textbox", name="Reason").fill("the node is upgraded")
    console.look_over("a pause of withdrawals", OPPOSITE_LOOKS)
    dialog.get_by_role("button", name="Pause them").click()
    expect(console.toast("BTC on bitcoin: withdrawals are paused")).to_be_visible()
    expect(console.row(NETWORKS, "bitcoin")).to_contain_text("●Open◐Paused")

    visitor = new_window(None)
    visitor.go("/status", "Status")
    paused = visitor.page.get_by_role("listitem").filter(has_text="BTC · bitcoin")
    expect(paused).to_have_text("BTC · bitcoin: withdrawals – Back at noon.")
    visitor.look_over("a status with a pause", OPPOSITE_LOOKS)
    screen = new_window(trader)
    screen.go("/wallet", "Wallet")
    screen.act("BTC", "Withdraw BTC")
    expect(screen.page.get_by_text("Withdrawals of BTC over bitcoin are paused. Back at noon.").first).to_be_visible()
    screen.look_over("a paused withdrawal", OPPOSITE_LOOKS)

    at = "2026-01-30T12:00:00.000Z"
    amounts = {"asset": "BTC", "amount": "0.5", "fee": "0.0002", "netAmount": "0.4998"}
    way = {"network": "bitcoin", "address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "wallet": "hot", "tag": None}
    chain = {"confirmations": 0, "requiredConfirmations": 3, "createdAt": at, "updatedAt": at}
    told = {"txHash": None, "reason": None, "clientWithdrawalId": None}
    row = {"id": "wd-paused", "status": "approved"} | told | amounts | way | chain
    screen.page.route("**/accounts/withdrawals?*", lambda route: fulfil(route, [row]))
    screen.go("/withdrawals", "Withdraw")
    screen.page.get_by_role("list", name="Withdrawals under way").get_by_role(
        "button", name="Cancel", exact=True
    ).click()
    question = screen.dialog("Cancel the withdrawal?")
    expect(question).to_contain_text("It works as long as such withdrawals are paused.")
    screen.look_over("the cancel of a withdrawal that a pause holds back", OPPOSITE_LOOKS)
    screen.page.unroute("**/accounts/withdrawals?*")

    console.act("bitcoin", "Resume withdrawals…")
    dialog = console.dialog("Resume withdrawals of BTC on bitcoin?")
    expect(dialog).to_contain_text("the node is upgraded")
    dialog.get_by_role("textbox", name="Reason").fill("the node is back")
    dialog.get_by_role("button", name="Resume them").click()
    expect(console.row(NETWORKS, "bitcoin")).to_contain_text("●Open●Open")
    visitor.go("/status", "Status")
    expect(visitor.page.get_by_text("Paused at present")).to_have_count(0)
