"""What the pages show of an exchange where nothing has happened yet.

The name puts this file first: the platform is still fresh then.
"""

import pytest
from playwright.sync_api import expect

from tests.support.console import OPPOSITE_LOOKS, Console
from tests.support.operator import Operator
from tests.support.trading_screen import NewWindow

pytestmark = pytest.mark.proof


@pytest.fixture(autouse=True)
def _still_fresh(operator: Operator) -> None:
    stats = operator.call("GetExchangeStats")
    assert (stats["orders"]["placed"], stats["trades"]["count"]) == ("0", "0"), "another test came first"


@pytest.mark.parametrize(
    ("path", "heading", "text"),
    [
        ("/", "Dashboard", "Nothing traded yet"),
        ("/orders", "Orders", "No orders yet"),
        ("/trades", "Trades", "No trades yet"),
        ("/balances", "Balances", "No balances yet"),
        ("/risk", "Risk", "Nothing is at risk"),
        ("/participants?page=9", "Participants", "No participants on this page"),
        ("/participants/admin?tab=orders", "admin", "No orders yet"),
        ("/withdrawals", "Withdrawals", "No withdrawal waits"),
        ("/health", "Health", "Not compared yet"),
        ("/access?word=nothing-has-this-name", "Types and permissions", "No permission matches"),
        ("/no/such/page", "Page not found", "The console has no page at this address"),
    ],
)
def test_a_page_without_rows_says_why(console: Console, path: str, heading: str, text: str) -> None:
    console.open(path, heading)
    expect(console.page.get_by_text(text)).to_be_visible()
    console.assert_accessible(f"{heading}, empty")
    console.page.set_viewport_size({"width": 390, "height": 844})
    console.assert_fits(f"{heading}, empty")


def test_markets_without_a_trade_have_no_movers_and_fit_a_phone(new_window: NewWindow) -> None:
    screen = new_window()
    screen.go("/markets", "Markets")
    expect(screen.page.get_by_role("link", name="BTC-USD", exact=True)).to_be_visible()
    expect(screen.heading("Most traded")).to_have_count(0)
    screen.look_over("markets without a trade", OPPOSITE_LOOKS)
