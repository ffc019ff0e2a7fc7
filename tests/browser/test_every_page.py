"""Every page of the trading screen fits and can be read, in two themes on a phone, a tablet, a desk and a wall.

As a user who has just registered finds it: what a page shows of funds, orders and loans has tests of its own.
"""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ViewportSize, expect

from tests.support.console import LOOKS, PHONE, Look
from tests.support.trading_screen import Exchange, Trader, TradingScreen, window

TABLET: ViewportSize = {"width": 768, "height": 1024}
WALL: ViewportSize = {"width": 3840, "height": 2160}
EVERY_LOOK: tuple[Look, ...] = (
    *LOOKS, ("light", TABLET), ("dark", TABLET), ("dark", WALL), ("light", WALL),
)  # fmt: skip
LOGGED_OUT_PAGES = (
    ("/login", "Log in"),
    ("/register", "Create an account"),
    ("/verify-email", "Confirm your email address"),
    ("/forgot-password", "Forgot your password?"),
    ("/reset-password", "Choose a new password"),
    ("/fees", "Fees"),
    ("/status", "Status"),
    ("/markets", "Markets"),
    ("/reserves", "Proof of reserves"),
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
    ("/alerts", "Price alerts"),
    ("/account/profile", "Profile"),
    ("/account/security", "Security"),
    ("/account/api-keys", "API keys"),
    ("/account/verification", "Verification"),
    ("/account/notifications", "Notifications"),
    ("/account/subscription", "Subscription"),
    ("/no/such/page", "Page not found"),
)
"""With a session."""

COLUMNS = ("path", "heading", "has_session")
EVERY_PAGE = [*((*page, False) for page in LOGGED_OUT_PAGES), *((*page, True) for page in PAGES)]
FIRST_PAGES = [page for page in EVERY_PAGE if page[0] in ("/", "/login", "/wallet")]
"""Of each kind one: forms, lists, figures, the market. `make test` looks at these, `make proof` at every page."""


@pytest.fixture(scope="module")
def trader(exchange: Exchange) -> Trader:
    """The user whose pages are looked at."""
    return exchange.register(f"{secrets.token_hex(6)}@example.com")


@pytest.fixture(scope="module")
def contexts(browser: Browser, browser_context_args: dict[str, Any]) -> Iterator[dict[bool, BrowserContext]]:
    """Two browsers that keep what they have loaded: one for pages without a session, one for those with it."""
    opened = {has_session: browser.new_context(**browser_context_args) for has_session in (False, True)}
    yield opened
    for context in opened.values():
        context.close()


@pytest.fixture
def screen(
    contexts: dict[bool, BrowserContext], pages_url: str, trader: Trader, path: str, heading: str, has_session: bool
) -> Iterator[TradingScreen]:
    """The page, with everything that it loads."""
    shown = window(contexts[has_session].new_page(), pages_url, trader if has_session else None)
    if path == "/margin":
        # The browser reports by itself that there is no margin account yet.
        shown.expect_complaint("status of 404")
    shown.go(path, heading)
    expect(shown.page.locator("[aria-busy=true], [class*=Skeleton-root]")).to_have_count(0)
    yield shown
    shown.assert_quiet()
    shown.page.close()


@pytest.mark.parametrize(COLUMNS, FIRST_PAGES)
def test_a_page_fits_a_phone_and_can_be_read_in_the_dark(screen: TradingScreen, heading: str) -> None:
    screen.look_over(heading, (("dark", PHONE),))


@pytest.mark.proof
@pytest.mark.parametrize(COLUMNS, EVERY_PAGE)
def test_a_page_fits_and_can_be_read_in_every_look(screen: TradingScreen, heading: str) -> None:
    screen.look_over(heading, EVERY_LOOK)
