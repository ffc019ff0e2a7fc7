"""Every page of the trading screen fits and can be read, in both themes, on a phone, at a desk and on a wall.

As a user who has just registered finds it: what a page shows of funds, orders and loans has tests of its own.
"""

import secrets

import pytest
from playwright.sync_api import expect

from tests.support.console import DESK, LOOKS
from tests.support.trading_screen import Exchange, NewWindow

WALL = {"width": 3840, "height": 2160}
LOGGED_OUT_PAGES = (
    ("/login", "Log in"),
    ("/register", "Create an account"),
    ("/verify-email", "Confirm your email address"),
    ("/forgot-password", "Forgot your password?"),
    ("/reset-password", "Choose a new password"),
    ("/", "BTC-USD"),
)
PAGES = (
    ("/", "BTC-USD"),
    ("/wallet", "Wallet"),
    ("/portfolio", "Portfolio"),
    ("/staking", "Staking"),
    ("/history", "History"),
    ("/withdrawals", "Withdraw"),
    ("/convert", "Convert"),
    ("/positions", "Positions"),
    ("/margin", "Margin"),
    ("/account/profile", "Profile"),
    ("/account/security", "Security"),
    ("/account/api-keys", "API keys"),
    ("/account/verification", "Verification"),
    ("/account/notifications", "Notifications"),
    ("/account/subscription", "Subscription"),
    ("/no/such/page", "Page not found"),
)
"""With a session."""


@pytest.mark.parametrize(
    ("path", "heading", "has_session"),
    [*((*page, False) for page in LOGGED_OUT_PAGES), *((*page, True) for page in PAGES)],
)
def test_a_page_fits_and_can_be_read(
    new_window: NewWindow, exchange: Exchange, path: str, heading: str, has_session: bool
) -> None:
    trader = exchange.register(f"{secrets.token_hex(6)}@example.com") if has_session else None
    screen = new_window(trader)
    if path == "/margin":
        # The browser reports by itself that there is no margin account yet.
        screen.expect_complaint("status of 404")
    screen.go(path, heading)
    expect(screen.page.locator("[aria-busy=true], [class*=Skeleton-root]")).to_have_count(0)
    screen.look_over(heading, LOOKS)
    screen.page.set_viewport_size(WALL)
    screen.assert_fits(f"{heading}, {WALL['width']} px")
    screen.page.set_viewport_size(DESK)
