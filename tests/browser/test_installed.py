"""The trading screen as an installed application: what browsers ask for, and a page for when there is no connection."""

import pytest
from playwright.sync_api import expect

from tests.support.trading_screen import NewWindow, TradingScreen

pytestmark = pytest.mark.proof


@pytest.fixture
def installed(new_window: NewWindow) -> TradingScreen:
    """A window whose worker is active. Other tests block workers: a worker's requests pass them by."""
    screen = new_window(service_workers="allow")
    screen.go("/login", "Log in")
    screen.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    return screen


def test_a_browser_finds_all_that_it_needs_to_install_the_screen(installed: TradingScreen) -> None:
    page = installed.page
    browser = page.context.new_cdp_session(page)
    manifest = browser.send("Page.getAppManifest")
    assert manifest["errors"] == []
    assert manifest["url"] == f"{installed.url}/trade/manifest.webmanifest"
    errors = [error["errorId"] for error in browser.send("Page.getInstallabilityErrors")["installabilityErrors"]]
    # A window of a test is private, and nothing is installed from those.
    assert [error for error in errors if error != "in-incognito"] == []


def test_a_page_says_that_there_is_no_connection_and_leads_back(installed: TradingScreen) -> None:
    page = installed.page
    # The worker takes navigations over from the next page on.
    page.reload()
    expect(installed.heading("Log in")).to_be_visible()
    page.context.set_offline(True)
    installed.expect_complaint("ERR_INTERNET_DISCONNECTED")
    page.goto(f"{installed.url}/trade/wallet")
    expect(installed.heading("No connection")).to_be_visible()
    page.get_by_role("link", name="Try again").click()
    expect(installed.heading("No connection")).to_be_visible()
    page.context.set_offline(False)
    page.get_by_role("link", name="Try again").click()
    expect(installed.heading("Log in")).to_be_visible()
    assert "next=%2Fwallet" in page.url
